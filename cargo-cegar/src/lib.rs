//! `cargo cegar`: a fuzzer and a model checker for the C code in your crate, feeding each other.
//!
//! This is the topmost crate. Everything about cargo, files, terminals and users is here;
//! everything about programs is in the crates below. Each command has the same steps: [`cli`]
//! converts the command line to plain options ([`options`]), merging [`config`] files and the
//! environment; [`capture`] and [`compile`] turn C sources into bitcode; [`campaign`] alternates
//! the two engines and reports what happens as [`event::Event`]s; a reporter shows them; and
//! [`exit`] provides the exit code for scripts.
//!
//! Errors have two levels. Internally, each module has its own error type. At the top, all are
//! converted to an [`error::Error`], which knows its exit code and, as a `miette` diagnostic, the
//! file, the line and the option to change.

#![warn(clippy::too_many_lines)]

pub mod bindings;
pub mod campaign;
pub mod capture;
pub mod ci;
pub mod cli;
pub mod compile;
pub mod config;
pub mod contracts;
pub mod coverage;
pub mod emit;
pub mod error;
pub mod event;
pub mod exit;
pub mod explain;
#[allow(
    clippy::too_many_lines,
    reason = "one walk over a function's debug information"
)]
pub mod externals;
pub mod findings;
pub mod given;
pub mod headers;
pub mod init;
pub mod lack;
pub mod list;
mod lists;
pub mod lock;
pub mod options;
pub mod plan;
pub mod probe;
pub mod project;
pub mod report;
pub mod signals;
pub mod sources;
pub mod store;
pub mod svcomp;
pub mod verdict;
pub mod witness;

pub use error::Error;
pub use exit::ExitCode;
