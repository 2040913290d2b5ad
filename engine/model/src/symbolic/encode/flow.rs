//! Execution along the control flow: blocks in reverse postorder, their terminators, and returns to
//! the caller.

use std::rc::Rc;
use std::time::Instant;

use super::{Encoder, Step, Stop, set};
use crate::deadline;
use crate::program::ir::{BlockId, CheckKind, Edge, FunctionKind, Pred, Reg, Terminator};
use crate::symbolic::encode::fragment::{Entered, Exceeded, Transition};
use crate::symbolic::encode::turns::Worklist;
use crate::symbolic::state::{Reached, Surroundings};
use crate::symbolic::world::{CtxId, Cut};
use crate::term::Term;

impl<'a, 'p> Encoder<'a, 'p> {
    /// Executes from a place up to cut points or the end of the program.
    pub(super) fn go_on(&mut self, ctx: CtxId, block: BlockId, op: usize, from: Reached) -> Step {
        let (mut ctx, mut block, mut op) = (ctx, block, op);
        let mut reached = from;
        loop {
            let Some(returned) = self.run(ctx, block, op, reached)? else {
                return Ok(());
            };
            let Some(back) = self.world.context(ctx).back else {
                return Ok(());
            };
            reached = self.leave(ctx, returned)?;
            (ctx, block, op) = (back.ctx, back.block, back.op);
        }
    }

    /// Executes a function from a place up to its returns, and joins the states there.
    pub(super) fn run(
        &mut self,
        ctx: CtxId,
        block: BlockId,
        op: usize,
        from: Reached,
    ) -> Step<Option<Reached>> {
        let mut worklist = Worklist::default();
        self.run_on(ctx, (block, op), from, &mut worklist)?;
        Ok(worklist.returned)
    }

    /// Executes a function from a place up to its returns. `worklist` holds the states that are
    /// still to be executed, and the results.
    pub(super) fn run_on(
        &mut self,
        ctx: CtxId,
        (block, op): (BlockId, usize),
        from: Reached,
        worklist: &mut Worklist,
    ) -> Step {
        let program = self.world.program();
        let function = self.world.context(ctx).function;
        let (mut block, mut op, mut now) = (block, op, from);
        loop {
            let was = (self.block, self.pos);
            self.block = block;
            if op == 0 && program.function(function).kind == FunctionKind::User {
                self.out.entered.push(Entered {
                    block,
                    guard: now.guard.clone(),
                    assumptions_before: self.out.assumptions.len(),
                });
            }
            match self.operations(ctx, block, op, now) {
                Ok(Some(after)) => self.terminator(ctx, block, after, worklist),
                Ok(None) | Err(Stop::Ended) => {}
                Err(stop) => return Err(stop),
            }
            (self.block, self.pos) = was;
            if let Some((next, reached)) = worklist.final_blocks.pop() {
                (block, op, now) = (next, 0, reached);
                continue;
            }
            self.unroll_heads(ctx, worklist)?;
            let Some((_, (next, reached))) = worklist.pending.pop_first() else {
                return Ok(());
            };
            (block, op, now) = (next, 0, reached);
        }
    }

    /// Executes a block's operations from the index `from` on.
    fn operations(
        &mut self,
        ctx: CtxId,
        block: BlockId,
        from: usize,
        mut now: Reached,
    ) -> Step<Option<Reached>> {
        let program = self.world.program();
        for (index, inst) in program.block(block).ops.iter().enumerate().skip(from) {
            self.out.operations += 1;
            if self.out.operations > self.budget.operations
                || self.world.contexts() > self.budget.contexts
            {
                return Err(Stop::Exceeded(Exceeded::Size));
            }
            let is_late = || {
                deadline::passed() || self.budget.deadline.is_some_and(|end| Instant::now() > end)
            };
            if self.out.operations.is_multiple_of(64) && is_late() {
                return Err(Stop::Exceeded(Exceeded::Time));
            }
            if self
                .unroll_limit
                .is_some_and(|end| self.out.operations > end)
            {
                return Err(Stop::Turns);
            }
            self.pos = inst.pos;
            self.block = block;
            match self.operation(ctx, inst, index, &mut now) {
                Ok(()) => {}
                Err(Stop::Ended) => return Ok(None),
                Err(stop) => return Err(stop),
            }
        }
        Ok(Some(now))
    }

