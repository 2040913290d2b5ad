//! For people: cargo's manner. A status verb right-aligned to 12 columns, on stderr; a line that counts while it
//! works, only where there is a terminal; each finding with its C line and the fault marked; at the end a sentence.

mod bars;
mod words;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Effects, Style};
use cegar_search::strategy::Strategy;

use crate::event::{Event, Expectations, Level, Reporter, Summary};
use crate::findings::Standing;
use crate::verdict::{Finding, Goal, GoalKind, GoalStatus};
use crate::verdict::{Stats, Verdict};
use bars::Bars;
use words::{count, counted, counted_phase, progress_text, seconds, source_picture};

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
    /// How many checks are open, by reason.
    open: BTreeMap<String, u64>,
    /// How many seconds into a build was told what it does.
    told_building: u64,
}

/// Seconds between two lines about a build.
const BUILDING_EVERY: u64 = 10;

impl TerminalReporter<anstream::AutoStream<io::Stderr>> {
    /// A reporter to this process's stderr. `verbosity` is the number of `-v` minus that of `-q`; `root` is what
    /// relative paths in events are relative to.
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
        }
    }
}

impl<W: Write> TerminalReporter<W> {
    /// A reporter without progress line to any stream, for tests and logs.
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

    /// A path as seen from the crate.
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

    /// Shows on the lines that count what an event says of them.
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
        // A harness's goals are told when it has ended.
        if let Event::Goal(Goal { harness, .. }) | Event::Failed { harness, .. } = event {
            bars.end(harness);
        }
    }

    /// A build of minutes shows what it is at: in place on a terminal, else in a line now and then.
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

    fn found(&mut self, finding: &Finding) {
        let text = format!(
            "{}  {} {}",
            finding.harness,
            finding.place.show(),
            finding.message
        );
        let verb = match finding.standing {
            Standing::New => "Found",
            Standing::StillFails => "Still fails",
            Standing::FailsAgain => "Fails again",
        };
        self.status(BAD, verb, &text);
        if self.verbosity >= 0
            && let Some(picture) = source_picture(finding, &self.root, self.color)
        {
            self.raw(&picture);
        }
    }

    /// A fault that is the harness's own.
    fn precondition(&mut self, finding: &Finding) {
        let missing = finding.blame.iter().flat_map(|blame| &blame.missing);
        let missing: Vec<String> = missing
            .map(|one| match one.condition.as_str() {
                "" => one.why.clone(),
                condition => format!("{condition} ({})", one.why),
            })
            .collect();
        let text = format!(
            "{}  {}; else {}: {}",
            finding.harness,
            missing.join("; "),
            finding.place.show(),
            finding.message
        );
        self.status(WARN, "Precondition", &text);
    }

    /// How the committed tests and the inputs of earlier findings ended.
    fn expectations(&mut self, expected: &Expectations) {
        let passed = format!(
            "{}  {} of {} pass",
            expected.harness,
            expected.pass.len(),
            counted(expected.total() as u64, "known input"),
        );
        let failing = [
            (&expected.fail_again, "fail again"),
            (&expected.still_fail, "still fail"),
        ];
        let failing: String = failing
            .iter()
            .filter(|(names, _)| !names.is_empty())
            .map(|(names, verb)| format!("; {} {verb}", names.len()))
            .collect();
        let style = match expected.pass.len() == expected.total() {
            true => GOOD,
            false => BAD,
        };
        self.status(style, "Replayed", &format!("{passed}{failing}"));
        for (name, why) in &expected.not_run {
            self.status(
                WARN,
                "Not run",
                &format!("{}  {name}: {why}", expected.harness),
            );
        }
    }

    fn finished(&mut self, summary: &Summary) {
        if let Some(mut bars) = self.bars.take() {
            bars.clear();
        }
        let (checks, edges) = (&summary.goals.checks, &summary.goals.edges);
        let style = match summary.verdict {
            Verdict::Violated => BAD,
            Verdict::Proved => GOOD,
            Verdict::Open => WARN,
        };
        for (why, checks) in std::mem::take(&mut self.open) {
            self.status(
                WARN,
                "Open",
                &format!("{}: {why}", counted(checks, "check")),
            );
        }
        let took = seconds(summary.stats.seconds);
        if self.verbosity >= 0 && checks.in_certificate() > 0 {
            for assumption in &summary.assumptions {
                self.status(Style::new(), "Assuming", &assumption.sentence());
            }
        }
        if self.stats {
            self.statistics(&summary.stats);
        }
        if let Some(text) = summary.never_executed() {
            self.status(WARN, "Unexecuted", &text);
        }
        let verdict = match summary.verdict {
            Verdict::Violated => "violated",
            Verdict::Proved if checks.is_vacuous() => "proved, mostly vacuous",
            Verdict::Proved => "proved",
            Verdict::Open => "open",
        };
        // The same fault may violate a check of several harnesses.
        let findings = match summary.findings {
            n if n > 0 && n != checks.violated => format!(" ({})", counted(n, "finding")),
            _ => String::new(),
        };
        let goals = edges.covered + edges.unreachable + edges.open;
        let text = if goals == 0 && summary.unexecuted.is_empty() {
            // A replay has no goals.
            let inputs = summary.stats.executions;
            format!(
                "in {took}: {} of {inputs} inputs violate a check",
                checks.violated
            )
        } else {
            format!(
                "in {took}, {verdict}{findings}; checks: {}; edges: {} covered, {} unreachable, {} open",
                checks.words(),
                edges.covered,
                edges.unreachable,
                edges.open
            )
        };
        self.status(
            style,
            if summary.interrupted {
                "Interrupted"
            } else {
                "Finished"
            },
            &text,
        );
    }

    fn statistics(&mut self, s: &Stats) {
        let text = format!(
            "{} executions, {} machine runs, {} solver calls, {} refinements, {} seeds from the engine",
            count(s.executions),
            count(s.machine_runs),
            count(s.solver_calls),
            count(s.refinements),
            count(s.engine_seeds)
        );
        self.status(Style::new(), "Statistics", &text);
        if s.proving > 0.0 {
            let p = &s.prover;
            if s.strategy != Strategy::Auto {
                let text = format!(
                    "{} {}: {} iterations, {} splits, {} executions, {} solver calls",
                    s.strategy,
                    seconds(s.proving),
                    count(p.iterations),
                    count(p.splits),
                    count(p.executions),
                    count(p.solver_calls),
                );
                self.status(Style::new(), "Statistics", &text);
                return;
            }
            let floor = match p.floor > 0.0 {
                true => format!(
                    "the floor settles {} checks and {} blocks in {:.2}s; ",
                    count(p.floor_checks),
                    count(p.floor_blocks),
                    p.floor
                ),
                false => String::new(),
            };
            let text = format!(
                "prover {}: {floor}{} iterations, {} of {} guesses hold, {} solver calls, {} of {} paths around loops lead to a violation; explore {:.2}s, forest {:.2}s, loops {:.2}s, guess {:.2}s, houdini {:.2}s, settle {:.2}s, check {:.2}s",
                seconds(s.proving),
                p.iterations,
                count(p.facts),
                count(p.guesses),
                count(p.solver_calls),
                count(p.loop_seeds),
                count(p.loop_paths),
                p.explore,
                p.forest,
                p.loops,
                p.guess,
                p.houdini,
                p.settle,
                p.check
            );
            self.status(Style::new(), "Statistics", &text);
        }
    }
}

