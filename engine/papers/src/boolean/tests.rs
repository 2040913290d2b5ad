//! Tests: reachability against explicit search, tables against enumeration, predicates against the
//! path that they have to exclude.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::diagrams::Diagrams;
use super::existential::{Code, Tables, relation};
use super::predicates::atoms;
use super::program::{Bit, BooleanProgram, Edge, Relation, Table, Target};
use super::reach::{Reached, Relations, reach};
use cegar_model::program::ir::{BinOp, Pred};
use cegar_model::term::{Evaluator, Pool, Term};
use cegar_search::abstraction::asking::{Cancellation, Cost};
use cegar_search::abstraction::state_symbols::conjuncts;

const BITS: usize = 3;
const PLACES: usize = 4;

/// Whether a relation allows a step, by its definition.
fn allows(relation: &Relation, now: &[bool], next: &[bool]) -> bool {
    let value = |bit: Bit| match bit {
        Bit::Now(n) => now[n],
        Bit::Next(n) => next[n],
    };
    !relation.impossible
        && relation.fixed.iter().all(|&(bit, v)| next[bit] == v)
        && relation
            .copied
            .iter()
            .all(|&(after, before, not)| next[after] == (now[before] != not))
        && relation.tables.iter().all(|table| {
            let is_row = |row: &Vec<bool>| table.bits.iter().zip(row).all(|(&b, &v)| value(b) == v);
            table.rows.iter().any(is_row)
        })
        && !relation
            .excluded
            .iter()
            .any(|cube| cube.iter().all(|&(bit, v)| value(bit) == v))
}

fn states() -> impl Iterator<Item = Vec<bool>> {
    (0..1usize << BITS).map(|n| (0..BITS).map(|bit| n >> bit & 1 == 1).collect())
}

/// The number of steps to the nearest error, by explicit search.
fn explicit(program: &BooleanProgram) -> Option<usize> {
    let is_initial = |state: &Vec<bool>| program.initial.iter().all(|&(bit, v)| state[bit] == v);
    let is_safe = |place: usize, state: &[bool]| {
        let here = program.safe.iter().filter(|(at, _)| *at == place);
        let mut here = here.map(|(_, cube)| cube.iter().all(|&(bit, v)| state[bit] == v));
        here.any(|holds| holds)
    };
    let mut queue: VecDeque<(usize, Vec<bool>, usize)> = states()
        .filter(is_initial)
        .map(|state| (program.start, state, 0))
        .filter(|(place, state, _)| !is_safe(*place, state))
        .collect();
    let mut seen: BTreeSet<(usize, Vec<bool>)> =
        queue.iter().map(|(p, s, _)| (*p, s.clone())).collect();
    while let Some((place, state, depth)) = queue.pop_front() {
        for edge in program.edges.iter().filter(|edge| edge.from == place) {
            for next in states().filter(|next| allows(&edge.relation, &state, next)) {
                match edge.to {
                    Target::Error(_) => return Some(depth + 1),
                    Target::Place(to) => {
                        if !is_safe(to, &next) && seen.insert((to, next.clone())) {
                            queue.push_back((to, next, depth + 1));
                        }
                    }
                }
            }
        }
    }
    None
}

fn bit() -> impl Strategy<Value = Bit> {
    prop_oneof![(0..BITS).prop_map(Bit::Now), (0..BITS).prop_map(Bit::Next)]
}

fn a_relation() -> impl Strategy<Value = Relation> {
    let table = (proptest::collection::btree_set(bit(), 1..4)).prop_flat_map(|bits| {
        let bits: Vec<Bit> = bits.into_iter().collect();
        let row = proptest::collection::vec(any::<bool>(), bits.len());
        proptest::collection::vec(row, 1..4).prop_map(move |rows| Table {
            bits: bits.clone(),
            rows,
        })
    });
    (
        proptest::collection::vec((0..BITS, any::<bool>()), 0..2),
        proptest::collection::vec((0..BITS, 0..BITS, any::<bool>()), 0..2),
        proptest::collection::vec(table, 0..3),
        proptest::collection::vec(
            proptest::collection::vec((bit(), any::<bool>()), 1..3),
            0..2,
        ),
    )
        .prop_map(|(fixed, copied, tables, excluded)| Relation {
            impossible: false,
            fixed,
            copied,
            tables,
            excluded,
        })
}