    fn terminator(
        &mut self,
        ctx: CtxId,
        block: BlockId,
        mut now: Reached,
        worklist: &mut Worklist,
    ) {
        let program = self.world.program();
        let block_info = program.block(block);
        self.pos = block_info.end_pos;
        match &block_info.end {
            Terminator::Jump(edge) => self.follow(ctx, (block, edge), now, worklist),
            Terminator::Branch {
                cond,
                then,
                otherwise,
            } => {
                let cond = self.get(&mut now.state, *cond, 1);
                let not = self.pool.not(cond);
                let mut other = now.clone();
                now.guard = now.guard.and(self.pool, cond);
                other.guard = other.guard.and(self.pool, not);
                self.follow(ctx, (block, then), now, worklist);
                self.follow(ctx, (block, otherwise), other, worklist);
            }
            Terminator::Switch {
                value,
                width,
                cases,
                default,
            } => {
                let value = self.get(&mut now.state, *value, *width);
                for (case, edge) in cases {
                    let case = self.pool.constant(*width, *case);
                    let hit = self.pool.eq(value, case);
                    let miss = self.pool.not(hit);
                    let mut taken = now.clone();
                    taken.guard = taken.guard.and(self.pool, hit);
                    now.guard = now.guard.and(self.pool, miss);
                    self.follow(ctx, (block, edge), taken, worklist);
                }
                self.follow(ctx, (block, default), now, worklist);
            }
            Terminator::IndirectBranch { address, targets } => {
                let address = self.get(&mut now.state, *address, 64);
                for (target, edge) in targets {
                    let target = self.pool.constant(64, u128::from(*target));
                    let hit = self.pool.cmp(Pred::Eq, address, target);
                    let miss = self.pool.not(hit);
                    let mut taken = now.clone();
                    taken.guard = taken.guard.and(self.pool, hit);
                    now.guard = now.guard.and(self.pool, miss);
                    self.follow(ctx, (block, edge), taken, worklist);
                }
                self.hole(ctx, &now, "a computed jump to an unknown place".to_owned());
            }
            Terminator::Return { values } => {
                let function = program.function(self.world.context(ctx).function);
                let first = function.registers.len();
                let results: Vec<Term> = values
                    .iter()
                    .zip(&function.result)
                    .map(|(value, width)| self.get(&mut now.state, *value, *width))
                    .collect();
                let registers = Rc::make_mut(&mut now.state.frame().registers);
                for (i, result) in results.into_iter().enumerate() {
                    registers[first + i] = Some(result);
                }
                if self.world.context(ctx).side.is_some() {
                    self.end_alone(ctx, now);
                    return;
                }
                worklist.returned = Some(match worklist.returned.take() {
                    Some(before) => before.join(now, self),
                    None => now,
                });
            }
            Terminator::Unreachable { check } => {
                let kind = check.and_then(|c| program.checks.get(c.index()));
                let kind = kind.map_or(CheckKind::Unreachable, |c| c.kind);
                let violated = self.pool.bit(true);
                // Nothing after this is executed on this path, so the result does not matter.
                let _ = self.oblige(ctx, &now, *check, kind, violated);
            }
        }
    }

    fn follow(
        &mut self,
        ctx: CtxId,
        (from, edge): (BlockId, &Edge),
        mut now: Reached,
        worklist: &mut Worklist,
    ) {
        if now.guard.is_false(self.pool) {
            return;
        }
        let program = self.world.program();
        let function = self.world.context(ctx).function;
        let moves: Vec<(Reg, Term)> = edge
            .moves
            .iter()
            .map(|(reg, from)| {
                let width = program.function(function).registers[reg.index()];
                (*reg, self.get(&mut now.state, *from, width))
            })
            .collect();
        for (reg, value) in moves {
            set(&mut now.state, reg, value);
        }
        self.take(ctx, (from, edge.to), now, worklist);
    }

    pub(super) fn transition(&mut self, to: Cut, reached: Reached) {
        let assumptions_before = self.out.assumptions.len();
        self.out.transitions.push(Transition {
            to,
            reached,
            assumptions_before,
        });
    }

    /// Ends a frame. The result is the caller's state with the results of the call in its
    /// registers.
    pub(super) fn leave(&mut self, ctx: CtxId, mut returned: Reached) -> Step<Reached> {
        self.deviate(ctx, &mut returned)?;
        self.given(ctx, &mut returned)?;
        let program = self.world.program();
        let function = program.function(self.world.context(ctx).function);
        let first = function.registers.len();
        let Some(frame) = returned.state.frames.pop() else {
            return Ok(returned);
        };
        for object in frame.objects.iter() {
            returned.state.objects.remove(object);
        }
        if let Some(back) = self.world.context(ctx).back {
            // A call through a pointer of the wrong type may take more results than the callee
            // returns, fewer, or results of other widths.
            let given = function.result.len();
            for (i, &width) in program
                .expected_results(back.block, back.op)
                .iter()
                .enumerate()
            {
                let result = frame.registers[first..first + given].get(i).copied();
                let result = match result.flatten() {
                    Some(result) if self.pool.width(result) >= width => {
                        self.pool.extract(result, 0, width)
                    }
                    _ => self.unknown(width),
                };
                set(&mut returned.state, Reg(back.dst.0 + i as u32), result);
            }
        }
        Ok(returned)
    }
}
