//! The default strategy: executions beside the abstraction, in large steps.
//!
//! After Gulavani, Henzinger, Kannan, Nori and Rajamani, *SYNERGY: a new algorithm for property
//! checking* (2006): a forest of concrete states and a partition of the abstract ones grow
//! together, and each determines the next step of the other. Where the paper splits regions edge by
//! edge, a region here is a cut point with its invariant. The graph is explored ([`Graph`]), the
//! forest is grown, and candidates that no state of the forest refutes are tried in levels, from
//! cheap to expensive, until every goal is settled or no candidates are left. An iteration is one
//! level: it generates candidates, keeps the inductive ones, and asks about the goals again.

mod reach;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::executed;
use super::options::{Options, Seed, Stats, Verdict};
use super::outcome::{Outcome, Proof};
use super::parts;
use crate::abstraction::asking::{self, Cancellation, Cost, Facts};
use crate::abstraction::candidates::{LEVELS, PLAIN, Vocabulary};
use crate::abstraction::floor_candidates;
use crate::abstraction::forest::{Forest, Growth};
use crate::abstraction::goals::{self, Open, Settled};
use crate::abstraction::graph::Graph;
use crate::abstraction::houdini::houdini;
use crate::abstraction::loops::Loops;
use crate::abstraction::relevance::{Changes, Relevance};
use crate::analysis::Floor;
use crate::proof::{resumed, write};
use cegar_checker::Certificate;
use cegar_model::program::ir::{FuncId, Program};
use cegar_model::solver::{Z3, steps};
use cegar_model::symbolic::summary;
use cegar_model::symbolic::world::{Cut, Grain};

/// The share of the time for the search with recursive functions encoded alone.
const ON_SUMMARIES: f64 = 0.6;
/// The share of the time for finding unreachable code, if the floor settles all checks.
const ON_DEAD_CODE: f64 = 0.25;
/// The time for paths around loops before any candidates are generated.
const AT_FIRST: Duration = Duration::from_millis(1_500);
/// The share of the time for paths around loops after the first candidates, and at the end.
const ON_LOOPS: f64 = 0.3;
/// The maximum of that time.
const LOOPS: Duration = Duration::from_secs(10);
/// The share of the time for finding out which states of the floor are inductive for the solver.
const ON_THE_FLOOR: f64 = 0.2;
/// The time for growing the forest.
const FOREST_TIME: Duration = Duration::from_millis(400);
/// The equivalent in terms evaluated.
const FOREST_WORK: u64 = 20_000_000;

/// The number of solver steps after which checks of properties that were not asked for are left
/// open: a few seconds.
const BESIDE: u64 = 8_000_000;

/// Tries to prove all checks of the properties that are asked for.
pub fn prove<'p>(program: &'p Program, options: &Options, stop: &AtomicBool) -> Proof<'p> {
    let begin = Instant::now();
    let executed = options
        .executes
        .then(|| executed::executed(program, options));
    if let Some(proof) = executed.flatten() {
        return proof;
    }
    let floor = options
        .floor
        .then(|| parts::floor(program, options))
        .flatten();
    let recursive = summary::recursive(program);
    let left = |options: &Options| match options.counted {
        true => options.time,
        false => options.time.saturating_sub(begin.elapsed()),
    };
    let floor = floor.as_ref();
    if let Some((below, stats)) = floor
        && let Some(alone) = parts::on_the_floor_alone(program, options, (below, stats))
    {
        // What is left is to find code that no execution reaches.
        let rest = Options {
            time: left(options).mul_f64(ON_DEAD_CODE),
            so_far: None,
            ..options.clone()
        };
        let searched = search((program, stop), &rest, (Instant::now(), floor), &recursive);
        let (mut better, other) = match searched.is_complete() {
            true => (searched, alone),
            false => (alone, searched),
        };
        better.stats.spend(&other.stats);
        return better;
    }
    if recursive.is_empty() {
        return search((program, stop), options, (begin, floor), &recursive);
    }
    // Summaries prove recursion of any depth. Contexts, which are tried next, prove recursion of
    // small depth whose summary is not found.
    let first = Options {
        time: left(options).mul_f64(ON_SUMMARIES),
        ..options.clone()
    };
    let summarised = search((program, stop), &first, (Instant::now(), floor), &recursive);
    if summarised.is_complete() || stop.load(Ordering::Relaxed) {
        return summarised;
    }
    // If the second search has to be cut off, the report of the first search stays the result.
    let second = Options {
        time: left(options),
        so_far: None,
        ..options.clone()
    };
    let none = BTreeSet::new();
    let followed = search((program, stop), &second, (Instant::now(), floor), &none);
    let proved = |proof: &Proof<'_>| {
        let verdicts = proof.checks.iter().flatten();
        verdicts.filter(|v| **v == Verdict::Proved).count()
    };
    let is_better = proved(&followed) > proved(&summarised) || followed.is_complete();
    let (mut better, other) = match is_better {
        true => (followed, summarised),
        false => (summarised, followed),
    };
    better.stats.spend(&other.stats);
    better
}

