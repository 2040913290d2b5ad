//! What happens, as a stream of events, and who shows it.
//!
//! The campaign knows nothing about terminals or formats: it says what happened, once, as an [`Event`], and a
//! [`Reporter`] makes of it what its reader needs. Several reporters can listen to one campaign ([`Fan`]). This is how
//! cargo-nextest does it, and it is why a new format is a new file and no other change.

mod bindings;
mod distinct;
pub mod html;
mod json;
mod junit;
mod sarif;
mod terminal;

use std::io;
use std::path::PathBuf;

use cegar_model::program::{CheckKind, Property};
use serde::{Deserialize, Serialize};

use crate::campaign::vacuous::Vacuous;
use crate::campaign::{GoalTable, Stats, Verdict};
use crate::findings::{Blamed, Identity, Standing};

pub use bindings::Binding;
pub use distinct::Distinct;
pub use html::HtmlReporter;
pub use json::JsonReporter;
pub use junit::JunitReporter;
pub use sarif::SarifReporter;
pub use terminal::TerminalReporter;

/// A place in C source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file, as debug information names it (made relative where possible).
    pub file: String,
    /// From 1; 0 where unknown.
    pub line: u32,
    /// From 1; 0 where unknown.
    pub column: u32,
    /// The function.
    pub function: String,
}

impl Place {
    /// `file:line:column`.
    pub fn show(&self) -> String {
        match (self.line, self.column) {
            (0, _) if self.file.is_empty() => format!("in {}", self.function),
            (0, _) => self.file.clone(),
            (line, 0) => format!("{}:{line}", self.file),
            (line, column) => format!("{}:{line}:{column}", self.file),
        }
    }
}

/// A violation that was seen natively.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The harness it was found with.
    pub harness: String,
    /// Its stable name, also the test's: `parse_invalid_write_1f3a9c`.
    pub name: String,
    /// What the check guards against.
    pub kind: CheckKind,
    /// For people: ``write past the end of `name` (16 bytes) by 1 byte``.
    pub message: String,
    /// Where it happened.
    pub place: Place,
    /// The calls that led there, innermost first.
    pub stack: Vec<Place>,
    /// The tape.
    #[serde(serialize_with = "base64_bytes", deserialize_with = "bytes_base64")]
    pub input: Vec<u8>,
    /// Who found it: `fuzzing`, `partial simulation`, ...
    pub found_by: String,
    /// What the fault is known by.
    #[serde(default)]
    pub identity: Identity,
    /// How it stands against what earlier campaigns saw.
    #[serde(default)]
    pub standing: Standing,
    /// Whose choice it is, where the harness was written by `init` and the engine can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blame: Option<Blamed>,
}

/// How a goal stands at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "status")]
pub enum GoalStatus {
    /// No input violates the check.
    Proved {
        /// Whether an execution came to it, so that the proof is about something that happens.
        #[serde(default = "yes")]
        reached: bool,
        /// Checks that are not proved and that it rests on, for people: it holds in every execution in which they do.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        given: Vec<String>,
    },
    /// An input violates it.
    Violated,
    /// A branch that some execution took.
    Covered,
    /// A branch that no input takes, or a check that no input of this harness comes to: proved, and nothing is tested.
    Unreachable,
    /// Not settled.
    Open {
        /// What stands in the way.
        why: String,
    },
}

/// What a goal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GoalKind {
    /// A check.
    Check,
    /// A branch edge.
    Edge,
}

/// A goal and how it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// The harness.
    pub harness: String,
    /// Check or edge.
    pub kind: GoalKind,
    /// Its number: `CheckId`, or the edge's number.
    pub id: u32,
    /// What the check guards against; `None` for an edge.
    pub check: Option<CheckKind>,
    /// Where.
    pub place: Place,
    /// For people.
    pub expression: String,
    /// How it stands.
    #[serde(flatten)]
    pub status: GoalStatus,
}

