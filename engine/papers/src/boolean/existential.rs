//! Existential abstraction: which changes of the predicates a piece of code allows.
//!
//! CRunner (section 3.3): the code, the predicates before it and the predicates after it are one
//! query, and all answers, projected to the predicates, are the relation. The number of answers
//! grows exponentially, so the predicates are partitioned: predicates that share variables,
//! directly or through the code, are in one query, and where this is too large, each predicate
//! after the code is in a query with the closest predicates before it. The precision lost by
//! partitioning is regained step by step ([`super::model::Abstraction::exclude_spurious`]). Most
//! code does not change most predicates; the term for such a predicate after the code is the term
//! before it, and no query is needed.

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::program::{Bit, Relation, Table};
use cegar_model::solver::Answer;
use cegar_model::term::{Evaluator, Pool, Term};
use cegar_search::abstraction::asking::{Cancellation, Cost};
use cegar_search::solver::{Session, components};

/// The maximum number of bits of one table.
const TOGETHER: usize = 8;
/// The maximum number of rows of one table.
const ROWS: usize = 160;
/// The time limit of one query.
const QUESTION: Duration = Duration::from_millis(500);

/// A piece of code: its conditions, and the predicates on both sides over the state before it.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// The conditions under which the code is executed.
    pub conditions: Vec<Term>,
    /// The predicates before the code.
    pub now: Vec<Term>,
    /// The predicates after the code, as preconditions.
    pub next: Vec<Term>,
}

/// The combinations of values that some bits may have.
type Rows = Vec<Vec<bool>>;

/// Cached tables, by their conditions and bits.
#[derive(Debug, Default)]
pub struct Tables {
    known: FxHashMap<(Vec<Term>, Vec<Term>), Option<Rows>>,
    /// The number of tables that were given up: too many rows, or no answer.
    pub given_up: u64,
}

/// The relation that a piece of code allows.
pub fn relation(
    pool: &mut Pool,
    tables: &mut Tables,
    code: &Code,
    cancellation: Cancellation<'_>,
    cost: &mut Cost,
) -> Relation {
    let mut relation = Relation::default();
    if code.conditions.iter().any(|&t| pool.as_const(t) == Some(0)) {
        relation.impossible = true;
        return relation;
    }
    let mut asked: Vec<(Bit, Term)> = Vec::new();
    for (number, &after) in code.next.iter().enumerate() {
        if let Some(value) = pool.as_const(after) {
            relation.fixed.push((number, value == 1));
            continue;
        }
        let not = pool.not(after);
        let same = code.now.iter().position(|&t| t == after || t == not);
        match same {
            Some(before) => {
                relation
                    .copied
                    .push((number, before, code.now[before] == not));
            }
            None => asked.push((Bit::Next(number), after)),
        }
    }
    let numbered = code.now.iter().enumerate();
    asked.extend(numbered.map(|(number, &t)| (Bit::Now(number), t)));
    let conditions: Vec<Term> = code
        .conditions
        .iter()
        .copied()
        .filter(|&t| pool.as_const(t).is_none())
        .collect();
    let mut all = conditions.clone();
    all.extend(asked.iter().map(|&(_, t)| t));
    for group in components(pool, &all) {
        let (mine, bits): (Vec<usize>, Vec<usize>) =
            group.iter().partition(|&&i| i < conditions.len());
        let mine: Vec<Term> = mine.into_iter().map(|i| conditions[i]).collect();
        let bits: Vec<(Bit, Term)> = bits
            .into_iter()
            .map(|i| asked[i - conditions.len()])
            .collect();
        for part in parts(pool, &mine, &bits) {
            if let Some(table) = table(pool, tables, &mine, &part, cancellation, cost) {
                relation.impossible |= table.rows.is_empty();
                relation.tables.push(table);
            }
        }
        if relation.impossible {
            return relation;
        }
    }
    relation
}

