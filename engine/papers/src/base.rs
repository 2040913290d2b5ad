//! The common parts of the strategies over regions and tests: how they begin, how they end, and how
//! they run a test.
//!
//! A program is explored with a given grain, and goals that need no strategy are settled: most
//! accesses to memory follow from the abstract states. The other goals are the strategy's. At the
//! end, its facts settle goals in the same way as the facts of `auto`, so that every strategy
//! proves by the same kind of certificate and the same checker.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use rustc_hash::FxHashSet;

use crate::regions::{Asking, Goal};
use cegar_model::machine::{Execution, Limits, Machine, Violation};
use cegar_model::program::ir::{CheckId, Program};
use cegar_model::solver::{Z3, steps};
use cegar_model::symbolic::world::Grain;
use cegar_model::term::Pool;
use cegar_search::abstraction::asking::{Cancellation, Cost, Facts};
use cegar_search::abstraction::candidates::{LEVELS, Vocabulary};
use cegar_search::abstraction::forest::{Forest, Growth, Walker};
use cegar_search::abstraction::goals::Settled;
use cegar_search::abstraction::graph::Graph;
use cegar_search::abstraction::houdini;
use cegar_search::simulate::search::Origin;
use cegar_search::strategy::options::{Options, Seed, Stats};
use cegar_search::strategy::outcome::Proof;
use cegar_search::strategy::parts;

/// The strategy's share of the time; the rest is for settling goals by its facts.
const PART: f64 = 0.85;
/// The step limit of a test. A longer test is aborted, as in the papers.
const OPERATIONS: u64 = 20_000_000;

/// The test that strategies begin with; any test would do.
pub(super) const FIRST_TEST: &[u8] = b"The first test is one of no particular contents, and of a \
    length that most programs are content with.";
/// How far the forest that refutes candidates grows, in terms evaluated.
const FOREST: u64 = 10_000_000;

/// The state of a strategy; see the [module](self).
pub(super) struct Base<'a, 'p> {
    /// The program.
    pub program: &'p Program,
    /// The options.
    pub options: &'a Options,
    /// The graph.
    pub graph: Graph<'p>,
    /// The graph's transitions, prepared for execution.
    pub walker: Walker,
    /// The solver.
    pub solver: Z3,
    /// The cost of queries.
    pub cost: Cost,
    /// The effort.
    pub stats: Stats,
    /// When to give up.
    pub cancellation: Cancellation<'a>,
    /// The goals that are left: neither proved nor violated.
    pub goals: Vec<Goal>,
    /// The facts found by generalisation.
    known: Facts,
    /// What candidates are generated from.
    candidate_source: Option<(Vocabulary, Forest)>,
    tester: Tester<'a, 'p>,
}

/// Explores the program, runs a strategy, and settles goals by its facts.
pub(super) fn run_strategy<'p>(
    program: &'p Program,
    options: &Options,
    stop: &AtomicBool,
    grain: Grain,
    strategy: &mut dyn FnMut(&mut Base<'_, 'p>) -> Facts,
) -> Proof<'p> {
    let explored = match parts::explore(program, options, grain) {
        Ok(explored) => explored,
        Err(nothing) => return *nothing,
    };
    let (mut graph, stats) = (explored.graph, explored.stats);
    let (begin, deadline) = (explored.begin, explored.deadline);
    let walker = Walker::new(&mut graph);
    let solver = Z3::new();
    let spent = solver.spent();
    let counted = |part: f64| {
        let most = steps(options.time.mul_f64(part));
        options.counted.then(|| (&*spent, most))
    };
    let whole = Cancellation {
        deadline,
        steps: counted(1.0),
        stop,
    };
    let part = Cancellation {
        deadline: deadline.map(|_| begin + options.time.mul_f64(PART)),
        steps: counted(PART),
        stop,
    };
    let mut base = Base {
        program,
        options,
        graph,
        walker,
        solver,
        cost: Cost::default(),
        stats,
        cancellation: part,
        goals: Vec::new(),
        known: Facts::new(),
        candidate_source: None,
        tester: Tester::new(
            program,
            options,
            Limits {
                steps: OPERATIONS,
                ..Limits::default()
            },
        ),
    };
    let mut settled = Settled::default();
    base.settle(&mut settled, &Facts::new(), (part, false));
    base.goals = base.left(&settled);
    let facts = strategy(&mut base);
    if options.first_only && base.tester.violated {
        let mut stats = base.stats;
        stats.solver_calls = base.cost.solver_calls;
        let why = "the strategy ended at the first violation";
        return Proof::open(program, options, why, stats);
    }
    let clock = Instant::now();
    let facts = base.writable(facts, whole);
    base.settle(&mut settled, &facts, (whole, true));
    let mut stats = base.stats;
    stats.settle = clock.elapsed().as_secs_f64();
    stats.facts = facts.values().map(Vec::len).sum::<usize>() as u64;
    stats.solver_calls = base.cost.solver_calls;
    stats.unknown = base.cost.unknown;
    stats.steps = base.solver.spent().get();
    Proof::settled(program, options, &settled, (base.graph, facts), stats)
}

