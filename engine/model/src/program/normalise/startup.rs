//! Constructors and destructors run inside the program, not around it.
//!
//! A loader runs the functions of `llvm.global_ctors` before there is a tape, and what they do would belong to no run.
//! So the driver calls them first of all, lowest priority first, and hands destructors to `atexit` before anything
//! else is handed to it: they then run last, and in the reverse order, as C's run-time start-up does it.

use llvm_sys::LLVMOpcode;
use llvm_sys::prelude::LLVMBuilderRef;

use super::{LinkRequest, assumed, platform};
use crate::program::llvm::{Module, Value, llvm};
use crate::program::load::ENTRY;

pub(super) const ATEXIT: &str = "CRUNNER_atexit";

/// Moves both lists into the driver. Without a driver they are left alone.
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
    let builder = llvm!(LLVMCreateBuilderInContext(module.context));
    llvm!(LLVMPositionBuilderBefore(builder, first.0));
    // A call between functions with debug information must have a position.
    let mut positions = all.iter().map(|i| position(i));
    if let Some(at) = positions.find(|at| !at.is_null()) {
        llvm!(LLVMSetCurrentDebugLocation2(builder, at));
    }
    platform::ask(module, request, builder);
    if let Some(atexit) = module.function(ATEXIT) {
        for destructor in take(module, "llvm.global_dtors") {
            let ty = atexit.function_type();
            let mut argument = [destructor.0];
            call(builder, ty.0, atexit, &mut argument);
        }
    }
    for constructor in take(module, "llvm.global_ctors") {
        let ty = constructor.function_type();
        // glibc hands constructors what `main` gets.
        if !ty.params().is_empty() {
            let text = assumed::literal(builder, c"a constructor that looks at its arguments");
            assumed::tell(builder, assumed::unmodelled(module), text);
        }
        let mut arguments: Vec<_> = ty
            .params()
            .iter()
            .map(|p| llvm!(LLVMConstNull(p.0)))
            .collect();
        call(builder, ty.0, constructor, &mut arguments);
    }
    llvm!(LLVMDisposeBuilder(builder));
}

fn call(
    builder: LLVMBuilderRef,
    ty: llvm_sys::prelude::LLVMTypeRef,
    function: Value<'_>,
    arguments: &mut [llvm_sys::prelude::LLVMValueRef],
) {
    let count = arguments.len() as u32;
    llvm!(LLVMBuildCall2(
        builder,
        ty,
        function.0,
        arguments.as_mut_ptr(),
        count,
        c"".as_ptr()
    ));
}

/// The functions of such a list by rising priority; the list is gone then.
fn take<'m>(module: &'m Module, name: &str) -> Vec<Value<'m>> {
    let found = module.globals().into_iter().find(|g| g.name() == name);
    let Some(list) = found else {
        return Vec::new();
    };
    let part = |of: Value<'m>, i: u32| Value::some(llvm!(LLVMGetAggregateElement(of.0, i)));
    let mut all: Vec<(u64, Value<'m>)> = Vec::new();
    if let Some(entries) = list.initializer() {
        let entries = (0..).map_while(|i| part(entries, i));
        all.extend(entries.filter_map(|entry| {
            let priority = part(entry, 0)?.const_int()?;
            let function = part(entry, 1)?;
            function.is_function().then_some((priority, function))
        }));
    }
    all.sort_by_key(|(priority, _)| *priority);
    llvm!(LLVMDeleteGlobal(list.0));
    all.into_iter().map(|(_, function)| function).collect()
}

/// The debug location of an instruction; NULL if it has none.
fn position(instruction: &Value<'_>) -> llvm_sys::prelude::LLVMMetadataRef {
    // SAFETY: the callers pass instructions of a live module.
    unsafe { llvm_sys::debuginfo::LLVMInstructionGetDebugLoc(instruction.0) }
}
