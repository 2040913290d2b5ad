//! The build script whose compiler calls `captured.json` lists.
//!
//! `cargo test` of a package alone takes the list as it is committed: the tool, which asks cargo
//! what the build compiles now, is not there. A list that a change of the build script has made old
//! would build other C code than the crate's, and its tests would pass without a word. So the
//! package keeps what the script was when the list was made, and its build says where that is no
//! longer so.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The file of the package that says it.
pub const BUILD_SCRIPT: &str = "build_script.json";

/// See the [module](self).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildScript {
    /// The script, relative to the package.
    pub file: PathBuf,
    /// What it was: 16 hexadecimal digits, the same for either way to end lines.
    pub hash: String,
}

impl BuildScript {
    /// A script as it is now, with the path that is kept of it.
    pub fn of(file: PathBuf, text: &[u8]) -> BuildScript {
        BuildScript {
            file,
            hash: format!("{:016x}", hash(text)),
        }
    }

    /// What the build of a package has to say of the list that it is built from.
    pub(super) fn note(&self, package: &Path) -> Option<String> {
        self.has_changed(package).then(|| {
            format!(
                "{} has changed since captured.json was written, so that these tests may not be \
                 built as the crate is: `cargo cegar build` renews the list",
                self.file.display()
            )
        })
    }

    /// Whether the script is another one now. One that is not there cannot be compared.
    fn has_changed(&self, package: &Path) -> bool {
        let text = std::fs::read(package.join(&self.file));
        text.is_ok_and(|text| BuildScript::of(PathBuf::new(), &text).hash != self.hash)
    }
}

/// FNV-1a of 64 bits: changes are to be seen, not attacks, and every test package would have to
/// build a library for more. The standard library's hashes are others with each release, and this
/// one is committed.
fn hash(text: &[u8]) -> u64 {
    let bytes = text.iter().filter(|byte| **byte != b'\r');
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The script that a package keeps, if its file is there.
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
