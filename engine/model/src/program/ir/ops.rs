//! Operands, operations and terminators: the contents of blocks.
//!
//! The operators are LLVM's, because simplifying their meaning here would create a second semantics
//! to keep in step with what the native target executes. The difference is that everything is flat:
//! operands are scalar registers or constants, and addresses are sums.

use super::*;

/// An operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A register of the current frame.
    Reg(Reg),
    /// A constant of up to 64 bits, zero-extended.
    Const(u64),
    /// A constant wider than 64 bits; see [`Operand::wide`].
    Wide(&'static u128),
    /// An undefined value (`undef`, `poison`): any bits. The machine uses the pattern
    /// [`UNDEFINED_BYTE`](cegar_stubs::UNDEFINED_BYTE).
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

    /// A constant above 64 bits. Such constants are few, so they are leaked and live as long as the
    /// process.
    pub fn wide(value: u128) -> Operand {
        Operand::Wide(Box::leak(Box::new(value)))
    }
}

/// An operation. Addresses are 64 bits wide.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "field names follow LLVM's operands")]
pub enum Op {
    /// `dst = a op b`, both `width` bits. A zero divisor or an oversized shift violates `check` if
    /// there is one. Without a check, an oversized shift may yield anything (in the machine, the
    /// result of x86), and a zero divisor ends the run.
    Bin {
        dst: Reg,
        op: BinOp,
        width: Width,
        a: Operand,
        b: Operand,
        check: Option<CheckId>,
    },
    /// `dst = op a`. If `partial`, the result for 0 may be anything.
    Un {
        dst: Reg,
        op: UnOp,
        width: Width,
        a: Operand,
        partial: bool,
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
    /// Copies the bits.
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
    /// `dst = base + sum(index_i * scale_i) + offset`, all 64 bits: `getelementptr`. Indices are
    /// sign-extended from their width.
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
    /// An instruction of the processor: any value for a proof. See [`ProcessorFn`].
    Processor {
        dst: Reg,
        width: Width,
        function: ProcessorFn,
        args: Box<[(Operand, Width)]>,
    },
    /// `freeze` and uninitialised locals: an arbitrary but fixed value. The machine uses `a`, or
    /// the pattern of `UNDEFINED_BYTE` if `a` is undefined.
    Freeze {
        dst: Reg,
        width: Width,
        a: Operand,
    },
    /// A new stack object of `size` bytes that lives until the function returns. `name` is the name
    /// of its variable in C; empty if it has none.
    Alloca {
        dst: Reg,
        size: Operand,
        align: u32,
        name: String,
        shape: Option<super::ShapeId>,
        room: Option<Box<Room>>,
    },
    /// Loads `width.div_ceil(8)` bytes, little-endian.
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
    /// Starts (`start`) or ends the life of the object at `address`. At its start the object is
    /// uninitialised.
    Lifetime {
        start: bool,
        address: Operand,
    },
    /// Makes the object's bytes uninitialised (`__cegar_uninit`).
    Uninit {
        address: Operand,
        len: Operand,
    },
    /// A call; its results go to `dst`, `dst + 1`, ... Boxed because it is large.
    Call(Box<Call>),
    /// Fills the System V `va_list` at `list` (24 bytes) from the current frame's variable
    /// arguments.
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
    /// `dst = llvm.stacksave()`; its counterpart frees the younger `alloca`s of this frame.
    StackSave {
        dst: Reg,
    },
    StackRestore {
        saved: Operand,
    },
    /// Atomic read-modify-write, single-threaded: `dst` gets the old value; if `op` is `None`, `b`
    /// is stored.
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
    /// Not modelled: ends the run, and goals behind it stay open. Index into
    /// [`Program::unmodelled`].
    Unmodelled {
        which: u32,
    },
}

/// The limit that a local array of variable length is checked against.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The number of its elements, 64 bits.
    pub count: Operand,
    /// The largest number of elements that the stack has room for.
    pub most: u64,
    /// Violated if `count` exceeds `most`.
    pub check: CheckId,
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// First result register; unused for void.
    pub dst: Reg,
    /// The callee.
    pub callee: Callee,
    /// Flattened arguments.
    pub args: Vec<Arg>,
    /// How many of `args` are fixed parameters; the rest are variable arguments.
    pub fixed: u32,
    /// Widths of the results the caller expects.
    pub result: Vec<Width>,
    /// This call's number.
    pub site: CallSite,
    /// Violated by a call through a bad pointer or, if the callee is a failing function such as
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
    /// Only in modules on which `lower-switch` did not run, and in place of terminators that are
    /// not modelled.
    Switch {
        value: Operand,
        width: Width,
        cases: Vec<(u128, Edge)>,
        default: Edge,
    },
    Return {
        values: Vec<Operand>,
    },
    /// Follows `llvm.ubsantrap` or a call that does not return. Reaching it violates `check` if
    /// there is one; otherwise it ends a path that never returns.
    Unreachable {
        check: Option<CheckId>,
    },
    /// `indirectbr` (computed goto): jumps to the target whose [`Program::block_address`] is
    /// `address`.
    IndirectBranch {
        address: Operand,
        targets: Vec<(u64, Edge)>,
    },
}
