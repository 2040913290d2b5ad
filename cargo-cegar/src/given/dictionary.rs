//! Dictionaries in the format of libFuzzer and AFL++: one word per line, as `name="..."`,
//! `name@level="..."` or `"..."`, with the escapes `\\`, `\"` and `\xNN`; `#` begins a comment.
//!
//! LibAFL's own reader does not report which line is invalid, and does not support levels.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::store;

/// The largest length of a word, as in AFL++.
const LONGEST: usize = 128;

/// The words of a file. `FILE@2` omits words whose level is above 2.
pub(super) fn read(given: &Path) -> Result<Vec<Vec<u8>>, Error> {
    let (file, most) = split(given);
    let mut text = Vec::new();
    // A device may have no end, so the length is limited.
    File::open(&file)
        .and_then(|open| open.take(store::LONGEST + 1).read_to_end(&mut text))
        .map_err(|why| Error::io("read", &file, why))?;
    if text.len() as u64 > store::LONGEST {
        return Err(Error::usage(
            format!("{} is longer than 64 MiB: no dictionary", file.display()),
            "a dictionary is a text file with a word in each line",
        ));
    }
    parse(&text, most).map_err(|(line, why)| {
        Error::usage(
            format!("{}:{line}: {why}", file.display()),
            "a line of a dictionary is name=\"word\" or \"word\", with \\\\, \\\" and \\xNN in it; \
             `#` begins a comment",
        )
    })
}

/// The path of the file, and the highest level to include.
fn split(given: &Path) -> (PathBuf, Option<u32>) {
    let text = given.to_string_lossy();
    match text.rsplit_once('@') {
        Some((file, level)) if !given.exists() => match level.parse() {
            Ok(level) => (PathBuf::from(file), Some(level)),
            Err(_) => (given.to_owned(), None),
        },
        _ => (given.to_owned(), None),
    }
}

/// The words, or the number of an invalid line and the reason.
fn parse(text: &[u8], most: Option<u32>) -> Result<Vec<Vec<u8>>, (usize, &'static str)> {
    let mut words = Vec::new();
    for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let (level, word) = entry(line).map_err(|why| (number, why))?;
        if most.is_none_or(|most| level <= most) {
            words.push(word);
        }
    }
    Ok(words)
}

fn entry(line: &[u8]) -> Result<(u32, Vec<u8>), &'static str> {
    let start = line.iter().position(|&byte| byte == b'"');
    let start = start.ok_or("there is no word in quotes")?;
    let name = line[..start].trim_ascii();
    let level = match name.strip_suffix(b"=") {
        Some(name) => level(name.trim_ascii())?,
        None if name.is_empty() => 0,
        None => return Err("there is no `=` before the word"),
    };
    let (word, rest) = word(&line[start + 1..])?;
    let rest = rest.trim_ascii();
    if !rest.is_empty() && !rest.starts_with(b"#") {
        return Err("something follows the word's closing quote");
    }
    match word.len() {
        0 => Err("the word is empty"),
        1..=LONGEST => Ok((level, word)),
        _ => Err("the word is longer than 128 bytes"),
    }
}

/// The level in `name@level`; 0 if there is none.
fn level(name: &[u8]) -> Result<u32, &'static str> {
    let Some(at) = name.iter().rposition(|&byte| byte == b'@') else {
        return Ok(0);
    };
    let level = std::str::from_utf8(&name[at + 1..]).ok();
    let level = level.and_then(|digits| digits.parse().ok());
    level.ok_or("what follows `@` is not a level")
}

/// The word up to its closing quote, and the rest of the line.
fn word(mut rest: &[u8]) -> Result<(Vec<u8>, &[u8]), &'static str> {
    let mut word = Vec::new();
    loop {
        match *rest {
            [b'"', ref after @ ..] => return Ok((word, after)),
            [b'\\', b'x', high, low, ref after @ ..] => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (Some(high), Some(low)) = (digit(high), digit(low)) else {
                    return Err("two hexadecimal digits have to follow `\\x`");
                };
                word.push((high * 16 + low) as u8);
                rest = after;
            }
            [b'\\', byte @ (b'\\' | b'"'), ref after @ ..] => {
                word.push(byte);
                rest = after;
            }
            [b'\\', ..] => return Err("only `\\\\`, `\\\"` and `\\xNN` may follow a backslash"),
            [byte, ref after @ ..] => {
                word.push(byte);
                rest = after;
            }
            [] => return Err("the word has no closing quote"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_all_kinds() {
        let text =
            b"# comment\n\nkw1=\"blah\"\r\nkw2=\"\\\"ac\\\\dc\\\"\"\n  kw3 = \"\\xF7\\xf8\" \
            # bytes\n\"foo\\x0Abar\"\nmagic@2=\"PK\"";
        let words: [&[u8]; 5] = [b"blah", b"\"ac\\dc\"", b"\xf7\xf8", b"foo\nbar", b"PK"];
        assert_eq!(
            parse(text, None),
            Ok(words.iter().map(|word| word.to_vec()).collect())
        );
        assert_eq!(parse(text, Some(1)).map(|words| words.len()), Ok(4));
    }

    #[test]
    fn a_broken_line_is_named() {
        for (text, line) in [
            ("\"a\"\nkw=abc\n", 2),
            ("#\n#\nkw=\"abc\n", 3),
            ("\"\\x4\"", 1),
            ("\"\\n\"", 1),
            ("kw \"a\"", 1),
            ("kw@high=\"a\"", 1),
            ("\"a\" b", 1),
            ("\"\"", 1),
        ] {
            let found = parse(text.as_bytes(), None);
            assert_eq!(found.map_err(|(line, _)| line), Err(line), "{text}");
        }
    }
}
