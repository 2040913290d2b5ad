//! Values: functions, globals, constants, instructions; and basic blocks.

use std::marker::PhantomData;

use llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};
use llvm_sys::{LLVMLinkage, LLVMOpcode, LLVMValueKind};

use super::{Layout, Type, given, lent, llvm};

/// A value of a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Value<'m>(pub LLVMValueRef, pub PhantomData<&'m ()>);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BasicBlock<'m>(pub LLVMBasicBlockRef, pub PhantomData<&'m ()>);

impl<'m> BasicBlock<'m> {
    pub(crate) fn new(raw: LLVMBasicBlockRef) -> BasicBlock<'m> {
        BasicBlock(raw, PhantomData)
    }

    pub(crate) fn name(self) -> String {
        let name = llvm!(LLVMGetBasicBlockName(self.0));
        if name.is_null() {
            return String::new();
        }
        // SAFETY: a block's name is NUL-terminated and lives as long as the block.
        unsafe { std::ffi::CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned()
    }

    pub(crate) fn instructions(self) -> Vec<Value<'m>> {
        let mut all = Vec::new();
        let mut at = llvm!(LLVMGetFirstInstruction(self.0));
        while !at.is_null() {
            all.push(Value::new(at));
            at = llvm!(LLVMGetNextInstruction(at));
        }
        all
    }
}

