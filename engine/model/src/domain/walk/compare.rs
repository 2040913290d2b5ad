//! Comparisons and differences, of addresses among them.
//!
//! The numbers of objects are arbitrary, so nothing is known of the order of two objects. Whether
//! two addresses are equal is known if they point into one object, or both into objects that are
//! alive.

use super::{Frame, Guide, Walker};
use crate::domain::num::{Num, decided};
use crate::domain::space::{Alive, Kind, ObjId};
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::numbers::LOWEST;
use crate::program::ir::{BinOp, Operand, Pred, Width};

/// Whether a condition may hold, and whether it may fail.
#[derive(Clone, Copy, Default)]
struct Can {
    hold: bool,
    fail: bool,
}

impl Can {
    const BOTH: Can = Can {
        hold: true,
        fail: true,
    };

    fn add(&mut self, other: Can) {
        self.hold |= other.hold;
        self.fail |= other.fail;
    }

    fn of(decided: Option<bool>) -> Can {
        match decided {
            Some(holds) => Can {
                hold: holds,
                fail: !holds,
            },
            None => Can::BOTH,
        }
    }
}

/// Whether addresses with these offsets are ordered like the offsets: none of them wraps around.
pub(super) fn is_near(offset: &Num) -> bool {
    offset.least > -(1 << 31) && offset.most < 1 << 31
}

/// Whether an address that is compared with a number that is no address lies so far below its
/// object that it may wrap around to that number.
fn wraps(number: &Value, address: &Value) -> bool {
    let Some(number) = number.num else {
        return false;
    };
    let highest = if number.high < LOWEST {
        number.high as i64
    } else if number.low > LOWEST.wrapping_neg() {
        number.most
    } else {
        return false;
    };
    let nearest = highest - LOWEST as i64;
    address
        .ptr
        .iter()
        .any(|(_, offset)| offset.least <= nearest)
}

/// The comparison of offsets that a comparison of addresses amounts to.
pub(super) fn signed(pred: Pred) -> Pred {
    match pred {
        Pred::Ult => Pred::Slt,
        Pred::Ule => Pred::Sle,
        Pred::Ugt => Pred::Sgt,
        Pred::Uge => Pred::Sge,
        other => other,
    }
}