/// Partitions the bits into those that are queried together.
fn parts(pool: &Pool, conditions: &[Term], bits: &[(Bit, Term)]) -> Vec<Vec<(Bit, Term)>> {
    let is_next = |bit: &Bit| matches!(bit, Bit::Next(_));
    if bits.is_empty() || (conditions.is_empty() && bits.iter().all(|(bit, _)| !is_next(bit))) {
        return Vec::new();
    }
    if bits.len() <= TOGETHER {
        return vec![bits.to_vec()];
    }
    let shared = |a: Term, b: Term| {
        let symbols: Vec<_> = pool.symbols(b).collect();
        pool.symbols(a).filter(|s| symbols.contains(s)).count()
    };
    let nearest = |to: &[Term], most: usize| -> Vec<(Bit, Term)> {
        let mut near: Vec<(usize, (Bit, Term))> = bits
            .iter()
            .filter(|(bit, _)| !is_next(bit))
            .map(|&(bit, t)| (to.iter().map(|&other| shared(t, other)).sum(), (bit, t)))
            .filter(|(count, _)| *count > 0)
            .collect();
        near.sort_by_key(|&(count, (bit, _))| (std::cmp::Reverse(count), bit));
        near.into_iter().map(|(_, bit)| bit).take(most).collect()
    };
    let mut all = Vec::new();
    for &(bit, t) in bits.iter().filter(|(bit, _)| is_next(bit)) {
        let mut part = nearest(&[t], TOGETHER - 1);
        part.push((bit, t));
        all.push(part);
    }
    if !conditions.is_empty() {
        let part = nearest(conditions, TOGETHER);
        if !part.is_empty() {
            all.push(part);
        }
    }
    all
}

/// All combinations of values of these bits; `None` if there are too many or no answer.
fn table(
    pool: &mut Pool,
    tables: &mut Tables,
    conditions: &[Term],
    bits: &[(Bit, Term)],
    cancellation: Cancellation<'_>,
    cost: &mut Cost,
) -> Option<Table> {
    let terms: Vec<Term> = bits.iter().map(|&(_, t)| t).collect();
    let key = (conditions.to_vec(), terms.clone());
    let rows = match tables.known.get(&key) {
        Some(known) => known.clone(),
        None => {
            let rows = enumerate(pool, conditions, &terms, cancellation, cost);
            tables.given_up += u64::from(rows.is_none());
            // If the time was up, the missing answer is not cached.
            if rows.is_some() || !cancellation.is_over() {
                tables.known.insert(key, rows.clone());
            }
            rows
        }
    };
    Some(Table {
        bits: bits.iter().map(|&(bit, _)| bit).collect(),
        rows: rows?,
    })
}

fn enumerate(
    pool: &mut Pool,
    conditions: &[Term],
    bits: &[Term],
    cancellation: Cancellation<'_>,
    cost: &mut Cost,
) -> Option<Rows> {
    let clock = Instant::now();
    let mut session = Session::new();
    for &t in conditions {
        session.assert(pool, t);
    }
    let mut rows = Vec::new();
    loop {
        if cancellation.is_over() {
            break;
        }
        cost.solver_calls += 1;
        let answer = session.check(pool, &[], &cancellation.within(QUESTION));
        cancellation.note(session.spent);
        match answer {
            Answer::Unsat { .. } => {
                cost.seconds += clock.elapsed().as_secs_f64();
                return Some(rows);
            }
            Answer::Sat(model) => {
                let mut evaluator = Evaluator::new();
                let row: Vec<bool> = bits
                    .iter()
                    .map(|&t| evaluator.eval_in(pool, t, &model) == 1)
                    .collect();
                let mut other = pool.bit(false);
                for (&t, &value) in bits.iter().zip(&row) {
                    let differs = if value { pool.not(t) } else { t };
                    other = pool.or(other, differs);
                }
                rows.push(row);
                if rows.len() > ROWS {
                    break;
                }
                session.assert(pool, other);
            }
            Answer::Unknown(_) => {
                cost.unknown += 1;
                break;
            }
        }
    }
    cost.seconds += clock.elapsed().as_secs_f64();
    None
}
