//! The alternation on one program.
//!
//! The fuzzer runs in a process of its own and costs this one nothing, so with two cores both sides work all the time and
//! what alternates is knowledge: the inputs that raised the fuzzer's coverage are executed by the engine's
//! machine ([`backlog`] says in which order), which offers its departures to the search; every tape with which the search
//! covers something new becomes a seed. The machine sees an invalid access where native code runs on, so it judges the
//! fuzzer's inputs too; those that it has no time for are swept natively, under AddressSanitizer. Whatever either side believes to be a violation is run natively, under AddressSanitizer, before anybody hears of it.
//!
//! With `--runs` there is no clock: the search works through a fixed number of questions, the fuzzer through
//! its runs, and the search once more through what the fuzzer found; the same seed gives the same result.

pub(super) mod backlog;
mod conditions;
mod confirming;
pub(super) mod crew;
mod fuzzing;
mod looking;
mod named;
pub(super) mod peers;
mod proving;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cegar_checker::Certificate;
use cegar_fuzz::native::Kind;
use cegar_model::program::{Check, FunctionKind, Program};
use cegar_search::simulate::search::{News, Origin, Search};
use cegar_search::strategy::{Coverage, Strategy};

use backlog::Backlog;
use confirming::Suspect;
use crew::Crew;
use peers::Peers;

use super::budget::Budget;
use super::findings::Judge;
use super::native::{LARGE, Native};
use super::proofs::{Proofs, Prover};
use super::reach::Reach;
use crate::error::Error;
use crate::event::{Event, Level, Reporter, Unexecuted};
use crate::findings::Record;
use crate::options::{Harness, Settings};
use crate::store;
pub use crate::verdict::End;
use crate::verdict::GoalStatus;
use crate::verdict::{CheckTable, EdgeTable, GoalTable, Stats};

/// How long the search works before it looks at what the fuzzer says.
const SLICE: Duration = Duration::from_millis(100);
/// How often the engine's progress is told.
const PROGRESS: Duration = Duration::from_millis(500);
/// How long the prover is alone at first; the native builds are made meanwhile.
const ALONE: Duration = Duration::from_millis(250);
/// Tapes of the corpus that the prover's forest grows from, shortest first.
const TAPES: usize = 64;
/// Without `--max-time`, the end comes when neither side brought anything new for so long.
const STALLED: Duration = Duration::from_secs(30);
/// The same while the search still has questions: with a fuzzer beside it, it never runs out of them.
const FUTILE: Duration = Duration::from_secs(90);
/// How long the fuzzer's last count is waited for.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// So many builds take no time worth telling: a small program's four products.
const BUILDS: u32 = 4;
/// Questions that the search works through in each of its turns under `--runs`.
const QUESTIONS: u64 = 2000;

/// One program's campaign.
pub struct Alternation<'a, 'p> {
    /// What is run.
    pub harness: &'a Harness,
    /// How.
    pub settings: &'a Settings,
    /// The program.
    pub program: &'p Program,
    /// What is known of the functions that nobody defines.
    pub externals: &'p crate::externals::Externals,
    /// Its native builds.
    pub native: &'a Native<'a>,
    /// The engine's search.
    pub search: Search<'p>,
    /// Decides what is a finding.
    pub judge: Judge<'a>,
    /// Where inputs that covered something new are kept, besides the scratch queue.
    pub corpus: Option<PathBuf>,
    /// A folder of inputs that is only read.
    pub seeds: Option<PathBuf>,
    /// The fuzzer's queue, in the scratch folder.
    pub queue: PathBuf,
    /// Stop at the first finding.
    pub first_only: bool,
    /// Who listens.
    pub reporter: &'a mut dyn Reporter,
    /// Set by Ctrl-C.
    pub stop: &'a AtomicBool,
    /// What it cost so far.
    pub stats: Stats,
    /// How long it may take.
    pub budget: Budget,
    pub(super) crew: Crew,
    pub(super) backlog: Backlog,
    /// The other machines, if there are any.
    pub(super) peers: Option<Peers>,
    /// When the last sweep was, and where its runs failed.
    pub(super) last_swept: Instant,
    pub(super) swept: BTreeSet<String>,
    /// Whether the fuzzer logs comparisons yet.
    pub(super) compares: bool,
    pub(super) last_news: Instant,
    pub(super) last_told: Instant,
    /// How far the native builds were when that was told.
    pub(super) told_building: (u32, u32),
    pub(super) unconfirmed: BTreeSet<String>,
    /// What is run natively when the runner is built.
    pub(super) suspects: Vec<Suspect>,
    /// Fuzzing processes that died for no reason that was found, and those that died of the program.
    pub(super) deaths: u32,
    pub(super) fatal: u32,
    /// The program, for the prover's thread.
    pub(super) shared: Arc<Program>,
    /// Which blocks decide its checks.
    pub(super) reach: Reach,
    /// SHA-256 of the bitcode.
    pub(super) digest: String,
    pub(super) coverage: Arc<Coverage>,
    pub(super) prover: Option<Prover>,
    /// The tapes that a prover begins with which has not been started yet.
    pub(super) postponed: Option<Vec<Vec<u8>>>,
    /// What an earlier campaign had proved.
    pub(super) before: Option<Certificate>,
    pub(super) proofs: Option<Proofs>,
}

