//! The symbolic shadow of registers and memory.
//!
//! Beside its concrete value, a register or byte may have a term over the tape, and may be known to
//! depend on data that was never written. Bytes remember the *word* that they were stored with and
//! their position in it, so that loading the word again gives the term itself instead of a
//! concatenation of eight extracts.

use super::memory::Object;
use crate::term::{Array, Pool, Term};

/// What is known about a register in addition to its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shade {
    /// Its value as a term over the tape; never a constant.
    pub(super) term: Option<Term>,
    /// Whether it depends on uninitialised data.
    pub(super) undefined: bool,
    /// Whether the value may be any number with the same sign, so that only its sign is known.
    pub(super) signed: bool,
}

/// Byte `index` of a stored term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShadowByte {
    term: Option<Term>,
    index: u8,
}

impl ShadowByte {
    pub(super) const CONCRETE: ShadowByte = ShadowByte {
        term: None,
        index: 0,
    };

    /// The byte as a term, if it is symbolic.
    pub(super) fn term(self, pool: &mut Pool) -> Option<Term> {
        self.term
            .map(|term| pool.extract(term, u16::from(self.index) * 8, 8))
    }

    /// A byte that is a term of its own.
    pub(super) fn byte(term: Term) -> ShadowByte {
        ShadowByte {
            term: Some(term),
            index: 0,
        }
    }
}

/// The number of bytes in a page.
const PAGE: usize = 256;

/// The shadows of an object's bytes, in pages, so that a symbolic byte in a large object costs a
/// page and not eight times the object.
#[derive(Clone, Debug, Default)]
pub(super) struct Shadow {
    pages: Vec<Option<Box<[ShadowByte; PAGE]>>>,
}

impl Shadow {
    /// The shadow of one byte.
    #[inline]
    fn get(&self, at: usize) -> ShadowByte {
        match self.pages.get(at / PAGE) {
            Some(Some(page)) => page[at % PAGE],
            _ => ShadowByte::CONCRETE,
        }
    }

    fn set(&mut self, at: usize, byte: ShadowByte) {
        let number = at / PAGE;
        if number >= self.pages.len() {
            if byte.term.is_none() {
                return;
            }
            self.pages.resize(number + 1, None);
        }
        if let Some(page) = self.pages.get_mut(number) {
            page.get_or_insert_with(|| Box::new([ShadowByte::CONCRETE; PAGE]))[at % PAGE] = byte;
        }
    }

    /// Makes the bytes concrete.
    pub(super) fn clear(&mut self, at: usize, len: usize) {
        let mut from = at;
        while from < at + len {
            let to = (from / PAGE * PAGE + PAGE).min(at + len);
            if let Some(Some(page)) = self.pages.get_mut(from / PAGE) {
                let start = from % PAGE;
                page[start..start + (to - from)].fill(ShadowByte::CONCRETE);
            }
            from = to;
        }
    }

    /// The symbolic bytes among the `len` bytes from `at` on, in order.
    fn symbolic(&self, at: usize, len: usize) -> impl Iterator<Item = (usize, ShadowByte)> + '_ {
        let pages = self.pages.iter().enumerate();
        let touched = (len > 0).then(|| at / PAGE..(at + len - 1) / PAGE + 1);
        let (skip, take) = touched.map_or((0, 0), |pages| (pages.start, pages.len()));
        pages
            .skip(skip)
            .take(take)
            .filter_map(|(number, page)| Some((number, page.as_ref()?)))
            .flat_map(|(number, page)| {
                let bytes = page.iter().enumerate();
                bytes.map(move |(i, byte)| (number * PAGE + i, *byte))
            })
            .filter(move |(i, byte)| byte.term.is_some() && (at..at + len).contains(i))
    }
}

impl Object {
    /// Whether any of these bytes is symbolic.
    #[inline]
    pub(super) fn is_symbolic(&self, at: usize, len: usize) -> bool {
        let shadow = self.shadow.as_ref();
        shadow.is_some_and(|shadow| shadow.symbolic(at, len).next().is_some())
    }

