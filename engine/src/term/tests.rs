//! Random expressions: built with all simplification, they must evaluate to what the expression means.

use proptest::prelude::*;

use super::*;
use crate::program::ir::{BinOp, CastKind, Pred, UnOp, Width};

/// An expression as a program would build it, before any simplification.
#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Const(Width, u128),
    Input(u32),
    Bin(BinOp, Box<Expr>, Box<Expr>),
    Un(UnOp, Box<Expr>),
    Cmp(Pred, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    Ite(Box<Expr>, Box<Expr>, Box<Expr>),
    Concat(Box<Expr>, Box<Expr>),
    Extract(Box<Expr>, u16, Width),
    Cast(CastKind, Box<Expr>, Width),
    Funnel(bool, Box<Expr>, Box<Expr>, Box<Expr>),
    Overflow(BinOp, bool, Box<Expr>, Box<Expr>),
    /// Stored at the first index into a table, then read at the second (both cut to two bits).
    Memory(Box<Expr>, Box<Expr>, Box<Expr>),
}

impl Expr {
    pub(crate) fn build(&self, pool: &mut Pool) -> Term {
        match self {
            Expr::Const(w, v) => pool.constant(*w, *v),
            Expr::Input(i) => pool.input(*i),
            Expr::Bin(op, a, b) => {
                let (a, b) = (a.build(pool), b.build(pool));
                pool.bin(*op, a, b)
            }
            Expr::Un(op, a) => {
                let a = a.build(pool);
                pool.un(*op, a)
            }
            Expr::Cmp(pred, a, b) => {
                let (a, b) = (a.build(pool), b.build(pool));
                pool.cmp(*pred, a, b)
            }
            Expr::Not(a) => {
                let a = a.build(pool);
                pool.not(a)
            }
            Expr::Ite(c, a, b) => {
                let (c, a, b) = (c.build(pool), a.build(pool), b.build(pool));
                pool.ite(c, a, b)
            }
            Expr::Concat(a, b) => {
                let (a, b) = (a.build(pool), b.build(pool));
                pool.concat(a, b)
            }
            Expr::Extract(a, low, w) => {
                let a = a.build(pool);
                pool.extract(a, *low, *w)
            }
            Expr::Cast(kind, a, w) => {
                let a = a.build(pool);
                pool.cast(*kind, a, *w)
            }
            Expr::Funnel(left, a, b, by) => {
                let (a, b, by) = (a.build(pool), b.build(pool), by.build(pool));
                pool.funnel(*left, a, b, by)
            }
            Expr::Overflow(op, signed, a, b) => {
                let (a, b) = (a.build(pool), b.build(pool));
                pool.overflow(*op, *signed, a, b)
            }
            Expr::Memory(at, byte, from) => {
                let [at, byte, from] = [at, byte, from].map(|e| e.build(pool));
                let [at, from] = [at, from].map(|t| {
                    let low = pool.extract(t, 0, 2);
                    pool.zext(low, 64)
                });
                let table = pool.array_constant(&[7, 9, 7]);
                let stored = pool.array_store(table, at, byte);
                pool.select(stored, from)
            }
        }
    }

    pub(crate) fn width(&self) -> Width {
        match self {
            Expr::Const(w, _) | Expr::Extract(_, _, w) | Expr::Cast(_, _, w) => *w,
            Expr::Input(_) | Expr::Memory(..) => 8,
            Expr::Bin(_, a, _) | Expr::Un(_, a) | Expr::Not(a) | Expr::Ite(_, a, _) => a.width(),
            Expr::Funnel(_, a, _, _) => a.width(),
            Expr::Cmp(..) | Expr::Overflow(..) => 1,
            Expr::Concat(a, b) => a.width() + b.width(),
        }
    }

    pub(crate) fn value(&self, tape: &[u8]) -> u128 {
        match self {
            Expr::Const(w, v) => v & value::mask(*w),
            Expr::Input(i) => u128::from(tape[*i as usize]),
            Expr::Bin(op, a, b) => value::bin(*op, a.width(), a.value(tape), b.value(tape)),
            Expr::Un(op, a) => value::un(*op, a.width(), a.value(tape)),
            Expr::Cmp(pred, a, b) => {
                u128::from(value::cmp(*pred, a.width(), a.value(tape), b.value(tape)))
            }
            Expr::Not(a) => !a.value(tape) & value::mask(a.width()),
            Expr::Ite(c, a, b) => if c.value(tape) == 1 { a } else { b }.value(tape),
            Expr::Concat(a, b) => (a.value(tape) << b.width()) | b.value(tape),
            Expr::Extract(a, low, w) => (a.value(tape) >> low) & value::mask(*w),
            Expr::Cast(kind, a, w) => value::cast(*kind, a.width(), *w, a.value(tape)),
            Expr::Funnel(left, a, b, by) => value::funnel(
                *left,
                a.width(),
                a.value(tape),
                b.value(tape),
                by.value(tape),
            ),
            Expr::Overflow(op, signed, a, b) => {
                let w = a.width();
                u128::from(value::overflow(
                    *op,
                    *signed,
                    w,
                    a.value(tape),
                    b.value(tape),
                ))
            }
            Expr::Memory(at, byte, from) => {
                let mut table = [7, 9, 7, 0];
                table[(at.value(tape) & 3) as usize] = byte.value(tape);
                table[(from.value(tape) & 3) as usize]
            }
        }
    }
}

