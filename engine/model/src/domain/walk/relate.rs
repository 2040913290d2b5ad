//! Which lines ([`crate::domain::linear`]) a walk derives.
//!
//! An operation relates its result to its operands where it is known not to wrap around, a
//! comparison holds in its branch, and a check that held bounds the distance of an address from its
//! object's end.

use super::memory::Access;
use super::{Frame, Guide, Walker};
use crate::domain::contents::END;
use crate::domain::linear::{Sum, Var};
use crate::domain::num::Num;
use crate::domain::space::ObjId;
use crate::domain::state::{Cell, State};
use crate::domain::value::Value;
use crate::program::ir::{Operand, Pred, Reg, Width};
use crate::term::value::{signed_max, signed_min};

/// An operand as a sum, with its range, and the object of an address.
pub(super) struct Term {
    pub(super) sum: Sum,
    pub(super) low: i128,
    pub(super) high: i128,
    pub(super) object: Option<ObjId>,
}

/// Whether numbers of a width are related to others.
fn is_followed(width: Width) -> bool {
    (8..=64).contains(&width)
}

impl<G: Guide> Walker<'_, G> {
    /// An operand as a term, if it is a number or an address in one object.
    pub(super) fn term(
        &self,
        frame: &Frame,
        state: &State,
        operand: Operand,
        width: Width,
    ) -> Option<Term> {
        if !is_followed(width) {
            return None;
        }
        let value = self.get(frame, state, operand, width);
        let (low, high, object) = match (value.plain(), value.single_target()) {
            (Some(num), _) => (num.least.into(), num.most.into(), None),
            (None, Some((id, offset))) if width == 64 => {
                (offset.least.into(), offset.most.into(), Some(id))
            }
            _ => return None,
        };
        let sum = match operand {
            _ if low == high => Sum::number(low),
            Operand::Reg(reg) if self.width(frame, reg) == width => Sum::of(Var::Reg(reg.0)),
            _ => return None,
        };
        Some(Term {
            sum,
            low,
            high,
            object,
        })
    }

    /// The single object that an address points to, and the offset.
    pub(super) fn located(
        &self,
        frame: &Frame,
        state: &State,
        address: Operand,
    ) -> Option<(ObjId, Term)> {
        let term = self.term(frame, state, address, 64)?;
        let id = term.object.filter(|id| self.names.info(*id).is_unique)?;
        Some((id, term))
    }

    /// An operand that is read as an unsigned number; `None` for addresses.
    pub(super) fn bits(
        &self,
        frame: &Frame,
        state: &State,
        operand: Operand,
        width: Width,
    ) -> Option<Term> {
        let term = self.term(frame, state, operand, width)?;
        if term.low >= 0 || term.object.is_some() {
            return Some(term).filter(|term| term.object.is_none());
        }
        let num = *self.get(frame, state, operand, width).plain()?;
        let (low, high) = (num.low.into(), num.high.into());
        let sum = match operand {
            _ if low == high => Sum::number(low),
            Operand::Reg(reg) => Sum::of(Var::Reg(reg.0).unsigned()),
            _ => return None,
        };
        Some(Term {
            sum,
            low,
            high,
            object: None,
        })
    }

    /// Adds that a number that is not negative is the same if it is read as unsigned.
    pub(super) fn link(&self, frame: &Frame, state: &mut State, operand: Operand, width: Width) {
        if let Operand::Reg(reg) = operand
            && let own = Var::Reg(reg.0)
            && state.lines.has(own.unsigned())
            && let Some(term) = self.term(frame, state, operand, width)
            && self.is_non_negative(state, &term)
        {
            state
                .lines
                .zero(Sum::of(own.unsigned()).plus(&term.sum, -1));
        }
    }

    /// Whether a sum is proved to be at most zero.
    pub(super) fn proves(&self, state: &State, sum: Option<Sum>) -> bool {
        let ranges = |var| state.range(var, &self.names);
        sum.is_some_and(|sum| state.lines.proves(&sum, &ranges))
    }

    /// Whether a sum is proved to be at most zero, by lines alone or with its congruence.
    fn is_never_above(&self, state: &State, sum: &Sum) -> bool {
        let ranges = |var| state.range(var, &self.names);
        let strides = |var| state.stride(var, &self.names);
        // The least upper bound is searched for only where the congruence may tighten it.
        state.lines.proves(sum, &ranges)
            || sum.at_most(1, &strides) <= 0
                && sum.at_most(state.lines.upper(sum, &ranges), &strides) <= 0
    }

    /// Tightens a sum that is at most zero by the congruences of its variables.
    fn tightened(&self, state: &State, sum: Option<Sum>) -> Option<Sum> {
        sum?.tightened(&|var| state.stride(var, &self.names))
    }

    /// Whether a term is known not to be negative.
    pub(super) fn is_non_negative(&self, state: &State, term: &Term) -> bool {
        term.low >= 0 || self.proves(state, term.sum.times(-1))
    }

    /// Adds `r = a + b` if the sum does not wrap around: its range says so, or the result and at
    /// least one of the summands are not negative.
    pub(super) fn add(
        &self,
        frame: &Frame,
        state: &mut State,
        (dst, width): (Reg, Width),
        r: &Term,
        (a, b): (&Term, &Term),
    ) {
        let total = a.sum.plus(&b.sum, 1);
        let between = (a.low + b.low, a.high + b.high);
        let positive = |state: &State| {
            self.is_non_negative(state, r)
                && (self.is_non_negative(state, a) || self.is_non_negative(state, b))
        };
        if self.is_within(state, total.as_ref(), between, width) || positive(state) {
            self.equals(frame, state, (dst, width), r, (total, between));
        }
    }

    /// Adds `r = a - b` if the difference does not wrap around: its range says so, or neither the
    /// difference nor `a` is negative.
    pub(super) fn subtract(
        &self,
        frame: &Frame,
        state: &mut State,
        (dst, width): (Reg, Width),
        r: &Term,
        (a, b): (&Term, &Term),
    ) {
        let total = a.sum.plus(&b.sum, -1);
        let between = (a.low - b.high, a.high - b.low);
        if self.is_within(state, total.as_ref(), between, width)
            || self.is_non_negative(state, a) && self.is_non_negative(state, r)
        {
            self.equals(frame, state, (dst, width), r, (total, between));
        }
    }

    /// Whether a sum fits the width, by its range or by lines.
    fn is_within(
        &self,
        state: &State,
        total: Option<&Sum>,
        (low, high): (i128, i128),
        width: Width,
    ) -> bool {
        let (least, most) = (signed_min(width), signed_max(width));
        if low >= least && high <= most {
            return true;
        }
        total.is_some_and(|total| {
            let (low, high) = self.bounded(state, total);
            low >= least && high <= most
        })
    }

    /// The bounds of a sum that lines give: least and greatest value.
    pub(super) fn bounded(&self, state: &State, sum: &Sum) -> (i128, i128) {
        let ranges = |var| state.range(var, &self.names);
        let least = sum
            .times(-1)
            .map_or(i128::MAX, |sum| state.lines.upper(&sum, &ranges));
        (least.saturating_neg(), state.lines.upper(sum, &ranges))
    }

    /// Adds that a result equals a sum that does not wrap around.
    fn equals(
        &self,
        frame: &Frame,
        state: &mut State,
        result: (Reg, Width),
        r: &Term,
        (total, between): (Option<Sum>, (i128, i128)),
    ) {
        if let Some(total) = total {
            state.lines.zero(r.sum.plus(&total, -1));
            self.unwrapped(frame, state, result, r, (&total, between));
        }
    }

    /// Narrows a result with a wide range to the bounds that lines give, since it does not wrap
    /// around.
    fn unwrapped(
        &self,
        frame: &Frame,
        state: &mut State,
        (dst, width): (Reg, Width),
        r: &Term,
        (total, (low, high)): (&Sum, (i128, i128)),
    ) {
        // A narrow range is not worth the search. A small gain is not applied, so that this
        // terminates.
        const WIDE: i128 = 1 << 32;
        if r.high - r.low < WIDE {
            return;
        }
        let (above, below) = self.bounded(state, total);
        let (low, high) = (low.max(above).max(r.low), high.min(below).min(r.high));
        let is_better = r.low < 0 && low >= 0 || (r.high - r.low) - (high - low) >= WIDE;
        if !is_better || low > high {
            return;
        }
        let (least, most) = (signed_min(width), signed_max(width));
        let bound = |number: i128| number.clamp(least, most) as i64;
        let Some(num) = Num::signed_between(width, bound(low), bound(high)) else {
            return;
        };
        let value = match r.object {
            Some(id) => Value::address(id, num),
            None => Value::number(num),
        };
        self.learn(frame, state, Operand::Reg(dst), width, value);
    }

    /// Adds that a cell holds the same as an operand.
    pub(super) fn equal(
        &self,
        frame: &Frame,
        state: &mut State,
        (operand, width): (Operand, Width),
        cell: Option<Cell>,
    ) {
        let cell = cell.filter(|_| self.relations);
        // Single bytes are data rather than lengths: lines about them take the room of others.
        let is_related =
            |cell: &Cell| cell.len * 8 == u32::from(width) && (2..=8).contains(&cell.len);
        let Some(cell) = cell.filter(is_related) else {
            return;
        };
        let own = Var::Cell(cell.object, cell.at, cell.len);
        self.named(frame, state, own, (operand, width));
    }

    /// Adds that a variable equals an operand, both if read as signed and if read as unsigned.
    pub(super) fn named(
        &self,
        frame: &Frame,
        state: &mut State,
        name: Var,
        (operand, width): (Operand, Width),
    ) {
        let Some(term) = self.term(frame, state, operand, width) else {
            return;
        };
        state.lines.zero(Sum::of(name).plus(&term.sum, -1));
        if term.low < 0
            && let Some(bits) = self.bits(frame, state, operand, width)
        {
            state
                .lines
                .zero(Sum::of(name.unsigned()).plus(&bits.sum, -1));
        }
    }

    /// Adds what a comparison that holds says. Returns false if it cannot hold.
    pub(super) fn related(
        &self,
        frame: &Frame,
        state: &mut State,
        (made, pred, width): (Reg, Pred, Width),
        (a, b): (Operand, Operand),
    ) -> bool {
        if !self.relations {
            return true;
        }
        self.link(frame, state, a, width);
        self.link(frame, state, b, width);
        let unsigned = matches!(pred, Pred::Ult | Pred::Ule | Pred::Ugt | Pred::Uge);
        let term = |operand| {
            let bits = unsigned
                .then(|| self.bits(frame, state, operand, width))
                .flatten();
            bits.or_else(|| self.term(frame, state, operand, width))
        };
        let (Some(x), Some(y)) = (term(a), term(b)) else {
            return true;
        };
        if x.object != y.object {
            return true;
        }
        // The order of addresses outside of their object may be used only if the rule for that was
        // applied; their equality needs no rule.
        let equal = matches!(pred, Pred::Eq | Pred::Ne);
        if let Some(id) = x.object
            && !(self.names.info(id).is_unique && (equal || state.ordered.contains(&made)))
        {
            return true;
        }
        let (strict, turned) = match pred {
            Pred::Ult | Pred::Slt => (true, false),
            Pred::Ule | Pred::Sle => (false, false),
            Pred::Ugt | Pred::Sgt => (true, true),
            Pred::Uge | Pred::Sge => (false, true),
            Pred::Eq => {
                state.lines.zero(x.sum.plus(&y.sum, -1));
                return true;
            }
            Pred::Ne => {
                for (less, more) in [(&x, &y), (&y, &x)] {
                    let sum = less.sum.plus(&more.sum, -1);
                    if self.proves(state, sum.clone()) {
                        let sum = sum.and_then(|sum| sum.plus(&Sum::number(1), 1));
                        let sum = self.tightened(state, sum);
                        state.lines.at_most_zero(sum);
                    }
                }
                return true;
            }
        };
        let compared = |x: &Sum, y: &Sum| {
            let (less, more) = if turned { (y, x) } else { (x, y) };
            let sum = less.plus(more, -1)?;
            sum.plus(&Sum::number(strict.into()), 1)
        };
        let sum = compared(&x.sum, &y.sum);
        let not = sum.as_ref().and_then(|sum| sum.times(-1));
        if self.proves(state, not.and_then(|not| not.plus(&Sum::number(1), 1))) {
            return false;
        }
        let sum = self.tightened(state, sum);
        state.lines.at_most_zero(sum);
        if frame.flow.is_cyclic(self.at.block) {
            // In the first iteration of a loop a variable has a single value. In later ones it has
            // others, so there has to be a line with the variable, too.
            let named = |term, operand| self.by_name(frame, state, term, (operand, width));
            let (a, b) = (named(&x, a), named(&y, b));
            if a.is_some() || b.is_some() {
                let sum = compared(&a.unwrap_or(x.sum), &b.unwrap_or(y.sum));
                state.lines.at_most_zero(sum);
            }
        }
        // It may be known now that the operands did not wrap around.
        for operand in [a, b] {
            if let Operand::Reg(reg) = operand
                && let Some(op) = frame.flow.made(self.program, reg)
            {
                self.define(frame, state, op);
            }
        }
        true
    }

    /// The bounds of an address's offset that lines give.
    pub(super) fn between(&self, state: &State, address: Operand) -> (i128, i128) {
        let Operand::Reg(reg) = address else {
            return (i128::MIN, i128::MAX);
        };
        if !self.relations {
            return (i128::MIN, i128::MAX);
        }
        self.bounded(state, &Sum::of(Var::Reg(reg.0)))
    }

    /// The end of an access of `len` bytes, less the size of the object: how far it reaches past
    /// the object's end.
    fn past(
        &self,
        frame: &Frame,
        state: &State,
        (address, id): (Operand, ObjId),
        len: Operand,
    ) -> Option<Sum> {
        let (at, len) = (
            self.term(frame, state, address, 64)?,
            self.term(frame, state, len, 64)?,
        );
        let is_length = len.object.is_none() && self.is_non_negative(state, &len);
        let is_here = at.object == Some(id) && self.names.info(id).is_unique;
        let end = at.sum.plus(&len.sum, 1).filter(|_| is_length && is_here)?;
        let object = state.object(id, &self.names)?;
        match object.size.as_constant() {
            Some(size) => end.plus(&Sum::number(size.into()), -1),
            None => end.plus(&Sum::of(Var::Size(id)), -1),
        }
    }

    /// An upper bound, by lines, of the offset at which an access of `len` bytes to one object
    /// ends.
    pub(super) fn end_of(
        &self,
        frame: &Frame,
        state: &State,
        access: &Access,
        (address, len): (Operand, Option<Operand>),
    ) -> u32 {
        let end = || {
            let [(id, _)] = &access.targets[..] else {
                return None;
            };
            let past = self.past(frame, state, (address, *id), len?)?;
            let size = state.object(*id, &self.names)?.size.as_constant()?;
            let end = past.plus(&Sum::number(size.into()), 1)?;
            let (_, most) = self.bounded(state, &end);
            u32::try_from(most.max(0)).ok()
        };
        let is_asked = self.relations && !access.unknown;
        is_asked.then(end).flatten().unwrap_or(END)
    }

    /// Whether lines prove that an access lies within an object.
    pub(super) fn fits(
        &self,
        frame: &Frame,
        state: &State,
        (address, id): (Operand, ObjId),
        len: Operand,
    ) -> bool {
        let at = self.term(frame, state, address, 64);
        let past = self.past(frame, state, (address, id), len);
        at.is_some_and(|at| at.object == Some(id) && self.is_non_negative(state, &at))
            && past.is_some_and(|past| self.is_never_above(state, &past))
    }

    /// Adds what follows from an access that was valid.
    pub(super) fn fitted(
        &self,
        frame: &Frame,
        state: &mut State,
        (address, len): (Operand, Operand),
        access: &Access,
    ) {
        if let [(id, _)] = &access.targets[..]
            && access.strong
            && self.relations
        {
            self.granted(frame, state, *id);
            let past = self.past(frame, state, (address, *id), len);
            state.lines.at_most_zero(past);
        }
    }
}
