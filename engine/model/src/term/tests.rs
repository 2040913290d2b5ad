//! A random expression that is built with all simplification must have the value of the expression.

mod rewrites;

use proptest::prelude::*;

use super::random::expr;
use super::*;
use crate::operator::{BinOp, Pred};

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn simplification_keeps_the_value(
        e in prop::sample::select(&[1u16, 1, 1, 5, 8, 16, 32][..]).prop_flat_map(|w| expr(w, 3, 3)),
        tapes in prop::collection::vec(any::<[u8; 3]>(), 24),
        fixed in any::<u8>(),
    ) {
        let mut pool = Pool::new();
        let t = e.build(&mut pool);
        prop_assert_eq!(pool.width(t), e.width());
        let part = pool.substitute(t, &|i| (i == 1).then_some(fixed));
        prop_assert!(!pool.inputs(part).contains(&1));
        for mut tape in tapes.into_iter().chain([[0; 3], [0xff; 3], [0x80, 0x7f, 1]]) {
            prop_assert_eq!(
                pool.eval(t, &|i| tape[i as usize]), e.value(&tape), "{} at \
                    {:?}", pool.show(t), tape
            );
            tape[1] = fixed;
            prop_assert_eq!(pool.eval(part, &|i| tape[i as usize]), e.value(&tape));
        }
    }
}

#[test]
fn integers_reassembled_from_bytes() {
    let mut pool = Pool::new();
    let x = pool.variable("x", 32);
    for backwards in [false, true] {
        let bytes: Vec<Term> = (0..4).map(|i| pool.extract(x, i * 8, 8)).collect();
        let again = if backwards {
            let high = pool.concat(bytes[3], bytes[2]);
            let low = pool.concat(bytes[1], bytes[0]);
            pool.concat(high, low)
        } else {
            let (mut sum, by) = (pool.constant(32, 0), [0, 8, 16, 24]);
            for (byte, by) in bytes.into_iter().zip(by) {
                let (wide, by) = (pool.zext(byte, 32), pool.constant(32, by));
                let shifted = pool.bin(BinOp::Shl, wide, by);
                sum = pool.bin(BinOp::Or, sum, shifted);
            }
            sum
        };
        assert_eq!(again, x);
    }
    for signed in [false, true] {
        let byte = pool.input(0);
        let wide = if signed {
            pool.sext(byte, 32)
        } else {
            pool.zext(byte, 32)
        };
        let mut again = pool.extract(wide, 0, 8);
        for i in 1..4 {
            let next = pool.extract(wide, i * 8, 8);
            again = pool.concat(next, again);
        }
        assert_eq!(again, wide);
    }
}

#[test]
fn comparisons_come_down_to_the_byte() {
    let mut pool = Pool::new();
    let byte = pool.input(0);
    let wide = pool.zext(byte, 32);
    let five = pool.constant(32, 5);
    let sum = pool.bin(BinOp::Add, wide, five);
    let twelve = pool.constant(32, 12);
    let equal = pool.eq(sum, twelve);
    assert_eq!(pool.show(equal), "(in[0] == 7)");
    // int c = (x == 7); if (c != 0)
    let as_int = pool.zext(equal, 32);
    let zero = pool.constant(32, 0);
    assert_eq!(pool.cmp(Pred::Ne, as_int, zero), equal);
    let minus = pool.constant(32, u128::from(u32::MAX));
    assert_eq!(pool.cmp(Pred::Sgt, wide, minus), pool.bit(true));
    let over = pool.overflow(BinOp::Add, true, wide, five);
    assert_eq!(over, pool.bit(false));
}

#[test]
fn deep_chains_do_not_recurse() {
    let mut pool = Pool::new();
    let mut sum = pool.constant(32, 0);
    let n = 100_000;
    for i in 0..n {
        let byte = pool.input(i);
        let wide = pool.zext(byte, 32);
        sum = pool.bin(BinOp::Add, sum, wide);
        let three = pool.constant(32, 3);
        sum = pool.bin(BinOp::Mul, sum, three);
    }
    let tape = |i: u32| (i % 251) as u8;
    let expected = (0..n).fold(0u32, |s, i| {
        s.wrapping_add(u32::from(tape(i))).wrapping_mul(3)
    });
    assert_eq!(pool.eval(sum, &tape), u128::from(expected));
    assert_eq!(pool.inputs(sum).len(), n as usize);
    let fixed = pool.substitute(sum, &|i| (i > 0).then(|| tape(i)));
    assert_eq!(pool.inputs(fixed), &[0]);
    assert_eq!(pool.eval(fixed, &tape), u128::from(expected));
    assert!(pool.show(sum).len() < 5000);
}

#[test]
fn same_names_are_the_same_symbols() {
    let mut pool = Pool::new();
    assert_eq!(pool.variable("n", 32), pool.variable("n", 32));
    assert_ne!(pool.variable("n", 32), pool.variable("n", 64));
    assert_eq!(pool.array_variable("a"), pool.array_variable("a"));
    let (a, i) = (pool.array_variable("a"), pool.variable("i", 64));
    let read = pool.select(a, i);
    let symbols: Vec<Symbol> = pool.symbols(read).collect();
    assert_eq!(symbols, [Symbol::Variable(2), Symbol::Array(0)]);
}

#[test]
fn a_million_terms_take_moments() {
    let start = std::time::Instant::now();
    let mut pool = Pool::new();
    let mut sum = pool.constant(32, 1);
    for i in 0..250_000u32 {
        let byte = pool.input(i % 16);
        let wide = pool.zext(byte, 32);
        let scaled = pool.bin(BinOp::Mul, sum, wide);
        sum = pool.bin(BinOp::Xor, scaled, wide);
        let limit = pool.constant(32, u128::from(i) + 1);
        let _ = pool.cmp(Pred::Ult, sum, limit);
    }
    assert!(pool.len() > 700_000);
    println!("{} terms in {:?}", pool.len(), start.elapsed());
    assert_eq!(pool.inputs(sum).len(), 16);
    // Debug builds on busy machines are slow. This limit only detects quadratic behaviour.
    assert!(start.elapsed().as_secs() < 20);
}
