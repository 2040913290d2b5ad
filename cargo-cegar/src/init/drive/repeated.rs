//! Functions that callers call repeatedly with one object.
//!
//! Some overflows need many calls: a queue that takes one entry too many, a checksum whose counter
//! wraps around. Such functions are recognised by their names.

use super::looks::is_text;
use super::prose::says;
use super::text::words;
use super::{Body, Harness, READS, has_name, has_word};
use crate::init::api::Declared;
use crate::init::ctype::{Kind, Written};

/// Words in the names of functions that put an item into a container.
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
/// Words in the names of other functions that callers call repeatedly with one object.
const REPEATED: &[&str] = &[
    "dispatch", "draw", "emit", "execute", "feed", "fill", "log", "mark", "move", "notify", "pop",
    "post", "print", "publish", "record", "remove", "reserve", "resize", "schedule", "send", "set",
    "track", "update", "write",
];
/// Words in the names of functions that take the next item from an object.
const TAKES: &[&str] = &[
    "adv", "advance", "consume", "get", "look", "next", "peek", "poll", "process", "read", "shift",
    "skip", "step", "tick",
];
/// The usual maximum number of repeated calls.
const TURNS: usize = 40;

/// Whether a function's name suggests repeated calls.
fn is_repeated_name(name: &str) -> bool {
    words(name).any(|word| PUTS.iter().chain(REPEATED).any(|one| *one == word)) || takes(name)
}

/// Whether a function's name says that it takes the next item from an object; `adv1` is one of
/// these.
pub(super) fn takes(name: &str) -> bool {
    words(name).any(|word| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        TAKES.contains(&word)
    })
}

/// Phrases for a function that may be called only once.
const ONCE: &[&str] = &["once", "yet", "twice"];

/// The variable that a line assigns.
pub(super) fn set_by(line: &str) -> Option<&str> {
    let (before, _) = line.split_once(" = ")?;
    before.rsplit([' ', '*']).next()
}

fn is_assumption(line: &str) -> bool {
    line.starts_with("crunner_assume(")
}

/// The guess that is noted for functions that are called repeatedly.
pub(super) const AGAIN: &str = "callers call it several times";
/// The usual maximum number of calls with an input each.
const INPUTS: usize = 12;

impl<'a> Body<'a> {
    /// Whether a function's name says that it puts an item into a container, or sets an entry that
    /// a string names.
    pub(super) fn is_put(&self, function: &Declared) -> bool {
        let has_key = function.params.iter().any(|param| is_text(&param.ty));
        let mut words = words(&function.name);
        words.any(|word| PUTS.contains(&word.as_str()) || word == "set" && has_key)
    }

    /// Whether a function may be called repeatedly, according to its name, its return type and its
    /// comment.
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

    /// The head of the loop of repeated calls.
    pub(super) fn loop_of(&self, function: &Declared) -> String {
        let most = self.most_turns(&function.name, TURNS);
        format!("for (int turns = (int)crunner_size(1, {most}); turns > 0; turns--)")
    }

    /// The choices that are repeated for each of several calls. `None` unless the function's name
    /// suggests repeated calls with one object or with the library's global state, and it takes no
    /// other object and not the main input.
    pub(super) fn again(
        &mut self,
        function: &Declared,
        arguments: &[String],
    ) -> Option<Vec<String>> {
        let (first, others) = function.params.split_first()?;
        let of_object = self.is_changed(&first.ty)
            && (!others.is_empty() || takes(&function.name))
            && !others.iter().zip(&arguments[1..]).any(|(other, argument)| {
                self.is_changed(&other.ty) && self.results(other, argument).is_none()
            });
        let is_such = of_object || self.works_on_global_state(function);
        if !is_such
            || !self.is_repeated(function)
            || self.main.is_some()
            || !self.lines_after_input.is_empty()
        {
            return None;
        }
        let is_choice = |line: &&String| {
            let name = set_by(line).filter(|_| line.contains("crunner_"));
            // A choice on which other lines depend is made once.
            let is_alone = |name: &str| {
                let lines = self.lines.iter().filter(|line| !is_assumption(line));
                lines.filter(|line| has_name(line, name)).count() == 1
            };
            name.is_some_and(|name| {
                arguments.iter().any(|argument| argument == name) && is_alone(name)
            })
        };
        self.guesses.push(AGAIN.to_owned());
        // A structure of results begins with zeros for each call.
        let results = function.params.iter().zip(arguments).skip(1);
        let results: Vec<String> = results
            .filter_map(|(param, argument)| Some(self.results(param, argument)?.0))
            .collect();
        let is_choice = |line: &&String| is_choice(line) || results.contains(line);
        let mut moved: Vec<String> = self.lines.iter().filter(is_choice).cloned().collect();
        // Assumptions about a choice or about the object hold for each call.
        let names: Vec<&str> = moved.iter().filter_map(|line| set_by(line)).collect();
        // The state of the object changes with each call.
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

    /// The harness of a function that takes bytes and whose name suggests repeated calls: several
    /// calls, each with bytes of its own. `None` for any other function, and if callers show the
    /// order of calls.
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
            || (self.api.orders.of(&identity)).is_some_and(|known| known.has(&function.name))
        {
            return None;
        }
        let to = self.api.pointee(&param.ty)?;
        let object = self.made(function, param, &to, &identity, 0).ok()?;
        self.nested += 1;
        let case = self.case(function, &identity, &object);
        self.nested -= 1;
        let case = case.filter(|_| self.main.is_none() && self.lines_after_input.is_empty())?;
        let began = self.lines.len();
        self.guesses.push(AGAIN.to_owned());
        let passed = case.passed.clone();
        let most = self.most_turns(&function.name, INPUTS);
        self.turns(vec![case], (1, most));
        // The array that keeps the blocks is declared before the loop.
        let starts = |line: &String| line.starts_with("for (int turns");
        let at = began + self.lines[began..].iter().position(starts)?;
        let call = self.lines.split_off(at).join("\n    ");
        Some(self.written(function, passed, &call, include))
    }
}
