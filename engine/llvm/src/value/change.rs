//! Changes of values. They are not used where a program is only read.

use llvm_sys::prelude::LLVMAttributeRef;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMLinkage, LLVMOpcode, LLVMVisibility};

use super::{AttributeKind, BasicBlock, Place, Value};
use crate::raw::{holds, llvm, terminated};

impl<'m> Value<'m> {
    /// Sets the name. LLVM adds a number if another value has the name.
    pub fn set_name(self, name: &str) {
        llvm!(LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len()));
    }

    /// Sets the name and returns the value.
    pub fn named(self, name: &str) -> Value<'m> {
        self.set_name(name);
        self
    }

    /// Replaces one operand by a value of the same type.
    pub fn set_operand(self, index: u32, to: Value<'m>) {
        assert!(self.operand(index).ty() == to.ty(), "another type");
        llvm!(LLVMSetOperand(self.0, index, to.0));
    }

    /// Replaces each use of the value by a use of another value of the same type.
    pub fn replace_all_uses(self, with: Value<'m>) {
        assert!(self.ty() == with.ty(), "another type");
        llvm!(LLVMReplaceAllUsesWith(self.0, with.0));
    }

    fn is_used(self) -> bool {
        !llvm!(LLVMGetFirstUse(self.0)).is_null()
    }

    /// Removes an instruction, a function or a global variable that has no uses. The handle must
    /// not be used again, because its memory is freed.
    pub fn delete(self) {
        assert!(!self.is_used(), "something uses it");
        if self.is_function() {
            llvm!(LLVMDeleteFunction(self.0));
        } else if self.is_global_variable() {
            llvm!(LLVMDeleteGlobal(self.0));
        } else {
            assert!(self.is_instruction(), "no instruction");
            llvm!(LLVMInstructionEraseFromParent(self.0));
        }
    }

    /// Sets the linkage of a global value.
    pub fn set_linkage(self, linkage: LLVMLinkage) {
        assert!(self.is_global_value(), "nothing global");
        llvm!(LLVMSetLinkage(self.0, linkage));
    }

    /// Hides a definition from the dynamic linker, so that a definition elsewhere in the process
    /// cannot replace it.
    pub fn hide(self) {
        use LLVMLinkage::*;
        // Local definitions must keep the default visibility.
        if !matches!(self.linkage(), LLVMInternalLinkage | LLVMPrivateLinkage) {
            let hidden = LLVMVisibility::LLVMHiddenVisibility;
            llvm!(LLVMSetVisibility(self.0, hidden));
        }
    }

    /// Sets the initial value of a global variable: a constant of its type.
    pub fn set_initializer(self, value: Value<'m>) {
        let fits = self.value_type() == value.ty() && value.is_constant();
        assert!(self.is_global_variable() && fits, "another type");
        llvm!(LLVMSetInitializer(self.0, value.0));
    }

    /// Declares that a global variable is never written.
    pub fn set_global_constant(self) {
        assert!(self.is_global_variable(), "no global variable");
        llvm!(LLVMSetGlobalConstant(self.0, 1));
    }

    /// Sets the section of a global variable or a function.
    pub fn set_section(self, section: &str) {
        assert!(self.is_global_object(), "nothing global");
        llvm!(LLVMSetSection(self.0, terminated(section).as_ptr()));
    }

    /// Sets the alignment, a power of two, of an access, an `alloca`, a function or a global
    /// variable.
    pub fn set_align(self, align: u32) {
        assert!(self.has_align() && align.is_power_of_two(), "no alignment");
        llvm!(LLVMSetAlignment(self.0, align));
    }

    /// Makes an access volatile, so that it is neither removed nor moved.
    pub fn set_volatile(self) {
        assert!(self.is_access(), "no access");
        llvm!(LLVMSetVolatile(self.0, 1));
    }

    /// Drops the flags of an instruction that let LLVM treat some of its results as impossible.
    pub fn drop_flags(self) {
        use LLVMOpcode::*;
        match self.opcode() {
            Some(LLVMAdd | LLVMSub | LLVMMul | LLVMShl) => {
                llvm!(LLVMSetNSW(self.0, 0));
                llvm!(LLVMSetNUW(self.0, 0));
            }
            Some(LLVMUDiv | LLVMSDiv | LLVMLShr | LLVMAShr) => llvm!(LLVMSetExact(self.0, 0)),
            Some(LLVMZExt | LLVMUIToFP) => llvm!(LLVMSetNNeg(self.0, 0)),
            Some(LLVMOr) => llvm!(LLVMSetIsDisjoint(self.0, 0)),
            Some(LLVMGetElementPtr) => llvm!(LLVMSetIsInBounds(self.0, 0)),
            _ => {}
        }
        if holds(llvm!(LLVMCanValueUseFastMathFlags(self.0))) {
            llvm!(LLVMSetFastMathFlags(self.0, 0));
        }
    }

    /// Appends a new block to a function.
    pub fn append_block(self, name: &str) -> BasicBlock<'m> {
        assert!(self.is_function(), "no function");
        let (context, name) = (self.context(), terminated(name));
        let block = llvm!(LLVMAppendBasicBlockInContext(
            context,
            self.0,
            name.as_ptr()
        ));
        BasicBlock::new(block)
    }

    // Attributes.

    /// Adds an attribute without a value to a function.
    pub fn add_attribute(self, AttributeKind(kind): AttributeKind) {
        assert!(self.is_function(), "no function");
        let attribute = llvm!(LLVMCreateEnumAttribute(self.context(), kind, 0));
        self.set_attribute(attribute);
    }

    fn set_attribute(self, attribute: LLVMAttributeRef) {
        let whole = LLVMAttributeFunctionIndex;
        llvm!(LLVMAddAttributeAtIndex(self.0, whole, attribute));
    }

    /// Removes an attribute from a function or a call.
    pub fn remove_attribute(self, place: Place, AttributeKind(kind): AttributeKind) {
        let index = place.index();
        if self.is_any_call() {
            llvm!(LLVMRemoveCallSiteEnumAttribute(self.0, index, kind));
        } else {
            assert!(self.is_function(), "no function");
            llvm!(LLVMRemoveEnumAttributeAtIndex(self.0, index, kind));
        }
    }

    /// Sets a string attribute of a function.
    pub fn set_string_attribute(self, name: &str, text: &str) {
        assert!(self.is_function(), "no function");
        let attribute = llvm!(LLVMCreateStringAttribute(
            self.context(),
            name.as_ptr().cast(),
            name.len() as u32,
            text.as_ptr().cast(),
            text.len() as u32
        ));
        self.set_attribute(attribute);
    }
}
