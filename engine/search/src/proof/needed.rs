//! The few facts that one goal needs.
//!
//! The search keeps every inductive candidate, hundreds of them, since it cannot know which will
//! matter. To understand a proof, one needs the few that do. The solver's unsatisfiable cores name
//! the facts that the goal depends on, the facts that each of these depends on, and so on; the
//! result is inductive by construction. Then each remaining fact is removed, the largest first, if
//! the goal still follows from the facts that stay inductive.
//!
//! A goal that follows from the floor has no facts of its own. The states of the floor are tried as
//! facts, so that the proof can be explained in the same way. If these are not enough for the
//! solver, or if the program is too large to be explored, the floor itself is the reason.

use std::collections::VecDeque;
use std::sync::Arc;

use cegar_checker::assumptions::{Met, met};
use cegar_checker::certificate::{Certificate, Claim, Condition};
use cegar_checker::claims::alone;
use cegar_checker::floor::{FloorClaim, FloorResult};
use cegar_checker::implied_equations::implied_equations;
use cegar_checker::{AskZ3, Rejected, check};
use cegar_model::program::ir::{BlockId, CheckId, Loc, Program};
use cegar_model::program::outside::points::Points;
use cegar_model::solver::{Answer, Limits, Solver, Z3};
use cegar_model::symbolic::encode::{Budget, Exceeded};
use cegar_model::symbolic::world::Cut;
use cegar_model::term::Term;
use rustc_hash::FxHashSet;

use super::{resumed, write};
use crate::abstraction::asking::Facts;
use crate::abstraction::floor_candidates;
use crate::abstraction::graph::Graph;

/// The goal to be explained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// A check, by number.
    Check(u32),
    /// A block, by number.
    Block(u32),
}

/// Why a goal holds.
#[derive(Debug)]
pub enum Reason<'p> {
    /// It follows from facts at loops; there may be none.
    Facts(Box<Needed<'p>>),
    /// It follows from the program's only execution.
    Execution,
    /// It follows from the floor, and the solver does not show why.
    Floor,
}

/// The facts that a goal needs.
#[derive(Debug)]
pub struct Needed<'p> {
    /// The program, explored.
    pub graph: Graph<'p>,
    /// The facts that the goal needs, inductive together.
    pub facts: Facts,
    /// The number of facts in the certificate.
    pub of: usize,
    /// The number of queries to the solver.
    pub questions: u64,
}

/// The maximum number of queries for removing facts.
const QUESTIONS: u64 = 3_000;

/// Finds the facts of a certificate that a goal needs. If the goal does not follow, returns the
/// checker's error.
pub fn needed<'p>(
    program: &'p Program,
    bitcode: &str,
    certificate: &Certificate,
    goal: Goal,
    limits: Limits,
) -> Result<Reason<'p>, Rejected> {
    if certificate.executed {
        return Ok(Reason::Execution);
    }
    let floor = certificate.floor.as_ref();
    let floor = match floor_result(program, certificate)? {
        Some(floor_result) if follows(&floor_result, goal) => floor,
        _ => None,
    };
    match facts(program, bitcode, certificate, (goal, floor), limits) {
        Ok(needed) => Ok(Reason::Facts(Box::new(needed))),
        Err(_) if floor.is_some() => Ok(Reason::Floor),
        Err(why) => Err(why),
    }
}

/// What follows from the floor, if the certificate has one.
fn floor_result(
    program: &Program,
    certificate: &Certificate,
) -> Result<Option<FloorResult>, Rejected> {
    let floor = certificate.floor.as_ref();
    let floor_result =
        floor.map(|floor| FloorResult::of(program, Arc::new(Points::of(program)), floor));
    Ok(floor_result.transpose()?)
}

fn follows(floor_result: &FloorResult, goal: Goal) -> bool {
    match goal {
        Goal::Check(id) => floor_result.holds(CheckId(id)),
        Goal::Block(id) => floor_result.is_dead(BlockId(id)),
    }
}

