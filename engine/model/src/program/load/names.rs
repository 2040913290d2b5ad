//! The kinds of functions without a body, by name.

use crate::program::ir::{CheckKind, FunctionKind, HeapFn, Intrinsic, MathFn};

/// The kind of a declared function.
pub(crate) fn declared(name: &str) -> FunctionKind {
    match intrinsic(name) {
        Some(intrinsic) => FunctionKind::Intrinsic(intrinsic),
        None => FunctionKind::Missing,
    }
}

/// The intrinsic with which the machine implements a function of the runtime, the heap or
/// `<math.h>`.
pub(crate) fn intrinsic(name: &str) -> Option<Intrinsic> {
    Some(match name {
        "crunner_choose" => Intrinsic::Choose,
        "crunner_remaining" => Intrinsic::Remaining,
        "crunner_assume" => Intrinsic::Assume,
        "crunner_assumed" => Intrinsic::Assumed,
        "crunner_unmodelled" => Intrinsic::Unmodelled,
        "crunner_stop" => Intrinsic::Stop,
        "crunner_violation" => Intrinsic::Violation,
        "crunner_output" => Intrinsic::Output,
        "crunner_object_size" => Intrinsic::ObjectSize,
        "crunner_format_float" => Intrinsic::FormatFloat,
        "crunner_parse_float" => Intrinsic::ParseFloat,
        "malloc" => Intrinsic::Heap(HeapFn::Malloc),
        "calloc" => Intrinsic::Heap(HeapFn::Calloc),
        "crunner_row" => Intrinsic::Heap(HeapFn::Row),
        "realloc" => Intrinsic::Heap(HeapFn::Realloc),
        "free" => Intrinsic::Heap(HeapFn::Free),
        "reallocarray" => Intrinsic::Heap(HeapFn::ReallocArray),
        "aligned_alloc" | "memalign" => Intrinsic::Heap(HeapFn::AlignedAlloc),
        "posix_memalign" => Intrinsic::Heap(HeapFn::PosixMemalign),
        "valloc" => Intrinsic::Heap(HeapFn::Valloc),
        "malloc_usable_size" => Intrinsic::Heap(HeapFn::UsableSize),
        _ => return math(name).map(Intrinsic::Math),
    })
}

/// A function of `<math.h>` on doubles, or its variant on floats.
fn math(name: &str) -> Option<MathFn> {
    math_double(name).or_else(|| math_double(name.strip_suffix('f')?))
}

/// The function of `<math.h>` called `name`, on doubles.
pub(crate) fn math_double(name: &str) -> Option<MathFn> {
    Some(match name {
        "sin" => MathFn::Sin,
        "cos" => MathFn::Cos,
        "tan" => MathFn::Tan,
        "asin" => MathFn::Asin,
        "acos" => MathFn::Acos,
        "atan" => MathFn::Atan,
        "atan2" => MathFn::Atan2,
        "sinh" => MathFn::Sinh,
        "cosh" => MathFn::Cosh,
        "tanh" => MathFn::Tanh,
        "exp" => MathFn::Exp,
        "exp2" => MathFn::Exp2,
        "expm1" => MathFn::Expm1,
        "log" => MathFn::Log,
        "log2" => MathFn::Log2,
        "log10" => MathFn::Log10,
        "log1p" => MathFn::Log1p,
        "pow" => MathFn::Pow,
        "sqrt" => MathFn::Sqrt,
        "cbrt" => MathFn::Cbrt,
        "hypot" => MathFn::Hypot,
        "fmod" => MathFn::Fmod,
        "remainder" => MathFn::Remainder,
        "floor" => MathFn::Floor,
        "ceil" => MathFn::Ceil,
        "round" => MathFn::Round,
        "trunc" => MathFn::Trunc,
        "rint" => MathFn::Rint,
        "nearbyint" => MathFn::Nearbyint,
        "fabs" => MathFn::Fabs,
        "fmin" => MathFn::Fmin,
        "fmax" => MathFn::Fmax,
        "copysign" => MathFn::Copysign,
        "fma" => MathFn::Fma,
        "ldexp" => MathFn::Ldexp,
        "lround" => MathFn::Lround,
        "llround" => MathFn::Llround,
        "lrint" => MathFn::Lrint,
        _ => return None,
    })
}

/// The kind of violation that a call of this function is, and the index of the argument that holds
/// the text of the failed assertion; `None` if calling it is no violation. The names are those of
/// the stub library's table; a program whose calls were not renamed uses C's own names.
pub(crate) fn failing(name: &str) -> Option<(CheckKind, Option<usize>)> {
    let function = cegar_stubs::failing_functions()
        .iter()
        .find(|f| f.name == name || f.name.strip_prefix("CRUNNER_") == Some(name))?;
    Some((violation(function.kind), function.text_argument))
}

/// The kind of check for a number that `crunner_violation` is called with.
pub(crate) fn violation(kind: u32) -> CheckKind {
    match kind {
        0 => CheckKind::Assertion,
        1 => CheckKind::Abort,
        2 => CheckKind::ReachError,
        _ => CheckKind::Fail,
    }
}

/// The kind and the text of the check behind an argument of `llvm.ubsantrap`: clang's
/// `SanitizerHandler`, in the order of LLVM 19.
pub fn sanitizer(handler: u64) -> (CheckKind, &'static str) {
    match handler {
        0 => (CheckKind::SignedOverflow, "+"),
        1 => (CheckKind::Unreachable, "unreachable"),
        3 => (CheckKind::DivisionByZero, "/"),
        5 => (CheckKind::FloatConversion, ""),
        11 => (CheckKind::Unreachable, "missing return"),
        12 => (CheckKind::SignedOverflow, "*"),
        13 => (CheckKind::SignedOverflow, "-"),
        18 => (CheckKind::ArrayBound, ""),
        20 => (CheckKind::Shift, ""),
        21 => (CheckKind::SignedOverflow, "-"),
        24 => (CheckKind::ArrayBound, ""),
        255 => (CheckKind::Abort, "__builtin_trap"),
        _ => (CheckKind::Unreachable, "trap"),
    }
}

/// The number of the handler that guards divisions.
pub(crate) const DIVISION_HANDLER: u64 = 3;
