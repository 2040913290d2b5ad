//! The loop of the strategies over predicate abstraction: an abstract path, and its refutation or
//! its input.
//!
//! All of them repeat the same steps: an abstract path is searched, and the program is asked
//! whether it can take it; if so, there is an input, and if not, the abstraction is refined. They
//! differ in where a path begins, in how much of it is simulated, and in the role of executions.
//! When no path is left, the reachable abstract states are a fact of each cut point.

use super::base::Base;
use crate::boolean::diagrams::Set;
use crate::boolean::model::Abstraction;
use crate::boolean::program::AbstractPath;
use crate::boolean::reach::Reached;
use crate::boolean::refine::{self, Simulated, Trace};
use crate::regions::Goal;
use cegar_model::machine::{Execution, Limits, Machine, Outcome};
use cegar_model::program::ir::{FunctionKind, Program};
use cegar_model::symbolic::world::Cut;
use cegar_model::term::Term;
use cegar_search::abstraction::asking::Facts;
use cegar_search::abstraction::graph::Graph;
use cegar_search::abstraction::loops::Path;

/// The number of solver steps that are added for each iteration, so that iterations without queries
/// end as well.
const TURN: u64 = 30_000;
/// The step limit of an execution that may not terminate, and the additional steps for each byte of
/// its tape.
const LEAST: u64 = 5_000_000;
const PER_BYTE: u64 = 200;

/// Which cause of a spurious path is considered first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum First {
    /// Missing predicates, as in SLAM.
    Predicates,
    /// A step that the program cannot take by itself, as in CRunner.
    Steps,
}

/// The result of a search.
#[derive(Debug)]
pub(super) enum Found {
    /// An abstract path to a goal.
    Path(AbstractPath),
    /// There is no path; these are the reachable states.
    Nothing(Vec<Set>),
    /// The search did not end.
    GivenUp,
}

/// A strategy over predicate abstraction; see the [module](self).
pub(super) struct PredicateLoop<'b, 'a, 'p> {
    pub(super) base: &'b mut Base<'a, 'p>,
    pub(super) abstraction: Abstraction,
    /// The goals, by their numbers in the abstraction.
    goals: Vec<Goal>,
    numbers: u32,
}

