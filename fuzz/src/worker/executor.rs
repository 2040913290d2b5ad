//! LibAFL's view of the loaded target: an executor, a feedback and a scheduler.
//!
//! The executor is in-process and does without LibAFL's hooks, whose two timer system calls per run
//! halve the speed. Coverage is measured by *raw* counts. With the usual buckets (1, 2, 3, 4-7,
//! 8-15, ...), an input that adds one loop iteration is not new, and a loop that needs 101
//! iterations never reached them in 9 million runs; with raw counts it took some thousand. LibAFL's
//! own map feedback would work, but compares byte by byte without its `simd` feature.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use libafl::Error;
use libafl::corpus::{Corpus, CorpusId};
use libafl::executors::{Executor, ExitKind, HasObservers};
use libafl::feedbacks::{Feedback, StateInitializer};
use libafl::inputs::{BytesInput, HasMutatorBytes};
use libafl::schedulers::Scheduler;
use libafl::state::{HasCorpus, HasExecutions, HasRand};
use libafl_bolts::Named;
use libafl_bolts::rands::Rand;
use libafl_bolts::tuples::RefIndexable;

use super::protocol::{Failure, WorkerEvent};
use super::target::{
    CRASHED, EXITED, Guarded, OUT_OF_MEMORY, RETURNED, RunResult, TIMED_OUT, Target, VIOLATED,
};

/// The number of timeouts that are reported individually; further ones are not reported.
const TIMEOUTS_TOLD: u32 = 16;
/// How often an ordinary input is reported as a sample, and after how many runs the clock is read.
const SAMPLING: Duration = Duration::from_millis(100);
const UNWATCHED: u64 = 64;
/// One run in [`GUARDED`] is repeated with guarded heap blocks, as long as that takes at most one
/// part in [`GUARDING`] of the time; if no clock is read, one run in [`SELDOM`]. One in
/// [`BEGINNINGS`] of these has the guards before the blocks.
const GUARDED: u64 = 16;
const GUARDING: u32 = 40;
const SELDOM: u64 = 256;
const BEGINNINGS: u64 = 4;
/// How often a failure is reported again with a shorter tape.
const SHORTER_TOLD: u32 = 12;

/// A target that the executor, the feedback and the worker's loop use in turn, in one thread.
pub(super) type Shared = Rc<RefCell<Target>>;

/// The highest count of each block so far, shared by the executor and the feedback.
pub(super) type MaxCounts = Rc<RefCell<Vec<u8>>>;

/// Runs tapes and collects failures.
pub(super) struct NativeExecutor {
    target: Shared,
    max_counts: MaxCounts,
    /// The number of runs so far.
    pub runs: u64,
    /// Events that are not yet reported.
    pub events: Vec<WorkerEvent>,
    /// The length of the shortest reported tape of a failure, and the number of reports; separately
    /// for guarded runs, in which more may fail.
    told: HashMap<(Failure, bool), (usize, u32)>,
    timeouts: u32,
    /// When a sample was last reported; none if samples are not wanted.
    sampled: Option<Instant>,
    /// The number of guarded runs so far.
    guarded_runs: u64,
    /// The total time of the guarded runs.
    guarded_time: Duration,
    began: Instant,
}

fn text(from: &[u8]) -> String {
    let end = from.iter().position(|&b| b == 0).unwrap_or(from.len());
    String::from_utf8_lossy(&from[..end]).into_owned()
}

/// The numbers of the counters that are not 0.
pub(super) fn entered(counts: &[u8]) -> Vec<u32> {
    counts
        .iter()
        .enumerate()
        .filter(|(_, c)| **c > 0)
        .map(|(i, _)| i as u32)
        .collect()
}

impl NativeExecutor {
    /// With `samples`, some ordinary inputs are reported too; which ones depends on the clock.
    pub fn new(target: Shared, max_counts: MaxCounts, samples: bool) -> Self {
        NativeExecutor {
            target,
            max_counts,
            runs: 0,
            events: Vec::new(),
            told: HashMap::new(),
            timeouts: 0,
            sampled: samples.then(Instant::now),
            guarded_runs: 0,
            guarded_time: Duration::ZERO,
            began: Instant::now(),
        }
    }

