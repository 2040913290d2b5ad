//! The alternation on one program.
//!
//! The fuzzer runs in its own processes, so with two cores both sides work all the time. What
//! alternates is knowledge: the machine executes the inputs that raised the fuzzer's coverage
//! ([`backlog`] defines the order) and offers the branches at which other ways are open to the
//! search; every tape with which the search covers something new becomes a seed. The machine
//! detects an invalid access where native code continues, so it judges the fuzzer's inputs too.
//! Inputs for which the machine has no time are swept natively, under AddressSanitizer. A suspected
//! violation of either side is run natively, under AddressSanitizer, before it is reported.
//!
//! Each part owns its state: [`searching`], [`fuzzing`], [`proving`], [`confirming`], [`peers`],
//! [`inputs`] and [`reporting`]. The program and the time limits are in [`subject`], which none of
//! them changes. [`Alternation`] holds the parts together: its loop polls each part in turn and
//! hands its news to the other parts.
//!
//! With `--runs` there is no clock ([`counted`]): the search answers a fixed number of questions,
//! the fuzzer executes its number of runs, and the search continues with what the fuzzer found. The
//! same seed gives the same result. A published strategy runs without the fuzzer and the search
//! ([`published`]).

mod after_proof;
pub(super) mod backlog;
pub(super) mod confirming;
mod counted;
pub(super) mod crew;
mod ending;
pub(super) mod fuzzing;
mod hearing;
pub(super) mod inputs;
mod last_runs;
pub(super) mod overview;
pub(super) mod peers;
pub(super) mod proving;
mod published;
pub(super) mod reporting;
pub(super) mod searching;
pub(super) mod share;
pub(super) mod subject;

use std::cell::RefCell;
use std::time::{Duration, Instant};

use cegar_fuzz::native::Kind;
use cegar_search::simulate::search::{News, Origin, Search};
use cegar_search::strategy::Strategy;

use super::native::LARGE;
use crate::error::Error;
use crate::event::{Event, Level};
use crate::findings::Record;
pub use crate::verdict::End;
use crate::verdict::Stats;
use confirming::{Confirming, Suspect};
use fuzzing::Fuzzing;
use inputs::Inputs;
use overview::Overview;
use peers::Peers;
use proving::Proving;
use reporting::Reporting;
use searching::Searching;
use subject::Subject;

/// How long to wait for the fuzzer when there is nothing else to do.
const QUIET: Duration = Duration::from_millis(100);
/// How long the prover runs alone at first; native builds run meanwhile.
const ALONE: Duration = Duration::from_millis(250);
/// Without `--max-time`, the campaign ends when neither side has found anything new for this long
/// and the search has no questions left.
const STALLED: Duration = Duration::from_secs(30);
/// The same limit while the search still has questions: with a fuzzer beside it, the search never
/// runs out of questions.
const FUTILE: Duration = Duration::from_secs(90);

/// One program's campaign.
pub(super) struct Alternation<'a, 'p> {
    /// The program, and the limits of the campaign.
    pub subject: Subject<'a>,
    /// The folders of inputs.
    pub inputs: Inputs,
    /// The engine's machine and its questions.
    pub searching: Searching<'p>,
    /// The processes of the fuzzer.
    pub fuzzing: Fuzzing,
    /// The prover and its results.
    pub proving: Proving,
    /// Findings, and violations that are not confirmed yet.
    pub confirming: Confirming<'a>,
    /// The connection to other machines, if there is one.
    pub peers: Option<Peers>,
    /// Where events go.
    pub reporting: Reporting<'a>,
    /// The statistics so far.
    pub stats: Stats,
}

