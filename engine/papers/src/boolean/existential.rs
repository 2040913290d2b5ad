//! Existential abstraction: which changes of the predicates a piece of code allows.
//!
//! CRunner (section 3.3): the code, the predicates before it and the predicates after it are one
//! question, and all answers in terms of the predicates are the relation. The number of answers
//! grows exponentially, so the predicates are partitioned: those that share variables, directly or
//! through the code, are asked about together, and where even that is too many each predicate after
//! the code is asked about with its nearest predicates before it. What a partition loses comes back
//! one step at a time ([`super::model::Abstraction::exclude_spurious`]). Most predicates are not
//! touched by most code; the term for a predicate after the code is then the term before it, and
//! the solver is not asked.

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::program::{Bit, Relation, Table};
use cegar_model::solver::Answer;
use cegar_model::term::{Evaluator, Pool, Term};
use cegar_search::abstraction::asking::{Cost, Patience};
use cegar_search::solver::{Session, components};

/// Bits of one table.
const TOGETHER: usize = 8;
/// Rows of one table.
const ROWS: usize = 160;
/// How long one question may take.
const QUESTION: Duration = Duration::from_millis(500);

/// What the code demands, and the predicates on both sides in terms of the state before it.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// What holds on this way.
    pub conditions: Vec<Term>,
    /// The predicates before.
    pub now: Vec<Term>,
    /// The predicates after, pulled back through the code.
    pub next: Vec<Term>,
}

/// The values that some bits have together.
type Rows = Vec<Vec<bool>>;

/// Tables that are known, by their conditions and bits.
#[derive(Debug, Default)]
pub struct Tables {
    known: FxHashMap<(Vec<Term>, Vec<Term>), Option<Rows>>,
    /// Tables that were given up: too many rows, or no answer.
    pub given_up: u64,
}

/// The relation that a piece of code allows.
pub fn relation(
    pool: &mut Pool,
    tables: &mut Tables,
    code: &Code,
    patience: Patience<'_>,
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
            if let Some(table) = table(pool, tables, &mine, &part, patience, cost) {
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

/// The bits that are asked about together.
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

/// All values that these bits can have together; none where there is no end of them or no answer.
fn table(
    pool: &mut Pool,
    tables: &mut Tables,
    conditions: &[Term],
    bits: &[(Bit, Term)],
    patience: Patience<'_>,
    cost: &mut Cost,
) -> Option<Table> {
    let terms: Vec<Term> = bits.iter().map(|&(_, t)| t).collect();
    let key = (conditions.to_vec(), terms.clone());
    let rows = match tables.known.get(&key) {
        Some(known) => known.clone(),
        None => {
            let rows = enumerate(pool, conditions, &terms, patience, cost);
            tables.given_up += u64::from(rows.is_none());
            // What time alone has ended is not an answer for good.
            if rows.is_some() || !patience.is_over() {
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
    patience: Patience<'_>,
    cost: &mut Cost,
) -> Option<Rows> {
    let clock = Instant::now();
    let mut session = Session::new();
    for &t in conditions {
        session.assert(pool, t);
    }
    let mut rows = Vec::new();
    loop {
        if patience.is_over() {
            break;
        }
        cost.solver_calls += 1;
        let answer = session.check(pool, &[], &patience.within(QUESTION));
        patience.note(session.spent);
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
