//! Refusals of the system and short reads as calls of `Mock`.

use cegar_harness::channel::{self, Piece};
use cegar_harness::errno;

use super::literal;

/// With more successful calls than this before the last refusal, the raw bytes are written instead
/// of a call for each.
const WELL: usize = 4;

/// The calls for an input stream; `first` formats the call for its first characters.
pub(super) fn stream(stream: &str, first: impl Fn(&str) -> String, bytes: &[u8]) -> Vec<String> {
    let pieces = channel::pieces(bytes);
    let mut calls = Vec::new();
    let mut pieces = pieces.iter().peekable();
    // The test always mentions the stream, even if nothing was read from it.
    if !matches!(pieces.peek(), Some(Piece::Text(_))) {
        calls.push(first("b\"\""));
    }
    while let Some(piece) = pieces.next() {
        let next = match piece {
            Piece::Text(text) => {
                let text = literal::bytes(text);
                if pieces.next_if_eq(&&Piece::Short).is_some() {
                    if calls.is_empty() {
                        calls.push(first("b\"\""));
                    }
                    format!("short_read({stream:?}, {text})")
                } else if calls.is_empty() {
                    first(&text)
                } else {
                    format!("then_reads({stream:?}, {text})")
                }
            }
            Piece::Fails(error) => format!("read_fails({stream:?}, {})", named(*error)),
            Piece::Short | Piece::End => format!("short_read({stream:?}, b\"\")"),
        };
        calls.push(next);
    }
    calls
}

/// The calls for the outcomes of a library function; empty if all calls succeeded. `None` if the
/// channel cannot be expressed as calls.
pub(super) fn refusals(name: &str, events: &[&[u8]]) -> Option<Vec<String>> {
    let last = events
        .iter()
        .rposition(|event| event.iter().any(|byte| *byte != 0));
    let Some(last) = last else {
        return Some(Vec::new());
    };
    let mut calls = Vec::new();
    let mut well = 0;
    let mut events = events[..=last].iter().peekable();
    while let Some(event) = events.next() {
        let &&[byte] = event else { return None };
        if byte < channel::REFUSED {
            well += 1;
            calls.push(format!("succeeds({name:?})"));
        } else if byte == channel::REFUSED {
            let count = events.next_if(|next| next.len() == 4)?;
            let count = u32::from_le_bytes((*count).try_into().ok()?);
            // The stub reduces the count modulo the requested size, which only the call knows, so a
            // large count cannot be expressed.
            if count > 1 << 16 {
                return None;
            }
            calls.push(format!("short_write({name:?}, {})", count + 1));
        } else {
            calls.push(format!(
                "fails({name:?}, {})",
                named(byte & !channel::REFUSED)
            ));
        }
    }
    (well <= WELL).then_some(calls)
}

/// An error number in the notation of a test.
fn named(error: u8) -> String {
    let known = errno::ALL.iter().find(|(_, number)| *number == error);
    known.map_or_else(|| error.to_string(), |(name, _)| format!("errno::{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_said_in_words() {
        let calls = stream(
            "stdin",
            |text| format!("stdin({text})"),
            b"ab\xff\x02c\xff\x01\x04d",
        );
        let expected = [
            r#"stdin(b"")"#,
            r#"short_read("stdin", b"ab")"#,
            r#"then_reads("stdin", b"c")"#,
            r#"read_fails("stdin", errno::EINTR)"#,
            r#"then_reads("stdin", b"d")"#,
        ];
        assert_eq!(calls, expected);
        let plain = stream("stdin", |text| format!("stdin({text})"), b"ab");
        assert_eq!(plain, [r#"stdin(b"ab")"#]);
    }

    #[test]
    fn refusals_are_said_in_words() {
        let events: [&[u8]; 5] = [&[0], &[0x9c], &[0x80], &[1, 0, 0, 0], &[0]];
        let expected = [
            r#"succeeds("write")"#,
            r#"fails("write", errno::ENOSPC)"#,
            r#"short_write("write", 2)"#,
        ];
        assert_eq!(
            refusals("write", &events),
            Some(expected.map(str::to_owned).into())
        );
        assert_eq!(refusals("write", &[&[0], &[0]]), Some(Vec::new()));
    }
}
