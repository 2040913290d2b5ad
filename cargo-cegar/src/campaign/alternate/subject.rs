//! What a campaign is about, and within which limits: one program, and how it is to be looked at.
//!
//! Nothing here changes while the campaign runs, but for the flag that Ctrl-C sets. All parts read
//! it, and none of them owns it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cegar_model::program::{FunctionKind, Program};

use crate::campaign::budget::Budget;
use crate::campaign::native::{MANY, Native};
use crate::campaign::reach::Reach;
use crate::externals::Externals;
use crate::options::{Harness, Settings};

/// How long the search works before it looks at what the fuzzer says.
const SLICE: Duration = Duration::from_millis(100);

/// See the module.
pub struct Subject<'a> {
    /// What is run.
    pub harness: &'a Harness,
    /// How.
    pub settings: &'a Settings,
    /// The program.
    pub program: &'a Arc<Program>,
    /// What is known of the undefined functions.
    pub externals: &'a Externals,
    /// Variables that no C file defines: their length is unknown.
    pub undefined: &'a [String],
    /// Its native builds.
    pub native: &'a Native<'a>,
    /// Which blocks decide its checks.
    pub reach: Reach,
    /// SHA-256 of the bitcode.
    pub digest: String,
    /// How long the campaign may take.
    pub budget: Budget,
    /// Whether it ends at the first finding.
    pub first_only: bool,
    /// Set by Ctrl-C.
    pub stop: &'a AtomicBool,
}

impl Subject<'_> {
    /// What becomes of an input for which there was no time, in words.
    pub fn for_next_run(&self) -> &'static str {
        match self.settings.keep {
            true => "; it is kept for the next run",
            false => "; a longer --max-time looks into it",
        }
    }

    /// Whether steps are counted and no clock is read (`--runs`).
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

    /// When fuzzing and search end. A prover at work has a question to end before the campaign
    /// does.
    pub fn deadline(&self, is_proving: bool) -> Option<Instant> {
        self.budget.search_ends(is_proving)
    }

    /// Ctrl-C, or no time left for fuzzing and search.
    pub fn is_over(&self, is_proving: bool) -> bool {
        let is_past = |deadline| Instant::now() >= deadline;
        self.is_stopped() || !self.is_counted() && self.deadline(is_proving).is_some_and(is_past)
    }

    /// The end of a slice that begins now.
    pub fn slice(&self, is_proving: bool) -> Instant {
        let soon = Instant::now() + SLICE;
        self.deadline(is_proving)
            .map_or(soon, |deadline| deadline.min(soon))
    }

    /// Whether the engine leaves the processor to the fuzzer where there is one core for both: a
    /// large program's goals are rather entered than proved.
    pub fn gives_way(&self) -> bool {
        !self.is_counted() && self.settings.fuzzes() && self.program.blocks.len() >= MANY
    }

    /// Whether a block is of the user's code, and not of a stub.
    pub fn is_users(&self, function: cegar_model::program::FuncId) -> bool {
        self.program.function(function).kind == FunctionKind::User
    }
}
