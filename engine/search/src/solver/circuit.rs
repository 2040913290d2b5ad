//! An incremental SAT solver for queries that share most of their assertions.
//!
//! The transitions of a graph are queried hundreds of times, each time with a few candidates less.
//! Z3 started anew spends nearly all of its time on preprocessing the shared part, and its
//! incremental core does so for every candidate. Here the shared part is translated once to a
//! circuit without arrays (see [`super::reads`] and [`super::blast`]) for a SAT solver, which is
//! queried under assumptions. Only the search uses it: the checker of certificates proves
//! everything again with Z3. Where a term has no circuit, there is no answer, and the caller asks
//! Z3.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use batsat::{Lit, SolverInterface, lbool};

use super::blast::Blaster;
use super::reads::Reads;
use cegar_model::deadline;
use cegar_model::solver::{Answer, Limits, Model, Reason};
use cegar_model::term::{Node, Pool, Term};

/// An incremental solver. Use it with one pool only.
#[derive(Debug)]
pub struct Circuit {
    blaster: Blaster,
    reads: Reads,
    asserted: Vec<Term>,
    spent: Rc<Cell<u64>>,
}

impl Circuit {
    /// Returns a solver in which `asserted` is asserted; `None` if a term has no circuit. `spent`
    /// counts the solver's steps.
    pub fn new(pool: &mut Pool, asserted: &[Term], spent: Rc<Cell<u64>>) -> Option<Circuit> {
        let mut circuit = Circuit {
            blaster: Blaster::new(),
            reads: Reads::default(),
            asserted: asserted.to_vec(),
            spent,
        };
        for &t in asserted {
            let holds = circuit.literal(pool, t)?;
            circuit.blaster.gates.clause(&[holds]);
        }
        Some(circuit)
    }

    /// Whether everything asserted and all of `assumptions` can hold together; `None` if an
    /// assumption has no circuit. A core's indices are into `assumptions`; it is empty if the
    /// assertions alone are unsatisfiable.
    pub fn check(
        &mut self,
        pool: &mut Pool,
        assumptions: &[Term],
        limits: &Limits,
    ) -> Option<Answer> {
        let literals: Vec<Lit> = assumptions
            .iter()
            .map(|&t| self.literal(pool, t))
            .collect::<Option<_>>()?;
        let solver = &mut self.blaster.gates.solver;
        let budget = solver.cb();
        let before = budget.spent();
        let steps = limits.steps.map(|steps| before + u64::from(steps));
        budget.steps.set(steps);
        let time = limits.time.into_iter().chain(deadline::left()).min();
        budget.until.set(time.map(|time| Instant::now() + time));
        let result = solver.solve_limited(&literals);
        let spent = solver.cb().spent() - before;
        self.spent.set(self.spent.get() + spent);
        Some(if result == lbool::FALSE {
            let core = solver.unsat_core();
            // The core is a clause: it contains the negations of the assumptions that cannot all
            // hold.
            let in_core = |&i: &usize| core.contains(&!literals[i]);
            Answer::Unsat {
                core: (0..literals.len()).filter(in_core).collect(),
            }
        } else if result == lbool::TRUE {
            self.model(pool, assumptions)
        } else {
            let out = steps.is_some_and(|most| solver.cb().spent() > most);
            Answer::Unknown(if out { Reason::Steps } else { Reason::Time })
        })
    }

    /// The literal that represents a one-bit term.
    fn literal(&mut self, pool: &mut Pool, t: Term) -> Option<Lit> {
        let flat = self.reads.flat(pool, t).ok()?;
        for agree in self.reads.agree() {
            let holds = self.blaster.bit(pool, agree).ok()?;
            self.blaster.gates.clause(&[holds]);
        }
        self.blaster.bit(pool, flat).ok()
    }

    fn model(&self, pool: &Pool, assumptions: &[Term]) -> Answer {
        let mut model = Model::default();
        for &symbol in self.reads.symbols() {
            let Some(value) = self.blaster.value(symbol) else {
                continue;
            };
            match *pool.node(symbol) {
                Node::Input(i) => {
                    model.inputs.insert(i, value as u8);
                }
                _ => model.set_variable(pool, symbol, value),
            }
        }
        self.reads.complete(pool, &mut model);
        let all: Vec<Term> = self.asserted.iter().chain(assumptions).copied().collect();
        if model.satisfies(pool, &all) {
            Answer::Sat(model)
        } else {
            Answer::Unknown(Reason::Unfaithful)
        }
    }
}
