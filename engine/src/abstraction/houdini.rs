//! Which guesses hold: Houdini.
//!
//! All guesses are assumed at once; one that some transition does not preserve is dropped, and with it everything that only held
//! because of it. What is left when no transition refutes anything is inductive together, bit-precisely. An answer that the
//! solver does not give in time counts against the guess.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::graph::Graph;
use super::world::Cut;
use crate::deadline;
use crate::program::ir::Pred;
use crate::solver::{Answer, Circuit, Limits, Solver, Z3, steps};
use crate::term::{Evaluator, Node, Rewriter, Term, value};

/// Facts by cut point.
pub type Facts = BTreeMap<Cut, Vec<Term>>;

/// What it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Questions to the solver.
    pub solver_calls: u64,
    /// Questions it did not answer.
    pub unknown: u64,
    /// Guesses dropped.
    pub dropped: u64,
    /// Transitions looked at.
    pub visits: u64,
    /// Seconds in the solver.
    pub seconds: f64,
}

impl Cost {
    fn count(&mut self, answer: &Answer, start: Instant) {
        self.seconds += start.elapsed().as_secs_f64();
        self.solver_calls += 1;
        self.unknown += u64::from(matches!(answer, Answer::Unknown(_)));
    }
}

/// How long to go on.
#[derive(Clone, Copy, Debug)]
pub struct Patience<'a> {
    /// When to give up; none: the clock does not matter.
    pub deadline: Option<Instant>,
    /// The solver's meter, and where it stands when it is time to give up.
    pub steps: Option<(&'a Cell<u64>, u64)>,
    /// Set when nobody waits for the answer any more.
    pub stop: &'a AtomicBool,
}

