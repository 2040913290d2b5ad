//! Z3 as a back end.
//!
//! Each question gets a new Z3 solver for the smallest logic that covers it. Without earlier
//! assertions Z3 preprocesses the whole question and passes bit-vectors to its SAT solver, which is
//! several times faster than its incremental core on equations over hashes. Sequences of questions
//! that only grow belong in a session of the search. Z3's objects belong to the calling thread's
//! context, so this type is not `Send`.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use rustc_hash::FxHashSet;
use z3::ast::Bool;
use z3::{Params, SatResult, StatisticsValue};

use super::timed::timed;
use super::translate::Translator;
use super::{Answer, Limits, Reason, Solver, SolverStats};
use crate::deadline;
use crate::term::{Item, Node, Pool, Term};

/// The Z3 back end, which answers one question at a time.
#[derive(Debug, Default)]
pub struct Z3 {
    translator: Translator,
    /// The number and the cost of the questions so far.
    pub stats: SolverStats,
    spent: Rc<Cell<u64>>,
}

impl Z3 {
    /// Creates a back end in the calling thread's context.
    pub fn new() -> Z3 {
        Z3::default()
    }

    /// The number of steps that the questions of this back end have taken so far, as a shared
    /// counter.
    pub fn spent(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.spent)
    }

    /// A small unsatisfiable core of an unsatisfiable set, or the whole set if the core takes too
    /// long.
    fn core(&self, assertions: &[Bool], limits: &Limits) -> Vec<usize> {
        let all = || (0..assertions.len()).collect();
        if !limits.core || assertions.len() < 2 {
            return all();
        }
        let solver = z3::Solver::new();
        solver.set_params(&params(limits));
        let labels: Vec<Bool> = assertions
            .iter()
            .map(|_| Bool::fresh_const("label"))
            .collect();
        for (assertion, label) in assertions.iter().zip(&labels) {
            solver.assert(label.implies(assertion));
        }
        let (result, _) = timed(limits, || solver.check_assumptions(&labels));
        if result != SatResult::Unsat {
            return all();
        }
        let core = solver.get_unsat_core();
        let of = |label: &Bool| core.iter().any(|c| c == label);
        (0..assertions.len()).filter(|&i| of(&labels[i])).collect()
    }
}

/// The number of steps of all questions of this thread so far. The counter has 32 bits and wraps
/// around.
pub fn count(solver: &z3::Solver) -> u32 {
    match solver.get_statistics().value("rlimit count") {
        Some(StatisticsValue::UInt(count)) => count,
        _ => 0,
    }
}

/// The memory of the process, in megabytes, above which Z3 gives up a question.
const MOST: u32 = 2048;

/// These limits as parameters of Z3. The limit of time is left to [`timed`].
pub fn params(limits: &Limits) -> Params {
    let mut params = Params::new();
    // Otherwise Z3 would handle Ctrl-C during a check, and the campaign would not receive it.
    params.set_bool("ctrl_c", false);
    params.set_u32("max_memory", MOST);
    if let Some(steps) = limits.steps {
        params.set_u32("rlimit", steps);
    }
    params
}

/// Why Z3 gave up.
pub fn reason(solver: &z3::Solver, limits: &Limits, interrupted: bool) -> Reason {
    match solver.get_reason_unknown().unwrap_or_default() {
        text if text.contains("resource") || text.contains("rlimit") => Reason::Steps,
        _ if interrupted => Reason::Time,
        text if text.contains("cancel") => {
            if limits.steps.is_some() {
                Reason::Steps
            } else {
                Reason::Time
            }
        }
        text => Reason::Other(text),
    }
}

/// The name of the smallest logic for these terms, if Z3 has special support for it.
fn logic(pool: &Pool, assertions: &[Term]) -> Option<&'static str> {
    let mut seen: FxHashSet<Item> = FxHashSet::default();
    let mut name = "QF_BV";
    for &root in assertions {
        for item in pool.order(Item::Term(root), |item| seen.contains(&item)) {
            seen.insert(item);
            match item {
                Item::Array(_) => name = "QF_ABV",
                Item::Term(t) => {
                    if let Node::FloatBin(..)
                    | Node::FloatCmp(..)
                    | Node::FloatCast(..)
                    | Node::FloatFn(..) = *pool.node(t)
                    {
                        return None;
                    }
                }
            }
        }
    }
    Some(name)
}

impl Solver for Z3 {
    fn check(&mut self, pool: &mut Pool, assertions: &[Term], limits: &Limits) -> Answer {
        let start = Instant::now();
        self.stats.solver_calls += 1;
        if deadline::passed() {
            self.stats.unknown += 1;
            return Answer::Unknown(Reason::Time);
        }
        let formulas: Vec<Bool> = assertions
            .iter()
            .map(|&t| self.translator.assertion(pool, t))
            .collect();
        let solver = logic(pool, assertions)
            .and_then(z3::Solver::new_for_logic)
            .unwrap_or_default();
        solver.set_params(&params(limits));
        for formula in &formulas {
            solver.assert(formula);
        }
        let before = count(&solver);
        let (result, interrupted) = timed(limits, || solver.check());
        let answer = match result {
            SatResult::Unsat => {
                self.stats.unsat += 1;
                Answer::Unsat {
                    core: self.core(&formulas, limits),
                }
            }
            SatResult::Unknown => Answer::Unknown(reason(&solver, limits, interrupted)),
            SatResult::Sat => match solver.get_model() {
                None => Answer::Unknown(Reason::Other("no model".to_owned())),
                Some(found) => {
                    let model = self.translator.model(pool, assertions, &found);
                    if model.satisfies(pool, assertions) {
                        self.stats.sat += 1;
                        Answer::Sat(model)
                    } else {
                        Answer::Unknown(Reason::Unfaithful)
                    }
                }
            },
        };
        let spent = count(&solver).wrapping_sub(before);
        self.spent.set(self.spent.get() + u64::from(spent));
        if matches!(answer, Answer::Unknown(_)) {
            self.stats.unknown += 1;
        }
        self.stats.seconds += start.elapsed().as_secs_f64();
        answer
    }
}
