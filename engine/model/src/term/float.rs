//! Semantics of floating-point operations on bit patterns.
//!
//! Operations on singles and doubles are computed by the host, as the native target does.
//! Operations in half, x87 extended and quadruple precision are computed by `rustc_apfloat`, LLVM's
//! own arithmetic. Conversions that C leaves undefined give the results of x86-64 (the "integer
//! indefinite" value), because the native target does so. Functions of `<math.h>` are those of the
//! host's C library. In formats for which the host has no functions, only those with an exact
//! definition are computed.

use rustc_apfloat::ieee::{Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::value::{mask, signed};
use crate::operator::{FloatCast, FloatKind, FloatOp, FloatPred, MathFn, Width};

/// Runs the body with `$F` as the soft-float type of a format.
macro_rules! soft {
    ($kind:expr, $F:ident => $body:expr) => {
        match $kind {
            FloatKind::F16 => {
                type $F = Half;
                $body
            }
            FloatKind::F32 => {
                type $F = Single;
                $body
            }
            FloatKind::F64 => {
                type $F = Double;
                $body
            }
            FloatKind::F80 => {
                type $F = X87DoubleExtended;
                $body
            }
            FloatKind::F128 => {
                type $F = Quad;
                $body
            }
        }
    };
}

fn single(a: u128) -> f32 {
    f32::from_bits(a as u32)
}

fn double(a: u128) -> f64 {
    f64::from_bits(a as u64)
}

fn of_single(a: f32) -> u128 {
    u128::from(a.to_bits())
}

fn of_double(a: f64) -> u128 {
    u128::from(a.to_bits())
}

/// `a op b`, rounded to nearest even. `Rem` is C's `fmod`.
pub fn bin(op: FloatOp, kind: FloatKind, a: u128, b: u128) -> u128 {
    match kind {
        FloatKind::F32 => {
            let (x, y) = (single(a), single(b));
            of_single(match op {
                FloatOp::Add => x + y,
                FloatOp::Sub => x - y,
                FloatOp::Mul => x * y,
                FloatOp::Div => x / y,
                FloatOp::Rem => x % y,
            })
        }
        FloatKind::F64 => {
            let (x, y) = (double(a), double(b));
            of_double(match op {
                FloatOp::Add => x + y,
                FloatOp::Sub => x - y,
                FloatOp::Mul => x * y,
                FloatOp::Div => x / y,
                FloatOp::Rem => x % y,
            })
        }
        _ => soft!(kind, F => {
            let (x, y) = (F::from_bits(a), F::from_bits(b));
            let round = Round::NearestTiesToEven;
            match op {
                FloatOp::Add => x.add_r(y, round).value,
                FloatOp::Sub => x.sub_r(y, round).value,
                FloatOp::Mul => x.mul_r(y, round).value,
                FloatOp::Div => x.div_r(y, round).value,
                FloatOp::Rem => x.c_fmod(y).value,
            }
            .to_bits()
        }),
    }
}

/// `-a`: flips the sign bit.
pub fn neg(kind: FloatKind, a: u128) -> u128 {
    a ^ (1 << (kind.width() - 1))
}

/// `a pred b`.
pub fn cmp(pred: FloatPred, kind: FloatKind, a: u128, b: u128) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let order = match kind {
        FloatKind::F32 => single(a).partial_cmp(&single(b)),
        FloatKind::F64 => double(a).partial_cmp(&double(b)),
        _ => soft!(kind, F => F::from_bits(a).partial_cmp(&F::from_bits(b))),
    };
    let Some(order) = order else {
        use FloatPred::{UEq, UGe, UGt, ULe, ULt, UNe, Uno};
        return matches!(pred, UEq | UGt | UGe | ULt | ULe | UNe | Uno);
    };
    match pred {
        FloatPred::OEq | FloatPred::UEq => order == Equal,
        FloatPred::OGt | FloatPred::UGt => order == Greater,
        FloatPred::OGe | FloatPred::UGe => order != Less,
        FloatPred::OLt | FloatPred::ULt => order == Less,
        FloatPred::OLe | FloatPred::ULe => order != Greater,
        FloatPred::ONe | FloatPred::UNe => order != Equal,
        FloatPred::Ord => true,
        FloatPred::Uno => false,
    }
}

