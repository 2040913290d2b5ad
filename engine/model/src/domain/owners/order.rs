//! The order and the join of owners.
//!
//! A field that a state does not name owns nevertheless if all its contents are NULL, or if there
//! is no such object; a register that is NULL may be any owner. So a list that does not exist yet
//! can be joined with one that does. The join is guessed and then compared with both states; what
//! either state does not imply is given up.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Field, Holder, Owner, Owners, Place, Row, Slot, tails};
use crate::domain::num::{Num, Thresholds};
use crate::domain::space::{Alive, GONE, Names, ObjId};
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::Reg;

/// Owners, with the state to which they belong.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) state: &'a State,
    pub(super) names: &'a Names<'a>,
}

impl State {
    /// Whether a field owns: it holds NULL, or the address of a block to which no other field
    /// points.
    pub(in crate::domain) fn is_owning(
        &self,
        owners: &Owners,
        field: Field,
        names: &Names<'_>,
    ) -> bool {
        owners.fields.contains(&field) || self.is_void(field, names)
    }

    /// Whether a field holds nothing but NULL in all live objects.
    pub(in crate::domain) fn is_void(&self, (id, at): Field, names: &Names<'_>) -> bool {
        let Some(object) = self.object(id, names) else {
            return true;
        };
        let is_gone = object.alive == Alive::No && names.info(id).is_unique;
        let place = Num::exactly(64, at.into());
        is_gone || object.contents.load(&place, 8, names).as_constant() == Some(0)
    }

    /// The join of both states' owners, or their widening if there are thresholds.
    pub(in crate::domain) fn owners_of_both(
        &self,
        other: &State,
        names: &Names<'_>,
        thresholds: Option<&Thresholds>,
    ) -> Arc<Owners> {
        if Arc::ptr_eq(&self.owners, &other.owners) || self.owners == other.owners {
            return Arc::clone(&self.owners);
        }
        let sides = [self, other].map(|state| Side { state, names });
        let joined = joined(sides, thresholds);
        if sides.iter().all(|side| side.says(&joined)) {
            return Arc::new(joined);
        }
        let fields = Owners {
            named: Vec::new(),
            ..joined
        };
        if sides.iter().all(|side| side.says(&fields)) {
            return Arc::new(fields);
        }
        Arc::default()
    }

    /// Whether this state implies what another one says of owners.
    pub(in crate::domain) fn has_owners(&self, other: &State, names: &Names<'_>) -> bool {
        Arc::ptr_eq(&self.owners, &other.owners)
            || self.owners == other.owners
            || Side { state: self, names }.says(&other.owners)
    }
}

