//! Finds what external functions can reach.
//!
//! An external function may write all objects that it can get at: those that its arguments lead to,
//! those that an earlier external function was given and kept, the variables that other files can
//! name, and `errno`. These objects are found once for the whole program, without regard to the
//! order of statements, by inclusion constraints over all registers and the contents of all objects
//! (Andersen's analysis, with one node for all bytes of an object and one object for all executions
//! of an allocation). The result is coarse where a loop builds lists, but it never misses an
//! object: whatever arithmetic is done with an address, the result counts as that address, and an
//! object that is copied byte by byte is copied with its addresses.
//!
//! The encoding of a step ([`crate::symbolic::encode`]) uses the result: it makes the bytes of
//! these objects unknown after each call. The checker of certificates encodes with the same sets,
//! which come from the bitcode and not from a certificate.

mod constraints;
mod effects;
mod kept;
pub mod points;
mod set;
mod solve;

use rustc_hash::{FxHashMap, FxHashSet};

use super::convention::{ATEXIT, ERRNO};
use super::ir::numbers::place_of;
use super::ir::{
    BlockId, Callee, FuncId, FunctionKind, GLOBAL_OBJECTS, GlobalId, Op, Operand, Program,
};
pub use effects::{Access, Effects};

/// The place where an object is made, for all contexts together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Site {
    /// A variable of the program.
    Global(GlobalId),
    /// Made by this operation of a block: a local variable, a block of the heap, the areas of
    /// variable arguments. The copy of a structure that is passed by value is made before the first
    /// operation of the callee, and its operation has the number [`COPY`].
    Made(BlockId, u32),
}

/// The number of the operation that copies a structure passed by value; see [`Site::Made`].
pub const COPY: u32 = (usize::MAX >> 33) as u32;

/// What each external function can reach.
#[derive(Clone, Debug, Default)]
pub struct ExternalEffects {
    reached: FxHashMap<FuncId, Reached>,
    /// Whether the program registers functions that are called at its end.
    pub registers_exit_handlers: bool,
    /// Whether the program calls functions of the library that depend on what earlier calls left
    /// there: the environment, open files, signal handlers, the state of `rand`. An external
    /// function can call them, too.
    pub uses_library_state: bool,
}

/// What one external function can reach.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    /// The objects that it may write.
    pub written: FxHashSet<Site>,
    /// Whether there are objects that it could write if its prototype had no `const`.
    pub spares: bool,
}

impl ExternalEffects {
    /// What the external functions of a program can reach.
    pub fn of(program: &Program) -> ExternalEffects {
        let is_mock = |id: &FuncId| program.function(*id).kind == FunctionKind::Mock;
        let mocks: Vec<FuncId> = (0..program.functions.len() as u32)
            .map(FuncId)
            .filter(is_mock)
            .collect();
        if mocks.is_empty() {
            return ExternalEffects::default();
        }
        let solution = constraints::of(program, &mocks).solve();
        let reached = mocks.iter().map(|&mock| {
            let reached = solution.reached(program, mock);
            (mock, reached)
        });
        ExternalEffects {
            reached: reached.collect(),
            registers_exit_handlers: registers_exit_handlers(program),
            uses_library_state: uses_library_state(program),
        }
    }

    /// What this function can reach, if it is an external one.
    pub fn reachable_by(&self, function: FuncId) -> Option<&Reached> {
        self.reached.get(&function)
    }
}

/// The stub library's functions that register a function to be called when the program ends.
const AT_END: [&str; 2] = [ATEXIT, "CRUNNER_at_quick_exit"];

/// Whether the user's code, or the driver for a destructor, registers a function to be called when
/// the program ends. A register function whose address is taken counts as called.
fn registers_exit_handlers(program: &Program) -> bool {
    let registers = AT_END
        .iter()
        .filter_map(|name| program.function_named(name));
    let registers: Vec<FuncId> = registers.collect();
    if registers.iter().any(|id| program.function(*id).addressed) {
        return true;
    }
    let registers_one = |op: &Op| match op {
        Op::Call(call) => {
            matches!(call.callee, Callee::Direct(callee) if registers.contains(&callee))
        }
        _ => false,
    };
    let callers = program.blocks.iter().filter(|block| {
        let is_driver = block.function == program.entry;
        is_driver || program.function(block.function).kind == FunctionKind::User
    });
    callers
        .flat_map(|block| &block.ops)
        .any(|inst| registers_one(&inst.op))
}

/// Functions that end the program. What they depend on is covered by [`registers_exit_handlers`].
const ENDS: [&str; 2] = ["CRUNNER_exit", "CRUNNER_quick_exit"];

/// Whether the user's code calls a function of the library that, itself or through its callees,
/// refers to a variable of the library. A function whose address is taken counts as called.
fn uses_library_state(program: &Program) -> bool {
    let is_library = |id: FuncId| {
        let kind = program.function(id).kind;
        matches!(kind, FunctionKind::Stub | FunctionKind::EngineOnly)
    };
    let mut ops_of: FxHashMap<FuncId, Vec<&Op>> = FxHashMap::default();
    for block in &program.blocks {
        let ops = block.ops.iter().map(|inst| &inst.op);
        ops_of.entry(block.function).or_default().extend(ops);
    }
    let called = |ops: &[&Op]| -> Vec<FuncId> {
        let ids = ops.iter().filter_map(|op| match op {
            Op::Call(call) => match call.callee {
                Callee::Direct(id) => Some(id),
                Callee::Indirect(_) => None,
            },
            _ => None,
        });
        ids.filter(|id| is_library(*id)).collect()
    };
    let user = ops_of
        .iter()
        .filter(|(id, _)| program.function(**id).kind == FunctionKind::User);
    let all = (0..program.functions.len() as u32).map(FuncId);
    let addressed = all.filter(|id| is_library(*id) && program.function(*id).addressed);
    let called_by_user = user.flat_map(|(_, ops)| called(ops));
    let mut open: Vec<FuncId> = called_by_user.chain(addressed).collect();
    open.retain(|id| !ENDS.contains(&program.function(*id).name.as_str()));
    let mut seen: FxHashSet<FuncId> = FxHashSet::default();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        let Some(ops) = ops_of.get(&id) else { continue };
        if ops.iter().any(|op| mentions_variable(program, op)) {
            return true;
        }
        open.extend(called(ops));
    }
    false
}

/// Whether an operation refers to a variable of the program other than `errno`, for which the
/// effects of external functions are modelled.
fn mentions_variable(program: &Program, op: &Op) -> bool {
    let mut found = false;
    op.reads(&mut |operand| {
        let Operand::Const(address) = operand else {
            return;
        };
        let index = place_of((address >> 32) as u32).checked_sub(GLOBAL_OBJECTS);
        let global = index.and_then(|index| program.globals.get(index as usize));
        found |= global.is_some_and(|global| !global.constant && global.name != ERRNO);
    });
    found
}
