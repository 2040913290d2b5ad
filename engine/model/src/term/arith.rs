//! Integer arithmetic and bitwise operations.
//!
//! The canonical forms: constants are right operands, and in sums outermost; `x - c` is a sum;
//! operands of commutative operators are ordered by number; shifts, multiplications, divisions and
//! masks by powers of two are extractions and extensions. A division of operands that are known to
//! be small is done at their own width, which saves minutes in a solver that multiplies bit by bit.

use super::node::{Node, Term};
use super::pool::Pool;
use super::value::{self, mask};
use crate::operator::{BinOp, Pred, UnOp, Width};

/// The depth to which [`Pool::signed_bits`] descends.
const LOOK: u32 = 4;

impl Pool {
    /// `a op b`; both operands have the same width.
    pub fn bin(&mut self, op: BinOp, a: Term, b: Term) -> Term {
        let w = self.width(a);
        debug_assert_eq!(w, self.width(b), "{op:?}");
        if let (Some(x), Some(y)) = (self.as_const(a), self.as_const(b)) {
            return self.constant(w, value::bin(op, w, x, y));
        }
        match op {
            BinOp::Add => self.add(a, b),
            BinOp::Sub => self.sub(a, b),
            BinOp::Mul => self.mul(a, b),
            BinOp::And | BinOp::Or | BinOp::Xor => self.bitwise(op, a, b),
            BinOp::Shl | BinOp::LShr | BinOp::AShr => self.shift(op, a, b),
            BinOp::UDiv | BinOp::URem => self.unsigned_division(op, a, b),
            BinOp::SDiv | BinOp::SRem => self.signed_division(op, a, b),
            BinOp::UMin => self.choose(Pred::Ult, a, b),
            BinOp::UMax => self.choose(Pred::Ugt, a, b),
            BinOp::SMin => self.choose(Pred::Slt, a, b),
            BinOp::SMax => self.choose(Pred::Sgt, a, b),
            BinOp::UAddSat | BinOp::USubSat => {
                let (plain, limit) = match op {
                    BinOp::UAddSat => (BinOp::Add, mask(w)),
                    _ => (BinOp::Sub, 0),
                };
                let over = self.overflow(plain, false, a, b);
                let limit = self.constant(w, limit);
                let value = self.bin(plain, a, b);
                self.ite(over, limit, value)
            }
            BinOp::SAddSat | BinOp::SSubSat => {
                // Overflow goes in the direction of `a`'s sign.
                let plain = if op == BinOp::SAddSat {
                    BinOp::Add
                } else {
                    BinOp::Sub
                };
                let over = self.overflow(plain, true, a, b);
                let zero = self.constant(w, 0);
                let negative = self.cmp(Pred::Slt, a, zero);
                let low = self.constant(w, value::signed_min(w) as u128);
                let high = self.constant(w, value::signed_max(w) as u128);
                let limit = self.ite(negative, low, high);
                let value = self.bin(plain, a, b);
                self.ite(over, limit, value)
            }
        }
    }

    /// `a` if `a pred b`, else `b`: a minimum or a maximum.
    fn choose(&mut self, pred: Pred, a: Term, b: Term) -> Term {
        let less = self.cmp(pred, a, b);
        self.ite(less, a, b)
    }

    /// `op a`.
    pub fn un(&mut self, op: UnOp, a: Term) -> Term {
        let w = self.width(a);
        if let Some(v) = self.as_const(a) {
            return self.constant(w, value::un(op, w, v));
        }
        match op {
            UnOp::BSwap => {
                let mut swapped = self.extract(a, 0, 8);
                for byte in 1..w / 8 {
                    let next = self.extract(a, byte * 8, 8);
                    swapped = self.concat(swapped, next);
                }
                swapped
            }
            UnOp::Abs => {
                let zero = self.constant(w, 0);
                let negative = self.cmp(Pred::Slt, a, zero);
                let negated = self.bin(BinOp::Sub, zero, a);
                self.ite(negative, negated, a)
            }
            UnOp::CtPop | UnOp::BitReverse if w == 1 => a,
            UnOp::CtPop | UnOp::CtLz | UnOp::CtTz | UnOp::BitReverse => {
                self.intern(Node::Un(op, a), w)
            }
        }
    }

    /// Whether the result of Add, Sub or Mul does not fit, in one bit.
    pub fn overflow(&mut self, op: BinOp, is_signed: bool, a: Term, b: Term) -> Term {
        let w = self.width(a);
        if let (Some(x), Some(y)) = (self.as_const(a), self.as_const(b)) {
            return self.bit(value::overflow(op, is_signed, w, x, y));
        }
        if op != BinOp::Sub && (self.as_const(a).is_some() || (self.as_const(b).is_none() && a > b))
        {
            return self.overflow_ordered(op, is_signed, b, a);
        }
        self.overflow_ordered(op, is_signed, a, b)
    }

