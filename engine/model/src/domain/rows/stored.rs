//! Reads and stores of elements of rows, and rows that move with their block.

use std::sync::Arc;

use super::{Lies, next};
use crate::domain::linear::{Edge, Sum, Var};
use crate::domain::owners::{Apart, Holder, Place, Row, RowName, Stored};
use crate::domain::space::{Names, ObjId};
use crate::domain::state::State;

impl State {
    /// Changes a row so that the element at an offset can be set apart. Returns whether it can.
    fn apart_from(&mut self, name: RowName, at: &Sum, names: &Names<'_>) -> bool {
        match self.owners.apart(name) {
            None => true,
            Some(Apart::Named(_)) => {
                self.dissolve(name);
                true
            }
            Some(Apart::Unowned) => self.settle(name, names) || self.cut(name, at, names),
        }
    }

    /// Records that a register was read from an element.
    pub(in crate::domain) fn element_read(
        &mut self,
        to: Holder,
        (name, at): (RowName, &Sum),
        names: &Names<'_>,
    ) {
        if self.lies(name, at, names) != Lies::Among {
            return;
        }
        match self.apart_at(name, at, names) {
            (Some(Apart::Named(_)), Some(true)) => {}
            (_, Some(false)) => {
                if !self.apart_from(name, at, names) || self.lies(name, at, names) != Lies::Among {
                    return;
                }
                self.put_edge(name, Edge::At, at, names);
            }
            (Some(Apart::Named(_)), None) => {
                Arc::make_mut(&mut self.owners).alive.insert(to);
                return;
            }
            (None | Some(Apart::Unowned), _) => return,
        }
        let place = Place::Element(name.0, name.1);
        Arc::make_mut(&mut self.owners).read(to, &place, |_, _| true);
    }

    /// Updates a row for a store in an element, before the store.
    pub(in crate::domain) fn element_stored(
        &mut self,
        (name, at): (RowName, &Sum),
        value: Stored,
        names: &Names<'_>,
    ) {
        let is_other = |(of, _): &(ObjId, u32)| *of != name.0;
        let owners = Arc::make_mut(&mut self.owners);
        owners.kept.retain(is_other);
        owners.tidy_tails();
        let held = |state: &State| match value {
            Stored::Held(holder) => state.owners.index(holder),
            Stored::Null | Stored::Unknown => None,
        };
        match self.apart_at(name, at, names) {
            (None, _) => {}
            (Some(_), Some(true)) => Arc::make_mut(&mut self.owners).element_gone(name),
            (Some(Apart::Named(index)), Some(false)) => {
                if held(self) == Some(index) {
                    // Two elements would have one value.
                    return self.drop_row(name);
                }
            }
            (Some(Apart::Named(_)), None) => self.dissolve(name),
            (Some(Apart::Unowned), Some(false) | None) => {}
        }
        let owner = held(self);
        if owner.is_none() && value != Stored::Null {
            return self.element_lost((name, at), names);
        }
        if !self.extended((name, at), names) {
            let is_outside = self.lies(name, at, names) == Lies::Outside;
            if owner.is_some() && !is_outside {
                self.drop_row(name);
            }
            return;
        }
        if owner.is_some() {
            if !self.apart_from(name, at, names) || self.lies(name, at, names) != Lies::Among {
                return self.drop_row(name);
            }
            self.put_edge(name, Edge::At, at, names);
            if let Some(index) = held(self) {
                let owners = Arc::make_mut(&mut self.owners);
                owners.named[index]
                    .places
                    .push(Place::Element(name.0, name.1));
            }
        }
    }

