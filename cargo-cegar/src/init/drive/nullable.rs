//! Pointers for which the header documents that NULL may be passed: an optional output, an encoding
//! with a default. Callers often pass NULL there, so the tape chooses between NULL and a value.

use super::Body;
use super::prose::{has_phrase, lower, sentences};
use super::text::declaration;
use crate::findings::DECLARED;
use crate::init::api::{Declared, Parameter};
use crate::init::ctype::Kind;

/// Phrases that permit NULL in the section of a comment that is about one parameter, in addition to
/// [`PERMITTED`].
const PERMITTED_IN_SECTION: &[&str] = &[
    "null may be passed",
    "null is allowed",
    "null is permitted",
    "or null",
];
/// Phrases that permit NULL in such a section, and behind the parameter's name.
const PERMITTED: &[&str] = &[
    "may be null",
    "can be null",
    "may also be null",
    "is allowed to be null",
];
/// Words that make a sentence about NULL a duty of the caller.
const DUTIES: &[&str] = &[
    "must",
    "not",
    "never",
    "undefined",
    "non",
    "cannot",
    "shall",
    "don",
];
/// Words of sentences about a NULL that the function returns or stores, or about a character.
const OTHERS: &[&str] = &[
    "terminated",
    "return",
    "returns",
    "returned",
    "set",
    "stored",
    "stores",
    "failure",
    "error",
];

impl Body<'_> {
    /// The value of a pointer parameter, or NULL, if the header permits NULL. Only strings and the
    /// places for a number are replaced: other code of the harness refers to all other arguments.
    pub(super) fn or_null(
        &mut self,
        function: &Declared,
        i: usize,
        param: &Parameter,
        value: String,
    ) -> String {
        let string = format!("{value} = crunner_new_string();");
        let is_string = self.lines.iter().any(|line| line.ends_with(&string));
        let to = self.api.pointee(&param.ty).map(|to| self.api.resolve(&to));
        let is_number = to.is_some_and(|to| !to.constant && matches!(to.kind, Kind::Int { .. }));
        let is_place = is_number && value.starts_with('&') && self.nested == 0;
        let key = (function.name.clone(), i);
        let is_excluded = param.not_null || self.adjust.not_null.contains(&key);
        if is_excluded || !(is_string || is_place) || !permits_null(function, param) {
            return value;
        }
        let name = self.name(&format!("{}_or_null", param.wanted(i)));
        self.lines.push(format!(
            "{} = crunner_range(0, 7) > 0 ? {value} : NULL; {DECLARED}",
            declaration(&param.ty, &name)
        ));
        name
    }
}

/// Whether the comment of a function permits NULL for a parameter.
fn permits_null(function: &Declared, param: &Parameter) -> bool {
    if param.name.is_empty() {
        return false;
    }
    let mut parts = function.comment.split(['@', '\\']);
    let general = parts.next().unwrap_or_default();
    // A section ends at the next command or at an empty line.
    let section = parts.find_map(|part| {
        let rest = part.strip_prefix("param")?.trim_start();
        let rest = match rest.strip_prefix('[') {
            Some(direction) => direction.split_once(']')?.1.trim_start(),
            None => rest,
        };
        let about = rest.strip_prefix(param.name.as_str())?;
        let is_name = !about.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        is_name.then(|| about.split("\n\n").next().unwrap_or_default())
    });
    let says_null = |sentence: &&Vec<String>| has_phrase(sentence, &["null"]);
    let has = |sentence: &[String], words: &[&str]| {
        let mut all = lower(sentence).into_iter();
        all.any(|word| words.contains(&word.as_str()))
    };
    let name = param.name.to_lowercase();
    let about = sentences(section.unwrap_or_default());
    let named: Vec<Vec<String>> = sentences(general)
        .into_iter()
        .filter(|sentence| has(sentence, &[&name]))
        .collect();
    let mut duties = about.iter().chain(&named).filter(says_null);
    if duties.any(|sentence| has(sentence, DUTIES)) {
        return false;
    }
    let names_it = |sentence: &[String]| {
        let mut phrases = PERMITTED.iter();
        phrases.any(|phrase| has_phrase(sentence, &[&format!("{name} {phrase}")]))
    };
    let is_about_it = |sentence: &[String]| {
        has_phrase(sentence, PERMITTED) || has_phrase(sentence, PERMITTED_IN_SECTION)
    };
    let is_other = |sentence: &[String]| has(sentence, OTHERS);
    about.iter().any(|one| !is_other(one) && is_about_it(one))
        || named.iter().any(|one| !is_other(one) && names_it(one))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::ctype;

    fn permitted(comment: &str) -> bool {
        let param = Parameter::plain("enc", ctype::read("const char *"));
        let function = Declared::plain("stem", "void", vec![param.clone()], comment);
        permits_null(&function, &param)
    }

    #[test]
    fn what_a_comment_permits_is_told_from_what_it_forbids() {
        for comment in [
            "@param enc The encoding.  NULL may be passed as\n this value.\n@return NULL on error.",
            "Stems. `enc` may be NULL.",
            "\\param[out] enc the rest, or NULL",
        ] {
            assert!(permitted(comment), "{comment}");
        }
        for comment in [
            "@param enc The encoding.\n@param other may be NULL.",
            "Returns the stem, or NULL.",
            "`enc` must not be NULL.",
            "@param enc The encoding. If NULL, the behaviour is undefined.",
            "@param enc the encoding\n@return or NULL",
            "@param enc set to the encoding, or NULL on failure",
            "`enc` may be NULL-terminated.",
            "@param enc The encoding.\n\nThe stem is given, or NULL.",
            "@param other The enc, or NULL",
            "@param enc the encoding, or NULL. It must not be NULL if ..",
        ] {
            assert!(!permitted(comment), "{comment}");
        }
    }
}