/// The width of a conversion's result.
pub fn cast_width(cast: FloatCast) -> Width {
    match cast {
        FloatCast::Convert(_, to)
        | FloatCast::FromSigned(_, to)
        | FloatCast::FromUnsigned(_, to) => to.width(),
        FloatCast::ToSigned(_, to) | FloatCast::ToUnsigned(_, to) => to,
    }
}

/// The result of a conversion.
pub fn cast(cast: FloatCast, a: u128) -> u128 {
    match cast {
        FloatCast::Convert(from, to) => convert(from, to, a),
        FloatCast::ToSigned(from, to) if to <= 32 => to_integer(from, 32, a) & mask(to),
        FloatCast::ToSigned(from, to) if to <= 64 => to_integer(from, 64, a) & mask(to),
        FloatCast::ToSigned(from, to) => to_integer(from, 128, a) & mask(to),
        FloatCast::ToUnsigned(from, to) if to < 32 => to_integer(from, 32, a) & mask(to),
        FloatCast::ToUnsigned(from, to) if to < 64 => to_integer(from, 64, a) & mask(to),
        FloatCast::ToUnsigned(from, 64) => to_unsigned_64(from, a),
        FloatCast::ToUnsigned(from, to) => {
            soft!(from, F => F::from_bits(a).to_u128_r(128, Round::TowardZero, &mut false).value)
                & mask(to)
        }
        FloatCast::FromSigned(from, to) => {
            let n = signed(from, a);
            match to {
                FloatKind::F32 => of_single(n as f32),
                FloatKind::F64 => of_double(n as f64),
                _ => soft!(to, F => F::from_i128(n).value.to_bits()),
            }
        }
        FloatCast::FromUnsigned(_, to) => match to {
            FloatKind::F32 => of_single(a as f32),
            FloatKind::F64 => of_double(a as f64),
            _ => soft!(to, F => F::from_u128(a).value.to_bits()),
        },
    }
}

fn convert(from: FloatKind, to: FloatKind, a: u128) -> u128 {
    match (from, to) {
        _ if from == to => a,
        (FloatKind::F32, FloatKind::F64) => of_double(f64::from(single(a))),
        (FloatKind::F64, FloatKind::F32) => of_single(double(a) as f32),
        _ => soft!(from, F => {
            let x = F::from_bits(a);
            soft!(to, G => {
                let y: G = FloatConvert::<G>::convert(x, &mut false).value;
                y.to_bits()
            })
        }),
    }
}

/// Converts to a signed integer of 32, 64 or 128 bits, rounding towards zero. If the result does
/// not fit, it is the smallest number.
fn to_integer(from: FloatKind, width: Width, a: u128) -> u128 {
    soft!(from, F => {
        let x = F::from_bits(a);
        let to = x.to_i128_r(usize::from(width), Round::TowardZero, &mut false);
        if to.status.contains(rustc_apfloat::Status::INVALID_OP) {
            1 << (width - 1)
        } else {
            to.value as u128 & mask(width)
        }
    })
}

/// The result of the instruction sequence for conversions to `unsigned long`, also if it is out of
/// range. The sequence converts the value, and the value minus 2^63, to signed integers, and
/// combines both by a bitwise or if the first result is negative.
fn to_unsigned_64(from: FloatKind, a: u128) -> u128 {
    let first = to_integer(from, 64, a);
    if first >> 63 == 0 {
        return first;
    }
    let half = cast(FloatCast::FromUnsigned(64, from), 1 << 63);
    first | to_integer(from, 64, bin(FloatOp::Sub, from, a, half))
}

/// The width of a function's result.
pub fn function_width(function: MathFn, kind: FloatKind) -> Width {
    match function {
        MathFn::Lround | MathFn::Llround | MathFn::Lrint => 64,
        _ => kind.width(),
    }
}

