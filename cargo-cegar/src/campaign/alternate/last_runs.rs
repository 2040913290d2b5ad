//! Native runs at the end of a campaign.
//!
//! Where the time is up, the fuzzer has found inputs that neither the machine nor AddressSanitizer
//! has seen: what reads one byte too far does not fail in the fuzzer's own target. They are run
//! once ([`Alternation::last_sweep`]), so that a campaign that ends without a finding has no input
//! that fails.
//!
//! Where everything is settled, more is run. A small program is proved before the fuzzer has begun.
//! The proof is about the program as the engine reads it, under assumptions: that the stack is
//! large enough, that no division that is not asked about is by zero. So the inputs that are known
//! are run natively before the verdict. A run that fails is a finding like the fuzzer's, whatever
//! was proved, and contradicts an assumption or the engine.

use std::time::{Duration, Instant};

use cegar_fuzz::native::{Kind, Outcome, Run};
use cegar_search::simulate::search::Search;

use super::Alternation;
use super::confirming::Suspect;
use crate::error::Error;
use crate::event::{Event, Hang, Level};
use crate::store;

/// Time for all of the runs.
const TIME: Duration = Duration::from_secs(5);
/// Time for the runs of a campaign whose time is up.
const LAST: Duration = Duration::from_secs(2);
/// Inputs that are run together then: each may take all of a run's time.
const FEW: usize = 4;
/// Inputs that are run together.
const BATCH: usize = 32;

impl Alternation<'_, '_> {
    /// Runs under AddressSanitizer what the fuzzer found and nobody has looked at. There may be no
    /// time to confirm what fails: then it is kept for the next campaign, and the verdict says so.
    pub(super) fn last_sweep(&mut self) -> Result<(), Error> {
        if self.subject.is_counted() || self.subject.is_stopped() {
            return Ok(());
        }
        let waiting = self.searching.backlog.sweep(usize::MAX, true);
        if waiting.is_empty() {
            return Ok(());
        }
        if self.subject.native.ready(Kind::RunnerAsan).is_none() {
            let text = format!(
                "{} inputs of the fuzzer were not run under AddressSanitizer, which was not built \
                 in time{}",
                waiting.len(),
                self.subject.for_next_run()
            );
            self.reporting.note(Level::Warning, text);
            return Ok(());
        }
        let run = self.run_in_time(&waiting, (FEW, LAST), |alternation, tape, run| {
            if alternation.is_new_fault(run) {
                alternation.suspect(tape);
            }
        })?;
        if run < waiting.len() {
            let text = format!(
                "{run} of {} waiting inputs were run natively",
                waiting.len()
            );
            self.reporting.note(Level::Detail, text);
        }
        Ok(())
    }

    /// Runs inputs under AddressSanitizer, some at a time, for so long, and hands on what became of
    /// each; how many were run.
    fn run_in_time(
        &mut self,
        tapes: &[Vec<u8>],
        (size, time): (usize, Duration),
        mut heard: impl FnMut(&mut Self, &[u8], &Run),
    ) -> Result<usize, Error> {
        let begin = Instant::now();
        let mut count = 0;
        for batch in tapes.chunks(size) {
            if begin.elapsed() > time || self.subject.is_stopped() {
                break;
            }
            let ended = match self.subject.native.sweep(batch) {
                Err(why) if why.is_the_end() => break,
                ended => ended?,
            };
            count += batch.len();
            for (tape, run) in batch.iter().zip(&ended) {
                heard(self, tape, run);
            }
        }
        Ok(count)
    }

    fn suspect(&mut self, tape: &[u8]) {
        let suspect = Suspect::Crash(tape.to_vec());
        self.confirming.suspects.push(suspect);
    }

    /// Runs the inputs of the campaign natively; true if there was a finding.
    pub(super) fn last_runs(&mut self) -> Result<bool, Error> {
        if !self.subject.settings.fuzzes() {
            return Ok(false);
        }
        let (mut tapes, _) = self.inputs.read()?;
        tapes.extend(Search::first());
        tapes.sort();
        tapes.dedup();
        let mut endless = None;
        let run = self.run_in_time(&tapes, (BATCH, TIME), |alternation, tape, run| {
            if alternation.confirming.judge.is_fault(&run.outcome) {
                alternation.suspect(tape);
            } else if run.outcome == Outcome::Timeout {
                endless.get_or_insert_with(|| tape.to_vec());
            }
        })?;
        if run < tapes.len() {
            let text = format!("{run} of {} known inputs were run natively", tapes.len());
            self.reporting.note(Level::Detail, text);
        }
        if let Some(tape) = endless {
            let time = self.subject.harness.timeout;
            if matches!(self.subject.native.takes_longer(&tape, time), Ok(true)) {
                self.tell_hang(&tape)?;
            }
        }
        self.look_into_suspects()
    }

    /// Says once that a run does not end in its time, and keeps the input.
    pub(super) fn tell_hang(&mut self, tape: &[u8]) -> Result<(), Error> {
        if self.reporting.has_told_hang() {
            return Ok(());
        }
        let folder = self.inputs.queue.with_file_name("hangs");
        store::writable_dir(&folder)?;
        store::add_entry(&folder, tape)?;
        let file = folder.join(store::entry_name(tape));
        self.reporting.event(&Event::Hang(Hang {
            harness: self.subject.harness.name.clone(),
            seconds: self.subject.harness.timeout.as_secs_f64(),
            input: self.subject.settings.keep.then_some(file),
        }));
        Ok(())
    }
}
