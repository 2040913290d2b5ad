//! Live registers.
//!
//! A cut point's state consists of memory and of the registers that may still be read, of its own
//! function and of all callers. Dead registers need no variable and no invariant.

use rustc_hash::{FxHashMap, FxHashSet};

use cegar_model::program::ir::{Block, BlockId, FuncId, Op, Operand, Program, Reg};
use cegar_model::symbolic::world::successors;

/// The live registers of one function.
#[derive(Debug)]
pub struct Live {
    at_start: FxHashMap<BlockId, FxHashSet<Reg>>,
}

impl Live {
    /// Computes the live registers of a function.
    pub fn new(program: &Program, function: FuncId) -> Live {
        let blocks: Vec<BlockId> = program
            .function(function)
            .blocks
            .clone()
            .map(BlockId)
            .collect();
        let mut live = Live {
            at_start: FxHashMap::default(),
        };
        let mut changed = true;
        while changed {
            changed = false;
            for &id in blocks.iter().rev() {
                let new = live.before(program.block(id), 0);
                let old = live.at_start.entry(id).or_default();
                if new.len() != old.len() {
                    *old = new;
                    changed = true;
                }
            }
        }
        live
    }

    /// The registers that are live at the beginning of a block.
    pub fn at_start(&self, block: BlockId) -> Vec<Reg> {
        let mut all: Vec<Reg> = self
            .at_start
            .get(&block)
            .into_iter()
            .flatten()
            .copied()
            .collect();
        all.sort_unstable();
        all
    }

    /// The registers that are live before operation `from` of a block.
    pub fn before(&self, block: &Block, from: usize) -> FxHashSet<Reg> {
        let mut live: FxHashSet<Reg> = FxHashSet::default();
        for to in successors(&block.end) {
            live.extend(self.at_start.get(&to).into_iter().flatten());
        }
        let mut used = Vec::new();
        for edge in block.end.edges() {
            for (reg, _) in &edge.moves {
                live.remove(reg);
            }
        }
        for edge in block.end.edges() {
            // A register that one edge writes may be live after another edge.
            let written: FxHashSet<Reg> = edge.moves.iter().map(|(reg, _)| *reg).collect();
            live.extend(
                self.at_start
                    .get(&edge.to)
                    .into_iter()
                    .flatten()
                    .filter(|reg| !written.contains(reg)),
            );
            used.extend(edge.moves.iter().map(|(_, from)| *from));
        }
        used.extend(block.end.reads());
        add(&mut live, &used);
        for inst in block.ops.iter().skip(from).rev() {
            for reg in results(&inst.op) {
                live.remove(&reg);
            }
            add(&mut live, &operands(&inst.op));
        }
        live
    }
}

fn add(live: &mut FxHashSet<Reg>, used: &[Operand]) {
    live.extend(used.iter().filter_map(|operand| match operand {
        Operand::Reg(reg) => Some(*reg),
        _ => None,
    }));
}

/// The registers that an operation sets.
pub fn results(op: &Op) -> Vec<Reg> {
    op.sets().collect()
}

/// The operands that an operation reads.
pub fn operands(op: &Op) -> Vec<Operand> {
    let mut all = Vec::new();
    op.reads(&mut |operand| all.push(operand));
    all
}
