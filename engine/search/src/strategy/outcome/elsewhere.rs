//! Possible violations at places without a check of the user's code.
//!
//! The checks of a library function are in the stub library (`strlen` reads up to the zero byte),
//! so that the preconditions of a call are proved there. Reports need the function, and not only a
//! text: users know their calls of it, but not the files of the stub library.

use std::collections::BTreeSet;

use cegar_checker::floor::FloorResult;
use cegar_model::program::ir::{CheckKind, FuncId, FunctionKind, Pos, Program};
use cegar_model::symbolic::world::{CtxId, World};

use super::settle::why;
use crate::abstraction::goals::Settled;
use crate::abstraction::graph::Graph;
use crate::strategy::options::Options;

/// A possible violation at a place without a check of the user's code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Elsewhere {
    /// The function and the place in it; `None` if it is about the program as a whole.
    pub at: Option<(FuncId, Pos)>,
    /// The user's call that leads there, if the context determines it: the callee and the place of
    /// the call.
    pub call: Option<(FuncId, Pos)>,
    /// The kind of check that would be violated; `None` if it is unknown.
    pub kind: Option<CheckKind>,
    /// Why it is not excluded.
    pub why: String,
}

impl Elsewhere {
    /// A statement about the program as a whole.
    pub fn whole(why: &str) -> Elsewhere {
        Elsewhere {
            at: None,
            call: None,
            kind: None,
            why: why.to_owned(),
        }
    }

    /// What the floor leaves open: accesses without a check, and checks in functions that are not
    /// the user's.
    pub(super) fn above(
        (program, options): (&Program, &Options),
        floor_result: &FloorResult,
        why: &str,
    ) -> Vec<Elsewhere> {
        let accesses = floor_result.elsewhere().map(|loc| Elsewhere {
            at: Some((program.block(loc.block).function, program.position(loc))),
            call: None,
            kind: None,
            why: why.to_owned(),
        });
        let checks = floor_result.open().filter_map(|id| {
            let check = program.checks.get(id.index())?;
            let is_user = program.function(check.function).kind == FunctionKind::User;
            let is_asked = options.properties.contains(&check.kind.property());
            (!is_user && is_asked).then(|| Elsewhere {
                at: Some((check.function, check.pos)),
                call: None,
                kind: Some(check.kind),
                why: floor_result.lost(id).unwrap_or(why).to_owned(),
            })
        });
        accesses.chain(checks).collect()
    }
}

/// The innermost call in the user's code on the call stack of a context.
fn call_of(program: &Program, world: &World, ctx: CtxId) -> Option<(FuncId, Pos)> {
    let mut inner = world.context(ctx);
    while let Some(back) = &inner.back {
        let outer = world.context(back.ctx);
        if program.function(outer.function).kind == FunctionKind::User {
            let ops = &program.block(back.block).ops;
            let call = ops.get(back.op.checked_sub(1)?)?;
            return Some((inner.function, call.pos));
        }
        inner = outer;
    }
    None
}

/// The obligations that do not follow and do not belong to a check of the user's code.
pub(super) fn elsewhere(
    program: &Program,
    options: &Options,
    settled: &Settled,
    graph: &Graph<'_>,
) -> Vec<Elsewhere> {
    let mut all = BTreeSet::new();
    for failing in settled.failing.values() {
        let obligation = &graph.fragments[&failing.start].obligations[failing.index];
        if !options.properties.contains(&obligation.kind.property()) {
            continue;
        }
        let is_user = obligation.check.is_some_and(|id| {
            let function = program.checks[id.index()].function;
            program.function(function).kind == FunctionKind::User
        });
        if !is_user {
            all.insert(Elsewhere {
                at: Some((program.block(obligation.block).function, obligation.pos)),
                call: call_of(program, &graph.world, obligation.ctx),
                kind: Some(obligation.kind),
                why: why(failing, program, graph),
            });
        }
    }
    all.into_iter().collect()
}
