//! A published strategy at work: it has the program to itself.
//!
//! No fuzzer and no search of ours takes part, so that what comes out is the strategy's own. What
//! it believes to be a violation is executed by the machine and then natively, as anything else is,
//! and its proofs go through the checker.

use std::time::{Duration, Instant};

use cegar_search::simulate::search::Origin;

use super::Alternation;
use crate::error::Error;
use crate::verdict::End;

/// How often the strategy is heard.
const LISTENING: Duration = Duration::from_millis(10);

impl Alternation<'_, '_> {
    /// Works until the strategy is done.
    pub(super) fn named(&mut self, given: &[Vec<u8>]) -> Result<End, Error> {
        let mut news = Vec::new();
        // What the user gave is worth a look, and no more than that.
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
            if self.take(&mut news)? && self.subject.first_only {
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
