//! Summaries: relations between a function's parameters and its results.
//!
//! Most calls are followed into contexts, one per call path. That does not end where the input
//! decides how deep a function calls itself. Such a function is *encoded alone*: its body starts
//! with any parameters that satisfy the facts at its beginning, its calls of functions that are
//! encoded alone are replaced by their summaries, and wherever it returns, the facts at its end
//! must hold. This is Hoare's rule for recursive procedures (1971): an activation that returns does
//! so after the activations that it called. An activation that never returns satisfies every
//! summary, so a summary is assumed behind the call only.
//!
//! A function is *sealed* if it and all its callees access no memory but their own variables, so
//! that a call changes nothing but the call's result. The checker decides this again, from the
//! operations alone.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::cuts::register_key;
use super::encode::Called;
use super::world::{Side, World};
use crate::program::ir::{
    ArgClass, BlockId, Call, Callee, CheckId, FuncId, FunctionKind, Intrinsic, Op, Operand,
    Program, Reg,
};
use crate::term::{Pool, Rewriter, Symbol, Term};

/// The facts at a function's end, restated for one call. Each pair consists of a fact and the
/// formula that the call's bit implies the fact for the call's arguments and results.
pub fn related(
    pool: &mut Pool,
    world: &World<'_>,
    called: &Called,
    facts: &[Term],
) -> Vec<(Term, Term)> {
    let Some((_, end)) = world.ends_of(called.function) else {
        return Vec::new();
    };
    let mut own: FxHashSet<Symbol> = FxHashSet::default();
    let mut rewriter = Rewriter::new();
    let values = called.params.iter().chain(&called.results);
    let interface_registers = world.interface_registers(called.function, Side::End);
    for ((reg, width), &value) in interface_registers.into_iter().zip(values) {
        let variable = pool.variable(&register_key(world, end.ctx, reg), width);
        own.extend(pool.symbols(variable));
        rewriter.replace(variable, value);
    }
    let not = pool.not(called.related);
    let mut all = Vec::new();
    for &fact in facts {
        // A fact about other variables than parameters and results says nothing about a call.
        if pool.symbols(fact).all(|symbol| own.contains(&symbol)) {
            let here = rewriter.apply(pool, fact);
            all.push((fact, pool.or(not, here)));
        }
    }
    all
}

/// The user's sealed functions that may call themselves, directly or through other functions.
pub fn recursive(program: &Program) -> BTreeSet<FuncId> {
    let sealed = sealed(program);
    let is_recursive = |&&id: &&FuncId| {
        let mut seen: BTreeSet<FuncId> = BTreeSet::new();
        let mut open = callees(program, id);
        while let Some(next) = open.pop() {
            if next == id {
                return true;
            }
            if seen.insert(next) {
                open.extend(callees(program, next));
            }
        }
        false
    };
    let all = sealed.iter().filter(|id| may_be_alone(program, **id));
    all.filter(is_recursive).copied().collect()
}

/// Whether these functions may be encoded alone.
pub fn are_sealed(program: &Program, functions: &BTreeSet<FuncId>) -> bool {
    let sealed = sealed(program);
    let mut all = functions.iter();
    all.all(|id| sealed.contains(id) && may_be_alone(program, *id))
}

fn may_be_alone(program: &Program, id: FuncId) -> bool {
    let function = program.function(id);
    // No edge leads back to a function's first block in LLVM.
    let is_target = |first: u32| {
        let blocks = function.blocks.clone().map(BlockId);
        let mut edges = blocks.flat_map(|block| program.block(block).end.edges());
        edges.any(|edge| edge.to.0 == first)
    };
    function.kind == FunctionKind::User && !is_target(function.blocks.start)
}

/// The functions that access no memory but their own variables, and call only such functions.
fn sealed(program: &Program) -> BTreeSet<FuncId> {
    let ids = (0..program.functions.len() as u32).map(FuncId);
    let mut all: BTreeSet<FuncId> = ids.filter(|id| is_closed(program, *id)).collect();
    loop {
        let before = all.len();
        let rest = all.clone();
        all.retain(|id| callees(program, *id).iter().all(|to| rest.contains(to)));
        if all.len() == before {
            return all;
        }
    }
}

