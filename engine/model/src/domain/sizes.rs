//! Lines between numbers and the sizes of blocks that grow.
//!
//! A growing array keeps its capacity in one number and its length in another: `size == room *
//! sizeof *v` and `used <= room`. Before it grows for the first time, all three are constants, of
//! which no line says anything, and afterwards they are not constants any more. So where two states
//! with different sizes of a block are joined, the numbers that differ, too, are compared with the
//! sizes.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::linear::{Lines, Ranges, Sum, Var};
use super::num::Num;
use super::space::{Names, ObjId};
use super::state::State;
use super::value::Value;
use crate::program::ir::Reg;
use crate::term::fault::ONE_ALLOCATION;

/// The most blocks that grow.
const BLOCKS: usize = 2;
/// The most numbers that are compared with the size of a block.
const NUMBERS: usize = 24;
/// The largest size of an element, in bytes.
const ELEMENT: i128 = 256;
/// Numbers from here on may result from repeated multiplications.
const LARGE: u64 = 1 << 32;
/// The most sizes of elements that one block may have.
const ELEMENTS: usize = 2;

/// A variable, with its numbers here and there.
type Both = (Var, Num, Num);

impl State {
    /// Whether a block with a single size here may have another size there.
    pub fn grows(&self, other: &State, names: &Names<'_>) -> bool {
        self.objects.iter().any(|(id, object)| {
            let info = names.info(*id);
            let there = other.objects.get(id).map(|there| &there.size);
            let differs = there.is_some_and(|there| !there.is_within(&object.size));
            info.heap && info.is_unique && object.size.as_constant().is_some() && differs
        })
    }

    /// The blocks with different single sizes here and there.
    fn growing<'a>(
        &'a self,
        other: &'a State,
        names: &'a Names<'_>,
    ) -> impl Iterator<Item = (ObjId, i128, i128)> + 'a {
        self.objects.iter().filter_map(move |(&id, object)| {
            let (size, there) = (
                object.size.as_constant()?,
                other.objects.get(&id)?.size.as_constant()?,
            );
            let info = names.info(id);
            (info.heap && info.is_unique && size != there).then_some((
                id,
                size.into(),
                there.into(),
            ))
        })
    }

    /// No granted block is larger than [`ONE_ALLOCATION`]: widening keeps that bound if it loses a
    /// smaller one. Twice such a size does not wrap around, so a capacity that is doubled does not
    /// become smaller.
    pub(super) fn limits_of_sizes(&self, new: &State, names: &Names<'_>, lines: &mut Lines) {
        let here = |var| self.range(var, names);
        let limit = i128::from(ONE_ALLOCATION);
        for line in new.lines.iter().filter(|line| !line.is_exact()) {
            let mut terms = line.terms();
            if let (Some((var @ Var::Size(_), 1)), None) = (terms.next(), terms.next())
                && line.constant() == -limit
                && self.lines.upper(&Sum::of(var), &here) <= limit
            {
                lines.at_most_zero(Sum::of(var).plus(&Sum::number(limit), -1));
            }
        }
    }

    /// Narrows numbers to the bounds that lines give: those that a line bounds alone, and large
    /// ones. A capacity that is multiplied exceeds all thresholds in a few iterations; its bound
    /// follows from the size of the block that was granted for it.
    pub fn reduce(&mut self, names: &Names<'_>) {
        for (var, value) in self.reducible(names) {
            let here = |var| self.range(var, names);
            let bound = self.lines.upper(&Sum::of(var), &here);
            let all = u64::try_from(bound)
                .ok()
                .and_then(|most| Num::between(64, 0, most));
            let Some(less) = all
                .and_then(|all| value.meet(64, &all))
                .filter(|less| *less != value)
            else {
                continue;
            };
            match var {
                Var::Reg(reg) => {
                    if let Some(known) = self.registers.get_mut(&Reg(reg)) {
                        *known = Value::number(less);
                    }
                }
                Var::Cell(id, at, len) => self.change(id, names, |object| {
                    Arc::make_mut(&mut object.contents).set(at, len, Value::number(less));
                }),
                _ => {}
            }
        }
    }

    /// The registers and cells that a line may bound more narrowly than their ranges do. None of
    /// them is ever negative, so the number is the same at any width.
    fn reducible(&self, names: &Names<'_>) -> Vec<(Var, Num)> {
        let alone = self.lines.iter().filter_map(|line| {
            let mut terms = line.terms();
            let (var, factor) = terms.next()?;
            (terms.next().is_none() && factor > 0).then_some(var)
        });
        let alone: FxHashSet<Var> = alone.collect();
        let is_wanted = |var: Var, num: &Num| {
            let is_counter = num.least >= 0 && num.high == num.most as u64;
            let is_large = || num.high >= LARGE && self.lines.speaks_of(|known| known == var);
            is_counter && num.low < num.high && (alone.contains(&var) || is_large())
        };
        let registers = self.registers.iter();
        let registers =
            registers.filter_map(|(reg, value)| Some((Var::Reg(reg.0), *value.plain()?)));
        let single = self
            .objects
            .iter()
            .filter(|(id, _)| names.info(**id).is_unique);
        let cells = single.flat_map(|(id, object)| {
            let cells = object
                .contents
                .cells()
                .filter(|(_, len, _)| matches!(len, 4 | 8));
            cells.filter_map(|(at, len, value)| Some((Var::Cell(*id, at, len), *value.plain()?)))
        });
        let all = registers.chain(cells);
        all.filter(|(var, num)| is_wanted(*var, num)).collect()
    }

    /// Adds the lines about the sizes of growing blocks that hold in both states.
    pub(super) fn sizes_of_both(&self, other: &State, names: &Names<'_>, lines: &mut Lines) {
        let blocks: Vec<_> = self.growing(other, names).take(BLOCKS).collect();
        if blocks.is_empty() {
            return;
        }
        let numbers = self.differing(other, names);
        for (id, here, there) in blocks {
            related((id, here), &There::Size(there), &numbers, lines);
        }
    }

    /// Adds lines about a block with a single size in one of the states and several in the other,
    /// whose lines may use other numbers: where `used == room` was tested, that state has `size ==
    /// 2 * used` instead of `size == room`.
    pub(super) fn sizes_of_several(&self, other: &State, names: &Names<'_>, lines: &mut Lines) {
        for (one, several) in [(self, other), (other, self)] {
            let blocks = one.objects.iter().filter_map(|(&id, object)| {
                let size = object.size.as_constant()?;
                let is_one = several.objects.get(&id)?.size.as_constant().is_some();
                let info = names.info(id);
                (info.heap && info.is_unique && !is_one).then_some((id, i128::from(size)))
            });
            let blocks: Vec<_> = blocks.take(BLOCKS).collect();
            if blocks.is_empty() {
                continue;
            }
            let numbers = one.differing(several, names);
            let ranges = |var| several.range(var, names);
            let there = There::Lines(&several.lines, &ranges);
            for block in blocks {
                related(block, &there, &numbers, lines);
            }
        }
    }

    /// The registers and cells whose numbers differ between the states.
    fn differing(&self, other: &State, names: &Names<'_>) -> Vec<Both> {
        let mut all = Vec::new();
        for (reg, a) in &self.registers {
            let b = other.registers.get(reg).and_then(|b| b.plain());
            if let (Some(a), Some(b)) = (a.plain(), b) {
                all.push((Var::Reg(reg.0), *a, *b));
            }
        }
        for (id, object, there) in self.changed(other, names) {
            for (at, len, a) in object.contents.cells() {
                let at_offset = Num::exactly(64, at.into());
                let b = there.contents.load(&at_offset, len, names);
                if let (Some(a), Some(b)) = (a.plain(), b.plain()) {
                    all.push((Var::Cell(id, at, len), *a, *b));
                }
            }
        }
        // A line about a number that may be negative says something else than its bits do.
        all.retain(|(_, a, b)| {
            (a.least, a.most) != (b.least, b.most) && a.least >= 0 && b.least >= 0
        });
        all.truncate(NUMBERS);
        all
    }
}

