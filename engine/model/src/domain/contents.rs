//! What is known of an object's bytes: runs of elements, with one set of values for all elements of
//! a run.
//!
//! A field is a run of one element; an array that is indexed becomes a run of many (array smashing,
//! as in Blanchet et al., *A static analyzer for large safety-critical software*, 2003, but piece
//! by piece: what lies beside the accessed indices stays apart). Nothing is known of bytes outside
//! all runs. Runs do not overlap; a new run that begins within an element of another one removes
//! that element.

mod filling;
mod merged;
mod offsets;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::filling::{Filling, Run};
use self::filling::{bits, repeated};
use self::offsets::OFFSETS;
pub(super) use self::offsets::{few, span, spans};
use super::num::Num;
use super::space::Names;
use super::value::Value;
use crate::program::ir::{GlobalId, Width};

/// Offsets from here on are not tracked: nothing is known there.
pub const END: u32 = u32::MAX;

/// See the [module](self).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contents {
    /// The runs, by the offset of their first byte.
    runs: BTreeMap<u32, Run>,
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs = self.runs.iter();
        runs.try_for_each(|(start, run)| write!(f, "[{start}{run}]"))
    }
}

impl Contents {
    /// Contents of which nothing is known.
    pub fn any() -> Contents {
        Contents::default()
    }

    /// Contents that are `size` zero bytes.
    pub fn zeros(size: u32) -> Contents {
        let mut all = Contents::default();
        all.put(0, size, Filling::Each(1, Value::exactly(8, 0)));
        all
    }

    /// The contents with which a global begins.
    pub fn image(global: GlobalId, size: u32) -> Contents {
        let mut all = Contents::default();
        all.put(0, size, Filling::Image(global, 0));
        all
    }

