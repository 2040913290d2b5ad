//! Lines about numbers where branches meet.
//!
//! In each iteration of a merge, one of two indices moves, and a third one moves in any case. No
//! line of either branch relates the first two: in the first iteration each of them is a constant,
//! or has a constant distance from where it began. So sums that have a single value in each of two
//! states are put on the line through both points (the affine hull of two points: Karr, *Affine
//! relationships among variables of a program*, Acta Informatica 6, 1976).

use std::borrow::Cow;

use super::linear::{Lines, Sum, Var, gcd};
use super::space::Names;
use super::state::State;

/// The most addresses whose distances from the ends of their objects are compared.
const ENDS: usize = 8;
/// Distances from an end that reach this limit are dropped.
const NEAR: i128 = 1 << 16;

/// The most sums that are related to the first one.
const OTHERS: usize = 4;
/// Constants from this limit on rarely belong to loop counters, so they are not related.
const SMALL: i128 = 1 << 16;

impl State {
    /// The lines of one state that the other state satisfies, too. When widening (`joins` is
    /// false), only the lines of `self` are considered, and they are not loosened.
    pub(super) fn lines_of_both(&self, other: &State, names: &Names<'_>, joins: bool) -> Lines {
        let mut lines = Lines::default();
        let there = |var| other.range(var, names);
        let own = self.lines_beside(other, names);
        own.kept((&other.lines, &there), joins, &mut lines);
        if joins {
            let here = |var| self.range(var, names);
            let own = other.lines_beside(self, names);
            own.kept((&self.lines, &here), true, &mut lines);
        }
        lines
    }

    /// The lines without the zero bytes that another state does not know. Where a string ends at a
    /// counter of what is used so far, lines may speak of either of the two; now they speak of the
    /// counter.
    fn lines_beside(&self, other: &State, names: &Names<'_>) -> Cow<'_, Lines> {
        let is_known = |var: Var| match var {
            Var::Nul(id, which) => other.nuls.contains_key(&(id, which)),
            _ => true,
        };
        if !self.lines.speaks_of(|var| !is_known(var)) {
            return Cow::Borrowed(&self.lines);
        }
        let mut lines = self.lines.clone();
        lines.keep(is_known, &|var| self.range(var, names));
        Cow::Owned(lines)
    }

    /// Bounds the distances of addresses from their objects' ends, where the offsets differ between
    /// the states, so that no line of either state bounds them in both.
    pub(super) fn ends_of_both(&self, other: &State, names: &Names<'_>, lines: &mut Lines) {
        let (here, there) = (|var| self.range(var, names), |var| other.range(var, names));
        let differ = self.registers.iter().filter_map(|(reg, a)| {
            let ((id, x), (to, y)) = (
                a.single_target()?,
                other.registers.get(reg)?.single_target()?,
            );
            let sizes = [self, other].map(|state| state.range(Var::Size(id), names));
            let known = sizes.iter().all(|(low, high)| low == high);
            (id == to && x != y && !known && names.info(id).is_unique).then_some((*reg, id))
        });
        for (reg, id) in differ.take(ENDS) {
            let Some(past) = Sum::of(Var::Reg(reg.0)).plus(&Sum::of(Var::Size(id)), -1) else {
                continue;
            };
            let bound = self
                .lines
                .upper(&past, &here)
                .max(other.lines.upper(&past, &there));
            if bound.abs() < NEAR {
                lines.at_most_zero(past.plus(&Sum::number(bound), -1));
            }
        }
    }

    /// Adds equations between registers, and between sums that exact lines make constants, that
    /// have a single value in each state.
    pub(super) fn numbers_of_both(&self, other: &State, lines: &mut Lines) {
        let number = |state: &State, reg| {
            let num = *state.registers.get(reg)?.plain()?;
            num.as_constant().is_some().then_some(i128::from(num.least))
        };
        let registers = self.registers.keys().filter_map(|reg| {
            let (here, there) = (number(self, reg)?, number(other, reg)?);
            (here != there).then_some((Sum::of(Var::Reg(reg.0)), here, there))
        });
        let is_small = |(_, here, there): &(Sum, i128, i128)| here.abs().max(there.abs()) < SMALL;
        let moved = registers.chain(self.lines.moved(&other.lines));
        let mut moved = moved.filter(is_small);
        let Some((first, from, to)) = moved.next() else {
            return;
        };
        for (sum, here, there) in moved.take(OTHERS) {
            // (sum - here) * (to - from) == (first - from) * (there - here), in both states.
            let common = gcd((to - from).abs(), (there - here).abs());
            let (times, moves) = ((to - from) / common, (there - here) / common);
            let start = Sum::number(from * moves - here * times);
            let sum = start.plus(&sum, times);
            lines.zero(sum.and_then(|sum| sum.plus(&first, -moves)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::value::Value;
    use crate::program::ir::Reg;

    fn state(numbers: [i64; 3]) -> State {
        let mut state = State::default();
        for (reg, number) in (0..).zip(numbers) {
            let value = Value::exactly(32, number as u32 as u128);
            state.registers.insert(Reg(reg), value);
        }
        state
    }

    #[test]
    fn what_changes_lies_on_a_line() {
        let mut lines = Lines::default();
        state([1, 0, 7]).numbers_of_both(&state([0, 2, 7]), &mut lines);
        let shown: Vec<String> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["+2r0 +r1 -2 = 0"]);
        let mut lines = Lines::default();
        state([-3, 0, 5]).numbers_of_both(&state([3, 0, 2]), &mut lines);
        let shown: Vec<String> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["+r0 +2r2 -7 = 0"]);
    }

    #[test]
    fn so_do_distances() {
        let from = |reg: u32, by| {
            let distance = Sum::of(Var::Reg(reg)).plus(&Sum::of(Var::Outer(1, reg)), -1);
            distance.and_then(|distance| distance.plus(&Sum::number(by), -1))
        };
        let (mut here, mut there) = (State::default(), State::default());
        for (state, numbers) in [(&mut here, [1, 0]), (&mut there, [0, 1])] {
            state.lines.zero(from(0, numbers[0]));
            state.lines.zero(from(1, numbers[1]));
        }
        let mut lines = Lines::default();
        here.numbers_of_both(&there, &mut lines);
        let shown: Vec<String> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["+r0 +r1 -c1r0 -c1r1 -1 = 0"]);
    }
}
