//! A cache of answers in front of a solver.
//!
//! Cheap answers are tried first: constants; the same set asked before; a superset of a known
//! unsatisfiable set; a recent model that satisfies the set; enumeration of one or two bytes; and
//! only then the back end. The keys are terms of one pool; the cache is cleared when another pool
//! is used.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::groups::{components, related};
use super::small::enumerate;
use cegar_model::solver::{Answer, Limits, Model, Solver, SolverStats};
use cegar_model::term::{Environment, Evaluator, Pool, Term};

/// The number of recent models that are tried, the latest first.
const MODELS: usize = 24;
/// The maximum number of answers kept; when it is reached, all are dropped.
const ANSWERS: usize = 200_000;

/// A solver with a cache.
#[derive(Debug)]
pub struct Cached<S> {
    inner: S,
    pool: u64,
    exact: FxHashMap<Box<[Term]>, Answer>,
    /// Unsatisfiable sets, sorted, by their largest member.
    cores: FxHashMap<Term, Vec<Box<[Term]>>>,
    models: VecDeque<Model>,
    evaluator: Evaluator,
    stats: SolverStats,
}

/// A model that is completed by a witness: the witness gives the inputs that the model does not
/// contain.
struct Over<'a> {
    model: &'a Model,
    witness: &'a dyn Fn(u32) -> u8,
}

impl Environment for Over<'_> {
    fn input(&self, index: u32) -> u8 {
        self.model
            .inputs
            .get(&index)
            .copied()
            .unwrap_or_else(|| (self.witness)(index))
    }
    fn variable(&self, variable: u32) -> u128 {
        self.model.variable(variable)
    }
    fn element(&self, array: u32, index: u64) -> u8 {
        self.model.element(array, index)
    }
}

impl<S: Solver> Cached<S> {
    /// A cache in front of `inner`.
    pub fn new(inner: S) -> Cached<S> {
        Cached {
            inner,
            pool: 0,
            exact: FxHashMap::default(),
            cores: FxHashMap::default(),
            models: VecDeque::new(),
            evaluator: Evaluator::new(),
            stats: SolverStats::default(),
        }
    }

    /// The cost of the queries so far.
    pub fn stats(&self) -> SolverStats {
        self.stats
    }

    /// The back end.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// Whether `wanted` can hold together with `path`, all of which `witness` satisfies.
    ///
    /// Only constraints that share symbols with `wanted` are solved. The model contains only their
    /// symbols; all other inputs keep the witness's values. A core's indices are into `path`, with
    /// `path.len()` for `wanted`.
    pub fn check_from(
        &mut self,
        pool: &mut Pool,
        path: &[Term],
        wanted: Term,
        witness: &dyn Fn(u32) -> u8,
        limits: &Limits,
    ) -> Answer {
        self.stats.queries += 1;
        let mut indices = related(pool, path, wanted);
        self.stats.sliced += (path.len() - indices.len()) as u64;
        indices.push(path.len());
        let at = |i: usize| path.get(i).copied().unwrap_or(wanted);
        let set: Vec<Term> = indices.iter().map(|&i| at(i)).collect();
        match self.solve(pool, &set, witness, limits) {
            Answer::Unsat { core } => Answer::Unsat {
                core: core.into_iter().map(|i| indices[i]).collect(),
            },
            other => other,
        }
    }

    /// Answers one set as a whole.
    fn solve(
        &mut self,
        pool: &mut Pool,
        assertions: &[Term],
        witness: &dyn Fn(u32) -> u8,
        limits: &Limits,
    ) -> Answer {
        if self.pool != pool.id() {
            self.pool = pool.id();
            self.exact.clear();
            self.cores.clear();
            self.models.clear();
        }
        if let Some(at) = assertions.iter().position(|&t| pool.as_const(t) == Some(0)) {
            self.stats.trivial += 1;
            return Answer::Unsat { core: vec![at] };
        }
        let mut key: Vec<Term> = assertions
            .iter()
            .copied()
            .filter(|&t| pool.as_const(t).is_none())
            .collect();
        key.sort_unstable();
        key.dedup();
        if key.is_empty() {
            self.stats.trivial += 1;
            return Answer::Sat(Model::default());
        }
        let answer = self.solve_set(pool, &key, witness, limits);
        match answer {
            Answer::Unsat { core } => {
                let place = |t: Term| assertions.iter().position(|&a| a == t);
                let mut core: Vec<usize> = core.iter().filter_map(|&i| place(key[i])).collect();
                core.sort_unstable();
                Answer::Unsat { core }
            }
            other => other,
        }
    }

