//! Copies of executables for tests that are started without cargo.

use std::path::{Path, PathBuf};

use crate::build::Built;
use crate::locate;

/// The folder in which tests that are started without cargo look; see [`crate::locate`].
fn published() -> Option<PathBuf> {
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from)?;
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let profile = out
        .ancestors()
        .find(|folder| folder.ends_with("build"))
        .and_then(Path::parent)?;
    Some(profile.join(locate::FOLDER).join(package))
}

/// Removes the copies of all other harnesses, since an executable of an earlier build has outdated
/// code.
pub(crate) fn keep_only(built: &[Built]) {
    let entries = published().and_then(|folder| std::fs::read_dir(folder).ok());
    for entry in entries.into_iter().flatten().flatten() {
        let path = entry.path();
        let mut copied = built.iter().flat_map(copied);
        let is_built = copied.any(|from| from.file_name() == path.file_name());
        if !is_built {
            // An error is ignored: only a test that is started by hand would find the file.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The files of a harness that are copied.
fn copied(built: &Built) -> [PathBuf; 2] {
    [built.runner.clone(), locate::about_path(&built.runner)]
}

/// Copies a harness to where a test that is started without cargo finds it.
pub(crate) fn publish(built: &Built) {
    let Some(folder) = published() else {
        return;
    };
    // The copies are a convenience, so a build does not fail if they cannot be made.
    if std::fs::create_dir_all(&folder).is_ok() {
        for from in copied(built) {
            let to = folder.join(from.file_name().unwrap_or_default());
            let _ = std::fs::remove_file(&to);
            let _ = std::fs::copy(&from, &to);
        }
    }
}
