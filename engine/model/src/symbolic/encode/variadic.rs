//! `va_start`, with the machine's layout of a `va_list`.

use super::super::state::Reached;
use super::super::world::CtxId;
use super::{Encoder, Step, Stop};
use crate::program::ir::{ArgClass, CheckId, Operand};
use crate::term::Term;

const SAVE_AREA: u32 = 176;
const GENERAL_END: u32 = 48;

impl Encoder<'_, '_> {
    /// Fills the `va_list` at `list`.
    pub(super) fn va_start(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        (list, op): (Operand, usize),
        check: CheckId,
    ) -> Step {
        let list = self.get(&mut now.state, list, 64);
        let Some(variadic) = now.state.frame().variadic.clone() else {
            self.hole(ctx, now, "va_start behind a loop".to_owned());
            return Err(Stop::Ended);
        };
        let (mut general, mut sse) = (
            variadic.fixed.0.min(6) * 8,
            GENERAL_END + variadic.fixed.1.min(8) * 16,
        );
        let (general_start, sse_start) = (general, sse);
        let mut stack = 0u32;
        let mut save = self.unknown_contents();
        let mut overflow = self.unknown_contents();
        for argument in &variadic.extra {
            let (in_registers, offset, size) = match argument.class {
                ArgClass::Integer if general + 8 <= GENERAL_END => {
                    general += 8;
                    (true, general - 8, 8)
                }
                ArgClass::Sse if sse + 16 <= SAVE_AREA => {
                    sse += 16;
                    (
                        true,
                        sse - 16,
                        u32::from(argument.width.div_ceil(8)).min(16),
                    )
                }
                ArgClass::Integer | ArgClass::Sse => (false, stack, 8),
                ArgClass::X87 => (false, stack.next_multiple_of(16), 16),
                ArgClass::ByVal { .. } => {
                    self.hole(ctx, now, "a structure as a variable argument".to_owned());
                    return Err(Stop::Ended);
                }
            };
            if !in_registers {
                stack = offset + size.next_multiple_of(8);
            }
            let width = if argument.class == ArgClass::Integer {
                64
            } else {
                argument.width.div_ceil(8) * 8
            };
            let value = if self.pool.width(argument.value) > width {
                self.pool.extract(argument.value, 0, width)
            } else {
                self.pool.zext(argument.value, width)
            };
            let area = if in_registers {
                &mut save
            } else {
                &mut overflow
            };
            area.write_at(self.pool, offset, value);
        }
        let size = self.c64(u64::from(SAVE_AREA));
        let save = self.allocate(ctx, now, (op, 1), size, save, false);
        let size = self.c64(u64::from(stack));
        let overflow = self.allocate(ctx, now, (op, 2), size, overflow, false);
        let general = self.constant(32, u64::from(general_start));
        let sse = self.constant(32, u64::from(sse_start));
        let fields: [(u32, Term); 4] = [(0, general), (4, sse), (8, overflow), (16, save)];
        for (offset, value) in fields {
            let to = super::super::memory::plus(self.pool, list, offset);
            self.store(ctx, now, to, value, Some(check))?;
        }
        Ok(())
    }
}
