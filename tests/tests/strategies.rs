//! Comparison of the published strategies: what one of them proves, no other violates.
//!
//! They share a program, a solver and a machine, so a disagreement is a fault in one of them. Open
//! checks are no disagreement: each strategy diverges on some programs, as its authors state. All
//! limits are counts (iterations of the loop, steps of the solver), not times.

#[path = "proofs/compiled.rs"]
mod compiled;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cegar_model::machine::{Limits, Machine};
use cegar_model::program::{Program, Property};
use cegar_model::solver;
use cegar_model::symbolic::encode::Budget;
use cegar_model::symbolic::world::Grain;
use cegar_papers::executions::Tree;
use cegar_papers::prove;
use cegar_papers::regions::{Asking, Regions, Target};
use cegar_search::abstraction::asking::{Cancellation, Cost};
use cegar_search::abstraction::forest::Walker;
use cegar_search::abstraction::graph::Graph;
use cegar_search::strategy::{Coverage, Options, Strategy, Verdict};
use cegar_tests::generate::known;
use cegar_tests::{Ended, Project, Tool, exit};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

const PROPERTIES: &[Property] = &[Property::Assertion, Property::Memory];
/// The maximum number of iterations of a strategy's loop.
const TURNS: u64 = 15;
/// The solver's limit for one strategy and program, in steps that take about as long.
const TIME: Duration = Duration::from_millis(150);

/// The strategies' results for one program.
#[derive(Debug, Default)]
struct Said {
    /// The strategies that prove a check.
    proved: BTreeMap<usize, Vec<Strategy>>,
    /// The strategies whose tapes violate it in the machine.
    violated: BTreeMap<usize, Vec<Strategy>>,
}

impl Said {
    /// Runs a strategy on a program.
    fn ask(&mut self, strategy: Strategy, program: &Program) {
        let (sender, seeds) = std::sync::mpsc::channel();
        let coverage = Coverage::new(program.blocks.len(), program.checks.len());
        let options = Options {
            strategy,
            properties: PROPERTIES.to_vec(),
            covered: Arc::new(coverage),
            seeds: Some(sender),
            counted: true,
            time: TIME,
            iterations: Some(TURNS),
            ..Options::default()
        };
        let proof = prove(program, &options, &AtomicBool::new(false));
        drop(options);
        let machine = Machine::new(program, Limits::default());
        for seed in seeds.try_iter() {
            let run = machine.run(&seed.tape);
            if let Some(check) = run.violation().and_then(|violation| violation.check) {
                let by = self.violated.entry(check.index()).or_default();
                by.push(strategy);
            }
        }
        let verdicts = proof.checks.clone();
        let certificate = proof.outcome("", PROPERTIES).certificate;
        let limits = solver::Limits {
            time: Some(Duration::from_secs(20)),
            ..solver::Limits::default()
        };
        if let Err(why) =
            cegar_checker::check(program, "", &certificate, limits, &mut cegar_checker::AskZ3)
        {
            panic!("{strategy:?}: the certificate is rejected: {why}");
        }
        for (number, verdict) in verdicts.iter().enumerate() {
            if *verdict == Some(Verdict::Proved) && !program.checks[number].trivial {
                self.proved.entry(number).or_default().push(strategy);
            }
        }
    }

    /// Runs all strategies on a program.
    fn all(program: &Program) -> Said {
        let mut said = Said::default();
        for strategy in Strategy::ALL {
            said.ask(strategy, program);
        }
        said
    }

    /// Asserts that no two strategies contradict each other.
    fn agrees(&self, name: &str) {
        for (check, by) in &self.proved {
            let violated = self.violated.get(check);
            assert!(
                violated.is_none(),
                "{name}: check {check} is proved by {by:?} and violated by {violated:?}"
            );
        }
    }
}

/// Runs all strategies on some programs of a folder. Returns the strategies that settled a check.
fn settle(folder: &str, names: &[&str], flags: &[&str]) -> BTreeSet<&'static str> {
    let mut files = compiled::folder(folder);
    files.retain(|file| {
        let stem = file.file_stem().and_then(|stem| stem.to_str());
        stem.is_some_and(|stem| names.contains(&stem))
    });
    assert_eq!(files.len(), names.len(), "{files:?}");
    settle_all(files, flags)
}

