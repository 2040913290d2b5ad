//! Gates: the clauses of a circuit, for a SAT solver.
//!
//! Every gate is simplified and looked up before it is created, so that formulas share their common
//! subcircuits. Each gate gets the clauses of both directions, since the same circuit is assumed in
//! one query and refuted in another.

use std::cell::Cell;
use std::time::Instant;

use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface, SolverOpts, lbool};
use rustc_hash::FxHashMap;

use super::reads::Unsuited;

/// The maximum number of gates.
const GATES: usize = 3_000_000;

/// The limits of the SAT solver's search.
#[derive(Debug, Default)]
pub(super) struct Budget {
    /// The value of [`Budget::spent`] beyond which the search stops; `None`: no limit.
    pub steps: Cell<Option<u64>>,
    /// The time at which the search stops; `None`: never.
    pub until: Cell<Option<Instant>>,
    polls: Cell<u64>,
    conflicts: u64,
}

/// The cost of a decision and of a conflict, in steps (see
/// `cegar_model::solver::STEPS_PER_SECOND`).
const DECISION: u64 = 12;
const CONFLICT: u64 = 2_000;

impl Budget {
    /// The number of steps since the solver was created.
    pub(super) fn spent(&self) -> u64 {
        self.polls.get() * DECISION + self.conflicts * CONFLICT
    }
}

impl Callbacks for Budget {
    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        self.conflicts += u64::from(kind == ClauseKind::Learnt);
    }

    fn stop(&self) -> bool {
        self.polls.set(self.polls.get() + 1);
        self.steps.get().is_some_and(|most| self.spent() > most)
            || self.until.get().is_some_and(|until| Instant::now() > until)
    }
}

/// A circuit and its solver.
pub(super) struct Gates {
    /// The solver.
    pub solver: Solver<Budget>,
    one: Lit,
    ands: FxHashMap<(Lit, Lit), Lit>,
    xors: FxHashMap<(Lit, Lit), Lit>,
    muxes: FxHashMap<(Lit, Lit, Lit), Lit>,
    clause: Vec<Lit>,
    count: usize,
}

impl std::fmt::Debug for Gates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gates")
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

impl Gates {
    pub(super) fn new() -> Gates {
        let mut solver = Solver::new(SolverOpts::default(), Budget::default());
        let one = Lit::new(solver.new_var_default(), true);
        solver.add_clause_reuse(&mut vec![one]);
        Gates {
            solver,
            one,
            ands: FxHashMap::default(),
            xors: FxHashMap::default(),
            muxes: FxHashMap::default(),
            clause: Vec::new(),
            count: 0,
        }
    }

    /// A constant.
    pub(super) fn bit(&self, value: bool) -> Lit {
        if value { self.one } else { !self.one }
    }

    /// The constant that a literal equals, if it is constant.
    pub(super) fn value(&self, a: Lit) -> Option<bool> {
        (a.var() == self.one.var()).then(|| a == self.one)
    }

    /// A new unconstrained literal.
    pub(super) fn free(&mut self) -> Lit {
        self.count += 1;
        Lit::new(self.solver.new_var_default(), true)
    }

    /// The output of a new gate. The solver decides only on inputs, since the outputs follow from
    /// them.
    fn output(&mut self) -> Lit {
        self.count += 1;
        Lit::new(self.solver.new_var(lbool::UNDEF, false), true)
    }

    /// Fails if the circuit has become too large.
    pub(super) fn check(&self) -> Result<(), Unsuited> {
        if self.count > GATES {
            Err(Unsuited)
        } else {
            Ok(())
        }
    }

    /// Adds a clause: at least one of these literals holds.
    pub(super) fn clause(&mut self, literals: &[Lit]) {
        self.clause.clear();
        self.clause.extend_from_slice(literals);
        self.solver.add_clause_reuse(&mut self.clause);
    }

    pub(super) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        match (self.value(a), self.value(b)) {
            (Some(true), _) => return b,
            (_, Some(true)) => return a,
            (Some(false), _) | (_, Some(false)) => return self.bit(false),
            _ if a == b => return a,
            _ if a == !b => return self.bit(false),
            _ => {}
        }
        let key = if a.idx() < b.idx() { (a, b) } else { (b, a) };
        if let Some(&known) = self.ands.get(&key) {
            return known;
        }
        let c = self.output();
        self.clause(&[!c, a]);
        self.clause(&[!c, b]);
        self.clause(&[c, !a, !b]);
        self.ands.insert(key, c);
        c
    }

    pub(super) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub(super) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        match (self.value(a), self.value(b)) {
            (Some(value), _) => return if value { !b } else { b },
            (_, Some(value)) => return if value { !a } else { a },
            _ if a == b => return self.bit(false),
            _ if a == !b => return self.bit(true),
            _ => {}
        }
        // Negations are moved to the output, so that fewer different gates are created.
        let flip = a.sign() != b.sign();
        let (a, b) = (Lit::new(a.var(), true), Lit::new(b.var(), true));
        let key = if a.idx() < b.idx() { (a, b) } else { (b, a) };
        let c = match self.xors.get(&key) {
            Some(&known) => known,
            None => {
                let c = self.output();
                self.clause(&[!c, a, b]);
                self.clause(&[!c, !a, !b]);
                self.clause(&[c, !a, b]);
                self.clause(&[c, a, !b]);
                self.xors.insert(key, c);
                c
            }
        };
        if flip { !c } else { c }
    }

    /// `a` if the condition holds, else `b`.
    pub(super) fn mux(&mut self, cond: Lit, a: Lit, b: Lit) -> Lit {
        match (self.value(cond), self.value(a), self.value(b)) {
            (Some(true), ..) => return a,
            (Some(false), ..) => return b,
            _ if a == b => return a,
            _ if a == !b => return self.xor(cond, b),
            (_, Some(true), _) => return self.or(cond, b),
            (_, Some(false), _) => return self.and(!cond, b),
            (_, _, Some(true)) => return self.or(!cond, a),
            (_, _, Some(false)) => return self.and(cond, a),
            _ if cond == a => return self.or(cond, b),
            _ if cond == !a => return self.and(!cond, b),
            _ if cond == b => return self.and(cond, a),
            _ if cond == !b => return self.or(!cond, a),
            _ => {}
        }
        if !cond.sign() {
            return self.mux(!cond, b, a);
        }
        let key = (cond, a, b);
        if let Some(&known) = self.muxes.get(&key) {
            return known;
        }
        let c = self.output();
        self.clause(&[!cond, !a, c]);
        self.clause(&[!cond, a, !c]);
        self.clause(&[cond, !b, c]);
        self.clause(&[cond, b, !c]);
        // These clauses are redundant, but they improve propagation.
        self.clause(&[!a, !b, c]);
        self.clause(&[a, b, !c]);
        self.muxes.insert(key, c);
        c
    }

    /// The majority of three bits: the carry of their sum.
    pub(super) fn most(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let differ = self.xor(a, b);
        self.mux(differ, c, a)
    }

    /// The value of a literal in the solver's model.
    pub(super) fn in_model(&self, a: Lit) -> bool {
        self.solver.value_lit(a) == lbool::TRUE
    }
}
