//! From what the machine saw to a finding.
//!
//! Nothing is told before a native run showed it, and native code does not see all that the machine sees: a write that lands
//! in a neighbour ends no run. So one tape that is not confirmed says nothing about the next, and what makes a tape short in the
//! machine's eyes may lose what made it fail.

use cegar_engine::machine::{Choice, Execution, Violation};
use cegar_engine::simulate::search::Origin;

use super::Alternation;
use crate::campaign::findings::{Confirmed, News};
use crate::emit::spans;
use crate::error::Error;
use crate::report::{Event, Level};
use crate::store;

impl Alternation<'_, '_> {
    /// Makes sure of what the machine saw; true if it is a finding, and new.
    pub(super) fn look_into(
        &mut self,
        tape: Vec<u8>,
        violation: Violation,
        origin: Origin,
    ) -> Result<bool, Error> {
        let mut next = Some((tape, violation, origin));
        while let Some((tape, violation, origin)) = next {
            // Where one tape was not confirmed, another is not made short before it is.
            let is_worth_it = !self.search.is_doubted(&violation)
                || self.judge.is_shown(self.native, &tape, &violation)?;
            if is_worth_it && let Some(new) = self.confirm(&tape, &violation, origin)? {
                self.search.settle(&violation);
                return Ok(new);
            }
            next = self.search.doubt(&violation);
        }
        Ok(false)
    }

    /// Keeps a tape that could not be run natively before the campaign's end: the next one begins with what is in the queue.
    pub(super) fn put_off(&mut self, tape: &[u8], violation: &Violation) -> Result<(), Error> {
        store::add_entry(&self.queue, tape)?;
        let place = self.program.show(violation.pos);
        let why = format!(
            "{}: {} is what the engine sees; it was not confirmed in time and stays open; the input is kept for the next run",
            self.judge.relative(&place),
            violation.detail
        );
        if self.unconfirmed.insert(why.clone()) {
            self.note(Level::Warning, why);
        }
        Ok(())
    }

    /// Runs the shortest tape with this violation natively: whether the finding is new, if it is one.
    fn confirm(
        &mut self,
        tape: &[u8],
        violation: &Violation,
        origin: Origin,
    ) -> Result<Option<bool>, Error> {
        let mocked = &self.externals.functions;
        let spans = |tape: &[u8], choices: &[Choice]| spans(mocked, tape, choices);
        let (short, run) = self.search.minimise(tape, violation, origin, &spans);
        let why = match self.judged(&short, &run, violation, origin)? {
            Ok(new) => return Ok(Some(new)),
            Err(why) => why,
        };
        // To the machine all tapes with this violation are alike; natively a shorter one may write elsewhere.
        if short != tape {
            let run = self.search.observe(tape);
            if let Ok(new) = self.judged(tape, &run, violation, origin)? {
                return Ok(Some(new));
            }
        }
        if self.unconfirmed.insert(why.clone()) {
            self.note(Level::Warning, why);
        }
        Ok(None)
    }

    /// Runs a tape natively: whether the finding is new, or why it is none.
    fn judged(
        &mut self,
        tape: &[u8],
        run: &Execution,
        violation: &Violation,
        origin: Origin,
    ) -> Result<Result<bool, String>, Error> {
        // What is told is about this tape.
        let violation = run.violation().unwrap_or(violation);
        self.stats.executions += 1;
        let judge = &mut self.judge;
        let confirmed = match judge.violation(self.native, tape, run, violation, origin)? {
            Ok(confirmed) => confirmed,
            Err(why) => return Ok(Err(why)),
        };
        let new = self.found(confirmed)?;
        if new {
            self.tell_of_address(violation);
        }
        Ok(Ok(new))
    }

    /// Where a number from outside was used as an address: that one can say what it leads to.
    fn tell_of_address(&mut self, violation: &Violation) {
        let Some(channel) = violation.address_from.as_deref() else {
            return;
        };
        let functions = &self.externals.functions;
        if let Some(function) = functions.iter().find(|f| f.channel() == channel) {
            let name = function.name.clone();
            self.note(
                Level::Warning,
                format!(
                    "`{name}` may return any number, and the program uses it as an address; if it is one, say so: \
                     `address_of = 64` (bytes) or `address_of = \"structure\"` under [external.{name}] in cegar.toml, or in \
                     the file of --rules"
                ),
            );
        }
    }

    /// Tells of a finding, unless it was told before, and writes its test; true if it was not.
    pub(in crate::campaign) fn found(&mut self, mut confirmed: Confirmed) -> Result<bool, Error> {
        if let Some(check) = confirmed.check {
            self.coverage
                .violate(cegar_engine::program::ir::CheckId(check));
        }
        let finding = match self.judge.news(&mut confirmed)? {
            News::Told => return Ok(false),
            News::Again => {
                let finding = confirmed.finding;
                self.reporter.event(&Event::FoundAgain(finding));
                return Ok(false);
            }
            News::New => confirmed.finding.clone(),
        };
        self.reporter.event(&Event::Found(finding));
        for event in self.judge.write(confirmed)? {
            self.reporter.event(&event);
        }
        Ok(true)
    }
}
