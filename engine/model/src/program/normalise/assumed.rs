//! What the user lifted becomes a constant.
//!
//! A library function asks `crunner_assumed("ID")` where it can be as wide as the world. Where the rule is lifted that is 0 from here on, in
//! everything that reads the program; where it is assumed the call stays, so that whoever proves something knows that it was asked.
//! What was lifted is written into the module: it is part of what the program means, and of its hash.

use super::LinkRequest;
use super::NormaliseError;
use crate::assumption::Rule;
use crate::program::llvm::{Module, Value, llvm};

/// The function that asks.
const ASSUMED: &str = "crunner_assumed";

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
