//! Proving: executions beside the abstraction.
//!
//! After Gulavani, Henzinger, Kannan, Nori and Rajamani, *SYNERGY: a new algorithm for property checking* (2006): a forest
//! of concrete states and a partition of the abstract ones grow together, and each decides what the other does next. Where the paper
//! splits regions edge by edge, a region here is a cut point with its invariant: the graph is explored ([`Graph`]), the forest
//! is grown, and what no state of the forest refutes is guessed in levels, from cheap to dear, until every goal is settled or
//! nothing is left to guess. An iteration is one level: guesses made, the inductive ones kept, the goals asked again.

mod options;
mod reach;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

pub use self::options::{Coverage, Options, Seed, Stats, Verdict};
use crate::abstraction::candidates::{Guesser, LEVELS, PLAIN, Vocabulary};
use crate::abstraction::encode::Exceeded;
use crate::abstraction::forest::{Forest, Growth};
use crate::abstraction::goals::{self, Open, Settled};
use crate::abstraction::graph::Graph;
use crate::abstraction::houdini::{self, Cost, Facts, Patience, houdini};
use crate::abstraction::loops::Loops;
use crate::abstraction::relevance::{Changes, Relevance};
use crate::abstraction::world::Cut;
use crate::program::ir::{BlockId, CheckId, FunctionKind, Program, Property};
use crate::proof::{self, Certificate, FORMAT};
use crate::solver::{Z3, steps};

/// How long paths around loops are looked for before anything is guessed.
const AT_FIRST: Duration = Duration::from_millis(1_500);
/// What part of the time they get after the first guesses, and at the end.
const ON_LOOPS: f64 = 0.3;
/// And no more than this.
const LOOPS: Duration = Duration::from_secs(10);
/// How long the forest may grow.
const FOREST_TIME: Duration = Duration::from_millis(400);
/// What that is in terms evaluated.
const FOREST_WORK: u64 = 20_000_000;

/// What was proved of one program.
#[derive(Debug)]
pub struct Proof<'p> {
    /// By check; none for checks that were not asked for.
    pub checks: Vec<Option<Verdict>>,
    /// By block; none for blocks that were not asked about: stubs, and what is covered.
    pub blocks: Vec<Option<Verdict>>,
    /// What may go wrong where no check of the user's stands (in a string function, say), for people.
    pub elsewhere: Vec<String>,
    /// What the proofs rest on.
    pub assumed: Vec<String>,
    /// What it cost.
    pub stats: Stats,
    /// The invariants; none if not even exploring ended.
    pub evidence: Option<Evidence<'p>>,
}

/// The graph and what holds at its cut points.
#[derive(Debug)]
pub struct Evidence<'p> {
    /// The graph.
    pub graph: Graph<'p>,
    /// The invariants, inductive together.
    pub facts: Facts,
}

/// What a proof comes to, without the terms: for another thread, and for a file.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// As in [`Proof`].
    pub checks: Vec<Option<Verdict>>,
    /// As in [`Proof`].
    pub blocks: Vec<Option<Verdict>>,
    /// As in [`Proof`].
    pub elsewhere: Vec<String>,
    /// As in [`Proof`].
    pub assumed: Vec<String>,
    /// As in [`Proof`].
    pub stats: Stats,
    /// Why it is so, for the checker.
    pub certificate: Certificate,
}

impl Proof<'_> {
    /// The outcome, and the certificate for what is proved of the program with this bitcode.
    pub fn outcome(self, bitcode: &str, properties: &[Property]) -> Outcome {
        let proved = |verdicts: &[Option<Verdict>]| -> Vec<u32> {
            let numbered = verdicts.iter().enumerate();
            numbered
                .filter(|(_, verdict)| **verdict == Some(Verdict::Proved))
                .map(|(number, _)| number as u32)
                .collect()
        };
        let cuts = match &self.evidence {
            Some(evidence) => Certificate::regions(&evidence.graph, &evidence.facts),
            None => Vec::new(),
        };
        Outcome {
            certificate: Certificate {
                format: FORMAT,
                bitcode: bitcode.to_owned(),
                properties: properties.to_vec(),
                checks: proved(&self.checks),
                blocks: proved(&self.blocks),
                assumptions: self.assumed.clone(),
                cuts,
            },
            checks: self.checks,
            blocks: self.blocks,
            elsewhere: self.elsewhere,
            assumed: self.assumed,
            stats: self.stats,
        }
    }
}