/// Something that happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Event {
    /// C sources are about to be compiled.
    Compiling {
        /// What they belong to: a package, a harness, a file.
        what: String,
        /// How many.
        files: usize,
        /// Where the list comes from: `captured from build.rs`, `cegar.toml`, empty for the command line.
        from: String,
    },
    /// So many of them are compiled.
    CompileProgress {
        /// What they belong to.
        what: String,
        /// How many are compiled.
        done: u64,
        /// Of how many.
        total: u64,
    },
    /// They were.
    Compiled {
        /// What they belong to.
        what: String,
        /// How many were compiled.
        files: usize,
        /// How many of them were taken from the cache.
        cached: usize,
        /// How long it took.
        seconds: f64,
        /// What the compiler warned about, as it printed it.
        warnings: String,
    },
    /// Cargo builds the crate, to see which C files belong to it.
    Capturing {
        /// The package.
        package: String,
        /// What cargo does, in its words; empty at first, and when it has ended.
        doing: String,
        /// Since when.
        seconds: u64,
    },
    /// A captured file that is not part of the program.
    LeftOut {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
    /// Functions that nobody defines and that got a mock.
    Mocked {
        /// Their names.
        functions: Vec<String>,
    },
    /// The parts of the native targets are being built.
    Building {
        /// The harness.
        harness: String,
        /// How many are built.
        done: u64,
        /// Of how many, as far as that is known yet.
        total: u64,
    },
    /// Recorded inputs are being run again.
    Replaying {
        /// The harness.
        harness: String,
        /// How many have been run.
        done: u64,
        /// Of how many.
        total: u64,
    },
    /// The fuzzer is at work.
    FuzzProgress {
        /// The harness.
        harness: String,
        /// So far.
        executions: u64,
        /// Now.
        per_second: f64,
        /// Branch edges covered.
        edges_covered: u64,
        /// Branch edges in all.
        edges: u64,
        /// Checks that are proved.
        checks_proved: u64,
        /// Checks in all.
        checks: u64,
        /// Seeds that came from the engine.
        engine_seeds: u64,
        /// Corpus entries.
        corpus: u64,
    },
    /// The engine is at work.
    EngineProgress {
        /// The harness.
        harness: String,
        /// The goal it works on, for people.
        goal: String,
        /// Solver calls so far.
        solver_calls: u64,
        /// Refinements so far.
        refinements: u64,
        /// Goals that are not settled.
        open: u64,
    },
    /// A violation, confirmed natively.
    Found(Finding),
    /// A further input of a violation that was told already: of another harness, or by way of another function.
    FoundAgain(Finding),
    /// A violation, confirmed natively, of which the harness is to blame: what it chose is not allowed, and nobody said so. No bug.
    Precondition(Finding),
    /// A violation, confirmed natively, that the baseline lists (`ci`).
    Known(Finding),
    /// A declaration of the crate's Rust code that is not what the library defines.
    BindingMismatch(Binding),
    /// The crate's declarations were compared with the library.
    BindingsChecked(crate::bindings::Checked),
    /// How the inputs of earlier findings and of committed tests ended.
    Expectations(Expectations),
    /// A harness's campaign has no result (`ci`, `run --jobs`).
    Failed {
        /// The harness.
        harness: String,
        /// What happened: its error, or why it was ended.
        why: String,
    },
    /// A test was written, after it was seen to fail.
    TestWritten {
        /// The file.
        file: PathBuf,
        /// The function.
        name: String,
    },
    /// How one goal stands.
    Goal(Goal),
    /// Most checks of a harness cannot be reached from it.
    Vacuous(Vacuous),
    /// A certificate was written where it was asked for.
    CertificateWritten {
        /// The file; the bitcode that it is about lies beside it.
        file: PathBuf,
        /// How many checks it says are proved.
        checks: u64,
        /// How many blocks it says are unreachable.
        blocks: u64,
    },
    /// Two native runs of one input differed.
    NonDeterministic {
        /// The harness.
        harness: String,
        /// How.
        what: String,
    },
    /// A worker process ended by itself; its work goes on in a new one.
    WorkerDied {
        /// The harness.
        harness: String,
        /// How: `killed by signal 9`.
        how: String,
        /// Whether another was started.
        restarted: bool,
    },
    /// How a replayed input ended.
    Replayed {
        /// The input's file.
        input: PathBuf,
        /// `returned 0`, `violated ...`, ...
        outcome: String,
        /// Whether it is a violation.
        violation: bool,
        /// In what the engine's machine disagrees with the native run about it, if it does.
        disagreement: Option<String>,
    },
    /// On how many replayed inputs the engine's machine and native execution agree.
    Agreement {
        /// The harness.
        harness: String,
        /// On so many.
        agreed: u64,
        /// Of so many.
        inputs: u64,
    },
    /// A question of an SV-COMP task is answered.
    Answered(crate::svcomp::Answered),
    /// Something worth saying.
    Note {
        /// How loudly.
        level: Level,
        /// What.
        message: String,
    },
    /// The end; nothing follows.
    Finished(Summary),
}

