//! Executes functions that are encoded alone.
//!
//! A fragment has unknowns for the results of a call of such a function. An execution computes
//! them: the walker executes the function on the graph, from its beginning to its end, with the
//! call's arguments. The states at both are samples like those of any cut point, so that candidates
//! about parameters and results are compared with real activations. If no such function reads
//! input, results are cached.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{Sample, Walker};
use crate::abstraction::graph::Graph;
use cegar_model::deadline;
use cegar_model::program::ir::FuncId;
use cegar_model::symbolic::encode::Called;
use cegar_model::symbolic::world::{Cut, Side};
use cegar_model::term::{Evaluator, Node};

/// The maximum number of nested calls.
const DEPTH: u32 = 400;
/// The maximum number of steps of all activations until [`Calls::states`] is called.
const STEPS: u64 = 40_000;
/// The maximum number of recorded states until they are taken.
const WAITING: usize = 20_000;

/// The data for executing functions that are encoded alone.
#[derive(Debug, Default)]
pub(super) struct Alone {
    /// The variables of the functions' results, by number.
    results: BTreeMap<FuncId, Vec<u32>>,
    /// Whether no such function reads input.
    without_input: bool,
}

impl Alone {
    pub(super) fn of(graph: &mut Graph<'_>) -> Alone {
        let mut results = BTreeMap::new();
        let functions: Vec<FuncId> = graph.world.alone().collect();
        for function in functions {
            let Some((_, end)) = graph.world.ends_of(function) else {
                continue;
            };
            let params = graph.world.interface_registers(function, Side::Begin).len();
            let Some(state) = graph.states.get(&end) else {
                continue;
            };
            let variables = state.variables(&mut graph.pool, &graph.world);
            let numbers = variables.iter().skip(params).filter_map(|&(_, t)| {
                let Node::Variable(number) = *graph.pool.node(t) else {
                    return None;
                };
                Some(number)
            });
            results.insert(function, numbers.collect());
        }
        let mut fragments = graph.fragments.iter();
        let without_input = fragments.all(|(start, fragment)| {
            let lies = start.and_then(|cut| graph.world.lies_in(cut.ctx));
            lies.is_none() || fragment.inputs.is_empty()
        });
        Alone {
            results,
            without_input,
        }
    }
}

/// An activation: the function, and the variables of the state where it begins.
type Activation = (FuncId, Vec<(u32, u128)>);

/// Activations of functions that are encoded alone.
#[derive(Debug, Default)]
pub(super) struct Calls {
    known: FxHashMap<Activation, Vec<u128>>,
    /// The states at cut points within activations, if they are recorded.
    states: Option<Vec<(Cut, Sample)>>,
    depth: u32,
    steps: u64,
}

impl Calls {
    /// A value that records the states at cut points within activations.
    pub(super) fn recorded() -> Calls {
        Calls {
            states: Some(Vec::new()),
            ..Calls::default()
        }
    }

    /// Takes the states that were recorded since the last call.
    pub(super) fn states(&mut self) -> Vec<(Cut, Sample)> {
        self.steps = 0;
        self.states.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn note(&mut self, cut: Cut, state: &Sample) {
        if let Some(states) = &mut self.states
            && states.len() < WAITING
        {
            states.push((cut, state.clone()));
        }
    }
}

impl Walker {
    /// Sets a fragment's inputs and the results of its calls, in order.
    pub(super) fn read(
        &self,
        graph: &Graph<'_>,
        (at, sample): (Option<Cut>, &mut Sample),
        evaluator: &mut Evaluator,
        given: Option<&[u8]>,
        calls: &mut Calls,
    ) {
        let pool = &graph.pool;
        let Some(fragment) = graph.fragments.get(&at) else {
            return;
        };
        // No tape shows a deviation, so all deviations are off.
        for &(deviates, _) in &fragment.deviations {
            sample.set(pool, deviates, 0);
        }
        let mut called = fragment.calls.iter().peekable();
        for (number, (guard, input)) in fragment.inputs.iter().enumerate() {
            while let Some(call) = called.next_if(|call| call.inputs <= number) {
                self.call(graph, (at, sample), call, (evaluator, given), calls);
            }
            sample.take(pool, evaluator, (number, guard, input), given);
        }
        for call in called {
            self.call(graph, (at, sample), call, (evaluator, given), calls);
        }
    }

    /// Executes a call, if it is reached.
    fn call(
        &self,
        graph: &Graph<'_>,
        (at, sample): (Option<Cut>, &mut Sample),
        call: &Called,
        (evaluator, given): (&mut Evaluator, Option<&[u8]>),
        calls: &mut Calls,
    ) {
        let pool = &graph.pool;
        let mut guard = call.guard.0.iter();
        let fragment = graph.fragments.get(&at);
        let before = fragment.map_or(&[][..], |fragment| {
            &fragment.assumptions[..call.assumptions_before]
        });
        let is_reached = guard.all(|&t| sample.eval(pool, evaluator, t) == 1)
            && before.iter().all(|&t| sample.eval(pool, evaluator, t) == 1);
        if !is_reached {
            return;
        }
        let way = self
            .transitions
            .get(&at)
            .and_then(|transitions| transitions.get(call.transition));
        let results = way.and_then(|way| {
            let begin = sample.next(pool, evaluator, &way.update, calls.steps);
            self.activate(
                graph,
                (call.function, way.to),
                (sample, begin),
                given,
                calls,
            )
        });
        sample.set(pool, call.related, u128::from(results.is_some()));
        for (&result, value) in call.results.iter().zip(results.into_iter().flatten()) {
            sample.set(pool, result, value);
        }
    }

    /// The results of a function; `None` if it does not return.
    fn activate(
        &self,
        graph: &Graph<'_>,
        (function, begin): (FuncId, Cut),
        (outer, mut state): (&mut Sample, Sample),
        given: Option<&[u8]>,
        calls: &mut Calls,
    ) -> Option<Vec<u128>> {
        let mut values: Vec<(u32, u128)> = state.variables.iter().map(|(&v, &x)| (v, x)).collect();
        values.sort_unstable();
        let activation = (function, values);
        if let Some(known) = calls.known.get(&activation) {
            return Some(known.clone());
        }
        if calls.depth >= DEPTH {
            return None;
        }
        calls.depth += 1;
        calls.note(begin, &state);
        let mut at = begin;
        let mut evaluator = Evaluator::new();
        let mut turns = 0u64;
        let result: Option<Vec<u128>> = loop {
            calls.steps += 1;
            turns += 1;
            if calls.steps > STEPS || deadline::seldom_passed() {
                break None;
            }
            evaluator.reset();
            self.read(graph, (Some(at), &mut state), &mut evaluator, given, calls);
            let step = calls.steps;
            let next = self.next(graph, Some(at), &state, &mut evaluator, step);
            let Some((way, next)) = next else {
                break None;
            };
            (at, state) = (way.to, next);
            if graph.world.ended(at).is_some() {
                let numbers = self.alone.results.get(&function);
                let numbers = numbers.into_iter().flatten();
                let value = |number| state.variables.get(number).copied();
                break numbers.map(value).collect();
            }
            // A long loop must not crowd out the states of other activations.
            if turns.is_power_of_two() {
                calls.note(at, &state);
            }
        };
        calls.depth -= 1;
        outer.tape = state.tape.clone();
        if result.is_some() {
            calls.note(at, &state);
        }
        if let Some(values) = result.as_ref().filter(|_| self.alone.without_input) {
            calls.known.insert(activation, values.clone());
        }
        result
    }
}
