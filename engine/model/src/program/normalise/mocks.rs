//! Bodies for what nobody defines: every result is a choice from the tape.
//!
//! (Executable Counterexamples, section 3: an external function's mock returns the values that the
//! counterexample needs. Here the values are bytes of the channel that bears the function's name.)

use llvm_sys::prelude::{LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};
use llvm_sys::{LLVMLinkage, LLVMOpcode};
use std::collections::HashSet;
use std::ffi::CString;

use super::link::set_kind;
use super::{LinkRequest, Normalised, outputs, reach};
use crate::program::convention::{UNDEFINED, UNINIT, VISIBLE};
use crate::program::llvm::{Module, Type, Value, attribute_kind, llvm};
use crate::program::load::{failing, intrinsic};

/// What mocks call; kept until all mocks are there.
pub(super) const NEEDED: &[&str] = &["crunner_mock_pointer"];

/// Functions that compilers call for arithmetic. They compute; they are no outside world.
const COMPILER: [&str; 6] = [
    "__mulsc3", "__muldc3", "__mulxc3", "__divsc3", "__divdc3", "__divxc3",
];

/// A generated mock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mocked {
    /// The function, and its channel.
    pub name: String,
    /// What it returns.
    pub returns: Returns,
    /// The parameters, from 0, by which every call hands it a variable to fill.
    pub outputs: Vec<usize>,
}

/// What a mock takes from its channel for one call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Returns {
    /// Nothing.
    Void,
    /// A `bool`: one byte, lowest bit.
    Bool,
    /// An integer of so many bytes, little-endian.
    Integer {
        /// Bytes.
        bytes: u32,
    },
    /// A floating-point number of so many bytes.
    Float {
        /// Bytes.
        bytes: u32,
    },
    /// A pointer: a selector byte, then what it selects.
    Pointer {
        /// Size of a fresh object; 0 stands for the default.
        pointee: u64,
        /// Whether the selector may choose 8 raw bytes.
        raw_allowed: bool,
        /// The structure as which the program uses the object, by its name in C, where it does.
        structure: Option<String>,
    },
    /// A structure of so many bytes (returned in registers or through memory).
    Aggregate {
        /// Bytes.
        bytes: u64,
    },
}

/// Whether a function is undefined: neither a module nor the machine has it.
fn is_missing(function: Value<'_>, name: &str, request: &LinkRequest) -> bool {
    let provided = !function.is_declaration()
        || name.starts_with("llvm.")
        || name == UNINIT
        || intrinsic(name).is_some()
        || failing(name).is_some()
        || COMPILER.contains(&name)
        || request.math.contains(name)
        || request.runtime.contains(name)
        || request.engine_only.contains(name);
    !provided
}

/// The functions that will be mocked.
pub(super) fn missing(module: &Module, request: &LinkRequest) -> Vec<Mocked> {
    let generator = Generator::new(module);
    let functions = module.functions().into_iter().map(|f| (f, f.name()));
    functions
        .filter(|(function, name)| {
            is_missing(*function, name, request)
                && !request.unsupported.contains_key(name)
                && function.linkage() != LLVMLinkage::LLVMExternalWeakLinkage
                && !never_returns(*function)
                && !NEEDED.contains(&name.as_str())
        })
        .map(|(function, name)| {
            let returns = generator.returns(function);
            let outputs = outputs::of(function);
            Mocked {
                name,
                returns,
                outputs,
            }
        })
        .collect()
}

/// Makes what was defined here the program's own. A global `pthread_getspecific` would be everybody's in the native process: the
/// sanitizer's, and the C library's.
pub(super) fn hide(module: &Module, normalised: &Normalised) {
    let functions = normalised.mocked.iter().map(|mocked| &mocked.name);
    let names: HashSet<&String> = functions.chain(&normalised.external_data).collect();
    let values = module.functions().into_iter().chain(module.globals());
    for value in values.filter(|value| !value.is_declaration() && names.contains(&value.name())) {
        value.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    }
}

