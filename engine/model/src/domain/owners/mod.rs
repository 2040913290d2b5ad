//! Who owns a block of the heap: places of which each leads to a block that no other place leads
//! to.
//!
//! A list that is released node by node is safe because no two pointers lead to one node. Values
//! say which blocks a pointer may lead to, by name, and all nodes of a list share two names
//! ([`super::recent`]), so that behind the first release each of them may have been released. So a
//! state names fields that *own*: the contents of all of them, in all living objects of a name, are
//! NULL or addresses of blocks that live, and no two are equal. That the heap below such fields is
//! a forest is what separation logic says with its separating conjunction (Reynolds, LICS 2002),
//! and what an owner type promises (Clarke, Potter and Noble, OOPSLA 1998); here it is derived, and
//! it holds of some fields at a time.
//!
//! - A value that registers hold can be an owner, too ([`Owner`]): it differs from all that fields
//!   hold, but for the places that are listed with it. A block that was requested is owned by the
//!   register that it is given to; stored in a field, by the field.
//! - A released block has no owner any more, and what its own fields held is owned by the registers
//!   that hold it: `next = p->next; free(p); p = next`.
//! - Elements of an array own as fields do ([`Row`]): those between two offsets, which lines relate
//!   to what counts them.
//! - A field of one object may be spoken of by a register that leads there ([`Slot`]). Where such a
//!   field holds what a field may not, it is excluded: behind `free(p->name)`, until `p` is
//!   released or the field is written.
//!
//! NULL counts as equal to nothing. What is given up is never wrong: every change gives up what it
//! cannot say to hold.

mod change;
mod circles;
mod order;
mod rows;
mod tails;
#[cfg(test)]
mod tests;

pub use self::change::{MayHold, Renamed, Stored};
pub use self::circles::Link;
pub use self::rows::{Apart, Row, RowName};

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::linear::{Edge, Var};
use super::space::ObjId;
use crate::program::ir::Reg;

/// A field of eight bytes: of all living objects of a name, by its offset.
pub type Field = (ObjId, u32);

/// A register: of the innermost call, or of one around it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Holder {
    /// Of the innermost call.
    Reg(u32),
    /// Of the call of a context.
    Outer(u32, u32),
}

impl Holder {
    /// A register of the innermost call.
    pub fn of(reg: Reg) -> Holder {
        Holder::Reg(reg.0)
    }
}

/// A field of the object that a register leads to the beginning of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// The register.
    pub base: Holder,
    /// The field's offset.
    pub at: u32,
    /// What the object may be called, in order.
    pub of: Vec<ObjId>,
}

/// A field of one object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// Of an object of which there is one.
    Cell(ObjId, u32),
    /// Of the object that a register leads to.
    Slot(Slot),
    /// The element that is spoken of apart from the others of its row.
    Element(ObjId, u32),
}

impl Place {
    /// The fields that it may be.
    pub fn fields(&self) -> Vec<Field> {
        match self {
            Place::Cell(id, at) => vec![(*id, *at)],
            Place::Slot(slot) => slot.fields().collect(),
            Place::Element(..) => Vec::new(),
        }
    }

    fn slot(&self) -> Option<&Slot> {
        match self {
            Place::Slot(slot) => Some(slot),
            Place::Cell(..) | Place::Element(..) => None,
        }
    }
}

impl Slot {
    /// The fields that it may be.
    pub fn fields(&self) -> impl Iterator<Item = Field> + '_ {
        self.of.iter().map(|id| (*id, self.at))
    }

    fn is_at(&self, other: &Slot) -> bool {
        (self.base, self.at) == (other.base, other.at)
    }

    /// Whether another one is spoken of as this one, or as one that may have more names.
    fn is_within(&self, other: &Slot) -> bool {
        self.is_at(other) && self.of.iter().all(|id| other.of.contains(id))
    }

    /// The object may have further names.
    fn may_be(&mut self, further: impl IntoIterator<Item = ObjId>) {
        self.of.extend(further);
        self.of.sort_unstable();
        self.of.dedup();
    }
}

/// A value that differs from all other owners' values and from the contents of all owning fields
/// but these places.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    /// The registers that hold it.
    pub holders: BTreeSet<Holder>,
    /// The places that hold it, where they belong to an owning field.
    pub places: Vec<Place>,
}

/// See the [module](self).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owners {
    /// The fields that own.
    pub fields: BTreeSet<Field>,
    /// Values that registers hold, or several places.
    pub named: Vec<Owner>,
    /// Places of which nothing is said.
    pub excluded: Vec<Slot>,
    /// Further registers that hold NULL or the address of a block that lives.
    pub alive: BTreeSet<Holder>,
    /// Fields of single objects that do, and own nothing.
    pub kept: BTreeSet<Field>,
    /// Registers of calls around the innermost one that are NULL.
    pub null: BTreeSet<Holder>,
    /// Elements of arrays that own, in order.
    pub rows: Vec<Row>,
    /// Rows that own but for the element that is spoken of apart.
    pub spent: BTreeSet<RowName>,
    /// Fields of single objects that lead to a block with NULL in this link, if they hold an
    /// address.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub ends: BTreeSet<(Field, u32)>,
    /// Fields of single objects, and registers that hold another address, where neither holds NULL.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unlike: BTreeSet<(Field, Holder)>,
    /// Registers that hold different addresses, where neither holds NULL: the smaller one first.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub different: BTreeSet<(Holder, Holder)>,
    /// Whether fields that own may lead from a block back to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cyclic: bool,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Holder::Reg(reg) => write!(f, "r{reg}"),
            Holder::Outer(ctx, reg) => write!(f, "r{reg}@{ctx}"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Cell(id, at) => write!(f, "o{}+{at}", id.0),
            Place::Slot(slot) => write!(f, "{}->{}", slot.base, slot.at),
            Place::Element(id, start) => write!(f, "{}", Var::Row(*id, *start, Edge::At)),
        }
    }
}

