//! Random expressions for tests of the constructors and of code in other crates that uses terms.

use proptest::prelude::*;

use super::*;
use crate::operator::{BinOp, CastKind, Pred, UnOp, Width};

/// An expression as a program builds it, without simplification.
#[derive(Clone, Debug)]
pub enum Expr {
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
    /// Stores a byte at the first index of a table, then reads at the second. Both indices have two
    /// bits.
    Memory(Box<Expr>, Box<Expr>, Box<Expr>),
}

impl Expr {
    pub fn build(&self, pool: &mut Pool) -> Term {
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

    pub fn width(&self) -> Width {
        match self {
            Expr::Const(w, _) | Expr::Extract(_, _, w) | Expr::Cast(_, _, w) => *w,
            Expr::Input(_) | Expr::Memory(..) => 8,
            Expr::Bin(_, a, _) | Expr::Un(_, a) | Expr::Not(a) | Expr::Ite(_, a, _) => a.width(),
            Expr::Funnel(_, a, _, _) => a.width(),
            Expr::Cmp(..) | Expr::Overflow(..) => 1,
            Expr::Concat(a, b) => a.width() + b.width(),
        }
    }

    pub fn value(&self, tape: &[u8]) -> u128 {
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

/// A constant that is often at a boundary.
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

/// An expression of this width over `inputs` bytes.
pub fn expr(width: Width, depth: u32, inputs: u32) -> BoxedStrategy<Expr> {
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
