//! Settles goals by facts: checks that hold, blocks that are never entered, holes that are never
//! reached.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashSet;

use super::asking::{Cancellation, Cost, Facts, ask};
use super::graph::Graph;
use crate::analysis::Floor;
use cegar_model::program::ir::{BlockId, Pos};
use cegar_model::solver::{Answer, Model, Reason, Z3};
use cegar_model::symbolic::encode::Obligation;
use cegar_model::symbolic::every;
use cegar_model::symbolic::world::Cut;
use cegar_model::term::Term;

/// The time limit of a query about one check.
const QUESTION: Duration = Duration::from_secs(3);

/// An obligation that does not follow from the facts.
#[derive(Clone, Debug)]
pub struct Failing {
    /// The fragment.
    pub start: Option<Cut>,
    /// The index of the obligation in the fragment.
    pub index: usize,
    /// A state and unknowns that violate it; `None` if the solver gave no answer, or if the
    /// violation only shows that a pointer is imprecise.
    pub model: Option<Model>,
    /// Why there is no answer.
    pub reason: Option<Reason>,
}

/// The goals of a program that are settled so far. Facts only grow, so a settled goal stays
/// settled.
#[derive(Debug, Default)]
pub struct Settled {
    /// The obligations that do not follow from the facts.
    pub failing: BTreeMap<(Option<Cut>, usize), Failing>,
    /// Blocks that some abstract state enters.
    pub entered: FxHashSet<BlockId>,
    /// The holes that some abstract state reaches, as (fragment, index).
    pub holes: BTreeSet<(Option<Cut>, usize)>,
    /// The narrowings that some abstract state reaches, as (fragment, index): one for each rule and
    /// place.
    pub narrowings: BTreeSet<(Option<Cut>, usize)>,
    /// The floor, which settles goals without queries.
    pub floor: Option<Arc<Floor>>,
    /// Goals that are settled for good.
    closed: BTreeSet<(Option<Cut>, Question)>,
}

impl Settled {
    /// Nothing is settled but what follows from a floor.
    pub fn on(floor: Option<Arc<Floor>>) -> Settled {
        Settled {
            floor,
            ..Settled::default()
        }
    }

    /// What is left to prove, with only those obligations that are `wanted`.
    pub fn open(&self, wanted: impl Fn(&(Option<Cut>, usize)) -> bool) -> Open {
        Open {
            obligations: self.failing.keys().copied().filter(wanted).collect(),
            holes: self.holes.clone(),
        }
    }
}

/// What is left to prove, as (fragment, index).
#[derive(Clone, Debug)]
pub struct Open {
    /// Obligations.
    pub obligations: BTreeSet<(Option<Cut>, usize)>,
    /// Holes.
    pub holes: BTreeSet<(Option<Cut>, usize)>,
}

impl Open {
    /// Whether nothing is left.
    pub fn is_complete(&self) -> bool {
        self.obligations.is_empty() && self.holes.is_empty()
    }

    /// The fragments in which something is left.
    pub fn fragments(&self) -> BTreeSet<Option<Cut>> {
        let all = self.obligations.iter().chain(&self.holes);
        all.map(|(start, _)| *start).collect()
    }
}

