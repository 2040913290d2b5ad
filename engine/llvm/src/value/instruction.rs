//! Properties of instructions, by kind.

use llvm_sys::{
    LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate,
};

use super::{BasicBlock, Value};
use crate::raw::{holds, lent, llvm};
use crate::types::{Layout, Type};

impl<'m> Value<'m> {
    /// The opcode of an instruction.
    pub fn opcode(self) -> Option<LLVMOpcode> {
        self.is_instruction()
            .then(|| llvm!(LLVMGetInstructionOpcode(self.0)))
    }

    fn is(self, opcode: LLVMOpcode) -> bool {
        self.opcode() == Some(opcode)
    }

    /// The instruction after this one in its block.
    pub fn next_instruction(self) -> Option<Value<'m>> {
        let next = self
            .is_instruction()
            .then(|| llvm!(LLVMGetNextInstruction(self.0)))?;
        Value::some(next)
    }

    /// The instruction before this one in its block.
    pub fn previous_instruction(self) -> Option<Value<'m>> {
        let previous = self
            .is_instruction()
            .then(|| llvm!(LLVMGetPreviousInstruction(self.0)))?;
        Value::some(previous)
    }

    /// The block of an instruction.
    pub fn block(self) -> Option<BasicBlock<'m>> {
        let block = self
            .is_instruction()
            .then(|| llvm!(LLVMGetInstructionParent(self.0)));
        block.filter(|block| !block.is_null()).map(BasicBlock::new)
    }

    /// The function that contains an instruction.
    pub fn parent_function(self) -> Value<'m> {
        let block = self.block().expect("an instruction in a block");
        Value::new(llvm!(LLVMGetBasicBlockParent(block.0)))
    }

    /// The successors of the block that ends with this instruction. Empty for other values.
    pub fn successors(self) -> Vec<BasicBlock<'m>> {
        if llvm!(LLVMIsATerminatorInst(self.0)).is_null() {
            return Vec::new();
        }
        (0..llvm!(LLVMGetNumSuccessors(self.0)))
            .map(|i| BasicBlock::new(llvm!(LLVMGetSuccessor(self.0, i))))
            .collect()
    }

    /// The condition of a conditional branch.
    pub fn condition(self) -> Option<Value<'m>> {
        let is_conditional = self.is(LLVMOpcode::LLVMBr) && holds(llvm!(LLVMIsConditional(self.0)));
        is_conditional.then(|| Value::new(llvm!(LLVMGetCondition(self.0))))
    }

    /// The values of a phi node with their predecessor blocks. Empty for other values.
    pub fn incoming(self) -> Vec<(Value<'m>, BasicBlock<'m>)> {
        if !self.is(LLVMOpcode::LLVMPHI) {
            return Vec::new();
        }
        let pair = |i| {
            let value = Value::new(llvm!(LLVMGetIncomingValue(self.0, i)));
            let block = BasicBlock::new(llvm!(LLVMGetIncomingBlock(self.0, i)));
            (value, block)
        };
        (0..llvm!(LLVMCountIncoming(self.0))).map(pair).collect()
    }

    /// Whether it is arithmetic that the compiler may change, as with `-ffast-math`.
    pub fn is_fast(self) -> bool {
        self.is_instruction()
            && holds(llvm!(LLVMCanValueUseFastMathFlags(self.0)))
            && llvm!(LLVMGetFastMathFlags(self.0)) != 0
    }

    /// Whether it is a volatile access.
    pub fn is_volatile(self) -> bool {
        self.is_access() && holds(llvm!(LLVMGetVolatile(self.0)))
    }

    /// Whether it is a load, a store, or an atomic access that does both.
    pub(super) fn is_access(self) -> bool {
        use LLVMOpcode::*;
        matches!(
            self.opcode(),
            Some(LLVMLoad | LLVMStore | LLVMAtomicRMW | LLVMAtomicCmpXchg)
        )
    }

    /// Whether it is a load or a store that is not atomic.
    pub fn is_plain_access(self) -> bool {
        matches!(
            self.opcode(),
            Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore)
        ) && llvm!(LLVMGetOrdering(self.0)) == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
    }

    /// The type of the variable that an `alloca` allocates.
    pub fn allocated_type(self) -> Type<'m> {
        assert!(self.is(LLVMOpcode::LLVMAlloca), "no alloca");
        Type::new(llvm!(LLVMGetAllocatedType(self.0)))
    }

    pub(super) fn has_align(self) -> bool {
        self.is_global_object() || self.is_access() || self.is(LLVMOpcode::LLVMAlloca)
    }

    /// The alignment of an access, an `alloca`, a function or a global variable. The result is 0
    /// for other values, and if no alignment is specified.
    pub fn align(self) -> u32 {
        match self.has_align() {
            true => llvm!(LLVMGetAlignment(self.0)),
            false => 0,
        }
    }

    /// The constant indices of `extractvalue` and `insertvalue`. Empty for other values.
    pub fn indices(self) -> Vec<u32> {
        let has_indices = matches!(
            self.opcode(),
            Some(LLVMOpcode::LLVMExtractValue | LLVMOpcode::LLVMInsertValue)
        );
        if !has_indices {
            return Vec::new();
        }
        let count = llvm!(LLVMGetNumIndices(self.0)) as usize;
        let data = llvm!(LLVMGetIndices(self.0));
        // SAFETY: the instruction owns `count` indices at `data`, and has at least one.
        unsafe { std::slice::from_raw_parts(data, count) }.to_vec()
    }

    /// Whether it is a `getelementptr`, as an instruction or a constant.
    pub fn is_gep(self) -> bool {
        let opcode = self.opcode().or_else(|| self.const_opcode());
        opcode == Some(LLVMOpcode::LLVMGetElementPtr)
    }

    /// The source element type of a `getelementptr`.
    pub fn gep_source(self) -> Type<'m> {
        assert!(self.is_gep(), "no getelementptr");
        Type::new(llvm!(LLVMGetGEPSourceElementType(self.0)))
    }

    /// Whether a `getelementptr` is `inbounds`.
    pub fn is_inbounds(self) -> bool {
        self.is_gep() && holds(llvm!(LLVMIsInBounds(self.0)))
    }

    /// The constant part of a `getelementptr`, and its variable indices with their scales. `None`
    /// if the constant part does not fit in 64 bits.
    pub fn gep_parts(self, layout: Layout<'m>) -> Option<(i64, Vec<(Value<'m>, i64)>)> {
        let mut ty = self.gep_source();
        let mut constant = 0i64;
        let mut indices = Vec::new();
        for i in 1..self.operand_count() {
            let index = self.operand(i);
            let known = index.const_int().zip(index.ty().int_width());
            let known = known.map(|(bits, width)| {
                let unused = 64 - width;
                ((bits << unused) as i64) >> unused
            });
            if i > 1 && ty.is_struct() {
                let field = known?;
                constant = constant.checked_add(layout.field_offset(ty, field as u32) as i64)?;
                ty = *ty.fields().get(field as usize)?;
                continue;
            }
            if i > 1 {
                ty = ty.element();
            }
            let scale = layout.size(ty) as i64;
            match known {
                Some(known) => constant = constant.checked_add(known.checked_mul(scale)?)?,
                None => indices.push((index, scale)),
            }
        }
        Some((constant, indices))
    }

    /// The predicate of an `icmp`.
    pub fn int_predicate(self) -> LLVMIntPredicate {
        assert!(self.is(LLVMOpcode::LLVMICmp), "no icmp");
        llvm!(LLVMGetICmpPredicate(self.0))
    }

    /// The predicate of an `fcmp`.
    pub fn real_predicate(self) -> LLVMRealPredicate {
        assert!(self.is(LLVMOpcode::LLVMFCmp), "no fcmp");
        llvm!(LLVMGetFCmpPredicate(self.0))
    }

    /// The operation of an `atomicrmw`.
    pub fn atomic_operation(self) -> LLVMAtomicRMWBinOp {
        assert!(self.is(LLVMOpcode::LLVMAtomicRMW), "no atomicrmw");
        llvm!(LLVMGetAtomicRMWBinOp(self.0))
    }

    /// For each element of the result of a `shufflevector`, the index of the operands' element that
    /// it is, or a negative number if it is none. Empty for other values.
    pub fn shuffle_mask(self) -> Vec<i32> {
        let count = match self.is(LLVMOpcode::LLVMShuffleVector) {
            true => llvm!(LLVMGetNumMaskElements(self.0)),
            false => 0,
        };
        (0..count)
            .map(|i| llvm!(LLVMGetMaskValue(self.0, i)))
            .collect()
    }

    /// Whether it is a call that describes a C variable: `llvm.dbg.value` or `llvm.dbg.declare`.
    pub fn is_debug_binding(self) -> bool {
        !llvm!(LLVMIsADbgVariableIntrinsic(self.0)).is_null()
    }

    // Calls.

    /// Whether it is a plain call.
    pub fn is_call(self) -> bool {
        self.is(LLVMOpcode::LLVMCall)
    }

    pub(super) fn is_any_call(self) -> bool {
        use LLVMOpcode::*;
        matches!(self.opcode(), Some(LLVMCall | LLVMInvoke | LLVMCallBr))
    }

    /// The callee of a call: a function, another pointer, or assembly.
    pub fn callee(self) -> Value<'m> {
        assert!(self.is_any_call(), "no call");
        Value::new(llvm!(LLVMGetCalledValue(self.0)))
    }

    /// The function that is called, if it is called directly.
    pub fn called_function(self) -> Option<Value<'m>> {
        Some(self.callee()).filter(|callee| callee.is_function())
    }

    /// The type with which a function is called.
    pub fn callee_type(self) -> Type<'m> {
        assert!(self.is_any_call(), "no call");
        Type::new(llvm!(LLVMGetCalledFunctionType(self.0)))
    }

    /// The arguments of a call.
    pub fn arguments(self) -> Vec<Value<'m>> {
        assert!(self.is_any_call(), "no call");
        (0..llvm!(LLVMGetNumArgOperands(self.0)))
            .map(|i| self.operand(i))
            .collect()
    }

    /// Changes the callee of a call to `function`, which must have the same type.
    pub fn set_callee(self, function: Value<'m>) {
        assert!(self.is_any_call(), "no call");
        self.set_operand(self.operand_count() - 1, function);
    }

    /// The code and the constraints of inline assembly.
    pub fn assembly(self) -> Option<(String, String)> {
        if llvm!(LLVMIsAInlineAsm(self.0)).is_null() {
            return None;
        }
        let mut len = 0;
        let code = llvm!(LLVMGetInlineAsmAsmString(self.0, &mut len));
        let code = lent(code, len);
        let constraints = llvm!(LLVMGetInlineAsmConstraintString(self.0, &mut len));
        Some((code, lent(constraints, len)))
    }
}
