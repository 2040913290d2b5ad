//! The program representation that the engine and the fuzzer both read.
//!
//! LLVM's own representation is pleasant to transform and slow to interpret, and it lives behind a
//! foreign-function interface. So the module is read once into this one, which keeps LLVM's blocks
//! and their order (a block's number here *is* the index of its coverage counter in the native
//! target) and changes three things: aggregates and vectors are flattened into scalar registers,
//! phi nodes become parallel moves on the edges, and everything that can go wrong is a numbered
//! [`Check`].
//!
//! Values are bit patterns of at most 128 bits, kept in a `u128` whose unused high bits are zero.
//! An address is `object << 32 | offset`; object 0 is NULL. Globals and functions own fixed
//! objects, so their addresses are plain constants here (see [`Program::global_address`]).

mod checks;
mod loops;
pub mod numbers;
mod ops;
mod reads;
mod shapes;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::convention::{ERRNO, USER_MAIN};
use super::outside::{Effects, ExternalEffects};
pub use crate::operator::*;
pub use checks::*;
pub use loops::*;
pub use numbers::{
    BLOCK_OBJECTS, DYNAMIC_OBJECTS, FUNCTION_OBJECTS, GLOBAL_OBJECTS, number_of, place_of,
};
pub use ops::*;
pub use shapes::*;

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
        )]
        pub struct $name(pub u32);
        impl $name {
            /// The number as an index into the table it belongs to.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index_type!(
    /// A block, numbered over the whole module in module order; also its coverage counter's index.
    BlockId
);
index_type!(
    /// An index into [`Program::functions`].
    FuncId
);
index_type!(
    /// An index into [`Program::globals`].
    GlobalId
);
index_type!(
    /// An index into [`Program::checks`].
    CheckId
);
index_type!(
    /// An index into [`Program::calls`], unique for each call instruction.
    CallSite
);
index_type!(
    /// A scalar register of a function; registers `0..parameters` hold the flattened parameters.
    Reg
);

/// A whole module, normalised and numbered.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// All functions, defined ones and intrinsics alike.
    pub functions: Vec<Function>,
    /// All blocks of all defined functions, by [`BlockId`].
    pub blocks: Vec<Block>,
    /// All global variables.
    pub globals: Vec<Global>,
    /// Everything that can go wrong, by [`CheckId`].
    pub checks: Vec<Check>,
    /// Call instructions, by [`CallSite`].
    pub calls: Vec<CallInfo>,
    /// The types of variables that have parts.
    pub shapes: Vec<Shape>,
    /// Source files named by debug information.
    pub files: Vec<String>,
    /// Constructs that are not modelled; [`Op::Unmodelled`] refers to them by index.
    pub unmodelled: Vec<Unmodelled>,
    /// The heads of the user's loops with the variables there; only after
    /// [`Program::load_with_loops`].
    pub loops: Vec<LoopHead>,
    /// Where execution starts (`cegar_entry`).
    pub entry: FuncId,
    /// The rules of [`assumption`](crate::assumption) that the user lifted, by identifier.
    pub lifted: std::collections::BTreeSet<String>,
    /// Undefined functions for which a mock was generated, by name.
    pub mocked: Vec<String>,
    /// What the mocked functions can reach.
    pub outside: ExternalEffects,
}

impl Program {
    /// The operations of a function, block by block.
    pub fn operations(&self, id: FuncId) -> impl Iterator<Item = &Op> {
        let blocks = self.function(id).blocks.clone().map(BlockId);
        blocks.flat_map(|block| self.block(block).ops.iter().map(|inst| &inst.op))
    }

    /// The global that holds `errno`, in programs that use it.
    pub fn errno(&self) -> Option<GlobalId> {
        let at = self
            .globals
            .iter()
            .position(|global| global.name == ERRNO)?;
        Some(GlobalId(at as u32))
    }

    /// Whether the program accesses the environment as a list: through `environ`, or through the
    /// third argument of `main`.
    pub fn lists_environment(&self) -> bool {
        let is_list = |name: &str| {
            matches!(
                name,
                "CRUNNER_environ" | "CRUNNER___environ" | "CRUNNER__environ"
            )
        };
        let main = self.function_named(USER_MAIN);
        self.globals.iter().any(|global| is_list(&global.name))
            || main.is_some_and(|main| self.function(main).params.len() > 2)
    }

    /// The widths of the results that a call takes. `behind` is the index of the operation after
    /// the call; empty if there is no call before it.
    #[inline]
    pub fn expected_results(&self, block: BlockId, behind: usize) -> &[Width] {
        let block = self.blocks.get(block.index());
        let call = block.and_then(|block| block.ops.get(behind.checked_sub(1)?));
        match call.map(|inst| &inst.op) {
            Some(Op::Call(call)) => &call.result,
            _ => &[],
        }
    }

