//! Questions to a solver, and what they are about.

use cegar_model::solver::{Answer, Limits, Solver, Z3};
use cegar_model::term::{Pool, Term};

/// Answers the questions of the checker.
pub trait QuestionSolver {
    /// Whether these terms can hold together. `about` says what the question is about.
    fn ask(&mut self, pool: &mut Pool, terms: &[Term], limits: &Limits, about: &About) -> Answer;
}

/// What a question is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum About {
    /// Whether an edge preserves the claims of its target, all of them or one part.
    Edge {
        /// The start of the edge.
        from: String,
        /// The target of the edge.
        to: String,
        /// The part. `None` for all claims together.
        part: Option<String>,
    },
    /// Whether a check is violated.
    Check {
        /// The number of the check.
        check: u32,
        /// The place of the check.
        place: String,
    },
    /// Whether a block is entered.
    Block {
        /// The number of the block.
        block: u32,
        /// The place of the block.
        place: String,
    },
    /// Whether a violation without a check may occur in a library function.
    Library {
        /// The place of the violation.
        place: String,
    },
    /// Whether a hole is reached.
    Hole {
        /// What is not modelled.
        what: String,
        /// The place of the hole.
        place: String,
    },
}

impl std::fmt::Display for About {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            About::Edge { from, to, part } => {
                write!(f, "the edge from {from} to {to} preserves ")?;
                match part {
                    Some(part) => write!(f, "`{part}`"),
                    None => write!(f, "what is stated of its target"),
                }
            }
            About::Check { check, place } => write!(f, "check {check} at {place} holds"),
            About::Block { block, place } => {
                write!(f, "block {block} at {place} is not entered")
            }
            About::Library { place } => write!(f, "nothing goes wrong at {place}"),
            About::Hole { what, place } => write!(f, "{what} at {place} is not reached"),
        }
    }
}

/// Asks Z3, with a new solver for each question.
#[derive(Clone, Copy, Debug, Default)]
pub struct AskZ3;

impl QuestionSolver for AskZ3 {
    fn ask(&mut self, pool: &mut Pool, terms: &[Term], limits: &Limits, _: &About) -> Answer {
        Z3::new().check(pool, terms, limits)
    }
}