    /// Answers a sorted set without constants; cores are indices into it.
    fn solve_set(
        &mut self,
        pool: &mut Pool,
        set: &[Term],
        witness: &dyn Fn(u32) -> u8,
        limits: &Limits,
    ) -> Answer {
        if let Some(known) = self.exact.get(set) {
            self.stats.exact_hits += 1;
            return known.clone();
        }
        if let Some(core) = self.known_core(set) {
            self.stats.unsat_hits += 1;
            return Answer::Unsat { core };
        }
        if let Some(model) = self.known_model(pool, set, witness) {
            self.stats.model_hits += 1;
            return Answer::Sat(model);
        }
        let answer = match enumerate(&mut self.evaluator, pool, set) {
            Some(answer) => {
                self.stats.enumerated += 1;
                answer
            }
            None => self.ask(pool, set, limits),
        };
        match &answer {
            Answer::Sat(model) => {
                self.models.push_front(model.clone());
                self.models.truncate(MODELS);
            }
            Answer::Unsat { core } => {
                let core: Box<[Term]> = core.iter().map(|&i| set[i]).collect();
                if let Some(&last) = core.last() {
                    self.cores.entry(last).or_default().push(core);
                }
            }
            Answer::Unknown(_) => return answer,
        }
        if self.exact.len() >= ANSWERS {
            self.exact.clear();
            self.cores.clear();
        }
        self.exact.insert(Box::from(set), answer.clone());
        answer
    }

    fn ask(&mut self, pool: &mut Pool, set: &[Term], limits: &Limits) -> Answer {
        let start = std::time::Instant::now();
        let answer = self.inner.check(pool, set, limits);
        self.stats.solver_calls += 1;
        self.stats.seconds += start.elapsed().as_secs_f64();
        match answer {
            Answer::Sat(_) => self.stats.sat += 1,
            Answer::Unsat { .. } => self.stats.unsat += 1,
            Answer::Unknown(_) => self.stats.unknown += 1,
        }
        answer
    }

    /// The indices in this set of the members of a known unsatisfiable set, if this set contains
    /// all of them.
    fn known_core(&self, set: &[Term]) -> Option<Vec<usize>> {
        let places = |core: &[Term]| {
            core.iter()
                .map(|t| set.binary_search(t).ok())
                .collect::<Option<_>>()
        };
        set.iter()
            .filter_map(|t| self.cores.get(t))
            .flatten()
            .find_map(|core| places(core))
    }

    /// A recent model that satisfies this set, with the inputs reduced to those of this set.
    fn known_model(
        &mut self,
        pool: &Pool,
        set: &[Term],
        witness: &dyn Fn(u32) -> u8,
    ) -> Option<Model> {
        for model in &self.models {
            self.evaluator.reset();
            let over = Over { model, witness };
            // The newest constraint is the likeliest to fail.
            let fits = set
                .iter()
                .rev()
                .all(|&t| self.evaluator.eval_in(pool, t, &over) == 1);
            if !fits {
                continue;
            }
            let mut cut = model.clone();
            cut.inputs.clear();
            for &t in set {
                for &i in pool.inputs(t) {
                    cut.inputs.insert(i, over.input(i));
                }
            }
            return Some(cut);
        }
        None
    }
}

impl<S: Solver> Solver for Cached<S> {
    /// Answers each group of constraints that share symbols separately.
    fn check(&mut self, pool: &mut Pool, assertions: &[Term], limits: &Limits) -> Answer {
        self.stats.queries += 1;
        let mut model = Model::default();
        let mut unknown = None;
        for part in components(pool, assertions) {
            let set: Vec<Term> = part.iter().map(|&i| assertions[i]).collect();
            match self.solve(pool, &set, &|_| 0, limits) {
                Answer::Sat(found) => model.merge(found),
                Answer::Unsat { core } => {
                    return Answer::Unsat {
                        core: core.into_iter().map(|i| part[i]).collect(),
                    };
                }
                // Another group may still be unsatisfiable.
                Answer::Unknown(reason) => unknown = Some(reason),
            }
        }
        match unknown {
            Some(reason) => Answer::Unknown(reason),
            None => Answer::Sat(model),
        }
    }
}
