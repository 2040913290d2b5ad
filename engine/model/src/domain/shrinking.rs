//! Numbers that shrink in a loop.
//!
//! A number is written digit by digit: `do *p++ = '0' + n % 10; while (n /= 10)`, or seven bits of
//! it at a time, until it is zero. There are no more turns than the number has digits, which no
//! line says, since it is no sum. But each turn begins with a smaller number, so that states at the
//! loop's head differ in how many bits the number has at most. Kept apart by that, each of them is
//! one turn, in which the other counters are constants (trace partitioning: Mauborgne and Rival,
//! 2005; the measure is the number's length). There are at most as many as bits. Only small loops
//! without calls are treated so: each turn of theirs is walked.

use crate::program::ir::{BinOp, BlockId, Op, Operand, Reg};

use super::selectors::Walk;

/// Blocks of a loop whose turns are walked one by one.
const BLOCKS: usize = 16;
/// Operations between a number and what is left of it.
const CHAIN: usize = 6;

impl Walk<'_> {
    /// By block: the register by whose length states are kept apart there.
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

    /// Where one of these registers, the first of which is a loop's number and the others what is
    /// left of it, matters within a small loop.
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

    /// The registers between a number and `rest`, if that is the number shifted to the right or
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
