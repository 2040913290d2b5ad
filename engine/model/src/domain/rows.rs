//! What reads, writes and joins do to rows ([`Row`]): elements of arrays that own blocks, between offsets that are variables of lines.
//!
//! A state that does not name a row says nothing of it, so that a row begins wherever it is of use: with no element, or, where all elements are NULL, with
//! all of them. Before two states are joined or compared they are brought in line here: a row that the one names and the other does not is begun there, the
//! element that nothing is said of is made the same one, and a row without elements is begun again where that makes its offsets what they are in the other state.

use std::sync::Arc;

use super::linear::{ANY, Edge, NEXT, Sum, Var};
use super::num::Num;
use super::owners::{Apart, Holder, Place, Row, RowName, Stored};
use super::space::{Alive, Names, ObjId};
use super::state::State;

/// Runs of contents behind which a row may end.
const RUNS: usize = 64;

/// The name of a new offset while the older one is still spoken of. Where texts end has the numbers before.
fn next(edge: Edge) -> Var {
    Var::Outer(NEXT, 8 + edge as u32)
}

/// Where an element lies, as seen from the elements of its row that own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lies {
    Among,
    Before,
    Behind,
    /// It is any of them that does not own.
    Outside,
    Unknown,
}

impl State {
    fn proves(&self, sum: Option<Sum>, names: &Names<'_>) -> bool {
        sum.is_some_and(|sum| self.lines.proves(&sum, &|var| self.range(var, names)))
    }

    pub(super) fn is_equal(&self, a: &Sum, b: &Sum, names: &Names<'_>) -> bool {
        self.proves(a.plus(b, -1), names) && self.proves(b.plus(a, -1), names)
    }

    /// Whether a sum is less than another one.
    fn is_less(&self, a: &Sum, b: &Sum, names: &Names<'_>) -> bool {
        let difference = a.plus(b, -1);
        let past = difference.and_then(|sum| sum.plus(&Sum::number(1), 1));
        self.proves(past, names)
    }

