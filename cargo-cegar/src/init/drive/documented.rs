//! Memory of which the header says in words how large it is.
//!
//! `(n + 7) / 8 bytes are written to out`, `an image of width * height bytes`, `room for HEX_SIZE(len) characters`: a comment before a function says in C how
//! large an array is, in numbers that are passed beside it. An array of any other size accuses the library of what its callers have to
//! know, or hides what it does wrong. So a sentence that has such an expression in it is taken at its word: the memory has just so many
//! bytes, and what the library touches behind them is a finding.

use std::ops::Range;

use super::expression::{Names, expression, is_given, is_total, sum};
use super::prose::{lower, sentences};
use super::sized::{in_bytes, stored};
use super::{Body, DECLARED};
use crate::init::api::{Declared, Parameter};
use crate::init::ctype::{Kind, Written};
use crate::init::pairs;

/// Words behind an expression that counts bytes.
const BYTES: &[&str] = &["byte", "bytes", "octet", "octets"];
/// Words behind an expression that counts elements.
const ELEMENTS: &[&str] = &[
    "char",
    "chars",
    "character",
    "characters",
    "element",
    "elements",
    "entry",
    "entries",
    "sample",
    "samples",
    "value",
    "values",
    "item",
    "items",
    "float",
    "floats",
    "double",
    "doubles",
    "int",
    "ints",
    "integers",
    "words",
    "digits",
    "letters",
];
/// Words that may stand between an expression and what it counts.
const BETWEEN: &[&str] = &[
    "unsigned", "signed", "input", "output", "more", "raw", "hex", "decimal", "ascii",
];
/// Words before a name or a number alone by which it is how large memory is, and not what is done with it.
const HOLDS: &[&str] = &[
    "room for",
    "space for",
    "must have",
    "must be",
    "must hold",
    "should have",
    "should be",
    "should hold",
    "can hold",
    "has to have",
    "has to be",
    "buffer of",
    "array of",
    "point to",
    "points to",
    "enough for",
    "needs",
    "need",
    "of size",
];
/// Words for the byte that ends a text.
const NULS: &[&str] = &["nul", "null", "terminator", "terminating", "0"];
/// Words behind what is counted by which the byte that ends a text is not counted.
const BESIDES: &[&str] = &["and", "plus", "without", "excluding", "followed"];
/// Words that there may be up to that byte.
const AS_FAR_AS: usize = 4;
/// The largest number that an expression has in it, if it has two at most.
const LARGE: usize = 64;
/// The largest one of more.
const SMALL: usize = 12;

/// How large memory is, by what a comment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Room {
    /// The expression's words, blanks left out: names are those of parameters and of macros.
    words: Vec<String>,
    /// Whether it counts bytes, whatever an element is.
    bytes: bool,
    /// Whether it is a number alone.
    fixed: bool,
}

impl Room {
    /// The parameters that it has in it.
    fn numbers(&self, function: &Declared) -> Vec<usize> {
        let params = function.params.iter().enumerate();
        let named = params.filter(|(_, param)| self.words.contains(&param.name));
        named.map(|(i, _)| i).collect()
    }

    /// The expression with arguments for parameters.
    fn with(&self, function: &Declared, arguments: &[Option<String>]) -> Option<String> {
        let mut text = String::new();
        for word in &self.words {
            let place = function.params.iter().position(|param| param.name == *word);
            match place {
                Some(i) => match arguments[i].as_deref()? {
                    plain @ ("size" | "count") => text += plain,
                    plain if function.params[i].ty.words == "size_t" => text += plain,
                    other => text += &format!("(size_t){other}"),
                },
                None if "+-*/%".contains(word.as_str()) => text += &format!(" {word} "),
                None if word == "," => text += ", ",
                None => text += word,
            }
        }
        Some(text)
    }
}

