//! Finds what compilers, linkers and loaders add to a program beyond the meaning of its C code.
//!
//! Assembly at file scope may give a variable a second name. The loader calls the functions in
//! certain sections, and the linker defines symbols for the ends of sections. The compiler copies
//! structures with the program's own `memcpy`, moves vectors with instructions that require
//! alignment, and assumes that a `_Bool` is 0 or 1: clang reads its lowest bit, gcc all eight.
//! Allocators differ in what C leaves open. If the user's code has such a thing, the driver states
//! at its beginning that it is assumed to be harmless, or that nothing behind it is modelled.

use std::collections::HashSet;

use cegar_llvm::{Builder, LLVMLinkage, LLVMOpcode, LLVMValueKind, Module, Value};

use super::{LinkRequest, assumed, link, temporaries};

/// Functions that the compiler calls implicitly.
const COPIES: [&str; 3] = ["memcpy", "memmove", "memset"];
/// The prefixes of the sections whose contents the loader calls.
const CALLED: [&str; 5] = [
    ".preinit_array",
    ".init_array",
    ".fini_array",
    ".ctors",
    ".dtors",
];
/// The size in bytes of a vector that is moved by an instruction which requires alignment.
const VECTOR: u32 = 16;

/// A rule, and the test for programs that have to ask for it.
struct Asked {
    rule: &'static str,
    is_there: fn(&Module) -> bool,
    /// Whether the model covers what the rule excludes when it is lifted.
    has_wider_model: bool,
}

const ASKED: [Asked; 10] = [
    Asked {
        rule: "fast-math",
        is_there: has_fast_arithmetic,
        has_wider_model: false,
    },
    Asked {
        rule: "weak-symbols",
        is_there: has_weak_symbols,
        has_wider_model: false,
    },
    Asked {
        rule: "assembly",
        is_there: has_assembly,
        has_wider_model: false,
    },
    Asked {
        rule: "own-copies",
        is_there: has_copies,
        has_wider_model: false,
    },
    Asked {
        rule: "alignment",
        is_there: has_vectors,
        has_wider_model: false,
    },
    Asked {
        rule: "booleans",
        is_there: has_booleans,
        has_wider_model: false,
    },
    Asked {
        rule: "usable-size",
        is_there: asks_for_size,
        has_wider_model: false,
    },
    Asked {
        rule: "odd-alignment",
        is_there: aligns_oddly,
        has_wider_model: false,
    },
    Asked {
        rule: "temporaries",
        is_there: has_temporaries,
        has_wider_model: false,
    },
    Asked {
        rule: "volatile-pointers",
        is_there: reads_volatile_pointers,
        has_wider_model: true,
    },
];

/// Inserts calls into the driver, at the position of `builder`, for each thing that the program
/// has.
pub(super) fn ask<'m>(module: &'m Module, request: &LinkRequest, builder: &Builder<'m>) {
    let tell = |function, text: &str| {
        builder.call(function, &[assumed::literal(builder, text)]);
    };
    for asked in ASKED.iter().filter(|asked| (asked.is_there)(module)) {
        match request.lifted.contains(asked.rule) {
            true if asked.has_wider_model => {}
            true => tell(assumed::unmodelled(module), asked.rule),
            false => tell(assumed::function(module), asked.rule),
        }
    }
    if has_sections(module) {
        let text = "a section that the loader or the linker gives a meaning";
        tell(assumed::unmodelled(module), text);
    }
    if module.has_ifuncs() {
        let text = "a function that is chosen when the program is loaded";
        tell(assumed::unmodelled(module), text);
    }
}

/// Whether there is assembly at file scope that may matter. Versions of symbols and notes for the
/// linker do not.
fn has_assembly(module: &Module) -> bool {
    let text = module.assembly();
    let is_harmless = |line: &str| {
        [".symver", ".ident", ".section .note.GNU-stack", "#", "//"]
            .iter()
            .any(|known| line.starts_with(known))
    };
    text.split(['\n', ';'])
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .any(|line| !line.is_empty() && !is_harmless(&line))
}