impl Alternation<'_, '_> {
    /// Works until there is a reason to end.
    pub fn run(&mut self) -> Result<End, Error> {
        let mut news = Vec::new();
        let given = self.given()?;
        let settings = self.subject.settings;
        if settings.strategy != Strategy::Auto {
            let end = self.run_published_strategy(&given)?;
            // The strategy may end before the runner that confirms its violations is built.
            return match self.look_into_suspects()? {
                true if self.subject.settings.first_only => Ok(End::Found),
                _ => Ok(end),
            };
        }
        if settings.sides.engine() {
            self.begin_with_engine(&given, &mut news)?;
        }
        if let Some(runs) = settings.runs {
            for tape in given {
                if self.is_over() {
                    break;
                }
                self.searching.search.add(&tape, Origin::Given, &mut news);
            }
            return self.counted(runs, news);
        }
        // The fuzzer reads a large corpus by itself, without waiting for the machine to execute it.
        self.searching.backlog.give(given);
        let end = self.timed(news)?;
        if matches!(end, End::Budget | End::Stalled) {
            self.last_sweep()?;
        }
        let mut is_found = self.look_into_suspects()?;
        if end == End::Settled {
            is_found |= self.last_runs()?;
        }
        match is_found {
            true if self.subject.settings.first_only => Ok(End::Found),
            _ => Ok(end),
        }
    }

    /// The first steps of the engine: starting the prover, and the first executions.
    fn begin_with_engine(&mut self, given: &[Vec<u8>], news: &mut Vec<News>) -> Result<(), Error> {
        if !self.subject.is_counted() {
            let is_large = self.subject.program.blocks.len() >= LARGE;
            if self.subject.settings.fuzzes() && is_large {
                // The prover would occupy the core that compiles the fuzzer's target, for minutes.
                self.proving.postponed = Some(given.to_vec());
            } else {
                self.proving.start(&self.subject, given)?;
                self.head_start(news)?;
            }
        }
        for tape in Search::first() {
            // If the program does not terminate, each execution takes seconds, and the proof may be
            // finished meanwhile.
            if self.is_settled() {
                break;
            }
            self.searching.search.begin(tape, news);
            self.hear_prover(news)?;
        }
        Ok(())
    }

    /// Lets the prover run alone first: a single execution may take seconds, and a small program is
    /// proved before the first one ends.
    fn head_start(&mut self, news: &mut Vec<News>) -> Result<(), Error> {
        let begin = Instant::now();
        while self.proving.prover.is_some() && begin.elapsed() < ALONE && !self.is_over() {
            std::thread::sleep(ALONE / 25);
            self.hear_prover(news)?;
        }
        Ok(())
    }

    /// Whether the user pressed Ctrl-C or no time is left for fuzzing and search.
    pub fn is_over(&self) -> bool {
        self.subject.is_over(self.proving.prover.is_some())
    }

    /// The end of a time slice that begins now.
    fn slice(&self) -> Instant {
        self.subject.slice(self.proving.prover.is_some())
    }

    /// The loop of a campaign with a clock.
    fn timed(&mut self, mut news: Vec<News>) -> Result<End, Error> {
        let mut asking = self.subject.settings.sides.engine();
        loop {
            if let Some(end) = self.act(&mut news)? {
                return Ok(end);
            }
            self.fuzzing.start(&self.subject, &self.inputs, None)?;
            self.exchange();
            let shares = self.subject.gives_way() && !self.fuzzing.crew.is_empty();
            let rests = shares && self.searching.share.rests();
            // Given inputs are executed before the first question, since they answer many of the
            // questions.
            if asking && !rests && !self.searching.backlog.has_given() {
                asking = self.ask(shares, &mut news);
                self.progress();
            }
            let nothing = !asking && news.is_empty() && self.searching.backlog.is_empty();
            let wait = if nothing || rests {
                QUIET
            } else {
                Duration::ZERO
            };
            self.listen(wait, &mut news)?;
            let idle = nothing && self.confirming.suspects.is_empty();
            if !rests && self.catch_up(shares, &mut news) {
                asking = self.subject.settings.sides.engine();
            }
            self.sweep(&mut news)?;
            let done = news.is_empty() && self.confirming.suspects.is_empty();
            if done && !self.proving.is_pending() && self.is_stalled(idle) {
                return Ok(End::Stalled);
            }
        }
    }

    /// Lets the search ask its next questions. Returns false if none is left. `shares` says whether
    /// the fuzzer may need the processor.
    fn ask(&mut self, shares: bool, news: &mut Vec<News>) -> bool {
        let until = self.slice();
        let (alarm, stop) = (self.fuzzing.alarm(), self.subject.stop);
        let work = |searching: &mut Searching<'_>| searching.ask(until, alarm, stop, news);
        self.searching.measured(shares, work)
    }

