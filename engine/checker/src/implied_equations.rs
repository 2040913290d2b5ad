//! Values that the terms of a question determine.
//!
//! The invariant of a loop says `i <= n`, and after the loop `i < n` is false, so `i` is `n`.
//! Solvers recognise that only bit by bit, after multiplications: `s == i * m` and `s != n * m`
//! stay unanswered for minutes. If a solver is told that the two are equal, it replaces one by the
//! other before it multiplies. An added equation follows from two terms of the question because
//! orders are antisymmetric, so the question stays equivalent.

use std::collections::{BTreeMap, BTreeSet};

use cegar_model::program::ir::{BinOp, Pred, Width};
use cegar_model::term::{Node, Pool, Rewriter, Symbol, Term, value};

/// The comparisons in the terms. The flag of each is whether it is signed.
#[derive(Debug, Default)]
struct Orders {
    /// Pairs in which the first term is at most the second.
    at_most: BTreeSet<(bool, Term, Term)>,
    low: BTreeMap<(bool, Term), i128>,
    high: BTreeMap<(bool, Term), i128>,
}

impl Orders {
    /// Records that `a < b` if `is_strict`, else that `a <= b`.
    fn note(&mut self, pool: &Pool, (is_signed, is_strict): (bool, bool), (a, b): (Term, Term)) {
        let width = pool.width(a);
        if !(2..=64).contains(&width) {
            return;
        }
        let by = i128::from(is_strict);
        match (pool.as_const(a), pool.as_const(b)) {
            (None, None) => {
                self.at_most.insert((is_signed, a, b));
            }
            (Some(a), None) => {
                let low = number(is_signed, width, a) + by;
                let known = self.low.entry((is_signed, b)).or_insert(low);
                *known = low.max(*known);
            }
            (None, Some(b)) => {
                let high = number(is_signed, width, b) - by;
                let known = self.high.entry((is_signed, a)).or_insert(high);
                *known = high.min(*known);
            }
            (Some(_), Some(_)) => {}
        }
    }
}

/// The number that the bits represent.
fn number(is_signed: bool, width: Width, bits: u128) -> i128 {
    match is_signed {
        true => value::signed(width, bits),
        false => bits as i128,
    }
}

/// The number of rounds of unit resolution.
const ROUNDS: usize = 4;

/// Unit resolution: one side of a disjunction holds if the negation of the other side is known.
fn resolved(pool: &mut Pool, terms: &[Term]) -> Vec<Term> {
    let mut known: BTreeSet<Term> = BTreeSet::new();
    let mut sides: BTreeSet<(Term, Term)> = BTreeSet::new();
    let mut all = Vec::new();
    let mut new = terms.to_vec();
    for _ in 0..ROUNDS {
        while let Some(t) = new.pop() {
            if pool.width(t) != 1 || !known.insert(t) {
                continue;
            }
            match *pool.node(t) {
                Node::Bin(BinOp::And, a, b) => new.extend([a, b]),
                Node::Bin(BinOp::Or, a, b) => sides.extend([(a, b), (b, a)]),
                _ => {}
            }
        }
        let open: Vec<(Term, Term)> = sides.iter().copied().collect();
        for (side, other) in open {
            let not = pool.not(side);
            if holds(pool, &known, not) && !known.contains(&other) {
                new.push(other);
            }
        }
        if new.is_empty() {
            break;
        }
        all.extend(&new);
    }
    all
}

/// Whether a term is known, or a conjunction of known terms.
fn holds(pool: &Pool, known: &BTreeSet<Term>, t: Term) -> bool {
    if known.contains(&t) {
        return true;
    }
    let mut open = vec![t];
    while let Some(t) = open.pop() {
        match *pool.node(t) {
            _ if known.contains(&t) => {}
            Node::Bin(BinOp::And, a, b) if pool.width(t) == 1 => open.extend([a, b]),
            _ => return false,
        }
    }
    true
}

/// The number of substitutions that are considered.
const SUBSTITUTED: usize = 16;

/// The values that equations give to variables. A solver has to multiply out products of variables
/// before it recognises that they are equal. If substituting a variable makes them equal, no solver
/// is needed.
#[derive(Debug)]
pub struct Substitutions {
    /// The equation, its variable, and the value of the variable.
    all: Vec<(Term, Term, Term)>,
}

