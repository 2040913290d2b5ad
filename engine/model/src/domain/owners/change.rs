//! How owners change with registers and memory.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use super::{Field, Holder, Link, Owner, Owners, Place, Row, Slot};
use crate::domain::space::ObjId;
use crate::program::ir::Reg;

/// Which places may hold the address of a released block.
#[allow(missing_debug_implementations, reason = "functions")]
pub struct MayHold<'a> {
    /// Whether a field may.
    pub field: &'a dyn Fn(Field) -> bool,
    /// Whether an element of a row may.
    pub row: &'a dyn Fn(&Row) -> bool,
    /// Whether a register may.
    pub holder: &'a dyn Fn(Holder) -> bool,
    /// Whether a field of [`Owners::kept`] may.
    pub kept: &'a dyn Fn(Field) -> bool,
}

/// The registers that hold what a register held before.
pub type Renamed = SmallVec<[Holder; 2]>;

impl Owners {
    /// Makes a field not own any more. A place that may belong to it is forgotten, so the other
    /// fields to which that place may belong do not own any more either.
    pub fn drop_field(&mut self, field: Field) {
        let mut open = vec![field];
        while let Some(field) = open.pop() {
            if !self.fields.remove(&field) {
                continue;
            }
            let is_of = |slot: &Slot| slot.fields().any(|of| of == field);
            let slots = self.slots().filter(|slot| is_of(slot));
            open.extend(slots.flat_map(Slot::fields));
            for owner in &mut self.named {
                owner.places.retain(|place| match place {
                    Place::Cell(id, at) => (*id, *at) != field,
                    Place::Slot(slot) => !is_of(slot),
                    Place::Element(..) => true,
                });
            }
            self.excluded.retain(|slot| !is_of(slot));
        }
        self.tidy();
    }

    /// Updates the owners after bytes of an object may have been written.
    pub fn written(&mut self, id: ObjId, (low, high): (u32, u32)) {
        self.fields_written(id, (low, high));
        self.drop_rows(|row| row.of == id && row.overlaps((low, high)));
    }

    /// As [`Owners::written`], for bytes that belong to no element of a row.
    pub fn fields_written(&mut self, id: ObjId, (low, high): (u32, u32)) {
        let own = self.fields.range((id, 0)..=(id, u32::MAX));
        let is_written = |(_, at): &&Field| at.saturating_add(8) > low && *at < high;
        let gone: Vec<Field> = own.filter(is_written).copied().collect();
        gone.into_iter().for_each(|field| self.drop_field(field));
        self.kept
            .retain(|(of, at)| *of != id || !is_written(&&(*of, *at)));
        self.tidy_tails();
    }

    /// Removes owners that say nothing: a single place is an ordinary place of its field.
    pub(super) fn tidy(&mut self) {
        self.named
            .retain(|owner| !owner.holders.is_empty() || owner.places.len() > 1);
        self.cyclic &= !self.fields.is_empty();
        self.tidy_tails();
    }

    /// Removes an owner. The place that `stays` becomes an ordinary one of its field, and the
    /// others are excluded.
    pub(super) fn dissolve(&mut self, index: usize, stays: &Place) {
        let owner = self.named.swap_remove(index);
        self.alive.extend(owner.holders);
        let others = owner.places.into_iter().filter(|place| place != stays);
        others.for_each(|place| self.exclude(place));
    }

    /// Excludes a place: nothing is said of it any more.
    pub(super) fn exclude(&mut self, place: Place) {
        match place {
            Place::Cell(id, at) => self.drop_field((id, at)),
            Place::Slot(slot) => {
                let known = self.excluded.iter_mut().find(|known| known.is_at(&slot));
                match known {
                    Some(known) => known.may_be(slot.of),
                    None => self.excluded.push(slot),
                }
            }
            Place::Element(id, start) => {
                self.unowned_elements.insert((id, start));
            }
        }
    }

    /// Dissolves the owners with a place for which `is_it` holds. That place becomes an ordinary
    /// one of its field.
    fn dissolve_where(&mut self, is_it: impl Fn(&Owners, &Place) -> bool) {
        loop {
            let found = self.named.iter().enumerate().find_map(|(index, owner)| {
                let place = owner.places.iter().find(|place| is_it(self, place));
                place.map(|place| (index, place.clone()))
            });
            let Some((index, place)) = found else { return };
            self.dissolve(index, &place);
        }
    }