impl<'p> Base<'_, 'p> {
    /// The context of queries about regions.
    pub fn asking(&mut self) -> Asking<'_, 'p> {
        Asking {
            graph: &mut self.graph,
            walker: &self.walker,
            solver: &mut self.solver,
            cancellation: self.cancellation,
            cost: &mut self.cost,
        }
    }

    /// Begins another iteration of the strategy; false if it has to end.
    pub fn begin_iteration(&mut self) -> bool {
        let most = self.options.iterations;
        let found = self.options.first_only && self.tester.violated;
        let is_over = found
            || self.goals.is_empty()
            || self.cancellation.is_over()
            || most.is_some_and(|most| self.stats.iterations >= most);
        let goes_on = !is_over;
        self.stats.iterations += u64::from(goes_on);
        goes_on
    }

    fn settle(&mut self, settled: &mut Settled, facts: &Facts, asked: (Cancellation<'_>, bool)) {
        parts::settle(
            self.program,
            self.options,
            (&mut self.solver, &mut self.graph),
            facts,
            asked,
            (settled, &mut self.cost),
        );
    }

    /// Finds facts that are inductive together, among the candidates of one level that no state of
    /// a forest refutes.
    pub fn generalise(&mut self, level: u32) -> Facts {
        if level >= LEVELS {
            return Facts::new();
        }
        let (vocabulary, forest) = self.candidate_source.take().unwrap_or_else(|| {
            let vocabulary = Vocabulary::new(&mut self.graph);
            let interesting = vocabulary.interesting();
            let limits = (self.options.runs, Growth::Work(FOREST));
            let forest = Forest::grow(&mut self.graph, &interesting, &[], limits);
            self.stats.forest_steps = forest.steps;
            (vocabulary, forest)
        });
        let targets = self.goals.iter().map(|goal| goal.start()).collect();
        let with = (&vocabulary, &forest);
        let mut candidates =
            parts::generate_candidates(&mut self.graph, with, (level, None), &targets);
        self.stats.guesses += candidates.values().map(Vec::len).sum::<usize>() as u64;
        self.candidate_source = Some((vocabulary, forest));
        let (solver, graph) = (&mut self.solver, &mut self.graph);
        let known = &self.known;
        let ended = houdini::houdini(
            solver,
            graph,
            known,
            &mut candidates,
            self.cancellation,
            &mut self.cost,
        );
        if !ended {
            return Facts::new();
        }
        candidates.retain(|_, facts| !facts.is_empty());
        for (cut, facts) in &candidates {
            self.known.entry(*cut).or_default().extend(facts);
        }
        candidates
    }

    /// Of facts that are inductive together, those that can be written into a certificate and are
    /// inductive without the others.
    fn writable(&mut self, facts: Facts, cancellation: Cancellation<'_>) -> Facts {
        let pool = &self.graph.pool;
        let mut kept = facts.clone();
        for of_cut in kept.values_mut() {
            of_cut.retain(|&fact| pool.write(fact).is_ok());
        }
        if kept == facts {
            return facts;
        }
        let (solver, graph, cost) = (&mut self.solver, &mut self.graph, &mut self.cost);
        let nothing = Facts::new();
        match houdini::houdini(solver, graph, &nothing, &mut kept, cancellation, cost) {
            true => kept,
            false => nothing,
        }
    }

    fn left(&self, settled: &Settled) -> Vec<Goal> {
        let wanted = &self.options.properties;
        let obligations = settled.failing.keys().filter(|(start, index)| {
            let obligation = &self.graph.fragments[start].obligations[*index];
            let is_violated = |check| self.options.covered.is_violated(check);
            wanted.contains(&obligation.kind.property())
                && !obligation.check.is_some_and(is_violated)
        });
        let obligations = obligations.map(|&(start, index)| Goal::Obligation(start, index));
        let holes = settled.holes.iter();
        let holes = holes.map(|&(start, index)| Goal::Hole(start, index));
        obligations.chain(holes).collect()
    }

    /// Runs a test; true if it violates a check that is asked for, which is then no longer a goal.
    pub fn test(&mut self, tape: &[u8]) -> bool {
        self.stats.executions += 1;
        let Some(violation) = self.tester.run(tape) else {
            return false;
        };
        let fragments = &self.graph.fragments;
        self.goals.retain(|goal| match *goal {
            Goal::Obligation(start, index) => {
                let obligation = &fragments[&start].obligations[index];
                obligation.check != violation.check
                    || (obligation.check.is_none() && obligation.pos != violation.pos)
            }
            Goal::Hole(..) => true,
        });
        true
    }
}

