//! Comparisons and choices.
//!
//! The canonical forms: only the five predicates `Eq`, `Ult`, `Ule`, `Slt` and `Sle` occur, `Ule`
//! and `Sle` only between terms that are not constant; a constant is the right operand of an
//! equality. A comparison of an extended value is a comparison of the value itself. In an equality
//! of a constant with a sum or an exclusive or, constant operands move to the right.

use super::node::{Node, Term};
use super::pool::Pool;
use super::value::{self, mask};
use crate::operator::{BinOp, Pred};

impl Pool {
    /// `a pred b`, in one bit.
    pub fn cmp(&mut self, pred: Pred, a: Term, b: Term) -> Term {
        let w = self.width(a);
        debug_assert_eq!(w, self.width(b), "{pred:?}");
        if let (Some(x), Some(y)) = (self.as_const(a), self.as_const(b)) {
            return self.bit(value::cmp(pred, w, x, y));
        }
        if a == b {
            return self.bit(value::cmp(pred, 1, 0, 0));
        }
        match pred {
            Pred::Ne => {
                let equal = self.equal(a, b);
                self.not(equal)
            }
            Pred::Eq => self.equal(a, b),
            Pred::Ult => self.less(Pred::Ult, a, b),
            Pred::Slt => self.less(Pred::Slt, a, b),
            Pred::Ugt => self.less(Pred::Ult, b, a),
            Pred::Sgt => self.less(Pred::Slt, b, a),
            Pred::Ule => self.less_or_equal(Pred::Ule, a, b),
            Pred::Sle => self.less_or_equal(Pred::Sle, a, b),
            Pred::Uge => self.less_or_equal(Pred::Ule, b, a),
            Pred::Sge => self.less_or_equal(Pred::Sle, b, a),
        }
    }

    /// `a == b`.
    pub fn eq(&mut self, a: Term, b: Term) -> Term {
        self.cmp(Pred::Eq, a, b)
    }

    fn equal(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = match (self.as_const(a), self.as_const(b)) {
            (Some(_), _) => (b, a),
            (None, None) if a > b => (b, a),
            _ => (a, b),
        };
        if let Some(c) = self.as_const(b) {
            if let Some(known) = self.equal_const(a, c) {
                return known;
            }
        } else if let Some(known) = self.equal_terms(a, b) {
            return known;
        }
        self.intern(Node::Cmp(Pred::Eq, a, b), 1)
    }

    fn equal_const(&mut self, a: Term, c: u128) -> Option<Term> {
        let w = self.width(a);
        if w == 1 {
            return Some(if c == 1 { a } else { self.not(a) });
        }
        let (inner, moved) = match *self.node(a) {
            Node::ZExt(x) => {
                if c > mask(self.width(x)) {
                    return Some(self.bit(false));
                }
                (x, c)
            }
            Node::SExt(x) => {
                let inside = self.width(x);
                let low = c & mask(inside);
                if value::unsigned(w, value::signed(inside, low)) != c {
                    return Some(self.bit(false));
                }
                (x, low)
            }
            Node::Not(x) => (x, !c & mask(w)),
            Node::Bin(BinOp::Add, x, y) => (x, c.wrapping_sub(self.as_const(y)?)),
            Node::Bin(BinOp::Xor, x, y) => (x, c ^ self.as_const(y)?),
            Node::Bin(BinOp::Sub, x, y) => match self.as_const(x) {
                Some(d) => (y, d.wrapping_sub(c)),
                None if c == 0 => return Some(self.cmp(Pred::Eq, x, y)),
                None => return None,
            },
            // An odd factor has an inverse modulo a power of two.
            Node::Bin(BinOp::Mul, x, y) => {
                let factor = self.as_const(y)?;
                if factor & 1 == 0 {
                    return None;
                }
                let mut inverse = factor;
                for _ in 0..7 {
                    let error = 2u128.wrapping_sub(factor.wrapping_mul(inverse));
                    inverse = inverse.wrapping_mul(error);
                }
                (x, c.wrapping_mul(inverse))
            }
            Node::Concat(high, low) => {
                let split = self.width(low);
                let (above, below) = (
                    self.constant(w - split, c >> split),
                    self.constant(split, c),
                );
                let upper = self.eq(high, above);
                let lower = self.eq(low, below);
                return Some(self.and(upper, lower));
            }
            Node::Ite(cond, x, y) => return self.split_choice(Pred::Eq, cond, x, y, c, false),
            _ => return None,
        };
        let width = self.width(inner);
        let moved = self.constant(width, moved);
        Some(self.eq(inner, moved))
    }