impl Body<'_> {
    /// The pointers of a function of which its comment says how much memory is behind them. None of what has its length beside it, or is no memory of
    /// numbers.
    pub(super) fn documented(
        &self,
        function: &Declared,
        lengths: &[Option<usize>],
    ) -> Vec<(usize, Room)> {
        if function.comment.is_empty() {
            return Vec::new();
        }
        let is_number = |param: &Parameter| {
            !param.name.is_empty() && matches!(self.api.resolve(&param.ty).kind, Kind::Int { .. })
        };
        let is_memory = |param: &Parameter| {
            let to = self
                .api
                .pointee(&param.ty)
                .map(|to| self.api.resolve(&to).kind);
            let plain = matches!(to, Some(Kind::Int { .. } | Kind::Float { .. } | Kind::Void));
            plain && param.bound.is_none() && self.api.identity(&param.ty).is_none()
        };
        // A text ends where it ends, however long it has to be.
        let is_text = |param: &Parameter| {
            let to = self.api.pointee(&param.ty);
            let is_character = |to: &Written| {
                matches!(
                    self.api.resolve(to).kind,
                    Kind::Int {
                        size: 1,
                        signed: true
                    }
                )
            };
            to.is_some_and(|to| to.constant && is_character(&to))
        };
        let numbers: Vec<&str> = function
            .params
            .iter()
            .filter(|one| is_number(one))
            .map(|one| one.name.as_str())
            .collect();
        let names = Names {
            numbers: &numbers,
            functions: &self.functions_of_numbers(),
        };
        let params = function.params.iter().enumerate();
        let open = params.filter(|(i, param)| is_memory(param) && lengths[*i].is_none());
        let open: Vec<(usize, &Parameter)> = open.collect();
        let mut found: Vec<(usize, Room)> = Vec::new();
        for sentence in sentences(&function.comment) {
            // `bytes` may be a parameter, and is a word all the same.
            let is_pointer = |word: &String| {
                unit(word).is_none() && open.iter().any(|(_, param)| param.name == *word)
            };
            let said = unconditional(&sentence, rooms(&sentence, names));
            let places: Vec<Range<usize>> = said.iter().map(|(place, _)| place.clone()).collect();
            let meant = meant(&sentence, &places, is_pointer);
            let claimed: Vec<&str> = meant.iter().flatten().copied().collect();
            let mut others = open
                .iter()
                .filter(|(_, param)| !claimed.contains(&param.name.as_str()));
            // Without a name it is about the only memory that no other expression is about.
            let only = match (others.next(), others.next()) {
                (Some((i, _)), None) => Some(*i),
                _ => None,
            };
            for ((_, room), names) in said.into_iter().zip(&meant) {
                for (i, param) in &open {
                    let is_meant = match &names[..] {
                        [] => only == Some(*i),
                        names => names.contains(&param.name.as_str()),
                    };
                    let is_meant = is_meant && !(room.fixed && is_text(param));
                    if is_meant && found.iter().all(|(known, _)| known != i) {
                        found.push((*i, room.clone()));
                    }
                }
            }
        }
        found
    }

    /// Takes the pairs of pointers and lengths apart of which the comment says that the pointer leads to more or less than the length says: `frame has room for n + 2
    /// bytes`.
    pub(super) fn unpaired(&self, function: &Declared, lengths: &mut [Option<usize>]) {
        let free = vec![None; lengths.len()];
        for (pointer, room) in self.documented(function, &free) {
            let numbers = room.numbers(function);
            lengths[pointer].take_if(|length| numbers.contains(length));
        }
    }

    /// Chooses the numbers that say how large memory is, but those that are the length of other memory.
    pub(super) fn measures(
        &mut self,
        function: &Declared,
        (rooms, lengths): (&[(usize, Room)], &[Option<usize>]),
        arguments: &mut [Option<String>],
    ) {
        for (_, room) in rooms {
            let numbers = room.numbers(function);
            let most = if numbers.len() > 2 { SMALL } else { LARGE };
            for i in numbers {
                if arguments[i].is_some() || lengths.contains(&Some(i)) {
                    continue;
                }
                let param = &function.params[i];
                let name = self.name(&param.wanted(i));
                let words = &param.ty.words;
                let chosen = format!("crunner_size(0, {most})");
                let chosen = match words.as_str() {
                    "size_t" => chosen,
                    narrow => format!("({narrow}){chosen}"),
                };
                self.lines.push(format!("{words} {name} = {chosen};"));
                arguments[i] = Some(name);
            }
        }
    }

    /// Memory of the size that the comment says; none where a number is not known.
    pub(super) fn room(
        &mut self,
        function: &Declared,
        (i, room): (usize, &Room),
        arguments: &[Option<String>],
    ) -> Option<String> {
        let param = &function.params[i];
        let to = self.api.pointee(&param.ty)?;
        let size = match self.api.resolve(&to).kind {
            Kind::Int { size, .. } | Kind::Float { size } => size,
            _ => 1,
        };
        let element = stored(to.words.trim_start_matches("const "));
        let count = room.with(function, arguments)?;
        let bytes = match room.bytes || size == 1 {
            true => count,
            false => in_bytes(&format!("({count})"), (element, size)),
        };
        let name = self.name(&param.wanted(i));
        let is_late = ["size", "count"]
            .iter()
            .any(|main| super::has_name(&bytes, main));
        let mut lines = vec![format!("{element} *{name} = malloc({bytes}); {DECLARED}")];
        if to.constant || !pairs::is_output_name(&param.name) {
            lines.push(format!("crunner_get_bytes({name}, {bytes});"));
            // What is chosen behind the main input needs something that the main input leaves.
            self.answers |= is_late;
        }
        match is_late {
            true => self.after.extend(lines),
            false => self.lines.extend(lines),
        }
        self.cleanup.push(format!("free({name});"));
        Some(name)
    }
}