/// Gives every undefined function and variable of the module a definition, or reports why not.
pub(super) fn generate(module: &Module, request: &LinkRequest, normalised: &mut Normalised) {
    for global in module.globals() {
        if !global.is_declaration() || global.name().starts_with("llvm.") {
            continue;
        }
        if global.linkage() == LLVMLinkage::LLVMExternalWeakLinkage {
            absent(global);
        } else if global.value_type().is_sized() {
            llvm!(LLVMSetInitializer(
                global.0,
                llvm!(LLVMConstNull(global.value_type().0))
            ));
            global.mark(VISIBLE);
            global.mark(UNDEFINED);
            normalised.external_data.push(global.name());
        }
    }
    let generator = Generator::new(module);
    for function in module.functions() {
        let name = function.name();
        if !is_missing(function, &name, request) {
            continue;
        }
        if let Some(reason) = request.unsupported.get(&name) {
            normalised.unsupported.push((name, reason.clone()));
        } else if function.linkage() == LLVMLinkage::LLVMExternalWeakLinkage {
            absent(function);
        } else {
            let returns = generator.define(function, &name);
            normalised.mocked.push(Mocked {
                name,
                returns,
                outputs: Vec::new(),
            });
        }
    }
}

/// An undefined weak symbol is NULL, as a linker makes it.
fn absent(value: Value<'_>) {
    llvm!(LLVMReplaceAllUsesWith(
        value.0,
        llvm!(LLVMConstNull(value.ty().0))
    ));
}

struct Generator<'m> {
    module: &'m Module,
    builder: LLVMBuilderRef,
    int: LLVMTypeRef,
    word: LLVMTypeRef,
    choose: (LLVMTypeRef, LLVMValueRef),
    pointer: (LLVMTypeRef, LLVMValueRef),
}

impl Drop for Generator<'_> {
    fn drop(&mut self) {
        llvm!(LLVMDisposeBuilder(self.builder));
    }
}

impl<'m> Generator<'m> {
    fn new(module: &'m Module) -> Generator<'m> {
        let context = module.context;
        let int = llvm!(LLVMInt32TypeInContext(context));
        let word = llvm!(LLVMInt64TypeInContext(context));
        let pointer = llvm!(LLVMPointerTypeInContext(context, 0));
        let void = llvm!(LLVMVoidTypeInContext(context));
        let declared = |name: &'static std::ffi::CStr, result, mut parameters: [LLVMTypeRef; 3]| {
            let ty = llvm!(LLVMFunctionType(result, parameters.as_mut_ptr(), 3, 0));
            let existing = llvm!(LLVMGetNamedFunction(module.module, name.as_ptr()));
            let function = if existing.is_null() {
                llvm!(LLVMAddFunction(module.module, name.as_ptr(), ty))
            } else {
                existing
            };
            (ty, function)
        };
        Generator {
            module,
            builder: llvm!(LLVMCreateBuilderInContext(context)),
            int,
            word,
            choose: declared(c"crunner_choose", void, [pointer, pointer, word]),
            pointer: declared(c"crunner_mock_pointer", pointer, [pointer, word, int]),
        }
    }

    /// What a function returns.
    fn returns(&self, function: Value<'m>) -> Returns {
        let layout = self.module.layout();
        let result = function.function_type().result();
        let bits = || layout.bits(result);
        match () {
            () if result.is_void() => match through_memory(function) {
                Some(ty) => Returns::Aggregate {
                    bytes: layout.size(ty),
                },
                None => Returns::Void,
            },
            () if result.is_pointer() => {
                let uses = reach::of_results(layout, function);
                Returns::Pointer {
                    pointee: uses.pointee,
                    // An address that is followed must lead somewhere.
                    raw_allowed: uses.computes && uses.pointee == 0,
                    structure: uses.structure,
                }
            }
            () if result.is_integer() && bits() == 1 => Returns::Bool,
            () if result.is_integer() => Returns::Integer {
                bytes: layout.store_size(result) as u32,
            },
            () if result.is_float() => Returns::Float {
                bytes: layout.store_size(result) as u32,
            },
            () => Returns::Aggregate {
                bytes: layout.size(result),
            },
        }
    }

