//! The sizes of the memory that a library's functions work on.
//!
//! An input that is shorter than each array of the code cannot overflow any of them. So the bounds
//! of a harness's sizes depend on the arrays, on constant sizes, and on constants that something is
//! compared with, in the code that the driven function reaches.

use std::collections::{BTreeMap, BTreeSet};

use cegar_llvm::{LLVMOpcode, Type, Value};

/// Functions whose constant arguments are sizes of memory.
const SIZED: &[&str] = &[
    "calloc", "malloc", "memcpy", "memmove", "memset", "realloc", "strncpy",
];

/// The sizes by function, and the calls between functions.
#[derive(Clone, Debug, Default)]
pub struct MemorySizes {
    /// The numbers of elements of arrays, constant sizes in bytes, and compared constants, of each
    /// function's own code.
    own: BTreeMap<String, BTreeSet<u64>>,
    /// The functions that each function names.
    names: BTreeMap<String, BTreeSet<String>>,
}

impl MemorySizes {
    /// The sizes in the code that a function reaches, including its own.
    pub fn reached_from<'s>(&'s self, function: &'s str) -> BTreeSet<u64> {
        let mut open = vec![function];
        let mut seen = BTreeSet::new();
        let mut sizes = BTreeSet::new();
        while let Some(name) = open.pop() {
            if seen.insert(name) {
                sizes.extend(self.own.get(name).into_iter().flatten());
                open.extend(
                    self.names
                        .get(name)
                        .into_iter()
                        .flatten()
                        .map(String::as_str),
                );
            }
        }
        sizes
    }

    /// Notes the sizes in a function. Static functions of one name are merged.
    pub(super) fn take(&mut self, function: Value<'_>) {
        let own = self.own.entry(function.name()).or_default();
        let names = self.names.entry(function.name()).or_default();
        for block in function.blocks() {
            for instruction in block.instructions() {
                if instruction.opcode() == Some(LLVMOpcode::LLVMAlloca) {
                    arrays(instruction.allocated_type(), own);
                }
                if is_sized_call(instruction) {
                    own.extend(instruction.operands().into_iter().filter_map(constant));
                }
                if instruction.opcode() == Some(LLVMOpcode::LLVMICmp) {
                    own.extend(instruction.operands().into_iter().filter_map(compared_size));
                }
                note_gep(instruction, own);
                for operand in instruction.operands() {
                    note_gep(operand, own);
                    if operand.is_function() {
                        names.insert(operand.name());
                    }
                }
            }
        }
    }
}

/// The value of a constant integer.
fn constant(value: Value<'_>) -> Option<u64> {
    value.is_constant().then(|| value.const_int()).flatten()
}

/// A constant that something is compared with and that may be a size. Small numbers of 32 bits are
/// left out, because characters are compared in this width.
fn compared_size(value: Value<'_>) -> Option<u64> {
    let width = value.ty().int_width()?;
    let size = constant(value)?;
    let is_size = width == 64 || width == 32 && size > u64::from(u8::MAX);
    is_size.then_some(size)
}

/// Whether an instruction calls a function that takes a size of memory.
fn is_sized_call(instruction: Value<'_>) -> bool {
    let called = instruction.is_call().then(|| instruction.called_function());
    called.flatten().is_some_and(|function| {
        let name = function.name();
        let name = name.strip_prefix("llvm.").unwrap_or(&name);
        SIZED.contains(&name.split('.').next().unwrap_or(name))
    })
}

/// Notes the arrays that the computation of an address leads through. Constant tables are not
/// noted, because nothing is written into them.
fn note_gep(address: Value<'_>, own: &mut BTreeSet<u64>) {
    if !address.is_gep() {
        return;
    }
    let base = address.operand(0);
    if base.is_global_variable() && base.is_global_constant() {
        return;
    }
    let mut ty = address.gep_source();
    for i in 2..address.operand_count() {
        if ty.is_array() {
            own.insert(ty.array_len());
            ty = ty.element();
        } else if let Some(next) = address.operand(i).const_int()
            && let Some(field) = ty.fields().get(next as usize).copied()
        {
            ty = field;
        } else {
            return;
        }
    }
    arrays(ty, own);
}

/// Notes the lengths of an array type.
fn arrays(mut ty: Type<'_>, own: &mut BTreeSet<u64>) {
    while ty.is_array() {
        own.insert(ty.array_len());
        ty = ty.element();
    }
}
