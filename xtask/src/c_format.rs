//! The format of the C code that is part of the tool, as `.clang-format` defines it. C programs of
//! tests are left alone, because tests name their lines.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::{Places, run};

/// The folders with C code, below the root of the checkout.
const FOLDERS: [&str; 5] = [
    "c-stubs/include",
    "c-stubs/src",
    "cargo-cegar/src",
    "fuzz/runtime",
    "harness/src",
];

/// Fails if `clang-format` would change a file.
pub(crate) fn check(places: &Places) -> Result<()> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        find(&places.root.join(folder), &mut files)?;
    }
    files.sort();
    let mut command = Command::new("clang-format-19");
    command.args(["--dry-run", "-Werror", "--ferror-limit=1"]);
    run::succeeds(command.args(files).current_dir(&places.root))
}

/// Collects the C files below a folder.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).map_err(Error::file("read", folder))? {
        let path = entry.map_err(Error::file("read", folder))?.path();
        if path.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "c" || e == "h") {
            files.push(path);
        }
    }
    Ok(())
}