/// How the committed tests and the inputs of earlier findings ended in this run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expectations {
    /// The harness; of tests that no harness owns, the test file.
    pub harness: String,
    /// Inputs that pass.
    pub pass: Vec<String>,
    /// Inputs that fail, and that no campaign has seen pass.
    pub still_fail: Vec<String>,
    /// Inputs that fail, and that an earlier campaign saw pass.
    pub fail_again: Vec<String>,
    /// Inputs that were not run to their end, and why.
    pub not_run: Vec<(String, String)>,
}

impl Expectations {
    /// How many there are.
    pub fn total(&self) -> usize {
        self.pass.len() + self.still_fail.len() + self.fail_again.len() + self.not_run.len()
    }
}

/// How loudly a note is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Only with `-v`.
    Detail,
    /// Normally.
    Info,
    /// Marked.
    Warning,
}

/// The last event.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// In one word.
    pub verdict: Verdict,
    /// The goals.
    pub goals: GoalTable,
    /// The cost.
    pub stats: Stats,
    /// The tests that stand for the violations: written now, or there already.
    pub tests: Vec<TestRef>,
    /// Whether it was stopped by Ctrl-C.
    pub interrupted: bool,
    /// What every "proved" relies on.
    pub assumptions: Vec<cegar_checker::Assumption>,
    /// The harnesses from which most of their checks cannot be reached.
    #[serde(default)]
    pub vacuous: Vec<Vacuous>,
    /// How many faults were found: one that several inputs or harnesses show counts once.
    #[serde(default)]
    pub findings: u64,
    /// Committed tests and inputs of earlier findings that were not run to their end.
    #[serde(default)]
    pub not_replayed: u64,
    /// How many harnesses there were.
    #[serde(default)]
    pub harnesses: u64,
    /// Those of them that were never executed.
    #[serde(default)]
    pub unexecuted: Vec<Unexecuted>,
}

impl Summary {
    /// What was proved is not all that was asked for.
    pub fn open(&mut self) {
        if self.verdict == Verdict::Proved {
            self.verdict = Verdict::Open;
        }
    }

    /// Whether not all was looked at: a harness was never executed, or something that is to be replayed was not.
    pub fn is_incomplete(&self) -> bool {
        self.not_replayed > 0 || !self.unexecuted.is_empty()
    }

    /// Says which harnesses were never executed, and why; nothing if all were.
    pub fn never_executed(&self) -> Option<String> {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for Unexecuted { harness, why } in &self.unexecuted {
            match reasons.iter_mut().find(|(known, _)| known == why) {
                Some((_, names)) => names.push(harness),
                None => reasons.push((why, vec![harness])),
            }
        }
        let (count, all) = (self.unexecuted.len() as u64, self.harnesses);
        let reasons: Vec<String> = reasons
            .into_iter()
            .map(|(why, names)| format!("{}: {why}", names.join(", ")))
            .collect();
        let noun = if all == 1 { "harness" } else { "harnesses" };
        let text = format!(
            "{count} of {all} {noun} never executed: {}",
            reasons.join("; ")
        );
        (count > 0).then_some(text)
    }
}

