//! From a violation that the machine saw to a finding.
//!
//! Nothing is reported before a native run confirmed it. Native code does not detect everything
//! that the machine detects: a write into a neighbouring object ends no run. So a tape that is not
//! confirmed says nothing about other tapes with the same violation, and minimising a tape by the
//! machine's view may lose what made it fail natively.

use std::collections::BTreeSet;

use cegar_fuzz::native::Kind;
use cegar_model::deadline;
use cegar_model::machine::Outcome as Seen;
use cegar_model::machine::{Choice, Execution, Violation};
use cegar_model::program::{CheckKind, Pos, Property};
use cegar_search::simulate::search::{News, Origin};

use super::Alternation;
use crate::campaign::blame;
use crate::campaign::findings::{self, Confirmed, Judge};
use crate::emit::spans;
use crate::error::Error;
use crate::event::{Event, Level};
use crate::findings::BlamedOn;

/// See the module.
pub struct Confirming<'a> {
    /// Decides what is a finding.
    pub judge: Judge<'a>,
    /// Inputs to run natively once the runner is built.
    pub suspects: Vec<Suspect>,
    /// Places where the machine sees violations that no native run confirmed.
    pub not_shown: BTreeSet<Pos>,
    /// The number of inputs on which the fuzzer's target failed and for which no time was left.
    pub late: u64,
}

impl Confirming<'_> {
    /// The number of inputs for which no time was left, or 0 if some other input showed a fault:
    /// further failing inputs most often show the same fault again.
    pub fn late_alone(&self) -> u64 {
        let is_alone = self.judge.count() == 0 && self.judge.preconditions.is_empty();
        if is_alone { self.late } else { 0 }
    }
}

/// An input that waits for the runner.
pub enum Suspect {
    /// The machine saw a violation.
    Seen(Vec<u8>, Violation, Origin),
    /// The fuzzer's target failed.
    Crash(Vec<u8>),
}

impl Alternation<'_, '_> {
    /// Whether a tape can be run natively without waiting for compilers. Always true with `--runs`,
    /// where there is no clock and waiting is no loss.
    pub(super) fn confirms(&self) -> bool {
        self.subject.is_counted() || self.subject.native.ready(Kind::RunnerAsan).is_some()
    }

    /// Examines all suspects, waiting for the runner if necessary. Returns whether there was a
    /// finding.
    pub(super) fn look_into_suspects(&mut self) -> Result<bool, Error> {
        let mut found = false;
        let mut news = Vec::new();
        for suspect in std::mem::take(&mut self.confirming.suspects) {
            match suspect {
                Suspect::Seen(tape, violation, origin) => {
                    found |= self.look_into_in_time(tape, violation, origin)?;
                }
                Suspect::Crash(tape) => {
                    let before = self.confirming.judge.count();
                    self.look_into_crash(&tape, &mut news)?;
                    found |= self.confirming.judge.count() > before;
                }
            }
        }
        for item in news {
            match item {
                News::Seed { tape, .. } => self.keep(&tape)?,
                News::Violation {
                    tape,
                    violation,
                    origin,
                } => found |= self.look_into_in_time(tape, violation, origin)?,
            }
        }
        Ok(found)
    }

    /// As [`Alternation::look_into`], but keeps the tape for the next campaign if this one ends
    /// before the violation is confirmed.
    pub(super) fn look_into_in_time(
        &mut self,
        tape: Vec<u8>,
        violation: Violation,
        origin: Origin,
    ) -> Result<bool, Error> {
        match self.look_into(tape.clone(), violation.clone(), origin) {
            Err(why) if why.is_the_end() => {
                self.put_off(&tape, &violation)?;
                Ok(false)
            }
            looked => looked,
        }
    }

    /// Confirms a violation that the machine saw. Returns whether it is a new finding.
    pub(super) fn look_into(
        &mut self,
        tape: Vec<u8>,
        violation: Violation,
        origin: Origin,
    ) -> Result<bool, Error> {
        let mut next = Some((tape, violation, origin));
        while let Some((tape, violation, origin)) = next {
            // If another tape with this violation was not confirmed, this tape is minimised only
            // once a native run has confirmed it.
            let is_worth_it = !self.searching.search.is_doubted(&violation)
                || self
                    .confirming
                    .judge
                    .is_shown(self.subject.native, &tape, &violation)?;
            if is_worth_it && let Some(new) = self.confirm(&tape, &violation, origin)? {
                self.searching.search.confirm(&violation);
                return Ok(new);
            }
            next = self.searching.search.reject_confirmation(&violation);
        }
        Ok(false)
    }

