//! The frontier: goals that are next to what executions reach.
//!
//! An abstract error path is ordered (Synergy section 3.2): it follows the forest as far as that
//! goes and leaves it at one place. Here that is a goal in the fragment that starts at a state of
//! the forest. Is it reached from that very state, with other inputs from there on (CRunner's
//! partial simulation, section 3.4)? If so the answer is a tape, which the machine and the fuzzer
//! take up; if not from any state that was tried, it is the abstraction's turn.

use super::asking::{Cost, Patience, ask};
use super::forest::{Forest, Sample};
use super::graph::Graph;
use super::own::varying;
use cegar_model::solver::{Answer, Limits, Model, Z3};
use cegar_model::symbolic::encode::{Fragment, Input};
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Evaluator, Pool, Term};
use std::time::Duration;

/// States of the forest that one goal is tried from.
const STATES: usize = 6;
/// How long one question may take.
const QUESTION: Duration = Duration::from_millis(500);

/// A tape that reaches a goal (guard and condition, under the assumptions before it) of a fragment,
/// if one of the forest's states leads there.
pub fn reach(
    solver: &mut Z3,
    graph: &mut Graph<'_>,
    forest: &Forest,
    (start, goal, prefix): (Option<Cut>, &[Term], usize),
    patience: Patience<'_>,
    cost: &mut Cost,
) -> Option<Vec<u8>> {
    let fragment = graph.fragments.get(&start)?.clone();
    let mut terms: Vec<Term> = goal.to_vec();
    terms.extend(&fragment.assumptions[..prefix]);
    terms.extend(fragment.faithful(&mut graph.pool));
    let Some(cut) = start else {
        // Nothing has happened yet: the answer is the whole tape.
        return match ask(solver, graph, &terms, &[], &patience.within(QUESTION), cost) {
            Answer::Sat(model) => Some(tape(&graph.pool, &fragment, &model, &[])),
            _ => None,
        };
    };
    let (variables, arrays) = varying(graph, cut)?;
    let samples = forest.samples.get(&cut)?;
    for sample in spread(samples) {
        if patience.is_over() {
            return None;
        }
        let here = sample.state(&mut graph.pool, &variables, &arrays);
        let limits = patience.within(QUESTION);
        if let Answer::Sat(model) = ask(solver, graph, &here, &terms, &limits, cost) {
            return Some(tape(&graph.pool, &fragment, &model, &sample.tape));
        }
    }
    None
}

/// A step from one concrete state.
#[derive(Debug)]
pub enum Forward {
    /// With a tape that begins so.
    Tape(Vec<u8>),
    /// It does not make it, whatever it reads.
    None,
    /// No answer in time.
    Unknown,
}

/// Whether a state of a cut point, which was reached with this tape, meets a condition with what it
/// reads next, under so many of the fragment's assumptions.
pub fn forward(
    (solver, limits, cost): (&mut Z3, &Limits, &mut Cost),
    graph: &mut Graph<'_>,
    (at, sample, so_far): (Option<Cut>, &Sample, &[u8]),
    (condition, prefix): (&[Term], usize),
) -> Forward {
    let Some(fragment) = graph.fragments.get(&at).cloned() else {
        return Forward::None;
    };
    let mut terms = condition.to_vec();
    terms.extend(&fragment.assumptions[..prefix]);
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

/// The tape that continues `so_far` as the model says.
fn tape(pool: &Pool, fragment: &Fragment, model: &Model, so_far: &[u8]) -> Vec<u8> {
    let mut tape = Tape::after(so_far);
    for (guard, input) in &fragment.inputs {
        tape.take(pool, model, &guard.0, input);
    }
    tape.finish()
}

/// A tape in the making, from a model.
pub struct Tape {
    /// What is on it.
    pub bytes: Vec<u8>,
    /// How long it has to be.
    least: usize,
    evaluator: Evaluator,
}

impl Tape {
    /// One that begins so.
    pub fn after(so_far: &[u8]) -> Tape {
        Tape {
            bytes: so_far.to_vec(),
            least: 0,
            evaluator: Evaluator::new(),
        }
    }

    /// What a model says of a term.
    pub fn value(&mut self, pool: &Pool, model: &Model, t: Term) -> u128 {
        self.evaluator.eval_in(pool, t, model)
    }

    /// Goes on with what is taken from it, if all of `guard` holds.
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
            // What the program was told of the tape's length has to come true.
            Input::Remaining(variable) => {
                if self.value(pool, model, variable) > 0 {
                    self.least = self.least.max(self.bytes.len() + 1);
                }
            }
        }
    }

    /// As long as it has to be.
    pub fn finish(mut self) -> Vec<u8> {
        if self.bytes.len() < self.least {
            self.bytes.resize(self.least, 0);
        }
        self.bytes
    }
}
