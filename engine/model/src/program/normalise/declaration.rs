//! The declaration of a function in C, from debug information: for the message that the function
//! cannot be the entry.

use cegar_llvm::Metadata;

use cegar_llvm::metadata::{BASE, FUNCTION_TYPE, NAME, SIGNATURE, tag};

/// `long main(int, char **)`, from a function's debug information.
pub(super) fn of(function: Metadata<'_>, name: &str) -> Option<String> {
    let ty = function.operand(FUNCTION_TYPE)?;
    let all = ty.operand(SIGNATURE)?.operands();
    let mut words = all.into_iter().map(type_words);
    let result = words.next().unwrap_or_else(|| "void".to_owned());
    let parameters: Vec<String> = words.collect();
    let parameters = match parameters.is_empty() {
        true => "void".to_owned(),
        false => parameters.join(", "),
    };
    let space = if result.ends_with('*') { "" } else { " " };
    Some(format!("{result}{space}{name}({parameters})"))
}

/// A type as C writes it, without declarators for arrays and functions.
fn type_words(ty: Option<Metadata<'_>>) -> String {
    let Some(ty) = ty else {
        return "void".to_owned();
    };
    let base = || type_words(ty.operand(BASE));
    let name = || ty.string_at(NAME);
    match ty.tag() {
        tag::POINTER => match base() {
            inner if inner.ends_with('*') => format!("{inner}*"),
            inner => format!("{inner} *"),
        },
        tag::CONST => format!("const {}", base()),
        tag::VOLATILE => format!("volatile {}", base()),
        tag::RESTRICT | tag::ATOMIC | tag::MEMBER => base(),
        tag::STRUCTURE => format!("struct {}", name()),
        tag::UNION => format!("union {}", name()),
        _ if name().is_empty() => "...".to_owned(),
        _ => name(),
    }
}
