//! Questions about terms: is there a tape for which all of these bits are set?
//!
//! [`Solver`] is small so that another back end can stand in for Z3 ([`Z3`]). What the search puts
//! on top of it to save questions is the search's own.
//!
//! A model is never believed: every back end's answer is evaluated before it is passed on.

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

/// How much a question may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Wall-clock time. None: no limit.
    pub time: Option<Duration>,
    /// The solver's own steps, which makes a run repeatable where time does not. None: no limit.
    pub steps: Option<u32>,
    /// Whether to look for a small core of an unsatisfiable set, which costs about as much again.
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

/// Steps that a solver comes to in a second, roughly: between a half and the double on what
/// programs ask.
pub const STEPS_PER_SECOND: u64 = 3_000_000;

/// The solver's steps for so much time.
pub fn steps(time: Duration) -> u64 {
    (time.as_secs_f64() * STEPS_PER_SECOND as f64) as u64
}

impl Limits {
    /// Limits without a clock: as many steps as the time is good for, so that a slower machine
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

    /// A part of these limits, for what another question may answer as well.
    #[must_use]
    pub fn part(self, of: u32) -> Limits {
        Limits {
            time: self.time.map(|time| time / of),
            steps: self.steps.map(|steps| (steps / of).max(1)),
            ..self
        }
    }
}

/// What a solver says.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// All assertions hold for this.
    Sat(Model),
    /// They cannot hold together; already those with these indices cannot.
    Unsat {
        /// Indices into the assertions, ascending; all of them if no smaller set was looked for.
        core: Vec<usize>,
    },
    /// No answer.
    Unknown(Reason),
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Time is up.
    Time,
    /// The steps are used up.
    Steps,
    /// The back end's model does not satisfy the assertions: something was approximated.
    Unfaithful,
    /// What the back end says about it.
    Other(String),
}

/// Values that satisfy a question. What is absent does not matter.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Model {
    /// Bytes of the tape.
    pub inputs: FxHashMap<u32, u8>,
    /// Free variables, by the term that each is.
    pub variables: FxHashMap<Term, u128>,
    /// Free variables by their numbers, for evaluation.
    variable_numbers: FxHashMap<u32, u128>,
    /// Bytes of array variables that were read: (array's number, index).
    pub elements: FxHashMap<(u32, u64), u8>,
}

impl Model {
    /// Gives a variable its value.
    pub fn set_variable(&mut self, pool: &Pool, variable: Term, value: u128) {
        if let crate::term::Node::Variable(number) = *pool.node(variable) {
            self.variables.insert(variable, value);
            self.variable_numbers.insert(number, value);
        }
    }

    /// Adds what the other says, which has to be about other symbols.
    pub fn merge(&mut self, other: Model) {
        self.inputs.extend(other.inputs);
        self.variables.extend(other.variables);
        self.variable_numbers.extend(other.variable_numbers);
        self.elements.extend(other.elements);
    }

    /// Whether all assertions hold, where what is absent is zero.
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

/// Something that answers questions.
pub trait Solver {
    /// Whether all assertions (one-bit terms) can hold together.
    fn check(&mut self, pool: &mut Pool, assertions: &[Term], limits: &Limits) -> Answer;
}

/// What questions have cost so far.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SolverStats {
    /// Questions asked.
    pub queries: u64,
    /// Questions that reached the back end.
    pub solver_calls: u64,
    /// Answered because the same set was asked before.
    pub exact_hits: u64,
    /// Answered because a part of the set is known to be unsatisfiable.
    pub unsat_hits: u64,
    /// Answered by an earlier model.
    pub model_hits: u64,
    /// Answered by enumerating one or two bytes.
    pub enumerated: u64,
    /// Answered by simplification alone.
    pub trivial: u64,
    /// Constraints left out because they share nothing with the wanted one.
    pub sliced: u64,
    /// Back end's answers.
    pub sat: u64,
    /// Back end's answers.
    pub unsat: u64,
    /// Back end's answers.
    pub unknown: u64,
    /// Seconds in the back end.
    pub seconds: f64,
}
