//! Object numbers in addresses.
//!
//! The number of an object is arbitrary: the machine's numbers, the prover's and the platform's all
//! differ. So an operation whose result depends on a number gives an unknown here: the order or
//! distance of two objects, a shift or a product of an address, or its upper half read as an
//! integer. Results that do not depend on the number stay exact: equality, offsets within one
//! object, low bits.

use super::super::memory::{Contents, constant};
use super::super::state::{Reached, Surroundings};
use super::Encoder;
use super::pointer::Root;
use crate::program::ir::numbers::{LOWEST, object_and_offset};
use crate::program::ir::{BinOp, FUNCTION_OBJECTS, Pred, Width, place_of};
use crate::term::{Node, Term};

impl Encoder<'_, '_> {
    /// The objects that a 64-bit value may be an address of. Empty if it is a plain number.
    pub(super) fn roots(&mut self, now: &Reached, t: Term) -> Vec<Root> {
        if self.pool.width(t) != 64 {
            return Vec::new();
        }
        if let Some(value) = self.pool.as_const(t) {
            let (number, _) = object_and_offset(value as u64);
            let is_object = self.has_address(number);
            return if is_object {
                vec![Root::Number(number)]
            } else {
                Vec::new()
            };
        }
        let may_be = matches!(
            self.pool.node(t),
            Node::Concat(..) | Node::Ite(..) | Node::Bin(BinOp::Add | BinOp::Sub | BinOp::And, ..)
        );
        if !may_be {
            return Vec::new();
        }
        let mut all = Vec::new();
        for case in self.split(now, t) {
            let is_object = match case.root {
                Root::Number(0) | Root::Null | Root::Unknown => false,
                Root::Number(number) => self.has_address(number),
                Root::Of(_) => true,
            };
            if is_object && !all.contains(&case.root) {
                all.push(case.root);
            }
        }
        all
    }

    /// Whether this is the number of an object or a function.
    pub(super) fn has_address(&mut self, number: u32) -> bool {
        let functions = self.world.program().functions.len();
        let function = place_of(number).checked_sub(FUNCTION_OBJECTS);
        function.is_some_and(|f| (f as usize) < functions)
            || number != 0 && self.world.object_at(number).is_some()
    }

    /// Whether a value may be an address.
    pub(super) fn is_address(&mut self, now: &Reached, t: Term) -> bool {
        !self.roots(now, t).is_empty()
    }

    /// Whether the result of an operation depends on an object's number.
    pub(super) fn looks_at_number(&mut self, now: &Reached, op: BinOp, a: Term, b: Term) -> bool {
        if self.pool.width(a) != 64 || op == BinOp::Add {
            return false;
        }
        let (x, y) = (self.roots(now, a), self.roots(now, b));
        if x.is_empty() && y.is_empty() {
            return false;
        }
        let small = |t: Option<u128>| t.is_some_and(|v| v >> 32 == 0);
        let (a, b) = (self.pool.as_const(a), self.pool.as_const(b));
        match op {
            BinOp::Sub => !(y.is_empty() || x.len() == 1 && x == y),
            BinOp::And => {
                let keeps = |t: Option<u128>| t.is_some_and(|v| (v >> 32) as u32 == u32::MAX);
                !(small(a) || small(b) || keeps(a) || keeps(b))
            }
            BinOp::Or | BinOp::Xor => !(small(a) || small(b)),
            _ => true,
        }
    }

    /// Whether a comparison depends on an object's number.
    pub(super) fn orders_numbers(&mut self, now: &Reached, pred: Pred, a: Term, b: Term) -> bool {
        if self.pool.width(a) != 64 || matches!(pred, Pred::Eq | Pred::Ne) {
            return false;
        }
        let (x, y) = (self.roots(now, a), self.roots(now, b));
        match (x.is_empty(), y.is_empty()) {
            (true, true) => false,
            (false, false) => !(x.len() == 1 && x == y),
            // Every address is greater than these numbers, unless it wraps around.
            (true, false) => self.pool.as_const(a).is_none_or(|v| v >= LOWEST.into()),
            (false, true) => self.pool.as_const(b).is_none_or(|v| v >= LOWEST.into()),
        }
    }

    /// Whether a narrow load at a constant offset sees a part of a stored address.
    pub(super) fn sees_number(
        &mut self,
        now: &Reached,
        contents: &Contents,
        offset: Term,
        (len, size): (u32, Term),
    ) -> bool {
        let size = self.pool.as_const(size).unwrap_or(0);
        let Some(at) = constant(self.pool, offset) else {
            return false;
        };
        if len == 8 && at % 8 == 0 {
            return false;
        }
        let end = u64::from(at) + u64::from(len);
        let mut word = at / 8 * 8;
        while u64::from(word) < end && u128::from(word) + 8 <= size {
            // A word that lies completely in the loaded value stays an address. Its parts are
            // checked when they are extracted.
            let whole = at <= word && end >= u64::from(word) + 8;
            if !whole {
                let value = contents.read_at(self.pool, word, 8);
                if self.is_address(now, value) {
                    return true;
                }
            }
            word += 8;
        }
        false
    }

    /// An unknown that replaces a value that depends on an object's number.
    pub(super) fn numberless(&mut self, width: Width) -> Term {
        self.out.approximations += 1;
        self.unknown(width)
    }
}