impl<W: Write> Reporter for TerminalReporter<W> {
    fn event(&mut self, event: &Event) {
        let quiet = self.verbosity < 0;
        self.progress(event);
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
                    false => self.status(BAD, "Found", &text),
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
            Event::Failed { harness, why } => {
                self.status(BAD, "Failed", &format!("{harness}: {why}"));
            }
            Event::Vacuous(vacuous) => {
                let text = format!("{}: {}", vacuous.harness, vacuous.words());
                self.status(WARN, "Vacuous", &text);
            }
            Event::Finished(summary) => self.finished(summary),
            Event::Note {
                level: Level::Warning,
                message,
            } => self.status(WARN, "Warning", message),
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
            Event::Goal(Goal {
                kind: GoalKind::Check,
                place,
                expression,
                status,
                ..
            }) => {
                if let GoalStatus::Open { why } = status {
                    // A library has thousands of checks: normally only their number is told, by reason.
                    if self.verbosity > 0 {
                        let text = format!("{} {expression}: {why}", place.show());
                        self.status(WARN, "Open", &text);
                    } else if !quiet {
                        *self.open.entry(why.clone()).or_default() += 1;
                    }
                } else if self.verbosity > 0
                    && let GoalStatus::Proved { .. } | GoalStatus::Unreachable = status
                {
                    let (style, verb) = match status {
                        GoalStatus::Unreachable => (WARN, "Unreachable"),
                        _ => (GOOD, "Proved"),
                    };
                    let given = match status {
                        GoalStatus::Proved { given, .. } if !given.is_empty() => {
                            format!(" if these hold: {}", given.join(", "))
                        }
                        _ => String::new(),
                    };
                    self.status(
                        style,
                        verb,
                        &format!("{} {expression}{given}", place.show()),
                    );
                }
            }
            _ => {}
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

    #[test]
    fn numbers_are_short() {
        assert_eq!([count(950), count(1_200_000)], ["950", "1.2M"]);
    }
}
