//! How reads, writes and joins change rows ([`Row`]): elements of arrays that own blocks, between
//! offsets that are variables of lines.
//!
//! A state that does not name a row says nothing of it, so a row begins wherever it is of use: with
//! no element, or, if all elements are NULL, with all of them. Before two states are joined or
//! compared, their rows are aligned: a row that only one of them names is begun in the other one,
//! the element of which nothing is said is made the same one, and a row without elements is begun
//! again where that makes its offsets what they are in the other state.

mod aligned;
mod stored;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::domain::linear::{ANY, Edge, NEW_OFFSET_CTX, Sum, Var};
use crate::domain::num::Num;
use crate::domain::owners::{Apart, Row, RowName};
use crate::domain::space::{Alive, Names, ObjId};
use crate::domain::state::State;

/// The most runs of contents at whose beginnings a row may end.
const RUNS: usize = 64;

/// The name of a new offset while lines still mention the old one. String ends use the smaller
/// numbers.
fn next(edge: Edge) -> Var {
    Var::Outer(NEW_OFFSET_CTX, 8 + edge as u32)
}

/// Where an element lies relative to the elements of its row that own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lies {
    /// It is one of them.
    Among,
    /// It comes right before the first of them.
    Before,
    /// It comes right after the last of them.
    Behind,
    /// It is none of them.
    Outside,
    /// It is not known whether it is one of them.
    Unknown,
}

impl State {
    fn proves(&self, sum: Option<Sum>, names: &Names<'_>) -> bool {
        sum.is_some_and(|sum| self.lines.proves(&sum, &|var| self.range(var, names)))
    }

    pub(in crate::domain) fn is_equal(&self, a: &Sum, b: &Sum, names: &Names<'_>) -> bool {
        self.proves(a.plus(b, -1), names) && self.proves(b.plus(a, -1), names)
    }

    /// Whether a sum is proved to be less than another one.
    fn is_less(&self, a: &Sum, b: &Sum, names: &Names<'_>) -> bool {
        let difference = a.plus(b, -1);
        let past = difference.and_then(|sum| sum.plus(&Sum::number(1), 1));
        self.proves(past, names)
    }

    /// Whether two sums are proved to be equal, or to be different; `None` if neither.
    fn is_same(&self, a: &Sum, b: &Sum, names: &Names<'_>) -> Option<bool> {
        if self.is_equal(a, b, names) {
            return Some(true);
        }
        (self.is_less(a, b, names) || self.is_less(b, a, names)).then_some(false)
    }

    fn row(&self, name: RowName) -> Option<&Row> {
        self.owners.row(name)
    }

    fn edge(&self, (id, start): RowName, edge: Edge) -> Sum {
        match self
            .row((id, start))
            .and_then(|row| row.range(edge).as_constant())
        {
            Some(at) => Sum::number(at.into()),
            None => Sum::of(Var::Row(id, start, edge)),
        }
    }

    /// How an element of a row is set apart, and whether it is the one at an offset: false if no
    /// element is set apart, `None` if it is not known.
    fn apart_at(
        &self,
        name: RowName,
        at: &Sum,
        names: &Names<'_>,
    ) -> (Option<Apart>, Option<bool>) {
        let apart = self.owners.apart(name);
        let same = match apart {
            None => Some(false),
            Some(_) => self.is_same(at, &self.edge(name, Edge::At), names),
        };
        (apart, same)
    }

    fn change_row(&mut self, name: RowName, act: impl FnOnce(&mut Row)) {
        let owners = Arc::make_mut(&mut self.owners);
        if let Some(row) = owners.rows.iter_mut().find(|row| row.name() == name) {
            act(row);
        }
    }

