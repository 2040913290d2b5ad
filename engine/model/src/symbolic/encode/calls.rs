//! Calls. Each callee is executed where it is called.

use std::rc::Rc;

use super::super::memory::{Contents, Object};
use super::super::state::{Extra, Reached, Surroundings, Variadic};
use super::super::world::{Back, CtxId, ObjId};
use super::access::Target;
use super::pointer::Root;
use super::{Encoder, Step, Stop, set};
use crate::program::ir::{
    ArgClass, BlockId, Call, Callee, CheckId, CheckKind, FUNCTION_OBJECTS, FuncId, FunctionKind,
    Intrinsic, Operand, Reg, place_of,
};
use crate::program::outside::COPY;
use crate::term::Term;

/// The maximal number of callees of one call through a pointer.
const CALLEES: usize = 16;

impl Encoder<'_, '_> {
    /// Executes a call. `now` becomes the state after the call.
    pub(super) fn call(
        &mut self,
        ctx: CtxId,
        call: &Call,
        index: usize,
        now: &mut Reached,
    ) -> Step {
        match call.callee {
            Callee::Direct(id) => {
                self.failing(ctx, now, call)?;
                self.call_function(ctx, call, index, id, now, call.check)
            }
            Callee::Indirect(operand) => {
                let pointer = self.get(&mut now.state, operand, 64);
                self.call_through(ctx, call, index, pointer, now)
            }
        }
    }

    /// For a call whose check is that it is not reached (see [`CheckKind::is_reached`]), reaching
    /// it is the violation.
    fn failing(&mut self, ctx: CtxId, now: &Reached, call: &Call) -> Step {
        let checks = &self.world.program().checks;
        let Some((id, check)) = call
            .check
            .and_then(|id| Some((id, checks.get(id.index())?)))
        else {
            return Ok(());
        };
        if !check.kind.is_reached() {
            return Ok(());
        }
        let reached = self.pool.bit(true);
        self.oblige(ctx, now, Some(id), check.kind, reached)
    }

    fn call_through(
        &mut self,
        ctx: CtxId,
        call: &Call,
        index: usize,
        pointer: Term,
        now: &mut Reached,
    ) -> Step {
        let program = self.world.program();
        let mut callees: Vec<(Term, FuncId)> = Vec::new();
        let mut violated = self.pool.bit(false);
        let mut unknown = self.pool.bit(false);
        for case in self.split(now, pointer) {
            if case.root == Root::Null {
                violated = self.pool.or(violated, case.cond);
                continue;
            }
            let Root::Number(number) = case.root else {
                unknown = self.pool.or(unknown, case.cond);
                continue;
            };
            let zero = self.c64(0);
            let exact = self.pool.eq(case.offset, zero);
            let function = place_of(number)
                .checked_sub(FUNCTION_OBJECTS)
                .map(FuncId)
                .filter(|f| f.index() < program.functions.len());
            let mut wrong = case.cond;
            if let Some(id) = function {
                callees.push((self.pool.and(case.cond, exact), id));
                let not = self.pool.not(exact);
                wrong = self.pool.and(case.cond, not);
            }
            violated = self.pool.or(violated, wrong);
        }
        self.oblige(ctx, now, call.check, CheckKind::Call, violated)?;
        if self.pool.as_const(unknown) != Some(0) || callees.len() > CALLEES {
            self.vague(ctx, now, call.check, CheckKind::Call, unknown);
            let mut lost = now.clone();
            lost.guard = lost.guard.and(self.pool, unknown);
            self.hole(
                ctx,
                &lost,
                "a call through a pointer of which it is not known where it points".to_owned(),
            );
        }
        let mut after: Option<Reached> = None;
        for (cond, id) in callees {
            let mut taken = now.clone();
            taken.guard = taken.guard.and(self.pool, cond);
            if taken.guard.is_false(self.pool) {
                continue;
            }
            match self.call_function(ctx, call, index, id, &mut taken, None) {
                Ok(()) => {
                    after = Some(match after {
                        Some(before) => before.join(taken, self),
                        None => taken,
                    });
                }
                Err(Stop::Ended) => {}
                Err(stop) => return Err(stop),
            }
        }
        *now = after.ok_or(Stop::Ended)?;
        Ok(())
    }

