//! Rows: elements of an array that own, such as a table of chains, strings in an array, or a stack
//! of blocks.
//!
//! A field has one offset. The elements of an array have many, and a program fills some of them, so
//! two offsets say which of them own ([`Row`]): filling moves the end of the row, and a loop that
//! releases one element after the other moves its beginning. The offsets are variables of
//! [lines](crate::domain::linear), like the end of a string: a loop head knows that the end is
//! eight times the counter of the elements. Array segmentation bounds parts of an array by
//! expressions, too (Cousot, Cousot and Logozzo, POPL 2011); here the bounds say what owns.
//!
//! One element of a row is set apart from the others: it may hold a value that registers hold, too
//! ([`Place::Element`]), or nothing is said of it ([`Owners::unowned_elements`]). Its offset is a
//! variable, too. It is always sound to let fewer elements own, or to say nothing of one more.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Owners, Place};
use crate::domain::linear::{Edge, Var};
use crate::domain::num::{Num, Thresholds};
use crate::domain::space::ObjId;

/// The size of an element that owns, in bytes.
const ELEMENT: u32 = 8;

/// The name of a row: its object and its start.
pub type RowName = (ObjId, u32);

/// Elements of a single object. Those from an offset on and before another one own.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The object.
    pub of: ObjId,
    /// The offset of its first element.
    pub start: u32,
    /// The distance from the beginning of an element to that of the next one, in bytes.
    pub stride: u32,
    /// The offset of the first element that owns.
    pub from: Num,
    /// The offset after the last element that owns.
    pub to: Num,
    /// The offset of the element that is set apart.
    pub at: Num,
}

/// How an element is set apart from the others of its row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Apart {
    /// It holds the value of the owner with this index.
    Named(usize),
    /// Nothing is said of it.
    Unowned,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { from, to, at, .. } = self;
        let (id, start, stride) = (self.of.0, self.start, self.stride);
        write!(f, "o{id}+{start}:{stride} from {from} to {to} ({at})")
    }
}

impl Row {
    /// A row of which no element owns.
    pub fn empty(of: ObjId, start: u32, stride: u32) -> Row {
        let from = Num::exactly(64, start.into());
        Row {
            of,
            start,
            stride,
            from,
            to: from,
            at: Num::all(64),
        }
    }

    fn is_sound(&self) -> bool {
        let numbers = [self.from, self.to, self.at];
        self.stride >= ELEMENT && numbers.iter().all(|num| num.reduced(64).is_some())
    }

    /// The end of a row of which all elements own: beyond all objects.
    pub fn whole(&self) -> Num {
        let all = u64::from(self.start) + (u64::from(self.stride) << 32);
        Num::exactly(64, all.into())
    }

    /// The name of the row.
    pub fn name(&self) -> RowName {
        (self.of, self.start)
    }

    /// The join of a row of two states, or its widening if there are thresholds.
    pub(super) fn of_both(&self, other: &Row, thresholds: Option<&Thresholds>) -> Row {
        let both = |a: &Num, b: &Num| match thresholds {
            Some(thresholds) => a.widen(64, b, thresholds),
            None => a.join(64, b),
        };
        Row {
            from: both(&self.from, &other.from),
            to: both(&self.to, &other.to),
            at: both(&self.at, &other.at),
            ..self.clone()
        }
    }

    /// The variable of one of its offsets.
    pub fn var(&self, edge: Edge) -> Var {
        Var::Row(self.of, self.start, edge)
    }

    /// The range of one of its offsets.
    pub fn range(&self, edge: Edge) -> Num {
        match edge {
            Edge::From => self.from,
            Edge::To => self.to,
            Edge::At => self.at,
        }
    }

    /// Sets the range of one of its offsets.
    pub fn set(&mut self, edge: Edge, range: Num) {
        *match edge {
            Edge::From => &mut self.from,
            Edge::To => &mut self.to,
            Edge::At => &mut self.at,
        } = range;
    }

    /// Whether all these offsets are those of elements.
    pub fn is_at(&self, offset: &Num) -> bool {
        let (start, stride) = (i64::from(self.start), i64::from(self.stride));
        let is_multiple = offset.step.is_multiple_of(u64::from(self.stride));
        offset.least >= start && is_multiple && (offset.rest - start).rem_euclid(stride) == 0
    }

    /// Whether `len` bytes at one of these offsets may overlap elements that own.
    pub fn meets(&self, offset: &Num, len: u32) -> bool {
        offset.least < self.to.most
            && offset.most.saturating_add(len.into()) > self.from.least
            && self.may_have(offset, len)
    }

    /// Whether `len` bytes at one of these offsets may overlap elements.
    fn may_have(&self, offset: &Num, len: u32) -> bool {
        if offset.most.saturating_add(len.into()) <= i64::from(self.start) {
            return false;
        }
        let (start, stride) = (i64::from(self.start), i64::from(self.stride));
        if !offset.step.is_multiple_of(u64::from(self.stride)) {
            return true;
        }
        let rest = (offset.rest - start).rem_euclid(stride);
        rest < ELEMENT.into() || rest + i64::from(len) > stride
    }

    /// Whether some of these bytes may overlap elements that own.
    pub fn overlaps(&self, (low, high): (u32, u32)) -> bool {
        low < high && self.meets(&Num::exactly(64, low.into()), high - low)
    }

