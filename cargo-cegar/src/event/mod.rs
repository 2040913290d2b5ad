//! What happens in a campaign, as a stream of events.
//!
//! The campaign knows nothing about terminals or formats. It reports what happened once, as an
//! [`Event`], and a [`Reporter`] shows it to its reader. Several reporters can receive the events
//! of one campaign ([`Fan`]). cargo-nextest works in the same way; a new format only needs a new
//! file in `report`. The stream itself has one format, that of [`JsonReporter`], which a campaign
//! in a process of its own also uses to report to its parent.

mod distinct;
mod json;
mod listen;
#[cfg(test)]
pub(crate) mod samples;
mod summary;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::bindings::{Binding, ComparisonReport};
use crate::svcomp::Answered;
use crate::verdict::{Finding, Goal, Vacuous};

pub use distinct::Distinct;
pub use json::JsonReporter;
pub use listen::{Fan, Recorder, Reporter};
pub use summary::{Expectations, Hang, INTERRUPTED, Summary, TestRef, Unexecuted};

/// Something that happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Event {
    /// C sources are about to be compiled.
    Compiling {
        /// What they belong to: a package, a harness, a file.
        what: String,
        /// The number of files.
        files: usize,
        /// The source of the list: `captured from build.rs`, `cegar.toml`, or empty for the command
        /// line.
        from: String,
    },
    /// Some files have been compiled.
    CompileProgress {
        /// What they belong to.
        what: String,
        /// The number of compiled files.
        done: u64,
        /// The number of all files.
        total: u64,
    },
    /// The files were compiled.
    Compiled {
        /// What they belong to.
        what: String,
        /// The number of files.
        files: usize,
        /// The number of files taken from the cache.
        cached: usize,
        /// The duration in seconds.
        seconds: f64,
        /// The compiler's warnings, as it printed them.
        warnings: String,
    },
    /// Cargo builds the crate to determine its C files.
    Capturing {
        /// The package.
        package: String,
        /// Cargo's last status line; empty at the beginning and at the end.
        doing: String,
        /// The time since cargo was started, in seconds.
        seconds: u64,
    },
    /// A captured file that is not part of the program.
    LeftOut {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
    /// Undefined functions that were mocked.
    Mocked {
        /// Their names.
        functions: Vec<String>,
    },
    /// The parts of the native targets are being built.
    Building {
        /// The harness.
        harness: String,
        /// The number of finished parts.
        done: u64,
        /// The number of all parts, as far as known.
        total: u64,
    },
    /// Recorded inputs are being run again.
    Replaying {
        /// The harness.
        harness: String,
        /// The number of finished inputs.
        done: u64,
        /// The number of all inputs.
        total: u64,
    },
    /// The progress of the fuzzer.
    FuzzProgress {
        /// The harness.
        harness: String,
        /// Executions so far.
        executions: u64,
        /// Current executions per second.
        per_second: f64,
        /// Branch edges covered.
        edges_covered: u64,
        /// All branch edges.
        edges: u64,
        /// Checks that are proved.
        checks_proved: u64,
        /// All checks.
        checks: u64,
        /// Seeds that came from the engine.
        engine_seeds: u64,
        /// The number of corpus entries.
        corpus: u64,
    },
    /// The progress of the engine.
    EngineProgress {
        /// The harness.
        harness: String,
        /// The goal that it works on, for information.
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
    /// A further input of a violation that was already reported: from another harness, or through
    /// another calling function.
    FoundAgain(Finding),
    /// A violation, confirmed natively, for which the harness is to blame: its choice violates a
    /// precondition that was not known. It is not a bug.
    Precondition(Finding),
    /// A violation, confirmed natively, that the baseline lists (`ci`).
    Known(Finding),
    /// A declaration in the crate's Rust code that does not match the library's definition.
    BindingMismatch(Binding),
    /// The crate's declarations were compared with the library.
    BindingsChecked(ComparisonReport),
    /// The results of the inputs of earlier findings and of committed tests.
    Expectations(Expectations),
    /// A harness's campaign has no result (`ci`, `run --jobs`).
    Failed {
        /// The harness.
        harness: String,
        /// What happened: its error, or why it was killed.
        why: String,
    },
    /// A test was written, after it was seen to fail.
    TestWritten {
        /// The file.
        file: PathBuf,
        /// The function.
        name: String,
    },
    /// The state of one goal.
    Goal(Goal),
    /// Most checks of a harness cannot be reached from it.
    Vacuous(Vacuous),
    /// A certificate was written to the requested folder.
    CertificateWritten {
        /// The file; the bitcode that it is about is in the same folder.
        file: PathBuf,
        /// The number of checks that it proves.
        checks: u64,
        /// The number of blocks that it proves unreachable.
        blocks: u64,
    },
    /// A run exceeded its time limit. Termination is not a checked property.
    Hang(Hang),
    /// Two native runs of one input differed.
    NonDeterministic {
        /// The harness.
        harness: String,
        /// How they differed.
        what: String,
    },
    /// A worker process ended unexpectedly.
    WorkerDied {
        /// The harness.
        harness: String,
        /// How it ended: `killed by signal 9`.
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
        /// How the engine's machine disagrees with the native run, if it does.
        disagreement: Option<String>,
    },
    /// The number of replayed inputs on which the engine's machine and native execution agree.
    Agreement {
        /// The harness.
        harness: String,
        /// The number of inputs on which both agree.
        agreed: u64,
        /// The number of inputs.
        inputs: u64,
    },
    /// A question of an SV-COMP task is answered.
    Answered(Answered),
    /// A message for the user.
    Note {
        /// Its importance.
        level: Level,
        /// The text.
        message: String,
    },
    /// The end; no event follows.
    Finished(Summary),
}

/// The importance of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Shown only with `-v`.
    Detail,
    /// Shown by default.
    Info,
    /// Shown as a warning.
    Warning,
}
