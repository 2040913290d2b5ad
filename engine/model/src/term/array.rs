//! Arrays of bytes: one for each object that is accessed at an offset that depends on the tape.

use super::node::{Array, ArrayNode, Node, Term};
use super::pool::Pool;
use crate::operator::BinOp;

/// The number of stores that a read looks through when it is built. Reads of older bytes stay
/// symbolic.
const LOOK: usize = 64;

impl Pool {
    /// The array with the byte at `index` (64 bits) replaced.
    pub fn array_store(&mut self, array: Array, index: Term, byte: Term) -> Array {
        debug_assert_eq!((self.width(index), self.width(byte)), (64, 8));
        match self.array_node(array) {
            // The new store is at the same index, so the older store can never be observed.
            ArrayNode::Store(below, at, _) if at == index => {
                self.intern_array(ArrayNode::Store(below, index, byte))
            }
            _ => self.intern_array(ArrayNode::Store(array, index, byte)),
        }
    }

    /// The byte at `index` (64 bits).
    pub fn select(&mut self, array: Array, index: Term) -> Term {
        debug_assert_eq!(self.width(index), 64);
        let mut array = array;
        for _ in 0..LOOK {
            match self.array_node(array) {
                ArrayNode::Store(_, at, byte) if at == index => return byte,
                ArrayNode::Store(below, at, _) if self.certainly_differ(at, index) => array = below,
                ArrayNode::Constant(contents) => {
                    let bytes = self.array_bytes(contents);
                    if let Some(i) = self.as_const(index) {
                        let at = usize::try_from(i).ok();
                        let byte = at.and_then(|i| bytes.get(i)).copied().unwrap_or(0);
                        return self.constant(8, u128::from(byte));
                    }
                    // Elements behind the contents are zeros, so only an all-zero table has the
                    // same value everywhere.
                    if bytes.iter().all(|&b| b == 0) {
                        return self.constant(8, 0);
                    }
                    break;
                }
                _ => break,
            }
        }
        self.intern(Node::Select(array, index), 8)
    }

    /// The array `then` if `cond`, else `otherwise`.
    pub fn array_ite(&mut self, cond: Term, then: Array, otherwise: Array) -> Array {
        if then == otherwise {
            return then;
        }
        match self.as_const(cond) {
            Some(1) => return then,
            Some(_) => return otherwise,
            None => {}
        }
        // The usual case is a store that happens under a condition. It becomes a store of a choice.
        if let ArrayNode::Store(below, index, byte) = self.array_node(then)
            && below == otherwise
        {
            let old = self.select(otherwise, index);
            let byte = self.ite(cond, byte, old);
            return self.array_store(otherwise, index, byte);
        }
        if let ArrayNode::Store(below, index, byte) = self.array_node(otherwise)
            && below == then
        {
            let old = self.select(then, index);
            let byte = self.ite(cond, old, byte);
            return self.array_store(then, index, byte);
        }
        self.intern_array(ArrayNode::Ite(cond, then, otherwise))
    }

    /// Whether the two are evidently the same term plus different constants.
    fn certainly_differ(&self, a: Term, b: Term) -> bool {
        let parts = |t: Term| match *self.node(t) {
            Node::Bin(BinOp::Add, x, c) => match self.as_const(c) {
                Some(c) => (Some(x), c),
                None => (Some(t), 0),
            },
            _ => match self.as_const(t) {
                Some(c) => (None, c),
                None => (Some(t), 0),
            },
        };
        let ((x, c), (y, d)) = (parts(a), parts(b));
        x == y && c != d
    }
}
