//! Operations whose results depend on how the platform lays out objects.
//!
//! Of the lower half of an address only the bits that the object's alignment fixes are known. The
//! platform chooses the others. It also chooses whether the end of one object is the beginning of
//! another one, and whether a new block lies where an old one was freed. A result that depends on
//! such a choice is an unknown.

use super::super::state::Reached;
use super::super::world::{ObjId, ObjectKind};
use super::pointer::{Case, Root};
use super::{Encoder, Step};
use crate::program::ir::numbers::LOWEST;
use crate::program::ir::{BinOp, CastKind, Op, Pred, Width};
use crate::term::{Term, fault};

/// The alignment of every block in the C library's allocator.
const HEAP: u64 = 16;

impl Encoder<'_, '_> {
    /// `a op b`, where `a` or `b` may be an address.
    pub(super) fn arithmetic(
        &mut self,
        now: &mut Reached,
        op: BinOp,
        a: Term,
        b: Term,
    ) -> Step<Term> {
        if self.looks_at_number(now, op, a, b) {
            let width = self.pool.width(a);
            return Ok(self.numberless(width));
        }
        Ok(match op {
            BinOp::Add | BinOp::Sub => return self.sum(now, op, a, b),
            BinOp::And | BinOp::Or | BinOp::Xor => self.masked(now, op, a, b),
            _ => {
                let value = self.pool.bin(op, a, b);
                self.found(value)
            }
        })
    }

    /// The result of a computation on plain numbers. If its value equals an address, it becomes an
    /// unknown, because it must not lead to that object.
    pub(super) fn found(&mut self, value: Term) -> Term {
        let known = self.pool.as_const(value);
        match known.filter(|_| self.pool.width(value) == 64) {
            Some(known) if self.is_anchor(known as u64) => self.numberless(64),
            _ => value,
        }
    }

    /// The result of a shift without a check. For a shift by the width or more, it is
    /// unconstrained.
    pub(super) fn shifted(&mut self, now: &Reached, op: BinOp, by: Term, value: Term) -> Term {
        if !matches!(op, BinOp::Shl | BinOp::LShr | BinOp::AShr) {
            return value;
        }
        let width = self.pool.width(value);
        let far = fault::operation(self.pool, (op, width), value, by);
        if self.pool.as_const(far) == Some(0)
            || width <= 64 && self.ranges(now).of(by).high < u64::from(width)
        {
            return value;
        }
        let any = self.numberless(width);
        self.pool.ite(far, any, value)
    }

    /// The number of leading or trailing zeros. For an argument of zero, it is unconstrained.
    pub(super) fn zeros(&mut self, a: Term, value: Term) -> Term {
        let width = self.pool.width(a);
        let zero = self.constant(width, 0);
        let none = self.pool.eq(a, zero);
        if self.pool.as_const(none) == Some(0) {
            return value;
        }
        let any = self.numberless(width);
        self.pool.ite(none, any, value)
    }

    /// The greatest known common alignment of the addresses of these objects.
    fn alignment(&mut self, roots: &[Root]) -> u64 {
        let mut least = 1 << 20;
        for &root in roots {
            let id = self.led_to(root);
            least = least.min(id.map_or(1, |id| self.aligned(id)));
        }
        least
    }

    fn aligned(&self, id: ObjId) -> u64 {
        let info = self.world.object(id);
        let program = self.world.program();
        let align = match info.kind {
            ObjectKind::Global(global) => program.globals[global.index()].align,
            ObjectKind::Made { .. } if info.heap => return HEAP,
            ObjectKind::Made { block, op, .. } => {
                let inst = program.block(block).ops.get(op as usize);
                match inst.map(|inst| &inst.op) {
                    Some(Op::Alloca { align, .. }) => *align,
                    _ => 8,
                }
            }
        };
        let align = u64::from(align.max(1));
        if align.is_power_of_two() { align } else { 1 }
    }