/// The pointers that each expression of a sentence is about: those named last before it and behind the expression before it,
/// with nothing but `and` between them; else all that are named behind it and that no other expression is about.
fn meant<'s>(
    sentence: &'s [String],
    expressions: &[Range<usize>],
    is_pointer: impl Fn(&String) -> bool,
) -> Vec<Vec<&'s str>> {
    let ends = [0].into_iter().chain(expressions.iter().map(|one| one.end));
    let before = expressions.iter().zip(ends).map(|(one, end)| {
        let before = &sentence[end..one.start];
        let Some(last) = before.iter().rposition(&is_pointer) else {
            return Vec::new();
        };
        let joined = before[..=last].iter().rev();
        let joined =
            joined.take_while(|word| is_pointer(word) || ["and", ","].contains(&word.as_str()));
        let named = joined.filter(|word| is_pointer(word));
        named.map(String::as_str).collect()
    });
    let mut meant: Vec<Vec<&str>> = before.collect();
    let starts = expressions.iter().skip(1).map(|one| one.start);
    let starts: Vec<usize> = starts.chain([sentence.len()]).collect();
    for (at, one) in expressions.iter().enumerate() {
        if meant[at].is_empty() {
            let behind = sentence[one.end..starts[at]].iter();
            let named = behind.filter(|word| is_pointer(word)).map(String::as_str);
            let named = named.filter(|name| !meant.iter().any(|names| names.contains(name)));
            meant[at] = named.collect();
        }
    }
    meant
}