impl<'b, 'a, 'p> PredicateLoop<'b, 'a, 'p> {
    /// The coarsest abstraction, with the goals that are left.
    pub(super) fn new(base: &'b mut Base<'a, 'p>) -> PredicateLoop<'b, 'a, 'p> {
        let goals = base.goals.clone();
        let mut abstraction = Abstraction::new(&mut base.graph, &goals);
        abstraction.hide(beside(base.program, &base.graph, &goals));
        PredicateLoop {
            base,
            abstraction,
            goals,
            numbers: 0,
        }
    }

    /// A number that no other path has.
    pub(super) fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    /// Searches an abstract path to a goal. Goals in the user's own code come first.
    pub(super) fn search(&mut self) -> Found {
        self.base.cancellation.note(TURN);
        let base = &mut *self.base;
        loop {
            let found = self
                .abstraction
                .search(&mut base.graph, base.cancellation, &mut base.cost);
            return match found {
                Ok(Reached::Error(path)) => Found::Path(path),
                // No goal in the user's own code is left.
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

    /// Whether the program can take a trace, or its first steps up to a number, from the end of the
    /// given path and under the given terms.
    pub(super) fn simulate(&mut self, trace: (&Trace, usize), from: (Path, &[Term])) -> Simulated {
        let base = &mut *self.base;
        refine::simulate(
            &mut base.solver,
            &mut base.graph,
            trace,
            from,
            base.cancellation,
            &mut base.cost,
        )
    }

    /// Refines the abstraction with the reason why a path that begins like `from` is impossible.
    /// Returns false if it learns nothing from it.
    pub(super) fn refine(
        &mut self,
        path: &AbstractPath,
        trace: &Trace,
        (why, from): (&[(usize, Term)], Path),
        first: First,
    ) -> bool {
        let before = self.base.stats.splits;
        let learnt = match first {
            First::Predicates => self.add(trace, why, from) || self.exclude(path),
            First::Steps => self.exclude(path) || self.add(trace, why, from),
        };
        tracing::debug!(
            "a path of {} steps to {} ends at step {:?}; {} new predicates, learnt: {learnt}",
            path.steps.len(),
            self.describe(path.error),
            why.last().map(|(step, _)| step),
            self.base.stats.splits - before,
        );
        learnt
    }

    fn exclude(&mut self, path: &AbstractPath) -> bool {
        let base = &mut *self.base;
        let (cancellation, cost) = (base.cancellation, &mut base.cost);
        let graph = &mut base.graph;
        self.abstraction
            .exclude_spurious(graph, path, cancellation, cost)
            > 0
    }

    /// Adds the predicates that the guards of a trace depend on; if these are known, adds the
    /// constant values of the variables that the guards are about. False if there is nothing new.
    fn add(&mut self, trace: &Trace, why: &[(usize, Term)], from: Path) -> bool {
        let (found, about) = refine::predicates(&mut self.base.graph, trace, why);
        if self.add_all(found) > 0 {
            return true;
        }
        let found = refine::constants(&mut self.base.graph, trace, &about, from);
        self.add_all(found) > 0
    }

    fn add_all(&mut self, found: Vec<(Cut, Term)>) -> u64 {
        let mut new = 0;
        for (cut, predicate) in found {
            let pool = &mut self.base.graph.pool;
            new += u64::from(self.abstraction.add(pool, cut, predicate));
        }
        self.base.stats.splits += new;
        new
    }

    /// The description of a goal, for the log.
    fn describe(&self, error: usize) -> String {
        let fragment = &self.base.graph.fragments[&self.goals[error].start()];
        let program = self.base.program;
        match self.goals[error] {
            Goal::Obligation(_, i) => {
                let obligation = &fragment.obligations[i];
                format!("{:?} at {}", obligation.kind, program.show(obligation.pos))
            }
            Goal::Hole(_, i) => {
                let hole = &fragment.holes[i];
                format!("{} at {}", hole.what, program.show(hole.pos))
            }
        }
    }

    /// Whether the goal is imprecise: a pointer is not known, or a construct is not modelled.
    fn is_vague(&self, error: usize) -> bool {
        match self.goals[error] {
            Goal::Obligation(start, i) => self.base.graph.fragments[&start].obligations[i].vague,
            Goal::Hole(..) => true,
        }
    }

    /// A machine with limits for tapes of this length.
    fn machine(&self, length: usize) -> Machine<'p> {
        let limits = Limits {
            steps: LEAST + PER_BYTE * length as u64,
            ..Limits::default()
        };
        Machine::new(self.base.program, limits)
    }

    /// Whether the program violates a check before it reads anything. Such a violation is reported
    /// like any other.
    pub(super) fn is_violated_alone(&mut self) -> bool {
        let execution = self.machine(0).run(&[]);
        let has_read = execution.exhausted.is_some() || !execution.choices.is_empty();
        !has_read && execution.violation().is_some() && self.tell(&[], &execution)
    }

    /// Executes a tape. Returns whether it violates a check that is asked for; then the violation
    /// is reported, and the check is no longer a goal.
    pub(super) fn execute(&mut self, tape: &[u8]) -> (Execution, bool) {
        let execution = self.machine(tape.len()).run(tape);
        self.base.stats.executions += 1;
        let is_violated = self.tell(tape, &execution);
        (execution, is_violated)
    }

    fn tell(&mut self, tape: &[u8], execution: &Execution) -> bool {
        let Outcome::Violated(violation) = &execution.outcome else {
            return false;
        };
        // The tape after the violation does not matter, unless the program asks how many bytes are
        // left.
        let used = &tape[..execution.consumed.min(tape.len())];
        let shorter = self.machine(used.len()).run(used);
        let is_enough = shorter.violation().is_some_and(|v| v.pos == violation.pos);
        if !self.base.test(if is_enough { used } else { tape }) {
            return false;
        }
        for error in 0..self.goals.len() {
            if !self.base.goals.contains(&self.goals[error]) {
                self.abstraction.close(error);
            }
        }
        true
    }

    /// Handles a path to a goal that the program can take: executes it and closes the goal.
    pub(super) fn reached(&mut self, error: usize, tape: &[u8]) {
        if !self.is_vague(error) {
            let (execution, _) = self.execute(tape);
            tracing::debug!(
                "{} by a tape of {} bytes: {:?}",
                self.describe(error),
                tape.len(),
                execution.outcome
            );
        }
        // If the machine does not show the violation, something on the path is not modelled
        // exactly, and the goal stays open.
        self.close(error);
    }

    /// Stops searching a goal. It stays open unless an execution violates it.
    pub(super) fn close(&mut self, error: usize) {
        tracing::debug!("no more of {}", self.describe(error));
        self.abstraction.close(error);
    }

    /// The goal with a number.
    pub(super) fn goal(&self, error: usize) -> Goal {
        self.goals[error]
    }

    /// The reachable states, as facts.
    pub(super) fn facts(&mut self, reached: &[Set]) -> Facts {
        self.abstraction.facts(&mut self.base.graph.pool, reached)
    }
}

/// The goals that are not in the user's own code; they come last.
fn beside(program: &Program, graph: &Graph<'_>, goals: &[Goal]) -> Vec<usize> {
    let is_beside = |goal: &Goal| {
        let fragment = &graph.fragments[&goal.start()];
        let block = match *goal {
            Goal::Obligation(_, i) => fragment.obligations[i].block,
            Goal::Hole(_, i) => fragment.holes[i].block,
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
