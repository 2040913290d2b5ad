//! Groups of constraints that share symbols.
//!
//! Constraints that share no symbol, directly or transitively, can be solved separately;
//! constraints that share none with a new constraint keep the values that already satisfy them
//! (EXE, KLEE). The groups are a union-find over symbols. A term with very many symbols is joined
//! node by node instead, so that a chain of n such terms costs n steps and not n².

use rustc_hash::FxHashMap;

use cegar_model::term::{ArrayNode, Item, Node, Pool, Symbol, Term};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Symbol(u32),
    Item(Item),
}

#[derive(Default)]
struct Groups {
    parents: Vec<u32>,
    keys: FxHashMap<Key, u32>,
}

impl Groups {
    fn key(&mut self, key: Key) -> (u32, bool) {
        let next = self.parents.len() as u32;
        let id = *self.keys.entry(key).or_insert(next);
        if id == next {
            self.parents.push(next);
        }
        (id, id == next)
    }

    fn find(&mut self, mut at: u32) -> u32 {
        while self.parents[at as usize] != at {
            let above = self.parents[self.parents[at as usize] as usize];
            self.parents[at as usize] = above;
            at = above;
        }
        at
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// Adds a constraint and returns its key.
    fn add(&mut self, pool: &Pool, root: Term) -> u32 {
        let (id, _) = self.key(Key::Item(Item::Term(root)));
        let mut stack = vec![(Item::Term(root), id)];
        while let Some((item, id)) = stack.pop() {
            let mut below: [Option<Item>; 4] = [None; 4];
            match item {
                Item::Term(t) if !pool.has_many_symbols(t) => {
                    for symbol in pool.symbols(t) {
                        let (other, _) = self.key(Key::Symbol(symbol.code()));
                        self.join(id, other);
                    }
                }
                Item::Term(t) => {
                    let node = pool.node(t);
                    for (slot, child) in below.iter_mut().zip(node.children()) {
                        *slot = Some(Item::Term(child));
                    }
                    if let Node::Select(a, _) = *node {
                        below[3] = Some(Item::Array(a));
                    }
                }
                Item::Array(a) => match pool.array_node(a) {
                    ArrayNode::Constant(_) => {}
                    ArrayNode::Variable(v) => {
                        let (other, _) = self.key(Key::Symbol(Symbol::Array(v).code()));
                        self.join(id, other);
                    }
                    ArrayNode::Store(next, index, byte) => {
                        below = [
                            Some(Item::Array(next)),
                            Some(Item::Term(index)),
                            Some(Item::Term(byte)),
                            None,
                        ];
                    }
                    ArrayNode::Ite(cond, then, otherwise) => {
                        below = [
                            Some(Item::Term(cond)),
                            Some(Item::Array(then)),
                            Some(Item::Array(otherwise)),
                            None,
                        ];
                    }
                },
            }
            for item in below.into_iter().flatten() {
                // Constants join nothing.
                let free = matches!(item, Item::Term(t) if pool.as_const(t).is_some())
                    || matches!(item, Item::Array(a)
                        if matches!(pool.array_node(a), ArrayNode::Constant(_)));
                if free {
                    continue;
                }
                let (other, new) = self.key(Key::Item(item));
                self.join(id, other);
                if new {
                    stack.push((item, other));
                }
            }
        }
        id
    }
}

/// The indices of the constraints of `path` that share symbols with `wanted`, directly or
/// transitively, in ascending order.
pub fn related(pool: &Pool, path: &[Term], wanted: Term) -> Vec<usize> {
    let mut groups = Groups::default();
    let keys: Vec<u32> = path.iter().map(|&t| groups.add(pool, t)).collect();
    let wanted = groups.add(pool, wanted);
    let group = groups.find(wanted);
    (0..path.len())
        .filter(|&i| groups.find(keys[i]) == group)
        .collect()
}

/// Partitions the constraints' indices so that different parts share no symbol.
pub fn components(pool: &Pool, assertions: &[Term]) -> Vec<Vec<usize>> {
    let mut groups = Groups::default();
    let keys: Vec<u32> = assertions.iter().map(|&t| groups.add(pool, t)).collect();
    let mut places: FxHashMap<u32, usize> = FxHashMap::default();
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for (i, key) in keys.into_iter().enumerate() {
        let group = groups.find(key);
        let place = *places.entry(group).or_insert_with(|| {
            parts.push(Vec::new());
            parts.len() - 1
        });
        parts[place].push(i);
    }
    parts
}