/// The expressions of a sentence that say how much there is of something, and where they stand; of two that begin within each
/// other the longer one.
fn rooms(sentence: &[String], names: Names<'_>) -> Vec<(Range<usize>, Room)> {
    let lower = lower(sentence);
    let mut found = Vec::new();
    let mut at = 0;
    while at < sentence.len() {
        let end = expression(sentence, at, names).filter(|_| !is_given(sentence, at));
        let end = end.or_else(|| alone(&lower, sentence, at, names));
        let counted = end.and_then(|end| counted(&lower, end));
        match (end, counted) {
            (Some(end), Some((bytes, behind))) => {
                let mut words = sentence[at..end].to_vec();
                let fixed = end == at + 1 && words[0].parse::<u64>().is_ok();
                if is_total(&words) {
                    if has_nul(behind) {
                        words.extend(["+", "1"].map(str::to_owned));
                    }
                    found.push((
                        at..end,
                        Room {
                            words,
                            bytes,
                            fixed,
                        },
                    ));
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

/// Where a name or a number ends that alone says how large memory is: `out must have room for len bytes`.
fn alone(lower: &[String], sentence: &[String], at: usize, names: Names<'_>) -> Option<usize> {
    let mut before = &lower[..at];
    if let [rest @ .., at, least] = before
        && at == "at"
        && least == "least"
    {
        before = rest;
    }
    let ends_with = |phrase: &&str| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        before.ends_with(
            &phrase
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>(),
        )
    };
    let is_number = sentence[at].parse::<u64>().is_ok_and(|number| number > 0);
    let end = sum(sentence, at, names).or(is_number.then_some(at + 1))?;
    (end == at + 1 && HOLDS.iter().any(ends_with)).then_some(end)
}

/// Whether what stands behind an expression counts bytes, or elements, and the words behind that; none if it counts nothing.
fn counted(lower: &[String], end: usize) -> Option<(bool, &[String])> {
    let behind = &lower[end..];
    let at = behind
        .iter()
        .position(|word| !BETWEEN.contains(&word.as_str()))?;
    Some((unit(&behind[at])?, &behind[at + 1..]))
}

/// Whether a byte more ends the text that was counted: `and a NUL`.
fn has_nul(behind: &[String]) -> bool {
    let mut words = behind
        .iter()
        .skip_while(|word| *word == "," || *word == "(");
    let besides = words
        .next()
        .is_some_and(|word| BESIDES.contains(&word.as_str()));
    besides
        && words
            .take(AS_FAR_AS)
            .any(|word| NULS.contains(&word.as_str()))
}

/// The rooms that a sentence says without an alternative or a condition: of `n bytes, or 3 * n bytes if all is escaped` neither holds always.
fn unconditional(
    sentence: &[String],
    said: Vec<(Range<usize>, Room)>,
) -> Vec<(Range<usize>, Room)> {
    let is = |word: &String, all: &[&str]| all.contains(&word.to_lowercase().as_str());
    let between = |pair: &[(Range<usize>, Room)]| {
        let words = &sentence[pair[0].0.end..pair[1].0.start];
        words.iter().any(|word| is(word, &["or"]))
    };
    let conditional = |(place, _): &(Range<usize>, Room)| {
        let mut behind = sentence[place.end..].iter().skip(1).take(2);
        behind.any(|word| is(word, &["if", "when", "unless"]))
    };
    match said.windows(2).any(between) || said.iter().any(conditional) {
        true => Vec::new(),
        false => said,
    }
}

/// Whether a word counts bytes, or elements; none if it counts nothing.
fn unit(word: &str) -> Option<bool> {
    let word = word.to_lowercase();
    let bytes = BYTES.contains(&word.as_str());
    (bytes || ELEMENTS.contains(&word.as_str())).then_some(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn said(comment: &str, numbers: &[&str]) -> Vec<(String, bool)> {
        let all = sentences(comment);
        let names = Names {
            numbers,
            functions: &["bound", "room_size"],
        };
        let rooms = all.iter().flat_map(|sentence| rooms(sentence, names));
        rooms
            .map(|(_, room)| (room.words.concat(), room.bytes))
            .collect()
    }

    #[test]
    fn expressions_say_how_large_memory_is() {
        let cases: &[(&str, &[&str], &str)] = &[
            (
                "Packs one bit for each; (n + 7) / 8 bytes are written to out.",
                &["n"],
                "(n+7)/8",
            ),
            (
                "Mirrors an image of width * height bytes.",
                &["width", "height"],
                "width*height",
            ),
            (
                "out must have room for HEX_ENCODED_SIZE(len) bytes",
                &["len"],
                "HEX_ENCODED_SIZE(len)",
            ),
            (
                "@param out room for 4 * ((len + 2) / 3) + 1 output bytes (with the NUL)",
                &["len"],
                "4*((len+2)/3)+1",
            ),
            ("out must have room for len bytes", &["len"], "len"),
            ("`out` must be at least len bytes long", &["len"], "len"),
            ("key must be 32 bytes", &["len"], "32"),
            (
                "room for at least room_size(len) + 1 bytes",
                &["len"],
                "room_size(len)+1",
            ),
            ("needs bound(len) bytes", &["len"], "bound(len)"),
            ("has room for len bytes and a NUL", &["len"], "len+1"),
        ];
        for (comment, numbers, expression) in cases {
            assert_eq!(
                said(comment, numbers),
                [((*expression).to_owned(), true)],
                "{comment}"
            );
        }
        assert_eq!(
            said("Writes 2 * len hex digits and a NUL to out", &["len"]),
            [("2*len+1".to_owned(), false)]
        );
        assert_eq!(
            said("reads 3 * n floats", &["n"]),
            [("3*n".to_owned(), false)]
        );
    }

    #[test]
    fn a_sentence_is_about_what_it_names_next_to_the_expression() {
        let about = |comment: &str| -> Vec<String> {
            let sentence = sentences(comment).remove(0);
            let is_pointer = |word: &String| ["src", "dst"].contains(&word.as_str());
            let names = Names {
                numbers: &["w", "h", "x"],
                functions: &[],
            };
            let found = rooms(&sentence, names);
            let places: Vec<Range<usize>> = found.into_iter().map(|(place, _)| place).collect();
            let names = meant(&sentence, &places, is_pointer);
            names.into_iter().map(|names| names.join(" ")).collect()
        };
        assert_eq!(about("Scales src (so w * h bytes) to dst"), ["src"]);
        assert_eq!(about("w * h bytes are copied from src to dst"), ["src dst"]);
        assert_eq!(about("src and dst have w * h bytes each"), ["dst src"]);
        assert_eq!(about("an image of w * h bytes"), [""]);
        assert_eq!(
            about("copies x * x bytes to dst, which has room for w * h bytes"),
            ["", "dst"]
        );
        assert_eq!(
            about("src has x * x bytes, dst w * h bytes"),
            ["src", "dst"]
        );
    }

    #[test]
    fn other_words_say_nothing() {
        for comment in [
            "writes len bytes to out",
            "returns 2 * 4 bytes",
            "width and/or height in pixels",
            "the size - see n / m bytes",
            "f(n) bytes",
            "4 * (n - 1) bytes",
            "len / n bytes",
            "n - 2 * len bytes",
            "n * bytes",
            "room for other_size(len) + 1 bytes",
            "at least len bytes are written",
            "writes 16 bytes",
        ] {
            assert_eq!(
                said(comment, &["len", "n", "width", "height"]),
                [],
                "{comment}"
            );
        }
    }
}