/// The facts that a goal needs, chosen from the certificate's facts and the states of a floor.
fn facts<'p>(
    program: &'p Program,
    bitcode: &str,
    certificate: &Certificate,
    (goal, floor): (Goal, Option<&FloorClaim>),
    limits: Limits,
) -> Result<Needed<'p>, Rejected> {
    let mut checker = Explored::open(program, certificate, floor, limits)?;
    // A goal may depend on nothing but a counter's bounds.
    checker.claim_bounds();
    let of = checker.facts.values().map(Vec::len).sum();
    let mut search = Search {
        transitions: Vec::new(),
        questions: Vec::new(),
    };
    search.collect(program, &checker, goal);
    let Some(found) = search.closure(&mut checker) else {
        // If the goal does not follow, the checker gives the reason.
        if floor.is_none() {
            let about = about(
                program,
                certificate,
                goal,
                &narrowed(program, &checker.graph),
            );
            check(program, bitcode, &about, limits, &mut AskZ3)?;
        }
        return Err(Rejected::Malformed(
            "the solver gave no answer when asked which facts are needed".to_owned(),
        ));
    };
    checker.facts = found;
    search.minimise(&mut checker);
    Ok(Needed {
        questions: checker.questions,
        facts: checker.facts,
        graph: checker.graph,
        of,
    })
}

/// The certificate for one goal with the facts that it needs. It holds under the condition that all
/// other checks hold.
pub fn pruned(
    program: &Program,
    certificate: &Certificate,
    reason: &Reason<'_>,
    goal: Goal,
) -> Result<Certificate, Rejected> {
    let mut stated = Certificate::empty(&certificate.bitcode, &certificate.properties);
    let mut met = Met::default();
    if let Reason::Facts(needed) = reason {
        met = narrowed(program, &needed.graph);
        write::state(&mut stated, &needed.graph, &needed.facts);
    }
    if let Some(floor_result) = floor_result(program, certificate)? {
        for (id, places) in floor_result.narrowings {
            met.entry(id).or_default().extend(places);
        }
    }
    let mut pruned = about(program, certificate, goal, &met);
    for cut in &mut pruned.cuts {
        let same = |other: &&cegar_checker::certificate::CutClaim| {
            other.context == cut.context && other.block == cut.block
        };
        let found = stated.cuts.iter().find(same);
        cut.facts = found.map_or_else(Vec::new, |found| found.facts.clone());
    }
    Ok(pruned)
}

/// The narrowings in the graph: all of them count, since with fewer facts more code may be
/// reachable.
fn narrowed(program: &Program, graph: &Graph<'_>) -> Met {
    met(
        program,
        graph.fragments.values().flat_map(|f| &f.narrowings),
    )
}

/// The certificate with one claim only, under the condition that all other checks hold.
fn about(program: &Program, certificate: &Certificate, goal: Goal, met: &Met) -> Certificate {
    let (id, claims_check) = match goal {
        Goal::Check(id) => (id, true),
        Goal::Block(id) => (id, false),
    };
    let others = (0..program.checks.len() as u32).filter(|&other| !claims_check || other != id);
    let claim = Claim { id, given: Some(0) };
    let (checks, blocks) = match claims_check {
        true => (vec![claim], Vec::new()),
        false => (Vec::new(), vec![claim]),
    };
    let open = cegar_checker::assumptions::Open::beside(
        &certificate.properties,
        program.checks.iter().map(|check| check.kind.property()),
    );
    let mut assumptions = cegar_checker::assumptions::derive(program, &open, met);
    let stated = certificate.assumptions.iter();
    let stated = stated.filter(|a| a.id == cegar_checker::assumptions::STATED);
    assumptions.extend(stated.cloned());
    Certificate {
        checks,
        blocks,
        conditions: vec![Condition {
            checks: others.collect(),
            elsewhere: true,
        }],
        assumptions,
        ..certificate.clone()
    }
}

/// A program, explored, with a certificate's facts as candidates.
struct Explored<'p> {
    graph: Graph<'p>,
    facts: Facts,
    limits: Limits,
    questions: u64,
}

