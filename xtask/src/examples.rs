//! The Rust projects in `examples/`, and copies of them.
//!
//! The demo works on a copy, since `cargo cegar` writes into the project that it is run in, and the
//! example in the checkout must not change.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::places::Places;

/// All examples: the folders of `examples/` with a manifest, sorted by name.
pub(crate) fn all(places: &Places) -> Result<Vec<PathBuf>> {
    let folder = places.root.join("examples");
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).map_err(Error::file("read", &folder))? {
        let path = entry.map_err(Error::file("read", &folder))?.path();
        if path.join("Cargo.toml").is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Copies an example, and makes its paths into this checkout absolute.
pub(crate) fn copy(places: &Places, from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to).map_err(Error::file("empty", to))?;
    }
    copy_tree(from, to)?;
    let manifest = to.join("cegar/Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(Error::file("read", &manifest))?;
    let text = absolute(&text, &places.root);
    fs::write(&manifest, text).map_err(Error::file("write", &manifest))
}

/// Replaces paths such as `path = "../../../harness"`, which are relative to
/// `examples/<name>/cegar`.
fn absolute(manifest: &str, root: &Path) -> String {
    manifest.replace(
        "path = \"../../../",
        &format!("path = \"{}/", root.display()),
    )
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).map_err(Error::file("create", to))?;
    for entry in fs::read_dir(from).map_err(Error::file("read", from))? {
        let entry = entry.map_err(Error::file("read", from))?;
        let (source, copy) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name() == "target" {
            continue;
        }
        if source.is_dir() {
            copy_tree(&source, &copy)?;
        } else {
            fs::copy(&source, &copy).map_err(Error::file("copy", &source))?;
        }
    }
    Ok(())
}

/// Makes the project take `cegar-harness` from a registry, by changing the line that says where it
/// is.
pub(crate) fn from_registry(project: &Path, version: &str) -> Result<()> {
    let manifest = project.join("cegar/Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(Error::file("read", &manifest))?;
    fs::write(&manifest, versioned(&text, version)).map_err(Error::file("write", &manifest))
}

fn versioned(manifest: &str, version: &str) -> String {
    let line = |line: &str| match line.starts_with("cegar-harness =") {
        true => format!("cegar-harness = \"{version}\"\n"),
        false => format!("{line}\n"),
    };
    manifest.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_out_of_the_example_are_changed() {
        let text = "a = { path = \"../../../harness\" }\nb = { path = \"..\" }\n";
        let expected = "a = { path = \"/src/harness\" }\nb = { path = \"..\" }\n";
        assert_eq!(absolute(text, Path::new("/src")), expected);
    }

    #[test]
    fn one_line_says_where_the_harness_is() {
        let text = "cegar-harness = { path = \"x\" }\ncegar-harness.workspace = true\n";
        let expected = "cegar-harness = \"1.2.3\"\ncegar-harness.workspace = true\n";
        assert_eq!(versioned(text, "1.2.3"), expected);
    }
}
