//! Nodes of terms and arrays.
//!
//! A [`Node`] fits in 16 bytes, because there are millions of them. Children are four-byte numbers,
//! and wide constants and names are in separate tables of the pool.

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

/// The operator and the children of a bit-vector term. Only the forms that remain after
/// simplification exist: of the comparisons `Eq`, `Ult`, `Ule`, `Slt` and `Sle`; of the binary
/// operators all but minima, maxima and saturating ones; of the unary ones all but `Abs` and
/// `BSwap`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Node {
    /// A constant whose value fits in 64 bits, of any width.
    Const(u64),
    /// A constant whose value does not fit in 64 bits; see [`super::Pool::as_const`].
    Wide(u32),
    /// A byte of the tape.
    Input(u32),
    /// A free variable; see [`super::Pool::variable_name`].
    Variable(u32),
    /// Bitwise complement. On one bit it is negation.
    Not(Term),
    /// A unary function.
    Un(UnOp, Term),
    /// A binary operation.
    Bin(BinOp, Term, Term),
    /// A comparison, in one bit.
    Cmp(Pred, Term, Term),
    /// The second term if the first (one bit) is set, else the third.
    Ite(Term, Term, Term),
    /// The bits of the first term above those of the second.
    Concat(Term, Term),
    /// The bits from this lowest one on, as many as the width of the term.
    Extract(Term, u16),
    /// Zero extension to the term's width.
    ZExt(Term),
    /// Sign extension to the term's width.
    SExt(Term),
    /// A funnel shift by the third term, to the left or to the right.
    Funnel(bool, Term, Term, Term),
    /// Whether Add, Sub or Mul overflows, signed or unsigned, in one bit.
    Overflow(BinOp, bool, Term, Term),
    /// Floating-point arithmetic on bit patterns.
    FloatBin(FloatOp, FloatKind, Term, Term),
    /// A floating-point comparison, in one bit.
    FloatCmp(FloatPred, FloatKind, Term, Term),
    /// A conversion from or to floating point.
    FloatCast(FloatCast, Term),
    /// A function of `<math.h>`.
    FloatFn(MathFn, FloatKind, [Option<Term>; 3]),
    /// An element of an array, in 8 bits.
    Select(Array, Term),
}

/// The operator and the children of an array term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArrayNode {
    /// Fixed contents, followed by zeros; see [`super::Pool::array_bytes`].
    Constant(u32),
    /// Unknown contents; see [`super::Pool::array_name`].
    Variable(u32),
    /// The array with one element changed.
    Store(Array, Term, Term),
    /// The first array if the term (one bit) is set, else the second.
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

    /// A hash of the node and its width. It is implemented here because the operators need not
    /// implement `Hash`.
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
            // The conversion itself is not hashed, only its width. The comparison distinguishes
            // conversions of the same term, which are few.
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