fn settle_all(files: Vec<PathBuf>, flags: &[&str]) -> BTreeSet<&'static str> {
    let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    let mut settled = BTreeSet::new();
    for file in files {
        let name = file.display().to_string();
        let program = compiled::from_files(&[file], &flags, None, PROPERTIES)
            .unwrap_or_else(|why| panic!("{name}: {why}"));
        // The output is shown if the test fails.
        println!("{name} {flags:?}");
        let said = Said::all(&program);
        said.agrees(&name);
        let all = said.proved.values().chain(said.violated.values());
        settled.extend(all.flatten().map(|strategy| strategy.name()));
    }
    settled
}

#[test]
fn they_agree_on_programs_with_faults() {
    let names = ["division", "needle"];
    let settled = settle("programs", &names, &[]);
    // A strategy that never settles anything would agree with all others.
    assert!(settled.contains("auto"), "{settled:?}");
}

#[test]
fn they_agree_on_corrected_programs() {
    let names = ["in_step"];
    let settled = settle("programs/loops", &names, &["-DFIXED"]);
    for strategy in ["auto", "synergy"] {
        assert!(settled.contains(strategy), "{settled:?}");
    }
}

/// Both the faulty and the corrected variants.
#[test]
#[ignore = "takes minutes; the tests beside it take some of these programs"]
fn they_agree_on_every_program() {
    for folder in ["programs", "programs/drivers", "programs/loops"] {
        for flags in [&[][..], &["-DFIXED"]] {
            let files = compiled::folder(folder);
            let settled = settle_all(files, flags);
            eprintln!("{folder} {flags:?}: {settled:?} settled something");
            assert!(settled.contains("auto"), "{settled:?}");
        }
    }
}

#[test]
fn they_agree_with_the_truth() {
    let mut runner = TestRunner::deterministic();
    let shapes = known::programs();
    let programs: Vec<known::Known> = (0..3)
        .map(|_| {
            let tree = shapes.new_tree(&mut runner).expect("nothing is rejected");
            tree.current()
        })
        .collect();
    let texts: Vec<String> = programs
        .iter()
        .enumerate()
        .map(|(i, known)| known.render(&compiled::suffix(i)))
        .collect();
    let mut program = compiled::together(&texts, PROPERTIES).unwrap_or_else(|why| panic!("{why}"));
    for (i, known) in programs.iter().enumerate() {
        compiled::start_in(&mut program, i);
        let said = Said::all(&program);
        said.agrees(known.name());
        let violated = &said.violated;
        assert!(
            !known.safe || violated.is_empty(),
            "{}: {violated:?}\n{known:?}",
            known.name()
        );
    }
}

/// However the regions are split, a state is in a region all of whose predicates it satisfies, and
/// a step of an execution is an edge of the abstract program.
#[test]
fn what_is_executed_is_never_missing() {
    for name in ["alternates", "two_phases", "every_seventh"] {
        has_all_steps(name);
    }
}

