//! Variables that move in step with each other from one iteration of a loop to the next.
//!
//! A cursor and the count of what is left are never compared with each other, so no line says where
//! the cursor stops. Where the first iterations of a loop are joined, one of them has another
//! value, and a line or bound of the other one is violated by a corresponding amount. The lines
//! that follow are the affine hull of two states (Karr, *Affine relationships among variables of a
//! program*, Acta Informatica 6, 1976) as far as one variable follows another. They hold in both
//! states; whether they hold in all iterations is tested as for any line.

use super::lines::Lines;
use super::{ANY, Ranges, Sum, Var, gcd};

/// A line that another state violates by more is not corrected by steps: it may be a type's range.
const NEAR: i128 = 1 << 12;

/// The largest factor with which steps correct a line. With larger factors, lines say something of
/// large numbers only, and take the room of others.
const TIMES: i128 = 256;

/// A variable with different single values in two states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The variable.
    pub var: Var,
    /// Its value here.
    pub here: i128,
    /// Its value there.
    pub there: i128,
    /// Whether it is an address: then the values are offsets.
    pub address: bool,
}

impl Step {
    /// The distance from here to there.
    pub fn by(&self) -> i128 {
        self.there - self.here
    }

    /// For a sum that is at most zero here and at most `by` there, a multiple of it less a multiple
    /// of what the variable has moved, which is at most zero in both. `None` if a factor is too
    /// large.
    fn followed(&self, sum: &Sum, by: i128) -> Option<Sum> {
        let common = gcd(by.abs(), self.by().abs());
        let (times, moves) = (self.by().abs() / common, by / common * self.by().signum());
        let start = Sum::number(self.here).plus(&Sum::of(self.var), -1)?;
        let is_small = times <= TIMES && moves.abs() <= TIMES;
        let scaled = sum.times(times).filter(|_| is_small)?;
        scaled.plus(&start, moves)
    }

    /// The step from there to here.
    pub fn turned(self) -> Step {
        Step {
            here: self.there,
            there: self.here,
            ..self
        }
    }
}

/// A number whose bounds differ in two states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Drift {
    /// The variable.
    pub var: Var,
    /// The least value here and there.
    pub least: (i128, i128),
    /// The greatest value here and there.
    pub most: (i128, i128),
}

impl Lines {
    /// Adds lines that hold in both states: where a line is violated there, the steps of variables
    /// make up for it. This is the hull of the states as far as one variable follows the other
    /// (Karr, *Affine relationships among variables of a program*, 1976).
    pub fn slopes(&self, (other, ranges): (&Lines, Ranges<'_>), steps: &[Step], to: &mut Lines) {
        // A violation that is due to a range does not follow a step.
        let ranges = |var| match ranges(var) {
            (low, high) if low == high => (low, high),
            _ => ANY,
        };
        for line in &self.all {
            if line.exact && other.all.binary_search(line).is_ok() {
                continue;
            }
            let both = line.signs().iter().filter_map(|sign| line.sum.times(*sign));
            let short: Vec<(Sum, i128)> = both
                .map(|sum| {
                    let by = other.upper(&sum, &ranges);
                    (sum, by)
                })
                .filter(|(_, by)| *by != 0 && by.abs() <= NEAR)
                .collect();
            let exact = matches!(short[..], [(_, a), (_, b)] if a == -b);
            for (sum, by) in short.iter().take(if exact { 1 } else { 2 }) {
                for step in steps.iter().filter(|step| line.factor(step.var) == 0) {
                    let sum = step.followed(sum, *by);
                    match exact {
                        true => to.zero(sum),
                        false => to.at_most_zero(sum),
                    }
                }
            }
        }
    }

    /// The sums, without constants, that exact lines of both sets make constants, with the values.
    pub fn moved<'a>(&'a self, other: &'a Lines) -> impl Iterator<Item = (Sum, i128, i128)> + 'a {
        self.iter().filter(|line| line.exact).filter_map(|line| {
            let mut there = other.iter().filter(|there| there.exact);
            let there = there.find(|there| there.sum.terms == line.sum.terms)?;
            let (here, there) = (-line.sum.constant, -there.sum.constant);
            let sum = line.sum.plus(&Sum::number(here), 1)?;
            (here != there).then_some((sum, here, there))
        })
    }

    /// Bounds sums of two numbers of which one grows by as much as the other shrinks. If both have
    /// ranges in the first iterations, no line bounds their sum.
    pub fn balanced(&mut self, drifts: &[Drift]) {
        let by = |(here, there): (i128, i128)| there - here;
        let is_near = |drift: &Drift| by(drift.most) != 0 && by(drift.most).abs() <= NEAR;
        for (i, a) in drifts.iter().enumerate().filter(|(_, a)| is_near(a)) {
            for b in drifts[i + 1..].iter().filter(|b| by(b.most) == -by(a.most)) {
                let most = a.most.0.max(b.most.0).saturating_abs();
                let bound = Sum::number(a.most.0 + b.most.0);
                if most < 1 << 48 {
                    let sum = Sum::of(a.var).plus(&Sum::of(b.var), 1);
                    self.at_most_zero(sum.and_then(|sum| sum.plus(&bound, -1)));
                }
            }
        }
    }

    /// Adds the bounds of numbers that follow a step.
    pub fn drifting(&mut self, drifts: &[Drift], steps: &[Step]) {
        for drift in drifts {
            let (most, least) = (drift.most, drift.least);
            let above = (1, most.0, most.1 - most.0);
            let below = (-1, -least.0, least.0 - least.1);
            // `times * var` is at most `bound` here, and at most `bound + by` there.
            for (times, bound, by) in [above, below] {
                if by == 0 || by.abs() > NEAR || bound.abs() >= 1 << 48 {
                    continue;
                }
                let over = Sum::number(-bound).plus(&Sum::of(drift.var), times);
                for step in steps {
                    self.at_most_zero(over.as_ref().and_then(|over| step.followed(over, by)));
                }
            }
        }
    }
}
