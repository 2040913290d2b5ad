//! Promotes the locals whose address was passed to an inlined function or held by a pointer
//! variable, and used nowhere else.
//!
//! [`super::locals`] examines a local before any promotion, when its address is still in the home
//! of a parameter. Once these homes are registers, often only plain accesses are left. In memory,
//! each read of such a local would be a new value, so that facts about one read would not apply to
//! the next.
//!
//! An access that may be outside of the local's scope is a violation, so a local with such an
//! access stays in memory.

use std::collections::{HashMap, HashSet};

use cegar_llvm::{BasicBlock, Builder, LLVMOpcode, Module, Value};

use super::locals;
use crate::program::convention::UNINIT;

/// Marks the locals that have become promotable, as [`locals::mark`] marks those that are
/// promotable from the start. Returns whether there are any.
pub(super) fn mark(module: &Module) -> bool {
    let Some(uninit) = module.function(UNINIT) else {
        return false;
    };
    let builder = Builder::new(module);
    let layout = module.layout();
    let mut found = false;
    for call in uninit.users() {
        let local = call.operand(0);
        let is_local = local.opcode() == Some(LLVMOpcode::LLVMAlloca);
        if !is_local || !locals::is_promotable(layout, local) || !is_within_scope(local) {
            continue;
        }
        locals::forget((&builder, layout), call, local);
        call.delete();
        found = true;
    }
    found
}

/// Collects the accesses of a local, including those at constant offsets.
fn accesses<'m>(address: Value<'m>, all: &mut HashSet<Value<'m>>) {
    for user in address.users() {
        match user.opcode() {
            Some(LLVMOpcode::LLVMGetElementPtr) => accesses(user, all),
            Some(LLVMOpcode::LLVMCall) => {
                let name = user.callee().name();
                if name != UNINIT && !name.starts_with("llvm.lifetime.") {
                    all.insert(user);
                }
            }
            _ => {
                all.insert(user);
            }
        }
    }
}

/// Whether no access may happen before the local's scope begins or after it ends.
fn is_within_scope(local: Value<'_>) -> bool {
    let begins: HashSet<Value<'_>> = locals::scope_marks(local, locals::SCOPE_BEGINS)
        .into_iter()
        .collect();
    let ends: HashSet<Value<'_>> = locals::scope_marks(local, locals::SCOPE_ENDS)
        .into_iter()
        .collect();
    if begins.is_empty() && ends.is_empty() {
        return true;
    }
    let mut all = HashSet::new();
    accesses(local, &mut all);
    let Some(entry) = local.block() else {
        return false;
    };
    // By block: whether the scope may be over or not begun at the start of the block.
    let mut outside: HashMap<BasicBlock<'_>, bool> = HashMap::from([(entry, true)]);
    let mut open = vec![entry];
    while let Some(block) = open.pop() {
        let mut is_outside = outside[&block];
        for instruction in block.instructions() {
            if begins.contains(&instruction) {
                is_outside = false;
            } else if ends.contains(&instruction) {
                is_outside = true;
            } else if is_outside && all.contains(&instruction) {
                return false;
            }
        }
        let last = block.instructions().pop();
        for next in last.map(Value::successors).unwrap_or_default() {
            let known = outside.get(&next).copied();
            if known.is_none() || is_outside && known == Some(false) {
                outside.insert(next, is_outside);
                open.push(next);
            }
        }
    }
    true
}
