//! Native runs at the end of a campaign.
//!
//! When the time is up, the fuzzer has found inputs that were executed neither by the machine nor
//! under AddressSanitizer, and a read one byte out of bounds does not fail in the fuzzer's own
//! target. Each of them is run once ([`Alternation::last_sweep`]), so that a campaign that ends
//! without a finding leaves no input that fails.
//!
//! When everything is settled, all known inputs are run natively before the verdict. A small
//! program is proved before the fuzzer has begun, and the proof is about the program as the engine
//! reads it, under assumptions, for example that the stack is large enough and that no division
//! that is not checked is by zero. A run that fails is a finding like the fuzzer's, regardless of
//! the proof, and contradicts an assumption or the engine.

use std::time::{Duration, Instant};

use cegar_fuzz::native::{Kind, Outcome, Run};
use cegar_search::simulate::search::Search;

use super::Alternation;
use super::confirming::Suspect;
use crate::error::Error;
use crate::event::{Event, Hang, Level};
use crate::store;

/// The time limit for all runs of a campaign in which everything is settled.
const TIME: Duration = Duration::from_secs(5);
/// The time limit for the runs of a campaign whose time is up.
const LAST: Duration = Duration::from_secs(2);
/// The batch size for a campaign whose time is up. It is small since each input may take as long as
/// a run is allowed to.
const FEW: usize = 4;
/// The batch size for a campaign in which everything is settled.
const BATCH: usize = 32;

impl Alternation<'_, '_> {
    /// Runs those of the fuzzer's inputs under AddressSanitizer that were not examined. If there is
    /// no time to confirm a failure, the input is kept for the next campaign, and the verdict says
    /// so.
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

    /// Runs inputs under AddressSanitizer in batches of `size`, for at most `time`, and passes each
    /// outcome to `heard`. Returns how many were run.
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

    /// Runs the inputs of the campaign natively. Returns whether there was a finding.
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

    /// Reports a run that does not end within its time limit, once per campaign, and keeps the
    /// input.
    pub(super) fn tell_hang(&mut self, tape: &[u8]) -> Result<(), Error> {
        if !self.reporting.first_hang() {
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
