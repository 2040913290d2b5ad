//! A cache of object files of the user's code, by content.
//!
//! All harnesses of a library compile the same files, and a campaign builds the executable of a
//! test again for each finding. The key of an object is what it was compiled with and its
//! preprocessed text, which is made anew each time. The text is needed because a new header that
//! shadows another one on the search path, or an include path in the environment, changes none of
//! the files that were read. The object is reused only if all files that were read are unchanged
//! too, since the text does not show columns. For this, the compiler's list of these files is kept
//! beside the object, with a hash of each file and of the object.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::cache::name;

/// The maximal size of the folder in bytes, and the size to which the oldest entries are removed.
const MOST: u64 = 1 << 30;
const LEFT: u64 = MOST / 4 * 3;

/// A folder for objects, or none if nothing is cached.
pub(crate) struct Objects {
    folder: Option<PathBuf>,
}

/// The key of an object: the compiler with its arguments, the source and its preprocessed text.
pub(crate) struct Known(String);

impl Objects {
    /// A cache in this folder. Without a folder, if none is given or it cannot be created.
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

    /// The key of the object of `source`, which is compiled from `text` as `how` describes.
    pub fn known(how: &str, source: &Path, text: &[u8]) -> Known {
        Known(name(&[
            how.as_bytes(),
            source.as_os_str().as_encoded_bytes(),
            text,
        ]))
    }

    /// Copies the cached object to `object` and returns the files that it was made of, if there is
    /// a valid one. Files below `scratch` are not compared, since this program provides them.
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
            // The object is damaged: it is compiled again and replaced.
            let _ = fs::remove_file(&kept);
            return None;
        }
        if let Ok(file) = fs::File::open(&kept) {
            // If this fails, the object merely counts as older.
            let _ = file.set_modified(SystemTime::now());
        }
        Some(files)
    }

    /// Caches an object that was made of these files. If that fails, the object is compiled again
    /// next time.
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
        // The list is written last, since an object without a list is not used.
        let _ = fs::remove_file(&list_path);
        if put(&kept, &|to| fs::copy(object, to).map(drop)) {
            put(&list_path, &|to| fs::write(to, &list));
        }
    }

    fn object(&self, known: &Known) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{}.o", known.0)))
    }

    /// Removes the oldest objects if the folder exceeds its maximal size.
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
