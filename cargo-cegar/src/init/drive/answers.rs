//! Numbers for which the header documents that any value may be passed.
//!
//! "Returns NULL if there is no such day": a function whose comment states the result for an
//! out-of-range number promises to check the number. Then no value is the caller's fault, and if a
//! value leads to a wrong access, no precondition is learnt from it: it is a finding.

use super::prose::{has_phrase, sentences};
use crate::init::api::{Declared, Parameter};
use crate::init::pairs::is_place_name;

/// Phrases for an invalid number that the function rejects.
const REFUSED: &[&str] = &[
    "no such",
    "out of range",
    "out of bounds",
    "not in range",
    "not a valid",
    "is invalid",
    "is not valid",
    "is unknown",
    "there is none",
    "does not exist",
    "too large",
    "too big",
    "too small",
];
/// Phrases that permit unusual values of a number.
const PERMITTED: &[&str] = &[
    "from the end",
    "may be negative",
    "can be negative",
    "any number",
    "any value",
];
/// Phrases that introduce the result for a position that does not exist.
const ELSE: &[&str] = &[
    "or - 1",
    "or null",
    "or 0",
    "else - 1",
    "else null",
    "else 0",
];
/// Words for the result.
const ANSWERS: &[&str] = &[
    "return", "returns", "returned", "null", "0", "1", "false", "error", "ignored", "nothing",
    "fails",
];
/// Words that make the sentence a duty of the caller.
const DUTIES: &[&str] = &[
    "must",
    "undefined",
    "shall",
    "behavior",
    "behaviour",
    "should",
];

/// Whether a function's comment states the result for an out-of-range value of a parameter.
pub(super) fn are_answered(function: &Declared, param: &Parameter) -> bool {
    let is_place = is_place_name(&param.name) || ["i", "n", "nth"].contains(&param.name.as_str());
    let said = sentences(&function.comment);
    let names = |sentence: &[String], name: &str| {
        !name.is_empty() && sentence.iter().any(|word| word == name)
    };
    let is_duty =
        |sentence: &Vec<String>| names(sentence, &param.name) && has_phrase(sentence, DUTIES);
    let is_answered = |sentence: &Vec<String>| {
        // A sentence that names numbers is about these only.
        let is_named = names(sentence, &param.name);
        let mut all = function.params.iter();
        let is_meant = is_named || !all.any(|one| names(sentence, &one.name));
        let is_said = has_phrase(sentence, PERMITTED)
            || has_phrase(sentence, ANSWERS) && has_phrase(sentence, REFUSED)
            || is_place && is_named && has_phrase(sentence, ELSE);
        is_meant && is_said && !has_phrase(sentence, DUTIES)
    };
    !said.iter().any(is_duty) && said.iter().any(is_answered)
}

/// Whether the comment mentions the `n`-th item, so that the number is an index and not a length.
pub(super) fn is_ordinal(function: &Declared, number: &Parameter) -> bool {
    let ordinal = format!("{}-th", number.name);
    !number.name.is_empty() && function.comment.contains(&ordinal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::ctype;

    fn answered(comment: &str) -> bool {
        let number = |name: &str| Parameter::plain(name, ctype::read("int"));
        let params = vec![number("year"), number("month")];
        let function = Declared::plain("days", "int", params, comment);
        are_answered(&function, &function.params[1])
    }

    #[test]
    fn an_answer_that_is_documented_is_no_duty_of_callers() {
        for comment in [
            "Days of a month, 1 to 12; 0 if there is no such month.",
            "Returns -1 if month is out of range.",
            "Returns 0 when there is none.",
        ] {
            assert!(answered(comment), "{comment}");
        }
        for comment in [
            "Days of a month, 1 to 12.",
            "Returns 0 if year is out of range.",
            "It returns 0, and must not be called where month is out of range.",
            "Returns -1 if there is no memory.",
        ] {
            assert!(!answered(comment), "{comment}");
        }
    }
}
