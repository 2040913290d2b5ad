//! Finds the paths around a loop.
//!
//! SatAbs (figure 7) searches for states of an abstract path that repeat. A loop of the graph
//! repeats by itself; what has to be found is which paths through its body can be repeated. A
//! solver gives one example after the other, an execution shows patterns of several iterations, and
//! an outer loop leads through its inner loops, each taken an unknown number of times.

use std::collections::VecDeque;
use std::time::Duration;

use super::decide::Decided;
use super::path::{Path, Segment, Taken};
use super::{Asking, Loops};
use crate::abstraction::asking::ask;
use crate::abstraction::forest::Sample;
use crate::abstraction::graph::Graph;
use cegar_model::solver::Answer;
use cegar_model::symbolic::encode::Transition;
use cegar_model::symbolic::update::Update;
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Environment, Term};

/// The maximum number of segments of one loop.
const SEGMENTS: usize = 4;
/// The maximum number of iterations in a repeating pattern.
const PERIOD: usize = 16;
/// The number of iterations of an execution in which a pattern is searched.
const SEEN: usize = 40;
/// The number of executions in which a pattern is searched, and of examples that a solver is asked
/// for to find the paths around one loop.
const EXAMPLES: usize = 12;
/// The maximum number of transitions around an outer loop.
const PIECES: usize = 4;
/// The time limit of a query for a segment.
const WAY: Duration = Duration::from_millis(200);

impl Loops {
    /// Finds the segments of a loop, once.
    pub(super) fn find(&mut self, all: &mut Asking<'_, '_>, cut: Cut) {
        if self.segments.contains_key(&cut) {
            return;
        }
        // A recursive visit finds no segments, which ends the recursion for nested loops.
        self.segments.insert(cut, Vec::new());
        let mut found = Vec::new();
        if let Some(transition) = all.graph.own(cut).cloned() {
            self.patterns(all, cut, &transition, &mut found);
            let mut path = Path::from(Some(cut), self.number());
            path.step(all.graph, &transition);
            let mut again = path.clone();
            again.step(all.graph, &transition);
            ways(all, cut, (&path, &again), &mut found);
        }
        for round in rounds(all.graph, cut) {
            let mut path = Path::from(Some(cut), self.number());
            self.round(all, &round, &mut path);
            let mut again = path.clone();
            self.round(all, &round, &mut again);
            ways(all, cut, (&path, &again), &mut found);
        }
        if all.cancellation.is_over() {
            // Another call with more time may find more.
            self.segments.remove(&cut);
            return;
        }
        self.stats.segments += found.len() as u64;
        self.segments.insert(cut, found);
    }

    /// Goes once around an outer loop, through its inner loops.
    fn round(&mut self, all: &mut Asking<'_, '_>, round: &[Transition], path: &mut Path) {
        for (number, transition) in round.iter().enumerate() {
            path.step(all.graph, transition);
            let Some(inner) = path.at.filter(|_| number + 1 < round.len()) else {
                continue;
            };
            self.find(all, inner);
            if let Some(segment) = self.segments.get(&inner).and_then(|s| s.first()).cloned() {
                path.go_around(all.graph, &segment);
            }
        }
    }

    /// Finds a pattern of several iterations that an execution repeats.
    fn patterns(
        &mut self,
        all: &mut Asking<'_, '_>,
        cut: Cut,
        transition: &Transition,
        found: &mut Vec<Segment>,
    ) {
        let samples = all.forest.samples.get(&cut);
        for first in samples.into_iter().flatten().take(EXAMPLES) {
            if self.pattern(all, (cut, transition), first.clone(), found) {
                return;
            }
        }
    }

    /// Finds a pattern of several iterations that an execution from this state repeats. Adds a
    /// segment beginning with each of its iterations.
    fn pattern(
        &mut self,
        all: &mut Asking<'_, '_>,
        (cut, transition): (Cut, &Transition),
        first: Sample,
        found: &mut Vec<Segment>,
    ) -> bool {
        let update = all.graph.update(Some(cut), transition);
        let Some(fragment) = all.graph.fragments.get(&Some(cut)).cloned() else {
            return false;
        };
        let mut states: Vec<Sample> = Vec::new();
        let mut decisions: Vec<Vec<Term>> = Vec::new();
        let mut state = first;
        while states.len() < SEEN {
            let guard = transition
                .reached
                .guard
                .0
                .iter()
                .chain(&fragment.assumptions[..transition.assumptions_before]);
            let mut decided = Decided::new(&mut all.graph.pool, &state);
            let guard: Vec<Term> = guard.copied().collect();
            if !guard.iter().all(|&t| decided.decide(t)) {
                break;
            }
            for &(_, value) in &update.terms {
                decided.term(value);
            }
            let mut conditions = std::mem::take(&mut decided.conditions);
            conditions.sort_unstable();
            let next = state.after(&all.graph.pool, &update);
            states.push(std::mem::replace(&mut state, next));
            decisions.push(conditions);
        }
        let Some((at, period)) = repeating(&decisions) else {
            return false;
        };
        for begin in at..at + period {
            let mut path = Path::from(Some(cut), self.number());
            for state in &states[begin..begin + period] {
                // Each iteration is decided as in this execution.
                let mut single = Path::from(Some(cut), self.number());
                single.step(all.graph, transition);
                let Some(segment) = decided(all.graph, &single, state) else {
                    return false;
                };
                path.follow(all.graph, &segment);
            }
            found.push(Segment {
                turn: path.turn(),
                conditions: path.conditions.clone(),
                taken: path.taken.clone(),
                period,
            });
        }
        true
    }
}