    /// Runs one tape with cleared counters.
    pub fn run(&mut self, tape: &[u8]) -> ExitKind {
        self.runs += 1;
        let shared = self.target.clone();
        let mut target = shared.borrow_mut();
        target.clear();
        target.run(tape);
        let failure = match target.result.outcome {
            VIOLATED | CRASHED => failure(&target),
            OUT_OF_MEMORY => Failure::OutOfMemory,
            RETURNED | EXITED if self.runs.is_multiple_of(GUARDED) => {
                self.sample(tape);
                if self.may_guard() {
                    self.guarded(&mut target, tape);
                }
                return ExitKind::Ok;
            }
            TIMED_OUT => {
                self.timeouts += 1;
                if self.timeouts <= TIMEOUTS_TOLD {
                    self.events.push(WorkerEvent::Timeout {
                        tape: tape.to_vec(),
                    });
                }
                return ExitKind::Timeout;
            }
            _ => return ExitKind::Ok,
        };
        self.failed(tape, (failure, false), target.counts());
        ExitKind::Crash
    }

    /// Reports a tape from time to time, since another product may detect what this target does not
    /// notice (such as a write past an array on the stack).
    fn sample(&mut self, tape: &[u8]) {
        let is_watched = self.runs.is_multiple_of(UNWATCHED);
        let Some(last) = self.sampled.filter(|_| is_watched) else {
            return;
        };
        if last.elapsed() >= SAMPLING {
            self.sampled = Some(Instant::now());
            self.events.push(WorkerEvent::Sample {
                tape: tape.to_vec(),
            });
        }
    }

    /// Whether the time share of guarded runs allows another one.
    fn may_guard(&self) -> bool {
        match self.sampled {
            Some(_) => self.guarded_time * GUARDING <= self.began.elapsed(),
            None => self.runs.is_multiple_of(SELDOM),
        }
    }

    /// Repeats a tape that ended normally with guarded heap blocks. The original run still counts
    /// as normal, since its mutants are as useful to the fuzzer as others.
    fn guarded(&mut self, target: &mut Target, tape: &[u8]) {
        let side = match self.guarded_runs % BEGINNINGS {
            3 => Guarded::Beginnings,
            _ => Guarded::Ends,
        };
        let begin = self.sampled.map(|_| Instant::now());
        let counts = target.run_guarded(tape, side);
        self.guarded_runs += 1;
        self.guarded_time += begin.map_or(Duration::ZERO, |begin| begin.elapsed());
        if let Some(counts) = counts {
            let failure = failure(target);
            self.failed(tape, (failure, true), &counts);
        }
    }

    /// Reports a failing tape. For a known failure, only a clearly shorter tape is reported again.
    fn failed(&mut self, tape: &[u8], (failure, guarded): (Failure, bool), counts: &[u8]) {
        let key = (failure.clone(), guarded);
        let (length, count) = self.told.entry(key).or_insert((usize::MAX, 0));
        if tape.len() < *length / 8 * 7 && *count < SHORTER_TOLD {
            (*length, *count) = (tape.len(), *count + 1);
            self.events.push(WorkerEvent::Crash {
                tape: tape.to_vec(),
                failure,
                blocks: entered(counts),
            });
        }
    }

    /// Whether the last run entered some block more often than any input of the corpus.
    pub fn promising(&self) -> bool {
        raises(self.target.borrow().counts(), &self.max_counts.borrow())
    }

    /// Whether the last run has exactly these counts.
    pub fn has_counts(&self, counts: &[u8]) -> bool {
        self.target.borrow().counts() == counts
    }

    /// The counts of the last run.
    pub fn counts(&self) -> Vec<u8> {
        self.target.borrow().counts().to_vec()
    }
}

/// The failure of the last run, which must be violated or crashed.
fn failure(target: &Target) -> Failure {
    match target.result.outcome {
        VIOLATED => violated(&target.result),
        _ => Failure::Crashed {
            signal: target.result.status,
            pc: target.relative(target.result.pc),
        },
    }
}

fn violated(result: &RunResult) -> Failure {
    Failure::Violated {
        what: result.kind,
        site: (result.check != u32::MAX).then_some(result.check),
        text: text(&result.what),
        file: text(&result.file),
        line: result.line,
    }
}

impl<EM, S: HasExecutions, Z> Executor<EM, BytesInput, S, Z> for NativeExecutor {
    fn run_target(
        &mut self,
        _: &mut Z,
        state: &mut S,
        _: &mut EM,
        input: &BytesInput,
    ) -> Result<ExitKind, Error> {
        *state.executions_mut() += 1;
        Ok(self.run(input.mutator_bytes()))
    }
}

impl HasObservers for NativeExecutor {
    type Observers = ();

    fn observers(&self) -> RefIndexable<&(), ()> {
        RefIndexable::from(&())
    }

    fn observers_mut(&mut self) -> RefIndexable<&mut (), ()> {
        // A unit value occupies no memory, so leaking it costs nothing.
        RefIndexable::from(Box::leak(Box::new(())))
    }
}

