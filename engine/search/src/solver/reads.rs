//! Eliminates arrays from terms: each byte that is read becomes a variable of its own.
//!
//! After Ackermann: a read of stored bytes is a choice among the stores, a read of a table is a
//! tree over the bits of the index, a read of an array variable is a fresh variable, and two reads
//! of the same array variable agree if their indices do. The results are pure bit-vector terms,
//! which become a circuit ([`super::blast`]). The price is one constraint for each pair of reads.
//! Therefore their number is limited, and larger queries go to Z3.

use rustc_hash::{FxHashMap, FxHashSet};

use cegar_model::program::ir::{BinOp, Pred};
use cegar_model::solver::Model;
use cegar_model::term::{Array, ArrayNode, Evaluator, Item, Node, Pool, Term};

/// The maximum number of reads of one array variable.
const READS: usize = 160;
/// The maximum number of bytes of a table that is read at a variable offset.
const TABLE: usize = 4096;
/// The maximum number of array nodes visited by all reads together.
const DEPTH: usize = 1 << 17;

/// The circuit would be too large, or an operation has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Unsuited;

/// The translations of the terms of one pool.
#[derive(Debug, Default)]
pub(super) struct Reads {
    terms: FxHashMap<Term, Term>,
    bytes: FxHashMap<(Array, Term), Term>,
    /// The index and value of each read, by array variable.
    reads: FxHashMap<u32, Vec<(Term, Term)>>,
    /// The terms of the inputs and variables.
    symbols: Vec<Term>,
    seen: FxHashSet<Term>,
    agree: Vec<Term>,
    steps: usize,
}

impl Reads {
    /// Returns the term without arrays. The constraints that it depends on are in [`Reads::agree`]
    /// afterwards.
    pub(super) fn flat(&mut self, pool: &mut Pool, t: Term) -> Result<Term, Unsuited> {
        for item in pool.order(Item::Term(t), |item| match item {
            Item::Term(t) => self.terms.contains_key(&t),
            Item::Array(_) => false,
        }) {
            let Item::Term(t) = item else { continue };
            let new = match *pool.node(t) {
                Node::FloatBin(..)
                | Node::FloatCmp(..)
                | Node::FloatCast(..)
                | Node::FloatFn(..) => return Err(Unsuited),
                Node::Select(array, index) => {
                    let index = self.get(index);
                    self.read(pool, array, index)?
                }
                Node::Input(_) | Node::Variable(_) => {
                    self.symbol(t);
                    t
                }
                _ => pool.rebuilt(t, &|c| self.get(c), &|a| a),
            };
            self.terms.insert(t, new);
        }
        Ok(self.get(t))
    }

    /// Takes the constraints on the variables that were created since the last call.
    pub(super) fn agree(&mut self) -> Vec<Term> {
        std::mem::take(&mut self.agree)
    }

    /// All inputs and variables so far.
    pub(super) fn symbols(&self) -> &[Term] {
        &self.symbols
    }

    /// Adds to a model of flat terms the bytes of the arrays that the variables represent.
    pub(super) fn complete(&self, pool: &Pool, model: &mut Model) {
        let mut evaluator = Evaluator::new();
        let mut elements = Vec::new();
        for (&array, reads) in &self.reads {
            for &(index, byte) in reads {
                let at = evaluator.eval_in(pool, index, model);
                let byte = evaluator.eval_in(pool, byte, model);
                elements.push(((array, at as u64), byte as u8));
            }
        }
        model.elements.extend(elements);
    }

    fn get(&self, t: Term) -> Term {
        self.terms.get(&t).copied().unwrap_or(t)
    }

    fn symbol(&mut self, t: Term) {
        if self.seen.insert(t) {
            self.symbols.push(t);
        }
    }

    /// The byte at a flat index. The terms inside the array must have been flattened before.
    fn read(&mut self, pool: &mut Pool, array: Array, index: Term) -> Result<Term, Unsuited> {
        let mut open = vec![array];
        while let Some(&array) = open.last() {
            if self.bytes.contains_key(&(array, index)) {
                open.pop();
                continue;
            }
            self.steps += 1;
            if self.steps > DEPTH {
                return Err(Unsuited);
            }
            let known = |below: Array| self.bytes.get(&(below, index)).copied();
            let byte = match pool.array_node(array) {
                ArrayNode::Constant(contents) => table(pool, contents, index)?,
                ArrayNode::Variable(variable) => self.variable(pool, variable, index)?,
                ArrayNode::Store(below, at, byte) => {
                    let same = pool.cmp(Pred::Eq, self.get(at), index);
                    match (pool.as_const(same), known(below)) {
                        (Some(1), _) => self.get(byte),
                        (Some(_), Some(other)) => other,
                        (None, Some(other)) => pool.ite(same, self.get(byte), other),
                        (_, None) => {
                            open.push(below);
                            continue;
                        }
                    }
                }
                ArrayNode::Ite(cond, then, otherwise) => match (known(then), known(otherwise)) {
                    (Some(then), Some(otherwise)) => pool.ite(self.get(cond), then, otherwise),
                    (None, _) => {
                        open.push(then);
                        continue;
                    }
                    (_, None) => {
                        open.push(otherwise);
                        continue;
                    }
                },
            };
            self.bytes.insert((array, index), byte);
            open.pop();
        }
        self.bytes.get(&(array, index)).copied().ok_or(Unsuited)
    }

    fn variable(&mut self, pool: &mut Pool, array: u32, index: Term) -> Result<Term, Unsuited> {
        let byte = pool.variable(&format!("?read.{array}.{}", index.index()), 8);
        self.symbol(byte);
        let reads = self.reads.entry(array).or_default();
        if reads.len() >= READS {
            return Err(Unsuited);
        }
        for &(other, value) in reads.iter() {
            let differ = pool.cmp(Pred::Ne, other, index);
            let same = pool.cmp(Pred::Eq, value, byte);
            let agree = pool.or(differ, same);
            if pool.as_const(agree) != Some(1) {
                self.agree.push(agree);
            }
        }
        reads.push((index, byte));
        Ok(byte)
    }
}

/// The byte of constant contents at an index: chooses between halves until one byte is left. Zeros
/// follow the contents.
fn table(pool: &mut Pool, contents: u32, index: Term) -> Result<Term, Unsuited> {
    let mut row: Vec<u8> = pool.array_bytes(contents).to_vec();
    if row.len() > TABLE {
        return Err(Unsuited);
    }
    let length = row.len();
    row.resize(length.next_power_of_two(), 0);
    let mut row: Vec<Term> = row
        .into_iter()
        .map(|byte| pool.constant(8, u128::from(byte)))
        .collect();
    let mut bit = 0;
    while row.len() > 1 {
        let odd = pool.extract(index, bit, 1);
        row = row
            .chunks(2)
            .map(|pair| pool.ite(odd, pair[1], pair[0]))
            .collect();
        bit += 1;
    }
    let zero = pool.constant(8, 0);
    let Some(&byte) = row.first() else {
        return Ok(zero);
    };
    // An index with higher bits set is past the end.
    let by = pool.constant(64, u128::from(bit));
    let high = pool.bin(BinOp::LShr, index, by);
    let none = pool.constant(64, 0);
    let inside = pool.cmp(Pred::Eq, high, none);
    Ok(pool.ite(inside, byte, zero))
}
