//! The fuzzer's part in the alternation.
//!
//! It runs in a process of its own, which may die of what it executes: then it is started again, a few times. What it finds is
//! offered to the search, whose words are better where the machine sees a violation as well.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use cegar_fuzz::native::Kind;
use cegar_fuzz::worker::{WorkerConfig, WorkerEvent};
use cegar_model::machine::Violation;
use cegar_search::simulate::search::{News, Origin};

use super::Alternation;
use super::confirming::Suspect;
use super::crew::Crew;
use crate::campaign::native::{SWEEP, fault};
use crate::campaign::proofs::give_way;
use crate::error::Error;
use crate::event::{Event, Level};
use crate::store;

/// How many processes may die for no reason that can be found.
const DEATHS: u32 = 5;
/// Inputs that are swept at a time, and how long fewer may wait.
const SWEPT: usize = 16;
const SWEEPING: Duration = Duration::from_secs(1);
/// How many may die of the program's own faults, each of a tape that is not run again.
const FATAL: u32 = 1000;

impl Alternation<'_, '_> {
    /// Starts the fuzzer as soon as its target is built; the log of comparisons is handed on when it is there, too.
    pub(super) fn start_worker(&mut self, runs: Option<u64>) -> Result<(), Error> {
        if !self.crew.is_empty() {
            if !self.compares
                && let Some(built) = self.native.ready(Kind::Comparisons)
            {
                self.crew.compare(&built?.path);
                self.compares = true;
            }
            return Ok(());
        }
        if !self.settings.fuzzes() || self.deaths > DEATHS {
            return Ok(());
        }
        let Some(target) = self.native.ready(Kind::Fast) else {
            return Ok(());
        };
        let target = target?;
        let mut config = WorkerConfig::new(&target.path, target.blocks);
        if let Some(built) = self.native.ready(Kind::Comparisons) {
            config.cmp_so = Some(built?.path);
            self.compares = true;
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
        // Not before: what this thread starts is as humble.
        if self.gives_way() {
            give_way();
        }
        Ok(())
    }

    /// Hears the fuzzer out. What it found waits for [`Alternation::catch_up`], but not under `--runs`, where the same is to
    /// come of the same seed, however much is heard at a time.
    pub(super) fn listen(&mut self, wait: Duration, news: &mut Vec<News>) -> Result<(), Error> {
        if self.crew.is_empty() {
            std::thread::sleep(wait);
            return Ok(());
        }
        let events = self.crew.poll(wait);
        let mut late = 0;
        for (number, event) in events {
            match event {
                WorkerEvent::NewInput { tape, blocks, .. } => {
                    let covered = self.search.covered();
                    let is_new = |block: &u32| {
                        !covered.get(*block as usize).unwrap_or(&true)
                            && !self.backlog.enters(*block)
                    };
                    let new = blocks.iter().any(is_new);
                    let foreign = self.share(&tape, &blocks);
                    if !blocks.is_empty() {
                        self.last_news = Instant::now();
                        self.keep(&tape)?;
                    }
                    match (new, foreign) {
                        (true, false) => self.crew.seed(&tape, Some(number)),
                        // All of them have got it.
                        (true, true) => self.stats.peers_used += 1,
                        _ => {}
                    }
                    if self.settings.runs.is_some() {
                        self.search.add(&tape, Origin::Fuzzer, news);
                        self.search.note_covered(blocks);
                    } else {
                        self.backlog.push(tape, blocks);
                    }
                }
                WorkerEvent::Crash { tape, .. } => {
                    // Each takes a run in the machine and a native one, and there may be hundreds.
                    if self.settings.runs.is_none() && self.budget.is_over() {
                        self.keep(&tape)?;
                        late += 1;
                    } else {
                        self.crash(&tape, news)?;
                    }
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
                    // What is in the queue we put there ourselves.
                    let level = match path.starts_with(&self.queue) {
                        true => Level::Detail,
                        false => Level::Warning,
                    };
                    self.note(
                        level,
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
                WorkerEvent::Died {
                    signal,
                    status,
                    tape,
                    runs,
                    crashed,
                } => {
                    let is_late = self.settings.runs.is_none() && self.budget.is_over();
                    let fatal = match tape {
                        Some(tape) if is_late => {
                            self.keep(&tape)?;
                            late += 1;
                            None
                        }
                        Some(tape) if self.crash(&tape, news)? => Some(tape),
                        _ => None,
                    };
                    self.died(number, (signal, status), (runs, crashed), fatal);
                }
                WorkerEvent::Started { .. } | WorkerEvent::Stopped { .. } => {}
            }
        }
        if late > 0 {
            self.note(
                Level::Warning,
                format!(
                    "{late} inputs that the fuzzer's target failed on were not looked into before the time was up; they are kept for the next run"
                ),
            );
        }
        Ok(())
    }

    /// Has the machine look at what waits, until there is news for the others; false if nothing waited.
    pub(super) fn catch_up(&mut self, until: Instant, news: &mut Vec<News>) -> bool {
        let mut looked = false;
        while news.is_empty() && Instant::now() < until && !self.stop.load(Ordering::Relaxed) {
            let Some(waiting) = self.backlog.pop() else {
                break;
            };
            looked = true;
            self.search.glance(&waiting.tape, waiting.origin, news);
            self.search.note_covered(waiting.blocks);
        }
        looked
    }

    /// Runs what the machine may never have time for under AddressSanitizer, some at a time: what the fuzzer's own target
    /// reads or writes one byte too far does not show there.
    pub(super) fn sweep(&mut self, news: &mut Vec<News>) -> Result<(), Error> {
        if self.native.ready(Kind::RunnerAsan).is_none() {
            return Ok(());
        }
        let late = self.last_swept.elapsed() > SWEEPING;
        let tapes = self.backlog.sweep(self.swept_in_time(), late);
        if tapes.is_empty() {
            return Ok(());
        }
        for (tape, run) in tapes.iter().zip(self.native.sweep(&tapes)?) {
            let Some(property) = fault(&run.outcome) else {
                continue;
            };
            // One place is looked into once: the machine's run and another native one cost more than the sweep.
            let place = match run.stack.first() {
                Some(frame) => format!("{}:{}:{}", frame.file, frame.line, frame.column),
                None => format!("{:?}", run.outcome),
            };
            if self.harness.properties.contains(&property) && self.swept.insert(place) {
                self.crash(tape, news)?;
            }
        }
        self.last_swept = Instant::now();
        Ok(())
    }

    /// How many inputs there is time to sweep, should each take as long as it may.
    fn swept_in_time(&self) -> usize {
        let limited = self.budget.left().filter(|_| self.settings.runs.is_none());
        limited.map_or(SWEPT, |left| {
            SWEPT.min((left.as_millis() / u128::from(SWEEP)) as usize)
        })
    }

    /// An input on which the native target failed, or which is suspected of it; true if it does fail. Where the machine sees
    /// a violation as well, its words are used.
    fn crash(&mut self, tape: &[u8], news: &mut Vec<News>) -> Result<bool, Error> {
        if self.confirms() {
            return self.look_into_crash(tape, news);
        }
        self.suspects.push(Suspect::Crash(tape.to_vec()));
        Ok(true)
    }

    /// As [`Alternation::crash`], waiting for the runner if need be.
    pub(super) fn look_into_crash(
        &mut self,
        tape: &[u8],
        news: &mut Vec<News>,
    ) -> Result<bool, Error> {
        let before = news.len();
        self.search.add(tape, Origin::Fuzzer, news);
        if news[before..].iter().any(News::is_violation) {
            return Ok(true);
        }
        // A violation that was reported before is no news, and no crash that only native code sees, unless it was not confirmed.
        let run = self.search.observe(tape);
        let seen = run.violation().filter(|v| self.search.wanted(v.kind));
        let is_known = |v: &Violation| self.search.is_told(v) && !self.search.is_doubted(v);
        if seen.is_some_and(is_known) {
            return Ok(true);
        }
        let confirmed = match self.judge.crash(self.native, tape) {
            Err(why) if why.is_the_end() => {
                self.put_off_crash(tape)?;
                return Ok(true);
            }
            judged => judged?,
        };
        let Some(confirmed) = confirmed else {
            return Ok(seen.is_some());
        };
        self.found(confirmed)?;
        Ok(true)
    }

    /// Keeps an input that the fuzzer's target failed on, and that could not be run on its own before the campaign's end.
    fn put_off_crash(&mut self, tape: &[u8]) -> Result<(), Error> {
        store::add_entry(&self.queue, tape)?;
        let why = "an input on which the fuzzer's target failed was not confirmed in time; it is kept for the next run";
        if self.unconfirmed.insert(why.to_owned()) {
            self.note(Level::Warning, why.to_owned());
        }
        Ok(())
    }

    /// A process is gone after so many runs. If the program is to blame, that is a finding and no trouble: `fatal` is a tape
    /// that it died of at once; a run that `crashed` before may have written over anything, and have been its end later.
    fn died(
        &mut self,
        number: usize,
        (signal, status): (Option<i32>, Option<i32>),
        (runs, crashed): (u64, bool),
        fatal: Option<Vec<u8>>,
    ) {
        let blamed = fatal.is_some() || crashed;
        let wanted = if blamed {
            self.fatal += 1;
            self.fatal <= FATAL
        } else {
            self.deaths += 1;
            self.deaths <= DEATHS
        };
        let restarted = self.crew.again(number, wanted, runs, fatal);
        if !restarted && !self.crew.works() {
            self.crew = Crew::default();
            self.deaths = u32::MAX / 2;
        }
        if blamed && restarted {
            self.note(
                Level::Detail,
                "a worker died of what the program did to it; started another".to_owned(),
            );
            return;
        }
        let how = match (signal, status) {
            (Some(signal), _) => format!("killed by signal {signal}"),
            (None, Some(status)) => format!("exit status {status}"),
            (None, None) => "for an unknown reason".to_owned(),
        };
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
            checks_proved: goals.checks.proved + goals.checks.proved_not_reached,
            checks: goals.checks.total() - goals.checks.unreachable,
            engine_seeds: self.stats.engine_seeds,
            corpus,
        });
    }
}

fn millis(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}
