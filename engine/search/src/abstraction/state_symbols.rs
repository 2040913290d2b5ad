//! Separates what a condition says about a state from what it says about inputs.
//!
//! Weakest preconditions are about the state where they begin and about the inputs that the code
//! reads after that. Both ways of refinement need to separate these, to split conditions into
//! conjuncts, and to solve them for the inputs: an equation gives the value of an input, which is
//! then eliminated.

use rustc_hash::FxHashSet;

use super::graph::Graph;
use cegar_model::program::ir::{BinOp, Pred};
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Array, ArrayNode, Item, Node, Pool, Rewriter, Symbol, Term};

/// The variables and arrays of a cut point.
pub fn varying(graph: &mut Graph<'_>, cut: Cut) -> Option<(Vec<Term>, Vec<Array>)> {
    let state = graph.states.get(&cut)?;
    let variables = state.variables(&mut graph.pool, &graph.world);
    let arrays = state.arrays(&mut graph.pool, &graph.world);
    Some((
        variables.into_iter().map(|(_, t)| t).collect(),
        arrays.into_iter().map(|(_, array)| array).collect(),
    ))
}

/// The symbols of a cut point's states.
#[derive(Clone, Debug, Default)]
pub struct StateSymbols {
    symbols: FxHashSet<Symbol>,
}

impl StateSymbols {
    /// The symbols of a cut point; none for the start of the program.
    pub fn of(graph: &mut Graph<'_>, cut: Option<Cut>) -> StateSymbols {
        let varying = cut.and_then(|cut| varying(graph, cut));
        let (variables, arrays) = varying.unwrap_or_default();
        let pool = &graph.pool;
        let variables = variables.into_iter().filter_map(|t| symbol(pool, t));
        let arrays = arrays.into_iter().filter_map(|a| symbol_of_array(pool, a));
        variables.chain(arrays).collect()
    }

    /// Whether a term depends only on the state.
    pub fn covers(&self, pool: &Pool, t: Term) -> bool {
        pool.symbols(t).all(|symbol| self.has(symbol))
    }

    /// Whether a symbol is part of the state.
    pub fn has(&self, symbol: Symbol) -> bool {
        self.symbols.contains(&symbol)
    }

    /// Whether a term is a variable that is not part of the state: an input.
    pub fn is_foreign(&self, pool: &Pool, t: Term) -> bool {
        symbol(pool, t).is_some_and(|symbol| !self.has(symbol))
    }

    /// The input and its value, if a condition is an equation that gives it.
    fn solved(&self, pool: &mut Pool, t: Term) -> Option<(Term, Term)> {
        if self.is_foreign(pool, t) {
            return Some((t, pool.bit(true)));
        }
        match *pool.node(t) {
            Node::Not(a) if self.is_foreign(pool, a) => Some((a, pool.bit(false))),
            Node::Cmp(Pred::Eq, a, b) => [(a, b), (b, a)].into_iter().find(|&(variable, value)| {
                let of = symbol(pool, variable);
                self.is_foreign(pool, variable) && pool.symbols(value).all(|s| Some(s) != of)
            }),
            _ => None,
        }
    }

    /// Eliminates the inputs from conditions as far as equations allow, and splits the result into
    /// conjuncts.
    pub fn solve(&self, pool: &mut Pool, conditions: &[Term]) -> Vec<Term> {
        let mut all = conjuncts(pool, conditions);
        loop {
            let found = (0..all.len()).find_map(|at| Some((at, self.solved(pool, all[at])?)));
            let Some((at, (variable, value))) = found else {
                return all;
            };
            all.remove(at);
            let mut rewriter = Rewriter::new();
            rewriter.replace(variable, value);
            let new: Vec<Term> = all.iter().map(|&t| rewriter.apply(pool, t)).collect();
            all = conjuncts(pool, &new);
        }
    }
}

impl FromIterator<Symbol> for StateSymbols {
    fn from_iter<I: IntoIterator<Item = Symbol>>(symbols: I) -> StateSymbols {
        StateSymbols {
            symbols: symbols.into_iter().collect(),
        }
    }
}

/// The symbol of a variable.
pub fn symbol(pool: &Pool, t: Term) -> Option<Symbol> {
    match *pool.node(t) {
        Node::Variable(number) => Some(Symbol::Variable(number)),
        _ => None,
    }
}

/// The symbol of an array variable.
pub fn symbol_of_array(pool: &Pool, array: Array) -> Option<Symbol> {
    match pool.array_node(array) {
        ArrayNode::Variable(number) => Some(Symbol::Array(number)),
        _ => None,
    }
}

/// Splits conjunctions, keeping the order. Leaves out duplicates and conjuncts that are constantly
/// true.
pub fn conjuncts(pool: &mut Pool, terms: &[Term]) -> Vec<Term> {
    let mut open: Vec<Term> = terms.iter().rev().copied().collect();
    let mut seen = FxHashSet::default();
    let mut all = Vec::new();
    while let Some(t) = open.pop() {
        if pool.as_const(t) == Some(1) || !seen.insert(t) {
            continue;
        }
        match *pool.node(t) {
            Node::Bin(BinOp::And, a, b) if pool.width(t) == 1 => open.extend([b, a]),
            Node::Not(or) if pool.width(t) == 1 => match *pool.node(or) {
                Node::Bin(BinOp::Or, a, b) => {
                    let (a, b) = (pool.not(a), pool.not(b));
                    open.extend([b, a]);
                }
                _ => all.push(t),
            },
            _ => all.push(t),
        }
    }
    all
}

/// The variables of a term.
pub fn leaves(pool: &Pool, t: Term) -> Vec<Term> {
    let all = pool.order(Item::Term(t), |_| false);
    let terms = all.into_iter().filter_map(|item| match item {
        Item::Term(t) => Some(t),
        Item::Array(_) => None,
    });
    terms
        .filter(|&t| matches!(pool.node(t), Node::Variable(_)))
        .collect()
}
