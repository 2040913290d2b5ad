//! Executions for programs that were proved before they were executed.
//!
//! A small program is proved in less time than its native builds take, so nothing shows yet which
//! of its checks an execution reaches. A few short executions of the machine do. They are limited
//! by operations instead of time, so that the same program always gives the same counts.

use cegar_model::machine::{Limits, Machine};
use cegar_search::simulate::search::{Origin, Search};

use super::Alternation;
use super::proving::TAPES;
use crate::campaign::single::limits;
use crate::error::Error;
use crate::verdict::End;

/// The largest number of operations in one execution and in all of them together.
const STEPS: u64 = 500_000;
const ALL_STEPS: u64 = 4_000_000;

impl Alternation<'_, '_> {
    /// If the campaign ended with proofs of checks that no execution has reached, executes the
    /// first tapes and the shortest tapes of the corpus.
    pub(in crate::campaign) fn execute_after_proof(&mut self, end: End) -> Result<End, Error> {
        if end != End::Settled || self.overview().table().checks.proved_not_reached == 0 {
            return Ok(end);
        }
        let mut given = self.given()?;
        given.sort_by_key(Vec::len);
        given.truncate(TAPES);
        let mut news = Vec::new();
        let mut left = ALL_STEPS;
        let mut machine = Machine::new(self.subject.program, limits(self.subject.harness));
        for tape in Search::first().into_iter().chain(given) {
            machine.set_limits(Limits {
                steps: left.min(STEPS),
                ..machine.limits().clone()
            });
            let run = machine.run(&tape);
            if run.violation().is_some() {
                // This contradicts a proof, so it is examined like any other violation.
                self.searching.search.add(&tape, Origin::Given, &mut news);
            }
            let entered = run
                .counts
                .iter()
                .enumerate()
                .filter(|(_, times)| **times > 0);
            self.searching
                .search
                .note_covered(entered.map(|(block, _)| block as u32));
            left = left.saturating_sub(run.steps);
            if left == 0 || self.overview().table().checks.proved_not_reached == 0 {
                break;
            }
        }
        self.take(&mut news)?;
        Ok(end)
    }
}
