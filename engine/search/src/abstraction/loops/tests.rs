//! Compares closed forms with iterations executed one by one.

use proptest::prelude::*;

use super::closed::Closed;
use cegar_model::program::ir::{BinOp, Width};
use cegar_model::symbolic::update::Update;
use cegar_model::term::{Environment, Evaluator, Node, Pool, Term};

/// Values of variables by number.
struct Values(Vec<(u32, u128)>);

impl Environment for Values {
    fn input(&self, _: u32) -> u8 {
        0
    }
    fn variable(&self, variable: u32) -> u128 {
        let found = self.0.iter().find(|(number, _)| *number == variable);
        found.map_or(0, |&(_, value)| value)
    }
}

fn number(pool: &Pool, t: Term) -> u32 {
    match *pool.node(t) {
        Node::Variable(number) => number,
        _ => unreachable!("a variable"),
    }
}

/// The values of the variables after `n` iterations, computed one by one.
fn by_turns(pool: &Pool, turn: &Update, start: &[(Term, u128)], n: u64) -> Vec<u128> {
    let mut values: Vec<(u32, u128)> = start.iter().map(|&(t, v)| (number(pool, t), v)).collect();
    for _ in 0..n {
        let here = Values(values.clone());
        for &(variable, after) in &turn.terms {
            let value = Evaluator::new().eval_in(pool, after, &here);
            let place = number(pool, variable);
            for slot in values.iter_mut().filter(|(n, _)| *n == place) {
                slot.1 = value;
            }
        }
    }
    let after = |t: &Term| {
        values
            .iter()
            .find(|(n, _)| *n == number(pool, *t))
            .map_or(0, |v| v.1)
    };
    turn.terms.iter().map(|(t, _)| after(t)).collect()
}

/// Compares both for some numbers of iterations. Returns the number of variables with a closed
/// form.
fn agree(pool: &mut Pool, turn: &Update, start: &[(Term, u128)]) -> usize {
    let closed = Closed::solve(pool, turn, "?test");
    let solved: Vec<Term> = closed
        .changing()
        .filter(|(_, solved)| *solved)
        .map(|(t, _)| t)
        .collect();
    for n in [
        0u64, 1, 2, 3, 4, 7, 8, 9, 31, 32, 33, 64, 65, 100, 255, 256, 1000,
    ] {
        let turns = pool.constant(64, u128::from(n));
        let side = closed.side_conditions(pool, turns);
        let values = Values(start.iter().map(|&(t, v)| (number(pool, t), v)).collect());
        // A form need not hold if a value that it depends on wrapped around.
        if side
            .iter()
            .any(|&t| Evaluator::new().eval_in(pool, t, &values) != 1)
        {
            continue;
        }
        let expected = by_turns(pool, turn, start, n);
        for (&(variable, _), expected) in turn.terms.iter().zip(expected) {
            if solved.contains(&variable) {
                let value = closed.value(pool, variable, turns);
                let value = Evaluator::new().eval_in(pool, value, &values);
                assert_eq!(value, expected, "{} after {n} turns", pool.show(variable));
            }
        }
    }
    solved.len()
}

#[test]
fn sums_of_sums_wrap_around_as_they_should() {
    for width in [8, 16, 32, 64] {
        let mut pool = Pool::new();
        let names = ["i", "square", "cube"];
        let [i, square, cube] = names.map(|name| pool.variable(name, width));
        let (one, two, three) = (
            pool.constant(width, 1),
            pool.constant(width, 2),
            pool.constant(width, 3),
        );
        let next = pool.bin(BinOp::Add, i, one);
        let twice = pool.bin(BinOp::Mul, i, two);
        let more = pool.bin(BinOp::Add, square, twice);
        let square_next = pool.bin(BinOp::Add, more, one);
        let both = pool.bin(BinOp::Add, square, i);
        let thrice = pool.bin(BinOp::Mul, both, three);
        let more = pool.bin(BinOp::Add, cube, thrice);
        let cube_next = pool.bin(BinOp::Add, more, one);
        let turn = Update {
            terms: vec![(i, next), (square, square_next), (cube, cube_next)],
            arrays: Vec::new(),
            ..Update::default()
        };
        let start = [(i, 0), (square, 0), (cube, 0)];
        assert_eq!(agree(&mut pool, &turn, &start), 3);
        let closed = Closed::solve(&mut pool, &turn, "?test");
        let n = pool.constant(64, 19);
        let value = closed.value(&mut pool, cube, n);
        let zero = Values(Vec::new());
        let mask = u128::MAX >> (128 - u32::from(width));
        assert_eq!(
            Evaluator::new().eval_in(&pool, value, &zero),
            (19 * 19 * 19) & mask
        );
    }
}

