//! The errors of `xtask`. Each message says what to do about the error, since most of them are read
//! on a machine where nothing works yet.

use std::io;
use std::path::PathBuf;

/// The result of every command.
pub(crate) type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("cannot start `{command}`: {source}")]
    Start { command: String, source: io::Error },
    #[error("`{command}` failed ({status})")]
    Failed { command: String, status: String },
    #[error("cannot {doing} {path}: {source}")]
    File {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error(
        "missing packages: {packages}; installing them needs apt-get and root (or sudo): on \
         another system install clang 19, LLVM 19 with headers, libclang, lld, pkg-config and pip \
         yourself"
    )]
    NoApt { packages: String },
    #[error("the wheel that pip brought holds no {what}: is {version} built for this machine?")]
    Wheel {
        what: &'static str,
        version: &'static str,
    },
    #[error(
        "Z3 {wanted} was installed but pkg-config finds {found}: is PKG_CONFIG_PATH or \
         PKG_CONFIG_LIBDIR set?"
    )]
    OtherZ3 { wanted: &'static str, found: String },
    #[error("{0}")]
    Demo(String),
    #[error("{0}")]
    Trusted(String),
    #[error("{0}")]
    Map(String),
    #[error("steps that failed: {0}")]
    Steps(usize),
}

impl Error {
    pub(crate) fn file(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File {
            doing,
            path,
            source,
        }
    }
}
