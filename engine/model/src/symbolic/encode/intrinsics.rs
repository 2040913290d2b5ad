//! Intrinsics: the tape, the transcript and the host's functions.

use super::super::state::{Reached, Surroundings};
use super::super::world::CtxId;
use super::{Encoder, Input, Step, Stop};
use crate::program::ir::{Call, CheckId, CheckKind, FloatKind, FuncId, Intrinsic, Operand, Pred};
use crate::term::{Term, fault};

/// The number of bytes of one choice up to which they become single unknowns. The bytes of a longer
/// choice are an array.
const SINGLE: u64 = 64;

impl Encoder<'_, '_> {
    pub(super) fn tape_or_host(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        (intrinsic, id): (Intrinsic, FuncId),
        call: &Call,
        check: Option<CheckId>,
    ) -> Step {
        match intrinsic {
            Intrinsic::Choose => self.choose(ctx, now, call, check),
            Intrinsic::Remaining => {
                let left = self.unknown(64);
                self.out
                    .inputs
                    .push((now.guard.clone(), Input::Remaining(left)));
                self.give(now, call, left);
                Ok(())
            }
            Intrinsic::Assume => {
                let value = self.arg(now, call, 0, 32);
                let zero = self.constant(32, 0);
                let holds = self.pool.cmp(Pred::Ne, value, zero);
                self.assume(now, holds)
            }
            Intrinsic::Assumed => self.assumed(ctx, now, call),
            Intrinsic::Unmodelled => self.unmodelled(ctx, now, call),
            Intrinsic::Stop => Err(Stop::Ended),
            Intrinsic::Violation => self.reported(ctx, now, call),
            Intrinsic::Output => {
                let at = self.arg(now, call, 1, 64);
                let len = self.arg(now, call, 2, 64);
                if !self.is_nothing(len) {
                    self.access_some(ctx, now, at, len, (check, CheckKind::Read))?;
                }
                Ok(())
            }
            Intrinsic::ObjectSize => {
                let at = self.arg(now, call, 0, 64);
                let size = self.object_size(now, at);
                self.give(now, call, size);
                Ok(())
            }
            Intrinsic::Math(function) => {
                let kind = match self.world.program().function(id).params.first() {
                    Some(32) => FloatKind::F32,
                    _ => FloatKind::F64,
                };
                let args: Vec<Operand> = call.args.iter().map(|a| a.value).collect();
                let value = self.float_function(now, function, kind, &args);
                self.give(now, call, value);
                Ok(())
            }
            Intrinsic::FormatFloat => {
                let to = self.arg(now, call, 0, 64);
                let room = self.arg(now, call, 1, 64);
                let (targets, vague) =
                    self.access_some(ctx, now, to, room, (check, CheckKind::Write))?;
                self.forget(now, &targets, room);
                self.go_only(ctx, now, vague, to)?;
                let length = self.unknown(32);
                // A bound on the length of the longest double in decimal, with a precision that the
                // stubs limit.
                let most = self.constant(32, 1 << 24);
                let fits = self.pool.cmp(Pred::Ule, length, most);
                self.assume(now, fits)?;
                self.give(now, call, length);
                Ok(())
            }
            Intrinsic::ParseFloat => {
                let from = self.arg(now, call, 0, 64);
                let len = self.arg(now, call, 1, 64);
                if !self.is_nothing(len) {
                    self.access_some(ctx, now, from, len, (check, CheckKind::Read))?;
                }
                self.out.approximations += 1;
                let value = self.unknown(64);
                self.give(now, call, value);
                Ok(())
            }
            Intrinsic::Heap(_) => {
                self.hole(ctx, now, "a heap function".to_owned());
                Err(Stop::Ended)
            }
        }
    }