    /// A value of which only the bits in `known` are those of `plain`. The bits in `open` are
    /// unknown.
    fn low(&mut self, plain: Term, known: u64, open: u64) -> Term {
        let width = self.pool.width(plain);
        let any = self.numberless(width);
        let (known, open) = (self.constant(width, known), self.constant(width, open));
        let seen = self.pool.bin(BinOp::And, plain, known);
        let any = self.pool.bin(BinOp::And, any, open);
        self.pool.bin(BinOp::Or, seen, any)
    }

    /// A bit operation with an address: a tag, a hash, or the block that the address lies in.
    fn masked(&mut self, now: &Reached, op: BinOp, a: Term, b: Term) -> Term {
        let plain = self.pool.bin(op, a, b);
        let (x, y) = (self.roots(now, a), self.roots(now, b));
        if x.is_empty() && y.is_empty() {
            return self.found(plain);
        }
        let (address, mask, roots) = if y.is_empty() { (a, b, x) } else { (b, a, y) };
        let Some(mask) = self.pool.as_const(mask) else {
            return self.numberless(64);
        };
        let (mask, known) = (mask as u64, self.alignment(&roots) - 1);
        let cleared = if mask >> 32 == 0 { mask } else { !mask };
        let open = cleared & !known;
        match op {
            _ if open == 0 => plain,
            BinOp::And if mask >> 32 == 0 => self.low(plain, known & mask, open),
            BinOp::And => {
                let gone = self.low(address, known & cleared, open);
                self.pool.bin(BinOp::Sub, address, gone)
            }
            _ => self.numberless(64),
        }
    }

    /// A conversion of a value that may be an address.
    pub(super) fn cast(&mut self, now: &Reached, kind: CastKind, a: Term, to: Width) -> Term {
        let roots = self.roots(now, a);
        if roots.is_empty() {
            return self.pool.cast(kind, a, to);
        }
        if to > 32 {
            return self.numberless(to);
        }
        let plain = self.pool.cast(kind, a, to);
        let known = self.alignment(&roots) - 1;
        let all = u64::MAX >> (64 - u32::from(to));
        match all & !known {
            0 => plain,
            open => self.low(plain, known & all, open),
        }
    }

    /// The condition under which the platform decides whether two addresses are equal. `None` if it
    /// never does, because the addresses lead into one object, or both into objects that are alive.
    pub(super) fn apart(&mut self, now: &Reached, pred: Pred, a: Term, b: Term) -> Option<Term> {
        if self.pool.width(a) != 64 || !matches!(pred, Pred::Eq | Pred::Ne) {
            return None;
        }
        let (x, y) = (self.roots(now, a), self.roots(now, b));
        if x.is_empty() && y.is_empty() || x == y && x.len() == 1 {
            return None;
        }
        if x.is_empty() || y.is_empty() {
            let number = if x.is_empty() { a } else { b };
            let value = self.pool.as_const(number)? as u64;
            let free = (LOWEST..=LOWEST.wrapping_neg()).contains(&value);
            return free.then(|| self.pool.bit(true));
        }
        let (xs, ys) = (self.split(now, a), self.split(now, b));
        let mut open = self.pool.bit(false);
        for x in &xs {
            for y in &ys {
                if x.root == y.root {
                    continue;
                }
                let (Some(here), Some(there)) = (self.inside(now, x), self.inside(now, y)) else {
                    continue;
                };
                let mut inside = self.pool.and(here, there);
                if self.is_shared(x) && self.is_shared(y) {
                    inside = self.pool.bit(false);
                }
                let outside = self.pool.not(inside);
                let both = self.pool.and(x.cond, y.cond);
                let may = self.pool.and(both, outside);
                open = self.pool.or(open, may);
            }
        }
        (self.pool.as_const(open) != Some(0)).then_some(open)
    }