/// Whether options such as `-ffast-math` let the compiler change arithmetic.
fn has_fast_arithmetic(module: &Module) -> bool {
    in_users_code(module, |instruction| instruction.is_fast())
}

/// The prefix of names of the stub library, whose definitions are weak.
const OF_LIBRARY: &str = "crunner_";

/// Whether the program uses a weak symbol, which another object file may define.
fn has_weak_symbols(module: &Module) -> bool {
    in_users_code(module, |instruction| {
        let mut seen = HashSet::new();
        let mut left = instruction.operands();
        while let Some(value) = left.pop() {
            if !seen.insert(value) || !value.is_constant() {
                continue;
            }
            if is_weak(value) {
                return true;
            }
            // A pointer to it may be the initial value of a variable, or part of a constant.
            left.extend(
                match value.kind() {
                    LLVMValueKind::LLVMFunctionValueKind => None,
                    LLVMValueKind::LLVMGlobalAliasValueKind => value.aliasee().map(|one| vec![one]),
                    LLVMValueKind::LLVMGlobalVariableValueKind => {
                        value.initializer().map(|one| vec![one])
                    }
                    _ => Some(value.operands()),
                }
                .unwrap_or_default(),
            );
        }
        false
    })
}

fn is_weak(value: Value<'_>) -> bool {
    use LLVMLinkage::{LLVMExternalWeakLinkage, LLVMWeakAnyLinkage};
    let kind = value.kind();
    let is_function = value.is_function();
    let has_linkage = is_function
        || value.is_global_variable()
        || kind == LLVMValueKind::LLVMGlobalAliasValueKind;
    has_linkage
        && matches!(
            value.linkage(),
            LLVMExternalWeakLinkage | LLVMWeakAnyLinkage
        )
        && (!is_function || value.is_declaration() || link::is_users(value))
        && !value.name().to_lowercase().starts_with(OF_LIBRARY)
}

/// Whether the program defines functions that the compiler calls implicitly. At this point they
/// have been renamed, because the platform's functions of these names are linked as well.
fn has_copies(module: &Module) -> bool {
    COPIES
        .iter()
        .any(|name| module.defined_function(&format!("{name}.0")).is_some())
}

/// Whether the user's code accesses vectors through pointers, at addresses that have to be aligned.
fn has_vectors(module: &Module) -> bool {
    let is_place = |address: Value<'_>| {
        address.is_global_variable() || address.opcode() == Some(LLVMOpcode::LLVMAlloca)
    };
    let is_vector = |instruction: &Value<'_>| {
        let (ty, address) = match instruction.opcode() {
            Some(LLVMOpcode::LLVMLoad) => (instruction.ty(), instruction.operand(0)),
            Some(LLVMOpcode::LLVMStore) => (instruction.operand(0).ty(), instruction.operand(1)),
            Some(LLVMOpcode::LLVMCall) => return is_aligned_by_mask(instruction),
            _ => return false,
        };
        ty.is_vector() && instruction.align() >= VECTOR && !is_place(address)
    };
    in_users_code(module, is_vector)
}

/// Whether a call accesses the lanes that a mask selects, at an address that has to be aligned.
fn is_aligned_by_mask(call: &Value<'_>) -> bool {
    let name = call.callee().name();
    let at = match () {
        () if name.starts_with("llvm.masked.load.") => 1,
        () if name.starts_with("llvm.masked.store.") => 2,
        () => return false,
    };
    call.operand(at).const_int() >= Some(VECTOR.into())
}