    /// Lets the machine execute waiting inputs. Returns false if none was waiting.
    fn catch_up(&mut self, shares: bool, news: &mut Vec<News>) -> bool {
        let until = self.slice();
        let subject = &self.subject;
        let work = |searching: &mut Searching<'_>| searching.catch_up(until, subject, news);
        self.searching.measured(shares, work)
    }

    /// Reacts to what has happened since the last turn. Returns the campaign's end if there is a
    /// reason for it.
    fn act(&mut self, news: &mut Vec<News>) -> Result<Option<End>, Error> {
        let first_only = self.subject.settings.first_only;
        if self.take(news)? && first_only {
            return Ok(Some(End::Found));
        }
        if self.subject.is_stopped() {
            return Ok(Some(End::Interrupted));
        }
        let has_suspects = !self.confirming.suspects.is_empty();
        if has_suspects && self.confirms() && self.look_into_suspects()? && first_only {
            return Ok(Some(End::Found));
        }
        let built = self.subject.native.ready(Kind::Fast).is_some();
        if let Some(given) = self.proving.postponed.take_if(|_| built) {
            self.proving.start(&self.subject, &given)?;
        }
        let builds = self.subject.native.progress();
        self.reporting.building(&self.subject.harness.name, builds);
        self.hear_prover(news)?;
        if self.is_settled() {
            return Ok(Some(End::Settled));
        }
        let deadline = self.subject.deadline(self.proving.prover.is_some());
        let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        Ok(is_late.then_some(End::Budget))
    }

    /// Whether nothing new is to be expected: the search is `idle` without a fuzzer beside it, or
    /// there is no time limit and neither side has found anything new for long.
    fn is_stalled(&self, idle: bool) -> bool {
        let patience = if idle { STALLED } else { FUTILE };
        let is_quiet = self.searching.last_news.elapsed() > patience;
        let is_alone = idle && !self.subject.settings.sides.fuzz();
        is_alone || is_quiet && self.subject.budget.end().is_none()
    }

    /// The inputs that the user gave or an earlier campaign left.
    fn given(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        let (mut tapes, damaged) = self.inputs.read()?;
        for path in damaged {
            let message = format!("left out corrupt corpus file {}", path.display());
            self.reporting.note(Level::Warning, message);
            self.inputs.damaged.insert(path);
        }
        // A fault that was fixed may come back: the inputs of such findings are executed again.
        let memory = self.confirming.judge.memory.iter();
        let records = memory.flat_map(|memory| memory.records());
        tapes.extend(records.filter(|record| !record.failing).map(Record::input));
        Ok(tapes)
    }

    /// Handles news. Returns whether there was a finding among them.
    fn take(&mut self, news: &mut Vec<News>) -> Result<bool, Error> {
        let mut found = false;
        for item in news.drain(..) {
            self.searching.last_news = Instant::now();
            match item {
                News::Seed { tape, origin } => {
                    self.keep(&tape)?;
                    self.share_seed(&tape);
                    if origin != Origin::Fuzzer {
                        self.stats.engine_seeds += 1;
                        self.fuzzing.crew.seed(&tape, None);
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
                        self.confirming
                            .suspects
                            .push(Suspect::Seen(tape, violation, origin));
                    }
                }
            }
        }
        Ok(found)
    }

    /// Stores an input that covered something new for the next campaign.
    fn keep(&self, tape: &[u8]) -> Result<(), Error> {
        self.inputs.keep(tape, self.subject.harness.max_len)
    }

    fn progress(&mut self) {
        if !self.reporting.take_progress_due() {
            return;
        }
        let solver = self.searching.search.solver_stats();
        let open = self.overview().table().checks.open;
        self.reporting.event(&Event::EngineProgress {
            harness: self.subject.harness.name.clone(),
            goal: String::new(),
            solver_calls: solver.solver_calls + self.stats.prover.solver_calls,
            refinements: self.stats.refinements,
            open,
        });
    }

    /// The current state of the goals.
    pub fn overview(&self) -> Overview<'_, '_, '_> {
        Overview {
            subject: &self.subject,
            search: &self.searching.search,
            judge: &self.confirming.judge,
            proving: &self.proving,
            names: RefCell::default(),
        }
    }
}
