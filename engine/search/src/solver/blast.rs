//! Bit-blasting: translates bit-vector terms to circuits.
//!
//! Implements the semantics of [`cegar_model::term::value`] on bits: ripple-carry adders, products
//! as sums of shifted rows, restoring division, shifts by powers of two. Where C leaves something
//! undefined, the semantics is that of SMT-LIB, as there. A term's bits are stored lowest first.

use std::rc::Rc;

use batsat::Lit;
use rustc_hash::FxHashMap;

use super::gates::Gates;
use super::reads::Unsuited;
use cegar_model::program::ir::{BinOp, Pred, UnOp};
use cegar_model::term::{Item, Node, Pool, Term};

type Bits = Vec<Lit>;

/// The circuits of one pool's terms.
#[derive(Debug)]
pub(super) struct Blaster {
    /// The gates.
    pub gates: Gates,
    terms: FxHashMap<Term, Rc<[Lit]>>,
}

impl Blaster {
    pub(super) fn new() -> Blaster {
        Blaster {
            gates: Gates::new(),
            terms: FxHashMap::default(),
        }
    }

    /// The bits of a term that contains no arrays and no floating point.
    pub(super) fn bits(&mut self, pool: &Pool, t: Term) -> Result<Rc<[Lit]>, Unsuited> {
        for item in pool.order(Item::Term(t), |item| match item {
            Item::Term(t) => self.terms.contains_key(&t),
            Item::Array(_) => true,
        }) {
            let Item::Term(t) = item else { continue };
            let bits = self.term(pool, t)?;
            debug_assert_eq!(bits.len(), usize::from(pool.width(t)));
            self.gates.check()?;
            self.terms.insert(t, bits.into());
        }
        self.terms.get(&t).cloned().ok_or(Unsuited)
    }

    /// A one-bit term's only bit.
    pub(super) fn bit(&mut self, pool: &Pool, t: Term) -> Result<Lit, Unsuited> {
        self.bits(pool, t)?.first().copied().ok_or(Unsuited)
    }

    /// A term's value in the solver's model; `None` if the term has no circuit.
    pub(super) fn value(&self, t: Term) -> Option<u128> {
        let bits = self.terms.get(&t)?.iter().enumerate();
        Some(bits.fold(0, |value, (i, &bit)| {
            value | u128::from(self.gates.in_model(bit)) << i
        }))
    }

    fn term(&mut self, pool: &Pool, t: Term) -> Result<Bits, Unsuited> {
        let width = usize::from(pool.width(t));
        let known = &self.terms;
        let of = |t: Term| known.get(&t).cloned().ok_or(Unsuited);
        Ok(match *pool.node(t) {
            Node::Const(_) | Node::Wide(_) => self.number(width, pool.as_const(t).ok_or(Unsuited)?),
            Node::Input(_) | Node::Variable(_) => (0..width).map(|_| self.gates.free()).collect(),
            Node::Not(a) => of(a)?.iter().map(|&bit| !bit).collect(),
            Node::Un(op, a) => {
                let a = of(a)?;
                self.un(op, &a)
            }
            Node::Bin(op, a, b) => {
                let (a, b) = (of(a)?, of(b)?);
                self.bin(op, &a, &b)?
            }
            Node::Cmp(pred, a, b) => {
                let (a, b) = (of(a)?, of(b)?);
                vec![self.compare(pred, &a, &b)]
            }
            Node::Ite(cond, a, b) => {
                let (cond, a, b) = (of(cond)?, of(a)?, of(b)?);
                let &cond = cond.first().ok_or(Unsuited)?;
                self.choice(cond, &a, &b)
            }
            Node::Concat(high, low) => [&of(low)?[..], &of(high)?[..]].concat(),
            Node::Extract(a, low) => of(a)?[usize::from(low)..usize::from(low) + width].to_vec(),
            Node::ZExt(a) => self.extended(&of(a)?, width, false),
            Node::SExt(a) => self.extended(&of(a)?, width, true),
            Node::Funnel(left, a, b, by) => {
                let (a, b, by) = (of(a)?, of(b)?, of(by)?);
                let most = self.number(width, width as u128);
                let (_, by) = self.divide(&by, &most);
                let by = self.extended(&by, 2 * width, false);
                let both = [&b[..], &a[..]].concat();
                let zero = self.gates.bit(false);
                match left {
                    true => self.shifted(&both, &by, true, zero)[width..].to_vec(),
                    false => self.shifted(&both, &by, false, zero)[..width].to_vec(),
                }
            }
            Node::Overflow(op, signed, a, b) => {
                let (a, b) = (of(a)?, of(b)?);
                vec![self.overflow(op, signed, &a, &b)?]
            }
            Node::FloatBin(..)
            | Node::FloatCmp(..)
            | Node::FloatCast(..)
            | Node::FloatFn(..)
            | Node::Select(..) => return Err(Unsuited),
        })
    }

