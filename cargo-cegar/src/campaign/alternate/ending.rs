//! The end of a campaign: ends its processes and completes the statistics.

use std::time::Duration;

use cegar_fuzz::native::Kind;
use cegar_search::strategy::Strategy;

use super::Alternation;
use super::crew::Crew;
use crate::event::Unexecuted;
use crate::verdict::End;

/// How long to wait for the fuzzer's last count.
const LAST_WORDS: Duration = Duration::from_millis(300);

impl Alternation<'_, '_> {
    /// Ends the prover and the fuzzer, and completes the statistics.
    pub fn finish(&mut self) {
        // The fuzzer would take processor time from the prover and its checker, which may still be
        // working.
        self.fuzzing.crew.stop();
        if self.subject.settings.first_only && self.confirming.judge.count() > 0 {
            // The first finding is the answer, so there is no need to wait for the prover. A
            // published strategy ends at the first finding too.
            match self.subject.settings.strategy {
                Strategy::Auto => self.proving.prover = None,
                _ => self.count_strategy(),
            }
        }
        self.give_up_prover();
        // Blocks that only native runs entered count as covered, too.
        self.searching
            .search
            .note_covered(self.searching.backlog.entered());
        if !self.subject.is_counted() {
            let executions = self.fuzzing.crew.last_count(LAST_WORDS);
            self.stats.executions = self.stats.executions.max(executions);
        }
        self.fuzzing.crew = Crew::default();
        self.peers = None;
        let solver = self.searching.search.solver_stats();
        self.stats.solver_calls = solver.solver_calls + self.stats.prover.solver_calls;
        self.stats.machine_runs = self.searching.search.stats().executions;
        self.stats.seconds = self.subject.budget.begin().elapsed().as_secs_f64();
    }

    /// The reason that counts as "never executed" if no execution came to the function for which
    /// the harness was written. If everything is proved, the proof says whether one can.
    fn misses_its_function(&self) -> Option<Unexecuted> {
        let subject = &self.subject;
        let first_found = subject.settings.first_only && self.confirming.judge.count() > 0;
        // A published strategy need not execute anything.
        let is_asked = subject.settings.strategy == Strategy::Auto && !first_found;
        let name = subject.harness.drives.as_ref().filter(|_| is_asked)?;
        let function = subject.program.function_named(name)?;
        let function = subject.program.function(function);
        let entry = function.blocks.start as usize;
        let is_missed = match self.proving.is_complete() || self.is_decided() {
            true => self.proving.is_dead(entry),
            false => self.searching.search.covered().get(entry) == Some(&false),
        };
        (function.is_defined() && is_missed).then(|| Unexecuted {
            harness: subject.harness.name.clone(),
            why: format!("no execution came to `{name}`, which it drives"),
        })
    }

    /// Why this harness was never executed, or `None` if it was. Native executions count, and a
    /// complete proof needs no execution. Executions by the machine count where no fuzzing was
    /// requested, and where the check of one program ends at its first finding.
    pub fn unexecuted(&self, end: End) -> Option<Unexecuted> {
        let by_machine = self.stats.machine_runs > 0;
        let is_enough = self.stats.executions > 0
            // A strategy that has finished has examined everything that it examines.
            || (self.subject.settings.strategy != Strategy::Auto && self.proving.proofs.is_some())
            || ((!self.subject.settings.fuzzes() || self.subject.settings.first_only) && by_machine)
            || self.proving.is_complete()
            || self.is_decided();
        if end == End::Interrupted {
            return None;
        }
        if is_enough {
            return self.misses_its_function();
        }
        let mut why = if !self.subject.settings.fuzzes() {
            "the time was up before its first execution".to_owned()
        } else if self.subject.native.ready(Kind::Fast).is_none() {
            let spent = self.subject.budget.begin().elapsed().as_secs_f64();
            format!("its native target was not built within {spent:.0}s")
        } else {
            "the time was up before the fuzzer's first execution".to_owned()
        };
        if by_machine && self.subject.settings.fuzzes() {
            let runs = self.stats.machine_runs;
            why += &format!(" (the engine's machine executed {runs} inputs)");
        }
        Some(Unexecuted {
            harness: self.subject.harness.name.clone(),
            why,
        })
    }
}
