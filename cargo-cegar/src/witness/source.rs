//! Finds places in the C files.
//!
//! Debug information gives the place of an operator or of a call's first character, while a witness
//! needs the keyword of a loop, the closing parenthesis of a call, or the beginning of a statement.
//! So the files are parsed as they are written, before preprocessing, and a place that does not
//! look as expected (because of a macro) is not used. In a file that is already preprocessed, the
//! lines are counted as they are, regardless of line markers.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tree_sitter::{Node, Parser, Point, Tree};

use crate::error::Error;

/// The C files of a program.
pub struct Sources {
    files: Vec<File>,
}

struct File {
    /// The name on the command line.
    name: String,
    text: Vec<u8>,
    tree: Tree,
    /// For each place in debug information, the lines of the file that correspond to it.
    lines: HashMap<(PathBuf, u32), Vec<u32>>,
}

/// A place in one of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    file: usize,
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1.
    pub column: u32,
}

/// The place at which an invariant of a loop can be stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// `while` or `for`: before each evaluation of the condition.
    Before(Spot),
    /// `do`: before the first statement of its body.
    Body(Spot),
}

impl Sources {
    /// Reads and parses files, given their names and paths.
    pub fn read(files: &[(String, PathBuf)]) -> Result<Sources, Error> {
        let mut parser = Parser::new();
        let language = tree_sitter_c::LANGUAGE.into();
        parser
            .set_language(&language)
            .map_err(|why| Error::engine("parsing the C files", why))?;
        let mut all = Vec::new();
        for (name, path) in files {
            let text = std::fs::read(path).map_err(|why| Error::io("read", path, why))?;
            // The parser returns no tree only if it was told to stop.
            let Some(tree) = parser.parse(&text, None) else {
                continue;
            };
            all.push(File {
                name: name.clone(),
                lines: lines(path, &text),
                text,
                tree,
            });
        }
        Ok(Sources { files: all })
    }

    /// The name of the file that contains a spot.
    pub fn name(&self, spot: Spot) -> &str {
        self.files.get(spot.file).map_or("", |file| &file.name)
    }

    /// The spot of a place in debug information; `None` if it is in no file, or ambiguous.
    pub fn spot(&self, path: &str, line: u32, column: u32) -> Option<Spot> {
        let key = (normal(Path::new(path)), line);
        let mut found = self.files.iter().enumerate().flat_map(|(at, file)| {
            let lines = file.lines.get(&key).into_iter().flatten();
            lines.map(move |&line| (at, line))
        });
        let (file, line) = found.next()?;
        found
            .next()
            .is_none()
            .then_some(Spot { file, line, column })
    }

    /// The loop that begins at a spot.
    pub fn loop_at(&self, spot: Spot) -> Option<Loop> {
        let node = self.starting(spot, |node| {
            matches!(
                node.kind(),
                "while_statement" | "for_statement" | "do_statement"
            )
        })?;
        if node.kind() != "do_statement" {
            return Some(Loop::Before(spot));
        }
        let body = node.child_by_field_name("body")?;
        let first = body
            .named_child(0)
            .filter(|_| body.kind() == "compound_statement")?;
        // At a declaration, it is unclear whether the place is before or after it, and a loop has
        // its own place.
        matches!(
            first.kind(),
            "expression_statement" | "if_statement" | "return_statement" | "compound_statement"
        )
        .then(|| Loop::Body(self.at(spot.file, first.start_position())))
    }

    /// The closing parenthesis of the call that begins at a spot, and the name of the called
    /// function.
    pub fn call_end(&self, spot: Spot) -> Option<(Spot, String)> {
        let call = self.starting(spot, |node| {
            let called = node.child_by_field_name("function");
            node.kind() == "call_expression"
                && called.is_some_and(|called| called.kind() == "identifier")
        })?;
        let called = call.child_by_field_name("function")?;
        let arguments = call.child_by_field_name("arguments")?;
        let last = arguments.child(arguments.child_count().checked_sub(1)?)?;
        let name = self.text(spot.file, called)?;
        (last.kind() == ")").then(|| (self.at(spot.file, last.start_position()), name))
    }

    /// The beginning of the statement or full expression that contains a spot.
    pub fn whole(&self, spot: Spot) -> Option<Spot> {
        let file = self.files.get(spot.file)?;
        let at = point(spot);
        let mut node = file.tree.root_node().descendant_for_point_range(at, at)?;
        loop {
            if node.is_error() {
                return None;
            }
            let parent = node.parent()?;
            let is_whole = match node.kind() {
                "expression_statement" | "return_statement" | "declaration" => {
                    // The declaration in a `for` is executed like a statement.
                    node.start_position() <= at
                }
                _ => match parent.kind() {
                    "parenthesized_expression" => parent.parent().is_some_and(|around| {
                        around.kind().ends_with("_statement")
                            && around.child_by_field_name("condition") == Some(parent)
                    }),
                    "for_statement" => ["initializer", "condition", "update"]
                        .iter()
                        .any(|field| parent.child_by_field_name(field) == Some(node)),
                    _ => false,
                },
            };
            if is_whole {
                return Some(self.at(spot.file, node.start_position()));
            }
            node = parent;
        }
    }

    /// The declared result type of a function, as in the source.
    pub fn declared(&self, function: &str) -> Option<String> {
        for (at, file) in self.files.iter().enumerate() {
            let root = file.tree.root_node();
            let mut open = vec![root];
            while let Some(node) = open.pop() {
                if matches!(node.kind(), "declaration" | "function_definition") {
                    let named = node
                        .child_by_field_name("declarator")
                        .filter(|d| d.kind() == "function_declarator")
                        .and_then(|d| d.child_by_field_name("declarator"));
                    if named.and_then(|n| self.text(at, n)).as_deref() == Some(function) {
                        return self.text(at, node.child_by_field_name("type")?);
                    }
                    continue;
                }
                let mut cursor = node.walk();
                open.extend(node.named_children(&mut cursor));
            }
        }
        None
    }

