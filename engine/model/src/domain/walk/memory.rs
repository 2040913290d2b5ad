//! Accesses: which objects they may touch, whether they are valid, and what they read and write.

use std::sync::Arc;

use super::{Frame, Guide, Walker};
use crate::domain::contents::{span, spans};
use crate::domain::nul::Ends;
use crate::domain::num::Num;
use crate::domain::owners::Holder;
use crate::domain::space::{Alive, Kind, ObjId};
use crate::domain::state::{Cell, State};
use crate::domain::value::Value;
use crate::program::ir::{CastKind, CheckId, Op, Operand, Reg, Width};
use crate::program::outside::Site;
use crate::term::fault::ONE_ALLOCATION;

/// The most displacements of an address that are followed back.
pub(super) const DISPLACED: u32 = 8;

/// A displaced address: its base, a constant distance, and indices with widths and scales.
pub(super) type Displaced<'a> = (Operand, i64, &'a [(Operand, Width, i64)]);

/// The targets of an access.
pub(super) struct Access {
    /// The objects, with the offsets at which the access is valid.
    pub targets: Vec<(ObjId, Num)>,
    /// Whether it is certain to access its target, which is a single object.
    pub strong: bool,
    /// Whether its targets are unknown.
    pub unknown: bool,
}

impl Access {
    fn unknown() -> Access {
        Access {
            targets: Vec::new(),
            strong: false,
            unknown: true,
        }
    }

    /// The target, if it is one offset in one object.
    pub fn place(&self) -> Option<(ObjId, u32)> {
        match &self.targets[..] {
            [(id, offset)] if self.strong => {
                let at = offset.as_constant()?;
                Some((*id, u32::try_from(at).ok()?))
            }
            _ => None,
        }
    }
}

/// What an access is for.
#[derive(Clone, Copy)]
pub(super) struct Purpose {
    pub check: Option<CheckId>,
    pub write: bool,
    /// The operand with the number of bytes, if that is not a constant.
    pub len: Option<Operand>,
}

