//! Bodies for undefined functions: every result is a choice from the tape.
//!
//! (Executable Counterexamples, section 3: the mock of an external function returns the values that
//! the counterexample needs. Here the values are bytes of the channel with the function's name.)

use std::collections::HashSet;

use cegar_llvm::{Builder, Callee, LLVMLinkage, LLVMOpcode, Module, Place, Type, Value};

use super::link::set_kind;
use super::{LinkRequest, Normalised, assumed, outputs, reach};
use crate::program::convention::{UNDEFINED, UNINIT, VISIBLE};
use crate::program::load::{failing, intrinsic};

/// The functions that mocks call. They are kept until all mocks are generated.
pub(super) const NEEDED: &[&str] = &["crunner_mock_pointer"];

/// The rule for functions that do not return.
const ENDS: &str = "external-ends";

/// Functions that compilers call for arithmetic. They only compute, so they are not part of the
/// outside world.
const COMPILER: [&str; 6] = [
    "__mulsc3", "__muldc3", "__mulxc3", "__divsc3", "__divdc3", "__divxc3",
];

/// A generated mock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mocked {
    /// The name of the function, and of its channel.
    pub name: String,
    /// The kind of its result.
    pub returns: Returns,
    /// The parameters, from 0, that point to a variable to be filled at every call.
    pub outputs: Vec<usize>,
}

/// The bytes that a mock takes from its channel for one call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Returns {
    /// Nothing.
    Void,
    /// A `bool`: the lowest bit of one byte.
    Bool,
    /// An integer of this size, little-endian.
    Integer {
        /// The size in bytes.
        bytes: u32,
    },
    /// A floating-point number of this size.
    Float {
        /// The size in bytes.
        bytes: u32,
    },
    /// A pointer: a selector byte, then what it selects.
    Pointer {
        /// The size of a fresh object in bytes; 0 stands for the default.
        pointee: u64,
        /// Whether the selector may choose 8 raw bytes.
        may_return_any_address: bool,
        /// The name in C of the structure as which the program uses the object, if there is one.
        structure: Option<String>,
    },
    /// A structure of this size (returned in registers or through memory).
    Aggregate {
        /// The size in bytes.
        bytes: u64,
    },
}

/// Whether a function is undefined: neither the module nor the machine nor the platform has it.
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
    let generator = Generator::new(module, request);
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

/// Gives internal linkage to the functions and variables that were defined here. With external
/// linkage, a `pthread_getspecific` of the program would replace that of the sanitizer and of the C
/// library in the native process.
pub(super) fn hide(module: &Module, normalised: &Normalised) {
    let functions = normalised.mocked.iter().map(|mocked| &mocked.name);
    let names: HashSet<&String> = functions.chain(&normalised.external_data).collect();
    let values = module.functions_and_globals();
    for value in values.filter(|value| !value.is_declaration() && names.contains(&value.name())) {
        value.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    }
}

/// Defines every undefined function and variable of the module, or reports why that is not
/// possible.
pub(super) fn generate(module: &Module, request: &LinkRequest, normalised: &mut Normalised) {
    for global in module.globals() {
        if !global.is_declaration() || global.name().starts_with("llvm.") {
            continue;
        }
        if global.linkage() == LLVMLinkage::LLVMExternalWeakLinkage {
            absent(global);
        } else if global.value_type().is_sized() {
            global.set_initializer(global.value_type().zero());
            global.mark(VISIBLE);
            global.mark(UNDEFINED);
            normalised.external_data.push(global.name());
        }
    }
    let generator = Generator::new(module, request);
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

/// Replaces an undefined weak symbol by NULL, as a linker does.
fn absent(value: Value<'_>) {
    value.replace_all_uses(value.ty().zero());
}

struct Generator<'m> {
    module: &'m Module,
    /// Whether the rule [`ENDS`] is lifted.
    has_wider_ends: bool,
    builder: Builder<'m>,
    int: Type<'m>,
    word: Type<'m>,
    choose: Callee<'m>,
    pointer: Callee<'m>,
}

