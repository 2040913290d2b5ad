//! Evaluation of terms for given values of symbols.

use super::float;
use super::node::{Array, ArrayNode, Node, Term};
use super::pool::Pool;
use super::value;

/// Values for all symbols that a term can depend on. A function from tape indices to bytes is an
/// environment in which variables and arrays are zero.
pub trait Environment {
    /// A byte of the tape.
    fn input(&self, index: u32) -> u8;
    /// The value of a variable, by the number in [`Node::Variable`].
    fn variable(&self, _variable: u32) -> u128 {
        0
    }
    /// A byte of an array variable, by the number in [`ArrayNode::Variable`].
    fn element(&self, _array: u32, _index: u64) -> u8 {
        0
    }
}

impl Environment for &dyn Fn(u32) -> u8 {
    fn input(&self, index: u32) -> u8 {
        self(index)
    }
}

/// Evaluates many terms in the same environment and caches every value.
///
/// The cache has one slot per term of the pool. [`Evaluator::reset`] clears it in constant time.
#[derive(Debug, Default)]
pub struct Evaluator {
    values: Vec<u128>,
    /// The round in which each value was computed.
    rounds: Vec<u32>,
    round: u32,
    stack: Vec<Frame>,
    work: u64,
}

#[derive(Clone, Copy, Debug)]
enum Frame {
    Term(Term),
    /// A read at a known index that searches for its store from this array downwards.
    Read(Term, Array, u64),
}

impl Evaluator {
    /// Creates an evaluator with an empty cache.
    pub fn new() -> Evaluator {
        Evaluator {
            round: 1,
            ..Evaluator::default()
        }
    }

