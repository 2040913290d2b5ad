//! One use of an object among several: the call of a function in a scope of its own.
//!
//! Memory that is passed to a use lives until the object is closed, unless the header says that the
//! library copies it: otherwise nothing tells how long the library keeps a pointer. Blocks are
//! stored in an array, and variables whose address is passed are static.

use std::collections::BTreeSet;

use super::members::is_first_argument;
use super::prose::{has_phrase, sentences};
use super::repeated::set_by;
use super::{Body, OUTPUT, SECOND};
use crate::init::api::Declared;

/// Phrases for data that a function copies, so that it need not outlive the call.
const COPIED: &[&str] = &[
    "is copied",
    "are copied",
    "makes a copy",
    "takes a copy",
    "makes its own copy",
    "need not outlive",
    "needs not outlive",
];
/// Words of a sentence that says that some of the data is not copied.
const PARTLY: &[&str] = &[
    "not copied",
    "is not",
    "are not",
    "only",
    "nothing",
    "no",
    "never",
    "unless",
    "if",
    "pointer",
    "pointers",
    "returned",
    "returns",
];
/// Phrases for data that a function keeps a pointer to.
const KEPT: &[&str] = &[
    "not copied",
    "must outlive",
    "must stay",
    "must remain",
    "is kept",
    "are kept",
    "keeps a pointer",
];
/// The number of words of a sentence up to which it is about all of the data.
const SHORT: usize = 14;
/// Frees the blocks that were passed to uses.
pub(super) const KEPT_FREED: &str = "while (keeps > 0)\n        free(kept[--keeps]);";

/// A use, as one case of the harness's `switch`.
pub(super) struct Case<'a> {
    pub(super) function: &'a Declared,
    pub(super) lines: Vec<String>,
    /// The callbacks that it passes.
    pub(super) callbacks: Vec<String>,
    /// The number of memory blocks that it allocates.
    pub(super) blocks: usize,
    /// The arguments of the call, such as `set, key`.
    pub(super) passed: String,
    /// The names of its choices.
    pub(super) names: BTreeSet<String>,
}

impl<'a> Body<'a> {
    /// The index of the parameter that takes the object. `None` if the function creates or releases
    /// the object.
    pub(super) fn place_of(&self, function: &Declared, identity: &str) -> Option<usize> {
        let is_use = !function.variadic
            && self.is_usable(function)
            && self.gives_back(function).is_none()
            && self.makes(function, identity).is_none();
        let mut params = function.params.iter();
        let place =
            params.position(|param| self.api.handle(&param.ty).as_deref() == Some(identity));
        place.filter(|_| is_use)
    }