    /// The constant address of byte `offset` of a global.
    pub fn global_address(global: GlobalId, offset: u32) -> u64 {
        (u64::from(number_of(GLOBAL_OBJECTS + global.0)) << 32) | u64::from(offset)
    }

    /// The constant address of a function.
    pub fn function_address(function: FuncId) -> u64 {
        u64::from(number_of(FUNCTION_OBJECTS + function.0)) << 32
    }

    /// The constant address of a block (`&&label`).
    pub fn block_address(block: BlockId) -> u64 {
        u64::from(number_of(BLOCK_OBJECTS + block.0)) << 32
    }

    /// The function whose address is exactly `address`.
    pub fn function_at(&self, address: u64) -> Option<FuncId> {
        let object = (address >> 32) as u32;
        let index = place_of(object).checked_sub(FUNCTION_OBJECTS)?;
        (address & 0xffff_ffff == 0 && (index as usize) < self.functions.len())
            .then_some(FuncId(index))
    }

    /// The function called `name`.
    pub fn function_named(&self, name: &str) -> Option<FuncId> {
        let at = self.functions.iter().position(|f| f.name == name)?;
        Some(FuncId(at as u32))
    }

    /// The block with this number.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// The function with this number.
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.index()]
    }

    /// The source position of an instruction. If the instruction became no operation, the position
    /// of the next one in the block that did, or else that of the block.
    pub fn position(&self, loc: Loc) -> Pos {
        let block = self.block(loc.block);
        let inst = block.ops.iter().find(|inst| inst.at >= loc.inst);
        inst.map_or(block.pos, |inst| inst.pos)
    }

    /// `file:line:column` of a position, or `unknown position` where there is no debug information.
    pub fn show(&self, pos: Pos) -> String {
        match self.files.get(pos.file as usize) {
            Some(file) if pos.line > 0 => format!("{file}:{}:{}", pos.line, pos.column),
            _ => "unknown position".to_owned(),
        }
    }
}

/// A source position; `line` 0 means unknown. `file` indexes [`Program::files`].
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Pos {
    /// Index into [`Program::files`].
    pub file: u32,
    /// Line, from 1; 0 where unknown.
    pub line: u32,
    /// Column, from 1; 0 where unknown.
    pub column: u32,
}

/// Where an instruction stands: the block and the index of the *LLVM* instruction in it. One LLVM
/// instruction may have become several [`Op`]s.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Loc {
    /// The block.
    pub block: BlockId,
    /// The index of the LLVM instruction in its block, counting every instruction.
    pub inst: u32,
}

/// Where a function's behaviour comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionKind {
    /// The user's code.
    User,
    /// The C stub library; runs natively too, from the same bitcode.
    Stub,
    /// C source for the engine only (string functions); natively the platform's own is used, so its
    /// blocks have numbers but are never counted there.
    EngineOnly,
    /// Generated for an undefined function.
    Mock,
    /// Executed by the machine itself.
    Intrinsic(Intrinsic),
    /// Declared, but neither defined nor mocked: calling it is not modelled.
    Missing,
}

/// A function that the machine itself executes. Natively it belongs to the runtime or to the C
/// library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Intrinsic {
    /// `void crunner_choose(const char *channel, void *into, size_t n)`: n bytes of the tape.
    Choose,
    /// `size_t crunner_remaining(const char *channel)`: bytes left on the tape.
    Remaining,
    /// `void crunner_assume(int)`: ends the run as rejected when 0.
    Assume,
    /// `int crunner_assumed(const char *id)`: 1. Calls for rules that are lifted were replaced by a
    /// constant before loading.
    Assumed,
    /// `void crunner_unmodelled(const char *what)`: the run ends, and goals behind it stay open.
    Unmodelled,
    /// `void crunner_stop(int status)`: ends the run normally with an exit status.
    Stop,
    /// `void crunner_violation(int kind, const char *what, const char *file, unsigned line)`.
    Violation,
    /// `void crunner_output(int stream, const void *bytes, size_t n)`: appends to the transcript.
    Output,
    /// A function of the heap.
    Heap(HeapFn),
    /// `size_t crunner_object_size(const void *)`: bytes from the pointer to its object's end,
    /// or 0.
    ObjectSize,
    /// A function of `<math.h>` on doubles or floats, computed by the host.
    Math(MathFn),
    /// `int crunner_format_float(char *to, size_t cap, const char *spec, double)`: host's printf.
    FormatFloat,
    /// `double crunner_parse_float(const char *from, size_t len)`: host's strtod.
    ParseFloat,
}

