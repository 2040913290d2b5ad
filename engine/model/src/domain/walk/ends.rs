//! Where strings end ([`crate::domain::nul`]): what reads, tests, writes and copies of bytes say of
//! it.

use super::memory::Access;
use super::relate::Term;
use super::{Frame, Guide, Walker};
use crate::domain::linear::{Sum, Var, Which};
use crate::domain::num::Num;
use crate::domain::owners::{Holder, Place};
use crate::domain::seen::{Read, Seen, Whose};
use crate::domain::space::ObjId;
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::{Operand, Reg, Width};

/// Both zero bytes of an object.
const BOTH: [Which; 2] = [Which::Far, Which::Near];

/// Bytes that are written or copied: the offset of the first one, and the most that there are.
struct Span {
    at: Sum,
    len: Sum,
}

impl<G: Guide> Walker<'_, G> {
    /// The single object that an address points to, and the offset.
    fn placed(&self, frame: &Frame, state: &State, address: Operand) -> Option<(ObjId, Sum)> {
        let (id, term) = self.located(frame, state, address)?;
        let named = self.by_name(frame, state, &term, (address, 64));
        Some((id, named.unwrap_or(term.sum)))
    }

    /// Records that a register holds a byte that was read from an address. Returns false if no
    /// execution reads it.
    pub(super) fn holds_byte(
        &self,
        frame: &Frame,
        state: &mut State,
        (reg, address): (Reg, Operand),
    ) -> bool {
        if !self.relations {
            return true;
        }
        let Some((id, at)) = self.placed(frame, state, address) else {
            return true;
        };
        // In a loop the next bytes are read, too, up to the end of the string.
        if frame.flow.is_cyclic(self.at.block) {
            self.find_nul(state, id);
        }
        let read = Read {
            of: Whose::Object(id),
            at,
            width: 8,
        };
        let value = self.get(frame, state, Operand::Reg(reg), 8);
        match state.read_again(reg, read, &self.names) {
            Some(Seen::Number(num)) => {
                self.learned(frame, state, (Operand::Reg(reg), 8), Value::number(num), 0)
            }
            Some(Seen::Address) | None => self.byte_is(state, reg, &value),
        }
    }

    /// Records that a register holds an element that was read from an address, if the offset is not
    /// a constant. Returns false if no execution reads it.
    pub(super) fn holds_element(
        &self,
        frame: &Frame,
        state: &mut State,
        (reg, width): (Reg, Width),
        address: Operand,
    ) -> bool {
        if !self.relations || width > 64 {
            return true;
        }
        let Some((of, at)) = self.element_of(frame, state, address) else {
            return true;
        };
        let read = Read { of, at, width };
        let value = match state.read_again(reg, read, &self.names) {
            Some(Seen::Number(num)) => Value::number(num),
            Some(Seen::Address) => {
                let value = self.get(frame, state, Operand::Reg(reg), width);
                let num = value.num.filter(|num| num.as_constant() != Some(0));
                Value { num, ..value }
            }
            None => return true,
        };
        let is_nothing = value.num.is_none() && value.ptr.is_empty();
        !is_nothing && self.learned(frame, state, (Operand::Reg(reg), width), value, 0)
    }

    /// The element that an address points to; `None` if it is a cell.
    fn element_of(&self, frame: &Frame, state: &State, address: Operand) -> Option<(Whose, Sum)> {
        if let Some((id, at)) = self.placed(frame, state, address) {
            let is_element = at.vars().next().is_some();
            return is_element.then_some((Whose::Object(id), at));
        }
        let Some(Place::Slot(slot)) = self.field(frame, state, address) else {
            return None;
        };
        let Holder::Reg(base) = slot.base else {
            return None;
        };
        let at = Sum::number(i128::from(slot.at));
        Some((Whose::Behind(Reg(base), slot.of.into()), at))
    }

    /// Adds the zero byte of an object that its contents imply to the state.
    fn find_nul(&self, state: &mut State, id: ObjId) {
        if !state.nuls.contains_key(&(id, Which::Far))
            && let Some(at) = state.nul_of_contents(id, &self.names)
        {
            state.nuls.insert((id, Which::Far), at);
        }
    }

    /// Derives from the values that a register may have what the byte is that was read into it.
    /// Returns false if no execution continues.
    pub(super) fn byte_is(&self, state: &mut State, reg: Reg, value: &Value) -> bool {
        let read = state.reads.get(&reg).filter(|read| read.width == 8);
        let (Some(num), Some(read)) = (value.plain(), read) else {
            return true;
        };
        let (Whose::Object(id), at) = (&read.of, read.at.clone()) else {
            return true;
        };
        let id = *id;
        if num.as_constant() == Some(0) {
            self.ends_at(state, id, &at);
            return true;
        }
        num.has(8, 0)
            || BOTH
                .into_iter()
                .all(|which| self.is_elsewhere(state, (id, which), &at))
    }

    /// Adds that a zero byte is not at an offset. Returns false if it is known to be there.
    fn is_elsewhere(&self, state: &mut State, of: (ObjId, Which), at: &Sum) -> bool {
        if !state.nuls.contains_key(&of) {
            return true;
        }
        let past = at.plus(&Sum::of(Var::Nul(of.0, of.1)), -1);
        let Some(back) = past.as_ref().and_then(|past| past.times(-1)) else {
            return true;
        };
        let before = self.proves(state, past.clone());
        let behind = self.proves(state, Some(back.clone()));
        let one = Sum::number(1);
        match (before, behind) {
            (true, true) => return false,
            (true, false) => {
                let (least, _) = self.bounded(state, at);
                state
                    .lines
                    .at_most_zero(past.and_then(|past| past.plus(&one, 1)));
                state.bound_nul(of, (least.saturating_add(1), i128::MAX));
            }
            (false, true) => {
                let (_, most) = self.bounded(state, at);
                state.lines.at_most_zero(back.plus(&one, 1));
                state.bound_nul(of, (i128::MIN, most.saturating_sub(1)));
            }
            (false, false) => {}
        }
        true
    }

    /// Adds that there is a zero byte at an offset.
    fn ends_at(&self, state: &mut State, id: ObjId, at: &Sum) {
        let past = |which| Sum::of(Var::Nul(id, which)).plus(at, -1);
        let is_farther =
            !state.nuls.contains_key(&(id, Which::Far)) || self.proves(state, past(Which::Far));
        let near = past(Which::Near);
        let is_near = state.nuls.contains_key(&(id, Which::Near))
            && self.proves(state, near.as_ref().and_then(|near| near.times(-1)))
            && self.proves(state, near);
        if !is_farther && is_near {
            return;
        }
        let Some(range) = self.offsets(state, at) else {
            return;
        };
        if is_farther {
            state.put_nul((id, Which::Far), (at, range));
        }
        if !is_near {
            state.put_nul((id, Which::Near), (at, range));
        }
    }

    /// The range of a sum that is an offset and not negative.
    fn offsets(&self, state: &State, at: &Sum) -> Option<Num> {
        let (least, most) = self.bounded(state, at);
        Num::bounded(least.max(0), most)
    }

    /// Forgets the zero bytes that a write may overwrite with something else. Called before the
    /// write.
    pub(super) fn overwrites(
        &self,
        frame: &Frame,
        state: &mut State,
        access: &Access,
        (address, len, most): (Operand, Option<Operand>, u64),
    ) {
        for (id, offset) in &access.targets {
            if !BOTH
                .iter()
                .any(|which| state.nuls.contains_key(&(*id, *which)))
            {
                continue;
            }
            let placed = self.placed(frame, state, address);
            let span = placed.filter(|(known, _)| known == id).map(|(_, at)| {
                let len = len.and_then(|len| self.count(frame, state, len));
                let len = len.unwrap_or(Sum::number(most.into()));
                Span { at, len }
            });
            let (low, high) = crate::domain::contents::span(offset, most);
            for of in BOTH.map(|which| (*id, which)) {
                let Some(known) = state.nuls.get(&of) else {
                    continue;
                };
                let apart = known.most < i64::from(low) || known.least >= i64::from(high);
                let nul = Sum::of(Var::Nul(of.0, of.1));
                let spares = |span| self.spares(state, span, &nul);
                if !apart && !span.as_ref().is_some_and(spares) {
                    state.drop_nul(of);
                }
            }
        }
    }

    /// Whether an offset is known to be outside some bytes.
    fn spares(&self, state: &State, span: &Span, nul: &Sum) -> bool {
        let one = Sum::number(1);
        let before = nul.plus(&span.at, -1).and_then(|sum| sum.plus(&one, 1));
        let end = span.at.plus(&span.len, 1);
        self.proves(state, before) || self.proves(state, end.and_then(|end| end.plus(nul, -1)))
    }

    /// An operand that is a number of bytes, as a sum.
    fn count(&self, frame: &Frame, state: &State, len: Operand) -> Option<Sum> {
        let term: Term = self.term(frame, state, len, 64)?;
        (term.object.is_none() && self.is_non_negative(state, &term)).then_some(term.sum)
    }

    /// Adds the zero byte that was written.
    pub(super) fn zero_written(&self, frame: &Frame, state: &mut State, address: Operand) {
        if self.relations
            && let Some((id, at)) = self.placed(frame, state, address)
        {
            self.ends_at(state, id, &at);
        }
    }

    /// Adds the last zero byte of zeros that were written, as many as an operand says.
    pub(super) fn zeros_written(
        &self,
        frame: &Frame,
        state: &mut State,
        (address, len): (Operand, Operand),
    ) {
        if !self.relations {
            return;
        }
        let (Some((id, at)), Some(len)) = (
            self.placed(frame, state, address),
            self.count(frame, state, len),
        ) else {
            return;
        };
        let one = Sum::number(1);
        let last = at.plus(&len, 1).and_then(|end| end.plus(&one, -1));
        let some = one.plus(&len, -1);
        if let Some(last) = last.filter(|_| self.proves(state, some)) {
            self.ends_at(state, id, &last);
        }
    }

    /// Names the offsets of the zero bytes that a copy will make, and returns their ranges.
    pub(super) fn ends_copied(
        &self,
        frame: &Frame,
        state: &mut State,
        (to, from, len): (Operand, Operand, Operand),
    ) -> Vec<((ObjId, Which), Num)> {
        let mut ends = Vec::new();
        if !self.relations {
            return ends;
        }
        let (Some((target, to)), Some((source, from)), Some(len)) = (
            self.placed(frame, state, to),
            self.placed(frame, state, from),
            self.count(frame, state, len),
        ) else {
            return ends;
        };
        self.find_nul(state, source);
        for which in BOTH {
            let Some(there) = self.copied(state, (source, which), (&to, &from, &len)) else {
                continue;
            };
            if let Some(range) = self.offsets(state, &there) {
                state.announce_nul((target, which), &there);
                ends.push(((target, which), range));
            }
        }
        ends
    }

    /// The offset of a zero byte after a copy, if it is known to be copied.
    fn copied(
        &self,
        state: &State,
        of: (ObjId, Which),
        (to, from, len): (&Sum, &Sum, &Sum),
    ) -> Option<Sum> {
        state.nuls.get(&of)?;
        let nul = Sum::of(Var::Nul(of.0, of.1));
        let behind = nul.plus(&Sum::number(1), 1)?;
        let is_copied = self.proves(state, from.plus(&nul, -1))
            && self.proves(state, behind.plus(&from.plus(len, 1)?, -1));
        nul.plus(from, -1)?.plus(to, 1).filter(|_| is_copied)
    }
}
