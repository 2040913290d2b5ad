//! Copies of executables where tests that are started without cargo look.

use std::path::{Path, PathBuf};

use crate::build::Built;
use crate::locate;

/// Where tests that are started without cargo look; see [`crate::locate`].
fn published() -> Option<PathBuf> {
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from)?;
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let profile = out
        .ancestors()
        .find(|folder| folder.ends_with("build"))
        .and_then(Path::parent)?;
    Some(profile.join(locate::FOLDER).join(package))
}

/// Removes the copies of all other harnesses: an earlier build's executable is of earlier code.
pub(crate) fn keep_only(built: &[Built]) {
    let entries = published().and_then(|folder| std::fs::read_dir(folder).ok());
    for entry in entries.into_iter().flatten().flatten() {
        let path = entry.path();
        let mut copied = built.iter().flat_map(copied);
        let is_built = copied.any(|from| from.file_name() == path.file_name());
        if !is_built {
            // It is only found by a test that is started by hand.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// What is copied of a harness.
fn copied(built: &Built) -> [PathBuf; 2] {
    [built.runner.clone(), locate::about_path(&built.runner)]
}

/// Leaves a copy where a test that is started without cargo finds it.
pub(crate) fn publish(built: &Built) {
    let Some(folder) = published() else {
        return;
    };
    // A convenience: a build does not fail for want of it.
    if std::fs::create_dir_all(&folder).is_ok() {
        for from in copied(built) {
            let to = folder.join(from.file_name().unwrap_or_default());
            let _ = std::fs::remove_file(&to);
            let _ = std::fs::copy(&from, &to);
        }
    }
}