    /// Where the row ends if a byte is overwritten: at the first element that has the byte or lies
    /// after it. `None` if the row starts after the byte.
    pub fn end_before(&self, byte: u32) -> Option<u32> {
        let distance = byte.checked_sub(self.start)?;
        let before = distance / self.stride * self.stride;
        // There may be other members after an element.
        let is_part = distance - before < ELEMENT;
        let behind = if is_part {
            before
        } else {
            before.checked_add(self.stride)?
        };
        self.start.checked_add(behind)
    }

    /// Whether a field overlaps elements.
    pub fn has_part_of(&self, at: u32) -> bool {
        self.may_have(&Num::exactly(64, at.into()), ELEMENT)
    }

    /// The offsets of all its elements in an object of at most `size` bytes; `None` if there are
    /// none.
    pub fn elements(&self, size: u64) -> Option<Num> {
        let start = i64::from(self.start);
        let most = i64::try_from(size).unwrap_or(i64::MAX) - i64::from(ELEMENT);
        let all = Num::signed_between(64, start, most).filter(|_| most >= start)?;
        let step = u64::from(self.stride);
        let rest = i64::from(self.start % self.stride);
        Some(Num { step, rest, ..all }.reduced(64).unwrap_or(all))
    }
}

impl Owners {
    /// Whether rows that were read from a file make sense.
    pub fn is_sound(&self) -> bool {
        self.rows.iter().all(Row::is_sound)
    }

    /// Whether an object has rows.
    pub fn has_rows_of(&self, id: ObjId) -> bool {
        self.rows.iter().any(|row| row.of == id)
    }

    /// A row by its name.
    pub fn row(&self, name: RowName) -> Option<&Row> {
        self.rows.iter().find(|row| row.name() == name)
    }

    /// Whether an offset of a row is in use: that of the element set apart only if there is one.
    pub fn has_edge(&self, name: RowName, edge: Edge) -> bool {
        self.row(name).is_some() && (edge != Edge::At || self.apart(name).is_some())
    }

    /// How an element of a row is set apart, if one is.
    pub fn apart(&self, (id, start): RowName) -> Option<Apart> {
        let element = Place::Element(id, start);
        let mut named = self.named.iter();
        match named.position(|owner| owner.places.contains(&element)) {
            Some(index) => Some(Apart::Named(index)),
            None => self
                .unowned_elements
                .contains(&(id, start))
                .then_some(Apart::Unowned),
        }
    }

    /// Removes rows.
    pub fn drop_rows(&mut self, is_gone: impl Fn(&Row) -> bool) {
        if !self.rows.iter().any(&is_gone) {
            return;
        }
        self.rows.retain(|row| !is_gone(row));
        self.without_lost_elements();
    }

    /// Forgets the elements of rows that do not exist any more.
    pub(super) fn without_lost_elements(&mut self) {
        let rows = &self.rows;
        let is_known = |name: RowName| rows.iter().any(|row| row.name() == name);
        for owner in &mut self.named {
            owner.places.retain(|place| match place {
                Place::Element(id, start) => is_known((*id, *start)),
                Place::Cell(..) | Place::Slot(_) => true,
            });
        }
        self.unowned_elements.retain(|name| is_known(*name));
        self.tidy();
    }

    /// Makes the element that holds an owner's value an ordinary one again.
    pub fn dissolve_element(&mut self, (id, start): RowName) {
        if let Some(Apart::Named(index)) = self.apart((id, start)) {
            self.dissolve(index, &Place::Element(id, start));
        }
    }

    /// Forgets the element that is set apart, since it gets another value.
    pub fn element_gone(&mut self, (id, start): RowName) {
        let element = Place::Element(id, start);
        for owner in &mut self.named {
            owner.places.retain(|place| *place != element);
        }
        self.unowned_elements.remove(&(id, start));
        self.tidy();
    }

    /// Adds a row. Fields that overlap it do not own any more.
    pub fn put_row(&mut self, row: Row) {
        let fields = self.fields.range((row.of, 0)..=(row.of, u32::MAX));
        let fields = fields.filter(|(_, at)| row.has_part_of(*at));
        let gone: Vec<_> = fields.copied().collect();
        gone.into_iter().for_each(|field| self.drop_field(field));
        self.rows.retain(|known| known.name() != row.name());
        self.rows.push(row);
        self.rows.sort_unstable_by_key(Row::name);
    }

    /// Whether no two rows, and no row and field, overlap.
    pub(super) fn is_apart(&self) -> bool {
        let (mut rows, mut fields) = (self.rows.iter(), self.fields.iter());
        rows.all(|row| {
            let mut others = self.rows.iter().filter(|other| *other != row);
            others.all(|other| other.of != row.of || !row.crosses(other))
        }) && fields.all(|(id, at)| {
            let mut rows = self.rows.iter();
            !rows.any(|row| row.of == *id && row.has_part_of(*at))
        })
    }
}

impl Row {
    /// Whether elements of both rows may overlap.
    pub fn crosses(&self, other: &Row) -> bool {
        let between = (i64::from(self.start) - i64::from(other.start))
            .rem_euclid(i64::from(self.stride.max(1)));
        let is_beside =
            between >= ELEMENT.into() && between + i64::from(ELEMENT) <= i64::from(self.stride);
        self.stride != other.stride || !is_beside
    }
}
