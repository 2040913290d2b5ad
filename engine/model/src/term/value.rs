//! Semantics of scalar operations on bit patterns.
//!
//! All code shares these semantics: the constructors fold constants with them, [`super::Evaluator`]
//! evaluates with them, and the machine computes wide values with them. Where C leaves an operation
//! undefined, the result is that of SMT-LIB (QF_BV), so that the solver and this file agree. A
//! division by zero gives all ones (signed: 1 for a negative dividend), a remainder by zero the
//! dividend, and an oversized shift zero or the sign. The bits of arguments and results above their
//! width are zero.

use crate::operator::{BinOp, CastKind, Pred, UnOp, Width};

/// All ones in the lowest `width` bits.
#[inline]
pub fn mask(width: Width) -> u128 {
    match width {
        0 => 0,
        1..=127 => (1 << width) - 1,
        _ => u128::MAX,
    }
}

/// The value as a number in two's complement.
#[inline]
pub fn signed(width: Width, a: u128) -> i128 {
    let unused = 128 - u32::from(width.clamp(1, 128));
    ((a << unused) as i128) >> unused
}

/// The bit pattern of a two's complement number, reduced to `width` bits.
#[inline]
pub fn unsigned(width: Width, a: i128) -> u128 {
    a as u128 & mask(width)
}

/// The largest signed number of this width.
pub fn signed_max(width: Width) -> i128 {
    (mask(width) >> 1) as i128
}

/// The smallest signed number of this width.
pub fn signed_min(width: Width) -> i128 {
    -signed_max(width) - 1
}

/// `a op b` on `width` bits.
pub fn bin(op: BinOp, width: Width, a: u128, b: u128) -> u128 {
    let ones = mask(width);
    let oversized = b >= u128::from(width);
    let value = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::UDiv => a.checked_div(b).unwrap_or(ones),
        BinOp::URem => a.checked_rem(b).unwrap_or(a),
        BinOp::SDiv => {
            let (x, y) = (signed(width, a), signed(width, b));
            match y {
                0 if x < 0 => 1,
                0 => ones,
                _ => x.wrapping_div(y) as u128,
            }
        }
        BinOp::SRem => {
            let (x, y) = (signed(width, a), signed(width, b));
            if y == 0 { a } else { x.wrapping_rem(y) as u128 }
        }
        BinOp::Shl if oversized => 0,
        BinOp::Shl => a << b,
        BinOp::LShr if oversized => 0,
        BinOp::LShr => a >> b,
        BinOp::AShr => (signed(width, a) >> b.min(127)) as u128,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::UMin => a.min(b),
        BinOp::UMax => a.max(b),
        BinOp::SMin => signed(width, a).min(signed(width, b)) as u128,
        BinOp::SMax => signed(width, a).max(signed(width, b)) as u128,
        BinOp::UAddSat if overflow(BinOp::Add, false, width, a, b) => ones,
        BinOp::UAddSat => a.wrapping_add(b),
        BinOp::USubSat => a.saturating_sub(b),
        BinOp::SAddSat => clamp(width, signed(width, a).saturating_add(signed(width, b))),
        BinOp::SSubSat => clamp(width, signed(width, a).saturating_sub(signed(width, b))),
    };
    value & ones
}

fn clamp(width: Width, value: i128) -> u128 {
    value.clamp(signed_min(width), signed_max(width)) as u128
}

/// Whether the result of `a op b` does not fit. Only Add, Sub and Mul can overflow.
pub fn overflow(op: BinOp, is_signed: bool, width: Width, a: u128, b: u128) -> bool {
    if is_signed {
        let (x, y) = (signed(width, a), signed(width, b));
        let exact = match op {
            BinOp::Add => x.checked_add(y),
            BinOp::Sub => x.checked_sub(y),
            BinOp::Mul => x.checked_mul(y),
            _ => return false,
        };
        exact.is_none_or(|v| v < signed_min(width) || v > signed_max(width))
    } else {
        let exact = match op {
            BinOp::Add => a.checked_add(b),
            BinOp::Sub => a.checked_sub(b),
            BinOp::Mul => a.checked_mul(b),
            _ => return false,
        };
        exact.is_none_or(|v| v > mask(width))
    }
}

