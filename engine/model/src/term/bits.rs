//! Extraction, extension and concatenation of bit-vectors.
//!
//! The canonical forms: concatenations nest to the right and never contain two neighbours that are
//! adjacent parts of the same term; a concatenation with leading zeros is a zero extension, and one
//! with copies of the sign bit above is a sign extension; an extraction is never applied to a
//! concatenation, an extension or another extraction. Shifts by constants are expressed by these
//! operators, too, so that `b0 | b1 << 8` and a two-byte load are the same term.

use super::node::{Node, Term};
use super::pool::Pool;
use super::value;
use crate::operator::{CastKind, Width};

impl Pool {
    /// Zero extension (or truncation, if `width` is less) to `width` bits.
    pub fn zext(&mut self, a: Term, width: Width) -> Term {
        let from = self.width(a);
        if width == from {
            return a;
        }
        if width < from {
            return self.extract(a, 0, width);
        }
        if let Some(v) = self.as_const(a) {
            return self.constant(width, v);
        }
        match *self.node(a) {
            Node::ZExt(inner) => self.intern(Node::ZExt(inner), width),
            Node::Ite(c, x, y) if self.both_const(x, y) => {
                let (x, y) = (self.zext(x, width), self.zext(y, width));
                self.ite(c, x, y)
            }
            _ => self.intern(Node::ZExt(a), width),
        }
    }

    /// Sign extension (or truncation, if `width` is less) to `width` bits.
    pub fn sext(&mut self, a: Term, width: Width) -> Term {
        let from = self.width(a);
        if width == from {
            return a;
        }
        if width < from {
            return self.extract(a, 0, width);
        }
        if let Some(v) = self.as_const(a) {
            return self.constant(width, value::cast(CastKind::SExt, from, width, v));
        }
        match *self.node(a) {
            // The sign bit of a zero extension is zero.
            Node::ZExt(inner) => self.intern(Node::ZExt(inner), width),
            Node::SExt(inner) => self.intern(Node::SExt(inner), width),
            Node::Ite(c, x, y) if self.both_const(x, y) => {
                let (x, y) = (self.sext(x, width), self.sext(y, width));
                self.ite(c, x, y)
            }
            _ => self.intern(Node::SExt(a), width),
        }
    }

    /// Truncation or extension to `width` bits.
    pub fn cast(&mut self, kind: CastKind, a: Term, width: Width) -> Term {
        match kind {
            CastKind::Trunc => self.extract(a, 0, width),
            CastKind::ZExt => self.zext(a, width),
            CastKind::SExt => self.sext(a, width),
        }
    }

    /// The `width` bits from bit `low` on.
    pub fn extract(&mut self, a: Term, low: u16, width: Width) -> Term {
        let from = self.width(a);
        debug_assert!(
            width > 0 && low + width <= from,
            "bits {low}+{width} of {from}"
        );
        if width == from {
            return a;
        }
        if let Some(v) = self.as_const(a) {
            return self.constant(width, v >> low);
        }
        match *self.node(a) {
            Node::Extract(inner, below) => self.extract(inner, below + low, width),
            Node::Concat(high, lower) => {
                let split = self.width(lower);
                if low >= split {
                    self.extract(high, low - split, width)
                } else if low + width <= split {
                    self.extract(lower, low, width)
                } else {
                    let upper = self.extract(high, 0, low + width - split);
                    let lower = self.extract(lower, low, split - low);
                    self.concat(upper, lower)
                }
            }
            Node::ZExt(inner) => {
                let inside = self.width(inner);
                if low >= inside {
                    self.constant(width, 0)
                } else if low + width <= inside {
                    self.extract(inner, low, width)
                } else {
                    let part = self.extract(inner, low, inside - low);
                    self.zext(part, width)
                }
            }
            Node::SExt(inner) => {
                let inside = self.width(inner);
                if low + width <= inside {
                    self.extract(inner, low, width)
                } else {
                    let first = low.min(inside - 1);
                    let part = self.extract(inner, first, inside - first);
                    self.sext(part, width)
                }
            }
            Node::Ite(c, x, y) if self.both_const(x, y) => {
                let (x, y) = (self.extract(x, low, width), self.extract(y, low, width));
                self.ite(c, x, y)
            }
            Node::Not(inner) => {
                let part = self.extract(inner, low, width);
                self.not(part)
            }
            _ => self.intern(Node::Extract(a, low), width),
        }
    }

    /// Concatenation: the bits of `high` above those of `low`.
    pub fn concat(&mut self, high: Term, low: Term) -> Term {
        let width = self.width(high) + self.width(low);
        debug_assert!(width <= 128, "{width} bits");
        match *self.node(high) {
            Node::Concat(first, second) => {
                let rest = self.concat(second, low);
                return self.concat(first, rest);
            }
            Node::ZExt(inner) => {
                let part = self.concat(inner, low);
                return self.zext(part, width);
            }
            _ => {}
        }
        if let Some(fused) = self.fuse(high, low) {
            return fused;
        }
        if let Node::Concat(next, rest) = *self.node(low)
            && let Some(fused) = self.fuse(high, next)
        {
            return self.concat(fused, rest);
        }
        self.intern(Node::Concat(high, low), width)
    }