    /// Whether two sums are seen to be the same, or different; none if neither.
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
            .and_then(|row| row.range(edge).single())
        {
            Some(at) => Sum::number(at.into()),
            None => Sum::of(Var::Row(id, start, edge)),
        }
    }

    fn change_row(&mut self, name: RowName, act: impl FnOnce(&mut Row)) {
        let owners = Arc::make_mut(&mut self.owners);
        if let Some(row) = owners.rows.iter_mut().find(|row| row.name() == name) {
            act(row);
        }
    }

    /// An offset of a row is this one from now on, which may be said with what it was.
    fn put_edge(&mut self, (id, start): RowName, edge: Edge, at: &Sum, names: &Names<'_>) {
        let (own, next) = (Var::Row(id, start, edge), next(edge));
        let ranges = |var| self.range(var, names);
        let most = self.lines.upper(at, &ranges);
        let least = at
            .times(-1)
            .map_or(ANY.0, |at| -self.lines.upper(&at, &ranges));
        let range = Num::bounded(least, most).unwrap_or(Num::all(64));
        let mut lines = std::mem::take(&mut self.lines);
        if range.single().is_none() {
            lines.zero(Sum::of(next).plus(at, -1));
        }
        lines.keep(|var| var != own, &|var| self.range(var, names));
        self.lines = lines.rename(|var| Some(if var == next { own } else { var }));
        self.change_row((id, start), |row| {
            *match edge {
                Edge::From => &mut row.from,
                Edge::To => &mut row.to,
                Edge::At => &mut row.at,
            } = range
        });
    }

    /// What lines say of an offset of a row alone.
    pub(super) fn bound_row(&mut self, name: RowName, edge: Edge, (least, most): (i128, i128)) {
        let known = self.row(name).map(|row| row.range(edge));
        let all = Num::bounded(least, most);
        let met = known.zip(all).and_then(|(known, all)| known.meet(64, &all));
        if let Some(met) = met.filter(|met| Some(*met) != known) {
            self.change_row(name, |row| {
                *match edge {
                    Edge::From => &mut row.from,
                    Edge::To => &mut row.to,
                    Edge::At => &mut row.at,
                } = met
            });
        }
    }

    /// Lines speak of no row that is not named.
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

    /// The element that is spoken of apart is an ordinary one.
    fn dissolve(&mut self, (id, start): RowName) {
        Arc::make_mut(&mut self.owners).dissolve_element((id, start));
    }

    /// Where nothing is said of the first element of a row, or of the last one, the row has one less. Whether that is so.
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
        Arc::make_mut(&mut self.owners).spent.remove(&name);
        true
    }

    /// Nothing is said of elements on one side of an element of which nothing is said: another one, which lies on the other side, can be spoken of apart.
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

    /// A row ends before the element of which nothing is said, or begins behind it.
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
        Arc::make_mut(&mut self.owners).spent.remove(&name);
        true
    }

    /// Something that is no element is written at an offset: behind it there are none of an array that starts before it.
    pub(super) fn cut_rows(&mut self, id: ObjId, low: u32) {
        let rows = self.owners.rows.iter();
        let is_within = |row: &&Row| {
            row.of == id
                && low > row.start
                && row.to.least > low.into()
                && row.overlaps((low, low + 1))
        };
        let cut: Vec<RowName> = rows.filter(is_within).map(Row::name).collect();
        for (id, start) in cut {
            self.lines.drop(|var| var == Var::Row(id, start, Edge::To));
            self.change_row((id, start), |row| row.to = Num::exactly(64, low.into()));
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

    /// No other element is spoken of apart than the one at an offset, or it is not known that it is another one. Whether one can be spoken of apart.
    fn apart_from(&mut self, name: RowName, at: &Sum, names: &Names<'_>) -> bool {
        match self.owners.apart(name) {
            None => true,
            Some(Apart::Named(_)) => {
                self.dissolve(name);
                true
            }
            Some(Apart::Spent) => self.settle(name, names) || self.cut(name, at, names),
        }
    }

    /// A register holds what was read from an element.
    pub(super) fn element_read(
        &mut self,
        to: Holder,
        (name, at): (RowName, &Sum),
        names: &Names<'_>,
    ) {
        if self.lies(name, at, names) != Lies::Among {
            return;
        }
        let apart = self.owners.apart(name);
        let same = match apart {
            None => Some(false),
            Some(_) => self.is_same(at, &self.edge(name, Edge::At), names),
        };
        match (apart, same) {
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
            (None | Some(Apart::Spent), _) => return,
        }
        let place = Place::Element(name.0, name.1);
        Arc::make_mut(&mut self.owners).read(to, &place, |_, _| true);
    }

    /// An element is about to hold a value.
    pub(super) fn element_stored(
        &mut self,
        (name, at): (RowName, &Sum),
        value: Stored,
        names: &Names<'_>,
    ) {
        let is_other = |(of, _): &(ObjId, u32)| *of != name.0;
        Arc::make_mut(&mut self.owners).kept.retain(is_other);
        let held = |state: &State| match value {
            Stored::Held(holder) => state.owners.index(holder),
            Stored::Null | Stored::Unknown => None,
        };
        let apart = self.owners.apart(name);
        let same = match apart {
            None => Some(false),
            Some(_) => self.is_same(at, &self.edge(name, Edge::At), names),
        };
        match (apart, same) {
            (None, _) => {}
            (Some(_), Some(true)) => Arc::make_mut(&mut self.owners).element_gone(name),
            (Some(Apart::Named(index)), Some(false)) => {
                if held(self) == Some(index) {
                    // Two elements would have one value.
                    return self.drop_row(name);
                }
            }
            (Some(Apart::Named(_)), None) => self.dissolve(name),
            (Some(Apart::Spent), Some(false) | None) => {}
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

    /// An element holds NULL or what an owner does: it is among those that own, or will be. Whether that is so.
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

    /// An element holds something that nobody owns.
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
        Arc::make_mut(&mut self.owners).spent.insert(name);
    }

    /// A row begins: without elements, or with all where all are NULL.
    pub(super) fn begin_row(&mut self, mut row: Row, names: &Names<'_>) -> bool {
        let mut others = self.owners.rows.iter().filter(|other| other.of == row.of);
        if !names.info(row.of).single {
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

    /// Behind which of its first elements something else than NULL may be in a row.
    fn void_to(&self, row: &Row, names: &Names<'_>) -> Num {
        let Some(object) = self.object(row.of, names) else {
            return row.whole();
        };
        let is_void = |size: u64| {
            let elements = row.elements(size);
            elements.is_none_or(|all| object.contents.load(&all, 8, names).single() == Some(0))
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

    /// Offsets of rows in both states.
    pub(super) fn rows_of_both(&self, other: &State, mut act: impl FnMut(Var, &Num, &Num)) {
        for row in &self.owners.rows {
            if let Some(there) = other.row(row.name()) {
                for edge in [Edge::From, Edge::To, Edge::At] {
                    act(row.var(edge), &row.range(edge), &there.range(edge));
                }
            }
        }
    }

    /// Asks of both states with the same rows.
    pub(super) fn with_rows(
        &self,
        other: &State,
        names: &Names<'_>,
        ask: impl FnOnce(&State, &State) -> State,
    ) -> State {
        if self.owners.rows.is_empty() && other.owners.rows.is_empty() {
            return ask(self, other);
        }
        let (mut one, mut two) = (self.clone(), other.clone());
        one.follow(&two, names);
        two.follow(&one, names);
        one.settle_as(&two, names);
        two.settle_as(&one, names);
        one.spend_as(&two, names);
        two.spend_as(&one, names);
        let mut both = ask(&one, &two);
        both.lines_of_rows();
        both
    }

    /// The state with the rows of another one; none where that has none.
    pub(super) fn aligned_to(&self, other: &State, names: &Names<'_>) -> Option<State> {
        if other.owners.rows.is_empty() {
            return None;
        }
        let mut aligned = self.clone();
        aligned.follow(other, names);
        aligned.settle_as(other, names);
        aligned.spend_as(other, names);
        Some(aligned)
    }

    /// Names the rows that another state names, as far as it can as they are there.
    fn follow(&mut self, other: &State, names: &Names<'_>) {
        for there in &other.owners.rows {
            let name = there.name();
            if self.row(name).is_none() {
                let empty = Row::empty(there.of, there.start, there.stride);
                if !self.begin_row(empty, names) {
                    continue;
                }
            }
            self.begin_again(there, other, names);
        }
    }

    /// Rows have one element less of which nothing is said, where another state speaks of no element apart.
    fn settle_as(&mut self, other: &State, names: &Names<'_>) {
        for there in &other.owners.rows {
            let name = there.name();
            let is_spent = self.owners.apart(name) == Some(Apart::Spent);
            let is_one =
                other.owners.apart(name).is_some() && self.agrees_on(there, Edge::At, other, names);
            if !is_spent || is_one {
                continue;
            }
            if self.settle(name, names) {
                self.begin_again(there, other, names);
                continue;
            }
            let count = self.agrees(there, other, names);
            for edge in [Edge::From, Edge::To] {
                let mut state = self.clone();
                if state.cut_at(name, edge, names) && state.agrees(there, other, names) > count {
                    *self = state;
                    break;
                }
            }
        }
    }

    /// Nothing is said of the elements of which another state says nothing. Where that says who owns one, this state speaks of the same one if it is no element
    /// that owns: a register that is NULL here is that owner.
    fn spend_as(&mut self, other: &State, names: &Names<'_>) {
        for name in other.owners.rows.iter().map(Row::name) {
            if self.row(name).is_none() || self.owners.apart(name).is_some() {
                continue;
            }
            match other.owners.apart(name) {
                Some(Apart::Spent) => {
                    self.put_apart_as(name, other, names);
                    Arc::make_mut(&mut self.owners).spent.insert(name);
                }
                Some(Apart::Named(_)) => self.put_apart_as(name, other, names),
                None => {}
            }
        }
    }

    /// The element that is spoken of apart is the one of another state.
    fn put_apart_as(&mut self, name: RowName, other: &State, names: &Names<'_>) {
        let at = Var::Row(name.0, name.1, Edge::At);
        let constant = other.row(name).and_then(|row| row.at.single());
        let sum = match constant {
            Some(at) => Some(Sum::number(at.into())),
            None => other
                .lines
                .replaced(&Sum::of(at), at, |var| self.has_var(var)),
        };
        if let Some(sum) = sum {
            self.put_edge(name, Edge::At, &sum, names);
        }
    }

    /// Whether no element is spoken of apart, and its offset is that of no element that owns.
    pub(super) fn is_of_no_element(&self, name: RowName, names: &Names<'_>) -> bool {
        let lies = || self.lies(name, &self.edge(name, Edge::At), names);
        self.owners.apart(name).is_none() && !matches!(lies(), Lies::Among | Lies::Unknown)
    }

    fn has_var(&self, var: Var) -> bool {
        match var {
            Var::Row(id, start, edge) => edge != Edge::At && self.row((id, start)).is_some(),
            Var::Reg(_) | Var::Outer(..) | Var::Cell(..) | Var::Size(_) | Var::Nul(..) => true,
        }
    }

    /// A row without elements, or of which all are NULL, begins where its offsets are what they are in another state.
    fn begin_again(&mut self, there: &Row, other: &State, names: &Names<'_>) {
        let name = there.name();
        let Some(own) = self.row(name).cloned() else {
            return;
        };
        let (start, void) = (u64::from(own.start), self.void_to(&own, names).most as u64);
        let is_flexible = void > start || self.is_without_elements(name, names);
        if self.owners.apart(name).is_some() || !is_flexible {
            return;
        }
        let there_to = there.to.single().filter(|to| (start..void).contains(to));
        let ends = [Some(start), Some(void), there_to];
        let mut best = (self.agrees(there, other, names), None);
        for end in ends.into_iter().flatten() {
            let mut state = self.clone();
            state.put_edge(name, Edge::From, &Sum::number(own.start.into()), names);
            state.put_edge(name, Edge::To, &Sum::number(end.into()), names);
            let count = state.agrees(there, other, names);
            if count > best.0 {
                best = (count, Some(state));
            }
        }
        if let Some(state) = best.1 {
            *self = state;
        }
    }

    /// How many of a row's offsets are what another state says of them.
    fn agrees(&self, there: &Row, other: &State, names: &Names<'_>) -> usize {
        let edges = [Edge::From, Edge::To].into_iter();
        edges
            .filter(|edge| self.agrees_on(there, *edge, other, names))
            .count()
    }

    fn agrees_on(&self, there: &Row, edge: Edge, other: &State, names: &Names<'_>) -> bool {
        let (own, var) = (self.edge(there.name(), edge), there.var(edge));
        match there.range(edge).single() {
            Some(at) => self.is_equal(&own, &Sum::number(at.into()), names),
            None => {
                let said = other
                    .lines
                    .replaced(&Sum::of(var), var, |var| self.has_var(var));
                said.is_some_and(|said| self.is_equal(&own, &said, names))
            }
        }
    }
}

/// Rows of a block that is moved, with what lines say of them.
pub(super) struct Moved(Vec<Row>);

impl State {
    /// The rows of a block that is about to be moved. They are kept apart until [`State::move_rows`].
    pub(super) fn rows_to_move(&mut self, id: ObjId, names: &Names<'_>) -> Moved {
        let rows: Vec<Row> = self
            .owners
            .rows
            .iter()
            .filter(|row| row.of == id)
            .cloned()
            .collect();
        let is_copied = |row: &Row| {
            let size = self.object(id, names).map(|object| object.size);
            let size = match size.and_then(|size| size.single()) {
                Some(size) => Sum::number(size.into()),
                None => Sum::of(Var::Size(id)),
            };
            self.proves(self.edge(row.name(), Edge::To).plus(&size, -1), names)
        };
        let mut rows: Vec<Row> = rows.into_iter().filter(is_copied).collect();
        rows.truncate(1);
        for row in &rows {
            if self.owners.apart(row.name()) == Some(Apart::Spent) {
                self.settle(row.name(), names);
            }
        }
        rows.retain_mut(|row| {
            if let Some(known) = self.row(row.name()) {
                *row = known.clone();
            }
            self.owners.apart(row.name()) != Some(Apart::Spent)
        });
        for row in &rows {
            self.dissolve(row.name());
            self.lines = self.lines.rename(|var| match var {
                Var::Row(of, start, edge) if (of, start) == row.name() => Some(next(edge)),
                var => Some(var),
            });
        }
        Moved(rows)
    }

    /// The rows of a block that was moved are those of the new one.
    pub(super) fn move_rows(&mut self, Moved(rows): Moved, to: ObjId) {
        for row in rows {
            Arc::make_mut(&mut self.owners).drop_rows(|known| known.of == to);
            self.lines_of_rows();
            let row = Row { of: to, ..row };
            self.lines = self.lines.rename(|var| match var {
                var if var == next(Edge::From) => Some(row.var(Edge::From)),
                var if var == next(Edge::To) => Some(row.var(Edge::To)),
                var if var == next(Edge::At) => None,
                var => Some(var),
            });
            Arc::make_mut(&mut self.owners).put_row(row);
        }
    }
}
