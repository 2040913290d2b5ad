//! The prover's part in the alternation.
//!
//! The prover is started once, polled from time to time, and its result is taken over when it
//! finishes, unless an execution or the checker contradicts it: what is reported as proved has
//! passed both.

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

/// The number of native executions after which a campaign may end if no goal is open but the
/// verdict cannot be complete.
const ENOUGH: u64 = 1_000;

/// The largest number of corpus tapes from which the prover's forest grows, shortest first.
pub(super) const TAPES: usize = 64;

/// See the module.
pub struct Proving {
    /// What executions covered, shared with the prover's thread.
    pub coverage: Arc<Coverage>,
    /// The prover, while it is working.
    pub prover: Option<Prover>,
    /// The tapes for a prover whose start is postponed.
    pub postponed: Option<Vec<Vec<u8>>>,
    /// The certificate of an earlier campaign.
    before: Option<Certificate>,
    /// The result of the prover.
    pub proofs: Option<Proofs>,
    /// The fault of a native run on an input for which the engine's run ends well.
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

    /// Starts the prover unless it was started before.
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

    /// Whether a prover is working or will be started.
    pub fn is_pending(&self) -> bool {
        self.prover.is_some() || self.postponed.is_some()
    }

    /// Whether every check is proved and nothing outside the goals can fail.
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
    /// Takes over the prover's seeds, and its result if it has finished.
    pub(super) fn hear_prover(&mut self, news: &mut Vec<News>) -> Result<(), Error> {
        self.proving.coverage.note(self.searching.search.covered());
        // The result is polled first, since no seed is sent after it.
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

    /// Stops a prover that is still working and takes over its results so far. They stay valid, and
    /// the next campaign continues from them.
    pub(super) fn give_up_prover(&mut self) {
        let Some(prover) = self.proving.prover.take() else {
            return;
        };
        // Waits longer only after an interruption with time left, which the user can interrupt
        // again.
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

    /// Takes over the prover's result unless an execution or the checker contradicts it.
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

    /// Stops a strategy of which only the statistics are needed.
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

    /// Whether nothing is left to do. If no goal is open but the verdict must stay open, since
    /// arithmetic that was not asked about may fail, the fuzzer first runs a minimum number of
    /// inputs.
    pub(super) fn is_settled(&self) -> bool {
        let is_tried = self.subject.settings.first_only
            || self.stats.executions >= ENOUGH
            || !self.subject.settings.fuzzes();
        self.is_decided() && (is_tried || self.proving.is_complete())
    }

    /// Whether no goal is open.
    pub(super) fn is_decided(&self) -> bool {
        if self.subject.settings.first_only {
            return self.proving.is_complete();
        }
        let Some(proofs) = &self.proving.proofs else {
            return false;
        };
        let goals = self.overview().table();
        goals.checks.open == 0 && goals.edges.open == 0 && proofs.outcome.elsewhere.is_empty()
    }
}