impl Substitutions {
    /// The substitutions that follow if all of these terms hold.
    pub fn of(pool: &mut Pool, given: &[Term]) -> Substitutions {
        let resolved = resolved(pool, given);
        Substitutions::among(pool, given.iter().chain(&resolved))
    }

    fn among<'t>(pool: &Pool, terms: impl Iterator<Item = &'t Term>) -> Substitutions {
        let mut all = BTreeSet::new();
        for &t in terms {
            let Node::Cmp(Pred::Eq, a, b) = *pool.node(t) else {
                continue;
            };
            for (variable, by) in [(a, b), (b, a)] {
                if let Node::Variable(number) = *pool.node(variable)
                    && pool.as_const(by).is_none()
                    && !pool.has_many_symbols(by)
                    && !pool.symbols(by).any(|s| s == Symbol::Variable(number))
                {
                    all.insert((t, variable, by));
                }
            }
        }
        let all = all.into_iter().take(SUBSTITUTED).collect();
        Substitutions { all }
    }

    /// Whether a comparison becomes false if one of the variables is replaced.
    pub fn refute(&self, pool: &mut Pool, t: Term) -> bool {
        let comparison = match *pool.node(t) {
            Node::Not(inner) => inner,
            _ => t,
        };
        if !matches!(pool.node(comparison), Node::Cmp(..)) || pool.has_many_symbols(t) {
            return false;
        }
        self.all.iter().any(|&(equation, variable, by)| {
            let Node::Variable(number) = *pool.node(variable) else {
                return false;
            };
            if t == equation || !pool.symbols(t).any(|s| s == Symbol::Variable(number)) {
                return false;
            }
            let mut rewriter = Rewriter::new();
            rewriter.replace(variable, by);
            let substituted = rewriter.apply(pool, t);
            pool.as_const(substituted) == Some(0)
        })
    }
}

/// Facts that follow if all of these terms hold: equations of two values of which each is at most
/// the other, the only value that bounds allow, the other side of a disjunction with a refuted
/// side, and false if one term refutes another by substitution.
pub fn implied_equations(pool: &mut Pool, given: &[Term]) -> Vec<Term> {
    let mut all = resolved(pool, given);
    let terms: Vec<Term> = given.iter().chain(&all).copied().collect();
    let terms = &terms[..];
    let orders = orders(pool, terms);
    for &(is_signed, a, b) in &orders.at_most {
        if a < b && orders.at_most.contains(&(is_signed, b, a)) {
            all.push(pool.eq(a, b));
        }
    }
    for (&(is_signed, t), &low) in &orders.low {
        if orders.high.get(&(is_signed, t)) == Some(&low) {
            let width = pool.width(t);
            let only = pool.constant(width, value::unsigned(width, low));
            all.push(pool.eq(t, only));
        }
    }
    let substitutions = Substitutions::among(pool, terms.iter());
    if terms.iter().any(|&t| substitutions.refute(pool, t)) {
        all.push(pool.bit(false));
    }
    let known: BTreeSet<Term> = given.iter().copied().collect();
    all.retain(|&t| pool.as_const(t) != Some(1) && !known.contains(&t));
    all.sort();
    all.dedup();
    all
}

