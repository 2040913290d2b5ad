//! An abstract path taken to the real program.
//!
//! The pieces of code on the path, one after the other, are one formula (SLAM's simulation, CRunner's section 3.4). If it has a
//! model, that is an input. If not, the guards of its unsatisfiable core say why, and their weakest preconditions, place by
//! place from the last of them back to where they cannot hold, are what the abstraction has to know: their parts are the new
//! predicates. What a step reads from outside is quantified there; where an equation says what it was, it is replaced,
//! and what still depends on it is no predicate.

use rustc_hash::FxHashSet;

use super::super::encode::Transition;
use super::super::graph::Graph;
use super::super::houdini::{Cost, Patience};
use super::super::loops::Path;
use super::super::world::Cut;
use super::model::{Abstraction, Way, condition};
use super::predicates::{Vocabulary, atoms, conjuncts};
use super::program::AbstractPath;
use crate::program::ir::Pred;
use crate::solver::{Answer, Model, Solver, Z3};
use crate::term::{Node, Pool, Rewriter, Symbol, Term};
use std::time::{Duration, Instant};

/// How long the question about a whole path may take.
const QUESTION: Duration = Duration::from_secs(5);
/// A predicate with more symbols than this is not worth its bit.
const SYMBOLS: usize = 24;
/// Longest tape.
const LONGEST: usize = 1 << 22;

/// A path of the program, not of its abstraction.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Where each step begins, and the code it takes.
    pub steps: Vec<(Option<Cut>, Way)>,
}

impl Trace {
    /// Where an abstract path goes.
    pub fn of(abstraction: &Abstraction, path: &AbstractPath) -> Trace {
        let steps = path.steps.iter();
        Trace {
            steps: steps.map(|step| abstraction.way(step.edge)).collect(),
        }
    }
}

/// What came of it.
#[derive(Debug)]
pub enum Simulated {
    /// The program can go there: with this tape, and with these values where the path does not begin at the start.
    Possible {
        /// The tape from where the path begins.
        tape: Vec<u8>,
        /// The values.
        model: Model,
    },
    /// It cannot, because of these guards: the step, from 0, and the guard over the variables where the step begins.
    Impossible(Vec<(usize, Term)>),
    /// The solver does not tell.
    Unknown,
}

/// Whether the program can take a trace, or so many steps of it, beginning as `path` begins and where `known` holds.
pub fn simulate(
    solver: &mut Z3,
    graph: &mut Graph<'_>,
    (trace, most): (&Trace, usize),
    (mut path, known): (Path, &[Term]),
    patience: Patience<'_>,
    cost: &mut Cost,
) -> Simulated {
    let mut steps = 0;
    for &(start, way) in trace.steps.iter().take(most) {
        steps += 1;
        let Some(fragment) = graph.fragments.get(&start) else {
            return Simulated::Unknown;
        };
        match way {
            Way::Transition(i) => {
                let transition: Transition = fragment.transitions[i].clone();
                path.step(graph, &transition);
            }
            Way::Error(_) => {
                // The assumptions are in the condition already.
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
            let limits = crate::solver::Limits {
                core: true,
                ..patience.within(QUESTION)
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

/// A path's first steps have made constants of some variables. That each is what it is, where the guards that were found
/// depend on it, tells the path from others as well: for when weakest preconditions depend on what was read.
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
        let Way::Transition(i) = way else { break };
        if step + 1 < about.len() {
            let transition = graph.fragments[&start].transitions[i].clone();
            path.step(graph, &transition);
        }
    }
    found
}

/// The predicates that tell the guards of a trace apart: with them at its cut points the trace is no abstract path any more. Also
/// what the guards depend on, step by step.
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
        if let (true, Way::Transition(i)) = (step < last, way) {
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
        let vocabulary = Vocabulary::of(graph, Some(cut));
        let pool = &mut graph.pool;
        wanted = without_unknowns(pool, wanted, &vocabulary, step);
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
                if vocabulary.covers(pool, atom) {
                    found.push((cut, atom));
                } else {
                    found.extend(extremes(pool, atom, &vocabulary).map(|atom| (cut, atom)));
                }
            }
        }
    }
    let mut seen = FxHashSet::default();
    found.retain(|&new| seen.insert(new));
    (found, about)
}

