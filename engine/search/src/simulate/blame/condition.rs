//! Finds the weakest condition on a choice.
//!
//! The bad values of a choice are given by a predicate: the fault, and each condition on the way
//! there that depends on this choice alone. In most programs the bad values around the observed one
//! form an interval (`level > 9`, `n == 0`), so its ends are searched by doubling and halving, and
//! its inside is sampled. A condition that is too weak shows in the next run; one that is too
//! strong hides bugs.

use std::collections::BTreeMap;

use cegar_model::machine::crossing::Chosen;
use cegar_model::term::{Environment, Evaluator, Node, Pool, Symbol, Term};

/// The number of values of a choice that are sampled within an interval.
const SAMPLES: u128 = 48;
/// The maximum number of subterms in which constants are searched.
const NODES: usize = 4000;
/// The number of values tried for each other choice.
const OTHERS: u64 = 24;

/// A condition that a caller has to keep.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// The value is not within these bounds, both in unsigned and in signed order.
    Outside {
        /// The width of the number, in bits.
        width: u16,
        /// The bad values as unsigned numbers.
        unsigned: Interval,
        /// The bad values as signed numbers.
        signed: Interval,
    },
    /// The object has room for this many bytes.
    Room {
        /// The number of bytes.
        bytes: u64,
    },
    /// The input has at least this many bytes, whatever their values.
    Least {
        /// The number of bytes.
        bytes: u64,
    },
    /// The memory contains numbers of several bytes that the library uses as indices or pointers
    /// without checking them.
    Elements,
    /// The value is in a relation to another choice.
    Relates {
        /// The relation.
        relation: Relation,
        /// The other choice.
        to: Box<super::Subject>,
    },
    /// No condition was found.
    Unknown,
}

/// An interval of bad values, and whether its ends are the ends of the type's range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The least bad value.
    pub low: i128,
    /// The greatest bad value.
    pub high: i128,
    /// Whether `low` is the least number of the type.
    pub from_least: bool,
    /// Whether `high` is the greatest number of the type.
    pub to_greatest: bool,
}

/// A relation that two choices must satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Relation {
    Less,
    LessOrEqual,
    Equal,
    Greater,
    GreaterOrEqual,
    NotEqual,
}

impl Relation {
    /// Weakest first: the weakest condition that excludes the fault is wanted.
    const WEAK_FIRST: [Relation; 6] = [
        Relation::NotEqual,
        Relation::LessOrEqual,
        Relation::GreaterOrEqual,
        Relation::Less,
        Relation::Greater,
        Relation::Equal,
    ];

    /// The operator in C.
    pub fn operator(self) -> &'static str {
        match self {
            Relation::Less => "<",
            Relation::LessOrEqual => "<=",
            Relation::Equal => "==",
            Relation::Greater => ">",
            Relation::GreaterOrEqual => ">=",
            Relation::NotEqual => "!=",
        }
    }

    fn holds(self, a: u128, b: u128) -> bool {
        match self {
            Relation::Less => a < b,
            Relation::LessOrEqual => a <= b,
            Relation::Equal => a == b,
            Relation::Greater => a > b,
            Relation::GreaterOrEqual => a >= b,
            Relation::NotEqual => a != b,
        }
    }
}

/// The data from which conditions are computed.
pub(super) struct Weakest<'w> {
    pub(super) pool: &'w Pool,
    pub(super) tape: &'w [u8],
    pub(super) all: &'w [Chosen],
    /// The conditions on the way to the fault, each with its value in this run.
    pub(super) path: &'w [(Term, bool)],
}

struct Values<'v> {
    tape: &'v [u8],
    variables: &'v BTreeMap<u32, u128>,
}

impl Environment for Values<'_> {
    fn input(&self, index: u32) -> u8 {
        self.tape.get(index as usize).copied().unwrap_or(0)
    }

    fn variable(&self, variable: u32) -> u128 {
        self.variables.get(&variable).copied().unwrap_or(0)
    }
}

