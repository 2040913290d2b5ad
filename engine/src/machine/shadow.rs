//! The symbolic shadow of registers and memory.
//!
//! Beside its concrete value, a register or byte may have a term over the tape, and may be known to depend on
//! data that was never written. Bytes remember the *word* that they were stored with and their place in it,
//! so that loading the word again gives back the term itself instead of eight extracts glued together.

use super::memory::Object;
use crate::term::{Array, Pool, Term};

/// What is known of a register beside its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shade {
    /// Its value as a function of the tape; never a constant.
    pub(super) term: Option<Term>,
    /// Whether it depends on uninitialised data.
    pub(super) undefined: bool,
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

impl Object {
    /// Whether any of these bytes is symbolic.
    #[inline]
    pub(super) fn is_symbolic(&self, at: usize, len: usize) -> bool {
        let shadow = self.shadow.as_ref();
        shadow.is_some_and(|bytes| bytes[at..at + len].iter().any(|b| b.term.is_some()))
    }

    /// The term of `len` bytes, `len * 8` bits wide, if any of them is symbolic.
    pub(super) fn load_term(&self, pool: &mut Pool, at: usize, len: usize) -> Option<Term> {
        let bytes = &self.shadow.as_ref()?[at..at + len];
        let first = *bytes.first()?;
        if !bytes.iter().any(|b| b.term.is_some()) {
            return None;
        }
        let in_order = |(i, b): (usize, &ShadowByte)| {
            b.term == first.term && usize::from(b.index) == usize::from(first.index) + i
        };
        if let Some(word) = first.term
            && bytes.iter().enumerate().all(in_order)
        {
            return Some(pool.extract(word, u16::from(first.index) * 8, len as u16 * 8));
        }
        let mut whole = None;
        for (i, byte) in bytes.iter().enumerate() {
            let next = match byte.term(pool) {
                Some(term) => term,
                None => pool.constant(8, u128::from(self.bytes[at + i])),
            };
            whole = Some(match whole {
                Some(low) => pool.concat(next, low),
                None => next,
            });
        }
        whole
    }

    /// Gives `len` bytes the term, which is `len * 8` bits wide. The concrete bytes were written before.
    pub(super) fn store_term(&mut self, at: usize, len: usize, term: Term) {
        let size = self.bytes.len();
        let shadow = self
            .shadow
            .get_or_insert_with(|| vec![ShadowByte::CONCRETE; size].into_boxed_slice());
        for (i, byte) in shadow[at..at + len].iter_mut().enumerate() {
            *byte = ShadowByte {
                term: Some(term),
                index: i as u8,
            };
        }
        self.array = None;
    }

    /// Gives one byte a shadow of its own.
    pub(super) fn set_shadow(&mut self, at: usize, byte: ShadowByte) {
        if self.shadow.is_some() || byte.term.is_some() {
            let size = self.bytes.len();
            let shadow = self
                .shadow
                .get_or_insert_with(|| vec![ShadowByte::CONCRETE; size].into_boxed_slice());
            shadow[at] = byte;
            self.array = None;
        }
    }

    /// One byte's shadow.
    pub(super) fn shadow_at(&self, at: usize) -> ShadowByte {
        self.shadow
            .as_ref()
            .map_or(ShadowByte::CONCRETE, |bytes| bytes[at])
    }

    /// The whole contents as an array.
    pub(super) fn as_array(&mut self, pool: &mut Pool) -> Array {
        if let Some(array) = self.array {
            return array;
        }
        let mut array = pool.array_constant(&self.bytes);
        for (i, byte) in self
            .shadow
            .iter()
            .flat_map(|bytes| bytes.iter())
            .enumerate()
        {
            if let Some(term) = byte.term(pool) {
                let index = pool.constant(64, i as u128);
                array = pool.array_store(array, index, term);
            }
        }
        self.array = Some(array);
        array
    }
}
