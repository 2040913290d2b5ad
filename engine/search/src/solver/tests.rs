//! Compares every way of answering with the enumeration of all tapes.

use proptest::prelude::*;

use std::time::Duration;

use cegar_model::solver::{Answer, Limits, Model, Solver, Z3, translate};
use cegar_model::term::{Evaluator, Pool, Term};

use super::*;
use cegar_model::program::ir::{BinOp, FloatCast, FloatKind, FloatOp, FloatPred, MathFn, Pred};
use cegar_model::term::random::expr;

/// Whether any tape of two bytes satisfies the set.
fn satisfiable(pool: &Pool, set: &[Term]) -> bool {
    let mut evaluator = Evaluator::new();
    (0..=0xffffu32).any(|n| {
        evaluator.reset();
        let tape = |i: u32| (n >> (8 * i)) as u8;
        set.iter().all(|&t| evaluator.eval(pool, t, &tape) == 1)
    })
}

fn limits() -> Limits {
    Limits {
        time: Some(Duration::from_secs(20)),
        steps: None,
        core: true,
    }
}

fn verify(pool: &Pool, set: &[Term], answer: &Answer, expected: bool) -> Result<(), TestCaseError> {
    match answer {
        Answer::Sat(model) => {
            prop_assert!(expected);
            prop_assert!(model.satisfies(pool, set));
        }
        Answer::Unsat { core } => {
            prop_assert!(!expected);
            let part: Vec<Term> = core.iter().map(|&i| set[i]).collect();
            prop_assert!(!satisfiable(pool, &part), "not a core");
        }
        Answer::Unknown(reason) => prop_assert!(false, "{:?}", reason),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn every_way_agrees(es in prop::collection::vec(expr(1, 2, 2), 1..4)) {
        let mut pool = Pool::new();
        let set: Vec<Term> = es.iter().map(|e| e.build(&mut pool)).collect();
        let expected = satisfiable(&pool, &set);
        let answer = Z3::new().check(&mut pool, &set, &limits());
        verify(&pool, &set, &answer, expected)?;
        if let Some(answer) = small::enumerate(&mut Evaluator::new(), &pool, &set) {
            verify(&pool, &set, &answer, expected)?;
        }
        let mut cached = Cached::new(Z3::new());
        for _ in 0..2 {
            let answer = cached.check(&mut pool, &set, &limits());
            verify(&pool, &set, &answer, expected)?;
        }
        let mut session = Session::new();
        session.push();
        session.assert(&pool, set[0]);
        let answer = session.check(&pool, &set[1..], &limits());
        prop_assert_eq!(matches!(answer, Answer::Sat(_)), expected, "{:?}", answer);
        session.pop();
        let one = pool.bit(true);
        prop_assert!(matches!(session.check(&pool, &[one], &limits()), Answer::Sat(_)));
        let circuit = Circuit::new(&mut pool, &set[..1], Z3::new().spent());
        prop_assert!(circuit.is_some());
        if let Some(mut circuit) = circuit {
            let answer = circuit.check(&mut pool, &set[1..], &limits());
            match (answer, expected) {
                (Some(Answer::Sat(model)), true) => prop_assert!(model.satisfies(&pool, &set)),
                (Some(Answer::Unsat { core }), false) => {
                    let part = core.iter().map(|&i| set[i + 1]).chain([set[0]]);
                    prop_assert!(!satisfiable(&pool, &part.collect::<Vec<_>>()), "not a core");
                }
                (answer, _) => prop_assert!(false, "{:?}", answer),
            }
            let one = pool.bit(true);
            let first = satisfiable(&pool, &set[..1]);
            let answer = circuit.check(&mut pool, &[one], &limits());
            prop_assert_eq!(matches!(answer, Some(Answer::Sat(_))), first);
        }
    }

    #[test]
    fn a_question_from_a_witness(
        es in prop::collection::vec(expr(1, 2, 2), 1..5), tape in any::<[u8; 2]>()
    ) {
        let mut pool = Pool::new();
        let witness = |i: u32| tape[i as usize];
        let mut path = Vec::new();
        let mut cached = Cached::new(Z3::new());
        for e in &es {
            let t = e.build(&mut pool);
            let held = pool.eval(t, &witness) == 1;
            let other = pool.not(t);
            let (taken, wanted) = if held { (t, other) } else { (other, t) };
            let mut set = path.clone();
            set.push(wanted);
            let expected = satisfiable(&pool, &set);
            match cached.check_from(&mut pool, &path, wanted, &witness, &limits()) {
                Answer::Sat(model) => {
                    prop_assert!(expected);
                    let over = |i: u32| model.inputs.get(&i).copied().unwrap_or(witness(i));
                    prop_assert!(set.iter().all(|&t| pool.eval(t, &over) == 1));
                }
                answer => verify(&pool, &set, &answer, expected)?,
            }
            path.push(taken);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Stores, choices, tables and free contents, read at variable offsets, with arrays and
    /// without.
    #[test]
    fn arrays_as_variables(
        stores in prop::collection::vec((0..4u32, any::<bool>(), any::<u8>(), 0..3u8), 0..6),
        reads in prop::collection::vec((0..4u32, any::<bool>(), 0..4u8), 1..5),
        table in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let mut pool = Pool::new();
        let at = |pool: &mut Pool, offset: u32, free: bool| {
            let byte = match free {
                true => pool.input(offset),
                false => pool.constant(8, u128::from(offset)),
            };
            pool.zext(byte, 64)
        };
        let mut arrays = [pool.array_variable("a"), pool.array_constant(&table)];
        for (offset, free, byte, way) in stores {
            let index = at(&mut pool, offset, free);
            let byte = pool.constant(8, u128::from(byte % 4));
            match way {
                0 => arrays[0] = pool.array_store(arrays[0], index, byte),
                1 => arrays[1] = pool.array_store(arrays[1], index, byte),
                _ => {
                    let four = pool.constant(8, 4);
                    let input = pool.input(offset);
                    let cond = pool.cmp(Pred::Ult, input, four);
                    arrays[0] = pool.array_ite(cond, arrays[0], arrays[1]);
                }
            }
        }
        let mut set = Vec::new();
        for (offset, free, value) in reads {
            let index = at(&mut pool, offset, free);
            let (a, b) = (pool.select(arrays[0], index), pool.select(arrays[1], index));
            let value = pool.constant(8, u128::from(value));
            set.push(pool.cmp(Pred::Ule, a, value));
            set.push(pool.cmp(Pred::Ne, a, b));
        }
        let expected = Z3::new().check(&mut pool, &set, &limits());
        let circuit = Circuit::new(&mut pool, &set[..1], Z3::new().spent());
        let answer = circuit.and_then(|mut c| c.check(&mut pool, &set[1..], &limits()));
        match (expected, answer) {
            (Answer::Sat(_), Some(Answer::Sat(model))) => {
                prop_assert!(model.satisfies(&pool, &set));
            }
            (Answer::Unsat { .. }, Some(Answer::Unsat { .. })) => {}
            different => prop_assert!(false, "{:?}", different),
        }
    }
}

#[test]
fn unrelated_constraints_are_left_out() {
    let mut pool = Pool::new();
    let five = pool.constant(8, 5);
    let mut path = Vec::new();
    for i in 0..100 {
        let byte = pool.input(i);
        path.push(pool.cmp(Pred::Ult, byte, five));
    }
    let (a, b) = (pool.input(3), pool.input(4));
    let wanted = pool.cmp(Pred::Ult, a, b);
    assert_eq!(related(&pool, &path, wanted), [3, 4]);
    assert_eq!(components(&pool, &path).len(), 100);
    let mut cached = Cached::new(Z3::new());
    let answer = cached.check_from(&mut pool, &path, wanted, &|_| 0, &Limits::default());
    let Answer::Sat(model) = answer else {
        panic!("{answer:?}")
    };
    assert!(model.inputs[&3] < model.inputs[&4] && model.inputs.len() == 2);
    assert_eq!(cached.stats().solver_calls, 0);
    assert_eq!(cached.stats().sliced, 98);
}

#[test]
fn deep_chains_reach_the_solver() {
    let mut pool = Pool::new();
    let mut sum = pool.constant(32, 0);
    for i in 0..100_000 {
        let byte = pool.input(i % 3);
        let wide = pool.zext(byte, 32);
        sum = pool.bin(BinOp::Xor, sum, wide);
        let one = pool.constant(32, 1);
        sum = pool.bin(BinOp::Add, sum, one);
    }
    let zero = pool.constant(32, 0);
    let equal = pool.eq(sum, zero);
    // The term is translated and grouped but not solved, which may take long: only the depth of the
    // recursion is tested.
    let limits = Limits {
        time: Some(Duration::from_millis(1)),
        steps: None,
        core: false,
    };
    let _ = translate::Translator::default().assertion(&pool, equal);
    assert_eq!(components(&pool, &[equal]).len(), 1);
    let _ = limits;
}

#[test]
fn variables_arrays_and_floats() {
    let mut pool = Pool::new();
    let mut z3 = Z3::new();
    let (a, i) = (pool.array_variable("a"), pool.variable("i", 64));
    let read = pool.select(a, i);
    let x = pool.constant(8, b'x'.into());
    let is_x = pool.eq(read, x);
    let seven = pool.constant(64, 7);
    let above = pool.cmp(Pred::Ugt, i, seven);
    let Answer::Sat(model) = z3.check(&mut pool, &[is_x, above], &limits()) else {
        panic!("satisfiable")
    };
    assert!(model.variables[&i] > 7);

    // x + 0.1 == 0.3 for a double x
    let x = pool.variable("x", 64);
    let [tenth, third] = [0.1f64, 0.3].map(|f| pool.constant(64, f.to_bits().into()));
    let sum = pool.float_bin(FloatOp::Add, FloatKind::F64, x, tenth);
    let equal = pool.float_cmp(FloatPred::OEq, FloatKind::F64, sum, third);
    let Answer::Sat(model) = z3.check(&mut pool, &[equal], &limits()) else {
        panic!("satisfiable")
    };
    assert_eq!(f64::from_bits(model.variables[&x] as u64) + 0.1, 0.3);
    let different = pool.float_cmp(FloatPred::ONe, FloatKind::F64, x, x);
    assert!(matches!(
        z3.check(&mut pool, &[different], &limits()),
        Answer::Unsat { .. }
    ));
}

/// Z3's results for floats must equal those of evaluation, for values at every kind of edge.
#[test]
fn floats_mean_the_same_to_z3() {
    let values: Vec<f64> = vec![
        0.0,
        -0.0,
        0.1,
        -1.5,
        2.5,
        127.9,
        -128.5,
        2147483647.0,
        2147483647.5,
        2147483648.0,
        -2147483648.0,
        -2147483648.5,
        -2147483649.0,
        4294967295.5,
        9.3e18,
        -9.3e18,
        -9223372036854775808.0,
        1e30,
        f64::INFINITY,
        f64::NAN,
        5e-324,
    ];
    let mut pool = Pool::new();
    let mut z3 = Z3::new();
    let x = pool.variable("x", 64);
    let narrow = pool.float_cast(FloatCast::Convert(FloatKind::F64, FloatKind::F32), x);
    let third = pool.constant(64, (1.0f64 / 3.0).to_bits().into());
    let mut results = vec![narrow];
    for (kind, from) in [(FloatKind::F64, x), (FloatKind::F32, narrow)] {
        for to in [8, 32, 64] {
            results.push(pool.float_cast(FloatCast::ToSigned(kind, to), from));
            results.push(pool.float_cast(FloatCast::FromSigned(64, kind), x));
        }
        for to in [8, 32] {
            results.push(pool.float_cast(FloatCast::ToUnsigned(kind, to), from));
        }
    }
    for function in [MathFn::Floor, MathFn::Round, MathFn::Rint] {
        results.push(pool.float_fn(function, FloatKind::F64, &[x]));
    }
    for op in [FloatOp::Add, FloatOp::Mul] {
        results.push(pool.float_bin(op, FloatKind::F64, x, third));
    }
    results.push(pool.float_cmp(FloatPred::ULt, FloatKind::F64, x, third));
    results.push(pool.float_cmp(FloatPred::OGe, FloatKind::F64, x, third));
    for value in values {
        let mut model = Model::default();
        model.set_variable(&pool, x, value.to_bits().into());
        let bits = pool.constant(64, value.to_bits().into());
        let is_value = pool.eq(x, bits);
        let mut differ = Vec::new();
        for &result in &results {
            let v = Evaluator::new().eval_in(&pool, result, &model);
            let w = pool.width(result);
            // The bits of a NaN are unspecified.
            if (w == 64 && f64::from_bits(v as u64).is_nan())
                || (w == 32 && f32::from_bits(v as u32).is_nan())
            {
                continue;
            }
            let known = pool.constant(w, v);
            differ.push(pool.cmp(Pred::Ne, result, known));
        }
        let any = pool.any(&differ);
        let limits = Limits {
            core: false,
            ..limits()
        };
        let answer = z3.check(&mut pool, &[is_value, any], &limits);
        assert!(
            matches!(answer, Answer::Unsat { .. }),
            "{value}: {answer:?}"
        );
    }
}
