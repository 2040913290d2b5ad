//! Who listens to events: one reporter, several, or a list.

use std::io;

use super::Event;

/// Shows events to someone.
pub trait Reporter {
    /// Something happened. Errors of the output are kept for [`Reporter::finish`]: a campaign does
    /// not stop because its output is not read.
    fn event(&mut self, event: &Event);

    /// Ends the report: flushes, writes files.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Several reporters, one stream.
#[derive(Default)]
pub struct Fan {
    reporters: Vec<Box<dyn Reporter>>,
    /// Whether the last event said that the campaign was interrupted.
    pub interrupted: bool,
    /// Whether the last event said that a harness was never executed, or that a committed test or
    /// the input of an earlier finding was not run.
    pub incomplete: bool,
    /// Whether the last event's proofs assume preconditions that nobody has confirmed.
    pub unconfirmed: bool,
    /// Whether a declaration does not fit the library, and the baseline does not list it.
    pub mismatched: bool,
}

impl Fan {
    /// Adds a listener.
    pub fn add(&mut self, reporter: impl Reporter + 'static) {
        self.reporters.push(Box::new(reporter));
    }
}

impl Reporter for Fan {
    fn event(&mut self, event: &Event) {
        if let Event::Finished(summary) = event {
            self.interrupted = summary.interrupted;
            self.incomplete = summary.is_incomplete();
            self.unconfirmed = summary.rests_on_learnt();
        }
        if let Event::BindingMismatch(binding) = event {
            self.mismatched |= !binding.known;
        }
        for reporter in &mut self.reporters {
            reporter.event(event);
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        let mut outcome = Ok(());
        for reporter in &mut self.reporters {
            outcome = outcome.and(reporter.finish());
        }
        outcome
    }
}

/// A reporter for tests and for library use: keeps everything.
#[derive(Default, Debug)]
pub struct Recorder {
    /// What happened, in order.
    pub events: Vec<Event>,
}

impl Reporter for Recorder {
    fn event(&mut self, event: &Event) {
        self.events.push(event.clone());
    }
}
