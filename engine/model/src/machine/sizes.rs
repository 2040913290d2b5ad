//! Objects whose size is an input.
//!
//! An object has the size of this run, and the accesses of the run determine which other sizes
//! would have allowed them: all that include the last byte that was used. So the size stays a term,
//! and an access at a known place that goes further than all earlier ones becomes a condition on
//! the path. The buffer that the caller chose one byte too small is then one query away from any
//! run that fills it. If the contents would depend on the size (a block that is moved), the path
//! requires the bytes that were used.

use super::outcome::Event;
use super::step::Run;
use crate::program::ir::{BinOp, CheckId, Operand, Pred};
use crate::term::{Term, fault};

/// The size of an object that depends on the tape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// The size in bytes, 64 bits wide.
    pub(super) term: Term,
    /// The number of bytes that the path already requires the object to have.
    reached: u64,
}

impl<const TRACK: bool> Run<'_, TRACK> {
    /// The product of the factors as a term, if exactly one of them is symbolic; the path then
    /// records that it is a possible size. Otherwise all factors are made concrete.
    pub(super) fn size_of(&mut self, factors: &[Operand]) -> Option<Term> {
        let term = self.symbolic_size(factors);
        if term.is_none() {
            for factor in factors {
                self.concretise(*factor, 64);
            }
        }
        term
    }

    fn symbolic_size(&mut self, factors: &[Operand]) -> Option<Term> {
        if !TRACK || self.crossing.is_some() {
            return None;
        }
        let (mut symbolic, mut others) = (None, 1_u64);
        for factor in factors {
            let shade = self.shade(*factor);
            let value = self.get64(*factor);
            match shade.term.filter(|_| !shade.undefined) {
                Some(term) if symbolic.is_none() => symbolic = Some((term, value)),
                None if !shade.undefined => others = others.checked_mul(value)?,
                _ => return None,
            }
        }
        let (term, value) = symbolic?;
        let most = fault::ONE_ALLOCATION.checked_div(others)?;
        if !(1..=most).contains(&value) {
            return None;
        }
        let cond = self.make(|pool| {
            let [none, most] = [0, most].map(|n| pool.constant(64, u128::from(n)));
            let some = pool.cmp(Pred::Ult, none, term);
            let not_too_much = pool.cmp(Pred::Ule, term, most);
            pool.and(some, not_too_much)
        })?;
        // The path does not cover everything that depends on such a size.
        self.concretisations += 1;
        self.record(Event::Concretised { cond });
        self.make(|pool| {
            let others = pool.constant(64, u128::from(others));
            pool.bin(BinOp::Mul, term, others)
        })
    }

    /// Records the size of an object that was just made, if it is a term.
    pub(super) fn made_of_size(&mut self, address: u64, size: Option<Term>) {
        if let Some(term) = size.filter(|_| TRACK && address != 0) {
            self.sizes.insert(address >> 32, Size { term, reached: 0 });
        }
    }

    /// The size of the object at an address, if it is a term.
    pub(super) fn size_term(&self, at: u64) -> Option<Term> {
        self.sizes.get(&(at >> 32)).map(|size| size.term)
    }

    /// Records that an access at a known place was within an object whose size depends on the tape.
    #[inline]
    pub(super) fn within(&mut self, at: u64, len: u64, check: Option<CheckId>) {
        if TRACK && !self.sizes.is_empty() {
            self.within_size(at, len, check);
        }
    }

    fn within_size(&mut self, at: u64, len: u64, check: Option<CheckId>) {
        let offset = at & 0xffff_ffff;
        let size = self.sizes.get_mut(&(at >> 32));
        let Some(size) = size.filter(|size| size.reached < offset + len) else {
            return;
        };
        size.reached = offset + len;
        let term = size.term;
        let violated = self.make(|pool| {
            let [offset, len] = [offset, len].map(|n| pool.constant(64, u128::from(n)));
            fault::beyond(pool, offset, len, term)
        });
        self.held(check, violated);
    }

    /// Makes the path keep the size of an object, because the program asks for the size.
    pub(super) fn fix_size(&mut self, at: u64) {
        if let Some(known) = self.sizes.get(&(at >> 32)).copied()
            && let Some((size, _)) = self.memory.about(at)
        {
            self.fixed(known.term, 64, u128::from(size));
        }
    }
}
