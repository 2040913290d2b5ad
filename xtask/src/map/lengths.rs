//! The lengths of files and of comments.
//!
//! A reader can keep an overview of a file of some hundred lines, but not of a thousand. rustfmt
//! breaks lines of code, but not comments.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::places::files_below;

/// The maximal number of lines of a file.
pub(super) const MOST: usize = 500;
/// The maximal number of columns of a comment.
pub(super) const COLUMNS: usize = 100;

/// The folders with Rust code, below the root of the checkout.
const FOLDERS: [&str; 9] = [
    "cargo-cegar",
    "engine",
    "fuzz",
    "harness",
    "c-stubs",
    "tests",
    "benches",
    "examples",
    "xtask",
];

/// What exceeds a limit: `PATH (LINES)` for a file, and `PATH:LINE` for a comment, both sorted.
#[derive(Default)]
pub(super) struct TooLong {
    pub files: Vec<String>,
    pub comments: Vec<String>,
}

/// The files and the comments below `root` that are too long.
pub(super) fn too_long(root: &Path) -> Result<TooLong> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        files.extend(files_below(&root.join(folder), &["rs"])?);
    }
    files.sort();
    let mut long = TooLong::default();
    for file in files {
        let text = fs::read_to_string(&file).map_err(Error::file("read", &file))?;
        let name = file.strip_prefix(root).unwrap_or(&file).display();
        let lines = text.lines().count();
        if lines > MOST {
            long.files.push(format!("{name} ({lines})"));
        }
        let wide = text.lines().enumerate().filter(|(_, line)| is_wide(line));
        let wide = wide.map(|(number, _)| format!("{name}:{}", number + 1));
        long.comments.extend(wide);
    }
    Ok(long)
}

/// Whether a line is a comment with too many columns. The row of a table and a line of an example
/// cannot be broken.
fn is_wide(line: &str) -> bool {
    let text = line.trim_start();
    let Some(comment) = text.strip_prefix("//") else {
        return false;
    };
    let comment = comment.trim_start_matches(['/', '!']);
    let is_fixed = comment.starts_with(" |") || comment.starts_with("     ");
    let is_code = comment.ends_with([';', '{', '}', ')', ',', '?']) && !comment.contains(". ");
    line.chars().count() > COLUMNS && !is_fixed && !is_code
}
