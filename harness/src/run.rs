//! The result of one run, and the expectations of a test.
//!
//! A failed expectation is the bug report that the reader gets. It says in this order what
//! happened, where in the C code, how to repeat this run under a debugger, and what the sanitizer
//! printed.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::behaviour;
use crate::external::Holds;
use crate::isolate::Ended;
use crate::locate;
use crate::outcome::{Outcome, Place};
use crate::sanitizer;

/// One finished run.
#[derive(Debug, Clone)]
pub struct Run {
    harness: String,
    runner: Option<PathBuf>,
    outcome: Outcome,
    output: Vec<(i32, Vec<u8>)>,
    behaviour: Vec<String>,
    leaked: u64,
    unread: Vec<String>,
    stderr: String,
}

/// The runtime's report.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Report {
    outcome: String,
    status: i32,
    kind: Option<String>,
    what: String,
    file: String,
    line: u32,
    leaked: u64,
    unread: BTreeMap<String, u64>,
    output: Vec<(i32, String)>,
}

impl Run {
    pub(crate) fn missing(harness: &str, looked: Vec<PathBuf>) -> Self {
        let outcome = match locate::why_broken(&looked) {
            Some(why) => Outcome::NotBuilt {
                harness: harness.to_owned(),
                why,
            },
            None => Outcome::BuildMissing {
                harness: harness.to_owned(),
                looked,
            },
        };
        Self::ended(harness, None, outcome)
    }

    fn ended(harness: &str, runner: Option<&Path>, outcome: Outcome) -> Self {
        Run {
            harness: harness.to_owned(),
            runner: runner.map(Path::to_owned),
            outcome,
            output: Vec::new(),
            behaviour: Vec::new(),
            leaked: 0,
            unread: Vec::new(),
            stderr: String::new(),
        }
    }

    pub(crate) fn read(
        harness: &str,
        runner: &Path,
        parameters: &BTreeMap<String, Vec<Holds>>,
        limit: Duration,
        ended: io::Result<Ended>,
    ) -> Self {
        let ended = match ended {
            Ok(ended) => ended,
            Err(why) => {
                return Self::ended(harness, Some(runner), Outcome::Broken(why.to_string()));
            }
        };
        let report: Option<Report> = ended
            .report
            .lines()
            .last()
            .and_then(|line| serde_json::from_str(line).ok());
        let outcome = outcome(&ended, report.as_ref(), runner, limit);
        let mut run = Self::ended(harness, Some(runner), outcome);
        if let Some(report) = report {
            // The runtime writes each byte as the character with that code point.
            let pieces: Vec<(i32, Vec<u8>)> = report
                .output
                .into_iter()
                .map(|(s, t)| (s, t.chars().map(|c| c as u8).collect()))
                .collect();
            run.behaviour = behaviour::lines(&pieces, parameters);
            // Calls are not output.
            run.output = pieces;
            run.output.retain(|(stream, _)| *stream >= 0);
            run.leaked = report.leaked;
            run.unread = report.unread.into_keys().collect();
        }
        run.stderr = ended.stderr;
        run
    }