impl Weakest<'_> {
    fn number(&self, chosen: &Chosen) -> Option<u32> {
        match self.pool.node(chosen.term) {
            Node::Variable(number) => Some(*number),
            _ => None,
        }
    }

    fn values(&self) -> BTreeMap<u32, u128> {
        let all = self.all.iter();
        all.filter_map(|chosen| Some((self.number(chosen)?, chosen.value)))
            .collect()
    }

    fn holds(&self, conditions: &[(Term, bool)], variables: &BTreeMap<u32, u128>) -> bool {
        let mut evaluator = Evaluator::new();
        let values = Values {
            tape: self.tape,
            variables,
        };
        conditions
            .iter()
            .all(|(term, is)| (evaluator.eval_in(self.pool, *term, &values) == 1) == *is)
    }

    /// The conditions on the way that depend on these choices and on nothing else.
    fn about(&self, variables: &[u32]) -> Vec<(Term, bool)> {
        let only = |term: Term| {
            let mut any = false;
            let all = self.pool.symbols(term).all(|symbol| {
                any = true;
                matches!(symbol, Symbol::Variable(v) if variables.contains(&v))
            });
            any && all
        };
        let path = self.path.iter().copied();
        path.filter(|(term, _)| only(*term)).collect()
    }

    /// The values of one choice that are bad whatever the other choices are.
    pub(super) fn alone(
        &self,
        one: &Chosen,
        others: &[Chosen],
        fault: (Term, bool),
    ) -> Option<Condition> {
        let number = self.number(one)?;
        let width = self.pool.width(one.term);
        let mut conditions = self.about(&[number]);
        conditions.push(fault);
        let mut values = self.values();
        if !self.holds(&conditions, &values) {
            return None;
        }
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for other in others.iter().filter(|other| other.term != one.term) {
            let (Some(key), bits) = (self.number(other), self.pool.width(other.term)) else {
                continue;
            };
            let mut changed = values.clone();
            for turn in 0..OTHERS {
                random = random.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
                let value = match turn % 3 {
                    0 => u128::from(turn),
                    1 => u128::from(random >> 52),
                    _ => u128::from(random),
                };
                changed.insert(key, value & mask(bits));
                if !self.holds(&[fault], &changed) {
                    return None;
                }
            }
        }
        let mut is_bad = |value: u128| {
            values.insert(number, value & mask(width));
            self.holds(&conditions, &values)
        };
        let half = 1_i128 << (width - 1).min(126);
        let all = half.checked_mul(2).unwrap_or(i128::MAX);
        let value = i128::try_from(one.value & mask(width)).ok()?;
        let signed = if value >= half { value - all } else { value };
        let hints = constants(self.pool, &conditions);
        let unsigned = interval(value, (0, all - 1), &hints, &mut |v| is_bad(v as u128));
        let signed = interval(signed, (-half, half - 1), &hints, &mut |v| {
            is_bad(v as u128)
        });
        // If every value is bad, this choice is not at fault.
        let is_all = |found: Interval| found.from_least && found.to_greatest;
        (!is_all(unsigned) && !is_all(signed)).then_some(Condition::Outside {
            width,
            unsigned,
            signed,
        })
    }

    /// The relation between two choices that excludes the fault, if it depends on both.
    pub(super) fn between(&self, a: &Chosen, b: &Chosen, fault: (Term, bool)) -> Option<Condition> {
        let (x, y) = (self.number(a)?, self.number(b)?);
        if self.pool.width(a.term) != self.pool.width(b.term) {
            return None;
        }
        let mut conditions = self.about(&[x, y]);
        conditions.push(fault);
        let mut values = self.values();
        let mut tried = Vec::new();
        let small = [0, 1, 2, 3, 7, 8, 9, 100, a.value, b.value];
        for first in small {
            for second in small {
                values.insert(x, first);
                values.insert(y, second);
                tried.push((first, second, self.holds(&conditions, &values)));
            }
        }
        let good = |relation: &Relation| {
            !relation.holds(a.value, b.value)
                && tried
                    .iter()
                    .all(|(first, second, bad)| !(*bad && relation.holds(*first, *second)))
        };
        let relation = Relation::WEAK_FIRST.into_iter().find(good)?;
        Some(Condition::Relates {
            relation,
            to: Box::new(super::subject(&b.what)),
        })
    }
}