impl<'m> Generator<'m> {
    fn new(module: &'m Module, request: &LinkRequest) -> Generator<'m> {
        let (int, word, pointer) = (module.int(32), module.int(64), module.pointer());
        let choose = [pointer, pointer, word];
        Generator {
            module,
            has_wider_ends: request.lifted.contains(ENDS),
            builder: Builder::new(module),
            int,
            word,
            choose: module.declare("crunner_choose", module.void(), &choose),
            pointer: module.declare("crunner_mock_pointer", pointer, &[pointer, word, int]),
        }
    }

    /// The kind of a function's result.
    fn returns(&self, function: Value<'m>) -> Returns {
        let layout = self.module.layout();
        let result = function.value_type().result();
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
                    // An address that is dereferenced must point to an object.
                    may_return_any_address: uses.computes && uses.pointee == 0,
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
        let builder = &self.builder;
        let layout = self.module.layout();
        let result = function.value_type().result();
        let returns = self.returns(function);
        set_kind(function, "mock");
        builder.move_to_end(function.append_block("entry"));
        let channel = builder.text(name, "cegar.channel");
        if never_returns(function)
            && let Some(stop) = self.module.function("crunner_stop")
        {
            // It ends the run. That it calls nothing of the program before is assumed.
            let asked = match self.has_wider_ends {
                true => assumed::unmodelled(self.module),
                false => assumed::function(self.module),
            };
            builder.call(asked, &[assumed::literal(builder, ENDS)]);
            builder.call(stop.callable(), &[self.int.zero()]);
            builder.unreachable();
            return returns;
        }
        if result.is_void() {
            if let (Returns::Aggregate { bytes }, Some(into)) =
                (&returns, function.params().first())
            {
                self.choose(channel, *into, *bytes);
            }
            builder.ret(None);
            return returns;
        }
        if let Returns::Pointer {
            pointee,
            may_return_any_address,
            ..
        } = returns
        {
            let may_return_any_address = self.int.number(u64::from(may_return_any_address));
            let arguments = [channel, self.word.number(pointee), may_return_any_address];
            builder.ret(Some(builder.call(self.pointer, &arguments)));
            return returns;
        }
        let bits = layout.bits(result);
        let bytes = layout.store_size(result);
        // A width that is not a number of whole bytes is taken as bytes and truncated.
        let cut = result.is_integer() && !bits.is_multiple_of(8);
        let held = if cut {
            self.module.int(bytes as u32 * 8)
        } else {
            result
        };
        let local = builder.alloca(held).named("result");
        if held.is_struct() {
            // The padding of a result is part of the channel too.
            self.choose(channel, local, layout.size(result));
        } else {
            self.choose(channel, local, bytes);
        }
        let mut value = builder.load(held, local);
        if cut {
            value = builder.resize(value, result, false);
        }
        builder.ret(Some(value));
        returns
    }

    fn choose(&self, channel: Value<'m>, into: Value<'m>, bytes: u64) {
        let arguments = [channel, into, self.word.number(bytes)];
        self.builder.call(self.choose, &arguments);
    }
}

/// Whether a function is declared not to return. If clang checks for unreachable code, it removes
/// that from the declaration and puts a trap after each call instead.
fn never_returns(function: Value<'_>) -> bool {
    let users = function.users();
    function.has_attribute(Place::Function, "noreturn")
        || !users.is_empty() && users.into_iter().all(|user| is_last(function, user))
}

/// The number of clang's check for unreachable code.
const UNREACHABLE: u64 = 1;

/// Whether a use is a call that is followed only by the check that the call does not return. The
/// check is at the call's own place: what stands behind the call (`__builtin_unreachable()`) is
/// the program's claim, which has to be checked.
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
    if !is_never || branch.position() != user.position() {
        return false;
    }
    // The successor if the condition is false.
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
    function.attribute_type(Place::Parameter(0), "sret")
}
