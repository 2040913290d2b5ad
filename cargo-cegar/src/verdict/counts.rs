//! The results of a campaign in numbers: its verdict, the number of goals in each state, and the
//! statistics.
//!
//! All reports and `state.json` use these types. A number that was added later has a default, so
//! that files of older versions can be read.

use cegar_search::strategy::Strategy;
use derive_more::AddAssign;
use serde::{Deserialize, Serialize};

/// The overall result of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// At least one check is violated: there is an input, and a test.
    Violated,
    /// Every check is proved.
    Proved,
    /// Neither of them.
    Open,
}

/// The number of goals in each state.
#[derive(AddAssign, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalTable {
    /// The checks.
    pub checks: CheckTable,
    /// The branch edges.
    pub edges: EdgeTable,
}

/// The number of checks in each state.
#[derive(AddAssign, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckTable {
    /// Proved with a certificate, and reached by executions.
    pub proved: u64,
    /// Proved for executions in which certain other checks hold, which are not proved themselves.
    #[serde(default)]
    pub proved_if: u64,
    /// The number of checks in [`Self::proved_if`] that no execution has reached.
    #[serde(default)]
    pub proved_if_not_reached: u64,
    /// Proved, but no execution has reached them, and they are not proved unreachable.
    #[serde(default)]
    pub proved_not_reached: u64,
    /// Proved with a certificate that no input of the harness reaches them. Nothing is tested.
    #[serde(default)]
    pub unreachable: u64,
    /// Violated by an input, as confirmed natively.
    pub violated: u64,
    /// Checks that are not settled.
    pub open: u64,
    /// The number of called library functions in which something is not proved.
    #[serde(default)]
    pub library_open: u64,
}

impl CheckTable {
    /// The number of all checks.
    pub fn total(&self) -> u64 {
        self.in_certificate() + self.violated + self.open
    }

    /// The number of checks that a certificate is about.
    pub fn in_certificate(&self) -> u64 {
        self.proved + self.proved_if + self.proved_not_reached + self.unreachable
    }

    /// Whether the verdict rests on assumptions: some check is proved, or the proof says that there
    /// is nothing left to prove.
    pub fn rest_on_assumptions(&self, verdict: Verdict) -> bool {
        self.in_certificate() > 0 || verdict == Verdict::Proved
    }

    /// Describes the counts. Counts that are zero for most programs are omitted if they are zero.
    pub fn words(&self) -> String {
        let mut words = format!("{} violated, {} proved", self.violated, self.proved);
        if self.proved_if > 0 {
            words += &format!(", {} proved if others hold", self.proved_if);
        }
        if self.proved_if_not_reached > 0 {
            words += &format!(" ({} of them not reached)", self.proved_if_not_reached);
        }
        if self.proved_not_reached > 0 {
            words += &format!(", {} proved but not reached", self.proved_not_reached);
        }
        if self.unreachable > 0 {
            words += &format!(", {} unreachable", self.unreachable);
        }
        words += &format!(", {} open", self.open);
        match self.library_open {
            0 => {}
            1 => words += ", 1 called function not proved",
            more => words += &format!(", {more} called functions not proved"),
        }
        words
    }
}

/// The number of branch edges in each state.
#[derive(AddAssign, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeTable {
    /// Taken by some execution.
    pub covered: u64,
    /// Not taken by any input.
    pub unreachable: u64,
    /// Edges that are not settled.
    pub open: u64,
}

/// The statistics of a campaign.
#[derive(AddAssign, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// The strategy that ran.
    #[serde(default)]
    #[add_assign(skip)]
    pub strategy: Strategy,
    /// Queries of the search and the prover that reached the solver, without those answered from a
    /// cache.
    pub solver_calls: u64,
    /// The number of refinements of the abstraction: the prover's iterations.
    pub refinements: u64,
    /// Native executions.
    pub executions: u64,
    /// Wall-clock time in seconds.
    pub seconds: f64,
    /// Seeds that the engine gave to the fuzzer.
    #[serde(default)]
    pub engine_seeds: u64,
    /// Inputs that were sent to other machines.
    #[serde(default)]
    pub peers_sent: u64,
    /// Inputs received from other machines.
    #[serde(default)]
    pub peers_received: u64,
    /// Received inputs that entered code which was new here.
    #[serde(default)]
    pub peers_used: u64,
    /// Executions of the engine's machine.
    #[serde(default)]
    pub machine_runs: u64,
    /// Seconds until the prover and the checker had finished; 0 if they had not.
    #[serde(default)]
    pub proving: f64,
    /// The statistics of the prover; all zero if it did not finish.
    #[serde(default)]
    pub prover: ProverStats,
}

/// The statistics of the prover. Times of phases are in seconds.
#[derive(AddAssign, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProverStats {
    /// Iterations of the strategy's loop; with `auto`, the levels of guesses that were tried.
    pub iterations: u64,
    /// Regions that were split, or predicates that were added.
    #[serde(default)]
    pub splits: u64,
    /// Executions that the strategy requested.
    #[serde(default)]
    pub executions: u64,
    /// Paths around loops that were examined.
    pub loop_paths: u64,
    /// Paths around loops that lead to a violation, as confirmed by the machine.
    pub loop_seeds: u64,
    /// Guesses that no execution refuted.
    pub guesses: u64,
    /// Guesses that were proved.
    pub facts: u64,
    /// Questions to the solver.
    pub solver_calls: u64,
    /// Questions that the solver did not answer in time.
    pub unknown: u64,
    /// Time for finding the cut points and the constants there.
    pub explore: f64,
    /// Time for executions that refute guesses.
    pub forest: f64,
    /// Time for solving loops.
    pub loops: f64,
    /// Time for generating guesses.
    pub guess: f64,
    /// Time for dropping guesses until the rest is inductive.
    pub houdini: f64,
    /// Time for the floor.
    #[serde(default)]
    pub floor: f64,
    /// Checks that the floor settled.
    #[serde(default)]
    pub floor_checks: u64,
    /// Time until the first floor, without relations between values.
    #[serde(default)]
    pub floor_first: f64,
    /// Checks that the first floor settled.
    #[serde(default)]
    pub floor_first_checks: u64,
    /// Checks that are proved but were not settled by the floor.
    #[serde(default)]
    pub beyond_floor_checks: u64,
    /// Blocks that the floor settled.
    #[serde(default)]
    pub floor_blocks: u64,
    /// Time for deciding checks and blocks.
    pub settle: f64,
    /// Time for checking the certificate.
    pub check: f64,
}
