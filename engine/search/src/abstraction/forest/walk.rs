//! One execution at a time, from cut point to cut point.
//!
//! A forest forgets how it came to its states. A walk does not: it can be stopped at any cut point,
//! its state can be kept, and it can be gone on with from there on another tape.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::calls::{Alone, Calls};
use super::{Below, Sample, hash};
use crate::abstraction::graph::Graph;
use cegar_model::deadline;
use cegar_model::symbolic::update::Update;
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Array, ArrayNode, Evaluator, Node, Pool, Term};

/// Bytes of an array that a state is said to have, at most.
const BYTES: u64 = 1 << 16;

/// What a fragment's transitions do, for evaluation.
#[derive(Debug)]
pub(super) struct Ways {
    number: usize,
    pub(super) to: Cut,
    guard: Vec<Term>,
    prefix: usize,
    pub(super) update: Update,
    /// Whether it leads into a call of a function that is encoded alone; the caller goes on
    /// elsewhere.
    is_call: bool,
}

/// The transitions of a graph, ready to be taken.
#[derive(Debug)]
pub struct Walker {
    pub(super) ways: BTreeMap<Option<Cut>, Vec<Ways>>,
    /// The functions that are encoded alone.
    pub(super) alone: Alone,
}

/// A state on the way.
#[derive(Clone, Debug)]
pub struct Walk {
    /// Where; none: where the program starts.
    pub at: Option<Cut>,
    /// The state, and the tape that was taken so far.
    pub sample: Sample,
}

/// How a walk went.
#[derive(Debug)]
pub struct Walked {
    /// Where it stopped.
    pub walk: Walk,
    /// Whether it was stopped; else there was no way on.
    pub stopped: bool,
    /// The transitions that were taken: where from, and their numbers.
    pub trace: Vec<(Option<Cut>, usize)>,
}

impl Walk {
    /// Where the program starts.
    pub fn start(graph: &Graph<'_>) -> Walk {
        let sample = Sample {
            seed: hash(&[7]),
            contents: Rc::new(graph.pool.all_contents()),
            ..Sample::default()
        };
        Walk { at: None, sample }
    }

    /// The values of a cut point's variables, as far as they are known.
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
            // The others were never written: they can be anything.
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
        let mut ways: BTreeMap<Option<Cut>, Vec<Ways>> = BTreeMap::new();
        let starts: Vec<Option<Cut>> = graph.fragments.keys().copied().collect();
        for start in starts {
            // A walk ends where the ways are not known.
            if deadline::passed() {
                break;
            }
            let transitions = graph.fragments[&start].transitions.clone();
            let list = transitions
                .iter()
                .enumerate()
                .map(|(number, transition)| Ways {
                    number,
                    to: transition.to,
                    guard: transition.reached.guard.0.clone(),
                    prefix: transition.prefix,
                    update: graph.update(start, transition),
                    is_call: graph.world.begun(transition.to).is_some(),
                })
                .collect();
            ways.insert(start, list);
        }
        let alone = Alone::of(graph);
        Walker { ways, alone }
    }

    /// What a transition, by its number in the fragment, makes of its target's variables.
    pub fn update(&self, start: Option<Cut>, number: usize) -> Option<&Update> {
        self.ways.get(&start)?.get(number).map(|way| &way.update)
    }

    /// The transition, by its number, that an execution takes from a state of a cut point if the
    /// tape is this one, and the state behind it; none if it ends there. The state has read its
    /// part of the tape then.
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

    /// The transition that is taken from a state, whose inputs have their values, and the state
    /// after it.
    pub(super) fn next<'w>(
        &'w self,
        graph: &Graph<'_>,
        at: Option<Cut>,
        sample: &Sample,
        evaluator: &mut Evaluator,
        step: u64,
    ) -> Option<(&'w Ways, Sample)> {
        let fragment = graph.fragments.get(&at)?;
        let pool = &graph.pool;
        let way = self.ways.get(&at)?.iter().find(|way| {
            let mut all = way.guard.iter().chain(&fragment.assumptions[..way.prefix]);
            !way.is_call && all.all(|&t| sample.eval(pool, evaluator, t) == 1)
        })?;
        Some((way, sample.next(pool, evaluator, &way.update, step)))
    }

    /// Goes on from a state on this tape, of which the state has taken a part, until `stop` says so
    /// of a cut point that is come to, or for so many steps.
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

    /// Whether a walk has a place to begin, and what each of these is there.
    pub fn evaluate(&self, graph: &Graph<'_>, walk: &Walk, terms: &[Term]) -> Vec<bool> {
        let mut evaluator = Evaluator::new();
        terms
            .iter()
            .map(|&t| walk.sample.eval(&graph.pool, &mut evaluator, t) == 1)
            .collect()
    }
}
