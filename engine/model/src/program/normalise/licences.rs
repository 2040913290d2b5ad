//! Drops what lets an optimiser exploit undefined behaviour.
//!
//! The native side compiles this module at -O2. A signed sum that wraps, a pointer past its object or a
//! loop without end must there do what the machine does, not what an optimiser may assume never happens.

use llvm_sys::{LLVMAtomicOrdering, LLVMOpcode};

use crate::program::convention::INSTEAD;
use crate::program::llvm::{Module, Value, attribute_kind, llvm, metadata};

const FUNCTION: [&str; 15] = [
    "mustprogress",
    "willreturn",
    "nofree",
    "nosync",
    "memory",
    "norecurse",
    "speculatable",
    "optnone",
    "noinline",
    "allockind",
    "allocsize",
    "nocallback",
    "alwaysinline",
    "inlinehint",
    "convergent",
];

const VALUE: [&str; 15] = [
    "noundef",
    "nonnull",
    "dereferenceable",
    "dereferenceable_or_null",
    "noalias",
    "range",
    "returned",
    "nocapture",
    "readonly",
    "readnone",
    "writeonly",
    "nofpclass",
    "initializes",
    "writable",
    "dead_on_unwind",
];

/// Drops flags, attributes, metadata and assumptions.
pub(super) fn drop(module: &Module) {
    let kinds = |names: &[&str]| -> Vec<u32> { names.iter().map(|n| attribute_kind(n)).collect() };
    let (function_kinds, value_kinds) = (kinds(&FUNCTION), kinds(&VALUE));
    let kept_metadata = ["dbg", "nosanitize", "srcloc", metadata::LOOP, INSTEAD].map(|n| {
        llvm!(LLVMGetMDKindIDInContext(
            module.context,
            n.as_ptr().cast(),
            n.len() as u32
        ))
    });
    for function in module.functions() {
        if function.name().starts_with("llvm.") {
            continue;
        }
        let remove =
            |at: u32, kind: u32| llvm!(LLVMRemoveEnumAttributeAtIndex(function.0, at, kind));
        function_kinds
            .iter()
            .for_each(|k| remove(llvm_sys::LLVMAttributeFunctionIndex, *k));
        for at in 0..=function.params().len() as u32 {
            value_kinds.iter().for_each(|k| remove(at, *k));
        }
        for block in function.blocks() {
            for instruction in block.instructions() {
                if instruction.is_call() && instruction.callee().name().starts_with("llvm.assume") {
                    instruction.erase_instruction();
                    continue;
                }
                drop_flags(instruction);
                metadata::keep_loop_place(module, instruction);
                drop_metadata(instruction, &kept_metadata);
                if instruction.is_call() {
                    let remove = |at: u32, kind: u32| {
                        llvm!(LLVMRemoveCallSiteEnumAttribute(instruction.0, at, kind))
                    };
                    let whole = llvm_sys::LLVMAttributeFunctionIndex;
                    function_kinds.iter().for_each(|k| remove(whole, *k));
                    for at in 0..=instruction.arguments().len() as u32 {
                        value_kinds.iter().for_each(|k| remove(at, *k));
                    }
                }
            }
        }
    }
}

fn drop_flags(instruction: Value<'_>) {
    use LLVMOpcode::*;
    match instruction.opcode() {
        Some(LLVMAdd | LLVMSub | LLVMMul | LLVMShl) => {
            llvm!(LLVMSetNSW(instruction.0, 0));
            llvm!(LLVMSetNUW(instruction.0, 0));
        }
        Some(LLVMUDiv | LLVMSDiv | LLVMLShr | LLVMAShr) => llvm!(LLVMSetExact(instruction.0, 0)),
        Some(LLVMZExt | LLVMUIToFP) => llvm!(LLVMSetNNeg(instruction.0, 0)),
        Some(LLVMOr) => llvm!(LLVMSetIsDisjoint(instruction.0, 0)),
        Some(LLVMGetElementPtr) => llvm!(LLVMSetIsInBounds(instruction.0, 0)),
        _ => {}
    }
    if llvm!(LLVMCanValueUseFastMathFlags(instruction.0)) != 0 {
        llvm!(LLVMSetFastMathFlags(instruction.0, 0));
    }
}

fn drop_metadata(instruction: Value<'_>, kept: &[u32]) {
    if llvm!(LLVMHasMetadata(instruction.0)) == 0 {
        return;
    }
    let mut count = 0;
    let entries = llvm!(LLVMInstructionGetAllMetadataOtherThanDebugLoc(
        instruction.0,
        &mut count
    ));
    let kinds: Vec<u32> = (0..count)
        .map(|i| llvm!(LLVMValueMetadataEntriesGetKind(entries, i as u32)))
        .collect();
    llvm!(LLVMDisposeValueMetadataEntries(entries));
    for kind in kinds.into_iter().filter(|k| !kept.contains(k)) {
        llvm!(LLVMSetMetadata(instruction.0, kind, std::ptr::null_mut()));
    }
}

/// Plain accesses of any alignment are fine in the machine, and on x86-64 too as long as the optimiser does
/// not choose instructions by an alignment that it was promised.
pub(super) fn relax_alignment(module: &Module) {
    for function in module.functions() {
        for block in function.blocks() {
            for instruction in block.instructions() {
                let is_access = matches!(
                    instruction.opcode(),
                    Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore)
                );
                if is_access
                    && llvm!(LLVMGetOrdering(instruction.0))
                        == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
                {
                    llvm!(LLVMSetAlignment(instruction.0, 1));
                }
            }
        }
    }
}
