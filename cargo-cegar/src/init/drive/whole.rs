//! The global initialisation and shutdown of a library.
//!
//! `mix_init(void)` fills the tables that every other function reads, and `registry_init(unsigned
//! slots)` creates the only registry. The header mentions this in prose only, but every caller
//! makes the call, and making it is always correct. So it is made if there is exactly one such
//! function and it takes nothing but values. If its return type or its comment shows how it fails,
//! the harness ends after a failure.

use super::text::words;
use super::{Body, Success};
use crate::init::api::Declared;
use crate::init::ctype::Kind;

/// Last words in the names of initialisation functions.
const BEGINS: &[&str] = &["init", "initialize", "initialise", "startup"];
/// Last words in the names of the corresponding shutdown functions.
const ENDS: &[&str] = &[
    "shutdown",
    "cleanup",
    "deinit",
    "uninit",
    "fini",
    "finalize",
    "finalise",
    "terminate",
];

/// The words of a name before the last one, if the last one is in the list.
pub(super) fn stem(name: &str, last: &[&str]) -> Option<Vec<String>> {
    let mut words: Vec<String> = words(name).filter(|word| !word.is_empty()).collect();
    let word = words.pop()?;
    last.contains(&word.as_str()).then_some(words)
}

/// The maximum number of functions to choose from for filling the library's global state.
const MOST: usize = 3;

impl<'a> Body<'a> {
    /// The initialisation statements of a library and the shutdown call. They also fill the
    /// library's global state if the driven function works on it.
    pub(super) fn whole(&mut self, function: &Declared) -> (Vec<String>, Option<String>) {
        let Some((begin, of)) = self.begin() else {
            return (Vec::new(), None);
        };
        let ends =
            self.api.functions.iter().filter(|end| {
                self.is_plain_call(end) && stem(&end.name, ENDS).as_ref() == Some(&of)
            });
        let ends = ends.map(|end| format!("{}();", end.name)).next();
        if begin.name == function.name {
            return (Vec::new(), ends);
        }
        // An initialisation with arguments may concern only a part of the library.
        let own = words(&function.name).filter(|word| !word.is_empty());
        let is_about = own.take(of.len()).eq(of.iter().cloned());
        if !begin.params.is_empty() && !is_about {
            return (Vec::new(), None);
        }
        let before = self.clone();
        let lines = std::mem::take(&mut self.lines);
        self.nested += 1;
        let arguments = self.arguments(begin, &[], 1);
        self.nested -= 1;
        let Ok(arguments) = arguments else {
            *self = before;
            return (Vec::new(), None);
        };
        let call = format!("{}({})", begin.name, arguments.join(", "));
        let success = self.success(begin);
        let checked = match (success, begin.params.is_empty()) {
            _ if self.adjust.unchecked => Success::Any.checked(&call),
            // A negative result means that the arguments were rejected.
            (Success::Any, false) if self.api.resolve(&begin.returns).kind != Kind::Void => {
                format!("if ({call} < 0)\n        return 0;")
            }
            (success, _) => success.checked(&call),
        };
        self.lines.push(checked);
        if self.works_on_global_state(function) && self.main.is_none() && !self.adjust.unfilled {
            self.fill_whole(function);
        }
        let begins = std::mem::replace(&mut self.lines, lines);
        (begins, ends)
    }

    /// Whether a function works only on the library's global state.
    pub(super) fn works_on_global_state(&self, function: &Declared) -> bool {
        self.begin()
            .is_some_and(|(begin, _)| begin.name != function.name)
            && function.params.iter().all(|param| self.is_value(param))
    }

    /// Puts items into the library's global state.
    fn fill_whole(&mut self, function: &Declared) {
        let all = self.api.functions.iter().filter(|one| {
            one.name != function.name
                && !one.deprecated
                && !one.variadic
                && !one.params.is_empty()
                && self.is_usable(one)
                && self.is_put(one)
                && one.params.iter().all(|param| self.is_value(param))
        });
        let all: Vec<&'a Declared> = all.collect();
        let cases = self.first(MOST, all, |body, one| body.case_of(one, None));
        if !cases.is_empty() {
            self.fill(cases);
        }
    }

