//! Whether a program may need a deep stack.
//!
//! The model's stack has no end, and the real one is a few megabytes. A function that calls itself, alone or through others, may be called as often as its
//! input says; so may one whose last call of itself became a loop when the program was normalised ("tailrecurse" is what LLVM names that loop).
//! Large variables add up along the calls. Proofs of such programs rest on a stack that is large enough.

use cegar_model::program::ir::{
    BlockId, Call, Callee, FuncId, Function, FunctionKind, Op, Operand, Program,
};
use cegar_model::program::plain;

/// Bytes of variables along a way of calls that every stack has room for.
const ROOM: u64 = 1 << 20;
/// What LLVM calls the loop that a call of itself became.
const LOOP: &str = "tailrecurse";

/// Whether a proof of the program rests on the size of the stack.
pub(crate) fn may_be_deep(program: &Program) -> bool {
    let became_a_loop = program.blocks.iter().any(|block| {
        plain(&block.name).starts_with(LOOP)
            && program.function(block.function).kind == FunctionKind::User
    });
    became_a_loop || Depth::of(program).is_none_or(|deepest| deepest > ROOM)
}

/// A walk over the calls, for the variables along the deepest way.
struct Depth {
    /// By function: the bytes below it, once they are known.
    known: Vec<Option<u64>>,
    /// By function: whether it is being called.
    called: Vec<bool>,
}

impl Depth {
    /// The bytes of variables along the deepest way; none if a function of the user's may call itself.
    fn of(program: &Program) -> Option<u64> {
        let count = program.functions.len();
        if count == 0 {
            return Some(0);
        }
        let mut depth = Depth {
            known: vec![None; count],
            called: vec![false; count],
        };
        // The functions on the way to the one that is looked at, with the calls of each that are still to be followed.
        let mut way = vec![(program.entry, callees(program, program.entry))];
        depth.called[program.entry.index()] = true;
        while let Some((function, open)) = way.last_mut() {
            let function = *function;
            let Some(next) = open.pop() else {
                depth.leave(program, function);
                way.pop();
                continue;
            };
            if depth.called[next.index()] {
                let start = way.iter().position(|(on, _)| *on == next).unwrap_or(0);
                let is_users = |id: FuncId| program.function(id).kind == FunctionKind::User;
                if way[start..].iter().any(|(on, _)| is_users(*on)) {
                    return None;
                }
            } else if depth.known[next.index()].is_none() {
                depth.called[next.index()] = true;
                way.push((next, callees(program, next)));
            }
        }
        depth.known[program.entry.index()]
    }

    /// What is below a function is known.
    fn leave(&mut self, program: &Program, function: FuncId) {
        let below = callees(program, function);
        let below = below.into_iter().filter_map(|id| self.known[id.index()]);
        let deepest = below.max().unwrap_or(0);
        self.known[function.index()] = Some(deepest.saturating_add(variables(program, function)));
        self.called[function.index()] = false;
    }
}

/// The bytes of a function's variables. One of varying size is a check of its own.
fn variables(program: &Program, id: FuncId) -> u64 {
    let ops = operations(program, id);
    let sizes = ops.filter_map(|op| match op {
        Op::Alloca {
            size: Operand::Const(size),
            ..
        } => Some(*size),
        _ => None,
    });
    sizes.fold(0, u64::saturating_add)
}

/// The functions that one may call. Through a pointer, any whose address is used and that takes as many parameters.
fn callees(program: &Program, id: FuncId) -> Vec<FuncId> {
    let mut all = Vec::new();
    for op in operations(program, id) {
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

fn operations(program: &Program, id: FuncId) -> impl Iterator<Item = &Op> {
    let blocks = program.function(id).blocks.clone().map(BlockId);
    blocks.flat_map(|block| program.block(block).ops.iter().map(|inst| &inst.op))
}
