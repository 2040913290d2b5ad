//! Functions that read constants.

use llvm_sys::{LLVMOpcode, LLVMValueKind};

use super::{BasicBlock, Value};
use crate::raw::{holds, lent_bytes, llvm};
use crate::types::Type;

impl<'m> Value<'m> {
    /// The value of an integer constant of at most 64 bits, zero-extended.
    pub fn const_int(self) -> Option<u64> {
        let is_short = self.kind() == LLVMValueKind::LLVMConstantIntValueKind
            && self.ty().int_width().is_some_and(|width| width <= 64);
        is_short.then(|| llvm!(LLVMConstIntGetZExtValue(self.0)))
    }

    /// An element of a constant array, vector or structure.
    pub fn element(self, index: u32) -> Option<Value<'m>> {
        let element = self
            .is_constant()
            .then(|| llvm!(LLVMGetAggregateElement(self.0, index)))?;
        Value::some(element)
    }

    /// The bytes of a constant array of bytes. `None` if all are zero, since LLVM represents such
    /// an array differently.
    pub fn bytes(self) -> Option<&'m [u8]> {
        let is_text = !llvm!(LLVMIsAConstantDataArray(self.0)).is_null()
            && holds(llvm!(LLVMIsConstantString(self.0)));
        if !is_text {
            return None;
        }
        let mut len = 0;
        let data = llvm!(LLVMGetAsString(self.0, &mut len));
        Some(lent_bytes(data, len))
    }

    /// The numbers of a constant array of integers of 8 to 64 bits. `None` if all are zero. A table
    /// has millions of them, so nothing but its value is read of each.
    pub fn numbers(self) -> Option<impl Iterator<Item = u64> + 'm> {
        let is_table =
            !llvm!(LLVMIsAConstantDataArray(self.0)).is_null() && self.ty().element().is_integer();
        let len = is_table.then(|| self.ty().array_len() as u32)?;
        Some((0..len).map(move |i| {
            let number = llvm!(LLVMGetAggregateElement(self.0, i));
            llvm!(LLVMConstIntGetZExtValue(number))
        }))
    }

    /// The value that a global alias refers to.
    pub fn aliasee(self) -> Option<Value<'m>> {
        (self.kind() == LLVMValueKind::LLVMGlobalAliasValueKind)
            .then(|| Value::new(llvm!(LLVMAliasGetAliasee(self.0))))
    }

    /// The block of a block address.
    pub fn addressed_block(self) -> Option<BasicBlock<'m>> {
        (self.kind() == LLVMValueKind::LLVMBlockAddressValueKind)
            .then(|| BasicBlock::new(llvm!(LLVMGetBlockAddressBasicBlock(self.0))))
    }

    /// The opcode of a constant expression.
    pub fn const_opcode(self) -> Option<LLVMOpcode> {
        (self.kind() == LLVMValueKind::LLVMConstantExprValueKind)
            .then(|| llvm!(LLVMGetConstOpcode(self.0)))
    }

    /// The bits of a constant as a value of another type of the same size.
    pub fn constant_bits(self, ty: Type<'m>) -> Value<'m> {
        assert!(self.is_constant(), "no constant");
        Value::new(match ty.is_pointer() {
            true => llvm!(LLVMConstIntToPtr(self.0, ty.0)),
            false => llvm!(LLVMConstBitCast(self.0, ty.0)),
        })
    }
}