impl<'m> Value<'m> {
    pub(crate) fn new(raw: LLVMValueRef) -> Value<'m> {
        Value(raw, PhantomData)
    }

    pub(crate) fn some(raw: LLVMValueRef) -> Option<Value<'m>> {
        (!raw.is_null()).then(|| Value::new(raw))
    }

    pub(crate) fn ty(self) -> Type<'m> {
        Type::new(llvm!(LLVMTypeOf(self.0)))
    }

    pub(crate) fn kind(self) -> LLVMValueKind {
        llvm!(LLVMGetValueKind(self.0))
    }

    pub(crate) fn name(self) -> String {
        let mut len = 0;
        let data = llvm!(LLVMGetValueName2(self.0, &mut len));
        lent(data, len)
    }

    pub(crate) fn set_name(self, name: &str) {
        llvm!(LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len()));
    }

    pub(crate) fn text(self) -> String {
        given(llvm!(LLVMPrintValueToString(self.0)))
    }

    pub(crate) fn is_constant(self) -> bool {
        llvm!(LLVMIsConstant(self.0)) != 0
    }

    pub(crate) fn is_undef(self) -> bool {
        llvm!(LLVMIsUndef(self.0)) != 0
    }

    pub(crate) fn is_null(self) -> bool {
        llvm!(LLVMIsNull(self.0)) != 0
    }

    pub(crate) fn is_instruction(self) -> bool {
        self.kind() == LLVMValueKind::LLVMInstructionValueKind
    }

    pub(crate) fn is_function(self) -> bool {
        self.kind() == LLVMValueKind::LLVMFunctionValueKind
    }

    pub(crate) fn is_global_variable(self) -> bool {
        self.kind() == LLVMValueKind::LLVMGlobalVariableValueKind
    }

    /// The integer of a `ConstantInt` of at most 64 bits.
    pub(crate) fn const_int(self) -> Option<u64> {
        (self.kind() == LLVMValueKind::LLVMConstantIntValueKind && self.ty().int_width() <= 64)
            .then(|| llvm!(LLVMConstIntGetZExtValue(self.0)))
    }

    // Operands and uses.

    pub(crate) fn operand_count(self) -> u32 {
        llvm!(LLVMGetNumOperands(self.0)).max(0) as u32
    }

    pub(crate) fn operand(self, index: u32) -> Value<'m> {
        Value::new(llvm!(LLVMGetOperand(self.0, index)))
    }

    pub(crate) fn operands(self) -> Vec<Value<'m>> {
        (0..self.operand_count())
            .filter_map(|i| Value::some(llvm!(LLVMGetOperand(self.0, i))))
            .collect()
    }

    pub(crate) fn set_operand(self, index: u32, to: Value<'m>) {
        llvm!(LLVMSetOperand(self.0, index, to.0));
    }

    pub(crate) fn users(self) -> Vec<Value<'m>> {
        let mut all = Vec::new();
        let mut at = llvm!(LLVMGetFirstUse(self.0));
        while !at.is_null() {
            all.push(Value::new(llvm!(LLVMGetUser(at))));
            at = llvm!(LLVMGetNextUse(at));
        }
        all
    }

    pub(crate) fn replace_all_uses(self, with: Value<'m>) {
        llvm!(LLVMReplaceAllUsesWith(self.0, with.0));
    }

    // Instructions.

    /// The opcode of an instruction; of anything else `None`.
    pub(crate) fn opcode(self) -> Option<LLVMOpcode> {
        self.is_instruction()
            .then(|| llvm!(LLVMGetInstructionOpcode(self.0)))
    }

    pub(crate) fn next_instruction(self) -> Option<Value<'m>> {
        Value::some(llvm!(LLVMGetNextInstruction(self.0)))
    }

    /// The block of an instruction.
    pub(crate) fn block(self) -> Option<BasicBlock<'m>> {
        let block = self
            .is_instruction()
            .then(|| llvm!(LLVMGetInstructionParent(self.0)));
        block.filter(|block| !block.is_null()).map(BasicBlock::new)
    }

    pub(crate) fn erase_instruction(self) {
        llvm!(LLVMInstructionEraseFromParent(self.0));
    }

    pub(crate) fn successors(self) -> Vec<BasicBlock<'m>> {
        let n = llvm!(LLVMGetNumSuccessors(self.0));
        (0..n)
            .map(|i| BasicBlock::new(llvm!(LLVMGetSuccessor(self.0, i))))
            .collect()
    }

    /// The pairs of a phi node.
    pub(crate) fn incoming(self) -> Vec<(Value<'m>, BasicBlock<'m>)> {
        let n = llvm!(LLVMCountIncoming(self.0));
        (0..n)
            .map(|i| {
                let value = Value::new(llvm!(LLVMGetIncomingValue(self.0, i)));
                (
                    value,
                    BasicBlock::new(llvm!(LLVMGetIncomingBlock(self.0, i))),
                )
            })
            .collect()
    }

    pub(crate) fn is_volatile(self) -> bool {
        llvm!(LLVMGetVolatile(self.0)) != 0
    }

    pub(crate) fn allocated_type(self) -> Type<'m> {
        Type::new(llvm!(LLVMGetAllocatedType(self.0)))
    }

    pub(crate) fn align(self) -> u32 {
        llvm!(LLVMGetAlignment(self.0))
    }

    /// Constant indices of `extractvalue` and `insertvalue`.
    pub(crate) fn indices(self) -> Vec<u32> {
        let n = llvm!(LLVMGetNumIndices(self.0)) as usize;
        let data = llvm!(LLVMGetIndices(self.0));
        // SAFETY: the instruction owns `n` indices at `data`.
        unsafe { std::slice::from_raw_parts(data, n) }.to_vec()
    }

    /// A `getelementptr`'s constant part and its variable indices with their scales.
    pub(crate) fn gep_parts(self, layout: Layout<'m>) -> Option<(i64, Vec<(Value<'m>, i64)>)> {
        let mut ty = self.gep_source();
        let mut constant = 0i64;
        let mut indices = Vec::new();
        for i in 1..self.operand_count() {
            let index = self.operand(i);
            let known = index.const_int().map(|bits| {
                let unused = 64 - index.ty().int_width();
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

    /// The source element type of a `getelementptr`, instruction or constant.
    pub(crate) fn gep_source(self) -> Type<'m> {
        Type::new(llvm!(LLVMGetGEPSourceElementType(self.0)))
    }

    pub(crate) fn is_inbounds(self) -> bool {
        llvm!(LLVMIsInBounds(self.0)) != 0
    }

    // Calls.

    pub(crate) fn is_call(self) -> bool {
        self.opcode() == Some(LLVMOpcode::LLVMCall)
    }

    pub(crate) fn callee(self) -> Value<'m> {
        Value::new(llvm!(LLVMGetCalledValue(self.0)))
    }

    pub(crate) fn callee_type(self) -> Type<'m> {
        Type::new(llvm!(LLVMGetCalledFunctionType(self.0)))
    }

    pub(crate) fn arguments(self) -> Vec<Value<'m>> {
        (0..llvm!(LLVMGetNumArgOperands(self.0)))
            .map(|i| self.operand(i))
            .collect()
    }

    /// The type attribute `byval` of a call's argument (counted from 0).
    pub(crate) fn call_byval(self, argument: u32) -> Option<Type<'m>> {
        let kind = attribute_kind("byval");
        let found = llvm!(LLVMGetCallSiteEnumAttribute(self.0, argument + 1, kind));
        (!found.is_null()).then(|| Type::new(llvm!(LLVMGetTypeAttributeValue(found))))
    }

    /// The `align` attribute of a call's argument.
    pub(crate) fn call_align(self, argument: u32) -> Option<u32> {
        let found = llvm!(LLVMGetCallSiteEnumAttribute(
            self.0,
            argument + 1,
            attribute_kind("align")
        ));
        (!found.is_null()).then(|| llvm!(LLVMGetEnumAttributeValue(found)) as u32)
    }

    // Functions and globals.

    pub(crate) fn function_type(self) -> Type<'m> {
        Type::new(llvm!(LLVMGlobalGetValueType(self.0)))
    }

    /// The type of the memory that a global variable names.
    pub(crate) fn value_type(self) -> Type<'m> {
        Type::new(llvm!(LLVMGlobalGetValueType(self.0)))
    }

    pub(crate) fn is_declaration(self) -> bool {
        llvm!(LLVMIsDeclaration(self.0)) != 0
    }

    pub(crate) fn linkage(self) -> LLVMLinkage {
        llvm!(LLVMGetLinkage(self.0))
    }

    pub(crate) fn set_linkage(self, linkage: LLVMLinkage) {
        llvm!(LLVMSetLinkage(self.0, linkage));
    }

    pub(crate) fn params(self) -> Vec<Value<'m>> {
        (0..llvm!(LLVMCountParams(self.0)))
            .map(|i| Value::new(llvm!(LLVMGetParam(self.0, i))))
            .collect()
    }

    pub(crate) fn blocks(self) -> Vec<BasicBlock<'m>> {
        let mut all = Vec::new();
        let mut at = llvm!(LLVMGetFirstBasicBlock(self.0));
        while !at.is_null() {
            all.push(BasicBlock::new(at));
            at = llvm!(LLVMGetNextBasicBlock(at));
        }
        all
    }

    /// Whether a global variable is read-only.
    pub(crate) fn is_global_constant(self) -> bool {
        llvm!(LLVMIsGlobalConstant(self.0)) != 0
    }

    pub(crate) fn initializer(self) -> Option<Value<'m>> {
        Value::some(llvm!(LLVMGetInitializer(self.0)))
    }

    /// The function that an instruction stands in.
    pub(crate) fn parent_function(self) -> Value<'m> {
        let block = llvm!(LLVMGetInstructionParent(self.0));
        Value::new(llvm!(LLVMGetBasicBlockParent(block)))
    }

    /// A string attribute of a function.
    pub(crate) fn string_attribute(self, key: &str) -> Option<String> {
        let found = llvm!(LLVMGetStringAttributeAtIndex(
            self.0,
            llvm_sys::LLVMAttributeFunctionIndex,
            key.as_ptr().cast(),
            key.len() as u32
        ));
        if found.is_null() {
            return None;
        }
        let mut len = 0;
        let data = llvm!(LLVMGetStringAttributeValue(found, &mut len));
        Some(lent(data, len as usize))
    }

    /// Marks a global variable by metadata of this name.
    pub(crate) fn mark(self, name: &str) {
        let context = llvm!(LLVMGetTypeContext(self.ty().0));
        let kind = mark_kind(context, name);
        let nothing = llvm!(LLVMMDNodeInContext2(context, std::ptr::null_mut(), 0));
        llvm!(LLVMGlobalSetMetadata(self.0, kind, nothing));
    }

    /// Whether a global variable is marked by metadata of this name.
    pub(crate) fn is_marked(self, name: &str) -> bool {
        let kind = mark_kind(llvm!(LLVMGetTypeContext(self.ty().0)), name);
        let mut count = 0;
        let entries = llvm!(LLVMGlobalCopyAllMetadata(self.0, &mut count));
        let is_marked =
            (0..count as u32).any(|i| llvm!(LLVMValueMetadataEntriesGetKind(entries, i)) == kind);
        llvm!(LLVMDisposeValueMetadataEntries(entries));
        is_marked
    }

    /// Directory, file, line and column of an instruction, a function or a global; line 0 if unknown.
    pub(crate) fn debug_location(self) -> (String, String, u32, u32) {
        let mut len = 0;
        let directory = llvm!(LLVMGetDebugLocDirectory(self.0, &mut len));
        let directory = lent(directory, len as usize);
        let file = llvm!(LLVMGetDebugLocFilename(self.0, &mut len));
        let file = lent(file, len as usize);
        let line = llvm!(LLVMGetDebugLocLine(self.0));
        let column = if self.is_instruction() {
            llvm!(LLVMGetDebugLocColumn(self.0))
        } else {
            0
        };
        (directory, file, line, column)
    }
}

/// LLVM's number for an attribute.
pub(crate) fn attribute_kind(name: &str) -> u32 {
    llvm!(LLVMGetEnumAttributeKindForName(
        name.as_ptr().cast(),
        name.len()
    ))
}

/// The number of metadata of this name.
fn mark_kind(context: llvm_sys::prelude::LLVMContextRef, name: &str) -> u32 {
    llvm!(LLVMGetMDKindIDInContext(
        context,
        name.as_ptr().cast(),
        name.len() as u32
    ))
}
