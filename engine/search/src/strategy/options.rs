//! The options of a proof, and its counters.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Strategy;
use super::outcome::Outcome;
use crate::simulate::search::Origin;
use cegar_checker::{Certificate, Condition};
use cegar_model::machine::Execution;
use cegar_model::program::ir::{BlockId, CheckId, Property};
use cegar_model::symbolic::encode::Budget;

/// The options of a proof.
#[derive(Clone, Debug)]
pub struct Options {
    /// The strategy. Default: auto.
    pub strategy: Strategy,
    /// The properties whose checks are asked for. The other checks are assumed to hold, and
    /// `Proof::assumed` says so.
    pub properties: Vec<Property>,
    /// Blocks that some execution entered: they need no proof. Other threads may add blocks
    /// meanwhile.
    pub covered: Arc<Coverage>,
    /// Whether to continue for the blocks when all checks are settled. Default: no; they are asked
    /// about once.
    pub all_blocks: bool,
    /// Whether a strategy other than `auto` ends at the first violation. Default: no.
    pub first_only: bool,
    /// The time limit in all. Default: 60 s.
    pub time: Duration,
    /// The certificate of an earlier run, whose facts are tried first.
    pub before: Option<Certificate>,
    /// Whether `time` is measured in steps of the solver and not by the clock: slower, but the same
    /// on every machine. Default: no.
    pub counted: bool,
    /// The maximum number of iterations of a strategy other than `auto`. Default: as many as time
    /// allows.
    pub iterations: Option<u64>,
    /// The number of random executions of the forest. Default: 60.
    pub runs: u64,
    /// The limits for one fragment.
    pub budget: Budget,
    /// Tapes of known executions, for the forest.
    pub tapes: Vec<Vec<u8>>,
    /// Whether loops are handled by their closed forms. Default: yes.
    pub loops: bool,
    /// Whether a floor is computed first, without a solver. Default: yes.
    pub floor: bool,
    /// Whether a program that reads no input is executed instead. Default: no.
    pub executes: bool,
    /// The receiver of tapes that answer queries about goals.
    pub seeds: Option<Sender<Seed>>,
    /// The receiver of intermediate results, in case the rest is not ready in time. Only `auto`
    /// sends them.
    pub so_far: Option<Sender<Outcome>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            strategy: Strategy::Auto,
            properties: vec![Property::Assertion, Property::Abort, Property::Memory],
            covered: Arc::default(),
            all_blocks: false,
            first_only: false,
            time: Duration::from_secs(60),
            before: None,
            counted: false,
            iterations: None,
            runs: 60,
            budget: Budget::default(),
            tapes: Vec::new(),
            loops: true,
            floor: true,
            executes: false,
            seeds: None,
            so_far: None,
        }
    }
}

/// What executions have covered so far, shared between the threads that execute and those that
/// prove.
#[derive(Debug, Default)]
pub struct Coverage {
    blocks: Vec<AtomicBool>,
    checks: Vec<AtomicBool>,
}

impl Coverage {
    /// An empty coverage of so many blocks and checks.
    pub fn new(blocks: usize, checks: usize) -> Coverage {
        let flags = |n: usize| (0..n).map(|_| AtomicBool::new(false)).collect();
        Coverage {
            blocks: flags(blocks),
            checks: flags(checks),
        }
    }

