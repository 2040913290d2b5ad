//! Numbers that change together where branches meet.
//!
//! In a turn of a merge either the one index moves or the other, and the third moves in any case. No line of either branch relates the first
//! two: in the first turn each of them is a constant, or lies a constant behind where it began. So sums that have one value here and
//! another one there are put on the line through both points (the affine hull of two points: Karr, *Affine relationships among
//! variables of a program*, Acta Informatica 6, 1976).

use super::linear::{Lines, Sum, Var, gcd};
use super::state::State;

/// Sums that are related to the first one.
const OTHERS: usize = 4;
/// Larger numbers are hardly those of counters.
const SMALL: i128 = 1 << 16;

impl State {
    /// Lines through what registers, and sums of which lines say so, are here and there.
    pub(super) fn numbers_of_both(&self, other: &State, lines: &mut Lines) {
        let number = |state: &State, reg| {
            let num = *state.registers.get(reg)?.plain()?;
            num.single().is_some().then_some(i128::from(num.least))
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
