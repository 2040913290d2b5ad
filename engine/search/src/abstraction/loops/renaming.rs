//! Renames the variables of steps, so that each step of a path has its own copies.

use cegar_model::term::{Array, ArrayNode, Item, Node, Pool, Rewriter, Term};
use rustc_hash::FxHashSet;

/// Replaces a cut point's variables by their values on a path, and all other variables by copies
/// that only this step uses.
#[derive(Debug)]
pub struct Renaming {
    pub rewriter: Rewriter,
    pub seen: FxHashSet<Item>,
    pub suffix: String,
}

impl Renaming {
    pub fn note(&mut self, pool: &mut Pool, item: Item) {
        for item in pool.order(item, |item| self.seen.contains(&item)) {
            self.seen.insert(item);
            match item {
                Item::Term(t) => {
                    if let Node::Variable(number) = *pool.node(t) {
                        let name = format!("{}{}", pool.variable_name(number), self.suffix);
                        let copy = pool.variable(&name, pool.width(t));
                        self.rewriter.replace(t, copy);
                    }
                }
                Item::Array(a) => {
                    if let ArrayNode::Variable(number) = pool.array_node(a) {
                        let name = format!("{}{}", pool.array_name(number), self.suffix);
                        let copy = pool.array_variable(&name);
                        self.rewriter.replace_array(a, copy);
                    }
                }
            }
        }
    }

    /// The term on the path.
    pub fn apply(&mut self, pool: &mut Pool, t: Term) -> Term {
        self.note(pool, Item::Term(t));
        self.rewriter.apply(pool, t)
    }

    /// Leaves a variable as it is.
    pub fn keep(&mut self, t: Term) {
        self.seen.insert(Item::Term(t));
    }

    /// The array on the path.
    pub fn array(&mut self, pool: &mut Pool, array: Array) -> Array {
        self.note(pool, Item::Array(array));
        self.rewriter.apply_array(pool, array)
    }
}

/// The variable that represents the number of an iteration.
pub fn some_turn(pool: &mut Pool) -> Term {
    pool.variable("?turn", 64)
}

/// A term over [`some_turn`], for a given iteration.
pub fn in_turn(pool: &mut Pool, turn: Term, t: Term) -> Term {
    let some = some_turn(pool);
    let mut rewriter = Rewriter::new();
    rewriter.replace(some, turn);
    rewriter.apply(pool, t)
}
