//! Solves recurrences: finds the form of a variable's values from the effect of one iteration.
//!
//! A variable is solved after the variables that it depends on, so they are tried repeatedly until
//! no more can be solved. The main function is [`Solver::linear`], which expresses the low bits of
//! a term as a multiple of the variable plus a polynomial in the number of iterations. Extensions
//! of narrow values are treated as if these never wrapped around, and the assumption is recorded.

use rustc_hash::{FxHashMap, FxHashSet};

use super::form::{Form, Straight, fit};
use cegar_model::program::ir::{BinOp, Width};
use cegar_model::term::{Item, Node, Pool, Rewriter, Symbol, Term, value};

/// The maximum number of coefficients of a polynomial: up to cubes.
const DEGREE: usize = 4;

/// A linear form of a variable's update: `times * v` plus a polynomial in the number of previous
/// iterations.
pub(super) struct Linear {
    pub times: u128,
    pub rest: Vec<Term>,
}

pub(super) struct Solver<'a> {
    pub pool: &'a mut Pool,
    pub changing: FxHashSet<Symbol>,
    pub forms: FxHashMap<Term, Form>,
    pub straight: Vec<Straight>,
}

impl Solver<'_> {
    /// Whether no iteration changes the term.
    fn is_invariant(&self, t: Term) -> bool {
        !self.pool.symbols(t).any(|s| self.changing.contains(&s))
    }

    fn mentions(&self, t: Term, v: Term) -> bool {
        let Node::Variable(number) = *self.pool.node(v) else {
            return false;
        };
        self.pool.symbols(t).any(|s| s == Symbol::Variable(number))
    }

    /// Whether no changing variable other than `v` occurs in a term.
    fn is_own(&self, t: Term, v: Term) -> bool {
        let Node::Variable(number) = *self.pool.node(v) else {
            return false;
        };
        let own = Symbol::Variable(number);
        !self
            .pool
            .symbols(t)
            .any(|s| s != own && self.changing.contains(&s))
    }

    /// The form of `v' = u`; `None` if `u` depends on variables that are not solved yet, or has no
    /// solvable form.
    pub(super) fn form(&mut self, v: Term, u: Term) -> Option<Form> {
        if !self.mentions(u, v) {
            if self.is_invariant(u) {
                return Some(Form::Settles(u));
            }
            let arrays = self
                .pool
                .symbols(u)
                .any(|s| matches!(s, Symbol::Array(_)) && self.changing.contains(&s));
            if arrays {
                return Some(Form::Free);
            }
            return self.solved_in(u).map(|on| Form::Lagged { update: u, on });
        }
        if self.pool.width(v) > 64 {
            return Some(Form::Free);
        }
        if let Some(linear) = self.linear(u, v, self.pool.width(v)) {
            let width = self.pool.width(v);
            if linear.times == 1 && linear.rest.len() < DEGREE {
                let mut coefficients = vec![v];
                coefficients.extend(linear.rest);
                return Some(Form::Newton(coefficients));
            }
            let constant = linear.rest.len() <= 1;
            if linear.times.is_power_of_two() && constant {
                let by = linear.times.trailing_zeros();
                let zero = self.pool.constant(width, 0);
                let plus = linear.rest.first().copied().unwrap_or(zero);
                if by == 1 || self.pool.as_const(plus) == Some(0) {
                    return Some(Form::Left { by, plus });
                }
            }
            // -v + c.
            if linear.times == value::mask(width) && constant {
                return Some(Form::Alternates(u, v));
            }
        }
        // The effect of two iterations.
        let mut again = Rewriter::new();
        again.replace(v, u);
        let twice = again.apply(self.pool, u);
        if twice == u && self.is_own(u, v) {
            return Some(Form::Settles(u));
        }
        if again.apply(self.pool, twice) == u && self.is_own(u, v) {
            return Some(Form::Alternates(u, twice));
        }
        let upper = |pool: &Pool, t: Term| match *pool.node(t) {
            Node::Extract(a, low) if a == v && low + pool.width(t) == pool.width(v) => {
                Some(u32::from(low))
            }
            _ => None,
        };
        match *self.pool.node(u) {
            Node::ZExt(a) => upper(self.pool, a).map(|by| Form::Right {
                by,
                arithmetic: false,
            }),
            Node::SExt(a) => upper(self.pool, a).map(|by| Form::Right {
                by,
                arithmetic: true,
            }),
            Node::Bin(BinOp::URem, sum, modulus) if self.is_invariant(modulus) => {
                let linear = self.linear(sum, v, self.pool.width(v))?;
                let [plus] = linear.rest[..] else { return None };
                (linear.times == 1).then_some(Form::Remainder { plus, modulus })
            }
            _ => None,
        }
    }

    /// The changing variables in a term, if all of them have a form.
    fn solved_in(&self, t: Term) -> Option<Vec<Term>> {
        let mut on = Vec::new();
        for item in self.pool.order(Item::Term(t), |_| false) {
            if let Item::Term(t) = item
                && matches!(self.pool.node(t), Node::Variable(_))
                && !self.is_invariant(t)
            {
                on.push(t);
            }
        }
        on.iter().all(|t| self.forms.contains_key(t)).then_some(on)
    }

    /// The low `width` bits of a term as a multiple of `v` plus a polynomial.
    pub(super) fn linear(&mut self, t: Term, v: Term, width: Width) -> Option<Linear> {
        if t == v {
            let narrow = self.pool.width(v) < width;
            return (!narrow).then(|| Linear {
                times: 1,
                rest: Vec::new(),
            });
        }
        if self.is_invariant(t) {
            let low = fit(self.pool, t, width);
            return Some(Linear {
                times: 0,
                rest: vec![low],
            });
        }
        let own = self.pool.width(t);
        if own > 64 {
            return None;
        }
        match *self.pool.node(t) {
            Node::Variable(_) => {
                let coefficients = match self.forms.get(&t)? {
                    Form::Newton(coefficients) => coefficients.clone(),
                    _ => return None,
                };
                let rest = coefficients
                    .iter()
                    .map(|&c| fit(self.pool, c, width))
                    .collect();
                Some(Linear { times: 0, rest })
            }
            Node::Bin(op @ (BinOp::Add | BinOp::Sub), a, b) => {
                let (a, b) = (self.linear(a, v, width)?, self.linear(b, v, width)?);
                Some(self.combine(op, a, b, width))
            }
            Node::Bin(BinOp::Mul, a, b) => {
                let (factor, other) = if self.is_invariant(a) { (a, b) } else { (b, a) };
                if self.is_invariant(factor) {
                    let other = self.linear(other, v, width)?;
                    let factor = fit(self.pool, factor, width);
                    return self.scaled(other, factor, width);
                }
                let (a, b) = (self.linear(a, v, width)?, self.linear(b, v, width)?);
                self.product(a, b, width)
            }
            Node::Bin(BinOp::Shl, a, by) => {
                let by = self.pool.as_const(by).filter(|&by| by < 64)?;
                let a = self.linear(a, v, width)?;
                let factor = self.pool.constant(width, 1u128 << by);
                self.scaled(a, factor, width)
            }
            Node::Not(a) => {
                // -a - 1
                let a = self.linear(a, v, width)?;
                let minus = self.pool.constant(width, value::mask(width));
                let a = self.scaled(a, minus, width)?;
                Some(self.combine(
                    BinOp::Add,
                    a,
                    Linear {
                        times: 0,
                        rest: vec![minus],
                    },
                    width,
                ))
            }
            Node::Extract(a, 0) => self.linear(a, v, width),
            // A product with a power of two.
            Node::Concat(a, low) if self.is_invariant(low) => {
                let bits = self.pool.width(low);
                if bits >= width {
                    return None;
                }
                let a = self.linear(a, v, width - bits)?;
                let zero = self.pool.constant(bits, 0);
                let times = a.times << bits & value::mask(width);
                let rest = a.rest.iter().map(|&c| self.pool.concat(c, zero)).collect();
                let low = self.pool.zext(low, width);
                Some(self.combine(
                    BinOp::Add,
                    Linear { times, rest },
                    Linear {
                        times: 0,
                        rest: vec![low],
                    },
                    width,
                ))
            }
            Node::ZExt(a) | Node::SExt(a) => {
                let narrow = self.pool.width(a);
                if narrow >= width {
                    return self.linear(a, v, width);
                }
                let signed = matches!(*self.pool.node(t), Node::SExt(_));
                self.widened(a, v, (narrow, width), signed)
            }
            _ => None,
        }
    }

    /// A wide polynomial for the extension of a narrow one, provided that the narrow one does not
    /// wrap around.
    fn widened(
        &mut self,
        a: Term,
        v: Term,
        (narrow, width): (Width, Width),
        signed: bool,
    ) -> Option<Linear> {
        let linear = self.linear(a, v, narrow)?;
        if linear.times != 0 {
            return None;
        }
        let mut wide = Vec::new();
        for (k, &c) in linear.rest.iter().enumerate() {
            // Differences may be negative even if the value is unsigned.
            wide.push(match k == 0 && !signed {
                true => self.pool.zext(c, width),
                false => self.pool.sext(c, width),
            });
        }
        if linear.rest.len() > 1 {
            self.straight.push(Straight {
                narrow: linear.rest,
                wide: wide.clone(),
                signed,
            });
        }
        Some(Linear {
            times: 0,
            rest: wide,
        })
    }

    fn combine(&mut self, op: BinOp, a: Linear, b: Linear, width: Width) -> Linear {
        let zero = self.pool.constant(width, 0);
        let length = a.rest.len().max(b.rest.len());
        let at = |rest: &[Term], k: usize| rest.get(k).copied().unwrap_or(zero);
        let rest = (0..length)
            .map(|k| self.pool.bin(op, at(&a.rest, k), at(&b.rest, k)))
            .collect();
        Linear {
            times: value::bin(op, width, a.times, b.times),
            rest,
        }
    }

    fn scaled(&mut self, a: Linear, factor: Term, width: Width) -> Option<Linear> {
        let times = match (a.times, self.pool.as_const(factor)) {
            (0, _) => 0,
            (times, Some(c)) => value::bin(BinOp::Mul, width, times, c),
            _ => return None,
        };
        let rest = a
            .rest
            .iter()
            .map(|&c| self.pool.bin(BinOp::Mul, c, factor))
            .collect();
        Some(Linear { times, rest })
    }

    /// The product of two polynomials, if one of them is at most linear and the degree of the
    /// result is not too high: n C(n, k) = k C(n, k) + (k + 1) C(n, k + 1).
    fn product(&mut self, a: Linear, b: Linear, width: Width) -> Option<Linear> {
        if a.times != 0 || b.times != 0 {
            return None;
        }
        let (line, other) = if a.rest.len() <= 2 { (a, b) } else { (b, a) };
        if line.rest.len() > 2 || other.rest.len() + 1 > DEGREE {
            return None;
        }
        let mut rest = vec![self.pool.constant(width, 0); other.rest.len() + 1];
        let slope = line.rest.get(1).copied();
        for (k, &c) in other.rest.iter().enumerate() {
            let plain = self.pool.bin(BinOp::Mul, c, line.rest[0]);
            rest[k] = self.pool.bin(BinOp::Add, rest[k], plain);
            let Some(slope) = slope else { continue };
            let steep = self.pool.bin(BinOp::Mul, c, slope);
            for (place, times) in [(k, k), (k + 1, k + 1)] {
                let times = self.pool.constant(width, times as u128);
                let part = self.pool.bin(BinOp::Mul, steep, times);
                rest[place] = self.pool.bin(BinOp::Add, rest[place], part);
            }
        }
        Some(Linear { times: 0, rest })
    }
}
