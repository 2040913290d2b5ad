//! Questions, what they are about, and who answers them.

use cegar_model::solver::{Answer, Limits, Solver, Z3};
use cegar_model::term::{Pool, Term};

/// A solver that answers the checker's questions.
pub trait Asked {
    /// Whether these terms can hold together. `about` says what the question is about.
    fn ask(&mut self, pool: &mut Pool, terms: &[Term], limits: &Limits, about: &About) -> Answer;
}

/// What a question is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum About {
    /// Whether an edge preserves what is claimed of its target, all of it or this part.
    Edge {
        /// Where it starts.
        from: String,
        /// Where it leads.
        to: String,
        /// The part; none: all together.
        part: Option<String>,
    },
    /// Whether a check is violated.
    Check {
        /// Its number.
        check: u32,
        /// Where it stands.
        place: String,
    },
    /// Whether a block is entered.
    Block {
        /// Its number.
        block: u32,
        /// Where it stands.
        place: String,
    },
    /// Whether something without a number goes wrong inside a library function.
    Library {
        /// Where.
        place: String,
    },
    /// Whether something is reached that is not modelled.
    Hole {
        /// What.
        what: String,
        /// Where.
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

/// Asks Z3, each question of a fresh solver.
#[derive(Clone, Copy, Debug, Default)]
pub struct AskZ3;

impl Asked for AskZ3 {
    fn ask(&mut self, pool: &mut Pool, terms: &[Term], limits: &Limits, _: &About) -> Answer {
        Z3::new().check(pool, terms, limits)
    }
}
