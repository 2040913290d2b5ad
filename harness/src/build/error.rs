//! Why a harness was not built. A build script fails with this message, so it says what to install
//! or which file to correct.

use std::io;
use std::path::PathBuf;

/// Why a harness was not built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A file cannot be read or written.
    #[error("{path}: {why}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        why: io::Error,
    },
    /// A configuration file is wrong.
    #[error("{path}: {why}", path = path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        why: String,
    },
    /// There is no property of this name.
    #[error("`{0}` is no property: there are assertion, unreach, memory, overflow and all")]
    Property(String),
    /// The C compiler is missing, or does not compile the code.
    #[error("the C code does not compile: {0}")]
    Compile(#[from] cc::Error),
    /// A program that a build needs is not installed.
    #[error("there is no {what} (tried {tried}); install binutils or LLVM")]
    NoTool {
        /// What the program is for.
        what: &'static str,
        /// The names that were tried.
        tried: String,
    },
    /// A program cannot be started.
    #[error("cannot start {command}: {why}")]
    Start {
        /// The command.
        command: String,
        /// The system's reason.
        #[source]
        why: io::Error,
    },
    /// A program failed.
    #[error("{command} failed:\n{output}")]
    Failed {
        /// The command.
        command: String,
        /// What it printed.
        output: String,
    },
    /// The build was stopped because its result is no longer needed.
    #[error("the build was interrupted; what was compiled is kept")]
    Interrupted,
    /// The sources define no entry function.
    #[error(
        "harness `{harness}` has no entry: neither LLVMFuzzerTestOneInput, main nor `{harness}` is \
         defined in its sources"
    )]
    NoEntry {
        /// The harness.
        harness: String,
    },
    /// The harness calls a function that nothing defines any more.
    #[error("harness `{harness}` calls `{function}`, which nothing defines; was it renamed?")]
    Undefined {
        /// The harness.
        harness: String,
        /// The function.
        function: String,
    },
    /// A builder method that configures a harness was called before `harness`.
    #[error("there is no harness to build")]
    NoHarness,
    /// Bindings cannot be written.
    #[error("bindings of {header}: {why}", header = header.display())]
    Bindings {
        /// The header.
        header: PathBuf,
        /// What bindgen said.
        why: String,
    },
    /// Neither cargo nor the caller said where to write.
    #[error("OUT_DIR is not set: call this from a build script, or say `out_dir`")]
    NoOutDir,
}
