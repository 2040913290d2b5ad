//! Sums of an address and a distance.
//!
//! An access has to stay in the object that its pointer was made from, and distances are counted in
//! 64 bits. But terms are numbers, and constants are added up: a constant address plus a constant
//! step of 2^32 would be the constant address of another object. So a step that leaves an object's
//! neighbourhood becomes a new unknown with an equation that defines it. The sum then still shows
//! the object that it began with.

use super::super::state::{Reached, Surroundings};
use super::{Encoder, Step};
use crate::program::ir::numbers::object_and_offset;
use crate::program::ir::{BinOp, CastKind, Operand, Pred, Width};
use crate::term::{Node, Pool, Term};

/// The size of an object's neighbourhood in both directions, in bytes.
const NEAR: i128 = 1 << 31;
/// The number of nodes of one sum that are examined. A sum with more is taken to be far away.
const NODES: usize = 64;

/// Collects the constants that may be summands of a sum, with their signs. Returns false if there
/// are too many.
fn constants(pool: &Pool, t: Term, all: &mut Vec<(u64, bool)>) -> bool {
    let mut open = vec![(t, false)];
    let mut seen = 0;
    while let Some((t, negative)) = open.pop() {
        seen += 1;
        if seen > NODES {
            return false;
        }
        if let Some(value) = pool.as_const(t) {
            all.push((value as u64, negative));
            continue;
        }
        match *pool.node(t) {
            Node::Bin(BinOp::Add, a, b) => open.extend([(a, negative), (b, negative)]),
            Node::Bin(BinOp::Sub, a, b) => open.extend([(a, negative), (b, !negative)]),
            Node::Ite(_, a, b) => open.extend([(a, negative), (b, negative)]),
            _ => {}
        }
    }
    true
}

impl Encoder<'_, '_> {
    /// Executes `getelementptr`.
    pub(super) fn displaced(
        &mut self,
        now: &mut Reached,
        base: Operand,
        offset: i64,
        indices: &[(Operand, Width, i64)],
    ) -> Step<Term> {
        let base = self.get(&mut now.state, base, 64);
        let mut total = self.c64(offset as u64);
        let mut wraps = self.pool.bit(false);
        for &(index, width, scale) in indices {
            let index = self.get(&mut now.state, index, width);
            let wide = self.pool.cast(CastKind::SExt, index, 64);
            if let Some(cond) = self.wraps(now, wide, scale) {
                wraps = self.pool.or(wraps, cond);
            }
            let scale = self.c64(scale as u64);
            let product = self.pool.bin(BinOp::Mul, wide, scale);
            total = self.pool.bin(BinOp::Add, total, product);
        }
        let sum = self.sum(now, BinOp::Add, base, total)?;
        if self.pool.as_const(wraps) != Some(0) {
            self.wrapped.insert(sum, wraps);
        }
        Ok(sum)
    }

    /// The condition under which the product of an index and the size of an element does not fit
    /// into 64 bits. `None` if that evidently never happens.
    fn wraps(&mut self, now: &Reached, index: Term, scale: i64) -> Option<Term> {
        let scale = scale.unsigned_abs();
        if scale < 2 {
            return None;
        }
        let most = i64::MAX as u64 / scale;
        if let Node::SExt(inner) | Node::ZExt(inner) = *self.pool.node(index)
            && self.pool.width(inner) <= 32
            && scale < 1 << 31
        {
            return None;
        }
        if self.ranges(now).of(index).high <= most {
            return None;
        }
        let (most, all) = (self.c64(most), self.c64(most * 2));
        let moved = self.pool.bin(BinOp::Add, index, most);
        Some(self.pool.cmp(Pred::Ugt, moved, all))
    }

    /// `a + b` or `a - b`, where one operand may be an address.
    pub(super) fn sum(&mut self, now: &mut Reached, op: BinOp, a: Term, b: Term) -> Step<Term> {
        let plain = self.pool.bin(op, a, b);
        if self.pool.width(a) != 64 {
            return Ok(plain);
        }
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let few = constants(self.pool, a, &mut left) && constants(self.pool, b, &mut right);
        let (mine, others) = (self.anchors(&left), self.anchors(&right));
        if mine.is_empty() && others.is_empty() {
            // The sum of two plain numbers is not an address, either.
            let made = self.pool.as_const(plain).map(|value| value as u64);
            return Ok(match made {
                Some(value) if self.is_anchor(value) => self.numberless(64),
                _ => plain,
            });
        }
        if !mine.is_empty() && !others.is_empty() {
            // The sum of two addresses depends on their numbers. Their difference is treated
            // elsewhere (see `looks_at_number`).
            return Ok(match op {
                BinOp::Add => self.numberless(64),
                _ => plain,
            });
        }
        let steps = if mine.is_empty() { &left } else { &right };
        let offsets = if mine.is_empty() { &others } else { &mine };
        let far = |offset: i64| {
            steps.iter().any(|&(step, negative)| {
                let step = i128::from(step as i64);
                let by = if negative != (op == BinOp::Sub) {
                    -step
                } else {
                    step
                };
                !(-NEAR..NEAR).contains(&(i128::from(offset) + by))
            })
        };
        let hops = !few || offsets.iter().any(|&offset| far(offset)) || self.is_mixed(plain);
        if !hops {
            return Ok(plain);
        }
        let (address, step) = if mine.is_empty() { (b, a) } else { (a, b) };
        let named = self.unknown(64);
        let same = self.pool.eq(named, step);
        self.assume(now, same)?;
        Ok(match (op, mine.is_empty()) {
            (BinOp::Sub, true) => self.pool.bin(op, named, address),
            _ => self.pool.bin(op, address, named),
        })
    }

    /// Whether this is the address of an object or function, or near one.
    pub(super) fn is_anchor(&mut self, value: u64) -> bool {
        let (number, _) = object_and_offset(value);
        self.has_address(number)
    }

    /// The offsets of the constants that are addresses.
    fn anchors(&mut self, constants: &[(u64, bool)]) -> Vec<i64> {
        let mut all = Vec::new();
        for &(value, _) in constants {
            if self.is_anchor(value) {
                all.push(object_and_offset(value).1 as i64);
            }
        }
        all
    }

    /// Whether bits of a distance are mixed with those of an address: if their bits do not overlap,
    /// a sum is simplified to a concatenation of bits.
    fn is_mixed(&self, sum: Term) -> bool {
        match *self.pool.node(sum) {
            Node::Concat(high, _) => {
                self.pool.width(high) != 32 || self.pool.as_const(high).is_none()
            }
            _ => false,
        }
    }
}