    fn call_function(
        &mut self,
        ctx: CtxId,
        call: &Call,
        index: usize,
        id: FuncId,
        now: &mut Reached,
        check: Option<CheckId>,
    ) -> Step {
        let program = self.world.program();
        let function = program.function(id);
        if let FunctionKind::Intrinsic(intrinsic) = function.kind {
            return self.intrinsic(ctx, now, (intrinsic, id), (call, index), check);
        }
        if !function.is_defined() {
            self.hole(
                ctx,
                now,
                format!("a call of `{}`, which nobody provides", function.name),
            );
            return Err(Stop::Ended);
        }
        if function.kind == FunctionKind::User {
            // An external function that calls back may have written objects before.
            self.deviate(ctx, now)?;
        }
        let fixed = (call.fixed as usize).min(call.args.len());
        let mut values: Vec<Term> = Vec::new();
        let mut copies: Vec<(usize, Target, u32)> = Vec::new();
        for (i, arg) in call.args[..fixed].iter().enumerate() {
            let value = self.get(&mut now.state, arg.value, arg.width);
            if let ArgClass::ByVal { size, .. } = arg.class {
                let len = self.c64(u64::from(size));
                let (targets, vague) =
                    self.access(ctx, now, value, len, (None, CheckKind::Read))?;
                match (&targets[..], vague) {
                    ([target], false) => copies.push((i, target.clone(), size)),
                    _ => {
                        self.hole(
                            ctx,
                            now,
                            "a structure argument from an unknown place".to_owned(),
                        );
                        return Err(Stop::Ended);
                    }
                }
            }
            values.push(value);
        }
        if let Some((begin, _)) = self.world.ends_of(id) {
            for (i, ..) in copies {
                // A sealed function does not access memory through an argument.
                values[i] = self.unknown(64);
            }
            self.call_alone((begin, id), (call, index), &values, now);
            return Ok(());
        }
        let variadic = function.varargs.then(|| self.variadic(call, fixed, now));
        let back = Back {
            ctx,
            block: self.block,
            op: index + 1,
            dst: call.dst,
        };
        let inner = self.world.enter(back, call.site, id);
        if self.world.context(inner).recursion > self.budget.recursion {
            self.hole(
                ctx,
                now,
                format!(
                    "`{}` calls itself more than {} times",
                    function.name, self.budget.recursion
                ),
            );
            return Err(Stop::Ended);
        }
        let mut frame = self.new_frame(inner);
        frame.variadic = variadic.map(Rc::new);
        now.state.frames.push(frame);
        let (block, pos) = (self.block, self.pos);
        let first = BlockId(function.blocks.start);
        for (i, target, size) in copies {
            let bytes = self.bytes_of(now, &target, size);
            let mut contents = self.unknown_contents();
            for (offset, byte) in bytes.into_iter().enumerate() {
                contents.write_at(self.pool, offset as u32, byte);
            }
            let size = self.c64(u64::from(size));
            self.block = first;
            values[i] = self.allocate(inner, now, (COPY as usize, i as u32), size, contents, false);
            self.block = block;
        }
        for (i, &width) in function.params.iter().enumerate() {
            let value = self.parameter(values.get(i), width);
            set(&mut now.state, Reg(i as u32), value);
        }
        if self.world.flow(id).cuts.contains(&first) {
            // The first block is the head of a loop. The body becomes a fragment of its own, which
            // returns to the caller.
            let reached = now.clone();
            self.transition(
                super::super::world::Cut {
                    ctx: inner,
                    block: first,
                },
                reached,
            );
            return Err(Stop::Ended);
        }
        let start = now.clone();
        let returned = self.run(inner, first, 0, start)?;
        (self.block, self.pos) = (block, pos);
        let returned = returned.ok_or(Stop::Ended)?;
        *now = self.leave(inner, returned)?;
        Ok(())
    }

    fn variadic(&mut self, call: &Call, fixed: usize, now: &mut Reached) -> Variadic {
        let count = |class: ArgClass| {
            let of_class = call.args[..fixed].iter().filter(|a| a.class == class);
            of_class.count() as u32
        };
        Variadic {
            extra: call.args[fixed..]
                .iter()
                .map(|arg| Extra {
                    value: self.get(&mut now.state, arg.value, arg.width),
                    width: arg.width,
                    class: arg.class,
                })
                .collect(),
            fixed: (count(ArgClass::Integer), count(ArgClass::Sse)),
        }
    }

    /// Executes a function that the machine implements itself.
    fn intrinsic(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        (intrinsic, id): (Intrinsic, FuncId),
        (call, index): (&Call, usize),
        check: Option<CheckId>,
    ) -> Step {
        match intrinsic {
            Intrinsic::Heap(function) => {
                self.heap_function(ctx, now, function, (call, index), check)
            }
            Intrinsic::Choose
            | Intrinsic::Remaining
            | Intrinsic::Assume
            | Intrinsic::Assumed
            | Intrinsic::Unmodelled
            | Intrinsic::Stop
            | Intrinsic::Violation
            | Intrinsic::Output
            | Intrinsic::ObjectSize
            | Intrinsic::Math(_)
            | Intrinsic::FormatFloat
            | Intrinsic::ParseFloat => self.tape_or_host(ctx, now, (intrinsic, id), call, check),
        }
    }

    /// Sets the result of a call.
    pub(super) fn give(&mut self, now: &mut Reached, call: &Call, value: Term) {
        if let Some(&width) = call.result.first() {
            let value = if self.pool.width(value) >= width {
                self.pool.extract(value, 0, width)
            } else {
                self.pool.zext(value, width)
            };
            set(&mut now.state, call.dst, value);
        }
    }

    /// The argument with number `i`.
    pub(super) fn arg(&mut self, now: &mut Reached, call: &Call, i: usize, width: u16) -> Term {
        let operand = call.args.get(i).map_or(Operand::Const(0), |a| a.value);
        self.get(&mut now.state, operand, width)
    }

    /// Replaces the contents of an object.
    pub(super) fn put_contents(&mut self, now: &mut Reached, id: ObjId, contents: Contents) {
        if let Some(object) = self.object(&now.state, id) {
            let mut object = Object::clone(&object);
            object.contents = contents;
            now.state.objects.insert(id, Rc::new(object));
        }
    }
}
