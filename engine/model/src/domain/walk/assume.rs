//! Narrows the values from which a condition was computed.
//!
//! A bit is traced back to the comparison that computed it; a compared value to the conversions and
//! sums that computed it, and to the cell from which it was read. The operation of a register was
//! executed with the values that its operands still have: in static single assignment form, an
//! operand cannot have been set again without the operation having been executed after that.

use std::sync::Arc;

use super::compare::{is_near, signed};
use super::{Frame, Guide, Walker};
use crate::domain::num::{self, Num};
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::{BinOp, Op, Operand, Pred, Reg, Width};

/// The most operations that are traced back.
const DEPTH: u32 = 8;

impl<G: Guide> Walker<'_, G> {
    /// Restricts the state to executions in which a bit has this value. Returns false if there are
    /// none.
    pub(super) fn assume(
        &self,
        frame: &Frame,
        state: &mut State,
        cond: Operand,
        holds: bool,
    ) -> bool {
        self.learned(frame, state, (cond, 1), Value::exactly(1, holds.into()), 0)
    }

    /// Restricts the state to executions in which an operand is one of these values.
    pub(super) fn learn(
        &self,
        frame: &Frame,
        state: &mut State,
        operand: Operand,
        width: Width,
        value: Value,
    ) {
        // If no execution is left, that is noticed where the value is used.
        let _ = self.learned(frame, state, (operand, width), value, 0);
    }

    /// Restricts the state to executions in which an operand compares so with a value. Returns
    /// false if there are none.
    pub(super) fn compare(
        &self,
        frame: &Frame,
        state: &mut State,
        (pred, width): (Pred, Width),
        operand: Operand,
        other: &Value,
    ) -> bool {
        let value = self.get(frame, state, operand, width);
        if self.decided(state, (pred, width), (&value, other)) == Some(false) {
            return false;
        }
        match self.restricted((pred, width), (&value, other), false) {
            Some(left) => self.learned(frame, state, (operand, width), left, 0),
            None => false,
        }
    }

    pub(super) fn learned(
        &self,
        frame: &Frame,
        state: &mut State,
        (operand, width): (Operand, Width),
        value: Value,
        depth: u32,
    ) -> bool {
        let Operand::Reg(reg) = operand else {
            let own = self.get(frame, state, operand, width);
            return match (own.plain(), value.plain()) {
                (Some(a), Some(b)) if width <= 64 => a.meet(width, b).is_some(),
                _ => true,
            };
        };
        let before = self.get(frame, state, operand, width);
        let own = self
            .widths(frame)
            .get(reg.index())
            .copied()
            .unwrap_or(width);
        let value = match (before.plain(), value.plain()) {
            (Some(a), Some(b)) if width <= 64 => match a.meet(width, b) {
                Some(num) => Value::number(num),
                None => return false,
            },
            _ => value,
        };
        if own != width || depth > DEPTH {
            return true;
        }
        if value != before || !state.registers.contains_key(&reg) {
            state.registers.insert(reg, value.clone());
            self.learn_cell(state, reg, &value);
            self.known_granted(frame, state, &before, &value);
            if !self.byte_is(state, reg, &value) {
                return false;
            }
            if !self.forth(frame, state, reg, depth + 1)
                || !self.looked_up(frame, state, (reg, width), &value, depth)
            {
                return false;
            }
        } else if width > 1 {
            return true;
        }
        match frame.flow.made(self.program, reg) {
            Some(op) => self.back(frame, state, op, (reg, width), &value, depth + 1),
            None => true,
        }
    }

    /// Narrows the registers that were computed from a register that is known better now.
    fn forth(&self, frame: &Frame, state: &mut State, reg: Reg, depth: u32) -> bool {
        let flow = Arc::clone(&frame.flow);
        flow.users(self.program, reg).all(|op| {
            let Some((dst, new)) = self.computed(frame, state, op) else {
                return true;
            };
            let Some(old) = state.registers.get(&dst) else {
                return true;
            };
            let width = self.width(frame, dst);
            let both = match (
                old.plain(),
                new.plain(),
                old.single_target(),
                new.single_target(),
            ) {
                (Some(a), Some(b), ..) if width <= 64 => a.meet(width, b).map(Value::number),
                (.., Some((a, x)), Some((b, y))) if a == b => {
                    x.meet(64, y).map(|offset| Value::address(a, offset))
                }
                _ => return true,
            };
            let Some(both) = both else { return false };
            if both == *old {
                return true;
            }
            state.registers.insert(dst, both.clone());
            self.learn_cell(state, dst, &both);
            if !self.byte_is(state, dst, &both) {
                return false;
            }
            self.define(frame, state, op);
            depth > DEPTH || self.forth(frame, state, dst, depth + 1)
        })
    }

    /// The result of an operation for the current values of its operands, if it cannot fail.
    fn computed(&self, frame: &Frame, state: &State, op: &Op) -> Option<(Reg, Value)> {
        let get = |operand, width| self.get(frame, state, operand, width);
        Some(match op {
            Op::Bin {
                dst,
                op,
                width,
                a,
                b,
                ..
            } if matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::And)
                && *width <= 64 =>
            {
                let values = (&get(*a, *width), &get(*b, *width));
                (*dst, self.combined(*op, *width, values))
            }
            Op::Cast {
                dst,
                kind,
                from,
                to,
                a,
            } => (*dst, get(*a, *from).cast(*kind, *from, *to)),
            Op::Copy { dst, a } => (*dst, get(*a, self.width(frame, *dst))),
            Op::Address {
                dst,
                base,
                offset,
                indices,
                ..
            } => (
                *dst,
                self.addressed(frame, state, (*base, *offset), indices).0,
            ),
            _ => return None,
        })
    }

    /// Narrows the cell that holds the same value as a register.
    fn learn_cell(&self, state: &mut State, reg: Reg, value: &Value) {
        let Some(cell) = state.cells.get(&reg).copied() else {
            return;
        };
        let at = Num::exactly(64, cell.at.into());
        let width = (cell.len * 8) as Width;
        state.change(cell.object, &self.names, |object| {
            let known = object.contents.load(&at, cell.len, &self.names);
            let value = match (known.plain(), value.plain()) {
                (Some(a), Some(b)) => a.meet(width, b).map_or(known, Value::number),
                _ => value.clone(),
            };
            Arc::make_mut(&mut object.contents).set(cell.at, cell.len, value);
        });
    }

    pub(super) fn restrict_bits(
        &self,
        frame: &Frame,
        state: &mut State,
        bits: &[Operand],
        holds: bool,
        depth: u32,
    ) -> bool {
        bits.iter().all(|&bit| {
            self.learned(
                frame,
                state,
                (bit, 1),
                Value::exactly(1, holds.into()),
                depth,
            )
        })
    }

    /// Narrows both operands of a comparison that holds. Returns false if it cannot hold.
    pub(super) fn restrict_compared(
        &self,
        frame: &Frame,
        state: &mut State,
        (made, pred, width): (Reg, Pred, Width),
        (a, b): (Operand, Operand),
        depth: u32,
    ) -> bool {
        let (x, y) = (
            self.get(frame, state, a, width),
            self.get(frame, state, b, width),
        );
        if self.decided(state, (pred, width), (&x, &y)) == Some(false) {
            return false;
        }
        let noted = state.ordered.contains(&made);
        let Some(left) = self.restricted((pred, width), (&x, &y), noted) else {
            return false;
        };
        let turned = (num::exchanged(pred), width);
        let Some(right) = self.restricted(turned, (&y, &x), noted) else {
            return false;
        };
        self.learned(frame, state, (a, width), left, depth)
            && self.learned(frame, state, (b, width), right, depth)
    }

    /// Intersects the values of an operand with these values.
    pub(super) fn narrowed(
        &self,
        frame: &Frame,
        state: &mut State,
        (operand, width): (Operand, Width),
        value: Value,
        depth: u32,
    ) -> bool {
        let before = self.get(frame, state, operand, width);
        let same = match (before.single_target(), value.single_target()) {
            (Some((a, x)), Some((b, y))) if a == b => {
                x.meet(64, y).map(|offset| Value::address(a, offset))
            }
            _ => None,
        };
        match (same, before.plain(), value.plain()) {
            (Some(value), ..) => self.learned(frame, state, (operand, width), value, depth),
            (None, Some(_), Some(_)) => self.learned(frame, state, (operand, width), value, depth),
            _ => true,
        }
    }
}

