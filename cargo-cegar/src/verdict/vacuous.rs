//! Vacuous proofs: most of the proved checks cannot be reached from the harness.
//!
//! A harness that passes an empty picture has a thousand checks proved and has tested nothing. Such
//! a proof is called *vacuous*. The campaign searches for the branch that blocks the way; these are
//! the types for the result, and the sentence that every report shows.

use serde::{Deserialize, Serialize};

use super::{CheckTable, Place};

/// A proof is vacuous if more than this percentage of the checks is unreachable.
pub const PERCENT: u64 = 50;

/// The warning that most checks of a harness cannot be reached from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vacuous {
    /// The harness.
    pub harness: String,
    /// The number of its checks.
    pub checks: u64,
    /// The number of checks that no input of the harness reaches.
    pub unreachable: u64,
    /// Whether the program contains nothing of the library, since the harness calls nothing of it.
    #[serde(default)]
    pub calls_nothing: bool,
    /// What blocks the way, if it is a branch or a call.
    pub blocked: Option<Blocked>,
}

/// A branch that always goes one way, and what is behind the other way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocked {
    /// The place of the condition.
    pub place: Place,
    /// The condition, quoted from its line; empty if the source cannot be read.
    pub condition: String,
    /// The value that the condition never has; `None` if it is clearer to say where the code never
    /// goes on.
    pub never: Option<bool>,
    /// Whether this refers to a part of the condition, the operand of `&&` or `||` at the column of
    /// the place.
    pub part: bool,
    /// Whether it is a call that is never made instead of a condition.
    pub call: bool,
    /// The line where the code never goes on; 0 if unknown.
    pub to: u32,
    /// The number of unreachable checks behind it.
    pub behind: u64,
}

impl Vacuous {
    /// The sentence that every report shows, without the name of the harness.
    pub fn words(&self) -> String {
        if self.calls_nothing {
            return "this harness calls no function of the C sources; nothing of them was tested"
                .to_owned();
        }
        let said = format!(
            "{} of {} checks cannot be reached from this harness",
            self.unreachable, self.checks
        );
        match &self.blocked {
            Some(blocked) => format!(
                "{said}; the way to {} of them is blocked {}",
                blocked.behind,
                blocked.words()
            ),
            None => format!("{said}: nothing that it executes calls the code they are in"),
        }
    }
}

impl Blocked {
    /// Describes the place and the obstacle: `at a.c:3: ...`.
    pub fn words(&self) -> String {
        let place = self.place.said();
        let condition = match (self.condition.as_str(), self.call) {
            ("", true) => "the call there".to_owned(),
            ("", false) => "the condition there".to_owned(),
            (quoted, _) => format!("`{quoted}`"),
        };
        if self.call {
            return format!("{place}: {condition} is never executed");
        }
        match (self.never, self.part, self.to) {
            (Some(never), false, _) => format!("{place}: {condition} is never {never}"),
            (Some(never), true, _) => format!(
                "{place}: in {condition} the part at column {} is never {never}",
                self.place.column
            ),
            (None, _, 0) => format!("{place}: {condition} goes one way only"),
            (None, _, to) => format!("{place}: {condition} never goes on to line {to}"),
        }
    }
}

impl CheckTable {
    /// Whether most checks are unreachable from the harness.
    pub fn is_vacuous(&self) -> bool {
        self.unreachable * 100 > self.total() * PERCENT
    }
}
