//! The frontier: goals that are one fragment away from a state that an execution reached.
//!
//! An abstract error path is ordered (Synergy, section 3.2): it follows the forest as far as
//! possible and leaves it at one place. Here, it leaves the forest in the fragment that starts at a
//! state of the forest and contains the goal. The query asks whether the goal is reached from this
//! concrete state, with other inputs from there on (CRunner's partial simulation, section 3.4). If
//! so, the answer is a tape for the machine and the fuzzer; if no state that was tried leads to the
//! goal, the abstraction has to be refined.

use super::asking::{Cancellation, Cost, ask};
use super::forest::{Forest, Sample};
use super::graph::Graph;
use super::state_symbols::varying;
use cegar_model::solver::{Answer, Limits, Model, Z3};
use cegar_model::symbolic::encode::{Fragment, Input};
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Evaluator, Pool, Term};
use std::time::Duration;

/// The number of states of the forest that are tried for one goal.
const STATES: usize = 6;
/// The time limit of one query.
const QUESTION: Duration = Duration::from_millis(500);

/// Returns a tape that reaches a goal of a fragment (guard and condition, under the assumptions
/// before it) from one of the forest's states.
pub fn reach(
    solver: &mut Z3,
    graph: &mut Graph<'_>,
    forest: &Forest,
    (start, goal, assumptions_before): (Option<Cut>, &[Term], usize),
    cancellation: Cancellation<'_>,
    cost: &mut Cost,
) -> Option<Vec<u8>> {
    let fragment = graph.fragments.get(&start)?.clone();
    let mut terms: Vec<Term> = goal.to_vec();
    terms.extend(&fragment.assumptions[..assumptions_before]);
    terms.extend(fragment.faithful(&mut graph.pool));
    let Some(cut) = start else {
        // Nothing was read yet: the answer is the whole tape.
        return match ask(
            solver,
            graph,
            &terms,
            &[],
            &cancellation.within(QUESTION),
            cost,
        ) {
            Answer::Sat(model) => Some(tape(&graph.pool, &fragment, &model, &[])),
            _ => None,
        };
    };
    let (variables, arrays) = varying(graph, cut)?;
    let samples = forest.samples.get(&cut)?;
    for sample in spread(samples) {
        if cancellation.is_over() {
            return None;
        }
        let here = sample.state(&mut graph.pool, &variables, &arrays);
        let limits = cancellation.within(QUESTION);
        if let Answer::Sat(model) = ask(solver, graph, &here, &terms, &limits, cost) {
            return Some(tape(&graph.pool, &fragment, &model, &sample.tape));
        }
    }
    None
}

/// The result of a query about one step from a concrete state.
#[derive(Debug)]
pub enum Forward {
    /// The condition holds on a tape that begins like this.
    Tape(Vec<u8>),
    /// The condition does not hold, whatever is read.
    None,
    /// No answer in time.
    Unknown,
}

/// Asks whether a condition holds after a state of a cut point, for some continuation of the tape
/// `so_far` that led to it, under the first `assumptions_before` assumptions of the fragment.
pub fn forward(
    (solver, limits, cost): (&mut Z3, &Limits, &mut Cost),
    graph: &mut Graph<'_>,
    (at, sample, so_far): (Option<Cut>, &Sample, &[u8]),
    (condition, assumptions_before): (&[Term], usize),
) -> Forward {
    let Some(fragment) = graph.fragments.get(&at).cloned() else {
        return Forward::None;
    };
    let mut terms = condition.to_vec();
    terms.extend(&fragment.assumptions[..assumptions_before]);
    terms.extend(fragment.faithful(&mut graph.pool));
    let here = match at {
        None => Vec::new(),
        Some(cut) => {
            let Some((variables, arrays)) = varying(graph, cut) else {
                return Forward::None;
            };
            sample.state(&mut graph.pool, &variables, &arrays)
        }
    };
    match ask(solver, graph, &here, &terms, limits, cost) {
        Answer::Sat(model) => Forward::Tape(tape(&graph.pool, &fragment, &model, so_far)),
        Answer::Unsat { .. } => Forward::None,
        Answer::Unknown(_) => Forward::Unknown,
    }
}

/// A few states of different ages.
fn spread(samples: &[Sample]) -> impl Iterator<Item = &Sample> {
    let step = samples.len().div_ceil(STATES).max(1);
    samples.iter().rev().step_by(step)
}

/// The tape that continues `so_far` with the inputs of the model.
fn tape(pool: &Pool, fragment: &Fragment, model: &Model, so_far: &[u8]) -> Vec<u8> {
    let mut tape = Tape::after(so_far);
    for (guard, input) in &fragment.inputs {
        tape.take(pool, model, &guard.0, input);
    }
    tape.finish()
}

/// Builds a tape from a model.
pub struct Tape {
    /// The bytes so far.
    pub bytes: Vec<u8>,
    /// The minimum length of the tape.
    least: usize,
    evaluator: Evaluator,
}

impl Tape {
    /// A tape that begins with `so_far`.
    pub fn after(so_far: &[u8]) -> Tape {
        Tape {
            bytes: so_far.to_vec(),
            least: 0,
            evaluator: Evaluator::new(),
        }
    }

    /// The value of a term in a model.
    pub fn value(&mut self, pool: &Pool, model: &Model, t: Term) -> u128 {
        self.evaluator.eval_in(pool, t, model)
    }

    /// Appends an input with its value in the model, if all of `guard` holds.
    pub fn take(&mut self, pool: &Pool, model: &Model, guard: &[Term], input: &Input) {
        if !guard.iter().all(|&t| self.value(pool, model, t) == 1) {
            return;
        }
        match *input {
            Input::Bytes(variable) => {
                let value = self.value(pool, model, variable);
                let bytes = usize::from(pool.width(variable) / 8);
                self.bytes.extend(&value.to_le_bytes()[..bytes.min(16)]);
            }
            // The tape must be as long as the model assumes.
            Input::Remaining(variable) => {
                if self.value(pool, model, variable) > 0 {
                    self.least = self.least.max(self.bytes.len() + 1);
                }
            }
        }
    }

    /// Returns the tape, padded to its minimum length.
    pub fn finish(mut self) -> Vec<u8> {
        if self.bytes.len() < self.least {
            self.bytes.resize(self.least, 0);
        }
        self.bytes
    }
}