    /// Adds covered blocks.
    pub fn note(&self, covered: &[bool]) {
        for (flag, _) in self.blocks.iter().zip(covered).filter(|(_, c)| **c) {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a block is covered.
    pub fn has(&self, block: BlockId) -> bool {
        let flag = self.blocks.get(block.index());
        flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// The covered blocks, by number.
    pub fn covered(&self) -> impl Iterator<Item = u32> + '_ {
        let flags = (0u32..).zip(&self.blocks);
        flags.filter_map(|(block, flag)| flag.load(Ordering::Relaxed).then_some(block))
    }

    /// Notes that an execution violated a check.
    pub fn violate(&self, check: CheckId) {
        if let Some(flag) = self.checks.get(check.index()) {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Whether some execution violated a check, so that it cannot be proved.
    pub fn is_violated(&self, check: CheckId) -> bool {
        let flag = self.checks.get(check.index());
        flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// The verdict on one goal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No execution violates the check, or enters the block.
    Proved,
    /// In no execution in which certain other, unproved checks hold is the check violated or the
    /// block entered.
    ProvedIf(Condition),
    /// Not settled, with the reason.
    Open(String),
}

impl Verdict {
    /// Whether it is proved, with or without a condition.
    pub fn is_proved(&self) -> bool {
        matches!(self, Verdict::Proved | Verdict::ProvedIf(_))
    }
}

/// A tape that should reach a goal.
#[derive(Clone, Debug)]
pub struct Seed {
    /// The tape.
    pub tape: Vec<u8>,
    /// How it was made.
    pub origin: Origin,
    /// Its run, if it was executed, so that no long tape runs twice.
    pub run: Option<Box<Execution>>,
}

/// The effort of a proof.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Iterations of the strategy: with `auto` the levels of candidates that were tried, else as
    /// its authors count.
    pub iterations: u64,
    /// Regions that were split, or predicates that were added.
    #[serde(default)]
    pub splits: u64,
    /// Executions that the strategy asked for.
    #[serde(default)]
    pub executions: u64,
    /// Cut points.
    pub cuts: u64,
    /// Call contexts.
    pub contexts: u64,
    /// Fragments encoded, repetitions included.
    pub encodings: u64,
    /// Transitions of the forest.
    pub forest_steps: u64,
    /// Goals that were tried from states of the forest.
    pub frontier_queries: u64,
    /// The goals that were reached: tapes for the search and the fuzzer.
    pub frontier_seeds: u64,
    /// Segments of loops that were found.
    pub loop_segments: u64,
    /// Paths around loops for which a query was asked.
    pub loop_paths: u64,
    /// Paths with an answer, i.e. with a number of iterations of each loop.
    pub loop_answers: u64,
    /// Answers that an execution confirmed: tapes for the search and the fuzzer.
    pub loop_seeds: u64,
    /// Candidates that no execution refuted.
    pub guesses: u64,
    /// Candidates that are inductive.
    pub facts: u64,
    /// Queries to the solver.
    pub solver_calls: u64,
    /// Queries that it did not answer in time.
    pub unknown: u64,
    /// Steps of the solver.
    pub steps: u64,
    /// Checks that hold by the floor.
    #[serde(default)]
    pub floor_checks: u64,
    /// Blocks that are never entered by the floor.
    #[serde(default)]
    pub floor_blocks: u64,
    /// Seconds for the floor.
    #[serde(default)]
    pub floor: f64,
    /// Checks that the floor without relations between values settles.
    #[serde(default)]
    pub floor_first_checks: u64,
    /// Seconds until that floor was found.
    #[serde(default)]
    pub floor_first: f64,
    /// Checks that hold, but not by the floor.
    #[serde(default)]
    pub beyond_floor_checks: u64,
    /// The number of over-approximations in the fragments.
    pub approximations: u64,
    /// Seconds for exploring; the following fields: for growing the forest, frontier queries, paths
    /// around loops, generating candidates, Houdini, asking about goals.
    pub explore: f64,
    /// See `explore`.
    pub forest: f64,
    /// See `explore`.
    pub frontier: f64,
    /// See `explore`.
    pub loops: f64,
    /// See `explore`.
    pub guess: f64,
    /// See `explore`.
    pub houdini: f64,
    /// See `explore`.
    pub settle: f64,
}

impl Stats {
    /// Adds the effort of another search of the same command, but not its results.
    pub fn spend(&mut self, other: &Stats) {
        self.iterations += other.iterations;
        self.encodings += other.encodings;
        self.forest_steps += other.forest_steps;
        self.frontier_queries += other.frontier_queries;
        self.frontier_seeds += other.frontier_seeds;
        self.loop_segments += other.loop_segments;
        self.loop_paths += other.loop_paths;
        self.loop_answers += other.loop_answers;
        self.loop_seeds += other.loop_seeds;
        self.guesses += other.guesses;
        self.solver_calls += other.solver_calls;
        self.unknown += other.unknown;
        self.steps += other.steps;
        self.explore += other.explore;
        self.forest += other.forest;
        self.frontier += other.frontier;
        self.loops += other.loops;
        self.guess += other.guess;
        self.houdini += other.houdini;
        self.settle += other.settle;
    }
}
