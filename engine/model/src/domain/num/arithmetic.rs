//! Operations on sets of numbers.
//!
//! The interval of each view is computed exactly, with more bits than the numbers have, and kept if
//! nothing wraps around. If something does, the other view may still be bounded, and the power of
//! two in the congruence's modulus remains.

use super::{Num, followed, gcd, power, remainder};
use crate::program::ir::{BinOp, CastKind, UnOp, Width};
use crate::term::value::{self, mask};

/// What is known of a result before its parts are tightened by each other.
#[derive(Clone, Copy)]
struct Parts {
    unsigned: Option<(i128, i128)>,
    signed: Option<(i128, i128)>,
    /// Step and rest, for a result whose signed value does not wrap around.
    grid: (u64, i128),
}

const NO_GRID: (u64, i128) = (1, 0);

impl Parts {
    /// Returns the set of the results of a width.
    fn num(self, width: Width) -> Num {
        let all = Num::all(width);
        let mut num = all;
        let size = 1i128 << followed(width);
        if let Some((low, high)) = self.unsigned.filter(is_exact) {
            // All of them may have wrapped around equally often.
            let turn = low.div_euclid(size);
            if turn == high.div_euclid(size) {
                num.low = (low - turn * size) as u64;
                num.high = (high - turn * size) as u64;
            }
        }
        let mut step = self.grid.0;
        match self.signed.filter(is_exact) {
            Some((least, most))
                if least >= i128::from(all.least) && most <= i128::from(all.most) =>
            {
                num.least = least as i64;
                num.most = most as i64;
            }
            _ => step = power(step).min(1 << (followed(width) - 1).min(62)),
        }
        num.step = step;
        num.rest = remainder(self.grid.1, step);
        if step == 0 && i64::try_from(self.grid.1).is_err() {
            (num.step, num.rest) = NUM_ANY;
        }
        num.reduced(width).unwrap_or(all)
    }
}

const NUM_ANY: (u64, i64) = (1, 0);

/// Whether an interval was computed in 128 bits without saturation.
fn is_exact(&(low, high): &(i128, i128)) -> bool {
    low > -(1 << 126) - 1 && high < 1 << 126
}

fn unsigned(a: &Num) -> (i128, i128) {
    (a.low.into(), a.high.into())
}

fn signed(a: &Num) -> (i128, i128) {
    (a.least.into(), a.most.into())
}

/// The least and the greatest of some numbers.
fn hull(numbers: &[i128]) -> Option<(i128, i128)> {
    Some((*numbers.iter().min()?, *numbers.iter().max()?))
}

/// `a op b`. Assumes that a divisor is not zero and that a shift is less than the width: the caller
/// treats both as faults, or a shift by more as any number.
pub(super) fn bin(op: BinOp, width: Width, a: &Num, b: &Num) -> Num {
    if width > 64 {
        return Num::all(width);
    }
    if let (Some(x), Some(y)) = (a.as_constant(), b.as_constant())
        && !(y == 0 && is_division(op))
    {
        let result = value::bin(op, width, x.into(), y.into());
        return Num::exactly(width, result);
    }
    match op {
        BinOp::Add => sum(width, a, b, false),
        BinOp::Sub => sum(width, a, b, true),
        BinOp::Mul => product(width, a, b),
        BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem => division(op, width, a, b),
        BinOp::Shl | BinOp::LShr | BinOp::AShr => shift(op, width, a, b),
        BinOp::And => and(width, a, b),
        BinOp::Or => or(width, a, b),
        BinOp::Xor => xor(width, a, b),
        BinOp::UMin => {
            Num::between(width, a.low.min(b.low), a.high.min(b.high)).unwrap_or(Num::all(width))
        }
        BinOp::UMax => {
            Num::between(width, a.low.max(b.low), a.high.max(b.high)).unwrap_or(Num::all(width))
        }
        BinOp::SMin => Num::signed_between(width, a.least.min(b.least), a.most.min(b.most))
            .unwrap_or(Num::all(width)),
        BinOp::SMax => Num::signed_between(width, a.least.max(b.least), a.most.max(b.most))
            .unwrap_or(Num::all(width)),
        BinOp::USubSat => Num::between(
            width,
            a.low.saturating_sub(b.high),
            a.high.saturating_sub(b.low),
        )
        .unwrap_or(Num::all(width)),
        BinOp::UAddSat | BinOp::SAddSat | BinOp::SSubSat => Num::all(width),
    }
}

