//! The build script whose compiler calls `captured.json` lists.
//!
//! `cargo test` of a package alone uses the list as it was committed, since the tool, which asks
//! cargo what the build compiles now, does not run. If the build script has changed since, the list
//! is outdated: the tests would build other C code than the crate does, and could pass silently.
//! The package therefore keeps a hash of the script from when the list was made, and its build
//! warns if the script has changed.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The file of the package that stores it.
pub const BUILD_SCRIPT: &str = "build_script.json";

/// See the [module](self).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildScript {
    /// The script, relative to the package.
    pub file: PathBuf,
    /// A hash of its text: 16 hexadecimal digits, the same for LF and CRLF line ends.
    pub hash: String,
}

impl BuildScript {
    /// Describes a script by its current text and the path that is stored.
    pub fn of(file: PathBuf, text: &[u8]) -> BuildScript {
        BuildScript {
            file,
            hash: format!("{:016x}", hash(text)),
        }
    }

    /// The warning of a package's build if its list may be outdated.
    pub(super) fn note(&self, package: &Path) -> Option<String> {
        self.has_changed(package).then(|| {
            format!(
                "{} has changed since captured.json was written, so that these tests may not be \
                 built as the crate is: `cargo cegar build` renews the list",
                self.file.display()
            )
        })
    }

    /// Whether the script has changed. A script that cannot be read does not count as changed.
    fn has_changed(&self, package: &Path) -> bool {
        let text = std::fs::read(package.join(&self.file));
        text.is_ok_and(|text| BuildScript::of(PathBuf::new(), &text).hash != self.hash)
    }
}

/// 64-bit FNV-1a. It only has to detect changes, not attacks, and a stronger hash would be one more
/// library that every test package has to build. The standard library's hash may differ between
/// releases, and this one is committed.
fn hash(text: &[u8]) -> u64 {
    let bytes = text.iter().filter(|byte| **byte != b'\r');
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The script that a package stores, if the script's file exists.
pub(super) fn kept(package: &Path) -> Option<BuildScript> {
    let text = std::fs::read(package.join(BUILD_SCRIPT)).ok()?;
    let script: BuildScript = serde_json::from_slice(&text).ok()?;
    package.join(&script.file).is_file().then_some(script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_seen_but_not_the_ends_of_lines() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("build.rs");
        let write = |text: &str| std::fs::write(&script, text).expect("written");
        let was = BuildScript::of("build.rs".into(), b"fn main() {\n}\n");
        write("fn main() {\r\n}\r\n");
        assert!(!was.has_changed(folder.path()));
        write("fn main() { }\n");
        assert!(was.has_changed(folder.path()));
        std::fs::remove_file(&script).expect("removed");
        assert!(!was.has_changed(folder.path()));
    }
}
