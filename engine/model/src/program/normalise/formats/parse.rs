//! Splits formats into parts. This parser follows the interpreters of the library
//! (`engine_format.c`, `scan.c`); formats with unsupported parts are rejected.

/// The largest width or precision. Formats with larger ones are left to the interpreter.
const WIDEST: i64 = 4096;

/// An argument that a conversion of `printf` takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Argument {
    /// An `int`.
    Int,
    /// An integer of 64 bits.
    Long,
    /// A pointer.
    Pointer,
    /// A `double`.
    Double,
}

/// How a number or a text is converted: `struct spec` of `engine_format.c`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Spec {
    /// The flags `-`, `+`, space, `#`, `0` and `'`.
    pub(super) flags: [bool; 6],
    /// The minimum number of characters.
    pub(super) width: i32,
    /// -1 if there is none.
    pub(super) precision: i32,
    /// The length modifier, numbered as in `engine_format.c`.
    pub(super) length: i32,
    /// The conversion's character.
    pub(super) conversion: u8,
    /// Whether an argument gives the precision.
    pub(super) star: bool,
}

/// The value of [`Spec::length`] for `int`.
const INT: i32 = 2;
/// The value of [`Spec::length`] for `long double`.
const LONG_DOUBLE: i32 = 8;

/// A part of a format of `printf`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Printed {
    /// Characters that stand for themselves.
    Text(Vec<u8>),
    /// A conversion.
    Conversion(Spec),
}

impl Printed {
    /// The arguments that the part takes.
    pub(super) fn wants(&self) -> Vec<Argument> {
        let Printed::Conversion(spec) = self else {
            return Vec::new();
        };
        let mut all: Vec<Argument> = spec.star.then_some(Argument::Int).into_iter().collect();
        all.push(match spec.conversion {
            b's' | b'p' => Argument::Pointer,
            b'c' => Argument::Int,
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' if spec.length <= INT => Argument::Int,
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => Argument::Long,
            _ => Argument::Double,
        });
        all
    }
}

/// The number at the start of a text, and the rest of the text. `None` if it is above [`WIDEST`].
fn number(text: &[u8]) -> Option<(i64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut value = 0i64;
    for digit in &text[..digits] {
        value = value * 10 + i64::from(digit - b'0');
        if value > WIDEST {
            return None;
        }
    }
    Some((value, &text[digits..]))
}

/// The length modifier of `printf` at the start of a text, and the rest.
fn length(text: &[u8]) -> (i32, &[u8]) {
    match text {
        [b'h', b'h', rest @ ..] => (0, rest),
        [b'h', rest @ ..] => (1, rest),
        [b'l', b'l', rest @ ..] | [b'q', rest @ ..] => (4, rest),
        [b'l', rest @ ..] => (3, rest),
        [b'j', rest @ ..] => (5, rest),
        [b'z' | b'Z', rest @ ..] => (6, rest),
        [b't', rest @ ..] => (7, rest),
        [b'L', rest @ ..] => (LONG_DOUBLE, rest),
        _ => (INT, text),
    }
}

/// Splits a format of `printf` into parts.
pub(super) fn printed(mut text: &[u8]) -> Option<Vec<Printed>> {
    let mut parts: Vec<Printed> = Vec::new();
    while let [first, rest @ ..] = text {
        let character = match (first, rest) {
            (b'%', [b'%', rest @ ..]) => (b'%', rest),
            (b'%', _) => {
                let (spec, rest) = conversion(rest)?;
                parts.push(Printed::Conversion(spec));
                text = rest;
                continue;
            }
            _ => (*first, rest),
        };
        match parts.last_mut() {
            Some(Printed::Text(before)) => before.push(character.0),
            _ => parts.push(Printed::Text(vec![character.0])),
        }
        text = character.1;
    }
    Some(parts)
}

/// Parses a conversion of `printf` after its `%`; returns it and the rest.
fn conversion(mut text: &[u8]) -> Option<(Spec, &[u8])> {
    let mut flags = [false; 6];
    while let Some(flag) = text
        .first()
        .and_then(|byte| b"-+ #0'".iter().position(|f| f == byte))
    {
        flags[flag] = true;
        text = &text[1..];
    }
    let (width, mut text) = number(text)?;
    let (mut precision, mut star) = (-1, false);
    if let [b'.', rest @ ..] = text {
        text = match rest {
            [b'*', rest @ ..] => {
                star = true;
                rest
            }
            _ => {
                let (given, rest) = number(rest)?;
                precision = given as i32;
                rest
            }
        };
    }
    let (length, text) = length(text);
    let (&conversion, rest) = text.split_first()?;
    let is_known = match conversion {
        b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => length != LONG_DOUBLE,
        b'c' | b's' | b'p' => length == INT,
        b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => length != LONG_DOUBLE,
        _ => false,
    };
    let spec = Spec {
        flags,
        width: width as i32,
        precision,
        length,
        conversion,
        star,
    };
    is_known.then_some((spec, rest))
}

/// A part of a format of `scanf`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Scanned {
    /// Any number of white-space characters, or none.
    Blank,
    /// A character that has to follow in the input.
    Character(u8),
    /// A conversion.
    Conversion(Scan),
}

/// How input is converted: `struct crunner_conversion` of `scan.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Scan {
    /// The maximum number of characters; 0: any number.
    pub(super) width: i64,
    /// The length modifier, numbered as in `scan.c`.
    pub(super) size: i32,
    /// Whether nothing is stored (`*`).
    pub(super) suppress: bool,
    /// Whether the function allocates the memory for the result (`m`).
    pub(super) allocate: bool,
    /// The conversion's character.
    pub(super) conversion: u8,
    /// The characters of `%[...]`, one bit for each.
    pub(super) set: [u8; 32],
}

