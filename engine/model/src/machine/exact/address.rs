//! Examines what a run does with addresses.

use rustc_hash::FxHashSet;

use super::super::memory::ObjectOrigin;
use super::super::step::Run;
use super::{Examination, Examined, is_blank};
use crate::program::ir::{
    BLOCK_OBJECTS, BinOp, DYNAMIC_OBJECTS, FUNCTION_OBJECTS, GLOBAL_OBJECTS, Operand, Pred, Width,
    number_of, place_of,
};
use crate::term::value::signed;

/// Numbers below this one, and above its negative, are no object's address on any platform.
const PAGE: u64 = 4096;

const NUMBER: &str = "something depends on the number that an object has in addresses";

impl<const TRACK: bool> Run<'_, TRACK> {
    /// The number of the object that a value seems to be an address of. An address slightly before
    /// the first byte has a neighbour's number.
    pub(super) fn root(&self, examination: &Examination, value: u64) -> Option<u32> {
        let nearest = (value.wrapping_add(1 << 31) >> 32) as u32;
        if self.is_number(examination, nearest) {
            return Some(nearest);
        }
        let upper = (value >> 32) as u32;
        (upper != nearest && self.is_number(examination, upper)).then_some(upper)
    }

    /// Whether an object of the run has this number, or had it and its address may still be known.
    fn is_number(&self, examination: &Examination, number: u32) -> bool {
        let place = place_of(number);
        if place >= DYNAMIC_OBJECTS {
            let address = u64::from(number) << 32;
            let Some((_, site)) = self.memory.about(address) else {
                return false;
            };
            return match site {
                ObjectOrigin::Stack { .. } | ObjectOrigin::Arguments => {
                    self.memory.seen(address).is_some() || examination.lasting.contains(&number)
                }
                ObjectOrigin::Heap(_) | ObjectOrigin::OutsideArray | ObjectOrigin::Global(_) => {
                    true
                }
            };
        }
        if place >= BLOCK_OBJECTS {
            return examination.labels
                && ((place - BLOCK_OBJECTS) as usize) < self.program.blocks.len();
        }
        if place >= FUNCTION_OBJECTS {
            let function = self
                .program
                .functions
                .get((place - FUNCTION_OBJECTS) as usize);
            return function.is_some_and(|function| function.addressed);
        }
        let index = place.checked_sub(GLOBAL_OBJECTS);
        index.is_some_and(|index| (index as usize) < self.program.globals.len())
    }

    /// Refuses the operation if one of these values is an address.
    pub(super) fn refuse_addresses(
        &self,
        examination: &Examination,
        values: &[(Operand, Width)],
    ) -> Examined {
        let mut values = values.iter().filter(|(_, width)| *width == 64);
        match values.any(|(value, _)| self.root(examination, self.get64(*value)).is_some()) {
            true => Err(NUMBER),
            false => Ok(()),
        }
    }

    /// Examines `x op y` on 64 bits: an address may be moved within its object, and the difference
    /// of two addresses in one object is a distance.
    pub(super) fn computed(
        &self,
        examination: &Examination,
        op: BinOp,
        x: u64,
        y: u64,
    ) -> Examined {
        let (left, right) = (self.root(examination, x), self.root(examination, y));
        let kept = |root: Option<u32>, result: u64| match self.root(examination, result) == root {
            true => Ok(()),
            false => Err(NUMBER),
        };
        match (op, left, right) {
            // The result of two plain numbers is an address only by coincidence.
            (_, None, None) => Ok(()),
            (BinOp::Add, Some(_), None) => kept(left, x.wrapping_add(y)),
            (BinOp::Add, None, Some(_)) => kept(right, x.wrapping_add(y)),
            (BinOp::Sub, Some(_), None) => kept(left, x.wrapping_sub(y)),
            (BinOp::Sub, Some(a), Some(b)) if a == b => Ok(()),
            _ => Err(NUMBER),
        }
    }

    /// Examines `base + offset + indices`: the sum has to stay with its object.
    pub(super) fn moved_on(
        &self,
        examination: &Examination,
        base: Operand,
        offset: i64,
        indices: &[(Operand, Width, i64)],
    ) -> Examined {
        let from = self.get64(base);
        let mut to = from.wrapping_add(offset as u64);
        for &(index, width, scale) in indices {
            self.refuse_addresses(examination, &[(index, width)])?;
            let index = signed(width, self.get(index, width)) as i64;
            to = to.wrapping_add(index.wrapping_mul(scale) as u64);
        }
        match self.root(examination, from) == self.root(examination, to) {
            true => Ok(()),
            false => Err(NUMBER),
        }
    }

    /// Examines `x pred y` on 64 bits.
    pub(super) fn compared(
        &self,
        examination: &Examination,
        pred: Pred,
        x: u64,
        y: u64,
    ) -> Examined {
        let is_equality = matches!(pred, Pred::Eq | Pred::Ne);
        let none = |value: u64| value < PAGE || value > PAGE.wrapping_neg();
        match (self.root(examination, x), self.root(examination, y)) {
            (None, None) => Ok(()),
            (Some(a), Some(b)) if a == b => {
                let inside = |value: u64| {
                    let offset = value.wrapping_sub(u64::from(a) << 32);
                    offset <= self.size(a)
                };
                match is_equality || inside(x) && inside(y) {
                    true => Ok(()),
                    false => Err("the order of addresses outside of their object is asked"),
                }
            }
            (Some(a), Some(b)) => {
                let apart = is_equality && self.is_inside(a, x) && self.is_inside(b, y);
                match apart && !(self.is_nameless(a) && self.is_nameless(b)) {
                    true => Ok(()),
                    false => Err(NUMBER),
                }
            }
            (Some(_), None) if is_equality && none(y) => Ok(()),
            (None, Some(_)) if is_equality && none(x) => Ok(()),
            _ => Err(NUMBER),
        }
    }

    /// The size of an object in bytes; 0 for a function.
    fn size(&self, number: u32) -> u64 {
        let about = self.memory.about(u64::from(number) << 32);
        about.map_or(0, |(size, _)| size)
    }

    /// Whether an address is that of a byte of a live object, or of a function.
    fn is_inside(&self, number: u32, address: u64) -> bool {
        let base = u64::from(number) << 32;
        let offset = address.wrapping_sub(base);
        let place = place_of(number);
        if (FUNCTION_OBJECTS..DYNAMIC_OBJECTS).contains(&place) {
            return offset == 0;
        }
        let seen = self.memory.seen(base);
        seen.is_some_and(|seen| seen.alive && offset < seen.bytes.len() as u64)
    }

    /// Whether the object is a constant without a name, which may have the same address as an equal
    /// one.
    fn is_nameless(&self, number: u32) -> bool {
        let index = place_of(number).checked_sub(GLOBAL_OBJECTS);
        let global = index.and_then(|index| self.program.globals.get(index as usize));
        global.is_some_and(|global| global.constant && global.source_name.is_empty())
    }

    /// Whether an address leads to a local variable.
    pub(super) fn is_local(&self, at: u64) -> bool {
        let about = self.memory.about(at);
        about.is_some_and(|(_, site)| matches!(site, ObjectOrigin::Stack { .. }))
    }

    /// Whether these bytes contain an address.
    pub(super) fn has_address(&self, examination: &Examination, bytes: &[u8]) -> bool {
        let words = bytes.windows(8);
        words
            .filter_map(|word| word.try_into().ok())
            .any(|word| self.root(examination, u64::from_le_bytes(word)).is_some())
    }

    /// Refuses a range of memory that cuts an address in two, and unless `whole`, one that contains
    /// a whole address.
    pub(super) fn refuse_cut_address(
        &self,
        examination: &Examination,
        at: u64,
        len: u64,
        whole: bool,
    ) -> Examined {
        if len == 0 || !examination.holders.contains(&((at >> 32) as u32)) {
            return Ok(());
        }
        let Some(seen) = self.memory.seen(at) else {
            return Ok(());
        };
        let start = (at & 0xffff_ffff) as usize;
        let end = start.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
        let cut = |first: usize, last: usize| {
            let last = last.saturating_add(7).min(seen.bytes.len());
            seen.bytes
                .get(first..last)
                .is_some_and(|bytes| self.has_address(examination, bytes))
        };
        // Words that begin before the range, and words that begin in it and end behind it.
        let around = cut(start.saturating_sub(7), start)
            || cut(end.saturating_sub(7).max(start), end.min(seen.bytes.len()));
        match around || !whole && cut(start, end.saturating_sub(7).max(start)) {
            true => Err(NUMBER),
            false => Ok(()),
        }
    }

    /// The objects that contain addresses when the program starts.
    pub(super) fn initial_holders(&self, examination: &Examination) -> FxHashSet<u32> {
        let globals = self.program.globals.iter().enumerate();
        globals
            .filter(|&(index, global)| {
                !is_blank(self.program, index) && self.has_address(examination, &global.init)
            })
            .map(|(index, _)| number_of(GLOBAL_OBJECTS + index as u32))
            .collect()
    }
}
