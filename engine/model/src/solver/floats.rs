//! Translation of floating-point operations to Z3.
//!
//! Terms are bit patterns, so operands are converted to floats and results are converted back.
//! SMT-LIB has only one NaN, and the hardware's rules for sign and payload of a NaN are not
//! modelled, so a resulting NaN has a free sign and payload. `None` means that the operation is not
//! expressed: x87's format (its integer bit is explicit), `fmod`, and the functions of `<math.h>`
//! that have no definition in SMT-LIB.

use z3::Sort;
use z3::ast::{Ast, BV, Bool, Float, RoundingMode};
use z3_sys::{Z3_mk_fpa_to_fp_bv, Z3_mk_fpa_to_fp_signed, Z3_mk_fpa_to_fp_unsigned};

use super::translate::bits;
use crate::program::ir::{FloatCast, FloatKind, FloatOp, FloatPred, MathFn};
use crate::term::value::mask;

/// The numbers of exponent and significand bits; the significand includes the hidden bit.
fn format(kind: FloatKind) -> Option<(u32, u32)> {
    match kind {
        FloatKind::F16 => Some((5, 11)),
        FloatKind::F32 => Some((8, 24)),
        FloatKind::F64 => Some((11, 53)),
        FloatKind::F128 => Some((15, 113)),
        FloatKind::F80 => None,
    }
}

fn sort(kind: FloatKind) -> Option<Sort> {
    format(kind).map(|(exponent, significand)| Sort::float(exponent, significand))
}

fn nearest() -> RoundingMode {
    RoundingMode::round_nearest_ties_to_even()
}

fn read(kind: FloatKind, a: &BV) -> Option<Float> {
    let sort = sort(kind)?;
    let context = a.get_ctx();
    // SAFETY: the operand and the sort are alive and belong to this context; the result is wrapped,
    // which increments its reference count, before any other object is created.
    unsafe {
        let ast = Z3_mk_fpa_to_fp_bv(context.get_z3_context(), a.get_z3_ast(), sort.get_z3_sort())?;
        Some(Float::wrap(context, ast))
    }
}

fn from_integer(signed: bool, a: &BV, kind: FloatKind) -> Option<Float> {
    let sort = sort(kind)?;
    let context = a.get_ctx();
    let mode = nearest();
    let make = if signed {
        Z3_mk_fpa_to_fp_signed
    } else {
        Z3_mk_fpa_to_fp_unsigned
    };
    // SAFETY: as above, the operands are alive and belong to this context.
    unsafe {
        let ast = make(
            context.get_z3_context(),
            mode.get_z3_ast(),
            a.get_z3_ast(),
            sort.get_z3_sort(),
        )?;
        Some(Float::wrap(context, ast))
    }
}

fn write(kind: FloatKind, a: &Float) -> Option<BV> {
    let (exponent, significand) = format(kind)?;
    let nan = BV::fresh_const("nan_sign", 1)
        .concat(bits((exponent + 1) as u16, mask(exponent as u16 + 1)))
        .concat(BV::fresh_const("nan_payload", significand - 2));
    Some(a.is_nan().ite(&nan, &a.to_ieee_bv()))
}

pub(super) fn binary(op: FloatOp, kind: FloatKind, a: &BV, b: &BV) -> Option<BV> {
    let (x, y, mode) = (read(kind, a)?, read(kind, b)?, nearest());
    let result = match op {
        FloatOp::Add => x.add_with_rounding_mode(y, &mode),
        FloatOp::Sub => x.sub_with_rounding_mode(y, &mode),
        FloatOp::Mul => x.mul_with_rounding_mode(y, &mode),
        FloatOp::Div => x.div_with_rounding_mode(y, &mode),
        FloatOp::Rem => return None,
    };
    write(kind, &result)
}

