//! Sets of numbers: an unsigned interval, a signed interval, and a congruence.
//!
//! C compares the same bits as signed and as unsigned numbers, and an interval in one view can be
//! two intervals in the other. So both are kept, and each tightens the other (a reduced product, as
//! in Cousot and Cousot, *Systematic design of program analysis frameworks*, 1979). The congruence
//! (Granger, *Static analysis of arithmetical congruences*, 1989) says at which elements of an
//! array an offset may begin. It applies to the signed number, since offsets are signed.
//!
//! Numbers of more than 64 bits are not tracked: every set of them is the set of all numbers.

mod arithmetic;
mod comparison;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::program::ir::Width;
use crate::term::value::{self, mask};

pub use comparison::{decided, exchanged, negated, refined};

/// A set of bit patterns. The width is not stored: the caller has to know it.
///
/// A number is in the set if it lies in both intervals and satisfies the congruence. A set that was
/// read from a file may contradict itself; then it is empty.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(from = "Bounds", into = "Bounds")]
pub struct Num {
    /// The least unsigned value.
    pub low: u64,
    /// The greatest unsigned value.
    pub high: u64,
    /// The least signed value.
    pub least: i64,
    /// The greatest signed value.
    pub most: i64,
    /// The modulus of the congruence of the signed values; 0 for a single number.
    pub step: u64,
    /// The remainder modulo `step`, at least 0 and below `step`; the number itself if `step` is 0.
    pub rest: i64,
}

impl fmt::Display for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            0 => write!(f, "{}", self.rest),
            1 => write!(f, "{}..{}", self.least, self.most),
            step => write!(f, "{}..{}:{step}", self.least, self.most),
        }
    }
}

/// The serialised form: the fields of [`Num`] in their order.
type Bounds = (u64, u64, i64, i64, u64, i64);

impl From<Bounds> for Num {
    fn from((low, high, least, most, step, rest): Bounds) -> Num {
        Num {
            low,
            high,
            least,
            most,
            step,
            rest,
        }
    }
}

impl From<Num> for Bounds {
    fn from(num: Num) -> Bounds {
        (num.low, num.high, num.least, num.most, num.step, num.rest)
    }
}

/// Constants of the program, in order, at which a growing bound may stop, signed and unsigned.
pub type Thresholds = [i64];

pub(in crate::domain) fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The width, limited to the widths that are tracked.
fn followed(width: Width) -> Width {
    width.clamp(1, 64)
}

/// The remainder of a number, as in [`Num::rest`].
fn remainder(number: i128, step: u64) -> i64 {
    match step {
        0 => number as i64,
        _ => number.rem_euclid(i128::from(step)) as i64,
    }
}

/// The greatest power of two that divides a step.
fn power(step: u64) -> u64 {
    match step {
        0 => 1 << 62,
        _ => 1 << step.trailing_zeros().min(62),
    }
}

impl Num {
    /// All numbers of a width.
    pub fn all(width: Width) -> Num {
        let width = followed(width);
        Num {
            low: 0,
            high: mask(width) as u64,
            least: value::signed_min(width) as i64,
            most: value::signed_max(width) as i64,
            step: 1,
            rest: 0,
        }
    }

    /// A single number; all numbers if the width is above 64 bits.
    pub fn exactly(width: Width, number: u128) -> Num {
        if width > 64 {
            return Num::all(width);
        }
        let number = number & mask(width);
        let signed = value::signed(width, number) as i64;
        Num {
            low: number as u64,
            high: number as u64,
            least: signed,
            most: signed,
            step: 0,
            rest: signed,
        }
    }

    /// The numbers between two unsigned bounds; `None` if there are none.
    pub fn between(width: Width, low: u64, high: u64) -> Option<Num> {
        let all = Num::all(width);
        Num {
            low,
            high: high.min(all.high),
            ..all
        }
        .reduced(width)
    }

    /// The numbers between two signed bounds; `None` if there are none.
    pub fn signed_between(width: Width, least: i64, most: i64) -> Option<Num> {
        let all = Num::all(width);
        Num {
            least: least.max(all.least),
            most: most.min(all.most),
            ..all
        }
        .reduced(width)
    }

    /// The numbers of 64 bits between two signed bounds; `None` if there are none.
    pub fn bounded(least: i128, most: i128) -> Option<Num> {
        let bound = |number: i128| number.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        Num::signed_between(64, bound(least), bound(most))
    }

    /// The number, if the set has exactly one.
    pub fn as_constant(&self) -> Option<u64> {
        (self.low == self.high).then_some(self.low)
    }

    /// Whether a number is in the set.
    pub fn has(&self, width: Width, number: u128) -> bool {
        if width > 64 {
            return *self == Num::all(64);
        }
        let signed = value::signed(width, number) as i64;
        let number = number as u64;
        (self.low..=self.high).contains(&number)
            && (self.least..=self.most).contains(&signed)
            && remainder(signed.into(), self.step) == self.rest
    }

