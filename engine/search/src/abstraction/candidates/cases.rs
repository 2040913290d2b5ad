//! Candidates that hold only under a condition, as in state machines.
//!
//! "While the data is in transit, its bit equals the sender's" or "when the cabin goes up, its
//! floor is below the target" is neither a value nor a relation of two values, but an implication.
//! Its condition is that a variable with few different values has one of them, or that two flags
//! are equal or different. The conclusion is read off the observed states; conclusions that hold
//! without the condition are candidates elsewhere.

use std::collections::BTreeSet;

use cegar_model::program::ir::{BinOp, Pred, Width};
use cegar_model::term::{Evaluator, Pool, Term, value};

use super::{CASES, CandidateGenerator, PAIRED};

/// The maximum number of conditions at one cut point.
const CONDITIONS: usize = 48;
/// The maximum number of implications about two values at one cut point.
const RELATED: usize = 320;
/// The minimum number of states in which the condition of an implication holds.
const SHOWN: usize = 3;

/// The condition of an implication, over the indices of values.
#[derive(Clone, Copy, Debug)]
enum Condition {
    /// A value is this.
    Is(usize, u128),
    /// A value is not this.
    IsNot(usize, u128),
    /// Two flags are equal.
    Same(usize, usize),
    /// Two flags are not equal.
    Differ(usize, usize),
}

/// The conclusion of an implication.
#[derive(Clone, Copy, Debug)]
enum Relation {
    /// The first value is the second plus a constant.
    Difference(usize, usize, u128),
    /// The two values are ordered.
    Order(Pred, usize, usize),
    /// A value is not zero.
    NotZero(usize),
}

/// The observed values, by variable and state.
struct Table {
    scalars: Vec<Term>,
    widths: Vec<Width>,
    columns: Vec<Vec<u128>>,
}

impl Table {
    /// Whether the condition holds in a state.
    fn is(&self, condition: Condition, state: usize) -> bool {
        let at = |i: usize| self.columns[i][state];
        match condition {
            Condition::Is(i, value) => at(i) == value,
            Condition::IsNot(i, value) => at(i) != value,
            Condition::Same(i, j) => at(i) == at(j),
            Condition::Differ(i, j) => at(i) != at(j),
        }
    }

    /// Whether the relation holds in a state.
    fn holds(&self, relation: Relation, state: usize) -> bool {
        let at = |i: usize| self.columns[i][state];
        match relation {
            Relation::Difference(i, j, by) => {
                at(i) == at(j).wrapping_add(by) & value::mask(self.widths[i])
            }
            Relation::Order(pred, i, j) => value::cmp(pred, self.widths[i], at(i), at(j)),
            Relation::NotZero(i) => at(i) != 0,
        }
    }

    /// The different values of a variable, if they are few.
    fn cases(&self, i: usize) -> Option<BTreeSet<u128>> {
        let mut all = BTreeSet::new();
        for &value in &self.columns[i] {
            all.insert(value);
            if all.len() > CASES {
                return None;
            }
        }
        (all.len() > 1).then_some(all)
    }

    /// The implications `i == case => j == value` that the states show, as `(i, case, j, value)`.
    fn values_by_case(&self) -> Vec<(usize, u128, usize, u128)> {
        let mut all = Vec::new();
        for (i, states) in self.columns.iter().enumerate() {
            let cases = self.cases(i).unwrap_or_default();
            for (j, values) in self.columns.iter().enumerate().filter(|(j, _)| *j != i) {
                for &case in &cases {
                    let mut here = states.iter().zip(values).filter(|(s, _)| **s == case);
                    let Some((_, &first)) = here.next() else {
                        continue;
                    };
                    if here.all(|(_, &value)| value == first) {
                        all.push((i, case, j, first));
                    }
                }
            }
        }
        all
    }

    fn conditions(&self) -> Vec<Condition> {
        let cases: Vec<Option<BTreeSet<u128>>> =
            (0..self.columns.len()).map(|i| self.cases(i)).collect();
        let mut all = Vec::new();
        for (i, cases) in cases.iter().enumerate() {
            let Some(cases) = cases else { continue };
            all.extend(cases.iter().map(|&case| Condition::Is(i, case)));
            let has_more = cases.len() > 2;
            all.extend((cases.contains(&0) && has_more).then_some(Condition::IsNot(i, 0)));
        }
        let is_flag = |i: &usize| cases[*i].as_ref().is_some_and(|cases| cases.len() == 2);
        let flags: Vec<usize> = (0..cases.len()).filter(is_flag).collect();
        for (at, &i) in flags.iter().enumerate() {
            for &j in &flags[at + 1..] {
                if self.widths[i] == self.widths[j] && cases[i] == cases[j] {
                    all.extend([Condition::Same(i, j), Condition::Differ(i, j)]);
                }
            }
        }
        all.truncate(CONDITIONS);
        all
    }

