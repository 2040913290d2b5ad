//! Quotations of the C source.
//!
//! An expression without a name, such as the result of a conditional, is quoted from its source
//! line. The sources may be gone when a program is loaded, so each answer may be `None`.

use std::io::Read as _;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

/// The size in bytes of the largest file that is read.
const LARGEST: u64 = 32 << 20;
/// The length of the longest quotation; longer ones are cut.
const LONGEST: usize = 72;

/// The source files that were read.
#[derive(Default)]
pub struct Sources {
    files: FxHashMap<String, Option<Text>>,
}

struct Text {
    lines: Vec<String>,
    words: FxHashSet<String>,
}

impl Sources {
    fn text(&mut self, path: &str) -> Option<&Text> {
        if !self.files.contains_key(path) {
            self.files.insert(path.to_owned(), read(Path::new(path)));
        }
        self.files.get(path)?.as_ref()
    }

    /// A line of a file, counted from 1.
    pub fn line(&mut self, path: &str, line: u32) -> Option<&str> {
        let lines = &self.text(path)?.lines;
        let line = lines.get((line as usize).checked_sub(1)?)?;
        Some(line)
    }

    /// The text of a line, for quoting: without leading and trailing spaces, and cut around the
    /// column if it is long.
    pub fn quote(&mut self, path: &str, line: u32, column: u32) -> Option<String> {
        let text = self.line(path, line)?;
        let quoted = quote(text, column as usize);
        quoted.contains(char::is_alphanumeric).then_some(quoted)
    }

    /// Whether all identifiers of an expression occur in the file. True if the file cannot be read.
    pub fn knows(&mut self, path: &str, expression: &str) -> bool {
        let Some(text) = self.text(path) else {
            return true;
        };
        identifiers(expression).all(|word| text.words.contains(word))
    }
}

/// The identifiers in a text, including words in its comments and strings.
pub fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii();
    let words = text.split(move |c| !inner(c));
    words.filter(|word| !word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit()))
}

fn read(path: &Path) -> Option<Text> {
    let file = std::fs::File::open(path).ok()?;
    let about = file.metadata().ok()?;
    if !about.is_file() || about.len() > LARGEST {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(Text {
        lines: text.lines().map(str::to_owned).collect(),
        words: identifiers(&text).map(str::to_owned).collect(),
    })
}

fn quote(line: &str, column: usize) -> String {
    let mut text = String::new();
    for word in line.split_whitespace() {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    let length = text.chars().count();
    if length <= LONGEST {
        return text;
    }
    let skipped = line.chars().take_while(|c| c.is_whitespace()).count();
    let middle = column.saturating_sub(1 + skipped).min(length);
    let from = middle.saturating_sub(LONGEST / 2).min(length - LONGEST);
    let part: String = text.chars().skip(from).take(LONGEST).collect();
    // Partial words at the ends are cut, unless a single word fills the quotation.
    let inner = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut part = part.as_str();
    let (mut before, mut after) = ("", "");
    if from > 0 {
        let whole = part.trim_start_matches(inner);
        (part, before) = (if whole.is_empty() { part } else { whole }, "...");
    }
    if from + LONGEST < length {
        let whole = part.trim_end_matches(inner);
        (part, after) = (if whole.is_empty() { part } else { whole }, "...");
    }
    format!("{before}{}{after}", part.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_quoted_around_the_column() {
        assert_eq!(quote("\t  x =  y ;", 4), "x = y ;");
        let long = format!("    {}here {}", "alpha ".repeat(20), "beta ".repeat(20));
        let told = quote(&long, 125);
        assert!(told.starts_with("...") && told.ends_with("..."), "{told}");
        assert!(told.contains("here"), "{told}");
        assert!(
            identifiers(&told).all(|word| ["alpha", "beta", "here"].contains(&word)),
            "{told}"
        );
        let start = quote(&long, 1);
        assert!(
            start.starts_with("alpha") && start.ends_with("..."),
            "{start}"
        );
    }

    #[test]
    fn identifiers_are_words_and_no_numbers() {
        let found: Vec<&str> = identifiers("p113->x[0x1f + 12u].größe").collect();
        assert_eq!(found, ["p113", "x", "größe"]);
    }

    #[test]
    fn what_cannot_be_read_is_no_error() {
        let mut sources = Sources::default();
        assert_eq!(sources.quote("/nowhere/at/all.c", 3, 1), None);
        assert!(sources.knows("/nowhere/at/all.c", "x->y"));
        assert_eq!(sources.quote("/dev/zero", 3, 1), None);
    }
}
