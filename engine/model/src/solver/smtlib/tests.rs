//! A script must mean what the evaluator computes. This is checked with Z3's parser, and with cvc5
//! where it is installed.

use proptest::prelude::*;
use z3::SatResult;

use super::*;
use crate::one_in;
use crate::program::ir::{BinOp, FloatCast, FloatKind, FloatOp, FloatPred, MathFn, Pred, UnOp};
use crate::solver::{Answer, External, Limits, Model, Solver as _, Verdict, Z3};
use crate::term::Evaluator;
use crate::term::random::{OPS, PREDS, expr};

/// Z3's answer for a script that its own parser reads.
pub(crate) fn read_by_z3(script: &str) -> SatResult {
    let solver = z3::Solver::new();
    let mut params = z3::Params::new();
    params.set_u32("rlimit", 60_000_000);
    solver.set_params(&params);
    solver.from_string(script);
    // If a script cannot be parsed, Z3 asserts nothing.
    let asserted = script.matches("(assert ").count();
    assert!(
        solver.get_assertions().len() >= asserted.min(1),
        "unreadable: {script}"
    );
    solver.check()
}

/// cvc5, or `None` with a note on standard error if it is not installed.
fn cvc5() -> Option<External> {
    let mut cvc5 = External::new("cvc5");
    // The limit is in steps and not in seconds, so that the same questions stay open on every
    // machine.
    cvc5.arguments.push("--rlimit=100000".to_owned());
    match cvc5.run("(set-logic QF_BV)\n(check-sat)\n") {
        Ok(_) => Some(cvc5),
        Err(why) => {
            eprintln!("not compared with cvc5: {why}");
            None
        }
    }
}

fn expect(script: &Script, sat: bool, second: Option<&External>) {
    let expected = if sat {
        SatResult::Sat
    } else {
        SatResult::Unsat
    };
    assert_eq!(read_by_z3(&script.text), expected, "{}", script.text);
    if let Some(second) = second {
        let verdict = second
            .run(&script.text)
            .unwrap_or_else(|why| panic!("{why}\n{}", script.text));
        let expected = if sat { Verdict::Sat } else { Verdict::Unsat };
        let is_open = matches!(verdict, Verdict::Unknown(_));
        assert!(
            is_open || verdict == expected,
            "{verdict:?}: {}",
            script.text
        );
    }
}

fn ask(pool: &Pool, terms: &[Term]) -> Script {
    script(pool, terms, "a test", Status::Unknown).unwrap_or_else(|why| panic!("{why}"))
}

/// Under `model` each result must have the evaluator's value and no other.
fn means_the_same(pool: &mut Pool, model: &Model, results: &[Term], second: Option<&External>) {
    let mut same = Vec::new();
    let mut given = Vec::new();
    for (&variable, &value) in &model.variables {
        let value = pool.constant(pool.width(variable), value);
        given.push(pool.eq(variable, value));
    }
    given.sort_unstable();
    for &t in results {
        let value = Evaluator::new().eval_in(pool, t, model);
        let value = pool.constant(pool.width(t), value);
        same.push(pool.eq(t, value));
    }
    let all = pool.all(&same);
    let not_all = pool.not(all);
    given.push(all);
    expect(&ask(pool, &given), true, second);
    given.pop();
    given.push(not_all);
    expect(&ask(pool, &given), false, second);
}

const UNARY: [UnOp; 6] = [
    UnOp::CtPop,
    UnOp::CtLz,
    UnOp::CtTz,
    UnOp::BitReverse,
    UnOp::Abs,
    UnOp::BSwap,
];

