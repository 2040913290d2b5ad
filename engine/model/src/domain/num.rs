//! Sets of numbers: an interval with and without a sign, and a remainder.
//!
//! C compares the same bits as numbers with and without a sign, and an interval of the one view is
//! two pieces of the other. So both are kept, and each makes the other smaller (a reduced product,
//! as in Cousot and Cousot, *Systematic design of program analysis frameworks*, 1979). The
//! remainder (Granger, *Static analysis of arithmetical congruences*, 1989) says which element of
//! an array an offset begins. It is of the number with a sign, which is what offsets are.
//!
//! Numbers of more than 64 bits are not followed: of them every set is the whole.

mod arithmetic;
mod comparison;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::program::ir::Width;
use crate::term::value::{self, mask};

pub use comparison::{decided, exchanged, negated, refined};

/// A set of bit patterns of some width; the owner knows the width.
///
/// A number is in it that lies in both intervals and has the remainder. What is read from a file
/// may contradict itself: then no number is in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(from = "Bounds", into = "Bounds")]
pub struct Num {
    /// The least without a sign.
    pub low: u64,
    /// The greatest without a sign.
    pub high: u64,
    /// The least with a sign.
    pub least: i64,
    /// The greatest with a sign.
    pub most: i64,
    /// What the distances of the numbers with a sign are multiples of; 0 for a single number.
    pub step: u64,
    /// The remainder by that, below it; the number itself where that is 0.
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

/// How it is written down: what the fields of [`Num`] are, in their order.
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

/// A constant of the program near which an interval may stop to grow, with and without a sign.
pub type Thresholds = [i64];

pub(in crate::domain) fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The width as far as it is followed.
fn followed(width: Width) -> Width {
    width.clamp(1, 64)
}

/// The remainder of a number, as [`Num::rest`] has it.
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

    /// One number. Of more than 64 bits it is not followed.
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

    /// Numbers between two, without a sign.
    pub fn between(width: Width, low: u64, high: u64) -> Option<Num> {
        let all = Num::all(width);
        Num {
            low,
            high: high.min(all.high),
            ..all
        }
        .reduced(width)
    }

    /// Numbers between two, with a sign.
    pub fn signed_between(width: Width, least: i64, most: i64) -> Option<Num> {
        let all = Num::all(width);
        Num {
            least: least.max(all.least),
            most: most.min(all.most),
            ..all
        }
        .reduced(width)
    }

    /// Numbers of 64 bits between two bounds, with a sign.
    pub fn bounded(least: i128, most: i128) -> Option<Num> {
        let bound = |number: i128| number.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        Num::signed_between(64, bound(least), bound(most))
    }

    /// The number, if it is one.
    pub fn single(&self) -> Option<u64> {
        (self.low == self.high).then_some(self.low)
    }

    /// Whether a number is in it.
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

    /// This set, with bounds as tight as its parts make each other; none if the set is empty.
    pub fn reduced(self, width: Width) -> Option<Num> {
        let width = followed(width);
        let mut num = self;
        // Each round only makes intervals smaller, and two are enough where they agree on the sign.
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

    /// Each interval makes the other smaller.
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

    /// Moves the bounds with a sign to numbers with the remainder; none if there is no such number.
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

    /// A set that both are in.
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

    /// What is in both; none if nothing is.
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

    /// Whether every number of this is seen to be in the other.
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

    /// A set that both are in, on a chain that ends: bounds that grow stop at a threshold or
    /// nowhere.
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
