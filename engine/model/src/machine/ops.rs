//! Operations: arithmetic, comparisons, conversions, and the dispatch to all others.

use super::outcome::Event;
use super::shadow::Shade;
use super::step::{Next, Run, Step};
use crate::program::ir::{
    BinOp, CastKind, CheckId, CheckKind, Inst, Op, Operand, Pred, Reg, Width,
};
use crate::term::fault::{self, Concrete};
use crate::term::value;

/// `a op b`, with a fast path for operations on at most 64 bits that are one machine instruction.
/// [`value::bin`] computes the others.
#[inline(always)]
pub(super) fn quick_bin(op: BinOp, width: Width, a: u128, b: u128) -> u128 {
    if width <= 64 {
        let (x, y) = (a as u64, b as u64);
        let ones = u64::MAX >> (64 - u32::from(width.max(1)));
        let quick = match op {
            BinOp::Add => x.wrapping_add(y),
            BinOp::Sub => x.wrapping_sub(y),
            BinOp::Mul => x.wrapping_mul(y),
            BinOp::And => x & y,
            BinOp::Or => x | y,
            BinOp::Xor => x ^ y,
            BinOp::Shl if y < u64::from(width) => x << y,
            BinOp::LShr if y < u64::from(width) => x >> y,
            _ => return value::bin(op, width, a, b),
        };
        return u128::from(quick & ones);
    }
    value::bin(op, width, a, b)
}

/// The bits of the second operand that x86 uses, for a shift without a check.
#[inline(always)]
fn shift_mask(op: BinOp, width: Width, checked: bool) -> Option<u128> {
    let shift = matches!(op, BinOp::Shl | BinOp::LShr | BinOp::AShr);
    (shift && !checked).then_some(match width {
        0..=32 => 31,
        33..=64 => 63,
        _ => 127,
    })
}

#[inline(always)]
fn quick_cmp(pred: Pred, width: Width, a: u128, b: u128) -> bool {
    if width <= 64 && width > 0 {
        let (x, y) = (a as u64, b as u64);
        let unused = 64 - u32::from(width);
        let (s, t) = ((x << unused) as i64, (y << unused) as i64);
        return match pred {
            Pred::Eq => x == y,
            Pred::Ne => x != y,
            Pred::Ult => x < y,
            Pred::Ule => x <= y,
            Pred::Ugt => x > y,
            Pred::Uge => x >= y,
            Pred::Slt => s < t,
            Pred::Sle => s <= t,
            Pred::Sgt => s > t,
            Pred::Sge => s >= t,
        };
    }
    value::cmp(pred, width, a, b)
}