    fn text(&self, file: usize, node: Node<'_>) -> Option<String> {
        let text = self.files.get(file)?.text.get(node.byte_range())?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    fn at(&self, file: usize, point: Point) -> Spot {
        Spot {
            file,
            line: point.row as u32 + 1,
            column: point.column as u32 + 1,
        }
    }

    /// The innermost wanted node that begins at a spot.
    fn starting(&self, spot: Spot, wanted: impl Fn(&Node<'_>) -> bool) -> Option<Node<'_>> {
        let file = self.files.get(spot.file)?;
        let at = point(spot);
        let mut node = file.tree.root_node().descendant_for_point_range(at, at)?;
        while node.start_position() == at {
            if wanted(&node) {
                return (!node.has_error()).then_some(node);
            }
            node = node.parent()?;
        }
        None
    }
}

fn point(spot: Spot) -> Point {
    Point {
        row: spot.line.saturating_sub(1) as usize,
        column: spot.column.saturating_sub(1) as usize,
    }
}

/// The canonical path of a file.
fn normal(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Maps places to the lines of a file: a line marker `# 12 "file.c"` defines the place of the next
/// line.
fn lines(path: &Path, text: &[u8]) -> HashMap<(PathBuf, u32), Vec<u32>> {
    let mut all: HashMap<(PathBuf, u32), Vec<u32>> = HashMap::new();
    let (mut file, mut line) = (normal(path), 1);
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    for (at, bytes) in text.split(|&byte| byte == b'\n').enumerate() {
        let words = String::from_utf8_lossy(bytes);
        if let Some((next, named)) = marker(&words) {
            if let Some(named) = named {
                // A check compiles in the current folder.
                file = normal(&std::path::absolute(named).unwrap_or_else(|_| named.into()));
            }
            line = next;
            continue;
        }
        all.entry((file.clone(), line))
            .or_default()
            .push(at as u32 + 1);
        line += 1;
    }
    all
}

/// The line and the file in `# 12 "file.c"` or `#line 12`.
fn marker(line: &str) -> Option<(u32, Option<&str>)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let (number, rest) = match rest.split_once(char::is_whitespace) {
        Some((number, rest)) => (number, rest),
        None => (rest, ""),
    };
    let number = number.parse().ok()?;
    let name = rest.trim_start().strip_prefix('"');
    Some((number, name.and_then(|name| name.split('"').next())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
int f(int);
unsigned g(void);
int main(void) {
    int x = f (1);
    do { x = f(f(2) + g()); } while (x);
    for (int i = f(3); i < x; i++)
        if (f(i) > 1)
            return f(
                4);
    MACRO(x, while (1));
}
";

    fn sources(text: &str) -> (tempfile::TempDir, String, Sources) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.c");
        std::fs::write(&path, text).expect("written");
        let sources = Sources::read(&[("a.c".to_owned(), path.clone())]).expect("read");
        (folder, path.display().to_string(), sources)
    }

    fn place(text: &str, what: &str) -> (u32, u32) {
        let at = text.find(what).expect("it is there");
        let before = &text[..at];
        let line = before.lines().count().max(1) as u32 + u32::from(before.ends_with('\n'));
        let column = at - before.rfind('\n').map_or(0, |at| at + 1);
        (line, column as u32 + 1)
    }

    #[test]
    fn places_are_found_in_the_text() {
        let (_folder, path, sources) = sources(TEXT);
        let spot = |what: &str| {
            let (line, column) = place(TEXT, what);
            sources
                .spot(&path, line, column)
                .expect("it is in the file")
        };
        let ends = |what: &str| {
            sources
                .call_end(spot(what))
                .map(|(end, _)| (end.line, end.column))
        };
        assert_eq!(ends("f (1)"), Some((4, 17)));
        assert_eq!(ends("f(2)"), Some((5, 19)));
        assert_eq!(ends("f(f(2)"), Some((5, 26)));
        assert_eq!(ends("f(\n"), Some((9, 18)));
        assert_eq!(ends("x = f"), None);
        assert_eq!(
            sources.loop_at(spot("for")),
            Some(Loop::Before(spot("for")))
        );
        assert_eq!(
            sources.loop_at(spot("do {")),
            Some(Loop::Body(spot("x = f(f")))
        );
        assert_eq!(sources.loop_at(spot("MACRO")), None);
        assert_eq!(sources.whole(spot("f(2)")), Some(spot("x = f(f")));
        assert_eq!(sources.whole(spot("f(i)")), Some(spot("f(i)")));
        assert_eq!(sources.whole(spot("f(\n")), Some(spot("return")));
        assert_eq!(sources.whole(spot("f(3)")), Some(spot("int i")));
        assert_eq!(sources.declared("g").as_deref(), Some("unsigned"));
    }

    #[test]
    fn line_markers_are_followed_to_the_line_that_is_there() {
        let text = "# 1 \"b.c\"\n# 10 \"a.h\" 1\nint x;\n# 2 \"b.c\" 2\nint y;\nint z;\n\
            # 2 \"b.c\"\nint again;\n";
        let (_folder, _, sources) = sources(text);
        let b = std::path::absolute("b.c").expect("there is a current folder");
        let b = b.display().to_string();
        assert_eq!(sources.spot(&b, 3, 1).map(|spot| spot.line), Some(6));
        // Two lines correspond to this place.
        assert_eq!(sources.spot(&b, 2, 1), None);
        assert_eq!(marker("#include <stdio.h>"), None);
        assert_eq!(marker("# define N 10"), None);
    }
}