    /// Sets an offset of a row to a sum, which may mention the old offset.
    fn put_edge(&mut self, (id, start): RowName, edge: Edge, at: &Sum, names: &Names<'_>) {
        let (own, next) = (Var::Row(id, start, edge), next(edge));
        let ranges = |var| self.range(var, names);
        let most = self.lines.upper(at, &ranges);
        let least = at
            .times(-1)
            .map_or(ANY.0, |at| -self.lines.upper(&at, &ranges));
        let range = Num::bounded(least, most).unwrap_or(Num::all(64));
        let mut lines = std::mem::take(&mut self.lines);
        if range.as_constant().is_none() {
            lines.zero(Sum::of(next).plus(at, -1));
        }
        lines.keep(|var| var != own, &|var| self.range(var, names));
        self.lines = lines.rename(|var| Some(if var == next { own } else { var }));
        self.change_row((id, start), |row| row.set(edge, range));
    }

    /// Narrows an offset of a row to the bounds that lines give.
    pub(in crate::domain) fn bound_row(
        &mut self,
        name: RowName,
        edge: Edge,
        (least, most): (i128, i128),
    ) {
        let known = self.row(name).map(|row| row.range(edge));
        let all = Num::bounded(least, most);
        let met = known.zip(all).and_then(|(known, all)| known.meet(64, &all));
        if let Some(met) = met.filter(|met| Some(*met) != known) {
            self.change_row(name, |row| row.set(edge, met));
        }
    }

    /// Removes the lines with offsets of rows that are not in use.
    fn lines_of_rows(&mut self) {
        let owners = Arc::clone(&self.owners);
        self.lines.drop(|var| match var {
            Var::Row(id, start, edge) => !owners.has_edge((id, start), edge),
            _ => false,
        });
    }

    fn drop_row(&mut self, name: RowName) {
        Arc::make_mut(&mut self.owners).drop_rows(|row| row.name() == name);
        self.lines_of_rows();
    }

    /// Makes the element that holds an owner's value an ordinary one.
    fn dissolve(&mut self, (id, start): RowName) {
        Arc::make_mut(&mut self.owners).dissolve_element((id, start));
    }

    /// If nothing is said of the first or the last element of a row, removes that element from the
    /// row. Returns whether it does.
    fn settle(&mut self, name: RowName, names: &Names<'_>) -> bool {
        let Some(stride) = self.row(name).map(|row| i128::from(row.stride)) else {
            return false;
        };
        let [from, to, at] = [Edge::From, Edge::To, Edge::At].map(|edge| self.edge(name, edge));
        let Some(behind) = at.plus(&Sum::number(stride), 1) else {
            return false;
        };
        if self.is_equal(&at, &from, names) {
            self.put_edge(name, Edge::From, &behind, names);
        } else if self.is_equal(&behind, &to, names) {
            self.put_edge(name, Edge::To, &at, names);
        } else {
            return false;
        }
        Arc::make_mut(&mut self.owners)
            .unowned_elements
            .remove(&name);
        true
    }

    /// Cuts a row at the element of which nothing is said, and keeps the side on which `other`
    /// lies, so that that element can be set apart. Returns whether it does.
    fn cut(&mut self, name: RowName, other: &Sum, names: &Names<'_>) -> bool {
        let at = self.edge(name, Edge::At);
        if self.is_less(other, &at, names) {
            self.cut_at(name, Edge::To, names)
        } else if self.is_less(&at, other, names) {
            self.cut_at(name, Edge::From, names)
        } else {
            false
        }
    }

    /// Ends a row before the element of which nothing is said, or begins it after that element.
    fn cut_at(&mut self, name: RowName, edge: Edge, names: &Names<'_>) -> bool {
        let at = self.edge(name, Edge::At);
        let stride = self.row(name).map_or(0, |row| i128::from(row.stride));
        let at = match edge {
            Edge::From => at.plus(&Sum::number(stride), 1),
            Edge::To | Edge::At => Some(at),
        };
        let Some(at) = at else { return false };
        let own = self.edge(name, edge);
        let further = match edge {
            Edge::From => own.plus(&at, -1),
            Edge::To | Edge::At => at.plus(&own, -1),
        };
        if !self.proves(further, names) {
            return false;
        }
        self.put_edge(name, edge, &at, names);
        Arc::make_mut(&mut self.owners)
            .unowned_elements
            .remove(&name);
        true
    }

