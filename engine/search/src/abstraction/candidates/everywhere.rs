//! Candidates about all elements of an array, or about those below or from a counter on.
//!
//! A loop that fills, copies or scans an array leaves behind it elements with a common property:
//! they equal some value, are at least that value, equal another array's elements at the same
//! index, or are their index times a step. As in array segmentation (Cousot, Cousot and Logozzo, *A
//! parametric segmentation functor*, 2011), the borders are the program's own counters. A fact
//! about all elements is queried for one arbitrary element ([`cegar_model::symbolic::every`]).

use std::collections::{BTreeMap, BTreeSet};

use cegar_model::program::ir::{BinOp, Pred};
use cegar_model::symbolic::cuts::{CutState, Part, Place, Value};
use cegar_model::symbolic::every;
use cegar_model::term::{Array, ArrayNode, Evaluator, Node, Pool, Rewriter, Term, value};

use super::CandidateGenerator;

/// The maximum number of arrays at one cut point.
const ARRAYS: usize = 6;
/// The maximum number of counters that are borders.
const BORDERS: usize = 6;
/// The maximum number of the program's constants that elements are compared with; the smallest are
/// used.
const COMPARED: usize = 6;
/// The maximum number of values that elements are compared with.
const VALUES: usize = 8;
/// The maximum number of candidates about one array.
const MOST: usize = 160;
/// The maximum number of states used.
const STATES: usize = 24;

/// The element sizes of arrays, in bytes: how many adjacent bytes are read together, given the
/// offsets of all reads.
pub(super) fn elements(
    pool: &Pool,
    read: &BTreeMap<Array, BTreeSet<Term>>,
) -> BTreeMap<Array, u64> {
    let mut all: BTreeMap<Array, u64> = BTreeMap::new();
    for (&array, offsets) in read {
        let mut ahead: BTreeMap<Term, u128> = BTreeMap::new();
        for &offset in offsets {
            if let Node::Bin(BinOp::Add, a, b) = *pool.node(offset) {
                let steps = [(a, pool.as_const(b)), (b, pool.as_const(a))];
                for (base, step) in steps {
                    if let Some(step) = step.filter(|step| *step < 8 && offsets.contains(&base)) {
                        let most = ahead.entry(base).or_default();
                        *most = step.max(*most);
                    }
                }
            }
        }
        let width = ahead.values().max().map_or(1, |most| *most as u64 + 1);
        let below = all.entry(variable(pool, array)).or_insert(width);
        *below = width.max(*below);
    }
    all
}

/// The array below the stores.
fn variable(pool: &Pool, array: Array) -> Array {
    match pool.array_node(array) {
        ArrayNode::Store(below, _, _) => variable(pool, below),
        _ => array,
    }
}

/// An array and its element size.
#[derive(Clone, Copy)]
struct ArrayLayout {
    array: Array,
    width: u64,
    /// Its size in bytes, as a term and as a number if it is constant.
    size: (Term, Option<u64>),
}

/// Counters that may be borders of arrays.
fn counters(pool: &Pool, plain: &[Term]) -> Vec<Term> {
    let all = plain.iter().copied();
    let counters = all.filter(|&t| matches!(pool.width(t), 32 | 64));
    counters.take(BORDERS).collect()
}

impl ArrayLayout {
    /// The offset of the element with the counter's value as its index.
    fn place(self, pool: &mut Pool, counter: Term) -> Term {
        let wide = pool.zext(counter, 64);
        let width = pool.constant(64, u128::from(self.width));
        pool.bin(BinOp::Mul, wide, width)
    }

    /// The element at an offset.
    fn at(self, pool: &mut Pool, offset: Term) -> Term {
        let mut whole: Option<Term> = None;
        for i in 0..self.width {
            let step = pool.constant(64, u128::from(i));
            let index = pool.bin(BinOp::Add, offset, step);
            let byte = pool.select(self.array, index);
            whole = Some(match whole {
                Some(low) => pool.concat(byte, low),
                None => byte,
            });
        }
        match whole {
            Some(whole) => whole,
            None => pool.constant(8, 0),
        }
    }
}

