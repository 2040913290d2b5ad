//! The computed range and residue of a term must contain its value whenever the guard holds.

use proptest::prelude::*;
use rustc_hash::FxHashMap;

use super::super::state::Guard;
use super::{Range, Ranges, residue};
use crate::program::ir::{BinOp, CastKind, Pred, Width};
use crate::term::{Environment, Evaluator, Node, Pool, Term};

const WIDTHS: [Width; 6] = [64, 32, 16, 8, 4, 1];
const PREDS: [Pred; 10] = [
    Pred::Eq,
    Pred::Ne,
    Pred::Ult,
    Pred::Ule,
    Pred::Ugt,
    Pred::Uge,
    Pred::Slt,
    Pred::Sle,
    Pred::Sgt,
    Pred::Sge,
];
const OPS: [BinOp; 13] = [
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::And,
    BinOp::Or,
    BinOp::Xor,
    BinOp::Shl,
    BinOp::LShr,
    BinOp::AShr,
    BinOp::UDiv,
    BinOp::URem,
    BinOp::SDiv,
    BinOp::UMin,
];

/// Values by the numbers of variables.
#[derive(Default)]
struct Values(FxHashMap<u32, u128>);

impl Environment for Values {
    fn input(&self, _: u32) -> u8 {
        0
    }
    fn variable(&self, variable: u32) -> u128 {
        self.0.get(&variable).copied().unwrap_or(0)
    }
}

/// A recipe for one more term: the kind of the term, the numbers of its operands, and a parameter.
type Making = (u8, u8, u8, u64);

/// Small numbers, numbers around a power of two, and all others.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..9u64,
        (0..64u32, 0..3u64)
            .prop_map(|(bit, more)| (1u64 << bit).wrapping_add(more).wrapping_sub(1)),
        (0..4u64).prop_map(u64::wrapping_neg),
        any::<u64>(),
    ]
}

struct Made {
    pool: Pool,
    terms: Vec<Term>,
}

impl Made {
    fn term(&self, which: u8) -> Term {
        self.terms[which as usize % self.terms.len()]
    }

    /// Two terms of the same width.
    fn pair(&mut self, a: u8, b: u8) -> (Term, Term) {
        let (a, b) = (self.term(a), self.term(b));
        let kind = if b.index() % 2 == 0 {
            CastKind::SExt
        } else {
            CastKind::ZExt
        };
        (a, self.cast(b, self.pool.width(a), kind))
    }

    fn cast(&mut self, t: Term, to: Width, extension: CastKind) -> Term {
        let from = self.pool.width(t);
        match to.cmp(&from) {
            std::cmp::Ordering::Less => self.pool.cast(CastKind::Trunc, t, to),
            std::cmp::Ordering::Equal => t,
            std::cmp::Ordering::Greater => self.pool.cast(extension, t, to),
        }
    }

    fn compared(&mut self, how: u64, a: u8, b: u8) -> Term {
        let (x, mut y) = self.pair(a, b);
        if how & 0x100 != 0 {
            let width = self.pool.width(x);
            y = self.pool.constant(
                width,
                u128::from(how >> 9) & crate::term::value::mask(width),
            );
        }
        self.pool.cmp(PREDS[how as u8 as usize % PREDS.len()], x, y)
    }