impl Side<'_> {
    pub(super) fn owners(&self) -> &Owners {
        &self.state.owners
    }

    pub(super) fn is_null(&self, holder: Holder) -> bool {
        let Holder::Reg(reg) = holder else {
            return self.owners().null.contains(&holder);
        };
        let value = self.state.registers.get(&Reg(reg));
        value.is_some_and(|value| value.as_constant() == Some(0))
    }

    /// Whether two registers hold different addresses, or one of them NULL.
    fn differ(&self, a: Holder, b: Holder) -> bool {
        self.is_null(a) || self.is_null(b) || self.owners().is_same(a, b) == Some(false)
    }

    fn lives(&self, holder: Holder) -> bool {
        self.owners().lives(holder) || self.is_null(holder)
    }

    /// Whether a field of a single object holds NULL or the address of a live block.
    fn keeps(&self, field: Field) -> bool {
        let is_kept = self.owners().kept.contains(&field) || self.owns(field);
        is_kept && self.names.info(field.0).is_unique
    }

    fn owns(&self, field: Field) -> bool {
        self.state.is_owning(self.owners(), field, self.names)
    }

    fn is_absent(&self, field: Field) -> bool {
        self.state.object(field.0, self.names).is_none()
    }

    /// Whether this state implies what other owners say.
    fn says(&self, others: &Owners) -> bool {
        let mut used = BTreeSet::new();
        let named = others.named.iter().all(|owner| match self.owner_of(owner) {
            Some(index) => {
                used.insert(index) && {
                    let own = &self.owners().named[index];
                    owner.holders.is_subset(&own.holders)
                        && owner
                            .places
                            .iter()
                            .all(|place| self.names_place(own, place, others))
                }
            }
            None => {
                owner.holders.iter().all(|holder| self.is_null(*holder))
                    && owner
                        .places
                        .iter()
                        .all(|place| self.is_empty(place, others))
            }
        });
        let own = self.owners().named.iter().enumerate();
        let mut loose = own.map(|(index, owner)| {
            let places = owner.places.iter();
            let loose = places.filter(|place| self.is_loose(place, others)).count();
            loose <= usize::from(!used.contains(&index))
        });
        let mut excluded = self.owners().excluded.iter();
        let mut spent = self.owners().unowned_elements.iter();
        others.is_apart()
            && (others.cyclic || !self.owners().cyclic)
            && (others.different.iter()).all(|(a, b)| self.differ(*a, *b))
            && others.rows.iter().all(|row| self.has_row(row, others))
            && spent
                .all(|name| others.unowned_elements.contains(name) || others.row(*name).is_none())
            && others.fields.iter().all(|field| self.owns(*field))
            && named
            && loose.all(|few| few)
            && excluded.all(|slot| is_excluded(slot, others))
            && (others.alive.iter()).all(|holder| self.lives(*holder))
            && others.kept.iter().all(|field| self.keeps(*field))
            && others.null.iter().all(|holder| self.is_null(*holder))
            && tails::says(*self, others)
    }

    /// Whether all elements of a row that own according to others own here, too.
    fn has_row(&self, other: &Row, others: &Owners) -> bool {
        self.owners().row(other.name()).is_some_and(|own| {
            own.stride == other.stride
                && own.from.is_within(&other.from)
                && own.to.is_within(&other.to)
                && (own.at.is_within(&other.at) || others.apart(other.name()).is_none())
        })
    }

    /// The index of the owner here to which another one corresponds, by its first register or
    /// place.
    fn owner_of(&self, other: &Owner) -> Option<usize> {
        let mut named = self.owners().named.iter();
        match other.holders.first() {
            Some(holder) => self.owners().index(*holder),
            None => {
                let first = other.places.first()?;
                named.position(|owner| owner.places.iter().any(|own| self.is_at(own, first)))
            }
        }
    }

    /// Whether a place in which others see an owner's value holds it here.
    fn names_place(&self, owner: &Owner, place: &Place, others: &Owners) -> bool {
        let mut own = owner.places.iter();
        let is_named = own.any(|own| self.is_at(own, place));
        // A field that owns only because it is empty does not hold the value.
        let is_owned = |field: &Field| {
            !others.fields.contains(field)
                || self.owners().fields.contains(field)
                || self.is_absent(*field)
        };
        is_named && place.fields().iter().all(is_owned) || self.denotes_nothing(place, others)
    }

    /// Whether such a place does not exist among the fields of others.
    fn denotes_nothing(&self, place: &Place, others: &Owners) -> bool {
        self.denotes(place, others, |field| self.is_absent(field))
    }

    /// Whether such a place holds nothing but NULL among the fields of others.
    fn is_empty(&self, place: &Place, others: &Owners) -> bool {
        self.denotes(place, others, |field| self.state.is_void(field, self.names))
    }

    /// Whether a register points to the beginning of a single object.
    pub(super) fn leads_to(&self, holder: Holder, id: ObjId) -> bool {
        let Holder::Reg(reg) = holder else {
            return false;
        };
        let value = self.state.registers.get(&Reg(reg));
        let led = value.and_then(Value::single_target);
        led.is_some_and(|(of, at)| of == id && at.as_constant() == Some(0))
            && self.names.info(id).is_unique
    }

    /// Whether `other` denotes the place `own`: by its object, or by a register that points there,
    /// and perhaps with more names.
    fn is_at(&self, own: &Place, other: &Place) -> bool {
        match (own, other) {
            (Place::Slot(own), Place::Slot(other)) => own.is_within(other),
            (Place::Cell(id, at), Place::Slot(other)) => {
                other.at == *at && other.of.contains(id) && self.leads_to(other.base, *id)
            }
            _ => own == other,
        }
    }

    /// Whether a place may belong to an owning field of `owners`, which neither names nor excludes
    /// it.
    fn is_loose(&self, place: &Place, owners: &Owners) -> bool {
        let mut fields = place.fields().into_iter();
        let mut named = owners.named.iter().flat_map(|owner| &owner.places);
        let is_excluded = place.slot().is_some_and(|slot| is_excluded(slot, owners));
        let is_owned = match place {
            Place::Element(id, start) => {
                let name = (*id, *start);
                owners.row(name).is_some() && !owners.unowned_elements.contains(&name)
            }
            _ => fields.any(|field| owners.fields.contains(&field)),
        };
        is_owned && !is_excluded && !named.any(|other| self.is_at(place, other))
    }

    /// The place that denotes `own` here and `there` in the other state, if there is one.
    fn place_of_both(&self, own: &Place, (other, there): (&Side<'_>, &Place)) -> Option<Place> {
        let is_led = |side: &Side<'_>, (id, at): (&ObjId, &u32), slot: &Slot| {
            slot.at == *at && side.leads_to(slot.base, *id)
        };
        let (mut slot, more) = match (own, there) {
            (Place::Slot(own), Place::Slot(there)) if own.is_at(there) => {
                (own.clone(), there.of.clone())
            }
            (Place::Cell(id, at), Place::Slot(slot)) if is_led(self, (id, at), slot) => {
                (slot.clone(), vec![*id])
            }
            (Place::Slot(slot), Place::Cell(id, at)) if is_led(other, (id, at), slot) => {
                (slot.clone(), vec![*id])
            }
            _ => return (own == there).then(|| own.clone()),
        };
        slot.may_be(more);
        Some(Place::Slot(slot))
    }

    /// The fields that a slot may denote in this state; `None` if it may be another field than the
    /// slot lists.
    fn led_to(&self, slot: &Slot) -> Option<Vec<Field>> {
        let Holder::Reg(reg) = slot.base else {
            return None;
        };
        let value = self.state.registers.get(&Reg(reg))?;
        let mut led = value.ptr.iter().filter(|(id, _)| *id != GONE);
        let is_spoken_of = led.all(|(id, at)| at.as_constant() == Some(0) && slot.of.contains(id));
        let ids = value.ptr.iter().map(|(id, _)| *id).filter(|id| *id != GONE);
        (is_spoken_of && !value.is_vague()).then(|| ids.map(|id| (id, slot.at)).collect())
    }

    fn denotes(&self, place: &Place, others: &Owners, is_so: impl Fn(Field) -> bool) -> bool {
        let fields = match place {
            Place::Cell(id, at) => (self.names.info(*id).is_unique).then(|| vec![(*id, *at)]),
            Place::Slot(slot) => self.led_to(slot),
            Place::Element(id, start) => {
                let is_none = self.state.is_of_no_element((*id, *start), self.names);
                is_none.then(Vec::new)
            }
        };
        let is_spoken_of = |field: &Field| others.fields.contains(field);
        fields.is_some_and(|fields| fields.into_iter().filter(is_spoken_of).all(is_so))
    }
}

