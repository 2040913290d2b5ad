//! Answers by enumeration, for constraints on one or two bytes.
//!
//! Most branches of a parser depend on one byte. 256 evaluations of a small term take microseconds;
//! a call of a solver takes a hundred times as long. With two bytes, the constraints on a single
//! byte first reduce its candidates.

use rustc_hash::FxHashSet;

use cegar_model::solver::{Answer, Model};
use cegar_model::term::{Evaluator, Item, Node, Pool, Symbol, Term};

/// The maximum number of nodes to evaluate 256 times, and 65,536 times.
const ONE_BYTE: usize = 2000;
const TWO_BYTES: usize = 60;

/// The answer for assertions on at most two bytes, if they are small enough.
pub(super) fn enumerate(
    evaluator: &mut Evaluator,
    pool: &Pool,
    assertions: &[Term],
) -> Option<Answer> {
    let mut inputs: Vec<u32> = Vec::new();
    for &t in assertions {
        if pool.has_many_symbols(t) {
            return None;
        }
        for symbol in pool.symbols(t) {
            match symbol {
                Symbol::Input(i) if inputs.contains(&i) => {}
                Symbol::Input(i) if inputs.len() < 2 => inputs.push(i),
                _ => return None,
            }
        }
    }
    let bound = if inputs.len() == 2 {
        TWO_BYTES
    } else {
        ONE_BYTE
    };
    if !is_small(pool, assertions, bound) {
        return None;
    }
    let mut holds = |t: Term, tape: &dyn Fn(u32) -> u8| {
        evaluator.reset();
        evaluator.eval(pool, t, tape) == 1
    };
    let unsat = Answer::Unsat {
        core: (0..assertions.len()).collect(),
    };
    let fixed = |t: &&Term| pool.inputs(**t).is_empty();
    if assertions.iter().filter(fixed).any(|&t| !holds(t, &|_| 0)) {
        return Some(unsat);
    }
    let mut candidates: Vec<Vec<u8>> = Vec::new();
    for &input in &inputs {
        let alone: Vec<Term> = assertions
            .iter()
            .copied()
            .filter(|&t| pool.inputs(t) == [input])
            .collect();
        let fitting = |v: &u8| {
            alone
                .iter()
                .all(|&t| holds(t, &|i| if i == input { *v } else { 0 }))
        };
        candidates.push((0..=255).filter(fitting).collect());
    }
    let found = match (&inputs[..], &candidates[..]) {
        (&[], _) => return None,
        (&[i], [values]) => values.first().map(|&v| vec![(i, v)]),
        (&[i, j], [first, second]) => {
            let both: Vec<Term> = assertions
                .iter()
                .copied()
                .filter(|&t| pool.inputs(t).len() == 2)
                .collect();
            first
                .iter()
                .flat_map(|&v| second.iter().map(move |&u| (v, u)))
                .find_map(|(v, u)| {
                    let tape = |at: u32| if at == i { v } else { u };
                    both.iter()
                        .all(|&t| holds(t, &tape))
                        .then(|| vec![(i, v), (j, u)])
                })
        }
        _ => return None,
    };
    Some(match found {
        Some(bytes) => {
            let mut model = Model::default();
            model.inputs.extend(bytes);
            Answer::Sat(model)
        }
        None => unsat,
    })
}

/// Whether there are at most `bound` nodes and evaluation is exact for all of them.
fn is_small(pool: &Pool, assertions: &[Term], bound: usize) -> bool {
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let mut stack: Vec<Term> = assertions.to_vec();
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        if seen.len() > bound {
            return false;
        }
        let node = pool.node(t);
        match *node {
            // Some of these functions are not computed exactly.
            Node::FloatFn(..) => return false,
            Node::Select(a, _) => {
                for item in pool
                    .order(Item::Array(a), |_| false)
                    .into_iter()
                    .take(bound + 1)
                {
                    if let Item::Term(t) = item {
                        stack.push(t);
                    }
                }
            }
            _ => {}
        }
        stack.extend(node.children());
    }
    true
}