    /// A use of an object. `None` if the function needs more than numbers and memory.
    pub(super) fn case(
        &mut self,
        function: &'a Declared,
        identity: &str,
        object: &str,
    ) -> Option<Case<'a>> {
        let place = self.place_of(function, identity)?;
        // After such a use the object is gone.
        if self.takes_over(function) {
            return None;
        }
        let used = Some((place, identity, object));
        self.case_of(function, used)
    }

    /// The first `most` uses of the given functions that need nothing but numbers and memory.
    pub(super) fn first(
        &mut self,
        most: usize,
        functions: Vec<&'a Declared>,
        mut case: impl FnMut(&mut Self, &'a Declared) -> Option<Case<'a>>,
    ) -> Vec<Case<'a>> {
        self.nested += 1;
        let cases = functions.into_iter().filter_map(|one| case(self, one));
        let cases = cases.take(most).collect();
        self.nested -= 1;
        cases
    }

    /// A use of the given object, or of the library's own state if `used` is `None`.
    pub(super) fn case_of(
        &mut self,
        function: &'a Declared,
        used: Option<(usize, &str, &str)>,
    ) -> Option<Case<'a>> {
        let before = self.clone();
        let outer = std::mem::take(&mut self.lines);
        let cleanup = std::mem::take(&mut self.cleanup);
        let callbacks = std::mem::take(&mut self.callbacks);
        let handles = self.handles;
        let mut given = Vec::new();
        if let Some((place, identity, object)) = used {
            self.buffers_of(object, function, identity);
            given.push((place, object.to_owned()));
        }
        let arguments = self.arguments(function, &given, 1);
        let mut lines = std::mem::replace(&mut self.lines, outer);
        let given_back = std::mem::replace(&mut self.cleanup, cleanup);
        let callbacks = std::mem::replace(&mut self.callbacks, callbacks);
        let blocks: Option<Vec<&str>> = given_back
            .iter()
            .map(|line| line.strip_prefix("free(")?.strip_suffix(");"))
            .collect();
        let (Ok(arguments), Some(blocks)) = (arguments, blocks) else {
            *self = before;
            return None;
        };
        // Excludes structures of zeros, which only a harness passes and no caller does. An object
        // that a function of the library initialises, and that nothing releases, may be made anew
        // for each use.
        let is_initialised = |line: &String| {
            let name = set_by(line);
            name.is_some_and(|name| lines.iter().any(|other| is_first_argument(other, name)))
        };
        // A container may still hold an object that the next use would initialise again.
        let is_put = self.is_put(function);
        let is_made_up = |line: &String| {
            let is_object = line.ends_with("= {0};") && !line.contains('[');
            is_object && (is_put || !is_initialised(line))
        };
        let ends_the_run = |line: &String| line.contains("return 0;");
        if self.handles > handles && lines.iter().any(ends_the_run)
            || self.lines_after_input.len() > before.lines_after_input.len()
            || lines.iter().any(is_made_up)
        {
            *self = before;
            return None;
        }
        let names = self.names.difference(&before.names).cloned().collect();
        // The names of a case are local, but those of callbacks are global.
        let is_called = |name: &String| callbacks.iter().any(|text| text.contains(name.as_str()));
        let outer = before.names.iter().cloned();
        self.names = outer
            .chain(self.names.iter().filter(|name| is_called(name)).cloned())
            .collect();
        for argument in &arguments {
            kept(argument, &mut lines);
        }
        // Memory that the library copies dies with the call.
        let is_copied = copies(function) && !self.goes_on(function, used);
        let kept_lines = blocks
            .iter()
            .map(|block| format!("kept[keeps++] = {block};"));
        lines.extend(kept_lines.filter(|_| !is_copied));
        let passed = arguments.join(", ");
        let call = format!("{}({passed})", function.name);
        let replaced = used.filter(|(place, ..)| self.replaces(function, *place));
        match replaced {
            Some((_, _, object)) if !object.starts_with('&') => {
                lines.push(format!("{object} = {call};"));
                lines.push(format!("if (!{object})\n        return 0;"));
            }
            _ => lines.push(format!("{call};")),
        }
        if is_copied {
            lines.extend(blocks.iter().map(|block| format!("free({block});")));
        }
        Some(Case {
            function,
            lines,
            callbacks,
            blocks: if is_copied { 0 } else { blocks.len() },
            passed,
            names,
        })
    }

    /// Whether the following uses work on another object after this one: then its call must be the
    /// last line of the case.
    fn goes_on(&self, function: &Declared, used: Option<(usize, &str, &str)>) -> bool {
        used.is_some_and(|(place, identity, _)| {
            self.replaces(function, place) || self.derived(function, identity).is_some()
        })
    }

    /// Sets new input and output buffers of a stream for each use.
    fn buffers_of(&mut self, object: &str, function: &Declared, identity: &str) {
        let Some(record) = self.api.record(identity).cloned() else {
            return;
        };
        if self.has_input(function) {
            return;
        }
        let access = match object.strip_prefix('&') {
            Some(name) => format!("{name}."),
            None => format!("{object}->"),
        };
        for (next, avail, name, most) in [
            ("next_in", "avail_in", "input", SECOND),
            ("next_out", "avail_out", "output", OUTPUT),
        ] {
            let ty = |field: &str| {
                let found = record.fields.iter().find(|(name, _)| name == field);
                found.map(|(_, ty)| ty.words.clone())
            };
            let (Some(pointer), Some(number)) = (ty(next), ty(avail)) else {
                continue;
            };
            let name = self.name(name);
            let size = self.name(&format!("{name}_size"));
            self.lines
                .push(format!("size_t {size} = crunner_size(0, {most});"));
            self.lines
                .push(format!("uint8_t *{name} = malloc({size});"));
            if next == "next_in" {
                self.lines
                    .push(format!("crunner_get_bytes({name}, {size});"));
            }
            self.lines
                .push(format!("{access}{next} = ({pointer}){name};"));
            self.lines
                .push(format!("{access}{avail} = ({number}){size};"));
            self.cleanup.push(format!("free({name});"));
        }
    }
}

