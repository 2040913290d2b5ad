//! What the strategies over predicate abstraction have in common: goals, questions, answers.
//!
//! All of them turn around the same four steps. An abstract path is searched for; the program is asked whether it can go there;
//! if so there is an input, and if not the abstraction is told why. They differ in where a path begins, in how much of it
//! is simulated, and in what an execution may say in between. When nothing is left to search for, what is
//! reached abstractly is a fact of each cut point, and the facts are asked about once more from scratch: the search itself is not
//! part of a proof.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::options::{Options, Seed, Stats};
use super::outcome::{Evidence, Proof};
use crate::abstraction::boolean::diagrams::Set;
use crate::abstraction::boolean::model::{Abstraction, Goal, What};
use crate::abstraction::boolean::program::AbstractPath;
use crate::abstraction::boolean::reach::Reached;
use crate::abstraction::boolean::refine::{self, Simulated, Trace};
use crate::abstraction::goals::{self, Settled};
use crate::abstraction::graph::Graph;
use crate::abstraction::houdini::{Cost, Facts, Patience};
use crate::abstraction::loops::Path;
use crate::abstraction::world::{Cut, Grain};
use crate::machine::{Execution, Limits, Machine, Outcome};
use crate::program::ir::{BlockId, CheckId, FunctionKind, Program};
use crate::simulate::search::Origin;
use crate::solver::{Z3, steps};
use crate::term::Term;

/// Steps of the solver that a turn is counted as, beside those that it takes: also what asks nothing comes to an end.
const TURN: u64 = 30_000;

/// Steps of an execution that may be endless, and as many more for each byte of its tape.
const LEAST: u64 = 2_000_000;
const PER_BYTE: u64 = 60;

/// Which cause of a spurious path is looked for first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum First {
    /// A lack of predicates, as SLAM does.
    Predicates,
    /// A step that the program cannot take by itself, as CRunner does.
    Steps,
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Ground<'a, 'p> {
    pub(super) program: &'p Program,
    pub(super) options: &'a Options,
    pub(super) graph: Graph<'p>,
    pub(super) abstraction: Abstraction,
    pub(super) solver: Z3,
    pub(super) cost: Cost,
    pub(super) stats: Stats,
    pub(super) patience: Patience<'a>,
    goals: Vec<Goal>,
    open: Vec<bool>,
    numbers: u32,
    violated: bool,
    /// Whether something was violated since somebody asked.
    news: bool,
}

