//! The format of the C code that is part of the tool, as `.clang-format` defines it. C programs of
//! tests are left alone, because tests name their lines.

use std::process::Command;

use crate::error::Result;
use crate::places::files_below;
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
        files.extend(files_below(&places.root.join(folder), &["c", "h"])?);
    }
    let mut command = Command::new("clang-format-19");
    command.args(["--dry-run", "-Werror", "--ferror-limit=1"]);
    run::succeeds(command.args(files).current_dir(&places.root))
}
