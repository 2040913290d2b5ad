//! Constructors of floating-point terms. Terms are bit patterns. Operations are folded if all
//! operands are constant, and are not simplified otherwise.
//!
//! Negation, absolute value and copying a sign operate on one bit, so they are bit-vector terms and
//! cost a solver nothing.

use super::float;
use super::node::{Node, Term};
use super::pool::Pool;
use crate::operator::{FloatCast, FloatKind, FloatOp, FloatPred, MathFn};

impl Pool {
    /// `a op b`.
    pub fn float_bin(&mut self, op: FloatOp, kind: FloatKind, a: Term, b: Term) -> Term {
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => self.constant(kind.width(), float::bin(op, kind, x, y)),
            _ => self.intern(Node::FloatBin(op, kind, a, b), kind.width()),
        }
    }

    /// `-a`: flips the sign bit, also of a NaN.
    pub fn float_neg(&mut self, kind: FloatKind, a: Term) -> Term {
        let w = kind.width();
        let sign = self.extract(a, w - 1, 1);
        let flipped = self.not(sign);
        let rest = self.extract(a, 0, w - 1);
        self.concat(flipped, rest)
    }

    /// `a pred b`, in one bit.
    pub fn float_cmp(&mut self, pred: FloatPred, kind: FloatKind, a: Term, b: Term) -> Term {
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => self.bit(float::cmp(pred, kind, x, y)),
            _ => self.intern(Node::FloatCmp(pred, kind, a, b), 1),
        }
    }

    /// A conversion that involves floating point.
    pub fn float_cast(&mut self, cast: FloatCast, a: Term) -> Term {
        let to = float::cast_width(cast);
        if let Some(v) = self.as_const(a) {
            return self.constant(to, float::cast(cast, v));
        }
        match cast {
            FloatCast::Convert(from, to) if from == to => a,
            _ => self.intern(Node::FloatCast(cast, a), to),
        }
    }

    /// A function of `<math.h>` of one to three arguments.
    pub fn float_fn(&mut self, function: MathFn, kind: FloatKind, args: &[Term]) -> Term {
        let w = float::function_width(function, kind);
        let values: Option<Vec<u128>> = args.iter().map(|&t| self.as_const(t)).collect();
        if let Some(values) = values
            && let Some(v) = float::function(function, kind, &values)
        {
            return self.constant(w, v);
        }
        match (function, args) {
            (MathFn::Fabs, &[a]) => {
                let (zero, rest) = (self.bit(false), self.extract(a, 0, w - 1));
                return self.concat(zero, rest);
            }
            (MathFn::Copysign, &[a, b]) => {
                let sign = self.extract(b, w - 1, 1);
                let rest = self.extract(a, 0, w - 1);
                return self.concat(sign, rest);
            }
            _ => {}
        }
        debug_assert!(
            (1..=3).contains(&args.len()),
            "{function:?} of {}",
            args.len()
        );
        let slot = |i: usize| args.get(i).copied();
        self.intern(
            Node::FloatFn(function, kind, [slot(0), slot(1), slot(2)]),
            w,
        )
    }
}
