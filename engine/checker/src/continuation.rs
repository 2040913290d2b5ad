//! The code that may be executed after a place.
//!
//! Behind a construct that is not modelled, and behind a check that is not proved, claims hold only
//! under a condition. Which code lies behind a place follows from the control flow alone: the code
//! after the place in all functions in progress, and all functions that this code calls.

use cegar_model::program::ir::{BlockId, Callee, FuncId, Loc, Op, Program, Terminator};
use cegar_model::symbolic::world::{CtxId, World, successors};
use rustc_hash::FxHashSet;

/// The code that may be executed after a place.
#[derive(Clone, Debug)]
pub struct Continuation {
    /// Blocks that may be executed completely.
    blocks: FxHashSet<BlockId>,
    /// Blocks that are being executed, one for each call in progress, with the instruction from
    /// which on their rest may be executed.
    rest: Vec<(BlockId, u32)>,
}

impl Continuation {
    /// Whether an instruction may be executed after the place.
    pub fn has(&self, loc: Loc) -> bool {
        let rest = |&(block, from): &(BlockId, u32)| block == loc.block && loc.inst >= from;
        self.blocks.contains(&loc.block) || self.rest.iter().any(rest)
    }

    /// Whether a block may be entered after the place.
    pub fn enters(&self, block: BlockId) -> bool {
        self.blocks.contains(&block)
    }
}

/// The code that may be executed after an instruction of a context has begun, including the rest of
/// that instruction.
pub fn code_after(world: &World<'_>, ctx: CtxId, loc: Loc) -> Continuation {
    let program = world.program();
    let mut blocks = FxHashSet::default();
    if world.lies_in(ctx).is_some() {
        // Any caller may continue after the return.
        blocks.extend((0..program.blocks.len() as u32).map(BlockId));
        let rest = Vec::new();
        return Continuation { blocks, rest };
    }
    // Of the block that a frame is in, only the rest is executed, unless a loop leads back to it.
    let mut rest: Vec<(BlockId, u32)> = Vec::new();
    let first = match decides(program, loc.block) {
        deciding if deciding.is_empty() => vec![(loc.block, loc.inst)],
        // Where the compiler's own test finds a violation, the real program continues after the
        // test.
        deciding => deciding,
    };
    let (&(block, from), others) = match first.split_first() {
        Some(first) => first,
        None => (&(loc.block, loc.inst), &[][..]),
    };
    for &(block, from) in others {
        rest.push((block, from));
        spread(program, block, &mut blocks);
    }
    let mut at: Option<(CtxId, BlockId, u32)> = Some((ctx, block, from));
    while let Some((ctx, block, from)) = at {
        rest.push((block, from));
        spread(program, block, &mut blocks);
        let back = world.context(ctx).back;
        at = back.map(|back| {
            let ops = &program.block(back.block).ops;
            let from = ops.get(back.op).map_or(u32::MAX, |inst| inst.at);
            (
                back.ctx,
                back.block,
                from.min(program.block(back.block).end_at),
            )
        });
    }
    called(program, &mut blocks, &rest);
    Continuation { blocks, rest }
}

/// Adds the blocks that are reachable from a block, without the block itself unless it is on a
/// cycle.
pub(crate) fn spread(program: &Program, block: BlockId, blocks: &mut FxHashSet<BlockId>) {
    let mut open = successors(&program.block(block).end);
    while let Some(block) = open.pop() {
        if blocks.insert(block) {
            open.extend(successors(&program.block(block).end));
        }
    }
}

/// The branches that decide whether execution reaches a block that ends it, each with the position
/// of its terminator. Empty for a block after which execution continues. An overflow check is a
/// branch to a block with a trap: the model ends there, but a program without the trap continues.
pub(crate) fn decides(program: &Program, block: BlockId) -> Vec<(BlockId, u32)> {
    let mut ends: FxHashSet<BlockId> = FxHashSet::default();
    if !matches!(program.block(block).end, Terminator::Unreachable { .. }) {
        return Vec::new();
    }
    ends.insert(block);
    let function = program.block(block).function;
    let all = program.function(function).blocks.clone().map(BlockId);
    let only_ends = |ends: &FxHashSet<BlockId>, block: BlockId| {
        let next = successors(&program.block(block).end);
        !next.is_empty() && next.iter().all(|to| ends.contains(to))
    };
    loop {
        let more: Vec<BlockId> = all
            .clone()
            .filter(|&block| !ends.contains(&block) && only_ends(&ends, block))
            .collect();
        if more.is_empty() {
            break;
        }
        ends.extend(more);
    }
    all.filter(|block| !ends.contains(block))
        .filter(|&block| {
            let next = successors(&program.block(block).end);
            next.iter().any(|to| ends.contains(to))
        })
        .map(|block| (block, program.block(block).end_at))
        .collect()
}

/// Adds the blocks of all functions that these blocks call, directly or indirectly. A call through
/// a pointer calls any function whose address is taken.
fn called(program: &Program, blocks: &mut FxHashSet<BlockId>, rest: &[(BlockId, u32)]) {
    let mut open: Vec<(BlockId, u32)> = blocks.iter().map(|&block| (block, 0)).collect();
    open.extend(rest);
    let mut entered: FxHashSet<FuncId> = FxHashSet::default();
    let mut addressed: Option<Vec<FuncId>> = None;
    while let Some((block, from)) = open.pop() {
        let mut callees = Vec::new();
        let ops = program.block(block).ops.iter();
        for inst in ops.filter(|inst| inst.at >= from) {
            if let Op::Call(call) = &inst.op {
                match call.callee {
                    Callee::Direct(id) => callees.push(id),
                    Callee::Indirect(_) => {
                        callees.extend(addressed.get_or_insert_with(|| addresses(program)).iter());
                    }
                }
            }
        }
        for id in callees {
            if entered.insert(id) {
                for block in program.function(id).blocks.clone().map(BlockId) {
                    if blocks.insert(block) {
                        open.push((block, 0));
                    }
                }
            }
        }
    }
}

/// The functions whose addresses are taken.
fn addresses(program: &Program) -> Vec<FuncId> {
    let all = program.functions.iter().enumerate();
    all.filter(|(_, function)| function.addressed)
        .map(|(i, _)| FuncId(i as u32))
        .collect()
}
