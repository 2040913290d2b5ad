//! When an operation is a fault.
//!
//! The machine asks this of numbers at every step, its shadow asks it of terms, to know which input
//! would go wrong, and the prover asks it of terms, to show that none does. Asked in three ways it
//! could be answered in three ways, and a check that the prover reads differently from the machine
//! is a wrong proof that nobody notices. So each condition stands here once, over an [`Algebra`]:
//! what numbers and terms have in common.

use super::node::Term;
use super::pool::Pool;
use super::value;
use crate::operator::{BinOp, CheckKind, Pred, Width};

/// What conditions are made of: bit patterns of some width, and truth values.
pub trait Algebra {
    /// A bit pattern.
    type Word: Copy;
    /// A truth value.
    type Bit: Copy;
    /// A known bit pattern.
    fn word(&mut self, width: Width, value: u128) -> Self::Word;
    /// Whether the value is known already, so that what is computed from it costs nothing.
    fn is_known(&self, word: Self::Word) -> bool;
    /// A known truth value.
    fn bit(&mut self, value: bool) -> Self::Bit;
    /// Negation.
    fn not(&mut self, a: Self::Bit) -> Self::Bit;
    /// Conjunction.
    fn and(&mut self, a: Self::Bit, b: Self::Bit) -> Self::Bit;
    /// Disjunction.
    fn or(&mut self, a: Self::Bit, b: Self::Bit) -> Self::Bit;
    /// `a pred b`.
    fn cmp(&mut self, pred: Pred, width: Width, a: Self::Word, b: Self::Word) -> Self::Bit;
    /// `a op b`, wrapping.
    fn bin(&mut self, op: BinOp, width: Width, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Whether `a op b` does not fit.
    fn overflow(
        &mut self,
        op: BinOp,
        signed: bool,
        width: Width,
        a: Self::Word,
        b: Self::Word,
    ) -> Self::Bit;
    /// `a` if `cond`, else `b`.
    fn choose(&mut self, cond: Self::Bit, a: Self::Word, b: Self::Word) -> Self::Word;
}

/// Numbers.
#[derive(Clone, Copy, Debug)]
pub struct Concrete;

impl Algebra for Concrete {
    type Word = u128;
    type Bit = bool;

    #[inline(always)]
    fn word(&mut self, width: Width, value: u128) -> u128 {
        value & value::mask(width)
    }

    #[inline(always)]
    fn is_known(&self, _: u128) -> bool {
        true
    }

    #[inline(always)]
    fn bit(&mut self, value: bool) -> bool {
        value
    }

    #[inline(always)]
    fn not(&mut self, a: bool) -> bool {
        !a
    }

    #[inline(always)]
    fn and(&mut self, a: bool, b: bool) -> bool {
        a & b
    }

    #[inline(always)]
    fn or(&mut self, a: bool, b: bool) -> bool {
        a | b
    }

    #[inline(always)]
    fn cmp(&mut self, pred: Pred, width: Width, a: u128, b: u128) -> bool {
        value::cmp(pred, width, a, b)
    }

    #[inline(always)]
    fn bin(&mut self, op: BinOp, width: Width, a: u128, b: u128) -> u128 {
        value::bin(op, width, a, b)
    }

    fn overflow(&mut self, op: BinOp, signed: bool, width: Width, a: u128, b: u128) -> bool {
        value::overflow(op, signed, width, a, b)
    }

    #[inline(always)]
    fn choose(&mut self, cond: bool, a: u128, b: u128) -> u128 {
        if cond { a } else { b }
    }
}

impl Algebra for Pool {
    type Word = Term;
    type Bit = Term;

    fn word(&mut self, width: Width, value: u128) -> Term {
        self.constant(width, value & value::mask(width))
    }

    fn is_known(&self, word: Term) -> bool {
        self.as_const(word).is_some()
    }

    fn bit(&mut self, value: bool) -> Term {
        Pool::bit(self, value)
    }

    fn not(&mut self, a: Term) -> Term {
        Pool::not(self, a)
    }

    fn and(&mut self, a: Term, b: Term) -> Term {
        Pool::and(self, a, b)
    }

    fn or(&mut self, a: Term, b: Term) -> Term {
        Pool::or(self, a, b)
    }

    fn cmp(&mut self, pred: Pred, _: Width, a: Term, b: Term) -> Term {
        Pool::cmp(self, pred, a, b)
    }

    fn bin(&mut self, op: BinOp, _: Width, a: Term, b: Term) -> Term {
        Pool::bin(self, op, a, b)
    }

