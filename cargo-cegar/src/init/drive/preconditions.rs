//! Preconditions that a header documents in words.
//!
//! "size must be at least 1", "start is at most count", "n must not be more than ring_used(r)":
//! such a sentence is a C condition with its operators in words. A harness that ignores it would
//! blame the library for a violation of a documented precondition, and conditions that are learnt
//! from faults instead are weaker or odd.

use super::conditions::{CONDITIONS, Condition, NEGATIONS, conditions, relation};
use super::expression::Names;
use super::prose::{has_phrase, lower, sentences};
use super::{Body, text};
use crate::findings::DECLARED;
use crate::init::api::{Declared, Parameter, Prototype};
use crate::init::ctype::Kind;

/// Words that mark a sentence as a description of a callback's result.
const ANSWERS: &[&str] = &["return", "returns", "never", "answer", "answers"];

/// Phrases for an object that must not be empty.
const NOT_EMPTY: &[&str] = &[
    "must not be empty",
    "may not be empty",
    "must be non - empty",
    "must be nonempty",
    "( not empty )",
    "is not empty",
    "on an empty",
];

impl Body<'_> {
    /// Assumes before a call the preconditions that the function's comment documents.
    pub(super) fn assume_preconditions(&mut self, function: &Declared, arguments: &[String]) {
        for condition in self.documented_preconditions(function) {
            let words = condition.iter().map(|word| {
                let place = function.params.iter().position(|param| param.name == *word);
                place.map_or_else(|| word.clone(), |place| arguments[place].clone())
            });
            let words: Vec<String> = words.collect();
            let line = format!("crunner_assume({}); {DECLARED}", in_c(&words));
            // The length of the main input is known only after the input has been taken, and the
            // contents of the object may depend on the input.
            let is_of_input = |word: &String| {
                let mut names = ["(", "size", "count"].into_iter();
                names.any(|name| word == name || super::has_name(word, name))
            };
            let is_late = self.main.is_some() && words.iter().any(is_of_input);
            let lines = if is_late {
                &mut self.lines_after_input
            } else {
                &mut self.lines
            };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }

    /// The least value of a number that the function's comment documents: `secret_size must be at
    /// least SECRET_MIN`.
    pub(super) fn documented_least(&self, function: &Declared, number: &Parameter) -> u64 {
        let all = self.documented_preconditions(function);
        let least = all.iter().filter_map(|condition| match &condition[..] {
            [name, relation, least] if *name == number.name && relation == ">=" => {
                let value = least.parse().ok();
                value.or_else(|| self.api.numbers.get(least).copied())
            }
            _ => None,
        });
        least.max().unwrap_or(0)
    }

    /// The preconditions that a function's comment documents.
    fn documented_preconditions(&self, function: &Declared) -> Vec<Condition> {
        let numbers: Vec<&str> = (function.params.iter())
            .filter(|param| matches!(self.api.resolve(&param.ty).kind, Kind::Int { .. }))
            .map(|param| param.name.as_str())
            .filter(|name| !name.is_empty())
            .collect();
        if function.comment.is_empty() {
            return Vec::new();
        }
        let constants: Vec<&str> = self.api.numbers.keys().map(String::as_str).collect();
        let names = Names {
            numbers: &numbers,
            functions: &self.functions_of_numbers(),
            constants: &constants,
        };
        let said = sentences(&function.comment);
        let all = said.iter().flat_map(|sentence| {
            let call = |words: &[String]| self.call_in(function, words);
            let mut all = conditions(sentence, names, call);
            all.extend(self.not_empty(function, sentence));
            all
        });
        all.collect()
    }

    /// The functions of the library that compute a number from numbers.
    pub(super) fn functions_of_numbers(&self) -> Vec<&str> {
        let is_number = |ty| matches!(self.api.resolve(ty).kind, Kind::Int { .. });
        let all = self.api.functions.iter().filter(|one| {
            !one.params.is_empty()
                && one.params.iter().all(|param| is_number(&param.ty))
                && is_number(&one.returns)
                && !one.variadic
                && self.is_usable(one)
        });
        all.map(|one| one.name.as_str()).collect()
    }

    /// The condition that an object is not empty, if a sentence requires it and a function of the
    /// library can check it: `queue_empty(q) == 0`, `queue_count(q) > 0`.
    fn not_empty(&self, function: &Declared, sentence: &[String]) -> Option<Condition> {
        let is_answer = |word: &String| CONDITIONS.contains(&word.as_str());
        if !has_phrase(sentence, NOT_EMPTY) || lower(sentence).iter().any(is_answer) {
            return None;
        }
        let of_object = |last: &[&str], behind: [&str; 2]| {
            let is_such = |one: &&Declared| {
                let word = text::words(&one.name).last();
                word.is_some_and(|word| last.contains(&word.as_str()))
            };
            let all = self.api.functions.iter().filter(is_such);
            let call = all.filter(|one| one.name != function.name);
            let mut call = call
                .filter_map(|one| self.call_of_object(function, one))
                .next()?;
            call.extend(behind.map(str::to_owned));
            Some(call)
        };
        of_object(&["empty", "isempty"], ["==", "0"])
            .or_else(|| COUNTS.iter().find_map(|names| of_object(names, [">", "0"])))
    }

    /// Whether a function's comment documents an upper bound of a number. Then every smaller value
    /// is permitted.
    pub(super) fn is_bounded(&self, function: &Declared, param: &Parameter) -> bool {
        self.documented_preconditions(function)
            .iter()
            .any(|condition| {
                let is_upper = |pair: &[String]| {
                    pair[0] == param.name && ["<", "<="].contains(&pair[1].as_str())
                };
                condition.windows(2).any(is_upper)
            })
    }

    /// The call that some words begin with, of a function whose only parameter is an object that is
    /// passed as well: `ring_used(r)`, `ring_used`, or `the count` if there is a function
    /// `ring_count`.
    fn call_in(&self, function: &Declared, words: &[String]) -> Option<Vec<String>> {
        let of_object = |called: &Declared| self.call_of_object(function, called);
        if words.first()? == "the" {
            let counted = words.get(1)?.to_lowercase();
            let names = COUNTS
                .iter()
                .find(|names| names.contains(&counted.as_str()))?;
            let is_such = |one: &&Declared| {
                let last = text::words(&one.name).last();
                last.is_some_and(|last| names.contains(&last.as_str()))
            };
            return self
                .api
                .functions
                .iter()
                .filter(is_such)
                .find_map(of_object);
        }
        of_object(self.api.function(words.first()?)?)
    }

    /// The call of a function whose only parameter is an object that is passed as well, and which
    /// returns a number.
    fn call_of_object(&self, function: &Declared, called: &Declared) -> Option<Vec<String>> {
        let [param] = &called.params[..] else {
            return None;
        };
        let identity = self.api.identity(&param.ty)?;
        let mut all = function.params.iter();
        let object = all.find(|one| {
            !one.name.is_empty() && self.api.identity(&one.ty).as_ref() == Some(&identity)
        })?;
        let returns = self.api.resolve(&called.returns).kind;
        let is_good = matches!(returns, Kind::Int { .. } | Kind::Bool) && self.is_usable(called);
        let call = [called.name.as_str(), "(", object.name.as_str(), ")"];
        is_good.then(|| call.map(str::to_owned).to_vec())
    }
}

