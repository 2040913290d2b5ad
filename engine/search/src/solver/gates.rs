//! Gates: the clauses of a circuit, for a SAT solver.
//!
//! Every gate is simplified and looked up before it is made, so that what two formulas share is one
//! circuit; each gets the clauses of both directions, since the same circuit is assumed in one
//! question and refuted in another.

use std::cell::Cell;
use std::time::Instant;

use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface, SolverOpts, lbool};
use rustc_hash::FxHashMap;

use super::reads::Unsuited;

/// So many gates, and no more.
const GATES: usize = 3_000_000;

/// When the search is over, whatever it has come to.
#[derive(Debug, Default)]
pub(super) struct Budget {
    /// What is left of the steps; none: no limit.
    pub steps: Cell<Option<u64>>,
    /// When time is up; none: never.
    pub until: Cell<Option<Instant>>,
    polls: Cell<u64>,
    conflicts: u64,
}

/// What a decision and a conflict count, in steps of [`super::STEPS_PER_SECOND`].
const DECISION: u64 = 12;
const CONFLICT: u64 = 2_000;

impl Budget {
    /// Steps since the solver was made.
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

/// A circuit and the solver for it.
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

    /// The constant that a literal is, if it is one.
    pub(super) fn value(&self, a: Lit) -> Option<bool> {
        (a.var() == self.one.var()).then(|| a == self.one)
    }

    /// A new literal that nothing is known of.
    pub(super) fn free(&mut self) -> Lit {
        self.count += 1;
        Lit::new(self.solver.new_var_default(), true)
    }

    /// The output of a new gate. The search decides about inputs only, since the rest follows from
    /// them.
    fn output(&mut self) -> Lit {
        self.count += 1;
        Lit::new(self.solver.new_var(lbool::UNDEF, false), true)
    }

    /// Whether it has become too large.
    pub(super) fn check(&self) -> Result<(), Unsuited> {
        if self.count > GATES {
            Err(Unsuited)
        } else {
            Ok(())
        }
    }

    /// At least one of these holds.
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
        // Signs go to the outside.
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
        // They follow, and let it propagate.
        self.clause(&[!a, !b, c]);
        self.clause(&[a, b, !c]);
        self.muxes.insert(key, c);
        c
    }

    /// The carry of three bits: at least two of them.
    pub(super) fn most(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let differ = self.xor(a, b);
        self.mux(differ, c, a)
    }

    /// What the solver says of a literal in its model.
    pub(super) fn in_model(&self, a: Lit) -> bool {
        self.solver.value_lit(a) == lbool::TRUE
    }
}