/// Conditions on a step's state and on what it read, as conditions on its state as far as equations allow. What it read gets a
/// name that belongs to this step.
fn without_unknowns(
    pool: &mut Pool,
    conditions: Vec<Term>,
    vocabulary: &Vocabulary,
    step: usize,
) -> Vec<Term> {
    let mut all: Vec<Term> = Vec::new();
    for t in conditions {
        all.extend(conjuncts(pool, t));
    }
    loop {
        all.sort_unstable();
        all.dedup();
        let mut found = None;
        for (at, &t) in all.iter().enumerate() {
            if let Some(pair) = solved(pool, t, vocabulary) {
                found = Some((at, pair));
                break;
            }
        }
        let Some((at, (unknown, value))) = found else {
            break;
        };
        all.swap_remove(at);
        let mut rewriter = Rewriter::new();
        rewriter.replace(unknown, value);
        let mut next = Vec::new();
        for t in all {
            let t = rewriter.apply(pool, t);
            next.extend(conjuncts(pool, t));
        }
        all = next;
    }
    all.retain(|&t| pool.as_const(t) != Some(1));
    // The same code may be passed again: then it reads something else.
    let mut unknowns = FxHashSet::default();
    for &t in &all {
        unknowns.extend(pool.symbols(t).filter(|&symbol| !vocabulary.has(symbol)));
    }
    let mut own = Rewriter::new();
    for &t in &all {
        for leaf in leaves(pool, t) {
            if let Node::Variable(number) = *pool.node(leaf)
                && unknowns.contains(&Symbol::Variable(number))
            {
                let name = format!("{}~{step}", pool.variable_name(number));
                let width = pool.width(leaf);
                let copy = pool.variable(&name, width);
                own.replace(leaf, copy);
            }
        }
    }
    all.into_iter().map(|t| own.apply(pool, t)).collect()
}

/// The variables of a term.
fn leaves(pool: &Pool, t: Term) -> Vec<Term> {
    let all = pool.order(crate::term::Item::Term(t), |_| false);
    let terms = all.into_iter().filter_map(|item| match item {
        crate::term::Item::Term(t) => Some(t),
        crate::term::Item::Array(_) => None,
    });
    terms
        .filter(|&t| matches!(pool.node(t), Node::Variable(_)))
        .collect()
}

/// The value that an equation gives to something that was read.
fn solved(pool: &mut Pool, t: Term, vocabulary: &Vocabulary) -> Option<(Term, Term)> {
    let unknown = |pool: &Pool, t: Term| match *pool.node(t) {
        Node::Variable(number) => !vocabulary.has(Symbol::Variable(number)),
        _ => false,
    };
    if unknown(pool, t) {
        return Some((t, pool.bit(true)));
    }
    match *pool.node(t) {
        Node::Not(a) if unknown(pool, a) => Some((a, pool.bit(false))),
        Node::Cmp(Pred::Eq, a, b) => {
            for (variable, value) in [(a, b), (b, a)] {
                if unknown(pool, variable) {
                    let Node::Variable(number) = *pool.node(variable) else {
                        continue;
                    };
                    if pool.symbols(value).all(|s| s != Symbol::Variable(number)) {
                        return Some((variable, value));
                    }
                }
            }
            None
        }
        _ => None,
    }
}

/// A condition that depends on what was read, at the ends of what that can be: where it grows with what was read, one of
/// them says whether there is any.
fn extremes(
    pool: &mut Pool,
    atom: Term,
    vocabulary: &Vocabulary,
) -> impl Iterator<Item = Term> + use<> {
    let mut found = Vec::new();
    let about_state = pool.symbols(atom).any(|symbol| vocabulary.has(symbol));
    let unknowns: Vec<Term> = leaves(pool, atom)
        .into_iter()
        .filter(|&t| match *pool.node(t) {
            Node::Variable(number) => !vocabulary.has(Symbol::Variable(number)),
            _ => false,
        })
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
            if pool.as_const(t).is_none() && vocabulary.covers(pool, t) {
                found.push(t);
            }
        }
    }
    found.into_iter()
}