fn a_program() -> impl Strategy<Value = BooleanProgram> {
    let edge = (0..PLACES, 0..=PLACES, a_relation()).prop_map(|(from, to, mut relation)| {
        // One target of five is the error, which has no bits.
        let to = if to == PLACES {
            relation.fixed.clear();
            relation.copied.clear();
            let is_now = |bit: &Bit| matches!(bit, Bit::Now(_));
            relation
                .tables
                .retain(|table| table.bits.iter().all(is_now));
            relation
                .excluded
                .retain(|cube| cube.iter().all(|(bit, _)| is_now(bit)));
            Target::Error(0)
        } else {
            Target::Place(to)
        };
        Edge { from, to, relation }
    });
    let cube = || proptest::collection::vec((0..BITS, any::<bool>()), 1..3);
    (
        proptest::collection::vec(edge, 1..10),
        cube(),
        proptest::collection::vec((0..PLACES, cube()), 0..2),
    )
        .prop_map(|(edges, initial, safe)| BooleanProgram {
            places: vec![BITS; PLACES],
            edges,
            start: 0,
            initial,
            hidden: Vec::new(),
            safe,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The nearest error is found, and the path to it is valid.
    #[test]
    fn the_shortest_way_is_found(program in a_program()) {
        let mut diagrams = Diagrams::new();
        let found = reach(&mut diagrams, &mut Relations::default(), &program, &|| false);
        let expected = explicit(&program);
        match found.expect("there is room") {
            Reached::Error(path) => {
                prop_assert_eq!(Some(path.steps.len()), expected);
                let mut place = program.start;
                for (number, step) in path.steps.iter().enumerate() {
                    let edge = &program.edges[step.edge];
                    prop_assert_eq!(edge.from, place);
                    match (edge.to, path.steps.get(number + 1)) {
                        (Target::Place(to), Some(next)) => {
                            prop_assert!(allows(&edge.relation, &step.before, &next.before));
                            place = to;
                        }
                        (Target::Error(error), None) => {
                            prop_assert!(allows(&edge.relation, &step.before, &[]));
                            prop_assert_eq!(error, path.error);
                        }
                        _ => prop_assert!(false, "the way breaks off"),
                    }
                }
            }
            Reached::Nothing(reached) => {
                prop_assert_eq!(expected, None);
                prop_assert_eq!(reached.len(), PLACES);
            }
            Reached::Stopped => prop_assert!(false, "nobody stopped it"),
        }
    }
}

fn cancellation(stop: &AtomicBool) -> Cancellation<'_> {
    Cancellation {
        deadline: None,
        steps: None,
        stop,
    }
}

/// Compares the tables with the enumeration of all eight-bit values.
#[test]
fn tables_hold_exactly_what_the_code_can_do() {
    let mut pool = Pool::new();
    let x = pool.variable("x", 8);
    let y = pool.variable("y", 8);
    let read = pool.variable("?read", 8);
    let c = |pool: &mut Pool, value: u128| pool.constant(8, value);
    let (five, ten, one) = (c(&mut pool, 5), c(&mut pool, 10), c(&mut pool, 1));
    let small = pool.cmp(Pred::Ult, x, five);
    let same = pool.eq(x, y);
    let more = pool.cmp(Pred::Ult, y, ten);
    // if (x < 10 and read != x) { x = x + 1; y = read; }
    let guard = pool.cmp(Pred::Ult, x, ten);
    let other = pool.eq(read, x);
    let other = pool.not(other);
    let plus = pool.bin(BinOp::Add, x, one);
    let mut back = cegar_model::term::Rewriter::new();
    back.replace(x, plus);
    back.replace(y, read);
    let now = vec![small, same, more];
    let next: Vec<Term> = now.iter().map(|&t| back.apply(&mut pool, t)).collect();
    let code = Code {
        conditions: vec![guard, other],
        now: now.clone(),
        next,
    };
    let (found, cost) = related(&mut pool, &code);
    assert!(cost.solver_calls > 0);
    let mut possible = BTreeSet::new();
    for values in 0..1u32 << 24 {
        let (vx, vy, vr) = (values & 255, values >> 8 & 255, values >> 16);
        if vx >= 10 || vr == vx {
            continue;
        }
        let bits = |x: u32, y: u32| vec![x < 5, x == y, y < 10];
        possible.insert((bits(vx, vy), bits(vx + 1, vr)));
    }
    for before in states() {
        for after in states() {
            let is_possible = possible.contains(&(before.clone(), after.clone()));
            assert_eq!(
                allows(&found, &before, &after),
                is_possible,
                "{before:?} to {after:?}"
            );
        }
    }
}

fn related(pool: &mut Pool, code: &Code) -> (Relation, Cost) {
    let stop = AtomicBool::new(false);
    let mut cost = Cost::default();
    let mut tables = Tables::default();
    let found = relation(pool, &mut tables, code, cancellation(&stop), &mut cost);
    (found, cost)
}

/// Unchanged predicates need no query.
#[test]
fn what_stays_the_same_costs_nothing() {
    let mut pool = Pool::new();
    let x = pool.variable("x", 32);
    let five = pool.constant(32, 5);
    let small = pool.cmp(Pred::Ult, x, five);
    let large = pool.not(small);
    let code = Code {
        conditions: Vec::new(),
        now: vec![small],
        next: vec![small, large, pool.bit(true)],
    };
    let (found, cost) = related(&mut pool, &code);
    assert_eq!(cost.solver_calls, 0);
    assert_eq!(found.copied, [(0, 0, false), (1, 0, true)]);
    assert_eq!(found.fixed, [(2, true)]);
}

/// A condition is equivalent to the conjunction of its parts.
#[test]
fn a_condition_is_put_together_from_its_atoms() {
    let mut pool = Pool::new();
    let x = pool.variable("x", 8);
    let y = pool.variable("y", 8);
    let (three, nine) = (pool.constant(8, 3), pool.constant(8, 9));
    let a = pool.cmp(Pred::Ult, x, three);
    let b = pool.cmp(Pred::Slt, y, nine);
    let c = pool.eq(x, y);
    let not = pool.not(b);
    let or = pool.or(a, not);
    let both = pool.and(or, c);
    let mut found = atoms(&pool, both);
    found.sort_unstable();
    found.dedup();
    let mut expected = [a, b, c];
    expected.sort_unstable();
    assert!(found.iter().all(|&t| {
        let not = pool.not(t);
        expected.contains(&t) || expected.contains(&not)
    }));
    assert_eq!(found.len(), 3);
    let parts = conjuncts(&mut pool, &[both]);
    assert_eq!(parts.len(), 2);
    let all = pool.all(&parts);
    let mut evaluator = Evaluator::new();
    for values in 0..1u32 << 16 {
        let value = |byte: u32| (values >> (8 * byte)) as u8;
        let environment = Two(value(0), value(1));
        evaluator.reset();
        let whole = evaluator.eval_in(&pool, both, &environment);
        assert_eq!(whole, evaluator.eval_in(&pool, all, &environment));
    }
}

/// Values of the first two variables of a pool.
struct Two(u8, u8);

impl cegar_model::term::Environment for Two {
    fn input(&self, _: u32) -> u8 {
        0
    }
    fn variable(&self, variable: u32) -> u128 {
        u128::from(if variable == 0 { self.0 } else { self.1 })
    }
}
