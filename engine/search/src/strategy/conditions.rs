//! What a verdict rests on, beside the formulas: checks of the same program that are not proved.
//!
//! After a violation an execution is not the model's any more, so whatever may be executed behind a check that is open holds only if that check
//! does. Signed overflow is different: it wraps around in the model. Which formulas hold even then is found out by dropping the assumption
//! that nothing overflows and keeping what stays inductive; a goal that follows from those needs no such condition. The
//! checker ([`cegar_checker::check()`]) asks all of it again.

use std::collections::BTreeSet;
use std::rc::Rc;

use cegar_checker::behind::{Behind, behind};
use cegar_checker::certificate::Condition;
use cegar_checker::check::{ends, place, wraps};
use cegar_model::program::ir::{BlockId, CheckId, Loc, Program};
use cegar_model::solver::{Answer, Z3};
use cegar_model::symbolic::world::{CtxId, Cut};
use cegar_model::term::Term;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::abstraction::asking::{Cost, Facts, Patience, ask};
use crate::abstraction::goals::Settled;
use crate::abstraction::graph::Graph;
use crate::abstraction::houdini::houdini;

/// How long a question about one goal may take.
const QUESTION: std::time::Duration = std::time::Duration::from_secs(2);

/// See the [module](self).
#[derive(Debug, Default)]
pub struct Conditions {
    /// Formulas that hold whatever overflows.
    pub strict: Facts,
    /// The others.
    pub conditional: Facts,
    open: Vec<Unsettled>,
    /// Goals that follow only where nothing overflows.
    loose: FxHashSet<Goal>,
}

