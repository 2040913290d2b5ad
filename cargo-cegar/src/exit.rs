//! The exit codes, as one documented enum. Scripts and CI systems depend on them, so they are part
//! of the interface.
//!
//! The numbers are those of cargo-nextest where the meaning is the same (100: the code under test
//! is wrong, 101: it did not build, 102: cargo metadata failed, 4: nothing to do, 96: usage), so
//! that one `case` in a CI script handles both.

use serde::Serialize;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum ExitCode {
    /// No violation was found.
    Clean = 0,
    /// An internal error of `cargo cegar`, or an engine stopped with an error.
    Internal = 1,
    /// Nothing was selected: no C source, or no harness of that name.
    NothingSelected = 4,
    /// Goals are open, or a proof assumes preconditions that no user has confirmed, and
    /// `--require-proof` was given.
    OpenGoals = 5,
    /// `check-proof` did not accept a certificate.
    Rejected = 6,
    /// No violation was found, but the command was not complete: a harness was never executed or
    /// uses nothing of the library, a committed test was not run, or no native run confirmed a
    /// violation that the engine sees.
    Incomplete = 7,
    /// The command line or a configuration file is invalid.
    Usage = 96,
    /// A check of the C code is violated, or a declaration does not match the library.
    Violation = 100,
    /// The C code or the crate's build script does not build.
    BuildFailed = 101,
    /// `cargo metadata` failed: there is no package here, or its manifest is invalid.
    Metadata = 102,
    /// A required tool is missing (clang 19, a debugger, a solver).
    ToolMissing = 103,
    /// A file or directory cannot be read or written.
    Io = 104,
    /// An address cannot be listened on, or no hub answers there.
    Network = 105,
    /// Stopped by Ctrl-C or a termination signal; results so far are kept.
    Interrupted = 130,
}

impl ExitCode {
    /// All codes with their meanings, for the help text and the documentation.
    pub const TABLE: &[(ExitCode, &str)] = &[
        (ExitCode::Clean, "no violation found"),
        (ExitCode::Internal, "internal error"),
        (
            ExitCode::NothingSelected,
            "nothing selected: no source, or no harness of that name",
        ),
        (
            ExitCode::OpenGoals,
            "goals are open, or preconditions not confirmed, and --require-proof was given",
        ),
        (
            ExitCode::Rejected,
            "check-proof did not accept the certificate",
        ),
        (
            ExitCode::Incomplete,
            "a harness or test was not run, only the engine sees a fault, a condition is in no \
             list",
        ),
        (
            ExitCode::Usage,
            "usage: the command line or a configuration file is wrong",
        ),
        (
            ExitCode::Violation,
            "a check of the C code is violated, or a declaration does not fit",
        ),
        (
            ExitCode::BuildFailed,
            "the C code or its build script does not build",
        ),
        (ExitCode::Metadata, "cargo metadata failed"),
        (
            ExitCode::ToolMissing,
            "a needed tool is missing (clang 19, a debugger, a solver)",
        ),
        (
            ExitCode::Io,
            "a file or directory cannot be read or written",
        ),
        (
            ExitCode::Network,
            "--listen or --join: no such address, or nobody there",
        ),
        (
            ExitCode::Interrupted,
            "interrupted; what had been found is kept",
        ),
    ];

    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        std::process::ExitCode::from(code.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_distinct() {
        let mut codes: Vec<u8> = ExitCode::TABLE
            .iter()
            .map(|(code, _)| code.code())
            .collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), ExitCode::TABLE.len());
    }
}
