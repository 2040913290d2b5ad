//! Formats sequences of values as short Rust expressions.
//!
//! Inputs that break C code are often long and regular: one byte 513 times, or a record repeated
//! many times. Runs and periods are detected greedily from the left, and the values between them
//! are written individually.

/// Runs shorter than this are written individually.
const RUN: usize = 8;
/// The maximum length of a period.
const PERIOD: usize = 16;
/// A byte string continues on a new line after this many characters of source.
const LINE: usize = 80;

/// A part of a sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part<'a, T> {
    /// Values that are written individually.
    Plain(&'a [T]),
    /// Values that repeat a number of times.
    Again(&'a [T], usize),
}

/// An expression for bytes, of a type that implements `AsRef<[u8]>`.
pub(super) fn bytes(row: &[u8]) -> String {
    join(row, byte_string, |unit, times| match unit {
        [byte] => format!("repeat({}, {times})", byte_literal(*byte)),
        _ => format!("{}.repeat({times})", byte_string(unit)),
    })
}

/// An expression for numbers or Booleans. The first value of a list gets `suffix`.
pub(super) fn values(row: &[String], suffix: &str) -> String {
    let suffixed = |list: &[String]| {
        let mut list = list.to_vec();
        if let Some(first) = list.first_mut() {
            *first += suffix;
        }
        list.join(", ")
    };
    join(
        row,
        |plain| format!("[{}]", suffixed(plain)),
        |unit, times| match unit {
            [_] => format!("repeat({}, {times})", suffixed(unit)),
            _ => format!("[{}].repeat({times})", suffixed(unit)),
        },
    )
}

fn join<T: PartialEq>(
    row: &[T],
    plain: impl Fn(&[T]) -> String,
    again: impl Fn(&[T], usize) -> String,
) -> String {
    let parts: Vec<String> = split(row)
        .into_iter()
        .map(|part| match part {
            Part::Plain(values) => plain(values),
            Part::Again(unit, times) => again(unit, times),
        })
        .collect();
    match parts.split_first() {
        None => plain(&[]),
        Some((first, rest)) => rest
            .iter()
            .fold(first.clone(), |text, part| format!("{text}.then({part})")),
    }
}

fn split<T: PartialEq>(row: &[T]) -> Vec<Part<'_, T>> {
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    while at < row.len() {
        match period(&row[at..]) {
            Some((size, times)) => {
                if start < at {
                    parts.push(Part::Plain(&row[start..at]));
                }
                parts.push(Part::Again(&row[at..at + size], times));
                at += size * times;
                start = at;
            }
            None => at += 1,
        }
    }
    if start < row.len() {
        parts.push(Part::Plain(&row[start..]));
    }
    parts
}

/// The period with which a sequence begins, if it shortens the text: its length, and the number of
/// its repetitions.
fn period<T: PartialEq>(row: &[T]) -> Option<(usize, usize)> {
    (1..=PERIOD.min(row.len() / 2)).find_map(|size| {
        let same = row[size..]
            .iter()
            .zip(row)
            .take_while(|(a, b)| a == b)
            .count();
        let times = same / size + 1;
        let enough = if size == 1 {
            times >= RUN
        } else {
            times >= 4 && times * size >= 2 * RUN
        };
        enough.then_some((size, times))
    })
}

fn byte_literal(byte: u8) -> String {
    match byte {
        0 => "0".to_owned(),
        b'\'' => "b'\\''".to_owned(),
        b'"' => "b'\"'".to_owned(),
        0x20..=0x7e | b'\n' | b'\t' | b'\r' => format!("b'{}'", escaped(byte)),
        _ => format!("{byte:#04x}"),
    }
}

fn escaped(byte: u8) -> String {
    match byte {
        b'\n' => "\\n".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\\' => "\\\\".to_owned(),
        b'"' => "\\\"".to_owned(),
        0 => "\\0".to_owned(),
        0x20..=0x7e => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    }
}

pub(super) fn byte_string(row: &[u8]) -> String {
    let (mut text, mut width) = ("b\"".to_owned(), 2);
    for &byte in row {
        let mut piece = escaped(byte);
        if width + piece.len() > LINE {
            // The compiler skips white space at the start of a continued line.
            text += "\\\n              ";
            width = 0;
            if byte == b' ' {
                piece = "\\x20".to_owned();
            }
        }
        width += piece.len();
        text += &piece;
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_periods_are_named() {
        assert_eq!(bytes(b""), r#"b"""#);
        assert_eq!(bytes(b"a\"\n\xff"), r#"b"a\"\n\xff""#);
        assert_eq!(bytes(&[b'a'; 513]), "repeat(b'a', 513)");
        assert_eq!(
            bytes(&[b"GET ".as_slice(), &[b'a'; 17], b"\n"].concat()),
            r#"b"GET ".then(repeat(b'a', 17)).then(b"\n")"#
        );
        assert_eq!(bytes(&b"xy".repeat(20)), r#"b"xy".repeat(20)"#);
        assert_eq!(bytes(&[0; 20]), "repeat(0, 20)");
        assert_eq!(bytes(&[0xaa; 20]), "repeat(0xaa, 20)");
    }

    #[test]
    fn numbers_too() {
        let row: Vec<String> = [3, 1, 1, 1, 1, 1, 1, 1, 1, 1]
            .iter()
            .map(i32::to_string)
            .collect();
        assert_eq!(values(&row, ""), "[3].then(repeat(1, 9))");
        assert_eq!(values(&row[..2], "u8"), "[3u8, 1]");
    }

    #[test]
    fn long_rows_are_broken_without_losing_space() {
        let row: Vec<u8> = (0..300u32)
            .map(|i| {
                if i % 7 == 0 {
                    b' '
                } else {
                    b'a' + ((i * i) % 23) as u8
                }
            })
            .collect();
        let text = bytes(&row);
        assert!(
            text.lines().count() > 2 && text.lines().all(|line| line.len() < 110),
            "{text}"
        );
        assert!(
            !text.contains("               "),
            "a continued line starts with a space: {text}"
        );
    }
}