impl<'a, 'p> Ground<'a, 'p> {
    /// Explores the program and asks about every goal once, without any facts: only those that do not follow are left to search
    /// for. Where exploring does not end, that is the proof.
    #[expect(
        clippy::result_large_err,
        reason = "the error is the strategy's whole answer, once"
    )]
    pub(super) fn open(
        program: &'p Program,
        options: &'a Options,
        grain: Grain,
        (stop, spent): (&'a AtomicBool, &'a Cell<u64>),
    ) -> Result<Ground<'a, 'p>, Proof<'p>> {
        let deadline = (!options.counted).then(|| Instant::now() + options.time);
        let mut budget = options.budget;
        budget.deadline = deadline;
        let mut stats = Stats::default();
        let clock = Instant::now();
        let mut graph = match Graph::explore(program, grain, budget) {
            Ok(graph) => graph,
            Err(why) => return Err(Proof::unexplored(program, options, why, stats)),
        };
        stats.explore = clock.elapsed().as_secs_f64();
        stats.cuts = graph.states.len() as u64;
        stats.contexts = graph.world.contexts() as u64;
        stats.encodings = graph.encodings;
        stats.approximations = graph
            .fragments
            .values()
            .map(|fragment| u64::from(fragment.approximations))
            .sum();
        let patience = Patience {
            deadline,
            steps: options.counted.then(|| (spent, steps(options.time))),
            stop,
        };
        let mut solver = Z3::new();
        let mut cost = Cost::default();
        let mut settled = Settled::default();
        goals::settle(
            &mut solver,
            &mut graph,
            &Facts::new(),
            &|_| false,
            patience,
            (&mut settled, &mut cost),
        );
        spent.set(solver.spent().get());
        let asked = |key: &(Option<_>, usize)| {
            let obligation = &graph.fragments[&key.0].obligations[key.1];
            let is_violated = |check| options.covered.is_violated(check);
            options.properties.contains(&obligation.kind.property())
                && !obligation.check.is_some_and(is_violated)
        };
        let left = settled.open(asked);
        let obligations = left.obligations.iter();
        let mut all: Vec<Goal> = obligations
            .map(|&(start, i)| Goal {
                start,
                what: What::Obligation(i),
            })
            .collect();
        all.extend(left.holes.iter().map(|&(start, i)| Goal {
            start,
            what: What::Hole(i),
        }));
        let mut abstraction = Abstraction::new(&mut graph, &all);
        abstraction.hide(beside(program, &graph, &all));
        Ok(Ground {
            program,
            options,
            graph,
            abstraction,
            solver,
            cost,
            stats,
            patience,
            open: vec![true; all.len()],
            goals: all,
            numbers: 0,
            violated: false,
            news: false,
        })
    }

    /// A number that no path has had.
    pub(super) fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    /// Whether there is nothing to do any more: time is up, or a violation was all that was wanted.
    pub(super) fn is_over(&self) -> bool {
        self.patience.is_over() || (self.violated && self.options.first_only)
    }

    /// Searches for an abstract path to a goal; none if there is none or if it cannot be told.
    pub(super) fn search(&mut self) -> Found {
        self.stats.iterations += 1;
        self.spend();
        loop {
            let found = self
                .abstraction
                .search(&mut self.graph, self.patience, &mut self.cost);
            return match found {
                Ok(Reached::Error(path)) => Found::Path(path),
                // The user's own code is done with.
                Ok(Reached::Nothing(_)) if self.abstraction.show_all() => continue,
                Ok(Reached::Nothing(sets)) => Found::Nothing(sets),
                Ok(Reached::Stopped) => Found::GivenUp,
                Err(full) => {
                    tracing::info!("{full}");
                    Found::GivenUp
                }
            };
        }
    }

    /// Brings the meter up to date.
    fn spend(&mut self) {
        let mine = self.solver.spent();
        self.patience.note(mine.replace(0) + TURN);
    }

    /// Whether something was violated since this was last asked.
    pub(super) fn take_violated(&mut self) -> bool {
        std::mem::take(&mut self.news)
    }

    /// Whether the program can take a trace, or so many steps of it, from where `path` begins and where `known` holds.
    pub(super) fn simulate(
        &mut self,
        (trace, most): (&Trace, usize),
        from: (Path, &[Term]),
    ) -> Simulated {
        refine::simulate(
            &mut self.solver,
            &mut self.graph,
            (trace, most),
            from,
            self.patience,
            &mut self.cost,
        )
    }

    /// Tells the abstraction why a path is none. False if it learns nothing from it.
    pub(super) fn refine(
        &mut self,
        path: &AbstractPath,
        trace: &Trace,
        (why, from): (&[(usize, Term)], Path),
        first: First,
    ) -> bool {
        let before = self.stats.splits;
        let learnt = match first {
            First::Predicates => self.add(trace, why, from) || self.exclude(path) > 0,
            First::Steps => self.exclude(path) > 0 || self.add(trace, why, from),
        };
        tracing::debug!(
            "a path of {} steps to {} ends at step {:?}; {} new predicates, learnt: {learnt}",
            path.steps.len(),
            self.describe(path.error),
            why.last().map(|(step, _)| step),
            self.stats.splits - before,
        );
        learnt
    }

    fn exclude(&mut self, path: &AbstractPath) -> usize {
        self.abstraction
            .exclude_spurious(&mut self.graph, path, self.patience, &mut self.cost)
    }

    /// Adds the predicates that the guards of a trace rest on, and if these are known what the trace makes of the variables that they
    /// are about; false if there is nothing new.
    fn add(&mut self, trace: &Trace, why: &[(usize, Term)], from: Path) -> bool {
        let (found, about) = refine::predicates(&mut self.graph, trace, why);
        if self.add_all(found) > 0 {
            return true;
        }
        let found = refine::constants(&mut self.graph, trace, &about, from);
        self.add_all(found) > 0
    }

    fn add_all(&mut self, found: Vec<(Cut, Term)>) -> usize {
        let mut new = 0;
        for (cut, predicate) in found {
            new += usize::from(self.abstraction.add(&mut self.graph.pool, cut, predicate));
        }
        self.stats.splits += new as u64;
        new
    }

    /// The check of a goal, unless it is a hole.
    fn check(&self, error: usize) -> Option<Option<CheckId>> {
        let goal = self.goals[error];
        match goal.what {
            What::Obligation(i) => Some(self.graph.fragments[&goal.start].obligations[i].check),
            What::Hole(_) => None,
        }
    }

    /// A goal in words, for whoever looks over our shoulder.
    fn describe(&self, error: usize) -> String {
        let goal = self.goals[error];
        let fragment = &self.graph.fragments[&goal.start];
        match goal.what {
            What::Obligation(i) => {
                let obligation = &fragment.obligations[i];
                let at = self.program.show(obligation.pos);
                format!("{:?} at {at}", obligation.kind)
            }
            What::Hole(i) => {
                let hole = &fragment.holes[i];
                format!("{} at {}", hole.what, self.program.show(hole.pos))
            }
        }
    }

    /// Whether the engine itself does not know what a goal says.
    fn is_vague(&self, error: usize) -> bool {
        let goal = self.goals[error];
        match goal.what {
            What::Obligation(i) => self.graph.fragments[&goal.start].obligations[i].vague,
            What::Hole(_) => true,
        }
    }

    /// A machine for tapes of this length.
    fn machine(&self, length: usize) -> Machine<'p> {
        let limits = Limits {
            steps: LEAST + PER_BYTE * length as u64,
            ..Limits::default()
        };
        Machine::new(self.program, limits)
    }

    /// Whether the program violates something before it has read anything: everybody hears of it.
    pub(super) fn is_violated_alone(&mut self) -> bool {
        let execution = self.machine(0).run(&[]);
        let has_read = execution.exhausted.is_some() || !execution.choices.is_empty();
        if has_read || !matches!(execution.outcome, Outcome::Violated(_)) {
            return false;
        }
        self.execute(&[], Origin::Given);
        true
    }

    /// Executes a tape. If it violates a check, everybody hears of it, and what is violated is not searched for any more.
    pub(super) fn execute(&mut self, tape: &[u8], origin: Origin) -> Execution {
        self.stats.executions += 1;
        let execution = self.machine(tape.len()).run(tape);
        if let Outcome::Violated(violation) = &execution.outcome {
            let property = violation.kind.property();
            if self.options.properties.contains(&property) {
                self.violated = true;
                self.news = true;
                self.stats.frontier_seeds += 1;
                if let Some(seeds) = &self.options.seeds {
                    // What is behind the violation is nobody's business, unless the program has asked how much is left.
                    let used = &tape[..execution.consumed.min(tape.len())];
                    let shorter = self.machine(used.len()).run(used);
                    let is_enough = shorter.violation().is_some_and(|v| v.pos == violation.pos);
                    let tape = if is_enough { used } else { tape }.to_vec();
                    // Nobody may be listening any more.
                    let _ = seeds.send(Seed { tape, origin });
                }
            }
            for error in 0..self.goals.len() {
                if self.check(error) == Some(violation.check) && violation.check.is_some() {
                    self.close(error);
                }
            }
        }
        execution
    }

    /// A path that the program can take to a goal: it is executed, and the goal is settled one way or the other.
    pub(super) fn reached(&mut self, error: usize, tape: &[u8], origin: Origin) {
        if !self.is_vague(error) {
            let execution = self.execute(tape, origin);
            tracing::debug!(
                "{} by a tape of {} bytes: {:?}",
                self.describe(error),
                tape.len(),
                execution.outcome
            );
        }
        // What the machine does not do rests on something that is not modelled exactly, and stays open.
        self.close(error);
    }

    /// Does not search for a goal any more. It stays open unless somebody has violated it.
    pub(super) fn close(&mut self, error: usize) {
        if std::mem::replace(&mut self.open[error], false) {
            tracing::debug!("no more of {}", self.describe(error));
            self.abstraction.close(error);
        }
    }

    /// What is reached, as facts.
    pub(super) fn facts(&mut self, reached: &[Set]) -> Facts {
        self.abstraction.facts(&mut self.graph.pool, reached)
    }

    /// Asks about everything with the facts that were found.
    pub(super) fn finish(mut self, facts: Facts) -> Proof<'p> {
        let clock = Instant::now();
        let mut settled = Settled::default();
        let program = self.program;
        let covered = &self.options.covered;
        let wanted = |block: BlockId| {
            let function = program.block(block).function;
            program.function(function).kind == FunctionKind::User && !covered.has(block)
        };
        self.stats.facts = facts.values().map(Vec::len).sum::<usize>() as u64;
        goals::settle(
            &mut self.solver,
            &mut self.graph,
            &facts,
            &wanted,
            self.patience,
            (&mut settled, &mut self.cost),
        );
        self.stats.settle += clock.elapsed().as_secs_f64();
        self.stats.solver_calls = self.cost.solver_calls;
        self.stats.unknown = self.cost.unknown;
        let evidence = Evidence {
            graph: self.graph,
            facts,
        };
        Proof::settled(program, self.options, settled, evidence, self.stats)
    }
}

/// The goals that are not in the user's own code: they come last.
fn beside(program: &Program, graph: &Graph<'_>, goals: &[Goal]) -> Vec<usize> {
    let is_beside = |goal: &Goal| {
        let fragment = &graph.fragments[&goal.start];
        let block = match goal.what {
            What::Obligation(i) => fragment.obligations[i].block,
            What::Hole(i) => fragment.holes[i].block,
        };
        let function = program.block(block).function;
        program.function(function).kind != FunctionKind::User
    };
    let numbered = goals.iter().enumerate();
    numbered
        .filter(|(_, goal)| is_beside(goal))
        .map(|(error, _)| error)
        .collect()
}

/// What a search found.
#[derive(Debug)]
pub(super) enum Found {
    /// A way to a goal.
    Path(AbstractPath),
    /// There is none; these are the states that are reached.
    Nothing(Vec<Set>),
    /// It did not end.
    GivenUp,
}

/// No facts.
pub(super) fn nothing() -> Facts {
    BTreeMap::new()
}