    /// Keeps a tape that could not be run natively before the end of the campaign. The next
    /// campaign begins with the tapes in the queue.
    fn put_off(&mut self, tape: &[u8], violation: &Violation) -> Result<(), Error> {
        self.inputs.put_off(tape)?;
        self.confirming.not_shown.insert(violation.pos);
        let place = self.subject.program.show(violation.pos);
        let why = format!(
            "{}: {} is what the engine sees; it was not confirmed in time and stays open{}",
            self.confirming.judge.relative(&place),
            violation.detail,
            self.subject.for_next_run()
        );
        self.reporting.warn_once(why);
        Ok(())
    }

    /// Runs the shortest tape with this violation natively. Returns whether the finding is new, or
    /// `None` if the violation was not confirmed.
    fn confirm(
        &mut self,
        tape: &[u8],
        violation: &Violation,
        origin: Origin,
    ) -> Result<Option<bool>, Error> {
        let mocked = &self.subject.externals.functions;
        let spans = |tape: &[u8], choices: &[Choice]| spans(mocked, tape, choices);
        let (short, run) = self
            .searching
            .search
            .minimise(tape, violation, origin, &spans);
        let why = match self.judged(&short, &run, violation, origin)? {
            Ok(new) => return Ok(Some(new)),
            Err(why) => why,
        };
        // The machine treats all tapes with this violation alike, but natively the shorter one may
        // write to another place.
        if short != tape {
            let run = self.searching.search.observe(tape);
            if let Ok(new) = self.judged(tape, &run, violation, origin)? {
                return Ok(Some(new));
            }
        }
        self.confirming.not_shown.insert(violation.pos);
        self.reporting.warn_once(why);
        Ok(None)
    }

    /// Runs a tape natively. Returns whether the finding is new, or why it is not a finding.
    fn judged(
        &mut self,
        tape: &[u8],
        run: &Execution,
        violation: &Violation,
        origin: Origin,
    ) -> Result<Result<bool, String>, Error> {
        // The report must describe this tape's violation, which may differ from the original one's.
        let violation = run.violation().unwrap_or(violation);
        self.stats.executions += 1;
        let judge = &mut self.confirming.judge;
        let confirmed = match judge.violation(self.subject.native, tape, run, violation, origin)? {
            Ok(confirmed) => confirmed,
            Err(why) => return Ok(Err(why)),
        };
        self.confirming.not_shown.remove(&violation.pos);
        let new = self.found(confirmed)?;
        if new {
            self.tell_of_address(violation);
        }
        Ok(Ok(new))
    }

    /// If the faulting address came from outside as a number, explains how to declare what it
    /// points to.
    fn tell_of_address(&mut self, violation: &Violation) {
        let Some(channel) = violation.address_from.as_deref() else {
            return;
        };
        let functions = &self.subject.externals.functions;
        if let Some(function) = functions.iter().find(|f| f.channel() == channel) {
            let name = function.name.clone();
            self.reporting.note(
                Level::Warning,
                format!(
                    "`{name}` may return any number, and the program uses it as an address; if it \
                     is one, say so: `address_of = 64` (bytes) or `address_of = \"structure\"` \
                     under [external.{name}] in cegar.toml, or in the file of --rules"
                ),
            );
        }
    }

    /// Reports a finding and writes its test, unless it was reported before. Returns whether it is
    /// new.
    pub(in crate::campaign) fn found(&mut self, mut confirmed: Confirmed) -> Result<bool, Error> {
        confirmed.finding.blame = blame::blamed(
            &self.subject,
            &mut self.searching.search,
            &confirmed.finding,
        );
        // Blame is determined by a run in the machine. Without blame, a fault of the harness would
        // be attributed to the library.
        let no_time = self.subject.is_late() || deadline::passed();
        let is_open = confirmed.finding.blame.is_none() && self.subject.harness.drives.is_some();
        if is_open && no_time {
            self.put_off_crash(&confirmed.finding.input)?;
            return Ok(false);
        }
        // A variable defined in assembly, or in a file that was left out, is longer than its
        // declaration says.
        let message = &confirmed.finding.message;
        let is_of = |name: &&String| message.contains(&format!(" of `{name}` ("));
        if let Some(name) = self.subject.undefined.iter().find(is_of) {
            self.reporting.warn_once(format!(
                "accesses outside of `{name}` are not judged: no C file defines it, and how long \
                 it is is not known"
            ));
            return Ok(false);
        }
        let blame = confirmed.finding.blame.as_ref();
        if blame.is_some_and(|blame| blame.from == BlamedOn::Harness) {
            if self.confirming.judge.record_precondition(&confirmed) {
                self.reporting
                    .event(&Event::Precondition(confirmed.finding));
            }
            return Ok(false);
        }
        if let Some(check) = confirmed.check {
            self.proving
                .coverage
                .violate(cegar_model::program::ir::CheckId(check));
        }
        let finding = match self.confirming.judge.register(&mut confirmed)? {
            findings::Registered::Told => return Ok(false),
            findings::Registered::Again => {
                let finding = confirmed.finding;
                self.reporting.event(&Event::FoundAgain(finding));
                return Ok(false);
            }
            findings::Registered::New => confirmed.finding.clone(),
        };
        self.reporting.event(&Event::Found(finding));
        for event in self.confirming.judge.write(confirmed)? {
            self.reporting.event(&event);
        }
        Ok(true)
    }

