//! Whether links form cycles.
//!
//! Two owners hold different blocks, but a register that walks along a list is no owner: it points
//! to a block that some link holds. That the block after its own link is another one follows if no
//! link leads back to it. So it is recorded whether owning fields may form a cycle, from a block to
//! the block that a field of it holds, and so on ([`Owners::cyclic`]). A store of an owner closes
//! no cycle if nothing points to the block that it stores to, if that block is above the owner
//! already, or if all links of the owner are known and lead elsewhere: this is how a node is put in
//! front of a list, or between two others. Elements of rows do not count as links.

use super::{Field, Holder, Owners, Place, Slot};
use crate::domain::space::ObjId;

/// The most links that are followed one after the other.
const FOLLOWED: u32 = 8;
/// The approximate limit of pairs of registers that are recorded.
const DIFFERENT: usize = 8;

/// What is known of a store of an owner.
#[derive(Clone, Debug, Default)]
pub struct Link {
    /// The register that points to the beginning of the object that is stored to, if it is known.
    pub base: Option<Holder>,
    /// Whether that object may be a heap block.
    pub heap: bool,
    /// The names that the owner's block may have; `None` if nothing is known.
    pub names: Option<Vec<ObjId>>,
    /// The links of that block that are NULL.
    pub ends: Vec<u32>,
}

impl Owners {
    /// Whether one or several owning links lead from the block of a register to an owner's block.
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

    /// Records that the blocks at both ends of a link differ, before the link is overwritten, which
    /// has implied that so far.
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

    /// Whether storing an owner in a place may close a cycle. `is_empty` says which fields are
    /// NULL.
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
