//! How long files are. A reader holds a file of some hundred lines in view, not one of a thousand.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The lines that a file may have.
pub(super) const MOST: usize = 500;

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

/// The files with more lines than they may have: the path below `root`, and how many lines.
pub(super) fn too_long(root: &Path) -> Result<Vec<(PathBuf, usize)>> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        find(&root.join(folder), &mut files)?;
    }
    let mut long = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).map_err(Error::file("read", &file))?;
        let lines = text.lines().count();
        if lines > MOST {
            long.push((file.strip_prefix(root).unwrap_or(&file).to_owned(), lines));
        }
    }
    long.sort();
    Ok(long)
}

/// All files of Rust below a folder, without what cargo builds.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::file("read", folder))? {
        let path = entry.map_err(Error::file("read", folder))?.path();
        let is_built = path.ends_with("target");
        if path.is_dir() && !is_built {
            find(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
