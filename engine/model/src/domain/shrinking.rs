//! Numbers that shrink in a loop.
//!
//! A number is written digit by digit, `do *p++ = '0' + n % 10; while (n /= 10)`, or seven bits at
//! a time, until it is zero. There are no more iterations than the number has digits. No line says
//! so, since that relation is not linear. But each iteration begins with a smaller number, so the
//! states at the loop head differ in the number's length in bits, at most. Kept apart by that
//! length, each of them is one iteration, in which the other counters are constants (trace
//! partitioning: Mauborgne and Rival, 2005; the measure is the number's length). There are at most
//! as many as bits. Only small loops without calls are treated so, since each of their iterations
//! is walked.

use crate::program::ir::{BinOp, BlockId, Op, Operand, Reg};

use super::selectors::Walk;

/// The most blocks of a loop whose iterations are walked one by one.
const BLOCKS: usize = 16;
/// The most operations between a number and what is left of it.
const CHAIN: usize = 6;

impl Walk<'_> {
    /// By block: the register by whose length states are kept apart.
    pub(super) fn shrinking(&self) -> Vec<Option<Reg>> {
        let mut found = vec![None; self.blocks.1];
        for block in self.blocks() {
            for edge in self.program.block(block).end.edges() {
                if !(self.is_head)(edge.to) {
                    continue;
                }
                for (number, rest) in &edge.moves {
                    if let Some(all) = self.shrunk(*rest, *number) {
                        self.mark(&all, &mut found);
                    }
                }
            }
        }
        found
    }

    /// Marks the blocks of a small loop, each with the first of these registers that is live there:
    /// the loop's number, or what is left of it.
    fn mark(&self, all: &[Reg], found: &mut [Option<Reg>]) {
        let live = |block: BlockId| all.iter().find(|reg| (self.is_live)(block, **reg));
        let blocks = self.blocks().filter(|block| (self.is_cyclic)(*block));
        let turn: Vec<(BlockId, Reg)> = blocks
            .filter_map(|block| Some((block, *live(block)?)))
            .collect();
        let calls = turn.iter().any(|(block, _)| {
            let mut ops = self.program.block(*block).ops.iter();
            ops.any(|inst| matches!(inst.op, Op::Call(_)))
        });
        if calls || turn.len() > BLOCKS {
            return;
        }
        let (first, _) = self.blocks;
        for (block, reg) in turn {
            found[(block.0 - first) as usize].get_or_insert(reg);
        }
    }

    /// The registers between a number and `rest`, if `rest` is the number shifted to the right or
    /// divided.
    fn shrunk(&self, rest: Operand, number: Reg) -> Option<Vec<Reg>> {
        let mut all = vec![number];
        let mut at = rest;
        let mut is_less = false;
        for _ in 0..CHAIN {
            let Operand::Reg(reg) = at else { return None };
            if reg == number {
                return is_less.then_some(all);
            }
            all.push(reg);
            at = match (self.made)(reg)? {
                Op::Cast { a, .. } | Op::Copy { a, .. } => *a,
                Op::Bin {
                    op: BinOp::LShr | BinOp::AShr,
                    a,
                    b: Operand::Const(1..),
                    ..
                }
                | Op::Bin {
                    op: BinOp::UDiv | BinOp::SDiv,
                    a,
                    b: Operand::Const(2..),
                    ..
                } => {
                    is_less = true;
                    *a
                }
                _ => return None,
            };
        }
        None
    }
}
