//! What the user lifted becomes a constant.
//!
//! A library function asks `crunner_assumed("ID")` where it can be as wide as the world. Where the rule is lifted that is 0 from here on, in
//! everything that reads the program; where it is assumed the call stays, so that a proof knows that it was asked.
//! What was lifted is written into the module: it is part of what the program means, and of its hash.

use std::ffi::CStr;

use llvm_sys::prelude::{LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};

use super::LinkRequest;
use super::NormaliseError;
use crate::assumption::Rule;
use crate::program::llvm::{Module, Value, llvm};

/// The function that asks.
const ASSUMED: &str = "crunner_assumed";

/// A function of the library that is told a text: its type and itself.
pub(super) type Told = (LLVMTypeRef, LLVMValueRef);

/// `int crunner_assumed(const char *)`, declared where it is not.
pub(super) fn function(module: &Module) -> Told {
    let int = llvm!(LLVMInt32TypeInContext(module.context));
    told(module, c"crunner_assumed", int)
}

/// `void crunner_unmodelled(const char *)`, declared where it is not.
pub(super) fn unmodelled(module: &Module) -> Told {
    let void = llvm!(LLVMVoidTypeInContext(module.context));
    told(module, c"crunner_unmodelled", void)
}

fn told(module: &Module, name: &CStr, result: LLVMTypeRef) -> Told {
    let mut pointer = [llvm!(LLVMPointerTypeInContext(module.context, 0))];
    let ty = llvm!(LLVMFunctionType(result, pointer.as_mut_ptr(), 1, 0));
    let known = llvm!(LLVMGetNamedFunction(module.module, name.as_ptr()));
    let function = match known.is_null() {
        true => llvm!(LLVMAddFunction(module.module, name.as_ptr(), ty)),
        false => known,
    };
    (ty, function)
}

/// A text as an argument.
pub(super) fn literal(builder: LLVMBuilderRef, text: &CStr) -> LLVMValueRef {
    let name = c"cegar.rule".as_ptr();
    llvm!(LLVMBuildGlobalStringPtr(builder, text.as_ptr(), name))
}

/// Calls a function with a text.
pub(super) fn tell(builder: LLVMBuilderRef, (ty, function): Told, text: LLVMValueRef) {
    let mut arguments = [text];
    llvm!(LLVMBuildCall2(
        builder,
        ty,
        function,
        arguments.as_mut_ptr(),
        1,
        c"".as_ptr()
    ));
}

/// Folds the calls for what is lifted, and writes down what that is.
pub(super) fn fold(module: &Module, request: &LinkRequest) -> Result<(), NormaliseError> {
    module.set_lifted(request.lifted.iter().map(String::as_str));
    let Some(function) = module.function(ASSUMED) else {
        return Ok(());
    };
    for user in function.users() {
        let is_direct = user.is_call() && user.callee() == function;
        let id = is_direct
            .then(|| user.arguments().first().copied())
            .flatten()
            .and_then(crate::program::load::string);
        let Some(id) = id else {
            return Err(NormaliseError::Assumption(
                "it is asked for by something that is no literal".to_owned(),
            ));
        };
        if Rule::find(&id).is_none() {
            return Err(NormaliseError::Assumption(format!(
                "there is no rule `{id}`"
            )));
        }
        if request.lifted.contains(&id) {
            user.replace_all_uses(Value::new(llvm!(LLVMConstNull(user.ty().0))));
            user.erase_instruction();
        }
    }
    Ok(())
}
