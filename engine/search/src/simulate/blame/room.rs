//! Faults at the end of the harness's own memory: the size that it must have, or what it must
//! contain.

use std::collections::BTreeSet;

use cegar_model::machine::crossing::{Chosen, ChosenPlace, Harness, Owned, depends_on_data};
use cegar_model::machine::{Event, PathEvent};
use cegar_model::program::CheckKind;
use cegar_model::term::{Symbol, Term};

use super::{BlameAnalysis, Condition, Missing, Subject};

/// The minimum number of bytes of a number that may be an index in an array of indices.
const NUMBER: usize = 4;

impl BlameAnalysis<'_> {
    /// An access past the end of an object of the harness whose size is not passed to the library.
    pub(super) fn too_small(&self, kind: CheckKind) -> Option<Missing> {
        let (owned, end) = self.passed_end()?;
        if owned.size_is_told {
            return None;
        }
        let subject = if owned.variable.is_some() || owned.made_by.is_some() {
            Subject::Room {
                variable: owned.variable.clone(),
                made_by: owned.made_by.map(|(site, _)| site),
            }
        } else {
            // Memory from `malloc` has no name in the program; the argument that passes it
            // identifies it.
            Subject::argument(owned.passed?)
        };
        // A string is as long as it is, and reading past its end is a bug. But if the library
        // writes past the end of memory whose characters it never read, the memory was meant as
        // room for output.
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

    /// The object of the harness that the access goes past the end of, and the offset at which the
    /// access ends.
    pub(super) fn passed_end(&self) -> Option<(&Owned, u64)> {
        let (address, len) = self.noted.access?;
        let object = (address >> 32) as u32;
        let mut all = self.noted.owned.iter();
        let owned = all.find(|owned| owned.object == object)?;
        let end = (address & 0xffff_ffff).saturating_add(len);
        (end > owned.size).then_some((owned, end))
    }

    /// A write past the end of memory whose length the library gets in a variable that it may set,
    /// and does not read: it stores there how much it wrote, and relies on its caller for the room.
    pub(super) fn unread_length(&self, kind: CheckKind) -> Option<Missing> {
        let (address, len) = self.noted.access.filter(|_| kind == CheckKind::Write)?;
        let object = (address >> 32) as u32;
        let mut all = self.noted.owned.iter();
        let owned = all.find(|owned| owned.object == object && owned.size_is_told)?;
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
        let is_variable = |chosen: &&Chosen| match &chosen.what {
            ChosenPlace::Member { selector, .. } => selector.is_empty(),
            _ => false,
        };
        // The harness's own variable for the length is among these if it is in memory.
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

    /// A read past the end of memory whose length the harness chose and passed, where the library
    /// checked no length: the memory has a minimum size, like a key or a table. Only the user knows
    /// whether it is such an object, or data that the library must check.
    pub(super) fn too_short(&self, kind: CheckKind) -> Option<Missing> {
        let (address, len) = self.noted.access.filter(|_| kind == CheckKind::Read)?;
        let object = (address >> 32) as u32;
        let mut all = self.noted.owned.iter();
        let owned = all.find(|owned| owned.object == object && owned.size_is_told)?;
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
        // A read at an offset that depends on the length counts as a check of the length.
        if self.noted.culprits.iter().any(|term| is_told(*term)) {
            return None;
        }
        let looks = |event: &PathEvent| is_told(event.event.condition().0);
        // The check that failed is not a branch of the library.
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

    /// An access at an address that depends on numbers from one piece of the harness's memory,
    /// which the library did not check before: arrays of indices, such as a suffix array. Only the
    /// user knows whether the memory is an array of numbers, or bytes that the library combines.
    pub(super) fn unchecked_elements(&self) -> Option<Missing> {
        self.noted.access?;
        // Only the address counts: the length of the access may depend on data as well.
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
        // If the access is below its object, checks of an upper bound do not count: the library did
        // not expect negative numbers.
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

    /// Whether a condition on the way depended on a string's characters: then it was meant as a
    /// string.
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
