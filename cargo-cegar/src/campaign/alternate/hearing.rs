//! What the fuzzer reports, and how the campaign reacts.
//!
//! The fuzzer's inputs are offered to the search, because the machine describes a violation better
//! where it sees it as well.

use std::path::Path;
use std::time::{Duration, Instant};

use cegar_fuzz::native::{Kind, Run};
use cegar_fuzz::worker::WorkerEvent;
use cegar_search::simulate::search::{News, Origin};

use super::Alternation;
use super::confirming::Suspect;
use crate::error::Error;
use crate::event::{Event, Level};

/// How a process of the fuzzer ended.
struct Death {
    signal: Option<i32>,
    status: Option<i32>,
    /// The number of its runs.
    runs: u64,
    /// Whether an earlier run failed, which may have overwritten any memory.
    crashed: bool,
}

impl Death {
    fn words(&self) -> String {
        match (self.signal, self.status) {
            (Some(signal), _) => format!("killed by signal {signal}"),
            (None, Some(status)) => format!("exit status {status}"),
            (None, None) => "for an unknown reason".to_owned(),
        }
    }
}

impl Alternation<'_, '_> {
    /// Handles the fuzzer's events. Its inputs wait for [`super::searching::Searching::catch_up`],
    /// except with `--runs`, where the same seed must give the same result regardless of when
    /// events arrive.
    pub(super) fn listen(&mut self, wait: Duration, news: &mut Vec<News>) -> Result<(), Error> {
        if self.fuzzing.crew.is_empty() {
            std::thread::sleep(wait);
            return Ok(());
        }
        let mut late = 0;
        for (number, event) in self.fuzzing.crew.poll(wait) {
            late += u32::from(self.hear(number, event, news)?);
        }
        if late > 0 {
            self.confirming.late += u64::from(late);
            self.reporting.note(
                Level::Warning,
                format!(
                    "nothing looked into {late} {} that the fuzzer's target failed on before \
                     the time was up{}",
                    if late == 1 { "input" } else { "inputs" },
                    self.subject.for_next_run()
                ),
            );
        }
        Ok(())
    }

    /// Handles an event of a process. Returns true if there was no time left to examine a failure.
    fn hear(
        &mut self,
        number: usize,
        event: WorkerEvent,
        news: &mut Vec<News>,
    ) -> Result<bool, Error> {
        if matches!(event, WorkerEvent::Crash { .. } | WorkerEvent::Died { .. }) {
            self.fuzzing.last_failure = Some(Instant::now());
        }
        match event {
            WorkerEvent::NewInput { tape, blocks, .. } => {
                self.hear_input(number, tape, blocks, news)?;
            }
            WorkerEvent::Sample { tape } => self.searching.backlog.sample(tape),
            WorkerEvent::Crash { tape, .. } => {
                // Each crash takes a run in the machine and a native one, and there may be
                // hundreds.
                if self.subject.is_late() {
                    self.keep(&tape)?;
                    return Ok(true);
                }
                self.crash(&tape, news)?;
            }
            WorkerEvent::Timeout { tape } => self.tell_hang(&tape)?,
            WorkerEvent::NonDeterministic { blocks, .. } => {
                let what = self.describe(&blocks);
                self.reporting.differs(&self.subject.harness.name, what);
            }
            WorkerEvent::Skipped { path, reason } => self.skipped(&path, &reason),
            WorkerEvent::Unguarded { missing } => {
                let what = format!("the C code runs unguarded: {}", missing.join("; "));
                self.reporting.warn_once(what);
            }
            WorkerEvent::Stats { .. } => self.fuzz_progress(),
            WorkerEvent::Died {
                signal,
                status,
                tape,
                runs,
                crashed,
            } => {
                let is_late = tape.is_some() && self.subject.is_late();
                let fatal = match tape {
                    Some(tape) if is_late => {
                        self.keep(&tape)?;
                        None
                    }
                    Some(tape) if self.crash(&tape, news)? => Some(tape),
                    _ => None,
                };
                let death = Death {
                    signal,
                    status,
                    runs,
                    crashed,
                };
                self.died(number, &death, fatal);
                return Ok(is_late);
            }
            WorkerEvent::Started { .. } | WorkerEvent::Stopped { .. } => {}
        }
        Ok(false)
    }

