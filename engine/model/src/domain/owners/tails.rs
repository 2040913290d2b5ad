//! The ends of lists: fields beside a list that point to its last node.
//!
//! `queue->last` owns nothing: it points to a block that a link owns. That this block is alive
//! after the first node was released follows from what a last node is: its link is NULL, and the
//! link of a first node that is not the last one is not. So a state records which link is NULL in
//! the block that such a field points to ([`Owners::ends`]), and from which registers the field
//! differs ([`Owners::unlike`]). The second follows from the first where states meet: `if
//! (!queue->first) queue->last = NULL; free(node);` releases a node from which `queue->last`
//! differs on both paths, for two reasons.

use std::collections::BTreeSet;

use super::order::Side;
use super::{Field, Holder, Owners, Place};
use crate::domain::num::Num;
use crate::domain::space::{Names, ObjId};
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::Reg;

/// The most pairs that a join records.
const PAIRS: usize = 16;

impl Owners {
    /// Forgets the fields that may hold anything.
    pub(in crate::domain) fn tidy_tails(&mut self) {
        let kept = &self.kept;
        self.ends.retain(|(field, _)| kept.contains(field));
        self.unlike.retain(|(field, _)| kept.contains(field));
    }

    /// Updates the ends after a write to objects that some fields point to. The link at the offset
    /// `null` becomes NULL, so that a list still ends there.
    pub fn ends_written(
        &mut self,
        leads: impl Fn(Field) -> bool,
        (low, high): (u32, u32),
        null: Option<u32>,
    ) {
        self.ends.retain(|(field, at)| {
            let is_apart = at.saturating_add(8) <= low || *at >= high;
            is_apart || null == Some(*at) || !leads(*field)
        });
    }
}

impl State {
    /// Whether a field may point to an object of this name.
    pub(in crate::domain) fn may_lead(&self, field: Field, id: ObjId, names: &Names<'_>) -> bool {
        self.content(field, names)
            .is_some_and(|value| value.is_vague() || value.ptr.iter().any(|(led, _)| *led == id))
    }

    /// The value of a field, if its object exists.
    pub(in crate::domain) fn content(&self, (of, at): Field, names: &Names<'_>) -> Option<Value> {
        let object = self.object(of, names)?;
        let at = Num::exactly(64, at.into());
        Some(object.contents.load(&at, 8, names))
    }

    /// Whether a field and a register hold different values, unless both are NULL.
    pub(in crate::domain) fn is_unlike(
        &self,
        field: Field,
        holder: Holder,
        names: &Names<'_>,
    ) -> bool {
        Side { state: self, names }.is_unlike(field, holder)
    }
}

impl Side<'_> {
    /// Whether a field is NULL or points to a block with NULL in this link.
    pub(super) fn ends(&self, field: Field, at: u32) -> bool {
        self.owners().ends.contains(&(field, at)) || self.is_nothing(field)
    }

    /// Whether a field of a single object is NULL.
    fn is_nothing(&self, field: Field) -> bool {
        self.names.info(field.0).is_unique && self.state.is_void(field, self.names)
    }

    /// Whether a field and a register hold different values, unless both are NULL.
    pub(super) fn is_unlike(&self, field: Field, holder: Holder) -> bool {
        let owners = self.owners();
        let is_it = |other: Holder| owners.is_same(other, holder) == Some(true);
        let mut known = owners.unlike.iter();
        let mut ends = owners.ends.iter().filter(|(of, _)| *of == field);
        known.any(|(of, other)| *of == field && is_it(*other))
            || self.is_null(holder)
            || self.is_nothing(field)
            || ends.any(|(_, end)| self.linked(*end).into_iter().any(is_it))
    }

    /// The registers that point to blocks whose link is known not to be NULL.
    fn linked(&self, link: u32) -> Vec<Holder> {
        let owners = self.owners();
        let is_address = |value: &Value| value.num.is_none() && !value.ptr.is_empty();
        let holds = |holder: &Holder| match holder {
            Holder::Reg(reg) => self.state.registers.get(&Reg(*reg)).is_some_and(is_address),
            Holder::Outer(..) => false,
        };
        let has = |place: &Place| match place {
            Place::Cell(id, at) if owners.fields.contains(&(*id, *at)) => {
                let content = self.state.content((*id, *at), self.names);
                content.is_some_and(|value| is_address(&value))
            }
            Place::Cell(..) | Place::Slot(_) | Place::Element(..) => false,
        };
        let led = owners
            .named
            .iter()
            .filter(|owner| owner.holders.iter().any(holds) || owner.places.iter().any(has));
        let mut all = Vec::new();
        for place in led.flat_map(|owner| &owner.places) {
            if !place.fields().iter().all(|of| owners.fields.contains(of)) {
                continue;
            }
            match place {
                Place::Slot(slot) if slot.at == link => all.push(slot.base),
                Place::Cell(id, at) if *at == link => {
                    let holders = owners.holders();
                    all.extend(holders.filter(|holder| self.leads_to(*holder, *id)));
                }
                Place::Slot(_) | Place::Cell(..) | Place::Element(..) => {}
            }
        }
        all
    }
}

/// Joins what both states say of the ends of lists.
pub(super) fn of_both([a, b]: [Side<'_>; 2], all: &mut Owners) {
    let ends = a.owners().ends.union(&b.owners().ends).copied();
    let ends = ends.filter(|(field, at)| {
        all.kept.contains(field) && a.ends(*field, *at) && b.ends(*field, *at)
    });
    all.ends = ends.collect();
    let sides = [a, b];
    let mut pairs: BTreeSet<(Field, Holder)> = BTreeSet::new();
    for side in sides {
        pairs.extend(&side.owners().unlike);
        for (field, at) in &side.owners().ends {
            pairs.extend(side.linked(*at).into_iter().map(|holder| (*field, holder)));
        }
    }
    let pairs = pairs.into_iter().filter(|(field, holder)| {
        let mut sides = sides.iter();
        all.kept.contains(field) && sides.all(|side| side.is_unlike(*field, *holder))
    });
    all.unlike = pairs.take(PAIRS).collect();
}

/// Whether a state implies what other owners say of the ends of lists.
pub(super) fn says(side: Side<'_>, others: &Owners) -> bool {
    let mut pairs = others.unlike.iter();
    others.ends.iter().all(|(field, at)| side.ends(*field, *at))
        && pairs.all(|(field, holder)| side.is_unlike(*field, *holder))
}