    fn overflow(&mut self, op: BinOp, signed: bool, _: Width, a: Term, b: Term) -> Term {
        Pool::overflow(self, op, signed, a, b)
    }

    fn choose(&mut self, cond: Term, a: Term, b: Term) -> Term {
        self.ite(cond, a, b)
    }
}

/// What kind of check `op` needs, if it can be a fault at all. A shift can only where one was asked
/// for: elsewhere its value is defined. Overflow is no fault of the operation: clang asks for it in
/// a branch of its own.
#[inline(always)]
pub fn can_be(op: BinOp, checked: bool) -> Option<CheckKind> {
    match op {
        BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem => Some(CheckKind::DivisionByZero),
        BinOp::Shl | BinOp::LShr | BinOp::AShr => checked.then_some(CheckKind::Shift),
        BinOp::Add
        | BinOp::Sub
        | BinOp::Mul
        | BinOp::And
        | BinOp::Or
        | BinOp::Xor
        | BinOp::UMin
        | BinOp::UMax
        | BinOp::SMin
        | BinOp::SMax
        | BinOp::UAddSat
        | BinOp::SAddSat
        | BinOp::USubSat
        | BinOp::SSubSat => None,
    }
}

/// When `a op b` is a fault, for an operation that [can be](can_be) one: a divisor of zero, the one
/// quotient that does not fit, a shift by the width or more.
#[inline]
pub fn operation<A: Algebra>(
    algebra: &mut A,
    (op, width): (BinOp, Width),
    a: A::Word,
    b: A::Word,
) -> A::Bit {
    match op {
        BinOp::UDiv | BinOp::URem => divisor(algebra, width, b),
        BinOp::SDiv | BinOp::SRem => {
            let zero = divisor(algebra, width, b);
            let large = quotient(algebra, width, a, b);
            algebra.or(zero, large)
        }
        BinOp::Shl | BinOp::LShr | BinOp::AShr => {
            let limit = algebra.word(width, u128::from(width));
            algebra.cmp(Pred::Uge, width, b, limit)
        }
        BinOp::Add
        | BinOp::Sub
        | BinOp::Mul
        | BinOp::And
        | BinOp::Or
        | BinOp::Xor
        | BinOp::UMin
        | BinOp::UMax
        | BinOp::SMin
        | BinOp::SMax
        | BinOp::UAddSat
        | BinOp::SAddSat
        | BinOp::USubSat
        | BinOp::SSubSat => algebra.bit(false),
    }
}

fn divisor<A: Algebra>(algebra: &mut A, width: Width, b: A::Word) -> A::Bit {
    let zero = algebra.word(width, 0);
    algebra.cmp(Pred::Eq, width, b, zero)
}

/// The least number divided by -1.
fn quotient<A: Algebra>(algebra: &mut A, width: Width, a: A::Word, b: A::Word) -> A::Bit {
    let least = algebra.word(width, 1 << (width - 1));
    let minus = algebra.word(width, u128::MAX);
    let least = algebra.cmp(Pred::Eq, width, a, least);
    let minus = algebra.cmp(Pred::Eq, width, b, minus);
    algebra.and(least, minus)
}

/// What an access has to know of the object that it goes to.
#[derive(Clone, Copy, Debug)]
pub struct Extent<A: Algebra> {
    /// Whether it can be accessed.
    pub alive: A::Bit,
    /// Its bytes, 64 bits.
    pub size: A::Word,
    /// Whether it can be written.
    pub writable: bool,
    /// Whether its size is a guess: to go past its end shows nothing.
    pub guessed: bool,
}

/// What is wrong with an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access<B> {
    /// The check is violated.
    pub violated: B,
    /// The run shows nothing and ends.
    pub rejected: B,
}

/// When an access of `len` bytes at `offset` in an object is a fault; both are 64 bits wide.
#[inline(always)]
pub fn access<A: Algebra>(
    algebra: &mut A,
    object: Extent<A>,
    (offset, len): (A::Word, A::Word),
    write: bool,
) -> Access<A::Bit> {
    let beyond = beyond(algebra, offset, len, object.size);
    let dead = algebra.not(object.alive);
    let mut violated = algebra.or(dead, beyond);
    let mut rejected = algebra.bit(false);
    if object.guessed {
        // Not one that goes before the start, and not one that uses what is gone.
        let half = algebra.word(64, 1 << 31);
        let near = algebra.cmp(Pred::Ult, 64, offset, half);
        let past = algebra.and(beyond, near);
        rejected = algebra.and(past, object.alive);
        let other = algebra.not(rejected);
        violated = algebra.and(violated, other);
    }
    if write && !object.writable {
        violated = algebra.bit(true);
        rejected = algebra.bit(false);
    }
    Access { violated, rejected }
}

