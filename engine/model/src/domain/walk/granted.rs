//! What is known of a request's size once a block was given.
//!
//! The size of a block of which nothing but the request is known stands for the request, too, where
//! nothing was given: no bound of it may be used there. An address in the block says that it was
//! given, and no block is larger than [`ONE_ALLOCATION`]: then what was asked for is the same
//! number with and without a sign.

use super::{Frame, Guide, Walker};
use crate::domain::linear::{Sum, UNSIGNED, Var};
use crate::domain::space::{CtxId, ObjId};
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::Reg;
use crate::term::fault::ONE_ALLOCATION;

/// No number that is not larger changes when it gets a sign.
const _: () = assert!(ONE_ALLOCATION <= i64::MAX as u64);

impl<G: Guide> Walker<'_, G> {
    /// A value is an address in one block now, and might have been NULL `before`.
    pub(super) fn known_granted(
        &self,
        frame: &Frame,
        state: &mut State,
        before: &Value,
        value: &Value,
    ) {
        if let Some((id, _)) = value.sole()
            && before.num.is_some()
        {
            self.granted(frame, state, id);
        }
    }

    /// A block was given.
    pub(super) fn granted(&self, frame: &Frame, state: &mut State, id: ObjId) {
        let info = self.names.info(id);
        if !self.relations || !info.heap || !info.single {
            return;
        }
        let size = Var::Size(id);
        let asked = state.lines.iter().filter_map(|line| {
            let terms: Vec<(Var, i128)> = line.terms().collect();
            // What was asked for is the size less a constant.
            match terms[..] {
                [(a, f), (b, g)] if line.is_exact() && f * g == -1 => {
                    let (var, factor) = if a == size { (b, g) } else { (a, f) };
                    let has_size = a == size || b == size;
                    (has_size && line.constant() * factor >= 0).then_some(var)
                }
                _ => None,
            }
        });
        let limit = Sum::number(ONE_ALLOCATION.into());
        let asked: Vec<(Var, Var)> = asked.filter_map(|var| self.with_sign(frame, var)).collect();
        state.lines.at_most_zero(Sum::of(size).plus(&limit, -1));
        for (bits, number) in asked {
            state.lines.zero(Sum::of(bits).plus(&Sum::of(number), -1));
            if let Var::Reg(reg) = number
                && let Some(op) = frame.flow.made(self.program, Reg(reg))
            {
                self.define(frame, state, op);
            }
        }
        // Before what was asked for goes into memory, and meets there what it was before.
        state.reduce(&self.names);
    }

    /// A variable of 64 bits that is read without a sign, and the same with one.
    fn with_sign(&self, frame: &Frame, var: Var) -> Option<(Var, Var)> {
        let (width, number) = match var {
            Var::Reg(reg) if reg & UNSIGNED != 0 => {
                let reg = reg & !UNSIGNED;
                (self.width(frame, Reg(reg)), Var::Reg(reg))
            }
            Var::Outer(ctx, reg) if reg & UNSIGNED != 0 && (ctx as usize) < self.contexts.len() => {
                let reg = reg & !UNSIGNED;
                let function = self.program.function(self.contexts.function(CtxId(ctx)));
                let width = function.registers.get(reg as usize).copied()?;
                (width, Var::Outer(ctx, reg))
            }
            Var::Cell(id, at, len) if len & UNSIGNED != 0 => {
                let len = len & !UNSIGNED;
                ((len * 8) as u16, Var::Cell(id, at, len))
            }
            _ => return None,
        };
        (width == 64).then_some((var, number))
    }
}