impl CandidateGenerator<'_, '_> {
    pub(super) fn everywhere(
        &mut self,
        state: &CutState,
        (arrays, variables): (&[Array], &[(Place, Term)]),
        evaluators: &mut [Evaluator],
        out: &mut Vec<Term>,
    ) {
        let graph = &mut *self.graph;
        let known = state.arrays(&mut graph.pool, &graph.world);
        let layouts = known.into_iter().filter_map(|(id, array)| {
            let (size, fixed) = match state.objects.get(&id)?.size {
                Value::Const(size) => {
                    let size = u64::try_from(size).ok()?;
                    (graph.pool.constant(64, size.into()), Some(size))
                }
                _ => {
                    let is_size = |(place, _): &&(Place, Term)| *place == Place::Size(id);
                    (variables.iter().find(is_size)?.1, None)
                }
            };
            // Arrays that are only copied get the largest element size.
            let read = &self.vocabulary.elements;
            let width = read.get(&array).or_else(|| read.values().max());
            let width = width.copied()?;
            let is_whole = fixed.is_none_or(|size| size % width == 0 && size > width);
            let fits = matches!(width, 1 | 2 | 4 | 8) && is_whole;
            let size = (size, fixed);
            (fits && arrays.contains(&array)).then_some(ArrayLayout { array, width, size })
        });
        let layouts: Vec<ArrayLayout> = layouts.take(ARRAYS).collect();
        let is_plain = |place: &Place| {
            matches!(
                place,
                Place::Register(_, _, Part::Whole) | Place::Cell(_, _, Part::Whole)
            )
        };
        let plain: Vec<Term> = variables
            .iter()
            .filter(|(place, _)| is_plain(place))
            .map(|&(_, t)| t)
            .collect();
        for &layout in &layouts {
            let regions = self.regions(layout, &plain);
            let said = self.said_of(layout, &layouts, &plain, evaluators);
            self.facts_of((layout, &regions), &said, evaluators, out);
            let said = self.compared(layout, &plain);
            self.facts_of((layout, &regions), &said, evaluators, out);
        }
    }

    /// The candidates about the elements in each region that no state refutes.
    fn facts_of(
        &mut self,
        (layout, regions): (ArrayLayout, &[(Term, bool)]),
        said: &[(Term, bool)],
        evaluators: &mut [Evaluator],
        out: &mut Vec<Term>,
    ) {
        let mut count = 0;
        for &(region, is_end) in regions {
            for &(says, is_value) in said {
                if is_end && !is_value {
                    continue;
                }
                let pool = &mut self.graph.pool;
                let outside = pool.not(region);
                let fact = pool.or(outside, says);
                if count < MOST && self.is_seen(layout, fact, evaluators) {
                    out.push(fact);
                    count += 1;
                }
            }
        }
    }

    /// The regions of an array, as conditions on an offset: all elements, the first, the last,
    /// those below a counter, those from it on. Also returns whether the region is one of the two
    /// ends.
    fn regions(&mut self, layout: ArrayLayout, plain: &[Term]) -> Vec<(Term, bool)> {
        let pool = &mut self.graph.pool;
        let every = every::every(pool);
        let mut inside = pool.cmp(Pred::Ult, every, layout.size.0);
        if layout.width > 1 {
            let bits = layout.width.trailing_zeros() as u16;
            let low = pool.extract(every, 0, bits);
            let zero = pool.constant(bits, 0);
            let whole = pool.eq(low, zero);
            inside = pool.and(inside, whole);
        }
        let mut all = vec![(inside, false)];
        // A sentinel, stored at one end for a search to find.
        let ends = layout.size.1.map(|size| [0, size - layout.width]);
        for at in ends.into_iter().flatten() {
            let at = pool.constant(64, u128::from(at));
            all.push((pool.eq(every, at), true));
        }
        for counter in counters(pool, plain) {
            let border = layout.place(pool, counter);
            let below = pool.cmp(Pred::Ult, every, border);
            let from = pool.not(below);
            all.push((pool.and(inside, below), false));
            all.push((pool.and(inside, from), false));
        }
        all
    }

