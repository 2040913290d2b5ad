//! Objects that several makers create.
//!
//! A JSON value is created as a number, a string or an array: each is a constructor of the same
//! type, and a function for arrays does nothing with a number. So if several functions of the
//! header create an object from plain values, the tape chooses among them.

use super::{Body, Way};
use crate::init::api::{Declared, Parameter};
use crate::init::ctype::Kind;
use crate::init::drive::has_word;
use crate::init::drive::sides::is_other_side;
use crate::init::drive::text::words;

/// The maximum number of constructors to choose from.
const MOST: usize = 6;
/// Words in the names of functions that find an existing object.
pub(super) const FINDS: &[&str] = &[
    "get", "find", "lookup", "search", "by", "current", "default", "instance", "global", "shared",
    "static", "next", "first", "last", "peek", "error", "version",
];

impl<'a> Body<'a> {
    /// Whether a function returns a new object that the caller owns: it takes only values and
    /// places for an error code, it does not look something up, and another function releases such
    /// objects.
    pub(super) fn is_made_of_values(&self, maker: &Declared) -> bool {
        let Some(identity) = self.api.handle(&maker.returns) else {
            return false;
        };
        // `back` cannot be used, because it asks which function makes the object, which calls this
        // function.
        let is_back = |function: &Declared| {
            let takes_object = match &function.params[..] {
                [only] => self.api.handle(&only.ty).as_deref() == Some(&identity),
                _ => false,
            };
            self.api.pointee(&maker.returns).is_some()
                && has_word(&function.name, super::ENDS)
                && takes_object
        };
        !maker.variadic
            && !words(&maker.name).any(|word| FINDS.contains(&word.as_str()))
            && maker
                .params
                .iter()
                .all(|param| self.is_value(param) || self.is_report(param))
            && self.api.all_functions().any(is_back)
    }

    /// Whether a parameter points to a number in which the function reports, for example, an error
    /// code.
    fn is_report(&self, param: &Parameter) -> bool {
        let to = self.api.pointee(&param.ty).filter(|to| !to.constant);
        let kind = to.map(|to| self.api.resolve(&to).kind);
        matches!(
            kind,
            Some(Kind::Int { size: 2.., .. } | Kind::Enum(_) | Kind::Bool)
        )
    }

    /// Whether a parameter is a number, a string, or bytes that are only read.
    pub(in crate::init::drive) fn is_value(&self, param: &Parameter) -> bool {
        match self.api.resolve(&param.ty).kind {
            Kind::Int { .. } | Kind::Float { .. } | Kind::Bool | Kind::Enum(_) => {
                self.number_handle(param).is_none()
            }
            Kind::Pointer(to) => {
                to.constant
                    && matches!(
                        self.api.resolve(&to).kind,
                        Kind::Int { size: 1, .. } | Kind::Void
                    )
            }
            _ => false,
        }
    }

    /// Calls of other constructors of the object that is being created, with chosen arguments.
    pub(super) fn calls_of_others(&mut self, maker: &Declared, depth: usize) -> Vec<String> {
        let Some(identity) = self.making.last().cloned() else {
            return Vec::new();
        };
        if !maker
            .params
            .iter()
            .all(|param| self.is_value(param) || self.is_report(param))
        {
            return Vec::new();
        }
        // If callers are seen to use the maker, only constructors that they use are included.
        let is_seen = |name: &String| self.preferred.contains(name);
        let as_callers = is_seen(&maker.name);
        let others = self.api.all_functions().filter(|other| {
            other.name != maker.name
                && other.name != self.function.name
                && !other.deprecated
                && !other.variadic
                && (!as_callers || is_seen(&other.name))
                && !is_other_side(&other.name, &self.function.name)
                && self.is_usable(other)
                && other.params.iter().all(|param| self.is_value(param))
                && matches!(self.makes(other, &identity), Some(Way::Returns))
        });
        let others: Vec<&'a Declared> = others.take(MOST - 1).collect();
        let mut calls = Vec::new();
        for other in others {
            let before = self.clone();
            match self.arguments(other, &[], depth + 1) {
                Ok(arguments) => calls.push(format!("{}({})", other.name, arguments.join(", "))),
                Err(_) => *self = before,
            }
        }
        calls
    }
}

/// The lines in which one of several calls creates an object.
pub(super) fn chosen(declared: &str, name: &str, call: &str, others: &[String]) -> Vec<String> {
    let calls = std::iter::once(call).chain(others.iter().map(String::as_str));
    let cases = (0..).zip(calls);
    let cases = cases.map(|(i, call): (usize, _)| format!("case {i}: {name} = {call}; break;"));
    let first = [
        format!("{declared} = NULL;"),
        format!("switch (crunner_range(0, {})) {{", others.len()),
    ];
    let lines = first.into_iter().chain(cases);
    lines.chain(["}".to_owned()]).collect()
}