fn has_all_steps(name: &str) {
    let mut files = compiled::folder("programs/loops");
    files.retain(|file| file.file_stem().is_some_and(|stem| stem == name));
    let program = compiled::from_files(&files, &[], None, PROPERTIES).expect("it compiles");
    let mut graph =
        Graph::explore(&program, Grain::Blocks, Budget::default()).expect("it is small enough");
    let walker = Walker::new(&mut graph);
    let mut tree = Tree::new(&graph);
    for byte in 0..4 {
        tree.run(&graph, &walker, &[byte; 64]);
    }
    let steps: Vec<(usize, usize, usize)> = (0..tree.nodes.len())
        .filter_map(|node| tree.nodes[node].parent.map(|(from, way)| (from, way, node)))
        .take(40)
        .collect();
    assert!(steps.len() > 10, "{} steps", steps.len());
    let mut regions = Regions::new(&graph);
    let stop = AtomicBool::new(false);
    let (mut solver, mut cost) = (solver::Z3::new(), Cost::default());
    let cancellation = Cancellation {
        deadline: None,
        steps: None,
        stop: &stop,
    };
    for &(from, way, to) in steps.iter().rev().chain(steps.iter().rev()) {
        let [from, to] = [from, to].map(|node| &tree.nodes[node]);
        let place = |regions: &mut Regions, graph: &Graph<'_>, node: &_| {
            let node: &cegar_papers::executions::Node = node;
            regions.locate(graph, node.at, &node.sample)
        };
        let here = place(&mut regions, &graph, from).expect("a region");
        let there = place(&mut regions, &graph, to).expect("a region");
        let target = Target::Region(way, there);
        let mut asking = Asking {
            graph: &mut graph,
            walker: &walker,
            solver: &mut solver,
            cancellation,
            cost: &mut cost,
        };
        assert!(regions.exists(&mut asking, here, target), "{from:?}");
        let preimage = regions.preimage(&mut asking, (here, target), &[&from.sample]);
        assert!(
            regions.holds(asking.graph, &from.sample, &preimage.terms),
            "{from:?}"
        );
        if regions.implies(&mut asking, here, &preimage.terms) == Some(false) {
            regions.split_from(&mut asking, here, target, &preimage.terms);
        }
    }
    assert!(regions.splits > 3, "{name}: {} splits", regions.splits);
    for node in &tree.nodes {
        let region = regions.locate(&graph, node.at, &node.sample);
        let terms = regions.region(region.expect("a region")).terms.clone();
        assert!(regions.holds(&graph, &node.sample, &terms), "{node:?}");
    }
}

fn check(text: &str, more: &[&str]) -> Ended {
    let project = Project::empty();
    project.write("p.c", text);
    let mut words = vec!["check", "p.c", "--no-emit", "--property", "assertion"];
    words.extend(["--message-format", "json"]);
    words.extend(more);
    Tool::new(project.path(), words).run()
}

const LOCK: &str = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);
int main(void) {
    int held; unsigned x, y = __VERIFIER_nondet_int();
    do {
        held = 1; x = y;
        if (__VERIFIER_nondet_int()) { held = BROKEN; y++; }
    } while (x != y);
    if (!held) reach_error();
    return 0;
}
";

#[test]
fn a_strategy_is_chosen_by_name() {
    let ended = check(
        LOCK,
        &["-D", "BROKEN=0", "--strategy", "synergy", "--runs", "40"],
    );
    ended.expect(exit::CLEAN);
    let last = ended.finished();
    assert_eq!(last["verdict"], "proved", "{ended}");
    assert_eq!(last["stats"]["strategy"], "synergy");
    // As the paper states: a first test, and a split for each place at which the lock and the
    // counters meet.
    let turns = last["stats"]["prover"]["iterations"].as_u64();
    assert!(
        turns.is_some_and(|turns| (2..20).contains(&turns)),
        "{ended}"
    );
    assert!(last["stats"]["prover"]["splits"].as_u64() > Some(0));
}

#[test]
fn a_violation_of_a_strategy_is_shown_natively() {
    let text = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);
        int main(void) {
            int a = __VERIFIER_nondet_int(), i = 0;
            while (i < 1000) i++;
            if (a <= 0) reach_error();
            return 0;
        }";
    for strategy in ["synergy", "dart"] {
        let ended = check(text, &["--strategy", strategy, "--runs", "40"]);
        ended.expect(exit::VIOLATION);
        let last = ended.finished();
        assert_eq!(last["verdict"], "violated", "{ended}");
        let executions = last["stats"]["prover"]["executions"].as_u64();
        assert!(executions >= Some(2), "{ended}");
    }
}

#[test]
fn what_a_strategy_cannot_do_stays_open() {
    // All paths are tested, which is a proof, but there is no certificate that the checker could
    // check.
    let ended = check(
        "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);
        int main(void) { int a = __VERIFIER_nondet_int(); if (a > 5 && a < 5) reach_error(); return 0; }",
        &["--strategy", "dart", "--runs", "40"],
    );
    ended.expect(exit::CLEAN);
    assert_eq!(ended.finished()["verdict"], "open", "{ended}");
}

#[test]
fn a_wrong_name_is_answered_with_the_right_ones() {
    let ended = check(LOCK, &["--strategy", "sinergy"]);
    ended.expect(exit::USAGE);
    assert!(ended.stderr.contains("synergy"), "{ended}");
    let ended = check(LOCK, &["--strategy", "synergy", "--fuzz-only"]);
    ended.expect(exit::USAGE);
}
