//! The few facts that one goal needs.
//!
//! The search keeps every guess that holds, hundreds of them, since it cannot know which will matter. Who wants to understand a
//! proof wants the few that do. The solver's unsatisfiable cores name them: those that the goal rests on, those that each
//! of them rests on, and so on, which is inductive by construction. What is left is tried without each in turn, the largest
//! first, as long as the goal still follows from what stays inductive.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::certificate::Certificate;
use super::check::{Checker, Rejected};
use crate::abstraction::asking::Facts;
use crate::abstraction::goals;
use crate::abstraction::graph::Graph;
use cegar_model::program::ir::{BlockId, Program};
use cegar_model::solver::Limits;
use cegar_model::symbolic::world::Cut;
use cegar_model::term::Term;

/// What is to be explained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// A check, by number.
    Check(u32),
    /// A block, by number.
    Block(u32),
}

/// Why a goal holds.
#[derive(Debug)]
pub struct Needed<'p> {
    /// The program, explored.
    pub graph: Graph<'p>,
    /// The facts that it needs, inductive together.
    pub facts: Facts,
    /// How many the certificate has.
    pub of: usize,
    /// Questions to the solver.
    pub questions: u64,
}

/// Questions that trying without a fact may cost in all.
const QUESTIONS: u64 = 3_000;

/// The facts of a certificate that a goal needs. Says, as the checker would, where it does not follow.
pub fn needed<'p>(
    program: &'p Program,
    bitcode: &str,
    certificate: &Certificate,
    goal: Goal,
    limits: Limits,
) -> Result<Needed<'p>, Rejected> {
    let mut checker = Checker::open(program, bitcode, certificate, limits)?;
    // What a goal rests on may be no more than a counter's bounds.
    checker.claim_bounds();
    let of = checker.facts.values().map(Vec::len).sum();
    let mut search = Search {
        transitions: Vec::new(),
        questions: Vec::new(),
    };
    search.collect(program, &checker, goal);
    let Some(found) = search.closure(&mut checker) else {
        // The checker finds the words for what does not follow.
        super::check(program, bitcode, &certificate.about(goal), limits)?;
        return Err(Rejected::Unexplained);
    };
    checker.facts = found;
    search.minimise(&mut checker);
    Ok(Needed {
        questions: checker.checked.questions,
        facts: checker.facts,
        graph: checker.graph,
        of,
    })
}

/// What must not be possible, in a fragment.
struct Question {
    start: Option<Cut>,
    terms: Vec<Term>,
}

struct Search {
    /// All transitions: fragment, number, target.
    transitions: Vec<(Option<Cut>, usize, Cut)>,
    questions: Vec<Question>,
}

impl Search {
    fn collect(&mut self, program: &Program, checker: &Checker<'_>, goal: Goal) {
        for (&start, fragment) in &checker.graph.fragments {
            let transitions = fragment.transitions.iter().enumerate();
            self.transitions
                .extend(transitions.map(|(i, transition)| (start, i, transition.to)));
            let mut ask = |prefix: usize, terms: &[Term]| {
                let mut terms = terms.to_vec();
                terms.extend(&fragment.assumptions[..prefix]);
                self.questions.push(Question { start, terms });
            };
            for obligation in &fragment.obligations {
                if obligation.check.map(|id| Goal::Check(id.0)) == Some(goal) {
                    ask(obligation.prefix, &obligation.goal());
                }
            }
            for entered in &fragment.entered {
                if Goal::Block(entered.block.0) == goal {
                    ask(entered.prefix, &entered.guard.0);
                }
            }
            let block = match goal {
                Goal::Block(id) => BlockId(id),
                Goal::Check(id) => program.checks[id as usize].loc.block,
            };
            for hole in &fragment.holes {
                if goals::behind(&checker.graph, hole).contains(&block) {
                    ask(hole.prefix, &hole.guard.0);
                }
            }
        }
    }

    /// The facts that the goal rests on, and those that these rest on; none if something does not follow.
    fn closure(&self, checker: &mut Checker<'_>) -> Option<Facts> {
        let mut found = Facts::new();
        let mut seen: FxHashSet<(Cut, Term)> = FxHashSet::default();
        let mut open: VecDeque<(Cut, Term)> = VecDeque::new();
        let take = |checker: &Checker<'_>, start: Option<Cut>, core: &[Term]| -> Vec<(Cut, Term)> {
            let facts = start.and_then(|cut| Some((cut, checker.facts.get(&cut)?)));
            let Some((cut, facts)) = facts else {
                return Vec::new();
            };
            let used = core.iter().filter(|t| facts.contains(t));
            used.map(|&t| (cut, t)).collect()
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

    /// Leaves out what the goal can do without, the largest first.
    fn minimise(&self, checker: &mut Checker<'_>) {
        let mut all: Vec<(usize, Cut, Term)> = Vec::new();
        for (&cut, facts) in &checker.facts {
            let size = |t: Term| checker.graph.pool.write(t).map_or(usize::MAX, |t| t.len());
            all.extend(facts.iter().map(|&t| (size(t), cut, t)));
        }
        all.sort_by(|a, b| b.cmp(a));
        let last = checker.checked.questions + QUESTIONS;
        for (_, cut, fact) in all {
            if checker.checked.questions > last {
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
    fn settle(&self, checker: &mut Checker<'_>) {
        loop {
            let mut dropped = false;
            for (cut, facts) in checker.facts.clone() {
                for fact in facts {
                    let holds = self.into(cut).all(|&(start, index, _)| {
                        let along = along(checker, start, index, fact);
                        checker.refuted(&along).is_none()
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

    fn follows(&self, checker: &mut Checker<'_>) -> bool {
        self.questions.iter().all(|question| {
            let mut terms = checker.known(question.start);
            terms.extend(&question.terms);
            checker.refuted(&terms).is_none()
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

/// What would have to hold for a transition to break a fact: first the way, then what is known where it starts.
fn along(checker: &mut Checker<'_>, start: Option<Cut>, index: usize, fact: Term) -> Vec<Term> {
    let fragment = &checker.graph.fragments[&start];
    let transition = fragment.transitions[index].clone();
    let mut all = transition.reached.guard.0.clone();
    all.extend(&fragment.assumptions[..transition.prefix]);
    let mut preimage = checker.graph.update(start, &transition).preimage();
    let after = preimage.apply(&mut checker.graph.pool, fact);
    all.push(checker.graph.pool.not(after));
    all.extend(checker.known(start));
    all
}
