//! Narrows the index of a lookup in a constant table by what is known of the element.
//!
//! `isspace` and its like are bits in a table; decoders of base64 and of hexadecimal digits look up
//! whether a character is valid. What is known of the element says which indices are possible.
//! There are few elements, so each one is tried. The table is constant, so it does not matter how
//! long ago the element was read.

use smallvec::SmallVec;

use super::{Frame, Guide, Walker};
use crate::domain::contents::few;
use crate::domain::num::Num;
use crate::domain::space::Kind;
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::{BinOp, GlobalId, Op, Operand, Reg, Width};

/// The most elements of a table that are tried.
const ELEMENTS: u64 = 512;
/// The most operations between the read of an element and what is known.
const STEPS: usize = 4;

/// The read of an element: the register of the address, and the width in bits.
struct Read {
    address: Reg,
    width: Width,
}

impl<G: Guide> Walker<'_, G> {
    /// Given that a register has one of these values: if it was computed from an element of a
    /// constant table, narrows the index. Returns false if no element fits.
    pub(super) fn looked_up(
        &self,
        frame: &Frame,
        state: &mut State,
        (reg, width): (Reg, Width),
        value: &Value,
        depth: u32,
    ) -> bool {
        let Some(wanted) = value.plain().filter(|_| width <= 64) else {
            return true;
        };
        let Some((read, steps)) = self.read_by(frame, reg) else {
            return true;
        };
        let address = Operand::Reg(read.address);
        let known = self.get(frame, state, address, 64);
        let Some((id, offset)) = known.single_target() else {
            return true;
        };
        let global = match self.names.kind(id) {
            Kind::Global(global) if self.program.globals[global.index()].constant => global,
            _ => return true,
        };
        let Some(offsets) = few(offset, ELEMENTS) else {
            return true;
        };
        let fits = |at: &u32| {
            self.made_of(global, *at, &read, &steps)
                .is_none_or(|num| num.meet(width, wanted).is_some())
        };
        let mut left = offsets.filter(fits);
        let Some(first) = left.next() else {
            return false;
        };
        let last = left.last().unwrap_or(first);
        let hull = Num::signed_between(64, first.into(), last.into());
        match hull.and_then(|hull| offset.meet(64, &hull)) {
            Some(fewer) if fewer != *offset => {
                let value = Value::address(id, fewer);
                self.learned(frame, state, (address, 64), value, depth + 1)
            }
            _ => true,
        }
    }

    /// The read from which a register was computed, and the operations in between, the last one
    /// first.
    fn read_by(&self, frame: &Frame, reg: Reg) -> Option<(Read, SmallVec<[&Op; STEPS]>)> {
        let mut steps = SmallVec::new();
        let mut at = reg;
        loop {
            let op = frame.flow.made(self.program, at)?;
            at = match op {
                Op::Load {
                    address: Operand::Reg(address),
                    width,
                    volatile: false,
                    ..
                } if width.is_multiple_of(8) && *width <= 64 => {
                    let (address, width) = (*address, *width);
                    return Some((Read { address, width }, steps));
                }
                Op::Cast {
                    a: Operand::Reg(a), ..
                } => *a,
                Op::Bin {
                    op: BinOp::And | BinOp::Or | BinOp::Xor | BinOp::LShr,
                    a: Operand::Reg(a),
                    b: Operand::Const(_),
                    ..
                } => *a,
                _ => return None,
            };
            if steps.len() == STEPS {
                return None;
            }
            steps.push(op);
        }
    }

    /// The result of operations on an element; `None` if it is unknown.
    fn made_of(&self, global: GlobalId, at: u32, read: &Read, steps: &[&Op]) -> Option<Num> {
        let element = self.names.initial(global, at, u32::from(read.width / 8));
        let mut num = *element.plain()?;
        for op in steps.iter().rev() {
            num = match op {
                Op::Cast { kind, from, to, .. } if *from.max(to) <= 64 => {
                    num.cast(*kind, *from, *to)
                }
                Op::Bin {
                    op,
                    width,
                    b: Operand::Const(by),
                    ..
                } if *width <= 64 && (*op != BinOp::LShr || *by < u64::from(*width)) => {
                    num.bin(*op, *width, &Num::exactly(*width, (*by).into()))
                }
                _ => return None,
            };
        }
        Some(num)
    }
}