    /// The cost of the evaluations so far, as the number of terms visited. In contrast to time, it
    /// is the same on every machine.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Forgets all values. Must be called when the environment changes.
    pub fn reset(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.rounds.fill(0);
            self.round = 1;
        }
    }

    /// The value of a term for this tape, where variables are zero.
    pub fn eval(&mut self, pool: &Pool, t: Term, tape: &dyn Fn(u32) -> u8) -> u128 {
        self.eval_in(pool, t, &tape)
    }

    /// The value of a term in this environment.
    pub fn eval_in(&mut self, pool: &Pool, t: Term, env: &dyn Environment) -> u128 {
        if let Some(v) = self.known(t) {
            return v;
        }
        if let Some(v) = pool.as_const(t) {
            return v;
        }
        if self.values.len() <= t.index() {
            // Children are older than their parents, so this suffices for all operands.
            let size = pool.len() + 1;
            if self.values.is_empty() {
                // Zeroed pages cost nothing until they are written, so a new evaluator is cheap.
                self.values = vec![0; size];
                self.rounds = vec![0; size];
            } else {
                self.values.resize(size, 0);
                self.rounds.resize(size, 0);
            }
        }
        self.round = self.round.max(1);
        let mut stack = std::mem::take(&mut self.stack);
        stack.push(Frame::Term(t));
        while let Some(frame) = stack.pop() {
            self.work += 1;
            let (t, value) = match frame {
                Frame::Term(t) => {
                    if self.known(t).is_some() {
                        continue;
                    }
                    let before = stack.len();
                    stack.push(frame);
                    let node = pool.node(t);
                    for child in node.children() {
                        if self.known(child).is_none() {
                            stack.push(Frame::Term(child));
                        }
                    }
                    if stack.len() > before + 1 {
                        continue;
                    }
                    stack.pop();
                    if let Node::Select(array, index) = *node {
                        let at = self.value(index) as u64;
                        stack.push(Frame::Read(t, array, at));
                        continue;
                    }
                    (t, self.apply(pool, t, env))
                }
                Frame::Read(t, array, at) => match pool.array_node(array) {
                    ArrayNode::Constant(contents) => {
                        let bytes = pool.array_bytes(contents);
                        let byte = usize::try_from(at).ok().and_then(|i| bytes.get(i)).copied();
                        (t, u128::from(byte.unwrap_or(0)))
                    }
                    ArrayNode::Variable(v) => (t, u128::from(env.element(v, at))),
                    ArrayNode::Store(below, index, byte) => {
                        match self.known_or_const(pool, index) {
                            None => {
                                stack.push(frame);
                                stack.push(Frame::Term(index));
                                continue;
                            }
                            Some(i) if i as u64 != at => {
                                stack.push(Frame::Read(t, below, at));
                                continue;
                            }
                            Some(_) => match self.known_or_const(pool, byte) {
                                None => {
                                    stack.push(frame);
                                    stack.push(Frame::Term(byte));
                                    continue;
                                }
                                Some(byte) => (t, byte),
                            },
                        }
                    }
                    ArrayNode::Ite(cond, then, otherwise) => {
                        match self.known_or_const(pool, cond) {
                            None => {
                                stack.push(frame);
                                stack.push(Frame::Term(cond));
                            }
                            Some(1) => stack.push(Frame::Read(t, then, at)),
                            Some(_) => stack.push(Frame::Read(t, otherwise, at)),
                        }
                        continue;
                    }
                },
            };
            self.values[t.index()] = value;
            self.rounds[t.index()] = self.round;
        }
        self.stack = stack;
        self.value(t)
    }

    fn known(&self, t: Term) -> Option<u128> {
        let at = t.index();
        (*self.rounds.get(at)? == self.round).then(|| self.values[at])
    }

    fn known_or_const(&self, pool: &Pool, t: Term) -> Option<u128> {
        self.known(t).or_else(|| pool.as_const(t))
    }

    fn value(&self, t: Term) -> u128 {
        self.values[t.index()]
    }

    /// The value of a term whose children are known.
    fn apply(&self, pool: &Pool, t: Term, env: &dyn Environment) -> u128 {
        let w = pool.width(t);
        let v = |t: Term| self.value(t);
        match *pool.node(t) {
            Node::Const(_) | Node::Wide(_) => pool.as_const(t).unwrap_or(0),
            Node::Input(i) => u128::from(env.input(i)),
            Node::Variable(i) => env.variable(i) & value::mask(w),
            Node::Not(a) => !v(a) & value::mask(w),
            Node::Un(op, a) => value::un(op, w, v(a)),
            Node::Bin(op, a, b) => value::bin(op, w, v(a), v(b)),
            Node::Cmp(pred, a, b) => u128::from(value::cmp(pred, pool.width(a), v(a), v(b))),
            Node::Ite(c, a, b) => {
                if v(c) == 1 {
                    v(a)
                } else {
                    v(b)
                }
            }
            Node::Concat(high, low) => (v(high) << pool.width(low)) | v(low),
            Node::Extract(a, low) => (v(a) >> low) & value::mask(w),
            Node::ZExt(a) => v(a),
            Node::SExt(a) => value::unsigned(w, value::signed(pool.width(a), v(a))),
            Node::Funnel(left, a, b, by) => value::funnel(left, w, v(a), v(b), v(by)),
            Node::Overflow(op, signed, a, b) => {
                u128::from(value::overflow(op, signed, pool.width(a), v(a), v(b)))
            }
            Node::FloatBin(op, kind, a, b) => float::bin(op, kind, v(a), v(b)),
            Node::FloatCmp(pred, kind, a, b) => u128::from(float::cmp(pred, kind, v(a), v(b))),
            Node::FloatCast(cast, a) => float::cast(cast, v(a)),
            Node::FloatFn(function, kind, args) => {
                let mut values = [0; 3];
                let mut n = 0;
                for arg in args.into_iter().flatten() {
                    values[n] = v(arg);
                    n += 1;
                }
                // Functions that cannot be computed evaluate to zero. That is safe because no model
                // is trusted before it is replayed.
                float::function(function, kind, &values[..n]).unwrap_or(0)
            }
            // Reads are evaluated by [`Frame::Read`].
            Node::Select(..) => 0,
        }
    }
}

impl Pool {
    /// The value of a term for this tape, where variables are zero. For many terms and the same
    /// tape use an [`Evaluator`].
    pub fn eval(&self, t: Term, tape: &dyn Fn(u32) -> u8) -> u128 {
        Evaluator::new().eval(self, t, tape)
    }
}
