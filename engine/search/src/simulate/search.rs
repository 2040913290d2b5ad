//! What to ask next.
//!
//! Each recorded execution offers departures: every symbolic branch could have gone the other way,
//! every check that held could perhaps fail "on this very path" (the generational search of SAGE,
//! which asks about every branch and not only the last). They wait in one queue, in classes: can a
//! check fail here; can an uncovered block be entered from here; can an answer be replayed
//! ([`super::pump`]); does a longer tape change anything; can an odd context be left; and at last
//! everything else. A new execution is recorded symbolically only if it did something new, so that
//! the queue stays proportional to the program's behaviour and not to the number of executions.

mod ask;
mod judge;
mod news;
mod offers;
mod queue;
mod replays;
mod tell;

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
pub use tell::Spans;

/// Longest tape, in bytes: 64 MiB.
pub const LONGEST: usize = 64 << 20;
/// Operations that every run may take, however many others did not end.
const SHORTEST: u64 = 4_000_000;
/// Operations for each byte of a tape that loops were solved for.
const PER_BYTE: u64 = 400;
/// Operations that a recorded run may take: recording is an order of magnitude slower than running.
const RECORDED: u64 = 20_000_000;
/// What a question costs in executed steps, and what one that reaches the solver costs.
const QUESTION_STEPS: u64 = 2_000;
const SOLVER_STEPS: u64 = 100_000;
/// What one costs that goes to the solver's limits.
const HARD_STEPS: u64 = 50_000_000;

/// Queued jobs beyond this many of the lowest class are dropped.
const QUEUE_LIMIT: usize = 400_000;
/// What shortening a tape may cost whose turns are the least already, in steps; one run is allowed
/// if it takes more.
const LEGIBLE_STEPS: u64 = 2_000_000;
/// How often a violation is told of that is not confirmed.
const DOUBTS: u32 = 16;
/// Of what is read last, every length up to this is tried: a buffer that is one byte too small is
/// no new block.
const MOST_LENGTHS: usize = 300;
/// For so many tapes that end at the same place in the program.
const LENGTH_SWEEPS: u32 = 8;
/// Lengths that a tape is extended to.
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
    /// How many tapes were tried with other lengths, by where their last bytes are read.
    swept: FxHashMap<u64, u32>,
    reported: FxHashSet<Place>,
    /// Further tapes with a violation that was told of already, until it is confirmed or given up.
    witnesses: FxHashMap<Place, VecDeque<Witness>>,
    /// How often what was told of a place was not confirmed.
    doubted: FxHashMap<Place, u32>,
    last_consumed: usize,
    /// The last tape with a violation that is news, and its run, for the report.
    telling: Option<(Vec<u8>, Execution)>,
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
            telling: None,
            jobs: 0,
            stats: SearchStats::default(),
            program,
            config,
        }
    }

    /// Whether failing this kind of check is what the search is for.
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

    /// Blocks that some execution entered, by number.
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
        // These are guesses: none of them is worth seconds.
        let steps = self.machine.limits().steps.min(RECORDED);
        self.within(steps, |search| {
            search.execute(tape, Origin::Given, &[], news)
        });
    }

    /// As [`Search::add`], but no longer than there is time for the search: what is not executed to
    /// its end does nothing new.
    pub fn glance(&mut self, tape: &[u8], origin: Origin, news: &mut Vec<News>) {
        self.hurry(self.config.until);
        self.add(tape, origin, news);
        self.hurry(None);
    }

    /// Has executions end by then.
    fn hurry(&mut self, until: Option<Instant>) {
        let limits = self.machine.limits().clone();
        self.machine.set_limits(Limits { until, ..limits });
    }

    /// Does something with another limit of steps.
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

    /// The limit of steps for a tape.
    fn steps_for(&self, tape: &[u8], origin: Origin) -> u64 {
        let steps = self.machine.limits().steps;
        match origin {
            // So many turns are what it is about.
            Origin::Loop => steps.max(tape.len() as u64 * PER_BYTE),
            _ => steps,
        }
    }

    /// Executes a tape that came from outside, and takes what it did into account.
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

    /// Takes into account what a tape from outside did in a run that was made elsewhere.
    pub fn take(&mut self, tape: Vec<u8>, run: Execution, origin: Origin, news: &mut Vec<News>) {
        if tape.len() <= self.config.max_len && self.seen.insert(hash(&tape)) {
            self.heed(tape, run, origin, &[], news);
        }
    }

    /// Departures taken from the queue so far.
    pub fn jobs(&self) -> u64 {
        self.jobs
    }

    /// Works through the queue until `deadline`, `stop`, `jobs` departures or the first news; false
    /// when nothing is left to ask.
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

    /// Runs a tape; if it does something new, records it and queues its departures. Gives the block
    /// counts, or nothing if the tape was run before.
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
            // Where one run does not end, others will not: they get less, so that the search goes
            // on.
            let mut limits = self.machine.limits().clone();
            limits.steps = (limits.steps / 4).max(SHORTEST);
            self.machine.set_limits(limits);
        }
        let counts = run.counts.clone();
        self.heed(tape, run, origin, changed, news);
        Some(counts)
    }

    /// Takes a run into account.
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
            self.telling = Some((tape, run));
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