/// `a pred b` on `width` bits.
#[inline]
pub fn cmp(pred: Pred, width: Width, a: u128, b: u128) -> bool {
    match pred {
        Pred::Eq => a == b,
        Pred::Ne => a != b,
        Pred::Ult => a < b,
        Pred::Ule => a <= b,
        Pred::Ugt => a > b,
        Pred::Uge => a >= b,
        Pred::Slt => signed(width, a) < signed(width, b),
        Pred::Sle => signed(width, a) <= signed(width, b),
        Pred::Sgt => signed(width, a) > signed(width, b),
        Pred::Sge => signed(width, a) >= signed(width, b),
    }
}

/// `op a` on `width` bits. The number of leading or trailing zeros of 0 is the width.
pub fn un(op: UnOp, width: Width, a: u128) -> u128 {
    let unused = 128 - u32::from(width);
    let value = match op {
        UnOp::CtPop => u128::from(a.count_ones()),
        UnOp::CtLz => u128::from(a.leading_zeros() - unused),
        UnOp::CtTz => u128::from(a.trailing_zeros().min(u32::from(width))),
        UnOp::BSwap => a.swap_bytes() >> unused,
        UnOp::BitReverse => a.reverse_bits() >> unused,
        UnOp::Abs => signed(width, a).unsigned_abs(),
    };
    value & mask(width)
}

/// Truncation or extension from `from` bits to `to` bits.
#[inline]
pub fn cast(kind: CastKind, from: Width, to: Width, a: u128) -> u128 {
    match kind {
        CastKind::Trunc | CastKind::ZExt => a & mask(to),
        CastKind::SExt => unsigned(to, signed(from, a)),
    }
}

/// The high (`left`) or low word of `a:b` shifted by `by` modulo `width`.
pub fn funnel(left: bool, width: Width, a: u128, b: u128, by: u128) -> u128 {
    let by = (by % u128::from(width)) as u32;
    let rest = u32::from(width) - by;
    let value = match (by, left) {
        (0, true) => a,
        (0, false) => b,
        (_, true) => (a << by) | (b >> rest),
        (_, false) => (b >> by) | (a << rest),
    };
    value & mask(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_operations_follow_smt_lib() {
        assert_eq!(bin(BinOp::UDiv, 8, 7, 0), 0xff);
        assert_eq!(bin(BinOp::SDiv, 8, 7, 0), 0xff);
        assert_eq!(bin(BinOp::SDiv, 8, 0x80, 0), 1);
        assert_eq!(bin(BinOp::SDiv, 8, 0x80, 0xff), 0x80);
        assert_eq!(bin(BinOp::SRem, 8, 0x85, 0), 0x85);
        assert_eq!(bin(BinOp::Shl, 32, 1, 32), 0);
        assert_eq!(bin(BinOp::AShr, 32, 0x8000_0000, 77), 0xffff_ffff);
        assert_eq!(bin(BinOp::AShr, 128, 1 << 127, u128::MAX), u128::MAX);
    }

    #[test]
    fn widths_up_to_128() {
        assert!(overflow(BinOp::Mul, true, 128, 1 << 127, u128::MAX));
        assert!(!overflow(BinOp::Mul, true, 128, 1 << 126, u128::MAX));
        assert!(overflow(BinOp::Add, false, 128, u128::MAX, 1));
        assert_eq!(bin(BinOp::SAddSat, 128, 1 << 127, u128::MAX), 1 << 127);
        assert_eq!(bin(BinOp::SAddSat, 8, 100, 100), 127);
        assert_eq!(un(UnOp::Abs, 8, 0x80), 0x80);
        assert_eq!(un(UnOp::BSwap, 16, 0x1234), 0x3412);
        assert_eq!(un(UnOp::CtLz, 8, 0), 8);
        assert_eq!(un(UnOp::CtTz, 8, 0), 8);
        assert_eq!(funnel(true, 8, 0x81, 0xc0, 1), 0x03);
        assert_eq!(funnel(false, 8, 0x81, 0xc0, 9), 0xe0);
    }
}