/// Whether a function's comment says that all data is copied which is passed to it.
fn copies(function: &Declared) -> bool {
    let said = sentences(&function.comment);
    let is_copy = |sentence: &Vec<String>| {
        has_phrase(sentence, COPIED) && !has_phrase(sentence, PARTLY) && sentence.len() <= SHORT
    };
    let names_other = |sentence: &Vec<String>| has_phrase(sentence, KEPT);
    said.iter().any(is_copy) && !said.iter().any(names_other)
}

/// Makes a variable whose address is passed static, so that it outlives the use.
fn kept(argument: &str, lines: &mut Vec<String>) {
    let name = argument.trim_start_matches('&');
    let is_declared = |line: &String| {
        let (left, _) = line
            .split_once(" = ")
            .unwrap_or((line.trim_end_matches(';'), ""));
        let array = left.ends_with(']');
        let left = left.split('[').next().unwrap_or(left);
        (array || argument.starts_with('&'))
            && left.rsplit([' ', '*']).next() == Some(name)
            && left != name
    };
    let Some(at) = lines.iter().position(is_declared) else {
        return;
    };
    if lines[at].starts_with("static ") {
        return;
    }
    let line = lines.remove(at);
    let code = line.split(" /*").next().unwrap_or(&line);
    match code.split_once(" = ") {
        Some((declared, value)) if !["0;", "NULL;", "{0};"].contains(&value) => {
            lines.insert(at, format!("{name} = {value}"));
            lines.insert(at, format!("static {declared};"));
        }
        _ => lines.insert(at, format!("static {line}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_copied_only_if_all_of_it_is() {
        let says = |comment: &str| copies(&Declared::plain("put", "void", Vec::new(), comment));
        for comment in [
            "Adds data. The data is copied.",
            "`key` and `value` are copied.",
        ] {
            assert!(says(comment), "{comment}");
        }
        for comment in [
            "The key is copied; the value is not copied.",
            "Only the pointer is copied.",
            "Nothing is copied.",
            "The key is copied. The value must outlive the table.",
            "Adds data.",
        ] {
            assert!(!says(comment), "{comment}");
        }
    }

    #[test]
    fn what_is_pointed_to_outlives_the_use() {
        let of = |argument: &str, line: &str| {
            let mut lines = vec![line.to_owned()];
            kept(argument, &mut lines);
            lines
        };
        assert_eq!(of("&n", "size_t n = 0;"), ["static size_t n = 0;"]);
        assert_eq!(
            of("&n", "size_t n = (size_t)room;"),
            ["static size_t n;", "n = (size_t)room;"]
        );
        assert_eq!(of("name", "char name[8];"), ["static char name[8];"]);
        assert_eq!(
            of("of", "int of[26] = {0}; /* as declared */"),
            ["static int of[26] = {0}; /* as declared */"]
        );
        assert_eq!(of("n", "size_t n = 0;"), ["size_t n = 0;"]);
        assert_eq!(of("&m", "size_t n = m;"), ["size_t n = m;"]);
    }
}
