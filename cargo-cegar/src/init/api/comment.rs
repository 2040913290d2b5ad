//! The comments of a header.

/// The text of the comment before a declaration whose name is at the given offset. Empty if there
/// is none, or if another declaration lies between them.
pub(super) fn before(text: &str, name: usize) -> String {
    let Some(text) = text.get(..name) else {
        return String::new();
    };
    // Skips the part of the declaration's own line before its name.
    let mut lines: Vec<&str> = text.lines().collect();
    if !text.ends_with('\n') {
        lines.pop();
    }
    let mut block: Option<Vec<&str>> = None;
    let mut said: Vec<&str> = Vec::new();
    for line in lines.into_iter().rev() {
        let line = line.trim();
        if let Some(inner) = &mut block {
            match line.find("/*") {
                Some(at) => {
                    inner.push(&line[at + 2..]);
                    said.append(inner);
                    break;
                }
                None => inner.push(line),
            }
        } else if let Some(rest) = line.strip_prefix("//") {
            said.push(rest);
        } else if !said.is_empty() {
            break;
        } else if let Some(rest) = line.strip_suffix("*/") {
            match rest.rfind("/*") {
                Some(0) => {
                    said.push(&rest[2..]);
                    break;
                }
                // A comment after another declaration belongs to that one.
                Some(_) => break,
                None => block = Some(vec![rest]),
            }
        } else if line.is_empty() || line.contains([';', '{', '}', '#']) {
            break;
        }
    }
    let plain = |line: &&str| {
        let line = line.trim_start_matches(['*', '/', '!', ' ', '\t', '<']);
        line.trim_end().to_owned()
    };
    let lines: Vec<String> = said.iter().rev().map(plain).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        before(text, text.find("wanted").unwrap_or(0))
    }

    #[test]
    fn the_comment_before_a_declaration_is_read() {
        assert_eq!(
            of("int other(void);\n/* Packs it. */\nint wanted(void);\n"),
            "Packs it."
        );
        assert_eq!(
            of("/**\n * Packs it\n * into n bytes.\n */\nAPI int\nwanted(void);\n"),
            "\nPacks it\ninto n bytes.\n"
        );
        assert_eq!(of("// One.\n// Two.\nint wanted(void);"), "One.\nTwo.");
    }

    #[test]
    fn what_is_about_something_else_is_not() {
        assert_eq!(
            of("/* Other. */\nint other(void);\nint wanted(void);\n"),
            ""
        );
        assert_eq!(of("int other(void); /* Other. */\nint wanted(void);\n"), "");
        assert_eq!(of("/* A part. */\n\nint wanted(void);\n"), "");
    }
}