/// The floor and its cost.
type Below<'a> = Option<&'a (Arc<Floor>, Stats)>;

/// Tries to prove what is asked for; the functions in `alone` are encoded alone.
fn search<'p>(
    (program, stop): (&'p Program, &AtomicBool),
    options: &Options,
    (begin, floor): (Instant, Below<'_>),
    alone: &BTreeSet<FuncId>,
) -> Proof<'p> {
    let explored = match parts::explore_with(program, options, Grain::Loops, alone) {
        Ok(explored) => explored,
        Err(nothing) => {
            return match floor {
                Some((floor, stats)) => parts::counted(nothing.on(program, options, floor), stats),
                None => *nothing,
            };
        }
    };
    let (graph, mut stats, mut deadline) = (explored.graph, explored.stats, explored.deadline);
    if let Some((_, counts)) = floor {
        parts::count(&mut stats, counts);
        // The floor's time is part of the time available.
        deadline = deadline.map(|at| at.min(begin + options.time));
    }
    let solver = Z3::new();
    let spent = solver.spent();
    let mut prover = Prover {
        program,
        options,
        graph,
        facts: Facts::new(),
        settled: Settled::on(floor.map(|(floor, _)| Arc::clone(floor))),
        solver,
        cost: Cost::default(),
        stats,
        cancellation: Cancellation {
            deadline,
            steps: options.counted.then(|| (&*spent, steps(options.time))),
            stop,
        },
        blocks_asked: false,
        loops: Loops::default(),
        reached: BTreeSet::new(),
        told: None,
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
    cancellation: Cancellation<'a>,
    blocks_asked: bool,
    loops: Loops,
    /// The number of open obligations at the last intermediate report.
    told: Option<usize>,
    /// Goals that a path around loops reaches.
    reached: BTreeSet<(Option<Cut>, usize)>,
}

impl<'p> Prover<'_, 'p> {
    fn run(&mut self) {
        self.on_the_floor();
        if self.is_done() {
            return;
        }
        self.tell_so_far();
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
            if self.cancellation.is_over() {
                return;
            }
            let relevance =
                sliced.then(|| Relevance::new(&self.graph, &self.left(), &self.settled, &changes));
            self.stats.iterations += 1;
            let candidates =
                self.generate_candidates(&vocabulary, &forest, level, relevance.as_ref());
            let clock = Instant::now();
            let count: usize = candidates.values().map(Vec::len).sum();
            let kept = self.keep(candidates);
            tracing::debug!(
                level,
                sliced,
                guesses = count,
                kept,
                solver_calls = self.cost.solver_calls,
                seconds = clock.elapsed().as_secs_f64(),
                "guessed"
            );
            let Some(new) = kept else {
                return;
            };
            if new > 0 && self.is_done() {
                return;
            }
            self.tell_so_far();
            if sliced && level == 1 {
                // The easy goals are proved by now.
                self.around(&forest, self.options.time.mul_f64(ON_LOOPS).min(LOOPS));
            }
        }
        // No candidates are left.
        self.around(&forest, self.options.time.mul_f64(ON_LOOPS).min(LOOPS));
    }

    /// Reports what is proved so far, if it is more than before, unless time is up: writing down
    /// the facts takes time, too.
    fn tell_so_far(&mut self) {
        let Some(listener) = &self.options.so_far else {
            return;
        };
        let open = self.settled.failing.len();
        if self.told.is_some_and(|told| open >= told) || self.cancellation.is_over() {
            return;
        }
        self.told = Some(open);
        let evidence = (&self.graph, &self.facts);
        let outcome = Outcome::so_far(
            self.program,
            self.options,
            &self.settled,
            evidence,
            self.stats,
        );
        // The receiver may be gone.
        let _ = listener.send(outcome);
    }

    /// If the floor leaves goals open, takes its states as candidates. This happens before any
    /// query, since most queries need bounds.
    fn on_the_floor(&mut self) {
        let Some(floor) = self.settled.floor.clone() else {
            return;
        };
        let targets = goals::above(&self.graph, &floor);
        let cuts = asking::cuts_reaching(&self.graph, &targets);
        let candidates = floor_candidates::generate(&mut self.graph, &floor.claim, &cuts);
        let count = candidates.values().map(Vec::len).sum::<usize>();
        self.stats.guesses += count as u64;
        let cancellation = self.cancellation;
        if let Some(deadline) = &mut self.cancellation.deadline {
            let end = Instant::now() + self.options.time.mul_f64(ON_THE_FLOOR);
            *deadline = end.min(*deadline);
        }
        let kept = self.keep(candidates);
        self.cancellation = cancellation;
        tracing::debug!(guesses = count, ?kept, "the floor's states as guesses");
    }

    /// Takes the facts of an earlier run as candidates; true if there is no need to go on.
    fn resume(&mut self, before: &Certificate) -> bool {
        let candidates = resumed(&mut self.graph, before);
        self.stats.guesses += candidates.values().map(Vec::len).sum::<usize>() as u64;
        self.keep(candidates).is_none() || self.is_done()
    }

    /// Adds the candidates that are inductive together to the facts, and returns their number;
    /// `None` if time ran out first.
    fn keep(&mut self, mut candidates: Facts) -> Option<usize> {
        let clock = Instant::now();
        // Facts that cannot be written into a certificate are useless.
        for facts in candidates.values_mut() {
            write::writable(&self.graph.pool, facts);
        }
        let ended = houdini(
            &mut self.solver,
            &mut self.graph,
            &self.facts,
            &mut candidates,
            self.cancellation,
            &mut self.cost,
        );
        self.stats.houdini += clock.elapsed().as_secs_f64();
        if !ended {
            return None;
        }
        let mut new = 0;
        for (cut, facts) in candidates {
            new += facts.len();
            self.facts.entry(cut).or_default().extend(facts);
        }
        self.stats.facts += new as u64;
        Some(new)
    }

    /// Asks about everything that is not settled; true if there is no need to go on. Asks about
    /// blocks when the checks are done, since executions have covered most blocks by then.
    fn is_done(&mut self) -> bool {
        self.ask(false);
        if !self.open(true).is_complete() {
            return false;
        }
        // Checks of properties that were not asked for would have to be assumed, so a little more
        // effort is worthwhile.
        let goes_on = self.solver.spent().get() < BESIDE && !self.cancellation.is_over();
        if goes_on && !self.open(false).is_complete() {
            return false;
        }
        self.ask(true);
        !self.options.all_blocks || self.settled.entered.is_empty()
    }

    /// What is left to prove: first what is asked for, and then the rest.
    fn left(&self) -> Open {
        let asked = self.open(true);
        match asked.is_complete() {
            true => self.open(false),
            false => asked,
        }
    }

    /// What may still be proved, or only the part of it that is `asked` for. Excludes what an
    /// execution has violated.
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

    /// Generates the candidates of one level for the cut points where they can matter.
    fn generate_candidates(
        &mut self,
        vocabulary: &Vocabulary,
        forest: &Forest,
        level: u32,
        relevance: Option<&Relevance>,
    ) -> Facts {
        let clock = Instant::now();
        let mut targets = self.left().fragments();
        if targets.is_empty() {
            // Only blocks are left to ask about, so everything can matter.
            targets = self.graph.fragments.keys().copied().collect();
        }
        let guessing = (level, relevance);
        let mut all =
            parts::generate_candidates(&mut self.graph, (vocabulary, forest), guessing, &targets);
        for (cut, found) in &mut all {
            if let Some(known) = self.facts.get(cut) {
                found.retain(|t| !known.contains(t));
            }
            self.stats.guesses += found.len() as u64;
        }
        self.stats.guess += clock.elapsed().as_secs_f64();
        all
    }

    fn ask(&mut self, blocks: bool) {
        let clock = Instant::now();
        self.blocks_asked |= blocks;
        parts::settle(
            self.program,
            self.options,
            (&mut self.solver, &mut self.graph),
            &self.facts,
            (self.cancellation, blocks),
            (&mut self.settled, &mut self.cost),
        );
        self.stats.settle += clock.elapsed().as_secs_f64();
        tracing::debug!(
            blocks,
            failing = self.settled.failing.len(),
            holes = self.settled.holes.len(),
            seconds = clock.elapsed().as_secs_f64(),
            "asked"
        );
    }

    fn finish(mut self) -> Proof<'p> {
        if !self.blocks_asked {
            // Unreachable code can be proved even if checks are open.
            self.ask(true);
        }
        self.stats.solver_calls = self.cost.solver_calls;
        self.stats.unknown = self.cost.unknown;
        self.stats.steps = self.solver.spent().get();
        Proof::settled(
            self.program,
            self.options,
            &self.settled,
            (self.graph, self.facts),
            self.stats,
        )
    }
}
