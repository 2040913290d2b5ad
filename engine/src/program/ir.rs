//! The Program: what the engine and the fuzzer both read.
//!
//! LLVM's own representation is pleasant to transform and slow to interpret, and it lives behind a
//! foreign-function interface. So the module is read once into this one, which keeps LLVM's blocks and
//! their order (a block's number here *is* the index of its coverage counter in the native target) and
//! changes three things: aggregates and vectors are flattened into scalar registers, phi nodes become
//! parallel moves on the edges, and everything that can go wrong is a numbered [`Check`].
//!
//! Values are bit patterns of at most 128 bits, kept in a `u128` whose unused high bits are zero.
//! An address is `object << 32 | offset`; object 0 is NULL. Globals and functions own fixed objects, so
//! their addresses are plain constants here (see [`Program::global_address`]).

use std::ops::Range;

use serde::{Deserialize, Serialize};

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

/// Width in bits of a scalar, 1 to 128.
pub type Width = u16;

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
    /// Source files named by debug information.
    pub files: Vec<String>,
    /// Constructs that are not modelled; [`Op::Unmodelled`] refers to them by index.
    pub unmodelled: Vec<Unmodelled>,
    /// Where execution starts (`cegar_entry`).
    pub entry: FuncId,
    /// External functions that nobody defined and for which a mock was generated, by name.
    pub mocked: Vec<String>,
}

/// First object number given to a global: `GLOBAL_OBJECTS + GlobalId`.
pub const GLOBAL_OBJECTS: u32 = 0x0001_0000;
/// First object number given to a function: `FUNCTION_OBJECTS + FuncId`.
pub const FUNCTION_OBJECTS: u32 = 0x0100_0000;
/// First object number given to a block whose address is taken: `BLOCK_OBJECTS + BlockId`.
pub const BLOCK_OBJECTS: u32 = 0x0180_0000;
/// First object number given to memory that is allocated while running (stack and heap).
pub const DYNAMIC_OBJECTS: u32 = 0x0200_0000;

impl Program {
    /// The constant address of byte `offset` of a global.
    pub fn global_address(global: GlobalId, offset: u32) -> u64 {
        (u64::from(GLOBAL_OBJECTS + global.0) << 32) | u64::from(offset)
    }

    /// The constant address of a function.
    pub fn function_address(function: FuncId) -> u64 {
        u64::from(FUNCTION_OBJECTS + function.0) << 32
    }

    /// The constant address of a block (`&&label`).
    pub fn block_address(block: BlockId) -> u64 {
        u64::from(BLOCK_OBJECTS + block.0) << 32
    }

    /// The function whose address is `address`, if it is exactly one.
    pub fn function_at(&self, address: u64) -> Option<FuncId> {
        let object = (address >> 32) as u32;
        let index = object.checked_sub(FUNCTION_OBJECTS)?;
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

    /// `file:line:column` of a position, or the function's name where there is no debug information.
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

/// Who provides a function's behaviour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionKind {
    /// The user's code.
    User,
    /// The C stub library; runs natively too, from the same bitcode.
    Stub,
    /// C source for the engine only (string functions); natively the platform's own is used, so its
    /// blocks have numbers but are never counted there.
    EngineOnly,
    /// Generated for a function that nobody defines.
    Mock,
    /// Executed by the machine itself.
    Intrinsic(Intrinsic),
    /// Declared and never defined, and not to be mocked: calling it is not modelled.
    Missing,
}

/// What the machine does itself. Natively these are functions of the runtime or of the C library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Intrinsic {
    /// `void crunner_choose(const char *channel, void *into, size_t n)`: n bytes of the tape.
    Choose,
    /// `size_t crunner_remaining(const char *channel)`: bytes left on the tape.
    Remaining,
    /// `void crunner_assume(int)`: ends the run as rejected when 0.
    Assume,
    /// `void crunner_stop(int status)`: ends the run normally with an exit status.
    Stop,
    /// `void crunner_violation(int kind, const char *what, const char *file, unsigned line)`.
    Violation,
    /// `void crunner_output(int stream, const void *bytes, size_t n)`: transcript.
    Output,
    /// `void *malloc(size_t)`.
    Malloc,
    /// `void *calloc(size_t, size_t)`.
    Calloc,
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
    /// `size_t crunner_object_size(const void *)`: bytes from the pointer to its object's end, or 0.
    ObjectSize,
    /// A function of `<math.h>` on doubles, computed by the host's C library.
    Math(MathFn),
    /// `int crunner_format_float(char *to, size_t cap, const char *spec, double)`: host's printf.
    FormatFloat,
    /// `double crunner_parse_float(const char *from, size_t len)`: host's strtod.
    ParseFloat,
}

