//! The checks of accesses, and which of them are trivial.

use cegar_llvm::{LLVMOpcode, Value};

use super::body::Body;
use crate::program::ir::*;

impl<'m> Body<'_, 'm> {
    /// Numbers the check of an access of `size` bytes at `address`.
    pub(super) fn access(&mut self, kind: CheckKind, address: Value<'m>, size: u64) -> CheckId {
        let expression = self.describe(address, size);
        let trivial = self.is_trivial(kind, address, size);
        self.numbered(kind, expression, trivial)
    }

    /// `base + offset`, as an operand.
    pub(super) fn displaced(&mut self, base: Operand, offset: u64) -> Operand {
        match base {
            _ if offset == 0 => base,
            Operand::Const(address) => Operand::Const(address.wrapping_add(offset)),
            _ => {
                let dst = self.temporary(64);
                let indices = Box::default();
                self.emit(Op::Address {
                    dst,
                    base,
                    offset: offset as i64,
                    indices,
                    inbounds: true,
                });
                Operand::Reg(dst)
            }
        }
    }

    /// Whether the access is to a named variable of fixed size, at a constant offset within it. The
    /// variable's lifetime covers every access by name (C11 6.2.4), so nothing can go wrong.
    fn is_trivial(&self, kind: CheckKind, address: Value<'m>, size: u64) -> bool {
        let Some((base, offset)) = self.base_and_offset(address) else {
            return false;
        };
        let bound = if base.is_global_variable() {
            if kind == CheckKind::Write && base.is_global_constant() {
                return false;
            }
            self.layout.size(base.value_type())
        } else if base.opcode() == Some(LLVMOpcode::LLVMAlloca)
            && base.operand(0).const_int() == Some(1)
        {
            self.layout.size(base.allocated_type())
        } else {
            return false;
        };
        offset >= 0
            && (offset as u64)
                .checked_add(size)
                .is_some_and(|end| end <= bound)
    }

    /// The base and the constant offset that an address is computed from.
    fn base_and_offset(&self, mut address: Value<'m>) -> Option<(Value<'m>, i64)> {
        let mut offset = 0i64;
        loop {
            if !address.is_gep() {
                return Some((address, offset));
            }
            let (constant, indices) = address.gep_parts(self.layout)?;
            if !indices.is_empty() {
                return None;
            }
            offset = offset.checked_add(constant)?;
            address = address.operand(0);
        }
    }
}
