//! The prover's part in the alternation.
//!
//! It is started once, heard now and then, and taken over when it is done, unless an execution or the checker says otherwise:
//! what is called proved here has passed both.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use cegar_search::simulate::search::News;

use super::{Alternation, TAPES};
use crate::campaign::findings::readable;
use crate::campaign::native::MANY;
use crate::campaign::proofs::{Proofs, Prover};
use crate::error::Error;
use crate::event::Level;

impl Alternation<'_, '_> {
    /// Starts the prover, once.
    pub(super) fn start_prover(&mut self, given: &[Vec<u8>]) -> Result<(), Error> {
        if self.prover.is_some() || self.proofs.is_some() {
            return Ok(());
        }
        let mut tapes = given.to_vec();
        tapes.sort_by_key(Vec::len);
        tapes.truncate(TAPES);
        let budget = (self.settings.runs.is_none()).then_some(self.budget);
        let ends = budget.and_then(|budget| Some((budget.proving_ends()?, budget.end()?)));
        self.prover = Some(Prover::start(
            Arc::clone(&self.shared),
            self.digest.clone(),
            (self.settings.strategy, &self.harness.properties),
            (Arc::clone(&self.coverage), self.first_only),
            (tapes, self.settings.loops, self.settings.floor),
            (ends, self.settings.runs, self.gives_way()),
            self.before.take().filter(|_| self.settings.runs.is_none()),
        )?);
        Ok(())
    }

    /// Whether the engine leaves the processor to the fuzzer where there is one core for both: a large program's goals are
    /// rather entered than proved.
    pub(super) fn gives_way(&self) -> bool {
        self.settings.runs.is_none() && self.settings.fuzzes() && self.program.blocks.len() >= MANY
    }

    /// Takes over what the prover came to, if it is done.
    pub(super) fn hear_prover(&mut self, news: &mut Vec<News>) -> Result<(), Error> {
        self.coverage.note(self.search.covered());
        // The result first: no seed comes after it.
        let result = self.prover.as_ref().and_then(Prover::poll);
        for seed in self.prover.iter().flat_map(Prover::seeds) {
            match seed.run {
                Some(run) => self.search.take(seed.tape, *run, seed.origin, news),
                None => self.search.add(&seed.tape, seed.origin, news),
            }
        }
        let Some(result) = result else {
            return self.prover.as_mut().map_or(Ok(()), Prover::overtake);
        };
        self.prover = None;
        self.conclude(result?);
        Ok(())
    }

    /// Has a prover that is still at work stop, and takes over what it has come to so far: it stays, and the next campaign goes
    /// on from there.
    pub(super) fn give_up_prover(&mut self) {
        let Some(prover) = self.prover.take() else {
            return;
        };
        // Out of time is out of time; whoever interrupts can insist.
        let patient = self.stop.load(Ordering::Relaxed) && !self.budget.is_over();
        match prover.give_up(patient, self.budget.patience_ends()) {
            Some(Ok(proofs)) => self.conclude(proofs),
            Some(Err(why)) => self.note(Level::Warning, why.to_string()),
            None => self.note(
                Level::Info,
                "the prover had not ended when the time was up: what it has proved and not checked does not count"
                    .to_owned(),
            ),
        }
    }

    /// Takes over what the prover came to, unless an execution or the checker says otherwise.
    pub(super) fn conclude(&mut self, proofs: Proofs) {
        if let Err(why) = &proofs.checked {
            self.note(
                Level::Warning,
                format!("the checker did not accept the proofs: {why}"),
            );
        }
        if let Ok(checked) = &proofs.checked
            && !checked.is_whole()
        {
            let late = checked.late_checks.len() + checked.late_blocks.len();
            self.note(
                Level::Info,
                format!("{late} proofs were not checked before the time was up, and do not count; a longer --max-time has room for them"),
            );
        }
        self.count(&proofs);
        self.proofs = Some(proofs);
        self.consistent();
        let elsewhere = match &self.proofs {
            Some(proofs) if self.goals().checks.open == 0 => proofs.outcome.elsewhere.clone(),
            _ => Vec::new(),
        };
        for what in elsewhere.iter().take(3) {
            let what = readable(self.program, self.judge.root(), what);
            self.note(
                Level::Info,
                format!("not proved, though outside of your code: {what}"),
            );
        }
    }

    fn count(&mut self, proofs: &Proofs) {
        self.stats.proving = proofs.seconds;
        self.stats.prover = proofs.stats();
        self.stats.refinements = self.stats.prover.iterations;
    }

    /// Has a strategy stop of which no more than its cost is wanted.
    pub(super) fn count_strategy(&mut self) {
        if let Some(prover) = self.prover.take()
            && let Some(Ok(proofs)) = prover.give_up(false, None)
        {
            self.count(&proofs);
        }
    }

    /// Withdraws the proofs if an execution contradicts them.
    pub(in crate::campaign) fn consistent(&mut self) {
        let Some(proofs) = &mut self.proofs else {
            return;
        };
        let judge = &self.judge;
        let violated = |check: usize| judge.violated(check as u32);
        if let Some(how) = proofs.contradiction(&violated, self.search.covered()) {
            proofs.outcome.withdraw(&how);
            self.note(Level::Warning, how);
        }
    }

    /// Whether nothing is left to do.
    pub(super) fn is_settled(&self) -> bool {
        if self.first_only {
            return self.is_proved();
        }
        let Some(proofs) = &self.proofs else {
            return false;
        };
        let goals = self.goals();
        goals.checks.open == 0 && goals.edges.open == 0 && proofs.outcome.elsewhere.is_empty()
    }

    /// Whether every check is proved, and nothing can go wrong elsewhere.
    pub fn is_proved(&self) -> bool {
        let proofs = self.proofs.as_ref();
        proofs.is_some_and(|proofs| proofs.outcome.is_complete())
    }

    /// Whether this check is proved.
    pub fn holds(&self, check: usize) -> bool {
        let proofs = self.proofs.as_ref();
        proofs.is_some_and(|proofs| proofs.holds(check))
    }

    /// Whether this block is proved unreachable.
    pub fn is_dead(&self, block: usize) -> bool {
        let proofs = self.proofs.as_ref();
        proofs.is_some_and(|proofs| proofs.is_dead(block))
    }
}
