//! The campaign: alternates the fuzzer and the engine on one program until every goal is settled or
//! the time is up.
//!
//! A command (`commands`) compiles its harnesses and runs them in turn (`single`): [`mod@prepare`]
//! makes a program of a harness, [`budget`] limits how long each part may take, [`native`] builds
//! the native products, [`alternate`] alternates the two sides, [`findings`] decides what counts as
//! a finding, [`tests`] writes the generated tests, and [`replay()`] runs them again.

pub mod agreement;
pub mod alternate;
mod blame;
pub mod budget;
mod commands;
mod committed;
pub mod corpus;
mod expectations;
pub mod findings;
pub mod goals;
mod library;
mod linking;
pub mod native;
mod natively;
pub mod pool;
pub mod prepare;
pub mod proofs;
pub mod reach;
mod refused;
mod replay;
mod single;
pub mod tests;
mod turns;
mod unowned;
pub mod vacuous;

use std::path::Path;

pub use commands::{check, run};
pub use replay::replay;

/// The body of a process that exchanges inputs with other machines (`cargo-cegar __exchange
/// CONFIG`).
pub fn exchange(config: &str) -> std::process::ExitCode {
    cegar_fuzz::exchange::exchange_main(config)
}

/// The body of a worker process (`cargo-cegar __worker CONFIG`).
pub fn worker(config: &Path) -> std::process::ExitCode {
    cegar_fuzz::worker::worker_main(config)
}