    /// Returns this set with its parts tightened by each other; `None` if the set is empty.
    pub fn reduced(self, width: Width) -> Option<Num> {
        let width = followed(width);
        let mut num = self;
        // Each round only narrows the intervals, and two suffice if both agree on the sign.
        for _ in 0..2 {
            num.exchange(width);
            if num.low > num.high || num.least > num.most {
                return None;
            }
            num.align(width)?;
        }
        num.exchange(width);
        if num.low > num.high || num.least > num.most {
            return None;
        }
        if num.low == num.high {
            return Some(Num::exactly(width, num.low.into()));
        }
        Some(num)
    }

    /// Tightens each interval by the other.
    fn exchange(&mut self, width: Width) {
        let top = value::signed_max(width) as u64;
        let bits = |number: i64| value::unsigned(width, number.into()) as u64;
        let signed = |number: u64| value::signed(width, number.into()) as i64;
        if self.least >= 0 || self.most < 0 {
            self.low = self.low.max(bits(self.least));
            self.high = self.high.min(bits(self.most));
        }
        if self.high <= top || self.low > top {
            self.least = self.least.max(signed(self.low));
            self.most = self.most.min(signed(self.high));
        }
    }

    /// Moves the signed bounds to numbers that satisfy the congruence; `None` if there are none.
    fn align(&mut self, width: Width) -> Option<()> {
        match self.step {
            1 => {}
            0 => {
                let all = Num::all(width);
                let rest = self.rest;
                if rest < self.least.max(all.least) || rest > self.most.min(all.most) {
                    return None;
                }
                (self.least, self.most) = (rest, rest);
            }
            step => {
                let (step, rest) = (i128::from(step), i128::from(self.rest));
                let up = (rest - i128::from(self.least)).rem_euclid(step);
                let down = (i128::from(self.most) - rest).rem_euclid(step);
                let least = i128::from(self.least) + up;
                let most = i128::from(self.most) - down;
                if least > most {
                    return None;
                }
                (self.least, self.most) = (least as i64, most as i64);
                if least == most {
                    (self.step, self.rest) = (0, self.least);
                }
            }
        }
        Some(())
    }

    /// Returns a set that contains both sets.
    pub fn join(&self, width: Width, other: &Num) -> Num {
        let joined = self.hull(other);
        joined.reduced(width).unwrap_or(joined)
    }

    fn hull(&self, other: &Num) -> Num {
        let step = gcd(gcd(self.step, other.step), self.rest.abs_diff(other.rest));
        Num {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            step,
            rest: remainder(self.rest.into(), step),
        }
    }

    /// Returns the numbers that are in both sets; `None` if there are none.
    pub fn meet(&self, width: Width, other: &Num) -> Option<Num> {
        let (step, rest) = if self.step == 0 || other.step != 0 && self.step >= other.step {
            (self.step, self.rest)
        } else {
            (other.step, other.rest)
        };
        let common = gcd(self.step, other.step);
        if remainder(self.rest.into(), common) != remainder(other.rest.into(), common) {
            return None;
        }
        Num {
            low: self.low.max(other.low),
            high: self.high.min(other.high),
            least: self.least.max(other.least),
            most: self.most.min(other.most),
            step,
            rest,
        }
        .reduced(width)
    }

    /// Whether every number of this set is known to be in the other.
    pub fn is_within(&self, other: &Num) -> bool {
        let divides = match other.step {
            1 => true,
            0 => self.step == 0 && self.rest == other.rest,
            step => {
                self.step.is_multiple_of(step) && remainder(self.rest.into(), step) == other.rest
            }
        };
        divides
            && self.low >= other.low
            && self.high <= other.high
            && self.least >= other.least
            && self.most <= other.most
    }

    /// Returns a set that contains both sets, such that repeated widening ends: a bound that grows
    /// moves to the next threshold, or to the end of the range if there is none.
    pub fn widen(&self, width: Width, new: &Num, thresholds: &Thresholds) -> Num {
        let all = Num::all(width);
        let joined = self.hull(new);
        let up = |bound: i64| {
            let at = thresholds.partition_point(|&t| t < bound);
            thresholds
                .get(at)
                .copied()
                .unwrap_or(all.most)
                .min(all.most)
        };
        let down = |bound: i64| {
            let at = thresholds.partition_point(|&t| t <= bound);
            let below = at.checked_sub(1).and_then(|at| thresholds.get(at));
            below.copied().unwrap_or(all.least).max(all.least)
        };
        let mut wide = joined;
        if joined.most > self.most {
            wide.most = up(joined.most);
        }
        if joined.least < self.least {
            wide.least = down(joined.least);
        }
        if joined.high > self.high {
            let within = i64::try_from(joined.high).ok().map(up);
            wide.high = match within {
                Some(bound) if bound < all.most => bound as u64,
                _ => all.high,
            };
        }
        if joined.low < self.low {
            wide.low =
                u64::try_from(down(i64::try_from(joined.low).unwrap_or(i64::MAX))).unwrap_or(0);
            wide.low = wide.low.min(joined.low);
        }
        wide.reduced(width).unwrap_or(all)
    }
}

#[cfg(test)]
mod tests;
