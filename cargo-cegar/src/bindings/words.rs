//! Describes types and differences in words for users.

use super::shape::{Class, Record, Shape, Signature};

/// A description of a type.
pub(super) fn named(shape: &Shape, name: Option<String>) -> String {
    let sign = |signed: bool| if signed { "a signed" } else { "an unsigned" };
    match shape {
        Shape::Void => "nothing".to_owned(),
        Shape::Bool => "a truth value".to_owned(),
        Shape::Int { size, signed, .. } => format!("{} number of {}", sign(*signed), bytes(*size)),
        Shape::Float { size } => format!("a floating-point number of {}", bytes(*size)),
        Shape::Enum { size, .. } => {
            format!(
                "`{}`, an enumeration of {}",
                name.unwrap_or_default(),
                bytes(*size)
            )
        }
        Shape::Pointer { .. } => "a pointer".to_owned(),
        Shape::Code(_) => "a pointer to a function".to_owned(),
        Shape::Array { .. } => "an array".to_owned(),
        Shape::Record(_) => format!("`{}`", name.unwrap_or_default()),
        Shape::Opaque | Shape::Unknown(_) => "something unknown".to_owned(),
    }
}

pub(super) fn bytes(size: u64) -> String {
    match size {
        1 => "1 byte".to_owned(),
        size => format!("{size} bytes"),
    }
}

pub(super) fn piece(class: Class, size: u64) -> String {
    match class {
        Class::Int => format!("a number of {}", bytes(size)),
        Class::Float => format!("a floating-point number of {}", bytes(size)),
        Class::Pointer => "a pointer".to_owned(),
        Class::Bytes => bytes(size),
    }
}

pub(super) fn sizes(rust: &Record, c: &Record) -> String {
    format!(
        "`{}` has {} in Rust, and {} in C",
        rust.name,
        bytes(rust.size),
        bytes(c.size)
    )
}

pub(super) fn arity(rust: &Signature, c: &Signature) -> Option<String> {
    let count = |n: usize| {
        if n == 1 {
            "1 parameter".to_owned()
        } else {
            format!("{n} parameters")
        }
    };
    match (rust.variadic, c.variadic) {
        (true, false) => {
            return Some("it takes any number of arguments in Rust, and not in C".to_owned());
        }
        (false, true) => {
            return Some("it takes any number of arguments in C, and not in Rust".to_owned());
        }
        _ => {}
    }
    let (a, b) = (rust.params.len(), c.params.len());
    (a != b).then(|| format!("it has {} in Rust, and {b} in C", count(a)))
}

/// A name in lower case without underscores.
pub(super) fn plain(name: &str) -> String {
    name.to_lowercase().replace('_', "")
}

/// The length of the common prefix of all enumerators, up to and including its last underscore.
pub(super) fn common(constants: &[(String, i128)]) -> usize {
    let Some((first, _)) = constants.first() else {
        return 0;
    };
    let shared = constants
        .iter()
        .skip(1)
        .fold(first.len(), |shared, (name, _)| {
            let same = first
                .bytes()
                .zip(name.bytes())
                .take_while(|(a, b)| a == b)
                .count();
            shared.min(same)
        });
    if constants.len() < 2 {
        return 0;
    }
    first[..shared].rfind('_').map_or(0, |at| at + 1)
}
