//! SatAbs: predicate abstraction with counterexamples that contain loops.
//!
//! After Kroening and Weissenbacher, *Counterexamples with loops for predicate abstraction* (2006).
//! The main loop is [`slam`]'s. A path that the program cannot take may become possible if a loop
//! on it is taken more often. Therefore, before such a path is refined, another query is asked with
//! a variable number of iterations of each loop that the path visits, whose variables have their
//! closed forms (section 4). If there are suitable numbers of iterations, the path is unrolled,
//! i.e. the resulting tape is executed. If there are none, the path with zero iterations is refuted
//! like any other (section 4, the first of its two causes).
//!
//! The cut points are the loop heads, so that a loop on an abstract path is a cut point that it
//! visits; the paper finds loops by simulating the abstract model once more.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::base::run_strategy;
use super::predicate_loop::PredicateLoop;
use super::slam;
use crate::boolean::model::EdgeCode;
use crate::boolean::refine::Trace;
use crate::regions::Goal;
use cegar_model::machine::{Limits, Machine, Outcome};
use cegar_model::program::ir::Program;
use cegar_model::symbolic::encode::Transition;
use cegar_model::symbolic::world::{Cut, Grain};
use cegar_search::abstraction::asking::Facts;
use cegar_search::abstraction::forest::Forest;
use cegar_search::abstraction::loops::{Asking, Loops};
use cegar_search::strategy::options::Options;
use cegar_search::strategy::outcome::Proof;

/// The share of the time for the loops on one path.
const ON_LOOPS: f64 = 0.2;
/// The maximum of that time.
const LOOPS: Duration = Duration::from_secs(20);
/// Longest tape, in bytes.
const LONGEST: usize = 1 << 24;

/// Runs SatAbs: proves with predicates, and searches paths around the loops on every path.
pub fn prove<'p>(program: &'p Program, options: &Options, stop: &AtomicBool) -> Proof<'p> {
    run_strategy(program, options, stop, Grain::Loops, &mut |base| {
        let mut loops = Loops::default();
        let mut asked: BTreeSet<(usize, Vec<Option<Cut>>)> = BTreeSet::new();
        slam::refined(
            &mut PredicateLoop::new(base),
            &mut |predicate_loop, trace, error| {
                if !options.loops {
                    return false;
                }
                let (way, places) = straight(predicate_loop, trace);
                asked.insert((error, places)) && around(predicate_loop, &mut loops, &way, error)
            },
        )
    })
}

/// A trace without iterations of loops: its transitions and its cut points.
fn straight(
    predicate_loop: &PredicateLoop<'_, '_, '_>,
    trace: &Trace,
) -> (Vec<Transition>, Vec<Option<Cut>>) {
    let mut steps: Vec<(Option<Cut>, usize)> = Vec::new();
    for &(start, way) in &trace.steps {
        if let Some(before) = steps.iter().position(|(at, _)| *at == start) {
            steps.truncate(before);
        }
        if let EdgeCode::Transition(number) = way {
            steps.push((start, number));
        }
    }
    let transition = |&(start, number): &(Option<Cut>, usize)| {
        predicate_loop.base.graph.fragments[&start].transitions[number].clone()
    };
    (
        steps.iter().map(transition).collect(),
        steps.iter().map(|&(start, _)| start).collect(),
    )
}

/// Asks whether a goal is reached with some numbers of iterations of the loops on a path; true if
/// an execution confirms it.
fn around(
    predicate_loop: &mut PredicateLoop<'_, '_, '_>,
    loops: &mut Loops,
    way: &[Transition],
    error: usize,
) -> bool {
    let goal = predicate_loop.goal(error);
    let base = &mut *predicate_loop.base;
    let Goal::Obligation(start, index) = goal else {
        return false;
    };
    let obligation = &base.graph.fragments[&start].obligations[index];
    if obligation.vague {
        return false;
    }
    let check = obligation.check;
    let (wanted, assumptions_before) = goal.terms(&base.graph);
    let machine = Machine::new(base.program, Limits::default());
    let mut confirm = |tape: &[u8]| match machine.run(tape).outcome {
        Outcome::Violated(violation) => check.is_none() || violation.check == check,
        _ => false,
    };
    let spent = base.solver.spent();
    let time = base.options.time.mul_f64(ON_LOOPS).min(LOOPS);
    let facts = Facts::new();
    let forest = Forest::default();
    let mut asking = Asking {
        solver: &mut base.solver,
        graph: &mut base.graph,
        facts: &facts,
        forest: &forest,
        confirm: &mut confirm,
        longest: LONGEST,
        cancellation: base.cancellation.at_most(time, &spent),
        cost: &mut base.cost,
    };
    let found = loops.along(&mut asking, way, (&wanted, assumptions_before));
    base.stats.loop_segments = loops.stats.segments;
    base.stats.loop_paths = loops.stats.paths;
    base.stats.loop_answers = loops.stats.answers;
    base.stats.loop_seeds = loops.stats.confirmed;
    match found {
        Some(tape) => {
            predicate_loop.reached(error, &tape);
            true
        }
        None => false,
    }
}
