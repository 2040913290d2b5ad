//! Where the model is narrower than the world.
//!
//! A rule of [`assumption`](crate::assumption) is asked for by C code (`crunner_assumed`) or by the
//! encoder itself. Either way the fragment notes where that was and under which condition, so that
//! a proof names exactly those rules that some state of it comes to. What the user lifted and has
//! no wider model cannot be passed.

use super::super::state::{Guard, Reached};
use super::super::world::{CtxId, World};
use super::{Encoder, Step, Stop};
use crate::assumption::Rule;
use crate::program::ir::numbers::place_of;
use crate::program::ir::{BlockId, Call, FunctionKind, GLOBAL_OBJECTS, Operand, Pos, Program};
use crate::term::Term;

/// A place where a rule narrows the world.
#[derive(Clone, Debug)]
pub struct Narrowing {
    /// The rule's identifier.
    pub id: &'static str,
    /// The last place in the user's code on the way there, if there is one.
    pub place: Option<Pos>,
    /// In which context.
    pub ctx: CtxId,
    /// In which block.
    pub block: BlockId,
    /// When.
    pub guard: Guard,
    /// Assumptions of the fragment that were made before.
    pub prefix: usize,
}

impl Narrowing {
    /// The place, for people and certificates.
    pub fn place(&self, program: &Program) -> String {
        match self.place {
            Some(pos) => program.show(pos),
            None => "the program's start".to_owned(),
        }
    }
}

impl Encoder<'_, '_> {
    /// `crunner_assumed(id)`: what is left of these calls after normalising is assumed.
    pub(super) fn assumed(&mut self, ctx: CtxId, now: &mut Reached, call: &Call) -> Step {
        let id = literal(self.world.program(), call);
        let Some(rule) = id.as_deref().and_then(Rule::find) else {
            let what = format!(
                "an assumption that this version does not know: `{}`",
                id.unwrap_or_default()
            );
            self.hole(ctx, now, what);
            return Err(Stop::Ended);
        };
        self.note_narrowing(ctx, now.guard.clone(), rule);
        let yes = self.constant(32, 1);
        self.give(now, call, yes);
        Ok(())
    }

    /// `crunner_unmodelled(what)`.
    pub(super) fn unmodelled(&mut self, ctx: CtxId, now: &Reached, call: &Call) -> Step {
        let what = literal(self.world.program(), call);
        let what = what.unwrap_or_else(|| "something that is not modelled".to_owned());
        self.hole(ctx, now, what);
        Err(Stop::Ended)
    }

    /// The encoder comes to where a rule narrows the world, if `cond` holds there. Where the user
    /// lifted the rule, what fulfils the condition cannot be passed: it is a hole, and `now` goes
    /// on with the rest.
    pub(super) fn narrow(&mut self, ctx: CtxId, now: &mut Reached, id: &str, cond: Term) -> Step {
        if self.pool.as_const(cond) == Some(0) {
            return Ok(());
        }
        let Some(rule) = Rule::find(id) else {
            self.hole(ctx, now, format!("an assumption without a rule: `{id}`"));
            return Err(Stop::Ended);
        };
        let guard = now.guard.and(self.pool, cond);
        if guard.is_false(self.pool) {
            return Ok(());
        }
        if !self.world.program().lifted.contains(rule.id) {
            self.note_narrowing(ctx, guard, rule);
            return Ok(());
        }
        let mut lost = now.clone();
        lost.guard = guard;
        self.hole(
            ctx,
            &lost,
            format!("what `{}` is no more assumed for: {}", rule.id, rule.says),
        );
        let not = self.pool.not(cond);
        now.guard = now.guard.and(self.pool, not);
        if now.guard.is_false(self.pool) {
            return Err(Stop::Ended);
        }
        Ok(())
    }

    fn note_narrowing(&mut self, ctx: CtxId, guard: Guard, rule: &'static Rule) {
        if guard.is_false(self.pool) {
            return;
        }
        let place = place(self.world, ctx, self.pos);
        self.out.narrowings.push(Narrowing {
            id: rule.id,
            place,
            ctx,
            block: self.block,
            guard,
            prefix: self.out.assumptions.len(),
        });
    }
}

/// The last place in the user's code on the way to a place of a context.
fn place(world: &World<'_>, ctx: CtxId, pos: Pos) -> Option<Pos> {
    let program = world.program();
    let (mut ctx, mut pos) = (ctx, pos);
    loop {
        let context = world.context(ctx);
        if program.function(context.function).kind == FunctionKind::User {
            return Some(pos);
        }
        let back = context.back?;
        let block = program.block(back.block);
        let call = back.op.checked_sub(1).and_then(|op| block.ops.get(op));
        pos = call.map_or(block.pos, |inst| inst.pos);
        ctx = back.ctx;
    }
}

/// The string literal that is a call's first argument.
fn literal(program: &Program, call: &Call) -> Option<String> {
    let &Operand::Const(address) = &call.args.first()?.value else {
        return None;
    };
    let index = place_of((address >> 32) as u32).checked_sub(GLOBAL_OBJECTS)?;
    let global = program.globals.get(index as usize)?;
    let bytes = global.init.get(address as u32 as usize..)?;
    let end = bytes.iter().position(|&byte| byte == 0)?;
    global
        .constant
        .then(|| String::from_utf8_lossy(&bytes[..end]).into_owned())
}
