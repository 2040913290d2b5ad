//! Writes the harness that drives one function: variables for the arguments, the call, and the
//! release of the objects that were created.
//!
//! A harness should read as if a careful person had written it in ten minutes: the header's own
//! types, one line for each choice, buffers of exactly the right length (so that an access of one
//! byte too far is detected), and objects that are created and released by the header's own
//! functions. The first comment of the harness lists what had to be guessed.

mod adjust;
mod allocators;
mod answers;
mod arrays;
mod automaton;
mod conditions;
mod containers;
mod documented;
mod documented_sizes;
mod elements;
mod expression;
mod limits;
mod looks;
mod members;
mod nullable;
mod objects;
mod pointers;
mod preconditions;
mod prose;
mod repeated;
mod rows;
mod scalars;
mod sides;
mod sized;
mod text;
mod uses;
mod whole;

use std::collections::BTreeSet;

pub use adjust::{Adjust, Success};
pub use automaton::{LIFE, automaton_harness, automaton_name};
pub use containers::containers;
pub use limits::longest_input;
pub(super) use scalars::getter;

use scalars::EVERY;

use super::api::{Api, Declared, Parameter};
use super::ctype::{Kind, Written};
use super::pairs;
use crate::findings::DECLARED;

/// Size in bytes of an input of unknown length.
const GUESSED: usize = 64;
/// Size in bytes of an output of unknown length.
const GUESSED_OUTPUT: usize = 256;
/// The maximum size in bytes of an output of known length.
const OUTPUT: usize = 1024;
/// The maximum size in bytes of an input other than the main one.
const SECOND: usize = 64;
/// Number of elements of an array of structures.
const ROW: usize = 16;
/// How deeply functions that create arguments may in turn need objects from other such functions.
const DEPTH: usize = 3;
/// How many members of a structure are chosen individually.
const MEMBERS: usize = 12;

/// Ends the guess about functions that fill a container.
const ANY_TIME: &str = "may be called at any time";
/// Ends the guess about a structure without pointers whose other members stay 0.
const ZEROS: &str = "begins with zeros";
/// Ends the guess that a position lies within an input.
const WITHIN: &str = "lies within the input, or at its end";

/// Words in the names of functions that read data which another party wrote. Such functions are the
/// most promising targets.
const READS: &[&str] = &[
    "parse", "decode", "decomp", "uncomp", "inflate", "read", "load", "scan", "unpack", "deserial",
    "valid", "verify", "import", "match", "search",
];

/// The harness of a function or of an object's life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harness {
    /// The text of the C file.
    pub text: String,
    /// The arguments of the call, such as `data, size`.
    pub passed: String,
    /// How promising it is; harnesses with higher scores come first.
    pub score: i32,
    /// The function whose line coverage shows how far the harness gets.
    pub drives: String,
    /// The functions that fill the container which the driven function inspects.
    pub fillers: Vec<String>,
}

/// Writes the harness of a function, or returns the reason why there is none.
pub fn harness(
    api: &Api,
    usable: &BTreeSet<String>,
    function: &Declared,
    include: &str,
    adjust: &Adjust,
) -> Result<Harness, String> {
    if function.variadic {
        return Err("it takes any number of arguments".to_owned());
    }
    if function.params.is_empty() {
        return Err("it takes no arguments".to_owned());
    }
    let mut body = Body::new(api, usable, function, adjust);
    if body.gives_back(function).is_some() || body.gives_back_plain(function) {
        return Err("it gives back what others make, and is called in their harnesses".to_owned());
    }
    if body.frees(function) {
        return Err("it gives back memory that others make".to_owned());
    }
    let harness = match body.clone().several(function, include) {
        Some(several) => several?,
        None => {
            let arguments = body.arguments(function, &[], 0)?;
            body.finish(function, &arguments, include)?
        }
    };
    with_assumptions(harness, adjust)
}

/// Inserts the preconditions that trials found into a harness.
fn with_assumptions(mut harness: Harness, adjust: &Adjust) -> Result<Harness, String> {
    let (text, without) = adjust.assumed(&harness.text);
    match without.first() {
        Some(condition) => Err(format!("`{condition}` has no place in it")),
        None => {
            harness.text = text;
            Ok(harness)
        }
    }
}

