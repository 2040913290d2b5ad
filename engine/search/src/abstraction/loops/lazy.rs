//! Arrays that a loop writes to with a stride: one fact for each byte that is read later.
//!
//! "Byte k is what turn j wrote, where k = start + j * stride and j < n, else what it was"
//! quantifies over k. Formulas read finitely many bytes, so the fact is stated for those, and for
//! what it reads in turn, until nothing new is read. A loop that writes in any other way leaves the
//! array free.

use rustc_hash::FxHashSet;

use super::closed::Closed;
use super::renaming::{Renaming, in_turn, some_turn};
use cegar_model::program::ir::{BinOp, Pred};
use cegar_model::solver::Model;
use cegar_model::term::{
    Array, ArrayNode, Environment, Evaluator, Item, Node, Pool, Rewriter, Term, value,
};

/// Facts stated for one formula.
const MOST: usize = 4_000;

/// One write of a turn, on a path.
#[derive(Clone, Debug)]
pub struct Write {
    /// Where the first turn writes.
    start: Term,
    /// How much further each turn.
    stride: i64,
    /// What, in the turn [`some_turn`].
    byte: Term,
}

/// An array after some turns.
#[derive(Clone, Debug)]
pub struct Lazy {
    /// Its name.
    pub array: Array,
    /// What it was before.
    pub below: Array,
    /// What a turn writes, in order.
    pub writes: Vec<Write>,
    /// How many turns.
    pub turns: Term,
}

/// The writes of a turn that makes `after` of `array`; none if they are not all unconditional and
/// in even steps. `then` gives the values before [`some_turn`], `renaming` leads to the path.
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

/// Adds what the arrays hold at every index at which the formulas read them.
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

/// The array variables that a read may come down to.
fn leaves(pool: &Pool, array: Array) -> Vec<Array> {
    pool.order(Item::Array(array), |item| matches!(item, Item::Term(_)))
        .into_iter()
        .filter_map(|item| match item {
            Item::Array(a) if matches!(pool.array_node(a), ArrayNode::Variable(_)) => Some(a),
            _ => None,
        })
        .collect()
}

/// A model in which arrays that loops wrote to hold what the loops wrote, at a turn of a loop.
pub struct Written<'a> {
    pool: &'a Pool,
    model: &'a Model,
    arrays: &'a [Known],
    /// Variables whose values differ: the number of a turn, an index.
    here: [(u32, u64); 2],
}

/// An array in a model.
#[derive(Debug)]
pub struct Known {
    array: u32,
    turns: u64,
    /// Where the first turn writes, how much further each, and what in [`some_turn`].
    writes: Vec<(u64, i64, Term)>,
    /// What it held before at [`some_index`].
    below: Term,
}

/// Stands for an index.
fn some_index(pool: &mut Pool) -> Term {
    pool.variable("?index", 64)
}

fn number(pool: &Pool, variable: Term) -> u32 {
    match *pool.node(variable) {
        Node::Variable(number) => number,
        _ => u32::MAX,
    }
}

/// What a model makes of arrays.
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
    /// The model in this turn.
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

    /// A term's value, outside of all turns.
    pub fn value(&self, t: Term) -> u64 {
        Evaluator::new().eval_in(self.pool, t, self) as u64
    }

    /// Whether all of these hold in a turn.
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
    /// What it holds at an index.
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
