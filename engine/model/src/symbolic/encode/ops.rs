//! Execution of single operations.

use super::super::state::{Reached, Surroundings};
use super::super::world::CtxId;

use super::{Encoder, Step, set};
use crate::program::ir::{CheckKind, Inst, MathFn, Op, Operand, Pred, Width};
use crate::term::{Term, fault, float};

impl Encoder<'_, '_> {
    /// Executes one operation.
    pub(super) fn operation(
        &mut self,
        ctx: CtxId,
        inst: &Inst,
        index: usize,
        now: &mut Reached,
    ) -> Step {
        match &inst.op {
            Op::Bin {
                dst,
                op,
                width,
                a,
                b,
                check,
            } => {
                let a = self.get(&mut now.state, *a, *width);
                let b = self.get(&mut now.state, *b, *width);
                if let Some(kind) = fault::can_be(*op, check.is_some()) {
                    let violated = fault::operation(self.pool, (*op, *width), a, b);
                    self.oblige(ctx, now, *check, kind, violated)?;
                }
                let value = self.arithmetic(now, *op, a, b)?;
                let value = match check {
                    Some(_) => value,
                    None => self.shifted(now, *op, b, value),
                };
                set(&mut now.state, *dst, value);
            }
            Op::Un {
                dst,
                op,
                width,
                a,
                partial,
            } => {
                let a = self.get(&mut now.state, *a, *width);
                let value = if self.is_address(now, a) {
                    self.numberless(*width)
                } else {
                    let value = self.pool.un(*op, a);
                    let value = if *partial {
                        self.zeros(a, value)
                    } else {
                        value
                    };
                    self.found(value)
                };
                set(&mut now.state, *dst, value);
            }
            Op::Funnel {
                dst,
                left,
                width,
                a,
                b,
                by,
            } => {
                let [a, b, by] = [*a, *b, *by].map(|o| self.get(&mut now.state, o, *width));
                let value = if self.is_address(now, a) || self.is_address(now, b) {
                    self.numberless(*width)
                } else {
                    self.pool.funnel(*left, a, b, by)
                };
                set(&mut now.state, *dst, value);
            }
            Op::Cmp {
                dst,
                pred,
                width,
                a,
                b,
            } => {
                let a = self.get(&mut now.state, *a, *width);
                let b = self.get(&mut now.state, *b, *width);
                let strays = self.strays(now, *pred, a, b);
                let below = self.is_far_below(now, a, b);
                let far = self.pool.or(strays, below);
                self.narrow(ctx, now, "addresses", far)?;
                let value = if self.orders_numbers(now, *pred, a, b) {
                    self.numberless(1)
                } else if let Some(null) = self.null_test(now, *pred, a, b) {
                    null
                } else if let Some(open) = self.apart(now, *pred, a, b) {
                    let plain = self.pool.cmp(*pred, a, b);
                    let any = self.numberless(1);
                    self.pool.ite(open, any, plain)
                } else {
                    self.pool.cmp(*pred, a, b)
                };
                set(&mut now.state, *dst, value);
            }
            Op::Overflow {
                value,
                overflow,
                op,
                signed,
                width,
                a,
                b,
            } => {
                let a = self.get(&mut now.state, *a, *width);
                let b = self.get(&mut now.state, *b, *width);
                let seen = self.is_address(now, a) || self.is_address(now, b);
                let (result, flag) = if seen {
                    (self.numberless(*width), self.numberless(1))
                } else {
                    (
                        self.pool.bin(*op, a, b),
                        self.pool.overflow(*op, *signed, a, b),
                    )
                };
                set(&mut now.state, *value, result);
                set(&mut now.state, *overflow, flag);
            }
            Op::Cast {
                dst,
                kind,
                from,
                to,
                a,
            } => {
                let a = self.get(&mut now.state, *a, *from);
                let value = self.cast(now, *kind, a, *to);
                set(&mut now.state, *dst, value);
            }
            Op::Copy { dst, a } => {
                let width = self.register_width(ctx, *dst);
                let value = self.get(&mut now.state, *a, width);
                set(&mut now.state, *dst, value);
            }
            Op::Select {
                dst,
                width,
                cond,
                a,
                b,
            } => {
                let cond = self.get(&mut now.state, *cond, 1);
                let a = self.get(&mut now.state, *a, *width);
                let b = self.get(&mut now.state, *b, *width);
                let value = self.pool.ite(cond, a, b);
                set(&mut now.state, *dst, value);
            }
            Op::Address {
                dst,
                base,
                offset,
                indices,
                ..
            } => {
                let value = self.displaced(now, *base, *offset, indices)?;
                set(&mut now.state, *dst, value);
            }
            Op::Load {
                dst,
                width,
                address,
                volatile,
                check,
            } => {
                let address = self.get(&mut now.state, *address, 64);
                let mut value = self.load(ctx, now, address, *width, Some(*check))?;
                if *volatile && !self.is_own(now, address) {
                    value = self.unknown(*width);
                }
                set(&mut now.state, *dst, value);
            }
            Op::Store {
                value,
                width,
                address,
                check,
                ..
            } => {
                let value = self.get(&mut now.state, *value, *width);
                let address = self.get(&mut now.state, *address, 64);
                self.store(ctx, now, address, value, Some(*check))?;
            }
            Op::Call(call) => return self.call(ctx, call, index, now),
            Op::Alloca {
                dst, size, room, ..
            } => {
                if let Some(room) = room {
                    let count = self.get(&mut now.state, room.count, 64);
                    let most = self.c64(room.most);
                    let violated = fault::too_many(self.pool, count, most);
                    self.oblige(ctx, now, Some(room.check), CheckKind::ArrayBound, violated)?;
                }
                let size = self.get(&mut now.state, *size, 64);
                let contents = self.unknown_contents();
                let address = self.allocate(ctx, now, (index, 0), size, contents, false);
                set(&mut now.state, *dst, address);
            }
            Op::Float { .. }
            | Op::FloatNeg { .. }
            | Op::FloatCmp { .. }
            | Op::FloatCast { .. }
            | Op::FloatFn { .. }
            | Op::Processor { .. }
            | Op::Freeze { .. }
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
            | Op::Unmodelled { .. } => return self.rare(ctx, inst, index, now),
        }
        Ok(())
    }

