//! C files that the build script generates.
//!
//! A build script may write headers and sources to its `OUT_DIR`, and pass that folder to the
//! compiler. The folder belongs to one build on one machine. So the files that the compiler reads
//! there, and the headers that a harness may include, are copied to `cegar/captured/PACKAGE`, and
//! the flags name that folder: a committed package contains everything from which its tests are
//! compiled.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use super::parse::{normal, rebase};
use super::{Captured, Unit};
use crate::compile::parse_dependencies;
use crate::store::{self, FileError};

/// The folder with copies, beside `captured.json`.
const COPIES: &str = "captured";

/// The maximum depth of headers below a folder that is searched for them.
const DEPTH: usize = 6;

/// Maps files in the target folder of a capture to their places in a package.
pub(super) struct Generated<'a> {
    /// The target folder.
    target: PathBuf,
    /// The folder of the package.
    cegar: &'a Path,
}

impl<'a> Generated<'a> {
    pub(super) fn new(capture: &Path, cegar: &'a Path) -> Self {
        Generated {
            target: capture.join("target"),
            cegar,
        }
    }

    /// The path of a file relative to the package's folder of copies, or `None` for a file outside
    /// the target folder. A build script's folder is `.../build/PACKAGE-HASH/out`.
    fn below(&self, path: &Path) -> Option<PathBuf> {
        let rest = path.strip_prefix(&self.target).ok()?;
        let mut parts = rest.components().skip_while(|part| !is(*part, "build"));
        let script = parts.by_ref().nth(1);
        let is_script = script.is_some() && parts.next().is_some_and(|part| is(part, "out"));
        let Some(Component::Normal(script)) = script.filter(|_| is_script) else {
            return Some(Path::new("target").join(rest));
        };
        let script = script.to_string_lossy();
        let package = script.rsplit_once('-').map_or(&*script, |(name, _)| name);
        let parts = std::iter::once(Component::Normal(package.as_ref())).chain(parts);
        Some(parts.collect())
    }

    /// The path in the package; other paths are left unchanged.
    pub(super) fn place(&self, path: &Path) -> PathBuf {
        match self.below(path) {
            Some(below) => self.cegar.join(COPIES).join(below),
            None => path.to_owned(),
        }
    }

    /// The generated files from which the captured units are compiled, by their paths relative to
    /// the folder of copies. If the compiler does not report what it reads, the headers of that
    /// unit are missing.
    pub(super) fn files(&self, captured: &Captured) -> BTreeMap<PathBuf, PathBuf> {
        let mut read = BTreeSet::new();
        let mut searched = BTreeSet::new();
        for unit in &captured.units {
            let folders = self.named(unit);
            if folders.is_empty() && !unit.file.starts_with(&self.target) {
                continue;
            }
            searched.extend(folders);
            read.insert(unit.file.clone());
            let output = Command::new(&captured.compiler)
                .current_dir(&unit.directory)
                .args(&unit.args)
                .arg("-M")
                .arg(&unit.file)
                .output();
            match output {
                Ok(output) => {
                    let list = String::from_utf8_lossy(&output.stdout);
                    let files = parse_dependencies(&list).into_iter();
                    read.extend(files.map(|file| normal(&unit.directory.join(file))));
                }
                Err(why) => tracing::warn!("{}: {why}", captured.compiler),
            }
        }
        for folder in &searched {
            headers(folder, DEPTH, &mut read);
        }
        let placed = read.into_iter().filter(|file| file.is_file());
        placed
            .filter_map(|file| Some((self.below(&file)?, file)))
            .collect()
    }

    /// The paths in the target folder that the flags of a unit contain.
    fn named(&self, unit: &Unit) -> Vec<PathBuf> {
        let named = RefCell::new(Vec::new());
        rebase(&unit.args, &unit.directory, &|path: &Path| {
            if path.starts_with(&self.target) {
                named.borrow_mut().push(path.to_owned());
            }
            path.to_owned()
        });
        named.into_inner()
    }
}

/// Adds the headers below a folder.
fn headers(folder: &Path, depth: usize, into: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && depth > 1 {
            headers(&path, depth - 1, into);
        } else if path.extension().is_some_and(|extension| extension == "h") {
            into.insert(path);
        }
    }
}

/// Copies the files to the folder of copies in `package`, replacing those of an earlier capture.
pub(super) fn copy(files: &BTreeMap<PathBuf, PathBuf>, package: &Path) -> Result<(), FileError> {
    let copies = package.join(COPIES);
    remove_all_but(&copies, &|path| {
        let below = path.strip_prefix(&copies);
        below.is_ok_and(|below| files.contains_key(below))
    });
    for (below, file) in files {
        let to = copies.join(below);
        let bytes = std::fs::read(file).map_err(|why| FileError::new("read", file, why))?;
        if std::fs::read(&to).is_ok_and(|there| there == bytes) {
            continue;
        }
        if let Some(folder) = to.parent() {
            store::writable_dir(folder)?;
        }
        store::write(&to, &bytes)?;
    }
    Ok(())
}

/// Whether the copies in `package` are identical to these files.
pub(super) fn are_copied(files: &BTreeMap<PathBuf, PathBuf>, package: &Path) -> bool {
    files.iter().all(|(below, file)| {
        let copy = std::fs::read(package.join(COPIES).join(below));
        let bytes = std::fs::read(file);
        matches!((copy, bytes), (Ok(copy), Ok(bytes)) if copy == bytes)
    })
}

fn is(part: Component<'_>, name: &str) -> bool {
    part.as_os_str() == OsStr::new(name)
}

/// Removes the files below `folder` that are not kept. Errors are ignored, since a remaining file
/// does no harm.
fn remove_all_but(folder: &Path, kept: &dyn Fn(&Path) -> bool) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            remove_all_but(&path, kept);
            // Succeeds only if the folder is empty.
            let _ = std::fs::remove_dir(&path);
        } else if !kept(&path) {
            let _ = std::fs::remove_file(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_a_build_script_is_known_by_its_package() {
        let generated = Generated::new("/w/target/cegar/capture".as_ref(), "/w/cegar".as_ref());
        let place = |path: &str| {
            let path = Path::new("/w/target/cegar/capture/target").join(path);
            generated.place(&path).display().to_string()
        };
        let made = "debug/build/z-sys-0a1b/out/include/z.h";
        assert_eq!(place(made), "/w/cegar/captured/z-sys/include/z.h");
        let crossed = "x86_64-unknown-linux-gnu/debug/build/z-0a1b/out";
        assert_eq!(place(crossed), "/w/cegar/captured/z");
        assert_eq!(place("debug/x.h"), "/w/cegar/captured/target/debug/x.h");
        assert_eq!(generated.place("/w/c/x.h".as_ref()), Path::new("/w/c/x.h"));
    }
}