    /// The term of `len` bytes, `len * 8` bits wide, if any of them is symbolic.
    pub(super) fn load_term(&self, pool: &mut Pool, at: usize, len: usize) -> Option<Term> {
        let shadow = self.shadow.as_ref()?;
        shadow.symbolic(at, len).next()?;
        let first = shadow.get(at);
        let in_order = |i: usize| {
            let b = shadow.get(at + i);
            b.term == first.term && usize::from(b.index) == usize::from(first.index) + i
        };
        if let Some(word) = first.term
            && (0..len).all(in_order)
        {
            return Some(pool.extract(word, u16::from(first.index) * 8, len as u16 * 8));
        }
        let mut whole = None;
        for i in at..at + len {
            let next = match shadow.get(i).term(pool) {
                Some(term) => term,
                None => pool.constant(8, u128::from(self.bytes[i])),
            };
            whole = Some(match whole {
                Some(low) => pool.concat(next, low),
                None => next,
            });
        }
        whole
    }

    /// Sets the term of `len` bytes, which is `len * 8` bits wide. The concrete bytes must have
    /// been written before.
    pub(super) fn store_term(&mut self, at: usize, len: usize, term: Term) {
        let shadow = self.shadow.get_or_insert_default();
        for i in 0..len {
            let byte = ShadowByte {
                term: Some(term),
                index: i as u8,
            };
            shadow.set(at + i, byte);
        }
        self.array = None;
    }

    /// Sets the shadow of one byte.
    pub(super) fn set_shadow(&mut self, at: usize, byte: ShadowByte) {
        if self.shadow.is_some() || byte.term.is_some() {
            self.shadow.get_or_insert_default().set(at, byte);
            self.array = None;
        }
    }

    /// One byte's shadow.
    pub(super) fn shadow_at(&self, at: usize) -> ShadowByte {
        self.shadow
            .as_ref()
            .map_or(ShadowByte::CONCRETE, |shadow| shadow.get(at))
    }

    /// The whole contents as an array term.
    pub(super) fn as_array(&mut self, pool: &mut Pool) -> Array {
        if let Some(array) = self.array {
            return array;
        }
        let mut array = pool.array_constant(&self.bytes);
        let size = self.bytes.len();
        for (i, byte) in self.shadow.iter().flat_map(|s| s.symbolic(0, size)) {
            if let Some(term) = byte.term(pool) {
                let index = pool.constant(64, i as u128);
                array = pool.array_store(array, index, term);
            }
        }
        self.array = Some(array);
        array
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_what_is_symbolic_and_no_more() {
        let mut pool = Pool::new();
        let term = pool.input(0);
        let byte = ShadowByte::byte(term);
        let mut shadow = Shadow::default();
        for at in [PAGE - 1, PAGE, 5 * PAGE + 3] {
            shadow.set(at, byte);
        }
        // No page is made for a byte that is concrete anyway.
        shadow.set(1 << 30, ShadowByte::CONCRETE);
        assert_eq!(shadow.pages.len(), 6);
        assert_eq!(shadow.pages.iter().flatten().count(), 3);
        let symbolic = |shadow: &Shadow, at, len| -> Vec<usize> {
            shadow.symbolic(at, len).map(|(i, _)| i).collect()
        };
        assert_eq!(
            symbolic(&shadow, 0, 1 << 20),
            [PAGE - 1, PAGE, 5 * PAGE + 3]
        );
        assert_eq!(symbolic(&shadow, PAGE - 1, 1), [PAGE - 1]);
        assert!(symbolic(&shadow, PAGE + 1, 3 * PAGE).is_empty());
        assert!(symbolic(&shadow, 7, 0).is_empty());
        shadow.clear(PAGE - 1, 2);
        assert_eq!(symbolic(&shadow, 0, 1 << 20), [5 * PAGE + 3]);
        shadow.clear(0, 1 << 20);
        assert!(symbolic(&shadow, 0, 1 << 20).is_empty());
        assert_eq!(shadow.get(1 << 40), ShadowByte::CONCRETE);
    }
}
