//! The folder for the results of a build.

use std::path::Path;

use crate::error::Error;
use crate::store;

/// Marks a folder whose contents belong to this tool.
const MARK: &str = ".cargo-cegar";
const README: &str = "\
What `cargo cegar ci` found. To keep it, copy `tests`, `findings`, `corpus`, `mocks.json` and `.emitted.json` over the package's
`cegar/` folder. `inputs/HARNESS/TEST` is the input of each finding, for `cargo cegar replay HARNESS FILE`. `harnesses` and
`contracts.toml` are here where an entry of `contracts.toml` was deleted: copy them as well.
";

/// Creates the folder, or removes the results of an earlier build from it. A folder with other
/// contents is left unchanged, with an error.
pub fn prepare(folder: &Path) -> Result<(), Error> {
    let failed = |why| Error::io("write to", folder, why);
    if folder.exists() && !folder.join(MARK).is_file() {
        let mut entries = std::fs::read_dir(folder).map_err(failed)?;
        if entries.next().is_some() {
            return Err(Error::usage(
                format!(
                    "`{}` is not empty, and not from an earlier build",
                    folder.display()
                ),
                "name an empty folder with --artifacts",
            ));
        }
    }
    for ours in ["tests", "findings", "corpus", "inputs", "harnesses"] {
        let path = folder.join(ours);
        if path.is_dir() {
            std::fs::remove_dir_all(&path).map_err(|why| Error::io("empty", &path, why))?;
        }
    }
    for ours in ["mocks.json", ".emitted.json", "contracts.toml"] {
        let path = folder.join(ours);
        if path.is_file() {
            std::fs::remove_file(&path).map_err(|why| Error::io("remove", &path, why))?;
        }
    }
    store::writable_dir(folder)?;
    store::write(&folder.join(MARK), b"")?;
    Ok(store::write(&folder.join("README.txt"), README.as_bytes())?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_somebody_else_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a");
        prepare(&folder).unwrap();
        std::fs::create_dir_all(folder.join("tests")).unwrap();
        std::fs::write(folder.join("tests/old.rs"), "").unwrap();
        prepare(&folder).unwrap();
        assert!(!folder.join("tests/old.rs").exists());
        std::fs::write(dir.path().join("thesis.tex"), "").unwrap();
        assert_eq!(
            prepare(dir.path()).unwrap_err().exit_code(),
            crate::exit::ExitCode::Usage
        );
        assert!(dir.path().join("thesis.tex").exists());
    }
}
