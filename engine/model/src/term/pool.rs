//! The pool that stores terms.
//!
//! The hash table is an open-addressed array of term numbers next to the vector of nodes, so that a
//! node is stored once and a lookup touches two cache lines. The pool is append-only: a [`Term`]
//! stays valid as long as its pool.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;

use super::node::{Array, ArrayNode, Node, Term};
use super::symbols::{Set, Sets, Symbol};
use super::value::mask;
use crate::operator::Width;

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) node: Node,
    pub(super) width: Width,
    pub(super) set: Set,
}

/// All terms, by number. See the [module](super).
#[derive(Debug)]
pub struct Pool {
    id: u64,
    pub(super) entries: Vec<Entry>,
    slots: Vec<u32>,
    wide: Vec<u128>,
    wide_ids: FxHashMap<u128, u32>,
    variables: Vec<(Box<str>, Width)>,
    variable_ids: FxHashMap<(Box<str>, Width), Term>,
    pub(super) arrays: Vec<(ArrayNode, Set)>,
    array_ids: FxHashMap<ArrayNode, Array>,
    array_names: Vec<Box<str>>,
    contents: Vec<Box<[u8]>>,
    content_ids: FxHashMap<Box<[u8]>, u32>,
    pub(super) sets: Sets,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool::new()
    }
}

impl Pool {
    /// An empty pool.
    pub fn new() -> Pool {
        // Number 0 is not a term. This niche makes `Option<Term>` four bytes wide.
        let unused = Entry {
            node: Node::Const(0),
            width: 0,
            set: Set::EMPTY,
        };
        static POOLS: AtomicU64 = AtomicU64::new(1);
        Pool {
            id: POOLS.fetch_add(1, Ordering::Relaxed),
            entries: vec![unused],
            slots: vec![0; 1024],
            wide: Vec::new(),
            wide_ids: FxHashMap::default(),
            variables: Vec::new(),
            variable_ids: FxHashMap::default(),
            arrays: Vec::new(),
            array_ids: FxHashMap::default(),
            array_names: Vec::new(),
            contents: Vec::new(),
            content_ids: FxHashMap::default(),
            sets: Sets::default(),
        }
    }

    /// The unique number of this pool, which identifies it in caches keyed by terms.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The number of terms.
    pub fn len(&self) -> usize {
        self.entries.len() - 1
    }

    /// Whether the pool contains no terms.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The operator and the children of a term.
    #[inline]
    pub fn node(&self, t: Term) -> &Node {
        &self.entries[t.index()].node
    }

    /// The width of a term in bits.
    #[inline]
    pub fn width(&self, t: Term) -> Width {
        self.entries[t.index()].width
    }

    /// The value of a term, if it is a constant.
    #[inline]
    pub fn as_const(&self, t: Term) -> Option<u128> {
        match self.entries[t.index()].node {
            Node::Const(value) => Some(u128::from(value)),
            Node::Wide(index) => Some(self.wide[index as usize]),
            _ => None,
        }
    }

    /// A constant. Bits of `value` above `width` are dropped.
    #[inline]
    pub fn constant(&mut self, width: Width, value: u128) -> Term {
        let value = value & mask(width);
        let node = match u64::try_from(value) {
            Ok(small) => Node::Const(small),
            Err(_) => {
                let next = self.wide.len() as u32;
                let index = *self.wide_ids.entry(value).or_insert(next);
                if index == next {
                    self.wide.push(value);
                }
                Node::Wide(index)
            }
        };
        self.intern(node, width)
    }

    /// A one-bit constant.
    #[inline]
    pub fn bit(&mut self, value: bool) -> Term {
        self.intern(Node::Const(u64::from(value)), 1)
    }

    /// The byte of the tape with this index, in 8 bits. The index must be less than 2^30.
    pub fn input(&mut self, index: u32) -> Term {
        self.intern(Node::Input(index), 8)
    }

    /// The free variable with this name and width.
    pub fn variable(&mut self, name: &str, width: Width) -> Term {
        let key = (Box::from(name), width);
        if let Some(&known) = self.variable_ids.get(&key) {
            return known;
        }
        let t = self.intern(Node::Variable(self.variables.len() as u32), width);
        self.variables.push(key.clone());
        self.variable_ids.insert(key, t);
        t
    }

    /// The name of the variable that a [`Node::Variable`] refers to.
    pub fn variable_name(&self, variable: u32) -> &str {
        self.variables
            .get(variable as usize)
            .map_or("?", |(name, _)| name)
    }

