//! How a run ended.
//!
//! The C side reports an orderly end as a line of JSON from the runtime, and any other end as a
//! sanitizer's report or a signal. All of them become one [`Outcome`], whose `Display` is a
//! sentence for the person who reads a failed test.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The entry function returned.
    Returned,
    /// The program ended with this exit status (also what `main` returned).
    Exited(i32),
    /// An assumption of the harness does not hold in this environment, so the run shows nothing.
    Rejected,
    /// A check of the program or of the stubs failed.
    Violated {
        /// `assertion`, `abort`, `reach_error`, `fail`, `heap` or `trap`.
        kind: String,
        /// The text of the check.
        what: String,
        /// The place, if known.
        at: Option<Place>,
    },
    /// A sanitizer stopped the program.
    Sanitizer {
        /// The summary, such as `heap-buffer-overflow: WRITE of size 1`.
        summary: String,
        /// The first place on its stack in the user's code.
        at: Option<Place>,
        /// Its whole output.
        report: String,
    },
    /// A signal killed the program.
    Signal {
        /// Its number.
        signal: i32,
        /// The place, if the handler found it.
        at: Option<Place>,
    },
    /// It was still running at the time limit.
    Timeout(Duration),
    /// It allocated more memory than a run may have.
    OutOfMemory,
    /// The process could not be started, or ended in an unexpected way.
    Broken(String),
    /// There is no executable of this harness.
    BuildMissing {
        /// The harness that was asked for.
        harness: String,
        /// The paths that were tried.
        looked: Vec<PathBuf>,
    },
    /// The harness could not be built.
    NotBuilt {
        /// The harness that was asked for.
        harness: String,
        /// What the compiler said.
        why: String,
    },
}

/// A place in C code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as the compiler names it.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The function, if known.
    pub function: Option<String>,
}

/// The message of a test whose harness the package does not have.
pub const NOT_BUILT: &str = "is not built: no executable at";

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match &self.function {
            Some(function) => write!(f, " in {function}"),
            None => Ok(()),
        }
    }
}

impl Outcome {
    /// Whether the C code did nothing wrong in this run. This includes runs that are rejected by an
    /// assumption.
    pub fn is_safe(&self) -> bool {
        matches!(
            self,
            Outcome::Returned | Outcome::Exited(_) | Outcome::Rejected
        )
    }

    /// Whether the C code did something wrong. A harness that is missing or broken is neither safe
    /// nor a violation.
    pub fn is_violation(&self) -> bool {
        !self.is_safe()
            && !matches!(
                self,
                Outcome::Broken(_) | Outcome::BuildMissing { .. } | Outcome::NotBuilt { .. }
            )
    }

    /// The place in the C code, if known.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Outcome::Violated { at, .. }
            | Outcome::Sanitizer { at, .. }
            | Outcome::Signal { at, .. } => at.as_ref(),
            _ => None,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Returned => f.write_str("it returned"),
            Outcome::Exited(status) => write!(f, "it exited with status {status}"),
            Outcome::Rejected => {
                f.write_str("an assumption of the harness does not hold (the run was rejected)")
            }
            Outcome::Violated { kind, what, .. } => match kind.as_str() {
                "assertion" => write!(f, "assertion failed: {what}"),
                "abort" => f.write_str("abort() was called"),
                "reach_error" => write!(f, "an error location was reached: {what}"),
                "fail" => write!(f, "the harness failed: {what}"),
                "heap" => write!(f, "misuse of the heap: {what}"),
                _ => write!(f, "{kind}: {what}"),
            },
            Outcome::Sanitizer { summary, .. } => f.write_str(summary),
            Outcome::Signal { signal, .. } => {
                write!(f, "killed by signal {signal} ({})", signal_name(*signal))
            }
            Outcome::Timeout(limit) => write!(f, "still running after {limit:?}"),
            Outcome::OutOfMemory => {
                f.write_str("it holds more memory than a run may have (256 MiB)")
            }
            Outcome::Broken(why) => write!(f, "the harness could not run: {why}"),
            Outcome::NotBuilt { harness, why } => {
                write!(f, "harness `{harness}` was not built: {why}")
            }
            Outcome::BuildMissing { harness, looked } => {
                write!(f, "harness `{harness}` {NOT_BUILT}")?;
                looked
                    .iter()
                    .try_for_each(|path| write!(f, "\n    {}", path.display()))
            }
        }
    }
}

/// The names of the signals that typically kill C code.
fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => "SIGSEGV, an access to memory that is not there",
        libc::SIGBUS => "SIGBUS, an access to memory that is not there",
        libc::SIGFPE => "SIGFPE, an integer division by zero or its overflow",
        libc::SIGILL => "SIGILL, often a check that the compiler inserted",
        libc::SIGTRAP => "SIGTRAP, often a check that the compiler inserted",
        libc::SIGABRT => "SIGABRT",
        libc::SIGKILL => "SIGKILL",
        libc::SIGXFSZ => "SIGXFSZ, too much output",
        _ => "unexpected",
    }
}