    fn equal_terms(&mut self, a: Term, b: Term) -> Option<Term> {
        if let Some((x, y, _)) = self.same_extension(a, b) {
            return Some(self.eq(x, y));
        }
        match (*self.node(a), *self.node(b)) {
            (Node::Not(x), Node::Not(y)) => Some(self.eq(x, y)),
            (Node::Bin(op, x, y), Node::Bin(same, z, u))
                if op == same && matches!(op, BinOp::Add | BinOp::Sub | BinOp::Xor) =>
            {
                if y == u {
                    Some(self.eq(x, z))
                } else if x == z {
                    Some(self.eq(y, u))
                } else {
                    None
                }
            }
            (Node::Bin(BinOp::Add, x, y), _) if x == b || y == b => {
                let other = if x == b { y } else { x };
                let zero = self.constant(self.width(b), 0);
                Some(self.eq(other, zero))
            }
            (_, Node::Bin(BinOp::Add, x, y)) if x == a || y == a => {
                let other = if x == a { y } else { x };
                let zero = self.constant(self.width(a), 0);
                Some(self.eq(other, zero))
            }
            _ => None,
        }
    }

    /// The operands of two extensions of the same kind, at a common width, and whether both are
    /// signed. Sign extension preserves the unsigned order, too.
    fn same_extension(&mut self, a: Term, b: Term) -> Option<(Term, Term, bool)> {
        match (*self.node(a), *self.node(b)) {
            (Node::ZExt(x), Node::ZExt(y)) => {
                let w = self.width(x).max(self.width(y));
                Some((self.zext(x, w), self.zext(y, w), false))
            }
            (Node::SExt(x), Node::SExt(y)) => {
                let w = self.width(x).max(self.width(y));
                Some((self.sext(x, w), self.sext(y, w), true))
            }
            _ => None,
        }
    }

