//! The prover's part in the alternation.
//!
//! It is started once, heard now and then, and taken over when it is done, unless an execution or
//! the checker says otherwise: what is called proved here has passed both.

use std::sync::Arc;

use cegar_checker::Certificate;
use cegar_model::program::Program;
use cegar_search::simulate::search::News;
use cegar_search::strategy::Coverage;

use super::Alternation;
use super::subject::Subject;
use crate::campaign::library;
use crate::campaign::proofs::{Proofs, Prover};
use crate::error::Error;
use crate::event::Level;

/// Native executions that a verdict is worth which stays open though no goal is.
const ENOUGH: u64 = 1_000;

/// Tapes of the corpus that the prover's forest grows from, shortest first.
pub(super) const TAPES: usize = 64;

/// See the module.
pub struct Proving {
    /// What executions covered, for the prover's thread.
    pub coverage: Arc<Coverage>,
    /// The prover, while it is at work.
    pub prover: Option<Prover>,
    /// The tapes that a prover begins with which has not been started yet.
    pub postponed: Option<Vec<Vec<u8>>>,
    /// What an earlier campaign had proved.
    before: Option<Certificate>,
    /// What the prover came to.
    pub proofs: Option<Proofs>,
    /// What a native run did on an input on which the engine's run ends well.
    pub contradicted: Option<String>,
}

impl Proving {
    pub fn new(program: &Program, before: Option<Certificate>) -> Self {
        Proving {
            coverage: Arc::new(Coverage::new(program.blocks.len(), program.checks.len())),
            prover: None,
            postponed: None,
            before,
            proofs: None,
            contradicted: None,
        }
    }

    /// Starts the prover, once.
    pub fn start(&mut self, subject: &Subject<'_>, given: &[Vec<u8>]) -> Result<(), Error> {
        if self.prover.is_some() || self.proofs.is_some() {
            return Ok(());
        }
        let mut tapes = given.to_vec();
        tapes.sort_by_key(Vec::len);
        tapes.truncate(TAPES);
        let before = self.before.take().filter(|_| !subject.is_counted());
        self.prover = Some(Prover::start(subject, &self.coverage, tapes, before)?);
        Ok(())
    }

    /// Whether a prover is at work or will be.
    pub fn is_pending(&self) -> bool {
        self.prover.is_some() || self.postponed.is_some()
    }

    /// Whether every check is proved, and nothing can go wrong elsewhere.
    pub fn is_complete(&self) -> bool {
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

impl Alternation<'_, '_> {
    /// Takes over what the prover came to, if it is done.
    pub(super) fn hear_prover(&mut self, news: &mut Vec<News>) -> Result<(), Error> {
        self.proving.coverage.note(self.searching.search.covered());
        // The result first: no seed comes after it.
        let result = self.proving.prover.as_ref().and_then(Prover::poll);
        for seed in self.proving.prover.iter().flat_map(Prover::seeds) {
            match seed.run {
                Some(run) => self
                    .searching
                    .search
                    .take(seed.tape, *run, seed.origin, news),
                None => self.searching.search.add(&seed.tape, seed.origin, news),
            }
        }
        let Some(result) = result else {
            return self
                .proving
                .prover
                .as_mut()
                .map_or(Ok(()), Prover::overtake);
        };
        self.proving.prover = None;
        self.conclude(result?);
        Ok(())
    }

    /// Has a prover that is still at work stop, and takes over what it has come to so far: it
    /// stays, and the next campaign goes on from there.
    pub(super) fn give_up_prover(&mut self) {
        let Some(prover) = self.proving.prover.take() else {
            return;
        };
        // Out of time is out of time; who interrupts can interrupt again.
        let patient = self.subject.is_stopped() && !self.subject.budget.is_over();
        match prover.give_up(patient, self.subject.budget.patience_ends()) {
            Some(Ok(proofs)) => self.conclude(proofs),
            Some(Err(why)) => self.reporting.note(Level::Warning, why.to_string()),
            None => self.reporting.note(
                Level::Info,
                "the prover had not ended when the time was up: what it has proved and not checked \
                 does not count"
                    .to_owned(),
            ),
        }
    }

    /// Takes over what the prover came to, unless an execution or the checker says otherwise.
    pub(super) fn conclude(&mut self, proofs: Proofs) {
        if let Err(why) = &proofs.checked {
            let text = match why.is_late() {
                true => "the proofs were not checked before the time was up, and do not count; a \
                    longer --max-time has room for that"
                    .to_owned(),
                false => format!("the checker did not accept the proofs: {why}"),
            };
            self.reporting.note(Level::Warning, text);
        }
        if let Ok(checked) = &proofs.checked
            && !checked.is_whole()
        {
            let late = checked.late_checks.len() + checked.late_blocks.len();
            self.reporting.note(
                Level::Info,
                format!(
                    "{late} proofs were not checked before the time was up, and do not count; \
                    a longer --max-time has room for them"
                ),
            );
        }
        self.count(&proofs);
        self.proving.proofs = Some(proofs);
        self.consistent();
        let elsewhere = match &self.proving.proofs {
            Some(proofs) if self.overview().table().checks.open == 0 => {
                proofs.outcome.elsewhere.clone()
            }
            _ => Vec::new(),
        };
        let root = self.confirming.judge.root();
        for what in library::told(self.subject.program, root, &elsewhere)
            .iter()
            .take(3)
        {
            let text = format!("not proved, though outside of your code: {what}");
            self.reporting.note(Level::Info, text);
        }
    }

    fn count(&mut self, proofs: &Proofs) {
        self.stats.proving = proofs.seconds;
        self.stats.prover = proofs.stats();
        self.stats.refinements = self.stats.prover.iterations;
    }

    /// Has a strategy stop of which no more than its cost is wanted.
    pub(super) fn count_strategy(&mut self) {
        if let Some(prover) = self.proving.prover.take()
            && let Some(Ok(proofs)) = prover.give_up(false, None)
        {
            self.count(&proofs);
        }
    }

    /// Withdraws the proofs if an execution contradicts them.
    pub(in crate::campaign) fn consistent(&mut self) {
        let Some(proofs) = &mut self.proving.proofs else {
            return;
        };
        let judge = &self.confirming.judge;
        let violated = |check: usize| judge.violated(check as u32);
        let seen = proofs.contradiction(&violated, self.searching.search.covered());
        if let Some(how) = self.proving.contradicted.clone().or(seen) {
            proofs.outcome.withdraw(&how);
            self.reporting.warn_once(how);
        }
    }

    /// Whether nothing is left to do. A verdict that has to stay open although no goal is, since
    /// arithmetic that was not asked about may go wrong, is worth what a fuzzer finds at once.
    pub(super) fn is_settled(&self) -> bool {
        let is_tried = self.subject.first_only
            || self.stats.executions >= ENOUGH
            || !self.subject.settings.fuzzes();
        self.is_decided() && (is_tried || self.proving.is_complete())
    }

    /// Whether no goal is open.
    pub(super) fn is_decided(&self) -> bool {
        if self.subject.first_only {
            return self.proving.is_complete();
        }
        let Some(proofs) = &self.proving.proofs else {
            return false;
        };
        let goals = self.overview().table();
        goals.checks.open == 0 && goals.edges.open == 0 && proofs.outcome.elsewhere.is_empty()
    }
}