    /// Handles an input that entered new code (`blocks`) or raised a count.
    fn hear_input(
        &mut self,
        number: usize,
        tape: Vec<u8>,
        blocks: Vec<u32>,
        news: &mut Vec<News>,
    ) -> Result<(), Error> {
        let new = self.searching.new_among(&blocks);
        self.searching.share.fuzzer_entered(new);
        let is_foreign = self.share(&tape, &blocks);
        if !blocks.is_empty() {
            self.searching.last_news = Instant::now();
            self.keep(&tape)?;
        }
        match (new > 0, is_foreign) {
            (true, false) => self.fuzzing.crew.seed(&tape, Some(number)),
            // All processes have the tape already: it was offered to them.
            (true, true) => self.stats.peers_used += 1,
            _ => {}
        }
        if self.subject.is_counted() {
            self.searching.search.add(&tape, Origin::Fuzzer, news);
            self.searching.search.note_covered(blocks);
        } else {
            self.searching.backlog.push(tape, blocks);
        }
        Ok(())
    }

    fn skipped(&mut self, path: &Path, reason: &str) {
        // The queue contains only the campaign's own files, and damaged files were reported before.
        let is_known = self.inputs.damaged.contains(path);
        let level = match path.starts_with(&self.inputs.queue) || is_known {
            true => Level::Detail,
            false => Level::Warning,
        };
        let message = format!("left out corpus file {}: {reason}", path.display());
        self.reporting.note(level, message);
    }

    /// Runs inputs that the machine may never have time for under AddressSanitizer, in batches: an
    /// access one byte out of bounds does not fail in the fuzzer's own target.
    pub(super) fn sweep(&mut self, news: &mut Vec<News>) -> Result<(), Error> {
        if self.subject.native.ready(Kind::RunnerAsan).is_none() {
            return Ok(());
        }
        let sweeps = &self.fuzzing.sweeps;
        let (size, is_due) = (sweeps.size(&self.subject), sweeps.is_due());
        let tapes = self.searching.backlog.sweep(size, is_due);
        if tapes.is_empty() {
            return Ok(());
        }
        for (tape, run) in tapes.iter().zip(self.subject.native.sweep(&tapes)?) {
            if self.is_new_fault(&run) {
                self.crash(tape, news)?;
            }
        }
        self.fuzzing.sweeps.last = Instant::now();
        Ok(())
    }

    /// Whether a run under AddressSanitizer failed at a place where none has failed before.
    pub(super) fn is_new_fault(&mut self, run: &Run) -> bool {
        if !self.confirming.judge.is_fault(&run.outcome) {
            return false;
        }
        let place = match run.stack.first() {
            Some(frame) => format!("{}:{}:{}", frame.file, frame.line, frame.column),
            None => format!("{:?}", run.outcome),
        };
        self.fuzzing.sweeps.places.insert(place)
    }

    /// Examines an input on which the native target failed or may have failed. Returns whether it
    /// fails, or true if it must wait for the runner. If the machine sees a violation as well, its
    /// description is used.
    fn crash(&mut self, tape: &[u8], news: &mut Vec<News>) -> Result<bool, Error> {
        if self.confirms() {
            return self.look_into_crash(tape, news);
        }
        self.confirming.suspects.push(Suspect::Crash(tape.to_vec()));
        Ok(true)
    }

    /// Handles the end of a process. If the program is to blame, this is a finding and not a
    /// problem of the fuzzer. `fatal` is the tape of which the process died.
    fn died(&mut self, number: usize, death: &Death, fatal: Option<Vec<u8>>) {
        let is_blamed = fatal.is_some() || death.crashed;
        let restarted = self.fuzzing.replace(number, death.runs, is_blamed, fatal);
        if is_blamed && restarted {
            self.reporting.note(
                Level::Detail,
                "a worker died of what the program did to it; started another",
            );
            return;
        }
        self.reporting.event(&Event::WorkerDied {
            harness: self.subject.harness.name.clone(),
            how: death.words(),
            restarted,
        });
    }

    fn describe(&self, blocks: &[u32]) -> String {
        let mut places: Vec<String> = blocks
            .iter()
            .filter_map(|&block| self.subject.program.blocks.get(block as usize))
            .map(|block| {
                self.confirming
                    .judge
                    .relative(&self.subject.program.show(block.pos))
            })
            .collect();
        places.dedup();
        places.truncate(5);
        format!(
            "two runs of one input went different ways at {}",
            places.join(", ")
        )
    }

    fn fuzz_progress(&mut self) {
        let (executions, per_second, corpus) = self.fuzzing.crew.sum();
        self.stats.executions = self.stats.executions.max(executions);
        let goals = self.overview().table();
        self.reporting.event(&Event::FuzzProgress {
            harness: self.subject.harness.name.clone(),
            executions,
            per_second,
            edges_covered: goals.edges.covered,
            edges: goals.edges.covered + goals.edges.unreachable + goals.edges.open,
            checks_proved: goals.checks.proved + goals.checks.proved_not_reached,
            checks: goals.checks.total() - goals.checks.unreachable,
            engine_seeds: self.stats.engine_seeds,
            corpus,
        });
    }
}