fn is_division(op: BinOp) -> bool {
    matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem)
}

fn sum(width: Width, a: &Num, b: &Num, minus: bool) -> Num {
    let add = |x: (i128, i128), y: (i128, i128)| match minus {
        true => (x.0 - y.1, x.1 - y.0),
        false => (x.0 + y.0, x.1 + y.1),
    };
    let rest = i128::from(b.rest);
    let rest = i128::from(a.rest) + if minus { -rest } else { rest };
    Parts {
        unsigned: Some(add(unsigned(a), unsigned(b))),
        signed: Some(add(signed(a), signed(b))),
        grid: (gcd(a.step, b.step), rest),
    }
    .num(width)
}

fn corners(
    x: (i128, i128),
    y: (i128, i128),
    f: impl Fn(i128, i128) -> i128,
) -> Option<(i128, i128)> {
    hull(&[f(x.0, y.0), f(x.0, y.1), f(x.1, y.0), f(x.1, y.1)])
}

fn product(width: Width, a: &Num, b: &Num) -> Num {
    let times = |x: i128, y: i128| x.saturating_mul(y);
    let (s, t) = (u128::from(a.step), u128::from(b.step));
    let (x, y) = (
        u128::from(a.rest.unsigned_abs()),
        u128::from(b.rest.unsigned_abs()),
    );
    let steps = [s * t, s * y, t * x];
    let step = match steps.iter().all(|&n| n <= u128::from(u64::MAX)) {
        true => gcd(gcd(steps[0] as u64, steps[1] as u64), steps[2] as u64),
        false => 1,
    };
    Parts {
        unsigned: corners(unsigned(a), unsigned(b), times),
        signed: corners(signed(a), signed(b), times),
        grid: (step, i128::from(a.rest) * i128::from(b.rest)),
    }
    .num(width)
}

fn division(op: BinOp, width: Width, a: &Num, b: &Num) -> Num {
    let mut parts = Parts {
        unsigned: None,
        signed: None,
        grid: NO_GRID,
    };
    match op {
        BinOp::UDiv => {
            let (low, high) = unsigned(b);
            if high > 0 {
                parts.unsigned = corners(unsigned(a), (low.max(1), high), |x, y| x / y);
            }
        }
        BinOp::SDiv => {
            let (low, high) = signed(b);
            let mut all = Vec::new();
            for (low, high) in [(low.max(1), high), (low, high.min(-1))] {
                if low <= high {
                    all.extend(corners(signed(a), (low, high), |x, y| x / y));
                }
            }
            let numbers: Vec<i128> = all.into_iter().flat_map(|(x, y)| [x, y]).collect();
            parts.signed = hull(&numbers);
        }
        BinOp::URem => {
            if a.high < b.low {
                return *a;
            }
            if b.high > 0 {
                parts.unsigned = Some((0, i128::from(a.high.min(b.high - 1))));
            }
            // If neither operand may be negative, the unsigned remainder is that of the signed
            // number.
            if let Some(by) = b
                .as_constant()
                .filter(|&by| by > 0 && a.least >= 0 && b.least >= 0)
                && a.step.is_multiple_of(by)
            {
                return Num::exactly(width, remainder(a.rest.into(), by) as u128);
            }
        }
        _ => {
            let (low, high) = signed(b);
            let most = (low.abs().max(high.abs()) - 1).max(0);
            let (x, y) = signed(a);
            parts.signed = Some(((-most).max(x).min(0), most.min(y).max(0)));
        }
    }
    parts.num(width)
}