    /// The condition under which one of two compared addresses is more than one byte past the end
    /// of the object that both were made from. C does not define the order then, and the platform's
    /// order differs from the machine's if the address wraps around.
    pub(super) fn strays(&mut self, now: &Reached, pred: Pred, a: Term, b: Term) -> Term {
        let mut strays = self.pool.bit(false);
        if self.pool.width(a) != 64 || matches!(pred, Pred::Eq | Pred::Ne) {
            return strays;
        }
        let (x, y) = (self.roots(now, a), self.roots(now, b));
        if x.len() != 1 || x != y {
            return strays;
        }
        let mut cases = self.split(now, a);
        cases.extend(self.split(now, b));
        for case in cases {
            let id = self.led_to(case.root);
            let Some(object) = id.and_then(|id| self.object(&now.state, id)) else {
                continue;
            };
            let beyond = self.pool.cmp(Pred::Ugt, case.offset, object.size);
            let beyond = self.pool.and(case.cond, beyond);
            strays = self.pool.or(strays, beyond);
        }
        strays
    }

    /// The condition under which an address that is compared with NULL, or with another number
    /// that is no address, lies so far below its object that it may wrap around to that number.
    pub(super) fn is_far_below(&mut self, now: &Reached, a: Term, b: Term) -> Term {
        let mut wraps = self.pool.bit(false);
        if self.pool.width(a) != 64 {
            return wraps;
        }
        let (address, number) = match (self.pool.as_const(a), self.pool.as_const(b)) {
            (None, Some(number)) => (a, number as u64),
            (Some(number), None) => (b, number as u64),
            _ => return wraps,
        };
        if (LOWEST..=LOWEST.wrapping_neg()).contains(&number) {
            return wraps;
        }
        let nearest = self.c64(number.wrapping_sub(LOWEST));
        for case in self.split(now, address) {
            if matches!(case.root, Root::Null | Root::Unknown | Root::Number(0)) {
                continue;
            }
            let below = self.pool.cmp(Pred::Sle, case.offset, nearest);
            let below = self.pool.and(case.cond, below);
            wraps = self.pool.or(wraps, below);
        }
        wraps
    }

    /// The condition under which an address is that of a byte of a live object. `None` if it is not
    /// the address of an object.
    fn inside(&mut self, now: &Reached, case: &Case) -> Option<Term> {
        let id = match case.root {
            Root::Number(number) if self.has_address(number) => self.world.object_at(number),
            Root::Of(id) => Some(id),
            Root::Number(_) | Root::Null | Root::Unknown => return None,
        };
        let Some(id) = id else {
            // The number is that of a function.
            let zero = self.c64(0);
            return Some(self.pool.eq(case.offset, zero));
        };
        // The object does not exist any more, such as a local variable of a call that has ended.
        let Some(object) = self.object(&now.state, id) else {
            return Some(self.pool.bit(false));
        };
        let within = self.pool.cmp(Pred::Ult, case.offset, object.size);
        Some(self.pool.and(object.alive, within))
    }

    /// Whether a case leads to a constant without a name, such as a string literal, which may share
    /// its address with an equal one.
    fn is_shared(&mut self, case: &Case) -> bool {
        let Root::Number(number) = case.root else {
            return false;
        };
        let Some(id) = self.world.object_at(number) else {
            return false;
        };
        match self.world.object(id).kind {
            ObjectKind::Global(global) => {
                let global = &self.world.program().globals[global.index()];
                global.constant && global.source_name.is_empty()
            }
            ObjectKind::Made { .. } => false,
        }
    }

    /// Whether an address leads to local variables only, which nothing but the program changes.
    pub(super) fn is_own(&mut self, now: &Reached, address: Term) -> bool {
        self.split(now, address).into_iter().all(|case| {
            self.led_to(case.root).is_some_and(|id| {
                let info = self.world.object(id);
                !info.heap && matches!(info.kind, ObjectKind::Made { .. })
            })
        })
    }
}
