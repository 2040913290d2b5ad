//! Substitution in terms.

use rustc_hash::FxHashMap;

use super::node::{Array, ArrayNode, Node, Term};
use super::order::Item;
use super::pool::Pool;

/// Rebuilds terms with some subterms replaced, and caches the results. Use one rewriter for many
/// terms under the same substitution.
#[derive(Debug, Default)]
pub struct Rewriter {
    terms: FxHashMap<Term, Term>,
    arrays: FxHashMap<Array, Array>,
}

impl Rewriter {
    /// Creates a rewriter that replaces nothing.
    pub fn new() -> Rewriter {
        Rewriter::default()
    }

    /// Replaces `old` by `new` (of the same width) from now on. Must be called before a term that
    /// contains `old` is rewritten.
    pub fn replace(&mut self, old: Term, new: Term) {
        self.terms.insert(old, new);
    }

    /// Replaces the array `old` by `new` from now on.
    pub fn replace_array(&mut self, old: Array, new: Array) {
        self.arrays.insert(old, new);
    }

    /// The term after all replacements.
    pub fn apply(&mut self, pool: &mut Pool, t: Term) -> Term {
        self.apply_with(pool, t, &mut |_, _| None)
    }

    /// The term after all replacements, including those of `leaf`, which is called for each input
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

    /// The array after all replacements.
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
                    let new = match *pool.node(t) {
                        Node::Input(_) | Node::Variable(_) => leaf(pool, t).unwrap_or(t),
                        _ => pool.rebuilt(t, &|c| self.get(c), &|a| self.get_array(a)),
                    };
                    self.terms.insert(t, new);
                }
                Item::Array(a) => {
                    let new = pool.rebuilt_array(a, &|c| self.get(c), &|a| self.get_array(a));
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
}

impl Pool {
    /// The term's operation on rewritten operands. A leaf stays as it is.
    pub fn rebuilt(
        &mut self,
        t: Term,
        get: &dyn Fn(Term) -> Term,
        get_array: &dyn Fn(Array) -> Array,
    ) -> Term {
        let w = self.width(t);
        let node = *self.node(t);
        let same = node.children().all(|c| get(c) == c);
        match node {
            Node::Const(_) | Node::Wide(_) | Node::Input(_) | Node::Variable(_) => t,
            Node::Select(a, i) => {
                let (array, index) = (get_array(a), get(i));
                if (array, index) == (a, i) {
                    t
                } else {
                    self.select(array, index)
                }
            }
            _ if same => t,
            Node::Not(a) => self.not(get(a)),
            Node::Un(op, a) => self.un(op, get(a)),
            Node::Bin(op, a, b) => self.bin(op, get(a), get(b)),
            Node::Cmp(pred, a, b) => self.cmp(pred, get(a), get(b)),
            Node::Ite(c, a, b) => self.ite(get(c), get(a), get(b)),
            Node::Concat(a, b) => self.concat(get(a), get(b)),
            Node::Extract(a, low) => self.extract(get(a), low, w),
            Node::ZExt(a) => self.zext(get(a), w),
            Node::SExt(a) => self.sext(get(a), w),
            Node::Funnel(left, a, b, by) => self.funnel(left, get(a), get(b), get(by)),
            Node::Overflow(op, s, a, b) => self.overflow(op, s, get(a), get(b)),
            Node::FloatBin(op, kind, a, b) => self.float_bin(op, kind, get(a), get(b)),
            Node::FloatCmp(pred, kind, a, b) => self.float_cmp(pred, kind, get(a), get(b)),
            Node::FloatCast(cast, a) => self.float_cast(cast, get(a)),
            Node::FloatFn(function, kind, args) => {
                let args: Vec<Term> = args.into_iter().flatten().map(get).collect();
                self.float_fn(function, kind, &args)
            }
        }
    }

    /// The array's operation on rewritten operands.
    pub fn rebuilt_array(
        &mut self,
        array: Array,
        get: &dyn Fn(Term) -> Term,
        get_array: &dyn Fn(Array) -> Array,
    ) -> Array {
        match self.array_node(array) {
            ArrayNode::Store(below, index, byte) => {
                self.array_store(get_array(below), get(index), get(byte))
            }
            ArrayNode::Ite(cond, then, otherwise) => {
                self.array_ite(get(cond), get_array(then), get_array(otherwise))
            }
            ArrayNode::Constant(_) | ArrayNode::Variable(_) => array,
        }
    }

    /// The term with the bytes of the tape fixed for which `tape` gives a value. For many terms use
    /// a [`Rewriter`].
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
