//! The folders of the checkout, so that every command works from any folder, and the files in them.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::error::{Error, Result};

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

/// The files with one of these extensions below a folder, sorted. The folders that cargo builds
/// into are left out.
pub(crate) fn files_below(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::file("read", folder))? {
        let path = entry.map_err(Error::file("read", folder))?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if !path.is_dir() {
            files.extend(
                extension
                    .filter(|e| extensions.contains(e))
                    .map(|_| path.clone()),
            );
        } else if !path.ends_with("target") {
            files.extend(files_below(&path, extensions)?);
        }
    }
    files.sort();
    Ok(files)
}