pub(super) fn compare(pred: FloatPred, kind: FloatKind, a: &BV, b: &BV) -> Option<Bool> {
    let (x, y) = (read(kind, a)?, read(kind, b)?);
    let unordered = Bool::or(&[x.is_nan(), y.is_nan()]);
    let either = |ordered: Bool| Bool::or(&[unordered.clone(), ordered]);
    Some(match pred {
        FloatPred::OEq => x.eq_fpa(&y),
        FloatPred::OGt => x.gt(&y),
        FloatPred::OGe => x.ge(&y),
        FloatPred::OLt => x.lt(&y),
        FloatPred::OLe => x.le(&y),
        FloatPred::ONe => Bool::and(&[unordered.not(), x.eq_fpa(&y).not()]),
        FloatPred::Ord => unordered.not(),
        FloatPred::UEq => either(x.eq_fpa(&y)),
        FloatPred::UGt => either(x.gt(&y)),
        FloatPred::UGe => either(x.ge(&y)),
        FloatPred::ULt => either(x.lt(&y)),
        FloatPred::ULe => either(x.le(&y)),
        FloatPred::UNe => x.eq_fpa(&y).not(),
        FloatPred::Uno => unordered,
    })
}

/// Converts to a signed integer of `width` bits, rounding towards zero. If the result does not fit,
/// it is the smallest number, as on x86 processors.
fn to_signed(kind: FloatKind, width: u32, a: &BV) -> Option<BV> {
    let x = read(kind, a)?;
    let (_, significand) = format(kind)?;
    // -2^(width-1) and 2^(width-1) are exact in every format whose exponents reach that far.
    if kind == FloatKind::F16 || significand == 113 {
        return None;
    }
    let low = bits(width as u16, 1 << (width - 1));
    let limit = from_integer(true, &low, kind)?;
    let below = limit.unary_neg();
    // A number above `limit - 1` truncates to at least `limit`. If `limit - 1` is not
    // representable, there are no numbers between `limit - 1` and `limit`, so the comparison is
    // with `limit`.
    let one = from_integer(true, &bits(8, 1), kind)?;
    let first = limit.sub_with_rounding_mode(one, &nearest());
    let exact = significand > width;
    let above_low = if exact { x.gt(&first) } else { x.ge(&limit) };
    let fits = Bool::and(&[above_low, x.lt(&below)]);
    let value = x.to_sbv_with_rounding_mode(&RoundingMode::round_towards_zero(), width);
    Some(fits.ite(&value, &low))
}

pub(super) fn cast(cast: FloatCast, a: &BV) -> Option<BV> {
    match cast {
        FloatCast::Convert(from, to) => {
            let x = read(from, a)?.to_fp_with_rounding_mode(&nearest(), &sort(to)?);
            write(to, &x)
        }
        FloatCast::FromSigned(_, to) => write(to, &from_integer(true, a, to)?),
        FloatCast::FromUnsigned(_, to) => write(to, &from_integer(false, a, to)?),
        FloatCast::ToSigned(from, to) if to <= 64 => {
            let whole = to_signed(from, if to <= 32 { 32 } else { 64 }, a)?;
            Some(whole.extract(u32::from(to) - 1, 0))
        }
        FloatCast::ToUnsigned(from, to) if to < 64 => {
            let whole = to_signed(from, if to < 32 { 32 } else { 64 }, a)?;
            Some(whole.extract(u32::from(to) - 1, 0))
        }
        FloatCast::ToSigned(..) | FloatCast::ToUnsigned(..) => None,
    }
}

pub(super) fn function(function: MathFn, kind: FloatKind, args: &[BV]) -> Option<BV> {
    let x = read(kind, args.first()?)?;
    let second = || args.get(1).and_then(|b| read(kind, b));
    let rounded = |mode: RoundingMode| x.round_to_integral_with_rounding_mode(&mode);
    let result = match function {
        MathFn::Sqrt => x.sqrt_with_rounding_mode(&nearest()),
        MathFn::Floor => rounded(RoundingMode::round_towards_negative()),
        MathFn::Ceil => rounded(RoundingMode::round_towards_positive()),
        MathFn::Trunc => rounded(RoundingMode::round_towards_zero()),
        MathFn::Round => rounded(RoundingMode::round_nearest_ties_to_away()),
        MathFn::Rint | MathFn::Nearbyint => rounded(nearest()),
        MathFn::Remainder => x.rem(&second()?),
        MathFn::Fma => {
            let third = read(kind, args.get(2)?)?;
            x.fma_with_rounding_mode(second()?, third, &nearest())
        }
        _ => return None,
    };
    write(kind, &result)
}