impl<'p> Explored<'p> {
    fn open(
        program: &'p Program,
        certificate: &Certificate,
        floor: Option<&FloorClaim>,
        limits: Limits,
    ) -> Result<Explored<'p>, Rejected> {
        let alone = alone(program, certificate).map_err(Rejected::Malformed)?;
        let budget = Budget::default();
        let explored = Graph::explore_with(program, certificate.grain, budget, &alone);
        let mut graph = explored.map_err(|why| match why {
            Exceeded::Size => Rejected::Unexplored("the entry".to_owned()),
            Exceeded::Time => Rejected::Late,
        })?;
        let mut facts = resumed(&mut graph, certificate);
        if let Some(floor) = floor {
            let cuts = graph.states.keys().copied().collect();
            for (cut, stated) in floor_candidates::generate(&mut graph, floor, &cuts) {
                let known = facts.entry(cut).or_default();
                known.extend(
                    stated
                        .into_iter()
                        .filter(|fact| !known.contains(fact))
                        .collect::<Vec<_>>(),
                );
            }
        }
        Ok(Explored {
            graph,
            facts,
            limits,
            questions: 0,
        })
    }

    /// Adds the bounds that the propagation found as facts.
    fn claim_bounds(&mut self) {
        let Graph { states, pool, .. } = &mut self.graph;
        for (&cut, state) in states {
            for bound in state.take_bounds(pool) {
                let facts = self.facts.entry(cut).or_default();
                if !facts.contains(&bound) {
                    facts.push(bound);
                }
            }
        }
    }

    /// What may be assumed in a fragment: the facts at its start, and the summaries of the
    /// functions that it calls.
    fn known(&mut self, start: Option<Cut>) -> Vec<Term> {
        let mut known = self.graph.axioms(start);
        let facts = start.and_then(|cut| self.facts.get(&cut));
        known.extend(facts.into_iter().flatten());
        known.extend(self.graph.related(start, &self.facts));
        known
    }

    /// Some of these terms that cannot hold together; `None` if the solver does not refute them.
    fn core(&mut self, terms: &[Term]) -> Option<Vec<Term>> {
        let pool = &mut self.graph.pool;
        if let Some(&never) = terms.iter().find(|&&t| pool.as_const(t) == Some(0)) {
            return Some(vec![never]);
        }
        self.questions += 1;
        let limits = Limits {
            core: true,
            ..self.limits
        };
        if let Answer::Unsat { core } = Z3::new().check(pool, terms, &limits) {
            return Some(core.into_iter().map(|i| terms[i]).collect());
        }
        // Z3 may need the consequences that are added there, for which there is no core.
        self.is_refuted(terms).then(|| terms.to_vec())
    }

    /// Whether the solver shows that these cannot hold together.
    fn is_refuted(&mut self, terms: &[Term]) -> bool {
        let pool = &mut self.graph.pool;
        if terms.iter().any(|&t| pool.as_const(t) == Some(0)) {
            return true;
        }
        self.questions += 1;
        let mut terms = terms.to_vec();
        terms.extend(implied_equations(pool, &terms));
        let answer = Z3::new().check(pool, &terms, &self.limits);
        matches!(answer, Answer::Unsat { .. })
    }
}

/// A query that must be unsatisfiable, in a fragment.
struct Question {
    start: Option<Cut>,
    terms: Vec<Term>,
}

struct Search {
    /// All transitions: start of the fragment, index, target.
    transitions: Vec<(Option<Cut>, usize, Cut)>,
    questions: Vec<Question>,
}

impl Search {
    fn collect(&mut self, program: &Program, checker: &Explored<'_>, goal: Goal) {
        for (&start, fragment) in &checker.graph.fragments {
            let transitions = fragment.transitions.iter().enumerate();
            self.transitions
                .extend(transitions.map(|(i, transition)| (start, i, transition.to)));
            let mut ask = |assumptions_before: usize, terms: &[Term]| {
                let mut terms = terms.to_vec();
                terms.extend(&fragment.assumptions[..assumptions_before]);
                self.questions.push(Question { start, terms });
            };
            for obligation in &fragment.obligations {
                if obligation.check.map(|id| Goal::Check(id.0)) == Some(goal) {
                    ask(obligation.assumptions_before, &obligation.goal());
                }
            }
            for entered in &fragment.entered {
                if Goal::Block(entered.block.0) == goal {
                    ask(entered.assumptions_before, &entered.guard.0);
                }
            }
            for hole in &fragment.holes {
                let first = Loc {
                    block: hole.block,
                    inst: 0,
                };
                let continuation =
                    cegar_checker::continuation::code_after(&checker.graph.world, hole.ctx, first);
                let is_behind = match goal {
                    Goal::Block(id) => continuation.enters(BlockId(id)),
                    Goal::Check(id) => continuation.has(program.checks[id as usize].loc),
                };
                if is_behind {
                    ask(hole.assumptions_before, &hole.guard.0);
                }
            }
        }
    }

