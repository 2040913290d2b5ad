//! Whether links lead in circles.
//!
//! Two owners hold different blocks, but a register that walks along a list is no owner: it leads
//! to what some link holds. That the block behind its own link is another one follows if no link
//! leads back to where it is. So it is kept in mind whether fields that own lead in a circle, from
//! a block to the block that a field of it holds, and so on ([`Owners::cyclic`]). A store of an
//! owner closes no circle where nothing leads to the block that it stores to, where that block is
//! above the owner already, or where all links of the owner are known and lead elsewhere: how a
//! node is put in front of a list, or between two others. Elements of rows do not count as links.

use super::{Field, Holder, Owners, Place, Slot};
use crate::domain::space::ObjId;

/// Links that are followed one after the other.
const FOLLOWED: u32 = 8;
/// Pairs of registers that are kept in mind, about.
const DIFFERENT: usize = 8;

/// Where an owner is about to be stored.
#[derive(Clone, Debug, Default)]
pub struct Link {
    /// The register that leads to the beginning of the object, if that is known.
    pub base: Option<Holder>,
    /// Whether the object may be a block.
    pub heap: bool,
    /// What the block that the owner holds may be called; none if nothing is known.
    pub names: Option<Vec<ObjId>>,
    /// The links of that block that are NULL.
    pub ends: Vec<u32>,
}

impl Owners {
    /// Whether a link that owns leads from the block of a register to an owner's, or several do one
    /// after the other.
    pub(super) fn is_above(&self, high: Holder, low: usize) -> bool {
        !self.cyclic && self.leads(high, low, FOLLOWED)
    }

    fn leads(&self, high: Holder, low: usize, followed: u32) -> bool {
        let slots = self.named[low].places.iter().filter_map(Place::slot);
        let mut links = slots.filter(|slot| slot.fields().all(|of| self.fields.contains(&of)));
        links.any(|link| {
            let from = self.index(link.base);
            link.base == high
                || from.is_some_and(|from| Some(from) == self.index(high))
                || from.is_some_and(|from| followed > 0 && self.leads(high, from, followed - 1))
        })
    }

    /// A link is about to be written: that it led to another block is known without it from now on.
    pub(super) fn parted(&mut self, link: &Place) {
        let Some(base) = link.slot().map(|slot| slot.base) else {
            return;
        };
        let parted = self.named.iter().enumerate().filter(|(index, owner)| {
            owner.places.contains(link) && self.index(base).is_none() && self.is_above(base, *index)
        });
        let held = parted.flat_map(|(_, owner)| &owner.holders);
        let held: Vec<Holder> = held.copied().collect();
        if self.different.len() < DIFFERENT {
            let pairs = held.into_iter().map(|own| (own.min(base), own.max(base)));
            self.different.extend(pairs);
        }
    }

    /// Whether an owner that is stored in a place may lead back there. Which fields are empty is
    /// asked.
    pub(super) fn may_close(
        &self,
        place: &Place,
        link: &Link,
        owner: usize,
        is_empty: impl Fn(Field) -> bool,
    ) -> bool {
        if !link.heap {
            return false;
        }
        let Some(base) = link.base else { return true };
        if let Some(own) = self.index(base) {
            if own == owner {
                return true;
            }
            if self.named[own].places.is_empty() {
                return false;
            }
        }
        if self.is_above(base, owner) {
            return false;
        }
        let Some(names) = &link.names else {
            return true;
        };
        let mut held = self.named[owner].holders.iter();
        let is_apart = place.fields().iter().all(|(id, _)| !names.contains(id))
            || held.any(|held| self.is_same(base, *held) == Some(false));
        if !is_apart {
            return true;
        }
        let mut below = self.fields.iter().filter(|(id, _)| names.contains(id));
        below.any(|&field| {
            let is_its =
                |slot: &Slot| slot.at == field.1 && self.named[owner].holders.contains(&slot.base);
            let is_of = |own: &Place| match own {
                Place::Slot(slot) => {
                    is_its(slot) && slot.fields().all(|of| self.fields.contains(&of))
                }
                Place::Cell(id, at) => (*id, *at) == field && names[..] == [*id],
                Place::Element(..) => false,
            };
            let mut named = self.named.iter();
            let next = named.position(|owner| owner.places.iter().any(is_of));
            let leads_on = next.is_none_or(|next| {
                !self.is_above(base, next) && !self.named[next].places.contains(place)
            });
            leads_on && !is_empty(field) && !self.excluded.iter().any(is_its)
        })
    }
}