/// An input is interesting if it enters some block more often than every earlier input. Failing
/// runs are reported but not kept, since their mutants would fail again.
pub(super) struct RawCounts {
    target: Shared,
    max_counts: MaxCounts,
}

impl RawCounts {
    pub fn new(target: Shared, max_counts: MaxCounts) -> Self {
        RawCounts { target, max_counts }
    }
}

/// Whether some count is above its maximum. Each chunk takes a few branch-free vector instructions:
/// the saturating differences, and whether one of them is not 0.
fn raises(counts: &[u8], max_counts: &[u8]) -> bool {
    let (c, m) = (counts.chunks_exact(64), max_counts.chunks_exact(64));
    let rest = c.remainder().iter().zip(m.remainder()).any(|(c, m)| c > m);
    let above = |(c, m): (&[u8], &[u8])| {
        let bytes = c.iter().zip(m);
        bytes.fold(0, |found, (c, m)| found | c.saturating_sub(*m)) != 0
    };
    rest || c.zip(m).any(above)
}

impl<S> StateInitializer<S> for RawCounts {}

impl Named for RawCounts {
    fn name(&self) -> &Cow<'static, str> {
        static NAME: Cow<'static, str> = Cow::Borrowed("RawCounts");
        &NAME
    }
}

impl<EM, OT, S> Feedback<EM, BytesInput, OT, S> for RawCounts {
    fn is_interesting(
        &mut self,
        _: &mut S,
        _: &mut EM,
        _: &BytesInput,
        _: &OT,
        exit: &ExitKind,
    ) -> Result<bool, Error> {
        if *exit != ExitKind::Ok {
            return Ok(false);
        }
        let target = self.target.borrow();
        let counts = target.counts();
        let mut max_counts = self.max_counts.borrow_mut();
        if !raises(counts, &max_counts) {
            return Ok(false);
        }
        for (max_counts, &count) in max_counts.iter_mut().zip(counts) {
            *max_counts = (*max_counts).max(count);
        }
        Ok(true)
    }
}

/// Draws from the newest inputs half of the time, otherwise from all inputs; of two drawn inputs,
/// mostly takes the shorter one. With raw counts, a loop fills the corpus with its iterations, and
/// a plain queue would take long to reach the newest inputs. A short input runs faster, and a
/// change in it is more likely to have an effect.
#[derive(Default)]
pub(super) struct NewestFirst {
    lengths: Vec<usize>,
}

/// The number of inputs that count as the newest.
const NEWEST: usize = 16;
/// The probability of taking the shorter of two inputs.
const SHORTER: f64 = 0.8;

impl<S: HasCorpus<BytesInput> + HasRand> Scheduler<BytesInput, S> for NewestFirst {
    fn on_add(&mut self, state: &mut S, id: CorpusId) -> Result<(), Error> {
        let entry = state.corpus().get(id)?.borrow();
        self.lengths.push(
            entry
                .input()
                .as_ref()
                .map_or(0, |i| i.mutator_bytes().len()),
        );
        Ok(())
    }

    fn next(&mut self, state: &mut S) -> Result<CorpusId, Error> {
        let count = state.corpus().count();
        if count == 0 {
            return Err(Error::empty("no input to start from"));
        }
        let newest = state.rand_mut().coinflip(0.5);
        let among = if newest { count.min(NEWEST) } else { count };
        let mut drawn = || count - among + state.rand_mut().below_or_zero(among);
        let (mut a, mut b) = (drawn(), drawn());
        let length = |at: usize| self.lengths.get(at).copied().unwrap_or(0);
        if length(a) > length(b) {
            (a, b) = (b, a);
        }
        let at = if state.rand_mut().coinflip(SHORTER) {
            a
        } else {
            b
        };
        let id = state.corpus().nth(at);
        self.set_current_scheduled(state, Some(id))?;
        Ok(id)
    }

    fn set_current_scheduled(
        &mut self,
        state: &mut S,
        next: Option<CorpusId>,
    ) -> Result<(), Error> {
        *state.corpus_mut().current_mut() = next;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_higher_count_is_new() {
        let mut counts = vec![0u8; 70];
        let mut max_counts = vec![1u8; 70];
        assert!(!raises(&counts, &max_counts));
        for at in [0, 31, 32, 63, 64, 69] {
            counts[at] = 2;
            assert!(raises(&counts, &max_counts));
            max_counts[at] = 2;
            assert!(!raises(&counts, &max_counts));
        }
    }
}
