//! What the floor calls the blocks of the heap that the machine gave.
//!
//! Each request has a name for its last block and one for those before it. The machine knows which
//! call asked for a block; the context is that of the block of code that was entered last.

use std::collections::BTreeMap;

use cegar_model::domain::space::{CtxId, Made, Names, ObjId};
use cegar_model::machine::View;
use cegar_model::program::Program;
use cegar_model::program::ir::{BlockId, CallSite, Op};

/// The requests of one execution so far.
#[derive(Default)]
pub struct Requests {
    /// The block of code that was entered last, and its context.
    last: Option<(CtxId, BlockId)>,
    /// Objects made before it was entered.
    made: usize,
    /// By request, the blocks of the heap that it gave, oldest first.
    blocks: BTreeMap<Made, Vec<u32>>,
}

impl Requests {
    /// Another block of code is entered: notes what the last one asked for.
    pub fn note(&mut self, program: &Program, view: &View<'_>, next: Option<(CtxId, BlockId)>) {
        for (number, site) in view.blocks(self.made) {
            if let (Some((block, op)), Some((ctx, last))) = (call(program, site), self.last)
                && block == last
            {
                let made = Made {
                    ctx,
                    block: block.0,
                    op,
                    part: 0,
                };
                let blocks = self.blocks.entry(made).or_default();
                // What was released before the next request has no name any more.
                blocks.pop_if(|last| !view.object(*last).is_some_and(|seen| seen.alive));
                blocks.push(number);
            }
        }
        self.made = view.made();
        self.last = next;
    }

    /// The blocks by their numbers, with their names.
    pub fn named(&self, names: &Names<'_>) -> BTreeMap<u32, ObjId> {
        let mut all = BTreeMap::new();
        for (made, numbers) in &self.blocks {
            let last = names.known(*made);
            let older = names.known(made.older()).or(last);
            for (left, number) in (0..numbers.len()).rev().zip(numbers) {
                if let Some(id) = if left == 0 { last } else { older } {
                    all.insert(*number, id);
                }
            }
        }
        all
    }
}

/// The call that a site is: its block and operation.
pub fn call(program: &Program, site: CallSite) -> Option<(BlockId, u32)> {
    let block = program.calls.get(site.index())?.loc.block;
    let ops = &program.block(block).ops;
    let is_it = |op: &Op| matches!(op, Op::Call(call) if call.site == site);
    let at = ops.iter().position(|inst| is_it(&inst.op))?;
    Some((block, at as u32))
}
