//! Candidates: predicates that may be invariants of a cut point.
//!
//! Synergy (section 5) generalises with hand-picked templates; since then Houdini has shown that
//! many cheap candidates, dropped when they are refuted, are effective. A candidate costs one
//! evaluation per state of the forest; only candidates that no state refutes reach a solver. The
//! kinds are: constants, bounds by the constants of the code, order and difference of two values,
//! linear equations that all states satisfy, low bits, bytes of an array at a value's index,
//! liveness of the objects that pointers point to, and the branch conditions of the code.

mod branches;
mod cases;
mod equations;
mod everywhere;
mod heap;
mod pairs;
mod slopes;
mod vocabulary;

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

pub use self::vocabulary::Vocabulary;
use super::forest::Sample;
use super::graph::Graph;
use super::relevance::Relevance;
use super::state_symbols::{StateSymbols, leaves, symbol_of_array};
use cegar_model::deadline;
use cegar_model::program::ir::{BinOp, Pred};
use cegar_model::symbolic::cuts::{Part, Place};
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Array, Evaluator, Pool, Rewriter, Symbol, Term, value};

/// The maximum number of candidates per cut point.
const MOST: usize = 3_000;
/// The maximum number of values per cut point that are compared with each other.
const PAIRED: usize = 28;
/// The maximum number of bounds per value and direction.
const BOUNDS: usize = 14;
/// The maximum number of different values of a variable that cases are distinguished by.
const CASES: usize = 6;
/// The maximum number of the code's conditions that are transferred to other values.
const TRANSFERRED: usize = 40;
/// The maximum number of constants per width.
const CONSTANTS: usize = 48;

/// The number of levels of candidates. Each level costs more than the one before and is needed more
/// rarely. The last two use products, and facts with products make every later query harder.
pub const LEVELS: u32 = 6;
/// The number of levels without candidates derived from closed forms.
pub const PLAIN: u32 = 4;

/// The maximum size of arrays for which a terminating zero is a candidate.
const TERMINATED: u128 = 256;

/// Generates the candidates for one cut point.
pub struct CandidateGenerator<'a, 'p> {
    /// The graph.
    pub graph: &'a mut Graph<'p>,
    /// The constants and conditions of the code.
    pub vocabulary: &'a Vocabulary,
    /// States of the cut point that were reached.
    pub samples: &'a [Sample],
    /// The kinds of candidates to generate: from 0 to [`LEVELS`], exclusive.
    pub level: u32,
    /// The variables that are relevant to the goals; `None`: all may be.
    pub relevance: Option<&'a Relevance>,
}