/// Functions of `<math.h>` that the machine computes; the `f` variants are the same on floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is the C function of its name")]
pub enum MathFn {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log10,
    Log1p,
    Pow,
    Sqrt,
    Cbrt,
    Hypot,
    Fmod,
    Remainder,
    Floor,
    Ceil,
    Round,
    Trunc,
    Rint,
    Nearbyint,
    Fabs,
    Fmin,
    Fmax,
    Copysign,
    Fma,
    Ldexp,
    Lround,
    Llround,
    Lrint,
}

/// A function: signature, registers and blocks.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name in the linked module (after renaming).
    pub name: String,
    /// Who provides it.
    pub kind: FunctionKind,
    /// Width of each flattened parameter, in registers 0, 1, ...
    pub params: Vec<Width>,
    /// Number of parameters in C (a flattened struct counts once); for `va_start`.
    pub varargs: bool,
    /// Widths of the flattened result; empty for void.
    pub result: Vec<Width>,
    /// Its blocks; the first is the entry. Empty for functions without a body.
    pub blocks: Range<u32>,
    /// Width of every register.
    pub registers: Vec<Width>,
    /// What each register is called: its variable in the source, else its name in the bitcode; empty where it has none.
    pub names: Vec<Box<str>>,
    /// Where it is defined.
    pub pos: Pos,
}

impl Function {
    /// Whether there is a body to execute.
    pub fn is_defined(&self) -> bool {
        !self.blocks.is_empty()
    }
}

/// A straight line of operations with one way in and a terminator.
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
    /// Where the terminator stands.
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

/// An operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A register of the current frame.
    Reg(Reg),
    /// A constant of up to 64 bits, zero-extended.
    Const(u64),
    /// A constant wider than 64 bits; see [`Operand::wide`].
    Wide(&'static u128),
    /// An undefined value (`undef`, `poison`): any bits, concretely the pattern [`UNDEFINED_BYTE`].
    Undef,
}

impl Operand {
    /// A constant of any width.
    pub fn constant(value: u128) -> Operand {
        match u64::try_from(value) {
            Ok(small) => Operand::Const(small),
            Err(_) => Operand::wide(value),
        }
    }

    /// A constant above 64 bits. Such constants are few and live as long as the process.
    pub fn wide(value: u128) -> Operand {
        Operand::Wide(Box::leak(Box::new(value)))
    }
}

/// What uninitialised memory and undefined values hold concretely, natively and in the machine.
pub const UNDEFINED_BYTE: u8 = 0xAA;

/// Integer arithmetic. Wraps; overflow checks are separate branches in the code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "LLVM's own names")]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    UMin,
    UMax,
    SMin,
    SMax,
    UAddSat,
    SAddSat,
    USubSat,
    SSubSat,
}

/// Integer comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "LLVM's own names")]
pub enum Pred {
    Eq,
    Ne,
    Ult,
    Ule,
    Ugt,
    Uge,
    Slt,
    Sle,
    Sgt,
    Sge,
}

/// One-operand integer functions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "LLVM's own names")]
pub enum UnOp {
    CtPop,
    CtLz,
    CtTz,
    BSwap,
    BitReverse,
    Abs,
}

/// Floating-point format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatKind {
    /// IEEE half.
    F16,
    /// IEEE single.
    F32,
    /// IEEE double.
    F64,
    /// x87 extended, 80 bits.
    F80,
    /// IEEE quadruple.
    F128,
}

