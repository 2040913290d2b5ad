//! The contents of one object, as terms.
//!
//! Most accesses are at constant offsets, and most of the bytes that they read were written a few
//! operations before. Such bytes are kept in an *overlay*, by offset, and not in an array. An
//! access at any other offset writes the overlay back to the array below it. A value that was
//! stored as a whole is also kept as a whole: a pointer that is a choice between two pointers could
//! not be reassembled from bytes that are choices. Bytes that were never written are free
//! variables, because undefined values are inputs and not zeros.
//!
//! Besides the bytes there is a *witness*: the offset at which a zero byte was last read or
//! written. Nothing in the program depends on it, so any value of it is sound. But the fact that
//! there is a zero at the witness needs no quantifier, and it is the fact that makes most loops
//! over strings terminate.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::spans::Span;
use super::world::{ObjId, ObjectKind, World};
use crate::program::ir::{BinOp, Width};
use crate::term::{Array, Pool, Term};

/// The bytes of one object.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The array below the overlay.
    pub base: Array,
    /// Bytes written at constant offsets, by offset. They take precedence over the array.
    pub overlay: Rc<BTreeMap<u32, Term>>,
    /// Values stored as a whole whose bytes have not been overwritten since, by offset.
    whole: Rc<BTreeMap<u32, Term>>,
    /// The offset of a byte that may be zero, in 64 bits.
    pub witness: Option<Term>,
}

impl PartialEq for Contents {
    fn eq(&self, other: &Contents) -> bool {
        // The whole values are determined by the bytes.
        self.base == other.base && self.overlay == other.overlay && self.witness == other.witness
    }
}

/// The size in bytes of the longest value.
const LONGEST: u32 = 16;

/// An object in a state.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Whether the object can be accessed, in one bit.
    pub alive: Term,
    /// The size in bytes, in 64 bits.
    pub size: Term,
    /// The number of the object, in 32 bits: the upper half of its addresses.
    pub number: Term,
    /// The bytes of the object.
    pub contents: Contents,
}

impl Contents {
    /// Contents that consist of this array.
    pub fn new(base: Array) -> Contents {
        Contents {
            base,
            overlay: Rc::default(),
            whole: Rc::default(),
            witness: None,
        }
    }

    /// The same contents without a witness.
    pub fn unwitnessed(mut self) -> Contents {
        self.witness = None;
        self
    }

    /// Sets the witness to `offset` if `byte`, which was read or written there, is zero.
    pub fn notice(&mut self, pool: &mut Pool, offset: Term, byte: Term) {
        let always = pool.bit(true);
        self.notice_where(pool, always, offset, byte);
    }

    /// As [`Contents::notice`], if `cond` holds as well.
    pub fn notice_where(&mut self, pool: &mut Pool, cond: Term, offset: Term, byte: Term) {
        let nul = pool.constant(8, 0);
        let is_nul = pool.eq(byte, nul);
        let ends = pool.and(cond, is_nul);
        self.witness = match (self.witness, pool.as_const(ends)) {
            (before, Some(0)) => before,
            (Some(before), _) => Some(pool.ite(ends, offset, before)),
            (None, _) => Some(offset),
        };
    }

    /// The byte at a constant offset.
    pub fn byte(&self, pool: &mut Pool, offset: u32) -> Term {
        match self.overlay.get(&offset) {
            Some(&byte) => byte,
            None => {
                let index = pool.constant(64, u128::from(offset));
                pool.select(self.base, index)
            }
        }
    }

    /// Forgets the whole values that a write of `len` bytes overlaps.
    fn break_up(&mut self, pool: &Pool, offset: u32, len: u32) {
        let first = offset.saturating_sub(LONGEST - 1);
        let over: Vec<u32> = self
            .whole
            .range(first..offset.saturating_add(len))
            .filter(|(at, value)| *at + u32::from(pool.width(**value) / 8) > offset)
            .map(|(at, _)| *at)
            .collect();
        if !over.is_empty() {
            let whole = Rc::make_mut(&mut self.whole);
            for at in over {
                whole.remove(&at);
            }
        }
    }

    /// `len` bytes from a constant offset on, little-endian.
    pub fn read_at(&self, pool: &mut Pool, offset: u32, len: u32) -> Term {
        if let Some(&value) = self.whole.get(&offset)
            && u32::from(pool.width(value)) == len * 8
        {
            return value;
        }
        let mut whole = self.byte(pool, offset);
        for i in 1..len {
            let byte = self.byte(pool, offset.wrapping_add(i));
            whole = pool.concat(byte, whole);
        }
        whole
    }

    /// Writes the bytes of `value`, little-endian, to a constant offset.
    pub fn write_at(&mut self, pool: &mut Pool, offset: u32, value: Term) {
        let len = pool.width(value) / 8;
        if len == 1 {
            let at = pool.constant(64, u128::from(offset));
            self.notice(pool, at, value);
        }
        self.break_up(pool, offset, u32::from(len));
        let overlay = Rc::make_mut(&mut self.overlay);
        for i in 0..len {
            let byte = pool.extract(value, i * 8, 8);
            overlay.insert(offset.wrapping_add(u32::from(i)), byte);
        }
        if len > 1 {
            Rc::make_mut(&mut self.whole).insert(offset, value);
        }
    }