    fn number(&self, width: usize, value: u128) -> Bits {
        (0..width)
            .map(|i| self.gates.bit(value >> i & 1 == 1))
            .collect()
    }

    fn extended(&self, a: &[Lit], width: usize, signed: bool) -> Bits {
        let mut bits = a.to_vec();
        let high = match a.last() {
            Some(&sign) if signed => sign,
            _ => self.gates.bit(false),
        };
        bits.resize(width, high);
        bits
    }

    fn choice(&mut self, cond: Lit, a: &[Lit], b: &[Lit]) -> Bits {
        let pairs = a.iter().zip(b);
        pairs.map(|(&a, &b)| self.gates.mux(cond, a, b)).collect()
    }

    /// The sum and the carry out.
    fn sum(&mut self, a: &[Lit], b: &[Lit], mut carry: Lit) -> (Bits, Lit) {
        let mut bits = Vec::with_capacity(a.len());
        for (&a, &b) in a.iter().zip(b) {
            let half = self.gates.xor(a, b);
            bits.push(self.gates.xor(half, carry));
            carry = self.gates.most(a, b, carry);
        }
        (bits, carry)
    }

    /// The difference, and whether it is not negative (unsigned).
    fn difference(&mut self, a: &[Lit], b: &[Lit]) -> (Bits, Lit) {
        let b: Bits = b.iter().map(|&bit| !bit).collect();
        let one = self.gates.bit(true);
        self.sum(a, &b, one)
    }

    fn negative(&mut self, a: &[Lit]) -> Bits {
        let zero = self.number(a.len(), 0);
        self.difference(&zero, a).0
    }

    fn product(&mut self, a: &[Lit], b: &[Lit]) -> Result<Bits, Unsuited> {
        let constants = |bits: &[Lit]| {
            bits.iter()
                .filter(|&&b| self.gates.value(b).is_some())
                .count()
        };
        // One row per bit of the factor of which more bits are constant.
        let (a, b) = if constants(a) > constants(b) {
            (b, a)
        } else {
            (a, b)
        };
        let zero = self.gates.bit(false);
        let mut total = self.number(a.len(), 0);
        for (i, &bit) in b.iter().enumerate() {
            if self.gates.value(bit) == Some(false) {
                continue;
            }
            let row: Bits = a[..a.len() - i]
                .iter()
                .map(|&a| self.gates.and(a, bit))
                .collect();
            let (high, _) = self.sum(&total[i..], &row, zero);
            total.truncate(i);
            total.extend(high);
            self.gates.check()?;
        }
        Ok(total)
    }

    /// Unsigned quotient and remainder. Division by zero gives all ones and the dividend.
    fn divide(&mut self, a: &[Lit], b: &[Lit]) -> (Bits, Bits) {
        let width = a.len();
        let divisor = self.extended(b, width + 1, false);
        let mut rest = self.number(width + 1, 0);
        let mut quotient = self.number(width, 0);
        for i in (0..width).rev() {
            rest.rotate_right(1);
            rest[0] = a[i];
            let (less, fits) = self.difference(&rest, &divisor);
            rest = self.choice(fits, &less, &rest);
            quotient[i] = fits;
        }
        rest.truncate(width);
        (quotient, rest)
    }

    fn divide_signed(&mut self, a: &[Lit], b: &[Lit]) -> (Bits, Bits) {
        let zero = self.gates.bit(false);
        let (minus_a, minus_b) = (
            a.last().copied().unwrap_or(zero),
            b.last().copied().unwrap_or(zero),
        );
        let (neg_a, neg_b) = (self.negative(a), self.negative(b));
        let x = self.choice(minus_a, &neg_a, a);
        let y = self.choice(minus_b, &neg_b, b);
        let (quotient, rest) = self.divide(&x, &y);
        let differ = self.gates.xor(minus_a, minus_b);
        let (neg_quotient, neg_rest) = (self.negative(&quotient), self.negative(&rest));
        (
            self.choice(differ, &neg_quotient, &quotient),
            self.choice(minus_a, &neg_rest, &rest),
        )
    }

    /// Shifts towards the high end (`left`) or the low end, filling with `fill`.
    fn shifted(&mut self, a: &[Lit], by: &[Lit], left: bool, fill: Lit) -> Bits {
        let width = a.len();
        let mut bits = a.to_vec();
        let mut beyond = self.gates.bit(false);
        for (k, &bit) in by.iter().enumerate() {
            if k >= usize::BITS as usize - 1 || 1 << k >= width {
                beyond = self.gates.or(beyond, bit);
                continue;
            }
            let step = 1 << k;
            bits = (0..width)
                .map(|i| {
                    let from = if left {
                        i.checked_sub(step)
                    } else {
                        Some(i + step)
                    };
                    let moved = from
                        .and_then(|from| bits.get(from))
                        .copied()
                        .unwrap_or(fill);
                    self.gates.mux(bit, moved, bits[i])
                })
                .collect();
        }
        bits.into_iter()
            .map(|bit| self.gates.mux(beyond, fill, bit))
            .collect()
    }

