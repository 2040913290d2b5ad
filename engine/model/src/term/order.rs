//! Topological order of terms, without recursion.

use rustc_hash::FxHashSet;

use super::node::{Array, ArrayNode, Node, Term};
use super::pool::Pool;

/// A term or an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Item {
    /// A bit-vector term.
    Term(Term),
    /// An array term.
    Array(Array),
}

impl Pool {
    /// All items that `root` consists of and that are not `done` yet, children before parents. Does
    /// not descend below a done item.
    pub fn order(&self, root: Item, done: impl Fn(Item) -> bool) -> Vec<Item> {
        let mut order = Vec::new();
        let mut seen: FxHashSet<Item> = FxHashSet::default();
        let mut stack = vec![(root, false)];
        while let Some((item, expanded)) = stack.pop() {
            if expanded {
                order.push(item);
                continue;
            }
            if done(item) || !seen.insert(item) {
                continue;
            }
            stack.push((item, true));
            match item {
                Item::Term(t) => {
                    let node = self.node(t);
                    if let Node::Select(a, _) = *node {
                        stack.push((Item::Array(a), false));
                    }
                    stack.extend(node.children().map(|c| (Item::Term(c), false)));
                }
                Item::Array(a) => match self.array_node(a) {
                    ArrayNode::Store(below, index, byte) => {
                        stack.push((Item::Array(below), false));
                        stack.push((Item::Term(index), false));
                        stack.push((Item::Term(byte), false));
                    }
                    ArrayNode::Ite(cond, then, otherwise) => {
                        stack.push((Item::Term(cond), false));
                        stack.push((Item::Array(then), false));
                        stack.push((Item::Array(otherwise), false));
                    }
                    ArrayNode::Constant(_) | ArrayNode::Variable(_) => {}
                },
            }
        }
        order
    }
}