/// Asks about every obligation and hole that is not settled yet, and about the blocks that are
/// `wanted`. Returns false if time ran out.
pub fn settle(
    solver: &mut Z3,
    graph: &mut Graph<'_>,
    facts: &Facts,
    wanted: &dyn Fn(BlockId) -> bool,
    cancellation: Cancellation<'_>,
    (settled, cost): (&mut Settled, &mut Cost),
) -> bool {
    settled.failing.clear();
    settled.holes.clear();
    settled.entered.clear();
    settled.narrowings.clear();
    let mut met: FxHashSet<(&'static str, Option<Pos>)> = FxHashSet::default();
    let starts: Vec<Option<Cut>> = graph.fragments.keys().copied().collect();
    let mut in_time = true;
    for start in starts {
        let mut known = graph.axioms(start);
        known.extend(start.and_then(|cut| facts.get(&cut)).into_iter().flatten());
        known.extend(graph.related(start, facts));
        let fragment = graph.fragments[&start].clone();
        let goals = fragment.obligations.iter();
        let mut asked: Vec<Term> = goals.flat_map(Obligation::goal).collect();
        asked.extend(&fragment.assumptions);
        let here = start.and_then(|cut| facts.get(&cut));
        let here = here.map_or(&[][..], Vec::as_slice);
        known.extend(every::instances(&mut graph.pool, here, &asked));
        let mut asserted = 0;
        for (assumptions_before, question) in questions(&fragment, wanted) {
            let key = (start, question);
            while asserted < assumptions_before {
                // An obligation that was proved follows anyway, so it need not be assumed.
                let of = fragment.obligation_of[asserted];
                let proved =
                    of.is_some_and(|o| settled.closed.contains(&(start, Question::Obligation(o))));
                if !proved {
                    known.push(fragment.assumptions[asserted]);
                }
                asserted += 1;
            }
            if settled.closed.contains(&key) {
                continue;
            }
            if let Some(floor) = &settled.floor
                && question.follows(&fragment, floor)
            {
                settled.closed.insert(key);
                continue;
            }
            let mut terms = question.terms(&fragment);
            if terms.iter().any(|&t| graph.pool.as_const(t) == Some(0)) {
                settled.closed.insert(key);
                continue;
            }
            if let Question::Entered(i) = question
                && settled.entered.contains(&fragment.entered[i].block)
            {
                continue;
            }
            if let Question::Narrowing(i) = question {
                let narrowing = &fragment.narrowings[i];
                if met.contains(&(narrowing.id, narrowing.place)) {
                    continue;
                }
            }
            terms.retain(|&t| graph.pool.as_const(t).is_none());
            in_time &= !cancellation.is_over();
            let answer = if in_time {
                let limits = cancellation.within(QUESTION);
                ask(solver, graph, &known, &terms, &limits, cost)
            } else {
                Answer::Unknown(Reason::Time)
            };
            match (question, answer) {
                (_, Answer::Unsat { .. }) => {
                    settled.closed.insert(key);
                }
                (Question::Obligation(index), answer) => {
                    let vague = fragment.obligations[index].vague;
                    let (model, reason) = match answer {
                        Answer::Sat(model) if !vague => (Some(model), None),
                        Answer::Unknown(reason) => (None, Some(reason)),
                        _ => (None, None),
                    };
                    let failing = Failing {
                        start,
                        index,
                        model,
                        reason,
                    };
                    settled.failing.insert((start, index), failing);
                }
                (Question::Entered(i), _) => {
                    settled.entered.insert(fragment.entered[i].block);
                }
                (Question::Hole(i), _) => {
                    settled.holes.insert((start, i));
                }
                (Question::Narrowing(i), _) => {
                    let narrowing = &fragment.narrowings[i];
                    met.insert((narrowing.id, narrowing.place));
                    settled.narrowings.insert((start, i));
                }
            }
        }
    }
    in_time
}

/// The fragments with checks or holes that a floor does not settle.
pub fn above(graph: &Graph<'_>, floor: &Floor) -> BTreeSet<Option<Cut>> {
    let fragments = graph.fragments.iter();
    let left = fragments.filter(|(_, fragment)| {
        questions(fragment, &|_| false)
            .into_iter()
            .filter(|(_, question)| !matches!(question, Question::Narrowing(_)))
            .any(|(_, question)| {
                let never = |t: &Term| graph.pool.as_const(*t) == Some(0);
                !question.follows(fragment, floor) && !question.terms(fragment).iter().any(never)
            })
    });
    left.map(|(start, _)| *start).collect()
}

/// The goals of a fragment, in the order of the prefixes of assumptions that may be assumed.
fn questions(
    fragment: &cegar_model::symbolic::encode::Fragment,
    wanted: &dyn Fn(BlockId) -> bool,
) -> Vec<(usize, Question)> {
    let mut all: Vec<(usize, Question)> = Vec::new();
    for (i, o) in fragment.obligations.iter().enumerate() {
        all.push((o.assumptions_before, Question::Obligation(i)));
    }
    for (i, e) in fragment.entered.iter().enumerate() {
        if wanted(e.block) {
            all.push((e.assumptions_before, Question::Entered(i)));
        }
    }
    for (i, h) in fragment.holes.iter().enumerate() {
        all.push((h.assumptions_before, Question::Hole(i)));
    }
    for (i, n) in fragment.narrowings.iter().enumerate() {
        all.push((n.assumptions_before, Question::Narrowing(i)));
    }
    all.sort_by_key(|(assumptions_before, _)| *assumptions_before);
    all
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Question {
    Obligation(usize),
    Entered(usize),
    Hole(usize),
    Narrowing(usize),
}

impl Question {
    /// Whether the floor settles it.
    fn follows(self, fragment: &cegar_model::symbolic::encode::Fragment, floor: &Floor) -> bool {
        match self {
            Question::Obligation(i) => {
                let check = fragment.obligations[i].check;
                check.is_some_and(|check| floor.result.holds(check))
            }
            Question::Entered(i) => floor.result.is_dead(fragment.entered[i].block),
            Question::Hole(_) | Question::Narrowing(_) => false,
        }
    }

    fn terms(self, fragment: &cegar_model::symbolic::encode::Fragment) -> Vec<Term> {
        match self {
            Question::Obligation(i) => fragment.obligations[i].goal(),
            Question::Entered(i) => fragment.entered[i].guard.0.clone(),
            Question::Hole(i) => fragment.holes[i].guard.0.clone(),
            Question::Narrowing(i) => fragment.narrowings[i].guard.0.clone(),
        }
    }
}