impl FloatKind {
    /// Bits that a value takes in a register.
    pub fn width(self) -> Width {
        match self {
            FloatKind::F16 => 16,
            FloatKind::F32 => 32,
            FloatKind::F64 => 64,
            FloatKind::F80 => 80,
            FloatKind::F128 => 128,
        }
    }
}

/// Floating-point arithmetic, round to nearest even.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "LLVM's own names")]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// Floating-point comparison: ordered (`O..`) is false on NaN, unordered (`U..`) true.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "LLVM's own names")]
pub enum FloatPred {
    OEq,
    OGt,
    OGe,
    OLt,
    OLe,
    ONe,
    Ord,
    UEq,
    UGt,
    UGe,
    ULt,
    ULe,
    UNe,
    Uno,
}

/// Conversions that involve floating point.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatCast {
    /// Float to float, rounding to nearest.
    Convert(FloatKind, FloatKind),
    /// Float to signed integer of this width, towards zero.
    ToSigned(FloatKind, Width),
    /// Float to unsigned integer of this width, towards zero.
    ToUnsigned(FloatKind, Width),
    /// Signed integer of this width to float.
    FromSigned(Width, FloatKind),
    /// Unsigned integer of this width to float.
    FromUnsigned(Width, FloatKind),
}

/// Integer conversions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "LLVM's own names")]
pub enum CastKind {
    Trunc,
    ZExt,
    SExt,
}