/// Where a repeating pattern of several iterations begins, and its length.
fn repeating(turns: &[Vec<Term>]) -> Option<(usize, usize)> {
    for period in 1..=PERIOD {
        for at in 0..=period {
            if at + 3 * period > turns.len() {
                break;
            }
            if (at..turns.len() - period).all(|i| turns[i] == turns[i + period]) {
                return (period > 1).then_some((at, period));
            }
        }
    }
    None
}

/// The cycles from a cut point through other cut points.
fn rounds(graph: &Graph<'_>, cut: Cut) -> Vec<Vec<Transition>> {
    let mut all = Vec::new();
    let mut queue: VecDeque<Vec<Transition>> = VecDeque::from([Vec::new()]);
    while let Some(way) = queue.pop_front() {
        let at = way.last().map_or(cut, |t: &Transition| t.to);
        let Some(fragment) = graph.fragments.get(&Some(at)) else {
            continue;
        };
        for transition in &fragment.transitions {
            if transition.to == at {
                continue;
            }
            let mut longer = way.clone();
            longer.push(transition.clone());
            if transition.to == cut {
                all.push(longer);
            } else if longer.len() < PIECES && !way.iter().any(|t| t.to == transition.to) {
                queue.push_back(longer);
            }
        }
        if all.len() >= 2 || queue.len() > 64 {
            break;
        }
    }
    all.truncate(2);
    all
}

/// Finds the paths around a loop that can be repeated, one example after the other. `again` goes
/// around once more than `path`.
fn ways(
    all: &mut Asking<'_, '_>,
    cut: Cut,
    (path, again): (&Path, &Path),
    found: &mut Vec<Segment>,
) {
    let mut known = all.graph.axioms(Some(cut));
    known.extend(all.facts.get(&cut).into_iter().flatten());
    known.extend(again.formula(&mut all.graph.pool));
    let mut excluded: Vec<Term> = Vec::new();
    // The inner loops are taken at least once.
    for turns in path.turns() {
        let zero = all.graph.pool.constant(64, 0);
        let none = all.graph.pool.eq(turns, zero);
        excluded.push(all.graph.pool.not(none));
    }
    let most = found.len() + SEGMENTS;
    for _ in 0..EXAMPLES {
        if found.len() == most || all.cancellation.is_over() {
            return;
        }
        let limits = all.cancellation.within(WAY);
        let Answer::Sat(model) = ask(all.solver, all.graph, &known, &excluded, &limits, all.cost)
        else {
            return;
        };
        let Some(segment) = decided(all.graph, path, &model) else {
            return;
        };
        let pool = &mut all.graph.pool;
        let way = pool.all(&segment.conditions);
        let other = pool.not(way);
        excluded.push(other);
        // A path that always leaves the loop afterwards does not repeat.
        let mut next = segment.turn.preimage();
        let mut twice = segment.conditions.clone();
        twice.extend(segment.conditions.iter().map(|&t| next.apply(pool, t)));
        let limits = all.cancellation.within(WAY);
        if let Answer::Unsat { .. } = ask(all.solver, all.graph, &twice, &[], &limits, all.cost) {
            continue;
        }
        found.push(segment);
    }
}

/// The path around a loop that an example takes; `None` if the example does not go around the loop.
fn decided(graph: &mut Graph<'_>, path: &Path, example: &dyn Environment) -> Option<Segment> {
    let turn = path.turn();
    let mut decided = Decided::new(&mut graph.pool, example);
    for &t in &path.conditions {
        if !decided.decide(t) {
            return None;
        }
    }
    let taken = chosen(&mut decided, &path.taken);
    let terms = turn
        .terms
        .iter()
        .map(|&(v, u)| (v, decided.term(u)))
        .collect();
    let arrays = turn
        .arrays
        .iter()
        .map(|&(a, u)| (a, decided.array(u)))
        .collect();
    let conditions = std::mem::take(&mut decided.conditions);
    Some(Segment {
        turn: Update {
            terms,
            arrays,
            ..Update::default()
        },
        conditions,
        taken,
        period: 1,
    })
}

/// What an example reads from the tape.
fn chosen(decided: &mut Decided<'_>, all: &[Taken]) -> Vec<Taken> {
    let mut kept = Vec::new();
    for taken in all {
        match taken {
            Taken::Input(guard, input) => {
                let mut is_taken = true;
                for &t in guard {
                    is_taken &= decided.decide(t);
                }
                if is_taken {
                    kept.push(Taken::Input(Vec::new(), input.clone()));
                }
            }
            Taken::Times(turns, inner) => {
                kept.push(Taken::Times(*turns, chosen(decided, inner)));
            }
        }
    }
    kept
}
