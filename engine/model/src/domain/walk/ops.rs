//! Executes operations, one by one.

use super::{Frame, Guide, Step, Walker};
use crate::domain::contents::Contents;
use crate::domain::num::Num;
use crate::domain::space::{Alive, Kind, Made, Object};
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::{BinOp, CastKind, CheckId, Op, Operand, Pred, Reg, Room, UnOp, Width};
use crate::term::fault;

impl<G: Guide> Walker<'_, G> {
    /// Executes one operation. Returns false if no execution continues.
    pub(super) fn operation(
        &mut self,
        frame: &Frame,
        state: &mut State,
        op: u32,
        what: &Op,
    ) -> Step {
        let goes_on = self.executed(frame, state, op, what)?;
        if goes_on {
            self.define(frame, state, what);
        }
        Ok(goes_on)
    }

    fn executed(&mut self, frame: &Frame, state: &mut State, op: u32, what: &Op) -> Step {
        match what {
            Op::Bin {
                dst,
                op,
                width,
                a,
                b,
                check,
            } => {
                let value = self.bin(frame, state, (*op, *width), (*a, *b), *check);
                let Some(value) = value else { return Ok(false) };
                state.set(*dst, value);
            }
            Op::Un {
                dst,
                op,
                width,
                a,
                partial,
            } => {
                let value = self.get(frame, state, *a, *width);
                let value = self.un(*op, *width, &value, *partial);
                state.set(*dst, value);
            }
            Op::Cmp {
                dst,
                pred,
                width,
                a,
                b,
            } => {
                let Some(value) = self.compared(frame, state, (*pred, *width), (*a, *b)) else {
                    return Ok(false);
                };
                state.set(*dst, value);
                if self.is_ordered(frame, state, (*a, *b), *width) {
                    state.ordered.insert(*dst);
                }
            }
            Op::Overflow {
                value,
                overflow,
                op,
                signed,
                width,
                a,
                b,
            } => self.overflow(
                frame,
                state,
                (*value, *overflow),
                (*op, *signed, *width),
                (*a, *b),
            ),
            Op::Cast {
                dst,
                kind,
                from,
                to,
                a,
            } => {
                let value = self.get(frame, state, *a, *from);
                state.set(*dst, value.cast(*kind, *from, *to));
            }
            Op::Copy { dst, a } => {
                let width = self.width(frame, *dst);
                let value = self.get(frame, state, *a, width);
                state.set(*dst, value);
                self.owner_copied(frame, state, *dst, *a);
            }
            Op::Freeze { dst, width, a } => {
                let value = self.get(frame, state, *a, *width);
                state.set(*dst, value);
            }
            Op::Select {
                dst,
                width,
                cond,
                a,
                b,
            } => self.select(frame, state, (*dst, *width), *cond, (*a, *b)),
            Op::Address {
                dst,
                base,
                offset,
                indices,
                ..
            } => self.address(frame, state, *dst, (*base, *offset), indices),
            Op::Load {
                dst,
                width,
                address,
                volatile,
                check,
            } => {
                let own = self.is_own(frame, state, *address);
                let Some((value, cell)) = self.load(frame, state, *address, *width, Some(*check))
                else {
                    return Ok(false);
                };
                if *volatile && !own {
                    state.set(*dst, Value::all(*width));
                } else {
                    return Ok(self.loaded(frame, state, (*dst, *width, *address), (value, cell)));
                }
            }
            Op::Store {
                value,
                width,
                address,
                check,
                ..
            } => {
                let stored = self.get(frame, state, *value, *width);
                let what = (stored, *width, Some(*value));
                let Some(cell) = self.store(frame, state, *address, what, Some(*check)) else {
                    return Ok(false);
                };
                self.equal(frame, state, (*value, *width), cell);
                if let Operand::Reg(reg) = value
                    && self.width(frame, *reg) == *width
                {
                    self.remember(state, *reg, *width, cell);
                }
            }
            Op::Call(call) => return self.call(frame, state, op, call),
            Op::Alloca {
                dst, size, room, ..
            } => return Ok(self.alloca(frame, state, (*dst, op), *size, room.as_deref())),
            _ => return Ok(self.rare(frame, state, op, what)),
        }
        Ok(true)
    }

    fn rare(&mut self, frame: &Frame, state: &mut State, op: u32, what: &Op) -> bool {
        match what {
            Op::Funnel { dst, width, .. } => state.set(*dst, Value::all(*width)),
            Op::Float { dst, .. }
            | Op::FloatNeg { dst, .. }
            | Op::FloatCmp { dst, .. }
            | Op::FloatCast { dst, .. }
            | Op::FloatFn { dst, .. }
            | Op::Processor { dst, .. } => state.set(*dst, Value::all(self.width(frame, *dst))),
            Op::MemCopy {
                to,
                from,
                len,
                overlap,
                read,
                write,
            } => {
                let bytes = self.number(frame, state, *len, 64);
                let checks = (Some(*read), Some(*write));
                let how = (*overlap, Some(*len));
                return self.copy(frame, state, (*to, *from, &bytes), checks, how);
            }
            Op::MemSet {
                to,
                value,
                len,
                check,
            } => {
                let bytes = self.number(frame, state, *len, 64);
                let byte = self.get(frame, state, *value, 8);
                let how = (Some(*check), Some(*len));
                return self.fill(frame, state, (*to, byte, &bytes), how);
            }
            Op::Lifetime { start, address } => {
                return self.lifetime(frame, state, *start, *address);
            }
            Op::Uninit { address, len } => {
                let len = self.number(frame, state, *len, 64);
                return self.uninit(frame, state, *address, &len);
            }
            Op::VaStart { list, check } => return self.va_start(frame, state, (*list, op), *check),
            Op::VaCopy { to, from, check } => {
                let len = Num::exactly(64, 24);
                let checks = (Some(*check), Some(*check));
                return self.copy(frame, state, (*to, *from, &len), checks, (true, None));
            }
            Op::StackSave { dst } => state.set(*dst, Value::all(64)),
            Op::StackRestore { .. } => self.stack_restore(frame, state),
            Op::AtomicRmw {
                dst,
                op,
                nand,
                width,
                address,
                b,
                check,
            } => {
                let other = self.get(frame, state, *b, *width);
                let Some((old, _)) = self.load(frame, state, *address, *width, Some(*check)) else {
                    return false;
                };
                let new = match op {
                    None => other,
                    Some(op) if !nand => old.bin(*op, *width, &other),
                    Some(_) => Value::all(*width),
                };
                let stored = self.store(frame, state, *address, (new, *width, None), Some(*check));
                state.set(*dst, old);
                return stored.is_some();
            }
            Op::CmpXchg {
                dst,
                success,
                width,
                address,
                new,
                check,
                ..
            } => {
                let new = self.get(frame, state, *new, *width);
                let Some((old, _)) = self.load(frame, state, *address, *width, Some(*check)) else {
                    return false;
                };
                let either = new.join(&old, *width);
                let stored =
                    self.store(frame, state, *address, (either, *width, None), Some(*check));
                state.set(*dst, old);
                state.set(*success, Value::all(1));
                return stored.is_some();
            }
            Op::Unmodelled { which } => {
                let what = self.program.unmodelled.get(*which as usize);
                let what = what.map_or_else(|| "a construct".to_owned(), |what| what.what.clone());
                self.hole(&what);
                return false;
            }
            // The other operations have been handled above. Should one come here, nothing is
            // claimed of what follows.
            _ => {
                self.hole("an operation");
                return false;
            }
        }
        true
    }

    pub(super) fn width(&self, frame: &Frame, reg: Reg) -> Width {
        self.widths(frame).get(reg.index()).copied().unwrap_or(64)
    }

    /// Returns `None` if every execution faults.
    fn bin(
        &mut self,
        frame: &Frame,
        state: &mut State,
        (op, width): (BinOp, Width),
        (a, b): (Operand, Operand),
        check: Option<CheckId>,
    ) -> Option<Value> {
        let (x, y) = (
            self.get(frame, state, a, width),
            self.get(frame, state, b, width),
        );
        let kind = fault::can_be(op, check.is_some());
        let shift = matches!(op, BinOp::Shl | BinOp::LShr | BinOp::AShr);
        if width > 64 {
            if kind.is_some() {
                self.violates(check);
            }
            return Some(Value::all(width));
        }
        let far = y.plain().is_none_or(|by| by.high >= u64::from(width));
        if kind.is_none() {
            return Some(match shift && far {
                // A shift by the width or more yields anything.
                true => Value::all(width),
                false => self.combined(op, width, (&x, &y)),
            });
        }
        let mut y = y;
        if shift {
            if far {
                self.violates(check);
                let most = Value::exactly(width, width.into());
                let held = self.compare(frame, state, (Pred::Ult, width), b, &most);
                if !held {
                    return None;
                }
            }
        } else {
            let zero = Value::exactly(width, 0);
            if y.plain().is_none_or(|by| by.has(width, 0)) {
                self.violates(check);
                if !self.compare(frame, state, (Pred::Ne, width), b, &zero) {
                    return None;
                }
            }
            let signed = matches!(op, BinOp::SDiv | BinOp::SRem);
            let least = crate::term::value::signed_min(width) as u128;
            let may_be = |value: &Value, number: u128| {
                let number = number & crate::term::value::mask(width);
                value.plain().is_none_or(|num| num.has(width, number))
            };
            if signed && may_be(&x, least) && may_be(&y, u128::MAX) {
                self.violates(check);
            }
        }
        y = self.get(frame, state, b, width);
        Some(x.bin(op, width, &y))
    }

    fn un(&self, op: UnOp, width: Width, value: &Value, partial: bool) -> Value {
        match value.plain() {
            Some(num) if width <= 64 => Value::number(num.un(op, width, partial)),
            _ => Value::all(width),
        }
    }

    fn overflow(
        &self,
        frame: &Frame,
        state: &mut State,
        (value, overflow): (Reg, Reg),
        (op, signed, width): (BinOp, bool, Width),
        (a, b): (Operand, Operand),
    ) {
        let (x, y) = (
            self.get(frame, state, a, width),
            self.get(frame, state, b, width),
        );
        let (Some(m), Some(n)) = (x.plain(), y.plain()) else {
            state.set(value, Value::all(width));
            state.set(overflow, Value::all(1));
            return;
        };
        let result = m.bin(op, width, n);
        let flag = match m.without_overflow(op, signed, width, n) {
            None => Value::exactly(1, 1),
            Some(_) if m.never_overflows(op, signed, width, n) => Value::exactly(1, 0),
            Some(_) => Value::all(1),
        };
        state.set(value, Value::number(result));
        state.set(overflow, flag);
    }

    fn select(
        &self,
        frame: &Frame,
        state: &mut State,
        (dst, width): (Reg, Width),
        cond: Operand,
        (a, b): (Operand, Operand),
    ) {
        let mut value: Option<Value> = None;
        for (holds, operand) in [(true, a), (false, b)] {
            let mut taken = state.clone();
            if self.assume(frame, &mut taken, cond, holds) {
                let one = self.get(frame, &taken, operand, width);
                value = Some(value.map_or(one.clone(), |value| value.join(&one, width)));
            }
        }
        state.set(dst, value.unwrap_or(Value::all(width)));
    }

    /// `getelementptr`.
    fn address(
        &self,
        frame: &Frame,
        state: &mut State,
        dst: Reg,
        (base, offset): (Operand, i64),
        indices: &[(Operand, Width, i64)],
    ) {
        let (value, wraps) = self.addressed(frame, state, (base, offset), indices);
        state.set(dst, value);
        if wraps {
            state.wrapped.insert(dst);
        }
    }

    /// An address, and whether an index may have been too large to be multiplied.
    pub(super) fn addressed(
        &self,
        frame: &Frame,
        state: &State,
        (base, offset): (Operand, i64),
        indices: &[(Operand, Width, i64)],
    ) -> (Value, bool) {
        let base = self.get(frame, state, base, 64);
        let mut total = Num::exactly(64, offset as u64 as u128);
        let mut wraps = false;
        for &(index, width, scale) in indices {
            let index = self.number(frame, state, index, width);
            let wide = index.cast(CastKind::SExt, width, 64);
            let scale_by = Num::exactly(64, scale as u64 as u128);
            let most = i64::MAX / scale.checked_abs().unwrap_or(i64::MAX).max(1);
            wraps |= scale.unsigned_abs() > 1 && (wide.least < -most || wide.most > most);
            let product = wide.bin(BinOp::Mul, 64, &scale_by);
            total = total.bin(BinOp::Add, 64, &product);
        }
        (base.bin(BinOp::Add, 64, &Value::number(total)), wraps)
    }

    /// Whether an address can only lead to local variables, which the program alone changes.
    fn is_own(&self, frame: &Frame, state: &State, address: Operand) -> bool {
        let value = self.get(frame, state, address, 64);
        !value.is_vague()
            && value.ptr.iter().all(|(id, _)| {
                !self.names.info(*id).heap && matches!(self.names.kind(*id), Kind::Made(_))
            })
    }

    /// Returns false if no execution continues.
    fn alloca(
        &mut self,
        frame: &Frame,
        state: &mut State,
        (dst, op): (Reg, u32),
        size: Operand,
        room: Option<&Room>,
    ) -> bool {
        if let Some(room) = room {
            let most = Value::exactly(64, room.most.into());
            let count = self.number(frame, state, room.count, 64);
            if count.high > room.most {
                self.violates(Some(room.check));
                if !self.compare(frame, state, (Pred::Ule, 64), room.count, &most) {
                    return false;
                }
            }
        }
        let made = Made {
            ctx: frame.ctx,
            block: self.at.block.0,
            op,
            part: 0,
        };
        let object = Object {
            alive: Alive::Yes,
            size: self.number(frame, state, size, 64),
            contents: std::sync::Arc::new(Contents::any()),
        };
        let address = self.make(state, made, object);
        state.set(dst, address);
        true
    }

    /// Ends variable-length arrays; it is not tracked which of them end.
    fn stack_restore(&self, frame: &Frame, state: &mut State) {
        let first = self.program.function(frame.function).blocks.start;
        let names = &self.names;
        let late: Vec<_> = state
            .objects
            .keys()
            .copied()
            .filter(|id| match names.kind(*id) {
                Kind::Made(made) => {
                    made.ctx == frame.ctx && made.block != first && !names.info(*id).heap
                }
                Kind::Global(_) | Kind::Function(_) | Kind::Gone => false,
            })
            .collect();
        for id in late {
            state.change(id, names, |object| {
                if object.alive == Alive::Yes {
                    object.alive = Alive::Maybe;
                }
            });
        }
    }
}
