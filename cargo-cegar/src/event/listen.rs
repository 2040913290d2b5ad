//! Receivers of events: one reporter, several, or a list.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::{Event, Level};

/// Shows events to a user or a program.
pub trait Reporter {
    /// Handles an event. Output errors are stored until [`Reporter::finish`], since a campaign does
    /// not stop if its output is not read.
    fn event(&mut self, event: &Event);

    /// Ends the report: flushes output and writes files.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Passes one stream of events to several reporters.
#[derive(Default)]
pub struct Fan {
    reporters: Vec<Box<dyn Reporter>>,
    /// Whether the final summary says that the campaign was interrupted.
    pub interrupted: bool,
    /// Whether the final summary says that the campaign is incomplete (`Summary::is_incomplete`).
    pub incomplete: bool,
    /// Whether proofs of the final summary rest on preconditions that no user has confirmed.
    pub unconfirmed: bool,
    /// Whether proofs of the final summary rest on bounds or guesses of a harness.
    pub guessed: bool,
    /// Whether a declaration does not match the library and is not listed in the baseline.
    pub mismatched: bool,
    /// Finds functions in C code that other packages of the build compile, with the package of
    /// each. It is called once, when something is mocked.
    pub find_elsewhere: Option<Box<dyn FnOnce() -> BTreeMap<String, String>>>,
    /// The functions that it found, without those that were reported.
    elsewhere: BTreeMap<String, String>,
}

impl Fan {
    /// Reports which other packages define mocked functions.
    fn tell_elsewhere(&mut self, functions: &[String]) {
        if let Some(find) = self.find_elsewhere.take() {
            self.elsewhere = find();
        }
        let mut packages: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for function in functions {
            // Each function is reported once.
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

    /// Adds a reporter.
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
            self.guessed = summary.rests_on_guesses();
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

/// A reporter for tests and for library use that stores all events.
#[derive(Default, Debug)]
pub struct Recorder {
    /// The events in order.
    pub events: Vec<Event>,
}

impl Reporter for Recorder {
    fn event(&mut self, event: &Event) {
        self.events.push(event.clone());
    }
}