impl Scanned {
    /// Whether the part takes an argument.
    pub(super) fn stores(&self) -> bool {
        matches!(self, Scanned::Conversion(scan) if !scan.suppress)
    }
}

/// Splits a format of `scanf` into parts.
pub(super) fn scanned(mut text: &[u8]) -> Option<Vec<Scanned>> {
    let mut parts = Vec::new();
    while let [first, rest @ ..] = text {
        text = match (first, rest) {
            (b' ' | b'\t'..=b'\r', _) => {
                parts.push(Scanned::Blank);
                rest
            }
            (b'%', [b'%', rest @ ..]) => {
                parts.extend([Scanned::Blank, Scanned::Character(b'%')]);
                rest
            }
            (b'%', _) => {
                let (scan, rest) = scanned_conversion(rest)?;
                parts.push(Scanned::Conversion(scan));
                rest
            }
            _ => {
                parts.push(Scanned::Character(*first));
                rest
            }
        };
    }
    Some(parts)
}

/// Parses a conversion of `scanf` after its `%`; returns it and the rest.
fn scanned_conversion(text: &[u8]) -> Option<(Scan, &[u8])> {
    let strip = |text: &mut &[u8], byte: u8| {
        let is_there = text.first() == Some(&byte);
        *text = &text[usize::from(is_there)..];
        is_there
    };
    let mut text = text;
    let suppress = strip(&mut text, b'*');
    let (width, mut text) = number(text)?;
    let allocate = strip(&mut text, b'm');
    let mut size = INT;
    loop {
        size = match text.first()? {
            b'h' if size == 1 => 0,
            b'h' => 1,
            b'l' | b'j' | b'z' | b't' | b'q' => 3,
            b'L' => 4,
            _ => break,
        };
        text = &text[1..];
    }
    let (&conversion, mut rest) = text.split_first()?;
    let mut set = [0; 32];
    let is_known = match conversion {
        b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'p' | b'n' => size != 4 && !allocate,
        b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => !allocate,
        b'c' | b's' => size == INT,
        b'[' => {
            (set, rest) = characters(rest)?;
            size == INT
        }
        _ => false,
    };
    let scan = Scan {
        width,
        size,
        suppress,
        allocate,
        conversion,
        set,
    };
    is_known.then_some((scan, rest))
}

/// Parses the set of `%[...]` after the bracket, as `read_set` of `scan.c` does; returns it with
/// one bit for each character, and the rest.
fn characters(text: &[u8]) -> Option<([u8; 32], &[u8])> {
    let mut set = [0u8; 32];
    let mut include = |byte: u8| set[usize::from(byte / 8)] |= 1 << (byte % 8);
    let mut at = usize::from(text.first() == Some(&b'^'));
    let invert = at == 1;
    if let Some(&first) = text.get(at)
        && matches!(first, b']' | b'-')
    {
        include(first);
        at += 1;
    }
    loop {
        let byte = *text.get(at)?;
        if byte == b']' {
            break;
        }
        let before = at.checked_sub(1).map_or(b'[', |before| text[before]);
        let behind = text.get(at + 1).copied().unwrap_or(0);
        if byte == b'-' && behind != 0 && behind != b']' && before <= behind {
            (before..behind).for_each(&mut include);
        } else {
            include(byte);
        }
        at += 1;
    }
    if invert {
        set.iter_mut().for_each(|byte| *byte ^= 0xff);
    }
    Some((set, &text[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printf_has_texts_and_conversions() {
        let parts = printed(b"a%%b %-08.3lx|%.*s").unwrap_or_default();
        assert_eq!(parts[0], Printed::Text(b"a%b ".to_vec()));
        let Printed::Conversion(number) = parts[1] else {
            panic!("{parts:?}");
        };
        assert_eq!((number.width, number.precision, number.length), (8, 3, 3));
        assert_eq!(number.flags, [true, false, false, false, true, false]);
        assert_eq!(parts[1].wants(), [Argument::Long]);
        assert_eq!(parts[3].wants(), [Argument::Int, Argument::Pointer]);
        for unknown in [
            &b"%*d"[..],
            b"%n",
            b"%ls",
            b"%Lf",
            b"%1$d",
            b"%",
            b"%99999d",
            b"%m",
        ] {
            assert_eq!(
                printed(unknown),
                None,
                "{}",
                String::from_utf8_lossy(unknown)
            );
        }
    }

    #[test]
    fn scanf_has_blanks_characters_and_conversions() {
        let parts = scanned(b"%2hhx, %*[^a-c]]").unwrap_or_default();
        assert_eq!(parts.len(), 5);
        assert_eq!(parts[1..3], [Scanned::Character(b','), Scanned::Blank]);
        let Scanned::Conversion(Scan {
            width: 2, size: 0, ..
        }) = parts[0]
        else {
            panic!("{parts:?}");
        };
        let Scanned::Conversion(Scan {
            set,
            suppress: true,
            ..
        }) = parts[3]
        else {
            panic!("{parts:?}");
        };
        let has = |byte: u8| set[usize::from(byte / 8)] >> (byte % 8) & 1 == 1;
        assert!(!has(b'a') && !has(b'c') && has(b'd') && has(b'-'));
        assert_eq!(parts[4], Scanned::Character(b']'));
        assert_eq!(scanned(b"%[abc"), None);
        assert_eq!(scanned(b"%ls"), None);
    }
}