/// The callees of a function. A call that must not be reached ends the run, so it has no callee.
fn callees(program: &Program, id: FuncId) -> Vec<FuncId> {
    let calls = program.operations(id).filter_map(|op| match op {
        Op::Call(call) if !fails(program, call.check) => Some(call),
        _ => None,
    });
    let mut all = Vec::new();
    for call in calls {
        if let Callee::Direct(to) = call.callee
            && !matches!(program.function(to).kind, FunctionKind::Intrinsic(_))
        {
            all.push(to);
        }
    }
    all
}

fn fails(program: &Program, check: Option<CheckId>) -> bool {
    let check = check.and_then(|id| program.checks.get(id.index()));
    check.is_some_and(|check| check.kind.is_reached())
}

/// Whether a function's own operations access no memory but its variables.
fn is_closed(program: &Program, id: FuncId) -> bool {
    let function = program.function(id);
    let has_body = matches!(function.kind, FunctionKind::User | FunctionKind::Stub)
        && function.is_defined()
        && !function.varargs;
    if !has_body {
        return false;
    }
    let own = own_addresses(program, id);
    let is_own = |operand: &Operand| matches!(operand, Operand::Reg(reg) if own.contains(reg));
    program.operations(id).all(|op| match op {
        Op::Bin { .. }
        | Op::Un { .. }
        | Op::Funnel { .. }
        | Op::Cmp { .. }
        | Op::Overflow { .. }
        | Op::Cast { .. }
        | Op::Copy { .. }
        | Op::Select { .. }
        | Op::Address { .. }
        | Op::Float { .. }
        | Op::FloatNeg { .. }
        | Op::FloatCmp { .. }
        | Op::FloatCast { .. }
        | Op::FloatFn { .. }
        | Op::Freeze { .. } => true,
        Op::Alloca { size, room, .. } => matches!(size, Operand::Const(_)) && room.is_none(),
        Op::Load {
            address, volatile, ..
        }
        | Op::Store {
            address, volatile, ..
        } => !volatile && is_own(address),
        Op::MemSet { to, .. } => is_own(to),
        Op::MemCopy { to, from, .. } => is_own(to) && is_own(from),
        Op::Lifetime { address, .. } | Op::Uninit { address, .. } => is_own(address),
        Op::Call(call) => is_closed_call(program, call, &is_own),
        Op::Processor { .. }
        | Op::VaStart { .. }
        | Op::VaCopy { .. }
        | Op::StackSave { .. }
        | Op::StackRestore { .. }
        | Op::AtomicRmw { .. }
        | Op::CmpXchg { .. }
        | Op::Unmodelled { .. } => false,
    })
}

fn is_closed_call(program: &Program, call: &Call, is_own: &dyn Fn(&Operand) -> bool) -> bool {
    let Callee::Direct(to) = call.callee else {
        return false;
    };
    if fails(program, call.check) {
        return true;
    }
    let is_plain = |class: ArgClass| matches!(class, ArgClass::Integer | ArgClass::Sse);
    if !call.args.iter().all(|arg| is_plain(arg.class)) {
        return false;
    }
    match program.function(to).kind {
        FunctionKind::Intrinsic(intrinsic) => match intrinsic {
            Intrinsic::Choose => call.args.get(1).is_some_and(|arg| is_own(&arg.value)),
            Intrinsic::Remaining
            | Intrinsic::Assume
            | Intrinsic::Assumed
            | Intrinsic::Stop
            | Intrinsic::Violation
            | Intrinsic::Math(_) => true,
            Intrinsic::Unmodelled
            | Intrinsic::Output
            | Intrinsic::Heap(_)
            | Intrinsic::ObjectSize
            | Intrinsic::FormatFloat
            | Intrinsic::ParseFloat => false,
        },
        _ => true,
    }
}

/// The registers that hold addresses in the function's own variables.
fn own_addresses(program: &Program, id: FuncId) -> FxHashSet<Reg> {
    let mut own: FxHashSet<Reg> = FxHashSet::default();
    loop {
        let before = own.len();
        for op in program.operations(id) {
            match *op {
                Op::Alloca { dst, .. } => {
                    own.insert(dst);
                }
                Op::Address {
                    dst,
                    base: Operand::Reg(base),
                    ..
                }
                | Op::Copy {
                    dst,
                    a: Operand::Reg(base),
                } if own.contains(&base) => {
                    own.insert(dst);
                }
                _ => {}
            }
        }
        if own.len() == before {
            return own;
        }
    }
}
