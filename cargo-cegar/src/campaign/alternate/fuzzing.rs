//! The fuzzer's part in the alternation.
//!
//! It runs in a process of its own, which may die of what it executes: then it is started again, a few times. What it finds is
//! offered to the search, whose words are better where the machine sees a violation as well.

use std::path::Path;
use std::time::{Duration, Instant};

use cegar_engine::machine::Outcome;
use cegar_engine::simulate::search::{News, Origin};
use cegar_fuzz::native::Kind;
use cegar_fuzz::worker::{WorkerConfig, WorkerEvent};

use super::Alternation;
use super::crew::Crew;
use crate::error::Error;
use crate::report::{Event, Level};

impl Alternation<'_, '_> {
    /// Starts the fuzzer as soon as its target is built.
    pub(super) fn start_worker(&mut self, runs: Option<u64>) -> Result<(), Error> {
        if !self.crew.is_empty() || !self.settings.fuzzes() || self.deaths > 5 {
            return Ok(());
        }
        let Some(target) = self.native.ready(Kind::Fast) else {
            return Ok(());
        };
        let target = target?;
        let mut config = WorkerConfig::new(&target.path, target.blocks);
        match self.native.ready(Kind::Comparisons) {
            Some(built) => config.cmp_so = Some(built?.path),
            None => return Ok(()),
        }
        config.corpus = self
            .corpus
            .iter()
            .chain(&self.seeds)
            .cloned()
            .chain([self.queue.clone()])
            .collect();
        config.queue = Some(self.queue.clone());
        config.seed = self.settings.seed;
        config.exec_timeout_ms = millis(self.harness.timeout);
        config.max_len = self.harness.max_len;
        config.runs = runs;
        config.tokens = target.tokens;
        let me = std::env::current_exe()
            .map_err(|why| Error::io("find", Path::new("cargo-cegar"), why))?;
        // What several hand each other depends on who is first: under --runs, there is one.
        let count = if runs.is_some() {
            1
        } else {
            self.settings.workers
        };
        self.crew =
            Crew::start(&me, &config, count).map_err(|why| Error::engine("the fuzzer", why))?;
        Ok(())
    }

    /// Hears the fuzzer out; true if it brought something.
    pub(super) fn listen(&mut self, wait: Duration, news: &mut Vec<News>) -> Result<bool, Error> {
        if self.crew.is_empty() {
            std::thread::sleep(wait);
            return Ok(false);
        }
        let events = self.crew.poll(wait);
        let mut brought = false;
        for (number, event) in events {
            match event {
                WorkerEvent::NewInput { tape, blocks, .. } => {
                    brought = true;
                    let covered = self.search.covered();
                    let is_new = |block: &u32| !covered.get(*block as usize).unwrap_or(&true);
                    let new = blocks.iter().any(is_new);
                    if !blocks.is_empty() {
                        self.last_news = Instant::now();
                        self.keep(&tape)?;
                    }
                    if new {
                        self.crew.seed(&tape, Some(number));
                    }
                    // A busy fuzzer can send more than there is time for. Its queue is on disk.
                    if !self.is_over() {
                        self.search.add(&tape, Origin::Fuzzer, news);
                    }
                    self.search.note_covered(blocks);
                }
                WorkerEvent::Crash { tape, .. } => {
                    brought = true;
                    self.crash(&tape, news)?;
                }
                WorkerEvent::Timeout { tape } => {
                    self.note(
                        Level::Detail,
                        format!("an input of {} bytes ran into the time limit", tape.len()),
                    );
                }
                WorkerEvent::NonDeterministic { blocks, .. } => {
                    let what = self.describe(&blocks);
                    self.reporter.event(&Event::NonDeterministic {
                        harness: self.harness.name.clone(),
                        what,
                    });
                }
                WorkerEvent::Skipped { path, reason } => {
                    self.note(
                        Level::Warning,
                        format!("left out corpus file {}: {reason}", path.display()),
                    );
                }
                WorkerEvent::Unguarded { missing } => {
                    let what = format!("the C code runs unguarded: {}", missing.join("; "));
                    if self.unconfirmed.insert(what.clone()) {
                        self.note(Level::Warning, what);
                    }
                }
                WorkerEvent::Stats { .. } => {
                    let (executions, per_second, corpus) = self.crew.sum();
                    self.fuzz_progress(executions, corpus, per_second);
                }
                WorkerEvent::Died { signal, status } => self.died(number, signal, status),
                WorkerEvent::Started { .. } | WorkerEvent::Stopped { .. } => {}
            }
        }
        Ok(brought)
    }

    /// An input on which the native target failed. Where the machine sees a violation as well, its words are used.
    fn crash(&mut self, tape: &[u8], news: &mut Vec<News>) -> Result<(), Error> {
        let before = news.len();
        self.search.add(tape, Origin::Fuzzer, news);
        if news[before..]
            .iter()
            .any(|item| matches!(item, News::Violation { .. }))
        {
            return Ok(());
        }
        // A violation that was reported before is no news, and no crash that only native code sees.
        let run = self.search.observe(tape);
        if matches!(&run.outcome, Outcome::Violated(violation) if self.search.wanted(violation.kind))
        {
            return Ok(());
        }
        if let Some(confirmed) = self.judge.crash(self.native, tape)? {
            self.found(confirmed)?;
        }
        Ok(())
    }

    fn died(&mut self, number: usize, signal: Option<i32>, status: Option<i32>) {
        self.deaths += 1;
        let how = match (signal, status) {
            (Some(signal), _) => format!("killed by signal {signal}"),
            (None, Some(status)) => format!("exit status {status}"),
            (None, None) => "for an unknown reason".to_owned(),
        };
        let restarted = self.crew.again(number, self.deaths <= 5);
        if !restarted && !self.crew.works() {
            self.crew = Crew::default();
            self.deaths = u32::MAX / 2;
        }
        self.reporter.event(&Event::WorkerDied {
            harness: self.harness.name.clone(),
            how,
            restarted,
        });
    }

    fn describe(&self, blocks: &[u32]) -> String {
        let mut places: Vec<String> = blocks
            .iter()
            .filter_map(|&block| self.program.blocks.get(block as usize))
            .map(|block| self.judge.relative(&self.program.show(block.pos)))
            .collect();
        places.dedup();
        places.truncate(5);
        format!(
            "two runs of one input went different ways at {}",
            places.join(", ")
        )
    }

    fn fuzz_progress(&mut self, executions: u64, corpus: u64, per_second: f64) {
        self.stats.executions = self.stats.executions.max(executions);
        let goals = self.goals();
        self.reporter.event(&Event::FuzzProgress {
            harness: self.harness.name.clone(),
            executions,
            per_second,
            edges_covered: goals.edges.covered,
            edges: goals.edges.covered + goals.edges.unreachable + goals.edges.open,
            checks_proved: goals.checks.proved,
            checks: goals.checks.proved + goals.checks.violated + goals.checks.open,
            engine_seeds: self.stats.engine_seeds,
            corpus,
        });
    }
}

fn millis(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}
