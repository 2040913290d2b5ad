//! Handles the object that a function returns for another object of the same kind.
//!
//! `s = string_append(s, text)` replaces its argument, which may have moved; `copy =
//! buffer_dup(buffer)` creates a new object, which callers inspect and release. A harness that
//! drops the result misses its defects: a length that is one too large shows only when the last
//! byte is read. The types do not tell the two cases apart, but the header's comment ("the caller
//! frees it") and some names do.

use super::variants::FINDS;
use crate::init::api::{Declared, Parameter};
use crate::init::ctype::Kind;
use crate::init::drive::answers::are_answered;
use crate::init::drive::looks::is_text;
use crate::init::drive::prose::{has_phrase, lower, says, sentences};
use crate::init::drive::text::{spaced, words, wrapped};
use crate::init::drive::{Body, has_name};

/// Words in the names of functions that return their changed argument.
const CHANGES: &[&str] = &[
    "append", "add", "cat", "clear", "concat", "copy", "cpy", "expand", "extend", "grow", "insert",
    "prepend", "push", "put", "realloc", "remove", "reserve", "resize", "reverse", "rotate",
    "shrink", "sort", "trim", "update",
];
/// Words in the names of functions that return a new object.
const COPIES: &[&str] = &["clone", "copy", "dup", "duplicate"];
/// Words for a string, in the name or the comment of a function that returns one.
const TEXTS: &[&str] = &[
    "description",
    "label",
    "message",
    "name",
    "reason",
    "str",
    "strerror",
    "string",
    "text",
    "title",
    "version",
];
/// Words that follow the name of a string function in the name of the function for its length.
const LENGTHS: &[&str] = &["len", "length", "size", "n"];
/// Phrases for a result that replaces the argument.
const REPLACES: &[&str] = &[
    "replaces",
    "in place of",
    "instead of",
    "may move",
    "may have moved",
    "new head",
    "new root",
];
/// Phrases for a function that takes ownership of its argument.
const TAKES_OVER: &[&str] = &[
    "takes both",
    "takes it over",
    "takes over",
    "takes ownership",
    "consumes",
    "consumed",
    "takes them over",
    "neither may be used",
    "frees only the result",
    "must not be used afterwards",
    "may not be used afterwards",
];
/// Words for releasing an object.
const FREES: &[&str] = &[
    "free",
    "frees",
    "freed",
    "release",
    "releases",
    "released",
    "destroy",
    "destroyed",
    "delete",
    "deleted",
];
/// Words that name or oblige the party that releases it.
const OWNERS: &[&str] = &["caller", "callers", "must", "should", "with", "by"];
/// Words that negate the release.
const NEVER: &[&str] = &["not", "never", "no", "don", "cannot", "nor", "without"];
/// Beginnings of comments on functions that return a new object.
const NEW: &[&str] = &[
    "a new ",
    "returns a new ",
    "return a new ",
    "makes a new ",
    "creates a new ",
    "a copy of ",
    "returns a copy ",
    "return a copy ",
];
/// Words in the comments of functions whose result lies in another object or whose argument becomes
/// invalid.
const TAKEN: &[&str] = &[
    "valid",
    "invalid",
    "invalidates",
    "consumed",
    "consumes",
    "takes",
    "child",
    "children",
    "parent",
    "belongs",
    "owned",
    "appends",
    "appended",
    "adds",
    "added",
    "inserts",
    "inserted",
    "attached",
    "attaches",
    "borrowed",
    "root",
    "move",
    "moves",
    "moved",
    "shared",
];
/// Words in the names of functions whose result lies in another object.
const WITHIN: &[&str] = &[
    "add", "append", "attach", "child", "insert", "parent", "push", "put", "sibling",
];
/// The maximum number of functions that inspect a result.
const LOOKS: usize = 4;

impl<'a> Body<'a> {
    /// Whether a parameter and the result are objects of one kind, and the result is not constant.
    fn is_returned(&self, function: &Declared, param: &Parameter) -> bool {
        let identity = self.api.identity(&param.ty);
        let to = self.api.pointee(&function.returns);
        identity.is_some()
            && self.api.identity(&function.returns) == identity
            && to.is_some_and(|to| !to.constant)
    }

