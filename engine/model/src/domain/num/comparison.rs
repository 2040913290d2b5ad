//! Comparisons of sets of numbers: their results, and how they narrow an operand.

use super::Num;
use crate::program::ir::{Pred, Width};

/// `a pred b`, if the result is the same for all numbers.
pub fn decided(pred: Pred, width: Width, a: &Num, b: &Num) -> Option<bool> {
    if width > 64 {
        return None;
    }
    let holds = |pred: Pred| match pred {
        Pred::Eq => a.as_constant().is_some() && a.as_constant() == b.as_constant(),
        Pred::Ne => a.meet(width, b).is_none(),
        Pred::Ult => a.high < b.low,
        Pred::Ule => a.high <= b.low,
        Pred::Ugt => a.low > b.high,
        Pred::Uge => a.low >= b.high,
        Pred::Slt => a.most < b.least,
        Pred::Sle => a.most <= b.least,
        Pred::Sgt => a.least > b.most,
        Pred::Sge => a.least >= b.most,
    };
    match (holds(pred), holds(negated(pred))) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// The comparison that holds if and only if this one does not.
pub fn negated(pred: Pred) -> Pred {
    match pred {
        Pred::Eq => Pred::Ne,
        Pred::Ne => Pred::Eq,
        Pred::Ult => Pred::Uge,
        Pred::Ule => Pred::Ugt,
        Pred::Ugt => Pred::Ule,
        Pred::Uge => Pred::Ult,
        Pred::Slt => Pred::Sge,
        Pred::Sle => Pred::Sgt,
        Pred::Sgt => Pred::Sle,
        Pred::Sge => Pred::Slt,
    }
}

/// The comparison that holds of `b` and `a` where `pred` holds of `a` and `b`.
pub fn exchanged(pred: Pred) -> Pred {
    match pred {
        Pred::Eq | Pred::Ne => pred,
        Pred::Ult => Pred::Ugt,
        Pred::Ule => Pred::Uge,
        Pred::Ugt => Pred::Ult,
        Pred::Uge => Pred::Ule,
        Pred::Slt => Pred::Sgt,
        Pred::Sle => Pred::Sge,
        Pred::Sgt => Pred::Slt,
        Pred::Sge => Pred::Sle,
    }
}

/// The numbers of `a` for which `a pred b` may hold; `None` if there are none.
pub fn refined(pred: Pred, width: Width, a: &Num, b: &Num) -> Option<Num> {
    if width > 64 {
        return Some(*a);
    }
    let mut num = *a;
    match pred {
        Pred::Eq => return a.meet(width, b),
        Pred::Ne => {
            if let Some(other) = b.as_constant() {
                return without(width, a, other, b.least);
            }
        }
        Pred::Ult => num.high = num.high.min(b.high.checked_sub(1)?),
        Pred::Ule => num.high = num.high.min(b.high),
        Pred::Ugt => num.low = num.low.max(b.low.checked_add(1)?),
        Pred::Uge => num.low = num.low.max(b.low),
        Pred::Slt => num.most = num.most.min(b.most.checked_sub(1)?),
        Pred::Sle => num.most = num.most.min(b.most),
        Pred::Sgt => num.least = num.least.max(b.least.checked_add(1)?),
        Pred::Sge => num.least = num.least.max(b.least),
    }
    num.reduced(width)
}

/// Removes a number from a set, which has an effect only at the ends of the intervals.
fn without(width: Width, a: &Num, bits: u64, number: i64) -> Option<Num> {
    let mut num = *a;
    if num.as_constant() == Some(bits) {
        return None;
    }
    if num.low == bits {
        num.low = num.low.checked_add(1)?;
    }
    if num.high == bits {
        num.high = num.high.checked_sub(1)?;
    }
    if num.least == number {
        num.least = num.least.checked_add(1)?;
    }
    if num.most == number {
        num.most = num.most.checked_sub(1)?;
    }
    num.reduced(width)
}
