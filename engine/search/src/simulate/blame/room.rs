//! Faults at the end of the harness's own memory: how much there has to be of it, or what has to be
//! in it.

use std::collections::BTreeSet;

use cegar_model::machine::crossing::{Choose, Chosen, Harness, Owned, depends_on_data};
use cegar_model::machine::{Event, PathEvent};
use cegar_model::program::CheckKind;
use cegar_model::term::{Symbol, Term};

use super::{Condition, Looking, Missing, Subject};

/// The least bytes of a number that may be an index of a row.
const NUMBER: usize = 4;

impl Looking<'_> {
    /// An access past the end of an object of the harness's of which the library does not know how
    /// large it is.
    pub(super) fn too_small(&self, kind: CheckKind) -> Option<Missing> {
        let (owned, end) = self.passed_end()?;
        if owned.told {
            return None;
        }
        let subject = if owned.variable.is_some() || owned.made_by.is_some() {
            Subject::Room {
                variable: owned.variable.clone(),
                made_by: owned.made_by.map(|(site, _)| site),
            }
        } else {
            // What `malloc` gave has no name in the program: the argument that it is says which
            // one.
            Subject::argument(owned.passed?)
        };
        // A string ends where it ends. One that is written past its end was wanted as room.
        let is_string = owned.size_term.is_none() && self.is_string(owned);
        if is_string && (kind != CheckKind::Write || self.has_read_a_string()) {
            return None;
        }
        Some(Missing {
            subject,
            value: u128::from(owned.size),
            varies: owned.size_term.is_some(),
            condition: Condition::Room { bytes: end },
        })
    }

    /// The object of the harness's past whose end the access goes, and where the access ends in it.
    pub(super) fn passed_end(&self) -> Option<(&Owned, u64)> {
        let (address, len) = self.noted.access?;
        let object = (address >> 32) as u32;
        let mut all = self.noted.owned.iter();
        let owned = all.find(|owned| owned.object == object)?;
        let end = (address & 0xffff_ffff).saturating_add(len);
        (end > owned.size).then_some((owned, end))
    }

    /// A write past the end of memory whose length the library is told by a variable that it may
    /// set, and of which it made no use: it says there how much it wrote, and relies on its caller
    /// for the room.
    pub(super) fn unread_length(&self, kind: CheckKind) -> Option<Missing> {
        let (address, len) = self.noted.access.filter(|_| kind == CheckKind::Write)?;
        let object = (address >> 32) as u32;
        let mut all = self.noted.owned.iter();
        let owned = all.find(|owned| owned.object == object && owned.told)?;
        let (size, passed) = (owned.size_term?, owned.passed?);
        let end = (address & 0xffff_ffff).saturating_add(len);
        if end <= owned.size {
            return None;
        }
        let own: BTreeSet<u32> = self.pool.inputs(size).iter().copied().collect();
        let is_own = |term: Term| {
            let mut inputs = self.pool.inputs(term).iter();
            inputs.any(|input| own.contains(input))
        };
        let telling = self.noted.chosen.iter();
        let telling: Vec<&Chosen> = telling
            .filter(|chosen| chosen.before.is_some_and(is_own))
            .collect();
        let is_variable = |chosen: &&Chosen| matches!(&chosen.what, Choose::Member { selector, .. } if selector.is_empty());
        // The harness's own variable for the length is one of these, where it lives in memory.
        if telling.is_empty() || !telling.iter().all(is_variable) {
            return None;
        }
        let lengths: BTreeSet<Symbol> = telling
            .iter()
            .flat_map(|chosen| self.pool.symbols(chosen.term))
            .collect();
        let is_told =
            |term: Term| is_own(term) || self.pool.symbols(term).any(|s| lengths.contains(&s));
        let entered = self.noted.entered.unwrap_or(0).min(self.run.path.len());
        let looks = |event: &PathEvent| {
            matches!(event.event, Event::Branch { .. }) && is_told(event.event.condition().0)
        };
        if self.noted.culprits.iter().any(|term| is_told(*term))
            || self.run.path[entered..].iter().any(looks)
        {
            return None;
        }
        Some(Missing {
            subject: Subject::argument(passed),
            value: u128::from(owned.size),
            varies: true,
            condition: Condition::Room { bytes: end },
        })
    }

    /// A read past the end of memory whose length the harness chose and told, where the library
    /// looked at no length: it has a least one, as keys and tables have. Whether the memory is such
    /// a thing, and not what the library was made to read, its user knows.
    pub(super) fn too_short(&self, kind: CheckKind) -> Option<Missing> {
        let (address, len) = self.noted.access.filter(|_| kind == CheckKind::Read)?;
        let object = (address >> 32) as u32;
        let mut all = self.noted.owned.iter();
        let owned = all.find(|owned| owned.object == object && owned.told)?;
        let (size, passed) = (owned.size_term?, owned.passed?);
        let end = (address & 0xffff_ffff).saturating_add(len);
        if end <= owned.size || owned.made_by.is_some() {
            return None;
        }
        let own: BTreeSet<u32> = self.pool.inputs(size).iter().copied().collect();
        let is_own = |term: Term| {
            self.pool
                .inputs(term)
                .iter()
                .any(|input| own.contains(input))
        };
        let lengths = self.noted.chosen.iter();
        let lengths: BTreeSet<Symbol> = lengths
            .filter(|chosen| chosen.before.is_some_and(is_own))
            .flat_map(|chosen| self.pool.symbols(chosen.term))
            .collect();
        let entered = self.noted.entered.unwrap_or(0).min(self.run.path.len());
        let is_told =
            |term: Term| is_own(term) || self.pool.symbols(term).any(|s| lengths.contains(&s));
        // What is read at a place that the length says was looked at by it.
        if self.noted.culprits.iter().any(|term| is_told(*term)) {
            return None;
        }
        let looks = |event: &PathEvent| is_told(event.event.condition().0);
        // The check that failed is none of the library's.
        let mut before = self.run.path[entered..].iter();
        if before.any(|event| matches!(event.event, Event::Branch { .. }) && looks(event)) {
            return None;
        }
        Some(Missing {
            subject: Subject::argument(passed),
            value: u128::from(owned.size),
            varies: true,
            condition: Condition::Least { bytes: end },
        })
    }

    /// An access at a place that numbers from one piece of the harness's memory say, at which the
    /// library looked nowhere before: rows of indices, such as a suffix array. Whether the memory
    /// is a row of numbers, and not bytes that the library puts together, its user knows.
    pub(super) fn unchecked_elements(&self) -> Option<Missing> {
        self.noted.access?;
        // How much there is of what is accessed, data may say as well.
        let address = *self.noted.culprits.first()?;
        let inputs: BTreeSet<u32> = self.pool.inputs(address).iter().copied().collect();
        let (first, last) = (*inputs.first()?, *inputs.last()?);
        if inputs.len() < NUMBER {
            return None;
        }
        let holds = |owned: &&Owned| {
            owned
                .first_input
                .is_some_and(|at| at <= first && u64::from(last - at) < owned.size)
        };
        let passed = self.noted.owned.iter().find(holds)?.passed?;
        let entered = self.noted.entered.unwrap_or(0).min(self.run.path.len());
        let looks = |event: &PathEvent| {
            let term = event.event.condition().0;
            let mut own = self.pool.inputs(term).iter();
            matches!(event.event, Event::Branch { .. }) && own.any(|input| inputs.contains(input))
        };
        // Where only too great a number was looked for, a negative one was not thought of.
        let (at, _) = self.noted.access?;
        let is_below = self
            .noted
            .target
            .is_some_and(|(object, _)| at < u64::from(object) << 32);
        if !is_below && self.run.path[entered..].iter().any(looks) {
            return None;
        }
        Some(Missing {
            subject: Subject::argument(passed),
            value: 0,
            varies: true,
            condition: Condition::Elements,
        })
    }

    /// Whether anything on the way depended on a string's characters: then it was wanted as the
    /// string that it is.
    fn has_read_a_string(&self) -> bool {
        let entered = self.noted.entered.unwrap_or(0).min(self.run.path.len());
        let strings = Harness {
            data: [std::sync::Arc::from("string")].into(),
            ..Harness::default()
        };
        self.run.path[entered..].iter().any(|event| {
            let (term, _) = event.event.condition();
            depends_on_data(self.pool, term, &self.run.choices, &strings)
        })
    }

    fn is_string(&self, owned: &Owned) -> bool {
        owned.made_by.is_some_and(|(_, by)| {
            let name = &self.program.function(by).name;
            name.contains("string")
        })
    }
}
