//! The operands of an operation, and the registers that it sets.
//!
//! A single list for all code that asks what an operation depends on, so that a new operation has
//! to be added in one place only.

use std::slice;

use super::{Callee, Edge, Op, Operand, Reg, Terminator};

/// Calls a function for each operand that an operation reads. The operand is borrowed like the
/// operation, shared or mutably.
macro_rules! each_operand {
    ($op:expr, $act:expr, $iter:ident, ($($mut:tt)?)) => {
        match $op {
            Op::Bin { a, b, .. }
            | Op::Cmp { a, b, .. }
            | Op::Overflow { a, b, .. }
            | Op::Float { a, b, .. }
            | Op::FloatCmp { a, b, .. } => [a, b].into_iter().for_each($act),
            Op::Funnel { a, b, by, .. } => [a, b, by].into_iter().for_each($act),
            Op::Un { a, .. }
            | Op::Cast { a, .. }
            | Op::Copy { a, .. }
            | Op::FloatNeg { a, .. }
            | Op::FloatCast { a, .. }
            | Op::Freeze { a, .. } => $act(a),
            Op::Select { cond, a, b, .. } => [cond, a, b].into_iter().for_each($act),
            Op::Address { base, indices, .. } => {
                $act(base);
                indices.$iter().for_each(|(index, ..)| $act(index));
            }
            Op::FloatFn { args, .. } => args.$iter().for_each($act),
            Op::Processor { args, .. } => args.$iter().for_each(|(arg, _)| $act(arg)),
            Op::Alloca { size, room, .. } => {
                $act(size);
                room.$iter().for_each(|room| $act(& $($mut)? room.count));
            }
            Op::Load { address, .. } | Op::Lifetime { address, .. } => $act(address),
            Op::Store { value, address, .. } => [value, address].into_iter().for_each($act),
            Op::MemCopy { to, from, len, .. } => [to, from, len].into_iter().for_each($act),
            Op::MemSet { to, value, len, .. } => [to, value, len].into_iter().for_each($act),
            Op::Uninit { address, len } => [address, len].into_iter().for_each($act),
            Op::Call(call) => {
                call.args.$iter().for_each(|arg| $act(& $($mut)? arg.value));
                if let Callee::Indirect(operand) = & $($mut)? call.callee {
                    $act(operand);
                }
            }
            Op::VaStart { list, .. } => $act(list),
            Op::VaCopy { to, from, .. } => [to, from].into_iter().for_each($act),
            Op::StackRestore { saved } => $act(saved),
            Op::AtomicRmw { address, b, .. } => [address, b].into_iter().for_each($act),
            Op::CmpXchg {
                address,
                expected,
                new,
                ..
            } => [address, expected, new].into_iter().for_each($act),
            Op::StackSave { .. } | Op::Unmodelled { .. } => {}
        }
    };
}

impl Op {
    /// Calls `act` for each operand that the operation reads.
    pub fn reads(&self, act: &mut impl FnMut(Operand)) {
        let mut act = |operand: &Operand| act(*operand);
        each_operand!(self, &mut act, iter, ());
    }

    /// Calls `act` for each operand that the operation reads, so that `act` can change it.
    pub fn reads_mut(&mut self, act: &mut impl FnMut(&mut Operand)) {
        each_operand!(self, &mut *act, iter_mut, (mut));
    }

    /// The registers that the operation sets.
    pub fn sets(&self) -> impl Iterator<Item = Reg> + use<> {
        let (first, count, other) = match self {
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
            | Op::Processor { dst, .. }
            | Op::Freeze { dst, .. }
            | Op::Alloca { dst, .. }
            | Op::Load { dst, .. }
            | Op::StackSave { dst }
            | Op::AtomicRmw { dst, .. } => (*dst, 1, None),
            Op::Overflow {
                value, overflow, ..
            } => (*value, 1, Some(*overflow)),
            Op::CmpXchg { dst, success, .. } => (*dst, 1, Some(*success)),
            Op::Call(call) => (call.dst, call.result.len() as u32, None),
            Op::Store { .. }
            | Op::MemCopy { .. }
            | Op::MemSet { .. }
            | Op::Lifetime { .. }
            | Op::Uninit { .. }
            | Op::VaStart { .. }
            | Op::VaCopy { .. }
            | Op::StackRestore { .. }
            | Op::Unmodelled { .. } => (Reg(0), 0, None),
        };
        (0..count).map(move |i| Reg(first.0 + i)).chain(other)
    }
}

impl Terminator {
    /// The operands that the terminator reads, without those that its edges move.
    pub fn reads(&self) -> &[Operand] {
        match self {
            Terminator::Branch { cond: read, .. }
            | Terminator::Switch { value: read, .. }
            | Terminator::IndirectBranch { address: read, .. } => slice::from_ref(read),
            Terminator::Return { values } => values,
            Terminator::Jump(_) | Terminator::Unreachable { .. } => &[],
        }
    }

    /// Calls `act` for each operand that the terminator and its edges read, so that `act` can
    /// change it.
    pub fn reads_mut(&mut self, act: &mut impl FnMut(&mut Operand)) {
        let (own, edges): (&mut [Operand], Vec<&mut Edge>) = match self {
            Terminator::Jump(edge) => (&mut [], vec![edge]),
            Terminator::Branch {
                cond,
                then,
                otherwise,
            } => (slice::from_mut(cond), vec![then, otherwise]),
            Terminator::Switch {
                value,
                cases,
                default,
                ..
            } => {
                let cases = cases.iter_mut().map(|(_, edge)| edge);
                (slice::from_mut(value), cases.chain([default]).collect())
            }
            Terminator::IndirectBranch { address, targets } => {
                let edges = targets.iter_mut().map(|(_, edge)| edge);
                (slice::from_mut(address), edges.collect())
            }
            Terminator::Return { values } => (values, Vec::new()),
            Terminator::Unreachable { .. } => (&mut [], Vec::new()),
        };
        let moved = edges.into_iter().flat_map(|edge| edge.moves.iter_mut());
        let moved = moved.map(|(_, from)| from);
        own.iter_mut().chain(moved).for_each(act);
    }
}
