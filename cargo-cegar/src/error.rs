//! The error with which a command ends.
//!
//! Each module has its own error type, which says what happened. This type adds what a user needs:
//! the exit code and, through [`miette::Diagnostic`], a code to search for, the place, and the
//! option to change.

use std::io;
use std::path::Path;

use miette::Diagnostic;
use thiserror::Error as ThisError;

use crate::config::LoadError;
use crate::exit::ExitCode;
use crate::project::ProjectError;
use crate::store::FileError;

/// The reasons why a command cannot do its work.
#[derive(Debug, ThisError, Diagnostic)]
pub enum Error {
    /// The command line is invalid.
    #[error("{message}")]
    #[diagnostic(code(cegar::usage))]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do instead.
        #[help]
        help: Option<String>,
    },
    /// There is nothing to work on.
    #[error("{message}")]
    #[diagnostic(code(cegar::nothing_selected))]
    NothingSelected {
        /// What was looked for.
        message: String,
        /// What is available.
        #[help]
        help: Option<String>,
    },
    /// A program that this command needs is not installed.
    #[error("{message}")]
    #[diagnostic(code(cegar::tool_missing))]
    ToolMissing {
        /// What was looked for.
        message: String,
        /// What to install.
        #[help]
        help: String,
    },
    /// The given program does not behave like a solver.
    #[error("{message}")]
    #[diagnostic(code(cegar::solver))]
    Solver {
        /// What it did.
        message: String,
        /// How to examine it.
        #[help]
        help: String,
    },
    /// A configuration file is wrong.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Config(#[from] Box<crate::config::ConfigError>),
    /// The crate's own build could not be captured.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Capture(#[from] crate::capture::CaptureError),
    /// The C code does not compile, or there is no compiler.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Compile(#[from] crate::compile::CompileError),
    /// `cargo metadata` failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Project(#[from] ProjectError),
    /// A file or directory cannot be accessed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Io(#[from] FileError),
    /// Interrupted by Ctrl-C before there was anything to report.
    #[error("interrupted")]
    #[diagnostic(code(cegar::interrupted))]
    Interrupted,
    /// The campaign's time was up before a native build was finished.
    #[error("the time was up before {what} was compiled")]
    #[diagnostic(
        code(cegar::not_in_time),
        help(
            "a longer --max-time leaves time to compile; what was compiled is kept for the next run"
        )
    )]
    NotInTime {
        /// The build.
        what: &'static str,
    },
    /// Another process works on the same files, and the command's time was up before it ended.
    #[error("another cargo cegar{holder} still works on {what}")]
    #[diagnostic(
        code(cegar::busy),
        help(
            "nothing was looked at; start it again when the other one has ended, or give it a \
             --target-dir of its own"
        )
    )]
    Busy {
        /// What both work on.
        what: String,
        /// The other process, if it is known: ` (process 12)`.
        holder: String,
    },
    /// The campaign of a harness, in a process of its own, has no result.
    #[error("{message}")]
    #[diagnostic(code(cegar::campaign))]
    Campaign {
        /// What happened.
        message: String,
        /// The corresponding exit code.
        exit: ExitCode,
    },
    /// The exchange with other machines cannot be started.
    #[error("{source}")]
    #[diagnostic(code(cegar::exchange))]
    Exchange {
        /// Why.
        source: cegar_fuzz::exchange::ExchangeError,
        /// What to do.
        #[help]
        help: &'static str,
    },
    /// A part of the engine or the fuzzer stopped with an error of its own.
    #[error("{what} failed: {source}")]
    #[diagnostic(code(cegar::engine))]
    Engine {
        /// The part: `the normalisation`, `the fuzzer`, `the solver`, ...
        what: String,
        /// Its error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// An input or output error on `path`, with advice if the cause is known.
    pub fn io(action: &'static str, path: impl AsRef<Path>, source: io::Error) -> Self {
        Error::Io(FileError::new(action, path, source))
    }

    /// A usage error with a hint.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Error::Usage {
            message: message.into(),
            help: Some(help.into()),
        }
    }

    /// An error for a command without anything to work on, with a hint.
    pub fn nothing(message: impl Into<String>, help: impl Into<String>) -> Self {
        Error::NothingSelected {
            message: message.into(),
            help: Some(help.into()),
        }
    }

    /// An error of a part of the engine or the fuzzer.
    pub fn engine(
        what: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Error::Engine {
            what: what.into(),
            source: source.into(),
        }
    }

    /// An error for an exchange that cannot be started, with advice.
    pub fn exchange(source: cegar_fuzz::exchange::ExchangeError) -> Self {
        use cegar_fuzz::exchange::ExchangeError;
        let help = match &source {
            ExchangeError::Start { .. } => {
                "the program may have been moved or removed: install it again"
            }
            ExchangeError::Listen { .. } => {
                "--listen takes an address of this machine and a port that no other program \
                 listens on; port 0 is any that is free"
            }
            ExchangeError::Join { .. } => {
                "start `cargo cegar run --listen ADDRESS:PORT` on the other machine first, with an \
                 address that this one reaches"
            }
        };
        Error::Exchange { source, help }
    }

    /// Whether the error is the end of the campaign: Ctrl-C, or no time left.
    pub fn is_the_end(&self) -> bool {
        matches!(self, Error::Interrupted | Error::NotInTime { .. })
    }

    /// The exit code of the process.
    pub fn exit_code(&self) -> ExitCode {
        use crate::capture::CaptureError;
        use crate::compile::CompileError;
        use cegar_fuzz::exchange::ExchangeError;
        match self {
            Error::Usage { .. } | Error::Config(_) => ExitCode::Usage,
            Error::NothingSelected { .. } => ExitCode::NothingSelected,
            Error::ToolMissing { .. } => ExitCode::ToolMissing,
            Error::Capture(CaptureError::BuildFailed { .. }) => ExitCode::BuildFailed,
            Error::Capture(CaptureError::NothingCaptured { .. }) => ExitCode::NothingSelected,
            Error::Capture(CaptureError::Interrupted) => ExitCode::Interrupted,
            Error::Capture(_) => ExitCode::Io,
            Error::Compile(CompileError::NoClang { .. } | CompileError::WrongClang { .. }) => {
                ExitCode::ToolMissing
            }
            Error::Compile(CompileError::Rejected { .. } | CompileError::Flag { .. }) => {
                ExitCode::BuildFailed
            }
            Error::Compile(CompileError::Interrupted) => ExitCode::Interrupted,
            Error::Compile(_) => ExitCode::Io,
            Error::Project(ProjectError::WhichPackage { .. } | ProjectError::NoPackage { .. }) => {
                ExitCode::Usage
            }
            Error::Project(_) => ExitCode::Metadata,
            Error::Io(_) => ExitCode::Io,
            Error::Interrupted => ExitCode::Interrupted,
            Error::Exchange {
                source: ExchangeError::Start { .. },
                ..
            } => ExitCode::Internal,
            Error::Exchange { .. } => ExitCode::Network,
            Error::Engine { source, .. } => of_files(&**source).unwrap_or(ExitCode::Internal),
            Error::NotInTime { .. } | Error::Solver { .. } => ExitCode::Internal,
            Error::Busy { .. } => ExitCode::Incomplete,
            Error::Campaign { exit, .. } => *exit,
        }
    }
}

impl From<LoadError> for Error {
    fn from(why: LoadError) -> Self {
        match why {
            LoadError::File(why) => Error::Io(why),
            LoadError::Content(why) => Error::Config(why),
        }
    }
}

/// The exit code for an engine's error that is caused by missing access to files.
fn of_files(error: &(dyn std::error::Error + 'static)) -> Option<ExitCode> {
    use crate::emit::EmitError;
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.find_map(|cause| {
        match cause.downcast_ref::<EmitError>() {
            Some(EmitError::Record { .. } | EmitError::OtherProgram { .. }) => {
                return Some(ExitCode::Usage);
            }
            Some(EmitError::Io { .. }) => return Some(ExitCode::Io),
            None => {}
        }
        match cause.downcast_ref::<io::Error>()?.kind() {
            io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::StorageFull => Some(ExitCode::Io),
            _ => None,
        }
    })
}
