//! Reports for users, in the manner of cargo: a status verb right-aligned to 12 columns, on stderr;
//! progress lines while work is going on, only on a terminal; each finding with its line of C and
//! the fault marked; and a final summary.

mod bars;
mod ending;
mod lines;
mod words;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Effects, Style};

use crate::event::{Event, Reporter};
use crate::verdict::{Finding, Goal};
use bars::Bars;
use words::{counted_phase, progress_text, seconds};

const GOOD: Style = AnsiColor::Green.on_default().effects(Effects::BOLD);
const BAD: Style = AnsiColor::Red.on_default().effects(Effects::BOLD);
const WARN: Style = AnsiColor::Yellow.on_default().effects(Effects::BOLD);

/// Reports to stderr.
pub struct TerminalReporter<W: Write> {
    to: W,
    bars: Option<Bars>,
    verbosity: i8,
    stats: bool,
    color: bool,
    root: PathBuf,
    /// The places of open checks, by reason.
    open: BTreeMap<String, Vec<String>>,
    /// The time of the last message about a running build, in seconds since its start.
    told_building: u64,
    /// The number of declarations that do not match the library and that no baseline lists.
    misfits: u64,
}

/// The seconds between two messages about a build.
const BUILDING_EVERY: u64 = 10;

impl TerminalReporter<anstream::AutoStream<io::Stderr>> {
    /// A reporter to this process's stderr. `verbosity` is the number of `-v` minus that of `-q`.
    /// Relative paths in events are relative to `root`.
    pub fn stderr(verbosity: i8, stats: bool, color: anstream::ColorChoice, root: PathBuf) -> Self {
        let to = anstream::AutoStream::new(io::stderr(), color);
        let color = to.current_choice() != anstream::ColorChoice::Never;
        let bars = (io::stderr().is_terminal() && verbosity >= 0).then(Bars::stderr);
        TerminalReporter {
            to,
            bars,
            verbosity,
            stats,
            color,
            root,
            open: BTreeMap::new(),
            told_building: 0,
            misfits: 0,
        }
    }
}

impl<W: Write> TerminalReporter<W> {
    /// A reporter without progress lines to any stream, for tests and logs.
    pub fn plain(to: W, verbosity: i8, root: PathBuf) -> Self {
        TerminalReporter {
            to,
            bars: None,
            verbosity,
            stats: false,
            color: false,
            root,
            open: BTreeMap::new(),
            told_building: 0,
            misfits: 0,
        }
    }

    fn status(&mut self, style: Style, verb: &str, text: &str) {
        let TerminalReporter { to, bars, .. } = self;
        let mut write = || {
            // A report that cannot be shown is not a reason to stop.
            let _ = writeln!(to, "{style}{verb:>12}{style:#} {text}");
        };
        match bars {
            Some(bars) => bars.suspend(write),
            None => write(),
        }
    }

    /// A path relative to the crate.
    fn short(&self, path: &Path) -> String {
        path.strip_prefix(&self.root)
            .unwrap_or(path)
            .display()
            .to_string()
    }

    fn raw(&mut self, text: &str) {
        let TerminalReporter { to, bars, .. } = self;
        let mut write = || {
            let _ = write!(to, "{text}");
        };
        match bars {
            Some(bars) => bars.suspend(write),
            None => write(),
        }
    }

    /// Updates the progress lines for an event.
    fn progress(&mut self, event: &Event) {
        let Some(bars) = &mut self.bars else {
            return;
        };
        if let Some((who, phase, text)) = progress_text(event) {
            bars.tell(who, phase, text);
        }
        if let Some((who, phase, done, total)) = counted_phase(event) {
            bars.count(who, phase, done, total);
        }
        // The goals of a harness are reported when its campaign has ended.
        if let Event::Goal(Goal { harness, .. }) | Event::Failed { harness, .. } = event {
            bars.end(harness);
        }
    }

    /// Reports what a long build is doing: on a progress line on a terminal, otherwise by a message
    /// from time to time.
    fn capturing(&mut self, package: &str, doing: &str, took: u64) {
        let text = match doing {
            "" => format!("{package}, to see which C files belong to it"),
            doing => format!("{package} ({doing})"),
        };
        if doing.is_empty() && took == 0 {
            self.status(GOOD, "Building", &text);
        } else if let Some(bars) = &mut self.bars {
            match doing.is_empty() {
                true => bars.end(package),
                false => bars.tell(package, "Building", text),
            }
        } else if !doing.is_empty() && took >= self.told_building + BUILDING_EVERY {
            self.told_building = took;
            self.status(
                GOOD,
                "Building",
                &format!("{text}, {}", seconds(took as f64)),
            );
        }
    }
}

impl<W: Write> Reporter for TerminalReporter<W> {
    fn event(&mut self, event: &Event) {
        self.progress(event);
        match event {
            Event::Found(_)
            | Event::Precondition(_)
            | Event::FoundAgain(_)
            | Event::Known(_)
            | Event::Expectations(_)
            | Event::BindingMismatch(_)
            | Event::BindingsChecked(_)
            | Event::Replayed { .. }
            | Event::Agreement { .. } => self.outcome(event),
            Event::Capturing { .. }
            | Event::Compiling { .. }
            | Event::Compiled { .. }
            | Event::LeftOut { .. }
            | Event::Mocked { .. }
            | Event::TestWritten { .. }
            | Event::CertificateWritten { .. } => self.work(event),
            Event::Goal(goal) => self.goal(goal),
            Event::Finished(summary) => self.finished(summary),
            _ => self.warning(event),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some(mut bars) = self.bars.take() {
            bars.clear();
        }
        self.to.flush()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::event::samples;

    #[test]
    fn a_finding_is_shown_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(
            dir.path().join("header.c"),
            "int f(void)\n{\n    name[i] = c;\n}\n",
        )
        .unwrap();
        let mut out = Vec::new();
        let mut reporter = TerminalReporter::plain(&mut out, 0, dir.path().to_owned());
        reporter.event(&Event::Compiling {
            what: "x".into(),
            files: 2,
            from: "cegar.toml".into(),
        });
        reporter.event(&Event::Found(samples::finding("header.c")));
        reporter.event(&Event::Finished(samples::summary()));
        reporter.finish().unwrap();
        let text = anstream::adapter::strip_bytes(&out).into_vec();
        insta::assert_snapshot!(String::from_utf8(text).unwrap());
    }
}