    fn overflow_ordered(&mut self, op: BinOp, is_signed: bool, a: Term, b: Term) -> Term {
        let w = self.width(a);
        // Extended operands that leave enough room cannot overflow. This settles most checks on
        // bytes and shorts.
        let fits = if is_signed {
            let (x, y) = (self.signed_bits(a, LOOK), self.signed_bits(b, LOOK));
            match op {
                BinOp::Mul => x + y <= w,
                _ => x.max(y) < w,
            }
        } else {
            let (x, y) = (self.unsigned_bits(a), self.unsigned_bits(b));
            match op {
                BinOp::Add => x.max(y) < w,
                BinOp::Mul => x + y <= w,
                _ => false,
            }
        };
        if fits {
            return self.bit(false);
        }
        if let Some(c) = self.as_const(b) {
            if c == 0 || (op == BinOp::Mul && c == 1 && w > 1) {
                return self.bit(false);
            }
            if is_signed {
                let (n, low, high) = (
                    value::signed(w, c),
                    value::signed_min(w),
                    value::signed_max(w),
                );
                let limit = match op {
                    BinOp::Add if n > 0 => Some((Pred::Sgt, high - n)),
                    BinOp::Add => Some((Pred::Slt, low - n)),
                    BinOp::Sub if n > 0 => Some((Pred::Slt, low + n)),
                    // `high + min` is still in range, and `x - min` overflows for all `x > -1`.
                    BinOp::Sub => Some((Pred::Sgt, high + n)),
                    _ => None,
                };
                if let Some((pred, limit)) = limit {
                    let limit = self.constant(w, limit as u128);
                    return self.cmp(pred, a, limit);
                }
            } else {
                let (pred, limit) = match op {
                    BinOp::Add => (Pred::Ugt, mask(w) - c),
                    BinOp::Sub => (Pred::Ult, c),
                    _ => (Pred::Ugt, mask(w) / c),
                };
                let limit = self.constant(w, limit);
                return self.cmp(pred, a, limit);
            }
        }
        match (op, is_signed) {
            (BinOp::Sub, false) => self.cmp(Pred::Ult, a, b),
            (BinOp::Add, false) => {
                let sum = self.bin(BinOp::Add, a, b);
                self.cmp(Pred::Ult, sum, a)
            }
            _ => self.intern(Node::Overflow(op, is_signed, a, b), 1),
        }
    }

    /// The number of bits that represent the value in two's complement.
    fn signed_bits(&self, t: Term, look: u32) -> u16 {
        let w = self.width(t);
        if let Some(v) = self.as_const(t) {
            let n = value::signed(w, v);
            let magnitude = if n < 0 { !n } else { n };
            return (129 - magnitude.leading_zeros()) as u16;
        }
        if look == 0 {
            return w;
        }
        let bits = match *self.node(t) {
            Node::ZExt(inner) => self.width(inner) + 1,
            Node::SExt(inner) => self.signed_bits(inner, look - 1),
            Node::Bin(BinOp::Add | BinOp::Sub, a, b) => {
                self.signed_bits(a, look - 1)
                    .max(self.signed_bits(b, look - 1))
                    + 1
            }
            Node::Bin(BinOp::Mul, a, b) => {
                self.signed_bits(a, look - 1) + self.signed_bits(b, look - 1)
            }
            Node::Bin(BinOp::And | BinOp::Or | BinOp::Xor, a, b) | Node::Ite(_, a, b) => self
                .signed_bits(a, look - 1)
                .max(self.signed_bits(b, look - 1)),
            _ => w,
        };
        bits.min(w)
    }

