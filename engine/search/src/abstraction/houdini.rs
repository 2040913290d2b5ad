//! Houdini: finds the inductive ones among the candidates.
//!
//! All candidates are assumed at once. A candidate that some transition does not preserve is
//! dropped, and with it every candidate that held only because of it. When no transition refutes a
//! candidate any more, the rest is inductive together, bit-precisely. A query that the solver does
//! not answer in time counts against the candidate.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use cegar_model::solver::{Answer, Z3};
use cegar_model::symbolic::every;
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Evaluator, Rewriter, Term, sides};
use rustc_hash::FxHashMap;

use super::asking::{Cancellation, Cost, Facts, along, ask, drop_implied_bounds};
use super::graph::Graph;
use crate::solver::Circuit;

/// The time limit of a query about all candidates of a transition.
const QUESTION: Duration = Duration::from_millis(1500);
/// The time limit of a query about a single candidate.
const SINGLE: Duration = Duration::from_millis(200);
/// The maximum depth of nested case distinctions for a single candidate whose query got no answer.
const DEPTH: u32 = 2;
/// The number of single candidates per transition whose queries may get no answer; after that all
/// others are dropped.
const HARD: u32 = 24;

/// Drops candidates until the rest is inductive. Returns false if time ran out first: then nothing
/// is known of any candidate.
pub fn houdini(
    solver: &mut Z3,
    graph: &mut Graph<'_>,
    fixed: &Facts,
    candidates: &mut Facts,
    cancellation: Cancellation<'_>,
    cost: &mut Cost,
) -> bool {
    let mut transitions: Vec<Key> = Vec::new();
    for (&start, fragment) in &graph.fragments {
        transitions.extend((0..fragment.transitions.len()).map(|i| (start, i)));
    }
    let mut updates: FxHashMap<Key, Rewriter> = FxHashMap::default();
    let mut queue: VecDeque<Key> = transitions.iter().copied().collect();
    let mut queued: BTreeSet<Key> = transitions.iter().copied().collect();
    let mut induction = Induction {
        solver,
        graph,
        fixed,
        cancellation,
        cost,
        circuits: FxHashMap::default(),
    };
    while let Some(key) = queue.pop_front() {
        queued.remove(&key);
        if cancellation.is_over() {
            return false;
        }
        let (start, index) = key;
        let graph = &mut *induction.graph;
        let transition = graph.fragments[&start].transitions[index].clone();
        let target = transition.to;
        if candidates.get(&target).is_none_or(Vec::is_empty) {
            continue;
        }
        induction.cost.visits += 1;
        let rewriter = updates
            .entry(key)
            .or_insert_with(|| graph.update(start, &transition).preimage());
        let wanted = candidates[&target].clone();
        let after: Vec<Term> = wanted
            .iter()
            .map(|&t| rewriter.apply(&mut graph.pool, t))
            .collect();
        let assumed: Vec<Term> = start
            .and_then(|cut| candidates.get(&cut))
            .cloned()
            .unwrap_or_default();
        let related = graph.related(start, candidates);
        let held = induction.preserved(key, (assumed, related), &after);
        let kept: Vec<Term> = wanted
            .iter()
            .zip(&held)
            .filter(|(_, held)| **held)
            .map(|(&t, _)| t)
            .collect();
        if kept.len() < wanted.len() {
            induction.cost.dropped += (wanted.len() - kept.len()) as u64;
            candidates.insert(target, kept);
            let graph = &*induction.graph;
            let uses = |start: Option<Cut>| graph.used(start).any(|cut| cut == target);
            for &next in transitions.iter().filter(|(start, _)| uses(*start)) {
                if queued.insert(next) {
                    queue.push_back(next);
                }
            }
            // If the transition is a loop, the dropped candidates were also assumed at its start.
            if start == Some(target) && queued.insert(key) {
                queue.push_back(key);
            }
        }
    }
    true
}

/// A transition: the start of its fragment and its index there.
type Key = (Option<Cut>, usize);

/// The maximum number of transitions that keep their circuits.
const CIRCUITS: usize = 128;

/// One round of queries about transitions.
struct Induction<'a, 'p> {
    solver: &'a mut Z3,
    graph: &'a mut Graph<'p>,
    fixed: &'a Facts,
    cancellation: Cancellation<'a>,
    cost: &'a mut Cost,
    /// The circuit of each transition; `None` if it cannot be a circuit.
    circuits: FxHashMap<Key, Option<Circuit>>,
}

