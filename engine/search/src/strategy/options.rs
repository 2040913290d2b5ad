//! What a proof is asked for, and what it counts.

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

/// What to prove, and how long to try.
#[derive(Clone, Debug)]
pub struct Options {
    /// How. Default: auto.
    pub strategy: Strategy,
    /// Which checks are asked for. The others are assumed to hold, and `Proof::assumed` says so.
    pub properties: Vec<Property>,
    /// Blocks that some execution entered: that they can be entered is known. Others may add to it
    /// meanwhile.
    pub covered: Arc<Coverage>,
    /// Whether to go on for the blocks when all checks are settled. Default: no; they are asked
    /// about once.
    pub all_blocks: bool,
    /// Whether a strategy other than `auto` ends at the first violation. Default: no.
    pub first_only: bool,
    /// How long to try in all. Default: 60 s.
    pub time: Duration,
    /// The certificate of an earlier run, whose formulas are tried first.
    pub before: Option<Certificate>,
    /// Whether that is counted in steps of the solver and not by the clock: slower, and the same on
    /// every machine. Default: no.
    pub counted: bool,
    /// Turns of the loop of a strategy other than `auto`. Default: as many as there is time for.
    pub iterations: Option<u64>,
    /// Executions of the forest. Default: 60.
    pub runs: u64,
    /// What one fragment may cost.
    pub budget: Budget,
    /// Tapes of executions that are known, for the forest.
    pub tapes: Vec<Vec<u8>>,
    /// Whether loops are followed by their closed forms. Default: yes.
    pub loops: bool,
    /// Whether states of the whole program are looked for first, without a solver. Default: yes.
    pub floor: bool,
    /// Whether a program that asks for no input is executed instead. Default: no.
    pub executes: bool,
    /// Where the tapes go that answer questions about goals.
    pub seeds: Option<Sender<Seed>>,
    /// Where the proofs so far go, in case the rest is not ready in time. Only `auto` sends them.
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

/// What executions have covered so far, shared between those that execute and those that prove.
#[derive(Debug, Default)]
pub struct Coverage {
    blocks: Vec<AtomicBool>,
    checks: Vec<AtomicBool>,
}

impl Coverage {
    /// Nothing covered of so many blocks, and none of so many checks violated.
    pub fn new(blocks: usize, checks: usize) -> Coverage {
        let flags = |n: usize| (0..n).map(|_| AtomicBool::new(false)).collect();
        Coverage {
            blocks: flags(blocks),
            checks: flags(checks),
        }
    }

    /// Notes what is covered.
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

    /// The blocks that are covered, by number.
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

    /// Whether some execution violated a check, which makes it useless to prove it.
    pub fn is_violated(&self, check: CheckId) -> bool {
        let flag = self.checks.get(check.index());
        flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// How a goal stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No execution violates the check, or enters the block.
    Proved,
    /// No execution in which certain other checks hold violates the check, or enters the block;
    /// those checks are not proved.
    ProvedIf(Condition),
    /// Not settled, and why.
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
    /// Its run, where there was one: nothing long runs twice.
    pub run: Option<Box<Execution>>,
}

/// What it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Turns of the strategy's loop: with `auto` the levels of guesses that were tried, else as its
    /// authors count.
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
    /// Ways around loops that were followed by their closed forms.
    pub loop_segments: u64,
    /// Paths around loops that were asked about.
    pub loop_paths: u64,
    /// Those with an answer: how often each loop is to be taken.
    pub loop_answers: u64,
    /// Answers that an execution confirmed: tapes for the search and the fuzzer.
    pub loop_seeds: u64,
    /// Guesses that no execution refuted.
    pub guesses: u64,
    /// Guesses that are inductive.
    pub facts: u64,
    /// Questions to the solver.
    pub solver_calls: u64,
    /// Questions that it did not answer in time.
    pub unknown: u64,
    /// Steps of the solver.
    pub steps: u64,
    /// Checks of which the floor says that they hold.
    #[serde(default)]
    pub floor_checks: u64,
    /// Blocks of which it says that they are never entered.
    #[serde(default)]
    pub floor_blocks: u64,
    /// Seconds that the floor took.
    #[serde(default)]
    pub floor: f64,
    /// Checks that the floor without relations of values settles.
    #[serde(default)]
    pub floor_first_checks: u64,
    /// Seconds until there was that floor.
    #[serde(default)]
    pub floor_first: f64,
    /// Checks that hold, of which the floor does not say that.
    #[serde(default)]
    pub beyond_floor_checks: u64,
    /// Places where something was over-approximated.
    pub approximations: u64,
    /// Seconds: exploring, growing the forest, frontier queries, paths around loops, guessing,
    /// Houdini, asking about goals.
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
    /// Adds the effort of another search of one command. What a search found is not added.
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