/// Whether the user's code reads a `_Bool` that may have been written by an access of another type.
/// A named `_Bool` whose address is not taken only holds results of C's conversion.
fn has_booleans(module: &Module) -> bool {
    let is_read_alone = |address: Value<'_>| {
        let users = address.users();
        let reads = |user: &Value<'_>| match user.opcode() {
            Some(LLVMOpcode::LLVMLoad) => true,
            Some(LLVMOpcode::LLVMStore) => user.operand(1) == address,
            _ => user.is_call() && user.callee().name().starts_with("llvm.lifetime."),
        };
        let is_named =
            address.is_global_variable() || address.opcode() == Some(LLVMOpcode::LLVMAlloca);
        is_named && users.iter().all(reads)
    };
    let is_boolean = |instruction: &Value<'_>| {
        instruction.opcode() == Some(LLVMOpcode::LLVMTrunc)
            && instruction.ty().int_width() == Some(1)
            && instruction.operand(0).opcode() == Some(LLVMOpcode::LLVMLoad)
            && !is_read_alone(instruction.operand(0).operand(0))
    };
    in_users_code(module, is_boolean)
}

/// Whether the user's code reads a pointer that is volatile.
fn reads_volatile_pointers(module: &Module) -> bool {
    in_users_code(module, |instruction| {
        instruction.opcode() == Some(LLVMOpcode::LLVMLoad)
            && instruction.is_volatile()
            && instruction.ty().is_pointer()
    })
}

/// Whether an object may be used after the end of its life, which is not marked.
fn has_temporaries(module: &Module) -> bool {
    let any = |is_sure| in_users_code(module, |value| temporaries::may_outlive(*value, is_sure));
    // Most programs have none, and describing the variables of a large program takes time.
    let mut found = any(false);
    if found {
        module.with_debug_calls(|| found = any(true));
    }
    found
}

/// Whether the user's code asks for the size of a block. Allocators give more than was requested.
fn asks_for_size(module: &Module) -> bool {
    in_users_code(module, |instruction| {
        let operands = instruction.operands();
        let mut names = operands.iter().map(|operand| operand.name());
        names.any(|name| name.ends_with("malloc_usable_size"))
    })
}

/// Whether the user's code allocates with an alignment that may not be a power of two. Some C
/// libraries refuse it, others round it up.
fn aligns_oddly(module: &Module) -> bool {
    in_users_code(module, |instruction| {
        let operands = instruction.operands();
        let is_allocator = |value: &Value<'_>| {
            let name = value.name();
            let aligns = name.ends_with("aligned_alloc") || name.ends_with("memalign");
            // `posix_memalign` refuses such an alignment on every platform.
            aligns && !name.ends_with("posix_memalign")
        };
        if !operands.iter().any(is_allocator) {
            return false;
        }
        let is_called = instruction.is_call() && is_allocator(&instruction.callee());
        let alignment = is_called.then(|| instruction.operand(0).const_int());
        !alignment.flatten().is_some_and(u64::is_power_of_two)
    })
}

/// Whether an instruction of the user's code satisfies `is_it`.
fn in_users_code(module: &Module, is_it: impl Fn(&Value<'_>) -> bool) -> bool {
    let functions = module.functions().into_iter();
    let mut blocks = functions
        .filter(|f| link::is_users(*f))
        .flat_map(|function| function.blocks());
    blocks.any(|block| block.instructions().iter().any(&is_it))
}

/// Whether a variable or a function is in a section that the loader reads, or the program uses the
/// linker's names for the ends of one of its sections.
fn has_sections(module: &Module) -> bool {
    let globals = module.globals();
    let sections: Vec<String> = globals
        .iter()
        .chain(&module.functions())
        .filter_map(|value| value.section())
        .collect();
    let is_called = |section: &String| CALLED.iter().any(|known| section.starts_with(known));
    sections.iter().any(is_called)
        || globals.iter().any(|global| {
            let name = global.name();
            let of = ["__start_", "__stop_"]
                .iter()
                .find_map(|prefix| name.strip_prefix(prefix));
            global.is_declaration() && of.is_some_and(|of| sections.iter().any(|one| one == of))
        })
}