impl fmt::Display for Owners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.fields.iter().map(|(id, at)| format!("o{}+{at}", id.0));
        let named = self.named.iter().map(|owner| {
            let holders = owner.holders.iter().map(ToString::to_string);
            let places = owner.places.iter().map(ToString::to_string);
            holders.chain(places).collect::<Vec<_>>().join(" = ")
        });
        let excluded = self.excluded.iter().cloned();
        let excluded = excluded.map(|slot| format!("not {}", Place::Slot(slot)));
        let alive = self.alive.iter().map(|holder| format!("{holder} lives"));
        let kept = self.kept.iter();
        let kept = kept.map(|(id, at)| format!("o{}+{at} lives", id.0));
        let null = self.null.iter().map(|holder| format!("{holder} is NULL"));
        let rows = self.rows.iter().map(ToString::to_string);
        let spent = self.spent.iter();
        let spent = spent.map(|(id, start)| format!("not {}", Place::Element(*id, *start)));
        let all = fields.chain(named).chain(excluded);
        let all = all.chain(alive).chain(kept).chain(null);
        let different = self.different.iter();
        let different = different.map(|(a, b)| format!("{a} is not {b}"));
        let cyclic = self.cyclic.then(|| "in circles".to_owned());
        let ends = self.ends.iter();
        let ends = ends.map(|((id, at), link)| format!("o{}+{at} ends at {link}", id.0));
        let unlike = self.unlike.iter();
        let unlike = unlike.map(|((id, at), holder)| format!("o{}+{at} is not {holder}", id.0));
        let all = all.chain(rows).chain(spent).chain(different).chain(cyclic);
        let all = all.chain(ends).chain(unlike);
        f.write_str(&all.collect::<Vec<_>>().join(", "))
    }
}

impl Owners {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Owners::default()
    }

    /// Whether nothing is said of any block.
    pub fn is_silent(&self) -> bool {
        self.fields.is_empty()
            && self.named.is_empty()
            && self.excluded.is_empty()
            && self.alive.is_empty()
            && self.kept.is_empty()
            && self.rows.is_empty()
    }

    /// The objects that are spoken of.
    pub fn objects(&self) -> impl Iterator<Item = ObjId> + '_ {
        let named = self.named.iter().flat_map(|owner| &owner.places);
        let named = named.flat_map(Place::fields);
        let excluded = self.excluded.iter().flat_map(Slot::fields);
        let fields = self.fields.iter().chain(&self.kept).copied();
        let fields = fields.chain(named).chain(excluded).map(|(id, _)| id);
        fields.chain(self.rows.iter().map(|row| row.of))
    }

    /// The owner that a register holds.
    pub fn index(&self, holder: Holder) -> Option<usize> {
        let mut named = self.named.iter();
        named.position(|owner| owner.holders.contains(&holder))
    }

    /// Whether a register holds NULL or the address of a block that lives.
    pub fn lives(&self, holder: Holder) -> bool {
        self.alive.contains(&holder) || self.index(holder).is_some()
    }

    /// Whether two registers that hold addresses hold the same one.
    fn is_same(&self, a: Holder, b: Holder) -> Option<bool> {
        if a == b {
            return Some(true);
        }
        let is_below = |high, low| self.index(low).is_some_and(|low| self.is_above(high, low));
        match (self.index(a), self.index(b)) {
            (Some(a), Some(b)) => Some(a == b),
            _ => (is_below(a, b) || is_below(b, a) || self.differ(a, b)).then_some(false),
        }
    }

    /// Whether it is kept in mind that two registers hold different addresses.
    fn differ(&self, a: Holder, b: Holder) -> bool {
        let held = |holder| match self.index(holder) {
            Some(index) => self.named[index].holders.iter().copied().collect(),
            None => vec![holder],
        };
        let others = held(b);
        held(a).into_iter().any(|a| {
            let mut others = others.iter().copied();
            others.any(|b| self.different.contains(&(a.min(b), a.max(b))))
        })
    }

    /// Whether two places are the same one; none if they may be.
    fn coincide(&self, a: &Place, b: &Place) -> Option<bool> {
        let is_disjoint = || {
            let fields = b.fields();
            a.fields().iter().all(|field| !fields.contains(field))
        };
        match (a, b) {
            (Place::Cell(..), Place::Cell(..)) | (Place::Element(..), Place::Element(..)) => {
                Some(a == b)
            }
            _ if is_disjoint() => Some(false),
            (Place::Slot(a), Place::Slot(b)) => self.is_same(a.base, b.base),
            _ => None,
        }
    }
}
