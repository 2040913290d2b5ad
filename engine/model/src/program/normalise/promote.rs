//! Promotes the locals whose address was handed to an inlined function, or held by a pointer
//! variable, and nowhere else.
//!
//! [`super::locals`] looks at a local before any promotion, where its address stands in the home of
//! a parameter. Once those homes are registers, often only plain accesses are left. In memory such
//! a local is a new value at each read, and nothing that is learned of one read is known at the
//! next.
//!
//! An access that may come outside of the local's scope is a violation, so that a local with such
//! an access stays in memory.

use std::collections::{HashMap, HashSet};

use cegar_llvm::{BasicBlock, Builder, LLVMOpcode, Module, Value};

use super::locals;
use crate::program::convention::UNINIT;

/// Marks the locals that may be promoted by now as [`locals::mark`] does those that could be from
/// the start. Whether there are any.
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

/// The accesses of a local, through constant offsets too.
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

/// Whether no access may come before the local's scope begins, or after it ends.
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
    // By block: whether the scope may be over, or not begun, where the block begins.
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