impl<'a> Patience<'a> {
    /// The same, but no longer than this from now on.
    #[must_use]
    pub fn at_most(&self, time: Duration, spent: &'a Cell<u64>) -> Patience<'a> {
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

    /// Notes steps that the meter does not see by itself.
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

    /// The limits of a question that may take `most`: so many steps of the solver, and, where the clock matters at all, several
    /// times as long, since other work beside it is no reason to give up a guess.
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

/// How much longer than on an idle machine a question may take.
const SLACK: u32 = 4;
/// How long one question may take.
const QUESTION: Duration = Duration::from_millis(1500);
/// How long a question about a single guess may take.
const SINGLE: Duration = Duration::from_millis(200);
/// So many of these may go unanswered where a transition is asked about.
const HARD: u32 = 24;

/// The cut points from which a fragment can be reached, its own start among them.
pub fn before(graph: &Graph<'_>, targets: &BTreeSet<Option<Cut>>) -> BTreeSet<Cut> {
    let mut all: BTreeSet<Cut> = targets.iter().copied().flatten().collect();
    loop {
        let count = all.len();
        for (start, fragment) in &graph.fragments {
            if let Some(start) = start
                && fragment.transitions.iter().any(|t| all.contains(&t.to))
            {
                all.insert(*start);
            }
        }
        if all.len() == count {
            return all;
        }
    }
}

/// Drops guesses until the rest is inductive. False if time ran out first: then nothing is known of any.
pub fn houdini(
    solver: &mut Z3,
    graph: &mut Graph<'_>,
    fixed: &Facts,
    guesses: &mut Facts,
    patience: Patience<'_>,
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
        patience,
        cost,
        circuits: FxHashMap::default(),
    };
    while let Some(key) = queue.pop_front() {
        queued.remove(&key);
        if patience.is_over() {
            return false;
        }
        let (start, index) = key;
        let graph = &mut *induction.graph;
        let transition = graph.fragments[&start].transitions[index].clone();
        let target = transition.to;
        if guesses.get(&target).is_none_or(Vec::is_empty) {
            continue;
        }
        induction.cost.visits += 1;
        let rewriter = updates
            .entry(key)
            .or_insert_with(|| graph.update(start, &transition).preimage());
        let wanted = guesses[&target].clone();
        let after: Vec<Term> = wanted
            .iter()
            .map(|&t| rewriter.apply(&mut graph.pool, t))
            .collect();
        let assumed: Vec<Term> = start
            .and_then(|cut| guesses.get(&cut))
            .cloned()
            .unwrap_or_default();
        let held = induction.preserved(key, assumed, &after);
        let kept: Vec<Term> = wanted
            .iter()
            .zip(&held)
            .filter(|(_, held)| **held)
            .map(|(&t, _)| t)
            .collect();
        if kept.len() < wanted.len() {
            induction.cost.dropped += (wanted.len() - kept.len()) as u64;
            guesses.insert(target, kept);
            for &next in transitions.iter().filter(|(s, _)| *s == Some(target)) {
                if queued.insert(next) {
                    queue.push_back(next);
                }
            }
            // What was assumed of the target is assumed of the start where they are the same.
            if start == Some(target) && queued.insert(key) {
                queue.push_back(key);
            }
        }
    }
    true
}

/// A transition: where it starts, and which of its fragment's.
type Key = (Option<Cut>, usize);

/// So many transitions keep their circuit.
const CIRCUITS: usize = 128;

/// One round of questions about transitions.
struct Induction<'a, 'p> {
    solver: &'a mut Z3,
    graph: &'a mut Graph<'p>,
    fixed: &'a Facts,
    patience: Patience<'a>,
    cost: &'a mut Cost,
    /// By transition; none where it is not for one.
    circuits: FxHashMap<Key, Option<Circuit>>,
}

impl Induction<'_, '_> {
    /// Which of `after` follow from what is known and `assumed` along a transition.
    fn preserved(&mut self, key: Key, assumed: Vec<Term>, after: &[Term]) -> Vec<bool> {
        let fixed = key.0.and_then(|cut| self.fixed.get(&cut));
        let fixed: Vec<Term> = fixed.cloned().unwrap_or_default();
        let is_open = |t: Term| {
            let trivial = self.graph.pool.as_const(t) == Some(1);
            !trivial && !fixed.contains(&t) && !assumed.contains(&t)
        };
        let mut held: Vec<bool> = vec![true; after.len()];
        let mut open: Vec<usize> = (0..after.len()).filter(|&i| is_open(after[i])).collect();
        let fixed = strongest(self.graph, fixed);
        let assumed = strongest(self.graph, assumed);
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
            // One by one: most are easy, and the hard one is to be dropped. Where many are hard, all the rest is.
            let mut hard = 0;
            for i in std::mem::take(&mut open) {
                if hard >= HARD || self.patience.is_over() {
                    held[i] = false;
                    continue;
                }
                let not = self.graph.pool.not(after[i]);
                let answer = self.ask(key, &fixed, &assumed, not, SINGLE);
                held[i] = matches!(answer, Answer::Unsat { .. });
                hard += u32::from(matches!(answer, Answer::Unknown(_)));
            }
        }
        held
    }

    fn ask(
        &mut self,
        key: Key,
        fixed: &[Term],
        assumed: &[Term],
        some: Term,
        time: Duration,
    ) -> Answer {
        let limits = self.patience.within(time);
        if !self.circuits.contains_key(&key) {
            if self.circuits.len() >= CIRCUITS {
                self.circuits.clear();
            }
            let known = along(self.graph, key.0, key.1, fixed);
            let circuit = self.solver.circuit(&mut self.graph.pool, &known);
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
        // What is hard bit by bit is often easy by words: from now on this transition is Z3's.
        self.circuits.insert(key, None);
        let limits = self.patience.within(time);
        let known = along(self.graph, key.0, key.1, fixed);
        ask(self.solver, self.graph, &known, &more, &limits, self.cost)
    }
}

/// Without the bounds that a tighter one of the same value implies.
pub fn strongest(graph: &Graph<'_>, facts: Vec<Term>) -> Vec<Term> {
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

/// Asks whether all of these can hold together, and counts.
pub fn ask(
    solver: &mut Z3,
    graph: &mut Graph<'_>,
    known: &[Term],
    terms: &[Term],
    limits: &Limits,
    cost: &mut Cost,
) -> Answer {
    let start = Instant::now();
    let all: Vec<Term> = known.iter().chain(terms).copied().collect();
    let answer = solver.check(&mut graph.pool, &all, limits);
    cost.count(&answer, start);
    answer
}

/// What holds where a transition is taken from a state of which `known` holds.
pub fn along(graph: &mut Graph<'_>, start: Option<Cut>, index: usize, known: &[Term]) -> Vec<Term> {
    let mut all = graph.axioms(start);
    all.extend(known);
    let fragment = &graph.fragments[&start];
    let transition = &fragment.transitions[index];
    all.extend(&transition.reached.guard.0);
    all.extend(&fragment.assumptions[..transition.prefix]);
    all
}