    /// Adds an element that holds NULL or an owner to the elements that own, if it is next to them.
    /// Returns whether it is one of them.
    fn extended(&mut self, (name, at): (RowName, &Sum), names: &Names<'_>) -> bool {
        let stride = self.row(name).map_or(0, |row| i128::from(row.stride));
        let Some(behind) = at.plus(&Sum::number(stride), 1) else {
            return false;
        };
        match self.lies(name, at, names) {
            Lies::Among => {}
            Lies::Behind => self.put_edge(name, Edge::To, &behind, names),
            Lies::Before => self.put_edge(name, Edge::From, at, names),
            Lies::Outside | Lies::Unknown if self.is_without_elements(name, names) => {
                self.put_edge(name, Edge::From, at, names);
                self.put_edge(name, Edge::To, &behind, names);
            }
            Lies::Outside | Lies::Unknown => return false,
        }
        true
    }

    /// Updates a row for a value in an element that has no known owner.
    fn element_lost(&mut self, (name, at): (RowName, &Sum), names: &Names<'_>) {
        if matches!(
            self.lies(name, at, names),
            Lies::Behind | Lies::Before | Lies::Outside
        ) {
            return;
        }
        if !self.apart_from(name, at, names) {
            return self.drop_row(name);
        }
        self.put_edge(name, Edge::At, at, names);
        Arc::make_mut(&mut self.owners)
            .unowned_elements
            .insert(name);
    }
}

/// The row of a block that moves; lines mention it by temporary names.
pub(in crate::domain) struct Moved(Row);

impl State {
    /// Takes the row of a block that is about to move, if all its elements are copied. Lines
    /// mention its offsets by temporary names until [`State::move_row`].
    pub(in crate::domain) fn row_to_move(&mut self, id: ObjId, names: &Names<'_>) -> Option<Moved> {
        let name = self.owners.rows.iter().find(|row| row.of == id)?.name();
        if self.owners.apart(name) == Some(Apart::Unowned) && !self.settle(name, names) {
            return None;
        }
        let size = match self.object(id, names)?.size.as_constant() {
            Some(size) => Sum::number(size.into()),
            None => Sum::of(Var::Size(id)),
        };
        let end = self.edge(name, Edge::To);
        if !self.proves(end.plus(&size, -1), names) || !self.is_of_elements(name, Edge::To) {
            return None;
        }
        self.dissolve(name);
        let row = self.row(name)?.clone();
        self.lines = self.lines.rename(|var| match var {
            Var::Row(of, start, edge) if (of, start) == name => Some(next(edge)),
            var => Some(var),
        });
        Some(Moved(row))
    }

    /// Whether an offset of a row is that of an element, for all values of the variables by which
    /// lines express it.
    fn is_of_elements(&self, name: RowName, edge: Edge) -> bool {
        let Some(row) = self.row(name) else {
            return false;
        };
        let (stride, start) = (i128::from(row.stride), i128::from(row.start));
        if let Some(at) = row.range(edge).as_constant() {
            return (i128::from(at) - start) % stride == 0;
        }
        let var = row.var(edge);
        self.lines.iter().any(|line| {
            let own = line.terms().find(|(of, _)| *of == var);
            let mut others = line.terms().filter(|(of, _)| *of != var);
            own.is_some_and(|(_, factor)| {
                line.is_exact()
                    && factor.abs() == 1
                    && (line.constant() + factor * start) % stride == 0
                    && others.all(|(_, by)| by % stride == 0)
            })
        })
    }

    /// Adds the row of a block that has moved to the new block, if it is known which one that is.
    pub(in crate::domain) fn move_row(&mut self, Moved(row): Moved, to: Option<ObjId>) {
        let [from_next, to_next] = [Edge::From, Edge::To].map(next);
        if let Some(to) = to {
            Arc::make_mut(&mut self.owners).drop_rows(|known| known.of == to);
            self.lines_of_rows();
            let row = Row { of: to, ..row };
            let (from, end) = (row.var(Edge::From), row.var(Edge::To));
            self.lines = self.lines.rename(|var| match var {
                var if var == from_next => Some(from),
                var if var == to_next => Some(end),
                var => Some(var),
            });
            Arc::make_mut(&mut self.owners).put_row(row);
        }
        let all = [Edge::From, Edge::To, Edge::At].map(next);
        self.lines.drop(|var| all.contains(&var));
    }
}
