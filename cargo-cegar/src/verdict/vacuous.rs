//! Proofs that say little: most of what they are about cannot be reached from the harness.
//!
//! A harness that hands over an empty picture has a thousand checks proved, and has tested nothing.
//! Such a proof is called *vacuous*. The campaign looks for the branch that blocks the way; here is
//! what it comes to, and the sentence that every report has of it.

use serde::{Deserialize, Serialize};

use super::{CheckTable, Place};

/// A proof is vacuous where more than so many of a hundred checks are unreachable.
pub const PERCENT: u64 = 50;

/// Most checks of a harness cannot be reached from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vacuous {
    /// The harness.
    pub harness: String,
    /// Its checks.
    pub checks: u64,
    /// The number of checks that no input of the harness reaches.
    pub unreachable: u64,
    /// Whether nothing of the library is in the program, since the harness calls nothing of it.
    #[serde(default)]
    pub calls_nothing: bool,
    /// What blocks the way, where a branch or a call does.
    pub blocked: Option<Blocked>,
}

/// A branch that goes one way only, and what lies the other way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocked {
    /// Where the condition stands.
    pub place: Place,
    /// The condition, quoted from its line; empty where the source cannot be read.
    pub condition: String,
    /// What the condition never is; none where the way the code goes on says it better.
    pub never: Option<bool>,
    /// Whether that is said of a part of the condition, the one at the place's column: an operand
    /// of `&&` or `||`.
    pub part: bool,
    /// Whether it is no condition but a call, which is never made.
    pub call: bool,
    /// The line that it never goes on to; 0 where unknown.
    pub to: u32,
    /// The number of unreachable checks behind it.
    pub behind: u64,
}

impl Vacuous {
    /// The sentence that every report has, without the harness's name.
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
    /// Where and by what: `at a.c:3: ...`.
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
    /// Whether most checks are unreachable from where they were looked at.
    pub fn is_vacuous(&self) -> bool {
        self.unreachable * 100 > self.total() * PERCENT
    }
}
