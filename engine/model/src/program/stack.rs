//! Whether a program may need a deep stack.
//!
//! The model's stack has no end, and the real one is a few megabytes. A function that calls itself,
//! alone or through others, may be called as often as its input says; so may one whose last call of
//! itself became a loop when the program was normalised ("tailrecurse" is what LLVM names that
//! loop). Large variables add up along the calls. Proofs of such programs rest on a stack that is
//! large enough.

use super::ir::{Call, Callee, FuncId, Function, FunctionKind, Op, Operand, Program};
use super::plain;

/// Bytes of variables along a way of calls that every stack has room for.
const ROOM: u64 = 1 << 20;
/// What LLVM calls the loop that a call of itself became.
const LOOP: &str = "tailrecurse";

/// Whether a proof of the program rests on the size of the stack.
pub fn may_be_deep(program: &Program) -> bool {
    let became_a_loop = program.blocks.iter().any(|block| {
        plain(&block.name).starts_with(LOOP)
            && program.function(block.function).kind == FunctionKind::User
    });
    became_a_loop || deepest(program).is_none_or(|bytes| bytes > ROOM)
}

/// What the user lifted and no model follows, if the program depends on it: nothing can be proved
/// then.
pub fn beyond_the_model(program: &Program) -> Option<&'static str> {
    let is_lifted = |id: &str| program.lifted.contains(id);
    if is_lifted("environment") && program.lists_environment() {
        return Some("a list of environment variables that is not empty");
    }
    (is_lifted("stack") && may_be_deep(program)).then_some("a stack that may be too small")
}

/// A function on the way of calls that is looked at.
struct Frame {
    function: FuncId,
    /// Its calls that are still to be followed.
    open: Vec<FuncId>,
    /// The bytes of variables along the deepest way of those that were followed.
    below: u64,
}

impl Frame {
    fn of(program: &Program, function: FuncId) -> Frame {
        Frame {
            function,
            open: callees(program, function),
            below: 0,
        }
    }
}

/// The bytes of variables along the deepest way of calls; none if a function of the user's may call
/// itself.
fn deepest(program: &Program) -> Option<u64> {
    if program.functions.is_empty() {
        return Some(0);
    }
    let mut known: Vec<Option<u64>> = vec![None; program.functions.len()];
    let mut way = vec![Frame::of(program, program.entry)];
    while let Some(frame) = way.last_mut() {
        let Some(next) = frame.open.pop() else {
            let depth = frame
                .below
                .saturating_add(variables(program, frame.function));
            known[frame.function.index()] = Some(depth);
            way.pop();
            if let Some(caller) = way.last_mut() {
                caller.below = caller.below.max(depth);
            }
            continue;
        };
        if let Some(depth) = known[next.index()] {
            frame.below = frame.below.max(depth);
        } else if let Some(start) = way.iter().position(|on| on.function == next) {
            let is_users = |on: &Frame| program.function(on.function).kind == FunctionKind::User;
            if way[start..].iter().any(is_users) {
                return None;
            }
        } else {
            way.push(Frame::of(program, next));
        }
    }
    known[program.entry.index()]
}

/// The bytes of a function's variables. One of varying size is a check of its own.
fn variables(program: &Program, id: FuncId) -> u64 {
    let ops = program.operations(id);
    let sizes = ops.filter_map(|op| match op {
        Op::Alloca {
            size: Operand::Const(size),
            ..
        } => Some(*size),
        _ => None,
    });
    sizes.fold(0, u64::saturating_add)
}

/// The functions that one may call. Through a pointer, any whose address is used and that takes as
/// many parameters.
fn callees(program: &Program, id: FuncId) -> Vec<FuncId> {
    let mut all = Vec::new();
    for op in program.operations(id) {
        let Op::Call(call) = op else { continue };
        match call.callee {
            Callee::Direct(callee) => all.push(callee),
            Callee::Indirect(_) => {
                let ids = (0..program.functions.len() as u32).map(FuncId);
                all.extend(ids.filter(|id| is_called_by(program.function(*id), call)));
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

fn is_called_by(function: &Function, call: &Call) -> bool {
    function.addressed && function.is_defined() && function.params.len() == call.args.len()
}
