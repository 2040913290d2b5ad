//! Why a certificate is not accepted.

use thiserror::Error;

use crate::certificate::FORMAT;

/// Why a certificate is not accepted.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Rejected {
    /// The certificate has another format.
    #[error("the certificate has format {found}, and this version reads {FORMAT}")]
    Format {
        /// The format of the certificate.
        found: u32,
    },
    /// The certificate is about another program.
    #[error("the certificate is about other bitcode: about SHA-256 {expected}, not {found}")]
    Bitcode {
        /// The hash in the certificate.
        expected: String,
        /// The hash of the bitcode.
        found: String,
    },
    /// The certificate contains a check or block that the program does not have.
    #[error("the program has no {what} {number}")]
    Missing {
        /// `check` or `block`.
        what: &'static str,
        /// The number of the check or block.
        number: u32,
    },
    /// A statement is not possible, or occurs twice.
    #[error("the certificate is malformed: {0}")]
    Malformed(String),
    /// The certificate omits an assumption.
    #[error("the certificate does not state what it rests on: {0}")]
    Assumption(String),
    /// The deadline passed before all formulas were checked, on which every goal rests.
    #[error("the time was up before the formulas were checked")]
    Late,
    /// A fragment is larger than the budget.
    #[error("the code behind {0} is too large for one step")]
    Unexplored(String),
    /// The floor does not hold.
    #[error("{0}")]
    Floor(#[from] crate::floor::FloorError),
    /// The claims do not follow from the only execution.
    #[error("one execution does not say it: {0}")]
    Executed(String),
    /// An object is not declared as the program makes it.
    #[error("the certificate's objects are not the program's: {0}")]
    Objects(String),
    /// A transition leads to a cut point of which nothing is stated.
    #[error("nothing is stated of {to}, to which an edge from {from} leads")]
    Cut {
        /// The start of the transition.
        from: String,
        /// The target of the transition.
        to: String,
    },
    /// A transition does not preserve a formula or a claim.
    #[error("the edge from {from} to {to} does not preserve `{formula}`{how}")]
    Edge {
        /// The start of the transition.
        from: String,
        /// The target of the transition.
        to: String,
        /// The formula, or what the claim is about.
        formula: String,
        /// A suffix of the message that distinguishes a counterexample from a missing answer.
        how: &'static str,
    },
    /// A check is violated in a state that the formulas allow.
    #[error("check {check} at {place} does not follow{how}")]
    Check {
        /// The number of the check.
        check: u32,
        /// The place of the check.
        place: String,
        /// A suffix of the message that distinguishes a counterexample from a missing answer.
        how: &'static str,
    },
    /// A block is entered from a state that the formulas allow.
    #[error("block {block} at {place} may be entered{how}")]
    Block {
        /// The number of the block.
        block: u32,
        /// The place of the block.
        place: String,
        /// A suffix of the message that distinguishes a counterexample from a missing answer.
        how: &'static str,
    },
    /// A hole may be reached, and a claimed goal lies behind it.
    #[error("{what} at {place} may be reached, and {goal} lies behind it")]
    Hole {
        /// What is not modelled.
        what: String,
        /// The place of the hole.
        place: String,
        /// The goal.
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
    /// Whether the only reason is that the deadline passed.
    #[must_use]
    pub fn is_late(&self) -> bool {
        matches!(
            self,
            Rejected::Late | Rejected::Floor(crate::floor::FloorError::Late)
        )
    }
}