pub(crate) const OPS: [BinOp; 21] = [
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::UDiv,
    BinOp::SDiv,
    BinOp::URem,
    BinOp::SRem,
    BinOp::Shl,
    BinOp::LShr,
    BinOp::AShr,
    BinOp::And,
    BinOp::Or,
    BinOp::Xor,
    BinOp::UMin,
    BinOp::UMax,
    BinOp::SMin,
    BinOp::SMax,
    BinOp::UAddSat,
    BinOp::SAddSat,
    BinOp::USubSat,
    BinOp::SSubSat,
];
pub(crate) const PREDS: [Pred; 10] = [
    Pred::Eq,
    Pred::Ne,
    Pred::Ult,
    Pred::Ule,
    Pred::Ugt,
    Pred::Uge,
    Pred::Slt,
    Pred::Sle,
    Pred::Sgt,
    Pred::Sge,
];

/// A constant that is likely to hit a boundary.
fn constant(width: Width) -> BoxedStrategy<Expr> {
    prop_oneof![
        (0u128..4).prop_map(move |v| v),
        (0u128..4).prop_map(move |v| v.wrapping_neg()),
        (0..width, -1i128..2).prop_map(|(bit, by)| (1u128 << bit).wrapping_add(by as u128)),
        any::<u128>(),
    ]
    .prop_map(move |v| Expr::Const(width, v & value::mask(width)))
    .boxed()
}

/// An expression of that width over `inputs` bytes.
pub(crate) fn expr(width: Width, depth: u32, inputs: u32) -> BoxedStrategy<Expr> {
    if depth == 0 {
        return if width == 8 {
            prop_oneof![3 => (0..inputs).prop_map(Expr::Input), 1 => constant(8)].boxed()
        } else if width > 8 {
            prop_oneof![
                3 => (0..inputs, any::<bool>()).prop_map(move |(i, signed)| {
                    let kind = if signed { CastKind::SExt } else { CastKind::ZExt };
                    Expr::Cast(kind, Box::new(Expr::Input(i)), width)
                }),
                1 => constant(width)
            ]
            .boxed()
        } else {
            (0..inputs, 0..=8 - width)
                .prop_map(move |(i, low)| Expr::Extract(Box::new(Expr::Input(i)), low, width))
                .boxed()
        };
    }
    let sub = move |w: Width| expr(w, depth - 1, inputs).prop_map(Box::new).boxed();
    let operand =
        move |w: Width| prop_oneof![2 => sub(w), 1 => constant(w).prop_map(Box::new)].boxed();
    let mut choices: Vec<(u32, BoxedStrategy<Expr>)> = vec![
        (1, expr(width, 0, inputs)),
        (
            6,
            (
                prop::sample::select(&OPS[..]),
                operand(width),
                operand(width),
            )
                .prop_map(|(op, a, b)| Expr::Bin(op, a, b))
                .boxed(),
        ),
        (
            1,
            (sub(1), operand(width), operand(width))
                .prop_map(|(c, a, b)| Expr::Ite(c, a, b))
                .boxed(),
        ),
        (1, sub(width).prop_map(Expr::Not).boxed()),
        (
            2,
            (1..=16u16, 0..16u16)
                .prop_flat_map(move |(more, low)| {
                    let wide = width + more;
                    (sub(wide), Just(low.min(more)))
                })
                .prop_map(move |(a, low)| Expr::Extract(a, low, width))
                .boxed(),
        ),
        (
            1,
            (
                any::<bool>(),
                operand(width),
                operand(width),
                operand(width),
            )
                .prop_map(|(left, a, b, by)| Expr::Funnel(left, a, b, by))
                .boxed(),
        ),
    ];
    let unary: usize = if width.is_multiple_of(16) { 6 } else { 5 };
    let all = [
        UnOp::CtPop,
        UnOp::CtLz,
        UnOp::CtTz,
        UnOp::Abs,
        UnOp::BitReverse,
        UnOp::BSwap,
    ];
    choices.push((
        1,
        (0..unary, sub(width))
            .prop_map(move |(i, a)| Expr::Un(all[i], a))
            .boxed(),
    ));
    if width == 8 {
        let memory = (operand(8), operand(8), operand(8));
        choices.push((
            1,
            memory.prop_map(|(a, b, c)| Expr::Memory(a, b, c)).boxed(),
        ));
    }
    if width == 1 {
        let widths = prop::sample::select(&[1u16, 3, 8, 16, 24, 32][..]);
        choices.push((
            8,
            (prop::sample::select(&PREDS[..]), widths.clone())
                .prop_flat_map(move |(p, w)| (Just(p), operand(w), operand(w)))
                .prop_map(|(p, a, b)| Expr::Cmp(p, a, b))
                .boxed(),
        ));
        let overflowing = prop::sample::select(&[BinOp::Add, BinOp::Sub, BinOp::Mul][..]);
        choices.push((
            3,
            (overflowing, any::<bool>(), widths)
                .prop_flat_map(move |(op, s, w)| (Just((op, s)), operand(w), operand(w)))
                .prop_map(|((op, s), a, b)| Expr::Overflow(op, s, a, b))
                .boxed(),
        ));
    } else {
        choices.push((
            3,
            (1..width)
                .prop_flat_map(move |low| (operand(width - low), operand(low)))
                .prop_map(|(a, b)| Expr::Concat(a, b))
                .boxed(),
        ));
        choices.push((
            3,
            (1..width, any::<bool>())
                .prop_flat_map(move |(w, signed)| (Just(signed), sub(w)))
                .prop_map(move |(signed, a)| {
                    let kind = if signed {
                        CastKind::SExt
                    } else {
                        CastKind::ZExt
                    };
                    Expr::Cast(kind, a, width)
                })
                .boxed(),
        ));
    }
    prop::strategy::Union::new_weighted(choices).boxed()
}

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
                pool.eval(t, &|i| tape[i as usize]), e.value(&tape), "{} at {:?}", pool.show(t), tape
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
    // Unoptimised builds on busy machines are slow; this only catches quadratic behaviour.
    assert!(start.elapsed().as_secs() < 20);
}