fn shift(op: BinOp, width: Width, a: &Num, b: &Num) -> Num {
    let most = u64::from(width) - 1;
    let (first, last) = (b.low.min(most) as u32, b.high.min(most) as u32);
    let mut parts = Parts {
        unsigned: None,
        signed: None,
        grid: NO_GRID,
    };
    let by = (i128::from(first), i128::from(last));
    match op {
        BinOp::Shl => {
            let times = |x: i128, n: i128| x.saturating_mul(1 << n);
            parts.unsigned = corners(unsigned(a), by, times);
            parts.signed = corners(signed(a), by, times);
            // A larger shift yields a multiple of a larger power of two, and so of the least one.
            let step = u128::from(gcd(a.step, a.rest.unsigned_abs())) << first;
            parts.grid = match first == last {
                true if a.step == 0 => (0, i128::from(a.rest) << first),
                true => match a.step.checked_shl(first).filter(|s| s >> first == a.step) {
                    Some(step) => (step, i128::from(a.rest) << first),
                    None => (power(1 << first), 0),
                },
                false => (u64::try_from(step).map_or(1, |s| s.max(1)), 0),
            };
        }
        BinOp::LShr => parts.unsigned = corners(unsigned(a), by, |x, n| x >> n),
        _ => parts.signed = corners(signed(a), by, |x, n| x >> n),
    }
    parts.num(width)
}

fn and(width: Width, a: &Num, b: &Num) -> Num {
    let (a, b) = if a.as_constant().is_some() {
        (b, a)
    } else {
        (a, b)
    };
    let mut num = Num::all(width);
    num.high = a.high.min(b.high);
    if let Some(bits) = b.as_constant() {
        let ones = mask(width) as u64;
        let cleared = ones & !bits;
        if (cleared & cleared.wrapping_add(1)) == 0 {
            // Only low bits are cleared, which preserves the signed and the unsigned order.
            let signed = |x: i64| x & !(cleared as i64);
            num.low = a.low & bits;
            num.high = a.high & bits;
            num.least = signed(a.least);
            num.most = signed(a.most);
        } else if (bits & bits.wrapping_add(1)) == 0 {
            if a.low & !bits == a.high & !bits {
                num.low = a.low & bits;
                num.high = a.high & bits;
            }
            let step = power(a.step).min(bits.wrapping_add(1).max(1));
            if a.step != 0 && step > 1 && bits >= step - 1 {
                (num.step, num.rest) = (step, remainder(a.rest.into(), step));
            }
        }
        if num.step == 1 && bits != 0 && bits.trailing_zeros() > 0 && bits.trailing_zeros() < 62 {
            num.step = 1 << bits.trailing_zeros().min(u32::from(width) - 1);
            num.rest = 0;
        }
    }
    num.reduced(width).unwrap_or(Num::all(width))
}

/// The smallest mask of low bits that covers a number.
fn room(number: u64) -> u64 {
    match number.leading_zeros() {
        64 => 0,
        zeros => u64::MAX >> zeros,
    }
}

fn or(width: Width, a: &Num, b: &Num) -> Num {
    for (x, y) in [(a, b), (b, a)] {
        // The operands have no set bit in common: the result is their sum.
        let free = match x.step {
            0 if x.rest == 0 => u64::MAX,
            step => power(gcd(step, x.rest.unsigned_abs())) - 1,
        };
        if y.high <= free {
            return sum(width, x, y, false);
        }
    }
    Num::between(width, a.low.max(b.low), room(a.high | b.high)).unwrap_or(Num::all(width))
}

fn xor(width: Width, a: &Num, b: &Num) -> Num {
    for (x, y) in [(a, b), (b, a)] {
        if y.as_constant() == Some(mask(width) as u64) {
            let zero = Num::exactly(width, mask(width));
            return sum(width, &zero, x, true);
        }
    }
    Num::between(width, 0, room(a.high | b.high)).unwrap_or(Num::all(width))
}

impl Num {
    /// `self op other`, with the assumptions of [`bin`].
    pub fn bin(&self, op: BinOp, width: Width, other: &Num) -> Num {
        bin(op, width, self, other)
    }

