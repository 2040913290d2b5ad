//! Restricts a loop's body to one path.
//!
//! A fragment is the union of all paths, and its values are choices between them; a recurrence has
//! a closed form only on one path (SatAbs, figure 6: the iterations of a repeated segment visit the
//! same locations). [`Decided`] follows the path of an example, which is a model or a state of the
//! forest: every choice is decided as in the example, and the deciding condition becomes a
//! condition of the path.

use rustc_hash::FxHashMap;

use cegar_model::program::ir::BinOp;
use cegar_model::term::{Array, ArrayNode, Environment, Evaluator, Node, Pool, Term};

/// The path of an example.
pub struct Decided<'a> {
    pool: &'a mut Pool,
    evaluator: Evaluator,
    example: &'a dyn Environment,
    terms: FxHashMap<Term, Term>,
    arrays: FxHashMap<Array, Array>,
    /// The conditions of the path.
    pub conditions: Vec<Term>,
}

impl<'a> Decided<'a> {
    /// The path that this example takes.
    pub fn new(pool: &'a mut Pool, example: &'a dyn Environment) -> Decided<'a> {
        Decided {
            pool,
            evaluator: Evaluator::new(),
            example,
            terms: FxHashMap::default(),
            arrays: FxHashMap::default(),
            conditions: Vec::new(),
        }
    }

    /// Whether a one-bit term holds in the example.
    pub fn holds(&mut self, t: Term) -> bool {
        self.evaluator.eval_in(self.pool, t, self.example) == 1
    }

    /// Requires a one-bit term to have its value in the example, by the fewest conditions that
    /// imply it. Returns the value.
    pub fn decide(&mut self, t: Term) -> bool {
        let holds = self.holds(t);
        let mut open = vec![(t, holds)];
        while let Some((t, holds)) = open.pop() {
            match *self.pool.node(t) {
                Node::Not(inner) => open.push((inner, !holds)),
                Node::Bin(op @ (BinOp::And | BinOp::Or), a, b) if self.pool.width(t) == 1 => {
                    if holds == (op == BinOp::And) {
                        open.extend([(b, holds), (a, holds)]);
                    } else if self.holds(a) == holds {
                        open.push((a, holds));
                    } else {
                        open.push((b, holds));
                    }
                }
                Node::Ite(cond, then, otherwise) => {
                    let taken = self.holds(cond);
                    open.push((if taken { then } else { otherwise }, holds));
                    open.push((cond, taken));
                }
                _ => {
                    let literal = self.term(t);
                    let literal = if holds {
                        literal
                    } else {
                        self.pool.not(literal)
                    };
                    if self.pool.as_const(literal) != Some(1) && !self.conditions.contains(&literal)
                    {
                        self.conditions.push(literal);
                    }
                }
            }
        }
        holds
    }

    /// The term with its choices decided.
    pub fn term(&mut self, t: Term) -> Term {
        if let Some(&known) = self.terms.get(&t) {
            return known;
        }
        let node = *self.pool.node(t);
        let new = match node {
            Node::Ite(cond, then, otherwise) => {
                let taken = self.decide(cond);
                self.term(if taken { then } else { otherwise })
            }
            _ => {
                for child in node.children() {
                    self.term(child);
                }
                if let Node::Select(array, _) = node {
                    self.array(array);
                }
                let (terms, arrays) = (&self.terms, &self.arrays);
                self.pool.rebuilt(t, &|c| terms[&c], &|a| arrays[&a])
            }
        };
        self.terms.insert(t, new);
        new
    }

    /// The array with its choices decided.
    pub fn array(&mut self, array: Array) -> Array {
        if let Some(&known) = self.arrays.get(&array) {
            return known;
        }
        let new = match self.pool.array_node(array) {
            ArrayNode::Store(below, index, byte) => {
                let below = self.array(below);
                let (index, byte) = (self.term(index), self.term(byte));
                self.pool.array_store(below, index, byte)
            }
            ArrayNode::Ite(cond, then, otherwise) => {
                let taken = self.decide(cond);
                self.array(if taken { then } else { otherwise })
            }
            ArrayNode::Constant(_) | ArrayNode::Variable(_) => array,
        };
        self.arrays.insert(array, new);
        new
    }
}
