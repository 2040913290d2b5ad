//! The symbols that a term depends on.
//!
//! Constraint independence asks for the inputs of every term very often. Small sets are interned
//! and their unions are cached, so most terms share a set with a child, and the set of a new term
//! costs a comparison. For sets with more than [`LARGE`] members that would be quadratic (a
//! checksum loop makes a chain in which the n-th term depends on n bytes). So a larger set is only
//! marked as such, and is collected by a traversal when it is asked for.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::node::{Array, ArrayNode, Node, Term};
use super::pool::Pool;

/// The size above which sets are computed on demand.
const LARGE: usize = 48;
const VARIABLES: u32 = 1 << 30;
const ARRAYS: u32 = 1 << 31;

/// A leaf without a fixed value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Symbol {
    /// A byte of the tape.
    Input(u32),
    /// A free variable.
    Variable(u32),
    /// An array of unknown contents.
    Array(u32),
}

impl Symbol {
    /// A number that identifies the symbol.
    pub fn code(self) -> u32 {
        match self {
            Symbol::Input(i) => i & (VARIABLES - 1),
            Symbol::Variable(v) => VARIABLES | v,
            Symbol::Array(a) => ARRAYS | a,
        }
    }

    pub(super) fn decode(code: u32) -> Symbol {
        if code & ARRAYS != 0 {
            Symbol::Array(code & !ARRAYS)
        } else if code & VARIABLES != 0 {
            Symbol::Variable(code & !VARIABLES)
        } else {
            Symbol::Input(code)
        }
    }
}

/// A set of symbols: an interned set, or the slot of a set that is computed on demand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Set(u32);

impl Set {
    pub(super) const EMPTY: Set = Set(0);
    const LARGE_BIT: u32 = 1 << 31;

    pub(super) fn is_large(self) -> bool {
        self.0 & Set::LARGE_BIT != 0
    }
}

#[derive(Debug)]
pub(super) struct Sets {
    small: Vec<Box<[u32]>>,
    ids: FxHashMap<Box<[u32]>, u32>,
    unions: FxHashMap<(u32, u32), Set>,
    large: Vec<OnceLock<Box<[u32]>>>,
}

impl Default for Sets {
    fn default() -> Sets {
        let mut sets = Sets {
            small: Vec::new(),
            ids: FxHashMap::default(),
            unions: FxHashMap::default(),
            large: Vec::new(),
        };
        sets.intern(Box::from([]));
        sets
    }
}

impl Sets {
    fn intern(&mut self, set: Box<[u32]>) -> Set {
        if let Some(&known) = self.ids.get(&set) {
            return Set(known);
        }
        let id = self.small.len() as u32;
        self.small.push(set.clone());
        self.ids.insert(set, id);
        Set(id)
    }

    pub(super) fn single(&mut self, symbol: Symbol) -> Set {
        self.intern(Box::from([symbol.code()]))
    }

    pub(super) fn union(&mut self, a: Set, b: Set) -> Set {
        if a == b || b == Set::EMPTY || a.is_large() {
            return a;
        }
        if a == Set::EMPTY || b.is_large() {
            return b;
        }
        let key = (a.0.min(b.0), a.0.max(b.0));
        if let Some(&known) = self.unions.get(&key) {
            return known;
        }
        let mut all = [&*self.small[a.0 as usize], &*self.small[b.0 as usize]].concat();
        all.sort_unstable();
        all.dedup();
        let set = if all.len() > LARGE {
            Set(Set::LARGE_BIT)
        } else {
            self.intern(all.into())
        };
        self.unions.insert(key, set);
        set
    }

    pub(super) fn new_large(&mut self) -> Set {
        self.large.push(OnceLock::new());
        Set(Set::LARGE_BIT | (self.large.len() - 1) as u32)
    }
}

impl Pool {
    /// The bytes of the tape that the term depends on, sorted. The first call for a term with very
    /// many of them traverses the term.
    pub fn inputs(&self, t: Term) -> &[u32] {
        inputs_of(self.symbol_codes(t))
    }

    /// As [`Pool::inputs`], but a traversal takes one step for each part of the term, and the
    /// result is `None` if there are no `steps` left.
    pub fn inputs_within(&self, t: Term, steps: &mut u64) -> Option<&[u32]> {
        self.symbol_codes_within(t, steps).map(inputs_of)
    }

    /// All symbols that the term depends on, sorted: inputs, then variables, then arrays.
    pub fn symbols(&self, t: Term) -> impl Iterator<Item = Symbol> + '_ {
        self.symbol_codes(t)
            .iter()
            .map(|&code| Symbol::decode(code))
    }

    /// Whether the term has so many symbols that its set is computed on demand.
    pub fn has_many_symbols(&self, t: Term) -> bool {
        self.entries[t.index()].set.is_large()
    }

    fn symbol_codes(&self, t: Term) -> &[u32] {
        // No term has that many parts.
        let mut steps = u64::MAX;
        self.symbol_codes_within(t, &mut steps).unwrap_or_default()
    }

    fn symbol_codes_within(&self, t: Term, steps: &mut u64) -> Option<&[u32]> {
        let set = self.entries[t.index()].set;
        if !set.is_large() {
            return Some(&self.sets.small[set.0 as usize]);
        }
        let place = &self.sets.large[(set.0 & !Set::LARGE_BIT) as usize];
        if let Some(done) = place.get() {
            return Some(done);
        }
        let all = self.collect(t, steps)?;
        // If another thread was faster, it has found the same set.
        Some(place.get_or_init(|| all))
    }

    fn collect(&self, root: Term, steps: &mut u64) -> Option<Box<[u32]>> {
        let mut seen = FxHashSet::default();
        let mut seen_arrays: FxHashSet<Array> = FxHashSet::default();
        let mut found = FxHashSet::default();
        let mut terms = vec![root];
        let mut arrays: Vec<Array> = Vec::new();
        loop {
            *steps = steps.checked_sub(1)?;
            if let Some(t) = terms.pop() {
                let set = self.entries[t.index()].set;
                if !seen.insert(t) {
                    continue;
                }
                if !set.is_large() {
                    found.extend(&self.sets.small[set.0 as usize]);
                    continue;
                }
                let place = &self.sets.large[(set.0 & !Set::LARGE_BIT) as usize];
                if let Some(done) = place.get() {
                    found.extend(done);
                    continue;
                }
                let node = self.node(t);
                terms.extend(node.children());
                if let Node::Select(a, _) = *node {
                    arrays.push(a);
                }
            } else if let Some(a) = arrays.pop() {
                if !seen_arrays.insert(a) {
                    continue;
                }
                match self.array_node(a) {
                    ArrayNode::Constant(_) => {}
                    ArrayNode::Variable(v) => {
                        found.insert(Symbol::Array(v).code());
                    }
                    ArrayNode::Store(below, index, byte) => {
                        arrays.push(below);
                        terms.extend([index, byte]);
                    }
                    ArrayNode::Ite(cond, then, otherwise) => {
                        terms.push(cond);
                        arrays.extend([then, otherwise]);
                    }
                }
            } else {
                break;
            }
        }
        let mut all: Vec<u32> = found.into_iter().collect();
        all.sort_unstable();
        Some(all.into())
    }
}

/// The inputs among these codes. Inputs precede all other symbols.
fn inputs_of(codes: &[u32]) -> &[u32] {
    &codes[..codes.partition_point(|&code| code < VARIABLES)]
}
