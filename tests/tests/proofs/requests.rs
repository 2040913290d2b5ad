//! The floor's names for the heap blocks that the machine allocated.
//!
//! Each request has a name for its last block and one for the earlier ones. The machine knows which
//! call requested a block; its context is that of the block of code that was entered last.

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
    /// The number of objects that were made before that block was entered.
    made: usize,
    /// The heap blocks of each request, oldest first.
    blocks: BTreeMap<Made, Vec<u32>>,
}

impl Requests {
    /// Called when another block of code is entered: records the requests of the previous one.
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
                // A block that was released before the next request has no name any more.
                blocks.pop_if(|last| !view.object(*last).is_some_and(|seen| seen.alive));
                blocks.push(number);
            }
        }
        self.made = view.made();
        self.last = next;
    }

    /// The names of the blocks, by the machine's numbers.
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

/// The call at a call site: its block and operation.
pub fn call(program: &Program, site: CallSite) -> Option<(BlockId, u32)> {
    let block = program.calls.get(site.index())?.loc.block;
    let ops = &program.block(block).ops;
    let is_it = |op: &Op| matches!(op, Op::Call(call) if call.site == site);
    let at = ops.iter().position(|inst| is_it(&inst.op))?;
    Some((block, at as u32))
}