/// The main input: the data of the function that the rest of the tape supplies.
#[derive(Clone, Debug)]
struct Main {
    /// The type of an element, if elements are larger than a byte.
    wide: Option<String>,
}

#[derive(Clone)]
struct Body<'a> {
    api: &'a Api,
    usable: &'a BTreeSet<String>,
    function: &'a Declared,
    adjust: &'a Adjust,
    names: BTreeSet<String>,
    callbacks: Vec<String>,
    lines: Vec<String>,
    main: Option<Main>,
    lines_after_input: Vec<String>,
    cleanup: Vec<String>,
    guesses: Vec<String>,
    /// Whether a callback takes choices while the function runs. If so, the main input must not
    /// consume the whole tape.
    answers: bool,
    /// Whether another function takes the main input.
    fed: bool,
    strings: usize,
    handles: usize,
    /// The nesting depth of functions that create or feed an object. Inside them the main input is
    /// not used, so that it remains for the driven function.
    nested: usize,
    /// The identities of the objects that are being created; they do not exist yet when their
    /// makers are called.
    making: Vec<String>,
    /// The functions that fill the container that was created.
    fillers: Vec<String>,
    /// The number of memory blocks that live until the objects are closed.
    kept: usize,
    /// Whether one of the callbacks that are being written returns memory of the harness.
    allocates: bool,
    /// The functions that callers were seen to call. Makers from this set are preferred.
    preferred: BTreeSet<String>,
}

