//! Rewrites of arrays, substitutions, and operations on the bits of floats.

use super::*;
use crate::operator::{FloatCast, FloatKind, FloatOp, FloatPred, MathFn};
use crate::term::{Array, Rewriter};

/// An array in two representations, as [`Both`] for values.
#[derive(Clone)]
struct Memory {
    array: Array,
    text: String,
}

const SORT: &str = "(Array (_ BitVec 64) (_ BitVec 8))";

impl Workshop {
    fn table(&mut self, bytes: &[u8]) -> Memory {
        let zero = format!("((as const {SORT}) #x00)");
        let text = bytes.iter().enumerate().fold(zero, |text, (i, byte)| {
            format!("(store {text} #x{i:016x} #x{byte:02x})")
        });
        let array = self.pool.array_constant(bytes);
        Memory { array, text }
    }

    fn unknown(&mut self, name: &str) -> Memory {
        let array = self.pool.array_variable(name);
        // A read makes every question declare the array.
        let at = self.pool.variable("at", 64);
        let read = self.pool.select(array, at);
        self.symbols.push(read);
        let text = smtlib::array_symbol(&self.pool, array);
        Memory { array, text }
    }

    fn store(&mut self, below: &Memory, index: &Both, byte: &Both) -> Memory {
        Memory {
            array: self.pool.array_store(below.array, index.term, byte.term),
            text: format!("(store {} {} {})", below.text, index.text, byte.text),
        }
    }

    fn choice(&mut self, c: &Both, then: &Memory, otherwise: &Memory) -> Memory {
        Memory {
            array: self.pool.array_ite(c.term, then.array, otherwise.array),
            text: format!("(ite (= {} #b1) {} {})", c.text, then.text, otherwise.text),
        }
    }

    fn select(&mut self, memory: &Memory, index: &Both) -> Both {
        let term = self.pool.select(memory.array, index.term);
        // Even a plain read is compared, because arrays are compared by their reads.
        self.made(
            term,
            format!("(select {} {})", memory.text, index.text),
            &[],
        )
    }
}

fn indices(shop: &mut Workshop) -> Vec<Both> {
    let [i, j] = ["i", "j"].map(|name| shop.variable(name, 64));
    let byte = shop.variable("small", 8);
    let small = shop.cast(CastKind::ZExt, &byte, 64);
    let [zero, one, two, far] = [0, 1, 2, 1 << 63].map(|value| shop.constant(64, value));
    let next = shop.bin(BinOp::Add, &i, &one);
    let last = shop.bin(BinOp::Sub, &i, &one);
    let sum = shop.bin(BinOp::Add, &i, &j);
    vec![i, j, small, zero, one, two, far, next, last, sum]
}

#[test]
fn of_arrays() {
    let mut shop = Workshop::default();
    let indices = indices(&mut shop);
    let [b, e] = ["b", "e"].map(|name| shop.variable(name, 8));
    let c = shop.variable("c", 1);
    let (yes, no) = (shop.constant(1, 1), shop.constant(1, 0));
    let mut memories = vec![
        shop.table(&[7, 9, 7]),
        shop.table(&[0, 0]),
        shop.table(&[]),
        shop.unknown("free"),
        shop.unknown("other"),
    ];
    for below in memories.clone() {
        for at in &indices[..5] {
            let once = shop.store(&below, at, &b);
            for at in [&indices[0], &indices[4], &indices[7]] {
                memories.push(shop.store(&once, at, &e));
            }
            for cond in [&c, &yes, &no] {
                memories.push(shop.choice(cond, &once, &below));
                memories.push(shop.choice(cond, &below, &once));
                memories.push(shop.choice(cond, &once, &once));
            }
            memories.push(once);
        }
    }
    let ends = [memories[0].clone(), memories[3].clone()];
    memories.push(shop.choice(&c, &ends[0], &ends[1]));
    for memory in &memories {
        for index in &indices {
            shop.select(memory, index);
        }
    }
    // More stores than a read looks through.
    let mut deep = memories[3].clone();
    for at in 0..70 {
        let at = shop.constant(64, at);
        deep = shop.store(&deep, &at, &b);
    }
    for index in &indices {
        shop.select(&deep, index);
    }
    shop.end(1000);
}