    /// The result of a comparison of a pointer with NULL, if the operation is one.
    fn null_test(&mut self, now: &Reached, pred: Pred, a: Term, b: Term) -> Option<Term> {
        if !matches!(pred, Pred::Eq | Pred::Ne) || self.pool.width(a) != 64 {
            return None;
        }
        let (pointer, other) = if self.pool.as_const(a).is_some() {
            (b, a)
        } else {
            (a, b)
        };
        if self.pool.as_const(other) != Some(0) || self.pool.as_const(pointer).is_some() {
            return None;
        }
        let null = self.is_null(now, pointer)?;
        Some(if pred == Pred::Eq {
            null
        } else {
            self.pool.not(null)
        })
    }

    fn register_width(&self, ctx: CtxId, reg: crate::program::ir::Reg) -> Width {
        let function = self.world.context(ctx).function;
        self.world.program().function(function).registers[reg.index()]
    }

    fn rare(&mut self, ctx: CtxId, inst: &Inst, index: usize, now: &mut Reached) -> Step {
        match &inst.op {
            Op::Float {
                dst,
                op,
                kind,
                a,
                b,
            } => {
                let a = self.get(&mut now.state, *a, kind.width());
                let b = self.get(&mut now.state, *b, kind.width());
                let value = self.pool.float_bin(*op, *kind, a, b);
                set(&mut now.state, *dst, value);
            }
            Op::FloatNeg { dst, kind, a } => {
                let a = self.get(&mut now.state, *a, kind.width());
                let value = self.pool.float_neg(*kind, a);
                set(&mut now.state, *dst, value);
            }
            Op::FloatCmp {
                dst,
                pred,
                kind,
                a,
                b,
            } => {
                let a = self.get(&mut now.state, *a, kind.width());
                let b = self.get(&mut now.state, *b, kind.width());
                let value = self.pool.float_cmp(*pred, *kind, a, b);
                set(&mut now.state, *dst, value);
            }
            Op::FloatCast { dst, cast, a } => {
                let width = cast.source();
                let a = self.get(&mut now.state, *a, width);
                let value = if self.is_address(now, a) {
                    self.numberless(float::cast_width(*cast))
                } else {
                    self.pool.float_cast(*cast, a)
                };
                set(&mut now.state, *dst, value);
            }
            Op::FloatFn {
                dst,
                function,
                kind,
                args,
            } => {
                let value = self.float_function(now, *function, *kind, args);
                set(&mut now.state, *dst, value);
            }
            Op::Processor { dst, width, .. } => {
                self.out.approximations += 1;
                let value = self.unknown(*width);
                set(&mut now.state, *dst, value);
            }
            Op::Freeze { dst, width, a } => {
                let value = self.get(&mut now.state, *a, *width);
                set(&mut now.state, *dst, value);
            }
            Op::MemCopy {
                to,
                from,
                len,
                overlap,
                read,
                write,
            } => {
                let [to, from, len] = [*to, *from, *len].map(|o| self.get(&mut now.state, o, 64));
                let checks = (Some(*read), Some(*write));
                self.copy(ctx, now, (to, from, len), checks, *overlap)?;
            }
            Op::MemSet {
                to,
                value,
                len,
                check,
            } => {
                let to = self.get(&mut now.state, *to, 64);
                let len = self.get(&mut now.state, *len, 64);
                let byte = self.get(&mut now.state, *value, 8);
                self.fill(ctx, now, (to, byte, len), Some(*check))?;
            }
            Op::Lifetime { start, address } => self.lifetime(ctx, now, *start, *address)?,
            Op::Uninit { address, len } => self.uninit(ctx, now, *address, *len)?,
            Op::VaStart { list, check } => self.va_start(ctx, now, (*list, index), *check)?,
            Op::VaCopy { to, from, check } => {
                let [to, from] = [*to, *from].map(|o| self.get(&mut now.state, o, 64));
                let len = self.c64(24);
                let checks = (Some(*check), Some(*check));
                self.copy(ctx, now, (to, from, len), checks, true)?;
            }
            Op::StackSave { dst } => {
                let value = self.unknown(64);
                set(&mut now.state, *dst, value);
            }
            Op::StackRestore { .. } => self.stack_restore(ctx, now),
            Op::AtomicRmw {
                dst,
                op,
                nand,
                width,
                address,
                b,
                check,
            } => {
                let address = self.get(&mut now.state, *address, 64);
                let b = self.get(&mut now.state, *b, *width);
                let old = self.load(ctx, now, address, *width, Some(*check))?;
                let mut new = b;
                if let Some(op) = op {
                    new = self.pool.bin(*op, old, b);
                    if *nand {
                        new = self.pool.not(new);
                    }
                }
                set(&mut now.state, *dst, old);
                self.store(ctx, now, address, new, Some(*check))?;
            }
            Op::CmpXchg {
                dst,
                success,
                width,
                address,
                expected,
                new,
                check,
            } => {
                let address = self.get(&mut now.state, *address, 64);
                let expected = self.get(&mut now.state, *expected, *width);
                let new = self.get(&mut now.state, *new, *width);
                let old = self.load(ctx, now, address, *width, Some(*check))?;
                let same = self.pool.cmp(Pred::Eq, old, expected);
                // Storing the old value again has no effect. A constant object violates the check
                // in any case, which is the stricter interpretation.
                let stored = self.pool.ite(same, new, old);
                self.store(ctx, now, address, stored, Some(*check))?;
                set(&mut now.state, *dst, old);
                set(&mut now.state, *success, same);
            }
            Op::Unmodelled { which } => {
                let what = self.world.program().unmodelled.get(*which as usize);
                let what = what.map_or_else(|| "a construct".to_owned(), |u| u.what.clone());
                self.hole(ctx, now, what);
                return Err(super::Stop::Ended);
            }
            // [`Encoder::operation`] executes these. If one occurs here, it is a hole, so nothing
            // is claimed about the code after it.
            Op::Bin { .. }
            | Op::Un { .. }
            | Op::Funnel { .. }
            | Op::Cmp { .. }
            | Op::Overflow { .. }
            | Op::Cast { .. }
            | Op::Copy { .. }
            | Op::Select { .. }
            | Op::Address { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Call(_)
            | Op::Alloca { .. } => {
                self.hole(ctx, now, "an operation".to_owned());
                return Err(super::Stop::Ended);
            }
        }
        Ok(())
    }

    /// A function of `<math.h>`, as a term if it can be expressed, else as an unknown.
    pub(super) fn float_function(
        &mut self,
        now: &mut Reached,
        function: MathFn,
        kind: crate::program::ir::FloatKind,
        args: &[Operand],
    ) -> Term {
        let exact = function.is_exact();
        let terms: Vec<Term> = args
            .iter()
            .enumerate()
            .map(|(i, arg)| {
                let width = if function == MathFn::Ldexp && i == 1 {
                    32
                } else {
                    kind.width()
                };
                self.get(&mut now.state, *arg, width)
            })
            .collect();
        if exact || terms.iter().all(|&t| self.pool.as_const(t).is_some()) {
            return self.pool.float_fn(function, kind, &terms);
        }
        self.out.approximations += 1;
        self.unknown(float::function_width(function, kind))
    }
}
