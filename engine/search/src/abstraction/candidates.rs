//! Guesses: predicates that may be invariants of a cut point.
//!
//! Synergy's section 5 generalises by hand-picked templates; since then Houdini has shown that many cheap guesses, dropped as
//! they are refuted, go a long way. A guess costs one evaluation per state of the forest; only what no state refutes comes before
//! a solver. Shapes: constants, bounds against the constants of the code, order and difference of two values, linear
//! equations that all states satisfy, low bits, bytes of an array at a value's index, what pointers point to being alive, and
//! the conditions that the code itself branches on.

mod equations;
mod everywhere;
mod heap;
mod slopes;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::forest::Sample;
use super::graph::Graph;
use super::own::{Own, leaves, symbol_of_array};
use super::relevance::Relevance;
use cegar_model::deadline;
use cegar_model::program::ir::{BinOp, Pred, Width};
use cegar_model::symbolic::cuts::{Part, Place};
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Array, Evaluator, Item, Node, Pool, Rewriter, Symbol, Term, value};

/// Guesses per cut point.
const MOST: usize = 3_000;
/// Values per cut point that are compared with each other.
const PAIRED: usize = 28;
/// Bounds per value and direction.
const BOUNDS: usize = 14;
/// A value that takes more than so many is no state.
const CASES: usize = 6;
/// Conditions of the code that are transferred to other values.
const TRANSFERRED: usize = 40;
/// Constants per width.
const CONSTANTS: usize = 48;

/// What the code compares with: constants by width, and its conditions.
#[derive(Debug, Default)]
pub struct Vocabulary {
    constants: BTreeMap<Width, BTreeSet<u128>>,
    conditions: Vec<Term>,
    /// Variables that hold an object's number.
    numbers: FxHashSet<Term>,
    /// Variables that some transition changes.
    changing: FxHashSet<Term>,
    /// How many bytes are read of an array at once, at an offset that varies.
    elements: BTreeMap<Array, u64>,
    /// What turns of loops add.
    steps: Vec<(Cut, Term, slopes::Step)>,
}

impl Vocabulary {
    /// Of all fragments.
    pub fn new(graph: &mut Graph<'_>) -> Vocabulary {
        let (steps, changing) = slopes::steps(graph);
        let mut all = Vocabulary {
            steps,
            changing,
            ..Vocabulary::default()
        };
        let bases = graph.states.values().flat_map(|state| state.bases.keys());
        all.numbers = bases.copied().collect();
        let mut seen: FxHashSet<Item> = FxHashSet::default();
        let mut read: BTreeMap<Array, BTreeSet<Term>> = BTreeMap::new();
        let pool = &graph.pool;
        for fragment in graph.fragments.values() {
            let guards = fragment
                .obligations
                .iter()
                .flat_map(|o| o.guard.0.iter().chain([&o.violated]))
                .chain(
                    fragment
                        .transitions
                        .iter()
                        .flat_map(|t| t.reached.guard.0.iter()),
                )
                .chain(fragment.assumptions.iter());
            for &root in guards {
                if deadline::seldom_passed() {
                    return all;
                }
                for item in pool.order(Item::Term(root), |item| seen.contains(&item)) {
                    seen.insert(item);
                    if let Item::Term(t) = item {
                        all.note(pool, t);
                        if let Node::Select(array, index) = *pool.node(t)
                            && pool.as_const(index).is_none()
                        {
                            read.entry(array).or_default().insert(index);
                        }
                    }
                }
            }
        }
        all.elements = everywhere::elements(pool, &read);
        all
    }

    fn note(&mut self, pool: &Pool, t: Term) {
        let Node::Cmp(_, a, b) = *pool.node(t) else {
            return;
        };
        if pool.width(a) > 1 {
            self.conditions.push(t);
        }
        let is_number = |c: u128| pool.width(a) == 32 && c != 0;
        for (side, other) in [(a, b), (b, a)] {
            if let Some(c) = pool.as_const(side)
                && !(is_number(c) && self.numbers.contains(&other))
            {
                self.add(pool.width(side), c);
            }
        }
    }

    fn add(&mut self, width: Width, c: u128) {
        let all = self.constants.entry(width).or_default();
        for near in [c.wrapping_sub(1), c, c.wrapping_add(1)] {
            all.insert(near & value::mask(width));
        }
    }

    /// Constants of that width; comparisons at other widths count as well, since C widens everything to `int`.
    pub fn constants(&self, width: Width) -> Vec<u128> {
        let mut all: BTreeSet<u128> = BTreeSet::from([0, 1, value::mask(width)]);
        for (&other, constants) in &self.constants {
            for &c in constants {
                let kept = c & value::mask(width);
                let signed = value::signed(other, c);
                if kept == c || value::unsigned(width, signed) == kept && other < width {
                    all.insert(kept);
                }
                if all.len() > CONSTANTS {
                    break;
                }
            }
        }
        all.into_iter().collect()
    }

    /// All constants, for random tapes.
    pub fn interesting(&self) -> Vec<u128> {
        self.constants.values().flatten().copied().collect()
    }
}

/// How many levels of guesses there are. Each costs more than the one before and is needed more rarely; the last two
/// multiply, and facts that do make every later question harder.
pub const LEVELS: u32 = 6;
/// Those of them that know nothing of closed forms.
pub const PLAIN: u32 = 4;

/// Arrays up to this size are asked for a terminating zero.
const TERMINATED: u128 = 256;

/// Makes the guesses for one cut point.
pub struct Guesser<'a, 'p> {
    /// Everything.
    pub graph: &'a mut Graph<'p>,
    /// What the code compares with.
    pub vocabulary: &'a Vocabulary,
    /// States that were seen there.
    pub samples: &'a [Sample],
    /// From 0 to [`LEVELS`]: what kinds of guesses to make.
    pub level: u32,
    /// What bears on the goals; none: everything may.
    pub relevance: Option<&'a Relevance>,
}

