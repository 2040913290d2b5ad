//! The lengths of files. A reader can keep an overview of a file of some hundred lines, but not of
//! a thousand.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The maximal number of lines of a file.
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

/// The files that exceed the maximal length: the path below `root` and the number of lines.
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

/// Collects all Rust files below a folder, except in cargo's build folders.
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
