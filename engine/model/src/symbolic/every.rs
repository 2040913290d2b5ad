//! Facts about all elements of arrays.
//!
//! A fact may contain a universally quantified variable ([`every`]), which usually is an offset in
//! an array: for example, each element at an offset below some counter is what was written there.
//! The fact holds for all values of the variable. So a proof of the fact must not assume anything
//! about the variable, and a use of the fact may replace the variable by any term. The useful
//! instances are those for the offsets at which a question reads arrays. Which of them are
//! generated is not guaranteed.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::program::ir::BinOp;
use crate::term::{Item, Node, Pool, Rewriter, Symbol, Term};

/// The name of the quantified variable; no variable of a state has this name.
const NAME: &str = "every";
/// The number of offsets for which instances are generated.
const INSTANCES: usize = 16;

/// The universally quantified variable.
pub fn every(pool: &mut Pool) -> Term {
    pool.variable(NAME, 64)
}

/// The symbol of the quantified variable.
pub fn symbol(pool: &mut Pool) -> Option<Symbol> {
    let every = every(pool);
    pool.symbols(every).next()
}

/// The facts that contain the quantified variable.
fn speaking(pool: &mut Pool, facts: &[Term]) -> Vec<Term> {
    let Some(symbol) = symbol(pool) else {
        return Vec::new();
    };
    let speaks = |fact: &&Term| pool.symbols(**fact).any(|other| other == symbol);
    facts.iter().filter(speaks).copied().collect()
}

/// The instances of some facts for the offsets at which these terms read arrays.
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

/// The offsets at which these terms read arrays. Of neighbouring bytes, only the first offset.
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
