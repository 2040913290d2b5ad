//! Bounds that grow with a counter.
//!
//! The amount that an iteration adds to a value bounds the value after any number of iterations: it
//! grows at least by the least step and at most by the greatest step in each iteration. This is
//! what remains of a closed form where the step is a choice or an input (SatAbs, section 4, leaves
//! these free). A counter with step one gives the number of iterations; the offset comes from the
//! observed states.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::{CandidateGenerator, Vocabulary};
use crate::abstraction::graph::Graph;
use cegar_model::deadline;
use cegar_model::program::ir::{BinOp, Pred, Width};
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Evaluator, Node, Pool, Term, value};

/// Steps and constants of at least this size are not slopes.
const STEEP: i128 = 1 << 20;
/// The maximum number of row lengths tried.
const ROWS: usize = 2;
/// The maximum number of values that are compared with each other.
const VALUES: usize = 10;

/// Bounds of what an iteration adds to a value.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    low: i128,
    high: i128,
}

/// The steps of the variables of all loops, and the variables that any transition between cut
/// points changes.
pub fn steps(graph: &mut Graph<'_>) -> (Vec<(Cut, Term, Step)>, FxHashSet<Term>) {
    let (mut steps, mut changing) = (Vec::new(), FxHashSet::default());
    let cuts: Vec<Cut> = graph.fragments.keys().copied().flatten().collect();
    for cut in cuts {
        if deadline::passed() {
            break;
        }
        for transition in graph.fragments[&Some(cut)].transitions.clone() {
            for (variable, after) in graph.update(Some(cut), &transition).terms {
                if variable == after {
                    continue;
                }
                changing.insert(variable);
                if transition.to == cut
                    && let Some(step) = step(&graph.pool, after, variable)
                {
                    steps.push((cut, variable, step));
                }
            }
        }
    }
    (steps, changing)
}

