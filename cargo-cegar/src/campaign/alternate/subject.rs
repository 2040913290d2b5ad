//! The program of a campaign, how it is analysed, and the limits.
//!
//! Nothing here changes during a campaign except the flag that Ctrl-C sets. All parts read the
//! subject, and none of them owns it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cegar_model::program::normalise::Unreached;
use cegar_model::program::{FunctionKind, Program};

use crate::campaign::budget::Budget;
use crate::campaign::native::{MANY, Native};
use crate::campaign::reach::Reach;
use crate::externals::Externals;
use crate::options::{Harness, Settings};

/// How long the search works before the fuzzer is polled.
const SLICE: Duration = Duration::from_millis(100);

/// See the module.
pub struct Subject<'a> {
    /// The harness that is run.
    pub harness: &'a Harness,
    /// The settings of the run.
    pub settings: &'a Settings,
    /// The program.
    pub program: &'a Arc<Program>,
    /// Descriptions of the undefined functions.
    pub externals: &'a Externals,
    /// Variables that no C file defines: their length is unknown.
    pub undefined: &'a [String],
    /// The user's functions that are not part of the program.
    pub unreached: &'a [Unreached],
    /// The program's native builds.
    pub native: &'a Native<'a>,
    /// The blocks that decide the program's checks.
    pub reach: Reach,
    /// SHA-256 of the bitcode.
    pub digest: String,
    /// The time limit of the campaign.
    pub budget: Budget,
    /// Set by Ctrl-C.
    pub stop: &'a AtomicBool,
}

impl Subject<'_> {
    /// What happens to an input for which there was no time, as text for a message.
    pub fn for_next_run(&self) -> &'static str {
        match self.settings.keep {
            true => "; it is kept for the next run",
            false => "; a longer --max-time looks into it",
        }
    }

    /// Whether executions are counted and no clock is used (`--runs`).
    pub fn is_counted(&self) -> bool {
        self.settings.runs.is_some()
    }

    /// Whether the campaign was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether `--max-time` is up.
    pub fn is_late(&self) -> bool {
        !self.is_counted() && self.budget.is_over()
    }

    /// When fuzzing and search end. A running prover gets time to finish its question before the
    /// campaign ends.
    pub fn deadline(&self, is_proving: bool) -> Option<Instant> {
        self.budget.search_ends(is_proving)
    }

    /// Whether the user pressed Ctrl-C or no time is left for fuzzing and search.
    pub fn is_over(&self, is_proving: bool) -> bool {
        let is_past = |deadline| Instant::now() >= deadline;
        self.is_stopped() || !self.is_counted() && self.deadline(is_proving).is_some_and(is_past)
    }

    /// The end of a time slice that begins now.
    pub fn slice(&self, is_proving: bool) -> Instant {
        let soon = Instant::now() + SLICE;
        self.deadline(is_proving)
            .map_or(soon, |deadline| deadline.min(soon))
    }

    /// Whether the engine leaves the processor to the fuzzer if they share one core: in a large
    /// program, goals are covered more often than they are proved.
    pub fn gives_way(&self) -> bool {
        !self.is_counted() && self.settings.fuzzes() && self.program.blocks.len() >= MANY
    }

    /// Whether a function is user code, and not a stub.
    pub fn is_users(&self, function: cegar_model::program::FuncId) -> bool {
        self.program.function(function).kind == FunctionKind::User
    }
}
