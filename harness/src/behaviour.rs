//! The behaviour of a run, as lines of text.
//!
//! A snapshot test compares these lines byte by byte, and the author of a change to the C code
//! reads them. They therefore contain nothing that differs from run to run, such as addresses, and
//! a call is printed like a C call, with its numbers in the types of the parameters.

use std::collections::BTreeMap;

use crate::external::Holds;
use crate::respond;

/// The stream that the runtime writes calls to.
const CALLS: i32 = -1;

/// The lines for what the program printed and called, in order.
pub(crate) fn lines(
    pieces: &[(i32, Vec<u8>)],
    parameters: &BTreeMap<String, Vec<Holds>>,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut printed: Option<(i32, Vec<u8>)> = None;
    for (stream, bytes) in pieces {
        match &mut printed {
            // How often a stream was flushed is not part of the behaviour, so adjacent pieces are
            // joined.
            Some((open, text)) if open == stream && *stream != CALLS => {
                text.extend_from_slice(bytes);
                continue;
            }
            _ => lines.extend(printed.take().into_iter().flat_map(prints)),
        }
        match *stream {
            CALLS => lines.push(call(&String::from_utf8_lossy(bytes), parameters)),
            stream => printed = Some((stream, bytes.clone())),
        }
    }
    lines.extend(printed.into_iter().flat_map(prints));
    lines
}

/// Splits a piece into one entry per line of text, so that a diff shows the line that differs.
fn prints((stream, bytes): (i32, Vec<u8>)) -> Vec<String> {
    let to = match stream {
        1 => "stdout".to_owned(),
        2 => "stderr".to_owned(),
        file => format!("file {file}"),
    };
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| format!("{to}: \"{}\"", line.escape_ascii()))
        .collect()
}

fn call(line: &str, parameters: &BTreeMap<String, Vec<Holds>>) -> String {
    let Some((name, words)) = respond::parse(line) else {
        return line.to_owned();
    };
    let params = parameters.get(name).map(Vec::as_slice).unwrap_or_default();
    let words: Vec<String> = words
        .iter()
        .enumerate()
        .map(|(i, word)| argument(*word, params.get(i)))
        .collect();
    format!("{name}({})", words.join(", "))
}

fn argument(word: u64, holds: Option<&Holds>) -> String {
    match holds {
        Some(Holds::Int { size, signed }) => {
            let bits = u32::from(u8::try_from(*size).unwrap_or(8)).clamp(1, 8) * 8;
            let high = 64 - bits;
            match signed {
                true => (((word << high) as i64) >> high).to_string(),
                false => ((word << high) >> high).to_string(),
            }
        }
        Some(Holds::Bool) => (word & 1 == 1).to_string(),
        // The runtime passes on the integral part only.
        Some(Holds::Float { .. }) => format!("{}.", word as i64),
        Some(Holds::Struct(_) | Holds::Bytes(_)) => "{}".to_owned(),
        // An address, or a value of unknown type, which may be an address.
        _ if word == 0 => "0".to_owned(),
        _ => "_".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_and_calls_in_their_order() {
        let piece = |stream, text: &str| (stream, text.as_bytes().to_vec());
        let pieces = [
            piece(1, "a"),
            piece(1, "b\nc\n"),
            piece(-1, "bus_read ff 0"),
            piece(2, "\x7f"),
            piece(5, "x"),
        ];
        assert_eq!(
            lines(&pieces, &BTreeMap::new()),
            [
                "stdout: \"ab\\n\"",
                "stdout: \"c\\n\"",
                "bus_read(_, 0)",
                "stderr: \"\\x7f\"",
                "file 5: \"x\""
            ]
        );
    }

    #[test]
    fn numbers_have_their_types() {
        let int = |size, signed| Holds::Int { size, signed };
        assert_eq!(argument(0xffff_ffff, Some(&int(4, true))), "-1");
        assert_eq!(argument(0xffff_ffff, Some(&int(4, false))), "4294967295");
        assert_eq!(argument(u64::MAX, Some(&int(8, true))), "-1");
        assert_eq!(argument(7, None), "_");
    }
}
