//! Runs a published strategy, which has the program to itself.
//!
//! Neither the fuzzer nor the project's own search takes part, so that the result is the strategy's
//! alone. What the strategy reports as a violation is executed by the machine and then natively,
//! like any other violation, and its proofs go through the checker.

use std::time::{Duration, Instant};

use cegar_search::simulate::search::Origin;

use super::Alternation;
use crate::error::Error;
use crate::verdict::End;

/// How often the strategy is polled.
const LISTENING: Duration = Duration::from_millis(10);

impl Alternation<'_, '_> {
    /// Works until the strategy ends.
    pub(super) fn run_published_strategy(&mut self, given: &[Vec<u8>]) -> Result<End, Error> {
        let mut news = Vec::new();
        // Given inputs are executed once; the strategy does not start from them.
        for tape in given {
            if self.is_over() {
                break;
            }
            self.searching.search.add(tape, Origin::Given, &mut news);
        }
        let deadline = (self.subject.budget.end()).filter(|_| !self.subject.is_counted());
        self.proving.start(&self.subject, &[])?;
        loop {
            self.hear_prover(&mut news)?;
            self.searching
                .search
                .note_covered(self.proving.coverage.covered());
            if self.take(&mut news)? && self.subject.settings.first_only {
                return Ok(End::Found);
            }
            if self.subject.is_stopped() {
                return Ok(End::Interrupted);
            }
            if self.proving.prover.is_none() {
                break;
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(End::Budget);
            }
            self.progress();
            std::thread::sleep(LISTENING);
        }
        match self.is_settled() {
            true => Ok(End::Settled),
            false => Ok(End::Stalled),
        }
    }
}
