//! Loops by their closed forms, not turn by turn.
//!
//! After Kroening and Weissenbacher, *Counterexamples with loops for predicate abstraction* (2006): an abstract error path repeats
//! segments, the number of repetitions is a variable, and one question finds it (section 4). Their abstract paths come out of a
//! model checker; here a path is one through the graph of cut points, from the start of the program to a goal that does not
//! follow, and its segments are the ways around each loop on it: those that a solver finds one after the other, those of several turns that
//! executions show to repeat, and ways around an outer loop through the inner ones. The least number of turns is asked for,
//! by doubling and halving, and the tape that comes out is executed like any other: [`closed`] and [`path`] may be wrong about
//! what lies in between without harm.

mod closed;
mod decide;
mod lazy;
mod path;
#[cfg(test)]
mod tests;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

pub use closed::{Closed, Turn};
use decide::Decided;
use path::Taken;
pub use path::{Path, Segment};

use super::encode::Transition;
use super::forest::{Forest, Sample};
use super::graph::Graph;
use super::houdini::{Cost, Facts, Patience, ask};
use super::world::Cut;
use crate::program::ir::{BinOp, Pred};
use crate::solver::{Answer, Model, Z3};
use crate::term::{Environment, Term};

/// Segments of one loop.
const SEGMENTS: usize = 4;
/// Turns that a repeating pattern may have.
const PERIOD: usize = 16;
/// Turns of an execution in which a pattern is looked for.
const SEEN: usize = 40;
/// Executions in which one is looked for.
const EXAMPLES: usize = 12;
/// Paths tried for one goal.
const PATHS: usize = 12;
/// Answers that break a condition of some turn in between, before a path is given up.
const REPAIRS: usize = 12;
/// Pieces of a way around an outer loop.
const PIECES: usize = 4;
/// How long one question may take.
const QUESTION: Duration = Duration::from_millis(1_000);
/// How long the question for a segment may take.
const WAY: Duration = Duration::from_millis(200);
/// Longest tape, in bytes.
pub const LONGEST: usize = 64 << 20;

/// What it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoopStats {
    /// Segments found.
    pub segments: u64,
    /// Paths asked about.
    pub paths: u64,
    /// Paths with an answer.
    pub answers: u64,
    /// Answers that an execution confirmed.
    pub confirmed: u64,
}

/// The loops of a program.
#[derive(Debug, Default)]
pub struct Loops {
    segments: BTreeMap<Cut, Vec<Segment>>,
    numbers: u32,
    /// Counters.
    pub stats: LoopStats,
}

/// What all questions need.
pub struct Asking<'a, 'p> {
    /// The solver.
    pub solver: &'a mut Z3,
    /// The program.
    pub graph: &'a mut Graph<'p>,
    /// What is known of the cut points.
    pub facts: &'a Facts,
    /// States that executions reach.
    pub forest: &'a Forest,
    /// Executes a tape: does it reach what is asked for?
    pub confirm: &'a mut dyn FnMut(&[u8]) -> bool,
    /// How long to go on.
    pub patience: Patience<'a>,
    /// What it cost.
    pub cost: &'a mut Cost,
}

impl Loops {
    fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    /// A tape that reaches the goal (guard and condition, under the assumptions before it) of a fragment around
    /// the loops on the way, as an execution has shown; none if no path that was tried leads there.
    pub fn reach(
        &mut self,
        all: &mut Asking<'_, '_>,
        (start, goal, prefix): (Option<Cut>, &[Term], usize),
    ) -> Option<Vec<u8>> {
        let way = shortest(all.graph, start)?;
        let mut paths = vec![Path::from(None, self.number())];
        self.vary(all, &mut paths);
        for transition in way {
            for path in &mut paths {
                path.step(all.graph, &transition);
            }
            paths.retain(|path| !path.is_dead(&all.graph.pool));
            self.vary(all, &mut paths);
            if paths.is_empty() || all.patience.is_over() {
                return None;
            }
        }
        // Those with loops taken are what nobody else tries.
        paths.sort_by_key(|path| path.turns().count() == 0);
        for mut path in paths {
            if path.turns().next().is_none() || all.patience.is_over() {
                continue;
            }
            path.end(all.graph, goal, prefix);
            if path.is_dead(&all.graph.pool) {
                continue;
            }
            self.stats.paths += 1;
            if let Some(tape) = solve(all, path) {
                self.stats.answers += 1;
                if (all.confirm)(&tape) {
                    self.stats.confirmed += 1;
                    return Some(tape);
                }
            }
        }
        None
    }

    /// Each path, with each of the segments of the loop that it has come to, and with the turns that are left over of a pattern.
    fn vary(&mut self, all: &mut Asking<'_, '_>, paths: &mut Vec<Path>) {
        let Some(cut) = paths.first().and_then(|path| path.at) else {
            return;
        };
        self.find(all, cut);
        let segments = self.segments.get(&cut).cloned().unwrap_or_default();
        let own = own(all.graph, cut);
        let mut varied = Vec::new();
        for path in paths.iter() {
            // Of a pattern the turn that it can begin with here.
            let mut begun = false;
            for segment in &segments {
                if begun && segment.period > 1 {
                    continue;
                }
                let mut longer = path.clone();
                longer.go_around(all.graph, segment);
                if longer.is_stuck(&mut all.graph.pool) {
                    // The first turn may be another one.
                    let Some(transition) = own.as_ref().filter(|_| segment.period == 1) else {
                        continue;
                    };
                    longer = path.clone();
                    longer.step(all.graph, transition);
                    longer.go_around(all.graph, segment);
                    if longer.is_stuck(&mut all.graph.pool) {
                        continue;
                    }
                }
                begun |= segment.period > 1;
                varied.push(longer.clone());
                for _ in 1..segment.period {
                    let Some(transition) = &own else { break };
                    longer.step(all.graph, transition);
                    varied.push(longer.clone());
                }
            }
            if varied.is_empty() {
                varied.push(path.clone());
            }
        }
        if segments.is_empty() {
            return;
        }
        // Paths with fewer variations come first: they are the likelier ones.
        varied.truncate(PATHS);
        *paths = varied;
    }

