//! Rewrites of operators on bit-vectors, for operands of every shape.

use super::*;
use crate::one_in;
use crate::term::random::{OPS, PREDS};
use crate::term::value::mask;

const SUMS: [BinOp; 3] = [BinOp::Add, BinOp::Sub, BinOp::Mul];
const COMPOSED: [BinOp; 8] = [
    BinOp::UMin,
    BinOp::UMax,
    BinOp::SMin,
    BinOp::SMax,
    BinOp::UAddSat,
    BinOp::SAddSat,
    BinOp::USubSat,
    BinOp::SSubSat,
];

impl Workshop {
    fn constants(&mut self, w: Width) -> Vec<Both> {
        let top = 1u128 << (w - 1);
        let mut values: Vec<u128> = [
            0,
            1,
            2,
            3,
            5,
            6,
            0x34,
            top,
            top - 1,
            top + 1,
            u128::MAX,
            u128::MAX - 1,
        ]
        .into_iter()
        .chain([u128::from(w), mask(w / 2), mask(w / 2) + 1, !mask(w / 2)])
        .map(|value| value & mask(w))
        .collect();
        values.sort_unstable();
        values.dedup();
        values
            .into_iter()
            .map(|value| self.constant(w, value))
            .collect()
    }

    /// Values of `w` bits in every shape that a constructor looks for.
    fn shapes(&mut self, w: Width) -> Vec<Both> {
        let [x, y] = ["x", "y"].map(|name| self.variable(name, w));
        let [c, d] = ["c", "d"].map(|name| self.variable(name, 1));
        let mut shapes = vec![x.clone(), y.clone()];
        shapes.extend(self.constants(w));
        let [three, five, six] = [3, 5, 6].map(|value| self.constant(w, value));
        let zero = self.constant(w, 0);
        for op in [BinOp::And, BinOp::Or, BinOp::Xor, BinOp::Add, BinOp::Sub] {
            shapes.push(self.bin(op, &x, &y));
            shapes.push(self.bin(op, &x, &five));
            shapes.push(self.bin(op, &x, &six));
        }
        shapes.push(self.not(&x));
        shapes.push(self.not(&y));
        shapes.push(self.bin(BinOp::Sub, &zero, &x));
        shapes.push(self.bin(BinOp::Sub, &five, &x));
        shapes.push(self.bin(BinOp::Sub, &y, &x));
        shapes.push(self.bin(BinOp::Add, &y, &three));
        shapes.push(self.bin(BinOp::Mul, &x, &three));
        shapes.push(self.bin(BinOp::Mul, &x, &six));
        for (then, otherwise) in [(&x, &y), (&x, &five), (&five, &x), (&three, &six)] {
            shapes.push(self.ite(&c, then, otherwise));
        }
        shapes.push(self.ite(&d, &three, &zero));
        shapes.push(self.ite(&d, &y, &x));
        if w == 1 {
            self.conditions(&mut shapes);
        }
        if w >= 6 {
            self.parts(w, &mut shapes);
        }
        let mut seen = FxHashSet::default();
        shapes.retain(|both| seen.insert(both.term));
        shapes
    }

    /// One-bit values that are results of comparisons or parts of numbers.
    fn conditions(&mut self, shapes: &mut Vec<Both>) {
        let [a, b] = ["a", "b"].map(|name| self.variable(name, 8));
        for pred in [
            Pred::Eq,
            Pred::Ult,
            Pred::Ule,
            Pred::Slt,
            Pred::Sle,
            Pred::Ne,
        ] {
            shapes.push(self.cmp(pred, &a, &b));
        }
        for low in [0, 3, 7] {
            shapes.push(self.extract(&a, low, 1));
        }
        shapes.push(self.overflow(BinOp::Add, true, &a, &b));
    }