    fn add(&mut self, a: Term, b: Term) -> Term {
        let w = self.width(a);
        let (a, b) = self.constant_right(a, b);
        if let Some(c) = self.as_const(b) {
            if c == 0 {
                return a;
            }
            match *self.node(a) {
                Node::Bin(BinOp::Add, x, d) => {
                    if let Some(d) = self.as_const(d) {
                        let sum = self.constant(w, c.wrapping_add(d));
                        return self.bin(BinOp::Add, x, sum);
                    }
                }
                Node::Bin(BinOp::Sub, d, x) => {
                    if let Some(d) = self.as_const(d) {
                        let sum = self.constant(w, c.wrapping_add(d));
                        return self.bin(BinOp::Sub, sum, x);
                    }
                }
                _ => {}
            }
            if w == 1 {
                return self.not(a);
            }
            return self.intern(Node::Bin(BinOp::Add, a, b), w);
        }
        // Constants move outwards.
        for (x, y) in [(a, b), (b, a)] {
            match *self.node(x) {
                Node::Bin(BinOp::Add, inner, c) if self.as_const(c).is_some() => {
                    let sum = self.bin(BinOp::Add, inner, y);
                    return self.bin(BinOp::Add, sum, c);
                }
                Node::Bin(BinOp::Sub, inner, other) if other == y => return inner,
                Node::Bin(BinOp::Sub, zero, other) if self.as_const(zero) == Some(0) => {
                    return self.bin(BinOp::Sub, y, other);
                }
                _ => {}
            }
        }
        if let Some(joined) = self.join_disjoint(a, b) {
            return joined;
        }
        self.intern(Node::Bin(BinOp::Add, a, b), w)
    }

    fn sub(&mut self, a: Term, b: Term) -> Term {
        let w = self.width(a);
        if a == b {
            return self.constant(w, 0);
        }
        if let Some(c) = self.as_const(b) {
            let negated = self.constant(w, c.wrapping_neg());
            return self.bin(BinOp::Add, a, negated);
        }
        if let Node::Bin(BinOp::Add, x, y) = *self.node(a) {
            if x == b {
                return y;
            }
            if y == b {
                return x;
            }
            if self.as_const(y).is_some() {
                let difference = self.bin(BinOp::Sub, x, b);
                return self.bin(BinOp::Add, difference, y);
            }
        }
        match *self.node(b) {
            Node::Bin(BinOp::Add, x, y) if self.as_const(y).is_some() => {
                let difference = self.bin(BinOp::Sub, a, x);
                return self.bin(BinOp::Sub, difference, y);
            }
            Node::Bin(BinOp::Sub, zero, x) if self.as_const(zero) == Some(0) => {
                return self.bin(BinOp::Add, a, x);
            }
            _ => {}
        }
        self.intern(Node::Bin(BinOp::Sub, a, b), w)
    }

    fn mul(&mut self, a: Term, b: Term) -> Term {
        let w = self.width(a);
        let (a, b) = self.constant_right(a, b);
        if let Some(c) = self.as_const(b) {
            if c == 0 {
                return b;
            }
            if c.is_power_of_two() {
                return self.shift_left(a, c.trailing_zeros() as u16);
            }
            if c == mask(w) {
                let zero = self.constant(w, 0);
                return self.bin(BinOp::Sub, zero, a);
            }
            if let Node::Bin(BinOp::Mul, x, d) = *self.node(a)
                && let Some(d) = self.as_const(d)
            {
                let product = self.constant(w, c.wrapping_mul(d));
                return self.bin(BinOp::Mul, x, product);
            }
        } else {
            // The product of the variables is separated from the constant, so that the products
            // before and after an increment share it.
            for (sum, other) in [(a, b), (b, a)] {
                if let Node::Bin(BinOp::Add, x, c) = *self.node(sum)
                    && self.as_const(c).is_some()
                {
                    let product = self.bin(BinOp::Mul, x, other);
                    let rest = self.bin(BinOp::Mul, other, c);
                    return self.bin(BinOp::Add, product, rest);
                }
            }
        }
        self.intern(Node::Bin(BinOp::Mul, a, b), w)
    }

    /// Orders operands: a constant to the right, otherwise the older term first.
    fn constant_right(&self, a: Term, b: Term) -> (Term, Term) {
        let swap = match (self.as_const(a), self.as_const(b)) {
            (Some(_), None) => true,
            (None, None) => a > b,
            _ => false,
        };
        if swap { (b, a) } else { (a, b) }
    }

    /// `a + b`, `a | b` or `a ^ b` as a concatenation, if no bit can be set in both operands.
    fn join_disjoint(&mut self, a: Term, b: Term) -> Option<Term> {
        for (high, low) in [(a, b), (b, a)] {
            let room = self.trailing_zeros(high);
            if room > 0 && self.unsigned_bits(low) <= room {
                let w = self.width(a);
                let (high, low) = (
                    self.extract(high, room, w - room),
                    self.extract(low, 0, room),
                );
                return Some(self.concat(high, low));
            }
        }
        None
    }

