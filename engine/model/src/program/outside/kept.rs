//! Finds the objects whose address may outlast the call that made them.
//!
//! The address of a local variable that is only passed down, and never stored or returned, is lost
//! when its call is over. Every use of an address keeps the object, unless the use is known to
//! leave the address in registers.

use rustc_hash::FxHashSet;

use super::Site;
use super::points::Points;
use crate::program::ir::{
    BlockId, Call, FuncId, FunctionKind, Intrinsic, Op, Operand, Program, Terminator,
};

/// The objects of which an address may be stored, returned, or known to an external function.
pub(super) fn kept(
    program: &Program,
    points: &Points,
    runs: &dyn Fn(FuncId) -> bool,
) -> FxHashSet<Site> {
    let mut all = FxHashSet::default();
    let functions = (0u32..).map(FuncId).zip(&program.functions);
    for (id, function) in functions.filter(|(id, _)| runs(*id)) {
        let mut keep = |operand: Operand| all.extend(&points.leads(id, operand).sites);
        for block in function.blocks.clone().map(BlockId) {
            let block = program.block(block);
            for inst in &block.ops {
                operation(program, points, id, &inst.op, &mut keep);
            }
            if let Terminator::Return { values } = &block.end {
                values.iter().copied().for_each(&mut keep);
            }
        }
    }
    all
}

fn operation(
    program: &Program,
    points: &Points,
    function: FuncId,
    op: &Op,
    keep: &mut impl FnMut(Operand),
) {
    match op {
        // The results of these operations are in registers, or there is none. An address that is
        // copied with other bytes was stored before.
        Op::Load { .. }
        | Op::Lifetime { .. }
        | Op::Uninit { .. }
        | Op::MemCopy { .. }
        | Op::MemSet { .. }
        | Op::Alloca { .. }
        | Op::Bin { .. }
        | Op::Un { .. }
        | Op::Funnel { .. }
        | Op::Cmp { .. }
        | Op::Overflow { .. }
        | Op::Cast { .. }
        | Op::Copy { .. }
        | Op::Select { .. }
        | Op::Address { .. }
        | Op::Freeze { .. } => {}
        Op::Store { value, .. } => keep(*value),
        Op::Call(call) => calls(program, points, function, call, keep),
        _ => op.reads(keep),
    }
}

fn calls(
    program: &Program,
    points: &Points,
    function: FuncId,
    call: &Call,
    keep: &mut impl FnMut(Operand),
) {
    let callees = points.callees(program, function, call);
    let passes_down = |id: &FuncId| {
        let callee = program.function(*id);
        match callee.kind {
            FunctionKind::Intrinsic(Intrinsic::Heap(_)) => true,
            FunctionKind::Intrinsic(_) | FunctionKind::Mock => false,
            _ => callee.is_defined() && !callee.varargs && callee.params.len() >= call.args.len(),
        }
    };
    if callees.is_empty() || !callees.iter().all(passes_down) {
        call.args.iter().for_each(|arg| keep(arg.value));
    }
}
