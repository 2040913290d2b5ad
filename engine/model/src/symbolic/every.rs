//! Facts about all elements of arrays.
//!
//! A fact may speak of a number that stands for any ([`every`]), an offset in an array as a rule:
//! below some counter each element is what was written there. It holds whatever that number is. So
//! whoever proves it may assume nothing of the number, and whoever uses it may put in what he
//! likes. What is of use are the offsets at which a question reads: which of them are put in is
//! nobody's promise.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::program::ir::BinOp;
use crate::term::{Item, Node, Pool, Rewriter, Symbol, Term};

/// Its name; no variable of a state is called so.
const NAME: &str = "every";
/// Offsets that are put in.
const INSTANCES: usize = 16;

/// The number that stands for any.
pub fn every(pool: &mut Pool) -> Term {
    pool.variable(NAME, 64)
}

/// Its symbol.
pub fn symbol(pool: &mut Pool) -> Option<Symbol> {
    let every = every(pool);
    pool.symbols(every).next()
}

/// Those of some facts that speak of it.
fn speaking(pool: &mut Pool, facts: &[Term]) -> Vec<Term> {
    let Some(symbol) = symbol(pool) else {
        return Vec::new();
    };
    let speaks = |fact: &&Term| pool.symbols(**fact).any(|other| other == symbol);
    facts.iter().filter(speaks).copied().collect()
}

/// What some facts say of the offsets at which these terms read arrays.
pub fn instances(pool: &mut Pool, facts: &[Term], terms: &[Term]) -> Vec<Term> {
    let facts = speaking(pool, facts);
    if facts.is_empty() {
        return Vec::new();
    }
    let every = every(pool);
    let mut all = Vec::new();
    for index in offsets(pool, terms).into_iter().take(INSTANCES) {
        if index == every {
            continue;
        }
        let mut rewriter = Rewriter::new();
        rewriter.replace(every, index);
        for &fact in &facts {
            all.push(rewriter.apply(pool, fact));
        }
    }
    all.retain(|&t| pool.as_const(t) != Some(1));
    all
}

/// Where these terms read arrays: of neighbouring bytes the first.
pub fn offsets(pool: &Pool, terms: &[Term]) -> BTreeSet<Term> {
    let mut seen: FxHashSet<Item> = FxHashSet::default();
    let mut read: FxHashSet<Term> = FxHashSet::default();
    for &root in terms {
        for item in pool.order(Item::Term(root), |item| seen.contains(&item)) {
            seen.insert(item);
            if let Item::Term(t) = item
                && let Node::Select(_, index) = *pool.node(t)
            {
                read.insert(index);
            }
        }
    }
    let constants: FxHashSet<u128> = read.iter().filter_map(|&t| pool.as_const(t)).collect();
    let is_first = |t: &&Term| match (pool.as_const(**t), pool.node(**t)) {
        (Some(at), _) => at == 0 || !constants.contains(&(at - 1)),
        (None, &Node::Bin(BinOp::Add, a, b)) => {
            let step = |t: Term| pool.as_const(t).is_some_and(|c| c < 8);
            !(step(b) && read.contains(&a) || step(a) && read.contains(&b))
        }
        (None, _) => true,
    };
    read.iter().filter(is_first).copied().collect()
}
