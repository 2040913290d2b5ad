//! Simulates an abstract path in the real program, and refines the abstraction.
//!
//! The pieces of code on the path form one formula (SLAM's simulation, CRunner's section 3.4). A
//! model of it gives an input. If there is none, the guards of the unsatisfiable core are the
//! reason. The abstraction needs their weakest preconditions, place by place, from the last guard
//! back to where they cannot hold: their atoms are the new predicates. Inputs that a step reads are
//! quantified there; an input that an equation determines is replaced, and an atom that still
//! depends on an input is not a predicate.

use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use super::model::{Abstraction, EdgeCode, condition};
use super::predicates::atoms;
use super::program::AbstractPath;
use cegar_model::solver::{Answer, Model, Solver, Z3};
use cegar_model::symbolic::encode::Transition;
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Node, Pool, Rewriter, Symbol, Term};
use cegar_search::abstraction::asking::{Cancellation, Cost};
use cegar_search::abstraction::graph::Graph;
use cegar_search::abstraction::loops::Path;
use cegar_search::abstraction::state_symbols::{StateSymbols, leaves};

/// The time limit of the query about a whole path.
const QUESTION: Duration = Duration::from_secs(5);
/// The maximum number of symbols of a predicate.
const SYMBOLS: usize = 24;
/// The longest tape, in bytes.
const LONGEST: usize = 1 << 22;

/// A path of the program, not of its abstraction.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The start of each step, and its code.
    pub steps: Vec<(Option<Cut>, EdgeCode)>,
}

impl Trace {
    /// The steps of an abstract path.
    pub fn of(abstraction: &Abstraction, path: &AbstractPath) -> Trace {
        let steps = path.steps.iter();
        Trace {
            steps: steps.map(|step| abstraction.edge_code(step.edge)).collect(),
        }
    }
}

/// The result of a simulation.
#[derive(Debug)]
pub enum Simulated {
    /// The program can take the path with this tape; if the path does not begin at the start, from
    /// a state with these values.
    Possible {
        /// The part of the tape that is read from the start of the path.
        tape: Vec<u8>,
        /// The values.
        model: Model,
    },
    /// It cannot take the path, because of these guards: the step, from 0, and the guard over the
    /// variables where the step begins.
    Impossible(Vec<(usize, Term)>),
    /// The solver gave no answer.
    Unknown,
}

/// Whether the program can take the first `most` steps of a trace, from the end of `path`, where
/// `known` holds.
pub fn simulate(
    solver: &mut Z3,
    graph: &mut Graph<'_>,
    (trace, most): (&Trace, usize),
    (mut path, known): (Path, &[Term]),
    cancellation: Cancellation<'_>,
    cost: &mut Cost,
) -> Simulated {
    let mut steps = 0;
    for &(start, way) in trace.steps.iter().take(most) {
        steps += 1;
        let Some(fragment) = graph.fragments.get(&start) else {
            return Simulated::Unknown;
        };
        match way {
            EdgeCode::Transition(i) => {
                let transition: Transition = fragment.transitions[i].clone();
                path.step(graph, &transition);
            }
            EdgeCode::Error(_) => {
                // The condition includes the assumptions already.
                let goal = condition(graph, start, way);
                path.end(graph, &goal, 0);
            }
        }
        if path.is_dead(&graph.pool) {
            break;
        }
    }
    let conditions = path.conditions.clone();
    let dead = conditions
        .iter()
        .position(|&t| graph.pool.as_const(t) == Some(0));
    let core = match dead {
        Some(at) => vec![at],
        None => {
            let mut all = conditions.clone();
            all.extend(known);
            let limits = cegar_model::solver::Limits {
                core: true,
                ..cancellation.within(QUESTION)
            };
            let clock = Instant::now();
            cost.solver_calls += 1;
            let answer = solver.check(&mut graph.pool, &all, &limits);
            cost.seconds += clock.elapsed().as_secs_f64();
            match answer {
                Answer::Sat(model) => {
                    let Some(tape) = path.tape(&graph.pool, &model, LONGEST) else {
                        return Simulated::Unknown;
                    };
                    return Simulated::Possible { tape, model };
                }
                Answer::Unsat { core } => core,
                Answer::Unknown(_) => {
                    cost.unknown += 1;
                    return Simulated::Unknown;
                }
            }
        }
    };
    let mut why: Vec<(usize, Term)> = core
        .into_iter()
        .filter_map(|at| path.origin(*conditions.get(at)?))
        .map(|(step, guard)| (step as usize - 1, guard))
        .collect();
    why.sort_unstable();
    debug_assert!(why.iter().all(|(step, _)| *step < steps));
    Simulated::Impossible(why)
}