/// A function of `<math.h>`. `None` if it cannot be computed exactly as by the native target. The
/// second argument of `Ldexp` is a 32-bit integer.
pub fn function(function: MathFn, kind: FloatKind, args: &[u128]) -> Option<u128> {
    let a = *args.first()?;
    let b = || args.get(1).copied();
    let w = kind.width();
    // First the operations that are exact on bit patterns, then the host's library for each format.
    match function {
        MathFn::Fabs => return Some(a & mask(w - 1)),
        MathFn::Copysign => return Some((a & mask(w - 1)) | (b()? & !mask(w - 1) & mask(w))),
        MathFn::Fmod => return Some(bin(FloatOp::Rem, kind, a, b()?)),
        MathFn::Lround | MathFn::Llround => {
            return Some(rounded(kind, a, Round::NearestTiesToAway));
        }
        MathFn::Lrint => return Some(rounded(kind, a, Round::NearestTiesToEven)),
        MathFn::Ldexp => {
            let by = signed(32, b()?).clamp(-100_000, 100_000) as i32;
            return Some(soft!(kind, F => {
                F::from_bits(a).scalbn_r(by, Round::NearestTiesToEven).to_bits()
            }));
        }
        _ => {}
    }
    match kind {
        FloatKind::F32 => host_single(function, a, args).map(of_single),
        FloatKind::F64 => host_double(function, a, args).map(of_double),
        FloatKind::F16 => {
            let wide: Vec<u128> = args
                .iter()
                .map(|&x| convert(FloatKind::F16, FloatKind::F32, x))
                .collect();
            let value = host_single(function, *wide.first()?, &wide)?;
            Some(convert(FloatKind::F32, FloatKind::F16, of_single(value)))
        }
        FloatKind::F80 | FloatKind::F128 => soft!(kind, F => {
            let x = F::from_bits(a);
            let second = || b().map(F::from_bits);
            let value = match function {
                MathFn::Floor => x.round_to_integral(Round::TowardNegative).value,
                MathFn::Ceil => x.round_to_integral(Round::TowardPositive).value,
                MathFn::Trunc => x.round_to_integral(Round::TowardZero).value,
                MathFn::Round => x.round_to_integral(Round::NearestTiesToAway).value,
                MathFn::Rint | MathFn::Nearbyint => {
                    x.round_to_integral(Round::NearestTiesToEven).value
                }
                MathFn::Fmin => x.min(second()?),
                MathFn::Fmax => x.max(second()?),
                MathFn::Remainder => x.ieee_rem(second()?).value,
                MathFn::Fma => x.mul_add(second()?, F::from_bits(*args.get(2)?)).value,
                _ => return None,
            };
            Some(value.to_bits())
        }),
    }
}

/// `lround` and similar functions: 64 bits, and the smallest number if the result does not fit.
fn rounded(kind: FloatKind, a: u128, round: Round) -> u128 {
    let whole = soft!(kind, F => F::from_bits(a).round_to_integral(round).value.to_bits());
    to_integer(kind, 64, whole)
}

