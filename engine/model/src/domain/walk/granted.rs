//! What is known of the size of a request once it has been granted.
//!
//! The size of a block stands for the requested size even where the request may have been refused,
//! and may not be bounded there. An address in the block shows that the request was granted. No
//! block is larger than [`ONE_ALLOCATION`], so the requested size is then the same number signed
//! and unsigned.

use super::{Frame, Guide, Walker};
use crate::domain::linear::{Sum, UNSIGNED, Var};
use crate::domain::space::{CtxId, ObjId};
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::Reg;
use crate::term::fault::ONE_ALLOCATION;

/// Numbers up to the limit are the same signed and unsigned.
const _: () = assert!(ONE_ALLOCATION <= i64::MAX as u64);

impl<G: Guide> Walker<'_, G> {
    /// If a value that may have been NULL `before` is an address in one block now, the request for
    /// the block was granted.
    pub(super) fn known_granted(
        &self,
        frame: &Frame,
        state: &mut State,
        before: &Value,
        value: &Value,
    ) {
        if let Some((id, _)) = value.single_target()
            && before.num.is_some()
        {
            self.granted(frame, state, id);
        }
    }

    /// Adds what follows once it is known that the request for a block was granted.
    pub(super) fn granted(&self, frame: &Frame, state: &mut State, id: ObjId) {
        let info = self.names.info(id);
        if !self.relations || !info.heap || !info.is_unique {
            return;
        }
        let size = Var::Size(id);
        let asked = state.lines.iter().filter_map(|line| {
            let terms: Vec<(Var, i128)> = line.terms().collect();
            // The requested size is the size less a constant that is not negative.
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
        // Before the requested size is stored in memory and joined with an older value there.
        state.reduce(&self.names);
    }

    /// A variable of 64 bits that is read as unsigned, and the same variable read as signed.
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
