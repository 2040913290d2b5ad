//! Replaces the calls that ask for lifted rules by constants.
//!
//! A library function calls `crunner_assumed("ID")` where its behaviour can be as wide as the
//! world. If the rule is lifted, the result is 0 in everything that reads the normalised program.
//! If it is assumed, the call stays, so that a proof can tell that the rule was asked for. The
//! lifted rules are written into the module, because they are part of the program's meaning and of
//! its hash.

use cegar_llvm::{Builder, Callee, Module, Type, Value};

use super::LinkRequest;
use super::NormaliseError;
use crate::assumption::Rule;
use crate::program::convention::LIFTED;

/// The function that asks whether a rule is assumed.
const ASSUMED: &str = "crunner_assumed";

/// `int crunner_assumed(const char *)`; declares it if it is not declared.
pub(super) fn function(module: &Module) -> Callee<'_> {
    told(module, ASSUMED, module.int(32))
}

/// `void crunner_unmodelled(const char *)`; declares it if it is not declared.
pub(super) fn unmodelled(module: &Module) -> Callee<'_> {
    told(module, "crunner_unmodelled", module.void())
}

fn told<'m>(module: &'m Module, name: &str, result: Type<'m>) -> Callee<'m> {
    module.declare(name, result, &[module.pointer()])
}

/// A string literal, as an argument.
pub(super) fn literal<'m>(builder: &Builder<'m>, text: &str) -> Value<'m> {
    builder.text(text, "cegar.rule")
}

/// Folds the calls for lifted rules to 0, and writes the lifted rules into the module.
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
