//! Searches executions that reach goals which do not follow.
//!
//! A goal that an execution reaches cannot be proved, and candidates for it are useless. Therefore,
//! two queries are asked before candidates are generated: whether a state of the forest is one
//! fragment away from the goal (`abstraction::frontier`), and whether the goal is reached after
//! many iterations of loops (`abstraction::loops`). The results are tapes for the search and the
//! fuzzer.

use std::time::{Duration, Instant};

use super::{Prover, Seed};
use crate::abstraction::forest::Forest;
use crate::abstraction::frontier;
use crate::abstraction::loops::Asking;
use crate::simulate::legible::{SHORT, legible};
use crate::simulate::search::{LONGEST, Origin};
use cegar_model::machine::{Execution, Limits, Machine};
use cegar_model::program::ir::FunctionKind;

/// A tape of this many bytes takes the machine about a second.
const LONG: usize = 1 << 20;
/// A single goal gets at most this fraction of the time for all.
const GOALS: u32 = 4;

impl Prover<'_, '_> {
    /// Asks for each goal that does not follow whether a state of the forest leads there. If so, it
    /// cannot be proved, and the tape is worth executing.
    pub(super) fn frontier(&mut self, forest: &Forest) {
        let Some(seeds) = &self.options.seeds else {
            return;
        };
        let clock = Instant::now();
        for ((start, index), failing) in self.settled.failing.clone() {
            if failing.model.is_none() || self.cancellation.is_over() {
                continue;
            }
            let obligation = &self.graph.fragments[&start].obligations[index];
            if !self
                .options
                .properties
                .contains(&obligation.kind.property())
            {
                continue;
            }
            let goal = obligation.goal();
            let assumptions_before = obligation.assumptions_before;
            self.stats.frontier_queries += 1;
            let found = frontier::reach(
                &mut self.solver,
                &mut self.graph,
                forest,
                (start, &goal, assumptions_before),
                self.cancellation,
                &mut self.cost,
            );
            if let Some(tape) = found {
                self.stats.frontier_seeds += 1;
                let origin = Origin::Frontier;
                // The receiver may be gone.
                let run = None;
                let _ = seeds.send(Seed { tape, origin, run });
            }
        }
        self.stats.frontier += clock.elapsed().as_secs_f64();
    }

    /// Asks for each goal that does not follow whether it is reached around the loops on the way,
    /// for at most `time` in all and a fraction of it for each.
    pub(super) fn around(&mut self, forest: &Forest, time: Duration) {
        let Some(seeds) = self.options.seeds.as_ref().filter(|_| self.options.loops) else {
            return;
        };
        let clock = Instant::now();
        let spent = self.solver.spent();
        let cancellation = self.cancellation.at_most(time, &spent);
        let mut goals: Vec<_> = self
            .settled
            .failing
            .iter()
            .map(|(&key, failing)| (key, failing.model.is_some()))
            .collect();
        // The user's own code first.
        goals.sort_by_key(|&((start, index), _)| {
            let block = self.graph.fragments[&start].obligations[index].block;
            let function = self.program.block(block).function;
            self.program.function(function).kind != FunctionKind::User
        });
        let machine = Machine::new(self.program, Limits::default());
        for ((start, index), is_possible) in goals {
            if cancellation.is_over() {
                break;
            }
            let obligation = &self.graph.fragments[&start].obligations[index];
            let is_violated = |check| self.options.covered.is_violated(check);
            let wanted = &self.options.properties;
            if !is_possible
                || obligation.vague
                || !wanted.contains(&obligation.kind.property())
                || obligation.check.is_some_and(is_violated)
                || self.reached.contains(&(start, index))
            {
                continue;
            }
            let goal = obligation.goal();
            let assumptions_before = obligation.assumptions_before;
            let check = obligation.check;
            let leads = |run: &Execution| {
                run.violation()
                    .is_some_and(|violation| check.is_none() || violation.check == check)
            };
            let mut shown = None;
            let mut confirm = |tape: &[u8]| {
                // The receiver executes a very long tape, and once is enough.
                if tape.len() > LONG {
                    return true;
                }
                let plain = (tape.len() > SHORT).then(|| legible(&machine, tape));
                let found = plain.flatten().into_iter().chain([tape.to_vec()]);
                shown = found
                    .map(|tape| (machine.run(&tape), tape))
                    .find(|(run, _)| leads(run));
                shown.is_some()
            };
            let mut asking = Asking {
                solver: &mut self.solver,
                graph: &mut self.graph,
                facts: &self.facts,
                forest,
                confirm: &mut confirm,
                longest: LONGEST,
                cancellation: cancellation.at_most(time / GOALS, &spent),
                cost: &mut self.cost,
            };
            let found = self
                .loops
                .reach(&mut asking, (start, &goal, assumptions_before));
            if let Some(tape) = found {
                self.reached.insert((start, index));
                let (run, tape) = match shown {
                    Some((run, tape)) => (Some(Box::new(run)), tape),
                    None => (None, tape),
                };
                let origin = Origin::Loop;
                let _ = seeds.send(Seed { tape, origin, run });
            }
        }
        let stats = self.loops.stats;
        self.stats.loop_segments = stats.segments;
        self.stats.loop_paths = stats.paths;
        self.stats.loop_answers = stats.answers;
        self.stats.loop_seeds = stats.confirmed;
        self.stats.loops += clock.elapsed().as_secs_f64();
    }
}