    /// Executes `crunner_choose(channel, into, n)`.
    fn choose(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        call: &Call,
        check: Option<CheckId>,
    ) -> Step {
        let into = self.arg(now, call, 1, 64);
        let n = self.arg(now, call, 2, 64);
        if self.is_nothing(n) {
            return Ok(());
        }
        let (targets, vague) = self.access_some(ctx, now, into, n, (check, CheckKind::Write))?;
        let count = self.pool.as_const(n).map(|n| n as u64);
        match (&targets[..], count) {
            ([target], Some(n)) if n <= SINGLE && !vague => {
                let bytes = if n <= 8 {
                    let value = self.unknown(n as u16 * 8);
                    self.out
                        .inputs
                        .push((now.guard.clone(), Input::Bytes(value)));
                    vec![value]
                } else {
                    let bytes: Vec<Term> = (0..n).map(|_| self.unknown(8)).collect();
                    for &byte in &bytes {
                        self.out
                            .inputs
                            .push((now.guard.clone(), Input::Bytes(byte)));
                    }
                    bytes
                };
                let Some(object) = self.object(&now.state, target.id) else {
                    return Ok(());
                };
                let span = self.span(now, target, n as u32, object.size);
                let mut contents = object.contents.clone();
                let mut at = target.offset;
                for value in bytes {
                    contents.write(self.pool, at, value, span);
                    let width = u32::from(self.pool.width(value) / 8);
                    at = super::super::memory::plus(self.pool, at, width);
                }
                self.put_contents(now, target.id, contents);
            }
            _ => self.forget(now, &targets, n),
        }
        self.go_only(ctx, now, vague, into)
    }

    /// Executes `crunner_violation`, which is reported at the user's call of the stub library.
    fn reported(&mut self, ctx: CtxId, now: &mut Reached, call: &Call) -> Step {
        use crate::program::ir::FunctionKind;
        let kind = self.arg(now, call, 0, 32);
        let kind = self.pool.as_const(kind).unwrap_or(0) as u32;
        let kind = crate::program::load::violation(kind);
        let program = self.world.program();
        let chain = self.world.chain(ctx);
        let is_user = |c: &CtxId| {
            let function = self.world.context(*c).function;
            program.function(function).kind == FunctionKind::User
        };
        let outer = chain.iter().rposition(is_user);
        let callee = outer.and_then(|i| chain.get(i + 1)).copied();
        let back = callee.and_then(|c| self.world.context(c).back);
        let check = back.and_then(|back| {
            let inst = program.block(back.block).ops.get(back.op.checked_sub(1)?)?;
            let at = |c: &crate::program::ir::Check| {
                c.loc.block == back.block && c.loc.inst == inst.at && c.kind == kind
            };
            let found = program.checks.iter().position(at)?;
            Some(CheckId(found as u32))
        });
        let reached = self.pool.bit(true);
        self.oblige(ctx, now, check, kind, reached)
    }

    /// The number of bytes from a pointer to the end of its object, or 0 if it points to no object.
    fn object_size(&mut self, now: &mut Reached, at: Term) -> Term {
        let cases = self.split(now, at);
        let mut result: Option<Term> = None;
        for case in cases {
            let id = match case.root {
                super::pointer::Root::Number(number) => self.world.object_at(number),
                super::pointer::Root::Of(id) => Some(id),
                super::pointer::Root::Null => None,
                super::pointer::Root::Unknown => {
                    self.out.approximations += 1;
                    return self.unknown(64);
                }
            };
            let object = id.and_then(|id| self.object(&now.state, id));
            let zero = self.c64(0);
            let size = match object {
                None => zero,
                Some(object) => {
                    let nothing = self.c64(0);
                    let beyond = fault::beyond(self.pool, case.offset, nothing, object.size);
                    let left =
                        self.pool
                            .bin(crate::program::ir::BinOp::Sub, object.size, case.offset);
                    let dead = self.pool.not(object.alive);
                    let none = self.pool.or(beyond, dead);
                    self.pool.ite(none, zero, left)
                }
            };
            result = Some(match result {
                None => size,
                Some(other) => self.pool.ite(case.cond, size, other),
            });
        }
        match result {
            Some(size) => size,
            None => self.c64(0),
        }
    }
}