    /// Renames registers all at once. Those without a new name are forgotten.
    pub fn renamed(mut self, names: impl Fn(Holder) -> Renamed) -> Owners {
        let based = |owners: &Owners, slot: &Slot| {
            let own = names(slot.base);
            let own = own.first().copied();
            let owner = owners.index(slot.base).map(|index| &owners.named[index]);
            own.or_else(|| {
                let all = owner.into_iter().flat_map(|owner| &owner.holders);
                all.flat_map(|holder| names(*holder)).next()
            })
        };
        let is_lost = |owners: &Owners, slot: &Slot| based(owners, slot).is_none();
        self.dissolve_where(|owners, place| place.slot().is_some_and(|slot| is_lost(owners, slot)));
        while let Some(at) = self.excluded.iter().position(|slot| is_lost(&self, slot)) {
            let slot = self.excluded.swap_remove(at);
            slot.fields().for_each(|field| self.drop_field(field));
        }
        let before = self.clone();
        let rebased = |slot: &Slot| {
            let base = based(&before, slot).unwrap_or(slot.base);
            Slot {
                base,
                ..slot.clone()
            }
        };
        for owner in &mut self.named {
            let holders = owner.holders.iter().flat_map(|holder| names(*holder));
            owner.holders = holders.collect();
            for place in &mut owner.places {
                if let Place::Slot(slot) = place {
                    *slot = rebased(slot);
                }
            }
        }
        for slot in &mut self.excluded {
            *slot = rebased(slot);
        }
        self.unlike = (self.unlike.iter())
            .flat_map(|(field, holder)| names(*holder).into_iter().map(|holder| (*field, holder)))
            .collect();
        self.different = (self.different.iter())
            .flat_map(|(a, b)| {
                let others = names(*b);
                names(*a).into_iter().flat_map(move |a| {
                    let others = others.clone().into_iter();
                    others.map(move |b| (a.min(b), a.max(b)))
                })
            })
            .collect();
        for holders in [&mut self.alive, &mut self.null] {
            let all = holders.iter().flat_map(|holder| names(*holder));
            *holders = all.collect();
        }
        self.tidy();
        self
    }

    /// Forgets the registers of the innermost call that do not matter.
    pub fn keep(&mut self, matters: impl Fn(Reg) -> bool) {
        let all = std::mem::take(self);
        *self = all.renamed(|known| match known {
            Holder::Reg(reg) if !matters(Reg(reg)) => Renamed::new(),
            known => Renamed::from_elem(known, 1),
        });
    }

    /// Forgets a register that gets an unknown value.
    pub fn set(&mut self, holder: Holder) {
        let all = std::mem::take(self);
        *self = all.renamed(|known| match known == holder {
            true => Renamed::new(),
            false => Renamed::from_elem(known, 1),
        });
    }

    /// Whether a register is mentioned.
    pub fn speaks_of(&self, holder: Holder) -> bool {
        self.holders().any(|known| known == holder)
    }

    /// Whether registers of the innermost call that do not matter are mentioned.
    pub fn has_other_than(&self, matters: impl Fn(Reg) -> bool) -> bool {
        let is_gone = |holder| matches!(holder, Holder::Reg(reg) if !matters(Reg(reg)));
        self.holders().any(is_gone)
    }

    /// Whether fields or rows of an object are mentioned.
    pub fn has_fields_of(&self, id: ObjId) -> bool {
        let mut own = self.fields.range((id, 0)..=(id, u32::MAX));
        let mut kept = self.kept.range((id, 0)..=(id, u32::MAX));
        own.next().is_some() || kept.next().is_some() || self.has_rows_of(id)
    }

