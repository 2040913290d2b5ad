//! Propagates what is learnt of a register back to the operands that it was computed from.

use crate::domain::num::{self, Num};
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::domain::walk::compare::is_near;
use crate::domain::walk::{Frame, Guide, Walker};
use crate::program::ir::{BinOp, CastKind, Op, Operand, Pred, Reg, Width};
use crate::term::value::mask;

impl<G: Guide> Walker<'_, G> {
    /// Narrows the operands of an operation whose result is one of these values. Returns false if
    /// no execution continues.
    pub(super) fn back(
        &self,
        frame: &Frame,
        state: &mut State,
        op: &Op,
        (reg, width): (Reg, Width),
        value: &Value,
        depth: u32,
    ) -> bool {
        let bit = value
            .as_constant()
            .filter(|_| width == 1)
            .map(|bit| bit == 1);
        match op {
            Op::Cmp {
                pred, width, a, b, ..
            } => match bit {
                Some(holds) => {
                    let pred = if holds { *pred } else { num::negated(*pred) };
                    self.restrict_compared(frame, state, (reg, pred, *width), (*a, *b), depth)
                        && self.related(frame, state, (reg, pred, *width), (*a, *b))
                }
                None => true,
            },
            Op::Bin {
                op: BinOp::And,
                a,
                b,
                ..
            } if bit == Some(true) => self.restrict_bits(frame, state, &[*a, *b], true, depth),
            Op::Bin {
                op: BinOp::Or,
                a,
                b,
                ..
            } if bit == Some(false) => self.restrict_bits(frame, state, &[*a, *b], false, depth),
            Op::Bin {
                op: BinOp::Xor,
                a,
                b: Operand::Const(1),
                ..
            } if bit.is_some() => {
                let not = bit == Some(false);
                self.learned(frame, state, (*a, 1), Value::exactly(1, not.into()), depth)
            }
            Op::Select {
                cond,
                a,
                b: Operand::Const(0),
                ..
            } if bit == Some(true) => self.restrict_bits(frame, state, &[*cond, *a], true, depth),
            Op::Select {
                cond,
                a: Operand::Const(1),
                b,
                ..
            } if bit == Some(false) => self.restrict_bits(frame, state, &[*cond, *b], false, depth),
            Op::Bin { op, a, b, .. } => {
                self.unsummed(frame, state, (*op, width), (*a, *b), value, depth)
            }
            Op::Cast {
                kind, from, to, a, ..
            } => self.uncast(frame, state, (*kind, *from, *to), *a, value, depth),
            Op::Copy { a, .. } | Op::Freeze { a, .. } => match a {
                Operand::Reg(_) => self.learned(frame, state, (*a, width), value.clone(), depth),
                _ => true,
            },
            Op::Overflow {
                value: result,
                overflow,
                op,
                signed,
                width,
                a,
                b,
            } if *overflow == reg && bit == Some(false) => {
                let (x, y) = (
                    self.number(frame, state, *a, *width),
                    self.number(frame, state, *b, *width),
                );
                match x.without_overflow(*op, *signed, *width, &y) {
                    Some(num) => {
                        let result = (Operand::Reg(*result), *width);
                        self.learned(frame, state, result, Value::number(num), depth)
                    }
                    None => false,
                }
            }
            Op::Address {
                base,
                offset,
                indices,
                ..
            } if !self.of_address(frame, state, (*base, *offset, indices), value, depth) => false,
            Op::Address {
                base,
                offset,
                indices,
                ..
            } => match indices[..] {
                [] => {
                    let by = Num::exactly(64, *offset as u64 as u128);
                    let moved = value.bin(BinOp::Sub, 64, &Value::number(by));
                    self.narrowed(frame, state, (*base, 64), moved, depth)
                }
                [index] if !state.wrapped.contains(&reg) => {
                    let none = Operand::Const(0);
                    let (by, _) = self.addressed(frame, state, (none, *offset), indices);
                    let moved = value.bin(BinOp::Sub, 64, &by);
                    self.narrowed(frame, state, (*base, 64), moved, depth)
                        && self.unindexed(frame, state, (*base, *offset, index), value, depth)
                }
                _ => true,
            },
            _ => true,
        }
    }

    /// If an address is in an object, its base is an address, and not NULL.
    fn of_address(
        &self,
        frame: &Frame,
        state: &mut State,
        (base, offset, indices): (Operand, i64, &[(Operand, Width, i64)]),
        value: &Value,
        depth: u32,
    ) -> bool {
        let before = self.get(frame, state, base, 64);
        let may_be_null = before.num.is_some() && !before.is_vague() && !before.ptr.is_empty();
        let is_address = value.num.is_none() && !value.ptr.is_empty();
        if !may_be_null || !is_address || !self.is_distance(frame, state, offset, indices) {
            return true;
        }
        let address = Value {
            num: None,
            ptr: before.ptr,
        };
        self.learned(frame, state, (base, 64), address, depth)
    }

    /// Narrows the only index of an address that is one of these. The index was not too large to be
    /// multiplied.
    fn unindexed(
        &self,
        frame: &Frame,
        state: &mut State,
        (base, offset, (index, width, scale)): (Operand, i64, (Operand, Width, i64)),
        value: &Value,
        depth: u32,
    ) -> bool {
        let base = self.get(frame, state, base, 64);
        let (Some((a, from)), Some((b, to))) = (base.single_target(), value.single_target()) else {
            return true;
        };
        if a != b || scale <= 0 || width > 64 || !is_near(from) || !is_near(to) {
            return true;
        }
        let (offset, scale) = (i128::from(offset), i128::from(scale));
        if offset.abs() > 1 << 31 {
            return true;
        }
        let least = i128::from(to.least) - i128::from(from.most) - offset;
        let most = i128::from(to.most) - i128::from(from.least) - offset;
        let (least, most) = (-((-least).div_euclid(scale)), most.div_euclid(scale));
        if least > most {
            return true;
        }
        match Num::signed_between(width, least as i64, most as i64) {
            Some(num) => self.narrowed(frame, state, (index, width), Value::number(num), depth),
            None => true,
        }
    }

    fn unsummed(
        &self,
        frame: &Frame,
        state: &mut State,
        (op, width): (BinOp, Width),
        (a, b): (Operand, Operand),
        value: &Value,
        depth: u32,
    ) -> bool {
        if width > 64 {
            return true;
        }
        let constant = |operand: Operand| matches!(operand, Operand::Const(_));
        let back = match op {
            BinOp::Add => BinOp::Sub,
            BinOp::Sub => BinOp::Add,
            _ => return true,
        };
        let (operand, by) = match (constant(a), constant(b)) {
            (false, true) => (a, b),
            (true, false) if op == BinOp::Add => (b, a),
            _ => return true,
        };
        let by = self.get(frame, state, by, width);
        let before = self.combined(back, width, (value, &by));
        self.narrowed(frame, state, (operand, width), before, depth)
    }

    fn uncast(
        &self,
        frame: &Frame,
        state: &mut State,
        (kind, from, to): (CastKind, Width, Width),
        a: Operand,
        value: &Value,
        depth: u32,
    ) -> bool {
        if from > 64 || to > 64 {
            return true;
        }
        let Some(num) = value.plain() else {
            return true;
        };
        let inner = match kind {
            CastKind::ZExt => {
                let top = mask(from) as u64;
                Num::between(to, 0, top)
                    .and_then(|fits| num.meet(to, &fits))
                    .map(|n| n.cast(CastKind::Trunc, to, from))
            }
            CastKind::SExt => {
                let all = Num::all(from);
                let fits = Num::signed_between(to, all.least, all.most);
                fits.and_then(|fits| num.meet(to, &fits))
                    .map(|n| n.cast(CastKind::Trunc, to, from))
            }
            CastKind::Trunc => {
                let before = self.get(frame, state, a, from);
                let Some(before) = before.plain() else {
                    return true;
                };
                // If nothing was cut off, the operand is the extended result.
                let all = Num::all(to);
                if before.high <= mask(to) as u64 {
                    Some(num.cast(CastKind::ZExt, to, from))
                } else if before.least >= all.least && before.most <= all.most {
                    Some(num.cast(CastKind::SExt, to, from))
                } else {
                    return true;
                }
            }
        };
        let inner = match kind {
            // An extended number is zero only if the operand is.
            CastKind::ZExt | CastKind::SExt if !num.has(to, 0) => {
                let zero = Num::exactly(from, 0);
                inner.and_then(|num| num::refined(Pred::Ne, from, &num, &zero))
            }
            _ => inner,
        };
        match inner {
            Some(num) => self.learned(frame, state, (a, from), Value::number(num), depth),
            None => false,
        }
    }
}
