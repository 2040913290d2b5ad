//! The results of a walk: checks that may be violated, holes, and rules that narrow the world.
//!
//! A place where the model is narrower than the world is reported as the innermost call site in the
//! user's code. A function that is walked once for all its calls has many such places, which are
//! known only after all calls have been walked.

use std::collections::{BTreeMap, BTreeSet};

use super::check_notes::OpenCheckNote;
use super::context::Contexts;
use super::space::CtxId;
use crate::program::ir::{BlockId, CheckId, CheckKind, FuncId, FunctionKind, Loc, Pos, Program};

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Checks that may be violated.
    pub open: BTreeSet<CheckId>,
    /// Places where a violation that has no check may occur.
    pub elsewhere: BTreeSet<Loc>,
    /// The holes, with a description of what is not modelled.
    pub holes: BTreeMap<Loc, String>,
    /// Blocks that may be entered.
    pub entered: BTreeSet<BlockId>,
    /// Calls that may be made: the block, the operation and the callee.
    pub calls: BTreeSet<(BlockId, u32, FuncId)>,
    /// What was known at checks that may be violated, if the walk takes notes.
    pub check_notes: BTreeMap<CheckId, OpenCheckNote>,
    /// The rules that narrow the world, and where each of them was applied.
    pub(super) met: BTreeSet<(&'static str, CtxId, Pos)>,
    /// The violations that library functions report: the index in `KINDS`, and the context.
    pub(super) reported: BTreeSet<(u8, CtxId)>,
    /// The callers of shared functions: context, block and operation.
    pub(super) callers: BTreeMap<FuncId, BTreeSet<(CtxId, BlockId, u32)>>,
}

/// The kinds of violations that library functions report.
const KINDS: [CheckKind; 4] = [
    CheckKind::Assertion,
    CheckKind::Abort,
    CheckKind::ReachError,
    CheckKind::Fail,
];

impl Found {
    /// Records a violation that is reported in a context.
    pub(super) fn report(&mut self, kind: CheckKind, ctx: CtxId) {
        let number = KINDS.iter().position(|known| *known == kind);
        self.reported.insert((number.unwrap_or(3) as u8, ctx));
    }

    /// The calls that lead into a context.
    fn callers_of(&self, contexts: &Contexts, ctx: CtxId) -> Vec<(CtxId, BlockId, u32)> {
        match contexts.back(ctx) {
            Some(back) => vec![back],
            None => {
                let callers = self.callers.get(&contexts.function(ctx));
                callers.into_iter().flatten().copied().collect()
            }
        }
    }

    /// Returns the rules that narrow the world, and where, in the words that proofs use.
    pub fn narrowings(
        &self,
        program: &Program,
        contexts: &Contexts,
    ) -> BTreeMap<&'static str, BTreeSet<String>> {
        let mut all: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
        let is_user =
            |ctx: CtxId| program.function(contexts.function(ctx)).kind == FunctionKind::User;
        for &(id, ctx, pos) in &self.met {
            let places = all.entry(id).or_default();
            let mut seen = BTreeSet::new();
            let mut open = vec![(ctx, pos)];
            while let Some((ctx, pos)) = open.pop() {
                if is_user(ctx) {
                    places.insert(program.show(pos));
                    continue;
                }
                if !seen.insert((ctx, pos)) {
                    continue;
                }
                let callers = self.callers_of(contexts, ctx);
                if callers.is_empty() {
                    places.insert("the program's start".to_owned());
                }
                open.extend(callers.into_iter().map(|(ctx, block, op)| {
                    let block = program.block(block);
                    let call = block.ops.get(op as usize);
                    (ctx, call.map_or(block.pos, |inst| inst.pos))
                }));
            }
        }
        all
    }

    /// Turns reported violations into open checks at the calls by which the user's code enters the
    /// library.
    pub(super) fn settle(&mut self, program: &Program, contexts: &Contexts) {
        for (kind, ctx) in self.reported.clone() {
            let kind = KINDS[usize::from(kind).min(KINDS.len() - 1)];
            let mut seen = BTreeSet::new();
            let mut open = vec![ctx];
            while let Some(ctx) = open.pop() {
                if !seen.insert(ctx) {
                    continue;
                }
                for (caller, block, op) in self.callers_of(contexts, ctx) {
                    let function = contexts.function(caller);
                    if program.function(function).kind != FunctionKind::User {
                        open.push(caller);
                        continue;
                    }
                    let at = program
                        .block(block)
                        .ops
                        .get(op as usize)
                        .map_or(0, |inst| inst.at);
                    let here = |check: &crate::program::ir::Check| {
                        check.loc.block == block && check.loc.inst == at && check.kind == kind
                    };
                    match program.checks.iter().position(here) {
                        Some(id) => {
                            self.open.insert(CheckId(id as u32));
                        }
                        None => {
                            self.elsewhere.insert(Loc { block, inst: at });
                        }
                    }
                }
            }
        }
    }
}
