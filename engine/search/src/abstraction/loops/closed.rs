//! Closed forms: the value of a variable after n iterations of a loop, as a term over n.
//!
//! An iteration is a simultaneous assignment ([`Update`]), so every variable has a recurrence `v' =
//! u(v, ...)`. SatAbs (section 4, step 3) solves one scheme: constant, affine, quadratic. Here a
//! solution is a polynomial in Newton's basis, `v(n) = sum of c_k * C(n, k)`, with coefficients
//! that no iteration changes. In that basis, summation is a shift by one place, and every division
//! is exact modulo 2^w: the closed form wraps around exactly where the machine does. Beyond the
//! paper: geometric recurrences by powers of two, values that settle after one iteration, values
//! that alternate, remainders, and *lagged* values, which are a function of the iteration before. A
//! variable without one of these forms is free: it has an unconstrained value for every n.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::form::{Form, Straight, fit};
use super::recurrences::Solver;
use cegar_model::program::ir::{BinOp, Pred, Width};
use cegar_model::symbolic::update::Update;
use cegar_model::term::{ArrayNode, Pool, Rewriter, Symbol, Term, value};

/// The closed forms of a loop's variables.
#[derive(Debug)]
pub struct Closed {
    forms: FxHashMap<Term, Form>,
    changing: FxHashSet<Symbol>,
    straight: Vec<Straight>,
    name: String,
    /// Cached values, by variable and number of iterations.
    known: RefCell<FxHashMap<(Term, Term), Term>>,
}

impl Closed {
    /// Solves the recurrences of an iteration. `name` distinguishes the free variables of this loop
    /// from those of other loops.
    pub fn solve(pool: &mut Pool, turn: &Update, name: &str) -> Closed {
        let changing = turn.terms.iter().filter(|(v, u)| v != u);
        let mut open: Vec<(Term, Term)> = changing.copied().collect();
        let mut symbols: FxHashSet<Symbol> = open
            .iter()
            .flat_map(|&(v, _)| pool.symbols(v).collect::<Vec<_>>())
            .collect();
        for &(array, _) in turn.arrays.iter().filter(|(a, after)| a != after) {
            if let ArrayNode::Variable(number) = pool.array_node(array) {
                symbols.insert(Symbol::Array(number));
            }
        }
        let mut solver = Solver {
            pool,
            changing: symbols,
            forms: FxHashMap::default(),
            straight: Vec::new(),
        };
        while !open.is_empty() {
            let before = open.len();
            open.retain(|&(v, u)| match solver.form(v, u) {
                Some(form) => {
                    solver.forms.insert(v, form);
                    false
                }
                None => true,
            });
            if open.len() == before {
                // No variable can be solved: one becomes free, after which others may be solved.
                let (v, _) = open.remove(0);
                solver.forms.insert(v, Form::Free);
            }
        }
        Closed {
            forms: solver.forms,
            changing: solver.changing,
            straight: solver.straight,
            name: name.to_owned(),
            known: RefCell::default(),
        }
    }

