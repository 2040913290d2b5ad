//! Questions about terms: is there a tape for which all of these one-bit terms are true?
//!
//! [`Solver`] has a small interface so that another back end can replace Z3 ([`Z3`]). Caches and
//! other techniques that save questions belong to the search, not to this module.
//!
//! A model is never trusted: the terms are evaluated under the model of a back end before the model
//! is returned.

mod ask;
mod external;
mod floats;
pub mod smtlib;
pub mod timed;
pub mod translate;
pub mod z3;

use std::time::Duration;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

pub use self::ask::{AskError, Asker, FreshZ3, MANIFEST, Recorder, Verdict};
pub use self::external::{External, ExternalError};
pub use self::z3::Z3;
use crate::term::{Environment, Evaluator, Pool, Term};

/// The limits of a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Wall-clock time. `None`: no limit.
    pub time: Option<Duration>,
    /// The solver's own steps. In contrast to a limit of time, this limit makes runs repeatable.
    /// `None`: no limit.
    pub steps: Option<u32>,
    /// Whether to look for a small unsatisfiable core, which costs about as much again.
    pub core: bool,
}

impl Default for Limits {
    /// Two seconds, no limit on steps, no small cores.
    fn default() -> Limits {
        Limits {
            time: Some(Duration::from_secs(2)),
            steps: None,
            core: false,
        }
    }
}

/// The approximate number of steps that Z3 makes in a second. The actual number is between half and
/// twice this for typical questions of programs.
pub const STEPS_PER_SECOND: u64 = 3_000_000;

/// The number of solver steps that correspond to this time.
pub fn steps(time: Duration) -> u64 {
    (time.as_secs_f64() * STEPS_PER_SECOND as f64) as u64
}

impl Limits {
    /// Replaces the limit of time by the corresponding limit of steps, so that a slower machine
    /// gives the same answers.
    #[must_use]
    pub fn counted(self) -> Limits {
        let Some(time) = self.time else {
            return self;
        };
        let steps = u32::try_from(steps(time)).unwrap_or(u32::MAX).max(1);
        Limits {
            time: None,
            steps: Some(self.steps.map_or(steps, |limit| limit.min(steps))),
            ..self
        }
    }

    /// Divides these limits by `of`, for a question that another question can replace.
    #[must_use]
    pub fn part(self, of: u32) -> Limits {
        Limits {
            time: self.time.map(|time| time / of),
            steps: self.steps.map(|steps| (steps / of).max(1)),
            ..self
        }
    }
}

/// The answer of a solver.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// All assertions hold in this model.
    Sat(Model),
    /// The assertions cannot hold together.
    Unsat {
        /// An unsatisfiable core, as ascending indices into the assertions. Contains all indices if
        /// no smaller core was looked for.
        core: Vec<usize>,
    },
    /// No answer.
    Unknown(Reason),
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The time is up.
    Time,
    /// The steps are used up.
    Steps,
    /// The back end's model does not satisfy the assertions because a translation is an
    /// approximation.
    Unfaithful,
    /// The reason in the back end's words.
    Other(String),
}

/// Values that satisfy the assertions. Values of absent symbols do not matter.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Model {
    /// Bytes of the tape.
    pub inputs: FxHashMap<u32, u8>,
    /// Values of free variables, by their terms.
    pub variables: FxHashMap<Term, u128>,
    /// Values of free variables, by their numbers, for evaluation.
    variable_numbers: FxHashMap<u32, u128>,
    /// Bytes of array variables that were read, by the number of the array and the index.
    pub elements: FxHashMap<(u32, u64), u8>,
}

impl Model {
    /// Sets the value of a variable. Does nothing if the term is no variable.
    pub fn set_variable(&mut self, pool: &Pool, variable: Term, value: u128) {
        if let crate::term::Node::Variable(number) = *pool.node(variable) {
            self.variables.insert(variable, value);
            self.variable_numbers.insert(number, value);
        }
    }

    /// Adds the values of another model, which must be about other symbols.
    pub fn merge(&mut self, other: Model) {
        self.inputs.extend(other.inputs);
        self.variables.extend(other.variables);
        self.variable_numbers.extend(other.variable_numbers);
        self.elements.extend(other.elements);
    }

    /// Whether all assertions hold in this model, where absent symbols are zero.
    pub fn satisfies(&self, pool: &Pool, assertions: &[Term]) -> bool {
        let mut evaluator = Evaluator::new();
        assertions
            .iter()
            .all(|&t| evaluator.eval_in(pool, t, self) == 1)
    }
}

impl Environment for Model {
    fn input(&self, index: u32) -> u8 {
        self.inputs.get(&index).copied().unwrap_or(0)
    }
    fn variable(&self, variable: u32) -> u128 {
        self.variable_numbers.get(&variable).copied().unwrap_or(0)
    }
    fn element(&self, array: u32, index: u64) -> u8 {
        self.elements.get(&(array, index)).copied().unwrap_or(0)
    }
}

/// Answers questions about terms.
pub trait Solver {
    /// Whether all assertions (one-bit terms) can hold together.
    fn check(&mut self, pool: &mut Pool, assertions: &[Term], limits: &Limits) -> Answer;
}

/// The number and the cost of the questions so far.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SolverStats {
    /// Questions asked.
    pub queries: u64,
    /// Questions that reached the back end.
    pub solver_calls: u64,
    /// Questions answered because the same set was asked before.
    pub exact_hits: u64,
    /// Questions answered because a subset is known to be unsatisfiable.
    pub unsat_hits: u64,
    /// Questions answered by an earlier model.
    pub model_hits: u64,
    /// Questions answered by enumerating one or two bytes.
    pub enumerated: u64,
    /// Questions answered by simplification alone.
    pub trivial: u64,
    /// Assertions left out because they share no symbols with the assertion in question.
    pub sliced: u64,
    /// Questions that the back end found satisfiable.
    pub sat: u64,
    /// Questions that the back end found unsatisfiable.
    pub unsat: u64,
    /// Questions that the back end did not decide.
    pub unknown: u64,
    /// Seconds spent in the back end.
    pub seconds: f64,
}
