//! LLVM's C interface, as far as the engine and the fuzzer need it.
//!
//! Both read the same modules instruction by instruction and change them, and the typed wrappers of
//! the ecosystem lack what that requires: x87 constants, constant expressions, operands that are
//! metadata, debug locations of instructions, and attributes of calls. This crate is thin: a handle
//! is a pointer that borrows its [`Module`], and a function is one call of the interface, or a few.
//! In addition, each function checks the preconditions that the interface leaves to its callers:
//! the kind of a value, a type or a node, before it calls a function that is defined for one kind
//! only. All calls of LLVM in the workspace are here.
//!
//! Two obligations are left to callers. A handle to something that was removed must not be used
//! again ([`Value::delete`], [`Module::run_passes`]). And handles of modules in different contexts
//! must not be mixed. A program has one module, and modules that are linked into it share its
//! context ([`Module::read_beside`]).
//!
//! | what | where |
//! |---|---|
//! | modules: reading, linking, checking, writing | [`Module`] |
//! | functions, global variables, constants, instructions, attributes | [`Value`], [`BasicBlock`] |
//! | types, and their layout in memory | [`Type`], [`Layout`] |
//! | debug information, and metadata at instructions | [`metadata`] |
//! | new instructions | [`Builder`] |
//! | LLVM's passes | [`Module::run_passes`], [`Machine`] |
//!
//! Which instructions does a function have?
//!
//! ```
//! use cegar_llvm::{LLVMOpcode, Module};
//!
//! let module = Module::parse("define i32 @next(i32 %x) {\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n")?;
//! let function = module.function("next").ok_or("there is no function")?;
//! let block = function.blocks()[0];
//! let opcodes: Vec<_> = block.instructions().iter().filter_map(|i| i.opcode()).collect();
//! assert_eq!(opcodes, [LLVMOpcode::LLVMAdd, LLVMOpcode::LLVMRet]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(clippy::too_many_lines)]

mod builder;
pub mod metadata;
mod module;
mod passes;
mod raw;
mod types;
mod value;

pub use llvm_sys::debuginfo::LLVMMetadataKind;
pub use llvm_sys::{
    LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMLinkage, LLVMOpcode, LLVMRealPredicate, LLVMTypeKind,
    LLVMValueKind,
};

pub use builder::Builder;
pub use metadata::{Metadata, MetadataKind};
pub use module::{LlvmError, Module, ModuleError};
pub use passes::{Machine, set_options};
pub use types::{Layout, Type};
pub use value::{AttributeKind, BasicBlock, Callee, Place, Position, Value};

#[cfg(test)]
mod tests;
