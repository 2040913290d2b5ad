//! What a crate's own build compiles.
//!
//! A list of C files in a configuration file is a second truth beside the build script, and the two drift apart. So
//! the build script itself is asked: it runs as ever, with a recording compiler ([`shim`]) in front of the real one;
//! the records become compile commands ([`parse`]).

pub mod shim;

use std::io;
use std::path::PathBuf;

use miette::Diagnostic;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// One call of the compiler, as the shim saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Where it ran.
    pub cwd: PathBuf,
    /// Its arguments, without the program.
    pub args: Vec<String>,
    /// The real compiler that then ran.
    pub compiler: String,
    /// The package whose build script called (`CARGO_PKG_NAME`), where it passes its environment on.
    pub package: Option<String>,
    /// Include paths from the environment (`CPATH`, `C_INCLUDE_PATH`).
    #[serde(default)]
    pub include_path: Option<String>,
}

/// One C file of the crate, and how its build compiles it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The file.
    pub source: PathBuf,
    /// Where the compiler ran.
    pub directory: PathBuf,
    /// The flags that change what the code means.
    pub flags: Vec<String>,
}

/// A file that the build compiles and the program leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The file.
    pub source: PathBuf,
    /// Why.
    pub why: String,
}

/// All that was captured; `captured.json` in the `cegar/` package. Paths are relative to the crate where they can be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// The package that was built.
    pub package: String,
    /// Its C files.
    pub commands: Vec<Command>,
    /// What was left out.
    pub left_out: Vec<LeftOut>,
}

/// Why nothing was captured.
#[derive(Debug, Error, Diagnostic)]
pub enum CaptureError {
    /// The crate does not build.
    #[error("the build of `{package}` failed ({status})\n\n{output}")]
    #[diagnostic(
        code(cegar::build_failed),
        help(
            "`cargo build -p {package}` must work first; or list the C files under [c] in cegar.toml"
        )
    )]
    BuildFailed {
        /// The package.
        package: String,
        /// How cargo ended.
        status: String,
        /// The end of what it printed.
        output: String,
    },
    /// It builds, but compiles no C.
    #[error("the build of `{package}` compiled no C file")]
    #[diagnostic(
        code(cegar::nothing_captured),
        help(
            "a build script that finds the library installed compiles nothing: choose its vendored or static feature; or list the C files as `sources` under [c] in cegar.toml"
        )
    )]
    NothingCaptured {
        /// The package.
        package: String,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// A file, or cargo itself.
    #[error("cannot {action} `{}`: {source}", path.display())]
    #[diagnostic(code(cegar::io))]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// `captured.json` is damaged.
    #[error("`{}` cannot be read: {why}", path.display())]
    #[diagnostic(
        code(cegar::captured),
        help("delete it; `cargo cegar build` writes it anew")
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl CaptureError {
    fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| CaptureError::Io {
            action,
            path,
            source,
        }
    }
}