impl<const TRACK: bool> Run<'_, TRACK> {
    /// Executes operation number `index` of the current block.
    #[inline]
    pub(super) fn operation(&mut self, inst: &Inst, index: usize) -> Step<Next> {
        self.pos = inst.pos;
        match &inst.op {
            Op::Bin {
                dst,
                op,
                width,
                a,
                b,
                check,
            } => {
                let (x, y) = (self.get(*a, *width), self.get(*b, *width));
                if let Some(kind) = fault::can_be(*op, check.is_some()) {
                    self.check_bin((*op, *width), (*a, x), (*b, y), (*check, kind))?;
                }
                if let Some(mask) = shift_mask(*op, *width, check.is_some()) {
                    let v = quick_bin(*op, *width, x, y & mask);
                    self.derive(*dst, v, &[(*a, *width), (*b, *width)], |p, t| {
                        let mask = p.constant(*width, mask);
                        let by = p.bin(BinOp::And, t[1], mask);
                        p.bin(*op, t[0], by)
                    });
                    return Ok(Next::Go);
                }
                let v = quick_bin(*op, *width, x, y);
                self.derive(*dst, v, &[(*a, *width), (*b, *width)], |p, t| {
                    p.bin(*op, t[0], t[1])
                });
            }
            Op::Cmp {
                dst,
                pred,
                width,
                a,
                b,
            } => {
                let v = quick_cmp(*pred, *width, self.get(*a, *width), self.get(*b, *width));
                if TRACK && self.asks_sign(*pred, *a, *b) {
                    self.set(*dst, u128::from(v));
                    return Ok(Next::Go);
                }
                let from = [(*a, *width), (*b, *width)];
                self.derive(*dst, u128::from(v), &from, |p, t| p.cmp(*pred, t[0], t[1]));
            }
            Op::Cast {
                dst,
                kind,
                from,
                to,
                a,
            } => {
                let v = value::cast(*kind, *from, *to, self.get(*a, *from));
                self.derive(*dst, v, &[(*a, *from)], |p, t| p.cast(*kind, t[0], *to));
            }
            Op::Load {
                dst,
                width,
                address,
                check,
                ..
            } => {
                let (v, shade) = self.load(*address, *width, Some(*check))?;
                self.set_shaded(*dst, v, shade);
            }
            Op::Store {
                value,
                width,
                address,
                check,
                ..
            } => {
                let (v, shade) = (self.get(*value, *width), self.shade(*value));
                self.store(*address, *width, v, shade, Some(*check))?;
            }
            Op::Address {
                dst,
                base,
                offset,
                indices,
                ..
            } => {
                self.address(*dst, *base, *offset, indices);
            }
            Op::Copy { dst, a } => {
                let (v, shade) = self.moved(*a, *dst);
                self.set_shaded(*dst, v, shade);
            }
            Op::Select {
                dst,
                width,
                cond,
                a,
                b,
            } => self.select(*dst, *width, *cond, *a, *b),
            Op::Call(call) => return self.call(call, index),
            Op::Un { .. }
            | Op::Funnel { .. }
            | Op::Overflow { .. }
            | Op::Float { .. }
            | Op::FloatNeg { .. }
            | Op::FloatCmp { .. }
            | Op::FloatCast { .. }
            | Op::FloatFn { .. }
            | Op::Processor { .. }
            | Op::Freeze { .. }
            | Op::Alloca { .. }
            | Op::MemCopy { .. }
            | Op::MemSet { .. }
            | Op::Lifetime { .. }
            | Op::Uninit { .. }
            | Op::VaStart { .. }
            | Op::VaCopy { .. }
            | Op::StackSave { .. }
            | Op::StackRestore { .. }
            | Op::AtomicRmw { .. }
            | Op::CmpXchg { .. }
            | Op::Unmodelled { .. } => return self.rare(inst, index),
        }
        Ok(Next::Go)
    }

    /// Ends the run if the operation is a fault, and otherwise records the condition under which it
    /// would be one.
    #[inline]
    fn check_bin(
        &mut self,
        (op, width): (BinOp, Width),
        a: (Operand, u128),
        b: (Operand, u128),
        (check, kind): (Option<CheckId>, CheckKind),
    ) -> Step {
        if fault::operation(&mut Concrete, (op, width), a.1, b.1) {
            let detail = if kind == CheckKind::Shift {
                format!("shift by {} in {width} bits", value::signed(width, b.1))
            } else if b.1 == 0 {
                "division by zero".to_owned()
            } else {
                "the quotient of the least number and -1 does not fit".to_owned()
            };
            self.note_fault(&[a.0, b.0], None);
            let shade = self.shade_of(&[(a.0, width), (b.0, width)], |p, t| {
                fault::operation(p, (op, width), t[0], t[1])
            });
            self.note_condition(shade.term);
            return Err(self.violated(check, kind, detail));
        }
        if TRACK {
            let violated = self.shade_of(&[(a.0, width), (b.0, width)], |p, t| {
                fault::operation(p, (op, width), t[0], t[1])
            });
            self.held(check, violated.term);
        }
        Ok(())
    }

    #[inline(always)]
    fn address(&mut self, dst: Reg, base: Operand, offset: i64, indices: &[(Operand, Width, i64)]) {
        let mut address = self.get64(base).wrapping_add(offset as u64);
        let mut shade = self.shade(base);
        let mut symbolic = shade.term.is_some();
        for &(index, width, scale) in indices {
            let i = value::signed(width, self.get(index, width)) as i64;
            address = address.wrapping_add(i.wrapping_mul(scale) as u64);
            if TRACK {
                let part = self.shade(index);
                shade.undefined |= part.undefined;
                symbolic |= part.term.is_some();
            }
        }
        if TRACK && symbolic {
            let mut sum = self.term(base, 64);
            let parts: smallvec::SmallVec<[_; 4]> = indices
                .iter()
                .map(|&(i, w, scale)| (self.term(i, w), scale))
                .collect();
            sum = self.make(|p| {
                let mut total = p.constant(64, u128::from(offset as u64));
                for (index, scale) in parts {
                    let Some(index) = index else { continue };
                    let wide = p.cast(CastKind::SExt, index, 64);
                    let scale = p.constant(64, u128::from(scale as u64));
                    let product = p.bin(BinOp::Mul, wide, scale);
                    total = p.bin(BinOp::Add, total, product);
                }
                match sum {
                    Some(base) => p.bin(BinOp::Add, base, total),
                    None => total,
                }
            });
            shade.term = sum;
        }
        self.set_shaded(dst, u128::from(address), shade);
    }

    #[inline(always)]
    fn select(&mut self, dst: Reg, width: Width, cond: Operand, a: Operand, b: Operand) {
        let chosen = self.get(cond, 1) & 1 == 1;
        let from = if chosen { a } else { b };
        let v = self.get(from, width);
        let shade = if TRACK {
            if self.shade(cond).term.is_some() {
                let from = [(cond, 1), (a, width), (b, width)];
                self.shade_of(&from, |p, t| p.ite(t[0], t[1], t[2]))
            } else {
                let mut shade = self.shade(from);
                if self.shade(cond).undefined {
                    (shade.undefined, shade.signed) = (true, false);
                }
                shade
            }
        } else {
            Shade::default()
        };
        self.set_shaded(dst, v, shade);
    }

    /// A shadow built from two values that are not in registers.
    pub(super) fn combine(
        &mut self,
        a: (u128, Shade),
        b: (u128, Shade),
        width: Width,
        build: impl FnOnce(
            &mut crate::term::Pool,
            crate::term::Term,
            crate::term::Term,
        ) -> crate::term::Term,
    ) -> Shade {
        let undefined = a.1.undefined || b.1.undefined;
        if a.1.term.is_none() && b.1.term.is_none() {
            return Shade {
                undefined,
                ..Shade::default()
            };
        }
        let term = self.make(|p| {
            let x = a.1.term.unwrap_or_else(|| p.constant(width, a.0));
            let y = b.1.term.unwrap_or_else(|| p.constant(width, b.0));
            build(p, x, y)
        });
        Shade {
            term,
            undefined,
            ..Shade::default()
        }
    }

    /// Records an assumption made by the machine or the program: `cond` is true here.
    pub(super) fn assumed(&mut self, cond: Option<crate::term::Term>) {
        if let Some(cond) = cond {
            self.record(Event::Assume { cond });
        }
    }
}
