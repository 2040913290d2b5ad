//! Executes the graph, one execution at a time, from cut point to cut point.
//!
//! A forest does not keep how its states were reached. A walk does: it can be stopped at any cut
//! point, and continued from the state there on another tape.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::calls::{Alone, Calls};
use super::{Below, Sample, hash};
use crate::abstraction::graph::Graph;
use cegar_model::deadline;
use cegar_model::symbolic::update::Update;
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Array, ArrayNode, Evaluator, Node, Pool, Term};

/// The maximum number of bytes of an array in a state's values.
const BYTES: u64 = 1 << 16;

/// A transition of a fragment, prepared for evaluation.
#[derive(Debug)]
pub(super) struct PreparedTransition {
    number: usize,
    pub(super) to: Cut,
    guard: Vec<Term>,
    assumptions_before: usize,
    pub(super) update: Update,
    /// Whether it leads into a call of a function that is encoded alone; the caller continues with
    /// another transition.
    is_call: bool,
}

/// The transitions of a graph, ready to be taken.
#[derive(Debug)]
pub struct Walker {
    pub(super) transitions: BTreeMap<Option<Cut>, Vec<PreparedTransition>>,
    /// The functions that are encoded alone.
    pub(super) alone: Alone,
}

/// A state on a walk.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The cut point; `None`: the start of the program.
    pub at: Option<Cut>,
    /// The state, with the part of the tape read so far.
    pub sample: Sample,
}

/// The result of a walk.
#[derive(Debug)]
pub struct Walked {
    /// The state where it ended.
    pub walk: Walk,
    /// Whether `stop` ended it. Otherwise no transition could be taken, or a limit was reached.
    pub stopped: bool,
    /// The transitions taken: their starts and their numbers.
    pub trace: Vec<(Option<Cut>, usize)>,
}

impl Walk {
    /// A walk at the start of the program.
    pub fn start(graph: &Graph<'_>) -> Walk {
        let sample = Sample {
            seed: hash(&[7]),
            contents: Rc::new(graph.pool.all_contents()),
            ..Sample::default()
        };
        Walk { at: None, sample }
    }

    /// The known values of a cut point's variables.
    pub fn values(&self, graph: &mut Graph<'_>) -> Update {
        let mut turn = Update::default();
        let Some(state) = self.at.and_then(|cut| graph.states.get(&cut)).cloned() else {
            return turn;
        };
        for (_, variable) in state.variables(&mut graph.pool, &graph.world) {
            let Node::Variable(number) = *graph.pool.node(variable) else {
                continue;
            };
            if let Some(&value) = self.sample.variables.get(&number) {
                let width = graph.pool.width(variable);
                turn.terms
                    .push((variable, graph.pool.constant(width, value)));
            }
        }
        for (_, array) in state.arrays(&mut graph.pool, &graph.world) {
            if let Some(value) = self.array(&mut graph.pool, array) {
                turn.arrays.push((array, value));
            }
        }
        turn
    }

    fn array(&self, pool: &mut Pool, array: Array) -> Option<Array> {
        let ArrayNode::Variable(number) = pool.array_node(array) else {
            return None;
        };
        let bytes = self.sample.arrays.get(&number)?;
        let mut written: Vec<(u64, u8)> = bytes.written.iter().map(|(&i, &b)| (i, b)).collect();
        written.sort_unstable();
        match bytes.below {
            Below::Constant(contents) => {
                let mut all = pool.array_bytes(contents).to_vec();
                for (index, byte) in written {
                    if index >= BYTES {
                        return None;
                    }
                    let index = index as usize;
                    if index >= all.len() {
                        all.resize(index + 1, 0);
                    }
                    all[index] = byte;
                }
                Some(pool.array_constant(&all))
            }
            // The other bytes were never written and can be anything.
            Below::Random(_) => {
                let mut value = array;
                for (index, byte) in written.into_iter().take(BYTES as usize) {
                    let index = pool.constant(64, u128::from(index));
                    let byte = pool.constant(8, u128::from(byte));
                    value = pool.array_store(value, index, byte);
                }
                Some(value)
            }
        }
    }
}

