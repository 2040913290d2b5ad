//! Projects a precondition to conditions on the state alone.
//!
//! A weakest precondition is about the state and about the inputs that the code reads: "some input
//! leads there". In the papers' programs, inputs are read by separate statements and vanish by
//! themselves; a block of C reads and decides at once. Here, inputs are removed where that is easy:
//! an equation is solved, a condition on inputs alone is decided, and for a condition on both, the
//! values that it compares the input with are tried, which is exact if the solver confirms it.
//! Conditions that still have inputs are dropped, so that the result is weaker than the
//! precondition: states outside of it still cannot make the step.

use rustc_hash::FxHashSet;

use cegar_model::program::ir::BinOp;
use cegar_model::solver::{Answer, Limits, Solver, Z3};
use cegar_model::term::value::{mask, signed_max, signed_min, unsigned};
use cegar_model::term::{Node, Pool, Rewriter, Symbol, Term};
use cegar_search::abstraction::state_symbols::{StateSymbols, conjuncts, leaves};

/// A condition on states.
#[derive(Clone, Debug)]
pub struct Projected {
    /// The conjuncts.
    pub terms: Vec<Term>,
    /// Whether each state that satisfies them has an input that makes the step. Otherwise they hold
    /// in all states with such an input, and in others.
    pub exact: bool,
}

/// The maximum number of values tried for one input.
const TRIED: usize = 24;
/// The maximum number of inputs removed from one group of conditions.
const REMOVED: usize = 4;

/// What follows from `terms` for the symbols in `own` alone. `asked` counts the queries.
pub fn project(
    pool: &mut Pool,
    solver: &mut Z3,
    terms: &[Term],
    own: &StateSymbols,
    limits: &Limits,
    asked: &mut u64,
) -> Projected {
    let terms = own.solve(pool, terms);
    let mut result = Projected {
        terms: Vec::new(),
        exact: true,
    };
    for group in groups(pool, &terms, own) {
        let foreign = foreign_of(pool, &group, own);
        if foreign.is_empty() {
            result.terms.extend(group);
            continue;
        }
        let is_mixed = group
            .iter()
            .any(|&t| pool.symbols(t).any(|symbol| own.has(symbol)));
        if !is_mixed {
            *asked += 1;
            match solver.check(pool, &group, limits) {
                Answer::Sat(_) => {}
                Answer::Unsat { .. } => {
                    result.terms = vec![pool.bit(false)];
                    result.exact = true;
                    return result;
                }
                Answer::Unknown(_) => result.exact = false,
            }
            continue;
        }
        match tried(pool, solver, &group, own, limits, asked) {
            Some(terms) => result.terms.extend(terms),
            None => {
                result.exact = false;
                let plain = group.into_iter().filter(|&t| own.covers(pool, t));
                result.terms.extend(plain.collect::<Vec<_>>());
            }
        }
    }
    result.terms.sort_unstable();
    result.terms.dedup();
    result
}

