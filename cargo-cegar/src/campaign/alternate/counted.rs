//! The alternation under `--runs`: fixed numbers of questions and executions instead of a clock.

use std::time::{Duration, Instant};

use cegar_fuzz::native::Kind;
use cegar_search::simulate::search::News;

use super::{Alternation, QUIET};
use crate::error::Error;
use crate::verdict::End;

/// The number of questions that the search answers in each of its turns.
const QUESTIONS: u64 = 2000;
/// A duration that never limits a turn.
const FAR: Duration = Duration::from_secs(3600);

impl Alternation<'_, '_> {
    /// Runs the search, the fuzzer, the search again, and then the prover.
    pub(super) fn counted(&mut self, runs: u64, mut news: Vec<News>) -> Result<End, Error> {
        if let Some(end) = self.turn_of_search(&mut news)? {
            return Ok(end);
        }
        if self.subject.settings.sides.fuzz()
            && let Some(end) = self.turn_of_fuzzer(runs, &mut news)?
        {
            return Ok(end);
        }
        if let Some(end) = self.turn_of_search(&mut news)? {
            return Ok(end);
        }
        if self.take(&mut news)? && self.subject.settings.first_only {
            return Ok(End::Found);
        }
        if self.subject.settings.sides.engine() {
            self.turn_of_prover()?;
            if self.is_settled() {
                return Ok(End::Settled);
            }
        }
        Ok(End::Budget)
    }

    /// Answers up to [`QUESTIONS`] questions. Returns the campaign's end if it is reached.
    fn turn_of_search(&mut self, news: &mut Vec<News>) -> Result<Option<End>, Error> {
        if !self.subject.settings.sides.engine() {
            return Ok(None);
        }
        let mut left = QUESTIONS;
        loop {
            if self.take(news)? && self.subject.settings.first_only {
                return Ok(Some(End::Found));
            }
            if self.subject.is_stopped() {
                return Ok(Some(End::Interrupted));
            }
            let search = &mut self.searching.search;
            let before = search.jobs();
            let more = search.slice(Instant::now() + FAR, Some(left), self.subject.stop, news);
            left = left.saturating_sub(search.jobs() - before);
            if left == 0 || (!more && news.is_empty()) {
                return Ok(None);
            }
        }
    }

    /// Lets the fuzzer execute `runs` inputs. Returns the campaign's end if it is reached.
    fn turn_of_fuzzer(&mut self, runs: u64, news: &mut Vec<News>) -> Result<Option<End>, Error> {
        for kind in [Kind::Fast, Kind::Comparisons] {
            match self.subject.native.wait(kind) {
                Err(Error::Interrupted) => return Ok(Some(End::Interrupted)),
                built => drop(built?),
            }
        }
        self.fuzzing
            .start(&self.subject, &self.inputs, Some(runs))?;
        while self.fuzzing.crew.works() {
            self.listen(QUIET, news)?;
            if self.subject.is_stopped() {
                return Ok(Some(End::Interrupted));
            }
        }
        Ok(None)
    }

    /// Lets the prover work until it finishes.
    fn turn_of_prover(&mut self) -> Result<(), Error> {
        self.proving.coverage.note(self.searching.search.covered());
        self.proving.start(&self.subject, &[])?;
        let is_over = || self.subject.is_stopped();
        let result = self
            .proving
            .prover
            .as_ref()
            .and_then(|prover| prover.wait(is_over));
        self.proving.prover = None;
        if let Some(proofs) = result.transpose()? {
            self.conclude(proofs);
        }
        Ok(())
    }
}
