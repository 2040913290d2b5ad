//! Changes of metadata attached to instructions and global variables. They are not used where a
//! program is only read.

use llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef};

use super::{Metadata, MetadataKind};
use crate::raw::llvm;
use crate::value::Value;

impl<'m> Metadata<'m> {
    pub(crate) fn new_string(context: LLVMContextRef, text: &str) -> Option<Metadata<'m>> {
        let (data, len) = (text.as_ptr().cast(), text.len());
        let made = llvm!(LLVMMDStringInContext2(context, data, len));
        Metadata::some(made, context)
    }

    pub(crate) fn new_node(
        context: LLVMContextRef,
        operands: &[Metadata<'m>],
    ) -> Option<Metadata<'m>> {
        let mut raw: Vec<LLVMMetadataRef> = operands.iter().map(|operand| operand.raw).collect();
        let (first, count) = (raw.as_mut_ptr(), raw.len());
        let made = llvm!(LLVMMDNodeInContext2(context, first, count));
        Metadata::some(made, context)
    }
}

impl<'m> Value<'m> {
    /// Attaches a node with these operands to an instruction, in place of one of the same kind.
    pub fn set_metadata(self, name: &str, parts: &[Metadata<'m>]) {
        assert!(self.is_instruction(), "no instruction");
        let MetadataKind(kind) = MetadataKind::named(self.context(), name);
        if let Some(node) = Metadata::new_node(self.context(), parts) {
            llvm!(LLVMSetMetadata(self.0, kind, node.wrapped().0));
        }
    }

    /// Attaches a text to an instruction.
    pub fn set_metadata_text(self, name: &str, text: &str) {
        let text = Metadata::new_string(self.context(), text);
        self.set_metadata(name, text.as_slice());
    }

    /// Removes the metadata attached to an instruction, except for these kinds and the debug
    /// location.
    pub fn keep_metadata(self, kept: &[MetadataKind]) {
        if !self.is_instruction() || llvm!(LLVMHasMetadata(self.0)) == 0 {
            return;
        }
        let mut count = 0;
        let entries = llvm!(LLVMInstructionGetAllMetadataOtherThanDebugLoc(
            self.0, &mut count
        ));
        let kinds: Vec<u32> = (0..count)
            .map(|i| llvm!(LLVMValueMetadataEntriesGetKind(entries, i as u32)))
            .collect();
        llvm!(LLVMDisposeValueMetadataEntries(entries));
        for kind in kinds
            .into_iter()
            .filter(|k| !kept.contains(&MetadataKind(*k)))
        {
            llvm!(LLVMSetMetadata(self.0, kind, std::ptr::null_mut()));
        }
    }

    /// Marks a global variable by attaching an empty node of this kind.
    pub fn mark(self, name: &str) {
        assert!(self.is_global_variable(), "no global variable");
        let MetadataKind(kind) = MetadataKind::named(self.context(), name);
        if let Some(nothing) = Metadata::new_node(self.context(), &[]) {
            llvm!(LLVMGlobalSetMetadata(self.0, kind, nothing.raw));
        }
    }
}
