//! The campaign: alternates the fuzzer and the engine on one program until every goal is settled or time is up.

use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::options::{CheckOptions, ReplayOptions, RunOptions};
use crate::report::Reporter;

/// What a campaign can say in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// At least one check is violated: there is an input, and a test.
    Violated,
    /// Every check is proved.
    Proved,
    /// Neither.
    Open,
}

/// How many goals stand where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalTable {
    /// The checks.
    pub checks: CheckTable,
    /// The branch edges.
    pub edges: EdgeTable,
}

/// How many checks stand where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckTable {
    /// No input violates them; there is a certificate.
    pub proved: u64,
    /// An input violates them, seen natively.
    pub violated: u64,
    /// Not settled.
    pub open: u64,
}

/// How many branch edges stand where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeTable {
    /// Some execution took them.
    pub covered: u64,
    /// No input takes them.
    pub unreachable: u64,
    /// Not settled.
    pub open: u64,
}

/// What it cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Queries that reached the solver (not those answered from a cache).
    pub solver_calls: u64,
    /// Times the abstraction was refined.
    pub refinements: u64,
    /// Native executions.
    pub executions: u64,
    /// Wall clock.
    pub seconds: f64,
    /// Seeds that the engine gave the fuzzer.
    #[serde(default)]
    pub engine_seeds: u64,
    /// Executions of the engine's machine.
    #[serde(default)]
    pub machine_runs: u64,
}

/// Checks one program (`cargo cegar check`). The last event it reports is
/// [`crate::report::Event::Finished`].
pub fn check(
    options: &CheckOptions,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Verdict, Error> {
    let _ = (options, reporter, stop);
    Err(Error::engine("the campaign", "engine not linked"))
}

/// Runs the harnesses of a package in turn (`cargo cegar run`). The last event it reports is
/// [`crate::report::Event::Finished`].
pub fn run(
    options: &RunOptions,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Verdict, Error> {
    let _ = (options, reporter, stop);
    Err(Error::engine("the campaign", "engine not linked"))
}

/// Replays recorded inputs natively (`cargo cegar replay`).
pub fn replay(
    options: &ReplayOptions,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Verdict, Error> {
    let _ = (options, reporter, stop);
    Err(Error::engine("the campaign", "engine not linked"))
}

/// The body of a worker process (`cargo-cegar __worker CONFIG`).
pub fn worker(config: &std::path::Path) -> Result<(), Error> {
    let _ = config;
    Err(Error::engine("the worker", "fuzzer not linked"))
}
