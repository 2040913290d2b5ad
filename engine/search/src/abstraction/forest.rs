//! The forest: states of cut points that executions reach.
//!
//! Synergy (section 3) keeps concrete executions beside the abstraction: a candidate that an
//! execution refutes is not worth proving, and others are. Here the graph itself is executed: the
//! terms of a fragment are evaluated, the transition whose guard holds is taken, and its update
//! gives the next state. The tape is a given one (from the fuzzer's corpus) or random. Each state
//! keeps the tape that led to it, so that a frontier query can start there. No solver is involved,
//! so thousands of states cost milliseconds.

mod calls;
mod walk;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

pub use walk::{Walk, Walked, Walker};

use self::calls::Calls;
use super::graph::Graph;
use cegar_model::symbolic::encode::Input;
use cegar_model::symbolic::state::Guard;
use cegar_model::symbolic::update::Update;
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Array, ArrayNode, Environment, Evaluator, Node, Pool, Term};

/// The bytes of an array: written bytes over a background.
#[derive(Clone, Debug)]
struct Bytes {
    written: FxHashMap<u64, u8>,
    below: Below,
}

#[derive(Clone, Debug)]
enum Below {
    /// Unspecified bytes; the number is the seed of their values.
    Random(u64),
    Constant(u32),
}

/// A concrete state of a cut point.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    variables: FxHashMap<u32, u128>,
    arrays: FxHashMap<u32, Rc<Bytes>>,
    seed: u64,
    flavour: u64,
    contents: Rc<Vec<Box<[u8]>>>,
    interesting: Rc<Vec<u128>>,
    /// The part of the tape that was read on the way here.
    pub tape: Rc<Vec<u8>>,
}

fn hash(parts: &[u64]) -> u64 {
    let mut hasher = FxHasher::default();
    parts.hash(&mut hasher);
    let h = hasher.finish();
    (h ^ (h >> 31))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(29)
}

impl Environment for Sample {
    fn input(&self, _: u32) -> u8 {
        0
    }

    fn variable(&self, variable: u32) -> u128 {
        if let Some(&value) = self.variables.get(&variable) {
            return value;
        }
        self.random(u64::from(variable))
    }

    fn element(&self, array: u32, index: u64) -> u8 {
        match self.arrays.get(&array) {
            Some(bytes) => self.byte(bytes, index),
            None => self.background(hash(&[self.seed, 77, u64::from(array)]), index),
        }
    }
}

impl Sample {
    /// A value for an unknown: small, special or random.
    fn random(&self, what: u64) -> u128 {
        let h = hash(&[self.seed, what]);
        let (kind, rest) = ((h ^ self.flavour) % 8, h >> 3);
        match kind {
            0 | 1 => u128::from(rest % 3),
            2 => u128::MAX - u128::from(rest % 3),
            3 | 4 => u128::from(rest % 128),
            5 | 6 if !self.interesting.is_empty() => {
                self.interesting[rest as usize % self.interesting.len()]
            }
            _ => u128::from(hash(&[h])) << 64 | u128::from(hash(&[h, 1])),
        }
    }

    fn byte(&self, bytes: &Bytes, index: u64) -> u8 {
        if let Some(&byte) = bytes.written.get(&index) {
            return byte;
        }
        match bytes.below {
            Below::Random(seed) => self.background(seed, index),
            Below::Constant(contents) => self
                .contents
                .get(contents as usize)
                .and_then(|c| c.get(usize::try_from(index).ok()?).copied())
                .unwrap_or(0),
        }
    }

    fn background(&self, seed: u64, index: u64) -> u8 {
        let h = hash(&[seed, index]);
        match h % 4 {
            0 => 0,
            1 => b'a' + ((h >> 8) % 26) as u8,
            _ => (h >> 8) as u8,
        }
    }

