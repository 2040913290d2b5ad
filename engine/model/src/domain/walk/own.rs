//! Updates owners ([`crate::domain::owners`]) at operations, on edges and at calls.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::memory::{Access, DISPLACED};
use super::{Frame, Guide, Walker};
use crate::domain::contents::END;
use crate::domain::linear::Sum;
use crate::domain::num::Num;
use crate::domain::owners::{
    Field, Holder, MayHold, Owners, Place, Renamed, Row, RowName, Slot, Stored,
};
use crate::domain::space::{Alive, GONE, ObjId};
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::{ArgClass, Call, FuncId, Operand, Reg, Width};

fn one(holder: Holder) -> Renamed {
    Renamed::from_elem(holder, 1)
}

impl<G: Guide> Walker<'_, G> {
    /// Whether an address was computed from a register that is NULL or points to a live block.
    pub(super) fn is_alive(&self, frame: &Frame, state: &State, address: Operand) -> bool {
        if state.owners.is_silent() {
            return false;
        }
        let mut at = address;
        for _ in 0..DISPLACED {
            let Operand::Reg(reg) = at else { return false };
            if state.owners.lives(Holder::of(reg)) {
                return true;
            }
            let Some((base, ..)) = self.origin(frame, at) else {
                return false;
            };
            at = base;
        }
        false
    }

    /// The field that an address points to, if it is known how the address was computed.
    pub(super) fn field(&self, frame: &Frame, state: &State, address: Operand) -> Option<Place> {
        let value = self.get(frame, state, address, 64);
        let at = offset(&value)?;
        if let Some((id, _)) = value.single_target()
            && self.names.info(id).is_unique
        {
            return Some(Place::Cell(id, at));
        }
        self.slot(frame, state, (address, at)).map(Place::Slot)
    }

    /// The field that an address points to, as an offset from a register that points to the
    /// object's beginning.
    pub(super) fn slot(
        &self,
        frame: &Frame,
        state: &State,
        (address, at): (Operand, u32),
    ) -> Option<Slot> {
        let (mut operand, mut left) = (address, i64::from(at));
        for _ in 0..DISPLACED {
            let Operand::Reg(reg) = operand else {
                return None;
            };
            let base = self.get(frame, state, operand, 64);
            let ids = base.ptr.iter().map(|(id, _)| *id);
            let ids: Vec<ObjId> = ids.filter(|id| *id != GONE).collect();
            if left == 0 && offset(&base) == Some(0) {
                return Some(Slot {
                    base: Holder::of(reg),
                    at,
                    of: ids,
                });
            }
            let (from, by, indices) = self.origin(frame, operand)?;
            if !indices.is_empty() {
                return None;
            }
            (operand, left) = (from, left.checked_sub(by)?);
        }
        None
    }

    /// The owners after a value is stored. Lines say where the elements of rows are.
    pub(super) fn owners_stored(
        &self,
        frame: &Frame,
        state: &mut State,
        access: &Access,
        (address, value, width): (Operand, Option<Operand>, Width),
    ) -> Arc<Owners> {
        let held = match value {
            Some(Operand::Reg(reg)) if self.width(frame, reg) == 64 => Some(Holder::of(reg)),
            _ => None,
        };
        self.ends_stored(frame, state, access, (address, value, width));
        let known = Arc::clone(&state.owners);
        let is_held = held.is_some_and(|holder| known.lives(holder));
        let mut targets = access.targets.iter();
        if !is_held && !targets.any(|(id, _)| known.has_fields_of(*id)) {
            return known;
        }
        let null = |value| self.get(frame, state, value, 64).as_constant() == Some(0);
        let stored = match (value, held) {
            (Some(value), _) if null(value) => Stored::Null,
            (_, Some(holder)) => Stored::Held(holder),
            _ => Stored::Unknown,
        };
        let is_whole = width == 64 && !access.unknown;
        if is_whole && let Some((name, at)) = self.element(frame, state, address, Some(stored)) {
            state.element_stored((name, &at), stored, &self.names);
            return Arc::clone(&state.owners);
        }
        if width < 64 {
            for (id, offset) in &access.targets {
                if let Some(at) = offset.as_constant().and_then(|at| u32::try_from(at).ok()) {
                    state.cut_rows(*id, (at, at.saturating_add(width.div_ceil(8).into())));
                }
            }
        }
        let mut owners = Owners::clone(&state.owners);
        match self.field(frame, state, address) {
            Some(place) if is_whole => {
                let link = self.owner_link(frame, state, (address, &place), stored);
                owners.stored((&place, &link), stored, |field| {
                    state.is_void(field, &self.names)
                });
            }
            _ => {
                for (id, offset) in &access.targets {
                    let len = width.div_ceil(8).into();
                    let bytes = crate::domain::contents::span(offset, u64::from(len));
                    owners.fields_written(*id, bytes);
                    owners.drop_rows(|row| row.of == *id && row.meets(offset, len));
                }
            }
        }
        Arc::new(owners)
    }

    /// The element of a row that an address points to. A row begins where an owner is stored in an
    /// array.
    pub(super) fn element(
        &self,
        frame: &Frame,
        state: &mut State,
        address: Operand,
        stored: Option<Stored>,
    ) -> Option<(RowName, Sum)> {
        let (id, term) = self.located(frame, state, address)?;
        let offset = *self.get(frame, state, address, 64).single_target()?.1;
        let mut rows = state.owners.rows.iter().filter(|row| row.of == id);
        if let Some(row) = rows.find(|row| row.is_at(&offset)) {
            return Some((row.name(), term.sum));
        }
        let Some(Stored::Held(holder)) = stored else {
            return None;
        };
        state.owners.index(holder)?;
        let row = self.row(frame, state, (address, id), &offset)?;
        let name = row.name();
        let begins = row.is_at(&offset) && state.begin_row(row, &self.names);
        begins.then_some((name, term.sum))
    }

    /// The row, without elements, to which the target of an address may belong: its stride and
    /// start follow from how the address was computed from indices, or from the congruence of its
    /// offset.
    fn row(
        &self,
        frame: &Frame,
        state: &State,
        (address, id): (Operand, ObjId),
        offset: &Num,
    ) -> Option<Row> {
        let (mut operand, mut by) = (address, 0i64);
        let (mut stride, mut first) = (offset.step, None);
        for _ in 0..DISPLACED {
            let Some((from, more, indices)) = self.origin(frame, operand) else {
                break;
            };
            (operand, by) = (from, by.checked_add(more)?);
            for (_, _, factor) in indices {
                stride = crate::domain::num::gcd(stride, factor.unsigned_abs());
            }
            let base = self.get(frame, state, operand, 64);
            let base = base.single_target().filter(|(of, _)| *of == id);
            if let Some(at) = base.and_then(|(_, at)| at.as_constant()) {
                first = i64::try_from(at).ok().and_then(|at| at.checked_add(by));
            }
        }
        let stride = u32::try_from(stride)
            .ok()
            .filter(|all| (8..4096).contains(all))?;
        let start = match first.and_then(|first| u32::try_from(first).ok()) {
            Some(first) => first,
            None => u32::try_from(offset.rest.rem_euclid(stride.into())).ok()?,
        };
        Some(Row::empty(id, start, stride))
    }

    /// The place from which a register is about to be read, if owners mention its object.
    pub(super) fn owning_place(
        &self,
        frame: &Frame,
        state: &State,
        (address, width): (Operand, Width),
    ) -> Option<Place> {
        if width != 64 || state.owners.is_silent() {
            return None;
        }
        let has_fields = |value: &Value| {
            let mut objects = value.ptr.iter();
            objects.any(|(id, _)| state.owners.has_fields_of(*id))
        };
        let is_asked = match address {
            Operand::Reg(reg) => state.registers.get(&reg).is_some_and(has_fields),
            _ => has_fields(&self.get(frame, state, address, 64)),
        };
        is_asked.then(|| self.field(frame, state, address))?
    }

    /// Updates the owners after a register was read from a place.
    pub(super) fn owner_read(&self, state: &mut State, reg: Reg, place: &Place) {
        let is_asked = (place.fields().iter()).any(|(id, _)| state.owners.has_fields_of(*id));
        if !is_asked {
            return;
        }
        let mut owners = Owners::clone(&state.owners);
        let names = &self.names;
        owners.read(Holder::of(reg), place, |owners, field| {
            state.is_owning(owners, field, names)
        });
        state.owners = Arc::new(owners);
    }

    /// Narrows a register that is known to be NULL or the address of a live block, although it was
    /// read from a place that may be partly uninitialised.
    pub(super) fn owner_valued(&self, frame: &Frame, state: &mut State, reg: Reg) {
        let Some(value) = state.registers.get(&reg) else {
            return;
        };
        let begins = |(id, at): &(ObjId, Num)| *id != GONE && at.as_constant() == Some(0);
        let is_exact = value.num.is_none_or(|num| num.as_constant() == Some(0));
        if is_exact && value.ptr.iter().all(begins) || !state.owners.lives(Holder::of(reg)) {
            return;
        }
        let (led, _) = self.targets_of(frame, state, Operand::Reg(reg), value);
        let blocks = led.into_iter().map(|(id, _)| id).filter(|id| {
            let object = state.object(*id, &self.names);
            self.names.info(*id).heap && object.is_some_and(|object| object.alive != Alive::No)
        });
        let mut ptr: Vec<(ObjId, Num)> = blocks.map(|id| (id, Num::exactly(64, 0))).collect();
        ptr.sort_unstable_by_key(|(id, _)| *id);
        let null = value.num.filter(|num| num.has(64, 0));
        let num = null.map(|_| Num::exactly(64, 0));
        if num.is_some() || !ptr.is_empty() {
            state.registers.insert(reg, Value { num, ptr });
        }
    }

    /// Updates the owners after a register was copied.
    pub(super) fn owner_copied(&self, frame: &Frame, state: &mut State, to: Reg, from: Operand) {
        if let Operand::Reg(from) = from
            && [to, from].iter().all(|reg| self.width(frame, *reg) == 64)
        {
            let (to, from) = (Holder::of(to), Holder::of(from));
            if state.owners.lives(from) {
                Arc::make_mut(&mut state.owners).copied(to, from);
            }
        }
    }

    /// Updates the owners where blocks that an operand points to are released, or may be.
    pub(super) fn owners_released(&self, state: &mut State, operand: Operand, blocks: &[ObjId]) {
        if state.owners.is_silent() {
            return;
        }
        let leads =
            |value: &Value| value.is_vague() || value.ptr.iter().any(|(id, _)| blocks.contains(id));
        let names = &self.names;
        let mut owners = Owners::clone(&state.owners);
        let field_holds = |(id, at): Field| {
            let object = state.object(id, names);
            let at = crate::domain::num::Num::exactly(64, at.into());
            object.is_some_and(|object| leads(&object.contents.load(&at, 8, names)))
        };
        let row_holds = |row: &Row| {
            let object = state.object(row.of, names);
            object.is_some_and(|object| {
                let elements = row.elements(object.size.high);
                elements.is_some_and(|all| leads(&object.contents.load(&all, 8, names)))
            })
        };
        let holds = |holder: Holder| match holder {
            Holder::Reg(reg) => state.registers.get(&Reg(reg)).is_none_or(leads),
            Holder::Outer(..) => true,
        };
        let holder = match operand {
            Operand::Reg(reg) => Some(Holder::of(reg)),
            _ => None,
        };
        let kept_holds = |field: Field| {
            let is_unlike = holder.is_some_and(|holder| state.is_unlike(field, holder, names));
            field_holds(field) && !is_unlike
        };
        let may = MayHold {
            field: &field_holds,
            row: &row_holds,
            holder: &holds,
            kept: &kept_holds,
        };
        owners.released(holder, &may);
        state.owners = Arc::new(owners);
    }

    /// Records that a call returns the address of a new block.
    pub(super) fn owner_given(&self, state: &mut State, call: &Call) {
        if call.result.first() == Some(&64) {
            Arc::make_mut(&mut state.owners).given(Holder::of(call.dst));
        }
    }

    /// The owners after an edge on which registers get new values, all at once.
    pub(super) fn owners_moved(
        &self,
        frame: &Frame,
        state: &State,
        moves: &[(Reg, Operand)],
    ) -> Arc<Owners> {
        let is_moved = |holder: Holder| {
            let Holder::Reg(reg) = holder else {
                return false;
            };
            let is_it = |operand: &Operand| *operand == Operand::Reg(Reg(reg));
            let mut moves = moves.iter();
            moves.any(|(to, from)| to.0 == reg || is_it(from))
        };
        if !state.owners.holders().any(is_moved) {
            return Arc::clone(&state.owners);
        }
        let is_whole = |reg: Reg| self.width(frame, reg) == 64;
        let moved = Owners::clone(&state.owners).renamed(|known| {
            let Holder::Reg(reg) = known else {
                return one(known);
            };
            let to = moves.iter().filter(|(to, from)| {
                *from == Operand::Reg(Reg(reg)) && is_whole(*to) && is_whole(Reg(reg))
            });
            let mut all: Renamed = to.map(|(to, _)| Holder::of(*to)).collect();
            if !moves.iter().any(|(to, _)| to.0 == reg) {
                all.push(known);
            }
            all
        });
        Arc::new(moved)
    }

    /// The owners at the end of a call, where the registers are its results.
    pub(super) fn owners_returned(
        &self,
        frame: &Frame,
        state: &State,
        (values, widths): (&[Operand], &[Width]),
    ) -> Arc<Owners> {
        let results: Vec<(u32, Operand, Width)> = (0u32..)
            .zip(values.iter().copied())
            .zip(widths.iter().copied())
            .map(|((to, value), width)| (to, value, width))
            .collect();
        if state.owners.is_silent() {
            return Arc::clone(&state.owners);
        }
        let returned = Owners::clone(&state.owners).renamed(|known| {
            let Holder::Reg(reg) = known else {
                return one(known);
            };
            let to = results.iter().filter(|(_, value, width)| {
                *value == Operand::Reg(Reg(reg))
                    && *width == 64
                    && self.width(frame, Reg(reg)) == 64
            });
            to.map(|(to, ..)| Holder::Reg(*to)).collect()
        });
        Arc::new(returned)
    }

    /// The owners with which a callee begins; there are none in a shared function.
    pub(super) fn owners_inside(
        &self,
        frame: &Frame,
        state: &State,
        (inner, call, fixed): (&Frame, &Call, usize),
    ) -> Arc<Owners> {
        if self.contexts.shared.contains(&inner.function) {
            return Arc::default();
        }
        let params = &self.program.function(inner.function).params;
        let args = (0u32..).zip(&call.args[..fixed]).zip(params);
        let args: Vec<(u32, Reg)> = args
            .filter_map(|((i, arg), &width)| match arg.value {
                Operand::Reg(reg)
                    if arg.class == ArgClass::Integer
                        && (arg.width, width) == (64, 64)
                        && self.width(frame, reg) == 64 =>
                {
                    Some((i, reg))
                }
                _ => None,
            })
            .collect();
        let mut owners = Owners::clone(&state.owners).renamed(|known| {
            let Holder::Reg(reg) = known else {
                return one(known);
            };
            let params = args.iter().filter(|(_, own)| own.0 == reg);
            let params = params.map(|(param, _)| Holder::Reg(*param));
            params.chain([Holder::Outer(frame.ctx.0, reg)]).collect()
        });
        let null = state.registers.iter().filter(|(reg, value)| {
            value.as_constant() == Some(0) && self.width(frame, **reg) == 64
        });
        owners
            .null
            .extend(null.map(|(reg, _)| Holder::Outer(frame.ctx.0, reg.0)));
        Arc::new(owners)
    }

    /// The caller's owners after a call.
    pub(super) fn owners_behind(
        &self,
        frame: &Frame,
        state: &State,
        exit: &State,
        (call, id): (&Call, FuncId),
    ) -> Arc<Owners> {
        if self.contexts.shared.contains(&id) {
            if state.owners.is_silent() || self.points.touched(id).releases {
                return Arc::default();
            }
            let mut owners = Owners::clone(&state.owners);
            let touched = self.points.touched(id);
            let is_written = |id: &ObjId| {
                let site = self.names.site(*id);
                site.is_none_or(|site| touched.written.contains(&site))
            };
            let ended = |field| match state.content(field, &self.names) {
                Some(value) => value.is_vague() || value.ptr.iter().any(|(id, _)| is_written(id)),
                None => true,
            };
            owners.ends_written(ended, (0, END), None);
            let objects: BTreeSet<ObjId> = owners.objects().collect();
            let written = objects.into_iter().filter(is_written);
            written.for_each(|id| owners.written(id, (0, END)));
            return Arc::new(owners);
        }
        let given = &self.program.function(id).result;
        let results = call.dst.0..call.dst.0 + call.result.len() as u32;
        let mut owners = Owners::clone(&exit.owners).renamed(|known| match known {
            Holder::Reg(i) => {
                let widths = (call.result.get(i as usize), given.get(i as usize));
                match widths == (Some(&64), Some(&64)) {
                    true => one(Holder::Reg(call.dst.0 + i)),
                    false => Renamed::new(),
                }
            }
            Holder::Outer(ctx, reg) if ctx == frame.ctx.0 => match results.contains(&reg) {
                true => Renamed::new(),
                false => one(Holder::Reg(reg)),
            },
            known => one(known),
        });
        owners
            .null
            .retain(|holder| matches!(holder, Holder::Outer(..)));
        Arc::new(owners)
    }
}

/// The offset that all addresses of a value have, if the value is an address or NULL.
pub(super) fn offset(value: &Value) -> Option<u32> {
    let numbers = value.num.is_some_and(|num| num.as_constant() != Some(0));
    let mut all = value.ptr.iter().filter(|(id, _)| *id != GONE);
    let (_, first) = all.next()?;
    let at = first.as_constant()?;
    let is_same = all.all(|(_, other)| other.as_constant() == Some(at));
    (is_same && !numbers).then(|| u32::try_from(at).ok())?
}
