//! Pointers for which the header documents that NULL may be passed: an optional output, an encoding
//! with a default. Callers often pass NULL there, so the tape chooses between NULL and a value.

use super::prose::{has_phrase, lower, sentences};
use super::text::declaration;
use super::{Body, has_name};
use crate::findings::DECLARED;
use crate::init::api::{Declared, Parameter};

/// Phrases that permit NULL in what a comment says about one parameter.
const PERMITTED: &[&str] = &[
    "null may be passed",
    "may be null",
    "can be null",
    "may also be null",
    "is allowed to be null",
    "null is allowed",
    "null is permitted",
    "or null",
    "if null",
    "null to",
    "null for",
];
/// Phrases that permit NULL behind the parameter's name.
const PERMITTED_OF: &[&str] = &[
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
/// Commands of Doxygen that begin a section which is about no parameter.
const SECTIONS: &[&str] = &[
    "param", "return", "returns", "retval", "note", "warning", "see",
];

impl Body<'_> {
    /// The value of a pointer parameter, or NULL, if the header permits NULL. The main input is
    /// always passed.
    pub(super) fn or_null(
        &mut self,
        function: &Declared,
        i: usize,
        param: &Parameter,
        value: String,
    ) -> String {
        let key = (function.name.clone(), i);
        let is_excluded = param.not_null || self.adjust.not_null.contains(&key);
        if value == "NULL"
            || is_excluded
            || has_name(&value, "data")
            || !permits_null(function, param)
        {
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
    let mut is_section = false;
    for sentence in sentences(&function.comment) {
        let words = lower(&sentence);
        match words.first() {
            Some(first) if SECTIONS.contains(&first.as_str()) => {
                // `@param[out] name` has its direction before the name.
                let is_param = first == "param";
                let mut first = sentence.iter().take(5);
                is_section = is_param && first.any(|word| *word == param.name);
            }
            _ => {}
        }
        let is_duty = words.iter().any(|word| DUTIES.contains(&word.as_str()));
        if is_duty {
            continue;
        }
        let name = param.name.to_lowercase();
        let mut of = PERMITTED_OF.iter();
        let names = of.any(|phrase| has_phrase(&sentence, &[&format!("{name} {phrase}")]));
        if names || is_section && has_phrase(&sentence, PERMITTED) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::ctype;

    fn permitted(comment: &str) -> bool {
        let param = Parameter::plain("enc", ctype::read("const char *"));
        let function = Declared {
            name: "stem".to_owned(),
            returns: ctype::read("void"),
            params: vec![param.clone()],
            variadic: false,
            inline: false,
            deprecated: false,
            pure: false,
            sibling_header: None,
            comment: comment.to_owned(),
        };
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
        ] {
            assert!(!permitted(comment), "{comment}");
        }
    }
}
