//! The folders of the checkout, so that every command works from any folder.

use std::env;
use std::path::{Path, PathBuf};

/// The checkout, and the folder that cargo builds into.
pub(crate) struct Places {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
}

impl Places {
    pub(crate) fn find() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .unwrap_or(Path::new("."))
            .to_path_buf();
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(dir) => root.join(dir),
            None => root.join("target"),
        };
        Self { root, target }
    }
}