    /// The operator and the children of an array.
    pub fn array_node(&self, a: Array) -> ArrayNode {
        self.arrays[a.index()].0
    }

    /// The contents that an [`ArrayNode::Constant`] refers to.
    pub fn array_bytes(&self, contents: u32) -> &[u8] {
        self.contents
            .get(contents as usize)
            .map_or(&[], |bytes| bytes)
    }

    /// All contents that an [`ArrayNode::Constant`] can refer to, by number.
    pub fn all_contents(&self) -> Vec<Box<[u8]>> {
        self.contents.clone()
    }

    /// The name of the variable that an [`ArrayNode::Variable`] refers to.
    pub fn array_name(&self, variable: u32) -> &str {
        self.array_names
            .get(variable as usize)
            .map_or("?", |name| name)
    }

    /// An array with these bytes, followed by zeros.
    pub fn array_constant(&mut self, bytes: &[u8]) -> Array {
        let next = self.contents.len() as u32;
        let known = self.content_ids.get(bytes).copied();
        let index = known.unwrap_or_else(|| {
            self.contents.push(Box::from(bytes));
            self.content_ids.insert(Box::from(bytes), next);
            next
        });
        self.intern_array(ArrayNode::Constant(index))
    }

    /// The array of unknown contents with this name.
    pub fn array_variable(&mut self, name: &str) -> Array {
        let known = self.array_names.iter().position(|n| **n == *name);
        let index = known.unwrap_or_else(|| {
            self.array_names.push(Box::from(name));
            self.array_names.len() - 1
        });
        self.intern_array(ArrayNode::Variable(index as u32))
    }

    pub(super) fn intern_array(&mut self, node: ArrayNode) -> Array {
        if let Some(&known) = self.array_ids.get(&node) {
            return known;
        }
        let set = match node {
            ArrayNode::Constant(_) => Set::EMPTY,
            ArrayNode::Variable(v) => self.sets.single(Symbol::Array(v)),
            ArrayNode::Store(below, index, byte) => {
                let mut set = self.arrays[below.index()].1;
                for t in [index, byte] {
                    set = self.sets.union(set, self.entries[t.index()].set);
                }
                set
            }
            ArrayNode::Ite(cond, then, otherwise) => {
                let set = self.entries[cond.index()].set;
                let set = self.sets.union(set, self.arrays[then.index()].1);
                self.sets.union(set, self.arrays[otherwise.index()].1)
            }
        };
        let array = Array(self.arrays.len() as u32);
        self.arrays.push((node, set));
        self.array_ids.insert(node, array);
        array
    }

    /// The term with exactly this node, without simplification.
    pub(super) fn intern(&mut self, node: Node, width: Width) -> Term {
        let mut at = node.fingerprint(width) as usize;
        loop {
            at &= self.slots.len() - 1;
            let Some(id) = NonZeroU32::new(self.slots[at]) else {
                break;
            };
            let entry = &self.entries[id.get() as usize];
            if entry.node == node && entry.width == width {
                return Term(id);
            }
            at += 1;
        }
        let set = self.set_of_new(&node);
        self.entries.push(Entry { node, width, set });
        // 2^32 terms would be 100 GB of nodes, so memory is exhausted before the number overflows.
        let id = (self.entries.len() - 1) as u32;
        self.slots[at] = id;
        if self.entries.len() * 2 > self.slots.len() {
            self.grow();
        }
        Term(NonZeroU32::new(id).unwrap_or(NonZeroU32::MAX))
    }

    fn set_of_new(&mut self, node: &Node) -> Set {
        match *node {
            Node::Input(i) => self.sets.single(Symbol::Input(i)),
            Node::Variable(v) => self.sets.single(Symbol::Variable(v)),
            _ => {
                let mut set = match *node {
                    Node::Select(a, _) => self.arrays[a.index()].1,
                    _ => Set::EMPTY,
                };
                for child in node.children() {
                    set = self.sets.union(set, self.entries[child.index()].set);
                }
                // A large set belongs to one term. It is computed on demand by traversing that
                // term.
                if set.is_large() {
                    self.sets.new_large()
                } else {
                    set
                }
            }
        }
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let mut slots = vec![0; size];
        for (id, entry) in self.entries.iter().enumerate().skip(1) {
            let mut at = entry.node.fingerprint(entry.width) as usize & (size - 1);
            while slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            slots[at] = id as u32;
        }
        self.slots = slots;
    }
}
