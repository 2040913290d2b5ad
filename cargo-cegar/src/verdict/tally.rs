//! What a campaign comes to, in numbers: its verdict, how many goals stand where, and what that
//! cost.
//!
//! These are the words of every report and of `state.json`. A number that came later has a default,
//! so that what an older version left is read.

use cegar_search::strategy::Strategy;
use derive_more::AddAssign;
use serde::{Deserialize, Serialize};

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
#[derive(AddAssign, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalTable {
    /// The checks.
    pub checks: CheckTable,
    /// The branch edges.
    pub edges: EdgeTable,
}

/// How many checks stand where.
#[derive(AddAssign, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckTable {
    /// No input violates them, there is a certificate, and executions came to them.
    pub proved: u64,
    /// No input violates them in an execution in which other checks hold, which are not proved.
    #[serde(default)]
    pub proved_if: u64,
    /// The number of these that no execution has come to: a part of [`Self::proved_if`].
    #[serde(default)]
    pub proved_if_not_reached: u64,
    /// No input violates them, but no execution has come to them, and nothing says that none can.
    #[serde(default)]
    pub proved_not_reached: u64,
    /// No input of the harness comes to them; there is a certificate. Nothing is tested.
    #[serde(default)]
    pub unreachable: u64,
    /// An input violates them, seen natively.
    pub violated: u64,
    /// Not settled.
    pub open: u64,
    /// Library functions that the code calls and within which not all is proved.
    #[serde(default)]
    pub library_open: u64,
}

impl CheckTable {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.in_certificate() + self.violated + self.open
    }

    /// The number of checks that a certificate is about.
    pub fn in_certificate(&self) -> u64 {
        self.proved + self.proved_if + self.proved_not_reached + self.unreachable
    }

    /// Whether the verdict rests on assumptions: something is proved, or that nothing is left to
    /// prove.
    pub fn rest_on_assumptions(&self, verdict: Verdict) -> bool {
        self.in_certificate() > 0 || verdict == Verdict::Proved
    }

    /// The counts as a sentence has them. What only some programs have is left out where there is
    /// none of it.
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

/// How many branch edges stand where.
#[derive(AddAssign, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeTable {
    /// Some execution took them.
    pub covered: u64,
    /// No input takes them.
    pub unreachable: u64,
    /// Not settled.
    pub open: u64,
}

/// What it cost.
#[derive(AddAssign, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Which loop worked.
    #[serde(default)]
    #[add_assign(skip)]
    pub strategy: Strategy,
    /// Queries of the search and the prover that reached the solver (not those answered from a
    /// cache).
    pub solver_calls: u64,
    /// Times the abstraction was refined: the prover's iterations.
    pub refinements: u64,
    /// Native executions.
    pub executions: u64,
    /// Wall clock.
    pub seconds: f64,
    /// Seeds that the engine gave the fuzzer.
    #[serde(default)]
    pub engine_seeds: u64,
    /// Inputs that were sent to other machines.
    #[serde(default)]
    pub peers_sent: u64,
    /// Inputs that came from other machines.
    #[serde(default)]
    pub peers_received: u64,
    /// Received inputs that entered code which was new here.
    #[serde(default)]
    pub peers_used: u64,
    /// Executions of the engine's machine.
    #[serde(default)]
    pub machine_runs: u64,
    /// Seconds until the prover and the checker were done; 0 if they were not.
    #[serde(default)]
    pub proving: f64,
    /// What the prover did; all zero if it was not done.
    #[serde(default)]
    pub prover: ProverStats,
}

/// What the prover did, and how long each of its phases took in seconds.
#[derive(AddAssign, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProverStats {
    /// Turns of the strategy's loop; with `auto`, levels of guesses that were tried.
    pub iterations: u64,
    /// Regions that were split, or predicates that were added.
    #[serde(default)]
    pub splits: u64,
    /// Executions that the strategy asked for.
    #[serde(default)]
    pub executions: u64,
    /// Paths around loops that were asked about.
    pub loop_paths: u64,
    /// Paths around loops that lead to a violation, as the machine confirmed.
    pub loop_seeds: u64,
    /// Guesses that no execution refuted.
    pub guesses: u64,
    /// Guesses that hold.
    pub facts: u64,
    /// Questions to the solver.
    pub solver_calls: u64,
    /// Questions that it did not answer in time.
    pub unknown: u64,
    /// Finding the cut points and what is constant there.
    pub explore: f64,
    /// Executions that refute guesses.
    pub forest: f64,
    /// Solving loops.
    pub loops: f64,
    /// Guessing.
    pub guess: f64,
    /// Dropping guesses until the rest is inductive.
    pub houdini: f64,
    /// Seconds of the floor.
    #[serde(default)]
    pub floor: f64,
    /// Checks that the floor settled.
    #[serde(default)]
    pub floor_checks: u64,
    /// Seconds until there was a floor without relations of values.
    #[serde(default)]
    pub floor_first: f64,
    /// Checks that it settled.
    #[serde(default)]
    pub floor_first_checks: u64,
    /// Checks that are proved, and that the floor did not settle.
    #[serde(default)]
    pub beyond_floor_checks: u64,
    /// Blocks that the floor settled.
    #[serde(default)]
    pub floor_blocks: u64,
    /// Asking about checks and blocks.
    pub settle: f64,
    /// Checking the certificate.
    pub check: f64,
}