/// Runs tests on the machine and reports violations.
pub(super) struct Tester<'a, 'p> {
    options: &'a Options,
    machine: Machine<'p>,
    checks: FxHashSet<CheckId>,
    /// Whether some test violated a check that is asked for.
    pub violated: bool,
}

impl<'a, 'p> Tester<'a, 'p> {
    /// A tester with these limits of one run.
    pub fn new(program: &'p Program, options: &'a Options, limits: Limits) -> Tester<'a, 'p> {
        Tester {
            options,
            machine: Machine::new(program, limits),
            checks: FxHashSet::default(),
            violated: false,
        }
    }

    /// Whether the check is asked for and no test has violated it.
    pub fn wants(&self, check: Option<CheckId>) -> bool {
        let Some(id) = check else {
            return false;
        };
        let check = self.machine.program().checks.get(id.index());
        let properties = &self.options.properties;
        check.is_some_and(|check| properties.contains(&check.kind.property()))
            && !self.checks.contains(&id)
    }

    /// Runs a test; returns the violation of a check that is asked for.
    pub fn run(&mut self, tape: &[u8]) -> Option<Violation> {
        let run = self.machine.run(tape);
        self.judge(tape, &run)
    }

    /// Runs a test symbolically, with all bytes of its tape as inputs.
    pub fn record(&mut self, tape: &[u8], pool: &mut Pool) -> Execution {
        let run = self.machine.run_symbolic(tape, pool, 0..tape.len());
        self.judge(tape, &run);
        run
    }

    fn judge(&mut self, tape: &[u8], run: &Execution) -> Option<Violation> {
        let entered: Vec<bool> = run.counts.iter().map(|&count| count > 0).collect();
        self.options.covered.note(&entered);
        let violation = run.violation()?;
        let properties = &self.options.properties;
        if !properties.contains(&violation.kind.property()) {
            return None;
        }
        self.violated = true;
        self.checks.extend(violation.check);
        if let Some(seeds) = &self.options.seeds {
            // The receiver may be gone already.
            let _ = seeds.send(Seed {
                tape: tape.to_vec(),
                origin: Origin::Strategy,
                run: None,
            });
        }
        Some(violation.clone())
    }
}