#[derive(Debug)]
struct Unsettled {
    check: Option<u32>,
    wraps: bool,
    behind: Rc<Behind>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Goal {
    Check(u32),
    Block(u32),
}

impl Conditions {
    /// Those of what is settled, where some checks are claimed and the others are open; with somebody to ask, few goals rest on overflows.
    pub fn of(
        graph: &mut Graph<'_>,
        facts: &Facts,
        (settled, is_claimed): (&Settled, &dyn Fn(CheckId) -> bool),
        asking: Option<(&mut Z3, Patience<'_>, &mut Cost)>,
    ) -> Conditions {
        let mut conditions = Conditions {
            open: open(graph, settled, is_claimed),
            ..Conditions::default()
        };
        let mut wrapping: BTreeSet<(Option<Cut>, usize)> = BTreeSet::new();
        for (&start, fragment) in &graph.fragments {
            for (index, obligation) in fragment.obligations.iter().enumerate() {
                if wraps(obligation) && obligation.check.is_some_and(|id| !is_claimed(id)) {
                    wrapping.insert((start, index));
                }
            }
        }
        if wrapping.is_empty() {
            conditions.strict = facts.clone();
            return conditions;
        }
        let assumed = conditions.forget(graph, &wrapping);
        match asking {
            Some((solver, patience, cost)) => {
                conditions.separate(graph, facts, (&mut *solver, patience, &mut *cost));
                conditions.ask(graph, settled, (facts, &assumed), (solver, patience, cost));
            }
            None => conditions.guess(graph, facts),
        }
        for (start, assumptions) in assumed {
            if let Some(fragment) = graph.fragments.get_mut(&start) {
                fragment.assumptions = assumptions;
            }
        }
        conditions
    }

    /// Takes the assumptions out of the fragments that nothing overflows where that is not proved; what they were there.
    fn forget(
        &self,
        graph: &mut Graph<'_>,
        wrapping: &BTreeSet<(Option<Cut>, usize)>,
    ) -> FxHashMap<Option<Cut>, Vec<Term>> {
        let mut assumed = FxHashMap::default();
        let always = graph.pool.bit(true);
        for (&start, fragment) in &mut graph.fragments {
            let before = fragment.assumptions.clone();
            let mut changed = false;
            for (at, of) in fragment.obligation_of.iter().enumerate() {
                if of.is_some_and(|of| wrapping.contains(&(start, of))) {
                    fragment.assumptions[at] = always;
                    changed = true;
                }
            }
            if changed {
                assumed.insert(start, before);
            }
        }
        assumed
    }

    /// Finds the formulas that are inductive without those assumptions.
    fn separate(
        &mut self,
        graph: &mut Graph<'_>,
        facts: &Facts,
        (solver, patience, cost): (&mut Z3, Patience<'_>, &mut Cost),
    ) {
        let mut strict = facts.clone();
        if !houdini(solver, graph, &Facts::new(), &mut strict, patience, cost) {
            return self.guess(graph, facts);
        }
        self.divide(facts, |cut, fact| {
            strict.get(&cut).is_some_and(|facts| facts.contains(&fact))
        });
    }

    /// Holds for strict what no overflow can come before.
    fn guess(&mut self, graph: &Graph<'_>, facts: &Facts) {
        let after: Vec<Rc<Behind>> = self
            .open
            .iter()
            .filter(|unsettled| unsettled.wraps)
            .map(|unsettled| Rc::clone(&unsettled.behind))
            .collect();
        let is_behind = |block: BlockId| after.iter().any(|behind| behind.enters(block));
        self.divide(facts, |cut, _| !is_behind(cut.block));
        for fragment in graph.fragments.values() {
            for obligation in &fragment.obligations {
                let goal = obligation.check.map(|CheckId(id)| Goal::Check(id));
                self.loose.extend(goal);
            }
            let entered = fragment.entered.iter();
            self.loose.extend(entered.map(|e| Goal::Block(e.block.0)));
        }
    }

    fn divide(&mut self, facts: &Facts, is_strict: impl Fn(Cut, Term) -> bool) {
        for (&cut, facts) in facts {
            let (strict, conditional) = facts.iter().partition(|&&fact| is_strict(cut, fact));
            self.strict.insert(cut, strict);
            self.conditional.insert(cut, conditional);
        }
    }

    /// Asks which goals follow without those assumptions, where they play a part.
    fn ask(
        &mut self,
        graph: &mut Graph<'_>,
        settled: &Settled,
        (facts, assumed): (&Facts, &FxHashMap<Option<Cut>, Vec<Term>>),
        (solver, patience, cost): (&mut Z3, Patience<'_>, &mut Cost),
    ) {
        let starts: Vec<Option<Cut>> = graph.fragments.keys().copied().collect();
        for start in starts {
            let len = |facts: &Facts| {
                let here = start.and_then(|cut| facts.get(&cut));
                here.map_or(0, Vec::len)
            };
            if !assumed.contains_key(&start) && len(facts) == len(&self.strict) {
                continue;
            }
            let mut known = graph.axioms(start);
            let strict = start.and_then(|cut| self.strict.get(&cut));
            known.extend(strict.into_iter().flatten());
            let fragment = graph.fragments[&start].clone();
            let checks = fragment.obligations.iter().enumerate();
            let checks = checks
                .filter(|(index, _)| !settled.failing.contains_key(&(start, *index)))
                .filter_map(|(_, obligation)| {
                    let CheckId(id) = obligation.check?;
                    Some((Goal::Check(id), obligation.goal(), obligation.prefix))
                });
            let blocks = fragment.entered.iter().filter_map(|entered| {
                let is_open = settled.entered.contains(&entered.block);
                let goal = Goal::Block(entered.block.0);
                (!is_open).then(|| (goal, entered.guard.0.clone(), entered.prefix))
            });
            for (goal, terms, prefix) in checks.chain(blocks) {
                if self.loose.contains(&goal) {
                    continue;
                }
                let mut all = known.clone();
                all.extend(&fragment.assumptions[..prefix]);
                let limits = patience.within(QUESTION);
                let is_known = terms.iter().any(|&t| graph.pool.as_const(t) == Some(0));
                let holds = is_known
                    || !patience.is_over() && {
                        let answer = ask(solver, graph, &all, &terms, &limits, cost);
                        matches!(answer, Answer::Unsat { .. })
                    };
                if !holds {
                    self.loose.insert(goal);
                }
            }
        }
    }

    /// What a check rests on; none if on nothing.
    pub fn check(&self, id: u32, loc: Loc) -> Option<Condition> {
        self.condition(Goal::Check(id), |behind| behind.has(loc))
    }

    /// What it rests on that a block is not entered; none if on nothing.
    pub fn block(&self, block: BlockId) -> Option<Condition> {
        self.condition(Goal::Block(block.0), |behind| behind.enters(block))
    }

    fn condition(&self, goal: Goal, is_behind: impl Fn(&Behind) -> bool) -> Option<Condition> {
        let is_loose = self.loose.contains(&goal);
        let mut condition = Condition::default();
        let mut checks = BTreeSet::new();
        for unsettled in &self.open {
            if (unsettled.wraps && !is_loose) || !is_behind(&unsettled.behind) {
                continue;
            }
            match unsettled.check {
                Some(id) => {
                    checks.insert(id);
                }
                None => condition.elsewhere = true,
            }
        }
        condition.checks = checks.into_iter().collect();
        (condition != Condition::default()).then_some(condition)
    }

    /// Whether a check is open somewhere.
    pub fn is_open(&self, id: u32) -> bool {
        self.open
            .iter()
            .any(|unsettled| unsettled.check == Some(id))
    }

    /// Whether something overflows, as far as is known.
    pub fn overflows(&self) -> bool {
        self.open.iter().any(|unsettled| unsettled.wraps)
    }
}

/// The obligations that no claim covers. A check is claimed as a whole or not at all.
fn open(
    graph: &Graph<'_>,
    settled: &Settled,
    is_claimed: &dyn Fn(CheckId) -> bool,
) -> Vec<Unsettled> {
    let program: &Program = graph.world.program();
    let mut known: FxHashMap<(CtxId, Loc), Rc<Behind>> = FxHashMap::default();
    let mut seen = FxHashSet::default();
    let mut all = Vec::new();
    for (start, fragment) in &graph.fragments {
        for (index, obligation) in fragment.obligations.iter().enumerate() {
            let is_open = match obligation.check {
                Some(id) => !is_claimed(id),
                None => settled.failing.contains_key(&(*start, index)),
            };
            let is_open = is_open && !ends(obligation);
            let loc = place(program, obligation);
            let wraps = wraps(obligation);
            if !is_open || !seen.insert((obligation.check, wraps, obligation.ctx, loc)) {
                continue;
            }
            let key = (obligation.ctx, loc);
            let behind = known
                .entry(key)
                .or_insert_with(|| Rc::new(behind(&graph.world, obligation.ctx, loc)));
            all.push(Unsettled {
                check: obligation.check.map(|CheckId(id)| id),
                wraps,
                behind: Rc::clone(behind),
            });
        }
    }
    all
}