    /// Results of extensions, concatenations, extractions and shifts.
    fn parts(&mut self, w: Width, shapes: &mut Vec<Both>) {
        let x = self.variable("x", w);
        let c = self.variable("c", 1);
        let half = w / 2;
        let [n, m] = ["n", "m"].map(|name| self.variable(name, half));
        let o = self.variable("o", half + 1);
        let rest = self.variable("rest", w - half);
        for kind in [CastKind::ZExt, CastKind::SExt] {
            for inner in [&n, &m, &o, &c] {
                shapes.push(self.cast(kind, inner, w));
            }
            let (five, top) = (self.constant(half, 5), self.constant(half, 1 << (half - 1)));
            let choice = self.ite(&c, &five, &top);
            shapes.push(self.cast(kind, &choice, w));
            let inverted = self.not(&n);
            shapes.push(self.cast(kind, &inverted, w));
            let wide = self.cast(kind, &n, w);
            shapes.push(self.not(&wide));
            let other = self.cast(kind, &m, w);
            shapes.push(self.bin(BinOp::Add, &wide, &other));
            shapes.push(self.bin(BinOp::Sub, &wide, &other));
            let six = self.constant(w, 6);
            shapes.push(self.bin(BinOp::Add, &wide, &six));
            shapes.push(self.ite(&c, &wide, &other));
        }
        for low in [&n, &m] {
            shapes.push(self.concat(&rest, low));
            let zeros = self.constant(w - half, 0);
            shapes.push(self.concat(&zeros, low));
        }
        for value in [0, 5, u128::MAX] {
            let below = self.constant(half, value);
            shapes.push(self.concat(&rest, &below));
            let above = self.constant(w - half, value);
            shapes.push(self.concat(&above, &n));
        }
        for op in [BinOp::Shl, BinOp::LShr, BinOp::AShr] {
            for by in [1, half] {
                let by = self.constant(w, by.into());
                shapes.push(self.bin(op, &x, &by));
            }
        }
        let four = self.constant(w, 4);
        for op in [BinOp::Mul, BinOp::UDiv, BinOp::URem] {
            shapes.push(self.bin(op, &x, &four));
        }
        if w <= 64 {
            let wide = self.variable("wide", 2 * w);
            for low in [0, 3, w] {
                shapes.push(self.extract(&wide, low, w));
            }
        }
    }

    /// Whether the operation is too hard for a solver at this width, because it multiplies bit by
    /// bit.
    fn is_hard(&self, op: BinOp, a: &Both, b: &Both) -> bool {
        let w = self.width(a);
        let most = match op {
            BinOp::Mul if self.is_const(a) || self.is_const(b) => 128,
            BinOp::UDiv | BinOp::URem | BinOp::SDiv | BinOp::SRem if self.is_const(b) => 13,
            BinOp::Mul | BinOp::UDiv | BinOp::URem | BinOp::SDiv | BinOp::SRem => 6,
            _ => 128,
        };
        w > most
    }

    fn two(&mut self, a: &Both, b: &Both) {
        let w = self.width(a);
        let is_leaf = |both: &Both| {
            self.is_const(both) || matches!(self.pool.node(both.term), Node::Variable(_))
        };
        let are_leaves = is_leaf(a) && is_leaf(b);
        for op in OPS {
            // Minima and saturating operations are composed of comparisons, overflows and choices.
            if !self.is_hard(op, a, b) && (are_leaves || !COMPOSED.contains(&op)) {
                self.bin(op, a, b);
            }
        }
        for pred in PREDS {
            self.cmp(pred, a, b);
        }
        for op in SUMS {
            // The exact product has twice the width.
            let most = if self.is_const(a) || self.is_const(b) {
                13
            } else {
                6
            };
            if op != BinOp::Mul || w <= most {
                self.overflow(op, true, a, b);
                self.overflow(op, false, a, b);
            }
        }
        if 2 * w <= 128 {
            self.concat(a, b);
        }
    }

    fn one(&mut self, a: &Both) {
        let w = self.width(a);
        self.not(a);
        for op in [
            UnOp::CtPop,
            UnOp::CtLz,
            UnOp::CtTz,
            UnOp::BitReverse,
            UnOp::Abs,
        ] {
            self.un(op, a);
        }
        if w.is_multiple_of(16) {
            self.un(UnOp::BSwap, a);
        }
        for kind in [CastKind::ZExt, CastKind::SExt] {
            for to in [1, w / 2, w - 1, w, w + 1, w + 9]
                .into_iter()
                .filter(|to| (1..=128).contains(to))
            {
                self.cast(kind, a, to);
            }
        }
        let half = w / 2;
        for (low, count) in [
            (0, 1),
            (w - 1, 1),
            (half, w - half),
            (0, half),
            (half.saturating_sub(1), 2),
            (1, w - 1),
        ] {
            if count > 0 && low + count <= w {
                self.extract(a, low, count);
            }
        }
    }