impl<'a> Body<'a> {
    fn new(
        api: &'a Api,
        usable: &'a BTreeSet<String>,
        function: &'a Declared,
        adjust: &'a Adjust,
    ) -> Body<'a> {
        Body {
            api,
            usable,
            function,
            adjust,
            // Reserves names that may be macros or keywords, or that the harness itself uses.
            names: [
                "data", "size", "turns", "kept", "keeps", "main", "int", "char", "errno", "stdin",
                "stdout", "unix", "linux",
            ]
            .iter()
            .map(|name| (*name).to_owned())
            .chain(api.all_functions().map(|f| f.name.clone()))
            .collect(),
            callbacks: Vec::new(),
            lines: Vec::new(),
            main: None,
            lines_after_input: Vec::new(),
            cleanup: Vec::new(),
            guesses: Vec::new(),
            answers: false,
            fed: false,
            strings: 0,
            handles: 0,
            nested: 0,
            making: Vec::new(),
            fillers: Vec::new(),
            kept: 0,
            allocates: false,
            preferred: BTreeSet::new(),
        }
    }

    /// A name that is not taken yet, similar to the wanted one.
    fn name(&mut self, wanted: &str) -> String {
        let wanted = wanted.trim_matches('_');
        let wanted = if wanted.is_empty() { "value" } else { wanted };
        let mut name = wanted.to_owned();
        let mut number = 2;
        while !self.names.insert(name.clone()) {
            name = if number == 2 && !wanted.ends_with("_value") {
                format!("{wanted}_value")
            } else {
                format!("{wanted}_{number}")
            };
            number += 1;
        }
        name
    }

    /// The arguments for a call of `function`. Those in `given` are fixed.
    fn arguments(
        &mut self,
        function: &Declared,
        given: &[(usize, String)],
        depth: usize,
    ) -> Result<Vec<String>, String> {
        let params = &function.params;
        let allocates = self.has_allocator(params.iter().map(|param| &param.ty));
        let earlier = std::mem::replace(&mut self.allocates, allocates);
        let mut arguments: Vec<Option<String>> = vec![None; params.len()];
        for (i, text) in given {
            arguments[*i] = Some(text.clone());
        }
        let mut lengths = self.paired(function, &arguments);
        let elements = pairs::elements(self.api, params).filter(|&(row, count, size)| {
            [row, count, size].iter().all(|&i| arguments[i].is_none())
        });
        if let Some((row, count, size)) = elements {
            for length in &mut lengths {
                length.take_if(|l| *l == count || *l == size);
            }
            lengths[row] = Some(count);
            arguments[size] = Some(self.element_size(&params[size]));
        }
        let sizes = self.documented(function, &lengths);
        let is_free =
            |i: usize| arguments[i].is_none() && sizes.iter().all(|(pointer, _)| *pointer != i);
        if let Some(shared) = pairs::shared(self.api, params, &lengths)
            && shared.all().all(is_free)
        {
            self.arrays(function, &shared, &mut arguments)?;
        }
        self.measures(function, (&sizes, &lengths), &mut arguments);
        // Numbers are chosen first, because the main input takes the rest of the tape.
        let is_number = |param: &Parameter| {
            !matches!(
                self.api.resolve(&param.ty).kind,
                Kind::Pointer(_) | Kind::Record(_)
            )
        };
        let (numbers, others): (Vec<usize>, Vec<usize>) =
            (0..params.len()).partition(|&i| is_number(&params[i]));
        for i in numbers.into_iter().chain(others) {
            let is_length = lengths.contains(&Some(i));
            // Memory whose size the header documents follows the numbers that determine the size.
            let is_late = sizes.iter().any(|(pointer, _)| *pointer == i);
            if arguments[i].is_some() || is_length || is_late {
                continue;
            }
            let param = &params[i];
            if let Some(l) = lengths[i] {
                let (pointer, length) = self.sized(function, param, &params[l])?;
                arguments[i] = Some(pointer);
                arguments[l] = Some(match elements {
                    Some((row, _, size)) if row == i => {
                        let size = arguments[size].as_deref().unwrap_or("1");
                        format!("{length} / {size}")
                    }
                    _ => length,
                });
            } else {
                arguments[i] = Some(self.argument(function, i, param, depth)?);
            }
        }
        for (i, room) in &sizes {
            if arguments[*i].is_some() {
                continue;
            }
            arguments[*i] = Some(
                match self.documented_memory(function, (*i, room), &arguments) {
                    Some(memory) => memory,
                    None => self.argument(function, *i, &params[*i], depth)?,
                },
            );
        }
        self.allocates = earlier;
        let arguments: Vec<String> = arguments.into_iter().flatten().collect();
        self.assume_preconditions(function, &arguments);
        Ok(arguments)
    }

    /// For each pointer parameter without a fixed argument, the parameter that holds its length.
    fn paired(&self, function: &Declared, arguments: &[Option<String>]) -> Vec<Option<usize>> {
        let params = &function.params;
        let mut lengths = pairs::lengths(self.api, params);
        self.unpaired(function, &mut lengths);
        for (length, argument) in lengths.iter_mut().zip(arguments) {
            // A single object has no length.
            length.take_if(|at| argument.is_some() || answers::is_ordinal(function, &params[*at]));
        }
        for begin in 0..params.len().saturating_sub(1) {
            let end = begin + 1;
            let mut both = [begin, end].into_iter();
            let is_free = both.all(|i| lengths[i].is_none() && arguments[i].is_none());
            if is_free && pairs::is_end(self.api, &params[begin], &params[end]) {
                lengths[begin] = Some(end);
            }
        }
        lengths
    }

    /// An argument that is not paired with a length.
    fn argument(
        &mut self,
        function: &Declared,
        i: usize,
        param: &Parameter,
        depth: usize,
    ) -> Result<String, String> {
        let resolved = self.api.resolve(&param.ty);
        let wanted = param.wanted(i);
        if let Some(identity) = self.number_handle(param) {
            return self.made(function, param, &param.ty, &identity, depth);
        }
        match &resolved.kind {
            Kind::Pointer(_) => {
                let before = self.clone();
                let value = self.pointer(function, param, &wanted, depth)?;
                let key = (function.name.clone(), i);
                let is_wanted = param.not_null || self.adjust.not_null.contains(&key);
                if value != "NULL" || !is_wanted {
                    return Ok(self.or_null(function, i, param, value));
                }
                *self = before;
                Ok(self.instead_of_null(&wanted))
            }
            Kind::Record(tag) => {
                let Some(record) = self.api.record(tag).cloned() else {
                    return Err(format!(
                        "`{}` is passed by value and not defined in the header",
                        param.ty.words
                    ));
                };
                let is_pointer =
                    |ty: &Written| matches!(self.api.resolve(ty).kind, Kind::Pointer(_));
                if record.fields.iter().any(|(_, ty)| is_pointer(ty)) {
                    return Err(format!(
                        "`{}` is passed by value and holds pointers",
                        param.ty.words
                    ));
                }
                let name = self.name(&wanted);
                self.lines
                    .push(format!("{} {name} = {{0}};", param.ty.words));
                self.members(&name, &record);
                Ok(name)
            }
            _ => {
                let value = self.number(param, &resolved)?;
                let name = self.name(&wanted);
                // Values that the header declares as permitted are marked, so that no caller is
                // blamed for them.
                let is_answered = answers::are_answered(function, param);
                let is_free =
                    value.starts_with(EVERY) || is_answered || self.is_bounded(function, param);
                let declared = match is_free {
                    true => format!(" {DECLARED}"),
                    false => String::new(),
                };
                self.lines
                    .push(format!("{} {name} = {value};{declared}", param.ty.words));
                self.length_counts(function, &resolved, &name);
                let is_place = pairs::is_place_name(&param.name);
                if is_place && !is_answered && self.has_one_input(function) {
                    let low = match resolved.kind {
                        Kind::Int { signed: true, .. } => format!("{name} >= 0 && "),
                        _ => String::new(),
                    };
                    self.lines_after_input
                        .push(format!("crunner_assume({low}(size_t){name} <= size);"));
                    self.guesses.push(format!("`{name}` {WITHIN}"));
                }
                Ok(name)
            }
        }
    }

    /// Excludes options by which an input ends at its NUL and not at its length, because an input
    /// that is passed with a length has no NUL.
    fn length_counts(&mut self, function: &Declared, ty: &Written, name: &str) {
        let Kind::Enum(tag) = &ty.kind else { return };
        if !self.has_input(function) {
            return;
        }
        let constants = self.api.constants(tag).iter();
        for constant in constants.filter(|constant| pairs::is_terminated_name(constant)) {
            self.lines
                .push(format!("crunner_assume(({name} & {constant}) == 0);"));
            self.guesses
                .push(format!("no input ends with a NUL, as `{constant}` wants"));
        }
    }

    fn has_one_input(&self, function: &Declared) -> bool {
        let lengths = pairs::lengths(self.api, &function.params);
        let inputs = function
            .params
            .iter()
            .zip(&lengths)
            .filter(|(param, length)| {
                let to = self.api.pointee(&param.ty);
                let bytes = to.as_ref().is_some_and(|to| {
                    matches!(
                        self.api.resolve(to).kind,
                        Kind::Int { size: 1, .. } | Kind::Void
                    )
                });
                length.is_some() && bytes && !pairs::is_output_name(&param.name)
            });
        inputs.count() == 1 && self.nested == 0
    }
}

