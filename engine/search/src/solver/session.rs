//! An incremental Z3 solver with a stack of assertions.
//!
//! Deepening asks the same prefix again with more constraints after it. Z3's incremental core keeps
//! what it learnt about the prefix as long as it stays asserted.

use z3::SatResult;
use z3::ast::Bool;

use cegar_model::deadline;
use cegar_model::solver::timed::timed;
use cegar_model::solver::translate::Translator;
use cegar_model::solver::z3::{count, params, reason};
use cegar_model::solver::{Answer, Limits, Reason};
use cegar_model::term::{Pool, Term};

/// An incremental solver. Use it with one pool only.
#[derive(Debug)]
pub struct Session {
    solver: z3::Solver,
    translator: Translator,
    asserted: Vec<Term>,
    levels: Vec<usize>,
    /// The solver's steps that the last query took, if steps are limited; otherwise 0.
    pub spent: u64,
}

impl Default for Session {
    fn default() -> Session {
        Session::new()
    }
}

impl Session {
    /// A solver without assertions, in the calling thread's Z3 context.
    pub fn new() -> Session {
        Session {
            solver: z3::Solver::new(),
            translator: Translator::default(),
            asserted: Vec::new(),
            levels: Vec::new(),
            spent: 0,
        }
    }

    /// Opens a level.
    pub fn push(&mut self) {
        self.solver.push();
        self.levels.push(self.asserted.len());
    }

    /// Closes the innermost level and removes its assertions. Does nothing if no level is open.
    pub fn pop(&mut self) {
        if let Some(length) = self.levels.pop() {
            self.solver.pop(1);
            self.asserted.truncate(length);
        }
    }

    /// Asserts a one-bit term in the innermost level.
    pub fn assert(&mut self, pool: &Pool, t: Term) {
        self.solver.assert(self.translator.assertion(pool, t));
        self.asserted.push(t);
    }

    /// Whether everything asserted and all of `assumptions` can hold together. A core's indices are
    /// into `assumptions`; it is empty if the assertions alone are unsatisfiable.
    pub fn check(&mut self, pool: &Pool, assumptions: &[Term], limits: &Limits) -> Answer {
        if deadline::passed() {
            return Answer::Unknown(Reason::Time);
        }
        self.solver.set_params(&params(limits));
        // Assumptions have to be literals; their definitions are removed with the level.
        self.solver.push();
        let labels: Vec<Bool> = assumptions
            .iter()
            .map(|&t| {
                let label = Bool::fresh_const("assume");
                self.solver
                    .assert(label.implies(self.translator.assertion(pool, t)));
                label
            })
            .collect();
        let before = limits.steps.map(|_| count(&self.solver));
        let (checked, interrupted) = timed(limits, || self.solver.check_assumptions(&labels));
        let after = before.map(|before| count(&self.solver).wrapping_sub(before));
        self.spent = after.map_or(0, u64::from);
        let answer = match checked {
            SatResult::Unsat => {
                let core = self.solver.get_unsat_core();
                let of = |label: &Bool| core.iter().any(|c| c == label);
                Answer::Unsat {
                    core: (0..labels.len()).filter(|&i| of(&labels[i])).collect(),
                }
            }
            SatResult::Unknown => Answer::Unknown(reason(&self.solver, limits, interrupted)),
            SatResult::Sat => self.model(pool, assumptions),
        };
        self.solver.pop(1);
        answer
    }

    fn model(&self, pool: &Pool, assumptions: &[Term]) -> Answer {
        let Some(found) = self.solver.get_model() else {
            return Answer::Unknown(Reason::Other("no model".to_owned()));
        };
        let all: Vec<Term> = self.asserted.iter().chain(assumptions).copied().collect();
        let model = self.translator.model(pool, &all, &found);
        if model.satisfies(pool, &all) {
            Answer::Sat(model)
        } else {
            Answer::Unknown(Reason::Unfaithful)
        }
    }
}
