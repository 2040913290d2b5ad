//! Support for the end-to-end tests: temporary projects, and runs of the `cargo-cegar` program that
//! cannot hang.
//!
//! The tests use the program as its users do. They read only the documented output: the exit code,
//! the lines of `--message-format json`, the wording of messages. A failed expectation prints the
//! whole run, since a run of a minute should not have to be repeated to be understood.
//!
//! This is test code: if an operation fails here (creating a temporary folder, starting a process),
//! the test panics with a message that names it.

use std::env;

pub mod generate;
mod project;
mod tool;

pub use project::{BUSY, Project, program, test_name};
pub use tool::{
    Ended, Running, Tool, binary, cargo_test, cargo_test_with, children, shared_target, tool,
};

/// Whether tests use all of their programs (`CEGAR_TESTS=all`) instead of the part that fits into
/// the time of an ordinary build.
pub fn thorough() -> bool {
    env::var("CEGAR_TESTS").is_ok_and(|which| which == "all")
}

/// The step at which tests go through many programs: `part`, or 1 if the tests are [thorough].
pub fn one_in(part: usize) -> usize {
    if thorough() { 1 } else { part }
}

/// The documented exit codes that the tests expect.
pub mod exit {
    /// No violation found.
    pub const CLEAN: i32 = 0;
    /// An internal error.
    pub const INTERNAL: i32 = 1;
    /// No source, or no harness of that name.
    pub const NOTHING_SELECTED: i32 = 4;
    /// Goals are open under `--require-proof`.
    pub const OPEN_GOALS: i32 = 5;
    /// `check-proof` did not accept the certificate.
    pub const REJECTED: i32 = 6;
    /// A harness was never executed, or a committed test was not run.
    pub const INCOMPLETE: i32 = 7;
    /// The command line or a configuration file is wrong.
    pub const USAGE: i32 = 96;
    /// A check is violated.
    pub const VIOLATION: i32 = 100;
    /// The C code or the build script does not build.
    pub const BUILD_FAILED: i32 = 101;
    /// There is no clang 19.
    pub const TOOL_MISSING: i32 = 103;
    /// A file or folder cannot be read or written.
    pub const IO: i32 = 104;
    /// The program cannot listen on an address, or finds no hub to join.
    pub const NETWORK: i32 = 105;
    /// Stopped by Ctrl-C.
    pub const INTERRUPTED: i32 = 130;
}
