//! Candidates about the results of a function, by branch.
//!
//! A function that is encoded alone is a relation of its parameters and results. Its conditions
//! separate the cases of that relation: McCarthy's function is 91 for arguments up to 100, and the
//! argument minus ten above. Therefore each condition of the code divides the observed activations
//! into two parts, and a candidate about one part is stated under its condition. Results that
//! double with each call are compared with powers of two.

use cegar_model::deadline;
use cegar_model::program::ir::{BinOp, Pred};
use cegar_model::symbolic::world::{Cut, Side};
use cegar_model::term::{Evaluator, Symbol, Term};
use rustc_hash::FxHashSet;

use super::CandidateGenerator;
use crate::abstraction::forest::Sample;
use crate::abstraction::state_symbols::StateSymbols;

/// The maximum number of conditions that divide the activations.
const CONDITIONS: usize = 16;
/// The minimum number of activations in a part.
const ROWS: usize = 3;
/// The maximum number of candidates under one condition.
const GUESSES: usize = 60;

/// The values at the end of a function that is encoded alone.
struct Ended {
    params: Vec<Term>,
    results: Vec<Term>,
}

impl CandidateGenerator<'_, '_> {
    /// The parameters and results of a function, if the cut point is its end.
    fn ended(&mut self, cut: Cut, scalars: &[Term]) -> Option<Ended> {
        let world = &self.graph.world;
        let function = world.ended(cut)?;
        let count = world.interface_registers(function, Side::Begin).len();
        let state = self.graph.states.get(&cut)?;
        let variables = state.variables(&mut self.graph.pool, world);
        let given: FxHashSet<Term> = variables.iter().take(count).map(|(_, t)| *t).collect();
        let (params, results) = scalars.iter().partition(|t| given.contains(t));
        Some(Ended { params, results })
    }

    /// The code's conditions on the values at a cut point, without duplicates.
    fn conditions_on(&mut self, own: &StateSymbols) -> Vec<Term> {
        let pool = &mut self.graph.pool;
        let mut conditions: Vec<Term> = Vec::new();
        for &condition in &self.vocabulary.conditions {
            let not = pool.not(condition);
            let is_new = !conditions.contains(&condition) && !conditions.contains(&not);
            if is_new && own.covers(pool, condition) {
                conditions.push(condition);
            }
        }
        conditions.truncate(CONDITIONS);
        conditions
    }

    /// Candidates about results under a condition of the code: values and equations (level 0), or
    /// bounds and orders (level 1).
    pub(super) fn by_branch(
        &mut self,
        (cut, own, level): (Cut, &StateSymbols, u32),
        scalars: &[Term],
        out: &mut Vec<Term>,
    ) {
        let Some(Ended { results, .. }) = self.ended(cut, scalars) else {
            return;
        };
        let conditions = self.conditions_on(own);
        let negated: Vec<Term> = conditions.iter().map(|&t| self.graph.pool.not(t)).collect();
        for condition in conditions.into_iter().chain(negated) {
            if deadline::passed() {
                return;
            }
            self.under((condition, level), (scalars, &results), out);
        }
    }

    /// Candidates about results in the states where a condition holds.
    fn under(
        &mut self,
        (condition, level): (Term, u32),
        (scalars, results): (&[Term], &[Term]),
        out: &mut Vec<Term>,
    ) {
        let mut evaluators: Vec<Evaluator> =
            self.samples.iter().map(|_| Evaluator::new()).collect();
        let hold = self.values(condition, &mut evaluators);
        let rows = self.samples.iter().zip(hold).filter(|(_, held)| *held == 1);
        let rows: Vec<Sample> = rows.map(|(sample, _)| sample.clone()).collect();
        if rows.len() < ROWS || rows.len() == self.samples.len() {
            return;
        }
        let mut part = CandidateGenerator {
            graph: &mut *self.graph,
            vocabulary: self.vocabulary,
            samples: &rows,
            level,
            relevance: self.relevance,
        };
        let mut evaluators: Vec<Evaluator> = rows.iter().map(|_| Evaluator::new()).collect();
        let mut found = Vec::new();
        part.single(results, &mut evaluators, &mut found);
        part.pairs(scalars, &mut evaluators, &mut found);
        if level == 0 {
            part.equations(scalars, &mut evaluators, &mut found);
        }
        let pool = &self.graph.pool;
        let symbols = results.iter().flat_map(|&t| pool.symbols(t));
        let symbols: FxHashSet<Symbol> = symbols.collect();
        found.retain(|&t| {
            let mut held = rows.iter().zip(&mut evaluators);
            pool.symbols(t).any(|symbol| symbols.contains(&symbol))
                && held.all(|(sample, evaluator)| sample.eval(pool, evaluator, t) == 1)
        });
        found.truncate(GUESSES);
        let pool = &mut self.graph.pool;
        let not = pool.not(condition);
        out.extend(found.into_iter().map(|t| pool.or(not, t)));
    }

    /// Compares results with powers of two, for functions whose result doubles with each call.
    pub(super) fn powers(&mut self, cut: Cut, scalars: &[Term], out: &mut Vec<Term>) {
        let Some(Ended { params, results }) = self.ended(cut, scalars) else {
            return;
        };
        let is_number = |t: &Term| (8..=64).contains(&self.graph.pool.width(*t));
        let mut pairs = Vec::new();
        for &param in params.iter().filter(|t| is_number(t)) {
            let results = results.iter().filter(|t| is_number(t));
            pairs.extend(results.map(|&result| (param, result)));
        }
        let pool = &mut self.graph.pool;
        for (param, result) in pairs {
            let one = pool.constant(64, 1);
            let by = pool.zext(param, 64);
            let power = pool.bin(BinOp::Shl, one, by);
            let less = pool.bin(BinOp::Sub, power, one);
            let wide = pool.sext(result, 64);
            for bound in [power, less] {
                out.push(pool.eq(wide, bound));
                out.push(pool.cmp(Pred::Sle, wide, bound));
                out.push(pool.cmp(Pred::Sge, wide, bound));
            }
        }
    }
}