    /// Reads one of a fragment's inputs: from a given tape, or a random value. The bytes are
    /// appended to the state's tape.
    fn take(
        &mut self,
        pool: &Pool,
        evaluator: &mut Evaluator,
        (number, guard, input): (usize, &Guard, &Input),
        given: Option<&[u8]>,
    ) {
        if !guard.0.iter().all(|&t| self.eval(pool, evaluator, t) == 1) {
            return;
        }
        match *input {
            Input::Bytes(variable) => {
                let bytes = usize::from(pool.width(variable) / 8);
                let at = self.tape.len();
                let tape = Rc::make_mut(&mut self.tape);
                match given {
                    // Past its end a tape reads as zeros.
                    Some(given) => {
                        let byte = |i: usize| given.get(at + i).copied().unwrap_or(0);
                        tape.extend((0..bytes).map(byte));
                    }
                    None => {
                        let value = self.random(hash(&[number as u64, at as u64]));
                        let tape = Rc::make_mut(&mut self.tape);
                        tape.extend(&value.to_le_bytes()[..bytes.min(16)]);
                    }
                }
                let mut value = 0u128;
                for &byte in self.tape[at..].iter().rev() {
                    value = value << 8 | u128::from(byte);
                }
                self.set(pool, variable, value);
            }
            Input::Remaining(variable) => {
                let left = match given {
                    Some(given) => given.len().saturating_sub(self.tape.len()) as u128,
                    // Usually more bytes remain; a random tape ends at some point.
                    None if self.random(hash(&[number as u64, 3])) % 23 == 5 => 0,
                    None => 1 + self.random(hash(&[number as u64, 4])) % 64,
                };
                self.set(pool, variable, left);
            }
        }
    }

    fn set(&mut self, pool: &Pool, variable: Term, value: u128) {
        if let Node::Variable(number) = *pool.node(variable) {
            self.variables.insert(number, value);
        }
    }

    /// This state as an assertion: each variable of the cut point has its value. Of the arrays,
    /// only the written bytes are fixed, at most `WRITTEN`.
    pub fn state(&self, pool: &mut Pool, variables: &[Term], arrays: &[Array]) -> Vec<Term> {
        let mut all = Vec::new();
        for &variable in variables {
            if let Node::Variable(number) = *pool.node(variable)
                && let Some(&value) = self.variables.get(&number)
            {
                let value = pool.constant(pool.width(variable), value);
                all.push(pool.eq(variable, value));
            }
        }
        for &array in arrays {
            let ArrayNode::Variable(number) = pool.array_node(array) else {
                continue;
            };
            let Some(bytes) = self.arrays.get(&number).cloned() else {
                continue;
            };
            let mut written: Vec<(u64, u8)> = bytes.written.iter().map(|(&i, &b)| (i, b)).collect();
            written.sort_unstable();
            for (index, byte) in written.into_iter().take(WRITTEN) {
                let index = pool.constant(64, u128::from(index));
                let known = pool.select(array, index);
                let byte = pool.constant(8, u128::from(byte));
                all.push(pool.eq(known, byte));
            }
        }
        all
    }

    /// The value of a term in this state.
    pub fn eval(&self, pool: &Pool, evaluator: &mut Evaluator, t: Term) -> u128 {
        evaluator.eval_in(pool, t, self)
    }

    /// The state after a transition, with the same values for the unknowns.
    pub fn after(&self, pool: &Pool, update: &Update) -> Sample {
        let mut next = self.next(pool, &mut Evaluator::new(), update, 0);
        next.seed = self.seed;
        for (&variable, &value) in &self.variables {
            next.variables.entry(variable).or_insert(value);
        }
        next
    }

    fn next(&self, pool: &Pool, evaluator: &mut Evaluator, update: &Update, step: u64) -> Sample {
        let mut next = Sample {
            seed: hash(&[self.seed, step]),
            flavour: self.flavour,
            contents: Rc::clone(&self.contents),
            interesting: Rc::clone(&self.interesting),
            tape: Rc::clone(&self.tape),
            ..Sample::default()
        };
        for &(variable, value) in &update.terms {
            if let Node::Variable(number) = *pool.node(variable) {
                let value = self.eval(pool, evaluator, value);
                next.variables.insert(number, value);
            }
        }
        for &(array, value) in &update.arrays {
            if let ArrayNode::Variable(number) = pool.array_node(array) {
                let bytes = self.array(pool, evaluator, value);
                next.arrays.insert(number, bytes);
            }
        }
        next
    }

    fn array(&self, pool: &Pool, evaluator: &mut Evaluator, array: Array) -> Rc<Bytes> {
        let mut writes: Vec<(u64, u8)> = Vec::new();
        let mut at = array;
        let below = loop {
            match pool.array_node(at) {
                ArrayNode::Store(next, index, byte) => {
                    let index = self.eval(pool, evaluator, index) as u64;
                    writes.push((index, self.eval(pool, evaluator, byte) as u8));
                    at = next;
                }
                ArrayNode::Ite(cond, then, otherwise) => {
                    let taken = self.eval(pool, evaluator, cond) == 1;
                    at = if taken { then } else { otherwise };
                }
                ArrayNode::Constant(contents) => break Below::Constant(contents),
                ArrayNode::Variable(v) => match self.arrays.get(&v) {
                    Some(known) if writes.is_empty() => return Rc::clone(known),
                    Some(known) => {
                        let mut bytes = Bytes::clone(known);
                        bytes.written.extend(writes.into_iter().rev());
                        return Rc::new(bytes);
                    }
                    None => break Below::Random(hash(&[self.seed, 77, u64::from(v)])),
                },
            }
        };
        Rc::new(Bytes {
            written: writes.into_iter().rev().collect(),
            below,
        })
    }
}

