//! Predicates: the bits of an abstract state.
//!
//! A predicate belongs to a cut point and is a one-bit term over its variables without connectives.
//! Its negation is the same predicate.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use cegar_model::program::ir::{BinOp, Pred};
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Node, Pool, Term};

/// The predicates of each cut point. Their numbers never change.
#[derive(Clone, Debug, Default)]
pub struct Predicates {
    by: BTreeMap<Cut, Vec<Term>>,
}

impl Predicates {
    /// The predicates of a cut point; none at the start of the program.
    pub fn at(&self, cut: Option<Cut>) -> &[Term] {
        cut.and_then(|cut| self.by.get(&cut))
            .map_or(&[], Vec::as_slice)
    }

    /// The total number of predicates.
    pub fn count(&self) -> usize {
        self.by.values().map(Vec::len).sum()
    }

    /// Adds a predicate or its negation; false if it exists already or is constant.
    pub fn add(&mut self, pool: &mut Pool, cut: Cut, predicate: Term) -> bool {
        if pool.as_const(predicate).is_some() {
            return false;
        }
        let not = pool.not(predicate);
        let known = self.by.entry(cut).or_default();
        if known.contains(&predicate) || known.contains(&not) {
            return false;
        }
        // The form without a negation is recognised elsewhere.
        let plain = match *pool.node(predicate) {
            Node::Not(inner) => inner,
            _ => predicate,
        };
        known.push(plain);
        true
    }
}

/// The subterms of a condition that it combines by connectives.
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
