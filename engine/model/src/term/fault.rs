//! The conditions under which operations are faults.
//!
//! The machine evaluates these conditions with numbers at every step. Its shadow evaluates them
//! with terms, to find inputs that lead to a fault, and the prover does so to show that no input
//! does. With three implementations they could differ, and a check that means something else to the
//! prover than to the machine is a wrong proof that nobody notices. So each condition is
//! implemented once, over an [`Algebra`]: the operations that numbers and terms have in common.

use super::node::Term;
use super::pool::Pool;
use super::value;
use crate::operator::{BinOp, CheckKind, Pred, Width};

/// The operations that conditions consist of, on bit patterns and truth values.
pub trait Algebra {
    /// A bit pattern.
    type Word: Copy;
    /// A truth value.
    type Bit: Copy;
    /// A constant bit pattern.
    fn word(&mut self, width: Width, value: u128) -> Self::Word;
    /// Whether the value is a constant, so that computing with it costs nothing.
    fn is_known(&self, word: Self::Word) -> bool;
    /// A constant truth value.
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
    /// Whether the result of `a op b` does not fit.
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

/// The algebra of numbers.
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

/// The kind of the check that `op` needs, if it can be a fault at all. A shift can be one only if a
/// check was requested (`checked`); otherwise its value is defined. Overflow is no fault of the
/// operation, because clang emits a branch of its own for it.
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

/// Whether `a op b` is a fault, for an operation that [can be](can_be) one: a divisor of zero, the
/// only quotient that does not fit, or a shift by the width or more.
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

/// Whether the operands are the least number and -1.
fn quotient<A: Algebra>(algebra: &mut A, width: Width, a: A::Word, b: A::Word) -> A::Bit {
    let least = algebra.word(width, 1 << (width - 1));
    let minus = algebra.word(width, u128::MAX);
    let least = algebra.cmp(Pred::Eq, width, a, least);
    let minus = algebra.cmp(Pred::Eq, width, b, minus);
    algebra.and(least, minus)
}

/// The properties of an object that decide whether an access is a fault.
#[derive(Clone, Copy, Debug)]
pub struct Extent<A: Algebra> {
    /// Whether the object can be accessed.
    pub alive: A::Bit,
    /// The size in bytes, in 64 bits.
    pub size: A::Word,
    /// Whether the object can be written.
    pub writable: bool,
    /// Whether the size is a guess: an access past the end is then no evidence of a fault.
    pub guessed: bool,
}

/// The result of checking an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access<B> {
    /// Whether the check is violated.
    pub violated: B,
    /// Whether the run is rejected: it is no evidence of anything, and ends.
    pub rejected: B,
}

/// Whether an access of `len` bytes at `offset` in an object is a fault. Both are 64 bits wide.
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
        // An access before the start of the object, or to an object that is not alive, is not
        // rejected.
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

/// Whether some of the `len` bytes at `offset` lie outside of `size` bytes. All operands are 64
/// bits wide, and nothing wraps around.
#[inline(always)]
pub fn beyond<A: Algebra>(algebra: &mut A, offset: A::Word, len: A::Word, size: A::Word) -> A::Bit {
    // Of two equivalent forms, the one in which more is constant.
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

/// Whether freeing a heap object through a pointer at this offset is a fault: the object was freed
/// before, or the pointer does not point to its start.
#[inline]
pub fn release<A: Algebra>(algebra: &mut A, alive: A::Bit, offset: A::Word) -> A::Bit {
    let zero = algebra.word(64, 0);
    let start = algebra.cmp(Pred::Eq, 64, offset, zero);
    let good = algebra.and(start, alive);
    algebra.not(good)
}

/// Whether `len` bytes at two addresses overlap and the addresses differ. All operands are 64 bits
/// wide.
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

/// The size of the stack in bytes: the default of `ulimit -s`.
pub const STACK: u64 = 8 << 20;

/// Whether a local array has more elements than there is room for.
#[inline]
pub fn too_many<A: Algebra>(algebra: &mut A, count: A::Word, most: A::Word) -> A::Bit {
    algebra.cmp(Pred::Ugt, 64, count, most)
}

/// The size of `n` elements in bytes, and whether it overflows. If it does, the size is the largest
/// number.
pub fn elements<A: Algebra>(algebra: &mut A, n: A::Word, size: A::Word) -> (A::Word, A::Bit) {
    let product = algebra.bin(BinOp::Mul, 64, n, size);
    let overflow = algebra.overflow(BinOp::Mul, false, 64, n, size);
    let most = algebra.word(64, u128::MAX);
    (algebra.choose(overflow, most, product), overflow)
}

/// The number of bytes above which a heap request is refused. No program has more addresses (57
/// bits with five levels of page tables, of which the kernel has half). `CRUNNER_LONGEST_BLOCK` in
/// `rt_heap.h` is the same number. So the sum of an offset in an object and a number of 32 bits
/// never wraps around.
pub const ONE_ALLOCATION: u64 = 1 << 56;

/// The greatest alignment that is granted.
pub const COARSEST: u64 = 1 << 20;

/// Whether a request for this alignment is refused, because it is no power of two, less than
/// `least`, or greater than [`COARSEST`].
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