/// Replacing a subterm must have the meaning of a `let` that binds it to the replacement.
#[test]
fn of_replaced_parts() {
    let mut shop = Workshop::default();
    let [x, y, n] = [("x", 64), ("y", 64), ("n", 8)].map(|(name, w)| shop.variable(name, w));
    let c = shop.variable("c", 1);
    let (zero, five) = (shop.constant(64, 0), shop.constant(64, 5));
    let narrow = shop.cast(CastKind::ZExt, &n, 64);
    let memory = [shop.table(&[1, 2, 3]), shop.unknown("free")];
    let mut made = vec![
        shop.not(&x),
        shop.bin(BinOp::Add, &x, &y),
        shop.ite(&c, &x, &y),
    ];
    for op in [BinOp::Sub, BinOp::And, BinOp::Shl, BinOp::LShr] {
        made.push(shop.bin(op, &y, &x));
    }
    for pred in [Pred::Eq, Pred::Ult, Pred::Ule, Pred::Slt, Pred::Sle] {
        made.push(shop.cmp(pred, &x, &y));
    }
    made.extend([UnOp::CtPop, UnOp::CtLz, UnOp::BitReverse].map(|op| shop.un(op, &x)));
    made.extend([
        shop.concat(&x, &y),
        shop.extract(&x, 8, 16),
        shop.extract(&x, 63, 1),
    ]);
    made.extend([CastKind::ZExt, CastKind::SExt].map(|kind| shop.cast(kind, &x, 96)));
    made.extend([true, false].map(|left| shop.funnel(left, &y, &x, &x)));
    made.extend([BinOp::Add, BinOp::Sub].map(|op| shop.overflow(op, true, &x, &y)));
    for memory in &memory {
        let stored = shop.store(memory, &x, &n);
        made.push(shop.select(&stored, &y));
        let chosen = shop.choice(&c, &stored, memory);
        made.push(shop.select(&chosen, &five));
        made.push(shop.select(memory, &x));
    }
    let sum = shop.bin(BinOp::Add, &y, &five);
    for new in [zero, five, narrow, y, sum] {
        for both in &made {
            let mut rewriter = Rewriter::new();
            rewriter.replace(x.term, new.term);
            let term = rewriter.apply(&mut shop.pool, both.term);
            let text = format!("(let (({} {})) {})", x.text, new.text, both.text);
            shop.made(term, text, &[]);
        }
    }
    shop.end(100);
}

/// The operations on floats that constructors express by their sign bits. Bit patterns are
/// compared, so those of NaNs count, too.
#[test]
fn of_floats() {
    for kind in [
        FloatKind::F16,
        FloatKind::F32,
        FloatKind::F64,
        FloatKind::F80,
        FloatKind::F128,
    ] {
        let mut shop = Workshop::default();
        let w = kind.width();
        let [x, y] = ["x", "y"].map(|name| shop.variable(name, w));
        let ones = shop.constant(w, 0x3c00);
        let sign = smtlib::literal(w, 1 << (w - 1));
        let rest = smtlib::literal(w, !(1 << (w - 1)));
        for a in [&x, &ones] {
            let negated = shop.pool.float_neg(kind, a.term);
            shop.made(negated, format!("(bvxor {} {sign})", a.text), &[]);
            let magnitude = format!("(bvand {} {rest})", a.text);
            let absolute = shop.pool.float_fn(MathFn::Fabs, kind, &[a.term]);
            shop.made(absolute, magnitude.clone(), &[]);
            for b in [&y, &ones, &x] {
                let copied = shop
                    .pool
                    .float_fn(MathFn::Copysign, kind, &[a.term, b.term]);
                let text = format!("(bvor {magnitude} (bvand {} {sign}))", b.text);
                shop.made(copied, text, &[]);
            }
            let same = shop.pool.float_cast(FloatCast::Convert(kind, kind), a.term);
            shop.made(same, a.text.clone(), &[]);
        }
        // No other operation is rewritten, unless all of its operands are constant.
        let sum = shop.pool.float_bin(FloatOp::Add, kind, x.term, ones.term);
        assert_eq!(
            *shop.pool.node(sum),
            Node::FloatBin(FloatOp::Add, kind, x.term, ones.term)
        );
        let less = shop.pool.float_cmp(FloatPred::OLt, kind, x.term, x.term);
        assert_eq!(
            *shop.pool.node(less),
            Node::FloatCmp(FloatPred::OLt, kind, x.term, x.term)
        );
        shop.end(8);
    }
}