    /// `a < b`; `pred` is `Ult` or `Slt`.
    fn less(&mut self, pred: Pred, a: Term, b: Term) -> Term {
        let w = self.width(a);
        if a == b {
            return self.bit(false);
        }
        let is_signed = pred == Pred::Slt;
        let (low, high) = if is_signed {
            (
                value::unsigned(w, value::signed_min(w)),
                value::signed_max(w) as u128,
            )
        } else {
            (0, mask(w))
        };
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => return self.bit(value::cmp(pred, w, x, y)),
            (None, Some(c)) => {
                if c == low {
                    return self.bit(false);
                }
                if c == high || c == (low + 1) & mask(w) {
                    let limit = self.constant(w, if c == high { high } else { low });
                    let equal = self.eq(a, limit);
                    // For a width of one, `low + 1 == high`, and both forms mean "is low".
                    return if c == high { self.not(equal) } else { equal };
                }
                if let Some(known) = self.less_const(pred, a, c, false) {
                    return known;
                }
            }
            (Some(c), None) => {
                if c == high {
                    return self.bit(false);
                }
                if c == low || c == high.wrapping_sub(1) & mask(w) {
                    let limit = self.constant(w, if c == low { low } else { high });
                    let equal = self.eq(b, limit);
                    return if c == low { self.not(equal) } else { equal };
                }
                if let Some(known) = self.less_const(pred, b, c, true) {
                    return known;
                }
            }
            (None, None) if w == 1 => {
                // Unsigned, a bit that is set is the greater one; signed, it is the less.
                let (clear, set) = if is_signed { (b, a) } else { (a, b) };
                let clear = self.not(clear);
                return self.and(clear, set);
            }
            (None, None) => {
                if let Some((x, y, both_signed)) = self.same_extension(a, b) {
                    let inner = if both_signed { pred } else { Pred::Ult };
                    return self.cmp(inner, x, y);
                }
            }
        }
        self.intern(Node::Cmp(pred, a, b), 1)
    }

    /// `a < c`, or `c < a` if `flipped`, for a constant strictly within the range.
    fn less_const(&mut self, pred: Pred, a: Term, c: u128, flipped: bool) -> Option<Term> {
        let w = self.width(a);
        let is_signed = pred == Pred::Slt;
        let (inner, pred) = match *self.node(a) {
            Node::ZExt(x) => {
                // The value is not negative, so the signed order is the unsigned one unless the
                // constant is negative.
                if is_signed && value::signed(w, c) < 0 {
                    return Some(self.bit(flipped));
                }
                if c > mask(self.width(x)) {
                    return Some(self.bit(!flipped));
                }
                (x, Pred::Ult)
            }
            Node::SExt(x) if is_signed => {
                let (n, inside) = (value::signed(w, c), self.width(x));
                if n > value::signed_max(inside) {
                    return Some(self.bit(!flipped));
                }
                if n < value::signed_min(inside) {
                    return Some(self.bit(flipped));
                }
                (x, Pred::Slt)
            }
            Node::Ite(cond, x, y) => return self.split_choice(pred, cond, x, y, c, flipped),
            _ => return None,
        };
        let limit = self.constant(self.width(inner), c);
        Some(if flipped {
            self.cmp(pred, limit, inner)
        } else {
            self.cmp(pred, inner, limit)
        })
    }

    /// A comparison of a choice with a constant, if an arm of the choice is constant.
    fn split_choice(
        &mut self,
        pred: Pred,
        cond: Term,
        x: Term,
        y: Term,
        c: u128,
        flipped: bool,
    ) -> Option<Term> {
        let (p, q) = (self.as_const(x), self.as_const(y));
        // One constant arm suffices if comparing the other arm does not start a deep recursion.
        let shallow = |pool: &Pool, t: Term| !matches!(pool.node(t), Node::Ite(..));
        if !(p.is_some() && (q.is_some() || shallow(self, y)) || q.is_some() && shallow(self, x)) {
            return None;
        }
        let limit = self.constant(self.width(x), c);
        let [then, otherwise] = [x, y].map(|arm| {
            if flipped {
                self.cmp(pred, limit, arm)
            } else {
                self.cmp(pred, arm, limit)
            }
        });
        Some(self.ite(cond, then, otherwise))
    }

    /// `a <= b`; `pred` is `Ule` or `Sle`. With a constant it becomes a strict comparison.
    fn less_or_equal(&mut self, pred: Pred, a: Term, b: Term) -> Term {
        let w = self.width(a);
        let is_signed = pred == Pred::Sle;
        let strict = if is_signed { Pred::Slt } else { Pred::Ult };
        let (low, high) = if is_signed {
            (
                value::unsigned(w, value::signed_min(w)),
                value::signed_max(w) as u128,
            )
        } else {
            (0, mask(w))
        };
        match (self.as_const(a), self.as_const(b)) {
            (_, Some(c)) if c == high => self.bit(true),
            (Some(c), _) if c == low => self.bit(true),
            (None, Some(c)) => {
                let next = self.constant(w, c.wrapping_add(1));
                self.less(strict, a, next)
            }
            (Some(c), None) => {
                let previous = self.constant(w, c.wrapping_sub(1));
                self.less(strict, previous, b)
            }
            _ if w == 1 => {
                let greater = self.less(strict, b, a);
                self.not(greater)
            }
            _ => {
                if let Some((x, y, both_signed)) = self.same_extension(a, b) {
                    let inner = if both_signed { pred } else { Pred::Ule };
                    return self.cmp(inner, x, y);
                }
                self.intern(Node::Cmp(pred, a, b), 1)
            }
        }
    }

    /// Bitwise complement. On one bit it is negation.
    pub fn not(&mut self, a: Term) -> Term {
        let w = self.width(a);
        if let Some(v) = self.as_const(a) {
            return self.constant(w, !v);
        }
        match *self.node(a) {
            Node::Not(x) => x,
            Node::Cmp(Pred::Ult, x, y) => self.cmp(Pred::Ule, y, x),
            Node::Cmp(Pred::Ule, x, y) => self.cmp(Pred::Ult, y, x),
            Node::Cmp(Pred::Slt, x, y) => self.cmp(Pred::Sle, y, x),
            Node::Cmp(Pred::Sle, x, y) => self.cmp(Pred::Slt, y, x),
            Node::SExt(x) => {
                let inner = self.not(x);
                self.sext(inner, w)
            }
            _ => self.intern(Node::Not(a), w),
        }
    }

    /// Bitwise and. On one bit it is conjunction.
    pub fn and(&mut self, a: Term, b: Term) -> Term {
        self.bin(BinOp::And, a, b)
    }

    /// Bitwise or. On one bit it is disjunction.
    pub fn or(&mut self, a: Term, b: Term) -> Term {
        self.bin(BinOp::Or, a, b)
    }

    /// The conjunction of all bits; true if there are none.
    pub fn all(&mut self, bits: &[Term]) -> Term {
        let start = self.bit(true);
        bits.iter().fold(start, |sum, &t| self.and(sum, t))
    }

    /// The disjunction of all bits; false if there are none.
    pub fn any(&mut self, bits: &[Term]) -> Term {
        let start = self.bit(false);
        bits.iter().fold(start, |sum, &t| self.or(sum, t))
    }

    /// `a` if the bit `c` is set, else `b`.
    pub fn ite(&mut self, c: Term, a: Term, b: Term) -> Term {
        let w = self.width(a);
        debug_assert_eq!(w, self.width(b));
        if let Some(v) = self.as_const(c) {
            return if v == 1 { a } else { b };
        }
        if a == b {
            return a;
        }
        if let Node::Not(x) = *self.node(c) {
            return self.ite(x, b, a);
        }
        if w == 1 {
            match (self.as_const(a), self.as_const(b)) {
                (Some(1), Some(_)) => return c,
                (Some(_), Some(_)) => return self.not(c),
                (Some(1), None) => return self.or(c, b),
                (Some(_), None) => {
                    let other = self.not(c);
                    return self.and(other, b);
                }
                (None, Some(0)) => return self.and(c, a),
                (None, Some(_)) => {
                    let other = self.not(c);
                    return self.or(other, a);
                }
                (None, None) => {}
            }
        }
        // An inner choice with the same condition is decided by the outer one.
        let inside = |pool: &Pool, arm: Term, which: bool| match *pool.node(arm) {
            Node::Ite(d, x, y) if d == c => {
                if which {
                    x
                } else {
                    y
                }
            }
            _ => arm,
        };
        let (x, y) = (inside(self, a, true), inside(self, b, false));
        if (x, y) != (a, b) {
            return self.ite(c, x, y);
        }
        if let Some(v) = self.as_const(a).filter(|v| w > 1 && *v <= 1)
            && let Some(u) = self.as_const(b).filter(|u| *u == 1 - v)
        {
            let bit = if u == 0 { c } else { self.not(c) };
            return self.intern(Node::ZExt(bit), w);
        }
        self.intern(Node::Ite(c, a, b), w)
    }
}
