//! Reports single events, in a line each.

use std::io::Write;

use anstyle::Style;

use super::words::{self, counted, seconds};
use super::{BAD, GOOD, TerminalReporter, WARN};
use crate::event::{Event, Level};
use crate::verdict::{Goal, GoalKind, GoalStatus};

impl<W: Write> TerminalReporter<W> {
    /// Reports the outcome of an execution or a comparison.
    pub(super) fn outcome(&mut self, event: &Event) {
        let quiet = self.verbosity < 0;
        match event {
            Event::Found(finding) => self.found(finding),
            Event::Precondition(finding) if !quiet => self.precondition(finding),
            Event::FoundAgain(finding) if !quiet => {
                let caller = match finding.identity.caller.as_str() {
                    "" => String::new(),
                    caller => format!(", called by `{caller}`"),
                };
                let text = format!(
                    "{}  {} shows it as well{caller}",
                    finding.harness,
                    finding.place.show()
                );
                self.status(WARN, "Found again", &text);
            }
            Event::Expectations(expected) if !quiet || expected.pass.len() < expected.total() => {
                self.expectations(expected);
            }
            Event::Known(finding) if !quiet => {
                let (place, what) = (finding.place.show(), &finding.message);
                let text = format!("{}  {place} {what}; `{}`", finding.harness, finding.name);
                self.status(WARN, "Known", &text);
            }
            Event::BindingMismatch(binding) => {
                let place = binding.mismatch.rust.show();
                let text = format!("{}  {place} {}", binding.kind, binding.in_full());
                match binding.known {
                    true if quiet => {}
                    true => self.status(WARN, "Known", &text),
                    false => {
                        self.misfits += 1;
                        self.status(BAD, "Found", &text);
                    }
                }
            }
            Event::BindingsChecked(checked) if !quiet && checked.declared > 0 => {
                let style = match checked.mismatches.is_empty() {
                    true => GOOD,
                    false => BAD,
                };
                self.status(style, "Bindings", &checked.summary());
                if self.verbosity > 0 {
                    for (place, why) in &checked.left_out {
                        self.status(WARN, "Left out", &format!("{}: {why}", place.show()));
                    }
                }
            }
            Event::Replayed {
                input,
                outcome,
                violation,
                disagreement,
            } => {
                let style = if *violation { BAD } else { GOOD };
                self.status(
                    style,
                    "Replayed",
                    &format!("{}  {outcome}", self.short(input)),
                );
                if let Some(how) = disagreement {
                    self.status(WARN, "Warning", how);
                }
            }
            Event::Agreement {
                harness,
                agreed,
                inputs,
            } if !quiet || agreed < inputs => {
                let text = format!(
                    "{harness}: machine and native execution agree on {agreed} of {inputs} inputs"
                );
                self.status(
                    if agreed == inputs { GOOD } else { WARN },
                    "Compared",
                    &text,
                );
            }
            _ => {}
        }
    }

    /// Reports the steps of the work, and what was written.
    pub(super) fn work(&mut self, event: &Event) {
        let quiet = self.verbosity < 0;
        match event {
            Event::Capturing {
                package,
                doing,
                seconds: took,
            } if !quiet => self.capturing(package, doing, *took),
            Event::Compiling { what, files, from } if !quiet => {
                let from = if from.is_empty() {
                    String::new()
                } else {
                    format!(", {from}")
                };
                let noun = if *files == 1 { "file" } else { "files" };
                self.status(GOOD, "Compiling", &format!("{what} ({files} {noun}{from})"));
            }
            Event::Compiled {
                what,
                files,
                cached,
                seconds: took,
                warnings,
            } => {
                if !warnings.is_empty() && !quiet {
                    self.raw(warnings);
                }
                if self.verbosity > 0 {
                    let text = format!("{what} in {} ({cached} of {files} cached)", seconds(*took));
                    self.status(GOOD, "Compiled", &text);
                }
            }
            Event::LeftOut { file, why } if !quiet => {
                self.status(WARN, "Left out", &format!("{file}: {why}"));
            }
            Event::Mocked { functions } if !quiet && !functions.is_empty() => {
                self.status(GOOD, "Mocking", &functions.join(", "));
            }
            Event::TestWritten { file, name } if !quiet => {
                self.status(GOOD, "Wrote", &format!("{}  {name}", self.short(file)));
            }
            Event::CertificateWritten {
                file,
                checks,
                blocks,
            } if !quiet => {
                let text = format!(
                    "{}  {} proved, {} unreachable; `cargo cegar check-proof` checks it",
                    self.short(file),
                    counted(*checks, "check"),
                    counted(*blocks, "edge"),
                );
                self.status(GOOD, "Wrote", &text);
            }
            _ => {}
        }
    }

    /// Reports warnings and notes.
    pub(super) fn warning(&mut self, event: &Event) {
        let quiet = self.verbosity < 0;
        match event {
            Event::Failed { harness, why } => {
                self.status(BAD, "Failed", &format!("{harness}: {why}"));
            }
            Event::Vacuous(vacuous) => {
                let text = format!("{}: {}", vacuous.harness, vacuous.words());
                self.status(WARN, "Vacuous", &text);
            }
            Event::Hang(hang) if !quiet => {
                self.status(WARN, "Hang", &format!("{}: {}", hang.harness, hang.words()));
            }
            Event::Note {
                level: Level::Warning,
                message,
            } => self.status(WARN, "Warning", message),
            Event::Note {
                level: Level::Detail,
                message,
            } if self.verbosity > 0 => {
                self.status(Style::new(), "", message);
            }
            Event::Note {
                level: Level::Info,
                message,
            } if !quiet => {
                self.status(GOOD, "Note", message);
            }
            Event::Answered(answered) => {
                let (style, word) = match answered.points {
                    Some(points) if points < 0 => (WARN, "Wrong"),
                    _ => (GOOD, "Answer"),
                };
                self.status(style, word, &words::answered(answered));
            }
            Event::NonDeterministic { harness, what } => {
                self.status(
                    WARN,
                    "Warning",
                    &format!("{harness} is not deterministic: {what}"),
                );
            }
            Event::WorkerDied {
                harness,
                how,
                restarted,
            } => {
                let then = if *restarted {
                    "started another"
                } else {
                    "not started again"
                };
                self.status(
                    WARN,
                    "Warning",
                    &format!("{harness}: a worker {how}; {then}"),
                );
            }
            _ => {}
        }
    }

    /// Reports the state of a check; branches are only counted.
    pub(super) fn goal(&mut self, goal: &Goal) {
        if goal.kind != GoalKind::Check {
            return;
        }
        let is_verbose = self.verbosity > 0;
        let text = format!("{} {}", goal.place.show(), goal.expression);
        match &goal.status {
            GoalStatus::Open { why } if is_verbose => {
                self.status(WARN, "Open", &format!("{text}: {why}"));
            }
            // A library has thousands of checks, so by default their number is shown for each
            // reason, with a few places.
            GoalStatus::Open { why } if self.verbosity == 0 => {
                let places = self.open.entry(why.clone()).or_default();
                places.push(goal.place.show());
            }
            GoalStatus::Unreachable if is_verbose => self.status(WARN, "Unreachable", &text),
            GoalStatus::Proved { given, .. } if is_verbose => {
                let given = match given.is_empty() {
                    true => String::new(),
                    false => format!(" if these hold: {}", given.join(", ")),
                };
                self.status(GOOD, "Proved", &format!("{text}{given}"));
            }
            _ => {}
        }
    }
}
