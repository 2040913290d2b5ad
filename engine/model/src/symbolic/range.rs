//! The interval of the possible values of a term, as far as the path condition determines it
//! without a solver.
//!
//! An index that was compared with its array's length stays within the array's bytes. If this is
//! known, a write to the array does not affect the object's other members: the length next to a
//! buffer, or the function pointer after it.

use rustc_hash::FxHashMap;

use super::state::Guard;
use crate::program::ir::{BinOp, Pred};
use crate::term::{Node, Pool, Term};

/// Unsigned bounds, both inclusive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The least value.
    pub low: u64,
    /// The greatest value.
    pub high: u64,
}

/// The depth of a term beyond which it is taken to have any value.
const DEPTH: u32 = 12;
/// The number of literals of the path condition that are considered, the latest first.
const LITERALS: usize = 64;

/// The depth below which the branches of a choice are evaluated under its condition.
const CHOICES: u32 = 6;

/// The comparisons that hold, or do not hold, if a condition holds or does not hold.
fn compared(pool: &Pool, cond: Term, holds: bool, literals: &mut Vec<(Term, bool)>) {
    let mut open = vec![(cond, holds)];
    while let Some((t, holds)) = open.pop() {
        match *pool.node(t) {
            Node::Not(inner) => open.push((inner, !holds)),
            Node::Bin(BinOp::And, a, b) if holds => open.extend([(a, true), (b, true)]),
            Node::Bin(BinOp::Or, a, b) if !holds => open.extend([(a, false), (b, false)]),
            Node::Cmp(..) => literals.push((t, holds)),
            _ => {}
        }
    }
}

/// Computes the ranges of terms on one path.
pub struct Ranges<'a> {
    pool: &'a Pool,
    literals: Vec<(Term, bool)>,
    /// Bounds of the variables of the cut point where the path starts.
    bounds: Option<&'a FxHashMap<Term, Range>>,
}

impl Range {
    /// The range of all values of a width of at most 64 bits.
    pub fn all(width: u16) -> Range {
        Range {
            low: 0,
            high: top(width),
        }
    }
}

fn top(width: u16) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