#[test]
fn every_operator_at_several_widths() {
    let second = cvc5();
    for w in [1u16, 2, 5, 8, 16, 32, 64, 96] {
        let mut pool = Pool::new();
        let [x, y, z] = ["x", "y", "z"].map(|name| pool.variable(name, w));
        let c = pool.variable("a condition | \\ \u{e4}", 1);
        let mut results = Vec::new();
        for op in OPS {
            results.push(pool.bin(op, x, y));
        }
        for op in UNARY {
            if op != UnOp::BSwap || w.is_multiple_of(16) {
                results.push(pool.un(op, x));
            }
        }
        for pred in PREDS {
            results.push(pool.cmp(pred, x, y));
        }
        for op in [BinOp::Add, BinOp::Sub, BinOp::Mul] {
            // A product of 192 bits takes minutes even if the factors are known.
            if op != BinOp::Mul || w <= 32 {
                results.push(pool.overflow(op, true, x, y));
                results.push(pool.overflow(op, false, x, y));
            }
        }
        results.extend([pool.funnel(true, x, y, z), pool.funnel(false, x, y, z)]);
        results.extend([pool.not(x), pool.ite(c, x, y)]);
        if w > 2 {
            results.extend([pool.extract(x, 1, w - 2), pool.extract(x, w - 1, 1)]);
        }
        if w <= 64 {
            results.extend([pool.concat(x, y), pool.zext(x, 2 * w), pool.sext(x, w + 3)]);
        }
        let top = 1u128 << (w - 1);
        for (a, b) in [
            (0, 0),
            (top, u128::MAX),
            (top - 1, 3),
            (5, 0),
            (top + 5, 2),
            (u128::MAX, 7),
        ] {
            let mut model = Model::default();
            let mask = crate::term::value::mask(w);
            model.set_variable(&pool, x, a & mask);
            model.set_variable(&pool, y, b & mask);
            model.set_variable(&pool, z, b.wrapping_add(9) & mask);
            model.set_variable(&pool, c, b & 1);
            means_the_same(&mut pool, &model, &results, second.as_ref());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_questions(es in prop::collection::vec(expr(1, 3, 2), 1..4)) {
        let mut pool = Pool::new();
        let set: Vec<Term> = es.iter().map(|e| e.build(&mut pool)).collect();
        let limits = Limits { time: None, steps: Some(60_000_000), core: false };
        let sat = match Z3::new().check(&mut pool, &set, &limits) {
            Answer::Sat(model) => model.satisfies(&pool, &set),
            Answer::Unsat { .. } => false,
            Answer::Unknown(_) => return Ok(()),
        };
        let mut evaluator = Evaluator::new();
        let by_trying = (0..=0xffffu32).step_by(if sat { 1 } else { 7 }).any(|n| {
            evaluator.reset();
            let tape = |i: u32| (n >> (8 * i)) as u8;
            set.iter().all(|&t| evaluator.eval(&pool, t, &tape) == 1)
        });
        prop_assert_eq!(sat, by_trying);
        thread_local!(static SECOND: Option<External> = cvc5());
        SECOND.with(|second| expect(&ask(&pool, &set), sat, second.as_ref()));
    }
}

#[test]
fn tables_stores_and_choices_of_arrays() {
    let second = cvc5();
    let mut pool = Pool::new();
    let [i, j] = ["i", "j"].map(|name| pool.variable(name, 64));
    let b = pool.variable("b", 8);
    let c = pool.variable("c", 1);
    let table: Vec<u8> = (0..200u8).map(|i| i.wrapping_mul(7)).collect();
    let (free, table) = (pool.array_variable("|free|"), pool.array_constant(&table));
    let changed = pool.array_store(table, j, b);
    let chosen = pool.array_ite(c, changed, free);
    let again = pool.array_store(chosen, i, b);
    let mut results: Vec<Term> = Vec::new();
    for array in [free, table, changed, chosen, again] {
        for index in [i, j] {
            results.push(pool.select(array, index));
        }
    }
    for (at, other, cond) in [
        (3, 3, 1),
        (3, 4, 1),
        (199, 200, 0),
        (u64::MAX, 7, 1),
        (7, 9, 0),
    ] {
        let mut model = Model::default();
        model.set_variable(&pool, i, u128::from(at));
        model.set_variable(&pool, j, other);
        model.set_variable(&pool, b, 0x5a);
        model.set_variable(&pool, c, cond);
        // The bytes of the array variable are free, so only results that do not read them have a
        // definite value.
        let fixed: Vec<Term> = match cond {
            1 => [&results[2..8], &results[8..]].concat(),
            _ => [&results[2..6], &results[8..9]].concat(),
        };
        means_the_same(&mut pool, &model, &fixed, second.as_ref());
    }
    let reads = [i, j].map(|index| pool.select(free, index));
    let same = pool.eq(i, j);
    let differ = pool.cmp(Pred::Ne, reads[0], reads[1]);
    let script = ask(&pool, &[same, differ]);
    expect(&script, false, second.as_ref());
    assert!(
        script.text.contains("(set-logic QF_ABV)"),
        "{}",
        script.text
    );
}

const KINDS: [FloatKind; 4] = [
    FloatKind::F16,
    FloatKind::F32,
    FloatKind::F64,
    FloatKind::F128,
];

fn float_results(pool: &mut Pool, kind: FloatKind, x: Term, y: Term, n: Term) -> Vec<Term> {
    let mut results = Vec::new();
    for op in [FloatOp::Add, FloatOp::Sub, FloatOp::Mul, FloatOp::Div] {
        results.push(pool.float_bin(op, kind, x, y));
    }
    for pred in [
        FloatPred::OEq,
        FloatPred::OGt,
        FloatPred::OGe,
        FloatPred::OLt,
        FloatPred::OLe,
        FloatPred::ONe,
        FloatPred::Ord,
        FloatPred::UEq,
        FloatPred::UGt,
        FloatPred::UGe,
        FloatPred::ULt,
        FloatPred::ULe,
        FloatPred::UNe,
        FloatPred::Uno,
    ] {
        results.push(pool.float_cmp(pred, kind, x, y));
    }
    for to in KINDS {
        results.push(pool.float_cast(FloatCast::Convert(kind, to), x));
    }
    for w in [1, 8, 32, 64] {
        results.push(pool.float_cast(FloatCast::ToSigned(kind, w), x));
        if w < 64 {
            results.push(pool.float_cast(FloatCast::ToUnsigned(kind, w), x));
        }
    }
    results.push(pool.float_cast(FloatCast::FromSigned(64, kind), n));
    results.push(pool.float_cast(FloatCast::FromUnsigned(64, kind), n));
    let unary = [
        MathFn::Sqrt,
        MathFn::Floor,
        MathFn::Ceil,
        MathFn::Trunc,
        MathFn::Round,
        MathFn::Rint,
        MathFn::Nearbyint,
    ];
    for function in unary {
        // The host has square roots for two formats only.
        if function != MathFn::Sqrt || matches!(kind, FloatKind::F32 | FloatKind::F64) {
            results.push(pool.float_fn(function, kind, &[x]));
        }
    }
    // In half precision, `fma` is computed in single precision and rounds twice.
    if kind != FloatKind::F16 {
        results.push(pool.float_fn(MathFn::Fma, kind, &[x, y, y]));
    }
    results
}

/// Checks every operation on every format of SMT-LIB with values at the edges of the formats. The
/// bit pattern of a resulting NaN is free, so such results are left out.
#[test]
fn floats() {
    let second = cvc5();
    let numbers: [f64; 14] = [
        0.0,
        -0.0,
        0.1,
        -2.5,
        127.9,
        -128.5,
        2147483647.5,
        -2147483649.0,
        9.3e18,
        -9223372036854775808.0,
        65504.0,
        f64::INFINITY,
        f64::NAN,
        5e-324,
    ];
    let part = one_in(3);
    for (offset, kind) in KINDS.into_iter().enumerate() {
        let mut pool = Pool::new();
        let w = kind.width();
        let [x, y] = ["x", "y"].map(|name| pool.variable(name, w));
        let n = pool.variable("n", 64);
        let results = float_results(&mut pool, kind, x, y, n);
        let numbers_of_kind = numbers.iter().enumerate();
        let chosen = numbers_of_kind.filter(|(at, _)| (at + offset).is_multiple_of(part));
        for (at, number) in chosen {
            let pattern = |number: f64| {
                let cast = FloatCast::Convert(FloatKind::F64, kind);
                crate::term::float::cast(cast, u128::from(number.to_bits()))
            };
            let mut model = Model::default();
            model.set_variable(&pool, x, pattern(*number));
            model.set_variable(&pool, y, pattern(numbers[(at * 5 + 3) % numbers.len()]));
            model.set_variable(&pool, n, u128::from((number.to_bits() >> 3) << 2 | 1));
            let kept: Vec<Term> = results
                .iter()
                .copied()
                .filter(|&t| {
                    let value = Evaluator::new().eval_in(&pool, t, &model);
                    let from_float = matches!(
                        pool.node(t),
                        Node::FloatCmp(..)
                            | Node::FloatCast(
                                FloatCast::ToSigned(..) | FloatCast::ToUnsigned(..),
                                _
                            )
                    );
                    let kind = KINDS.into_iter().find(|kind| kind.width() == pool.width(t));
                    from_float
                        || kind.is_none_or(|kind| {
                            !crate::term::float::cmp(FloatPred::Uno, kind, value, value)
                        })
                })
                .collect();
            means_the_same(&mut pool, &model, &kept, second.as_ref());
        }
    }
}

#[test]
fn what_has_no_meaning_there_is_free() {
    let mut pool = Pool::new();
    let (x, y) = (pool.variable("x", 80), pool.variable("y", 64));
    let sine = pool.float_fn(MathFn::Sin, FloatKind::F64, &[y]);
    let remainder = pool.float_bin(FloatOp::Rem, FloatKind::F64, y, y);
    let extended = pool.float_cmp(FloatPred::OLt, FloatKind::F80, x, x);
    let differ = pool.cmp(Pred::Ne, sine, remainder);
    let script = ask(&pool, &[extended, differ]);
    assert!(!script.is_exact);
    expect(&script, true, cvc5().as_ref());
    let same = pool.eq(y, y);
    assert!(ask(&pool, &[same]).is_exact);
}

#[test]
fn only_one_bit_is_asserted() {
    let mut pool = Pool::new();
    let x = pool.variable("x", 8);
    let refused = script(&pool, &[x], "", Status::Unknown);
    assert_eq!(refused, Err(Unwritable::Assertion(8)));
}

#[test]
fn a_comment_stays_one() {
    let mut pool = Pool::new();
    let x = pool.variable("x", 1);
    let about = "first (assert false)\nsecond\r\n\u{0}(check-sat)\u{b}third\n";
    let script = script(&pool, &[x], about, Status::Unknown).unwrap_or_else(|why| panic!("{why}"));
    let comments = script
        .text
        .lines()
        .take_while(|line| line.starts_with("; "));
    assert_eq!(comments.count(), 3, "{}", script.text);
    expect(&script, true, cvc5().as_ref());
}

/// The length of a script is linear in the number of terms, however deep or shared they are.
#[test]
fn deep_and_shared_terms() {
    let mut pool = Pool::new();
    let mut sum = pool.variable("x", 32);
    let y = pool.variable("y", 32);
    for _ in 0..100_000 {
        let product = pool.bin(BinOp::Xor, sum, y);
        sum = pool.bin(BinOp::Mul, sum, product);
    }
    let equal = pool.eq(sum, y);
    let script = ask(&pool, &[equal]);
    assert!(
        script.text.len() < 100 * pool.len(),
        "{} bytes",
        script.text.len()
    );
}