impl<G: Guide> Walker<'_, G> {
    /// The result of an operation on two values. The difference of two addresses in one object is
    /// that of their offsets; if several objects share the name, as the variables of a recursive
    /// function do, it may be anything.
    pub(super) fn combined(&self, op: BinOp, width: Width, (x, y): (&Value, &Value)) -> Value {
        let apart = (op == BinOp::Sub && width == 64).then(|| x.distance(y));
        match apart.flatten() {
            Some((id, by)) if self.names.info(id).is_unique => Value::number(by),
            _ => x.bin(op, width, y),
        }
    }

    /// `a pred b` as a bit; `None` where the walk cannot continue.
    pub(super) fn compared(
        &mut self,
        frame: &Frame,
        state: &State,
        (pred, width): (Pred, Width),
        (a, b): (Operand, Operand),
    ) -> Option<Value> {
        if !self.ordered(frame, state, (pred, width), (a, b)) {
            return None;
        }
        let x = self.get(frame, state, a, width);
        let y = self.get(frame, state, b, width);
        let decided = self.decided(state, (pred, width), (&x, &y));
        Some(match decided {
            Some(holds) => Value::exactly(1, holds.into()),
            None => Value::all(1),
        })
    }

    /// Applies the rule for comparing the order of addresses that may lie outside of their object.
    /// Returns false where the walk cannot continue.
    fn ordered(
        &mut self,
        frame: &Frame,
        state: &State,
        (pred, width): (Pred, Width),
        (a, b): (Operand, Operand),
    ) -> bool {
        if width != 64 {
            return true;
        }
        let (x, y) = (self.get(frame, state, a, 64), self.get(frame, state, b, 64));
        if matches!(pred, Pred::Eq | Pred::Ne) {
            return !wraps(&x, &y) && !wraps(&y, &x) || self.narrow(frame, "addresses");
        }
        // Nothing is derived from any other comparison.
        let (Some((one, s)), Some((other, t))) = (x.single_target(), y.single_target()) else {
            return true;
        };
        if one != other || !self.names.info(one).is_unique {
            return true;
        }
        let Some(object) = state.object(one, &self.names) else {
            return true;
        };
        let inside = |offset: &Num| offset.least >= 0 && offset.most as u64 <= object.size.low;
        if inside(s) && inside(t) {
            return true;
        }
        self.narrow(frame, "addresses")
    }

    /// Whether two addresses point into one single object, so that the rule for comparing their
    /// order was applied where it is needed.
    pub(super) fn is_ordered(
        &self,
        frame: &Frame,
        state: &State,
        (a, b): (Operand, Operand),
        width: Width,
    ) -> bool {
        let (x, y) = (
            self.get(frame, state, a, width),
            self.get(frame, state, b, width),
        );
        match (x.single_target(), y.single_target()) {
            (Some((one, _)), Some((other, _))) => {
                one == other
                    && self.names.info(one).is_unique
                    && state.object(one, &self.names).is_some()
            }
            _ => false,
        }
    }

    /// `x pred y`, if the result is known.
    pub(super) fn decided(
        &self,
        state: &State,
        (pred, width): (Pred, Width),
        (x, y): (&Value, &Value),
    ) -> Option<bool> {
        if let (Some(a), Some(b)) = (x.plain(), y.plain()) {
            return decided(pred, width, a, b);
        }
        if width != 64 {
            return None;
        }
        let can = match pred {
            Pred::Eq | Pred::Ne => {
                let mut can = self.same(state, x, y);
                if pred == Pred::Ne {
                    std::mem::swap(&mut can.hold, &mut can.fail);
                }
                can
            }
            _ => self.order(state, pred, x, y),
        };
        match can {
            Can { hold, fail: false } if hold => Some(true),
            Can { hold: false, fail } if fail => Some(false),
            _ => None,
        }
    }

    fn order(&self, state: &State, pred: Pred, x: &Value, y: &Value) -> Can {
        if let (Some((a, s)), Some((b, t))) = (x.single_target(), y.single_target()) {
            let single = a == b && self.names.info(a).is_unique;
            let there = state.object(a, &self.names).is_some();
            if single && there && is_near(s) && is_near(t) {
                return Can::of(decided(signed(pred), 64, s, t));
            }
            return Can::BOTH;
        }
        // Every address is above the numbers that are no addresses.
        let small = |value: &Value| value.plain().is_some_and(|num| num.high < LOWEST);
        let address = |value: &Value| {
            let is_above = value.ptr.iter().all(|(_, offset)| offset.least >= 0);
            value.num.is_none() && !value.ptr.is_empty() && is_above
        };
        let said = match pred {
            Pred::Ult | Pred::Ule if small(x) && address(y) => Some(true),
            Pred::Ugt | Pred::Uge if small(x) && address(y) => Some(false),
            Pred::Ugt | Pred::Uge if address(x) && small(y) => Some(true),
            Pred::Ult | Pred::Ule if address(x) && small(y) => Some(false),
            _ => None,
        };
        Can::of(said)
    }

    fn same(&self, state: &State, x: &Value, y: &Value) -> Can {
        let mut can = Can::default();
        if let (Some(a), Some(b)) = (&x.num, &y.num) {
            can.add(Can::of(decided(Pred::Eq, 64, a, b)));
        }
        for (number, addresses) in [(&x.num, &y.ptr), (&y.num, &x.ptr)] {
            if let (Some(number), false) = (number, addresses.is_empty()) {
                let low = number.high < LOWEST || number.low > LOWEST.wrapping_neg();
                can.add(Can {
                    hold: !low,
                    fail: true,
                });
            }
        }
        for (a, s) in &x.ptr {
            for (b, t) in &y.ptr {
                can.add(self.same_place(state, (*a, s), (*b, t)));
            }
        }
        can
    }

    fn same_place(&self, state: &State, (a, s): (ObjId, &Num), (b, t): (ObjId, &Num)) -> Can {
        let gone = |id| self.names.kind(id) == Kind::Gone;
        if gone(a) || gone(b) {
            return Can::BOTH;
        }
        if a == b {
            let decided = decided(Pred::Eq, 64, s, t);
            let single = self.names.info(a).is_unique;
            return match decided {
                Some(true) if single => Can::of(decided),
                Some(false) if single => Can::of(decided),
                _ => Can::BOTH,
            };
        }
        let apart = self.is_inside(state, a, s) && self.is_inside(state, b, t);
        if apart && !(self.is_shared(a) && self.is_shared(b)) {
            return Can::of(Some(false));
        }
        Can::BOTH
    }

    /// Whether an address is that of a byte of a live object, or that of a function.
    fn is_inside(&self, state: &State, id: ObjId, offset: &Num) -> bool {
        match self.names.kind(id) {
            Kind::Function(_) => offset.as_constant() == Some(0),
            Kind::Gone => false,
            Kind::Global(_) | Kind::Made(_) => {
                let object = state.object(id, &self.names);
                object.is_some_and(|object| {
                    object.alive == Alive::Yes
                        && offset.least >= 0
                        && (offset.most as u64) < object.size.low
                })
            }
        }
    }

    /// Whether an object is an unnamed constant, which may have the address of an equal one.
    fn is_shared(&self, id: ObjId) -> bool {
        let Kind::Global(global) = self.names.kind(id) else {
            return false;
        };
        let global = &self.program.globals[global.index()];
        global.constant && global.source_name.is_empty()
    }
}