impl<'a> Ranges<'a> {
    /// The ranges on a path with this condition.
    pub fn new(
        pool: &'a Pool,
        guard: &Guard,
        bounds: Option<&'a FxHashMap<Term, Range>>,
    ) -> Ranges<'a> {
        let mut literals = Vec::new();
        for &t in guard.0.iter().rev() {
            compared(pool, t, true, &mut literals);
            if literals.len() > LITERALS {
                break;
            }
        }
        Ranges {
            pool,
            literals,
            bounds,
        }
    }

    /// The ranges if additionally a condition holds, or does not hold.
    fn given(&self, cond: Term, holds: bool) -> Ranges<'a> {
        let mut literals = Vec::new();
        compared(self.pool, cond, holds, &mut literals);
        literals.extend_from_slice(&self.literals);
        Ranges { literals, ..*self }
    }

    /// The range of a term of at most 64 bits.
    pub fn of(&self, t: Term) -> Range {
        self.range(t, 0)
    }

    fn range(&self, t: Term, depth: u32) -> Range {
        let width = self.pool.width(t);
        let all = Range::all(width);
        if width > 64 || depth > DEPTH {
            return Range {
                low: 0,
                high: u64::MAX,
            };
        }
        if let Some(value) = self.pool.as_const(t) {
            let value = value as u64;
            return Range {
                low: value,
                high: value,
            };
        }
        let built = self.built(t, depth).unwrap_or(all);
        let said = self.said(t, width, built.high <= top(width) / 2, depth);
        let mut both = Range {
            low: built.low.max(said.low),
            high: built.high.min(said.high),
        };
        for wide in self.extended(t, depth) {
            both.low = both.low.max(wide.low);
            both.high = both.high.min(wide.high);
        }
        // The path is infeasible. Any answer is correct then, and this one is harmless.
        if both.low > both.high { built } else { both }
    }

    /// The ranges of extensions of the term, as far as the literals determine them: an `int` index
    /// is compared with its array's length in 64 bits, and scaled in fewer.
    fn extended(&self, t: Term, depth: u32) -> Vec<Range> {
        let mut all = Vec::new();
        for &(literal, _) in &self.literals {
            let Node::Cmp(_, a, b) = *self.pool.node(literal) else {
                continue;
            };
            for wide in [a, b] {
                let most = match *self.pool.node(wide) {
                    Node::SExt(inner) if inner == t => top(self.pool.width(t)) / 2,
                    Node::ZExt(inner) if inner == t => top(self.pool.width(t)),
                    _ => continue,
                };
                let width = self.pool.width(wide);
                if width <= 64 {
                    let range = self.said(wide, width, false, depth + 1);
                    all.extend((range.high <= most).then_some(range));
                }
            }
        }
        all
    }

    /// The range of the term itself, as far as the literals determine it.
    fn said(&self, t: Term, width: u16, mut positive: bool, depth: u32) -> Range {
        let mut all = Range::all(width);
        // Upper bounds of signed comparisons count only if the value is known not to be negative.
        let half = top(width) / 2;
        let mut signed_high = half;
        for &(literal, holds) in &self.literals {
            let Node::Cmp(pred, a, b) = *self.pool.node(literal) else {
                continue;
            };
            if a != t && b != t {
                continue;
            }
            let other = if a == t { b } else { a };
            if self.pool.as_const(other).is_none() && depth > 4 {
                continue;
            }
            let other = self.range(other, depth + 4);
            let is_left = a == t;
            match (pred, holds) {
                (Pred::Eq, true) => {
                    all.low = all.low.max(other.low);
                    all.high = all.high.min(other.high);
                }
                (Pred::Ult, true) if is_left => {
                    all.high = all.high.min(other.high.saturating_sub(1));
                }
                (Pred::Ult, true) => all.low = all.low.max(other.low.saturating_add(1)),
                (Pred::Ult, false) if is_left => all.low = all.low.max(other.low),
                (Pred::Ult, false) => all.high = all.high.min(other.high),
                (Pred::Ule, true) if is_left => all.high = all.high.min(other.high),
                (Pred::Ule, true) => all.low = all.low.max(other.low),
                (Pred::Ule, false) if is_left => all.low = all.low.max(other.low.saturating_add(1)),
                (Pred::Ule, false) => all.high = all.high.min(other.high.saturating_sub(1)),
                (Pred::Slt | Pred::Sle, _) => {
                    let above = is_left != holds;
                    let strict = (pred == Pred::Slt) == holds;
                    // A signed comparison with a number that is not negative. `-1 < t` means `0 <=
                    // t`.
                    let minus_one = other.low == top(width) && other.high == top(width);
                    if above && (minus_one && strict || other.high <= half) {
                        positive = true;
                        if !minus_one {
                            all.low = all.low.max(other.low.saturating_add(u64::from(strict)));
                        }
                    } else if !above && other.high <= half {
                        let high = other.high.saturating_sub(u64::from(strict));
                        signed_high = signed_high.min(high);
                    }
                }
                _ => {}
            }
        }
        if positive {
            all.high = all.high.min(signed_high);
        }
        all
    }

    /// The range of the term, as far as the ranges of its operands determine it.
    fn built(&self, t: Term, depth: u32) -> Option<Range> {
        let width = self.pool.width(t);
        let all = top(width);
        let range = |t: Term| self.range(t, depth + 1);
        let fits = |low: Option<u64>, high: Option<u64>| {
            let (low, high) = (low?, high?);
            (high <= all).then_some(Range { low, high })
        };
        match *self.pool.node(t) {
            Node::ZExt(a) => Some(range(a)),
            Node::SExt(a) => {
                let inner = range(a);
                (inner.high <= top(self.pool.width(a)) / 2).then_some(inner)
            }
            Node::Extract(a, 0) if self.pool.width(a) <= 64 => {
                let inner = range(a);
                (inner.high <= all).then_some(inner)
            }
            Node::Concat(high, low) => {
                let by = u32::from(self.pool.width(low));
                let (high, low) = (range(high), range(low));
                Some(Range {
                    low: high.low.checked_shl(by)? | low.low,
                    high: high.high.checked_shl(by)? | low.high,
                })
            }
            Node::Ite(cond, a, b) => {
                let (a, b) = match depth < CHOICES {
                    true => {
                        let (then, otherwise) = (self.given(cond, true), self.given(cond, false));
                        (then.range(a, depth + 1), otherwise.range(b, depth + 1))
                    }
                    false => (range(a), range(b)),
                };
                Some(Range {
                    low: a.low.min(b.low),
                    high: a.high.max(b.high),
                })
            }
            Node::Bin(op, a, b) => {
                let minus = self
                    .pool
                    .as_const(b)
                    .map(|c| (c as u64).wrapping_neg() & all);
                let (a, b) = (range(a), range(b));
                if let (BinOp::Add, Some(minus)) = (op, minus)
                    && minus <= all / 2
                    && minus <= a.low
                {
                    return fits(Some(a.low - minus), Some(a.high - minus));
                }
                match op {
                    BinOp::Add => fits(a.low.checked_add(b.low), a.high.checked_add(b.high)),
                    BinOp::Sub => fits(a.low.checked_sub(b.high), a.high.checked_sub(b.low)),
                    BinOp::Mul => fits(a.low.checked_mul(b.low), a.high.checked_mul(b.high)),
                    BinOp::And => Some(Range {
                        low: 0,
                        high: a.high.min(b.high),
                    }),
                    BinOp::Or | BinOp::Xor => {
                        let most = a.high | b.high;
                        let bits = u64::BITS - most.leading_zeros();
                        let high = top(bits as u16);
                        (high <= all).then_some(Range { low: 0, high })
                    }
                    BinOp::Shl if b.low == b.high && b.low < u64::from(width) => {
                        let by = 1u64 << b.low;
                        fits(a.low.checked_mul(by), a.high.checked_mul(by))
                    }
                    BinOp::URem if b.low > 0 => Some(Range {
                        low: 0,
                        high: a.high.min(b.high - 1),
                    }),
                    BinOp::UDiv if b.low > 0 => Some(Range {
                        low: a.low / b.high,
                        high: a.high / b.low,
                    }),
                    BinOp::LShr if b.low == b.high && b.low < 64 => Some(Range {
                        low: a.low >> b.low,
                        high: a.high >> b.low,
                    }),
                    _ => None,
                }
            }
            Node::Variable(_) => self.bounds.and_then(|bounds| bounds.get(&t)).copied(),
            _ => None,
        }
    }
}