impl Alternation<'_, '_> {
    /// Works until there is a reason to end.
    pub fn run(&mut self) -> Result<End, Error> {
        let mut news = Vec::new();
        let given = self.given()?;
        if self.settings.strategy != Strategy::Auto {
            return self.named(&given);
        }
        if self.settings.sides.engine() {
            if self.settings.runs.is_none()
                && self.settings.fuzzes()
                && self.program.blocks.len() >= LARGE
            {
                // It would take the core that compiles the fuzzer's target, for minutes.
                self.postponed = Some(given.clone());
            } else if self.settings.runs.is_none() {
                self.start_prover(&given)?;
                self.head_start(&mut news)?;
            }
            for tape in Search::first() {
                // Where a program does not end each of them takes seconds, and the proof may be there.
                if self.is_settled() {
                    break;
                }
                self.search.begin(tape, &mut news);
                self.hear_prover(&mut news)?;
            }
        }
        match self.settings.runs {
            Some(runs) => {
                for tape in given {
                    if self.is_over() {
                        break;
                    }
                    self.search.add(&tape, Origin::Given, &mut news);
                }
                self.counted(runs, news)
            }
            None => {
                // The fuzzer reads a large corpus by itself, and does not wait for the machine to have done so.
                self.backlog.give(given);
                let end = self.timed(news)?;
                match self.look_into_suspects()? {
                    true if self.first_only => Ok(End::Found),
                    _ => Ok(end),
                }
            }
        }
    }

    /// Lets the prover begin alone: what is proved at once needs no execution, and a single one of these may take seconds.
    fn head_start(&mut self, news: &mut Vec<News>) -> Result<(), Error> {
        let begin = Instant::now();
        while self.prover.is_some() && begin.elapsed() < ALONE && !self.is_over() {
            std::thread::sleep(ALONE / 25);
            self.hear_prover(news)?;
        }
        Ok(())
    }

    /// When `--max-time` is up.
    pub(super) fn limit(&self) -> Option<Instant> {
        self.budget.end()
    }

    /// When to stop so that the campaign ends in time: a prover at work has a question to end.
    fn deadline(&self) -> Option<Instant> {
        self.budget.search_ends(self.prover.is_some())
    }