/// Words for a count, and the last words of functions that return it.
const COUNTS: &[&[&str]] = &[
    &["count", "number", "num", "size", "len"],
    &["length", "len", "size"],
];

/// Joins words to C code.
fn in_c(words: &[String]) -> String {
    let text = words.join(" ");
    let text = text
        .replace("( ", "(")
        .replace(" )", ")")
        .replace(" (", "(");
    text.replace("- 1", "-1")
}

/// The documented bound of a callback's result by one of its parameters: the operator, and the
/// index of the parameter. "A number that is less than bound", "never more than n".
pub(super) fn bound_of_answer(said: &Prototype) -> Option<(&'static str, usize)> {
    sentences(&said.comment).iter().find_map(|sentence| {
        let lower = lower(sentence);
        let is_answer = has_phrase(sentence, ANSWERS);
        (0..lower.len()).filter(|_| is_answer).find_map(|at| {
            let is_negated = at > 0 && NEGATIONS.contains(&lower[at - 1].as_str());
            let (count, operator) = relation(&lower[at..], is_negated)?;
            let bound = &sentence[at + count];
            let number = said.names.iter().position(|name| name == bound)?;
            ["<", "<="]
                .contains(&operator)
                .then_some((operator, number))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_written_in_c() {
        let words = ["(", "n", ">=", "0", ")", "||", "n", "==", "-", "1"].map(str::to_owned);
        assert_eq!(in_c(&words), "(n >= 0) || n == -1");
    }

    #[test]
    fn what_a_callback_answers_is_bounded() {
        let of = |comment: &str| {
            bound_of_answer(&Prototype {
                names: ["user", "bound"].map(str::to_owned).to_vec(),
                comment: comment.to_owned(),
            })
        };
        assert_eq!(
            of("Returns a number that is less than bound."),
            Some(("<", 1))
        );
        assert_eq!(
            of("It never returns more than 4, and never more than bound."),
            Some(("<=", 1))
        );
        assert_eq!(of("Reads at most bound bytes."), None);
    }
}
