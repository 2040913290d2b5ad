//! Division.
//!
//! A divider is the largest circuit that a solver has to reason about, so dividers are avoided
//! where possible: divisions by powers of two become shifts, divisions of non-negative operands
//! unsigned, and divisions of small operands narrow.

use super::node::{Node, Term};
use super::pool::Pool;
use super::value::mask;
use crate::operator::BinOp;

impl Pool {
    pub(super) fn unsigned_division(&mut self, op: BinOp, a: Term, b: Term) -> Term {
        let w = self.width(a);
        if let Some(c) = self.as_const(b) {
            if c.is_power_of_two() {
                let log = c.trailing_zeros() as u16;
                return match op {
                    BinOp::UDiv => self.shift_right(a, log, false),
                    _ if log == 0 => self.constant(w, 0),
                    _ => {
                        let low = self.extract(a, 0, log);
                        self.zext(low, w)
                    }
                };
            }
            if let Node::ZExt(x) = *self.node(a)
                && c != 0
            {
                let inside = self.width(x);
                if c > mask(inside) {
                    return if op == BinOp::UDiv {
                        self.constant(w, 0)
                    } else {
                        a
                    };
                }
                let c = self.constant(inside, c);
                let inner = self.bin(op, x, c);
                return self.zext(inner, w);
            }
        } else if let (Node::ZExt(x), Node::ZExt(y)) = (*self.node(a), *self.node(b))
            && op == BinOp::URem
        {
            // The remainder of a division by zero is the dividend, at every width. (The quotient is
            // all ones, which depends on the width.)
            let inside = self.width(x).max(self.width(y));
            let (x, y) = (self.zext(x, inside), self.zext(y, inside));
            let inner = self.bin(op, x, y);
            return self.zext(inner, w);
        }
        self.intern(Node::Bin(op, a, b), w)
    }

    pub(super) fn signed_division(&mut self, op: BinOp, a: Term, b: Term) -> Term {
        let w = self.width(a);
        let not_negative = |pool: &Pool, t: Term| pool.unsigned_bits(t) < w;
        if not_negative(self, a) && not_negative(self, b) {
            let op = if op == BinOp::SDiv {
                BinOp::UDiv
            } else {
                BinOp::URem
            };
            return self.bin(op, a, b);
        }
        match self.as_const(b) {
            Some(1) if w > 1 => {
                return if op == BinOp::SDiv {
                    a
                } else {
                    self.constant(w, 0)
                };
            }
            Some(c) if c == mask(w) => {
                let zero = self.constant(w, 0);
                return if op == BinOp::SDiv {
                    self.bin(BinOp::Sub, zero, a)
                } else {
                    zero
                };
            }
            _ => {}
        }
        self.intern(Node::Bin(op, a, b), w)
    }
}