    fn bitwise(&mut self, op: BinOp, a: Term, b: Term) -> Term {
        let w = self.width(a);
        let (a, b) = self.constant_right(a, b);
        if a == b {
            return if op == BinOp::Xor {
                self.constant(w, 0)
            } else {
                a
            };
        }
        let complement = matches!(*self.node(a), Node::Not(x) if x == b)
            || matches!(*self.node(b), Node::Not(x) if x == a);
        if complement {
            return self.constant(w, if op == BinOp::And { 0 } else { mask(w) });
        }
        if let Some(c) = self.as_const(b) {
            return self.bitwise_const(op, a, b, c);
        }
        if op != BinOp::And
            && let Some(joined) = self.join_disjoint(a, b)
        {
            return joined;
        }
        match (*self.node(a), *self.node(b)) {
            // Bitwise operations on extended values are done before the extension.
            (Node::ZExt(x), Node::ZExt(y)) if self.width(x) == self.width(y) => {
                let inner = self.bin(op, x, y);
                self.zext(inner, w)
            }
            (Node::SExt(x), Node::SExt(y)) if self.width(x) == self.width(y) => {
                let inner = self.bin(op, x, y);
                self.sext(inner, w)
            }
            (Node::Not(x), Node::Not(y)) if op == BinOp::Xor => self.bin(op, x, y),
            (Node::ZExt(x), _) if op == BinOp::And => self.and_narrow(x, b, w),
            (_, Node::ZExt(y)) if op == BinOp::And => self.and_narrow(y, a, w),
            _ => self.intern(Node::Bin(op, a, b), w),
        }
    }

    fn and_narrow(&mut self, narrow: Term, wide: Term, w: Width) -> Term {
        let inside = self.width(narrow);
        let part = self.extract(wide, 0, inside);
        let inner = self.bin(BinOp::And, narrow, part);
        self.zext(inner, w)
    }

    fn bitwise_const(&mut self, op: BinOp, a: Term, b: Term, c: u128) -> Term {
        let w = self.width(a);
        let ones = mask(w);
        match op {
            BinOp::And if c == 0 => return b,
            BinOp::And if c == ones => return a,
            BinOp::Or | BinOp::Xor if c == 0 => return a,
            BinOp::Or if c == ones => return b,
            BinOp::Xor if c == ones => return self.not(a),
            _ => {}
        }
        match *self.node(a) {
            Node::Bin(same, x, d) if same == op => {
                if let Some(d) = self.as_const(d) {
                    let folded = self.constant(w, value::bin(op, w, c, d));
                    return self.bin(op, x, folded);
                }
            }
            // If the constant has no bits above the operand's width, the upper bits stay zero.
            Node::ZExt(x) => {
                let inside = self.width(x);
                if op == BinOp::And || c <= mask(inside) {
                    let low = self.constant(inside, c);
                    let inner = self.bin(op, x, low);
                    return self.zext(inner, w);
                }
            }
            Node::Concat(high, low) => {
                let split = self.width(low);
                let (above, below) = (
                    self.constant(w - split, c >> split),
                    self.constant(split, c),
                );
                let (high, low) = (self.bin(op, high, above), self.bin(op, low, below));
                return self.concat(high, low);
            }
            _ => {}
        }
        // Masking a run of neighbouring bits is an extraction, and so is setting all bits outside
        // of a run.
        let run = if op == BinOp::And { c } else { !c & ones };
        let (low, count) = (run.trailing_zeros() as u16, run.count_ones() as u16);
        if op != BinOp::Xor && run >> low == mask(count) {
            let fill = if op == BinOp::And { 0 } else { u128::MAX };
            let mut joined = self.extract(a, low, count);
            if low > 0 {
                let below = self.constant(low, fill);
                joined = self.concat(joined, below);
            }
            if low + count < w {
                let above = self.constant(w - low - count, fill);
                joined = self.concat(above, joined);
            }
            return joined;
        }
        self.intern(Node::Bin(op, a, b), w)
    }

    fn shift(&mut self, op: BinOp, a: Term, b: Term) -> Term {
        let w = self.width(a);
        if let Some(by) = self.as_const(b) {
            let oversized = by >= u128::from(w);
            return match op {
                BinOp::AShr => self.shift_right(a, by.min(u128::from(w - 1)) as u16, true),
                _ if oversized => self.constant(w, 0),
                BinOp::Shl => self.shift_left(a, by as u16),
                _ => self.shift_right(a, by as u16, false),
            };
        }
        if self.as_const(a) == Some(0) || (op == BinOp::AShr && self.as_const(a) == Some(mask(w))) {
            return a;
        }
        let op = match *self.node(a) {
            Node::ZExt(_) if op == BinOp::AShr => BinOp::LShr,
            _ => op,
        };
        self.intern(Node::Bin(op, a, b), w)
    }
}
