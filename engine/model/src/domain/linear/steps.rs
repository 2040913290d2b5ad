//! What follows what in a loop: variables that move in step from one turn to the next.
//!
//! A cursor and the count of what is left are not compared with each other anywhere, so that no
//! line says where the cursor stops. Where the first turns of a loop are joined, one has another
//! value, and the other is short of what lines or bounds said of it by as much. This is the affine
//! hull of two states (Karr, *Affine relationships among variables of a program*, Acta Informatica
//! 6, 1976) as far as one variable follows another one. What is put down here holds in both states;
//! whether it holds of all turns is found out like that of any line.

use super::lines::Lines;
use super::{ANY, Ranges, Sum, Var, gcd};

/// What a line is short of, where steps make up for it. Ranges of types are not.
const NEAR: i128 = 1 << 12;

/// Steps that make up for what a bound is short of are not more. What is said so of more steps
/// holds of large numbers only, and takes the room of other lines.
const TIMES: i128 = 256;

/// A variable that has one value in one state and another one in another state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The variable.
    pub var: Var,
    /// Its value in the one state.
    pub here: i128,
    /// Its value in the other one.
    pub there: i128,
    /// Whether it is an address, and the values are offsets.
    pub address: bool,
}

impl Step {
    /// The difference.
    pub fn by(&self) -> i128 {
        self.there - self.here
    }

    /// A sum that is zero at most here and `by` at most there, so many times, less what the
    /// variable moves for it: zero at most in both. None if it takes too many.
    fn followed(&self, sum: &Sum, by: i128) -> Option<Sum> {
        let common = gcd(by.abs(), self.by().abs());
        let (times, moves) = (self.by().abs() / common, by / common * self.by().signum());
        let start = Sum::number(self.here).plus(&Sum::of(self.var), -1)?;
        let is_small = times <= TIMES && moves.abs() <= TIMES;
        let scaled = sum.times(times).filter(|_| is_small)?;
        scaled.plus(&start, moves)
    }

    /// Seen from the other state.
    pub fn turned(self) -> Step {
        Step {
            here: self.there,
            there: self.here,
            ..self
        }
    }
}

/// A number whose bounds in one state are others in another state.
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
    /// Lines of both where variables have one value here and another there: what a line is short of
    /// there, it is by steps of theirs. That is the hull of the two as far as one variable follows
    /// the other (Karr, *Affine relationships among variables of a program*, 1976).
    pub fn slopes(&self, (other, ranges): (&Lines, Ranges<'_>), steps: &[Step], to: &mut Lines) {
        // What is short because of a range does not follow a step.
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

    /// Sums without constants that have one value here and another one there, as exact lines say.
    pub fn moved<'a>(&'a self, other: &'a Lines) -> impl Iterator<Item = (Sum, i128, i128)> + 'a {
        self.iter().filter(|line| line.exact).filter_map(|line| {
            let mut there = other.iter().filter(|there| there.exact);
            let there = there.find(|there| there.sum.terms == line.sum.terms)?;
            let (here, there) = (-line.sum.constant, -there.sum.constant);
            let sum = line.sum.plus(&Sum::number(here), 1)?;
            (here != there).then_some((sum, here, there))
        })
    }

    /// Sums of two numbers of which one becomes larger by as much as the other one becomes smaller:
    /// where both have ranges in the first turns, no line says what they are together.
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

    /// Bounds that follow a step.
    pub fn drifting(&mut self, drifts: &[Drift], steps: &[Step]) {
        for drift in drifts {
            let (most, least) = (drift.most, drift.least);
            let above = (1, most.0, most.1 - most.0);
            let below = (-1, -least.0, least.0 - least.1);
            // So many times the variable is `bound` at most here, and more than that by `by` there.
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