    /// The contents as one array.
    pub fn array(&self, pool: &mut Pool) -> Array {
        let mut array = self.base;
        for (&offset, &byte) in self.overlay.iter() {
            let index = pool.constant(64, u128::from(offset));
            array = pool.array_store(array, index, byte);
        }
        array
    }

    /// Writes the overlay's bytes in the span back to the array.
    fn flush(&mut self, pool: &mut Pool, span: Span) {
        let offsets = self.overlay.range(span.low..span.high);
        self.write_out(pool, offsets.map(|(&offset, _)| offset).collect());
    }

    /// Moves bytes from the overlay to the array.
    fn write_out(&mut self, pool: &mut Pool, offsets: Vec<u32>) {
        for offset in offsets {
            self.break_up(pool, offset, 1);
            if let Some(byte) = Rc::make_mut(&mut self.overlay).remove(&offset) {
                let index = pool.constant(64, u128::from(offset));
                self.base = pool.array_store(self.base, index, byte);
            }
        }
    }

    /// Reads `len` bytes from any offset (64 bits) on. All of the bytes lie in the span.
    pub fn read(&mut self, pool: &mut Pool, offset: Term, len: u32, span: Span) -> Term {
        if let Some(at) = constant(pool, offset) {
            return self.read_at(pool, at, len);
        }
        self.flush(pool, span);
        let mut whole = pool.select(self.base, offset);
        for i in 1..len {
            let index = plus(pool, offset, i);
            let byte = pool.select(self.base, index);
            whole = pool.concat(byte, whole);
        }
        whole
    }

    /// Writes the bytes of `value` from any offset (64 bits) on. All of the bytes lie in the span.
    pub fn write(&mut self, pool: &mut Pool, offset: Term, value: Term, span: Span) {
        if let Some(at) = constant(pool, offset) {
            return self.write_at(pool, at, value);
        }
        if pool.width(value) == 8 {
            self.notice(pool, offset, value);
        }
        self.flush(pool, span);
        for i in 0..pool.width(value) / 8 {
            let byte = pool.extract(value, i * 8, 8);
            let index = plus(pool, offset, u32::from(i));
            self.base = pool.array_store(self.base, index, byte);
        }
    }

    /// Writes the bytes of `value` if `cond` holds.
    pub fn write_where(
        &mut self,
        pool: &mut Pool,
        cond: Term,
        (offset, value): (Term, Term),
        span: Span,
    ) {
        let before = self.witness;
        let old = self.read(pool, offset, u32::from(pool.width(value) / 8), span);
        let new = pool.ite(cond, value, old);
        self.write(pool, offset, new, span);
        // The write above may have moved the witness to a zero byte that was there before. Only a
        // zero that was written counts: an old one may lie behind the end of the data that is
        // copied next.
        self.witness = before;
        if pool.width(value) == 8 {
            self.notice_where(pool, cond, offset, value);
        }
    }

    /// Replaces the bytes in the span by those of the array `unknown`. Of the bytes outside of the
    /// span, only those below offset `keep` are guaranteed to keep their values.
    pub fn forget(&mut self, pool: &mut Pool, unknown: Array, span: Span, keep: u32) {
        for at in (0..keep).filter(|&at| !span.overlaps(at, 1)) {
            if !self.overlay.contains_key(&at) {
                let byte = self.byte(pool, at);
                Rc::make_mut(&mut self.overlay).insert(at, byte);
            }
        }
        let gone: Vec<u32> = self
            .overlay
            .range(span.low..span.high)
            .map(|(&at, _)| at)
            .collect();
        for offset in gone {
            self.break_up(pool, offset, 1);
            Rc::make_mut(&mut self.overlay).remove(&offset);
        }
        self.base = unknown;
    }

    /// The whole values within the `len` bytes from `offset` on.
    pub fn wholes(&self, pool: &Pool, offset: u32, len: u32) -> Vec<(u32, Term)> {
        let end = offset.saturating_add(len);
        self.whole
            .range(offset..end)
            .filter(|(at, value)| *at + u32::from(pool.width(**value) / 8) <= end)
            .map(|(&at, &value)| (at, value))
            .collect()
    }

    /// Records that the bytes at an offset, which have been written already, are those of this
    /// value.
    pub fn note_whole(&mut self, offset: u32, value: Term) {
        Rc::make_mut(&mut self.whole).insert(offset, value);
    }

    /// These contents if `cond`, else the other ones.
    pub fn merge(&self, pool: &mut Pool, cond: Term, other: &Contents) -> Contents {
        if self == other {
            return self.clone();
        }
        if self.base == other.base {
            return self.merge_on(pool, cond, other, self.base);
        }
        // Bytes that both overlays contain stay there.
        let (mut mine, mut theirs) = (self.clone(), other.clone());
        for (one, two) in [(&mut mine, other), (&mut theirs, self)] {
            let alone = |offset: &u32| !two.overlay.contains_key(offset);
            let out = one.overlay.keys().copied().filter(alone).collect();
            one.write_out(pool, out);
        }
        let base = pool.array_ite(cond, mine.base, theirs.base);
        mine.merge_on(pool, cond, &theirs, base)
    }