    /// The relations that hold in one state or may hold, in the order of their usefulness.
    fn relations(&self, state: usize) -> [Vec<Relation>; 3] {
        let (mut equations, mut single, mut orders) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..self.columns.len() {
            single.push(Relation::NotZero(i));
            for j in 0..self.columns.len() {
                if i == j || self.widths[i] != self.widths[j] {
                    continue;
                }
                if i < j {
                    let by = self.columns[i][state].wrapping_sub(self.columns[j][state]);
                    let by = by & value::mask(self.widths[i]);
                    equations.push(Relation::Difference(i, j, by));
                }
                let preds = [Pred::Slt, Pred::Ult, Pred::Sle, Pred::Ule];
                orders.extend(preds.map(|pred| Relation::Order(pred, i, j)));
            }
        }
        [equations, single, orders]
    }

    /// The implications that the states show, equations first.
    fn implications(&self) -> Vec<(Condition, Relation)> {
        let states = self.columns.first().map_or(0, Vec::len);
        let mut all: [Vec<(Condition, Relation)>; 3] = Default::default();
        for condition in self.conditions() {
            let (here, there): (Vec<usize>, Vec<usize>) =
                (0..states).partition(|&state| self.is(condition, state));
            if here.len() < SHOWN || there.is_empty() {
                continue;
            }
            let relations = self.relations(here[0]);
            for (all, relations) in all.iter_mut().zip(relations) {
                let shown = relations.into_iter().filter(|&relation| {
                    here.iter().all(|&state| self.holds(relation, state))
                        && !there.iter().all(|&state| self.holds(relation, state))
                });
                all.extend(shown.map(|relation| (condition, relation)));
            }
        }
        let mut all = all.concat();
        all.truncate(RELATED);
        all
    }

    fn condition(&self, pool: &mut Pool, condition: Condition) -> Term {
        let of = |i: usize| self.scalars[i];
        let (a, b, holds) = match condition {
            Condition::Is(i, value) => (of(i), pool.constant(self.widths[i], value), true),
            Condition::IsNot(i, value) => (of(i), pool.constant(self.widths[i], value), false),
            Condition::Same(i, j) => (of(i), of(j), true),
            Condition::Differ(i, j) => (of(i), of(j), false),
        };
        let same = pool.eq(a, b);
        match holds {
            true => same,
            false => pool.not(same),
        }
    }

    fn relation(&self, pool: &mut Pool, relation: Relation) -> Term {
        let of = |i: usize| self.scalars[i];
        match relation {
            Relation::Difference(i, j, by) => {
                let by = pool.constant(self.widths[i], by);
                let sum = pool.bin(BinOp::Add, of(j), by);
                pool.eq(of(i), sum)
            }
            Relation::Order(pred, i, j) => pool.cmp(pred, of(i), of(j)),
            Relation::NotZero(i) => {
                let zero = pool.constant(self.widths[i], 0);
                let same = pool.eq(of(i), zero);
                pool.not(same)
            }
        }
    }
}

impl CandidateGenerator<'_, '_> {
    /// Candidates about the value of one variable when another variable, which has few values, has
    /// one of them, and about relations of two values under such conditions.
    pub(super) fn by_case(
        &mut self,
        scalars: &[Term],
        evaluators: &mut [Evaluator],
        out: &mut Vec<Term>,
    ) {
        let pool = &self.graph.pool;
        let is_number = |t: &&Term| matches!(pool.width(**t), 1 | 8..=64);
        let numbers = scalars.iter().filter(is_number).copied();
        let scalars: Vec<Term> = numbers.take(PAIRED).collect();
        let table = Table {
            widths: scalars.iter().map(|&t| pool.width(t)).collect(),
            columns: scalars
                .iter()
                .map(|&t| self.values(t, evaluators))
                .collect(),
            scalars,
        };
        let pool = &mut self.graph.pool;
        for (i, case, j, value) in table.values_by_case() {
            let condition = table.condition(pool, Condition::Is(i, case));
            let says = table.condition(pool, Condition::Is(j, value));
            let otherwise = pool.not(condition);
            out.push(pool.or(otherwise, says));
        }
        for (condition, relation) in table.implications() {
            let condition = table.condition(pool, condition);
            let says = table.relation(pool, relation);
            let otherwise = pool.not(condition);
            out.push(pool.or(otherwise, says));
        }
    }
}