    /// The facts that the goal depends on, and those that these depend on; `None` if something does
    /// not follow.
    fn closure(&self, checker: &mut Explored<'_>) -> Option<Facts> {
        let mut found = Facts::new();
        let mut seen: FxHashSet<(Cut, Term)> = FxHashSet::default();
        let mut open: VecDeque<(Cut, Term)> = VecDeque::new();
        let take =
            |checker: &mut Explored<'_>, start: Option<Cut>, core: &[Term]| -> Vec<(Cut, Term)> {
                let summaries = checker.graph.summaries(start, &checker.facts);
                let of_calls = summaries.into_iter().filter(|(.., t)| core.contains(t));
                let of_calls = of_calls.map(|(end, fact, _)| (end, fact));
                let facts = start.and_then(|cut| Some((cut, checker.facts.get(&cut)?)));
                let of_start = facts.into_iter().flat_map(|(cut, facts)| {
                    let used = core.iter().filter(|t| facts.contains(t));
                    used.map(move |&t| (cut, t))
                });
                of_start.chain(of_calls).collect()
            };
        for question in &self.questions {
            let mut terms = question.terms.clone();
            terms.extend(checker.known(question.start));
            let core = checker.core(&terms)?;
            open.extend(take(checker, question.start, &core));
        }
        while let Some((cut, fact)) = open.pop_front() {
            if !seen.insert((cut, fact)) {
                continue;
            }
            found.entry(cut).or_default().push(fact);
            for &(start, index, _) in self.into(cut) {
                let along = along(checker, start, index, fact);
                let core = checker.core(&along)?;
                open.extend(take(checker, start, &core));
            }
        }
        Some(found)
    }

    fn into(&self, cut: Cut) -> impl Iterator<Item = &(Option<Cut>, usize, Cut)> {
        self.transitions.iter().filter(move |(.., to)| *to == cut)
    }

    /// Removes the facts that the goal does not need, the largest first.
    fn minimise(&self, checker: &mut Explored<'_>) {
        let mut all: Vec<(usize, Cut, Term)> = Vec::new();
        for (&cut, facts) in &checker.facts {
            let size = |t: Term| checker.graph.pool.write(t).map_or(usize::MAX, |t| t.len());
            all.extend(facts.iter().map(|&t| (size(t), cut, t)));
        }
        all.sort_by(|a, b| b.cmp(a));
        let last = checker.questions + QUESTIONS;
        for (_, cut, fact) in all {
            if checker.questions > last {
                return;
            }
            if !checker.facts.get(&cut).is_some_and(|f| f.contains(&fact)) {
                continue;
            }
            let before = checker.facts.clone();
            remove(&mut checker.facts, cut, fact);
            self.settle(checker);
            if !self.follows(checker) {
                checker.facts = before;
            }
        }
    }

    /// Drops facts until the rest is inductive.
    fn settle(&self, checker: &mut Explored<'_>) {
        loop {
            let mut dropped = false;
            for (cut, facts) in checker.facts.clone() {
                for fact in facts {
                    let holds = self.into(cut).all(|&(start, index, _)| {
                        let along = along(checker, start, index, fact);
                        checker.is_refuted(&along)
                    });
                    if !holds {
                        remove(&mut checker.facts, cut, fact);
                        dropped = true;
                    }
                }
            }
            if !dropped {
                return;
            }
        }
    }

    fn follows(&self, checker: &mut Explored<'_>) -> bool {
        self.questions.iter().all(|question| {
            let mut terms = checker.known(question.start);
            terms.extend(&question.terms);
            checker.is_refuted(&terms)
        })
    }
}

fn remove(facts: &mut Facts, cut: Cut, fact: Term) {
    if let Some(here) = facts.get_mut(&cut) {
        here.retain(|&t| t != fact);
        if here.is_empty() {
            facts.remove(&cut);
        }
    }
}

/// The terms that hold if a transition breaks a fact: first those of the transition, then what is
/// known at its start.
fn along(checker: &mut Explored<'_>, start: Option<Cut>, index: usize, fact: Term) -> Vec<Term> {
    let fragment = &checker.graph.fragments[&start];
    let transition = fragment.transitions[index].clone();
    let mut all = transition.reached.guard.0.clone();
    all.extend(&fragment.assumptions[..transition.assumptions_before]);
    let mut preimage = checker.graph.update(start, &transition).preimage();
    let after = preimage.apply(&mut checker.graph.pool, fact);
    all.push(checker.graph.pool.not(after));
    all.extend(checker.known(start));
    all
}
