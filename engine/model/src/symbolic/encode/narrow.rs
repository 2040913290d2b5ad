//! Places where the model is narrower than the world.
//!
//! C code asks for a rule of [`assumption`](crate::assumption) by `crunner_assumed`, and the
//! encoder asks for rules itself. In both cases the fragment records the place and the condition
//! under which it is reached, so that a proof names exactly those rules that some of its states
//! depend on. If the user lifted a rule and there is no wider model, execution cannot continue
//! there.

use super::super::state::{Guard, Reached};
use super::super::world::{CtxId, World};
use super::{Encoder, Step, Stop};
use crate::assumption::Rule;
use crate::program::ir::numbers::place_of;
use crate::program::ir::{BlockId, Call, FunctionKind, GLOBAL_OBJECTS, Operand, Pos, Program};
use crate::term::Term;

/// A place where a rule makes the model narrower than the world.
#[derive(Clone, Debug)]
pub struct Narrowing {
    /// The identifier of the rule.
    pub id: &'static str,
    /// The last place in the user's code on the path, if there is one.
    pub place: Option<Pos>,
    /// The context of the place.
    pub ctx: CtxId,
    /// The block of the place.
    pub block: BlockId,
    /// The condition under which the place is reached.
    pub guard: Guard,
    /// The number of assumptions of the fragment that precede the place.
    pub assumptions_before: usize,
}

impl Narrowing {
    /// The place as text, for people and certificates.
    pub fn place(&self, program: &Program) -> String {
        match self.place {
            Some(pos) => program.show(pos),
            None => "the program's start".to_owned(),
        }
    }
}

impl Encoder<'_, '_> {
    /// Executes `crunner_assumed(id)`. Calls for lifted rules were replaced by normalisation, so
    /// the rule holds here and the result is 1.
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

    /// Executes `crunner_unmodelled(what)`.
    pub(super) fn unmodelled(&mut self, ctx: CtxId, now: &Reached, call: &Call) -> Step {
        let what = literal(self.world.program(), call);
        let what = what.unwrap_or_else(|| "something that is not modelled".to_owned());
        self.hole(ctx, now, what);
        Err(Stop::Ended)
    }

    /// Records that execution reaches a place where a rule makes the model narrower if `cond`
    /// holds. If the user lifted the rule, states with `cond` lead to a hole, and `now` becomes the
    /// rest.
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
            assumptions_before: self.out.assumptions.len(),
        });
    }
}

/// The last place in the user's code on the path to a place in a context.
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

/// The string literal that is the first argument of a call.
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