#[test]
fn forms_past_polynomials() {
    let mut pool = Pool::new();
    let names = [
        "double", "half", "flag", "mask", "mod", "old", "i", "negated",
    ];
    let [double, half, flag, mask, modulo, old, i, negated] =
        names.map(|name| pool.variable(name, 32));
    let c = |pool: &mut Pool, v: u128| pool.constant(32, v);
    let (one, three, ten, bits) = (
        c(&mut pool, 1),
        c(&mut pool, 3),
        c(&mut pool, 10),
        c(&mut pool, 0x50),
    );
    let twice = pool.bin(BinOp::Add, double, double);
    let double_next = pool.bin(BinOp::Add, twice, three);
    let half_next = pool.bin(BinOp::LShr, half, one);
    let zero = c(&mut pool, 0);
    let is_zero = pool.eq(flag, zero);
    let flag_next = pool.zext(is_zero, 32);
    let mask_next = pool.bin(BinOp::Or, mask, bits);
    let sum = pool.bin(BinOp::Add, modulo, three);
    let modulo_next = pool.bin(BinOp::URem, sum, ten);
    let i_next = pool.bin(BinOp::Add, i, one);
    let negated_next = pool.bin(BinOp::Sub, ten, negated);
    let turn = Update {
        terms: vec![
            (double, double_next),
            (half, half_next),
            (flag, flag_next),
            (mask, mask_next),
            (modulo, modulo_next),
            (old, i),
            (i, i_next),
            (negated, negated_next),
        ],
        arrays: Vec::new(),
        ..Update::default()
    };
    let start = [
        (double, 5),
        (half, 0xffff_0000),
        (flag, 1),
        (mask, 3),
        (modulo, 4),
        (old, 77),
        (i, 0xffff_fff0),
        (negated, 3),
    ];
    let closed = Closed::solve(&mut pool, &turn, "?test");
    let unsolved: Vec<String> = closed
        .changing()
        .filter(|(_, solved)| !solved)
        .map(|(t, _)| pool.show(t))
        .collect();
    assert!(unsolved.is_empty(), "{unsolved:?}");
    assert_eq!(agree(&mut pool, &turn, &start), 8);
}

#[test]
fn what_has_no_closed_form_is_free() {
    let mut pool = Pool::new();
    let [x, y] = ["x", "y"].map(|name| pool.variable(name, 32));
    let (x_next, y_next) = (pool.bin(BinOp::Mul, x, y), pool.bin(BinOp::Xor, x, y));
    let turn = Update {
        terms: vec![(x, x_next), (y, y_next)],
        arrays: Vec::new(),
        ..Update::default()
    };
    let closed = Closed::solve(&mut pool, &turn, "?test");
    assert!(closed.changing().all(|(_, solved)| !solved));
}

/// A random iteration over four variables: each is unchanged, updated with a constant, or with
/// another variable.
fn turns() -> impl Strategy<Value = (Width, Vec<(u8, u8, u16)>, Vec<u16>)> {
    let width = prop_oneof![Just(8u16), Just(16), Just(32), Just(64)];
    let steps = prop::collection::vec((0u8..6, 0u8..4, any::<u16>()), 4);
    (width, steps, prop::collection::vec(any::<u16>(), 4))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn random_turns((width, steps, start) in turns()) {
        let mut pool = Pool::new();
        let names = ["a", "b", "c", "d"];
        let variables = names.map(|name| pool.variable(name, width));
        let mut terms = Vec::new();
        for (&v, &(kind, other, number)) in variables.iter().zip(&steps) {
            let number = pool.constant(width, u128::from(number));
            let other = variables[usize::from(other)];
            let after = match kind {
                0 => v,
                1 => pool.bin(BinOp::Add, v, number),
                2 => pool.bin(BinOp::Add, v, other),
                3 => {
                    let product = pool.bin(BinOp::Mul, other, number);
                    pool.bin(BinOp::Sub, v, product)
                }
                4 => pool.bin(BinOp::Xor, v, number),
                _ => pool.bin(BinOp::Add, other, number),
            };
            terms.push((v, after));
        }
        let turn = Update { terms, ..Update::default() };
        let values: Vec<u128> = start.iter().map(|&v| u128::from(v) & (u128::MAX >> (128 - u32::from(width)))).collect();
        let start: Vec<(Term, u128)> = variables.iter().copied().zip(values).collect();
        agree(&mut pool, &turn, &start);
    }
}
