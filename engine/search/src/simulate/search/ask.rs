//! Departures as queries to the solver.
//!
//! Most answers come at once. A query that reached the solver's limits waits in a class of its own
//! and is asked once more with larger limits: it may be about a checksum that guards the rest of
//! the program.

use super::*;
use crate::simulate::partial::{Question, Simulated, simulate};
use cegar_model::deadline;
use cegar_model::term::Term;

/// The factor by which the limits grow for a query that reached them and is asked again.
const PATIENCE: u32 = 4;

impl Search<'_> {
    pub(super) fn flip(
        &mut self,
        of: &Rc<Recorded>,
        at: usize,
        class: usize,
        news: &mut Vec<News>,
    ) {
        let (wanted, target) = match of.path[at].event {
            Event::Branch {
                from, other, cond, ..
            } => {
                let covered = self.covered[other.index()];
                if class == class::UNCOVERED && covered {
                    // Another execution entered the block: this departure is now worth only its
                    // context.
                    self.later(of, at, from, other);
                    return;
                }
                *self.tried.entry((from.0, other.0)).or_default() += 1;
                (self.pool.not(cond), Some(other))
            }
            Event::Assume { cond } | Event::Concretised { cond } => (self.pool.not(cond), None),
            Event::Check { .. } => return,
        };
        if let Some((tape, changed)) = self.ask(of, at, wanted, class) {
            let reached = self.execute(tape, Origin::Simulation, &changed, news);
            if let (Some(counts), Some(target)) = (reached, target)
                && counts[target.index()] == 0
            {
                self.stats.diverged += 1;
            }
        }
    }

    pub(super) fn violate(
        &mut self,
        of: &Rc<Recorded>,
        at: usize,
        class: usize,
        news: &mut Vec<News>,
    ) {
        let Event::Check {
            check: Some(check),
            violated,
        } = of.path[at].event
        else {
            return;
        };
        if self.violated.contains(&check) {
            return;
        }
        if let Some((tape, changed)) = self.ask(of, at, violated, class) {
            self.execute(tape, Origin::Simulation, &changed, news);
            if !self.violated.contains(&check) {
                self.stats.diverged += 1;
            }
        }
    }

    fn ask(
        &mut self,
        of: &Rc<Recorded>,
        at: usize,
        wanted: Term,
        class: usize,
    ) -> Option<(Vec<u8>, Vec<u32>)> {
        let limits = match class {
            class::AGAIN => self.longer_limits()?,
            _ => self.config.query,
        };
        self.stats.questions += 1;
        let question = Question {
            index: &of.index,
            before: at,
            wanted,
            tape: &of.tape,
            choices: &of.choices,
        };
        match simulate(&mut self.pool, &mut self.solver, &question, &limits) {
            Simulated::Tape { tape, changed } => {
                self.stats.answered += 1;
                return Some((tape, changed));
            }
            Simulated::Dead => self.stats.dead += 1,
            Simulated::Open | Simulated::OutOfLimits if deadline::is_raised(&deadline::alarm()) => {
                tracing::debug!(at, "a question was broken off");
                self.later_again(of, at, class);
            }
            Simulated::Open => {
                tracing::debug!(
                    at,
                    bytes = of.tape.len(),
                    "no narrowed question has an answer"
                );
                self.stats.open += 1;
            }
            Simulated::OutOfLimits if class == class::AGAIN => self.stats.open += 1,
            Simulated::OutOfLimits => {
                tracing::debug!(at, bytes = of.tape.len(), "a question went to the limits");
                self.later_again(of, at, class::AGAIN);
            }
        }
        None
    }

    /// Queues a query to be asked once more.
    fn later_again(&mut self, of: &Rc<Recorded>, at: usize, class: usize) {
        let of = of.clone();
        let work = match of.path[at].event {
            Event::Check { .. } => Work::Violate { of, at },
            _ => Work::Flip { of, at },
        };
        self.push(class, at as u64, work);
    }

    /// The limits for a query that reached the limits before; `None` if the remaining time is too
    /// short.
    fn longer_limits(&self) -> Option<solver::Limits> {
        let limits = solver::Limits {
            time: self.config.query.time.map(|time| time * PATIENCE),
            steps: (self.config.query.steps).map(|steps| steps.saturating_mul(PATIENCE)),
            ..self.config.query
        };
        let left = (self.config.until).map(|until| until.saturating_duration_since(Instant::now()));
        let fits = limits.time.zip(left).is_none_or(|(time, left)| time < left);
        fits.then_some(limits)
    }
}
