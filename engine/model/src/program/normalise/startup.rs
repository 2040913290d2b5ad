//! Makes constructors and destructors run inside the program, not around it.
//!
//! A loader runs the functions of `llvm.global_ctors` before there is a tape, and their effects
//! would belong to no run. So the driver calls them first, in ascending order of priority, and
//! registers destructors with `atexit` before anything else: they then run last and in reverse
//! order, as in C's run-time start-up.

use cegar_llvm::{Builder, LLVMOpcode, Metadata, Module, Type, Value};

use super::{LinkRequest, assumed, platform};
use crate::program::convention::ATEXIT;
use crate::program::load::ENTRY;

/// Moves both lists into the driver. Without a driver they stay unchanged.
pub(super) fn into_driver(module: &Module, request: &LinkRequest) {
    let Some(driver) = module.function(ENTRY) else {
        return;
    };
    let all: Vec<Value<'_>> = driver
        .blocks()
        .into_iter()
        .flat_map(|block| block.instructions())
        .collect();
    let Some(first) = all
        .iter()
        .find(|i| i.opcode() != Some(LLVMOpcode::LLVMAlloca))
    else {
        return;
    };
    let builder = Builder::before(*first);
    // A call between functions with debug information must have a position.
    if let Some(at) = all.iter().find_map(|i| Metadata::of_place(*i)) {
        builder.set_place(Some(at));
    }
    platform::ask(module, request, &builder);
    if let Some(atexit) = module.function(ATEXIT) {
        for destructor in take(module, "llvm.global_dtors") {
            builder.call(atexit.callable(), &[destructor]);
        }
    }
    for constructor in take(module, "llvm.global_ctors") {
        let params = constructor.value_type().params();
        // glibc passes the arguments of `main` to constructors.
        if !params.is_empty() {
            let text = assumed::literal(&builder, "a constructor that looks at its arguments");
            builder.call(assumed::unmodelled(module), &[text]);
        }
        let arguments: Vec<Value<'_>> = params.into_iter().map(Type::zero).collect();
        builder.call(constructor.callable(), &arguments);
    }
}

/// The functions of such a list in ascending order of priority. Removes the list.
fn take<'m>(module: &'m Module, name: &str) -> Vec<Value<'m>> {
    let found = module.globals().into_iter().find(|g| g.name() == name);
    let Some(list) = found else {
        return Vec::new();
    };
    let mut all: Vec<(u64, Value<'m>)> = Vec::new();
    if let Some(entries) = list.initializer() {
        let entries = (0..).map_while(|i| entries.element(i));
        all.extend(entries.filter_map(|entry| {
            let priority = entry.element(0)?.const_int()?;
            let function = entry.element(1)?;
            function.is_function().then_some((priority, function))
        }));
    }
    all.sort_by_key(|(priority, _)| *priority);
    list.delete();
    all.into_iter().map(|(_, function)| function).collect()
}