/// A harness that was never executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unexecuted {
    /// The harness.
    pub harness: String,
    /// Why not.
    pub why: String,
}

/// A generated test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRef {
    /// The file.
    pub file: PathBuf,
    /// The function.
    pub name: String,
}

/// Shows events to someone.
pub trait Reporter {
    /// Something happened. Errors of the output are kept for [`Reporter::finish`]: a campaign does not stop because
    /// nobody reads.
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
    /// Whether the last event said that a harness was never executed, or that a committed test or the input of an earlier finding
    /// was not run.
    pub incomplete: bool,
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

/// The stable name of a kind of fault: SARIF's `ruleId`, the JUnit type, and part of test names.
pub fn rule_id(kind: CheckKind) -> &'static str {
    match kind {
        CheckKind::Assertion => "assertion",
        CheckKind::Abort => "abort",
        CheckKind::ReachError => "reach-error",
        CheckKind::Fail => "fail",
        CheckKind::Read => "invalid-read",
        CheckKind::Write => "invalid-write",
        CheckKind::Free => "invalid-free",
        CheckKind::Call => "invalid-call",
        CheckKind::SignedOverflow => "signed-overflow",
        CheckKind::Shift => "bad-shift",
        CheckKind::DivisionByZero => "division-by-zero",
        CheckKind::ArrayBound => "array-bound",
        CheckKind::Unreachable => "unreachable",
    }
}

/// The word for a property on the command line and in files.
pub fn property_name(property: Property) -> &'static str {
    match property {
        Property::Assertion => "assertion",
        Property::Abort => "abort",
        Property::Memory => "memory",
        Property::Overflow => "overflow",
    }
}

/// What an older list of goals says nothing of.
fn yes() -> bool {
    true
}

fn bytes_base64<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    use base64::Engine as _;
    let text = String::deserialize(from)?;
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .map_err(serde::de::Error::custom)
}

fn base64_bytes<S: serde::Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    use base64::Engine as _;
    to.serialize_str(&base64::engine::general_purpose::STANDARD.encode(bytes))
}

#[cfg(test)]
pub(crate) mod samples {
    use super::*;

    /// A finding at line 3 of `file`.
    pub fn finding(file: &str) -> Finding {
        Finding {
            harness: "parse_header".into(),
            name: "write_past_end_header_c_3".into(),
            kind: CheckKind::Write,
            message: "write past the end of `name` (16 bytes) by 1 byte".into(),
            place: Place {
                file: file.into(),
                line: 3,
                column: 5,
                function: "parse".into(),
            },
            stack: vec![],
            input: b"aaaa".to_vec(),
            found_by: "partial simulation".into(),
            identity: Identity {
                file: file.into(),
                function: "parse".into(),
                rule: "invalid-write".into(),
                text: "name[i]=c;".into(),
                ..Identity::default()
            },
            standing: Standing::New,
            blame: None,
        }
    }

    /// A summary with one of each.
    pub fn summary() -> Summary {
        let mut goals = GoalTable::default();
        goals.checks.violated = 1;
        goals.checks.proved = 66;
        goals.checks.open = 3;
        goals.edges.covered = 119;
        Summary {
            verdict: Verdict::Violated,
            goals,
            stats: Stats {
                solver_calls: 7,
                executions: 1200,
                seconds: 1.5,
                ..Stats::default()
            },
            tests: vec![TestRef {
                file: "cegar/tests/parse_header.rs".into(),
                name: "t".into(),
            }],
            interrupted: false,
            assumptions: vec![],
            harnesses: 1,
            unexecuted: vec![],
            vacuous: vec![],
            findings: 1,
            not_replayed: 0,
        }
    }
}
