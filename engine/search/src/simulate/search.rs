//! Decides what to ask the solver next.
//!
//! Each recorded execution offers departures: every symbolic branch could have gone the other way,
//! and every check that held could fail on this very path. (The generational search of SAGE also
//! asks about every branch and not only the last.) Departures wait in one queue, in classes: a
//! check that may fail; an uncovered block that may be entered; an answer that can be replayed
//! ([`super::pump`]); a longer tape; an unusual context that can be left; and everything else. A
//! new execution is recorded symbolically only if it did something new, so that the queue is
//! proportional to the program's behaviour and not to the number of executions.

mod ask;
mod judge;
mod news;
mod offers;
mod queue;
mod replays;
mod shorten;

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

pub use self::news::{Config, News, Origin, SearchStats};
use super::context;
use super::legible::{SHORT, legible, plain_at, text_positions};
use super::minimise::{Budget, Judged, Span, minimise, simplify};
use super::partial::PathIndex;
use super::pump;
use crate::solver::Cached;
use cegar_model::machine::{Choice, Event, Execution, Limits, Machine, Outcome, Violation};
use cegar_model::program::{BlockId, CheckId, CheckKind, FunctionKind, Program};
use cegar_model::solver::{self, SolverStats, Z3};
use cegar_model::term::Pool;
use judge::{Place, place};
use queue::{Job, Queue, Recorded, Work, class};
pub use shorten::Spans;

/// Longest tape, in bytes: 64 MiB.
pub const LONGEST: usize = 64 << 20;
/// The least step limit of a run: the limit is not lowered further, however many runs reach it.
const SHORTEST: u64 = 4_000_000;
/// Step limit per byte of a tape that the closed forms of loops were solved for.
const PER_BYTE: u64 = 400;
/// Step limit of a recorded run: recording is an order of magnitude slower than running.
const RECORDED: u64 = 20_000_000;
/// The cost of a query, and the cost of a query that reaches the solver, in executed steps.
const QUESTION_STEPS: u64 = 2_000;
const SOLVER_STEPS: u64 = 100_000;
/// The cost of a query that reaches the solver's limits, in executed steps.
const HARD_STEPS: u64 = 50_000_000;

/// When more jobs than this are queued, new jobs of the class `REST` are dropped.
const QUEUE_LIMIT: usize = 400_000;
/// Budget, in steps, for making a tape readable whose number of iterations is already minimal. A
/// run that takes more steps than this is still tried once.
const LEGIBLE_STEPS: u64 = 2_000_000;
/// How many failed confirmations of a violation end the reports of it.
const DOUBTS: u32 = 16;
/// For the last choice of a tape, every length below or at this bound is tried: a buffer that is
/// one byte too small shows in no new block.
const MOST_LENGTHS: usize = 300;
/// The number of tapes per site of the last choice for which all lengths are tried.
const LENGTH_SWEEPS: u32 = 8;
/// The lengths that a tape is extended to.
const LENGTHS: [usize; 9] = [1, 4, 16, 64, 128, 256, 512, 1024, 4096];

/// A tape, the violation that the machine saw on it, and how the tape was made.
pub type Witness = (Vec<u8>, Violation, Origin);

/// The search: recorded executions, and the queue of departures from them.
pub struct Search<'p> {
    program: &'p Program,
    machine: Machine<'p>,
    pool: Pool,
    solver: Cached<Z3>,
    config: Config,
    covered: Vec<bool>,
    buckets: Vec<u8>,
    violated: FxHashSet<CheckId>,
    queue: Queue,
    seen: FxHashSet<u64>,
    contexts: FxHashSet<(u32, u32, u64)>,
    tried: FxHashMap<(u32, u32), u64>,
    replayed: FxHashSet<u64>,
    /// The number of tapes that were tried with other lengths, by the site that reads their last
    /// bytes.
    swept: FxHashMap<u64, u32>,
    reported: FxHashSet<Place>,
    /// Further tapes for violations that were reported already, until one is confirmed or given up.
    witnesses: FxHashMap<Place, VecDeque<Witness>>,
    /// The number of failed confirmations, by place.
    doubted: FxHashMap<Place, u32>,
    last_consumed: usize,
    /// The last tape with a new violation and its run, for the report.
    last_reported: Option<(Vec<u8>, Execution)>,
    jobs: u64,
    stats: SearchStats,
}

