//! Replacing symbols by terms or values.

use rustc_hash::FxHashMap;

use super::node::{Array, ArrayNode, Node, Term};
use super::order::Item;
use super::pool::Pool;

/// Rebuilds terms with some of their parts replaced, and remembers what became of each: use one for many
/// terms under the same replacement.
#[derive(Debug, Default)]
pub struct Rewriter {
    terms: FxHashMap<Term, Term>,
    arrays: FxHashMap<Array, Array>,
}

impl Rewriter {
    /// One that replaces nothing yet.
    pub fn new() -> Rewriter {
        Rewriter::default()
    }

    /// From now on `old` becomes `new` (of the same width). Say so before anything that contains it is
    /// rewritten.
    pub fn replace(&mut self, old: Term, new: Term) {
        self.terms.insert(old, new);
    }

    /// From now on the array `old` becomes `new`.
    pub fn replace_array(&mut self, old: Array, new: Array) {
        self.arrays.insert(old, new);
    }

    /// The term with everything replaced.
    pub fn apply(&mut self, pool: &mut Pool, t: Term) -> Term {
        self.apply_with(pool, t, &mut |_, _| None)
    }

    /// The term with everything replaced, also what `leaf` gives something for: it is asked for each input
    /// and variable.
    pub fn apply_with(
        &mut self,
        pool: &mut Pool,
        t: Term,
        leaf: &mut dyn FnMut(&mut Pool, Term) -> Option<Term>,
    ) -> Term {
        self.rebuild_all(pool, Item::Term(t), leaf);
        self.get(t)
    }

    /// The array with everything replaced.
    pub fn apply_array(&mut self, pool: &mut Pool, array: Array) -> Array {
        self.rebuild_all(pool, Item::Array(array), &mut |_, _| None);
        self.get_array(array)
    }

    fn rebuild_all(
        &mut self,
        pool: &mut Pool,
        root: Item,
        leaf: &mut dyn FnMut(&mut Pool, Term) -> Option<Term>,
    ) {
        let done = |item: Item| match item {
            Item::Term(t) => self.terms.contains_key(&t),
            Item::Array(a) => self.arrays.contains_key(&a),
        };
        for item in pool.order(root, done) {
            match item {
                Item::Term(t) => {
                    let new = self.rebuild(pool, t, leaf);
                    self.terms.insert(t, new);
                }
                Item::Array(a) => {
                    let new = match pool.array_node(a) {
                        ArrayNode::Store(below, index, byte) => {
                            let (index, byte) = (self.get(index), self.get(byte));
                            let below = self.get_array(below);
                            pool.array_store(below, index, byte)
                        }
                        ArrayNode::Ite(cond, then, otherwise) => {
                            let (then, otherwise) =
                                (self.get_array(then), self.get_array(otherwise));
                            pool.array_ite(self.get(cond), then, otherwise)
                        }
                        _ => a,
                    };
                    self.arrays.insert(a, new);
                }
            }
        }
    }

    fn get(&self, t: Term) -> Term {
        self.terms.get(&t).copied().unwrap_or(t)
    }

    fn get_array(&self, a: Array) -> Array {
        self.arrays.get(&a).copied().unwrap_or(a)
    }

    fn rebuild(
        &self,
        pool: &mut Pool,
        t: Term,
        leaf: &mut dyn FnMut(&mut Pool, Term) -> Option<Term>,
    ) -> Term {
        let w = pool.width(t);
        let node = *pool.node(t);
        let same = node.children().all(|c| self.get(c) == c);
        match node {
            Node::Const(_) | Node::Wide(_) => t,
            Node::Input(_) | Node::Variable(_) => leaf(pool, t).unwrap_or(t),
            Node::Select(a, i) => {
                let (array, index) = (self.get_array(a), self.get(i));
                if (array, index) == (a, i) {
                    t
                } else {
                    pool.select(array, index)
                }
            }
            _ if same => t,
            Node::Not(a) => pool.not(self.get(a)),
            Node::Un(op, a) => pool.un(op, self.get(a)),
            Node::Bin(op, a, b) => pool.bin(op, self.get(a), self.get(b)),
            Node::Cmp(pred, a, b) => pool.cmp(pred, self.get(a), self.get(b)),
            Node::Ite(c, a, b) => pool.ite(self.get(c), self.get(a), self.get(b)),
            Node::Concat(a, b) => pool.concat(self.get(a), self.get(b)),
            Node::Extract(a, low) => pool.extract(self.get(a), low, w),
            Node::ZExt(a) => pool.zext(self.get(a), w),
            Node::SExt(a) => pool.sext(self.get(a), w),
            Node::Funnel(left, a, b, by) => {
                pool.funnel(left, self.get(a), self.get(b), self.get(by))
            }
            Node::Overflow(op, s, a, b) => pool.overflow(op, s, self.get(a), self.get(b)),
            Node::FloatBin(op, kind, a, b) => pool.float_bin(op, kind, self.get(a), self.get(b)),
            Node::FloatCmp(pred, kind, a, b) => {
                pool.float_cmp(pred, kind, self.get(a), self.get(b))
            }
            Node::FloatCast(cast, a) => pool.float_cast(cast, self.get(a)),
            Node::FloatFn(function, kind, args) => {
                let args: Vec<Term> = args.into_iter().flatten().map(|a| self.get(a)).collect();
                pool.float_fn(function, kind, &args)
            }
        }
    }
}

impl Pool {
    /// The term with those bytes of the tape fixed that `tape` gives a value for. For many terms use a
    /// [`Rewriter`].
    pub fn substitute(&mut self, t: Term, tape: &dyn Fn(u32) -> Option<u8>) -> Term {
        Rewriter::new().apply_with(self, t, &mut |pool, leaf| match *pool.node(leaf) {
            Node::Input(i) => {
                let byte = tape(i)?;
                Some(pool.constant(8, u128::from(byte)))
            }
            _ => None,
        })
    }
}
