//! What registers are called in the source.
//!
//! An invariant over `%rem5` helps nobody: it is about `from`, and debug information says so. The optimiser keeps track of which
//! value a variable has where, in records beside the instructions. This version of LLVM lets C callers read such records only in
//! the form that they had before, as calls of intrinsics, so the module is put into that form for as long as it takes to look.

use rustc_hash::FxHashMap;

use crate::program::llvm::{Module, Value, lent, llvm};

/// The variables that values stand for, where debug information says so. A value that stands for several has the name of
/// the first.
pub(super) fn of(module: &Module) -> FxHashMap<Value<'_>, String> {
    let mut names = FxHashMap::default();
    let records = llvm!(LLVMIsNewDbgInfoFormat(module.module)) != 0;
    if records {
        llvm!(LLVMSetIsNewDbgInfoFormat(module.module, 0));
    }
    for function in module.functions() {
        for block in function.blocks() {
            for instruction in block.instructions() {
                if let Some((value, name)) = binding(instruction) {
                    names.entry(value).or_insert(name);
                }
            }
        }
    }
    if records {
        llvm!(LLVMSetIsNewDbgInfoFormat(module.module, 1));
    }
    names
}

/// The value and the name in a call of `llvm.dbg.value` or `llvm.dbg.declare`.
fn binding(instruction: Value<'_>) -> Option<(Value<'_>, String)> {
    if llvm!(LLVMIsADbgVariableIntrinsic(instruction.0)).is_null() {
        return None;
    }
    let value = metadata(instruction.operand(0)).first().copied()?;
    if value.is_constant() {
        return None;
    }
    // Of a variable's description: scope, name, file, type.
    let name = metadata(instruction.operand(1)).get(1).copied()?;
    let mut len = 0;
    let text = llvm!(LLVMGetMDString(name.0, &mut len));
    let name = lent(text, len as usize);
    (!name.is_empty()).then_some((value, name))
}

/// What a metadata operand holds: the value itself, or a node's operands up to the first that is absent.
fn metadata(operand: Value<'_>) -> Vec<Value<'_>> {
    if llvm!(LLVMIsAMDNode(operand.0)).is_null()
        && llvm!(LLVMIsAValueAsMetadata(operand.0)).is_null()
    {
        return Vec::new();
    }
    let count = llvm!(LLVMGetMDNodeNumOperands(operand.0)) as usize;
    let mut operands = vec![std::ptr::null_mut(); count];
    llvm!(LLVMGetMDNodeOperands(operand.0, operands.as_mut_ptr()));
    operands.into_iter().map_while(Value::some).collect()
}
