//! Writes the source text of a test.

use super::Finding;
use super::decode;

/// Below this width, rustfmt keeps a chain on one line.
const CHAIN: usize = 60;
/// The maximum width of comments.
const COMMENT: usize = 100;

/// The source of the test: comment, attribute and function, without a final line feed.
pub fn test_source(finding: &Finding) -> String {
    let mut comment = match (finding.file.as_str(), finding.line) {
        ("", _) => String::new(),
        (file, 0) => format!("{file}: "),
        (file, line) => format!("{file}:{line}: "),
    };
    comment += &format!(
        "{}. Found by {}.",
        finding.what.trim_end_matches('.'),
        finding.found_by
    );
    let mut lines: Vec<String> = wrapped(&comment);
    if !finding.explanation.is_empty() {
        lines.push("///".to_owned());
        lines.extend(finding.explanation.lines().flat_map(wrapped));
    }
    lines.push("#[test]".to_owned());
    lines.push(format!("fn {}() {{", finding.test));
    let mut calls = vec![format!("Mock::new({:?})", finding.harness)];
    calls.extend(decode::calls(finding));
    calls.extend(["run()".to_owned(), "expect_safe()".to_owned()]);
    lines.extend(statement("", &calls));
    lines.push("}".to_owned());
    lines.join("\n")
}

/// A chain of calls as a statement that begins with `before`, in rustfmt's layout.
pub(super) fn statement(before: &str, calls: &[String]) -> Vec<String> {
    let flat = calls.join(".");
    if flat.len() < CHAIN && !flat.contains('\n') {
        return vec![format!("    {before}{flat};")];
    }
    let mut lines = vec![format!("    {before}{}", calls[0])];
    lines.extend(calls[1..].iter().map(|call| format!("        .{call}")));
    if let Some(last) = lines.last_mut() {
        last.push(';');
    }
    lines
}

/// Formats a paragraph as lines of a doc comment.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = "///".to_owned();
    for word in text.split_whitespace() {
        if line.len() + 1 + word.len() > COMMENT && line.len() > 3 {
            lines.push(std::mem::replace(&mut line, "///".to_owned()));
        }
        line.push(' ');
        line += word;
    }
    lines.push(line);
    lines
}
