//! Tables of addresses. A word at an offset that varies is a choice between the words at all
//! possible offsets, so that addresses stay addresses.

use crate::symbolic::encode::Encoder;
use crate::symbolic::memory::{Object, constant};
use crate::symbolic::range::residue;
use crate::symbolic::state::Reached;
use crate::term::Term;

/// The number of steps from the first to the last possible offset above which a table of addresses
/// is represented by bytes.
const WORDS: u64 = 66;

impl Encoder<'_, '_> {
    /// The offsets at which an access of a word may be, if its offset varies and there are few of
    /// them.
    fn words(&self, now: &Reached, object: &Object, offset: Term, len: u32) -> Option<Vec<u32>> {
        if len != 8 || constant(self.pool, offset).is_some() {
            return None;
        }
        let size = self.pool.as_const(object.size).map(|n| n as u64)?;
        let (by, rest) = residue(self.pool, offset, 0);
        if by < 8 || rest % 8 != 0 {
            return None;
        }
        let range = self.ranges(now).of(offset);
        let last = range.high.min(size.checked_sub(8)?);
        if last.checked_sub(range.low)? / by > WORDS {
            return None;
        }
        // `by` is a power of two.
        let first = range.low + rest.wrapping_sub(range.low) % by;
        let all: Vec<u32> = (first..=last)
            .step_by(by as usize)
            .map(|at| at as u32)
            .collect();
        (!all.is_empty()).then_some(all)
    }

    /// Reads a word of a table of addresses, as a choice between all words that it may be.
    pub(super) fn read_words(
        &mut self,
        now: &Reached,
        object: &Object,
        offset: Term,
        len: u32,
    ) -> Option<Term> {
        let words = self.words(now, object, offset, len)?;
        let read = |encoder: &mut Self, at: u32| object.contents.read_at(encoder.pool, at, 8);
        let values: Vec<Term> = words.iter().map(|&at| read(self, at)).collect();
        let (&last, others) = values.split_last()?;
        if others.iter().any(|&value| value != last) {
            values.iter().find(|&&value| self.is_address(now, value))?;
        }
        let mut value = last;
        for (&at, &other) in words.iter().zip(others).rev() {
            let at = self.c64(u64::from(at));
            let here = self.pool.eq(offset, at);
            value = self.pool.ite(here, other, value);
        }
        Some(value)
    }

    /// Writes a word of a table of addresses. Each word that it may be becomes a choice. Returns
    /// false if the object is no such table.
    pub(super) fn write_words(
        &mut self,
        now: &Reached,
        object: &mut Object,
        offset: Term,
        value: Term,
        cond: Option<Term>,
    ) -> bool {
        let len = u32::from(self.pool.width(value) / 8);
        let Some(words) = self.words(now, object, offset, len) else {
            return false;
        };
        let mut old = Vec::new();
        for &at in &words {
            old.push(object.contents.read_at(self.pool, at, 8));
        }
        let table = [value].iter().chain(&old).any(|&v| self.is_address(now, v));
        if !table {
            return false;
        }
        for (&at, old) in words.iter().zip(old) {
            let place = self.c64(u64::from(at));
            let mut here = self.pool.eq(offset, place);
            if let Some(cond) = cond {
                here = self.pool.and(here, cond);
            }
            let new = self.pool.ite(here, value, old);
            object.contents.write_at(self.pool, at, new);
        }
        true
    }
}
