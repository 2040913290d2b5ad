//! Arrays that a loop writes with a stride: one fact for each byte that is read later.
//!
//! The fact "byte k is what iteration j wrote, where k = start + j * stride and j < n, else what it
//! was before" is quantified over k. Formulas read finitely many bytes, so it is instantiated for
//! these bytes, and for the bytes that the instances read, until nothing new is read. An array that
//! a loop writes in another way becomes free.

use rustc_hash::FxHashSet;

use super::closed::Closed;
use super::renaming::{Renaming, in_turn, some_turn};
use cegar_model::program::ir::{BinOp, Pred};
use cegar_model::solver::Model;
use cegar_model::term::{
    Array, ArrayNode, Environment, Evaluator, Item, Node, Pool, Rewriter, Term, value,
};

/// The maximum number of instances for one formula.
const MOST: usize = 4_000;

/// A write of an iteration, on a path.
#[derive(Clone, Debug)]
pub struct Write {
    /// The offset that the first iteration writes.
    start: Term,
    /// The distance between the offsets of two iterations.
    stride: i64,
    /// The byte that the iteration [`some_turn`] writes.
    byte: Term,
}

/// An array after a number of iterations.
#[derive(Clone, Debug)]
pub struct Lazy {
    /// The array variable.
    pub array: Array,
    /// The array before the first iteration.
    pub below: Array,
    /// The writes of an iteration, in order.
    pub writes: Vec<Write>,
    /// The number of iterations.
    pub turns: Term,
}

/// The writes by which an iteration turns `array` into `after`; `None` unless all are unconditional
/// and have a constant stride. `then` gives the values before the iteration [`some_turn`], and
/// `renaming` maps terms to the path.
pub fn writes(
    pool: &mut Pool,
    closed: &mut Closed,
    (array, after): (Array, Array),
    then: &mut Rewriter,
    renaming: &mut Renaming,
) -> Option<Vec<Write>> {
    let mut all = Vec::new();
    let mut at = after;
    while at != array {
        let ArrayNode::Store(below, index, byte) = pool.array_node(at) else {
            return None;
        };
        let (start, stride) = match closed.polynomial(pool, index)?[..] {
            [start] => (start, 0),
            [start, stride] => (start, value::signed(64, pool.as_const(stride)?) as i64),
            _ => return None,
        };
        let byte = then.apply(pool, byte);
        all.push(Write {
            start: renaming.apply(pool, start),
            stride,
            byte: renaming.apply(pool, byte),
        });
        at = below;
    }
    all.reverse();
    Some(all)
}

/// Adds the facts about the arrays at all indices at which the formulas read them.
pub fn instantiate(pool: &mut Pool, lazy: &[Lazy], formulas: &mut Vec<Term>) {
    let mut seen: FxHashSet<Item> = FxHashSet::default();
    let mut stated: FxHashSet<(usize, Term)> = FxHashSet::default();
    let mut next = 0;
    while next < formulas.len() && stated.len() < MOST {
        let root = Item::Term(formulas[next]);
        next += 1;
        let mut reads = Vec::new();
        for item in pool.order(root, |item| seen.contains(&item)) {
            seen.insert(item);
            if let Item::Term(t) = item
                && let Node::Select(array, index) = *pool.node(t)
            {
                reads.push((array, index));
            }
        }
        for (array, index) in reads {
            for leaf in leaves(pool, array) {
                if let Some(number) = lazy.iter().position(|lazy| lazy.array == leaf)
                    && stated.insert((number, index))
                {
                    let fact = lazy[number].at(pool, index);
                    formulas.push(fact);
                }
            }
        }
    }
}

/// The array variables that a read may depend on.
fn leaves(pool: &Pool, array: Array) -> Vec<Array> {
    pool.order(Item::Array(array), |item| matches!(item, Item::Term(_)))
        .into_iter()
        .filter_map(|item| match item {
            Item::Array(a) if matches!(pool.array_node(a), ArrayNode::Variable(_)) => Some(a),
            _ => None,
        })
        .collect()
}

/// A model in which the arrays that loops wrote have the contents that the loops wrote.
pub struct Written<'a> {
    pool: &'a Pool,
    model: &'a Model,
    arrays: &'a [Known],
    /// Variables with values of their own: the number of the iteration, and the index.
    here: [(u32, u64); 2],
}

/// The value of an array in a model.
#[derive(Debug)]
pub struct Known {
    array: u32,
    turns: u64,
    /// For each write: the first offset, the stride, and the byte in the iteration [`some_turn`].
    writes: Vec<(u64, i64, Term)>,
    /// The byte before the loop at [`some_index`].
    below: Term,
}

/// The variable that represents an index.
fn some_index(pool: &mut Pool) -> Term {
    pool.variable("?index", 64)
}