impl<G: Guide> Walker<'_, G> {
    /// The objects that an operand may point into: those of its value, and, if it may be any
    /// number, those whose addresses can flow there. The flag says whether the latter are included.
    pub(super) fn targets_of(
        &self,
        frame: &Frame,
        state: &State,
        operand: Operand,
        value: &Value,
    ) -> (Vec<(ObjId, Num)>, bool) {
        let mut all = value.ptr.clone();
        if !value.is_vague() {
            return (all, false);
        }
        let leads = self.points.leads(frame.function, operand);
        let mut add = |id: ObjId| match all.iter_mut().find(|(known, _)| *known == id) {
            Some((_, offset)) => *offset = Num::all(64),
            None => all.push((id, Num::all(64))),
        };
        for site in &leads.sites {
            if let Site::Global(global) = site {
                add(self.names.global(*global));
            }
        }
        for &id in state.objects.keys() {
            if let Kind::Made(_) = self.names.kind(id)
                && self
                    .names
                    .site(id)
                    .is_some_and(|site| leads.sites.binary_search(&site).is_ok())
            {
                add(id);
            }
        }
        leads
            .functions
            .iter()
            .for_each(|&function| add(self.names.function(function)));
        (all, true)
    }

    /// The base of an address that was displaced or copied, and the displacement.
    pub(super) fn origin(&self, frame: &Frame, address: Operand) -> Option<Displaced<'_>> {
        let Operand::Reg(reg) = address else {
            return None;
        };
        match frame.flow.made(self.program, reg)? {
            Op::Address {
                base,
                offset,
                indices,
                ..
            } => Some((*base, *offset, indices)),
            Op::Copy { a, .. } => Some((*a, 0, &[])),
            _ => None,
        }
    }

    /// Whether an operand that may be any number was displaced from a number that is no address. An
    /// access has to stay in the object from which its pointer was made, so no distance leads from
    /// NULL into an object.
    pub(super) fn is_of_no_address(&self, frame: &Frame, state: &State, operand: Operand) -> bool {
        let mut at = operand;
        for _ in 0..DISPLACED {
            at = match self.origin(frame, at) {
                Some((base, offset, indices))
                    if self.is_distance(frame, state, offset, indices) =>
                {
                    base
                }
                _ => return false,
            };
            if !self.get(frame, state, at, 64).is_vague() {
                return true;
            }
        }
        false
    }

    /// Whether the displacement of an address is less than any address. An index that may itself be
    /// an address is not.
    pub(super) fn is_distance(
        &self,
        frame: &Frame,
        state: &State,
        offset: i64,
        indices: &[(Operand, Width, i64)],
    ) -> bool {
        let is_short = |number: i64| number.unsigned_abs() < 1 << 32;
        is_short(offset)
            && indices.iter().all(|&(index, width, _)| {
                let index = self.number(frame, state, index, width);
                let wide = index.cast(CastKind::SExt, width, 64);
                is_short(wide.least) && is_short(wide.most)
            })
    }

    /// The targets of `len` accessed bytes, none for no bytes; `None` if no execution continues.
    pub(super) fn access(
        &mut self,
        frame: &Frame,
        state: &mut State,
        address: Operand,
        len: &Num,
        purpose: Purpose,
    ) -> Option<Access> {
        let value = self.get(frame, state, address, 64);
        let (led, vague) = match value.is_vague() && self.is_of_no_address(frame, state, address) {
            true => (value.ptr.clone(), false),
            false => self.targets_of(frame, state, address, &value),
        };
        let lives = self.may_be_gone(state, &led) && self.is_alive(frame, state, address);
        let mut bad = value.num.is_some();
        if let Operand::Reg(reg) = address {
            bad |= state.wrapped.contains(&reg);
        }
        let mut targets = Vec::new();
        let extent = match (len.as_constant(), purpose.len) {
            (Some(len), _) => Operand::Const(len),
            (None, Some(operand)) => operand,
            (None, None) => Operand::Undef,
        };
        for (id, mut offset) in led {
            // An address that is known to be alive does not point to an object that is gone.
            if lives && !self.may_live(state, id) {
                continue;
            }
            let sole = value.single_target().is_some() && self.names.info(id).is_unique;
            if sole && offset.as_constant().is_none() {
                offset = self.nearer(state, address, offset);
            }
            let (valid, inside) = self.valid(state, (id, &offset), len, purpose.write);
            let fits = || self.fits(frame, state, (address, id), extent);
            let is_there = lives || self.is_there(state, id, purpose.write);
            let sure = is_there && (inside || sole && fits());
            bad |= !sure;
            targets.extend(valid.map(|offset| (id, offset)));
        }
        if bad && len.high > 0 {
            if tracing::enabled!(tracing::Level::TRACE) {
                self.tell(state, (address, &value), len);
            }
            self.note_access(frame, state, (address, &value), (len, extent), purpose);
            self.violates(purpose.check);
        }
        if targets.is_empty() {
            // A number that is not known to be an address.
            let unknown = vague && value.ptr.is_empty();
            let nothing = len.low == 0;
            return (unknown || nothing).then(|| match unknown {
                true => Access::unknown(),
                false => Access {
                    unknown: false,
                    ..Access::unknown()
                },
            });
        }
        if len.low > 0 && !vague {
            let held = Value {
                num: None,
                ptr: targets.clone(),
            };
            self.learn(frame, state, address, 64, held);
        }
        let strong = targets.len() == 1 && !vague && self.names.info(targets[0].0).is_unique;
        let access = Access {
            targets,
            strong: strong && len.low > 0,
            unknown: false,
        };
        self.fitted(frame, state, (address, extent), &access);
        self.lives(state, &access);
        Some(access)
    }

    /// Makes the object of a valid access alive: a release that may have been of this object was of
    /// another one.
    fn lives(&self, state: &mut State, access: &Access) {
        if let [(id, _)] = &access.targets[..]
            && access.strong
            && let Some(object) = state.object(*id, &self.names)
            && object.alive == Alive::Maybe
        {
            state.change(*id, &self.names, |object| object.alive = Alive::Yes);
        }
    }

    /// Logs what is known of an access that is not proved to be valid.
    fn tell(&self, state: &State, (address, value): (Operand, &Value), len: &Num) {
        let object = |id: ObjId| state.object(id, &self.names);
        let sizes: Vec<_> = value
            .ptr
            .iter()
            .map(|(id, _)| object(*id).map(|object| (object.alive, object.size)))
            .collect();
        tracing::trace!(
            at = %self.program.show(self.pos),
            ?value,
            ?len,
            ?sizes,
            ?address,
            relations = self.relations,
            lines = ?state.lines.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "an access that is not shown to be valid"
        );
    }

    /// Narrows the offsets of an address by lines.
    pub(super) fn nearer(&self, state: &State, address: Operand, offset: Num) -> Num {
        let (least, most) = self.between(state, address);
        Num::bounded(least, most)
            .and_then(|all| offset.meet(64, &all))
            .unwrap_or(offset)
    }

    /// Whether an object is alive, and writable if it is to be written.
    pub(super) fn is_there(&self, state: &State, id: ObjId, write: bool) -> bool {
        let object = state.object(id, &self.names);
        object.is_some_and(|object| object.alive == Alive::Yes)
            && (!write || self.names.is_writable(id))
    }

    /// The offsets at which `len` bytes are valid, and whether all are if the object is alive.
    pub(super) fn valid(
        &self,
        state: &State,
        (id, offset): (ObjId, &Num),
        len: &Num,
        write: bool,
    ) -> (Option<Num>, bool) {
        if let Kind::Function(_) | Kind::Gone = self.names.kind(id) {
            return (None, false);
        }
        let Some(object) = state.object(id, &self.names) else {
            return (None, false);
        };
        if object.alive == Alive::No || write && !self.names.is_writable(id) {
            return (None, false);
        }
        let end = i128::from(offset.most) + i128::from(len.high);
        let inside = offset.least >= 0 && end <= i128::from(object.size.low);
        // To exceed a guessed size shows nothing.
        let guessed = self.names.info(id).guessed && offset.least >= 0 && offset.most < 1 << 31;
        let last = object.size.high.checked_sub(len.low.max(1));
        // No object is larger, whatever size was requested.
        let last = last.map(|last| last.min(ONE_ALLOCATION) as i64);
        let valid = last
            .and_then(|last| Num::signed_between(64, 0, last))
            .and_then(|all| offset.meet(64, &all));
        (valid, inside || guessed)
    }

    /// Whether one of these objects may not be alive.
    pub(super) fn may_be_gone(&self, state: &State, led: &[(ObjId, Num)]) -> bool {
        led.iter().any(|(id, _)| match state.objects.get(id) {
            Some(object) => object.alive != Alive::Yes,
            None => matches!(self.names.kind(*id), Kind::Made(_) | Kind::Gone),
        })
    }

    /// Whether an object is a block of the heap that may be alive.
    fn may_live(&self, state: &State, id: ObjId) -> bool {
        let object = state.object(id, &self.names);
        self.names.info(id).heap && object.is_some_and(|object| object.alive != Alive::No)
    }

    /// Loads a value; `None` if no execution continues.
    pub(super) fn load(
        &mut self,
        frame: &Frame,
        state: &mut State,
        address: Operand,
        width: Width,
        check: Option<CheckId>,
    ) -> Option<(Value, Option<Cell>)> {
        let len = u32::from(width.div_ceil(8));
        let bytes = Num::exactly(64, len.into());
        let purpose = Purpose {
            check,
            write: false,
            len: None,
        };
        let access = self.access(frame, state, address, &bytes, purpose)?;
        if access.unknown {
            return Some((Value::all(width), None));
        }
        let stored = (len * 8) as Width;
        let mut value: Option<Value> = None;
        for (id, offset) in &access.targets {
            let Some(object) = state.object(*id, &self.names) else {
                continue;
            };
            let one = object.contents.load(offset, len, &self.names);
            value = Some(match value {
                Some(known) => known.join(&one, stored),
                None => one,
            });
        }
        let value = value.unwrap_or(Value::all(stored));
        let value = match stored == width {
            true => value,
            false => value.cast(CastKind::Trunc, stored, width),
        };
        let place = access.place().filter(|_| stored == width);
        let cell = place.map(|(object, at)| Cell { object, at, len });
        Some((value, cell))
    }

    /// Sets a register to a loaded value. Returns false if no execution loads it.
    pub(super) fn loaded(
        &self,
        frame: &Frame,
        state: &mut State,
        (dst, width, address): (Reg, Width, Operand),
        (value, cell): (Value, Option<Cell>),
    ) -> bool {
        let is_whole = width == 64 && !state.owners.rows.is_empty();
        let element = is_whole.then(|| self.element(frame, state, address, None));
        let place = self.owning_place(frame, state, (address, width));
        state.set(dst, value);
        if let Some((name, at)) = element.flatten() {
            state.element_read(Holder::of(dst), (name, &at), &self.names);
        }
        if let Some(place) = place {
            self.owner_read(state, dst, &place);
        }
        if width == 64 {
            self.owner_valued(frame, state, dst);
        }
        self.remember(state, dst, width, cell);
        self.equal(frame, state, (Operand::Reg(dst), width), cell);
        match width {
            8 => self.holds_byte(frame, state, (dst, address)),
            _ => self.holds_element(frame, state, (dst, width), address),
        }
    }

    /// Records that a register holds the same as a cell.
    pub(super) fn remember(&self, state: &mut State, reg: Reg, width: Width, cell: Option<Cell>) {
        if let Some(cell) = cell.filter(|cell| cell.len * 8 == u32::from(width)) {
            state.cells.insert(reg, cell);
        }
    }

    /// Stores a value; returns the cell, if it is known, or `None` if no execution continues.
    pub(super) fn store(
        &mut self,
        frame: &Frame,
        state: &mut State,
        address: Operand,
        (value, width, from): (Value, Width, Option<Operand>),
        check: Option<CheckId>,
    ) -> Option<Option<Cell>> {
        let len = u32::from(width.div_ceil(8));
        let bytes = Num::exactly(64, len.into());
        let purpose = Purpose {
            check,
            write: true,
            len: None,
        };
        let access = self.access(frame, state, address, &bytes, purpose)?;
        if !self.goes(&access) {
            return None;
        }
        let stored = (len * 8) as Width;
        let value = match stored == width {
            true => value,
            false => value.cast(CastKind::ZExt, width, stored),
        };
        if access
            .targets
            .iter()
            .any(|(_, at)| at.most - at.least > 4096)
        {
            tracing::trace!(
                at = %self.program.show(self.pos),
                targets = ?access.targets,
                ?value,
                "a write to many places"
            );
        }
        let zero = value.as_constant() == Some(0);
        let owners = self.owners_stored(frame, state, &access, (address, from, width));
        // The owners have been updated already, so the writes below must not change them.
        state.owners = Arc::default();
        if !zero {
            self.overwrites(frame, state, &access, (address, None, len.into()));
        }
        for (id, offset) in &access.targets {
            let one = access.strong.then(|| offset.as_constant()).flatten();
            let names = &self.names;
            state.change(*id, names, |object| {
                let contents = Arc::make_mut(&mut object.contents);
                match one.and_then(|at| u32::try_from(at).ok()) {
                    Some(at) => contents.set(at, len, value.clone()),
                    None => contents.store(offset, len, &value, names),
                }
            });
            let bytes = span(offset, u64::from(len));
            state.forget_written(*id, bytes, Ends::Settled, &self.names);
        }
        state.owners = owners;
        if zero && width == 8 {
            self.zero_written(frame, state, address);
        }
        let place = access.place().filter(|_| stored == width);
        Some(place.map(|(object, at)| Cell { object, at, len }))
    }

    /// Whether a write can be tracked. One with unknown targets is a hole.
    pub(super) fn goes(&mut self, access: &Access) -> bool {
        if access.unknown {
            self.hole("a write through a pointer of which it is not known where it points");
        }
        !access.unknown
    }

    /// Forgets the bytes that a write of `len` bytes may have changed, up to the offset `end`.
    pub(super) fn forget(
        &mut self,
        state: &mut State,
        access: &Access,
        (len, end): (&Num, u32),
        ends: Ends,
    ) {
        for (id, offset) in &access.targets {
            let (low, high) = span(offset, len.high);
            let high = high.min(end).max(low);
            state.change(*id, &self.names, |object| {
                let contents = Arc::make_mut(&mut object.contents);
                for (low, high) in spans(offset, len.high) {
                    contents.forget(low, high.min(end).max(low));
                }
            });
            state.forget_written(*id, (low, high), ends, &self.names);
        }
    }
}