    /// Two neighbours as one term that is not a concatenation, if that is possible.
    fn fuse(&mut self, high: Term, low: Term) -> Option<Term> {
        let (above, below) = (self.width(high), self.width(low));
        let width = above + below;
        if let Some(h) = self.as_const(high) {
            if h == 0 {
                return Some(self.zext(low, width));
            }
            let l = self.as_const(low)?;
            return Some(self.constant(width, (h << below) | l));
        }
        match (*self.node(high), *self.node(low)) {
            (Node::Extract(x, from), Node::Extract(y, to)) if x == y && to + below == from => {
                return Some(self.extract(x, to, width));
            }
            (Node::Not(x), Node::Not(y)) => {
                let both = self.fuse(x, y)?;
                return Some(self.not(both));
            }
            (Node::Ite(c, a, b), Node::Ite(d, x, y))
                if c == d && self.both_const(a, b) && self.both_const(x, y) =>
            {
                let (then, otherwise) = (self.concat(a, x), self.concat(b, y));
                return Some(self.ite(c, then, otherwise));
            }
            _ => {}
        }
        // Copies of the sign bit of `low` above it.
        let bit = match *self.node(high) {
            Node::SExt(inner) if self.width(inner) == 1 => inner,
            _ if above == 1 => high,
            _ => return None,
        };
        let source = match *self.node(low) {
            Node::SExt(inner) => inner,
            _ => low,
        };
        let inside = self.width(source);
        let is_sign = if inside == 1 {
            source == bit
        } else {
            *self.node(bit) == Node::Extract(source, inside - 1) || self.is_sign_of(bit, source)
        };
        is_sign.then(|| self.sext(low, width))
    }

    /// Whether `bit` is the top bit of `source`, where extracting it does not give a plain
    /// extraction node.
    fn is_sign_of(&mut self, bit: Term, source: Term) -> bool {
        match *self.node(source) {
            Node::Concat(..) | Node::Extract(..) | Node::Not(_) => {
                let top = self.width(source) - 1;
                self.extract(source, top, 1) == bit
            }
            _ => false,
        }
    }

    /// `a` shifted left by a constant below its width.
    pub(super) fn shift_left(&mut self, a: Term, by: u16) -> Term {
        let width = self.width(a);
        if by == 0 {
            return a;
        }
        let part = self.extract(a, 0, width - by);
        let zeros = self.constant(by, 0);
        self.concat(part, zeros)
    }

    /// `a` shifted right by a constant below its width, filling with zeros or the sign.
    pub(super) fn shift_right(&mut self, a: Term, by: u16, arithmetic: bool) -> Term {
        let width = self.width(a);
        let part = self.extract(a, by, width - by);
        if arithmetic {
            self.sext(part, width)
        } else {
            self.zext(part, width)
        }
    }

    /// The high (`left`) or low word of `a:b` shifted by `by` modulo the width.
    pub fn funnel(&mut self, left: bool, a: Term, b: Term, by: Term) -> Term {
        let width = self.width(a);
        let Some(by_const) = self.as_const(by) else {
            return self.intern(Node::Funnel(left, a, b, by), width);
        };
        let by = (by_const % u128::from(width)) as u16;
        match (by, left) {
            (0, true) => a,
            (0, false) => b,
            (_, true) => {
                let (high, low) = (
                    self.extract(a, 0, width - by),
                    self.extract(b, width - by, by),
                );
                self.concat(high, low)
            }
            (_, false) => {
                let (high, low) = (self.extract(a, 0, by), self.extract(b, by, width - by));
                self.concat(high, low)
            }
        }
    }

    pub(super) fn both_const(&self, x: Term, y: Term) -> bool {
        self.as_const(x).is_some() && self.as_const(y).is_some()
    }

    /// An upper bound on the number of low bits that may be nonzero.
    pub(super) fn unsigned_bits(&self, t: Term) -> u16 {
        match *self.node(t) {
            Node::ZExt(inner) => self.width(inner),
            Node::Ite(_, x, y) if self.both_const(x, y) => {
                self.unsigned_bits(x).max(self.unsigned_bits(y))
            }
            _ => match self.as_const(t) {
                Some(v) => (128 - v.leading_zeros()) as u16,
                None => self.width(t),
            },
        }
    }

    /// The number of low bits that are certainly zero.
    pub(super) fn trailing_zeros(&self, t: Term) -> u16 {
        let mut t = t;
        loop {
            match *self.node(t) {
                Node::Concat(_, low) | Node::ZExt(low) | Node::SExt(low)
                    if self.as_const(low).is_none() =>
                {
                    t = low;
                }
                Node::Concat(_, low) => {
                    // The low end is a constant. Only all-zero ends are recognised.
                    return if self.as_const(low) == Some(0) {
                        self.width(low)
                    } else {
                        0
                    };
                }
                _ => return 0,
            }
        }
    }
}
