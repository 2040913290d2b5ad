//! Lines between the result and the operands of an operation, for each operation that is linear.

use super::relate::Term;
use crate::domain::linear::{Sum, Var};
use crate::domain::num::Num;
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::domain::walk::{Frame, Guide, Walker};
use crate::program::ir::{BinOp, CastKind, Op, Operand, Reg, Width};
use crate::term::value::{signed_max, signed_min};

/// A 64-bit product that lines bound by this limit, up and down, does not wrap around.
pub(super) const PRODUCT: i128 = 1 << 61;

impl<G: Guide> Walker<'_, G> {
    /// Adds what an executed operation says of its result.
    pub(super) fn define(&self, frame: &Frame, state: &mut State, op: &Op) {
        if !self.relations {
            return;
        }
        match op {
            Op::Bin {
                dst,
                op,
                width,
                a,
                b,
                ..
            }
            | Op::Overflow {
                value: dst,
                op,
                width,
                a,
                b,
                ..
            } => self.define_bin(frame, state, (*dst, *op, *width), (*a, *b)),
            Op::Cast {
                dst,
                kind,
                from,
                to,
                a,
            } => self.define_cast(frame, state, (*dst, *kind), (*from, *to), *a),
            Op::Copy { dst, a } => {
                let width = self.width(frame, *dst);
                let result = self.term(frame, state, Operand::Reg(*dst), width);
                if let (Some(r), Some(a)) = (result, self.term(frame, state, *a, width)) {
                    state.lines.zero(r.sum.plus(&a.sum, -1));
                }
            }
            Op::Address {
                dst,
                base,
                offset,
                indices,
                ..
            } => self.define_address(frame, state, *dst, (*base, *offset), indices),
            _ => {}
        }
    }

    fn define_bin(
        &self,
        frame: &Frame,
        state: &mut State,
        (dst, op, width): (Reg, BinOp, Width),
        (a, b): (Operand, Operand),
    ) {
        self.link(frame, state, a, width);
        self.link(frame, state, b, width);
        let term = |operand| self.term(frame, state, operand, width);
        let (Some(r), Some(x), Some(y)) = (term(Operand::Reg(dst)), term(a), term(b)) else {
            return;
        };
        if r.low < 0 && matches!(op, BinOp::Add | BinOp::Sub) {
            self.define_bits(frame, state, (dst, op, width), (a, b));
        }
        // Treats `sizeof *v * count` like `count * sizeof *v`.
        let is_number = |term: &Term| term.low == term.high && term.object.is_none();
        let (x, y) = match op == BinOp::Mul && is_number(&x) {
            true => (y, x),
            false => (x, y),
        };
        let single = is_number(&y);
        let bits = 0..i128::from(width.min(62));
        let is_single = |id| self.names.info(id).is_unique;
        let plain = x.object.is_none() && y.object.is_none() && r.object.is_none();
        match op {
            BinOp::Add
                if r.object == x.object.or(y.object) && (x.object.and(y.object)).is_none() =>
            {
                self.add(frame, state, (dst, width), &r, (&x, &y));
            }
            // Two numbers, two addresses in a single object, or an address and a number.
            BinOp::Sub
                if plain
                    || x.object == y.object
                        && r.object.is_none()
                        && x.object.is_some_and(is_single)
                    || r.object == x.object && y.object.is_none() =>
            {
                self.subtract(frame, state, (dst, width), &r, (&x, &y));
                self.without_rest(frame, state, (dst, width), &x, (a, b));
            }
            BinOp::Mul | BinOp::Shl if plain && single => {
                let by = match op {
                    BinOp::Mul => y.low,
                    _ if bits.contains(&y.low) => 1 << y.low,
                    _ => return,
                };
                let (one, other) = (x.low.saturating_mul(by), x.high.saturating_mul(by));
                let (least, most) = (signed_min(width), signed_max(width));
                let fits = one.min(other) >= least && one.max(other) <= most;
                // Lines may bound the product: the elements of a block are no larger than the
                // block.
                let is_bounded = |sign: i128| {
                    let product = x.sum.times(by).and_then(|product| product.times(sign));
                    let over = product.and_then(|sum| sum.plus(&Sum::number(PRODUCT), -1));
                    self.proves(state, over)
                };
                if fits || width == 64 && is_bounded(1) && is_bounded(-1) {
                    state.lines.zero(r.sum.plus(&x.sum, -by));
                }
            }
            BinOp::Mul if plain => self.multiplied(frame, state, (dst, width), &r, (&x, &y)),
            BinOp::UDiv | BinOp::SDiv | BinOp::LShr | BinOp::AShr
                if plain && single && x.low >= 0 =>
            {
                let by = match op {
                    BinOp::UDiv | BinOp::SDiv => y.low,
                    _ if bits.contains(&y.low) => 1 << y.low,
                    _ => return,
                };
                if by > 0 {
                    // by * r <= x <= by * r + by - 1
                    let rest = r.sum.times(by).and_then(|p| p.plus(&x.sum, -1));
                    let over = rest.as_ref().and_then(|rest| rest.times(-1));
                    state.lines.at_most_zero(rest);
                    state
                        .lines
                        .at_most_zero(over.and_then(|o| o.plus(&Sum::number(by - 1), -1)));
                }
            }
            BinOp::And if plain => {
                for term in [&x, &y].into_iter().filter(|term| term.low >= 0) {
                    state.lines.at_most_zero(r.sum.plus(&term.sum, -1));
                }
                // `(n + 7) & ~7`: the difference is at most the bits that are cleared.
                let cleared = -1 - y.low;
                if single && x.low >= 0 && (0..PRODUCT).contains(&cleared) {
                    let less = x.sum.plus(&r.sum, -1);
                    let less = less.and_then(|less| less.plus(&Sum::number(cleared), -1));
                    state.lines.at_most_zero(less);
                }
            }
            BinOp::URem | BinOp::SRem if plain && x.low >= 0 => {
                let less = r.sum.plus(&y.sum, -1);
                let less = less.and_then(|less| less.plus(&Sum::number(1), 1));
                state.lines.at_most_zero(r.sum.plus(&x.sum, -1));
                state.lines.at_most_zero(less.filter(|_| y.low >= 1));
            }
            // The unsigned minimum with a number that is not negative is not negative either.
            BinOp::UMin | BinOp::SMin if plain => {
                for term in [&x, &y] {
                    if op == BinOp::SMin || self.is_non_negative(state, term) {
                        state.lines.at_most_zero(r.sum.plus(&term.sum, -1));
                    }
                }
            }
            _ => {}
        }
    }

    /// Learns that `a - a % k` is a multiple of `k`.
    fn without_rest(
        &self,
        frame: &Frame,
        state: &mut State,
        (dst, width): (Reg, Width),
        x: &Term,
        (a, b): (Operand, Operand),
    ) {
        let made = match b {
            Operand::Reg(reg) => frame.flow.made(self.program, reg),
            _ => None,
        };
        if let Some(&Op::Bin {
            op: BinOp::URem | BinOp::SRem,
            a: of,
            b: Operand::Const(by),
            ..
        }) = made
            && of == a
            && x.object.is_none()
            && x.low >= 0
            && (2..1 << 31).contains(&by)
            && let Ok(most) = i64::try_from(x.high)
            && let Some(num) = Num::signed_between(width, 0, most)
        {
            let multiple = Num {
                step: by,
                rest: 0,
                ..num
            };
            if let Some(num) = multiple.reduced(width) {
                self.learn(frame, state, Operand::Reg(dst), width, Value::number(num));
            }
        }
    }

    /// Adds `r = a * b` of two variables if it does not wrap around: their ranges say so, or a
    /// known product bounds it.
    fn multiplied(
        &self,
        frame: &Frame,
        state: &mut State,
        (dst, width): (Reg, Width),
        r: &Term,
        (a, b): (&Term, &Term),
    ) {
        let (Some(x), Some(y)) = (a.sum.as_variable(), b.sum.as_variable()) else {
            return;
        };
        let ranges = |var| state.range(var, &self.names);
        let ends = [a.low, a.high].map(|a| [b.low, b.high].map(|b| a.saturating_mul(b)));
        let (least, most) = (signed_min(width), signed_max(width));
        let fits = ends
            .iter()
            .flatten()
            .all(|end| (least..=most).contains(end));
        let bound = state.lines.bounds_product([x, y], &ranges);
        let bound = bound.filter(|bound| *bound <= PRODUCT.min(most));
        if !fits && bound.is_none() {
            return;
        }
        // A small gain is not applied, so that this terminates.
        let bound = bound.filter(|most| r.low < 0 || r.high - most >= PRODUCT);
        if let Some(num) = bound.and_then(|most| Num::signed_between(width, 0, most as i64)) {
            let operand = Operand::Reg(dst);
            self.learn(frame, state, operand, width, Value::number(num));
        }
        self.multiply(state, [x, y], r.sum.clone());
    }

    /// Adds that a sum is the product of two variables.
    pub(super) fn multiply(&self, state: &mut State, factors: [Var; 2], sum: Sum) {
        let mut lines = std::mem::take(&mut state.lines);
        lines.multiplied(factors, sum, &|var| state.range(var, &self.names));
        state.lines = lines;
    }

    /// Adds lines between the result and the operands, all read as unsigned.
    fn define_bits(
        &self,
        frame: &Frame,
        state: &mut State,
        (dst, op, width): (Reg, BinOp, Width),
        (a, b): (Operand, Operand),
    ) {
        let bits = |operand| self.bits(frame, state, operand, width);
        let (Some(r), Some(x), Some(y)) = (bits(Operand::Reg(dst)), bits(a), bits(b)) else {
            return;
        };
        let all = (1i128 << width) - 1;
        let subtracts =
            |y: &Sum, most: i128| x.low >= most || self.proves(state, y.plus(&x.sum, -1));
        // Adding a negative number subtracts its absolute value.
        let down = all + 1 - y.low;
        let (sure, y, by) = match op {
            BinOp::Add if y.low == y.high && y.low > all / 2 => {
                let down_by = Sum::number(down);
                (subtracts(&down_by, down), down_by, -1)
            }
            BinOp::Add => (x.high + y.high <= all, y.sum, 1),
            _ => (subtracts(&y.sum, y.high), y.sum, -1),
        };
        let line = x.sum.plus(&y, by).and_then(|sum| r.sum.plus(&sum, -1));
        state.lines.zero(line.filter(|_| sure));
    }

    fn define_cast(
        &self,
        frame: &Frame,
        state: &mut State,
        (dst, kind): (Reg, CastKind),
        (from, to): (Width, Width),
        a: Operand,
    ) {
        let result = self.term(frame, state, Operand::Reg(dst), to);
        let (Some(r), Some(x)) = (result, self.term(frame, state, a, from)) else {
            return;
        };
        if r.object.is_some() || x.object.is_some() {
            return;
        }
        let line = r.sum.plus(&x.sum, -1);
        match kind {
            CastKind::SExt => state.lines.zero(line),
            // The result of an extension to more bits is not negative.
            CastKind::ZExt if from < to => {
                self.link(frame, state, a, from);
                if let Some(bits) = self.bits(frame, state, a, from) {
                    state.lines.zero(r.sum.plus(&bits.sum, -1));
                }
            }
            CastKind::Trunc if x.low >= signed_min(to) && x.high <= signed_max(to) => {
                state.lines.zero(line);
            }
            // The truncated number, whether read as unsigned or as signed, is at most the original.
            CastKind::Trunc => {
                let bits = self.bits(frame, state, a, from);
                let result = self.bits(frame, state, Operand::Reg(dst), to);
                if let (Some(bits), Some(result)) = (bits, result) {
                    state.lines.at_most_zero(result.sum.plus(&bits.sum, -1));
                    state.lines.at_most_zero(r.sum.plus(&bits.sum, -1));
                }
            }
            CastKind::ZExt => {}
        }
    }

    fn define_address(
        &self,
        frame: &Frame,
        state: &mut State,
        dst: Reg,
        (base, offset): (Operand, i64),
        indices: &[(Operand, Width, i64)],
    ) {
        let result = self.term(frame, state, Operand::Reg(dst), 64);
        let (Some(r), Some(base)) = (result, self.term(frame, state, base, 64)) else {
            return;
        };
        if r.object != base.object || state.wrapped.contains(&dst) {
            return;
        }
        let offset = i128::from(offset);
        let mut by = Term {
            sum: Sum::number(offset),
            low: offset,
            high: offset,
            object: None,
        };
        for &(index, width, scale) in indices {
            let index = self.term(frame, state, index, width);
            let Some(index) = index.filter(|index| index.object.is_none()) else {
                return;
            };
            let scale = i128::from(scale);
            let (one, other) = (index.low * scale, index.high * scale);
            let Some(sum) = by.sum.plus(&index.sum, scale) else {
                return;
            };
            by.sum = sum;
            by.low += one.min(other);
            by.high += one.max(other);
        }
        if by.low >= signed_min(64) && by.high <= signed_max(64) {
            self.add(frame, state, (dst, 64), &r, (&base, &by));
        }
    }
}