    /// Whether the result of a function replaces the object that parameter `place` takes.
    pub(in crate::init::drive) fn replaces(&self, function: &Declared, place: usize) -> bool {
        let param = &function.params[place];
        let is_changed = self.api.pointee(&param.ty).is_some_and(|to| !to.constant);
        is_changed
            && self.is_returned(function, param)
            && !self.is_new(function)
            && !self.takes_over(function)
            && (self.api.text_object(&function.returns).is_some()
                || says(&function.comment, REPLACES)
                || words(&function.name)
                    .any(|word| CHANGES.iter().any(|change| word.starts_with(change))))
            && !words(&function.name).any(|word| FINDS.contains(&word.as_str()))
    }

    /// Whether a function's comment says that it takes ownership of its arguments.
    pub(in crate::init::drive) fn takes_over(&self, function: &Declared) -> bool {
        says(&function.comment, TAKES_OVER)
    }

    /// The variable that the result of a call replaces.
    pub(in crate::init::drive) fn replaced(
        &self,
        function: &Declared,
        arguments: &[String],
    ) -> Option<String> {
        let place = (0..function.params.len()).find(|&place| self.replaces(function, place))?;
        let object = &arguments[place];
        let is_variable = object
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        (is_variable && object != "NULL").then(|| object.clone())
    }

    /// Whether the result of a function is a new object, according to its comment, its name, or the
    /// way in which Rust callers use it.
    fn is_new(&self, function: &Declared) -> bool {
        let is_read = |param: &Parameter| self.api.pointee(&param.ty).is_some_and(|to| to.constant);
        let is_copy = words(&function.name).any(|word| COPIES.contains(&word.as_str()))
            && function.params.first().is_some_and(is_read);
        let is_within = words(&function.name).any(|word| WITHIN.contains(&word.as_str()));
        let is_told = (is_copy || says_new(&function.comment))
            && !is_within
            && !says_within(&function.comment);
        is_told || self.api.orders.is_fresh(&function.name)
    }

