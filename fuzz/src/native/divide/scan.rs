//! A tokenizer for LLVM's assembly language, as far as dividing a module needs it.
//!
//! Tokens are the parts of the text that change when a function moves to another module: names of
//! globals and types, numbers of metadata and of attribute groups. All other text is copied
//! unchanged.

/// A piece of assembly text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// `@name`, without quotes.
    Global(&'t str),
    /// `@12`: a global without a name.
    Unnamed(&'t str),
    /// `%name` as written: a local value or a type.
    Local(&'t str),
    /// `!12`.
    Metadata(u32),
    /// `, !dbg !12`, or the same without a comma: the source location of an instruction or a
    /// function.
    Debug { comma: bool, node: u32 },
    /// `#12`: a group of attributes.
    Group(u32),
    /// All other text, without comments.
    Text(&'t str),
}

/// The tokens of a text, in order.
#[derive(Clone)]
pub(super) struct Tokens<'t> {
    rest: &'t str,
}

/// The tokens of `text`.
pub(super) fn tokens(text: &str) -> Tokens<'_> {
    Tokens { rest: text }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'$' | b'.' | b'_')
}

/// The length of the quoted string at the start of `text`.
fn quoted(text: &str) -> usize {
    // A quote within a string is written as \22.
    text[1..].find('"').map_or(text.len(), |end| end + 2)
}

/// The length of the name at the start of `text`, including quotes.
fn name(text: &str) -> usize {
    match text.as_bytes().first() {
        Some(b'"') => quoted(text),
        _ => text.bytes().take_while(|&b| is_name(b)).count(),
    }
}

/// The number at the start of `text`, and its length.
fn number(text: &str) -> Option<(u32, usize)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..length].parse().ok()?, length))
}

const ATTACHED: [(&str, bool); 2] = [(", !dbg !", true), (" !dbg !", false)];

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        let text = self.rest;
        let bytes = text.as_bytes();
        if bytes.is_empty() {
            return None;
        }
        let (token, length) = special(text).unwrap_or_else(|| {
            let mut at = 0;
            loop {
                at += match bytes[at] {
                    b'"' => quoted(&text[at..]),
                    _ => 1,
                };
                if at >= bytes.len() || starts(&text[at..]) {
                    break;
                }
            }
            (Token::Text(&text[..at]), at)
        });
        self.rest = &text[length..];
        Some(token)
    }
}

/// Whether a token other than plain text starts here.
fn starts(text: &str) -> bool {
    match text.as_bytes()[0] {
        b'@' | b'%' | b'!' | b'#' | b';' => special(text).is_some(),
        b',' | b' ' => ATTACHED.iter().any(|(mark, _)| text.starts_with(mark)),
        _ => false,
    }
}

/// The token at the start of `text` and its length, if it is not plain text.
fn special(text: &str) -> Option<(Token<'_>, usize)> {
    let rest = &text[1..];
    match text.as_bytes()[0] {
        b'@' => {
            let length = name(rest);
            let token = match rest.as_bytes().first()? {
                b'"' => Token::Global(rest.get(1..length - 1)?),
                b'0'..=b'9' => Token::Unnamed(&rest[..length]),
                _ if length > 0 => Token::Global(&rest[..length]),
                _ => return None,
            };
            Some((token, 1 + length))
        }
        b'%' => {
            let length = name(rest);
            (length > 0).then(|| (Token::Local(&text[..=length]), 1 + length))
        }
        b'!' => {
            let (node, length) = number(rest)?;
            Some((Token::Metadata(node), 1 + length))
        }
        b'#' => {
            let (group, length) = number(rest)?;
            Some((Token::Group(group), 1 + length))
        }
        b';' => {
            let length = text.find('\n').unwrap_or(text.len());
            Some((Token::Text(""), length))
        }
        _ => ATTACHED.iter().find_map(|&(mark, comma)| {
            let (node, length) = number(text.strip_prefix(mark)?)?;
            Some((Token::Debug { comma, node }, mark.len() + length))
        }),
    }
}