    /// As [`Alternation::crash`], but waits for the runner if necessary.
    pub(super) fn look_into_crash(
        &mut self,
        tape: &[u8],
        news: &mut Vec<News>,
    ) -> Result<bool, Error> {
        let before = news.len();
        self.searching.search.add(tape, Origin::Fuzzer, news);
        if news[before..].iter().any(News::is_violation) {
            return Ok(true);
        }
        // A violation that was already reported is neither news nor a crash that only native code
        // shows, unless it was not confirmed.
        let run = self.searching.search.observe(tape);
        let seen = run
            .violation()
            .filter(|v| self.searching.search.wanted(v.kind));
        let is_known = |v: &Violation| {
            self.searching.search.is_told(v) && !self.searching.search.is_doubted(v)
        };
        if seen.is_some_and(is_known) {
            return Ok(true);
        }
        let confirmed = match self.confirming.judge.crash(self.subject.native, tape) {
            Err(why) if why.is_the_end() => {
                self.put_off_crash(tape)?;
                return Ok(true);
            }
            judged => judged?,
        };
        let Some(confirmed) = confirmed else {
            return Ok(seen.is_some());
        };
        let judge = &mut self.confirming.judge;
        if !judge.is_reproducible(self.subject.native, tape, &confirmed)? {
            self.reporting.warn_once(format!(
                "a run ended with \"{}\", but a second run on the same input did not: the \
                 program is not deterministic, and this is not reported as a violation",
                confirmed.finding.message
            ));
            return Ok(false);
        }
        // Most often a call through a NULL pointer that the harness left: it cannot be told whose
        // fault it is.
        let is_placeless = confirmed.finding.place.file.is_empty()
            && confirmed.finding.kind.property() == Property::Memory;
        if is_placeless && self.subject.harness.drives.is_some() {
            self.reporting.warn_once(format!(
                "the program {} outside of the C code, where the engine sees nothing: whether the \
                 library or what the harness passed is the reason is not known, and this is not \
                 reported as a violation; a harness that was written by hand, without `drives` in \
                 cegar.toml, reports it",
                confirmed.finding.message
            ));
            return Ok(false);
        }
        // A block that the platform's own function allocated (`open_memstream`) does not belong to
        // the program's modelled heap.
        let mut unmodelled_allocators = cegar_stubs::unmodelled_allocators().iter();
        if confirmed.only_natively
            && confirmed.finding.kind == CheckKind::Free
            && matches!(run.outcome, Seen::Unmodelled(_))
            && unmodelled_allocators.any(|name| self.subject.program.function_named(name).is_some())
        {
            self.reporting.warn_once(format!(
                "{}: {} behind a call of a function that is not modelled, which may have allocated \
                 the block; this is not reported as a violation",
                confirmed.finding.place.show(),
                confirmed.finding.message
            ));
            return Ok(false);
        }
        // The fault is of a kind that the user asked about, and the engine's run of the same input
        // ended well. So what the engine proves does not hold for this program.
        let ends_well = matches!(run.outcome, Seen::Returned(_) | Seen::Exited(_));
        if confirmed.only_natively
            && ends_well
            && self.searching.search.wanted(confirmed.finding.kind)
        {
            self.proving.contradicted = Some(format!(
                "{}, natively, on an input that ends well as the engine sees it: what was proved \
                 is withdrawn, since an assumption does not hold or the engine is wrong; in the \
                 latter case, please report it",
                confirmed.finding.message
            ));
        }
        self.found(confirmed)?;
        Ok(true)
    }

    /// Keeps an input on which the fuzzer's target failed and which could not be confirmed before
    /// the end of the campaign.
    fn put_off_crash(&mut self, tape: &[u8]) -> Result<(), Error> {
        self.inputs.put_off(tape)?;
        self.confirming.late += 1;
        let why = format!(
            "an input on which the fuzzer's target failed was not confirmed in time{}",
            self.subject.for_next_run()
        );
        self.reporting.warn_once(why);
        Ok(())
    }
}
