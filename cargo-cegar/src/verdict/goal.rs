//! A goal of a campaign, which is a check or a branch, and its final state.

use cegar_model::program::CheckKind;
use serde::{Deserialize, Serialize};

use super::{Lack, Place};

/// The final state of a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "status")]
pub enum GoalStatus {
    /// No input violates the check.
    Proved {
        /// Whether an execution reached the check, so that the proof is about something that
        /// happens.
        #[serde(default = "yes")]
        reached: bool,
        /// The unproved checks on which the proof rests, for users: the check holds in every
        /// execution in which these hold.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        given: Vec<String>,
    },
    /// An input violates it.
    Violated,
    /// A branch that some execution took.
    Covered,
    /// A branch that no input takes, or a check that no input of this harness reaches. This is
    /// proved, but nothing is tested.
    Unreachable,
    /// It is not settled.
    Open {
        /// The reason.
        why: String,
    },
}

/// The kind of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GoalKind {
    /// A check.
    Check,
    /// A branch edge.
    Edge,
}

/// A goal with its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// The harness.
    pub harness: String,
    /// Check or edge.
    pub kind: GoalKind,
    /// Its number: the `CheckId`, or the number of the edge.
    pub id: u32,
    /// The kind of the check; `None` for an edge.
    pub check: Option<CheckKind>,
    /// Its place.
    pub place: Place,
    /// The checked expression, for users.
    pub expression: String,
    /// Its state.
    #[serde(flatten)]
    pub status: GoalStatus,
    /// What the floor knows and would need, for an open check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lack: Option<Lack>,
}

/// The default of `reached` for goals that older versions stored.
fn yes() -> bool {
    true
}