    fn merge_on(&self, pool: &mut Pool, cond: Term, other: &Contents, base: Array) -> Contents {
        let mut overlay = BTreeMap::new();
        for &offset in self.overlay.keys().chain(other.overlay.keys()) {
            if overlay.contains_key(&offset) {
                continue;
            }
            let (a, b) = (self.byte(pool, offset), other.byte(pool, offset));
            overlay.insert(offset, pool.ite(cond, a, b));
        }
        let mut whole = BTreeMap::new();
        for (&offset, &value) in self.whole.iter().chain(other.whole.iter()) {
            let len = u32::from(pool.width(value) / 8);
            let (a, b) = (
                self.read_at(pool, offset, len),
                other.read_at(pool, offset, len),
            );
            let overlaps = whole
                .range(offset.saturating_sub(LONGEST - 1)..offset.saturating_add(len))
                .next()
                .is_some();
            if !overlaps {
                whole.insert(offset, pool.ite(cond, a, b));
            }
        }
        Contents {
            base,
            overlay: Rc::new(overlay),
            whole: Rc::new(whole),
            witness: match (self.witness, other.witness) {
                (Some(a), Some(b)) => Some(pool.ite(cond, a, b)),
                (one, other) => one.or(other),
            },
        }
    }
}

/// The offset, if it is a constant that an object can have.
pub fn constant(pool: &Pool, offset: Term) -> Option<u32> {
    pool.as_const(offset).and_then(|v| u32::try_from(v).ok())
}

/// A 64-bit term plus a constant.
pub fn plus(pool: &mut Pool, a: Term, b: u32) -> Term {
    let b = pool.constant(64, u128::from(b));
    pool.bin(BinOp::Add, a, b)
}

/// The number of bits that a value of this width takes in memory.
pub fn stored(width: Width) -> Width {
    width.div_ceil(8) * 8
}

impl Object {
    /// This object if `cond`, else the other one.
    pub fn merge(&self, pool: &mut Pool, cond: Term, other: &Object) -> Object {
        Object {
            alive: pool.ite(cond, self.alive, other.alive),
            size: pool.ite(cond, self.size, other.size),
            number: pool.ite(cond, self.number, other.number),
            contents: self.contents.merge(pool, cond, &other.contents),
        }
    }
}

/// The number of bytes from which on an all-zero initial value is not stored explicitly.
const LARGE: usize = 1 << 16;

/// The initial object of a global. `None` for objects that do not exist when the program starts.
pub fn initial(pool: &mut Pool, world: &World<'_>, id: ObjId) -> Option<Object> {
    let info = world.object(id);
    let ObjectKind::Global(global) = info.kind else {
        return None;
    };
    let global_info = &world.program().globals[global.index()];
    let init = &global_info.init;
    let (base, witness) = if global_info.external {
        (pool.array_variable(&format!("?g{}", global.0)), None)
    } else {
        // The witness is the end of a string, or the last byte if all bytes are zero.
        let zeros = global_info.zeros || init.iter().all(|&b| b == 0);
        let last = zeros.then(|| init.len().wrapping_sub(1));
        let end = last.or_else(|| init.iter().position(|&b| b == 0));
        let witness = end.map(|at| pool.constant(64, at as u128));
        // The elements behind the contents of a constant array are zeros, so half a gigabyte of
        // zeros needs no copy.
        let contents = match zeros && init.len() > LARGE {
            true => &[],
            false => &init[..],
        };
        (pool.array_constant(contents), witness)
    };
    let contents = Contents {
        witness,
        ..Contents::new(base)
    };
    Some(Object {
        alive: pool.bit(true),
        size: pool.constant(64, global_info.init.len() as u128),
        number: pool.constant(32, u128::from(info.number.unwrap_or(0))),
        contents,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_may_not_happen_moves_the_end_only_where_it_does() {
        let mut pool = Pool::new();
        let array = pool.array_variable("a");
        let mut contents = Contents::new(array);
        let (cond, at) = (pool.variable("c", 1), pool.variable("i", 64));
        let (three, nul) = (pool.constant(64, 3), pool.constant(8, 0));
        contents.write(&mut pool, three, nul, Span::ALL);
        contents.write_where(&mut pool, cond, (at, nul), Span::ALL);
        // Not `ite(byte at i is 0, i, 3)`: a zero that was at `i` before does not count.
        let expected = pool.ite(cond, at, three);
        assert_eq!(contents.witness, Some(expected));
        let byte = contents.read(&mut pool, at, 1, Span::ALL);
        let mut model = crate::solver::Model::default();
        model.set_variable(&pool, cond, 1);
        model.set_variable(&pool, at, 5);
        let is_nul = pool.eq(byte, nul);
        assert!(model.satisfies(&pool, &[is_nul]));
    }
}

#[cfg(test)]
mod model;
