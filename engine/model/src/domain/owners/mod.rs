//! Owners of heap blocks: places that each point to a block to which no other place points.
//!
//! A list that is released node by node is safe because no two pointers point to one node. Values
//! say which blocks a pointer may point to, by name, and all nodes of a list share two names
//! ([`super::recent`]), so that after the first release each of them may be the released one. So a
//! state names fields that *own*: the contents of all of them, in all live objects of a name, are
//! NULL or addresses of live blocks, and no two are equal. That the heap below such fields is a
//! forest is what separation logic expresses with its separating conjunction (Reynolds, LICS 2002),
//! and what an owner type promises (Clarke, Potter and Noble, OOPSLA 1998); here it is derived, and
//! it holds of some fields at a time.
//!
//! - A value in registers can be an owner, too ([`Owner`]): it differs from the contents of all
//!   owning fields, except for the places that are listed with it. A requested block is owned by
//!   the register that gets its address, and by a field once it is stored there.
//! - A released block has no owner any more, and what its own fields held is owned by the registers
//!   that hold it: `next = p->next; free(p); p = next`.
//! - Elements of an array own like fields do ([`Row`]): those between two offsets, which lines
//!   relate to the counter of the elements.
//! - A field of one object can be denoted by a register that points to the object ([`Slot`]). If it
//!   holds something that an owning field must not hold, it is excluded: after `free(p->name)`,
//!   until `p` is released or the field is written.
//!
//! NULL counts as equal to nothing. It is always sound to say less: every change gives up what it
//! cannot show to hold.

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

/// A field of eight bytes, in all live objects of a name, by its offset.
pub type Field = (ObjId, u32);

/// A register of the innermost call, or of an enclosing one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Holder {
    /// Of the innermost call.
    Reg(u32),
    /// Of the call of a context: the context and the register.
    Outer(u32, u32),
}

impl Holder {
    /// A register of the innermost call.
    pub fn of(reg: Reg) -> Holder {
        Holder::Reg(reg.0)
    }
}

/// A field of the object to whose beginning a register points.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// The register.
    pub base: Holder,
    /// The field's offset.
    pub at: u32,
    /// The names that the object may have, sorted.
    pub of: Vec<ObjId>,
}

/// A field of one object, or an element of a row.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// A field of a single object.
    Cell(ObjId, u32),
    /// A field of the object that a register points to.
    Slot(Slot),
    /// The element that is set apart from the others of its row.
    Element(ObjId, u32),
}

impl Place {
    /// The fields to which it may belong.
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
    /// The fields to which it may belong.
    pub fn fields(&self) -> impl Iterator<Item = Field> + '_ {
        self.of.iter().map(|id| (*id, self.at))
    }

    fn is_at(&self, other: &Slot) -> bool {
        (self.base, self.at) == (other.base, other.at)
    }

    /// Whether another slot denotes the same place, with these names and perhaps more.
    fn is_within(&self, other: &Slot) -> bool {
        self.is_at(other) && self.of.iter().all(|id| other.of.contains(id))
    }

    /// Adds names that the object may have.
    fn may_be(&mut self, further: impl IntoIterator<Item = ObjId>) {
        self.of.extend(further);
        self.of.sort_unstable();
        self.of.dedup();
    }
}

/// A value that differs from the values of all other owners, and from the contents of all owning
/// fields except at these places.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    /// The registers that hold it.
    pub holders: BTreeSet<Holder>,
    /// The places that hold it, as far as they belong to an owning field.
    pub places: Vec<Place>,
}

/// See the [module](self).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owners {
    /// The fields that own.
    pub fields: BTreeSet<Field>,
    /// Owners whose value is held by registers, or by several places.
    pub named: Vec<Owner>,
    /// Places of owning fields of which nothing is said.
    pub excluded: Vec<Slot>,
    /// Further registers that hold NULL or the address of a live block.
    pub alive: BTreeSet<Holder>,
    /// Fields of single objects that hold NULL or the address of a live block, which they need not
    /// own.
    pub kept: BTreeSet<Field>,
    /// Registers of enclosing calls that are NULL.
    pub null: BTreeSet<Holder>,
    /// Elements of arrays that own, sorted.
    pub rows: Vec<Row>,
    /// Rows that say nothing of the element that is set apart.
    #[serde(rename = "spent")]
    pub unowned_elements: BTreeSet<RowName>,
    /// Fields of single objects that are NULL or point to a block with NULL in this link.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub ends: BTreeSet<(Field, u32)>,
    /// Fields of single objects, and registers, that hold different addresses unless one of them is
    /// NULL.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unlike: BTreeSet<(Field, Holder)>,
    /// Registers that hold different addresses unless one of them is NULL: the smaller one first.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub different: BTreeSet<(Holder, Holder)>,
    /// Whether links in owning fields may lead from a block back to it.
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
        let spent = self.unowned_elements.iter();
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
    /// Whether nothing is said at all.
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

    /// The objects that are mentioned.
    pub fn objects(&self) -> impl Iterator<Item = ObjId> + '_ {
        let named = self.named.iter().flat_map(|owner| &owner.places);
        let named = named.flat_map(Place::fields);
        let excluded = self.excluded.iter().flat_map(Slot::fields);
        let fields = self.fields.iter().chain(&self.kept).copied();
        let fields = fields.chain(named).chain(excluded).map(|(id, _)| id);
        fields.chain(self.rows.iter().map(|row| row.of))
    }

    /// The index of the owner that a register holds.
    pub fn index(&self, holder: Holder) -> Option<usize> {
        let mut named = self.named.iter();
        named.position(|owner| owner.holders.contains(&holder))
    }

    /// Whether a register is known to hold NULL or the address of a live block.
    pub fn lives(&self, holder: Holder) -> bool {
        self.alive.contains(&holder) || self.index(holder).is_some()
    }

    /// Whether two registers that hold addresses hold the same one; `None` if it is not known.
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

    /// Whether it is recorded that two registers hold different addresses.
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

    /// Whether two places are the same one; `None` if it is not known.
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