impl Outcome {
    /// Withdraws everything: nothing is proved.
    pub fn withdraw(&mut self, why: &str) {
        for verdict in self.checks.iter_mut().chain(&mut self.blocks).flatten() {
            *verdict = Verdict::Open(why.to_owned());
        }
        self.certificate.checks.clear();
        self.certificate.blocks.clear();
        self.elsewhere.push(why.to_owned());
    }

    /// Whether every check that was asked for holds, and nothing can go wrong elsewhere.
    pub fn is_complete(&self) -> bool {
        self.elsewhere.is_empty()
            && self
                .checks
                .iter()
                .flatten()
                .all(|verdict| *verdict == Verdict::Proved)
    }
}

impl Proof<'_> {
    /// Whether every check that was asked for holds, and nothing can go wrong elsewhere.
    pub fn is_complete(&self) -> bool {
        self.elsewhere.is_empty()
            && self
                .checks
                .iter()
                .flatten()
                .all(|verdict| *verdict == Verdict::Proved)
    }
}

/// Steps of the solver after which checks that nobody asks about are left alone: a few seconds.
const BESIDE: u64 = 8_000_000;

/// Tries to prove everything that is asked.
pub fn prove<'p>(program: &'p Program, options: &Options, stop: &AtomicBool) -> Proof<'p> {
    let deadline = (!options.counted).then(|| Instant::now() + options.time);
    let mut budget = options.budget;
    budget.deadline = deadline;
    let mut stats = Stats::default();
    let clock = Instant::now();
    let graph = match Graph::explore(program, budget) {
        Ok(graph) => graph,
        Err(why) => return unexplored(program, options, why, stats),
    };
    stats.explore = clock.elapsed().as_secs_f64();
    stats.cuts = graph.states.len() as u64;
    stats.contexts = graph.world.contexts() as u64;
    stats.encodings = graph.encodings;
    stats.approximations = graph
        .fragments
        .values()
        .map(|fragment| u64::from(fragment.approximations))
        .sum();
    let solver = Z3::new();
    let spent = solver.spent();
    let mut prover = Prover {
        program,
        options,
        graph,
        facts: Facts::new(),
        settled: Settled::default(),
        solver,
        cost: Cost::default(),
        stats,
        patience: Patience {
            deadline,
            steps: options.counted.then(|| (&*spent, steps(options.time))),
            stop,
        },
        blocks_asked: false,
        loops: Loops::default(),
        reached: BTreeSet::new(),
    };
    prover.run();
    prover.finish()
}

struct Prover<'a, 'p> {
    program: &'p Program,
    options: &'a Options,
    graph: Graph<'p>,
    facts: Facts,
    settled: Settled,
    solver: Z3,
    cost: Cost,
    stats: Stats,
    patience: Patience<'a>,
    blocks_asked: bool,
    loops: Loops,
    /// Goals that a path around loops leads to.
    reached: BTreeSet<(Option<Cut>, usize)>,
}

