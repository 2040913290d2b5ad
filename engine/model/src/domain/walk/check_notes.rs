//! Notes what was known where a check may be violated ([`crate::domain::check_notes`]).
//!
//! Only the walk that checks a floor takes notes, since it visits each place once. Notes do not
//! change what the walk finds.

use std::collections::BTreeMap;

use super::memory::{DISPLACED, Purpose};
use super::{Frame, Guide, Walker};
use crate::domain::check_notes::{
    Access, Asked, Compare, Index, OBJECTS, OpenCheckNote, Place, Pointer, Thing,
};
use crate::domain::num::Num;
use crate::domain::space::{Alive, Kind, ObjId};
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::{BlockId, CheckId, Op, Operand, Terminator};

impl<G: Guide> Walker<'_, G> {
    fn note(&mut self, frame: &Frame, check: Option<CheckId>, asked: Asked) {
        let Some(check) = check else { return };
        let note = OpenCheckNote {
            function: frame.function,
            pos: self.pos,
            asked,
        };
        match self.found.check_notes.get_mut(&check) {
            Some(known) => known.join(&note),
            None => {
                self.found.check_notes.insert(check, note);
            }
        }
    }

    fn thing(&self, id: ObjId) -> Thing {
        match self.names.kind(id) {
            Kind::Global(global) => Thing::Global(global),
            Kind::Function(function) => Thing::Function(function),
            Kind::Made(made) => Thing::Made(BlockId(made.block), made.op),
            Kind::Gone => Thing::Gone,
        }
    }

    fn place(&self, state: &State, (id, offset): (ObjId, Num), sure: bool) -> Place {
        let object = state.object(id, &self.names);
        Place {
            offset,
            size: object.as_ref().map(|object| object.size),
            alive: object.map_or(Alive::No, |object| object.alive),
            writable: self.names.is_writable(id),
            heap: self.names.info(id).heap,
            sure,
        }
    }

    fn pointer(&self, state: &State, operand: Operand, value: &Value) -> Pointer {
        let all = value.ptr.iter().take(OBJECTS);
        let objects = all.map(|&(id, offset)| {
            let place = self.place(state, (id, offset), true);
            (self.thing(id), place)
        });
        Pointer {
            operand,
            number: value.num,
            objects: objects.collect(),
            more: value.ptr.len() > OBJECTS,
        }
    }

    /// Notes an access that may be invalid.
    pub(super) fn note_access(
        &mut self,
        frame: &Frame,
        state: &State,
        (address, value): (Operand, &Value),
        (len, extent): (&Num, Operand),
        purpose: Purpose,
    ) {
        if !self.notes || purpose.check.is_none() {
            return;
        }
        let (base, offset, indices) = self.displaced(frame, state, address);
        let mut places: BTreeMap<Thing, Place> = BTreeMap::new();
        for &(id, mut offset) in value.ptr.iter().take(OBJECTS) {
            let sole = value.single_target().is_some() && self.names.info(id).is_unique;
            if sole && offset.as_constant().is_none() {
                offset = self.nearer(state, address, offset);
            }
            let (_, inside) = self.valid(state, (id, &offset), len, purpose.write);
            let fits = || self.fits(frame, state, (address, id), extent);
            let is_there = self.is_there(state, id, purpose.write);
            let sure = is_there && (inside || sole && fits());
            places.insert(self.thing(id), self.place(state, (id, offset), sure));
        }
        let known = self.get(frame, state, base, 64);
        let mut base = self.pointer(state, base, &known);
        base.more |= value.ptr.len() > OBJECTS;
        // What is left of the address itself, if its base is not tracked any more.
        if base.number.is_none() && base.objects.is_empty() {
            base.number = value.num;
        }
        let wrapped = matches!(address, Operand::Reg(reg) if state.wrapped.contains(&reg));
        let access = Access {
            base,
            offset,
            indices,
            len: *len,
            extent,
            write: purpose.write,
            wrapped,
            places,
        };
        self.note(frame, purpose.check, Asked::Access(Box::new(access)));
    }

    /// The address from which an address was computed, and what was added to it.
    fn displaced(
        &self,
        frame: &Frame,
        state: &State,
        address: Operand,
    ) -> (Operand, i64, Vec<Index>) {
        let (mut at, mut constant, mut all) = (address, 0i64, Vec::new());
        for _ in 0..DISPLACED {
            let Some((base, offset, indices)) = self.origin(frame, at) else {
                break;
            };
            constant = constant.saturating_add(offset);
            for &(index, width, scale) in indices {
                let number = self.number(frame, state, index, width);
                all.push((index, width, scale, number));
            }
            at = base;
        }
        (at, constant, all)
    }

    /// Notes a release that may be invalid.
    pub(super) fn note_release(
        &mut self,
        frame: &Frame,
        state: &State,
        (operand, value): (Operand, &Value),
        check: Option<CheckId>,
    ) {
        if self.notes && check.is_some() {
            let pointer = self.pointer(state, operand, value);
            self.note(frame, check, Asked::Release(pointer));
        }
    }

    /// Notes a branch of which one side violates a check.
    pub(super) fn note_branch(
        &mut self,
        frame: &Frame,
        state: &State,
        cond: Operand,
        (then, otherwise): (BlockId, BlockId),
    ) {
        if !self.notes {
            return;
        }
        let (check, negated) = match (self.violated_in(then), self.violated_in(otherwise)) {
            (Some(check), None) => (check, true),
            (None, Some(check)) => (check, false),
            _ => return,
        };
        let Operand::Reg(reg) = cond else { return };
        let Some(&Op::Cmp {
            pred, width, a, b, ..
        }) = frame.flow.made(self.program, reg)
        else {
            return;
        };
        if width > 64 {
            return;
        }
        let side = |operand: Operand| {
            let value = self.get(frame, state, operand, width);
            (operand, value.plain().copied())
        };
        let compare = Compare {
            pred,
            negated,
            width,
            sides: [side(a), side(b)],
        };
        self.note(frame, Some(check), Asked::Compare(compare));
    }

    /// The check that a block violates, if it does nothing else.
    fn violated_in(&self, block: BlockId) -> Option<CheckId> {
        let block = self.program.block(block);
        let of_call = block.ops.iter().find_map(|inst| match &inst.op {
            Op::Call(call) => call.check.filter(|check| {
                let check = self.program.checks.get(check.index());
                check.is_some_and(|check| check.kind.is_reached())
            }),
            _ => None,
        });
        match block.end {
            Terminator::Unreachable { check } => of_call.or(check),
            _ => None,
        }
    }
}
