//! The results of a campaign: the states of the goals, the findings, and the statistics.
//!
//! These are data types with their descriptions, used both by the campaign, which fills them in,
//! and by the reporters and other commands, which show them. All of them are written to files and
//! read by later versions, so a field that is added later has a default.

mod counts;
mod finding;
mod goal;
mod lack;
mod vacuous;

use serde::{Deserialize, Serialize};

pub use counts::{CheckTable, EdgeTable, GoalTable, ProverStats, Stats, Verdict};
pub use finding::{Finding, Place, property_name, rule_id};
pub use goal::{Goal, GoalKind, GoalStatus};
pub use lack::{Lack, Range};
pub use vacuous::{Blocked, PERCENT, Vacuous};

/// Why the alternation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// There is a finding, and only the first was wanted.
    Found,
    /// Every goal is settled.
    Settled,
    /// The time limit or the number of runs is used up.
    Budget,
    /// Nothing new was found for a long time, or there is nothing left to do.
    Stalled,
    /// Interrupted by Ctrl-C.
    Interrupted,
}