/// The functions of the heap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeapFn {
    /// `void *malloc(size_t)`.
    Malloc,
    /// `void *calloc(size_t, size_t)`.
    Calloc,
    /// `void *crunner_row(size_t)`: a zeroed array whose real size is unknown. A run that accesses
    /// it past the end is rejected.
    Row,
    /// `void *realloc(void *, size_t)`.
    Realloc,
    /// `void free(void *)`.
    Free,
    /// `void *reallocarray(void *, size_t, size_t)`.
    ReallocArray,
    /// `void *aligned_alloc(size_t, size_t)` and `memalign`.
    AlignedAlloc,
    /// `int posix_memalign(void **, size_t, size_t)`.
    PosixMemalign,
    /// `void *valloc(size_t)`.
    Valloc,
    /// `size_t malloc_usable_size(void *)`.
    UsableSize,
}

impl HeapFn {
    /// The indices of the arguments that give the requested size; empty for functions that request
    /// no memory or whose request cannot be refused.
    pub fn sizes(self) -> Range<usize> {
        match self {
            HeapFn::Malloc | HeapFn::Valloc => 0..1,
            HeapFn::Calloc => 0..2,
            HeapFn::Realloc | HeapFn::AlignedAlloc => 1..2,
            HeapFn::PosixMemalign => 2..3,
            HeapFn::ReallocArray => 1..3,
            HeapFn::Row | HeapFn::Free | HeapFn::UsableSize => 0..0,
        }
    }
}

/// A function: signature, registers and blocks.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name in the linked module (after renaming).
    pub name: String,
    /// Where its behaviour comes from.
    pub kind: FunctionKind,
    /// Width of each flattened parameter, in registers 0, 1, ...
    pub params: Vec<Width>,
    /// Whether it takes variable arguments.
    pub varargs: bool,
    /// Widths of the flattened result; empty for void.
    pub result: Vec<Width>,
    /// Its blocks; the first is the entry. Empty for functions without a body.
    pub blocks: Range<u32>,
    /// Width of every register.
    pub registers: Vec<Width>,
    /// What each register is called in C: the name of its variable, or else the expression that
    /// computes it; empty where C has no expression for it.
    pub names: Vec<Box<str>>,
    /// The source line in which each register gets its value; 0 where unknown.
    pub lines: Vec<u32>,
    /// Whether its address is used for anything but a direct call.
    pub addressed: bool,
    /// What it may do, if it is an external function.
    pub effects: Effects,
    /// Where it is defined.
    pub pos: Pos,
}

impl Function {
    /// Whether there is a body to execute.
    pub fn is_defined(&self) -> bool {
        !self.blocks.is_empty()
    }
}

/// A basic block: a sequence of operations with a single entry, and a terminator.
#[derive(Clone, Debug)]
pub struct Block {
    /// The function it belongs to.
    pub function: FuncId,
    /// LLVM's name for it (`while.body`), for people.
    pub name: String,
    /// The operations.
    pub ops: Vec<Inst>,
    /// How it ends.
    pub end: Terminator,
    /// The index of the terminator among the block's LLVM instructions.
    pub end_at: u32,
    /// Position of the terminator.
    pub end_pos: Pos,
    /// Position of the first instruction that has one.
    pub pos: Pos,
}

/// An operation, where it came from and its position in the source.
#[derive(Clone, Debug)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// Index of the LLVM instruction in the block.
    pub at: u32,
    /// Source position.
    pub pos: Pos,
}

/// The location of a call instruction, for stack traces and reports.
#[derive(Clone, Debug)]
pub struct CallInfo {
    /// The calling function.
    pub caller: FuncId,
    /// Its location.
    pub loc: Loc,
    /// Source position.
    pub pos: Pos,
}

impl Global {
    /// A description for a reader of the C code.
    pub fn described(&self) -> String {
        match self.source_name.as_str() {
            "" if self.name.starts_with(".str") || self.name.starts_with("__func__") => {
                "a string literal".to_owned()
            }
            "" if self.name.starts_with(".compoundliteral") => "a compound literal".to_owned(),
            "" => "a constant".to_owned(),
            name => format!("`{name}`"),
        }
    }
}

/// A global variable and its initial contents.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its name in the linked module.
    pub name: String,
    /// Its name in C; empty for string literals and other nameless objects.
    pub source_name: String,
    /// Its division into members or elements.
    pub shape: Option<ShapeId>,
    /// The initial bytes; addresses of globals and functions are already resolved to this crate's
    /// addresses.
    pub init: Vec<u8>,
    /// Whether all bytes are known to be zero without scanning them.
    pub zeros: bool,
    /// Whether writing to it is a violation.
    pub constant: bool,
    /// Alignment in bytes.
    pub align: u32,
    /// Declared only: contents unknown.
    pub external: bool,
    /// Whether other files, which are not part of the program, can name it.
    pub visible: bool,
    /// Where it is defined.
    pub pos: Pos,
}
