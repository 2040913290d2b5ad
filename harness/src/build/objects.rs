//! Object files of the user's code, kept by content.
//!
//! All harnesses of a library compile the same files, and a campaign builds the executable of a
//! test again whenever it has a finding. An object is found by what it was compiled with and by the
//! preprocessed text, which is made anew each time: a header that appears before another one of its
//! name on the search path, or an include path in the environment, changes no file that was read.
//! The object is used if every file that was read then is what it was (the text does not tell
//! columns): the compiler's own list of them lies beside the object, each with a hash of its
//! content, and one of the object.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::cache::name;

/// Bytes that the folder may hold, and how much is left when it is cleared of the oldest.
const MOST: u64 = 1 << 30;
const LEFT: u64 = MOST / 4 * 3;

/// A place for objects, or none.
pub(crate) struct Objects {
    folder: Option<PathBuf>,
}

/// What one object is known by: the compiler with its arguments, the source, and its preprocessed
/// text.
pub(crate) struct Known(String);

impl Objects {
    /// In this folder, if it can be made.
    pub fn new(folder: Option<&Path>) -> Objects {
        let folder = folder
            .filter(|folder| fs::create_dir_all(folder).is_ok())
            .map(Path::to_owned);
        Objects { folder }
    }

    /// Whether objects are kept at all.
    pub fn is_kept(&self) -> bool {
        self.folder.is_some()
    }

    /// What the object of `source` is known by, compiled as `how` says from `text`.
    pub fn known(how: &str, source: &Path, text: &[u8]) -> Known {
        Known(name(&[
            how.as_bytes(),
            source.as_os_str().as_encoded_bytes(),
            text,
        ]))
    }

    /// Copies the object to `object` and returns the files that it was made of, if there is one
    /// that is as good as new. Files below `scratch` are left out: they come with this program.
    pub fn take(&self, known: &Known, object: &Path, scratch: &Path) -> Option<Vec<PathBuf>> {
        let kept = self.object(known)?;
        let list = fs::read_to_string(kept.with_extension("files")).ok()?;
        let mut lines = list.lines();
        let whole = lines.next()?;
        let mut files = Vec::new();
        for line in lines {
            let (hash, path) = line.split_once(' ')?;
            let path = PathBuf::from(path);
            if !path.starts_with(scratch) && content(&path)? != hash {
                return None;
            }
            files.push(path);
        }
        fs::copy(&kept, object).ok()?;
        if content(object)? != whole {
            // It is compiled again, and replaced.
            let _ = fs::remove_file(&kept);
            return None;
        }
        if let Ok(file) = fs::File::open(&kept) {
            // It only seems older than it is where this fails.
            let _ = file.set_modified(SystemTime::now());
        }
        Some(files)
    }

    /// Keeps an object that was made of these files. What cannot be kept is compiled again next
    /// time.
    pub fn keep(&self, known: &Known, object: &Path, files: &[PathBuf], scratch: &Path) {
        let Some(kept) = self.object(known) else {
            return;
        };
        let Some(mut list) = content(object) else {
            return;
        };
        for file in files.iter().filter(|file| !file.starts_with(scratch)) {
            let Some(hash) = content(file) else { return };
            list.push_str(&format!("\n{hash} {}", file.display()));
        }
        let put = |path: &Path, write: &dyn Fn(&Path) -> std::io::Result<()>| {
            let made = path.with_extension(format!("{}.tmp", std::process::id()));
            write(&made).and_then(|()| fs::rename(&made, path)).is_ok()
        };
        let list_path = kept.with_extension("files");
        // The list last: an object without one is not used.
        let _ = fs::remove_file(&list_path);
        if put(&kept, &|to| fs::copy(object, to).map(drop)) {
            put(&list_path, &|to| fs::write(to, &list));
        }
    }

    fn object(&self, known: &Known) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{}.o", known.0)))
    }

    /// Removes the oldest if there is too much.
    pub fn clear(&self) {
        let entries = self
            .folder
            .iter()
            .flat_map(fs::read_dir)
            .flatten()
            .flatten();
        let mut all: Vec<(SystemTime, u64, PathBuf)> = entries
            .filter_map(|entry| {
                let about = entry.metadata().ok()?;
                Some((about.modified().ok()?, about.len(), entry.path()))
            })
            .collect();
        let mut size: u64 = all.iter().map(|(_, length, _)| length).sum();
        if size <= MOST {
            return;
        }
        all.sort();
        for (_, length, path) in all {
            if size <= LEFT {
                break;
            }
            if fs::remove_file(&path).is_ok() {
                size -= length;
            }
        }
    }
}

/// A hash of a file's content.
fn content(path: &Path) -> Option<String> {
    Some(name(&[&fs::read(path).ok()?]))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_used_until_a_file_changes_or_it_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let objects = Objects::new(Some(&at("kept")));
        let scratch = at("scratch");
        fs::write(at("a.c"), "int a;").unwrap();
        fs::write(at("a.h"), "int b;").unwrap();
        fs::write(at("a.o"), "code").unwrap();
        let files = vec![at("a.c"), at("a.h"), scratch.join("stub.h")];
        let known = Objects::known("cc -g", &at("a.c"), b"int a;");
        assert!(objects.take(&known, &at("b.o"), &scratch).is_none());
        objects.keep(&known, &at("a.o"), &files, &scratch);
        assert_eq!(
            objects.take(&known, &at("b.o"), &scratch),
            Some(files[..2].to_vec())
        );
        assert_eq!(fs::read(at("b.o")).unwrap(), b"code");
        for (how, text) in [("cc -O1", "int a;"), ("cc -g", "int shadowed;")] {
            let other = Objects::known(how, &at("a.c"), text.as_bytes());
            assert!(objects.take(&other, &at("b.o"), &scratch).is_none());
        }

        fs::write(at("a.h"), "int c;").unwrap();
        assert!(objects.take(&known, &at("b.o"), &scratch).is_none());
        objects.keep(&known, &at("a.o"), &files, &scratch);
        assert!(objects.take(&known, &at("b.o"), &scratch).is_some());
        fs::write(objects.object(&known).unwrap(), "half").unwrap();
        assert!(objects.take(&known, &at("b.o"), &scratch).is_none());
    }
}
