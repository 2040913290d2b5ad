//! Stores of links: whether one closes a cycle ([`Link`]), and where lists end.
//!
//! What a state says of links ([`crate::domain::owners`]) does not depend on values. This module
//! adds what concerns a store: the register that points to the object, the names of the stored
//! block, and which links of that block are NULL.

use std::sync::Arc;

use super::memory::Access;
use super::own::offset;
use super::{Frame, Guide, Walker};
use crate::domain::contents::span;
use crate::domain::num::Num;
use crate::domain::owners::{Holder, Link, Owners, Place, Stored};
use crate::domain::space::GONE;
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::{Operand, Reg, Width};

/// The number of bytes at the beginning of a block in which links are looked for.
const LINKED: u32 = 64;

impl<G: Guide> Walker<'_, G> {
    /// Updates what is known of the ends of lists when a value is stored.
    pub(super) fn ends_stored(
        &self,
        frame: &Frame,
        state: &mut State,
        access: &Access,
        (address, value, width): (Operand, Option<Operand>, Width),
    ) {
        if state.owners.ends.is_empty() {
            return;
        }
        let is_null = value.is_some_and(|value| {
            width == 64 && self.get(frame, state, value, 64).as_constant() == Some(0)
        });
        let at = offset(&self.get(frame, state, address, 64));
        let null = at.filter(|_| is_null && !access.unknown);
        let mut owners = Owners::clone(&state.owners);
        for (id, offset) in &access.targets {
            let bytes = span(offset, width.div_ceil(8).into());
            let leads = |field| state.may_lead(field, *id, &self.names);
            owners.ends_written(leads, bytes, null);
        }
        state.owners = Arc::new(owners);
    }

    /// The links that are NULL in the block that a value points to, if it is known which block that
    /// is and the store does not write to it.
    fn last_links(&self, state: &State, value: &Value, written: &Place) -> Vec<u32> {
        let block = value.single_target().filter(|(id, at)| {
            let info = self.names.info(*id);
            let is_written = written.fields().iter().any(|(of, _)| of == id);
            at.as_constant() == Some(0) && info.heap && info.is_unique && !is_written
        });
        let object = block.and_then(|(id, _)| state.object(id, &self.names));
        let Some(object) = object else {
            return Vec::new();
        };
        let links = (0..LINKED).step_by(8).filter(|at| {
            let at = Num::exactly(64, (*at).into());
            let content = object.contents.load(&at, 8, &self.names);
            content.as_constant() == Some(0)
        });
        links.collect()
    }

    /// Collects what determines whether a store closes a cycle.
    pub(super) fn owner_link(
        &self,
        frame: &Frame,
        state: &State,
        (address, place): (Operand, &Place),
        stored: Stored,
    ) -> Link {
        let fields = place.fields();
        let base = fields
            .first()
            .and_then(|(_, at)| self.slot(frame, state, (address, *at)));
        let held = match stored {
            Stored::Held(Holder::Reg(reg)) => state.registers.get(&Reg(reg)),
            Stored::Held(Holder::Outer(..)) | Stored::Null | Stored::Unknown => None,
        };
        let names = held.filter(|value| !value.is_vague()).map(|value| {
            let names = value.ptr.iter().map(|(id, _)| *id);
            names.filter(|id| *id != GONE).collect()
        });
        Link {
            base: base.map(|slot| slot.base),
            heap: fields.iter().any(|(id, _)| self.names.info(*id).heap),
            names,
            ends: held.map_or_else(Vec::new, |value| self.last_links(state, value, place)),
        }
    }
}
