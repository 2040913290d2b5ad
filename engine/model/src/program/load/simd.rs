//! Instructions on vectors whose results may become indices or conditions, written out in
//! operations on lanes: shifts, packing, products, comparisons, sign masks.
//!
//! The source is the Intel 64 manual, volume 2. Names are LLVM's without `llvm.x86.`, the unit and
//! the size; what is not here is for [`processor`](super::processor) to decide.

use cegar_llvm::Value;

use super::body::{Body, Operands};
use super::instructions::float_kind;
use super::processor::PART;
use crate::program::ir::*;

/// How two neighbouring lanes become one.
#[derive(Clone, Copy)]
enum Fold {
    Integer(BinOp),
    Float(FloatOp),
}

impl<'m> Body<'_, 'm> {
    /// Translates the instruction of this name, if it is one of these.
    pub(super) fn simd(&mut self, value: Value<'m>, name: &str) -> Option<Result<(), String>> {
        let done = match name {
            "pslli.w" | "pslli.d" | "pslli.q" | "psll.w" | "psll.d" | "psll.q" => {
                self.shifted(value, BinOp::Shl)
            }
            "psrli.w" | "psrli.d" | "psrli.q" | "psrl.w" | "psrl.d" | "psrl.q" => {
                self.shifted(value, BinOp::LShr)
            }
            "psrai.w" | "psrai.d" | "psrai.q" | "psra.w" | "psra.d" | "psra.q" => {
                self.shifted(value, BinOp::AShr)
            }
            "packsswb" | "packssdw" => self.packed(value, true),
            "packuswb" | "packusdw" => self.packed(value, false),
            "pmadd.wd" => self.products_added(value, CastKind::SExt),
            "pmadd.ub.sw" => self.products_added(value, CastKind::ZExt),
            "pmulh.w" => self.high_products(value, CastKind::SExt, false),
            "pmulhu.w" => self.high_products(value, CastKind::ZExt, false),
            "pmul.hr.sw" => self.high_products(value, CastKind::SExt, true),
            "pavg.b" | "pavg.w" => self.averages(value),
            "psad.bw" => self.sums_of_differences(value),
            "pmovmskb" | "movmsk.ps" | "movmsk.pd" => self.sign_mask(value),
            "pblendvb" | "blendvps" | "blendvpd" | "blendv.ps" | "blendv.pd" => {
                self.chosen_by_sign(value)
            }
            "psign.b" | "psign.w" | "psign.d" => self.signed_like(value),
            "ptestz" | "ptestc" | "ptestnzc" => self.tested(value, name),
            "phadd.w" | "phadd.d" => self.neighbours(value, Fold::Integer(BinOp::Add)),
            "phsub.w" | "phsub.d" => self.neighbours(value, Fold::Integer(BinOp::Sub)),
            "phadd.sw" => self.neighbours(value, Fold::Integer(BinOp::SAddSat)),
            "phsub.sw" => self.neighbours(value, Fold::Integer(BinOp::SSubSat)),
            "hadd.ps" | "hadd.pd" => self.neighbours(value, Fold::Float(FloatOp::Add)),
            "hsub.ps" | "hsub.pd" => self.neighbours(value, Fold::Float(FloatOp::Sub)),
            "min.ps" | "min.pd" | "min.ss" | "min.sd" => self.extremes(value, name, FloatPred::OLt),
            "max.ps" | "max.pd" | "max.ss" | "max.sd" => self.extremes(value, name, FloatPred::OGt),
            "cmp.ps" | "cmp.pd" | "cmp.ss" | "cmp.sd" => return self.float_masks(value, name),
            "cvtss2si" | "cvtss2si64" | "cvtsd2si" | "cvtsd2si64" | "cvtps2dq" | "cvtpd2dq" => {
                self.rounded(value, Some(MathFn::Rint))
            }
            "cvttss2si" | "cvttss2si64" | "cvttsd2si" | "cvttsd2si64" | "cvttps2dq"
            | "cvttpd2dq" => self.rounded(value, None),
            "bzhi.32" | "bzhi.64" => self.low_bits(value),
            _ => return self.ordered(value, name),
        };
        Some(done)
    }

    /// Both vectors of a binary instruction, and the width of their lanes.
    fn pair(&mut self, value: Value<'m>) -> Result<(Operands, Operands, Width), String> {
        let (a, b) = (
            self.operands(value.operand(0))?,
            self.operands(value.operand(1))?,
        );
        if a.len() != b.len() {
            return Err(value.callee().name());
        }
        Ok((a, b, self.lane_width(value.operand(0).ty())))
    }

    /// Shifts all lanes by one count: an `i32`, or the low 64 bits of a vector. A count that is too
    /// large shifts out all bits.
    fn shifted(&mut self, value: Value<'m>, op: BinOp) -> Result<(), String> {
        let width = self.lane_width(value.ty());
        let lanes = self.operands(value.operand(0))?;
        let (by, count) = (value.operand(1), self.operands(value.operand(1))?);
        let (count, count_width) = match by.ty().is_vector() {
            true => {
                let part = self.lane_width(by.ty());
                let low = &count[..usize::from(64 / part)];
                (self.join(low, part, 64), 64)
            }
            false => (count[0], self.width(by.ty())),
        };
        let limit = Operand::Const(u64::from(width));
        let fits = self.cmp(Pred::Ult, count_width, count, limit);
        let most = Operand::Const(u64::from(width - 1));
        let count = self.bin(BinOp::UMin, count_width, count, most);
        let count = match count_width.cmp(&width) {
            std::cmp::Ordering::Greater => self.cast(CastKind::Trunc, (count_width, width), count),
            std::cmp::Ordering::Equal => count,
            std::cmp::Ordering::Less => self.cast(CastKind::ZExt, (count_width, width), count),
        };
        let mut results = Operands::new();
        for lane in lanes {
            let shifted = self.bin(op, width, lane, count);
            results.push(match op {
                BinOp::AShr => shifted,
                _ => self.choice(width, fits, shifted, Operand::Const(0)),
            });
        }
        self.give(value, results)
    }

    /// Clamps a signed number to a range, and cuts it to a width.
    fn clamped(&mut self, a: Operand, (from, to): (Width, Width), signed: bool) -> Operand {
        let (low, high) = match signed {
            true => (
                (!0u64 << (to - 1)) & !(!0u64 << from),
                (1u64 << (to - 1)) - 1,
            ),
            false => (0, (1u64 << to) - 1),
        };
        let a = self.bin(BinOp::SMax, from, a, Operand::Const(low));
        let a = self.bin(BinOp::SMin, from, a, Operand::Const(high));
        self.cast(CastKind::Trunc, (from, to), a)
    }

    /// Signed lanes of both vectors, with saturation, in lanes of half the width. Each part of the
    /// result holds a part of the first vector and then one of the second.
    fn packed(&mut self, value: Value<'m>, signed: bool) -> Result<(), String> {
        let (a, b, width) = self.pair(value)?;
        let part = usize::from(PART / width);
        let mut results = Operands::new();
        for (a, b) in a.chunks(part).zip(b.chunks(part)) {
            for lane in a.iter().chain(b) {
                results.push(self.clamped(*lane, (width, width / 2), signed));
            }
        }
        self.give(value, results)
    }

    /// `a[2i] * b[2i] + a[2i+1] * b[2i+1]`. Products of signed words are added in 32 bits, products
    /// of unsigned and signed bytes (`ZExt`) in 16 bits with saturation.
    fn products_added(&mut self, value: Value<'m>, first: CastKind) -> Result<(), String> {
        let (a, b, width) = self.pair(value)?;
        let mut results = Operands::new();
        for (a, b) in a.chunks(2).zip(b.chunks(2)) {
            let mut sum = Operand::Const(0);
            for (a, b) in a.iter().zip(b) {
                let a = self.cast(first, (width, 32), *a);
                let b = self.cast(CastKind::SExt, (width, 32), *b);
                let product = self.bin(BinOp::Mul, 32, a, b);
                sum = self.bin(BinOp::Add, 32, sum, product);
            }
            results.push(match first {
                CastKind::ZExt => self.clamped(sum, (32, 16), true),
                _ => sum,
            });
        }
        self.give(value, results)
    }

    /// The high words of products of words. `round`: of twice the product, rounded.
    fn high_products(
        &mut self,
        value: Value<'m>,
        kind: CastKind,
        round: bool,
    ) -> Result<(), String> {
        let (a, b, _) = self.pair(value)?;
        let mut results = Operands::new();
        for (a, b) in a.into_iter().zip(b) {
            let (a, b) = (self.cast(kind, (16, 32), a), self.cast(kind, (16, 32), b));
            let mut product = self.bin(BinOp::Mul, 32, a, b);
            if round {
                product = self.bin(BinOp::AShr, 32, product, Operand::Const(14));
                product = self.bin(BinOp::Add, 32, product, Operand::Const(1));
            }
            let by = Operand::Const(if round { 1 } else { 16 });
            let high = self.bin(BinOp::LShr, 32, product, by);
            results.push(self.cast(CastKind::Trunc, (32, 16), high));
        }
        self.give(value, results)
    }

    /// `(a + b + 1) >> 1` of unsigned lanes.
    fn averages(&mut self, value: Value<'m>) -> Result<(), String> {
        let (a, b, width) = self.pair(value)?;
        let mut results = Operands::new();
        for (a, b) in a.into_iter().zip(b) {
            let (a, b) = (
                self.cast(CastKind::ZExt, (width, 32), a),
                self.cast(CastKind::ZExt, (width, 32), b),
            );
            let sum = self.bin(BinOp::Add, 32, a, b);
            let sum = self.bin(BinOp::Add, 32, sum, Operand::Const(1));
            let half = self.bin(BinOp::LShr, 32, sum, Operand::Const(1));
            results.push(self.cast(CastKind::Trunc, (32, width), half));
        }
        self.give(value, results)
    }

    /// Sums of the absolute differences of eight unsigned bytes each.
    fn sums_of_differences(&mut self, value: Value<'m>) -> Result<(), String> {
        let (a, b, _) = self.pair(value)?;
        let mut results = Operands::new();
        for (a, b) in a.chunks(8).zip(b.chunks(8)) {
            let mut sum = Operand::Const(0);
            for (a, b) in a.iter().zip(b) {
                let high = self.bin(BinOp::UMax, 8, *a, *b);
                let low = self.bin(BinOp::UMin, 8, *a, *b);
                let difference = self.bin(BinOp::Sub, 8, high, low);
                let difference = self.cast(CastKind::ZExt, (8, 64), difference);
                sum = self.bin(BinOp::Add, 64, sum, difference);
            }
            results.push(sum);
        }
        self.give(value, results)
    }

    fn is_negative(&mut self, width: Width, lane: Operand) -> Operand {
        self.cmp(Pred::Slt, width, lane, Operand::Const(0))
    }

    /// The signs of all lanes as one number.
    fn sign_mask(&mut self, value: Value<'m>) -> Result<(), String> {
        let width = self.lane_width(value.operand(0).ty());
        let lanes = self.operands(value.operand(0))?;
        let mut mask = Operand::Const(0);
        for (i, lane) in lanes.into_iter().enumerate() {
            let sign = self.is_negative(width, lane);
            let bit = self.cast(CastKind::ZExt, (1, 32), sign);
            let bit = self.bin(BinOp::Shl, 32, bit, Operand::Const(i as u64));
            mask = self.bin(BinOp::Or, 32, mask, bit);
        }
        self.give(value, [mask].into_iter().collect())
    }

    /// Lanes of the second vector where the third one is negative, else of the first one.
    fn chosen_by_sign(&mut self, value: Value<'m>) -> Result<(), String> {
        let (a, b, width) = self.pair(value)?;
        let by = self.operands(value.operand(2))?;
        let mut results = Operands::new();
        for ((a, b), by) in a.into_iter().zip(b).zip(by) {
            let second = self.is_negative(width, by);
            results.push(self.choice(width, second, b, a));
        }
        self.give(value, results)
    }

    /// `a`, `-a` or 0, by the sign of `b`.
    fn signed_like(&mut self, value: Value<'m>) -> Result<(), String> {
        let (a, b, width) = self.pair(value)?;
        let zero = Operand::Const(0);
        let mut results = Operands::new();
        for (a, b) in a.into_iter().zip(b) {
            let opposite = self.bin(BinOp::Sub, width, zero, a);
            let negative = self.is_negative(width, b);
            let either = self.choice(width, negative, opposite, a);
            let nothing = self.cmp(Pred::Eq, width, b, zero);
            results.push(self.choice(width, nothing, zero, either));
        }
        self.give(value, results)
    }

    /// `ptest`: whether the bits that `b` selects in `a` are all 0 (`z`), all 1 (`c`), or neither
    /// (`nzc`).
    fn tested(&mut self, value: Value<'m>, name: &str) -> Result<(), String> {
        let (a, b, width) = self.pair(value)?;
        let ones = Operand::constant(u128::MAX >> (128 - width));
        let (mut zeros_in, mut ones_in) = (Operand::Const(0), Operand::Const(0));
        for (a, b) in a.into_iter().zip(b) {
            let both = self.bin(BinOp::And, width, a, b);
            ones_in = self.bin(BinOp::Or, width, ones_in, both);
            let not = self.bin(BinOp::Xor, width, a, ones);
            let rest = self.bin(BinOp::And, width, not, b);
            zeros_in = self.bin(BinOp::Or, width, zeros_in, rest);
        }
        let zero = Operand::Const(0);
        let truth = match name {
            "ptestz" => self.cmp(Pred::Eq, width, ones_in, zero),
            "ptestc" => self.cmp(Pred::Eq, width, zeros_in, zero),
            _ => {
                let some = self.cmp(Pred::Ne, width, ones_in, zero);
                let other = self.cmp(Pred::Ne, width, zeros_in, zero);
                self.bin(BinOp::And, 1, some, other)
            }
        };
        let truth = self.cast(CastKind::ZExt, (1, 32), truth);
        self.give(value, [truth].into_iter().collect())
    }

    /// Folds neighbouring lanes. Each part of the result holds pairs of the first vector and then
    /// pairs of the second.
    fn neighbours(&mut self, value: Value<'m>, fold: Fold) -> Result<(), String> {
        let (a, b, width) = self.pair(value)?;
        let part = usize::from(PART / width);
        let mut results = Operands::new();
        for (a, b) in a.chunks(part).zip(b.chunks(part)) {
            for two in a.chunks(2).chain(b.chunks(2)) {
                let &[x, y] = two else {
                    return Err(value.callee().name());
                };
                results.push(match fold {
                    Fold::Integer(op) => self.bin(op, width, x, y),
                    Fold::Float(op) => self.float(op, float_kind(value.ty())?, x, y),
                });
            }
        }
        self.give(value, results)
    }

    /// `a` where `a pred b`, else `b`: also `b` if either is a NaN, or if both are zeros.
    fn extremes(&mut self, value: Value<'m>, name: &str, pred: FloatPred) -> Result<(), String> {
        let (mut a, b, width) = self.pair(value)?;
        let kind = float_kind(value.ty())?;
        let changed = changed(name, &a);
        for (a, b) in a.iter_mut().zip(b).take(changed) {
            let first = self.float_cmp(pred, kind, *a, b);
            *a = self.choice(width, first, *a, b);
        }
        self.give(value, a)
    }

    /// All ones where a comparison holds, else zeros. `None` for a predicate of AVX only.
    fn float_masks(&mut self, value: Value<'m>, name: &str) -> Option<Result<(), String>> {
        let pred = match value.operand(2).const_int()? {
            0 => FloatPred::OEq,
            1 => FloatPred::OLt,
            2 => FloatPred::OLe,
            3 => FloatPred::Uno,
            4 => FloatPred::UNe,
            5 => FloatPred::UGe,
            6 => FloatPred::UGt,
            7 => FloatPred::Ord,
            _ => return None,
        };
        Some(self.masks(value, name, pred))
    }

    fn masks(&mut self, value: Value<'m>, name: &str, pred: FloatPred) -> Result<(), String> {
        let (mut a, b, width) = self.pair(value)?;
        let kind = float_kind(value.ty())?;
        let changed = changed(name, &a);
        for (a, b) in a.iter_mut().zip(b).take(changed) {
            let holds = self.float_cmp(pred, kind, *a, b);
            *a = self.cast(CastKind::SExt, (1, width), holds);
        }
        self.give(value, a)
    }

    /// `comi` and `ucomi`: a comparison of the first lanes, as 0 or 1.
    fn ordered(&mut self, value: Value<'m>, name: &str) -> Option<Result<(), String>> {
        let (order, unit) = name
            .strip_prefix('u')
            .unwrap_or(name)
            .strip_prefix("comi")?
            .split_once('.')
            .unwrap_or_default();
        let pred = match order {
            "eq" => FloatPred::OEq,
            "lt" => FloatPred::OLt,
            "le" => FloatPred::OLe,
            "gt" => FloatPred::OGt,
            "ge" => FloatPred::OGe,
            "neq" => FloatPred::UNe,
            _ => return None,
        };
        if !matches!(unit, "ss" | "sd") {
            return None;
        }
        Some(self.first_compared(value, pred))
    }

    fn first_compared(&mut self, value: Value<'m>, pred: FloatPred) -> Result<(), String> {
        let (a, b, _) = self.pair(value)?;
        let kind = float_kind(value.operand(0).ty())?;
        let holds = self.float_cmp(pred, kind, a[0], b[0]);
        let holds = self.cast(CastKind::ZExt, (1, 32), holds);
        self.give(value, [holds].into_iter().collect())
    }

    /// Integers of floats, rounded to nearest or (`None`) towards zero. Lanes of the result that
    /// have no float are 0.
    fn rounded(&mut self, value: Value<'m>, function: Option<MathFn>) -> Result<(), String> {
        let kind = float_kind(value.operand(0).ty())?;
        let width = self.lane_width(value.ty());
        let floats = self.operands(value.operand(0))?;
        let (_, wanted) = self.place(value)?;
        let mut results = Operands::new();
        for i in 0..wanted as usize {
            let Some(mut a) = floats.get(i).copied() else {
                results.push(Operand::Const(0));
                continue;
            };
            if let Some(function) = function {
                let dst = self.temporary(kind.width());
                let args = Box::new([a]);
                self.emit(Op::FloatFn {
                    dst,
                    function,
                    kind,
                    args,
                });
                a = Operand::Reg(dst);
            }
            let (dst, cast) = (self.temporary(width), FloatCast::ToSigned(kind, width));
            self.emit(Op::FloatCast { dst, cast, a });
            results.push(Operand::Reg(dst));
        }
        self.give(value, results)
    }

    /// `bzhi`: the low bits of `a`, as many as the low byte of `b` says.
    fn low_bits(&mut self, value: Value<'m>) -> Result<(), String> {
        let (a, b, width) = self.pair(value)?;
        let count = self.bin(BinOp::And, width, b[0], Operand::Const(0xff));
        let limit = Operand::Const(u64::from(width));
        let fewer = self.cmp(Pred::Ult, width, count, limit);
        let bit = self.bin(BinOp::Shl, width, Operand::Const(1), count);
        let mask = self.bin(BinOp::Sub, width, bit, Operand::Const(1));
        let low = self.bin(BinOp::And, width, a[0], mask);
        let result = self.choice(width, fewer, low, a[0]);
        self.give(value, [result].into_iter().collect())
    }
}

/// How many lanes an instruction changes: the first one (`.ss`, `.sd`) or all.
pub(super) fn changed(name: &str, lanes: &Operands) -> usize {
    match name.ends_with(".ss") || name.ends_with(".sd") {
        true => 1,
        false => lanes.len(),
    }
}
