//! What happens, as a stream of events.
//!
//! The campaign knows nothing about terminals or formats: it says what happened, once, as an
//! [`Event`], and a [`Reporter`] makes of it what its reader needs. Several reporters can listen to
//! one campaign ([`Fan`]). This is how cargo-nextest does it, and it is why a new format is a new
//! file in `report` and no other change. The stream has one format of its own, [`JsonReporter`]'s:
//! it is also how a campaign in a process of its own tells its parent.

mod distinct;
mod json;
mod listen;
#[cfg(test)]
pub(crate) mod samples;
mod summary;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::bindings::{Binding, Checked};
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
        /// How many.
        files: usize,
        /// Where the list comes from: `captured from build.rs`, `cegar.toml`, empty for the command
        /// line.
        from: String,
    },
    /// Some files are compiled.
    CompileProgress {
        /// What they belong to.
        what: String,
        /// How many are compiled.
        done: u64,
        /// Of how many.
        total: u64,
    },
    /// The files were compiled.
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
    /// Undefined functions that got a mock.
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
    /// A further input of a violation that was reported already: from another harness, or by way of
    /// another function.
    FoundAgain(Finding),
    /// A violation, confirmed natively, of which the harness is to blame: its choice breaks a
    /// precondition that was not known. No bug.
    Precondition(Finding),
    /// A violation, confirmed natively, that the baseline lists (`ci`).
    Known(Finding),
    /// A declaration of the crate's Rust code that is not what the library defines.
    BindingMismatch(Binding),
    /// The crate's declarations were compared with the library.
    BindingsChecked(Checked),
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
    /// A run does not end in its time, which is not checked.
    Hang(Hang),
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
        /// The number of inputs on which both agree.
        agreed: u64,
        /// The number of inputs.
        inputs: u64,
    },
    /// A question of an SV-COMP task is answered.
    Answered(Answered),
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
