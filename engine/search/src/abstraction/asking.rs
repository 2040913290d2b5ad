//! Solver queries about a graph, their cost, and when to give up.
//!
//! All ways to find invariants ask the solver the same kind of query: whether some facts and some
//! conditions can hold together. All of them have to stop when the result is no longer wanted.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cegar_checker::implied_equations::implied_equations;
use cegar_model::deadline;
use cegar_model::program::ir::Pred;
use cegar_model::solver::{Answer, Limits, Solver, Z3, steps};
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Node, Term, value};
use rustc_hash::FxHashMap;

use super::graph::Graph;

/// Facts by cut point.
pub type Facts = BTreeMap<Cut, Vec<Term>>;

/// The cost of queries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Queries to the solver.
    pub solver_calls: u64,
    /// Queries that it did not answer.
    pub unknown: u64,
    /// Candidates dropped.
    pub dropped: u64,
    /// Transitions visited.
    pub visits: u64,
    /// Seconds spent in the solver.
    pub seconds: f64,
}

impl Cost {
    pub(super) fn count(&mut self, answer: &Answer, start: Instant) {
        self.seconds += start.elapsed().as_secs_f64();
        self.solver_calls += 1;
        self.unknown += u64::from(matches!(answer, Answer::Unknown(_)));
    }
}

/// When to give up.
#[derive(Clone, Copy, Debug)]
pub struct Cancellation<'a> {
    /// The time at which to give up; `None`: time does not matter.
    pub deadline: Option<Instant>,
    /// The counter of the solver's steps, and its value at which to give up.
    pub steps: Option<(&'a Cell<u64>, u64)>,
    /// Set when the result is no longer wanted.
    pub stop: &'a AtomicBool,
}

impl<'a> Cancellation<'a> {
    /// The same, but with at most `time` from now on.
    #[must_use]
    pub fn at_most(&self, time: Duration, spent: &'a Cell<u64>) -> Cancellation<'a> {
        let mut less = *self;
        match self.steps {
            Some((_, most)) => less.steps = Some((spent, most.min(spent.get() + steps(time)))),
            None => {
                let end = Instant::now() + time;
                less.deadline = Some(self.deadline.map_or(end, |deadline| deadline.min(end)));
            }
        }
        less
    }

    /// Adds steps that the counter does not see by itself.
    pub fn note(&self, steps: u64) {
        if let Some((spent, _)) = self.steps {
            spent.set(spent.get() + steps);
        }
    }

    /// Whether to give up.
    pub fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
            || self.steps.is_some_and(|(spent, most)| spent.get() > most)
            || self.deadline.is_some_and(|end| Instant::now() > end)
            || deadline::passed()
    }

    /// The limits of a query that may take `most`: the equivalent number of solver steps and, if
    /// time matters at all, several times `most`, since load on the machine is no reason to drop a
    /// candidate.
    pub fn within(&self, most: Duration) -> Limits {
        let counted = limited(most).counted();
        let Some(deadline) = self.deadline else {
            return counted;
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let time = (most * SLACK).min(left).max(Duration::from_millis(1));
        Limits {
            time: Some(time),
            ..counted
        }
    }
}

fn limited(time: Duration) -> Limits {
    Limits {
        time: Some(time),
        ..Limits::default()
    }
}

/// How much longer than on an idle machine a query may take.
const SLACK: u32 = 4;
/// The cut points from which the targets can be reached, including the starts of the targets.
pub fn cuts_reaching(graph: &Graph<'_>, targets: &BTreeSet<Option<Cut>>) -> BTreeSet<Cut> {
    let used = |targets: &BTreeSet<Option<Cut>>| -> BTreeSet<Cut> {
        let starts = targets.iter();
        starts.flat_map(|start| graph.used(*start)).collect()
    };
    let mut all = used(targets);
    loop {
        let count = all.len();
        for (start, fragment) in &graph.fragments {
            if fragment.transitions.iter().any(|t| all.contains(&t.to)) {
                all.extend(graph.used(*start));
            }
        }
        if all.len() == count {
            return all;
        }
    }
}

/// Removes the bounds that are implied by a tighter bound of the same value.
pub fn drop_implied_bounds(graph: &Graph<'_>, facts: Vec<Term>) -> Vec<Term> {
    let pool = &graph.pool;
    let mut best: FxHashMap<(Pred, Term, bool), u128> = FxHashMap::default();
    let bound = |t: Term| match *pool.node(t) {
        Node::Cmp(pred @ (Pred::Ult | Pred::Slt), a, b) => {
            let upper = pool.as_const(b).map(|c| ((pred, a, true), c));
            upper.or_else(|| pool.as_const(a).map(|c| ((pred, b, false), c)))
        }
        _ => None,
    };
    let tighter = |key: (Pred, Term, bool), c: u128, than: u128| {
        let less = value::cmp(key.0, pool.width(key.1), c, than);
        c != than && less == key.2
    };
    for (key, c) in facts.iter().filter_map(|&t| bound(t)) {
        let known = best.entry(key).or_insert(c);
        if tighter(key, c, *known) {
            *known = c;
        }
    }
    let is_best = |t: &Term| bound(*t).is_none_or(|(key, c)| best.get(&key) == Some(&c));
    facts.into_iter().filter(is_best).collect()
}

/// Asks whether all of these can hold together, and counts the query.
pub fn ask(
    solver: &mut Z3,
    graph: &mut Graph<'_>,
    known: &[Term],
    terms: &[Term],
    limits: &Limits,
    cost: &mut Cost,
) -> Answer {
    let start = Instant::now();
    let mut all: Vec<Term> = known.iter().chain(terms).copied().collect();
    // Adds the same consequences as the checker, unless a core is wanted: its indices must be into
    // the terms of the query.
    if !limits.core {
        let asked = all.len();
        all.extend(implied_equations(&mut graph.pool, &all));
        let mut answer = solver.check(&mut graph.pool, &all, limits);
        if let Answer::Unsat { core } = &mut answer {
            core.retain(|&at| at < asked);
        }
        cost.count(&answer, start);
        return answer;
    }
    let answer = solver.check(&mut graph.pool, &all, limits);
    cost.count(&answer, start);
    answer
}

/// What holds when a transition is taken from a state that satisfies `known`.
pub fn along(graph: &mut Graph<'_>, start: Option<Cut>, index: usize, known: &[Term]) -> Vec<Term> {
    let mut all = graph.axioms(start);
    all.extend(known);
    let fragment = &graph.fragments[&start];
    let transition = &fragment.transitions[index];
    all.extend(&transition.reached.guard.0);
    all.extend(&fragment.assumptions[..transition.assumptions_before]);
    all
}