/// What `t` adds to `v`.
fn step(pool: &Pool, t: Term, v: Term) -> Option<Step> {
    let width = pool.width(t);
    if t == v {
        return Some(Step { low: 0, high: 0 });
    }
    match *pool.node(t) {
        Node::Bin(BinOp::Add, a, b) => {
            let (rest, added) = match step(pool, a, v) {
                Some(rest) => (rest, b),
                None => (step(pool, b, v)?, a),
            };
            let added = range(pool, added, width)?;
            Some(Step {
                low: rest.low + added.low,
                high: rest.high + added.high,
            })
        }
        Node::Bin(BinOp::Sub, a, b) => {
            let (rest, taken) = (step(pool, a, v)?, range(pool, b, width)?);
            Some(Step {
                low: rest.low - taken.high,
                high: rest.high - taken.low,
            })
        }
        Node::Ite(_, then, otherwise) => {
            let (a, b) = (step(pool, then, v)?, step(pool, otherwise, v)?);
            Some(Step {
                low: a.low.min(b.low),
                high: a.high.max(b.high),
            })
        }
        // A narrow counter that is incremented in a wider type.
        Node::Extract(a, 0) => match *pool.node(a) {
            Node::Bin(BinOp::Add, wide, by) => {
                let is_same =
                    matches!(*pool.node(wide), Node::ZExt(inner) | Node::SExt(inner) if inner == v);
                let by = range(pool, by, pool.width(a)).filter(|_| is_same)?;
                Some(by)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Bounds of a summand.
fn range(pool: &Pool, t: Term, width: Width) -> Option<Step> {
    if let Some(c) = pool.as_const(t) {
        let c = value::signed(width, c);
        return (c.abs() < STEEP).then_some(Step { low: c, high: c });
    }
    match *pool.node(t) {
        Node::ZExt(a) if pool.width(a) <= 16 => Some(Step {
            low: 0,
            high: value::mask(pool.width(a)) as i128,
        }),
        Node::SExt(a) if pool.width(a) <= 16 => Some(Step {
            low: value::signed_min(pool.width(a)),
            high: value::signed_max(pool.width(a)),
        }),
        Node::Ite(_, then, otherwise) => {
            let (a, b) = (range(pool, then, width)?, range(pool, otherwise, width)?);
            Some(Step {
                low: a.low.min(b.low),
                high: a.high.max(b.high),
            })
        }
        _ => None,
    }
}

impl Vocabulary {
    fn step_of(&self, t: Term) -> impl Iterator<Item = (Cut, Step)> + '_ {
        self.steps
            .iter()
            .filter(move |(_, v, _)| *v == t)
            .map(|&(cut, _, step)| (cut, step))
    }

    /// The constant steps that are not powers of two.
    fn odd_steps(&self) -> BTreeSet<u128> {
        let constant = self.steps.iter().filter(|(_, _, s)| s.low == s.high);
        let sizes = constant.map(|(_, _, s)| s.low.unsigned_abs());
        sizes
            .filter(|c| (3..1 << 16).contains(c) && !c.is_power_of_two())
            .collect()
    }
}

impl CandidateGenerator<'_, '_> {
    /// `low * i + c <= v <= high * i + c'` for a counter i with step one.
    pub(super) fn slopes(
        &mut self,
        scalars: &[Term],
        evaluators: &mut [Evaluator],
        out: &mut Vec<Term>,
    ) {
        let walking: Vec<(Term, Cut, Step)> = scalars
            .iter()
            .flat_map(|&t| {
                let steps = self.vocabulary.step_of(t);
                steps.map(move |(cut, step)| (t, cut, step))
            })
            .collect();
        let even = walking
            .iter()
            .filter(|(_, _, step)| step.low == step.high && step.low > 0);
        let counters: Vec<&(Term, Cut, Step)> = even.take(VALUES).collect();
        for &(v, cut, step) in walking.iter().take(VALUES) {
            let is_one = |step: &Step| (step.low, step.high) == (1, 1);
            if is_one(&step) {
                continue;
            }
            for &&(i, at, by) in &counters {
                if i != v && at == cut && is_one(&by) {
                    self.slope(v, i, step, evaluators, out);
                }
            }
        }
    }

    /// `v <= c * i + j` for the counters i and j of two nested loops: an index into a matrix with
    /// rows of c elements.
    pub(super) fn matrix_index_bounds(
        &mut self,
        scalars: &[Term],
        evaluators: &mut [Evaluator],
        out: &mut Vec<Term>,
    ) {
        for width in [32, 64] {
            let constants = self.vocabulary.constants(width).into_iter();
            let steep: Vec<u128> = constants
                .filter(|&c| (2..STEEP as u128).contains(&c))
                .collect();
            let counted = |t: &Term| self.vocabulary.step_of(*t).next().is_some();
            let fits: Vec<Term> = scalars
                .iter()
                .filter(|&&t| {
                    self.graph.pool.width(t) == width && self.vocabulary.changing.contains(&t)
                })
                .take(VALUES)
                .copied()
                .collect();
            let counters: Vec<Term> = fits.iter().filter(|t| counted(t)).copied().collect();
            // If no value is a counter of this loop, the loop is an outer one, and the inner loop
            // may count any of its values.
            let inner = !counters.is_empty();
            for &v in if inner { &counters } else { &fits } {
                // The index of the row changes between two executions of the inner loop, and is not
                // its counter.
                for &i in fits.iter().filter(|&&i| i != v && !(inner && counted(&i))) {
                    self.matrix_index_bound((v, i, None), &steep, evaluators, out);
                    for &j in counters.iter().filter(|&&j| j != v) {
                        self.matrix_index_bound((v, i, Some(j)), &steep, evaluators, out);
                    }
                }
            }
        }
    }

    fn slope(
        &mut self,
        v: Term,
        i: Term,
        step: Step,
        evaluators: &mut [Evaluator],
        out: &mut Vec<Term>,
    ) {
        let pool = &mut self.graph.pool;
        let wide = pool.width(v).max(pool.width(i));
        let (v, i) = (pool.zext(v, wide), pool.zext(i, wide));
        let (seen, turns) = (self.values(v, evaluators), self.values(i, evaluators));
        for (slope, is_upper) in [(step.high, true), (step.low, false)] {
            let rest = seen.iter().zip(&turns).map(|(&v, &i)| {
                let (v, i) = (value::signed(wide, v), value::signed(wide, i));
                v - slope.saturating_mul(i)
            });
            let offset = if is_upper { rest.max() } else { rest.min() };
            let Some(offset) = offset.filter(|o| o.abs() < 1 << 40) else {
                continue;
            };
            let pool = &mut self.graph.pool;
            let slope = pool.constant(wide, value::unsigned(wide, slope));
            let offset = pool.constant(wide, value::unsigned(wide, offset));
            let line = pool.bin(BinOp::Mul, i, slope);
            let line = pool.bin(BinOp::Add, line, offset);
            let preds = match is_upper {
                true => [Pred::Ule, Pred::Sle],
                false => [Pred::Uge, Pred::Sge],
            };
            for pred in preds {
                out.push(pool.cmp(pred, v, line));
            }
        }
    }

    fn matrix_index_bound(
        &mut self,
        (v, i, j): (Term, Term, Option<Term>),
        steep: &[u128],
        evaluators: &mut [Evaluator],
        out: &mut Vec<Term>,
    ) {
        let (seen, turns) = (self.values(v, evaluators), self.values(i, evaluators));
        let inner = match j {
            Some(j) => self.values(j, evaluators),
            None => vec![0; seen.len()],
        };
        let holds = |&&c: &&u128| {
            seen.iter()
                .zip(&turns)
                .zip(&inner)
                .all(|((&v, &i), &j)| v <= c.saturating_mul(i).saturating_add(j))
        };
        let is_slow = seen.iter().zip(&turns).all(|(v, i)| v <= i);
        if is_slow {
            return;
        }
        let found: Vec<u128> = steep.iter().filter(holds).take(ROWS).copied().collect();
        for c in found {
            let pool = &mut self.graph.pool;
            let c = pool.constant(pool.width(i), c);
            let mut line = pool.bin(BinOp::Mul, i, c);
            if let Some(j) = j {
                line = pool.bin(BinOp::Add, line, j);
            }
            out.push(pool.cmp(Pred::Ule, v, line));
        }
    }

    /// The remainder of a value divided by the step of a loop.
    pub(super) fn remainders(
        &mut self,
        scalars: &[Term],
        evaluators: &mut [Evaluator],
        out: &mut Vec<Term>,
    ) {
        for step in self.vocabulary.odd_steps() {
            for &t in scalars {
                let width = self.graph.pool.width(t);
                if !matches!(width, 8..=64) || step > value::mask(width) {
                    continue;
                }
                let seen = self.values(t, evaluators);
                let Some(rest) = seen.first().map(|v| v % step) else {
                    continue;
                };
                if seen.iter().all(|v| v % step == rest) {
                    let pool = &mut self.graph.pool;
                    let (by, rest) = (pool.constant(width, step), pool.constant(width, rest));
                    let left = pool.bin(BinOp::URem, t, by);
                    out.push(pool.eq(left, rest));
                }
            }
        }
    }
}
