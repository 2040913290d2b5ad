//! Predicates: the bits that an abstract state keeps of a concrete one.
//!
//! A predicate belongs to a cut point and is a one-bit term over its variables without connectives.
//! Its negation is the same predicate.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use cegar_model::program::ir::{BinOp, Pred};
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Node, Pool, Term};

/// The predicates of each cut point. They are numbered, and a number stays what it is.
#[derive(Clone, Debug, Default)]
pub struct Predicates {
    by: BTreeMap<Cut, Vec<Term>>,
}

impl Predicates {
    /// Those of a cut point; where the program starts there are none.
    pub fn at(&self, cut: Option<Cut>) -> &[Term] {
        cut.and_then(|cut| self.by.get(&cut))
            .map_or(&[], Vec::as_slice)
    }

    /// All together.
    pub fn count(&self) -> usize {
        self.by.values().map(Vec::len).sum()
    }

    /// Adds one, or its complement; false if it is there or says nothing.
    pub fn add(&mut self, pool: &mut Pool, cut: Cut, predicate: Term) -> bool {
        if pool.as_const(predicate).is_some() {
            return false;
        }
        let not = pool.not(predicate);
        let known = self.by.entry(cut).or_default();
        if known.contains(&predicate) || known.contains(&not) {
            return false;
        }
        // The one without a negation is the one that is recognised elsewhere.
        let plain = match *pool.node(predicate) {
            Node::Not(inner) => inner,
            _ => predicate,
        };
        known.push(plain);
        true
    }
}

/// The parts of a condition that have no connectives: what it is put together from.
pub fn atoms(pool: &Pool, condition: Term) -> Vec<Term> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let mut open = vec![condition];
    while let Some(t) = open.pop() {
        if !seen.insert(t) || pool.as_const(t).is_some() {
            continue;
        }
        match *pool.node(t) {
            Node::Not(a) => open.push(a),
            Node::Bin(BinOp::And | BinOp::Or | BinOp::Xor, a, b) => open.extend([b, a]),
            Node::Ite(c, a, b) => open.extend([b, a, c]),
            Node::Cmp(Pred::Eq, a, b) if pool.width(a) == 1 => open.extend([b, a]),
            _ => found.push(t),
        }
    }
    found
}