/// Whether not all of `len` bytes at `offset` lie within `size`; all are 64 bits wide, and nothing
/// wraps.
#[inline(always)]
pub fn beyond<A: Algebra>(algebra: &mut A, offset: A::Word, len: A::Word, size: A::Word) -> A::Bit {
    // Of the two ways to say it the one of which more is known.
    let (first, second) = if algebra.is_known(offset) && algebra.is_known(size) {
        (offset, len)
    } else {
        (len, offset)
    };
    let long = algebra.cmp(Pred::Ugt, 64, first, size);
    let room = algebra.bin(BinOp::Sub, 64, size, first);
    let far = algebra.cmp(Pred::Ugt, 64, second, room);
    algebra.or(long, far)
}

/// When giving back what lies at an offset of a heap object is a fault: it was given back, or is
/// not its start.
#[inline]
pub fn release<A: Algebra>(algebra: &mut A, alive: A::Bit, offset: A::Word) -> A::Bit {
    let zero = algebra.word(64, 0);
    let start = algebra.cmp(Pred::Eq, 64, offset, zero);
    let good = algebra.and(start, alive);
    algebra.not(good)
}

/// Whether `len` bytes at one address and at another one overlap without being the same; all are 64
/// bits wide.
#[inline]
pub fn overlap<A: Algebra>(algebra: &mut A, to: A::Word, from: A::Word, len: A::Word) -> A::Bit {
    let (ahead, behind) = (
        algebra.bin(BinOp::Sub, 64, to, from),
        algebra.bin(BinOp::Sub, 64, from, to),
    );
    let other = algebra.cmp(Pred::Ne, 64, to, from);
    let ahead = algebra.cmp(Pred::Ult, 64, ahead, len);
    let behind = algebra.cmp(Pred::Ult, 64, behind, len);
    let near = algebra.or(ahead, behind);
    algebra.and(other, near)
}

/// Bytes of the stack: the default of `ulimit -s`.
pub const STACK: u64 = 8 << 20;

/// Whether a local array has more elements than there is room for.
#[inline]
pub fn too_many<A: Algebra>(algebra: &mut A, count: A::Word, most: A::Word) -> A::Bit {
    algebra.cmp(Pred::Ugt, 64, count, most)
}

/// The bytes of `n` elements of a size, and whether they are too many to be counted: then the
/// number is the largest there is.
pub fn elements<A: Algebra>(algebra: &mut A, n: A::Word, size: A::Word) -> (A::Word, A::Bit) {
    let product = algebra.bin(BinOp::Mul, 64, n, size);
    let overflow = algebra.overflow(BinOp::Mul, false, 64, n, size);
    let most = algebra.word(64, u128::MAX);
    (algebra.choose(overflow, most, product), overflow)
}

/// A heap request above this many bytes is refused: no program has more addresses (57 bits with
/// five levels of page tables, of which the kernel has half; `CRUNNER_LONGEST_BLOCK` in `rt_heap.h`
/// is the same number). So the sum of an offset in an object and a number of 32 bits never wraps
/// around.
pub const ONE_ALLOCATION: u64 = 1 << 56;

/// No alignment above this is given.
pub const COARSEST: u64 = 1 << 20;

/// Whether a request for this alignment, of at least `least`, is refused: it is no power of two, or
/// too coarse.
pub fn alignment<A: Algebra>(algebra: &mut A, alignment: A::Word, least: u64) -> A::Bit {
    let one = algebra.word(64, 1);
    let zero = algebra.word(64, 0);
    let below = algebra.bin(BinOp::Sub, 64, alignment, one);
    let common = algebra.bin(BinOp::And, 64, alignment, below);
    let several = algebra.cmp(Pred::Ne, 64, common, zero);
    let least = algebra.word(64, u128::from(least.max(1)));
    let most = algebra.word(64, u128::from(COARSEST));
    let fine = algebra.cmp(Pred::Ult, 64, alignment, least);
    let coarse = algebra.cmp(Pred::Ugt, 64, alignment, most);
    let outside = algebra.or(fine, coarse);
    algebra.or(several, outside)
}

#[cfg(test)]
mod tests;