    /// The function that releases the result of `function`, if the result is a new object of the
    /// same kind as an argument.
    pub(in crate::init::drive) fn derived(
        &self,
        function: &Declared,
        identity: &str,
    ) -> Option<&'a Declared> {
        let place = self.place_of(function, identity)?;
        let is_new = self.is_returned(function, &function.params[place])
            && (self.is_new(function) || self.takes_over(function));
        self.releaser_of(identity, &function.name)
            .filter(|_| is_new)
    }

    /// The call of a function that returns another object of the same kind as an argument, with the
    /// code that uses the result. `None` for any other function, and if the owner of the result is
    /// unknown.
    pub(in crate::init::drive) fn related(
        &mut self,
        function: &'a Declared,
        arguments: &[String],
        call: &str,
    ) -> Option<String> {
        let place = function
            .params
            .iter()
            .position(|param| self.is_returned(function, param))?;
        let identity = self.api.identity(&function.returns)?;
        if self.replaces(function, place) {
            let object = self.replaced(function, arguments)?;
            for line in &mut self.cleanup {
                if has_name(line, &object) {
                    *line = format!("if ({object})\n        {line}");
                }
            }
            return Some(format!("{object} = {call};"));
        }
        let back = self.derived(function, &identity)?;
        let name = self.name("result");
        let back = self.release_call(back, &name);
        let mut lines = vec![
            format!("{}{name} = {call};", spaced(&function.returns.words)),
            format!("if ({name}) {{"),
        ];
        let looks = self.looks(function, &identity, &name);
        lines.extend(looks.iter().map(|line| format!("    {}", wrapped(line))));
        lines.push(format!("    {back};"));
        lines.push("}".to_owned());
        Some(lines.join("\n    "))
    }

    /// The call of a function that returns a string, which the harness reads to its end. `None` for
    /// any other function.
    pub(in crate::init::drive) fn read_result(
        &mut self,
        function: &Declared,
        call: &str,
    ) -> Option<String> {
        let is_number = |param: &Parameter| {
            let to = self.api.pointee(&param.ty);
            to.is_some_and(|to| matches!(self.api.resolve(&to).kind, Kind::Int { size: 4.., .. }))
        };
        let comment = function.comment.to_lowercase();
        let mut said = comment.split(|c: char| !c.is_alphanumeric());
        let is_named = words(&function.name).any(|word| TEXTS.contains(&word.as_str()))
            || said.any(|word| TEXTS.contains(&word));
        if !is_text(&function.returns)
            || !is_named
            || self.has_length_beside(function)
            || function.params.iter().any(is_number)
        {
            return None;
        }
        let result = self.name("result");
        let length = self.name("length");
        Some(format!(
            "const char *{result} = {call};\n    volatile size_t {length} = {result} ? \
             strlen({result}) : 0;\n    (void){length};"
        ))
    }

    /// Whether any value may be passed for a parameter: a string, or a number for which the comment
    /// says so.
    fn is_safe_value(&self, function: &Declared, param: &Parameter) -> bool {
        let is_number = matches!(self.api.resolve(&param.ty).kind, Kind::Int { .. });
        self.is_value(param) && (!is_number || are_answered(function, param))
    }

    /// Whether the header has a function for the length of such a string and the comment does not
    /// mention its NUL. Then the string may have no NUL.
    fn has_length_beside(&self, function: &Declared) -> bool {
        let plain =
            |name: &str| -> Vec<String> { words(name).filter(|word| !word.is_empty()).collect() };
        let own = plain(&function.name);
        let stem = &own[..own.len().saturating_sub(1)];
        let is_length = self.api.functions.iter().any(|other| {
            let other = plain(&other.name);
            let rest = other
                .strip_prefix(&own[..])
                .or_else(|| other.strip_prefix(stem));
            rest.and_then(|rest| rest.first())
                .is_some_and(|word| LENGTHS.contains(&word.as_str()))
        });
        let comment = function.comment.to_lowercase();
        is_length && !comment.contains("nul") && !comment.contains("terminated")
    }

    /// Inspects a result by calling one of the functions that only read such an object.
    fn looks(&mut self, function: &Declared, identity: &str, name: &str) -> Vec<String> {
        let all = self.api.functions.iter().filter(|one| {
            let only_read =
                |param: &Parameter| self.api.pointee(&param.ty).is_some_and(|to| to.constant);
            one.name != function.name
                && !one.deprecated
                && self.place_of(one, identity) == Some(0)
                && one.params.first().is_some_and(only_read)
                && one.params[1..]
                    .iter()
                    .all(|param| self.is_safe_value(one, param))
                && !self.api.orders.is_guarded(&one.name)
        });
        let all: Vec<&'a Declared> = all.collect();
        let cases = self.first(LOOKS, all, |body, one| body.case(one, identity, name));
        if cases.is_empty() {
            return Vec::new();
        }
        self.among(cases, 1)
    }
}

/// Whether a comment says that the result of a function is a new object.
fn says_new(comment: &str) -> bool {
    let said = sentences(comment);
    let frees = |sentence: &Vec<String>| {
        let has = |words: &[&str]| has_phrase(sentence, words);
        has(FREES) && has(OWNERS) && !has(NEVER)
    };
    let first = said.first().map(|first| lower(first).join(" "));
    let begins = first.is_some_and(|first| NEW.iter().any(|words| first.starts_with(words)));
    begins || says(comment, &["a new one"]) || said.iter().any(frees)
}

/// Whether a comment says that the result lies in another object, or that the argument must not be
/// used any more.
fn says_within(comment: &str) -> bool {
    says(comment, TAKEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_say_whose_a_result_is() {
        for comment in [
            "A new buffer with the bytes from..to of b.",
            "The rest of it. The caller frees it with buffer_free.",
            "Returns a copy of the list.",
        ] {
            assert!(says_new(comment) && !says_within(comment), "{comment}");
        }
        for comment in [
            "The next node; it must not be freed.",
            "Creates a new node and appends it to the children of parent.",
            "Appends t. s is no longer valid afterwards. The caller frees the result.",
            "The head of the list.",
        ] {
            assert!(!says_new(comment) || says_within(comment), "{comment}");
        }
    }
}
