//! Aligns the rows of two states, which are to be joined or compared.
//!
//! The changes make a state say less, or choose offsets of which nothing is said: where a row
//! without elements lies, or which element that owns nothing is set apart. So any choice is sound,
//! and the one is made that gives offsets the same expressions in both states.

use std::sync::Arc;

use super::Lies;
use crate::domain::linear::{Edge, Sum, Var};
use crate::domain::num::Num;
use crate::domain::owners::{Apart, Row, RowName};
use crate::domain::space::Names;
use crate::domain::state::State;

impl State {
    /// Calls `act` for the offsets of the rows that both states have.
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

    /// Calls `ask` with both states, once they have the same rows.
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

    /// The state with its rows aligned to those of another one; `None` if the other one has no
    /// rows.
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

    /// Begins the rows that another state names, as similar to those there as possible.
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

    /// Shortens rows by the element of which nothing is said, if another state sets no such element
    /// apart.
    fn settle_as(&mut self, other: &State, names: &Names<'_>) {
        for there in &other.owners.rows {
            let name = there.name();
            let is_unowned = self.owners.apart(name) == Some(Apart::Unowned);
            let is_one =
                other.owners.apart(name).is_some() && self.agrees_on(there, Edge::At, other, names);
            if !is_unowned || is_one {
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

    /// Sets apart the elements that another state sets apart. If nothing is said of the element
    /// there, nothing is said of it here. If it holds an owner's value there, it is set apart here,
    /// too, though it owns nothing: a register that is NULL here is that owner.
    fn spend_as(&mut self, other: &State, names: &Names<'_>) {
        for name in other.owners.rows.iter().map(Row::name) {
            if self.row(name).is_none() || self.owners.apart(name).is_some() {
                continue;
            }
            match other.owners.apart(name) {
                Some(Apart::Unowned) => {
                    self.put_apart_as(name, other, names);
                    Arc::make_mut(&mut self.owners)
                        .unowned_elements
                        .insert(name);
                }
                Some(Apart::Named(_)) => self.put_apart_as(name, other, names),
                None => {}
            }
        }
    }

    /// Sets the offset of the element that is set apart to what it is in another state.
    fn put_apart_as(&mut self, name: RowName, other: &State, names: &Names<'_>) {
        let at = Var::Row(name.0, name.1, Edge::At);
        let constant = other.row(name).and_then(|row| row.at.as_constant());
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

    /// Whether no element is set apart, and the offset of such an element is that of none that
    /// owns.
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

    /// Begins a row without elements, or with only NULL, anew where its offsets agree more with
    /// those of another state.
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
        let there_to = there
            .to
            .as_constant()
            .filter(|to| (start..void).contains(to));
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

    /// The number of bounds of a row that are what another state says they are.
    fn agrees(&self, there: &Row, other: &State, names: &Names<'_>) -> usize {
        let edges = [Edge::From, Edge::To].into_iter();
        edges
            .filter(|edge| self.agrees_on(there, *edge, other, names))
            .count()
    }

    fn agrees_on(&self, there: &Row, edge: Edge, other: &State, names: &Names<'_>) -> bool {
        let (own, var) = (self.edge(there.name(), edge), there.var(edge));
        match there.range(edge).as_constant() {
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
