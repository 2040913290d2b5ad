//! Documented ranges of array elements and documented spare room.
//!
//! "The entries of the array have to be in the range 0x0000 to 0x10FFFF", "the space must exceed
//! the amount of the input data by one byte": an array with arbitrary elements, or without room
//! beyond its length, would blame the library for a violation of a documented precondition.

use super::prose::{has_phrase, lower, sentences};
use super::sized::in_bytes;
use super::{Body, DECLARED};
use crate::init::api::{Declared, Parameter};
use crate::init::ctype::Kind;

/// Words for the elements of an array.
const ELEMENTS: &[&str] = &[
    "entries",
    "elements",
    "values",
    "codepoints",
    "code points",
    "items",
    "numbers",
    "samples",
];
/// Phrases that make the sentence a duty of the caller.
const KEPT: &[&str] = &[
    "must",
    "have to",
    "has to",
    "shall",
    "should be",
    "need to",
    "are in",
    "lie in",
];
/// Words for the size of a buffer.
const ROOM: &[&str] = &["space", "room", "size", "capacity"];
/// Number words; the value is the index plus one.
const COUNTS: &[&str] = &["one", "two", "three", "four"];

/// The range of elements that a comment requires of callers, both ends included.
fn range(comment: &str) -> Option<(u64, u64)> {
    sentences(comment).iter().find_map(|sentence| {
        let is_kept = has_phrase(sentence, ELEMENTS) && has_phrase(sentence, KEPT);
        let lower = lower(sentence);
        let number = |word: &String| match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        };
        let ends = lower.windows(4).find_map(|words| {
            let is_range = ["range", "between", "from", "["].contains(&words[0].as_str());
            let is_to = ["to", "and", ","].contains(&words[2].as_str());
            let (low, high) = (number(&words[1])?, number(&words[3])?);
            (is_range && is_to && low < high).then_some((low, high))
        });
        ends.filter(|_| is_kept)
    })
}

/// How many bytes larger than its contents an array must be according to a comment.
fn more(comment: &str) -> Option<u64> {
    sentences(comment).iter().find_map(|sentence| {
        let words = lower(sentence);
        let by = words.windows(3).find_map(|words| {
            let is_bytes = ["byte", "bytes"].contains(&words[2].as_str());
            let in_words = COUNTS.iter().position(|count| *count == words[1]);
            let count = words[1].parse().ok();
            let count = count.or(in_words.map(|at| at as u64 + 1))?;
            (words[0] == "by" && is_bytes).then_some(count)
        });
        let is_room = has_phrase(sentence, ROOM) && has_phrase(sentence, KEPT);
        by.filter(|_| is_room && has_phrase(sentence, &["exceed"]))
    })
}

impl Body<'_> {
    /// The lines that map the elements of an integer array to the documented range, and add the
    /// documented spare room.
    pub(super) fn as_said(
        &self,
        function: &Declared,
        param: &Parameter,
        (name, count): (&str, &str),
        (kind, size): (&str, u8),
    ) -> Vec<String> {
        let is_array = |one: &&Parameter| self.api.pointee(&one.ty).is_some();
        let is_only = function.params.iter().filter(is_array).count() == 1;
        let is_named = sentences(&function.comment)
            .iter()
            .any(|sentence| sentence.contains(&param.name) && has_phrase(sentence, ELEMENTS));
        // Most floating-point numbers are not integers, so a modulus cannot be used for them.
        let to = self.api.pointee(&param.ty);
        let is_whole = to.is_some_and(|to| matches!(self.api.resolve(&to).kind, Kind::Int { .. }));
        let mut lines = Vec::new();
        if !is_whole || !is_only && !is_named {
            return lines;
        }
        if let Some(more) = more(&function.comment) {
            let bytes = in_bytes(count, (kind, size));
            lines.push(format!(
                "{name} = realloc({name}, {bytes} + {more}); {DECLARED}"
            ));
        }
        // A range of all 64-bit numbers restricts nothing.
        let limits = range(&function.comment).and_then(|(low, high)| {
            let many = (high - low).checked_add(1)?;
            Some((low, many))
        });
        if let Some((low, many)) = limits {
            let from = match low {
                0 => String::new(),
                low => format!("{low} + "),
            };
            lines.push(format!(
                "for (size_t i = 0; i < {count}; i++) {DECLARED}\n        {name}[i] = \
                 ({kind})({from}(unsigned long long){name}[i] % {many});"
            ));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_room_are_read() {
        let both = "@warning The amount of free space pointed to by `buffer` must exceed the \
            amount of the input data by one byte, and the entries of the array pointed to by `str` \
            have to be in the range `0x0000` to `0x10FFFF`.";
        assert_eq!(range(both), Some((0, 0x10_ffff)));
        assert_eq!(more(both), Some(1));
        assert_eq!(
            range("All samples must lie between 0 and 4095."),
            Some((0, 4095))
        );
        for other in [
            "Returns values in the range 0 to 9.",
            "The entries are sorted.",
            "n must be in the range 1 to 5.",
        ] {
            assert_eq!(range(other), None, "{other}");
            assert_eq!(more(other), None, "{other}");
        }
    }
}
