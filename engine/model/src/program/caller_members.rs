//! The members of structures that a library's callers set.
//!
//! A header does not say which members of `struct decoder` are options of the caller and which are
//! the library's own state. The library's code does: a member that is loaded somewhere and stored
//! nowhere has its value from the caller, or is always zero. Bitcode names a member by its
//! structure and index, and accesses that do not (through `memcpy` or another type) are ignored,
//! because the result is only a guess about what callers do.

use std::collections::{BTreeMap, BTreeSet};

use cegar_llvm::{LLVMOpcode, Type, Value};

use super::normalise::tag;

/// How the library's code accesses the members of one structure.
#[derive(Debug, Default)]
struct Members {
    /// The number of members.
    count: usize,
    /// The members that are loaded.
    read: BTreeSet<usize>,
    /// The members that are stored, or whose address goes elsewhere.
    written: BTreeSet<usize>,
    /// The members that are compared after they are loaded.
    compared: BTreeSet<usize>,
}

/// The members of one structure that callers set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetMembers {
    /// The number of the structure's members.
    pub count: usize,
    /// The members that callers set, and whether the library compares them with something.
    pub set: BTreeMap<usize, bool>,
}

/// The members that callers set, by the structure's tag.
pub type CallerMembers = BTreeMap<String, SetMembers>;

/// The accesses to members in the code that was read so far.
#[derive(Debug, Default)]
pub(super) struct Accesses(BTreeMap<String, Members>);

impl Accesses {
    /// Notes the accesses in a function.
    pub(super) fn take(&mut self, function: Value<'_>) {
        for block in function.blocks() {
            for instruction in block.instructions() {
                note(&mut self.0, instruction);
            }
        }
    }

    /// The members that the code reads and never writes.
    pub(super) fn set_by_callers(self) -> CallerMembers {
        let set = self.0.into_iter().map(|(tag, members)| {
            let set = members.read.difference(&members.written);
            let set = set.map(|&at| (at, members.compared.contains(&at)));
            let set = SetMembers {
                count: members.count,
                set: set.collect(),
            };
            (tag, set)
        });
        set.collect()
    }
}

/// Notes the accesses to members in one instruction.
fn note(all: &mut BTreeMap<String, Members>, instruction: Value<'_>) {
    if instruction.is_gep() {
        for user in instruction.users() {
            let is_load = is_load_of(user, instruction);
            put(all, instruction, (is_load, is_load && is_compared(user)));
        }
    }
    for operand in instruction.operands() {
        if operand.is_gep() && operand.is_constant() {
            let is_load = is_load_of(instruction, operand);
            let access = (is_load, is_load && is_compared(instruction));
            put(all, operand, access);
        }
        // A whole structure is copied from a constant.
        if operand.is_global_variable()
            && operand.is_global_constant()
            && is_copy(instruction)
            && let Some((tag, count)) = structure(operand.value_type())
        {
            members(all, tag, count).written.extend(0..count);
        }
    }
}

fn is_copy(instruction: Value<'_>) -> bool {
    let called = instruction.is_call().then(|| instruction.called_function());
    called
        .flatten()
        .is_some_and(|function| function.name().starts_with("llvm.memcpy."))
}

fn is_load_of(user: Value<'_>, address: Value<'_>) -> bool {
    user.opcode() == Some(LLVMOpcode::LLVMLoad) && user.operand(0) == address
}

/// Whether a loaded value is compared.
fn is_compared(loaded: Value<'_>) -> bool {
    let mut users = loaded.users().into_iter();
    users.any(|user| user.opcode() == Some(LLVMOpcode::LLVMICmp))
}

fn members(all: &mut BTreeMap<String, Members>, tag: String, count: usize) -> &mut Members {
    let members = all.entry(tag).or_default();
    members.count = members.count.max(count);
    members
}

/// Notes an access through the address that a `getelementptr` computes: whether it is a load, and
/// whether the loaded value is compared.
fn put(
    all: &mut BTreeMap<String, Members>,
    address: Value<'_>,
    (is_load, is_compared): (bool, bool),
) {
    let mut ty = address.gep_source();
    let mut last = None;
    for i in 2..address.operand_count() {
        if ty.is_struct() {
            let Some(field) = address.operand(i).const_int() else {
                return;
            };
            last = structure(ty).map(|(tag, count)| (tag, count, field as usize));
            let Some(next) = ty.fields().get(field as usize).copied() else {
                return;
            };
            ty = next;
        } else if ty.is_array() {
            ty = ty.element();
            last = None;
        }
    }
    if let Some((tag, count, field)) = last {
        let members = members(all, tag, count);
        match is_load {
            true => members.read.insert(field),
            false => members.written.insert(field),
        };
        if is_compared {
            members.compared.insert(field);
        }
    }
}

/// The tag and the number of members of a C structure.
fn structure(ty: Type<'_>) -> Option<(String, usize)> {
    Some((tag(ty)?, ty.fields().len()))
}
