//! The shapes of terms and arrays.
//!
//! A [`Node`] fits in 16 bytes, because there are millions: children are four-byte numbers,
//! constants above 64 bits and names live in side tables of the pool.

use std::num::NonZeroU32;

use crate::operator::{BinOp, FloatCast, FloatKind, FloatOp, FloatPred, MathFn, Pred, UnOp};

/// A bit-vector term of a [`super::Pool`]. Terms of different pools must not be mixed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Term(pub(super) NonZeroU32);

impl Term {
    /// The term's number: dense, from 1, in order of creation (children before parents).
    pub fn index(self) -> usize {
        self.0.get() as usize
    }
}

/// An array term of a [`super::Pool`]: 64-bit indices, elements of 8 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Array(pub(super) u32);

impl Array {
    /// The array's number: dense, in order of creation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A bit-vector term's operator and children. Only the forms that simplification leaves exist: of
/// the comparisons `Eq`, `Ult`, `Ule`, `Slt`, `Sle`; of the binary operators none of the minima,
/// maxima and saturating ones; of the unary ones neither `Abs` nor `BSwap`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Node {
    /// A constant of up to 64 bits, or a wider one that fits.
    Const(u64),
    /// A constant above 64 bits; see [`super::Pool::as_const`].
    Wide(u32),
    /// A byte of the tape.
    Input(u32),
    /// A free variable; see [`super::Pool::variable_name`].
    Variable(u32),
    /// Bitwise complement; on one bit, negation.
    Not(Term),
    /// A unary function.
    Un(UnOp, Term),
    /// Arithmetic.
    Bin(BinOp, Term, Term),
    /// A comparison: one bit.
    Cmp(Pred, Term, Term),
    /// If the first (one bit) then the second else the third.
    Ite(Term, Term, Term),
    /// The first term's bits above the second's.
    Concat(Term, Term),
    /// Bits from this lowest one on, as many as the term is wide.
    Extract(Term, u16),
    /// Zero extension to the term's width.
    ZExt(Term),
    /// Sign extension to the term's width.
    SExt(Term),
    /// A funnel shift by the third, left or right.
    Funnel(bool, Term, Term, Term),
    /// Whether Add, Sub or Mul overflows, signed or not: one bit.
    Overflow(BinOp, bool, Term, Term),
    /// Floating-point arithmetic on bit patterns.
    FloatBin(FloatOp, FloatKind, Term, Term),
    /// Floating-point comparison: one bit.
    FloatCmp(FloatPred, FloatKind, Term, Term),
    /// Conversion from or to floating point.
    FloatCast(FloatCast, Term),
    /// A function of `<math.h>`.
    FloatFn(MathFn, FloatKind, [Option<Term>; 3]),
    /// An element of an array: 8 bits.
    Select(Array, Term),
}

/// An array term's operator and children.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArrayNode {
    /// Fixed contents, zero behind their end; see [`super::Pool::array_bytes`].
    Constant(u32),
    /// Free contents; see [`super::Pool::array_name`].
    Variable(u32),
    /// The array with one element changed.
    Store(Array, Term, Term),
    /// If the term (one bit) then the first array else the second.
    Ite(Term, Array, Array),
}

impl Node {
    /// The bit-vector children, in order. (A `Select` also has its array.)
    pub fn children(&self) -> impl Iterator<Item = Term> + use<> {
        let slots = match *self {
            Node::Const(_) | Node::Wide(_) | Node::Input(_) | Node::Variable(_) => [None; 3],
            Node::Not(a)
            | Node::Un(_, a)
            | Node::Extract(a, _)
            | Node::ZExt(a)
            | Node::SExt(a)
            | Node::FloatCast(_, a)
            | Node::Select(_, a) => [Some(a), None, None],
            Node::Bin(_, a, b)
            | Node::Cmp(_, a, b)
            | Node::Concat(a, b)
            | Node::Overflow(_, _, a, b)
            | Node::FloatBin(_, _, a, b)
            | Node::FloatCmp(_, _, a, b) => [Some(a), Some(b), None],
            Node::Ite(a, b, c) | Node::Funnel(_, a, b, c) => [Some(a), Some(b), Some(c)],
            Node::FloatFn(_, _, args) => args,
        };
        slots.into_iter().flatten()
    }

    /// A hash of the node and its width. Written out because the operators need not be hashable.
    pub(super) fn fingerprint(&self, width: u16) -> u64 {
        let id = |t: Term| u64::from(t.0.get());
        let (tag, x, y) = match *self {
            Node::Const(v) => (1, v, 0),
            Node::Wide(i) => (2, u64::from(i), 0),
            Node::Input(i) => (3, u64::from(i), 0),
            Node::Variable(i) => (4, u64::from(i), 0),
            Node::Not(a) => (5, id(a), 0),
            Node::Un(op, a) => (6 + ((op as u64) << 8), id(a), 0),
            Node::Bin(op, a, b) => (7 + ((op as u64) << 8), id(a), id(b)),
            Node::Cmp(p, a, b) => (8 + ((p as u64) << 8), id(a), id(b)),
            Node::Ite(a, b, c) => (9, id(a) << 32 | id(b), id(c)),
            Node::Concat(a, b) => (10, id(a), id(b)),
            Node::Extract(a, low) => (11, id(a), u64::from(low)),
            Node::ZExt(a) => (12, id(a), 0),
            Node::SExt(a) => (13, id(a), 0),
            Node::Funnel(l, a, b, c) => (14 + (u64::from(l) << 8), id(a) << 32 | id(b), id(c)),
            Node::Overflow(op, s, a, b) => {
                (15 + ((op as u64) << 8) + (u64::from(s) << 16), id(a), id(b))
            }
            Node::FloatBin(op, k, a, b) => {
                (16 + ((op as u64) << 8) + ((k as u64) << 16), id(a), id(b))
            }
            Node::FloatCmp(p, k, a, b) => {
                (17 + ((p as u64) << 8) + ((k as u64) << 16), id(a), id(b))
            }
            // The conversion is left to the width and to the comparison: conversions of one term
            // are few.
            Node::FloatCast(_, a) => (18, id(a), 0),
            Node::FloatFn(f, k, args) => {
                let [a, b, c] = args.map(|t| t.map_or(0, id));
                (19 + ((f as u64) << 8) + ((k as u64) << 16), a << 32 | b, c)
            }
            Node::Select(a, i) => (20, u64::from(a.0), id(i)),
        };
        const K: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut h = (tag ^ (u64::from(width) << 32)).wrapping_mul(K);
        h = (h.rotate_left(23) ^ x).wrapping_mul(K);
        h = (h.rotate_left(23) ^ y).wrapping_mul(K);
        h ^ (h >> 29)
    }
}