    /// `op self`. With `partial`, the result for zero is any number.
    pub fn un(&self, op: UnOp, width: Width, partial: bool) -> Num {
        if width > 64 || partial && self.low == 0 {
            return Num::all(width);
        }
        if let Some(number) = self.as_constant() {
            return Num::exactly(width, value::un(op, width, number.into()));
        }
        let all = Num::all(width);
        match op {
            UnOp::CtPop | UnOp::CtLz | UnOp::CtTz => {
                Num::between(width, 0, width.into()).unwrap_or(all)
            }
            UnOp::BSwap | UnOp::BitReverse => all,
            UnOp::Abs if self.least > all.least => {
                let most = self.least.abs().max(self.most.abs());
                let least = if self.least > 0 { self.least } else { 0 };
                Num::signed_between(width, least, most).unwrap_or(all)
            }
            UnOp::Abs => all,
        }
    }

    /// A conversion.
    pub fn cast(&self, kind: CastKind, from: Width, to: Width) -> Num {
        if from > 64 || to > 64 {
            return Num::all(to);
        }
        let grid = (self.step, i128::from(self.rest));
        let widened = |n: u64| value::cast(kind, from, to, n.into()) as i128;
        let parts = match kind {
            CastKind::SExt => Parts {
                // Sign extension preserves the unsigned order, so a number that is not zero stays
                // so.
                unsigned: Some([self.low, self.high].map(widened).into()),
                signed: Some(signed(self)),
                grid,
            },
            CastKind::ZExt if self.least >= 0 => Parts {
                unsigned: Some(unsigned(self)),
                signed: Some(signed(self)),
                grid,
            },
            CastKind::ZExt => Parts {
                unsigned: Some(unsigned(self)),
                signed: Some(unsigned(self)),
                // The unsigned number may exceed the signed one by 2 to the power of `from`.
                grid: {
                    let step = power(self.step).min(1 << (from - 1).min(62));
                    (step, grid.1)
                },
            },
            CastKind::Trunc => Parts {
                unsigned: Some(unsigned(self)),
                signed: Some(signed(self)),
                grid,
            },
        };
        match (kind, self.as_constant()) {
            (_, Some(number)) => Num::exactly(to, value::cast(kind, from, to, number.into())),
            _ => parts.num(to),
        }
    }

    /// The interval of `self op other`, computed with more bits than the operands have.
    fn exact(&self, op: BinOp, signed_view: bool, other: &Num) -> Option<(i128, i128)> {
        let view = |n: &Num| if signed_view { signed(n) } else { unsigned(n) };
        let (x, y) = (view(self), view(other));
        match op {
            BinOp::Add => Some((x.0 + y.0, x.1 + y.1)),
            BinOp::Sub => Some((x.0 - y.1, x.1 - y.0)),
            BinOp::Mul => corners(x, y, |a, b| a.saturating_mul(b)),
            _ => None,
        }
    }

    /// Whether `self op other` is known not to overflow.
    pub fn never_overflows(&self, op: BinOp, signed_view: bool, width: Width, other: &Num) -> bool {
        let all = Num::all(width);
        let (least, most) = if signed_view {
            signed(&all)
        } else {
            unsigned(&all)
        };
        let exact = self.exact(op, signed_view, other);
        width <= 64 && exact.is_some_and(|(low, high)| low >= least && high <= most)
    }

    /// The results of `self op other` where it does not overflow; `None` if it always does.
    pub fn without_overflow(
        &self,
        op: BinOp,
        signed_view: bool,
        width: Width,
        other: &Num,
    ) -> Option<Num> {
        let all = Num::all(width);
        let Some((low, high)) = self.exact(op, signed_view, other).filter(|_| width <= 64) else {
            return Some(all);
        };
        if signed_view {
            let low = low.max(all.least.into());
            let high = high.min(all.most.into());
            return (low <= high).then(|| Num::signed_between(width, low as i64, high as i64))?;
        }
        let (low, high) = (low.max(0), high.min(all.high.into()));
        (low <= high).then(|| Num::between(width, low as u64, high as u64))?
    }
}