    /// Finds the segments of a loop, once.
    fn find(&mut self, all: &mut Asking<'_, '_>, cut: Cut) {
        if self.segments.contains_key(&cut) {
            return;
        }
        // Whoever comes here again on the way finds nothing, which ends the recursion of nested loops.
        self.segments.insert(cut, Vec::new());
        let mut found = Vec::new();
        if let Some(transition) = own(all.graph, cut) {
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
        self.stats.segments += found.len() as u64;
        self.segments.insert(cut, found);
    }

    /// Goes around a loop through the loops inside.
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

    /// Patterns of several turns that an execution repeats.
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

    /// A pattern of several turns that an execution from this state on repeats, beginning with each of its turns.
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
                .chain(&fragment.assumptions[..transition.prefix]);
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
                // Each turn is decided as this execution went.
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

/// Where in a row of turns a pattern of several begins to repeat, and how long it is.
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

/// The transition from a cut point back to itself.
fn own(graph: &Graph<'_>, cut: Cut) -> Option<Transition> {
    let fragment = graph.fragments.get(&Some(cut))?;
    fragment.transitions.iter().find(|t| t.to == cut).cloned()
}

/// The ways from a cut point back to it through others.
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

/// The shortest way from the start of the program to a cut point.
fn shortest(graph: &Graph<'_>, to: Option<Cut>) -> Option<Vec<Transition>> {
    let mut from: BTreeMap<Option<Cut>, Vec<Transition>> = BTreeMap::from([(None, Vec::new())]);
    let mut queue = VecDeque::from([None]);
    while let Some(at) = queue.pop_front() {
        let way = from[&at].clone();
        if at == to {
            return Some(way);
        }
        for transition in &graph.fragments.get(&at)?.transitions {
            let next = Some(transition.to);
            if let Entry::Vacant(place) = from.entry(next) {
                let mut longer = way.clone();
                longer.push(transition.clone());
                place.insert(longer);
                queue.push_back(next);
            }
        }
    }
    None
}

/// The ways that a path around a loop can be taken again and again, one example after the other. `again` goes
/// around once more.
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
    // Loops inside are taken.
    for turns in path.turns() {
        let zero = all.graph.pool.constant(64, 0);
        let none = all.graph.pool.eq(turns, zero);
        excluded.push(all.graph.pool.not(none));
    }
    let most = found.len() + SEGMENTS;
    for _ in 0..EXAMPLES {
        if found.len() == most || all.patience.is_over() {
            return;
        }
        let limits = all.patience.within(WAY);
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
        // A way that ends the loop is none around it.
        let mut next = crate::term::Rewriter::new();
        for &(variable, value) in &segment.turn.terms {
            next.replace(variable, value);
        }
        let mut twice = segment.conditions.clone();
        twice.extend(segment.conditions.iter().map(|&t| next.apply(pool, t)));
        let limits = all.patience.within(WAY);
        if let Answer::Unsat { .. } = ask(all.solver, all.graph, &twice, &[], &limits, all.cost) {
            continue;
        }
        found.push(segment);
    }
}

/// A path around a loop, as an example takes it.
///
/// None if the example does not take it.
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
        turn: Turn { terms, arrays },
        conditions,
        taken,
        period: 1,
    })
}

/// What an example takes from the tape.
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

/// Asks for a tape with the least number of turns.
fn solve(all: &mut Asking<'_, '_>, path: Path) -> Option<Vec<u8>> {
    let pool = &mut all.graph.pool;
    let mut total = pool.constant(64, 0);
    for turns in path.turns().collect::<Vec<_>>() {
        total = pool.bin(BinOp::Add, total, turns);
    }
    let mut formula = path.formula(pool);
    let mut best: Option<(u64, Model)> = None;
    let mut repairs = 0;
    // Is there any, and then: with half as many turns?
    let mut low = 0u64;
    loop {
        if all.patience.is_over() {
            break;
        }
        let pool = &mut all.graph.pool;
        let mut more = Vec::new();
        if let Some((most, _)) = &best {
            if low >= *most {
                break;
            }
            let half = pool.constant(64, u128::from(low + (*most - low) / 2));
            more.push(pool.cmp(Pred::Ule, total, half));
        }
        let limits = all.patience.within(QUESTION);
        match ask(all.solver, all.graph, &formula, &more, &limits, all.cost) {
            Answer::Sat(model) => {
                if let Some(also) = path.broken(&mut all.graph.pool, &model, 1 << repairs) {
                    repairs += 1;
                    if repairs > REPAIRS {
                        break;
                    }
                    formula.extend(also);
                    continue;
                }
                let mut evaluator = crate::term::Evaluator::new();
                let turns = evaluator.eval_in(&all.graph.pool, total, &model) as u64;
                best = Some((turns, model));
            }
            _ => match &best {
                None => return None,
                Some((most, _)) => low = low + (*most - low) / 2 + 1,
            },
        }
    }
    let (_, model) = best?;
    path.tape(&all.graph.pool, &model, LONGEST)
}