    /// The registers that are mentioned.
    pub fn holders(&self) -> impl Iterator<Item = Holder> + '_ {
        let named = self.named.iter().flat_map(|owner| &owner.holders);
        let alone = self.alive.iter().chain(&self.null);
        let bases = self.slots().map(|slot| slot.base);
        let pairs = self.different.iter().flat_map(|(a, b)| [*a, *b]);
        let pairs = pairs.chain(self.unlike.iter().map(|(_, holder)| *holder));
        named.chain(alone).copied().chain(bases).chain(pairs)
    }

    fn slots(&self) -> impl Iterator<Item = &Slot> {
        let named = self.named.iter().flat_map(|owner| &owner.places);
        named.filter_map(Place::slot).chain(&self.excluded)
    }

    /// Makes a register the owner of a new block.
    pub fn given(&mut self, holder: Holder) {
        self.named.push(Owner {
            holders: BTreeSet::from([holder]),
            places: Vec::new(),
        });
    }

    /// Records that a register holds the same as another one.
    pub fn copied(&mut self, to: Holder, from: Holder) {
        if let Some(index) = self.index(from) {
            self.named[index].holders.insert(to);
        } else if self.alive.contains(&from) {
            self.alive.insert(to);
        }
    }

    /// Records that a register was read from a place. `owns` says which fields own.
    pub fn read(&mut self, to: Holder, place: &Place, owns: impl Fn(&Owners, Field) -> bool) {
        if let Place::Cell(id, at) = place
            && self.kept.contains(&(*id, *at))
        {
            self.alive.insert(to);
        }
        let fields = place.fields();
        let is_any = match place {
            Place::Element(id, start) => !self.unowned_elements.contains(&(*id, *start)),
            _ => fields.iter().any(|field| self.fields.contains(field)),
        };
        if !is_any || !fields.iter().all(|field| owns(self, *field)) {
            return;
        }
        // If all its fields own, the place holds an owned value, whichever field it belongs to.
        fields.into_iter().for_each(|field| self.owns(field));
        let of_place = |other: &Place| self.coincide(place, other);
        let mut excluded = self.excluded.iter().cloned().map(Place::Slot);
        if excluded.any(|other| of_place(&other) != Some(false)) {
            return;
        }
        let mut same = None;
        for (index, owner) in self.named.iter().enumerate() {
            for other in &owner.places {
                match of_place(other) {
                    Some(true) => same = Some(index),
                    Some(false) => {}
                    None => {
                        self.alive.insert(to);
                        return;
                    }
                }
            }
        }
        match same {
            Some(index) => {
                self.named[index].holders.insert(to);
            }
            None => self.named.push(Owner {
                holders: BTreeSet::from([to]),
                places: vec![place.clone()],
            }),
        }
    }

    /// Updates the owners for a store of NULL, of a register's value, or of something else, before
    /// the store. If the value is an owner, the fields of the place that are NULL (`is_empty`) own
    /// from now on, and so does the field of a single object.
    pub fn stored(
        &mut self,
        (place, link): (&Place, &Link),
        value: Stored,
        is_empty: impl Fn(Field) -> bool,
    ) {
        for (id, at) in place.fields() {
            self.drop_rows(|row| row.of == id && row.has_part_of(at));
            let near = at.saturating_sub(7)..at.saturating_add(8);
            for at in near.filter(|other| *other != at) {
                self.drop_field((id, at));
            }
            self.kept
                .retain(|(of, other)| *of != id || other.abs_diff(at) >= 8);
        }
        self.tidy_tails();
        if let (Place::Cell(id, at), Stored::Held(holder)) = (place, value)
            && self.lives(holder)
        {
            self.kept.insert((*id, *at));
            let links = link.ends.iter();
            self.ends.extend(links.map(|link| ((*id, *at), *link)));
        }
        if let Stored::Held(holder) = value
            && let Some(index) = self.index(holder)
        {
            let is_cell = matches!(place, Place::Cell(..));
            // A field of a single object that holds an owner beside the link that owns it points to
            // the end of a list.
            let is_second = is_cell && !link.heap && !self.named[index].places.is_empty();
            let fields = place.fields().into_iter();
            let fields = fields.filter(|field| !is_second && (is_cell || is_empty(*field)));
            fields.for_each(|field| self.owns(field));
        }
        let mut fields = place.fields().into_iter();
        if !fields.any(|field| self.fields.contains(&field)) {
            return;
        }
        self.dissolve_where(|owners, other| owners.coincide(place, other).is_none());
        let before = self.clone();
        let is_it = |other: &Place| before.coincide(place, other) == Some(true);
        self.excluded
            .retain(|slot| !is_it(&Place::Slot(slot.clone())));
        self.parted(place);
        for owner in &mut self.named {
            owner.places.retain(|other| !is_it(other));
        }
        let index = match value {
            Stored::Held(holder) => self.index(holder),
            Stored::Null | Stored::Unknown => None,
        };
        match index {
            Some(index) => {
                self.cyclic |= before.may_close(place, link, index, is_empty);
                self.named[index].places.push(place.clone());
            }
            None if value == Stored::Null => {}
            None => self.exclude(place.clone()),
        }
        self.tidy();
    }

    /// Makes a field own, as its contents do. Places that may belong to it become ordinary ones.
    pub fn owns(&mut self, field: Field) {
        if self.fields.contains(&field) {
            return;
        }
        self.dissolve_where(|_, place| {
            place
                .slot()
                .is_some_and(|slot| slot.fields().any(|of| of == field))
        });
        self.fields.insert(field);
    }

    /// Updates the owners after a block was released, or may have been: the one that `holder`
    /// points to, if it is known. `may` says which places may hold its address, and is used if its
    /// owner is not known.
    pub fn released(&mut self, holder: Option<Holder>, may: &MayHold<'_>) {
        let owner = holder.and_then(|holder| Some((holder, self.index(holder)?)));
        let mut others = BTreeSet::new();
        match owner {
            Some((holder, index)) => {
                let alive = self.alive.iter().copied();
                others.extend(alive.filter(|other| self.is_same(*other, holder) == Some(false)));
                let owner = self.named.swap_remove(index);
                // The block's own fields are gone.
                let is_gone = |slot: &Slot| owner.holders.contains(&slot.base);
                for other in &mut self.named {
                    other
                        .places
                        .retain(|place| !place.slot().is_some_and(is_gone));
                }
                self.excluded.retain(|slot| !is_gone(slot));
                for place in owner.places {
                    if !place.slot().is_some_and(is_gone) {
                        self.exclude(place);
                    }
                }
            }
            None => {
                let gone: Vec<Field> = self
                    .fields
                    .iter()
                    .copied()
                    .filter(|f| (may.field)(*f))
                    .collect();
                gone.into_iter().for_each(|field| self.drop_field(field));
                self.drop_rows(may.row);
                while let Some(index) = self
                    .named
                    .iter()
                    .position(|owner| owner.holders.iter().all(|holder| (may.holder)(*holder)))
                {
                    let owner = self.named.swap_remove(index);
                    owner
                        .places
                        .into_iter()
                        .for_each(|place| self.exclude(place));
                }
            }
        }
        self.alive
            .retain(|holder| others.contains(holder) || !(may.holder)(*holder));
        self.kept.retain(|field| !(may.kept)(*field));
        self.tidy();
    }

    /// Removes the places in an object that has ended.
    pub fn ended(&mut self, id: ObjId) {
        for owner in &mut self.named {
            owner
                .places
                .retain(|place| !matches!(place, Place::Cell(of, _) if *of == id));
        }
        self.drop_rows(|row| row.of == id);
        self.tidy();
    }

    /// Turns the last block of a request into an older one. `own` says which fields of either own.
    pub fn renewed(
        &mut self,
        (last, older): (ObjId, Option<ObjId>),
        own: impl Fn(&Owners, Field) -> bool,
    ) {
        if let Some(older) = older {
            let rename = |slot: &mut Slot| {
                if slot.of.contains(&last) {
                    slot.may_be([older]);
                }
            };
            let named = self.named.iter_mut().flat_map(|owner| &mut owner.places);
            for place in named {
                if let Place::Slot(slot) = place {
                    rename(slot);
                }
            }
            self.excluded.iter_mut().for_each(rename);
        }
        self.kept.retain(|(id, _)| *id != last);
        self.drop_rows(|row| row.of == last || Some(row.of) == older);
        let offsets = self.fields.iter();
        let offsets: BTreeSet<u32> = offsets
            .filter(|(id, _)| *id == last || Some(*id) == older)
            .map(|(_, at)| *at)
            .collect();
        for at in offsets {
            let both = older.is_some_and(|older| own(self, (older, at)) && own(self, (last, at)));
            if let Some(older) = older {
                match both {
                    true => {
                        self.owns((last, at));
                        self.owns((older, at));
                    }
                    false => self.drop_field((older, at)),
                }
            }
            let cell = Place::Cell(last, at);
            let named = self.named.iter();
            let index = named
                .enumerate()
                .find(|(_, owner)| owner.places.contains(&cell));
            match index.map(|(index, _)| index) {
                Some(index) if both => self.dissolve(index, &cell),
                _ => {}
            }
            self.fields.remove(&(last, at));
            for owner in &mut self.named {
                owner.places.retain(|place| *place != cell);
            }
        }
        self.tidy();
    }
}

/// What a place is about to hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stored {
    /// NULL.
    Null,
    /// What a register holds.
    Held(Holder),
    /// Anything else.
    Unknown,
}