    fn make(&mut self, (kind, a, b, n): Making) {
        let made = match kind % 8 {
            0 => {
                let width = WIDTHS[a as usize % WIDTHS.len()];
                self.pool
                    .constant(width, u128::from(n) & crate::term::value::mask(width))
            }
            1 => {
                let to = WIDTHS[b as usize % WIDTHS.len()];
                let kind = if n % 2 == 0 {
                    CastKind::SExt
                } else {
                    CastKind::ZExt
                };
                self.cast(self.term(a), to, kind)
            }
            2 | 3 => {
                let (x, y) = self.pair(a, b);
                self.pool.bin(OPS[n as usize % OPS.len()], x, y)
            }
            // An operation with a constant, as in computations of addresses.
            4 => {
                let x = self.term(a);
                let width = self.pool.width(x);
                let y = u128::from(n >> 8) & crate::term::value::mask(width);
                let y = self.pool.constant(width, y);
                self.pool.bin(OPS[b as usize % OPS.len()], x, y)
            }
            5 => {
                let (x, y) = (self.term(a), self.term(b));
                if self.pool.width(x) + self.pool.width(y) > 64 {
                    return;
                }
                self.pool.concat(x, y)
            }
            6 => {
                let (x, y) = self.pair(a, b);
                let cond = self.compared(n, a, (n >> 32) as u8);
                self.pool.ite(cond, x, y)
            }
            _ => {
                let x = self.term(a);
                let width = self.pool.width(x);
                let low = b as u16 % width;
                self.pool.extract(x, low, 1 + (n as u16) % (width - low))
            }
        };
        self.terms.push(made);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn ranges_contain_the_value(
        leaves in prop::collection::vec((0..6usize, number(), number()), 1..5),
        makings in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>(), number()), 1..14),
        literals in prop::collection::vec((any::<u8>(), any::<u8>(), number(), 0..4u8), 0..5),
        others in prop::collection::vec(prop::collection::vec(number(), 5), 8),
    ) {
        let mut made = Made { pool: Pool::new(), terms: Vec::new() };
        let (mut bounds, mut values) = (FxHashMap::default(), Values::default());
        for (i, &(width, value, slack)) in leaves.iter().enumerate() {
            let width = WIDTHS[width];
            let variable = made.pool.variable(&format!("v{i}"), width);
            let all = Range::all(width);
            let value = value & all.high;
            if let Node::Variable(number) = *made.pool.node(variable) {
                values.0.insert(number, u128::from(value));
            }
            if slack % 3 == 0 {
                let (low, high) = (value.saturating_sub(slack), value.saturating_add(slack));
                bounds.insert(variable, Range { low, high: high.min(all.high) });
            }
            made.terms.push(variable);
        }
        for making in makings {
            made.make(making);
        }
        // Each literal is negated if it does not hold for these values.
        let mut guard = Guard::default();
        for (a, b, how, form) in literals {
            let mut literal = made.compared(how, a, b);
            if form == 1 {
                let other = made.compared(how >> 5, b, a);
                literal = made.pool.and(literal, other);
            }
            if form == 2 {
                let other = made.compared(how >> 5, b, a);
                literal = made.pool.or(literal, other);
            }
            if Evaluator::new().eval_in(&made.pool, literal, &values) == 0 {
                literal = made.pool.not(literal);
            }
            guard.0.push(literal);
        }
        let ranges = Ranges::new(&made.pool, &guard, Some(&bounds));
        let said: Vec<Range> = made.terms.iter().map(|&t| ranges.of(t)).collect();
        let numbers: Vec<u32> = values.0.keys().copied().collect();
        let others = others.into_iter().map(|other| {
            let values = numbers.iter().zip(other);
            Values(values.map(|(&number, value)| (number, u128::from(value))).collect())
        });
        for values in std::iter::once(values).chain(others) {
            let mut evaluator = Evaluator::new();
            let mut value = |t: Term| evaluator.eval_in(&made.pool, t, &values);
            let within = bounds.iter().all(|(&t, range)| {
                (u128::from(range.low)..=u128::from(range.high)).contains(&value(t))
            });
            if !within || guard.0.iter().any(|&t| value(t) != 1) {
                continue;
            }
            for (&t, range) in made.terms.iter().zip(&said) {
                let v = value(t) as u64;
                prop_assert!(
                    (range.low..=range.high).contains(&v),
                    "{v:#x} of {} is not in {range:x?}", made.pool.show(t)
                );
                let (by, rest) = residue(&made.pool, t, 0);
                // Residues modulo more than the number of values of the width have no meaning.
                let by = by.min(1 << made.pool.width(t).min(6));
                prop_assert_eq!(v % by, rest % by, "{} by {}", made.pool.show(t), by);
            }
        }
    }
}