impl CandidateGenerator<'_, '_> {
    /// The candidates that no sample refutes.
    pub fn generate(&mut self, cut: Cut) -> Vec<Term> {
        let Some(state) = self.graph.states.get(&cut).cloned() else {
            return Vec::new();
        };
        let graph = &mut *self.graph;
        let mut variables = state.variables(&mut graph.pool, &graph.world);
        let mut arrays: Vec<Array> = state
            .arrays(&mut graph.pool, &graph.world)
            .into_iter()
            .map(|(_, array)| array)
            .collect();
        if let Some(relevance) = self.relevance {
            variables.retain(|&(_, t)| relevance.has(&graph.pool, t));
            arrays.retain(|&array| relevance.has_array(&graph.pool, array));
        }
        let pool = &graph.pool;
        let of_variables = variables.iter().flat_map(|&(_, t)| pool.symbols(t));
        let of_arrays = arrays.iter().filter_map(|&a| symbol_of_array(pool, a));
        let own: StateSymbols = of_variables.chain(of_arrays).collect();
        let is_number = |place: &Place| {
            matches!(place, Place::Number(_))
                || matches!(
                    place,
                    Place::Register(_, _, Part::Base) | Place::Cell(_, _, Part::Base)
                )
        };
        // The number of the object that a pointer points to is not a magnitude to be compared.
        let mut scalars: Vec<Term> = variables
            .iter()
            .filter(|(place, _)| !is_number(place) || matches!(self.level, 0 | 3))
            .map(|&(_, t)| t)
            .collect();
        scalars.extend(joined_halves(&mut graph.pool, &variables));
        let is_witness = |place: &Place| matches!(place, Place::Witness(_));
        let witnesses: Vec<_> = variables
            .iter()
            .filter(|(p, _)| is_witness(p))
            .cloned()
            .collect();
        // Witnesses come first, so that they are compared with everything.
        scalars.sort_by_key(|t| !witnesses.iter().any(|(_, w)| w == t));
        let mut out = Vec::new();
        let mut evaluators: Vec<Evaluator> =
            self.samples.iter().map(|_| Evaluator::new()).collect();
        if self.level == 0 {
            for (place, _) in &witnesses {
                if let Place::Witness(id) = place {
                    out.push(state.ends(&mut graph.pool, &graph.world, *id));
                }
            }
            if self.samples.is_empty() {
                out.push(graph.pool.bit(false));
            }
            for &t in &self.vocabulary.conditions {
                if own.covers(&graph.pool, t) {
                    out.push(t);
                    out.push(graph.pool.not(t));
                }
            }
            self.living(&state, &variables, &mut out);
            self.equations(&scalars, &mut evaluators, &mut out);
        }
        match self.level {
            1 => {
                self.transferred(&scalars, &mut out);
                self.by_branch((cut, &own, 0), &scalars, &mut out);
            }
            2 => {
                self.by_branch((cut, &own, 1), &scalars, &mut out);
                self.powers(cut, &scalars, &mut out);
            }
            _ => {}
        }
        self.single(&scalars, &mut evaluators, &mut out);
        self.pairs(&scalars, &mut evaluators, &mut out);
        if self.level == 3 {
            self.by_case(&scalars, &mut evaluators, &mut out);
        }
        if self.level == 2 && !arrays.is_empty() {
            self.everywhere(&state, (&arrays, &variables), &mut evaluators, &mut out);
        }
        if self.level == 2 {
            // Some equations need bounds that are known by now.
            self.equations(&scalars, &mut evaluators, &mut out);
            self.elements(&arrays, &scalars, &mut evaluators, &mut out);
            self.terminated(&state, &scalars, &mut out);
        }
        if self.level == 4 {
            self.slopes(&scalars, &mut evaluators, &mut out);
            self.remainders(&scalars, &mut evaluators, &mut out);
        }
        if self.level == 5 {
            self.products(&scalars, &mut evaluators, &mut out);
            self.matrix_index_bounds(&scalars, &mut evaluators, &mut out);
        }
        if deadline::passed() {
            return Vec::new();
        }
        let mut seen = FxHashSet::default();
        out.retain(|t| seen.insert(*t));
        let pool = &self.graph.pool;
        out.retain(|&t| {
            pool.as_const(t) != Some(1)
                && !deadline::seldom_passed()
                && self
                    .samples
                    .iter()
                    .zip(&mut evaluators)
                    .all(|(sample, evaluator)| sample.eval(pool, evaluator, t) == 1)
        });
        out.truncate(MOST);
        out
    }

    fn values(&self, t: Term, evaluators: &mut [Evaluator]) -> Vec<u128> {
        self.samples
            .iter()
            .zip(evaluators)
            .map(|(sample, evaluator)| sample.eval(&self.graph.pool, evaluator, t))
            .collect()
    }

    /// The code's conditions on one value, restated for another: the check of a length may bound
    /// the index that counts up to it.
    fn transferred(&mut self, scalars: &[Term], out: &mut Vec<Term>) {
        let pool = &mut self.graph.pool;
        let mut about: Vec<(Term, Term)> = Vec::new();
        for &condition in &self.vocabulary.conditions {
            if pool.has_many_symbols(condition) {
                continue;
            }
            let symbols: Vec<Symbol> = pool.symbols(condition).collect();
            if let [Symbol::Variable(_)] = symbols[..]
                && let Some(&variable) = leaves(pool, condition).first()
            {
                about.push((condition, variable));
            }
        }
        about.truncate(TRANSFERRED);
        for (condition, variable) in about {
            let width = pool.width(variable);
            for &t in scalars.iter().take(PAIRED) {
                if t == variable || pool.width(t) != width {
                    continue;
                }
                let mut rewriter = Rewriter::new();
                rewriter.replace(variable, t);
                let said = rewriter.apply(pool, condition);
                out.push(said);
                out.push(pool.not(said));
            }
        }
    }

