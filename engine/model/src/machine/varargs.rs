//! `va_start`, as the System V ABI lays it out (figure 3.33 there).
//!
//! clang expands `va_arg` itself, into loads from a register save area and an overflow area, so
//! these must exist as memory. Both are objects of the frame: reading more arguments than were
//! passed is an access out of bounds, or finds uninitialised bytes, and is reported as such.

use super::memory::ObjectOrigin;
use super::shadow::Shade;
use super::step::{Run, Step};
use crate::program::ir::{ArgClass, CheckId, CheckKind, Operand};

const SAVE_AREA: u64 = 176;
const GENERAL_END: u32 = 48;

impl<const TRACK: bool> Run<'_, TRACK> {
    /// Fills the `va_list` at `list`.
    pub(super) fn va_start(&mut self, list: Operand, check: CheckId) -> Step {
        let at = self.concretise(list, 64) as u64;
        if let Err(fault) = self.memory.check_write(at, 24) {
            return Err(self.fault(Some(check), CheckKind::Write, fault, at, 24));
        }
        let Some(frame) = self.frames.last() else {
            return Ok(());
        };
        let general_start = frame.fixed.0.min(6) * 8;
        let sse_start = GENERAL_END + frame.fixed.1.min(8) * 16;
        let extra = frame.variable_arguments.clone();
        let save = self.argument_area(SAVE_AREA)?;
        let (mut general, mut sse, mut stack) = (general_start, sse_start, 0u64);
        let mut places = Vec::with_capacity(extra.len());
        for argument in &extra {
            let (area, offset, size) = match argument.class {
                ArgClass::Integer if general + 8 <= GENERAL_END => {
                    general += 8;
                    (true, u64::from(general - 8), 8)
                }
                ArgClass::Sse if u64::from(sse) + 16 <= SAVE_AREA => {
                    sse += 16;
                    (
                        true,
                        u64::from(sse - 16),
                        u64::from(argument.width.div_ceil(8)).min(16),
                    )
                }
                ArgClass::Integer | ArgClass::Sse => (false, stack, 8),
                ArgClass::X87 => (false, stack.next_multiple_of(16), 16),
                ArgClass::ByVal { size, align } => {
                    let align = u64::from(align.max(8));
                    (false, stack.next_multiple_of(align), u64::from(size))
                }
            };
            if !area {
                stack = offset + size.next_multiple_of(8);
            }
            places.push((area, offset, size));
        }
        let overflow = self.argument_area(stack)?;
        for (argument, (in_registers, offset, size)) in extra.iter().zip(places) {
            let to = offset + if in_registers { save } else { overflow };
            if let ArgClass::ByVal { .. } = argument.class {
                let from = argument.value as u64;
                if let Err(fault) = self.memory.readable(from, size) {
                    return Err(self.fault(Some(check), CheckKind::Read, fault, from, size));
                }
                self.within(from, size, Some(check));
                self.copy_bytes(to, from, size);
            } else {
                let width = if argument.class == ArgClass::Integer {
                    64
                } else {
                    argument.width
                };
                self.put(to, width, argument.value, argument.shade)?;
            }
        }
        self.put(at, 32, u128::from(general_start), Shade::default())?;
        self.put(at + 4, 32, u128::from(sse_start), Shade::default())?;
        self.put(at + 8, 64, u128::from(overflow), Shade::default())?;
        self.put(at + 16, 64, u128::from(save), Shade::default())
    }

    fn argument_area(&mut self, size: u64) -> Step<u64> {
        self.room_for(size)?;
        let address = self.memory.allocate(size, ObjectOrigin::Arguments);
        self.objects.push(address);
        Ok(address)
    }

    /// Stores at a constant address.
    pub(super) fn put(&mut self, at: u64, width: u16, value: u128, shade: Shade) -> Step {
        self.store(Operand::Const(at), width, value, shade, None)
    }
}