impl<'p> Search<'p> {
    /// A search over a program, with nothing executed yet.
    pub fn new(program: &'p Program, config: Config) -> Search<'p> {
        Search {
            machine: Machine::new(program, config.limits.clone()),
            pool: Pool::new(),
            solver: Cached::new(Z3::new()),
            covered: vec![false; program.blocks.len()],
            buckets: vec![0; program.blocks.len()],
            violated: FxHashSet::default(),
            queue: Queue::default(),
            seen: FxHashSet::default(),
            contexts: FxHashSet::default(),
            tried: FxHashMap::default(),
            replayed: FxHashSet::default(),
            swept: FxHashMap::default(),
            reported: FxHashSet::default(),
            witnesses: FxHashMap::default(),
            doubted: FxHashMap::default(),
            last_consumed: 0,
            last_reported: None,
            jobs: 0,
            stats: SearchStats::default(),
            program,
            config,
        }
    }

    /// Whether failing checks of this kind are goals of the search.
    pub fn wanted(&self, kind: CheckKind) -> bool {
        self.config.properties.contains(&kind.property())
    }

    /// The counters so far.
    pub fn stats(&self) -> SearchStats {
        self.stats
    }

    /// The solver's counters so far.
    pub fn solver_stats(&self) -> SolverStats {
        self.solver.stats()
    }

    /// The blocks that some execution entered, by number.
    pub fn covered(&self) -> &[bool] {
        &self.covered
    }

    /// Marks blocks that a native execution entered.
    pub fn note_covered(&mut self, blocks: impl IntoIterator<Item = u32>) {
        for block in blocks {
            if let Some(covered) = self.covered.get_mut(block as usize) {
                *covered = true;
            }
        }
    }

    /// Whether every block of the user's code is covered.
    pub fn fully_covered(&self) -> bool {
        self.program
            .blocks
            .iter()
            .zip(&self.covered)
            .all(|(block, &covered)| {
                covered || self.program.function(block.function).kind != FunctionKind::User
            })
    }

    /// The tapes that every search starts from, for [`Search::begin`].
    pub fn first() -> [Vec<u8>; 3] {
        [Vec::new(), vec![0; 64], vec![b'a'; 32]]
    }

    /// Executes one of the first tapes.
    pub fn begin(&mut self, tape: Vec<u8>, news: &mut Vec<News>) {
        // These tapes are guesses; none of them is worth seconds.
        let steps = self.machine.limits().steps.min(RECORDED);
        self.within(steps, |search| {
            search.execute(tape, Origin::Given, &[], news)
        });
    }

    /// As [`Search::add`], but the execution ends when the time of the search is over. An execution
    /// that is cut off does nothing new.
    pub fn glance(&mut self, tape: &[u8], origin: Origin, news: &mut Vec<News>) {
        self.hurry(self.config.until);
        self.add(tape, origin, news);
        self.hurry(None);
    }

    /// Sets the time at which executions end.
    fn hurry(&mut self, until: Option<Instant>) {
        let limits = self.machine.limits().clone();
        self.machine.set_limits(Limits { until, ..limits });
    }

    /// Calls `work` under another step limit.
    fn within<T>(&mut self, steps: u64, work: impl FnOnce(&mut Self) -> T) -> T {
        let limits = self.machine.limits().clone();
        self.machine.set_limits(Limits {
            steps,
            ..limits.clone()
        });
        let done = work(self);
        self.machine.set_limits(limits);
        done
    }

    /// The step limit for a tape.
    fn steps_for(&self, tape: &[u8], origin: Origin) -> u64 {
        let steps = self.machine.limits().steps;
        match origin {
            // Such a tape was solved for so many iterations, so they must be executed.
            Origin::Loop => steps.max(tape.len() as u64 * PER_BYTE),
            _ => steps,
        }
    }

    /// Executes a tape that came from outside, and processes the run.
    pub fn add(&mut self, tape: &[u8], origin: Origin, news: &mut Vec<News>) {
        if tape.len() > self.config.max_len {
            return;
        }
        if origin != Origin::Loop {
            self.execute(tape.to_vec(), origin, &[], news);
            return;
        }
        self.within(self.steps_for(tape, origin), |search| {
            let before = news.len();
            if tape.len() > SHORT
                && let Some(plain) = legible(&search.machine, tape)
            {
                search.execute(plain, origin, &[], news);
            }
            if !news[before..].iter().any(News::is_violation) {
                search.execute(tape.to_vec(), origin, &[], news);
            }
        });
    }

    /// Processes the run of a tape from outside that was executed elsewhere.
    pub fn take(&mut self, tape: Vec<u8>, run: Execution, origin: Origin, news: &mut Vec<News>) {
        if tape.len() <= self.config.max_len && self.seen.insert(hash(&tape)) {
            self.heed(tape, run, origin, &[], news);
        }
    }

    /// The number of departures taken from the queue so far.
    pub fn jobs(&self) -> u64 {
        self.jobs
    }

    /// Works through the queue until `deadline`, `stop`, `jobs` departures or the first news.
    /// Returns false when the queue is empty.
    pub fn slice(
        &mut self,
        deadline: Instant,
        jobs: Option<u64>,
        stop: &AtomicBool,
        news: &mut Vec<News>,
    ) -> bool {
        let last = jobs.map(|jobs| self.jobs + jobs);
        self.hurry(self.config.until);
        while news.is_empty()
            && Instant::now() < deadline
            && !stop.load(Ordering::Relaxed)
            && last.is_none_or(|last| self.jobs < last)
        {
            let Some((class, job)) = self.queue.pop() else {
                break;
            };
            self.jobs += 1;
            let before = self.cost();
            self.work(class, job, news);
            self.queue.spent[class] += self.cost() - before;
        }
        self.hurry(None);
        self.queue.len() > 0
    }

    fn cost(&self) -> u64 {
        self.stats.steps
            + self.stats.questions * QUESTION_STEPS
            + self.solver.stats().solver_calls * SOLVER_STEPS
            + self.solver.stats().unknown * HARD_STEPS
    }

    fn work(&mut self, class: usize, job: Job, news: &mut Vec<News>) {
        match job.work {
            Work::Flip { of, at } => self.flip(&of, at, class, news),
            Work::Violate { of, at } => self.violate(&of, at, class, news),
            Work::Replay {
                tape,
                stretch,
                rung,
                before,
            } => self.replay(&tape, &stretch, (rung, before), news),
            Work::Between {
                tape,
                stretch,
                low,
                high,
                like,
            } => self.between(&tape, &stretch, (low, high, like), news),
            Work::Longer { tape, to } => {
                let mut longer = tape.to_vec();
                longer.resize(to, 0);
                self.execute(longer, Origin::Longer, &[], news);
            }
            Work::Lengths { tape, from, length } => {
                let mut other = tape.to_vec();
                let last = other.last().copied().unwrap_or(0);
                other.resize(from + length, last);
                self.execute(other, Origin::Longer, &[], news);
                if length < MOST_LENGTHS {
                    let length = length + 1;
                    self.push(
                        class::REST,
                        length as u64,
                        Work::Lengths { tape, from, length },
                    );
                }
            }
        }
    }

    /// Runs a tape; if it does something new, records it and queues its departures. Returns the
    /// block counts, or `None` if the tape was run before.
    fn execute(
        &mut self,
        tape: Vec<u8>,
        origin: Origin,
        changed: &[u32],
        news: &mut Vec<News>,
    ) -> Option<Vec<u8>> {
        if !self.seen.insert(hash(&tape)) {
            return None;
        }
        let run = self.machine.run(&tape);
        if run.steps > self.machine.limits().steps {
            // Where one run does not end, others will not end either. They get fewer steps, so that
            // the search goes on.
            let mut limits = self.machine.limits().clone();
            limits.steps = (limits.steps / 4).max(SHORTEST);
            self.machine.set_limits(limits);
        }
        let counts = run.counts.clone();
        self.heed(tape, run, origin, changed, news);
        Some(counts)
    }

    /// Processes a run: updates coverage, reports violations and seeds, and queues departures.
    fn heed(
        &mut self,
        mut tape: Vec<u8>,
        run: Execution,
        origin: Origin,
        changed: &[u32],
        news: &mut Vec<News>,
    ) {
        self.stats.executions += 1;
        self.stats.steps += run.steps;
        self.last_consumed = run.consumed;
        let new_block = self.absorb(&run);
        let fresh = self.judge(&tape, &run, origin, news);
        if new_block.block && !fresh {
            news.push(News::Seed {
                tape: tape.clone(),
                origin,
            });
        }
        if new_block.block || new_block.bucket || origin == Origin::Given {
            self.offer(&tape, &run, changed);
        }
        if fresh {
            tape.truncate(run.consumed);
            self.last_reported = Some((tape, run));
        }
    }

    fn absorb(&mut self, run: &Execution) -> Novelty {
        let mut novelty = Novelty::default();
        for (block, &count) in run.counts.iter().enumerate() {
            if count == 0 {
                continue;
            }
            if !self.covered[block] {
                self.covered[block] = true;
                novelty.block = true;
            }
            let bucket = 8 - count.leading_zeros() as u8;
            if bucket > self.buckets[block] {
                self.buckets[block] = bucket;
                novelty.bucket = true;
            }
        }
        novelty
    }
}

#[derive(Default)]
struct Novelty {
    block: bool,
    bucket: bool,
}

fn hash(tape: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    tape.hash(&mut hasher);
    hasher.finish()
}
