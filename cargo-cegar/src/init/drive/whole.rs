//! What a library as a whole wants called before all else, and behind all else.
//!
//! `mix_init(void)` fills the tables that every other function reads. A header says so in prose only, but no caller leaves it out, and to
//! call it is right in any case. So it is called where there is one such function.

use super::Body;
use super::text::words;
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
        let call = |function: &Declared| format!("{}();", function.name);
        (Some(call(begin)), ends.next().map(call))
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
}