    fn equal(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let mut all = self.gates.bit(true);
        for (&a, &b) in a.iter().zip(b) {
            let differ = self.gates.xor(a, b);
            all = self.gates.and(all, !differ);
        }
        all
    }

    fn below(&mut self, a: &[Lit], b: &[Lit], signed: bool) -> Lit {
        let mut below = self.gates.bit(false);
        let last = a.len().saturating_sub(1);
        for (i, (&a, &b)) in a.iter().zip(b).enumerate() {
            let differ = self.gates.xor(a, b);
            // A sign bit counts negatively.
            let decides = if signed && i == last { a } else { b };
            below = self.gates.mux(differ, decides, below);
        }
        below
    }

    fn compare(&mut self, pred: Pred, a: &[Lit], b: &[Lit]) -> Lit {
        match pred {
            Pred::Eq => self.equal(a, b),
            Pred::Ne => !self.equal(a, b),
            Pred::Ult => self.below(a, b, false),
            Pred::Ugt => self.below(b, a, false),
            Pred::Ule => !self.below(b, a, false),
            Pred::Uge => !self.below(a, b, false),
            Pred::Slt => self.below(a, b, true),
            Pred::Sgt => self.below(b, a, true),
            Pred::Sle => !self.below(b, a, true),
            Pred::Sge => !self.below(a, b, true),
        }
    }

    fn bin(&mut self, op: BinOp, a: &[Lit], b: &[Lit]) -> Result<Bits, Unsuited> {
        let zero = self.gates.bit(false);
        let sign = a.last().copied().unwrap_or(zero);
        let pairs = a.iter().zip(b);
        Ok(match op {
            BinOp::And => pairs.map(|(&a, &b)| self.gates.and(a, b)).collect(),
            BinOp::Or => pairs.map(|(&a, &b)| self.gates.or(a, b)).collect(),
            BinOp::Xor => pairs.map(|(&a, &b)| self.gates.xor(a, b)).collect(),
            BinOp::Add => self.sum(a, b, zero).0,
            BinOp::Sub => self.difference(a, b).0,
            BinOp::Mul => self.product(a, b)?,
            BinOp::UDiv => self.divide(a, b).0,
            BinOp::URem => self.divide(a, b).1,
            BinOp::SDiv => self.divide_signed(a, b).0,
            BinOp::SRem => self.divide_signed(a, b).1,
            BinOp::Shl => self.shifted(a, b, true, zero),
            BinOp::LShr => self.shifted(a, b, false, zero),
            BinOp::AShr => self.shifted(a, b, false, sign),
            BinOp::UMin | BinOp::SMin => {
                let below = self.below(a, b, op == BinOp::SMin);
                self.choice(below, a, b)
            }
            BinOp::UMax | BinOp::SMax => {
                let below = self.below(a, b, op == BinOp::SMax);
                self.choice(below, b, a)
            }
            // The pool's constructors rewrite these to choices.
            BinOp::UAddSat | BinOp::SAddSat | BinOp::USubSat | BinOp::SSubSat => {
                return Err(Unsuited);
            }
        })
    }

    fn overflow(&mut self, op: BinOp, signed: bool, a: &[Lit], b: &[Lit]) -> Result<Lit, Unsuited> {
        // Computes with enough bits for the exact result, and checks whether it fits.
        let width = a.len();
        let room = if op == BinOp::Mul {
            2 * width
        } else {
            width + 1
        };
        let (a, b) = (
            self.extended(a, room, signed),
            self.extended(b, room, signed),
        );
        let result = match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul => self.bin(op, &a, &b)?,
            _ => return Ok(self.gates.bit(false)),
        };
        let fits = self.extended(&result[..width], room, signed);
        Ok(!self.equal(&result, &fits))
    }

    fn un(&mut self, op: UnOp, a: &[Lit]) -> Bits {
        let width = a.len();
        let zero = self.gates.bit(false);
        match op {
            UnOp::CtPop => a.iter().fold(self.number(width, 0), |sum, &bit| {
                let bit = self.extended(&[bit], width, false);
                self.sum(&sum, &bit, zero).0
            }),
            UnOp::CtLz | UnOp::CtTz => {
                // The bit that is visited last decides.
                let mut count = self.number(width, width as u128);
                for k in (0..width).rev() {
                    let bit = if op == UnOp::CtTz {
                        a[k]
                    } else {
                        a[width - 1 - k]
                    };
                    let here = self.number(width, k as u128);
                    count = self.choice(bit, &here, &count);
                }
                count
            }
            UnOp::BitReverse => a.iter().rev().copied().collect(),
            UnOp::BSwap => a.chunks(8).rev().flatten().copied().collect(),
            UnOp::Abs => {
                let sign = a.last().copied().unwrap_or(zero);
                let negative = self.negative(a);
                self.choice(sign, &negative, a)
            }
        }
    }
}
