//! The conditions of a proof: unproved checks of the same program that it depends on.
//!
//! After a violation, the model no longer describes the execution. Therefore, whatever may be
//! executed after an open check holds only if that check does. The control flow determines this
//! code. The checker ([`cegar_checker::check()`]) derives the same conditions.

use std::collections::BTreeSet;
use std::rc::Rc;

use cegar_checker::certificate::Condition;
use cegar_checker::check::{ends, place};
use cegar_checker::continuation::{Continuation, code_after};
use cegar_model::program::ir::{BlockId, CheckId, Loc, Program};
use cegar_model::symbolic::world::CtxId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::abstraction::goals::Settled;
use crate::abstraction::graph::Graph;

/// The conditions of a program's proofs; see the [module](self).
#[derive(Debug)]
pub struct Conditions {
    open: Vec<Unsettled>,
}

#[derive(Debug)]
struct Unsettled {
    check: Option<u32>,
    continuation: Rc<Continuation>,
}

impl Conditions {
    /// The conditions for the settled goals, where some checks are claimed and the others are open.
    pub fn of(
        graph: &Graph<'_>,
        settled: &Settled,
        is_claimed: &dyn Fn(CheckId) -> bool,
    ) -> Conditions {
        let program: &Program = graph.world.program();
        let mut known: FxHashMap<(CtxId, Loc), Rc<Continuation>> = FxHashMap::default();
        let mut seen = FxHashSet::default();
        let mut open = Vec::new();
        for (start, fragment) in &graph.fragments {
            for (index, obligation) in fragment.obligations.iter().enumerate() {
                // A check is claimed as a whole or not at all.
                let is_open = match obligation.check {
                    Some(id) => !is_claimed(id),
                    None => settled.failing.contains_key(&(*start, index)),
                };
                let loc = place(program, obligation);
                let key = (obligation.ctx, loc);
                if !is_open || ends(obligation) || !seen.insert((obligation.check, key)) {
                    continue;
                }
                let continuation = known
                    .entry(key)
                    .or_insert_with(|| Rc::new(code_after(&graph.world, obligation.ctx, loc)));
                open.push(Unsettled {
                    check: obligation.check.map(|CheckId(id)| id),
                    continuation: Rc::clone(continuation),
                });
            }
        }
        Conditions { open }
    }

    /// The condition of a check; `None` if it holds unconditionally.
    pub fn check(&self, loc: Loc) -> Option<Condition> {
        self.condition(|continuation| continuation.has(loc))
    }

    /// The condition under which a block is not entered; `None` if it never is.
    pub fn block(&self, block: BlockId) -> Option<Condition> {
        self.condition(|continuation| continuation.enters(block))
    }

    fn condition(&self, is_behind: impl Fn(&Continuation) -> bool) -> Option<Condition> {
        let mut condition = Condition::default();
        let mut checks = BTreeSet::new();
        for unsettled in self.open.iter().filter(|u| is_behind(&u.continuation)) {
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
}
