//! The join and the widening of an object's contents in two states.

use super::filling::{Filling, bits};
use super::{Contents, END};
use crate::domain::num::Thresholds;
use crate::domain::space::Names;
use crate::domain::value::Value;

impl Contents {
    /// Returns contents that allow what either allows.
    pub fn join(&self, other: &Contents, names: &Names<'_>) -> Contents {
        self.both(other, names, |a, b, (unit, _)| a.join(b, bits(unit)))
    }

    /// See [`crate::domain::num::Num::widen`]. If elements of an array changed to values that other
    /// arrays of the object held before, they may hold all of those values: where an array is
    /// filled, its elements change one after the other, and no threshold would be left for the last
    /// ones.
    pub fn widen(&self, new: &Contents, names: &Names<'_>, thresholds: &Thresholds) -> Contents {
        self.both(new, names, |a, b, (unit, is_array)| {
            let others = match is_array && !b.is_within(a, bits(unit)) {
                true => self.in_arrays(unit),
                false => None,
            };
            match others.filter(|others| b.is_within(others, bits(unit))) {
                Some(others) => a.join(&others, bits(unit)),
                None => a.widen(b, bits(unit), thresholds),
            }
        })
    }

    /// The join of the numbers that arrays of such elements hold.
    fn in_arrays(&self, unit: u32) -> Option<Value> {
        let runs = self
            .runs
            .iter()
            .filter(|(start, run)| run.is_array(**start));
        let numbers = runs.filter_map(|(_, run)| match &run.filling {
            Filling::Each(own, value) if *own == unit => value.plain().map(|_| value.clone()),
            _ => None,
        });
        numbers.reduce(|all, value| all.join(&value, bits(unit)))
    }

    fn both(
        &self,
        other: &Contents,
        names: &Names<'_>,
        both: impl Fn(&Value, &Value, (u32, bool)) -> Value,
    ) -> Contents {
        let mut result = Contents::default();
        for (start, run) in self.runs() {
            for (there, run_there) in other.within(start, run.end) {
                let (low, high) = (start.max(there), run.end.min(run_there.end));
                let (a, b) = (&run.filling, &run_there.filling);
                let (x, y) = (a.from(start, low), b.from(there, low));
                if x == y && a.divides(start, low) && b.divides(there, low) {
                    let whole = a.divides(start, high) && b.divides(there, high);
                    if whole {
                        result.put(low, high, x);
                        continue;
                    }
                }
                let unit = match (a.unit(), b.unit()) {
                    (Some(unit), _) | (None, Some(unit)) => unit,
                    // Both are zeros or images: compare bytes.
                    (None, None) => 1,
                };
                let anchor = if a.unit().is_some() { start } else { there };
                let anchor = if a.unit().or(b.unit()).is_some() {
                    anchor
                } else {
                    low
                };
                // Whole elements only.
                let first = low + (unit - (low - anchor) % unit) % unit;
                let high = first + high.saturating_sub(first) / unit * unit;
                if first >= high {
                    continue;
                }
                let seen = |filling: &Filling, at: u32| {
                    filling.seen(at, (first, high), (unit, first), names)
                };
                if let (Some(x), Some(y)) = (seen(a, start), seen(b, there)) {
                    let value = both(&x, &y, (unit, run_there.is_array(there)));
                    result.put(first, high, Filling::Each(unit, value));
                }
            }
        }
        result.together(0, END);
        result
    }
}