/// States by cut point.
#[derive(Debug, Default)]
pub struct Forest {
    /// A sample of the states that were reached, of different ages.
    pub samples: BTreeMap<Cut, Vec<Sample>>,
    /// The number of transitions taken.
    pub steps: u64,
    /// The number of executions.
    pub runs: u64,
}

/// When a forest stops growing.
#[derive(Clone, Copy, Debug)]
pub enum Growth {
    /// At this time.
    Until(Instant),
    /// After the evaluation of this many terms, so that the forest is the same on every machine.
    Work(u64),
}

impl Growth {
    fn is_over(self, evaluator: &Evaluator) -> bool {
        match self {
            Growth::Until(end) => Instant::now() > end,
            Growth::Work(most) => evaluator.work() > most,
        }
    }
}

/// The maximum number of bytes of an array that a frontier query fixes.
const WRITTEN: usize = 512;
/// The maximum number of states kept for a cut point.
const KEPT: usize = 96;

impl Forest {
    /// Grows a forest from given tapes and from random ones. `interesting` are values that unknowns
    /// often take.
    pub fn grow(
        graph: &mut Graph<'_>,
        interesting: &[u128],
        tapes: &[Vec<u8>],
        (runs, growth): (u64, Growth),
    ) -> Forest {
        let walker = Walker::new(graph);
        let mut forest = Forest::default();
        let contents = Rc::new(graph.pool.all_contents());
        let interesting = Rc::new(interesting.to_vec());
        let mut evaluator = Evaluator::new();
        let mut calls = Calls::recorded();
        let given = tapes.iter().map(|tape| Some(tape.as_slice()));
        let all = (0..runs).map(|_| None).chain(given);
        for (run, tape) in all.enumerate() {
            forest.runs += 1;
            let run = run as u64;
            let sample = Sample {
                seed: hash(&[run, 1]),
                flavour: run % 5,
                contents: Rc::clone(&contents),
                interesting: Rc::clone(&interesting),
                ..Sample::default()
            };
            let longest = if run < 2 { 20_000 } else { 400 };
            forest.run(
                (graph, &walker),
                sample,
                tape,
                (longest, growth),
                (&mut evaluator, &mut calls),
            );
            if growth.is_over(&evaluator) {
                break;
            }
        }
        forest
    }

    fn run(
        &mut self,
        (graph, walker): (&Graph<'_>, &Walker),
        mut sample: Sample,
        tape: Option<&[u8]>,
        (longest, growth): (u64, Growth),
        (evaluator, calls): (&mut Evaluator, &mut Calls),
    ) {
        let mut at: Option<Cut> = None;
        for step in 0..longest {
            if growth.is_over(evaluator) {
                return;
            }
            if !graph.fragments.contains_key(&at) {
                return;
            }
            evaluator.reset();
            walker.read(graph, (at, &mut sample), evaluator, tape, calls);
            for (cut, state) in calls.states() {
                self.keep(cut, &state);
            }
            let Some(next) = self.step(graph, walker, at, &sample, evaluator, step) else {
                return;
            };
            (at, sample) = next;
        }
    }

    fn step(
        &mut self,
        graph: &Graph<'_>,
        walker: &Walker,
        at: Option<Cut>,
        sample: &Sample,
        evaluator: &mut Evaluator,
        step: u64,
    ) -> Option<(Option<Cut>, Sample)> {
        let (way, next) = walker.next(graph, at, sample, evaluator, step)?;
        self.keep(way.to, &next);
        Some((Some(way.to), next))
    }

    /// Keeps a state of a cut point. When enough are kept, it may replace a random one.
    fn keep(&mut self, cut: Cut, next: &Sample) {
        self.steps += 1;
        let kept = self.samples.entry(cut).or_default();
        if kept.len() < KEPT {
            kept.push(next.clone());
        } else {
            // Later states replace random earlier ones, so that states of a long loop are of all
            // ages.
            let slot = hash(&[self.steps]) as usize % (KEPT * 4);
            if let Some(slot) = kept.get_mut(slot) {
                *slot = next.clone();
            }
        }
    }
}