/// The position of the first `,` in the list at the start of `text` that is outside brackets and
/// strings; the end of the text if there is none.
pub(super) fn item(text: &str) -> usize {
    let comma = outside_strings(text, |byte, depth| byte == b',' && depth == 0);
    comma.unwrap_or(text.len())
}

/// The first position outside strings for which `wanted` holds. It is given the byte and the number
/// of brackets that are open after it.
fn outside_strings(text: &str, wanted: impl Fn(u8, i32) -> bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0i32);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += quoted(&text[at..]);
                continue;
            }
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => depth -= 1,
            _ => {}
        }
        if wanted(bytes[at], depth) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// The length of the type at the start of `text`; None if the type is not supported.
pub(super) fn ty(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    match bytes.first()? {
        b'%' => Some(1 + name(&text[1..])),
        b'[' | b'{' | b'<' => outside_strings(text, |_, depth| depth == 0).map(|last| last + 1),
        _ => {
            let length = name(text);
            let spaced = text[length..].starts_with(" addrspace");
            (length > 0 && !spaced).then_some(length)
        }
    }
}

/// The fields of a specialised node such as `!DIFile(filename: "a.c", directory: "/")`.
pub(super) fn fields(node: &str) -> Vec<(&str, &str)> {
    let Some((_, inner)) = node.split_once('(') else {
        return Vec::new();
    };
    let mut rest = inner.strip_suffix(')').unwrap_or(inner);
    let mut all = Vec::new();
    while !rest.is_empty() {
        let end = item(rest);
        if let Some((key, value)) = rest[..end].split_once(':') {
            all.push((key.trim(), value.trim()));
        }
        rest = rest[end..].trim_start_matches(',');
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_numbers_and_text_are_told_apart() {
        let text =
            "  %1 = call %\"struct.a b\" @\"odd \\22name\"(ptr @.str.1) #7, !dbg !12 ; @no %no\n";
        let found: Vec<Token> = tokens(text)
            .filter(|token| !matches!(token, Token::Text(_)))
            .collect();
        assert_eq!(
            found,
            [
                Token::Local("%1"),
                Token::Local("%\"struct.a b\""),
                Token::Global("odd \\22name"),
                Token::Global(".str.1"),
                Token::Group(7),
                Token::Debug {
                    comma: true,
                    node: 12
                },
            ]
        );
    }

    #[test]
    fn what_is_in_a_string_is_text() {
        let text = r##"@a = constant [9 x i8] c"@b %c !1 ;", section "#2", align 1"##;
        let found: Vec<Token> = tokens(text)
            .filter(|token| !matches!(token, Token::Text(_)))
            .collect();
        assert_eq!(found, [Token::Global("a")]);
        let whole: String = tokens(text)
            .map(|token| match token {
                Token::Text(text) => text.to_owned(),
                Token::Global(name) => format!("@{name}"),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(whole, text);
    }

    #[test]
    fn a_type_ends_before_the_value() {
        for (text, length) in [
            ("i32 7", 3),
            ("[2 x { i32, ptr }] zeroinitializer", 18),
            ("<{ i8, [3 x i8] }> <{ i8 1, [3 x i8] undef }>", 18),
            ("%struct.a zeroinitializer", 9),
            ("%\"struct.a b\" zeroinitializer", 13),
            ("ptr null", 3),
        ] {
            assert_eq!(ty(text), Some(length), "{text}");
        }
        assert_eq!(ty("ptr addrspace(1) null"), None);
    }

    #[test]
    fn fields_are_split_at_their_own_commas() {
        let node = r#"distinct !DISubprogram(name: "a, b", scope: !1, spFlags: A | B, unit: !2)"#;
        assert_eq!(
            fields(node),
            [
                ("name", "\"a, b\""),
                ("scope", "!1"),
                ("spFlags", "A | B"),
                ("unit", "!2")
            ]
        );
    }
}
