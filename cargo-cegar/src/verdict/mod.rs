//! What a campaign comes to: how each goal stands, what was found, and what it cost.
//!
//! These are data and their words, below both the campaign, which fills them in, and the reporters
//! and the other commands, which show them. All of them are written to files and read again by
//! later versions: a field that came later has a default.

mod finding;
mod goal;
mod lack;
mod tally;
mod vacuous;

use serde::{Deserialize, Serialize};

pub use finding::{Finding, Place, property_name, rule_id};
pub use goal::{Goal, GoalKind, GoalStatus};
pub use lack::{Lack, Range};
pub use tally::{CheckTable, EdgeTable, GoalTable, ProverStats, Stats, Verdict};
pub use vacuous::{Blocked, PERCENT, Vacuous};

/// Why the alternation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// A finding, and only the first was wanted.
    Found,
    /// Every goal is settled.
    Settled,
    /// The time or the runs are used up.
    Budget,
    /// Nothing new for a long time, and nothing left to ask.
    Stalled,
    /// Ctrl-C.
    Interrupted,
}