impl Walker {
    /// The transitions of a graph.
    pub fn new(graph: &mut Graph<'_>) -> Walker {
        let mut prepared: BTreeMap<Option<Cut>, Vec<PreparedTransition>> = BTreeMap::new();
        let starts: Vec<Option<Cut>> = graph.fragments.keys().copied().collect();
        for start in starts {
            // A walk ends at fragments that are missing here.
            if deadline::passed() {
                break;
            }
            let transitions = graph.fragments[&start].transitions.clone();
            let list = transitions
                .iter()
                .enumerate()
                .map(|(number, transition)| PreparedTransition {
                    number,
                    to: transition.to,
                    guard: transition.reached.guard.0.clone(),
                    assumptions_before: transition.assumptions_before,
                    update: graph.update(start, transition),
                    is_call: graph.world.begun(transition.to).is_some(),
                })
                .collect();
            prepared.insert(start, list);
        }
        let alone = Alone::of(graph);
        Walker {
            transitions: prepared,
            alone,
        }
    }

    /// The values of the target's variables after a transition, given by its number in the
    /// fragment.
    pub fn update(&self, start: Option<Cut>, number: usize) -> Option<&Update> {
        self.transitions
            .get(&start)?
            .get(number)
            .map(|way| &way.update)
    }

    /// The transition that an execution takes from a state of a cut point on this tape: its number,
    /// its target and the state after it; `None` if the execution ends there. Also sets the inputs
    /// in `sample`, which reads its part of the tape.
    pub fn follow(
        &self,
        graph: &Graph<'_>,
        at: Option<Cut>,
        sample: &mut Sample,
        tape: &[u8],
        evaluator: &mut Evaluator,
    ) -> Option<(usize, Cut, Sample)> {
        evaluator.reset();
        let mut calls = Calls::default();
        self.read(graph, (at, sample), evaluator, Some(tape), &mut calls);
        let (way, next) = self.next(graph, at, sample, evaluator, 0)?;
        Some((way.number, way.to, next))
    }

    /// The transition that is taken from a state whose inputs are set, and the state after it.
    pub(super) fn next<'w>(
        &'w self,
        graph: &Graph<'_>,
        at: Option<Cut>,
        sample: &Sample,
        evaluator: &mut Evaluator,
        step: u64,
    ) -> Option<(&'w PreparedTransition, Sample)> {
        let fragment = graph.fragments.get(&at)?;
        let pool = &graph.pool;
        let way = self.transitions.get(&at)?.iter().find(|way| {
            let mut all = way
                .guard
                .iter()
                .chain(&fragment.assumptions[..way.assumptions_before]);
            !way.is_call && all.all(|&t| sample.eval(pool, evaluator, t) == 1)
        })?;
        Some((way, sample.next(pool, evaluator, &way.update, step)))
    }

    /// Continues from a state on this tape, a prefix of which the state has read, until `stop` is
    /// true of the cut point reached, or for `most` transitions.
    pub fn walk(
        &self,
        graph: &Graph<'_>,
        from: &Walk,
        tape: &[u8],
        (stop, most): (&dyn Fn(Option<Cut>) -> bool, usize),
    ) -> Walked {
        let mut walk = from.clone();
        let mut trace = Vec::new();
        let mut evaluator = Evaluator::new();
        let mut stopped = false;
        let mut calls = Calls::default();
        while trace.len() < most && !deadline::passed() {
            if !graph.fragments.contains_key(&walk.at) {
                break;
            }
            evaluator.reset();
            let state = (walk.at, &mut walk.sample);
            self.read(graph, state, &mut evaluator, Some(tape), &mut calls);
            let step = trace.len() as u64;
            let next = self.next(graph, walk.at, &walk.sample, &mut evaluator, step);
            let Some((way, sample)) = next else {
                break;
            };
            trace.push((walk.at, way.number));
            walk = Walk {
                at: Some(way.to),
                sample,
            };
            stopped = stop(walk.at);
            if stopped {
                break;
            }
        }
        Walked {
            walk,
            stopped,
            trace,
        }
    }

    /// Whether each of these terms holds in the state of a walk.
    pub fn evaluate(&self, graph: &Graph<'_>, walk: &Walk, terms: &[Term]) -> Vec<bool> {
        let mut evaluator = Evaluator::new();
        terms
            .iter()
            .map(|&t| walk.sample.eval(&graph.pool, &mut evaluator, t) == 1)
            .collect()
    }
}
