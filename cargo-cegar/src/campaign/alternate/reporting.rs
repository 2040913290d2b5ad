//! Reports events of the campaign, and limits how often they are repeated.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::event::{Event, Level, Reporter};

/// How often the engine's progress is reported.
const PROGRESS: Duration = Duration::from_millis(500);
/// Up to this many builds take too little time to report: the four products of a small program.
const BUILDS: u32 = 4;

/// How often it is reported that two runs of one input took different paths.
const DIFFERENCES: usize = 3;

/// See the module.
pub struct Reporting<'a> {
    /// Where events go.
    reporter: &'a mut dyn Reporter,
    last_progress: Instant,
    /// The progress of the native builds when it was last reported.
    building: (u32, u32),
    /// Warnings that were issued; each is issued once.
    warned: BTreeSet<String>,
    /// How often a difference between two runs of one input occurred.
    differences: usize,
    /// Whether a run that exceeds its time limit was reported.
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

    /// Issues a warning once, however often its cause occurs.
    pub fn warn_once(&mut self, message: String) {
        if self.warned.insert(message.clone()) {
            self.note(Level::Warning, message);
        }
    }

    /// Whether no run that exceeds its time limit was reported yet. Later calls return false.
    pub fn first_hang(&mut self) -> bool {
        !std::mem::replace(&mut self.hang, true)
    }

    /// Reports where two runs of one input took different paths, up to `DIFFERENCES` times.
    pub fn differs(&mut self, harness: &str, what: String) {
        self.differences += 1;
        if self.differences <= DIFFERENCES {
            self.reporter.event(&Event::NonDeterministic {
                harness: harness.to_owned(),
                what,
            });
        }
    }

    /// Reports how many parts of the native targets are compiled, if there are more than
    /// `BUILDS`.
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

    /// Whether it is time to report the engine's progress. If so, the interval starts again.
    pub fn take_progress_due(&mut self) -> bool {
        let is_due = self.last_progress.elapsed() >= PROGRESS;
        if is_due {
            self.last_progress = Instant::now();
        }
        is_due
    }
}