/// The variables that the first steps of a path set to constants, with their values, where the
/// guards that were found depend on them. Such equations also exclude the path; they are used when
/// weakest preconditions depend on inputs.
pub fn constants(
    graph: &mut Graph<'_>,
    trace: &Trace,
    about: &[FxHashSet<Symbol>],
    mut path: Path,
) -> Vec<(Cut, Term)> {
    let mut found = Vec::new();
    for (step, &(start, way)) in trace.steps.iter().enumerate().take(about.len()) {
        if let Some(cut) = start {
            for (variable, value) in path.turn().terms {
                let pool = &mut graph.pool;
                let is_asked = pool.symbols(variable).all(|s| about[step].contains(&s));
                if is_asked && pool.as_const(value).is_some() {
                    found.push((cut, pool.eq(variable, value)));
                }
            }
        }
        let EdgeCode::Transition(i) = way else { break };
        if step + 1 < about.len() {
            let transition = graph.fragments[&start].transitions[i].clone();
            path.step(graph, &transition);
        }
    }
    found
}

/// The predicates that the guards of a trace depend on: with them at its cut points, the trace is
/// not an abstract path any more. Also returns the symbols that the guards depend on, step by step.
pub fn predicates(
    graph: &mut Graph<'_>,
    trace: &Trace,
    why: &[(usize, Term)],
) -> (Vec<(Cut, Term)>, Vec<FxHashSet<Symbol>>) {
    let mut found = Vec::new();
    let Some(&(last, _)) = why.last() else {
        return (found, Vec::new());
    };
    let mut about = vec![FxHashSet::default(); last + 1];
    let mut wanted: Vec<Term> = Vec::new();
    for step in (0..=last).rev() {
        let (start, way) = trace.steps[step];
        if let (true, EdgeCode::Transition(i)) = (step < last, way) {
            let transition = graph.fragments[&start].transitions[i].clone();
            let mut back = graph.update(start, &transition).preimage();
            for t in &mut wanted {
                *t = back.apply(&mut graph.pool, *t);
            }
        }
        wanted.extend(why.iter().filter(|(at, _)| *at == step).map(|&(_, t)| t));
        let Some(cut) = start else {
            break;
        };
        let own = StateSymbols::of(graph, Some(cut));
        let pool = &mut graph.pool;
        wanted = without_unknowns(pool, wanted, &own, step);
        for &t in &wanted {
            about[step].extend(pool.symbols(t));
        }
        if wanted.iter().any(|&t| pool.as_const(t) == Some(0)) {
            break;
        }
        for &t in &wanted {
            for atom in atoms(pool, t) {
                let symbols = pool.symbols(atom).count();
                if symbols > SYMBOLS {
                    continue;
                }
                if own.covers(pool, atom) {
                    found.push((cut, atom));
                } else {
                    found.extend(extremes(pool, atom, &own).map(|atom| (cut, atom)));
                }
            }
        }
    }
    let mut seen = FxHashSet::default();
    found.retain(|&new| seen.insert(new));
    (found, about)
}

/// Restricts conditions on a step's state and inputs to conditions on its state, as far as
/// equations allow. Inputs get names of their own for this step.
fn without_unknowns(
    pool: &mut Pool,
    conditions: Vec<Term>,
    own: &StateSymbols,
    step: usize,
) -> Vec<Term> {
    let mut all = own.solve(pool, &conditions);
    all.sort_unstable();
    // The same code may be executed again, with other inputs.
    let mut unknowns = FxHashSet::default();
    for &t in &all {
        unknowns.extend(pool.symbols(t).filter(|&symbol| !own.has(symbol)));
    }
    let mut renaming = Rewriter::new();
    for &t in &all {
        for leaf in leaves(pool, t) {
            if let Node::Variable(number) = *pool.node(leaf)
                && unknowns.contains(&Symbol::Variable(number))
            {
                let name = format!("{}~{step}", pool.variable_name(number));
                let width = pool.width(leaf);
                let copy = pool.variable(&name, width);
                renaming.replace(leaf, copy);
            }
        }
    }
    all.into_iter().map(|t| renaming.apply(pool, t)).collect()
}

/// A condition that depends on an input, for the least and the greatest input: if it is monotonic
/// in the input, one of these tells whether any input satisfies it.
fn extremes(pool: &mut Pool, atom: Term, own: &StateSymbols) -> impl Iterator<Item = Term> + use<> {
    let mut found = Vec::new();
    let about_state = pool.symbols(atom).any(|symbol| own.has(symbol));
    let unknowns: Vec<Term> = leaves(pool, atom)
        .into_iter()
        .filter(|&leaf| own.is_foreign(pool, leaf))
        .collect();
    if about_state && unknowns.len() == 1 {
        for least in [true, false] {
            let mut rewriter = Rewriter::new();
            for &unknown in &unknowns {
                let width = pool.width(unknown);
                let end = if least { 0 } else { u128::MAX };
                let end = pool.constant(width, end);
                rewriter.replace(unknown, end);
            }
            let t = rewriter.apply(pool, atom);
            if pool.as_const(t).is_none() && own.covers(pool, t) {
                found.push(t);
            }
        }
    }
    found.into_iter()
}
