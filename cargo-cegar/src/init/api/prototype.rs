//! The documentation of function pointers in a header: the names of their parameters, and a
//! comment.
//!
//! Types have no parameter names in clang's tree. The names in `typedef int (*on_line)(const char
//! *begin, const char *end);` show that this is not a NUL-terminated string, so they are read from
//! the source text.

use super::comment;
use crate::init::ctype::Written;

/// The documentation of a function pointer or of a function type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prototype {
    /// The names of the parameters; empty where the header gives none.
    pub names: Vec<String>,
    /// The comment before it.
    pub comment: String,
}

/// The key of a member or parameter that is a function pointer without a typedef.
pub(super) fn key(name: &str, ty: &Written) -> String {
    format!("{name} {}", ty.words)
}

/// Words that belong to a type and are not names.
const TYPES: &[&str] = &[
    "bool", "char", "const", "double", "enum", "float", "int", "long", "short", "signed", "struct",
    "unsigned", "void", "volatile", "restrict",
];

/// Reads a declaration (a typedef, a member or a parameter) with the given start and end offsets,
/// whose name is at offset `name`.
pub(super) fn read(text: &str, (begin, end): (usize, usize), name: usize) -> Option<Prototype> {
    let declaration = text.get(begin..end)?;
    let close = declaration.rfind(')')?;
    let mut depth = 0;
    let open = declaration[..=close].rfind(|c| {
        depth += match c {
            ')' => 1,
            '(' => -1,
            _ => 0,
        };
        depth == 0
    })?;
    let mut names = Vec::new();
    let (mut depth, mut from) = (0, open + 1);
    for (at, c) in declaration[open + 1..=close].char_indices() {
        let at = open + 1 + at;
        match c {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ',' | ')' if depth == 0 => {
                names.push(named(&declaration[from..at]));
                from = at + 1;
            }
            _ => {}
        }
    }
    Some(Prototype {
        names,
        comment: comment::before(text, name),
    })
}

/// The name of a parameter; empty if it has none.
fn named(parameter: &str) -> String {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let parameter = parameter.trim();
    let before = parameter.trim_end_matches(is_letter);
    let name = &parameter[before.len()..];
    let mut words = before.split(|c| !is_letter(c));
    // A single word is a type.
    let has_type =
        words.any(|word| !word.is_empty() && !["const", "struct", "enum"].contains(&word));
    match has_type && !TYPES.contains(&name) {
        true => name.to_owned(),
        false => String::new(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let name = text.find("wanted").unwrap();
        read(text, (text.find("typedef").unwrap(), text.len()), name)
            .unwrap()
            .names
    }

    #[test]
    fn names_are_read_where_they_stand() {
        assert_eq!(
            names("typedef int (*wanted)(void *user, const char *begin, const char *end);"),
            ["user", "begin", "end"]
        );
        assert_eq!(
            names("typedef void wanted(size_t, unsigned long, struct a, char n[4]);"),
            ["", "", "", ""]
        );
        assert_eq!(
            names("typedef void (*wanted)(int (*f)(int a, int b), size_t n);"),
            ["", "n"]
        );
    }

    #[test]
    fn its_comment_is_kept() {
        let text = "/* Not terminated. */\ntypedef void (*wanted)(const char *text);";
        let begin = text.find("typedef").unwrap();
        let found = read(text, (begin, text.len()), text.find("wanted").unwrap()).unwrap();
        assert_eq!(found.comment, "Not terminated.");
    }
}