/// Whether a place is excluded, or belongs to no owning field.
fn is_excluded(slot: &Slot, owners: &Owners) -> bool {
    let mut excluded = owners.excluded.iter();
    excluded.any(|other| slot.is_within(other))
        || slot.fields().all(|field| !owners.fields.contains(&field))
}

/// A guess at the join.
fn joined([a, b]: [Side<'_>; 2], thresholds: Option<&Thresholds>) -> Owners {
    let fields = a.owners().fields.iter().chain(&b.owners().fields);
    let fields = fields.filter(|field| a.owns(**field) && b.owns(**field));
    let mut all = Owners {
        fields: fields.copied().collect(),
        cyclic: a.owners().cyclic || b.owners().cyclic,
        ..Owners::default()
    };
    for row in &a.owners().rows {
        let there = b.owners().row(row.name());
        let there = there.filter(|there| there.stride == row.stride);
        let both = there.map(|there| row.of_both(there, thresholds));
        both.into_iter().for_each(|row| all.put_row(row));
    }
    let spent = a
        .owners()
        .unowned_elements
        .union(&b.owners().unowned_elements);
    all.unowned_elements = spent
        .filter(|name| all.row(**name).is_some())
        .copied()
        .collect();
    for slot in a.owners().excluded.iter().chain(&b.owners().excluded) {
        all.exclude(Place::Slot(slot.clone()));
    }
    let mut paired = [BTreeSet::new(), BTreeSet::new()];
    for (side, other) in [(a, b), (b, a)] {
        for owner in &side.owners().named {
            let common = common(owner, (side, other), &all);
            let Some(holder) = common.holders.first() else {
                continue;
            };
            if !is_kept(owner, &common, (side, other), &all) {
                continue;
            }
            // An owner of one side corresponds to at most one owner of the other side.
            let pair = [a, b].map(|side| side.owners().index(*holder));
            let is_paired = |(index, known): (&Option<usize>, &BTreeSet<usize>)| {
                index.is_some_and(|index| known.contains(&index))
            };
            if pair.iter().zip(&paired).any(is_paired) {
                continue;
            }
            for (index, known) in pair.into_iter().zip(&mut paired) {
                known.extend(index);
            }
            all.named.push(common);
        }
    }
    // A place that either side lists with an owner and the join does not is an ordinary one if it
    // is the only one, and excluded otherwise.
    for side in [a, b] {
        for owner in &side.owners().named {
            let mut holders = owner.holders.iter();
            let is_named = holders.any(|holder| all.index(*holder).is_some());
            let places = owner.places.iter();
            let loose = places.filter(|place| side.is_loose(place, &all));
            let mut loose: Vec<Place> = loose.cloned().collect();
            // The place where a value was stored last becomes the ordinary one.
            if !is_named {
                loose.pop();
            }
            loose.into_iter().for_each(|place| all.exclude(place));
        }
    }
    let holders = [a, b].map(|side| {
        let named = side.owners().named.iter().flat_map(|owner| &owner.holders);
        let all: BTreeSet<Holder> = named.chain(&side.owners().alive).copied().collect();
        all
    });
    let alive = holders[0].union(&holders[1]).copied();
    let alive = alive.filter(|holder| a.lives(*holder) && b.lives(*holder));
    all.alive = alive
        .filter(|holder| all.index(*holder).is_none())
        .collect();
    let kept = a.owners().kept.union(&b.owners().kept).copied();
    all.kept = kept
        .filter(|field| a.keeps(*field) && b.keeps(*field))
        .collect();
    let different = a.owners().different.union(&b.owners().different).copied();
    all.different = different
        .filter(|(one, other)| a.differ(*one, *other) && b.differ(*one, *other))
        .collect();
    tails::of_both([a, b], &mut all);
    let null = a.owners().null.intersection(&b.owners().null);
    all.null = null.copied().collect();
    all.without_lost_elements();
    all
}

/// Whether an owner is worth keeping in spite of its places that the other side does not have: they
/// would be excluded, and are ordinary ones without the owner. A cursor points to what a field owns
/// when its walk begins, and to something else or nowhere later; an owner without places there
/// belongs to the register alone.
fn is_kept(
    owner: &Owner,
    common: &Owner,
    (side, other): (Side<'_>, Side<'_>),
    all: &Owners,
) -> bool {
    let mut places = owner.places.iter();
    let is_common = |place| (common.places.iter()).any(|known| side.is_at(place, known));
    let is_lost = places.any(|place| !is_common(place) && side.is_loose(place, all));
    let mut held = owner.holders.iter();
    let there = held.find_map(|holder| other.owners().index(*holder));
    let is_new = there.is_some_and(|index| other.owners().named[index].places.is_empty());
    !is_lost || is_new
}

/// The common part of an owner and of the owner that its registers hold on the other side, where
/// they may also be all NULL.
fn common(owner: &Owner, (side, other): (Side<'_>, Side<'_>), all: &Owners) -> Owner {
    let mut held = owner.holders.iter();
    let there = held.find_map(|holder| other.owners().index(*holder));
    match there.map(|index| &other.owners().named[index]) {
        Some(there) => {
            let holders = owner.holders.intersection(&there.holders);
            let of_both = |own: &Place| {
                let mut places = there.places.iter();
                places.find_map(|place| side.place_of_both(own, (&other, place)))
            };
            Owner {
                holders: holders.copied().collect(),
                places: owner.places.iter().filter_map(of_both).collect(),
            }
        }
        None => {
            let holders = owner
                .holders
                .iter()
                .filter(|holder| other.is_null(**holder));
            let places = owner
                .places
                .iter()
                .filter(|place| other.is_empty(place, all));
            Owner {
                holders: holders.copied().collect(),
                places: places.cloned().collect(),
            }
        }
    }
}
