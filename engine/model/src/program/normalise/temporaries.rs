//! Finds objects whose end of life clang does not mark.
//!
//! A compound literal lives until the end of its block (C11 6.5.2.5), an array in a structure that
//! a call returns until the end of the expression (6.2.4). clang makes both locals of the whole
//! function, and also a variable in a block into which a `switch` or `goto` jumps past its
//! declaration. If an address of such an object may outlive it, the program asks for a rule
//! ([`super::platform`]), because nothing marks where the object ends.

use cegar_llvm::{LLVMMetadataKind, LLVMOpcode, Metadata, Value, metadata};

use super::link::is_users;
use super::locals::{SCOPE_BEGINS, scope_marks};

/// The kind of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Temporary {
    Literal,
    Result,
    /// A variable whose declaration is jumped over.
    Bypassed,
}

/// Other names that clang gives to locals of its own, apart from those with a dot.
const OF_CLANG: [&str; 3] = ["", "retval", "saved_stack"];

/// Whether an instruction allocates such an object and its address may be kept. `is_sure`: whether
/// the calls that describe variables are there. If they are not, the answer is yes for some locals
/// that are no such objects.
pub(super) fn may_outlive(local: Value<'_>, is_sure: bool) -> bool {
    if local.opcode() != Some(LLVMOpcode::LLVMAlloca) {
        return false;
    }
    let name = local.name();
    if name.starts_with(".compoundliteral") {
        return is_kept(local, Temporary::Literal, false);
    }
    if name.ends_with(".addr") || !scope_marks(local, SCOPE_BEGINS).is_empty() {
        return false;
    }
    let is_bypassed = || is_kept(local, Temporary::Bypassed, false);
    match variable_of(local) {
        // A variable of the function's own block lives as long as the call.
        Some(variable) => {
            let scope = variable.operand(metadata::VARIABLE_SCOPE);
            scope.is_some_and(is_inner) && is_bypassed()
        }
        None if !is_sure => is_bypassed(),
        None => {
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
            match ["tmp", "ref.tmp", "coerce"].contains(&stem) {
                true => is_kept(local, Temporary::Result, false),
                // clang describes no variable that stands before the first label of a `switch`.
                false => !OF_CLANG.contains(&stem) && !stem.contains('.') && is_bypassed(),
            }
        }
    }
}

/// The variable of C that a local holds; none if clang needs the local for itself.
fn variable_of(local: Value<'_>) -> Option<Metadata<'_>> {
    let blocks = local.parent_function().blocks();
    let mut all = blocks.into_iter().flat_map(|block| block.instructions());
    let declaration = all.find(|instruction| {
        instruction.is_debug_binding()
            && Metadata::of(instruction.operand(0)).and_then(Metadata::value) == Some(local)
    })?;
    Metadata::of(declaration.operand(1))
}

/// Whether a scope is a block within a function's body.
fn is_inner(scope: Metadata<'_>) -> bool {
    !matches!(scope.kind(), LLVMMetadataKind::LLVMDISubprogramMetadataKind)
}

/// Whether an address is stored, selected, returned, or passed to a function that may store it.
/// `inner`: whether it is the address of a part of the object.
fn is_kept<'m>(address: Value<'m>, what: Temporary, inner: bool) -> bool {
    let may_keep = |call: Value<'m>| match what {
        Temporary::Literal => is_in_inner_block(call),
        Temporary::Bypassed => true,
        // The address of the whole object is only passed where a call puts its result or the next
        // call takes it.
        Temporary::Result => inner && (!call.callee().is_function() || is_users(call.callee())),
    };
    address.users().into_iter().any(|user| match user.opcode() {
        Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMICmp) => false,
        Some(LLVMOpcode::LLVMStore) => user.operand(0) == address,
        Some(LLVMOpcode::LLVMGetElementPtr) => is_kept(user, what, true),
        Some(LLVMOpcode::LLVMCall) => !user.callee().name().starts_with("llvm.") && may_keep(user),
        _ => true,
    })
}

/// Whether an instruction belongs to an inner block of its function's body.
fn is_in_inner_block(instruction: Value<'_>) -> bool {
    let scope = Metadata::of_place(instruction).and_then(Metadata::scope);
    scope.is_none_or(is_inner)
}