    /// Candidates about a single value: constant, bounds, low bits.
    fn single(&mut self, scalars: &[Term], evaluators: &mut [Evaluator], out: &mut Vec<Term>) {
        for &t in scalars {
            if deadline::passed() {
                return;
            }
            let width = self.graph.pool.width(t);
            let seen = self.values(t, evaluators);
            let mut constants: BTreeSet<u128> =
                self.vocabulary.constants(width).into_iter().collect();
            let signed = |v: &u128| value::signed(width, *v);
            let bounds = [
                seen.iter().min().copied(),
                seen.iter().max().copied(),
                seen.iter().min_by_key(|v| signed(v)).copied(),
                seen.iter().max_by_key(|v| signed(v)).copied(),
            ];
            constants.extend(bounds.into_iter().flatten());
            let pool = &mut self.graph.pool;
            let first = seen.first().copied();
            match self.level {
                0 => {
                    if let Some(first) = first.filter(|f| seen.iter().all(|v| v == f)) {
                        let c = pool.constant(width, first);
                        out.push(pool.eq(t, c));
                    }
                }
                1 if width > 1 => {
                    for pred in [Pred::Ule, Pred::Uge, Pred::Sle, Pred::Sge] {
                        let holds = |c: &u128| seen.iter().all(|&v| value::cmp(pred, width, v, *c));
                        let mut left: Vec<u128> = constants.iter().copied().filter(holds).collect();
                        // The tightest bounds first.
                        let key = |c: &u128| match pred {
                            Pred::Ule | Pred::Uge => *c as i128,
                            _ => value::signed(width, *c),
                        };
                        left.sort_by_key(|c| match pred {
                            Pred::Ule | Pred::Sle => key(c),
                            _ => -key(c),
                        });
                        for c in left.into_iter().take(BOUNDS) {
                            let c = pool.constant(width, c);
                            out.push(pool.cmp(pred, t, c));
                        }
                    }
                }
                2 if width >= 8 => {
                    for bits in [1, 2, 3] {
                        let Some(first) = first else { continue };
                        let low = pool.extract(t, 0, bits);
                        let c = pool.constant(bits, first);
                        out.push(pool.eq(low, c));
                    }
                }
                3 => {
                    for c in constants {
                        let c = pool.constant(width, c);
                        let same = pool.eq(t, c);
                        out.push(pool.not(same));
                    }
                }
                _ => {}
            }
        }
    }

    /// A string ends within its array: some byte from a value's index on is zero.
    fn terminated(
        &mut self,
        state: &cegar_model::symbolic::cuts::CutState,
        scalars: &[Term],
        out: &mut Vec<Term>,
    ) {
        let graph = &mut *self.graph;
        for (id, array) in state.arrays(&mut graph.pool, &graph.world) {
            let known = &state.objects[&id];
            let cegar_model::symbolic::cuts::Value::Const(size) = known.size else {
                continue;
            };
            if size > TERMINATED {
                continue;
            }
            let zero = graph.pool.constant(64, 0);
            let mut from = vec![zero];
            for &t in scalars.iter().take(PAIRED) {
                if matches!(graph.pool.width(t), 32 | 64) {
                    from.push(graph.pool.zext(t, 64));
                }
            }
            for index in from {
                let mut hits = Vec::new();
                for at in 0..size {
                    let at = graph.pool.constant(64, at);
                    let byte = graph.pool.select(array, at);
                    let nul = graph.pool.constant(8, 0);
                    let ends = graph.pool.eq(byte, nul);
                    let behind = graph.pool.cmp(Pred::Ule, index, at);
                    hits.push(graph.pool.and(behind, ends));
                }
                out.push(graph.pool.any(&hits));
            }
        }
    }

    /// Bytes of an array at the index given by a value.
    fn elements(
        &mut self,
        arrays: &[Array],
        scalars: &[Term],
        evaluators: &mut [Evaluator],
        out: &mut Vec<Term>,
    ) {
        if self.samples.len() < 2 {
            return;
        }
        for &array in arrays.iter().take(8) {
            for &t in scalars.iter().take(PAIRED) {
                let pool = &mut self.graph.pool;
                let width = pool.width(t);
                if !matches!(width, 32 | 64) {
                    continue;
                }
                let index = pool.zext(t, 64);
                for before in [0u128, 1] {
                    let pool = &mut self.graph.pool;
                    let by = pool.constant(64, before);
                    let index = pool.bin(BinOp::Sub, index, by);
                    let byte = pool.select(array, index);
                    let seen = self.values(byte, evaluators);
                    let Some(&first) = seen.first() else { continue };
                    if seen.iter().all(|&v| v == first) {
                        let pool = &mut self.graph.pool;
                        let c = pool.constant(8, first);
                        out.push(pool.eq(byte, c));
                    }
                }
            }
        }
    }
}

/// The words of eight bytes whose halves are separate variables.
fn joined_halves(
    pool: &mut Pool,
    variables: &[(cegar_model::symbolic::cuts::Place, Term)],
) -> Vec<Term> {
    use cegar_model::symbolic::cuts::{Part, Place};
    let mut all = Vec::new();
    for pair in variables.windows(2) {
        if let [
            (Place::Cell(a, low, Part::Whole), x),
            (Place::Cell(b, high, Part::Whole), y),
        ] = pair
            && a == b
            && low.width == 32
            && high.width == 32
            && low.offset % 8 == 0
            && high.offset == low.offset + 4
        {
            all.push(pool.concat(*y, *x));
        }
    }
    all
}