fn foreign_of(pool: &Pool, terms: &[Term], own: &StateSymbols) -> Vec<Symbol> {
    let mut all: Vec<Symbol> = terms
        .iter()
        .flat_map(|&t| pool.symbols(t))
        .filter(|symbol| !own.has(*symbol))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Groups conditions that share inputs.
fn groups(pool: &Pool, terms: &[Term], own: &StateSymbols) -> Vec<Vec<Term>> {
    let mut groups: Vec<(FxHashSet<Symbol>, Vec<Term>)> = Vec::new();
    for &t in terms {
        let mut symbols: FxHashSet<Symbol> =
            pool.symbols(t).filter(|symbol| !own.has(*symbol)).collect();
        let mut all = vec![t];
        if !symbols.is_empty() {
            let (touching, apart): (Vec<_>, Vec<_>) = groups
                .into_iter()
                .partition(|(of, _)| of.iter().any(|symbol| symbols.contains(symbol)));
            groups = apart;
            for (of, terms) in touching {
                symbols.extend(of);
                all.splice(0..0, terms);
            }
        }
        groups.push((symbols, all));
    }
    groups.into_iter().map(|(_, terms)| terms).collect()
}

/// Removes the inputs one after the other, if the following holds: there is a suitable input if and
/// only if one of the compared values or their neighbours is suitable. `None` if that does not hold
/// or is unknown.
fn tried(
    pool: &mut Pool,
    solver: &mut Z3,
    group: &[Term],
    own: &StateSymbols,
    limits: &Limits,
    asked: &mut u64,
) -> Option<Vec<Term>> {
    let mut terms = group.to_vec();
    for _ in 0..REMOVED {
        let foreign = foreign_of(pool, &terms, own);
        let Some(&symbol) = foreign.first() else {
            return Some(terms);
        };
        let Symbol::Variable(number) = symbol else {
            return None;
        };
        let variable = terms
            .iter()
            .flat_map(|&t| leaves(pool, t))
            .find(|&leaf| *pool.node(leaf) == Node::Variable(number))?;
        let values = values(pool, &terms, variable, symbol);
        let cases: Vec<Term> = values
            .into_iter()
            .map(|value| {
                let mut rewriter = Rewriter::new();
                rewriter.replace(variable, value);
                let all: Vec<Term> = terms.iter().map(|&t| rewriter.apply(pool, t)).collect();
                pool.all(&all)
            })
            .collect();
        let some = pool.any(&cases);
        let none = pool.not(some);
        let mut question = terms.clone();
        question.push(none);
        *asked += 1;
        match solver.check(pool, &question, limits) {
            Answer::Unsat { .. } => terms = conjuncts(pool, &[some]),
            _ => return None,
        }
    }
    foreign_of(pool, &terms, own).is_empty().then_some(terms)
}

/// Values to try for a variable: those that it is compared with, one more, one less, and the ends
/// of its range.
fn values(pool: &mut Pool, terms: &[Term], variable: Term, symbol: Symbol) -> Vec<Term> {
    let width = pool.width(variable);
    let mut all: Vec<Term> = Vec::new();
    let mut open = terms.to_vec();
    let mut seen = FxHashSet::default();
    while let Some(t) = open.pop() {
        if !seen.insert(t) || all.len() > TRIED {
            continue;
        }
        if let Node::Cmp(_, a, b) = *pool.node(t) {
            for (side, other) in [(a, b), (b, a)] {
                let is_free = pool.symbols(other).all(|s| s != symbol);
                let holds = pool.symbols(side).any(|s| s == symbol);
                if !is_free || !holds {
                    continue;
                }
                let other_width = pool.width(other);
                let value = match other_width.cmp(&width) {
                    std::cmp::Ordering::Equal => other,
                    std::cmp::Ordering::Greater => pool.extract(other, 0, width),
                    std::cmp::Ordering::Less => pool.zext(other, width),
                };
                let one = pool.constant(width, 1);
                let (more, less) = (
                    pool.bin(BinOp::Add, value, one),
                    pool.bin(BinOp::Sub, value, one),
                );
                all.extend([value, more, less]);
            }
        }
        let node = *pool.node(t);
        open.extend(node.children());
    }
    let ends = [
        0,
        1,
        mask(width),
        unsigned(width, signed_max(width)),
        unsigned(width, signed_min(width)),
    ];
    all.extend(ends.map(|end| pool.constant(width, end)));
    all.sort_unstable();
    all.dedup();
    all.truncate(TRIED);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use cegar_model::program::ir::Pred;

    fn projected(pool: &mut Pool, terms: &[Term], state: &[Term]) -> Projected {
        let own = state.iter().flat_map(|&t| pool.symbols(t)).collect();
        let limits = Limits::default();
        project(pool, &mut Z3::new(), terms, &own, &limits, &mut 0)
    }

    #[test]
    fn an_equation_is_solved_for_the_input() {
        let mut pool = Pool::new();
        let (x, i) = (pool.variable("x", 32), pool.variable("i", 32));
        let seven = pool.constant(32, 7);
        let same = pool.eq(i, x);
        let small = pool.cmp(Pred::Ult, i, seven);
        let got = projected(&mut pool, &[same, small], &[x]);
        assert!(got.exact);
        assert_eq!(got.terms, [pool.cmp(Pred::Ult, x, seven)]);
    }

    #[test]
    fn what_is_about_inputs_alone_goes_away() {
        let mut pool = Pool::new();
        let (x, i) = (pool.variable("x", 32), pool.variable("i", 32));
        let zero = pool.constant(32, 0);
        let (a, b) = (pool.eq(x, zero), pool.cmp(Pred::Slt, i, zero));
        let got = projected(&mut pool, &[a, b], &[x]);
        assert!(got.exact);
        assert_eq!(got.terms, [a]);
        let c = pool.cmp(Pred::Sle, zero, i);
        let got = projected(&mut pool, &[a, b, c], &[x]);
        assert_eq!(got.terms, [pool.bit(false)]);
    }

    #[test]
    fn an_input_between_two_values_is_there_if_there_is_room() {
        let mut pool = Pool::new();
        let (x, y) = (pool.variable("x", 16), pool.variable("y", 16));
        let i = pool.variable("i", 16);
        let (above, below) = (pool.cmp(Pred::Ult, x, i), pool.cmp(Pred::Ult, i, y));
        let got = projected(&mut pool, &[above, below], &[x, y]);
        assert!(got.exact);
        let condition = pool.all(&got.terms);
        let holds = |of_x: u128, of_y: u128| {
            let mut model = cegar_model::solver::Model::default();
            model.set_variable(&pool, x, of_x);
            model.set_variable(&pool, y, of_y);
            model.satisfies(&pool, &[condition])
        };
        assert!(holds(3, 5));
        assert!(!holds(3, 4));
        assert!(!holds(u128::from(u16::MAX), 4));
    }
}
