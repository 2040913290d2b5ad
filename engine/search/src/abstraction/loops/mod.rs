//! Handles loops by their closed forms instead of unrolling them.
//!
//! After Kroening and Weissenbacher, *Counterexamples with loops for predicate abstraction* (2006):
//! an abstract error path repeats segments, the number of repetitions is a variable, and one query
//! finds it (section 4). Their abstract paths come from a model checker. Here a path leads through
//! the graph of cut points, from the start of the program to a goal that does not follow, and its
//! segments are the paths around each loop on it: paths that a solver finds one after the other,
//! patterns of several iterations that executions repeat, and paths around an outer loop through
//! the inner ones. The least number of iterations is found by bisection, and the resulting tape is
//! executed like any other. Therefore errors of [`closed`] and [`path`] about intermediate
//! iterations are harmless.

mod closed;
mod decide;
mod form;
mod lazy;
mod path;
mod recurrences;
mod renaming;
mod segments;
#[cfg(test)]
mod tests;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

pub use closed::Closed;
pub use path::{Path, Segment, Taken};

use super::asking::{Cancellation, Cost, Facts, ask};
use super::forest::Forest;
use super::graph::Graph;
use cegar_model::program::ir::{BinOp, Pred};
use cegar_model::solver::{Answer, Model, Z3};
use cegar_model::symbolic::encode::Transition;
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Evaluator, Term};

/// The maximum number of paths for one goal.
const PATHS: usize = 12;
/// The maximum number of answers that violate a condition of an intermediate iteration, before a
/// path is given up.
const REPAIRS: usize = 12;
/// The time limit of one query.
const QUESTION: Duration = Duration::from_millis(1_000);

/// Counters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoopStats {
    /// Segments found.
    pub segments: u64,
    /// Paths for which a query was asked.
    pub paths: u64,
    /// Paths with an answer.
    pub answers: u64,
    /// Answers that an execution confirmed.
    pub confirmed: u64,
}

/// The segments of a program's loops.
#[derive(Debug, Default)]
pub struct Loops {
    segments: BTreeMap<Cut, Vec<Segment>>,
    numbers: u32,
    /// Counters.
    pub stats: LoopStats,
}

/// The context of all queries.
pub struct Asking<'a, 'p> {
    /// The solver.
    pub solver: &'a mut Z3,
    /// The graph.
    pub graph: &'a mut Graph<'p>,
    /// The facts at the cut points.
    pub facts: &'a Facts,
    /// States that executions reach.
    pub forest: &'a Forest,
    /// Executes a tape; returns whether it reaches the goal.
    pub confirm: &'a mut dyn FnMut(&[u8]) -> bool,
    /// Longest tape, in bytes.
    pub longest: usize,
    /// When to give up.
    pub cancellation: Cancellation<'a>,
    /// The cost of the queries.
    pub cost: &'a mut Cost,
}

impl Loops {
    fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    /// Returns a tape that reaches the goal of a fragment (guard and condition, under the
    /// assumptions before it) around the loops on the way, confirmed by an execution; `None` if no
    /// path that was tried leads there.
    pub fn reach(
        &mut self,
        all: &mut Asking<'_, '_>,
        (start, goal, assumptions_before): (Option<Cut>, &[Term], usize),
    ) -> Option<Vec<u8>> {
        let way = shortest(all.graph, start)?;
        self.along(all, &way, (goal, assumptions_before))
    }

    /// Returns a tape that reaches the goal along one path from the start of the program to the
    /// fragment.
    pub fn along(
        &mut self,
        all: &mut Asking<'_, '_>,
        way: &[Transition],
        (goal, assumptions_before): (&[Term], usize),
    ) -> Option<Vec<u8>> {
        let mut paths = vec![Path::from(None, self.number())];
        self.vary(all, &mut paths);
        for transition in way {
            for path in &mut paths {
                path.step(all.graph, transition);
            }
            paths.retain(|path| !path.is_dead(&all.graph.pool));
            self.vary(all, &mut paths);
            if paths.is_empty() || all.cancellation.is_over() {
                return None;
            }
        }
        // Paths around loops are tried first; other strategies try paths without loops.
        paths.sort_by_key(|path| path.turns().count() == 0);
        for mut path in paths {
            if path.turns().next().is_none() || all.cancellation.is_over() {
                continue;
            }
            path.end(all.graph, goal, assumptions_before);
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

    /// Extends each path by each segment of the loop at its end, and for a pattern of several
    /// iterations also by each number of remaining iterations.
    fn vary(&mut self, all: &mut Asking<'_, '_>, paths: &mut Vec<Path>) {
        let Some(cut) = paths.first().and_then(|path| path.at) else {
            return;
        };
        self.find(all, cut);
        let segments = self.segments.get(&cut).cloned().unwrap_or_default();
        let own = all.graph.own(cut).cloned();
        let mut varied = Vec::new();
        for path in paths.iter() {
            // Of a pattern, only the first iteration that it can begin with here is used.
            let mut begun = false;
            for segment in &segments {
                if begun && segment.period > 1 {
                    continue;
                }
                let mut longer = path.clone();
                longer.go_around(all.graph, segment);
                if longer.is_stuck(&mut all.graph.pool) {
                    // The first iteration may be a different one.
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
        // The paths with fewer variations come first, since they are more likely.
        varied.truncate(PATHS);
        *paths = varied;
    }
}

/// The shortest path from the start of the program to a cut point.
fn shortest(graph: &Graph<'_>, to: Option<Cut>) -> Option<Vec<Transition>> {
    // The predecessor and the transition by which each cut point was reached.
    let mut from: BTreeMap<Option<Cut>, Option<(Option<Cut>, usize)>> =
        BTreeMap::from([(None, None)]);
    let mut queue = VecDeque::from([None]);
    while let Some(at) = queue.pop_front() {
        if at == to {
            return way_back(graph, &from, to);
        }
        for (number, transition) in graph.fragments.get(&at)?.transitions.iter().enumerate() {
            let next = Some(transition.to);
            if let Entry::Vacant(place) = from.entry(next) {
                place.insert(Some((at, number)));
                queue.push_back(next);
            }
        }
    }
    None
}

/// The transitions by which a cut point was reached, first to last.
fn way_back(
    graph: &Graph<'_>,
    from: &BTreeMap<Option<Cut>, Option<(Option<Cut>, usize)>>,
    to: Option<Cut>,
) -> Option<Vec<Transition>> {
    let mut way = Vec::new();
    let mut at = to;
    while let Some((before, number)) = *from.get(&at)? {
        way.push(
            graph
                .fragments
                .get(&before)?
                .transitions
                .get(number)?
                .clone(),
        );
        at = before;
    }
    way.reverse();
    Some(way)
}

/// Asks for a tape with the least number of iterations.
fn solve(all: &mut Asking<'_, '_>, path: Path) -> Option<Vec<u8>> {
    let pool = &mut all.graph.pool;
    let mut total = pool.constant(64, 0);
    for turns in path.turns().collect::<Vec<_>>() {
        total = pool.bin(BinOp::Add, total, turns);
    }
    let mut formula = path.formula(pool);
    let mut best: Option<(u64, Model)> = None;
    let mut repairs = 0;
    // First any number of iterations, then half as many.
    let mut low = 0u64;
    loop {
        if all.cancellation.is_over() {
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
        let limits = all.cancellation.within(QUESTION);
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
                let mut evaluator = Evaluator::new();
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
    path.tape(&all.graph.pool, &model, all.longest)
}
