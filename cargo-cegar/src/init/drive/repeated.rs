//! Functions that callers call again and again with one object.
//!
//! What runs over in the tenth call runs over in no single one: a queue that takes one entry too
//! many, a checksum whose counter wraps around. Names say which functions these are.

use super::looks::is_text;
use super::prose::says;
use super::text::words;
use super::{Body, Harness, READS, has_name, has_word};
use crate::init::api::Declared;
use crate::init::ctype::{Kind, Written};

/// Words in the names of functions that put something into a container.
const PUTS: &[&str] = &[
    "add",
    "append",
    "attach",
    "define",
    "enqueue",
    "insert",
    "on",
    "prepend",
    "push",
    "put",
    "register",
    "store",
    "subscribe",
];
/// Words in the names of other functions that callers call again and again with one object.
const REPEATED: &[&str] = &[
    "dispatch", "draw", "emit", "feed", "fill", "log", "mark", "move", "notify", "pop", "post",
    "print", "publish", "record", "remove", "reserve", "resize", "schedule", "send", "set",
    "track", "update", "write",
];
/// Words in the names of functions that take the next piece from an object.
const TAKES: &[&str] = &[
    "adv", "advance", "consume", "get", "look", "next", "peek", "poll", "process", "read", "shift",
    "skip", "step", "tick",
];
/// Such calls.
pub(super) const TURNS: &str = "for (int turns = (int)crunner_size(1, 40); turns > 0; turns--)";

/// Whether a function is named like one that callers call again and again.
fn is_repeated_name(name: &str) -> bool {
    words(name).any(|word| PUTS.iter().chain(REPEATED).any(|one| *one == word)) || takes(name)
}

/// Whether a function is named like one that takes the next piece from an object; `adv1` is one of
/// these.
fn takes(name: &str) -> bool {
    words(name).any(|word| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        TAKES.contains(&word)
    })
}

/// What is said of a function that is called once.
const ONCE: &[&str] = &["once", "yet", "twice"];

/// The variable that a line gives a value.
fn set_by(line: &str) -> Option<&str> {
    let (before, _) = line.split_once(" = ")?;
    before.rsplit([' ', '*']).next()
}

fn is_assumption(line: &str) -> bool {
    line.starts_with("crunner_assume(")
}

/// What is said of the functions that are called several times.
pub(super) const AGAIN: &str = "callers call it several times";
/// The most calls with an input of their own.
const INPUTS: usize = 12;

impl<'a> Body<'a> {
    /// Whether a function is named like one that puts something into a container, or sets something
    /// that a text names.
    pub(super) fn is_put(&self, function: &Declared) -> bool {
        let has_key = function.params.iter().any(|param| is_text(&param.ty));
        let mut words = words(&function.name);
        words.any(|word| PUTS.contains(&word.as_str()) || word == "set" && has_key)
    }

    /// Whether a function may be called several times, by its name and by what it returns.
    fn is_repeated(&self, function: &Declared) -> bool {
        let returns = self.api.resolve(&function.returns).kind;
        let is_named = is_repeated_name(&function.name);
        (is_named && !matches!(returns, Kind::Pointer(_)) || self.replaces(function, 0))
            && !self.api.orders.is_guarded(&function.name)
            && !says(&function.comment, ONCE)
    }

    /// Whether a parameter is an object that a function may change.
    fn is_changed(&self, ty: &Written) -> bool {
        let to = self.api.pointee(ty);
        self.api.identity(ty).is_some() && to.is_some_and(|to| !to.constant)
    }

    /// The choices that are made anew for each of several calls, where a function is named like one
    /// that callers call again and again with one object, or with what the library has itself, and
    /// nothing else that it takes is an object or all of the input. `None` for any other function.
    pub(super) fn again(
        &mut self,
        function: &Declared,
        arguments: &[String],
    ) -> Option<Vec<String>> {
        let (first, others) = function.params.split_first()?;
        let of_object = self.is_changed(&first.ty)
            && (!others.is_empty() || takes(&function.name))
            && !others.iter().any(|other| self.is_changed(&other.ty));
        let is_such = of_object || self.is_of_whole(function);
        if !is_such || !self.is_repeated(function) || self.main.is_some() || !self.after.is_empty()
        {
            return None;
        }
        let is_choice = |line: &&String| {
            let name = set_by(line).filter(|_| line.contains("crunner_"));
            // What other choices are made of is chosen once.
            let is_alone = |name: &str| {
                let lines = self.lines.iter().filter(|line| !is_assumption(line));
                lines.filter(|line| has_name(line, name)).count() == 1
            };
            name.is_some_and(|name| {
                arguments.iter().any(|argument| argument == name) && is_alone(name)
            })
        };
        self.guesses.push(AGAIN.to_owned());
        let mut moved: Vec<String> = self.lines.iter().filter(is_choice).cloned().collect();
        // What is assumed of a choice, or of the object, holds for each call.
        let names: Vec<&str> = moved.iter().filter_map(|line| set_by(line)).collect();
        // What the object answers is another thing behind each call.
        let object = arguments.first().map(|first| first.trim_start_matches('&'));
        let asks = |line: &str| {
            let (_, condition) = line.split_once('(').unwrap_or_default();
            condition.contains('(') && object.is_some_and(|object| has_name(condition, object))
        };
        let is_of_call = |line: &&String| {
            is_assumption(line) && (asks(line) || names.iter().any(|name| has_name(line, name)))
        };
        let assumed: Vec<String> = self.lines.iter().filter(is_of_call).cloned().collect();
        moved.extend(assumed);
        Some(moved)
    }

    /// The harness of a function that is given bytes and is named like one that callers call again
    /// and again: several calls, each with bytes of its own. `None` for any other function, and
    /// where callers show the order of calls.
    pub(super) fn several(
        mut self,
        function: &'a Declared,
        include: &str,
    ) -> Option<Result<Harness, String>> {
        let param = function.params.first()?;
        let identity = self.api.identity(&param.ty)?;
        if !self.is_changed(&param.ty)
            || !self.is_repeated(function)
            || has_word(&function.name, READS)
            || !self.has_input(function)
            || self.place_of(function, &identity) != Some(0)
            || self.api.orders.of(&identity).is_some()
        {
            return None;
        }
        let to = self.api.pointee(&param.ty)?;
        let object = self.made(function, param, &to, &identity, 0).ok()?;
        self.nested += 1;
        let case = self.case(function, &identity, &object);
        self.nested -= 1;
        let case = case.filter(|_| self.main.is_none() && self.after.is_empty())?;
        let began = self.lines.len();
        self.guesses.push(AGAIN.to_owned());
        let passed = case.passed.clone();
        self.turns(vec![case], (1, INPUTS));
        // What keeps the blocks stands before the loop.
        let starts = |line: &String| line.starts_with("for (int turns");
        let at = began + self.lines[began..].iter().position(starts)?;
        let call = self.lines.split_off(at).join("\n    ");
        Some(self.written(function, passed, &call, include))
    }
}