fn number(pool: &Pool, variable: Term) -> u32 {
    match *pool.node(variable) {
        Node::Variable(number) => number,
        _ => u32::MAX,
    }
}

/// The values of arrays in a model.
pub fn known(pool: &mut Pool, lazy: &[Lazy], model: &Model) -> Vec<Known> {
    let index = some_index(pool);
    let mut evaluator = Evaluator::new();
    let mut all = Vec::new();
    for lazy in lazy {
        let ArrayNode::Variable(array) = pool.array_node(lazy.array) else {
            continue;
        };
        let written = lazy.writes.iter().map(|write| {
            let start = evaluator.eval_in(pool, write.start, model) as u64;
            (start, write.stride, write.byte)
        });
        let writes = written.collect();
        let turns = evaluator.eval_in(pool, lazy.turns, model) as u64;
        let below = pool.select(lazy.below, index);
        all.push(Known {
            array,
            turns,
            writes,
            below,
        });
    }
    all
}

impl<'a> Written<'a> {
    /// The model with these arrays, at iteration 0.
    pub fn new(pool: &'a mut Pool, model: &'a Model, arrays: &'a [Known]) -> Written<'a> {
        let (turn, index) = (some_turn(pool), some_index(pool));
        let here = [(number(pool, turn), 0), (number(pool, index), 0)];
        Written {
            pool,
            model,
            arrays,
            here,
        }
    }

    /// The value of a term that does not depend on an iteration.
    pub fn value(&self, t: Term) -> u64 {
        Evaluator::new().eval_in(self.pool, t, self) as u64
    }

    /// Whether all of these hold in an iteration.
    pub fn hold(&self, evaluator: &mut Evaluator, turn: u64, all: &[Term]) -> bool {
        let here = self.at(turn, 0);
        evaluator.reset();
        all.iter()
            .all(|&t| evaluator.eval_in(self.pool, t, &here) == 1)
    }

    fn at(&self, turn: u64, index: u64) -> Written<'a> {
        let [(turn_number, _), (index_number, _)] = self.here;
        Written {
            pool: self.pool,
            model: self.model,
            arrays: self.arrays,
            here: [(turn_number, turn), (index_number, index)],
        }
    }

    fn byte(&self, known: &Known, index: u64) -> u8 {
        for &(start, stride, byte) in known.writes.iter().rev() {
            let turn = match stride {
                0 if index == start => known.turns.wrapping_sub(1),
                0 => continue,
                _ => {
                    let distance = match stride > 0 {
                        true => index.wrapping_sub(start),
                        false => start.wrapping_sub(index),
                    };
                    let step = stride.unsigned_abs();
                    if distance % step != 0 {
                        continue;
                    }
                    distance / step
                }
            };
            if turn < known.turns {
                let here = self.at(turn, 0);
                return Evaluator::new().eval_in(self.pool, byte, &here) as u8;
            }
        }
        let here = self.at(0, index);
        Evaluator::new().eval_in(self.pool, known.below, &here) as u8
    }
}

impl Environment for Written<'_> {
    fn input(&self, index: u32) -> u8 {
        self.model.input(index)
    }
    fn variable(&self, variable: u32) -> u128 {
        let here = self.here.iter().find(|(number, _)| *number == variable);
        here.map_or_else(
            || self.model.variable(variable),
            |&(_, value)| u128::from(value),
        )
    }
    fn element(&self, array: u32, index: u64) -> u8 {
        match self.arrays.iter().find(|known| known.array == array) {
            Some(known) => self.byte(known, index),
            None => self.model.element(array, index),
        }
    }
}

impl Lazy {
    /// The fact about the array's byte at an index.
    fn at(&self, pool: &mut Pool, index: Term) -> Term {
        let mut byte = pool.select(self.below, index);
        let one = pool.constant(64, 1);
        let zero = pool.constant(64, 0);
        for write in &self.writes {
            let (turn, hit) = if write.stride == 0 {
                let last = pool.bin(BinOp::Sub, self.turns, one);
                let there = pool.eq(index, write.start);
                (last, there)
            } else {
                let (from, to) = match write.stride > 0 {
                    true => (write.start, index),
                    false => (index, write.start),
                };
                let distance = pool.bin(BinOp::Sub, to, from);
                let step = pool.constant(64, u128::from(write.stride.unsigned_abs()));
                let turn = pool.bin(BinOp::UDiv, distance, step);
                let rest = pool.bin(BinOp::URem, distance, step);
                let even = pool.eq(rest, zero);
                (turn, even)
            };
            let there = pool.cmp(Pred::Ult, turn, self.turns);
            let hit = pool.and(hit, there);
            let written = in_turn(pool, turn, write.byte);
            byte = pool.ite(hit, written, byte);
        }
        let read = pool.select(self.array, index);
        pool.eq(read, byte)
    }
}
