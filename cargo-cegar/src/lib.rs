//! `cargo cegar`: a fuzzer and a model checker for the C code in your crate, feeding each other.
//!
//! This crate is the top floor. Everything that knows about cargo, files, terminals and people is
//! here; everything that knows about programs is below. A command goes through the same stations
//! every time: [`cli`] turns words into plain options ([`options`]), merging [`config`] files and
//! the environment; [`capture`] and [`compile`] turn C sources into bitcode; [`campaign`]
//! alternates the two engines and says what happens as [`event::Event`]s; one of the reporters
//! shows them; and [`exit`] gives the number that scripts read.
//!
//! Errors come in two tiers. Inside, each room has its own typed error. At the edge they are all an
//! [`error::Error`], which knows its exit code, and, as a `miette` diagnostic, the file, the line
//! and the knob to turn.

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