    /// The variables that change, and whether they have a closed form.
    pub fn changing(&self) -> impl Iterator<Item = (Term, bool)> + '_ {
        self.forms.keys().map(|&v| (v, !self.is_free(v)))
    }

    fn is_free(&self, v: Term) -> bool {
        match self.forms.get(&v) {
            Some(Form::Free) => true,
            Some(Form::Lagged { on, .. }) => on.iter().any(|&v| self.is_free(v)),
            _ => false,
        }
    }

    /// The polynomial of a variable in Newton's basis, if it has one: the initial value and the
    /// differences.
    pub fn newton(&self, v: Term) -> Option<&[Term]> {
        match self.forms.get(&v) {
            Some(Form::Newton(coefficients)) => Some(coefficients),
            _ => None,
        }
    }

    /// A 64-bit term as a polynomial in Newton's basis, if it is one.
    pub fn polynomial(&mut self, pool: &mut Pool, t: Term) -> Option<Vec<Term>> {
        let mut solver = Solver {
            pool,
            changing: std::mem::take(&mut self.changing),
            forms: std::mem::take(&mut self.forms),
            straight: std::mem::take(&mut self.straight),
        };
        // No variable is being solved for. A constant of this width occurs in no 64-bit term.
        let none = solver.pool.constant(128, 0);
        let found = solver.linear(t, none, 64);
        self.changing = solver.changing;
        self.forms = solver.forms;
        self.straight = solver.straight;
        found.map(|linear| linear.rest)
    }

    /// Replaces every variable by its value after `n` iterations (64 bits), in terms of the values
    /// before the first.
    pub fn after(&self, pool: &mut Pool, n: Term) -> Rewriter {
        let mut rewriter = Rewriter::new();
        let mut all: Vec<Term> = self.forms.keys().copied().collect();
        all.sort_unstable();
        for v in all {
            let value = self.value(pool, v, n);
            rewriter.replace(v, value);
        }
        rewriter
    }

    /// A variable's value after `n` iterations.
    pub fn value(&self, pool: &mut Pool, v: Term, n: Term) -> Term {
        if let Some(&known) = self.known.borrow().get(&(v, n)) {
            return known;
        }
        let width = pool.width(v);
        let value = match self.forms.get(&v) {
            None => v,
            Some(Form::Newton(coefficients)) => newton(pool, coefficients, width, n),
            Some(Form::Left { by, plus }) => {
                let bits = shift(pool, width, *by, n);
                let moved = pool.bin(BinOp::Shl, v, bits);
                let one = pool.constant(width, 1);
                // plus * (1 + 2^by + ... ) is plus * (2^(by n) - 1) / (2^by - 1), and only for by =
                // 1 without a division.
                let power = pool.bin(BinOp::Shl, one, bits);
                let sum = pool.bin(BinOp::Sub, power, one);
                let sum = pool.bin(BinOp::Mul, sum, *plus);
                pool.bin(BinOp::Add, moved, sum)
            }
            Some(Form::Right { by, arithmetic }) => {
                let bits = shift(pool, width, *by, n);
                let op = if *arithmetic {
                    BinOp::AShr
                } else {
                    BinOp::LShr
                };
                pool.bin(op, v, bits)
            }
            Some(Form::Remainder { plus, modulus }) => {
                let n = fit(pool, n, width);
                let walked = pool.bin(BinOp::Mul, n, *plus);
                let sum = pool.bin(BinOp::Add, v, walked);
                pool.bin(BinOp::URem, sum, *modulus)
            }
            Some(Form::Settles(after)) => {
                let after = *after;
                self.unless_none(pool, n, v, after)
            }
            Some(Form::Alternates(odd, even)) => {
                let (odd, even) = (*odd, *even);
                let is_odd = pool.extract(n, 0, 1);
                let after = pool.ite(is_odd, odd, even);
                self.unless_none(pool, n, v, after)
            }
            Some(Form::Lagged { update, on }) => {
                let (update, on) = (*update, on.clone());
                let one = pool.constant(64, 1);
                let before = pool.bin(BinOp::Sub, n, one);
                let mut rewriter = Rewriter::new();
                for other in on {
                    let value = self.value(pool, other, before);
                    rewriter.replace(other, value);
                }
                let after = rewriter.apply(pool, update);
                self.unless_none(pool, n, v, after)
            }
            Some(Form::Free) => {
                let name = format!("{}.{}.{}", self.name, v.index(), n.index());
                let free = pool.variable(&name, width);
                self.unless_none(pool, n, v, free)
            }
        };
        self.known.borrow_mut().insert((v, n), value);
        value
    }

    fn unless_none(&self, pool: &mut Pool, n: Term, before: Term, after: Term) -> Term {
        let zero = pool.constant(64, 0);
        let none = pool.eq(n, zero);
        pool.ite(none, before, after)
    }

    /// The conditions under which the closed forms are right after `n` iterations.
    pub fn side_conditions(&self, pool: &mut Pool, n: Term) -> Vec<Term> {
        let mut all = Vec::new();
        for straight in &self.straight {
            let (Some(&first), Some(&wide)) = (straight.narrow.first(), straight.wide.first())
            else {
                continue;
            };
            let (narrow_width, width) = (pool.width(first), pool.width(wide));
            let narrow = newton(pool, &straight.narrow, narrow_width, n);
            let widened = match straight.signed {
                true => pool.sext(narrow, width),
                false => pool.zext(narrow, width),
            };
            let wide = newton(pool, &straight.wide, width, n);
            all.push(pool.eq(widened, wide));
        }
        all
    }
}

/// The shift amount of `n` shifts by `by`; it is too large for the width if all bits are shifted
/// out.
fn shift(pool: &mut Pool, width: Width, by: u32, n: Term) -> Term {
    let all = pool.constant(64, u128::from(width));
    let by = pool.constant(64, u128::from(by));
    let bits = pool.bin(BinOp::Mul, n, by);
    let too_many = pool.cmp(Pred::Ule, all, n);
    let over = pool.cmp(Pred::Ule, all, bits);
    let gone = pool.or(too_many, over);
    let bits = pool.ite(gone, all, bits);
    if width >= 8 {
        fit(pool, bits, width)
    } else {
        pool.constant(width, value::mask(width))
    }
}

/// `C(n, k)` modulo 2^64 for a 64-bit n; exact as long as k is at most 3.
fn binomial(pool: &mut Pool, n: Term, k: usize) -> Term {
    let one = pool.constant(64, 1);
    match k {
        0 => one,
        1 => n,
        2 => {
            // Either n or n - 1 is even.
            let less = pool.bin(BinOp::Sub, n, one);
            let odd = pool.extract(n, 0, 1);
            let even = pool.ite(odd, less, n);
            let other = pool.ite(odd, n, less);
            let half = pool.bin(BinOp::LShr, even, one);
            pool.bin(BinOp::Mul, half, other)
        }
        _ => {
            // 3 C(n, 3) = C(n, 2) (n - 2), and three has an inverse modulo 2^64.
            let two = pool.constant(64, 2);
            let less = pool.bin(BinOp::Sub, n, two);
            let pairs = binomial(pool, n, 2);
            let product = pool.bin(BinOp::Mul, pairs, less);
            let third = pool.constant(64, 0xaaaa_aaaa_aaaa_aaab);
            pool.bin(BinOp::Mul, product, third)
        }
    }
}

/// The value of a polynomial.
fn newton(pool: &mut Pool, coefficients: &[Term], width: Width, n: Term) -> Term {
    let mut sum = pool.constant(width, 0);
    for (k, &coefficient) in coefficients.iter().enumerate() {
        let binomial = binomial(pool, n, k);
        let binomial = fit(pool, binomial, width);
        let product = pool.bin(BinOp::Mul, coefficient, binomial);
        sum = pool.bin(BinOp::Add, sum, product);
    }
    sum
}
