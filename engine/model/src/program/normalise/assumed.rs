//! What the user lifted becomes a constant.
//!
//! A library function asks `crunner_assumed("ID")` where it can be as wide as the world. Where the
//! rule is lifted that is 0 from here on, in everything that reads the program; where it is assumed
//! the call stays, so that a proof knows that it was asked. What was lifted is written into the
//! module: it is part of what the program means, and of its hash.

use cegar_llvm::{Builder, Callee, Module, Type, Value};

use super::LinkRequest;
use super::NormaliseError;
use crate::assumption::Rule;
use crate::program::convention::LIFTED;

/// The function that asks.
const ASSUMED: &str = "crunner_assumed";

/// `int crunner_assumed(const char *)`, declared where it is not.
pub(super) fn function(module: &Module) -> Callee<'_> {
    told(module, ASSUMED, module.int(32))
}

/// `void crunner_unmodelled(const char *)`, declared where it is not.
pub(super) fn unmodelled(module: &Module) -> Callee<'_> {
    told(module, "crunner_unmodelled", module.void())
}

fn told<'m>(module: &'m Module, name: &str, result: Type<'m>) -> Callee<'m> {
    module.declare(name, result, &[module.pointer()])
}

/// A text as an argument.
pub(super) fn literal<'m>(builder: &Builder<'m>, text: &str) -> Value<'m> {
    builder.text(text, "cegar.rule")
}

/// Folds the calls for what is lifted, and writes down what that is.
pub(super) fn fold(module: &Module, request: &LinkRequest) -> Result<(), NormaliseError> {
    for rule in &request.lifted {
        module.add_named_text(LIFTED, rule);
    }
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
            user.replace_all_uses(user.ty().zero());
            user.delete();
        }
    }
    Ok(())
}
