//! A goal of a campaign, a check or a branch, and how it stands at the end.

use cegar_model::program::CheckKind;
use serde::{Deserialize, Serialize};

use super::{Lack, Place};

/// How a goal stands at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "status")]
pub enum GoalStatus {
    /// No input violates the check.
    Proved {
        /// Whether an execution came to it, so that the proof is about something that happens.
        #[serde(default = "yes")]
        reached: bool,
        /// Checks that are not proved and that it rests on, for people: it holds in every execution
        /// in which they do.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        given: Vec<String>,
    },
    /// An input violates it.
    Violated,
    /// A branch that some execution took.
    Covered,
    /// A branch that no input takes, or a check that no input of this harness comes to: proved, and
    /// nothing is tested.
    Unreachable,
    /// Not settled.
    Open {
        /// What stands in the way.
        why: String,
    },
}

/// What a goal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GoalKind {
    /// A check.
    Check,
    /// A branch edge.
    Edge,
}

/// A goal and how it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// The harness.
    pub harness: String,
    /// Check or edge.
    pub kind: GoalKind,
    /// Its number: `CheckId`, or the edge's number.
    pub id: u32,
    /// What the check guards against; `None` for an edge.
    pub check: Option<CheckKind>,
    /// Where.
    pub place: Place,
    /// For people.
    pub expression: String,
    /// How it stands.
    #[serde(flatten)]
    pub status: GoalStatus,
    /// What the floor knows and what it would need, of a check that is open for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lack: Option<Lack>,
}

/// What an older list of goals says nothing of.
fn yes() -> bool {
    true
}
