//! DART: directed testing alone, as published.
//!
//! Godefroid, Klarlund and Sen, *DART: directed automated random testing* (2005), section 2. A test
//! is executed concretely and symbolically at once. The last decision on its path that was not
//! tried the other way is solved for an input that takes it the other way, and so on, depth first,
//! until every path was taken. There is no abstraction, so that sequences of branches cost a test
//! for each path through them (Synergy, figure 8), and a loop on an input costs a test for each
//! number of its iterations.
//!
//! If all paths were tested, no check is violated. But this follows from executions and not from
//! invariants, so there is no certificate to check, and the verdict stays open.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::base::{FIRST_TEST, Tester};
use cegar_model::machine::{Event, Execution, Limits as RunLimits, Outcome, PathEvent};
use cegar_model::program::ir::Program;
use cegar_model::solver::{Limits, Z3, steps};
use cegar_model::term::Pool;
use cegar_search::simulate::partial::{PathIndex, Question, Simulated, simulate};
use cegar_search::solver::Cached;
use cegar_search::strategy::options::{Options, Stats};
use cegar_search::strategy::outcome::Proof;

/// The time limit of one query.
const QUESTION: Duration = Duration::from_secs(2);
/// The step limit of one test.
const OPERATIONS: u64 = 3_000_000;
/// The maximum number of decisions on one path that are tried the other way.
const DEPTH: usize = 4_000;
/// The number of bytes after a tape's end that are inputs, too.
const BEHIND: usize = 256;
/// The maximum length that tapes are extended to.
const LONGEST: usize = 4_096;
/// The maximum number of terms in a pool, after which a new one is used.
const TERMS: usize = 4_000_000;

/// Runs DART.
pub fn prove<'p>(program: &'p Program, options: &Options, stop: &AtomicBool) -> Proof<'p> {
    let limits = RunLimits {
        steps: OPERATIONS,
        extend: BEHIND,
        path: DEPTH,
        ..RunLimits::default()
    };
    let mut dart = Dart {
        options,
        stop,
        deadline: (!options.counted).then(|| Instant::now() + options.time),
        tester: Tester::new(program, options, limits),
        pool: Pool::new(),
        solver: Cached::new(Z3::new()),
        calls: 0,
        stats: Stats::default(),
        is_complete: true,
    };
    let why = dart.run();
    let mut stats = dart.stats;
    stats.solver_calls = dart.calls + dart.solver.stats().solver_calls;
    stats.executions = stats.iterations;
    Proof::open(program, options, &why, stats)
}

struct Dart<'a, 'p> {
    options: &'a Options,
    stop: &'a AtomicBool,
    deadline: Option<Instant>,
    tester: Tester<'a, 'p>,
    pool: Pool,
    solver: Cached<Z3>,
    calls: u64,
    stats: Stats,
    /// Whether all paths were tested that can be taken.
    is_complete: bool,
}

impl Dart<'_, '_> {
    fn run(&mut self) -> String {
        let mut length = FIRST_TEST.len();
        loop {
            let mut tape = FIRST_TEST.to_vec();
            tape.resize(length, 0);
            let Some(wanted_more) = self.paths(tape) else {
                return match self.tester.violated {
                    true => "the strategy ended at the first violation".to_owned(),
                    false => format!(
                        "{} paths were tested, and there are more",
                        self.stats.iterations
                    ),
                };
            };
            if !wanted_more {
                break;
            }
            if length >= LONGEST {
                self.is_complete = false;
                break;
            }
            length *= 4;
        }
        match self.is_complete {
            true => format!(
                "all {} paths were tested and none violates it, but there is no certificate with \
                 this strategy",
                self.stats.iterations
            ),
            false => format!(
                "{} paths were tested, and not all could be",
                self.stats.iterations
            ),
        }
    }

    fn is_over(&self) -> bool {
        let spent = self.solver.inner().spent();
        self.stop.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|end| Instant::now() > end)
            || (self.options.counted && spent.get() > steps(self.options.time))
            || (self.options.first_only && self.tester.violated)
            || self
                .options
                .iterations
                .is_some_and(|most| self.stats.iterations >= most)
    }

    /// Takes all paths, depth first, beginning with a test. Returns whether some test tried to read
    /// past the end of its tape; `None` if it has to end before.
    fn paths(&mut self, first: Vec<u8>) -> Option<bool> {
        let mut tape = first;
        // For each decision of the latest test, whether it was tried the other way before, or
        // cannot be.
        let mut done: Vec<bool> = Vec::new();
        let mut wanted_more = false;
        loop {
            if self.is_over() {
                return None;
            }
            self.stats.iterations += 1;
            if self.pool.len() > TERMS {
                self.calls += self.solver.stats().solver_calls;
                self.pool = Pool::new();
                self.solver = Cached::new(Z3::new());
            }
            let run = self.tester.record(&tape, &mut self.pool);
            wanted_more |= run.exhausted.is_some();
            self.judge(&run, done.len());
            done.truncate(run.path.len());
            for (at, event) in run.path.iter().enumerate().skip(done.len()) {
                let is_last = at + 1 == run.path.len();
                done.push(self.cannot(event, is_last && run.outcome == Outcome::Rejected));
            }
            match self.other(&mut done, &run, &tape) {
                Some(next) => tape = next,
                None => return Some(wanted_more),
            }
        }
    }

    /// Notes whether paths may be missed: the machine continued with a concrete value, a test was
    /// cut off, or a test did not make the decisions that it was solved for.
    fn judge(&mut self, run: &Execution, expected: usize) {
        let is_violation = matches!(run.outcome, Outcome::Violated(_));
        self.is_complete &= run.concretisations == 0
            && run.path.len() < DEPTH
            && (is_violation || run.path.len() >= expected)
            && !matches!(
                run.outcome,
                Outcome::StepLimit | Outcome::Unmodelled(_) | Outcome::OutOfMemory
            );
    }

    /// Whether the decision need not be tried the other way.
    fn cannot(&self, event: &PathEvent, is_rejected: bool) -> bool {
        match event.event {
            Event::Branch { .. } => false,
            Event::Check { check, .. } => !self.tester.wants(check),
            // Assumptions hold, unless the test ended because this one does not.
            Event::Assume { .. } => !is_rejected,
            Event::Concretised { .. } => true,
        }
    }

    /// A tape that takes the last decision that was not tried the other way the other way; `None`
    /// if there is none left.
    fn other(&mut self, done: &mut Vec<bool>, run: &Execution, tape: &[u8]) -> Option<Vec<u8>> {
        let index = PathIndex::new(&mut self.pool, &run.path);
        while let Some(is_done) = done.pop() {
            if is_done {
                continue;
            }
            let before = done.len();
            if before >= index.len() || self.is_over() {
                self.is_complete = false;
                continue;
            }
            let wanted = match run.path[before].event.condition() {
                (cond, true) => self.pool.not(cond),
                (violated, false) => violated,
            };
            let question = Question {
                index: &index,
                before,
                wanted,
                tape,
                choices: &run.choices,
            };
            let limits = Limits {
                time: Some(QUESTION),
                ..Limits::default()
            };
            let limits = match self.options.counted {
                true => limits.counted(),
                false => limits,
            };
            match simulate(&mut self.pool, &mut self.solver, &question, &limits) {
                Simulated::Tape { tape, .. } => {
                    done.push(true);
                    return Some(tape);
                }
                Simulated::Dead => {}
                Simulated::Open | Simulated::OutOfLimits => self.is_complete = false,
            }
        }
        None
    }
}
