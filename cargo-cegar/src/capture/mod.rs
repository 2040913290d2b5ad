//! Captures what a crate's own build compiles.
//!
//! A list of C files in a configuration file duplicates the build script, and the two drift apart.
//! So the build script itself is run as usual, with a recording compiler ([`shim`]) in front of the
//! real one; the records become compile commands ([`parse`]).

mod archives;
mod as_c;
mod compilers;
mod elsewhere;
mod generated;
mod kept;
pub mod parse;
mod programs;
mod run;
pub mod shim;
mod watched;

use std::io;
use std::path::PathBuf;

use miette::Diagnostic;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use elsewhere::elsewhere;
pub(crate) use kept::relative;
pub use kept::{Kept, is_current, keep_script, load};
pub use run::capture;

/// One call of the compiler, as the shim saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Where it ran.
    pub cwd: PathBuf,
    /// Its arguments, without the program.
    pub args: Vec<String>,
    /// The real compiler that was run.
    pub compiler: String,
    /// The package whose build script made the call (`CARGO_PKG_NAME`), if it passes on its
    /// environment.
    pub package: Option<String>,
    /// Include paths from the environment (`CPATH`, `C_INCLUDE_PATH`).
    #[serde(default)]
    pub include_path: Option<String>,
    /// The output folder of the build script (`OUT_DIR`).
    #[serde(default)]
    pub out_dir: Option<PathBuf>,
}

/// One C file of the crate, and how its build compiles it. This is also the format of
/// `captured.json`, which the generated package's own build reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// The file; relative to `directory`, or absolute.
    pub file: PathBuf,
    /// The arguments that change the meaning of the code.
    #[serde(default)]
    pub args: Vec<String>,
    /// The folder to which relative paths refer; relative to the `cegar/` package, or absolute.
    #[serde(default)]
    pub directory: PathBuf,
}

/// A file that the build compiles and that is left out of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The file.
    pub file: PathBuf,
    /// Why.
    pub why: String,
}

/// The result of a capture. Paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The C files.
    pub units: Vec<Unit>,
    /// The files that were left out.
    pub left_out: Vec<LeftOut>,
    /// Files with the extension of C that the build compiles as C++; a C compiler decides whether
    /// they are C.
    pub maybe_c: Vec<Unit>,
    /// C files that the build compiles as C++.
    pub as_c: Vec<PathBuf>,
    /// Cargo's error messages, if the build script succeeded and the rest of the crate failed.
    pub failed: Option<String>,
    /// The C compiler that the build calls.
    pub compiler: String,
    /// Whether these are the crate's bundled sources, while the unchanged build uses an installed
    /// library.
    pub bundled: bool,
    /// Whether a library contains an object that no recorded call made. A build in the source
    /// folder finds objects of an earlier build there, and compiles only the rest.
    pub is_partial: bool,
}

/// Why nothing was captured.
#[derive(Debug, Error, Diagnostic)]
pub enum CaptureError {
    /// The crate does not build.
    #[error("the build of `{package}` failed ({status})\n\n{output}")]
    #[diagnostic(
        code(cegar::build_failed),
        help(
            "`cargo build -p {package}` must work first; or list the C files under [c] in \
             cegar.toml"
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
    #[diagnostic(code(cegar::nothing_captured))]
    NothingCaptured {
        /// The package.
        package: String,
        /// Whether an installed library may be the reason.
        may_be_installed: bool,
        /// Whether a library is made from objects of an earlier build ([`Captured::is_partial`]).
        is_partial: bool,
        /// What to do.
        #[help]
        help: String,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// A file cannot be accessed, or cargo cannot be run.
    #[error("cannot {action} `{}`: {source}", path.display())]
    #[diagnostic(code(cegar::io))]
    Io {
        /// The attempted action.
        action: &'static str,
        /// The path that it concerns.
        path: PathBuf,
        /// The cause.
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

/// Makes a build call the recording compilers, which add the words in the file `link`, one per
/// line, to everything that they link.
pub(crate) fn recording(
    build: &mut std::process::Command,
    folder: &std::path::Path,
    link: &std::path::Path,
) -> Result<(), CaptureError> {
    let log = folder.join("calls.jsonl");
    std::fs::write(&log, "").map_err(CaptureError::io("write", &log))?;
    compilers::record(build, &folder.join("bin"), &log, compilers::Trial::Plain)?;
    build.env(shim::LINK, link);
    Ok(())
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