/// A power of two up to 64, and the remainder that the term always has modulo this power.
pub fn residue(pool: &Pool, t: Term, depth: u32) -> (u64, u64) {
    const MOST: u64 = 64;
    let none = (1, 0);
    if depth > DEPTH {
        return none;
    }
    if let Some(value) = pool.as_const(t) {
        return (MOST, value as u64 % MOST);
    }
    match *pool.node(t) {
        Node::Bin(op @ (BinOp::Add | BinOp::Sub), a, b) => {
            let (x, y) = (residue(pool, a, depth + 1), residue(pool, b, depth + 1));
            let by = x.0.min(y.0);
            let rest = match op {
                BinOp::Add => x.1.wrapping_add(y.1),
                _ => x.1.wrapping_sub(y.1),
            };
            (by, rest % by)
        }
        Node::Bin(BinOp::Mul, a, b) => {
            let factor = match (pool.as_const(a), pool.as_const(b)) {
                (Some(c), _) | (_, Some(c)) => c as u64,
                _ => return none,
            };
            (1 << factor.trailing_zeros().min(6), 0)
        }
        Node::Concat(_, low) => {
            let width = pool.width(low);
            match pool.as_const(low) {
                Some(rest) => {
                    let by = 1 << width.min(6);
                    (by, rest as u64 % by)
                }
                None => {
                    let (by, rest) = residue(pool, low, depth + 1);
                    (by.min(1 << width.min(6)), rest)
                }
            }
        }
        Node::ZExt(a) | Node::SExt(a) => {
            let (by, rest) = residue(pool, a, depth + 1);
            let by = by.min(1 << pool.width(a).min(6));
            (by, rest % by)
        }
        Node::Ite(_, a, b) => {
            let (x, y) = (residue(pool, a, depth + 1), residue(pool, b, depth + 1));
            let by = x.0.min(y.0);
            if x.1 % by == y.1 % by {
                (by, x.1 % by)
            } else {
                none
            }
        }
        _ => none,
    }
}

#[cfg(test)]
mod tests;