fn orders(pool: &Pool, terms: &[Term]) -> Orders {
    let mut orders = Orders::default();
    let mut left: Vec<Term> = terms.to_vec();
    while let Some(t) = left.pop() {
        let (t, holds) = match *pool.node(t) {
            Node::Not(inner) => (inner, false),
            _ => (t, true),
        };
        match *pool.node(t) {
            Node::Bin(BinOp::And, a, b) if holds && pool.width(t) == 1 => left.extend([a, b]),
            Node::Cmp(pred @ (Pred::Ult | Pred::Ule | Pred::Slt | Pred::Sle), a, b) => {
                let is_signed = matches!(pred, Pred::Slt | Pred::Sle);
                let is_strict = matches!(pred, Pred::Ult | Pred::Slt);
                // The negation of "less" is "at least", and vice versa.
                match holds {
                    true => orders.note(pool, (is_signed, is_strict), (a, b)),
                    false => orders.note(pool, (is_signed, !is_strict), (b, a)),
                }
            }
            _ => {}
        }
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;
    use cegar_model::term::Evaluator;

    const PREDS: [Pred; 8] = [
        Pred::Ult,
        Pred::Ule,
        Pred::Ugt,
        Pred::Uge,
        Pred::Slt,
        Pred::Sle,
        Pred::Sgt,
        Pred::Sge,
    ];

    #[test]
    fn a_loop_that_has_ended_was_taken_as_often_as_it_says() {
        let mut pool = Pool::new();
        let (i, n) = (pool.variable("i", 32), pool.variable("n", 32));
        let at_most = pool.cmp(Pred::Sle, i, n);
        let less = pool.cmp(Pred::Slt, i, n);
        let ended = pool.not(less);
        let same = pool.eq(i, n);
        assert_eq!(implied_equations(&mut pool, &[at_most, ended]), [same]);
        assert!(implied_equations(&mut pool, &[at_most]).is_empty());
        assert!(implied_equations(&mut pool, &[at_most, less]).is_empty());
        let unsigned = pool.cmp(Pred::Ule, n, i);
        assert!(implied_equations(&mut pool, &[at_most, unsigned]).is_empty());
    }

    #[test]
    fn the_other_side_of_a_disjunction() {
        let mut pool = Pool::new();
        let (called, small) = (pool.variable("called", 1), pool.variable("small", 1));
        let result = pool.variable("result", 8);
        let zero = pool.constant(8, 0);
        let fact = pool.eq(result, zero);
        let not = pool.not(called);
        let stated = pool.or(not, fact);
        assert_eq!(implied_equations(&mut pool, &[called, stated]), [fact]);
        assert!(implied_equations(&mut pool, &[not, stated]).is_empty());
        assert!(implied_equations(&mut pool, &[small, stated]).is_empty());
    }

    #[test]
    fn a_product_that_an_equation_gives() {
        let mut pool = Pool::new();
        let [n, m, rest] = ["n", "m", "rest"].map(|name| pool.variable(name, 32));
        let product = pool.bin(BinOp::Mul, n, m);
        let less = pool.bin(BinOp::Sub, product, m);
        let sum = pool.bin(BinOp::Add, m, rest);
        let (is_less, is_whole) = (pool.eq(rest, less), pool.eq(sum, product));
        let is_other = pool.not(is_whole);
        let no = pool.bit(false);
        assert_eq!(implied_equations(&mut pool, &[is_less, is_other]), [no]);
        assert!(implied_equations(&mut pool, &[is_less, is_whole]).is_empty());
    }

    /// Checks all comparisons of three-bit values with each other and with constants, and their
    /// negations, in all pairs.
    #[test]
    fn what_is_added_follows() {
        let mut pool = Pool::new();
        let (a, b) = (pool.input(0), pool.input(1));
        let (a, b) = (pool.extract(a, 0, 3), pool.extract(b, 0, 3));
        let mut said = Vec::new();
        for pred in PREDS {
            said.push(pool.cmp(pred, a, b));
            for c in 0..8 {
                let c = pool.constant(3, c);
                said.push(pool.cmp(pred, a, c));
            }
        }
        let negated: Vec<Term> = said.iter().map(|&t| pool.not(t)).collect();
        said.extend(negated);
        let values: Vec<(u8, u8)> = (0..8).flat_map(|x| (0..8).map(move |y| (x, y))).collect();
        let holds = |pool: &Pool, t: Term, (x, y): (u8, u8)| {
            let tape = |at| if at == 0 { x } else { y };
            Evaluator::new().eval(pool, t, &tape) == 1
        };
        let mut added = 0;
        for &p in &said {
            for &q in &said {
                let both = pool.and(p, q);
                for question in [vec![p, q], vec![both]] {
                    for t in implied_equations(&mut pool, &question) {
                        added += 1;
                        for &at in &values {
                            let asked = question.iter().all(|&t| holds(&pool, t, at));
                            assert!(!asked || holds(&pool, t, at), "{p:?} {q:?}");
                        }
                    }
                }
            }
        }
        assert!(added > 100, "{added}");
    }
}