    /// Writes the body of `function`.
    fn define(&self, function: Value<'m>, name: &str) -> Returns {
        let builder = self.builder;
        let layout = self.module.layout();
        let result = function.function_type().result();
        let returns = self.returns(function);
        set_kind(self.module, function, "mock");
        let block = llvm!(LLVMAppendBasicBlockInContext(
            self.module.context,
            function.0,
            c"entry".as_ptr()
        ));
        llvm!(LLVMPositionBuilderAtEnd(builder, block));
        let channel = CString::new(name).unwrap_or_default();
        let channel = llvm!(LLVMBuildGlobalStringPtr(
            builder,
            channel.as_ptr(),
            c"cegar.channel".as_ptr()
        ));
        if never_returns(function)
            && let Some(stop) = self.module.function("crunner_stop")
        {
            // What cannot come back ends the run, however it does that.
            let mut status = [llvm!(LLVMConstInt(self.int, 0, 0))];
            llvm!(LLVMBuildCall2(
                builder,
                stop.function_type().0,
                stop.0,
                status.as_mut_ptr(),
                1,
                c"".as_ptr()
            ));
            llvm!(LLVMBuildUnreachable(builder));
            return returns;
        }
        if result.is_void() {
            if let Returns::Aggregate { bytes } = returns {
                self.choose(channel, llvm!(LLVMGetParam(function.0, 0)), bytes);
            }
            llvm!(LLVMBuildRetVoid(builder));
            return returns;
        }
        if let Returns::Pointer {
            pointee,
            raw_allowed,
            ..
        } = returns
        {
            let mut arguments = [
                channel,
                llvm!(LLVMConstInt(self.word, pointee, 0)),
                llvm!(LLVMConstInt(self.int, u64::from(raw_allowed), 0)),
            ];
            let (ty, callee) = self.pointer;
            let made = llvm!(LLVMBuildCall2(
                builder,
                ty,
                callee,
                arguments.as_mut_ptr(),
                3,
                c"".as_ptr()
            ));
            llvm!(LLVMBuildRet(builder, made));
            return returns;
        }
        let bits = layout.bits(result);
        let bytes = layout.store_size(result);
        // Bits that are no whole bytes are taken as bytes and cut.
        let cut = result.is_integer() && !bits.is_multiple_of(8);
        let held = if cut {
            llvm!(LLVMIntTypeInContext(self.module.context, bytes as u32 * 8))
        } else {
            result.0
        };
        let local = llvm!(LLVMBuildAlloca(builder, held, c"result".as_ptr()));
        if Type::new(held).is_struct() {
            // The padding of a result too is part of the channel.
            self.choose(channel, local, layout.size(result));
        } else {
            self.choose(channel, local, bytes);
        }
        let mut value = llvm!(LLVMBuildLoad2(builder, held, local, c"".as_ptr()));
        if cut {
            value = llvm!(LLVMBuildTrunc(builder, value, result.0, c"".as_ptr()));
        }
        llvm!(LLVMBuildRet(builder, value));
        returns
    }

    fn choose(&self, channel: LLVMValueRef, into: LLVMValueRef, bytes: u64) {
        let mut arguments = [channel, into, llvm!(LLVMConstInt(self.word, bytes, 0))];
        let (ty, callee) = self.choose;
        llvm!(LLVMBuildCall2(
            self.builder,
            ty,
            callee,
            arguments.as_mut_ptr(),
            3,
            c"".as_ptr()
        ));
    }
}

/// Whether a function is declared not to come back. Where clang checks what is unreachable, it takes that from the declaration, and each call is followed by
/// a trap instead.
fn never_returns(function: Value<'_>) -> bool {
    let found = llvm!(LLVMGetEnumAttributeAtIndex(
        function.0,
        llvm_sys::LLVMAttributeFunctionIndex,
        attribute_kind("noreturn")
    ));
    let users = function.users();
    !found.is_null() || !users.is_empty() && users.into_iter().all(|user| is_last(function, user))
}

/// The number of clang's check that something is unreachable.
const UNREACHABLE: u64 = 1;

/// Whether a use is a call behind which there is only the check that nothing comes there.
fn is_last<'m>(function: Value<'m>, user: Value<'m>) -> bool {
    if !user.is_call() || user.callee() != function {
        return false;
    }
    let Some(branch) = user.next_instruction() else {
        return false;
    };
    let is_never = branch.opcode() == Some(LLVMOpcode::LLVMBr)
        && branch.operand_count() == 3
        && branch.operand(0).const_int() == Some(0);
    if !is_never {
        return false;
    }
    // Where it leads if its condition is false.
    let otherwise = branch.successors().get(1).map(|block| block.instructions());
    let first = otherwise.and_then(|all| all.into_iter().next());
    first.is_some_and(|trap| {
        trap.is_call()
            && trap.callee().name() == "llvm.ubsantrap"
            && trap.operand(0).const_int() == Some(UNREACHABLE)
    })
}

/// The type of a structure that is returned through the first parameter.
fn through_memory(function: Value<'_>) -> Option<Type<'_>> {
    let found = llvm!(LLVMGetEnumAttributeAtIndex(
        function.0,
        1,
        attribute_kind("sret")
    ));
    (!found.is_null()).then(|| Type::new(llvm!(LLVMGetTypeAttributeValue(found))))
}