impl<'p> Prover<'_, 'p> {
    fn run(&mut self) {
        if self.is_done() {
            return;
        }
        let clock = Instant::now();
        let vocabulary = Vocabulary::new(&mut self.graph);
        let interesting = vocabulary.interesting();
        let growth = match self.options.counted {
            true => Growth::Work(FOREST_WORK),
            false => Growth::Until(Instant::now() + FOREST_TIME.min(self.options.time / 10)),
        };
        let forest = Forest::grow(
            &mut self.graph,
            &interesting,
            &self.options.tapes,
            (self.options.runs, growth),
        );
        self.stats.forest_steps = forest.steps;
        self.stats.forest = clock.elapsed().as_secs_f64();
        self.frontier(&forest);
        self.around(&forest, self.options.time.min(AT_FIRST));
        if let Some(before) = &self.options.before
            && self.resume(before)
        {
            return;
        }
        let changes = Changes::new(&mut self.graph);
        let levels = if self.options.loops { LEVELS } else { PLAIN };
        let rounds = [true, false]
            .into_iter()
            .flat_map(|sliced| (0..levels).map(move |level| (level, sliced)));
        for (level, sliced) in rounds {
            if self.patience.is_over() {
                return;
            }
            let relevance =
                sliced.then(|| Relevance::new(&self.graph, &self.left(), &self.settled, &changes));
            self.stats.iterations += 1;
            let guesses = self.guess(&vocabulary, &forest, level, relevance.as_ref());
            let Some(new) = self.keep(guesses) else {
                return;
            };
            if new > 0 && self.is_done() {
                return;
            }
            if sliced && level == 1 {
                // The easy ones are proved by now.
                self.around(&forest, self.options.time.mul_f64(ON_LOOPS).min(LOOPS));
            }
        }
        // Nothing is left to guess.
        self.around(&forest, self.options.time.mul_f64(ON_LOOPS).min(LOOPS));
    }

    /// Takes up what an earlier run had found, as guesses; true if there is no need to go on.
    fn resume(&mut self, before: &Certificate) -> bool {
        let mut guesses = Facts::new();
        for (cut, formulas) in before.regions_in(&self.graph) {
            // What cannot be read any more is of no use any more.
            let pool = &mut self.graph.pool;
            let terms = formulas
                .iter()
                .filter_map(|text| proof::formula(pool, text).ok());
            guesses.entry(cut).or_default().extend(terms);
        }
        self.stats.guesses += guesses.values().map(Vec::len).sum::<usize>() as u64;
        self.keep(guesses).is_none() || self.is_done()
    }

    /// Adds those of the guesses to the facts that are inductive together; how many. None if time ran out first.
    fn keep(&mut self, mut guesses: Facts) -> Option<usize> {
        let clock = Instant::now();
        let ended = houdini(
            &mut self.solver,
            &mut self.graph,
            &self.facts,
            &mut guesses,
            self.patience,
            &mut self.cost,
        );
        self.stats.houdini += clock.elapsed().as_secs_f64();
        if !ended {
            return None;
        }
        let mut new = 0;
        for (cut, facts) in guesses {
            new += facts.len();
            self.facts.entry(cut).or_default().extend(facts);
        }
        self.stats.facts += new as u64;
        Some(new)
    }

    /// Asks about everything that is not settled; true if there is no need to go on. Blocks are asked about when the
    /// checks are done, since by then executions have covered most.
    fn is_done(&mut self) -> bool {
        self.ask(false);
        if !self.open(true).is_complete() {
            return false;
        }
        // What nobody asks about would have to be assumed: a little more is worth while.
        let goes_on = self.solver.spent().get() < BESIDE && !self.patience.is_over();
        if goes_on && !self.open(false).is_complete() {
            return false;
        }
        self.ask(true);
        !self.options.all_blocks || self.settled.entered.is_empty()
    }

    /// What there is to do next: what is asked, and then the rest.
    fn left(&self) -> Open {
        let asked = self.open(true);
        match asked.is_complete() {
            true => self.open(false),
            false => asked,
        }
    }

    /// What may still be proved, or of that what is asked: not what an execution has violated.
    fn open(&self, asked: bool) -> Open {
        let fragments = &self.graph.fragments;
        let options = self.options;
        let is_open = |&(start, index): &(Option<Cut>, usize)| {
            let obligation = &fragments[&start].obligations[index];
            let violated = |check| options.covered.is_violated(check);
            let is_asked = options.properties.contains(&obligation.kind.property());
            (is_asked || !asked) && !obligation.check.is_some_and(violated)
        };
        self.settled.open(is_open)
    }

    /// Guesses of one level where they can matter.
    fn guess(
        &mut self,
        vocabulary: &Vocabulary,
        forest: &Forest,
        level: u32,
        relevance: Option<&Relevance>,
    ) -> Facts {
        let clock = Instant::now();
        let mut targets = self.left().fragments();
        if targets.is_empty() {
            // Only blocks are left to ask about: everything can matter.
            targets = self.graph.fragments.keys().copied().collect();
        }
        let mut all = Facts::new();
        for cut in houdini::before(&self.graph, &targets) {
            let samples = forest.samples.get(&cut).map_or(&[][..], Vec::as_slice);
            let mut found = Guesser {
                graph: &mut self.graph,
                vocabulary,
                samples,
                level,
                relevance,
            }
            .guess(cut);
            if let Some(known) = self.facts.get(&cut) {
                found.retain(|t| !known.contains(t));
            }
            self.stats.guesses += found.len() as u64;
            all.insert(cut, found);
        }
        self.stats.guess += clock.elapsed().as_secs_f64();
        all
    }

    fn ask(&mut self, blocks: bool) {
        let clock = Instant::now();
        let program = self.program;
        let covered = &self.options.covered;
        let wanted = |block: BlockId| {
            let function = program.block(block).function;
            blocks && program.function(function).kind == FunctionKind::User && !covered.has(block)
        };
        self.blocks_asked |= blocks;
        goals::settle(
            &mut self.solver,
            &mut self.graph,
            &self.facts,
            &wanted,
            self.patience,
            (&mut self.settled, &mut self.cost),
        );
        self.stats.settle += clock.elapsed().as_secs_f64();
    }

    fn finish(mut self) -> Proof<'p> {
        if !self.blocks_asked {
            // Open checks do not make dead code live.
            self.ask(true);
        }
        self.stats.solver_calls = self.cost.solver_calls;
        self.stats.unknown = self.cost.unknown;
        self.stats.steps = self.solver.spent().get();
        let program = self.program;
        let wanted = |property: Property| self.options.properties.contains(&property);
        // What can be reached through a hole is open.
        let mut lost: FxHashMap<BlockId, String> = FxHashMap::default();
        for (start, index) in &self.settled.holes {
            let hole = &self.graph.fragments[start].holes[*index];
            let why = format!("behind {} at {}", hole.what, program.show(hole.pos));
            for block in goals::behind(&self.graph, hole) {
                lost.entry(block).or_insert_with(|| why.clone());
            }
        }
        let mut checks: Vec<Option<Verdict>> = program
            .checks
            .iter()
            .map(|check| {
                wanted(check.kind.property()).then(|| match lost.get(&check.loc.block) {
                    Some(why) => Verdict::Open(why.clone()),
                    None => Verdict::Proved,
                })
            })
            .collect();
        let mut elsewhere = BTreeSet::new();
        let mut assumed = BTreeSet::new();
        for failing in self.settled.failing.values() {
            let obligation = &self.graph.fragments[&failing.start].obligations[failing.index];
            let why = if obligation.vague {
                "it is not known where the pointer points".to_owned()
            } else if failing.reason.is_some() {
                "the solver gave no answer in time".to_owned()
            } else {
                "no invariant was found that excludes it".to_owned()
            };
            if !wanted(obligation.kind.property()) {
                assumed.insert(obligation.kind.property());
                continue;
            }
            let user = |id: CheckId| {
                let function = program.checks[id.index()].function;
                program.function(function).kind == FunctionKind::User
            };
            if let Some(id) = obligation.check {
                checks[id.index()] = Some(Verdict::Open(why.clone()));
            }
            match obligation.check {
                Some(id) if user(id) => {}
                _ => {
                    elsewhere.insert(format!(
                        "{:?} at {}: {why}",
                        obligation.kind,
                        program.show(obligation.pos)
                    ));
                }
            }
        }
        let blocks = program
            .blocks
            .iter()
            .enumerate()
            .map(|(number, block)| {
                let id = BlockId(number as u32);
                if self.options.covered.has(id)
                    || program.function(block.function).kind != FunctionKind::User
                {
                    return None;
                }
                Some(if self.settled.entered.contains(&id) {
                    Verdict::Open("no execution came here, and nothing excludes it".to_owned())
                } else if let Some(why) = lost.get(&id) {
                    Verdict::Open(why.clone())
                } else {
                    Verdict::Proved
                })
            })
            .collect();
        let assumed = assumed
            .into_iter()
            .map(|property| match property {
                Property::Memory => {
                    "every access to memory is valid: not asked, and not all of it is proved"
                }
                Property::Overflow => {
                    "no arithmetic overflows: not asked, and not all of it is proved"
                }
                Property::Assertion => "no assertion fails: not asked, and not all of it is proved",
            })
            .map(str::to_owned)
            .collect();
        Proof {
            checks,
            blocks,
            elsewhere: elsewhere.into_iter().collect(),
            assumed,
            stats: self.stats,
            evidence: Some(Evidence {
                graph: self.graph,
                facts: self.facts,
            }),
        }
    }
}

fn unexplored<'p>(
    program: &'p Program,
    options: &Options,
    why: Exceeded,
    stats: Stats,
) -> Proof<'p> {
    let why = match why {
        Exceeded::Size => "the program is too large to be explored as a whole",
        Exceeded::Time => "there was no time to explore the program as a whole",
    };
    let open = || Some(Verdict::Open(why.to_owned()));
    Proof {
        checks: program
            .checks
            .iter()
            .map(|check| {
                let wanted = options.properties.contains(&check.kind.property());
                wanted.then(open).flatten()
            })
            .collect(),
        blocks: program.blocks.iter().map(|_| open()).collect(),
        elsewhere: vec![why.to_owned()],
        assumed: Vec::new(),
        stats,
        evidence: None,
    }
}
