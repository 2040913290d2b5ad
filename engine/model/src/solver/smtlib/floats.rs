//! Floating-point operations as SMT-LIB text.
//!
//! Terms are bit patterns, so operands are converted to floats. SMT-LIB has no operation for the
//! opposite conversion (Z3 has one as an extension), so the pattern of a result is a new constant
//! that is constrained to convert to the result. A NaN has many patterns, of which the quiet ones
//! are allowed.

use std::fmt::Write as _;

use super::ops::literal;
use crate::program::ir::{FloatCast, FloatKind, FloatOp, FloatPred, MathFn, Width};

/// The numbers of exponent and significand bits; the significand includes the hidden bit. x87's
/// format stores that bit explicitly, and SMT-LIB does not have it.
fn format(kind: FloatKind) -> Option<(Width, Width)> {
    match kind {
        FloatKind::F16 => Some((5, 11)),
        FloatKind::F32 => Some((8, 24)),
        FloatKind::F64 => Some((11, 53)),
        FloatKind::F128 => Some((15, 113)),
        FloatKind::F80 => None,
    }
}

/// The conversion of a bit pattern to a float.
fn read(kind: FloatKind, a: &str) -> Option<String> {
    let (exponent, significand) = format(kind)?;
    Some(format!("((_ to_fp {exponent} {significand}) {a})"))
}

/// Declares `name` as a bit pattern that converts to `float`.
pub(super) fn pattern(kind: FloatKind, name: &str, float: &str) -> String {
    let Some((exponent, significand)) = format(kind) else {
        return format!("(declare-const {name} (_ BitVec {}))\n", kind.width());
    };
    let mut text = String::new();
    let _ = writeln!(
        text,
        "(define-fun {name}.fp () (_ FloatingPoint {exponent} {significand}) {float})"
    );
    let _ = writeln!(text, "(declare-const {name} (_ BitVec {}))", kind.width());
    let _ = writeln!(
        text,
        "(assert (= ((_ to_fp {exponent} {significand}) {name}) {name}.fp))"
    );
    let quiet = significand - 2;
    let _ = writeln!(
        text,
        "(assert (=> (fp.isNaN {name}.fp) (= ((_ extract {quiet} {quiet}) {name}) #b1)))"
    );
    text
}

/// `a op b` as a float; [`pattern`] gives it a bit pattern.
pub(super) fn binary(op: FloatOp, kind: FloatKind, a: &str, b: &str) -> Option<String> {
    let (x, y) = (read(kind, a)?, read(kind, b)?);
    let name = match op {
        FloatOp::Add => "fp.add",
        FloatOp::Sub => "fp.sub",
        FloatOp::Mul => "fp.mul",
        FloatOp::Div => "fp.div",
        // C's fmod truncates, and SMT-LIB's remainder rounds.
        FloatOp::Rem => return None,
    };
    Some(format!("({name} RNE {x} {y})"))
}

/// `a pred b` as a Boolean.
pub(super) fn compare(pred: FloatPred, kind: FloatKind, a: &str, b: &str) -> Option<String> {
    let (x, y) = (read(kind, a)?, read(kind, b)?);
    let unordered = format!("(or (fp.isNaN {x}) (fp.isNaN {y}))");
    let ordered = |name: &str| format!("({name} {x} {y})");
    let either = |name: &str| format!("(or {unordered} ({name} {x} {y}))");
    Some(match pred {
        FloatPred::OEq => ordered("fp.eq"),
        FloatPred::OGt => ordered("fp.gt"),
        FloatPred::OGe => ordered("fp.geq"),
        FloatPred::OLt => ordered("fp.lt"),
        FloatPred::OLe => ordered("fp.leq"),
        FloatPred::ONe => format!("(or (fp.lt {x} {y}) (fp.gt {x} {y}))"),
        FloatPred::Ord => format!("(not {unordered})"),
        FloatPred::UEq => either("fp.eq"),
        FloatPred::UGt => either("fp.gt"),
        FloatPred::UGe => either("fp.geq"),
        FloatPred::ULt => either("fp.lt"),
        FloatPred::ULe => either("fp.leq"),
        FloatPred::UNe => format!("(not (fp.eq {x} {y}))"),
        FloatPred::Uno => unordered,
    })
}

/// The result of a conversion: a float of the returned kind, or an integer's bits.
pub(super) fn cast(cast: FloatCast, a: &str) -> Option<(String, Option<FloatKind>)> {
    let to_format = |to: FloatKind, name: &str, from: &str| {
        let (exponent, significand) = format(to)?;
        let text = format!("((_ {name} {exponent} {significand}) RNE {from})");
        Some((text, Some(to)))
    };
    let low = |to: Width, whole: String| {
        let text = format!("((_ extract {} 0) {whole})", to - 1);
        Some((text, None))
    };
    match cast {
        FloatCast::Convert(from, to) => to_format(to, "to_fp", &read(from, a)?),
        FloatCast::FromSigned(_, to) => to_format(to, "to_fp", a),
        FloatCast::FromUnsigned(_, to) => to_format(to, "to_fp_unsigned", a),
        FloatCast::ToSigned(from, to) if to <= 32 => low(to, to_signed(from, 32, &read(from, a)?)?),
        FloatCast::ToSigned(from, to) if to <= 64 => low(to, to_signed(from, 64, &read(from, a)?)?),
        FloatCast::ToUnsigned(from, to) if to < 32 => {
            low(to, to_signed(from, 32, &read(from, a)?)?)
        }
        FloatCast::ToUnsigned(from, to) if to < 64 => {
            low(to, to_signed(from, 64, &read(from, a)?)?)
        }
        FloatCast::ToSigned(..) | FloatCast::ToUnsigned(..) => None,
    }
}

/// Converts to a signed integer of `w` bits, rounding towards zero. For a NaN or a result that does
/// not fit, it is the smallest number, as on x86 processors.
fn to_signed(kind: FloatKind, w: Width, x: &str) -> Option<String> {
    let (exponent, significand) = format(kind)?;
    let to_fp = format!("(_ to_fp {exponent} {significand})");
    let smallest = literal(w, 1 << (w - 1));
    // In each format a power of two is either exact, or infinite because every finite number fits
    // into the integer. Comparisons with a NaN are false.
    let limit = format!("({to_fp} RNE {smallest})");
    Some(format!(
        "(let ((whole (fp.roundToIntegral RTZ {x})) (limit {limit})) \
         (ite (and (not (fp.isInfinite whole)) (fp.leq limit whole) (fp.lt whole (fp.neg limit))) \
         ((_ fp.to_sbv {w}) RTZ whole) {smallest}))"
    ))
}

/// The result of a function, as a float of the same kind.
pub(super) fn function(function: MathFn, kind: FloatKind, args: &[String]) -> Option<String> {
    let x = read(kind, args.first()?)?;
    let another = |i: usize| args.get(i).and_then(|a| read(kind, a));
    let rounded = |mode: &str| format!("(fp.roundToIntegral {mode} {x})");
    Some(match function {
        MathFn::Sqrt => format!("(fp.sqrt RNE {x})"),
        MathFn::Floor => rounded("RTN"),
        MathFn::Ceil => rounded("RTP"),
        MathFn::Trunc => rounded("RTZ"),
        MathFn::Round => rounded("RNA"),
        MathFn::Rint | MathFn::Nearbyint => rounded("RNE"),
        MathFn::Remainder => format!("(fp.rem {x} {})", another(1)?),
        MathFn::Fma => format!("(fp.fma RNE {x} {} {})", another(1)?, another(2)?),
        _ => return None,
    })
}