/// An operation. Addresses are 64 bits wide.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "field names follow LLVM's operands")]
pub enum Op {
    /// `dst = a op b`, both `width` bits. A zero divisor or an oversized shift violates `check` when there is
    /// one, else a shift yields 0 (or the sign) and a division ends the run.
    Bin {
        dst: Reg,
        op: BinOp,
        width: Width,
        a: Operand,
        b: Operand,
        check: Option<CheckId>,
    },
    /// `dst = op a`.
    Un {
        dst: Reg,
        op: UnOp,
        width: Width,
        a: Operand,
    },
    /// Funnel shift: the high (`left`) or low word of `(a:b)` shifted by `by` modulo `width`.
    Funnel {
        dst: Reg,
        left: bool,
        width: Width,
        a: Operand,
        b: Operand,
        by: Operand,
    },
    /// `dst` is one bit.
    Cmp {
        dst: Reg,
        pred: Pred,
        width: Width,
        a: Operand,
        b: Operand,
    },
    /// `value = a op b`, `overflow` one bit; `op` is Add, Sub or Mul.
    Overflow {
        value: Reg,
        overflow: Reg,
        op: BinOp,
        signed: bool,
        width: Width,
        a: Operand,
        b: Operand,
    },
    Cast {
        dst: Reg,
        kind: CastKind,
        from: Width,
        to: Width,
        a: Operand,
    },
    /// Same bits.
    Copy {
        dst: Reg,
        a: Operand,
    },
    Select {
        dst: Reg,
        width: Width,
        cond: Operand,
        a: Operand,
        b: Operand,
    },
    /// `dst = base + sum(index_i * scale_i) + offset`, all 64 bits: `getelementptr`. Indices are sign-extended
    /// from their width.
    Address {
        dst: Reg,
        base: Operand,
        offset: i64,
        indices: Box<[(Operand, Width, i64)]>,
        inbounds: bool,
    },
    Float {
        dst: Reg,
        op: FloatOp,
        kind: FloatKind,
        a: Operand,
        b: Operand,
    },
    FloatNeg {
        dst: Reg,
        kind: FloatKind,
        a: Operand,
    },
    FloatCmp {
        dst: Reg,
        pred: FloatPred,
        kind: FloatKind,
        a: Operand,
        b: Operand,
    },
    FloatCast {
        dst: Reg,
        cast: FloatCast,
        a: Operand,
    },
    /// An LLVM math intrinsic (`llvm.fabs.f64`).
    FloatFn {
        dst: Reg,
        function: MathFn,
        kind: FloatKind,
        args: Box<[Operand]>,
    },
    /// `freeze` and uninitialised locals: some value, always the same one; concretely `a`, or the pattern.
    Freeze {
        dst: Reg,
        width: Width,
        a: Operand,
    },
    /// A new stack object of `size` bytes that lives until the function returns.
    Alloca {
        dst: Reg,
        size: Operand,
        align: u32,
        name: String,
    },
    /// `size` bytes are `width.div_ceil(8)`, little-endian.
    Load {
        dst: Reg,
        width: Width,
        address: Operand,
        volatile: bool,
        check: CheckId,
    },
    Store {
        value: Operand,
        width: Width,
        address: Operand,
        volatile: bool,
        check: CheckId,
    },
    /// memcpy (`overlap` false) or memmove. `read` and `write` are its two checks.
    MemCopy {
        to: Operand,
        from: Operand,
        len: Operand,
        overlap: bool,
        read: CheckId,
        write: CheckId,
    },
    MemSet {
        to: Operand,
        value: Operand,
        len: Operand,
        check: CheckId,
    },
    /// The object at `address` becomes alive (uninitialised) or dead.
    Lifetime {
        start: bool,
        address: Operand,
    },
    /// The object's bytes become uninitialised (`__cegar_uninit`).
    Uninit {
        address: Operand,
        len: Operand,
    },
    /// Results go to `dst`, `dst + 1`, ... Boxed because it is wide.
    Call(Box<Call>),
    /// Fills the System V `va_list` at `list` (24 bytes) from the current frame's variable arguments.
    VaStart {
        list: Operand,
        check: CheckId,
    },
    /// Copies the 24 bytes of a `va_list`.
    VaCopy {
        to: Operand,
        from: Operand,
        check: CheckId,
    },
    /// `dst = llvm.stacksave()`, and its counterpart that frees younger `alloca`s of this frame.
    StackSave {
        dst: Reg,
    },
    StackRestore {
        saved: Operand,
    },
    /// Atomic read-modify-write, single-threaded: `dst` is the old value, `op` None stores `b`.
    AtomicRmw {
        dst: Reg,
        op: Option<BinOp>,
        nand: bool,
        width: Width,
        address: Operand,
        b: Operand,
        check: CheckId,
    },
    /// Compare and exchange, single-threaded.
    CmpXchg {
        dst: Reg,
        success: Reg,
        width: Width,
        address: Operand,
        expected: Operand,
        new: Operand,
        check: CheckId,
    },
    /// Not modelled: ends the run, and goals behind it stay open. Index into [`Program::unmodelled`].
    Unmodelled {
        which: u32,
    },
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// First result register; unused for void.
    pub dst: Reg,
    /// Who is called.
    pub callee: Callee,
    /// Flattened arguments.
    pub args: Vec<Arg>,
    /// How many of `args` are fixed parameters; the rest are variable arguments.
    pub fixed: u32,
    /// Widths of the results the caller expects.
    pub result: Vec<Width>,
    /// This call's number.
    pub site: CallSite,
    /// Violated by a call through a bad pointer, or, where the callee is a failing function such as
    /// `__assert_fail`, by reaching the call at all.
    pub check: Option<CheckId>,
}

/// The target of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function of the module.
    Direct(FuncId),
    /// Through a pointer.
    Indirect(Operand),
}

/// An argument: its value and how the System V ABI passes it when it is a variable argument.
#[derive(Clone, Copy, Debug)]
pub struct Arg {
    /// The value, or for `byval` the address to copy from.
    pub value: Operand,
    /// Width in bits.
    pub width: Width,
    /// How it is passed.
    pub class: ArgClass,
}

/// Parameter classes that matter for `va_arg`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgClass {
    /// Integer or pointer: general register, then the overflow area.
    Integer,
    /// float (never variadic), double, vector lane: SSE register, then the overflow area.
    Sse,
    /// x87 long double: overflow area, 16 bytes.
    X87,
    /// Struct passed in memory: `size` bytes are copied to a fresh object (or the overflow area).
    ByVal {
        /// Bytes.
        size: u32,
        /// Alignment in bytes.
        align: u32,
    },
}

/// A call instruction's place, for stacks and reports.
#[derive(Clone, Debug)]
pub struct CallInfo {
    /// The calling function.
    pub caller: FuncId,
    /// Where.
    pub loc: Loc,
    /// Source position.
    pub pos: Pos,
}

