//! What a library as a whole wants called before all else, and behind all else.
//!
//! `mix_init(void)` fills the tables that every other function reads. A header says so in prose only, but no caller leaves it out, and to
//! call it is right in any case. So it is called where there is one such function. Where its type, or its comment, says how it fails, nothing comes behind a call that
//! did.

use super::text::words;
use super::{Body, Success};
use crate::init::api::Declared;
use crate::init::ctype::Kind;

/// Last words of functions that begin.
const BEGINS: &[&str] = &["init", "initialize", "initialise", "startup"];
/// Last words of functions that end what those began.
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

/// The words before the last one, if that is one of some.
fn stem(name: &str, last: &[&str]) -> Option<Vec<String>> {
    let mut words: Vec<String> = words(name).filter(|word| !word.is_empty()).collect();
    let word = words.pop()?;
    last.contains(&word.as_str()).then_some(words)
}

impl Body<'_> {
    /// The calls with which a library begins, and ends.
    pub(super) fn whole(&self) -> (Option<String>, Option<String>) {
        let is_such = |function: &&Declared| {
            let returns = self.api.resolve(&function.returns).kind;
            function.params.is_empty()
                && !function.variadic
                && !function.deprecated
                && self.is_usable(function)
                && matches!(
                    returns,
                    Kind::Void | Kind::Int { .. } | Kind::Bool | Kind::Enum(_)
                )
        };
        let all = || self.api.functions.iter().filter(is_such);
        let mut begins = all().filter_map(|function| {
            let stem = stem(&function.name, BEGINS).filter(|stem| !stem.is_empty())?;
            Some((function, stem))
        });
        let (Some((begin, of)), None) = (begins.next(), begins.next()) else {
            return (None, None);
        };
        let mut ends = all().filter(|function| stem(&function.name, ENDS).as_ref() == Some(&of));
        let begins = self.success(begin).checked(&format!("{}()", begin.name));
        let ends = ends.next().map(|end| format!("{}();", end.name));
        (Some(begins), ends)
    }

    /// What a function returns where it did what it is for, as far as the header says it.
    fn success(&self, function: &Declared) -> Success {
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

/// What a comment says of a number that means success.
fn said(comment: &str) -> Success {
    let plain: Vec<String> = comment.split_whitespace().map(str::to_lowercase).collect();
    let text = plain.join(" ");
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
    match has(&[
        "0 on success",
        "zero on success",
        "0 if successful",
        "returns 0",
        "return 0",
        "-1 if",
        "-1 on",
        "negative",
    ]) {
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
        assert_eq!(said("Fills the tables."), Success::Any);
    }
}