impl Guesser<'_, '_> {
    /// Guesses that no sample refutes.
    pub fn guess(&mut self, cut: Cut) -> Vec<Term> {
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
        let own: Own = of_variables.chain(of_arrays).collect();
        let is_number = |place: &Place| {
            matches!(place, Place::Number(_))
                || matches!(
                    place,
                    Place::Register(_, _, Part::Base) | Place::Cell(_, _, Part::Base)
                )
        };
        // Which of its objects a pointer points to is a condition, not a magnitude.
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
        // Where a string ends is compared with everything.
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
        if self.level == 1 {
            self.transferred(&scalars, &mut out);
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
            // Some need bounds that are known by now.
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
            self.rows(&scalars, &mut evaluators, &mut out);
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

    /// What the code asks of one value, said of another: a length that was checked bounds the index that walks up to it.
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

    /// A value alone: constant, bounds, low bits.
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
                        // The tightest first.
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

    /// Two values: order, equality, a constant difference, equal low bits.
    fn pairs(&mut self, scalars: &[Term], evaluators: &mut [Evaluator], out: &mut Vec<Term>) {
        let wide: Vec<Term> = scalars
            .iter()
            .filter(|&&t| matches!(self.graph.pool.width(t), 8..=64))
            .copied()
            .take(PAIRED)
            .collect();
        for (i, &x) in wide.iter().enumerate() {
            if deadline::passed() {
                return;
            }
            for &y in &wide[i + 1..] {
                for (x, y) in self.same_width(x, y) {
                    self.pair(x, y, evaluators, out);
                }
            }
        }
    }

    fn pair(&mut self, x: Term, y: Term, evaluators: &mut [Evaluator], out: &mut Vec<Term>) {
        let pool = &mut self.graph.pool;
        match self.level {
            0 => out.push(pool.eq(x, y)),
            1 => {
                for pred in [
                    Pred::Ule,
                    Pred::Uge,
                    Pred::Sle,
                    Pred::Sge,
                    Pred::Ult,
                    Pred::Ugt,
                    Pred::Slt,
                    Pred::Sgt,
                ] {
                    out.push(pool.cmp(pred, x, y));
                }
                return;
            }
            _ => {}
        }
        let difference = pool.bin(BinOp::Sub, x, y);
        let sum = pool.bin(BinOp::Add, x, y);
        for combined in [difference, sum] {
            let seen = self.values(combined, evaluators);
            let pool = &mut self.graph.pool;
            let width = pool.width(combined);
            let Some(&first) = seen.first() else { continue };
            let constant = seen.iter().all(|&v| v == first);
            match self.level {
                0 if constant => {
                    let c = pool.constant(width, first);
                    out.push(pool.eq(combined, c));
                }
                2 if !constant => {
                    for bits in [1, 2] {
                        let low = pool.extract(combined, 0, bits);
                        let c = pool.constant(bits, first);
                        out.push(pool.eq(low, c));
                    }
                }
                3 if !constant => {
                    for c in self.vocabulary.constants(width) {
                        let pool = &mut self.graph.pool;
                        let c = pool.constant(width, c);
                        out.push(pool.cmp(Pred::Ule, combined, c));
                        out.push(pool.cmp(Pred::Sle, combined, c));
                        out.push(pool.cmp(Pred::Sge, combined, c));
                    }
                }
                _ => {}
            }
        }
    }

    /// What one value is where another, which takes few values, has one of them: what a state machine knows.
    fn by_case(&mut self, scalars: &[Term], evaluators: &mut [Evaluator], out: &mut Vec<Term>) {
        let is_number = |t: &&Term| matches!(self.graph.pool.width(**t), 1 | 8..=64);
        let scalars: Vec<Term> = scalars
            .iter()
            .filter(is_number)
            .copied()
            .take(PAIRED)
            .collect();
        let columns: Vec<Vec<u128>> = scalars
            .iter()
            .map(|&t| self.values(t, evaluators))
            .collect();
        for (i, states) in columns.iter().enumerate() {
            let cases: BTreeSet<u128> = states.iter().copied().collect();
            if !(2..=CASES).contains(&cases.len()) {
                continue;
            }
            for (j, values) in columns.iter().enumerate().filter(|(j, _)| *j != i) {
                for &case in &cases {
                    let mut here = states.iter().zip(values).filter(|(s, _)| **s == case);
                    let Some((_, &first)) = here.next() else {
                        continue;
                    };
                    if here.any(|(_, &value)| value != first) {
                        continue;
                    }
                    let pool = &mut self.graph.pool;
                    let case = pool.constant(pool.width(scalars[i]), case);
                    let value = pool.constant(pool.width(scalars[j]), first);
                    let other = pool.eq(scalars[i], case);
                    let other = pool.not(other);
                    let same = pool.eq(scalars[j], value);
                    out.push(pool.or(other, same));
                }
            }
        }
    }

    /// The two at one width: as they are, or the narrower one widened both ways.
    fn same_width(&mut self, x: Term, y: Term) -> Vec<(Term, Term)> {
        let pool = &mut self.graph.pool;
        let (w, v) = (pool.width(x), pool.width(y));
        if w == v {
            return vec![(x, y)];
        }
        let wide = w.max(v);
        vec![
            (pool.zext(x, wide), pool.zext(y, wide)),
            (pool.sext(x, wide), pool.sext(y, wide)),
        ]
    }

    /// A string ends in its array: some byte from a value's index on is zero.
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

    /// Bytes of an array at an index that a value gives.
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

/// Words of eight bytes whose halves both vary.
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