    fn choices(&mut self, shapes: &[Both]) {
        let [x, y] = [shapes[0].clone(), shapes[1].clone()];
        let w = self.width(&x);
        let [c, d] = ["c", "d"].map(|name| self.variable(name, 1));
        let not_c = self.not(&c);
        let less = self.cmp(Pred::Ult, &x, &y);
        let (yes, no) = (self.constant(1, 1), self.constant(1, 0));
        let ends = [0, 1, 2].map(|value| self.constant(w, value));
        for a in shapes {
            for cond in [&c, &not_c, &d, &less, &yes, &no] {
                for other in [&x, &y, &ends[0], &ends[1], &ends[2], a] {
                    self.ite(cond, a, other);
                    self.ite(cond, other, a);
                }
            }
        }
    }

    fn funnels(&mut self, shapes: &[Both]) {
        let [x, y] = [shapes[0].clone(), shapes[1].clone()];
        let w = self.width(&x);
        for by in [0, 1, w / 2, w - 1, w] {
            let by = self.constant(w, by.into());
            for left in [false, true] {
                self.funnel(left, &x, &y, &by);
                self.funnel(left, &x, &x, &by);
            }
        }
    }
}

/// By default, one pair in this number is checked.
const PART: usize = 4;

/// Checks pairs of shapes of `w` bits: of pairs with a leaf every `step`th, of the others fewer.
/// Rewrites do not depend on the width, so each width checks different pairs.
fn everything(w: Width, step: usize, least: usize) {
    let part = one_in(PART);
    let (step, least) = (step * part, least / part);
    let mut shop = Workshop::default();
    let shapes = shop.shapes(w);
    let offset = usize::from(w);
    let chosen = |at: usize, step: usize| (at + offset).is_multiple_of(step);
    for (i, a) in shapes.iter().enumerate() {
        if chosen(i, (step / 4).clamp(1, 6)) {
            shop.one(a);
        }
    }
    let some: Vec<Both> = (0..shapes.len())
        .filter(|&i| i < 2 || chosen(i, step.clamp(1, 20)))
        .map(|i| shapes[i].clone())
        .collect();
    shop.choices(&some);
    shop.funnels(&some);
    let leaves = 2 + shop.constants(w).len();
    for (i, a) in shapes.iter().enumerate() {
        for (j, b) in shapes.iter().enumerate() {
            let at = i * shapes.len() + j;
            let step = match (i < leaves, j < leaves) {
                (true, true) => (step / 4).max(1),
                (true, false) | (false, true) => step,
                (false, false) => 5 * step,
            };
            if chosen(at, step) || i == j {
                shop.two(a, b);
            }
        }
    }
    println!(
        "{w} bits: {} shapes, {} rewrites",
        shapes.len(),
        shop.proved
    );
    shop.end(least);
}

#[test]
fn of_one_bit() {
    everything(1, 1, 500);
}

#[test]
fn of_six_bits_with_products() {
    everything(6, 5, 500);
}

#[test]
fn of_thirteen_bits() {
    everything(13, 31, 300);
}

#[test]
fn of_thirty_two_bits() {
    everything(32, 61, 300);
}

#[test]
fn of_sixty_four_bits() {
    everything(64, 121, 100);
}

#[test]
fn of_as_many_bits_as_there_are() {
    everything(128, 241, 100);
}

/// Pairs that share a part, which the samples above may not contain.
#[test]
fn of_related_operands() {
    let mut shop = Workshop::default();
    let [n, m] = ["n", "m"].map(|name| shop.variable(name, 5));
    let [x, y] = ["x", "y"].map(|name| shop.variable(name, 12));
    let mut related = vec![shop.bin(BinOp::Add, &x, &y), x.clone(), y.clone()];
    related.extend([&x, &y].map(|a| shop.not(a)));
    for kind in [CastKind::SExt, CastKind::ZExt] {
        related.extend([&n, &m].map(|a| shop.cast(kind, a, 12)));
    }
    // A sum of sums that is deeper than the look-up of its operands' width descends.
    let mut sum = shop.cast(CastKind::SExt, &n, 12);
    for _ in 0..6 {
        let doubled = shop.cast(CastKind::ZExt, &m, 12);
        sum = shop.bin(BinOp::Xor, &sum, &doubled);
        sum = shop.bin(BinOp::Add, &sum, &doubled);
    }
    related.push(sum);
    let part = one_in(PART);
    for (i, a) in related.iter().enumerate() {
        shop.cast(CastKind::Trunc, a, 7);
        for (_, b) in related
            .iter()
            .enumerate()
            .filter(|(j, _)| (i + j).is_multiple_of(part))
        {
            shop.two(a, b);
        }
    }
    shop.end(200 / part);
}
