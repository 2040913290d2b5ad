//! What the facts settle: checks that hold, blocks that are never entered, places that cannot be passed.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use super::encode::Hole;
use super::graph::Graph;
use super::houdini::{Cost, Facts, ask, within};
use super::world::{Cut, CtxId, successors};
use crate::program::ir::{BlockId, Callee, FuncId, Op, Program};
use crate::solver::{Answer, Limits, Model, Reason, Session};
use crate::term::Term;

/// How long a question about one check may take.
const QUESTION: Duration = Duration::from_secs(3);

/// An obligation that does not follow.
#[derive(Clone, Debug)]
pub struct Failing {
    /// The fragment.
    pub start: Option<Cut>,
    /// Its number in the fragment.
    pub index: usize,
    /// A state and unknowns that violate it; none where the solver gave no answer or the engine cannot tell.
    pub model: Option<Model>,
    /// Why there is no answer.
    pub reason: Option<Reason>,
}

/// What was found out about one program.
#[derive(Debug, Default)]
pub struct Settled {
    /// The obligations that do not follow.
    pub failing: Vec<Failing>,
    /// Blocks that some abstract state enters.
    pub entered: FxHashSet<BlockId>,
    /// The holes that some abstract state reaches, as (fragment, index).
    pub holes: Vec<(Option<Cut>, usize)>,
}

/// Asks about every obligation, every hole, and those blocks that are `wanted`. None if time ran out.
pub fn settle(
    graph: &mut Graph<'_>,
    facts: &Facts,
    wanted: &dyn Fn(BlockId) -> bool,
    deadline: Option<Instant>,
    cost: &mut Cost,
) -> Option<Settled> {
    let mut settled = Settled::default();
    let starts: Vec<Option<Cut>> = graph.fragments.keys().copied().collect();
    for start in starts {
        let mut session = Session::new();
        for axiom in graph.axioms(start) {
            session.assert(&graph.pool, axiom);
        }
        let known = start.and_then(|cut| facts.get(&cut));
        for &fact in known.into_iter().flatten() {
            session.assert(&graph.pool, fact);
        }
        let fragment = graph.fragments[&start].clone();
        // Questions in the order of the prefixes that they may assume.
        let mut questions: Vec<(usize, Question)> = Vec::new();
        let each = |i: usize, prefix: usize, what: fn(usize) -> Question| (prefix, what(i));
        for (i, o) in fragment.obligations.iter().enumerate() {
            questions.push(each(i, o.prefix, Question::Obligation));
        }
        for (i, e) in fragment.entered.iter().enumerate() {
            if wanted(e.block) {
                questions.push(each(i, e.prefix, Question::Entered));
            }
        }
        for (i, h) in fragment.holes.iter().enumerate() {
            questions.push(each(i, h.prefix, Question::Hole));
        }
        questions.sort_by_key(|(prefix, _)| *prefix);
        let mut asserted = 0;
        let mut proved: BTreeSet<usize> = BTreeSet::new();
        for (prefix, question) in questions {
            if deadline.is_some_and(|end| Instant::now() > end) {
                return None;
            }
            while asserted < prefix {
                // What was proved follows anyway.
                let of = fragment.obligation_of[asserted];
                if of.is_none_or(|o| !proved.contains(&o)) {
                    session.assert(&graph.pool, fragment.assumptions[asserted]);
                }
                asserted += 1;
            }
            let (mut terms, _) = question.terms(&fragment);
            if terms.iter().any(|&t| graph.pool.as_const(t) == Some(0)) {
                if let Question::Obligation(i) = question {
                    proved.insert(i);
                }
                continue;
            }
            if let Question::Entered(i) = question
                && settled.entered.contains(&fragment.entered[i].block)
            {
                continue;
            }
            terms.retain(|&t| graph.pool.as_const(t).is_none());
            let limits = Limits {
                time: Some(within(QUESTION, deadline)),
                ..Limits::default()
            };
            let answer = ask(&mut session, graph, &terms, &limits, cost);
            match (question, answer) {
                (Question::Obligation(index), Answer::Unsat { .. }) => {
                    proved.insert(index);
                }
                (Question::Obligation(index), answer) => {
                    let vague = fragment.obligations[index].vague;
                    let (model, reason) = match answer {
                        Answer::Sat(model) if !vague => (Some(model), None),
                        Answer::Unknown(reason) => (None, Some(reason)),
                        _ => (None, None),
                    };
                    settled.failing.push(Failing {
                        start,
                        index,
                        model,
                        reason,
                    });
                }
                (_, Answer::Unsat { .. }) => {}
                (Question::Entered(i), _) => {
                    settled.entered.insert(fragment.entered[i].block);
                }
                (Question::Hole(i), _) => settled.holes.push((start, i)),
            }
        }
    }
    Some(settled)
}

#[derive(Clone, Copy)]
enum Question {
    Obligation(usize),
    Entered(usize),
    Hole(usize),
}

impl Question {
    fn terms(self, fragment: &super::encode::Fragment) -> (Vec<Term>, usize) {
        match self {
            Question::Obligation(i) => {
                let o = &fragment.obligations[i];
                let mut terms = o.guard.0.clone();
                terms.push(o.violated);
                (terms, o.prefix)
            }
            Question::Entered(i) => {
                let e = &fragment.entered[i];
                (e.guard.0.clone(), e.prefix)
            }
            Question::Hole(i) => {
                let h = &fragment.holes[i];
                (h.guard.0.clone(), h.prefix)
            }
        }
    }
}

/// The blocks that may be executed after a hole: what is behind it in all functions in progress, and whatever these call.
pub fn behind(graph: &Graph<'_>, hole: &Hole) -> FxHashSet<BlockId> {
    let program = graph.world.program();
    let mut blocks = FxHashSet::default();
    let mut at: Option<(CtxId, BlockId)> = Some((hole.ctx, hole.block));
    while let Some((ctx, block)) = at {
        let mut open = vec![block];
        while let Some(block) = open.pop() {
            if blocks.insert(block) {
                open.extend(successors(&program.block(block).end));
            }
        }
        at = graph
            .world
            .context(ctx)
            .back
            .map(|back| (back.ctx, back.block));
    }
    called(program, &mut blocks);
    blocks
}

/// Adds the blocks of everything that these blocks call. A call through a pointer calls anything.
fn called(program: &Program, blocks: &mut FxHashSet<BlockId>) {
    let mut open: Vec<BlockId> = blocks.iter().copied().collect();
    let mut entered: FxHashSet<FuncId> = FxHashSet::default();
    while let Some(block) = open.pop() {
        let mut callees = Vec::new();
        for inst in &program.block(block).ops {
            if let Op::Call(call) = &inst.op {
                match call.callee {
                    Callee::Direct(id) => callees.push(id),
                    Callee::Indirect(_) => {
                        callees.extend((0..program.functions.len() as u32).map(FuncId));
                    }
                }
            }
        }
        for id in callees {
            if entered.insert(id) {
                for block in program.function(id).blocks.clone().map(BlockId) {
                    if blocks.insert(block) {
                        open.push(block);
                    }
                }
            }
        }
    }
}