    /// Properties of the element at an offset, and whether a property gives the element's value.
    fn said_of(
        &mut self,
        layout: ArrayLayout,
        layouts: &[ArrayLayout],
        plain: &[Term],
        evaluators: &mut [Evaluator],
    ) -> Vec<(Term, bool)> {
        let bits = layout.width as u16 * 8;
        let pool = &mut self.graph.pool;
        let every = every::every(pool);
        let element = layout.at(pool, every);
        let zero = pool.constant(64, 0);
        let first = layout.at(pool, zero);
        let next = pool.constant(64, u128::from(layout.width));
        let second = layout.at(pool, next);
        let step = pool.bin(BinOp::Sub, second, first);
        let mut values: Vec<Term> = plain
            .iter()
            .copied()
            .filter(|&t| pool.width(t) == bits)
            .take(VALUES)
            .collect();
        let seen = |generator: &Self, t: Term, evaluators: &mut [Evaluator]| {
            let mut seen = generator.values(t, evaluators);
            seen.truncate(STATES);
            seen
        };
        let firsts: BTreeSet<u128> = seen(self, first, evaluators).into_iter().collect();
        let steps: BTreeSet<u128> = seen(self, step, evaluators).into_iter().collect();
        let pool = &mut self.graph.pool;
        let least: Vec<u128> = firsts
            .iter()
            .copied()
            .filter(|v| *v < 1 << 16)
            .take(2)
            .collect();
        values.extend(least.into_iter().map(|v| pool.constant(bits, v)));
        let mut all = Vec::new();
        for &other in layouts.iter().filter(|other| other.array != layout.array) {
            if other.width != layout.width {
                continue;
            }
            let same = other.at(pool, every);
            all.push((pool.eq(element, same), false));
            let width = pool.constant(64, u128::from(other.width));
            let last = pool.bin(BinOp::Sub, other.size.0, width);
            let turned = pool.bin(BinOp::Sub, last, every);
            let turned = other.at(pool, turned);
            all.push((pool.eq(element, turned), false));
        }
        let shift = pool.constant(64, u128::from(layout.width.trailing_zeros()));
        let place = pool.bin(BinOp::LShr, every, shift);
        let place = pool.extract(place, 0, bits.min(64));
        for &value in &values {
            all.push((pool.eq(element, value), true));
            for step in steps.iter().copied().filter(|step| *step != 0).take(3) {
                let step = pool.constant(bits, step);
                let moved = pool.bin(BinOp::Mul, place, step);
                let line = pool.bin(BinOp::Add, value, moved);
                all.push((pool.eq(element, line), false));
            }
            for pred in [Pred::Sge, Pred::Sle] {
                all.push((pool.cmp(pred, element, value), false));
            }
            let same = pool.eq(element, value);
            all.push((pool.not(same), false));
        }
        all
    }

    /// Comparisons of the element at an offset with the program's constants, and with the elements
    /// at its counters (e.g. the least element so far). Includes the unsigned bounds, which
    /// [`Self::said_of`] leaves out.
    fn compared(&mut self, layout: ArrayLayout, plain: &[Term]) -> Vec<(Term, bool)> {
        let bits = layout.width as u16 * 8;
        let mut constants = self.vocabulary.constants(bits);
        constants.sort_by_key(|c| value::signed(bits, *c).unsigned_abs());
        let pool = &mut self.graph.pool;
        let every = every::every(pool);
        let element = layout.at(pool, every);
        let mut all = Vec::new();
        let both = |pool: &mut Pool, other, preds: &[Pred]| -> Vec<(Term, bool)> {
            let said = preds.iter().map(|pred| pool.cmp(*pred, element, other));
            said.map(|says| (says, false)).collect()
        };
        for counter in counters(pool, plain) {
            let place = layout.place(pool, counter);
            let other = layout.at(pool, place);
            all.extend(both(pool, other, &[Pred::Sge, Pred::Sle]));
            all.extend(both(pool, other, &[Pred::Uge, Pred::Ule]));
        }
        for c in constants.into_iter().take(COMPARED) {
            let c = pool.constant(bits, c);
            all.extend(both(pool, c, &[Pred::Sge, Pred::Sle, Pred::Ule]));
        }
        let values = plain.iter().filter(|t| pool.width(**t) == bits).copied();
        for value in values.take(VALUES).collect::<Vec<Term>>() {
            all.extend(both(pool, value, &[Pred::Uge, Pred::Ule]));
        }
        all
    }

    /// Whether a fact holds for a few elements in all states that were seen.
    fn is_seen(&mut self, layout: ArrayLayout, fact: Term, evaluators: &mut [Evaluator]) -> bool {
        let places = match layout.size.1.map(|size| size / layout.width - 1) {
            Some(last) => [0, 1, 2, last / 2, last],
            None => [0, 1, 2, 3, 5],
        };
        places.into_iter().all(|place| {
            let pool = &mut self.graph.pool;
            let every = every::every(pool);
            let offset = pool.constant(64, u128::from(place * layout.width));
            let mut rewriter = Rewriter::new();
            rewriter.replace(every, offset);
            let here = rewriter.apply(pool, fact);
            let pool = &self.graph.pool;
            let samples = self.samples.iter().zip(evaluators.iter_mut()).take(STATES);
            pool.as_const(here) == Some(1)
                || pool.as_const(here).is_none()
                    && samples
                        .into_iter()
                        .all(|(sample, evaluator)| sample.eval(pool, evaluator, here) == 1)
        })
    }
}