/// What a state says of the size of a block that has a single size in another state.
enum There<'a> {
    /// It is this one.
    Size(i128),
    /// There are several, which lines relate to other variables.
    Lines(&'a Lines, Ranges<'a>),
}

impl There<'_> {
    /// Whether a number of elements fills the block; `left` is what they leave of it.
    fn is_filled(&self, (number, element): (&Num, i128), left: &Sum) -> bool {
        match self {
            There::Size(size) => number
                .as_constant()
                .is_some_and(|n| i128::from(n) * element == *size),
            There::Lines(lines, ranges) => {
                lines.proves(left, *ranges)
                    && left
                        .times(-1)
                        .is_some_and(|left| lines.proves(&left, *ranges))
            }
        }
    }

    /// How far a number of elements reaches past the block's end at most; `past` is that distance.
    fn most_past(&self, (number, element): (&Num, i128), past: &Sum) -> i128 {
        match self {
            There::Size(size) => i128::from(number.most) * element - size,
            There::Lines(lines, ranges) => lines.upper(past, *ranges),
        }
    }
}

/// Adds the lines between numbers and a block that has a single size here.
fn related((id, here): (ObjId, i128), there: &There<'_>, numbers: &[Both], lines: &mut Lines) {
    let size = Sum::of(Var::Size(id));
    let mut elements: Vec<i128> = Vec::new();
    for (var, a, b) in numbers {
        let element = a.as_constant().and_then(|a| fitting(a.into(), here));
        let left = element.and_then(|element| size.plus(&Sum::of(*var), -element));
        let (Some(element), Some(left)) = (element, left) else {
            continue;
        };
        if !there.is_filled((b, element), &left) {
            continue;
        }
        lines.zero(Some(left));
        if !elements.contains(&element) && elements.len() < ELEMENTS {
            elements.push(element);
        }
    }
    for (var, a, b) in numbers {
        for element in &elements {
            let past = Sum::of(*var).times(*element);
            let Some(past) = past.and_then(|past| past.plus(&size, -1)) else {
                continue;
            };
            let bound = There::Size(here)
                .most_past((a, *element), &past)
                .max(there.most_past((b, *element), &past));
            if (-*element..=0).contains(&bound) {
                lines.at_most_zero(past.plus(&Sum::number(bound), -1));
            }
        }
    }
}

/// The size of an element, if `number` elements fill a block of this size.
fn fitting(number: i128, size: i128) -> Option<i128> {
    let element = size.checked_div(number)?;
    (number * element == size && (1..=ELEMENT).contains(&element)).then_some(element)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_fit_both_sizes() {
        let num = |n: u64| Num::exactly(64, n.into());
        let element = |(a, here): (&Num, i128), (b, there): (&Num, i128)| {
            let element = fitting(a.as_constant()?.into(), here)?;
            let left = Sum::number(0);
            let fits = There::Size(there).is_filled((b, element), &left);
            fits.then_some(element)
        };
        assert_eq!(element((&num(8), 32), (&num(16), 64)), Some(4));
        assert_eq!(element((&num(8), 32), (&num(9), 64)), None);
        assert_eq!(element((&num(0), 32), (&num(9), 64)), None);
        assert_eq!(element((&num(5), 32), (&num(10), 64)), None);
    }
}