impl<G> Walker<'_, G> {
    /// The part of a value for which a comparison with another one may hold; `None` if nothing is
    /// left. Addresses far outside of their object are ordered like their offsets only if it was
    /// `noted` that their order is compared.
    fn restricted(
        &self,
        (pred, width): (Pred, Width),
        (value, other): (&Value, &Value),
        noted: bool,
    ) -> Option<Value> {
        let mut left = value.clone();
        if let (Some(a), Some(b)) = (value.plain(), other.plain()) {
            return num::refined(pred, width, a, b).map(Value::number);
        }
        if width != 64 {
            return Some(left);
        }
        if let (Some((a, x)), Some((b, y))) = (value.single_target(), other.single_target()) {
            let equal = matches!(pred, Pred::Eq | Pred::Ne);
            let single = a == b && self.names.info(a).is_unique;
            if single && (equal || noted || is_near(x) && is_near(y)) {
                return num::refined(signed(pred), 64, x, y)
                    .map(|offset| Value::address(a, offset));
            }
            return Some(left);
        }
        match pred {
            // NULL, or another number that is no address.
            Pred::Eq if other.plain().is_some() && !other.is_vague() => {
                left.ptr.clear();
                let (a, b) = (left.num.as_ref()?, other.num.as_ref()?);
                left.num = a.meet(64, b);
            }
            Pred::Eq if other.num.is_none() && !value.is_vague() => left.num = None,
            Pred::Ne => {
                if let (Some(a), Some(b)) = (&value.num, other.plain()) {
                    left.num = num::refined(pred, 64, a, b);
                }
            }
            _ => {}
        }
        (!left.is_nothing()).then_some(left)
    }
}