fn mask(width: u16) -> u128 {
    match width {
        128.. => u128::MAX,
        _ => (1 << width) - 1,
    }
}

/// The interval of bad values around `value`.
fn interval(
    value: i128,
    (least, most): (i128, i128),
    hints: &[i128],
    is_bad: &mut dyn FnMut(i128) -> bool,
) -> Interval {
    let high = end(value, (most, 1), hints, is_bad);
    let low = end(value, (least, -1), hints, is_bad);
    Interval {
        low,
        high,
        from_least: low == least,
        to_greatest: high == most,
    }
}

/// The constants that the conditions compare with, and their neighbours: the predicate may change
/// its value there.
fn constants(pool: &Pool, conditions: &[(Term, bool)]) -> Vec<i128> {
    let mut found = std::collections::BTreeSet::new();
    let mut seen = std::collections::BTreeSet::new();
    let mut open: Vec<Term> = conditions.iter().map(|(term, _)| *term).collect();
    while let Some(term) = open.pop() {
        if seen.len() > NODES || !seen.insert(term) {
            continue;
        }
        if let Some(value) = pool.as_const(term).and_then(|v| i128::try_from(v).ok()) {
            let half = 1_i128 << (pool.width(term).clamp(1, 126) - 1);
            let signed = if value >= half {
                value - 2 * half
            } else {
                value
            };
            found.extend([value - 1, value, value + 1, signed - 1, signed, signed + 1]);
        }
        open.extend(pool.node(term).children());
    }
    found.into_iter().collect()
}

/// How far the bad values extend in one direction.
fn end(
    from: i128,
    (limit, way): (i128, i128),
    hints: &[i128],
    is_bad: &mut dyn FnMut(i128) -> bool,
) -> i128 {
    let far = |a: i128| (limit - a) * way;
    let (mut bad, mut step) = (from, 1_i128);
    let mut good = None;
    while far(bad) > 0 {
        let next = if step >= far(bad) {
            limit
        } else {
            bad + way * step
        };
        if !is_bad(next) {
            good = Some(next);
            break;
        }
        bad = next;
        step = step.saturating_mul(2);
    }
    // There may be good values between two bad ones.
    let within = |at: &i128| (at - from) * way > 0 && (bad - at) * way > 0;
    let known = hints.iter().copied().filter(within);
    if let Some(first) = known
        .filter(|at| !is_bad(*at))
        .min_by_key(|at| (at - from) * way)
    {
        good = Some(first);
        bad = from;
    }
    let distance = (bad - from).unsigned_abs();
    for i in 1..SAMPLES.min(distance) {
        let at = from + way * (distance / SAMPLES.min(distance) * i) as i128;
        if !is_bad(at) {
            good = Some(at);
            bad = at - way * (distance / SAMPLES.min(distance)) as i128;
            break;
        }
    }
    let Some(mut good) = good else { return bad };
    while (good - bad) * way > 1 {
        let middle = bad + (good - bad) / 2;
        match is_bad(middle) {
            true => bad = middle,
            false => good = middle,
        }
    }
    bad
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_what_is_bad() {
        let of = |value, bad: &dyn Fn(i128) -> bool| {
            let found = interval(value, (0, 255), &[], &mut |v| bad(v));
            (found.low, found.high, found.from_least, found.to_greatest)
        };
        assert_eq!(of(0, &|v| v == 0), (0, 0, true, false));
        assert_eq!(of(100, &|v| v > 9), (10, 255, false, true));
        assert_eq!(of(7, &|v| (3..=40).contains(&v)), (3, 40, false, false));
        assert_eq!(of(7, &|_| true), (0, 255, true, true));
        // A good value between bad ones ends the interval if it is sampled.
        let (low, high, ..) = of(0, &|v| !(60..80).contains(&v));
        assert_eq!((low, high), (0, 59));
    }
}