/// Defines the host's functions for one format. The methods of the standard library call the C
/// library.
macro_rules! host {
    ($name:ident, $float:ty, $read:ident, $kind:expr) => {
        fn $name(function: MathFn, a: u128, args: &[u128]) -> Option<$float> {
            let x = $read(a);
            let second = || args.get(1).map(|&b| $read(b));
            Some(match function {
                MathFn::Sin => x.sin(),
                MathFn::Cos => x.cos(),
                MathFn::Tan => x.tan(),
                MathFn::Asin => x.asin(),
                MathFn::Acos => x.acos(),
                MathFn::Atan => x.atan(),
                MathFn::Atan2 => x.atan2(second()?),
                MathFn::Sinh => x.sinh(),
                MathFn::Cosh => x.cosh(),
                MathFn::Tanh => x.tanh(),
                MathFn::Exp => x.exp(),
                MathFn::Exp2 => x.exp2(),
                MathFn::Expm1 => x.exp_m1(),
                MathFn::Log => x.ln(),
                MathFn::Log2 => x.log2(),
                MathFn::Log10 => x.log10(),
                MathFn::Log1p => x.ln_1p(),
                MathFn::Pow => x.powf(second()?),
                MathFn::Sqrt => x.sqrt(),
                MathFn::Cbrt => x.cbrt(),
                MathFn::Hypot => x.hypot(second()?),
                MathFn::Floor => x.floor(),
                MathFn::Ceil => x.ceil(),
                MathFn::Round => x.round(),
                MathFn::Trunc => x.trunc(),
                MathFn::Rint | MathFn::Nearbyint => x.round_ties_even(),
                MathFn::Fmin => x.min(second()?),
                MathFn::Fmax => x.max(second()?),
                MathFn::Fma => x.mul_add(second()?, $read(*args.get(2)?)),
                MathFn::Remainder => {
                    let bits = soft!($kind, F => {
                        F::from_bits(a).ieee_rem(F::from_bits(*args.get(1)?)).value.to_bits()
                    });
                    $read(bits)
                }
                // These operate on bit patterns, see [`function`].
                MathFn::Fabs | MathFn::Copysign | MathFn::Fmod | MathFn::Ldexp => return None,
                MathFn::Lround | MathFn::Llround | MathFn::Lrint => return None,
            })
        }
    };
}
host!(host_single, f32, single, FloatKind::F32);
host!(host_double, f64, double, FloatKind::F64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_out_of_range_are_the_processors() {
        let big = of_double(1e30);
        assert_eq!(
            cast(FloatCast::ToSigned(FloatKind::F64, 32), big),
            0x8000_0000
        );
        assert_eq!(
            cast(FloatCast::ToSigned(FloatKind::F64, 8), of_double(300.0)),
            44
        );
        let minus = of_double(-1.0);
        assert_eq!(
            cast(FloatCast::ToUnsigned(FloatKind::F64, 32), minus),
            0xffff_ffff
        );
        assert_eq!(
            cast(FloatCast::ToUnsigned(FloatKind::F64, 64), minus),
            u128::from(u64::MAX)
        );
        let high = of_double(1.0e19);
        assert_eq!(
            cast(FloatCast::ToUnsigned(FloatKind::F64, 64), high),
            10_000_000_000_000_000_000
        );
    }

    #[test]
    fn extended_precision_keeps_64_bits() {
        let n = u128::from(u64::MAX);
        let x = cast(FloatCast::FromUnsigned(64, FloatKind::F80), n);
        assert_eq!(cast(FloatCast::ToUnsigned(FloatKind::F80, 64), x), n);
        let one = cast(FloatCast::FromSigned(32, FloatKind::F80), 1);
        let sum = bin(FloatOp::Add, FloatKind::F80, x, one);
        assert_eq!(
            convert(FloatKind::F80, FloatKind::F64, sum),
            of_double(2f64.powi(64))
        );
    }

    #[test]
    fn comparisons_with_nan() {
        let nan = of_double(f64::NAN);
        assert!(!cmp(FloatPred::OEq, FloatKind::F64, nan, nan));
        assert!(cmp(FloatPred::UNe, FloatKind::F64, nan, nan));
        assert!(cmp(FloatPred::Uno, FloatKind::F64, nan, 0));
        assert!(cmp(FloatPred::ULt, FloatKind::F64, nan, 0));
    }

    #[test]
    fn soft_and_host_agree() {
        for (a, b) in [
            (1.5, 0.1),
            (1e300, 1e300),
            (-7.0, 2.5),
            (5e-324, 0.5),
            (0.0, -0.0),
        ] {
            for op in [
                FloatOp::Add,
                FloatOp::Sub,
                FloatOp::Mul,
                FloatOp::Div,
                FloatOp::Rem,
            ] {
                let host = bin(op, FloatKind::F64, of_double(a), of_double(b));
                let (x, y) = (
                    Double::from_bits(of_double(a)),
                    Double::from_bits(of_double(b)),
                );
                let soft = match op {
                    FloatOp::Add => (x + y).value,
                    FloatOp::Sub => (x - y).value,
                    FloatOp::Mul => (x * y).value,
                    FloatOp::Div => (x / y).value,
                    FloatOp::Rem => x.c_fmod(y).value,
                };
                if !double(host).is_nan() {
                    assert_eq!(host, soft.to_bits(), "{a} {op:?} {b}");
                }
            }
        }
    }
}
