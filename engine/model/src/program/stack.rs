//! Whether a program may need a deep stack.
//!
//! The model's stack has no limit, but the real one has a few megabytes. A function that calls
//! itself, directly or through others, may be called as often as its input says; so may a function
//! whose last call of itself became a loop during normalisation (LLVM names that loop
//! "tailrecurse"). Large variables add up along a chain of calls. Proofs of such programs rest on a
//! stack that is large enough.

use super::ir::{Call, Callee, FuncId, Function, FunctionKind, Op, Operand, Program};
use super::plain;

/// The size of variables along a chain of calls for which every stack has room, in bytes.
const ROOM: u64 = 1 << 20;
/// LLVM's name for the loop that a function's last call of itself became.
const LOOP: &str = "tailrecurse";

/// Whether a proof of the program rests on the size of the stack.
pub fn may_be_deep(program: &Program) -> bool {
    let became_a_loop = program.blocks.iter().any(|block| {
        plain(&block.name).starts_with(LOOP)
            && program.function(block.function).kind == FunctionKind::User
    });
    became_a_loop || deepest(program).is_none_or(|bytes| bytes > ROOM)
}

/// What the program depends on although no model covers it, because the user lifted the rule that
/// excludes it. Nothing can be proved then.
pub fn beyond_the_model(program: &Program) -> Option<&'static str> {
    let is_lifted = |id: &str| program.lifted.contains(id);
    if is_lifted("environment") && program.lists_environment() {
        return Some("a list of environment variables that is not empty");
    }
    (is_lifted("stack") && may_be_deep(program)).then_some("a stack that may be too small")
}

/// A function on the chain of calls that is being followed.
struct Frame {
    function: FuncId,
    /// Its callees that are still to be followed.
    open: Vec<FuncId>,
    /// The largest size of variables along a chain of calls from the callees followed so far, in
    /// bytes.
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

/// The largest size of variables along a chain of calls, in bytes; `None` if a function of the
/// user's may call itself.
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

/// The size of a function's variables in bytes. Variables of varying size have checks of their own.
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

/// The functions that a function may call. A call through a pointer may lead to any function whose
/// address is taken and that has as many parameters.
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