    /// Ctrl-C, or no time left.
    pub(super) fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
            || (self.settings.runs.is_none()
                && self
                    .deadline()
                    .is_some_and(|deadline| Instant::now() >= deadline))
    }

    /// The end of a slice that begins now.
    fn soon(&self) -> Instant {
        let soon = Instant::now() + SLICE;
        self.deadline().map_or(soon, |deadline| deadline.min(soon))
    }

    fn timed(&mut self, mut news: Vec<News>) -> Result<End, Error> {
        let mut asking = self.settings.sides.engine();
        loop {
            if self.take(&mut news)? && self.first_only {
                return Ok(End::Found);
            }
            if self.stop.load(Ordering::Relaxed) {
                return Ok(End::Interrupted);
            }
            if !self.suspects.is_empty()
                && self.confirms()
                && self.look_into_suspects()?
                && self.first_only
            {
                return Ok(End::Found);
            }
            let built = self.native.ready(Kind::Fast).is_some();
            if let Some(given) = self.postponed.take_if(|_| built) {
                self.start_prover(&given)?;
            }
            self.tell_building();
            self.hear_prover(&mut news)?;
            if self.is_settled() {
                return Ok(End::Settled);
            }
            let now = Instant::now();
            if self.deadline().is_some_and(|deadline| now >= deadline) {
                return Ok(End::Budget);
            }
            self.start_worker(None)?;
            self.exchange();
            // What was given comes before the first question: much of what could be asked is answered by it.
            if asking && !self.backlog.has_given() {
                let until = self.soon();
                asking = self.search.slice(until, None, self.stop, &mut news);
                self.progress();
            }
            let nothing = !asking && news.is_empty() && self.backlog.is_empty();
            self.listen(if nothing { SLICE } else { Duration::ZERO }, &mut news)?;
            let idle = nothing && self.suspects.is_empty();
            let until = self.soon();
            if self.catch_up(until, &mut news) {
                asking = self.settings.sides.engine();
            }
            self.sweep(&mut news)?;
            let quiet = self.last_news.elapsed();
            let stalled =
                self.budget.end().is_none() && quiet > if idle { STALLED } else { FUTILE };
            let alone = idle && !self.settings.sides.fuzz();
            let proving = self.prover.is_some() || self.postponed.is_some();
            let done = news.is_empty() && self.suspects.is_empty();
            if !proving && done && (alone || stalled) {
                return Ok(End::Stalled);
            }
        }
    }

    /// The order of a campaign without a clock.
    fn counted(&mut self, runs: u64, mut news: Vec<News>) -> Result<End, Error> {
        for turn in 0..2 {
            if self.settings.sides.engine() {
                let mut left = QUESTIONS;
                loop {
                    if self.take(&mut news)? && self.first_only {
                        return Ok(End::Found);
                    }
                    if self.stop.load(Ordering::Relaxed) {
                        return Ok(End::Interrupted);
                    }
                    let far = Instant::now() + Duration::from_secs(3600);
                    let before = self.search.jobs();
                    let more = self.search.slice(far, Some(left), self.stop, &mut news);
                    left = left.saturating_sub(self.search.jobs() - before);
                    if left == 0 || (!more && news.is_empty()) {
                        break;
                    }
                }
            }
            if turn == 0 && self.settings.sides.fuzz() {
                for kind in [Kind::Fast, Kind::Comparisons] {
                    match self.native.wait(kind) {
                        Err(Error::Interrupted) => return Ok(End::Interrupted),
                        built => drop(built?),
                    }
                }
                self.start_worker(Some(runs))?;
                while self.crew.works() {
                    self.listen(SLICE, &mut news)?;
                    if self.stop.load(Ordering::Relaxed) {
                        return Ok(End::Interrupted);
                    }
                }
            }
        }
        if self.take(&mut news)? && self.first_only {
            return Ok(End::Found);
        }
        if self.settings.sides.engine() {
            self.coverage.note(self.search.covered());
            self.start_prover(&[])?;
            let result = self
                .prover
                .as_ref()
                .and_then(|prover| prover.wait(|| self.stop.load(Ordering::Relaxed)));
            self.prover = None;
            if let Some(proofs) = result.transpose()? {
                self.conclude(proofs);
            }
            if self.is_settled() {
                return Ok(End::Settled);
            }
        }
        Ok(End::Budget)
    }

    /// The inputs that the user gave or an earlier campaign left.
    fn given(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        let mut tapes = Vec::new();
        let folders: Vec<PathBuf> = self
            .corpus
            .iter()
            .chain(&self.seeds)
            .cloned()
            .chain([self.queue.clone()])
            .collect();
        for folder in folders {
            let (entries, corrupt) = store::read_corpus(&folder)?;
            for path in corrupt {
                self.note(
                    Level::Warning,
                    format!("left out corrupt corpus file {}", path.display()),
                );
            }
            tapes.extend(entries);
        }
        // What was mended once is where the next fault is.
        let memory = self.judge.memory.iter();
        let mended = memory
            .flat_map(|memory| memory.records())
            .filter(|record| !record.failing);
        tapes.extend(mended.map(Record::input));
        Ok(tapes)
    }

    /// Acts on news; true if there was a finding among them.
    fn take(&mut self, news: &mut Vec<News>) -> Result<bool, Error> {
        let mut found = false;
        for item in news.drain(..) {
            self.last_news = Instant::now();
            match item {
                News::Seed { tape, origin } => {
                    self.keep(&tape)?;
                    self.share_seed(&tape);
                    if origin != Origin::Fuzzer {
                        self.stats.engine_seeds += 1;
                        self.crew.seed(&tape, None);
                    }
                }
                News::Violation {
                    tape,
                    violation,
                    origin,
                } => {
                    if self.confirms() {
                        found |= self.look_into_in_time(tape, violation, origin)?;
                    } else {
                        self.suspects.push(Suspect::Seen(tape, violation, origin));
                    }
                }
            }
        }
        Ok(found)
    }

    /// Keeps an input that covered something new, where the next campaign finds it.
    fn keep(&self, tape: &[u8]) -> Result<(), Error> {
        store::add_entry(&self.queue, tape)?;
        // The machine takes longer tapes than the fuzzer, up to a megabyte: nothing that anybody wants to commit.
        if let Some(corpus) = &self.corpus
            && tape.len() <= self.harness.max_len
        {
            store::add_entry(corpus, tape)?;
        }
        Ok(())
    }

    fn note(&mut self, level: Level, message: String) {
        self.reporter.event(&Event::Note { level, message });
    }

    /// Says how many parts of the native targets are compiled, where there are several.
    fn tell_building(&mut self) {
        let (done, total) = self.native.progress();
        if total > BUILDS && self.told_building != (done, total) {
            self.told_building = (done, total);
            self.reporter.event(&Event::Building {
                harness: self.harness.name.clone(),
                done: done.into(),
                total: total.into(),
            });
        }
    }

    fn progress(&mut self) {
        if self.last_told.elapsed() < PROGRESS {
            return;
        }
        self.last_told = Instant::now();
        let solver = self.search.solver_stats();
        let open = self.goals().checks.open;
        self.reporter.event(&Event::EngineProgress {
            harness: self.harness.name.clone(),
            goal: String::new(),
            solver_calls: solver.solver_calls + self.stats.prover.solver_calls,
            refinements: self.stats.refinements,
            open,
        });
    }

    /// Whether a check is one of the user's code that was asked about.
    pub fn is_goal(&self, check: &Check) -> bool {
        self.program.function(check.function).kind == FunctionKind::User
            && self.search.wanted(check.kind)
            && !check.trivial
    }

    /// How the goals stand: the checks of the user's code that were asked about, and its blocks (critical edges are
    /// broken, so a block covered is an edge covered).
    pub fn goals(&self) -> GoalTable {
        let mut checks = CheckTable::default();
        let covered = self.search.covered();
        for (number, check) in self.program.checks.iter().enumerate() {
            if self.is_goal(check) {
                if self.judge.violated(number as u32) {
                    checks.violated += 1;
                } else if !self.holds(number) {
                    checks.open += 1;
                } else {
                    match self.proved(number) {
                        GoalStatus::Unreachable => checks.unreachable += 1,
                        GoalStatus::Proved { given, .. } if !given.is_empty() => {
                            checks.proved_if += 1;
                        }
                        GoalStatus::Proved { reached: false, .. } => checks.proved_not_reached += 1,
                        _ => checks.proved += 1,
                    }
                }
            }
        }
        // A finding in a function that is not the user's own (a string function, say) is still one.
        checks.violated = checks.violated.max(self.judge.count());
        let mut edges = EdgeTable::default();
        for (number, (block, &covered)) in self.program.blocks.iter().zip(covered).enumerate() {
            if self.program.function(block.function).kind == FunctionKind::User {
                if covered {
                    edges.covered += 1;
                } else if self.is_dead(number) && self.dead_given(number).is_empty() {
                    edges.unreachable += 1;
                } else {
                    edges.open += 1;
                }
            }
        }
        GoalTable { checks, edges }
    }

    /// Ends the prover and the fuzzer, and completes the statistics.
    pub fn finish(&mut self) {
        if self.first_only && self.judge.count() > 0 {
            // What was asked is answered: nobody waits for the prover. A strategy that had the program to itself ends there, too.
            match self.settings.strategy {
                Strategy::Auto => self.prover = None,
                _ => self.count_strategy(),
            }
        }
        self.give_up_prover();
        // What nobody had time to look at in the machine was entered all the same.
        self.search.note_covered(self.backlog.entered());
        self.crew.stop();
        if self.settings.runs.is_none() {
            let executions = self.crew.last_count(LAST_WORDS);
            self.stats.executions = self.stats.executions.max(executions);
        }
        self.crew = Crew::default();
        self.peers = None;
        let solver = self.search.solver_stats();
        self.stats.solver_calls = solver.solver_calls + self.stats.prover.solver_calls;
        self.stats.machine_runs = self.search.stats().executions;
        self.stats.seconds = self.budget.begin().elapsed().as_secs_f64();
    }

    /// Why this harness was never executed, if it was not. Native executions count, and what is proved as a whole needs none. The
    /// machine's count where nobody asked for others, and where one program is checked by a search that ends at its first finding.
    pub fn unexecuted(&self, end: End) -> Option<Unexecuted> {
        let by_machine = self.stats.machine_runs > 0;
        let is_enough = self.stats.executions > 0
            // A strategy that came to its end has looked at what it looks at.
            || (self.settings.strategy != Strategy::Auto && self.proofs.is_some())
            || ((!self.settings.fuzzes() || self.first_only) && by_machine)
            || self.is_proved()
            || self.is_settled();
        if is_enough || end == End::Interrupted {
            return None;
        }
        let mut why = if !self.settings.fuzzes() {
            "the time was up before its first execution".to_owned()
        } else if self.native.ready(Kind::Fast).is_none() {
            let spent = self.budget.begin().elapsed().as_secs_f64();
            format!("its native target was not built within {spent:.0}s")
        } else {
            "the time was up before the fuzzer's first execution".to_owned()
        };
        if by_machine && self.settings.fuzzes() {
            let runs = self.stats.machine_runs;
            why += &format!(" (the engine's machine executed {runs} inputs)");
        }
        Some(Unexecuted {
            harness: self.harness.name.clone(),
            why,
        })
    }
}