    /// Whether a function takes no arguments and returns at most a status.
    fn is_plain_call(&self, function: &Declared) -> bool {
        function.params.is_empty() && self.is_outcome(function)
    }

    fn is_outcome(&self, function: &Declared) -> bool {
        let returns = self.api.resolve(&function.returns).kind;
        !function.variadic
            && !function.deprecated
            && self.is_usable(function)
            && matches!(
                returns,
                Kind::Void | Kind::Int { .. } | Kind::Bool | Kind::Enum(_)
            )
    }

    /// The only initialisation function of the library as a whole, and the words of its name before
    /// the last one. It takes nothing but values.
    fn begin(&self) -> Option<(&'a Declared, Vec<String>)> {
        let mut begins = self.api.functions.iter().filter_map(|function| {
            let stem = stem(&function.name, BEGINS).filter(|stem| !stem.is_empty())?;
            let takes_values = function.params.iter().all(|param| self.is_value(param));
            (takes_values && self.is_outcome(function)).then_some((function, stem))
        });
        match (begins.next(), begins.next()) {
            (begin, None) => begin,
            _ => None,
        }
    }

    /// How the return value of a function shows success, as far as the header documents it.
    pub(super) fn success(&self, function: &Declared) -> Success {
        match self.api.resolve(&function.returns).kind {
            Kind::Bool => Success::NotZero,
            Kind::Enum(tag) => {
                let first = self.api.constants(&tag).first();
                let is_good = first.is_some_and(|first| {
                    let words = words(first).collect::<Vec<_>>();
                    ["ok", "success", "none", "noerror"]
                        .iter()
                        .any(|good| words.iter().any(|word| word == good))
                });
                if is_good { Success::Zero } else { Success::Any }
            }
            Kind::Int { .. } => said(&function.comment),
            _ => Success::Any,
        }
    }
}

/// How a numeric return value shows success according to a comment.
fn said(comment: &str) -> Success {
    let plain: Vec<String> = comment.split_whitespace().map(str::to_lowercase).collect();
    let text = plain.join(" ");
    // `< 0 on failure` must not match `0 on failure`.
    let text = text.replace("< 0", "negative").replace("<0", "negative");
    let has = |all: &[&str]| all.iter().any(|words| text.contains(words));
    if has(&[
        "nonzero on success",
        "non-zero on success",
        "1 on success",
        "1 if successful",
        "0 on failure",
        "0 on error",
        "zero on failure",
    ]) {
        return Success::NotZero;
    }
    if has(&["0 on success", "zero on success", "0 if successful"]) {
        return Success::Zero;
    }
    if has(&["or 0 if", "or 0 when", "or 0 on"]) {
        return Success::NotZero;
    }
    match has(&["returns 0", "return 0", "-1 if", "-1 on", "negative"]) {
        true => Success::Zero,
        false => Success::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_and_what_ends_it_have_one_stem() {
        let global = stem("mix_global_init", BEGINS);
        assert_eq!(global, Some(vec!["mix".to_owned(), "global".to_owned()]));
        assert_eq!(stem("xmlInitialize", BEGINS), Some(vec!["xml".to_owned()]));
        assert_eq!(stem("mixInit", BEGINS), stem("mix_shutdown", ENDS));
        assert_eq!(stem("mix_deinit", BEGINS), None);
    }

    #[test]
    fn comments_say_what_success_is() {
        assert_eq!(said("Returns 0, or -1 if out of memory."), Success::Zero);
        assert_eq!(said("Returns non-zero on\n success."), Success::NotZero);
        assert_eq!(said("@returns 0 on success, < 0 on failure"), Success::Zero);
        assert_eq!(said("-1 on error, or 0 on success"), Success::Zero);
        assert_eq!(said("The handle, or 0 if there is none"), Success::NotZero);
        assert_eq!(said("Fills the tables."), Success::Any);
    }
}