    /// Ends rows before bytes that are overwritten by something that is no element's value: nothing
    /// is said of the elements there and after them.
    pub(in crate::domain) fn cut_rows(&mut self, id: ObjId, (low, high): (u32, u32)) {
        let rows = self.owners.rows.iter();
        let rows = rows.filter(|row| row.of == id && row.overlaps((low, high)));
        let ends = rows.filter_map(|row| Some((row.name(), row.end_before(low)?)));
        let ends = ends.filter(|(name, end)| {
            let row = self.row(*name);
            row.is_some_and(|row| row.to.least > i64::from(*end))
        });
        for ((id, start), end) in ends.collect::<Vec<_>>() {
            self.lines.drop(|var| var == Var::Row(id, start, Edge::To));
            self.change_row((id, start), |row| row.to = Num::exactly(64, end.into()));
        }
    }

    fn lies(&self, name: RowName, at: &Sum, names: &Names<'_>) -> Lies {
        let Some(stride) = self.row(name).map(|row| i128::from(row.stride)) else {
            return Lies::Unknown;
        };
        let (from, to) = (self.edge(name, Edge::From), self.edge(name, Edge::To));
        let is_behind = self.proves(to.plus(at, -1), names);
        if is_behind {
            return match self.is_equal(at, &to, names) {
                true => Lies::Behind,
                false => Lies::Outside,
            };
        }
        if self.proves(from.plus(at, -1), names) {
            return match self.is_less(at, &to, names) {
                true => Lies::Among,
                false => Lies::Unknown,
            };
        }
        let behind = at.plus(&Sum::number(stride), 1);
        match behind.filter(|_| self.is_less(at, &from, names)) {
            Some(behind) if self.is_equal(&behind, &from, names) => Lies::Before,
            Some(_) => Lies::Outside,
            None => Lies::Unknown,
        }
    }

    fn is_without_elements(&self, name: RowName, names: &Names<'_>) -> bool {
        let (from, to) = (self.edge(name, Edge::From), self.edge(name, Edge::To));
        self.proves(to.plus(&from, -1), names)
    }

    /// Begins a row: without elements, or with those at its beginning that are NULL. Returns
    /// whether it does.
    pub(in crate::domain) fn begin_row(&mut self, mut row: Row, names: &Names<'_>) -> bool {
        let mut others = self.owners.rows.iter().filter(|other| other.of == row.of);
        if !names.info(row.of).is_unique {
            return false;
        }
        if others.any(|other| other.crosses(&row)) {
            return false;
        }
        row.to = self.void_to(&row, names);
        self.lines_of_rows();
        Arc::make_mut(&mut self.owners).put_row(row);
        true
    }

    /// The end of the elements at the beginning of a row that are all NULL.
    fn void_to(&self, row: &Row, names: &Names<'_>) -> Num {
        let Some(object) = self.object(row.of, names) else {
            return row.whole();
        };
        let is_void = |size: u64| {
            let elements = row.elements(size);
            elements.is_none_or(|all| object.contents.load(&all, 8, names).as_constant() == Some(0))
        };
        if object.alive == Alive::No || is_void(object.size.high) {
            return row.whole();
        }
        let start = Num::exactly(64, row.start.into());
        let ends = object.contents.runs().map(|(start, _)| u64::from(start));
        let ends: Vec<u64> = ends
            .filter(|end| *end > row.start.into())
            .take(RUNS)
            .collect();
        let mut ends = ends.into_iter().rev();
        let end = ends
            .find(|end| is_void(*end))
            .and_then(|end| row.elements(end));
        let behind = end.map(|all| all.most as u64 + u64::from(row.stride));
        behind.map_or(start, |behind| Num::exactly(64, behind.into()))
    }
}
