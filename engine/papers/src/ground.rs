//! The turn that the strategies over predicate abstraction share: an abstract path, and its
//! refutation or its input.
//!
//! All of them turn around the same four steps. An abstract path is searched for; the program is
//! asked whether it can go there; if so there is an input, and if not the abstraction is told why.
//! They differ in where a path begins, in how much of it is simulated, and in what an execution may
//! say in between. When nothing is left to search for, what is reached abstractly is a fact of each
//! cut point.

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

/// Steps of the solver that a turn is counted as, beside those that it takes: also what asks
/// nothing comes to an end.
const TURN: u64 = 30_000;
/// Steps of an execution that may be endless, and as many more for each byte of its tape.
const LEAST: u64 = 5_000_000;
const PER_BYTE: u64 = 200;

/// Which cause of a spurious path is looked for first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum First {
    /// A lack of predicates, as SLAM does.
    Predicates,
    /// A step that the program cannot take by itself, as CRunner does.
    Steps,
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

/// See the [module](self).
pub(super) struct Ground<'b, 'a, 'p> {
    pub(super) base: &'b mut Base<'a, 'p>,
    pub(super) abstraction: Abstraction,
    /// By number, as the abstraction knows them.
    goals: Vec<Goal>,
    numbers: u32,
}

impl<'b, 'a, 'p> Ground<'b, 'a, 'p> {
    /// The coarsest abstraction, with what is left to do as its goals.
    pub(super) fn new(base: &'b mut Base<'a, 'p>) -> Ground<'b, 'a, 'p> {
        let goals = base.goals.clone();
        let mut abstraction = Abstraction::new(&mut base.graph, &goals);
        abstraction.hide(beside(base.program, &base.graph, &goals));
        Ground {
            base,
            abstraction,
            goals,
            numbers: 0,
        }
    }

    /// A number that no path has had.
    pub(super) fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    /// Searches for an abstract path to a goal, of those in the user's own code first.
    pub(super) fn search(&mut self) -> Found {
        self.base.patience.note(TURN);
        let base = &mut *self.base;
        loop {
            let found = self
                .abstraction
                .search(&mut base.graph, base.patience, &mut base.cost);
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

    /// Whether the program can take a trace, or so many steps of it, from where `path` begins and
    /// where `known` holds.
    pub(super) fn simulate(&mut self, trace: (&Trace, usize), from: (Path, &[Term])) -> Simulated {
        let base = &mut *self.base;
        refine::simulate(
            &mut base.solver,
            &mut base.graph,
            trace,
            from,
            base.patience,
            &mut base.cost,
        )
    }

    /// Tells the abstraction why a path is none that begins as `from` does. False if it learns
    /// nothing from it.
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
        let (patience, cost) = (base.patience, &mut base.cost);
        let graph = &mut base.graph;
        self.abstraction
            .exclude_spurious(graph, path, patience, cost)
            > 0
    }

    /// Adds the predicates that the guards of a trace rest on, and if these are known what the
    /// trace makes of the variables that they are about; false if there is nothing new.
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

    /// A goal in words, for the log.
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

    /// Whether the engine itself does not know what a goal says.
    fn is_vague(&self, error: usize) -> bool {
        match self.goals[error] {
            Goal::Obligation(start, i) => self.base.graph.fragments[&start].obligations[i].vague,
            Goal::Hole(..) => true,
        }
    }

    /// A machine for tapes of this length.
    fn machine(&self, length: usize) -> Machine<'p> {
        let limits = Limits {
            steps: LEAST + PER_BYTE * length as u64,
            ..Limits::default()
        };
        Machine::new(self.base.program, limits)
    }

    /// Whether the program violates a check before it reads anything. Such a violation is told as
    /// any other.
    pub(super) fn is_violated_alone(&mut self) -> bool {
        let execution = self.machine(0).run(&[]);
        let has_read = execution.exhausted.is_some() || !execution.choices.is_empty();
        !has_read && execution.violation().is_some() && self.tell(&[], &execution)
    }

    /// Executes a tape; whether it violates a check that is asked about. The violation is told, and
    /// the check is no goal any more.
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
        // The tape behind the violation does not matter, unless the program has asked how many
        // bytes are left.
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

    /// A path that the program can take to a goal: it is executed, and the goal is settled one way
    /// or the other.
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
        // What the machine does not do rests on something that is not modelled exactly, and stays
        // open.
        self.close(error);
    }

    /// Does not search for a goal any more. It stays open unless an execution violates it.
    pub(super) fn close(&mut self, error: usize) {
        tracing::debug!("no more of {}", self.describe(error));
        self.abstraction.close(error);
    }

    /// A goal by its number.
    pub(super) fn goal(&self, error: usize) -> Goal {
        self.goals[error]
    }

    /// What is reached, as facts.
    pub(super) fn facts(&mut self, reached: &[Set]) -> Facts {
        self.abstraction.facts(&mut self.base.graph.pool, reached)
    }
}

/// The goals that are not in the user's own code: they come last.
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