    /// How it ended.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Everything that the program printed, to any stream, in order.
    pub fn transcript(&self) -> String {
        let bytes: Vec<u8> = self
            .output
            .iter()
            .flat_map(|(_, bytes)| bytes)
            .copied()
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The output to one stream: 1 is stdout, 2 is stderr.
    pub fn output(&self, stream: i32) -> Vec<u8> {
        self.output
            .iter()
            .filter(|(s, _)| *s == stream)
            .flat_map(|(_, bytes)| bytes)
            .copied()
            .collect()
    }

    /// The behaviour of the program as text for snapshots, one line per event: what it printed and
    /// to which stream, which external functions it called with which numbers, and how it ended. It
    /// is the same for every run that behaves alike; of addresses it only says whether they are
    /// NULL.
    pub fn behaviour(&self) -> String {
        let mut text = self.behaviour.join("\n");
        if !text.is_empty() {
            text.push('\n');
        }
        text += &match &self.outcome {
            Outcome::Returned => "returned".to_owned(),
            Outcome::Exited(status) => format!("exited with status {status}"),
            Outcome::Rejected => "rejected by an assumption".to_owned(),
            outcome => format!("went wrong: {outcome}"),
        };
        text
    }

    /// The number of bytes of the heap that were never freed (0 if a sanitizer manages the heap).
    pub fn leaked(&self) -> u64 {
        self.leaked
    }

    /// The channels whose answers were not all consumed.
    pub fn unread(&self) -> &[String] {
        &self.unread
    }

    /// Expects that nothing went wrong.
    ///
    /// # Panics
    /// If something went wrong.
    #[track_caller]
    pub fn expect_safe(&self) -> &Self {
        if !self.outcome.is_safe() {
            panic!("{}", self.story());
        }
        self
    }

    /// Expects that the program ended by itself with this exit status (the result of `main`; 0 for
    /// a harness that returns nothing).
    ///
    /// # Panics
    /// If it ended in any other way.
    #[track_caller]
    pub fn expect_exit(&self, status: i32) -> &Self {
        let ended = match self.outcome {
            Outcome::Returned => Some(0),
            Outcome::Exited(status) => Some(status),
            _ => None,
        };
        if ended != Some(status) {
            panic!("expected exit status {status}; {}", self.story());
        }
        self
    }

    /// Expects a violation whose description contains `text` (`""` for any violation).
    ///
    /// # Panics
    /// If there is no such violation.
    #[track_caller]
    pub fn expect_violation(&self, text: &str) -> &Self {
        if !self.outcome.is_violation() || !self.story().contains(text) {
            panic!("expected a violation with `{text}`; {}", self.story());
        }
        self
    }

    /// A description of what happened, for people.
    pub fn story(&self) -> String {
        let mut story = format!("{}: {}", self.harness, self.outcome);
        if let Some(place) = self.outcome.place() {
            story += &format!("\n    at {place}");
        }
        if let (Some(runner), true) = (&self.runner, self.outcome.is_violation()) {
            story += &format!(
                "\n\n  to debug: set CEGAR_KEEP_MOCK=FILE for this test, then\n    CEGAR_MOCK=FILE \
                 gdb {}",
                runner.display()
            );
        }
        let transcript = self.transcript();
        if !transcript.is_empty() {
            story += &format!("\n\n  it had printed:\n{}", indent(&transcript, 20));
        }
        let said = match &self.outcome {
            // After the summary comes a dump of the shadow memory, which is of no use in a test's
            // output.
            Outcome::Sanitizer { report, .. } => {
                report.split("\nSUMMARY: ").next().unwrap_or(report)
            }
            _ => &self.stderr,
        };
        if !said.trim().is_empty() {
            story += &format!("\n\n  in full:\n{}", indent(said, 60));
        }
        story
    }
}

fn outcome(ended: &Ended, report: Option<&Report>, runner: &Path, limit: Duration) -> Outcome {
    let place = |file: &str, line| {
        (!file.is_empty() && line > 0).then(|| Place {
            file: file.to_owned(),
            line,
            function: None,
        })
    };
    if let Some(report) = report {
        return match report.outcome.as_str() {
            "returned" => Outcome::Returned,
            "exited" => Outcome::Exited(report.status),
            "rejected" => Outcome::Rejected,
            "out_of_memory" => Outcome::OutOfMemory,
            "violated" => Outcome::Violated {
                kind: report.kind.clone().unwrap_or_default(),
                what: report.what.clone(),
                at: place(&report.file, report.line),
            },
            other => Outcome::Broken(format!("unknown outcome `{other}`")),
        };
    }
    if ended.status.is_none() {
        return Outcome::Timeout(limit);
    }
    if let Some(gist) = sanitizer::read(&ended.stderr, runner) {
        return Outcome::Sanitizer {
            summary: gist.summary,
            at: gist.at,
            report: ended.stderr.clone(),
        };
    }
    match ended.signal() {
        Some(signal) => Outcome::Signal {
            signal,
            at: crash_place(&ended.stderr, runner),
        },
        None => Outcome::Broken(format!(
            "{}; it said: {}",
            status_text(ended),
            ended.stderr.trim()
        )),
    }
}

/// Finds the place in what the support code's handler prints: `cegar frame runner(+0x1234)
/// [0x...]`, innermost first.
fn crash_place(stderr: &str, runner: &Path) -> Option<Place> {
    stderr
        .lines()
        .find_map(|line| sanitizer::frame(line.strip_prefix("cegar frame")?, runner))
}

fn status_text(ended: &Ended) -> String {
    ended
        .status
        .map_or_else(|| "it did not end".to_owned(), |status| status.to_string())
}

fn indent(text: &str, most: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out: String = lines
        .iter()
        .take(most)
        .map(|line| format!("    {line}\n"))
        .collect();
    if lines.len() > most {
        out += &format!("    ... {} more lines\n", lines.len() - most);
    }
    out
}