/// A jump to a block with the values its phi nodes take. The moves are parallel.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The target.
    pub to: BlockId,
    /// `(register, value)` pairs, read before any is written.
    pub moves: Box<[(Reg, Operand)]>,
}

/// How a block ends.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "LLVM's own names")]
pub enum Terminator {
    Jump(Edge),
    Branch {
        cond: Operand,
        then: Edge,
        otherwise: Edge,
    },
    /// Kept for completeness; `lower-switch` removes these.
    Switch {
        value: Operand,
        width: Width,
        cases: Vec<(u128, Edge)>,
        default: Edge,
    },
    Return {
        values: Vec<Operand>,
    },
    /// `llvm.ubsantrap`, or a call that does not return, stood before: reaching this violates `check` if
    /// there is one, else it is the end of a path that never returns.
    Unreachable {
        check: Option<CheckId>,
    },
    /// `indirectbr` (computed goto): the address is `Program::function_address`-like, `block_address`.
    IndirectBranch {
        address: Operand,
        targets: Vec<(u64, Edge)>,
    },
}

/// A global variable and its initial contents.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Bytes; addresses of globals and functions are already resolved to this crate's addresses.
    pub init: Vec<u8>,
    /// Whether writing it is a violation.
    pub constant: bool,
    /// Alignment in bytes.
    pub align: u32,
    /// Declared only: contents unknown.
    pub external: bool,
    /// Where it is defined.
    pub pos: Pos,
}

/// The properties that a user can select.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Property {
    /// assert, abort, reach_error, crunner_fail.
    Assertion,
    /// Invalid reads, writes, frees and calls, and indices past an array's bound.
    Memory,
    /// Signed overflow, division by zero, bad shifts.
    Overflow,
}

/// What a check guards against.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum CheckKind {
    /// `assert(e)` failed.
    Assertion,
    /// `abort()`.
    Abort,
    /// `reach_error()`, `__VERIFIER_error()`.
    ReachError,
    /// `crunner_fail()`.
    Fail,
    /// Invalid read: NULL, freed, out of scope, out of bounds, not an object.
    Read,
    /// Invalid write.
    Write,
    /// `free` or `realloc` of what is not the start of a live heap object.
    Free,
    /// A call through a pointer that is not a function.
    Call,
    SignedOverflow,
    Shift,
    DivisionByZero,
    /// An index past the bound of an array type, even inside a larger object.
    ArrayBound,
    /// `__builtin_unreachable`, a missing return, and what else clang traps.
    Unreachable,
}

impl CheckKind {
    /// The property that the check belongs to.
    pub fn property(self) -> Property {
        match self {
            CheckKind::Assertion | CheckKind::Abort | CheckKind::ReachError | CheckKind::Fail => {
                Property::Assertion
            }
            CheckKind::Read
            | CheckKind::Write
            | CheckKind::Free
            | CheckKind::Call
            | CheckKind::ArrayBound => Property::Memory,
            CheckKind::SignedOverflow
            | CheckKind::Shift
            | CheckKind::DivisionByZero
            | CheckKind::Unreachable => Property::Overflow,
        }
    }
}

/// Something that can go wrong at one place.
#[derive(Clone, Debug)]
pub struct Check {
    /// What.
    pub kind: CheckKind,
    /// The instruction: a load, a store, a call of a failing function, an `ubsantrap`.
    pub loc: Loc,
    /// Source position.
    pub pos: Pos,
    /// The function it stands in.
    pub function: FuncId,
    /// For people: the assertion's text, the accessed variable or field where known, else empty.
    pub expression: String,
    /// An access to a named variable at a constant offset within its bounds: nothing to prove, and not
    /// counted in reports.
    pub trivial: bool,
}

/// A construct that is not modelled.
#[derive(Clone, Debug)]
pub struct Unmodelled {
    /// Its name: `inline assembly`, `setjmp`, `pthread_create`, ...
    pub what: String,
    /// Where.
    pub pos: Pos,
    /// In which function.
    pub function: FuncId,
}
