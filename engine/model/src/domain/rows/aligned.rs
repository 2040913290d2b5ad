//! Two states with the same rows, to be joined or compared.
//!
//! What is done here to a state makes it say less, or speaks of offsets that nothing was said of:
//! where a row without elements lies, which element that owns nothing is spoken of apart. So
//! whatever is chosen is sound, and what is chosen is what makes offsets the same expressions in
//! both states.

use std::sync::Arc;

use super::Lies;
use crate::domain::linear::{Edge, Sum, Var};
use crate::domain::num::Num;
use crate::domain::owners::{Apart, Row, RowName};
use crate::domain::space::Names;
use crate::domain::state::State;

impl State {
    /// Offsets of rows in both states.
    pub(in crate::domain) fn rows_of_both(
        &self,
        other: &State,
        mut act: impl FnMut(Var, &Num, &Num),
    ) {
        for row in &self.owners.rows {
            if let Some(there) = other.row(row.name()) {
                for edge in [Edge::From, Edge::To, Edge::At] {
                    act(row.var(edge), &row.range(edge), &there.range(edge));
                }
            }
        }
    }

    /// Asks of both states with the same rows.
    pub(in crate::domain) fn with_rows(
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
    pub(in crate::domain) fn aligned_to(&self, other: &State, names: &Names<'_>) -> Option<State> {
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

    /// Rows have one element less of which nothing is said, where another state speaks of no
    /// element apart.
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

    /// Nothing is said of the elements of which another state says nothing. Where that says who
    /// owns one, this state speaks of the same one if it is no element that owns: a register that
    /// is NULL here is that owner.
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
    pub(in crate::domain) fn is_of_no_element(&self, name: RowName, names: &Names<'_>) -> bool {
        let lies = || self.lies(name, &self.edge(name, Edge::At), names);
        self.owners.apart(name).is_none() && !matches!(lies(), Lies::Among | Lies::Unknown)
    }

    fn has_var(&self, var: Var) -> bool {
        match var {
            Var::Row(id, start, edge) => edge != Edge::At && self.row((id, start)).is_some(),
            Var::Reg(_) | Var::Outer(..) | Var::Cell(..) | Var::Size(_) | Var::Nul(..) => true,
        }
    }

    /// A row without elements, or of which all are NULL, begins where its offsets are what they are
    /// in another state.
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
