//! Who listens to events: one reporter, several, or a list.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::{Event, Level};

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
    /// Finds functions of C code that other packages of the build compile, and the package of each.
    /// It is asked once, when something is mocked.
    pub find_elsewhere: Option<Box<dyn FnOnce() -> BTreeMap<String, String>>>,
    /// What it found, without what was told.
    elsewhere: BTreeMap<String, String>,
}

impl Fan {
    /// Which other packages have functions that are mocked, in words.
    fn tell_elsewhere(&mut self, functions: &[String]) {
        if let Some(find) = self.find_elsewhere.take() {
            self.elsewhere = find();
        }
        let mut packages: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for function in functions {
            // Each is told once.
            if let Some(package) = self.elsewhere.remove(function) {
                packages.entry(package).or_default().insert(function);
            }
        }
        for (package, functions) in packages {
            let names: Vec<&str> = functions.into_iter().collect();
            let message = format!(
                "`{package}`, which this build compiles as well, has {}: here such a function may \
                 do anything that its type allows, and what is found because of it may be no \
                 fault; add the C files of `{package}` to `sources` under [c] in cegar.toml (and \
                 its headers to `includes`) to have them looked at instead",
                names.join(", ")
            );
            self.event(&Event::Note {
                level: Level::Warning,
                message,
            });
        }
    }

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
        if let Event::Mocked { functions } = event {
            self.tell_elsewhere(functions);
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
