//! What the campaign tells, and when it told it last.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::event::{Event, Level, Reporter};

/// How often the engine's progress is told.
const PROGRESS: Duration = Duration::from_millis(500);
/// So many builds take no time worth telling: a small program's four products.
const BUILDS: u32 = 4;

/// How often it is told that two runs of one input went different ways.
const DIFFERENCES: usize = 3;

/// See the module.
pub struct Reporting<'a> {
    /// Where events go.
    reporter: &'a mut dyn Reporter,
    last_progress: Instant,
    /// How far the native builds were when that was told.
    building: (u32, u32),
    /// Warnings that are said once.
    warned: BTreeSet<String>,
    /// How often it was said that two runs of one input differ.
    differences: usize,
    /// Whether it was said that a run does not end in its time.
    hang: bool,
}

impl<'a> Reporting<'a> {
    pub fn new(reporter: &'a mut dyn Reporter, started: Instant) -> Self {
        Reporting {
            reporter,
            last_progress: started,
            building: (0, 0),
            warned: BTreeSet::new(),
            differences: 0,
            hang: false,
        }
    }

    pub fn event(&mut self, event: &Event) {
        self.reporter.event(event);
    }

    pub fn note(&mut self, level: Level, message: impl Into<String>) {
        let message = message.into();
        self.reporter.event(&Event::Note { level, message });
    }

    /// A warning that is said once, however often its cause comes up.
    pub fn warn_once(&mut self, message: String) {
        if self.warned.insert(message.clone()) {
            self.note(Level::Warning, message);
        }
    }

    /// Whether a run that does not end in its time was told; from now on it is.
    pub fn has_told_hang(&mut self) -> bool {
        std::mem::replace(&mut self.hang, true)
    }

    /// Says where two runs of one input went different ways; a few places are enough.
    pub fn differs(&mut self, harness: &str, what: String) {
        self.differences += 1;
        if self.differences <= DIFFERENCES {
            self.reporter.event(&Event::NonDeterministic {
                harness: harness.to_owned(),
                what,
            });
        }
    }

    /// Says how many parts of the native targets are compiled, where there are several.
    pub fn building(&mut self, harness: &str, (done, total): (u32, u32)) {
        if total > BUILDS && self.building != (done, total) {
            self.building = (done, total);
            self.reporter.event(&Event::Building {
                harness: harness.to_owned(),
                done: done.into(),
                total: total.into(),
            });
        }
    }

    /// Whether it is time to tell the engine's progress; if so, the next time comes later.
    pub fn is_progress_due(&mut self) -> bool {
        let is_due = self.last_progress.elapsed() >= PROGRESS;
        if is_due {
            self.last_progress = Instant::now();
        }
        is_due
    }
}