impl Induction<'_, '_> {
    /// Decides which of `after` hold after a transition, given the known facts, the candidates at
    /// its start (`assumed`) and the candidates about calls on the way (`related`).
    fn preserved(
        &mut self,
        key: Key,
        (assumed, related): (Vec<Term>, Vec<Term>),
        after: &[Term],
    ) -> Vec<bool> {
        let fixed = key.0.and_then(|cut| self.fixed.get(&cut));
        let fixed: Vec<Term> = fixed.cloned().unwrap_or_default();
        let is_open = |t: Term| {
            let trivial = self.graph.pool.as_const(t) == Some(1);
            !trivial && !fixed.contains(&t) && !assumed.contains(&t)
        };
        let mut held: Vec<bool> = vec![true; after.len()];
        let mut open: Vec<usize> = (0..after.len()).filter(|&i| is_open(after[i])).collect();
        let mut fixed = drop_implied_bounds(self.graph, fixed);
        let mut assumed = drop_implied_bounds(self.graph, assumed);
        self.put_in(key, (&mut fixed, &mut assumed), after);
        fixed.extend(self.graph.related(key.0, self.fixed));
        assumed.extend(related);
        while !open.is_empty() {
            let pool = &mut self.graph.pool;
            let negated: Vec<Term> = open.iter().map(|&i| pool.not(after[i])).collect();
            let some = pool.any(&negated);
            match self.ask(key, &fixed, &assumed, some, QUESTION) {
                Answer::Unsat { .. } => return held,
                Answer::Sat(model) => {
                    let mut evaluator = Evaluator::new();
                    let before = open.len();
                    open.retain(|&i| {
                        let holds = evaluator.eval_in(&self.graph.pool, after[i], &model) == 1;
                        held[i] = holds;
                        holds
                    });
                    if open.len() < before {
                        continue;
                    }
                }
                Answer::Unknown(_) => {}
            }
            // One by one: most are easy, and the hard one is to be dropped. If many are hard, the
            // rest is assumed to be hard as well.
            let mut hard = 0;
            for i in std::mem::take(&mut open) {
                if hard >= HARD || self.cancellation.is_over() {
                    held[i] = false;
                    continue;
                }
                let not = self.graph.pool.not(after[i]);
                let answer = self.by_cases(key, (&fixed, &assumed), not, DEPTH);
                held[i] = matches!(answer, Answer::Unsat { .. });
                hard += u32::from(matches!(answer, Answer::Unknown(_)));
            }
        }
        held
    }

    /// Asks about one candidate. If there is no answer, splits on a condition that decides between
    /// two values in it, and asks for each side. For example, the index of the least element so far
    /// is the old or the new one; to a solver, an element at such an index may be any element.
    fn by_cases(
        &mut self,
        key: Key,
        (fixed, assumed): (&[Term], &[Term]),
        not: Term,
        depth: u32,
    ) -> Answer {
        let answer = self.ask(key, fixed, assumed, not, SINGLE);
        if depth == 0 || !matches!(answer, Answer::Unknown(_)) {
            return answer;
        }
        let Some(sides) = sides(&mut self.graph.pool, not) else {
            return answer;
        };
        let mut last = answer;
        for (known, not) in sides {
            let assumed: Vec<Term> = assumed.iter().copied().chain([known]).collect();
            last = self.by_cases(key, (fixed, &assumed), not, depth - 1);
            if !matches!(last, Answer::Unsat { .. }) {
                return last;
            }
        }
        last
    }

    /// Adds the instances of facts about all elements for the elements that the transition or the
    /// terms in `after` read.
    fn put_in(
        &mut self,
        key: Key,
        (fixed, assumed): (&mut Vec<Term>, &mut Vec<Term>),
        after: &[Term],
    ) {
        let graph = &mut *self.graph;
        let fragment = &graph.fragments[&key.0];
        let transition = &fragment.transitions[key.1];
        let mut terms = after.to_vec();
        terms.extend(&transition.reached.guard.0);
        terms.extend(&fragment.assumptions[..transition.assumptions_before]);
        for facts in [fixed, assumed] {
            let more = every::instances(&mut graph.pool, facts, &terms);
            facts.extend(more);
        }
    }

    fn ask(
        &mut self,
        key: Key,
        fixed: &[Term],
        assumed: &[Term],
        some: Term,
        time: Duration,
    ) -> Answer {
        let limits = self.cancellation.within(time);
        if !self.circuits.contains_key(&key) {
            if self.circuits.len() >= CIRCUITS {
                self.circuits.clear();
            }
            let known = along(self.graph, key.0, key.1, fixed);
            let circuit = Circuit::new(&mut self.graph.pool, &known, self.solver.spent());
            self.circuits.insert(key, circuit);
        }
        let start = Instant::now();
        let more: Vec<Term> = assumed.iter().copied().chain([some]).collect();
        let circuit = self.circuits.get_mut(&key).and_then(Option::as_mut);
        let answer = circuit.and_then(|c| c.check(&mut self.graph.pool, &more, &limits));
        if let Some(answer) = answer {
            self.cost.count(&answer, start);
            if !matches!(answer, Answer::Unknown(_)) {
                return answer;
            }
        }
        // Queries that are hard for bits are often easy for words: from now on Z3 answers for this
        // transition.
        self.circuits.insert(key, None);
        let limits = self.cancellation.within(time);
        let known = along(self.graph, key.0, key.1, fixed);
        ask(self.solver, self.graph, &known, &more, &limits, self.cost)
    }
}
