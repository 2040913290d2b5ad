//! Why a certificate is not accepted.

use thiserror::Error;

use crate::certificate::FORMAT;

/// Why a certificate is not accepted.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Rejected {
    /// Another format.
    #[error("the certificate has format {found}, and this version reads {FORMAT}")]
    Format {
        /// What it has.
        found: u32,
    },
    /// It is about another program.
    #[error("the certificate is about other bitcode: about SHA-256 {expected}, not {found}")]
    Bitcode {
        /// What it is about.
        expected: String,
        /// What is there.
        found: String,
    },
    /// It speaks of a check or block that the program does not have.
    #[error("the program has no {what} {number}")]
    Missing {
        /// `check` or `block`.
        what: &'static str,
        /// Its number.
        number: u32,
    },
    /// Something that it states cannot be, or stands twice.
    #[error("the certificate is malformed: {0}")]
    Malformed(String),
    /// It keeps an assumption back.
    #[error("the certificate does not state what it rests on: {0}")]
    Assumption(String),
    /// The deadline passed before all formulas were checked, on which every goal rests.
    #[error("the time was up before the formulas were checked")]
    Late,
    /// A fragment is larger than the budget.
    #[error("the code behind {0} is too large for one step")]
    Unexplored(String),
    /// Its floor does not hold.
    #[error("{0}")]
    Floor(#[from] crate::floor::Sunk),
    /// Its claims do not follow from an execution.
    #[error("one execution does not say it: {0}")]
    Executed(String),
    /// It does not declare an object as the program makes it.
    #[error("the certificate's objects are not the program's: {0}")]
    Objects(String),
    /// A transition leads to a cut point of which it states nothing.
    #[error("nothing is stated of {to}, to which an edge from {from} leads")]
    Cut {
        /// Where the edge starts.
        from: String,
        /// Where it leads.
        to: String,
    },
    /// A transition does not preserve a formula or a claim.
    #[error("the edge from {from} to {to} does not preserve `{formula}`{how}")]
    Edge {
        /// Where it starts.
        from: String,
        /// Where it leads.
        to: String,
        /// The formula, or what the claim is about.
        formula: String,
        /// Whether a counterexample was found or no answer.
        how: &'static str,
    },
    /// A check is violated by a state that the formulas allow.
    #[error("check {check} at {place} does not follow{how}")]
    Check {
        /// Its number.
        check: u32,
        /// Where it stands.
        place: String,
        /// Whether a counterexample was found or no answer.
        how: &'static str,
    },
    /// A block is entered by a state that the formulas allow.
    #[error("block {block} at {place} may be entered{how}")]
    Block {
        /// Its number.
        block: u32,
        /// Where it stands.
        place: String,
        /// Whether a counterexample was found or no answer.
        how: &'static str,
    },
    /// Something that is not modelled is reached, and a claimed goal lies behind it.
    #[error("{what} at {place} may be reached, and {goal} lies behind it")]
    Hole {
        /// What.
        what: String,
        /// Where.
        place: String,
        /// Which goal.
        goal: String,
    },
    /// A goal rests on a check that is not among its conditions.
    #[error("{goal} rests on what may go wrong at {place}, and the certificate does not say so")]
    Condition {
        /// The goal.
        goal: String,
        /// The place of the check.
        place: String,
    },
}

impl Rejected {
    /// Whether nothing speaks against the certificate but that the deadline passed.
    #[must_use]
    pub fn is_late(&self) -> bool {
        matches!(
            self,
            Rejected::Late | Rejected::Floor(crate::floor::Sunk::Late)
        )
    }
}