    /// The runs, with the offset of their first byte.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = (u32, &Run)> {
        self.runs.iter().map(|(&start, run)| (start, run))
    }

    /// The runs of a single element of at most eight bytes: offset, length and value.
    pub fn cells(&self) -> impl Iterator<Item = (u32, u32, &Value)> {
        self.runs
            .iter()
            .filter_map(|(&start, run)| match &run.filling {
                Filling::Each(unit, value) if run.end - start == *unit && *unit <= 8 => {
                    Some((start, *unit, value))
                }
                Filling::Each(..) | Filling::Image(..) => None,
            })
    }

    /// Whether runs are disjoint and consist of whole elements, and their contents make sense.
    /// Contents that were read from a file may violate this.
    pub fn is_sound(&self, is_value: impl Fn(&Value, Width) -> bool, names: &Names<'_>) -> bool {
        let mut free = 0;
        self.runs.iter().all(|(&start, run)| {
            let fits = start >= free && run.end > start;
            free = run.end;
            fits && match &run.filling {
                Filling::Each(unit, value) => {
                    (1..=16).contains(unit)
                        && (run.end - start) % unit == 0
                        && is_value(value, bits(*unit))
                }
                Filling::Image(global, at) => {
                    let size = names.initial_size(*global);
                    size.is_some_and(|size| u64::from(*at) + u64::from(run.end - start) <= size)
                }
            }
        })
    }

    fn put(&mut self, start: u32, end: u32, filling: Filling) {
        if start >= end {
            return;
        }
        if let Filling::Each(unit, value) = &filling
            && value.num == Some(Num::all(bits(*unit)))
            && value.ptr.is_empty()
        {
            return;
        }
        self.runs.insert(start, Run { end, filling });
    }

    /// The runs that have bytes between two offsets.
    fn within(&self, low: u32, high: u32) -> impl Iterator<Item = (u32, &Run)> {
        let before = self.runs.range(..low).next_back();
        let before = before.filter(move |(_, run)| run.end > low);
        let inside = if low < high {
            Some(self.runs.range(low..high))
        } else {
            None
        };
        let all = before.into_iter().chain(inside.into_iter().flatten());
        all.map(|(&start, run)| (start, run))
    }

    /// Forgets the bytes between two offsets.
    pub fn forget(&mut self, low: u32, high: u32) {
        let touched: Vec<u32> = self.within(low, high).map(|(start, _)| start).collect();
        for start in touched {
            let Some(run) = self.runs.remove(&start) else {
                continue;
            };
            let unit = match &run.filling {
                // Zeros can be cut anywhere.
                Filling::Each(_, value) if value.as_constant() == Some(0) => 1,
                Filling::Each(unit, _) => *unit,
                Filling::Image(..) => 1,
            };
            let filling = match run.filling {
                Filling::Each(_, value) if unit == 1 && value.as_constant() == Some(0) => {
                    Filling::Each(1, Value::exactly(8, 0))
                }
                other => other,
            };
            if start < low {
                let end = start + (low - start) / unit * unit;
                self.put(start, end, filling.clone());
            }
            if run.end > high {
                let first = run.end - (run.end - high) / unit * unit;
                self.put(first, run.end, filling.from(start, first));
            }
        }
    }

    /// The value of the `len` bytes at an offset.
    fn at(&self, at: u32, len: u32, names: &Names<'_>) -> Value {
        let all = Value::all(bits(len));
        let Some(end) = at.checked_add(len) else {
            return all;
        };
        let pieces: Vec<(u32, &Run)> = self.within(at, end).collect();
        match pieces[..] {
            [(start, run)] if start <= at && run.end >= end => {
                if let Some(value) = run.filling.seen(start, (at, end), (len, at), names) {
                    return value;
                }
                match &run.filling {
                    Filling::Each(unit, value) => {
                        part(value, *unit, (at - start) % unit, len).unwrap_or(all)
                    }
                    Filling::Image(..) => all,
                }
            }
            [] => all,
            _ => self.assembled(at, len, names).unwrap_or(all),
        }
    }

    /// A number whose bytes lie in several runs; `None` if one of them is unknown.
    fn assembled(&self, at: u32, len: u32, names: &Names<'_>) -> Option<Value> {
        let mut number = 0u64;
        for i in (0..len).rev() {
            let byte = self.within(at + i, at + i + 1).next()?;
            let (start, run) = byte;
            let byte = match run
                .filling
                .seen(start, (at + i, at + i + 1), (1, at + i), names)
            {
                Some(value) => value,
                None => match &run.filling {
                    Filling::Each(unit, value) => part(value, *unit, (at + i - start) % unit, 1)?,
                    Filling::Image(..) => return None,
                },
            };
            number = number << 8 | byte.as_constant()?;
        }
        (len <= 8).then(|| Value::exactly(bits(len), number.into()))
    }

    /// The join of what `len` bytes hold at these offsets.
    pub fn load(&self, at: &Num, len: u32, names: &Names<'_>) -> Value {
        let all = Value::all(bits(len));
        let (Ok(low), Ok(high)) = (u32::try_from(at.least), u32::try_from(at.most)) else {
            return all;
        };
        let Some(end) = high.checked_add(len) else {
            return all;
        };
        if let Some(offsets) = few(at, OFFSETS) {
            let values = offsets.map(|at| self.at(at, len, names));
            return values.reduce(|a, b| a.join(&b, bits(len))).unwrap_or(all);
        }
        let mut around = self.within(low, end);
        if let (Some((start, run)), None) = (around.next(), around.next())
            && start <= low
            && run.end >= end
            && let Some(value) = run
                .filling
                .stepped(start, (low, high), (at.step, len), names)
        {
            return value;
        }
        if !at.step.is_multiple_of(u64::from(len)) {
            return self.every(low, end, len, names).unwrap_or(all);
        }
        let mut free = low;
        let mut value: Option<Value> = None;
        for (start, run) in self.within(low, end) {
            let piece = (start.max(low), run.end.min(end));
            let known = run.filling.seen(start, piece, (len, low), names);
            // No element may lie in two runs.
            let whole = (piece.0 - low) % len == 0 && (piece.1 - low) % len == 0;
            let (true, true, Some(known)) = (piece.0 == free, whole, known) else {
                return all;
            };
            free = piece.1;
            value = Some(value.map_or(known.clone(), |value| value.join(&known, bits(len))));
        }
        match value {
            Some(value) if free == end => value,
            _ => all,
        }
    }

    /// The join of what `len` bytes hold at all offsets of a range, which need not be those of
    /// elements; known only if the run is uniform.
    fn every(&self, low: u32, end: u32, len: u32, names: &Names<'_>) -> Option<Value> {
        let mut pieces = self.within(low, end);
        let (start, run) = pieces.next()?;
        let whole = start <= low && run.end >= end && pieces.next().is_none();
        match &run.filling {
            Filling::Each(1, value) if whole && (len == 1 || value.as_constant().is_some()) => {
                run.filling.seen(start, (low, end), (len, low), names)
            }
            Filling::Each(_, value) if whole && value.as_constant() == Some(0) => repeated(0, len),
            Filling::Image(..) if whole && len == 1 => {
                run.filling.seen(start, (low, end), (1, low), names)
            }
            _ => None,
        }
    }

    /// Sets `len` bytes at an offset to one of these values.
    pub fn set(&mut self, at: u32, len: u32, value: Value) {
        let Some(end) = at.checked_add(len).filter(|_| len > 0) else {
            return;
        };
        self.forget(at, end);
        if len <= 16 {
            self.put(at, end, Filling::Each(len, value));
        }
    }

    /// Sets each byte between two offsets to one of these values.
    pub fn fill(&mut self, low: u32, high: u32, byte: Value) {
        self.forget(low, high);
        self.put(low, high, Filling::Each(1, byte));
    }

    /// Weak update: `len` bytes at one of these offsets hold one of these values from now on.
    pub fn store(&mut self, at: &Num, len: u32, value: &Value, names: &Names<'_>) {
        let low = u32::try_from(at.least.max(0)).unwrap_or(END);
        let high = u32::try_from(at.most).unwrap_or(END);
        let end = high.saturating_add(len);
        if let Some(offsets) = few(at, OFFSETS) {
            for at in offsets {
                let old = self.at(at, len, names);
                self.set(at, len, old.join(value, bits(len)));
            }
            return;
        }
        if !at.step.is_multiple_of(u64::from(len)) || len > 16 || at.least < 0 {
            self.forget(low, end);
            return;
        }
        let mut pieces: Vec<(u32, u32, Option<Value>)> = Vec::new();
        for (start, run) in self.within(low, end) {
            let piece = (start.max(low), run.end.min(end));
            let whole = (piece.0 - low) % len == 0 && (piece.1 - low) % len == 0;
            let cut = run.filling.divides(start, piece.0) && run.filling.divides(start, piece.1);
            let known = run.filling.seen(start, piece, (len, low), names);
            pieces.push((piece.0, piece.1, known.filter(|_| whole && cut)));
        }
        self.forget(low, end);
        for (low, high, known) in pieces {
            if let Some(known) = known {
                self.put(low, high, Filling::Each(len, known.join(value, bits(len))));
            }
        }
        self.together(low, end);
    }

    /// Merges adjacent runs of the same elements between two offsets.
    fn together(&mut self, low: u32, high: u32) {
        let starts: Vec<u32> = self.within(low, high).map(|(start, _)| start).collect();
        for pair in starts.windows(2).rev() {
            let (Some(a), Some(b)) = (self.runs.get(&pair[0]), self.runs.get(&pair[1])) else {
                continue;
            };
            let same = matches!(a.filling, Filling::Each(..)) && a.filling == b.filling;
            if a.end == pair[1] && same {
                let end = b.end;
                self.runs.remove(&pair[1]);
                if let Some(a) = self.runs.get_mut(&pair[0]) {
                    a.end = end;
                }
            }
        }
    }

    /// Returns the runs of `len` bytes from an offset on, for another object.
    pub fn cut(&self, from: u32, len: u32) -> Vec<(u32, Run)> {
        let end = from.saturating_add(len);
        let mut all = Vec::new();
        for (start, run) in self.within(from, end) {
            let (low, high) = (start.max(from), run.end.min(end));
            if run.filling.divides(start, low) && run.filling.divides(start, high) {
                let mut filling = run.filling.from(start, low);
                if let Filling::Each(unit, value) = &filling
                    && *unit > 1
                    && (low > start || high < run.end)
                    && value.as_constant() == Some(0)
                {
                    filling = Filling::Each(1, Value::exactly(8, 0));
                }
                all.push((
                    low - from,
                    Run {
                        end: high - from,
                        filling,
                    },
                ));
            }
        }
        all
    }

    /// Replaces `len` bytes at an offset by runs that [`cut`](Self::cut) returned.
    pub fn paste(&mut self, at: u32, len: u32, runs: &[(u32, Run)]) {
        let end = at.saturating_add(len);
        self.forget(at, end);
        for (start, run) in runs {
            let high = at.saturating_add(run.end);
            if high < END {
                self.put(at + start, high, run.filling.clone());
            }
        }
    }

    /// Changes values: `act` returns the new value, or `None` where the value stays.
    pub fn change(&mut self, act: &mut impl FnMut(&Value, Width) -> Option<Value>) {
        let mut gone = Vec::new();
        for (&start, run) in &mut self.runs {
            if let Filling::Each(unit, value) = &mut run.filling
                && let Some(new) = act(value, bits(*unit))
            {
                if new.num == Some(Num::all(bits(*unit))) && new.ptr.is_empty() {
                    gone.push(start);
                }
                *value = new;
            }
        }
        for start in gone {
            self.runs.remove(&start);
        }
    }

    /// Whether all contents that this allows are allowed by the other.
    pub fn is_within(&self, other: &Contents, names: &Names<'_>) -> bool {
        other.runs().all(|(start, run)| {
            let mut free = start;
            for (here, own) in self.within(start, run.end) {
                let (low, high) = (start.max(here), run.end.min(own.end));
                if low != free {
                    return false;
                }
                free = high;
                let fits = match &run.filling {
                    Filling::Image(..) => {
                        own.filling.from(here, low) == run.filling.from(start, low)
                    }
                    Filling::Each(unit, value) => {
                        let whole = (low - start) % unit == 0 && (high - start) % unit == 0;
                        let seen = own.filling.seen(here, (low, high), (*unit, start), names);
                        whole && seen.is_some_and(|seen| seen.is_within(value, bits(*unit)))
                    }
                };
                if !fits {
                    return false;
                }
            }
            free == run.end
        })
    }
}

/// `len` bytes, from `at` on, of a number that is stored in `unit` bytes.
fn part(value: &Value, unit: u32, at: u32, len: u32) -> Option<Value> {
    use crate::program::ir::{BinOp, CastKind};
    let num = value.plain()?;
    if unit > 8 || at + len > unit {
        return None;
    }
    let by = Num::exactly(bits(unit), u128::from(at) * 8);
    let shifted = num.bin(BinOp::LShr, bits(unit), &by);
    Some(Value::number(shifted.cast(
        CastKind::Trunc,
        bits(unit),
        bits(len),
    )))
}