/// The length of the common prefix of two names.
fn common(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

fn unknown(param: &Parameter) -> String {
    format!("`{} {}` is not understood", param.ty.words, param.name)
}

fn or<'t>(name: &'t str, default: &'t str) -> &'t str {
    if name.is_empty() { default } else { name }
}

/// Whether C code contains a name as a whole word.
pub(super) fn has_name(c: &str, name: &str) -> bool {
    let mut words = c.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    !name.is_empty() && words.any(|word| word == name)
}

/// Whether one of the words occurs at the start of a word of the name: `ZSTD_freeCCtx` and
/// `parser_end`, but not `append`. Words of more than three letters may also end the name.
fn has_word(name: &str, words: &[&str]) -> bool {
    let lower = name.to_lowercase();
    words.iter().any(|word| {
        word.len() > 3 && lower.ends_with(word)
            || lower.match_indices(word).any(|(at, _)| {
                let before = name[..at].chars().next_back();
                let first = name[at..].chars().next().unwrap_or(' ');
                before
                    .is_none_or(|c| !c.is_alphabetic() || c.is_lowercase() && first.is_uppercase())
            })
    })
}

/// Whether the first or the last word of a name is one of the words.
fn has_outer_word(name: &str, words: &[&str]) -> bool {
    let lower = name.to_lowercase();
    let parts: Vec<String> = text::words(name).filter(|part| !part.is_empty()).collect();
    let outer = [parts.first(), parts.last()];
    words.iter().any(|word| {
        let is_outer = outer.into_iter().flatten().any(|part| part == word);
        is_outer || word.len() > 3 && lower.ends_with(word)
    })
}
