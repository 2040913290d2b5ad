//! Extracts buffer sizes from sentences: the size expressions with their units, and the pointers
//! that they describe.
//!
//! A single name is a size only after certain words (`room for len bytes`); elsewhere it is an
//! amount of work (`len bytes are written`). A terminating byte is added to the size if the
//! sentence mentions it (`and a NUL`).

use std::ops::Range;

use super::expression::{Names, expression, is_given, is_total, sum};
use super::prose::{ends_with, lower};
use crate::init::api::Declared;

/// Words after an expression that counts bytes.
const BYTES: &[&str] = &["byte", "bytes", "octet", "octets"];
/// Words after an expression that counts elements.
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
/// Words that may stand between an expression and its unit.
const BETWEEN: &[&str] = &[
    "unsigned", "signed", "input", "output", "more", "raw", "hex", "decimal", "ascii",
];
/// Phrases before a single name or number that mark it as the size of a buffer, rather than an
/// amount of work.
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
    "has",
    "have",
];
/// Words for the byte that terminates a string.
const NULS: &[&str] = &["nul", "null", "terminator", "terminating", "0"];
/// Words after the unit that exclude the terminating byte from the count.
const BESIDES: &[&str] = &["and", "plus", "without", "excluding", "followed"];
/// The maximum number of words between such a word and the terminating byte.
const AS_FAR_AS: usize = 4;

/// The size of a buffer according to a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DocumentedSize {
    /// The words of the expression, without blanks. Names are those of parameters and macros.
    pub(super) words: Vec<String>,
    /// Whether it counts bytes, rather than elements.
    pub(super) bytes: bool,
}

impl DocumentedSize {
    /// The indices of the parameters that the expression contains.
    pub(super) fn numbers(&self, function: &Declared) -> Vec<usize> {
        let params = function.params.iter().enumerate();
        let named = params.filter(|(_, param)| self.words.contains(&param.name));
        named.map(|(i, _)| i).collect()
    }

    /// The expression in C with arguments substituted for parameters.
    pub(super) fn with(&self, function: &Declared, arguments: &[Option<String>]) -> Option<String> {
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

/// For each size expression of a sentence, the pointers that it describes: those named last between
/// the previous expression and this one, joined by `and` or commas only. If there are none, all
/// pointers named after it that no other expression describes.
pub(super) fn meant<'s>(
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

/// The expressions of a sentence that state a size, with their positions. Of two that overlap, the
/// longer one is taken.
pub(super) fn sizes_in(
    sentence: &[String],
    names: Names<'_>,
) -> Vec<(Range<usize>, DocumentedSize)> {
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
                if is_total(&words) {
                    if has_nul(behind) {
                        words.extend(["+", "1"].map(str::to_owned));
                    }
                    found.push((at..end, DocumentedSize { words, bytes }));
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

/// The end of a single name or number that states the size of a buffer: `out must have room for len
/// bytes`.
fn alone(lower: &[String], sentence: &[String], at: usize, names: Names<'_>) -> Option<usize> {
    let before = &lower[..at];
    let before = match ends_with(before, "at least") {
        true => &before[..before.len() - 2],
        false => before,
    };
    let is_number = sentence[at].parse::<u64>().is_ok_and(|number| number > 0);
    let end = sum(sentence, at, names).or(is_number.then_some(at + 1))?;
    let mut holds = HOLDS.iter();
    (end == at + 1 && holds.any(|phrase| ends_with(before, phrase))).then_some(end)
}

/// Whether the word after an expression counts bytes (`true`) or elements (`false`), with the words
/// after it. `None` if it is not a unit.
fn counted(lower: &[String], end: usize) -> Option<(bool, &[String])> {
    let behind = &lower[end..];
    let at = behind
        .iter()
        .position(|word| !BETWEEN.contains(&word.as_str()))?;
    Some((unit(&behind[at])?, &behind[at + 1..]))
}

/// Whether a terminating byte is added to the counted text: `and a NUL`.
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

/// The sizes that a sentence states unconditionally. None if it states alternatives or a condition:
/// in `n bytes, or 3 * n bytes if all is escaped` neither size always holds.
pub(super) fn unconditional(
    sentence: &[String],
    said: Vec<(Range<usize>, DocumentedSize)>,
) -> Vec<(Range<usize>, DocumentedSize)> {
    let is = |word: &String, all: &[&str]| all.contains(&word.to_lowercase().as_str());
    let between = |pair: &[(Range<usize>, DocumentedSize)]| {
        let words = &sentence[pair[0].0.end..pair[1].0.start];
        words.iter().any(|word| is(word, &["or"]))
    };
    let conditional = |(place, _): &(Range<usize>, DocumentedSize)| {
        let mut behind = sentence[place.end..].iter().skip(1).take(2);
        behind.any(|word| is(word, &["if", "when", "unless"]))
    };
    match said.windows(2).any(between) || said.iter().any(conditional) {
        true => Vec::new(),
        false => said,
    }
}

/// The number of elements of an array whose index range a comment gives: `T[0..n-1]`, `SA[0..n]`.
pub(super) fn indexed(comment: &str, array: &str, numbers: &[&str]) -> Option<DocumentedSize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let starts = comment.match_indices(array).filter_map(|(at, _)| {
        let is_whole = !comment[..at].ends_with(is_word);
        let behind = comment[at + array.len()..].strip_prefix("[0..")?;
        is_whole.then(|| behind.trim_start_matches('.'))
    });
    let mut ranges = starts.filter_map(|behind| {
        let (last, _) = behind.split_once(']')?;
        let last: String = last.chars().filter(|c| !c.is_whitespace()).collect();
        let (number, is_past) = match last.strip_suffix("-1") {
            Some(number) => (number.to_owned(), true),
            None => (last, false),
        };
        if !numbers.contains(&number.as_str()) {
            return None;
        }
        let mut words = vec![number];
        if !is_past {
            words.extend(["+", "1"].map(str::to_owned));
        }
        Some(DocumentedSize {
            words,
            bytes: false,
        })
    });
    ranges.next()
}

/// Whether a word is a unit of bytes (`true`) or of elements (`false`). `None` if it is not a unit.
pub(super) fn unit(word: &str) -> Option<bool> {
    let word = word.to_lowercase();
    let bytes = BYTES.contains(&word.as_str());
    (bytes || ELEMENTS.contains(&word.as_str())).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::prose::sentences;
    use super::*;

    fn said(comment: &str, numbers: &[&str]) -> Vec<(String, bool)> {
        let all = sentences(comment);
        let names = Names {
            numbers,
            functions: &["bound", "room_size"],
            constants: &[],
        };
        let rooms = all.iter().flat_map(|sentence| sizes_in(sentence, names));
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
    fn ranges_of_indices_say_it_too() {
        let said = |comment: &str| indexed(comment, "T", &["n"]).map(|room| room.words.concat());
        assert_eq!(
            said("@param T[0..n-1] The input string."),
            Some("n".to_owned())
        );
        assert_eq!(said("T[0..n] is written"), Some("n+1".to_owned()));
        for comment in ["ST[0..n-1]", "T[0..m-1]", "T[i]", "T[0..", "T"] {
            assert_eq!(said(comment), None, "{comment}");
        }
    }

    #[test]
    fn a_sentence_is_about_what_it_names_next_to_the_expression() {
        let about = |comment: &str| -> Vec<String> {
            let sentence = sentences(comment).remove(0);
            let is_pointer = |word: &String| ["src", "dst"].contains(&word.as_str());
            let names = Names {
                numbers: &["w", "h", "x"],
                functions: &[],
                constants: &[],
            };
            let found = sizes_in(&sentence, names);
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
