//! Objects without a name whose end clang does not mark.
//!
//! A compound literal lives until the end of its block (C11 6.5.2.5), an array in a structure that a call returns until the end of the
//! expression (6.2.4); to clang both are locals of the whole function. Where an address of such an object may outlive it, the
//! program is asked about it ([`super::platform`]): nothing here says where the object ends.

use llvm_sys::LLVMOpcode;
use llvm_sys::debuginfo::LLVMMetadataKind;

use super::locals::{SCOPE_BEGINS, scope_marks};
use crate::program::llvm::{Metadata, Module, Value};

/// Whether an instruction of the user's code is such an object, and its address may be kept.
pub(super) fn may_outlive<'m>(module: &'m Module, local: Value<'m>) -> bool {
    if local.opcode() != Some(LLVMOpcode::LLVMAlloca) {
        return false;
    }
    let name = local.name();
    let is_literal = name.starts_with(".compoundliteral");
    // A variable of this name has its scope marked.
    let is_result = ["tmp", "ref.tmp", "coerce"]
        .iter()
        .any(|known| name.trim_end_matches(|c: char| c.is_ascii_digit()) == *known)
        && scope_marks(local, SCOPE_BEGINS).is_empty();
    (is_literal || is_result) && is_kept(module, local, is_literal)
}

/// Whether an address is stored, chosen or returned, or, where `by_calls` is set, handed to a function within an inner block.
fn is_kept<'m>(module: &'m Module, address: Value<'m>, by_calls: bool) -> bool {
    address.users().into_iter().any(|user| match user.opcode() {
        Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMICmp) => false,
        Some(LLVMOpcode::LLVMStore) => user.operand(0) == address,
        Some(LLVMOpcode::LLVMGetElementPtr) => is_kept(module, user, by_calls),
        Some(LLVMOpcode::LLVMCall) => {
            let is_intrinsic = user.callee().name().starts_with("llvm.");
            by_calls && !is_intrinsic && is_in_inner_block(module, user)
        }
        _ => true,
    })
}

/// Whether an instruction belongs to a block within its function's body.
fn is_in_inner_block<'m>(module: &'m Module, instruction: Value<'m>) -> bool {
    let scope = Metadata::of_place(instruction).and_then(|place| place.scope(module));
    scope
        .is_none_or(|scope| !matches!(scope.kind(), LLVMMetadataKind::LLVMDISubprogramMetadataKind))
}
