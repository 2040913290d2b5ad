//! Which registers are still needed.
//!
//! A cut point's state is the registers that something behind it may read, of its own function and of all callers, and
//! memory. What is dead there needs no variable and no invariant.

use rustc_hash::{FxHashMap, FxHashSet};

use cegar_model::program::ir::{
    Block, BlockId, Callee, FuncId, Op, Operand, Program, Reg, Terminator,
};
use cegar_model::symbolic::world::successors;

/// The live registers of one function.
#[derive(Debug)]
pub struct Live {
    at_start: FxHashMap<BlockId, FxHashSet<Reg>>,
}

impl Live {
    /// Computes them.
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

    /// The registers that are live where the block begins.
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
            // What another edge writes may be needed behind this one.
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
        match &block.end {
            Terminator::Branch { cond, .. } => used.push(*cond),
            Terminator::Switch { value, .. } => used.push(*value),
            Terminator::Return { values } => used.extend(values),
            Terminator::IndirectBranch { address, .. } => used.push(*address),
            Terminator::Jump(_) | Terminator::Unreachable { .. } => {}
        }
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
    match op {
        Op::Bin { dst, .. }
        | Op::Un { dst, .. }
        | Op::Funnel { dst, .. }
        | Op::Cmp { dst, .. }
        | Op::Cast { dst, .. }
        | Op::Copy { dst, .. }
        | Op::Select { dst, .. }
        | Op::Address { dst, .. }
        | Op::Float { dst, .. }
        | Op::FloatNeg { dst, .. }
        | Op::FloatCmp { dst, .. }
        | Op::FloatCast { dst, .. }
        | Op::FloatFn { dst, .. }
        | Op::Freeze { dst, .. }
        | Op::Alloca { dst, .. }
        | Op::Load { dst, .. }
        | Op::StackSave { dst }
        | Op::AtomicRmw { dst, .. } => vec![*dst],
        Op::Overflow {
            value, overflow, ..
        } => vec![*value, *overflow],
        Op::CmpXchg { dst, success, .. } => vec![*dst, *success],
        Op::Call(call) => (0..call.result.len() as u32)
            .map(|i| Reg(call.dst.0 + i))
            .collect(),
        Op::Store { .. }
        | Op::MemCopy { .. }
        | Op::MemSet { .. }
        | Op::Lifetime { .. }
        | Op::Uninit { .. }
        | Op::VaStart { .. }
        | Op::VaCopy { .. }
        | Op::StackRestore { .. }
        | Op::Unmodelled { .. } => Vec::new(),
    }
}

/// The operands that an operation reads.
pub fn operands(op: &Op) -> Vec<Operand> {
    match op {
        Op::Bin { a, b, .. }
        | Op::Cmp { a, b, .. }
        | Op::Overflow { a, b, .. }
        | Op::Float { a, b, .. }
        | Op::FloatCmp { a, b, .. } => vec![*a, *b],
        Op::Funnel { a, b, by, .. } => vec![*a, *b, *by],
        Op::Un { a, .. }
        | Op::Cast { a, .. }
        | Op::Copy { a, .. }
        | Op::FloatNeg { a, .. }
        | Op::FloatCast { a, .. }
        | Op::Freeze { a, .. } => vec![*a],
        Op::Select { cond, a, b, .. } => vec![*cond, *a, *b],
        Op::Address { base, indices, .. } => {
            let mut all = vec![*base];
            all.extend(indices.iter().map(|(index, _, _)| *index));
            all
        }
        Op::FloatFn { args, .. } => args.to_vec(),
        Op::Alloca { size, room, .. } => {
            let count = room.as_ref().map(|room| room.count);
            [*size].into_iter().chain(count).collect()
        }
        Op::Load { address, .. } | Op::Lifetime { address, .. } => vec![*address],
        Op::Store { value, address, .. } => vec![*value, *address],
        Op::MemCopy { to, from, len, .. } => vec![*to, *from, *len],
        Op::MemSet { to, value, len, .. } => vec![*to, *value, *len],
        Op::Uninit { address, len } => vec![*address, *len],
        Op::Call(call) => {
            let mut all: Vec<Operand> = call.args.iter().map(|arg| arg.value).collect();
            if let Callee::Indirect(pointer) = call.callee {
                all.push(pointer);
            }
            all
        }
        Op::VaStart { list, .. } => vec![*list],
        Op::VaCopy { to, from, .. } => vec![*to, *from],
        Op::StackSave { .. } | Op::Unmodelled { .. } => Vec::new(),
        Op::StackRestore { saved } => vec![*saved],
        Op::AtomicRmw { address, b, .. } => vec![*address, *b],
        Op::CmpXchg {
            address,
            expected,
            new,
            ..
        } => vec![*address, *expected, *new],
    }
}
