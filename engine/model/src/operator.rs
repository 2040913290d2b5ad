//! The names of operators and of faults: what a program computes with, and what can go wrong.
//!
//! The operators are LLVM's. Programs and [terms](crate::term) both refer to them and to the kinds
//! of [fault](crate::term::fault), so this module depends on neither.

use serde::{Deserialize, Serialize};

/// Width in bits of a scalar, 1 to 128.
pub type Width = u16;

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
    /// The number of bits that a value takes in a register.
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

impl FloatCast {
    /// The width of its operand.
    pub fn source(self) -> Width {
        match self {
            FloatCast::Convert(from, _)
            | FloatCast::ToSigned(from, _)
            | FloatCast::ToUnsigned(from, _) => from.width(),
            FloatCast::FromSigned(width, _) | FloatCast::FromUnsigned(width, _) => width,
        }
    }
}

/// Integer conversions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "LLVM's own names")]
pub enum CastKind {
    Trunc,
    ZExt,
    SExt,
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

impl MathFn {
    /// Whether IEEE 754 defines the result exactly, so that a term can express it. The host
    /// computes the others.
    pub fn is_exact(self) -> bool {
        matches!(
            self,
            MathFn::Sqrt
                | MathFn::Floor
                | MathFn::Ceil
                | MathFn::Round
                | MathFn::Trunc
                | MathFn::Rint
                | MathFn::Nearbyint
                | MathFn::Fabs
                | MathFn::Fmin
                | MathFn::Fmax
                | MathFn::Copysign
                | MathFn::Fma
        )
    }
}

/// A register in which `cpuid` leaves a part of its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each is the register of its name")]
pub enum CpuidRegister {
    Eax,
    Ebx,
    Ecx,
    Edx,
}

/// Instructions of x86-64 whose results are any value for a proof. The machine computes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProcessorFn {
    /// `cpuid`: what the processor says about itself. Operands: `eax` and `ecx`.
    Cpuid(CpuidRegister),
    /// `xgetbv`: the low or the high word of an extended control register. Operand: `ecx`.
    Xgetbv {
        /// Whether it is the high word.
        high: bool,
    },
    /// `rcpps`: an estimate of `1 / x`, which each processor rounds in its own way.
    Reciprocal,
    /// `rsqrtps`: an estimate of `1 / sqrt(x)`.
    ReciprocalRoot,
    /// `pclmulqdq`: a word of the product of two words over the field of two elements.
    CarrylessProduct {
        /// Whether it is the high word.
        high: bool,
    },
    /// `pshufb`: the byte that the last operand chooses among the others, or 0.
    ShuffledByte,
    /// `crc32`: a checksum, continued by the second operand.
    Crc32,
    /// `pext`: the bits of the first operand that the second one selects, side by side.
    Extract,
    /// `pdep`: the low bits of the first operand, at the places that the second one selects.
    Deposit,
    /// What the compiler chooses: the native target has the operand, if there is one.
    Unspecified,
    /// Another instruction. The machine ends the run before it. The index is that of its
    /// description, as in [`Op::Unmodelled`](crate::program::ir::Op::Unmodelled).
    Unknown(u32),
}

/// The properties that a user can select.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Property {
    /// `assert`, `reach_error` and `crunner_fail`.
    Assertion,
    /// `abort`, and what makes the C library call it. If the property is not selected, `abort` ends
    /// the run as `exit` does.
    Abort,
    /// Invalid reads, writes, frees and calls, and indices past an array's bound.
    Memory,
    /// Signed overflow, division by zero, bad shifts, conversions of floating-point values that do
    /// not fit.
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
    /// A floating-point value whose integral part is not representable in the integer type (C11
    /// 6.3.1.4p1).
    FloatConversion,
    /// An index past the bound of an array type, even inside a larger object.
    ArrayBound,
    /// `__builtin_unreachable`, a missing return, and other places where clang inserts a trap.
    Unreachable,
}

impl CheckKind {
    /// The property that the check belongs to.
    pub fn property(self) -> Property {
        match self {
            CheckKind::Assertion | CheckKind::ReachError | CheckKind::Fail => Property::Assertion,
            CheckKind::Abort => Property::Abort,
            CheckKind::Read
            | CheckKind::Write
            | CheckKind::Free
            | CheckKind::Call
            | CheckKind::ArrayBound => Property::Memory,
            CheckKind::SignedOverflow
            | CheckKind::Shift
            | CheckKind::DivisionByZero
            | CheckKind::FloatConversion
            | CheckKind::Unreachable => Property::Overflow,
        }
    }

    /// Whether reaching the call that carries the check is itself the violation: `abort()`, a
    /// failed assertion.
    pub fn is_reached(self) -> bool {
        match self {
            CheckKind::Assertion | CheckKind::Abort | CheckKind::ReachError | CheckKind::Fail => {
                true
            }
            CheckKind::Read
            | CheckKind::Write
            | CheckKind::Free
            | CheckKind::Call
            | CheckKind::SignedOverflow
            | CheckKind::Shift
            | CheckKind::DivisionByZero
            | CheckKind::FloatConversion
            | CheckKind::ArrayBound
            | CheckKind::Unreachable => false,
        }
    }
}
