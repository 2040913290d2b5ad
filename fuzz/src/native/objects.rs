//! A cache of the objects of program parts, for other programs and for the next run.
//!
//! Beside each object is a record: which functions it contains, by name and key, and the hash of
//! its bytes, since disks fill up and folders are copied between machines. All harnesses of a
//! package share the folder, and their processes run in parallel. Every file therefore appears
//! under its name by renaming, and a build first copies an object that it uses into its own folder.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::TargetError;
use crate::hex;

/// The maximal size of the folder in bytes, and the size to which the oldest entries are removed.
const MOST: u64 = 2 << 30;
const LEFT: u64 = MOST / 4 * 3;

/// A folder of objects that were compiled with the same options.
pub(super) struct Objects {
    all: PathBuf,
    folder: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Record {
    /// The hash of the object.
    sha256: String,
    /// The key of each function, by name.
    functions: BTreeMap<String, String>,
}

/// The objects that were found for a program.
#[derive(Default)]
pub(super) struct Chosen {
    /// Copies of the objects.
    pub objects: Vec<PathBuf>,
    /// The functions in them.
    pub functions: HashSet<String>,
}

impl Objects {
    /// The objects below `folder` that were compiled as `how` describes.
    pub fn new(folder: &Path, how: &[&[u8]]) -> Objects {
        Objects {
            all: folder.to_owned(),
            folder: folder.join(&digest(how)[..16]),
        }
    }

    /// Chooses objects that cover as many of the wanted functions (name and key) as possible, none
    /// of them twice, and copies the objects to `to`.
    pub fn choose(&self, wanted: &HashMap<&str, &str>, to: &Path) -> Chosen {
        let mut usable: Vec<(usize, String, Record)> = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let read = fs::read(&path).ok();
            let record: Option<Record> = read.and_then(|text| serde_json::from_slice(&text).ok());
            let (Some(record), Some(stem)) = (record, path.file_stem()) else {
                continue;
            };
            let fits = record.functions.iter().all(|(name, key)| {
                wanted
                    .get(name.as_str())
                    .is_none_or(|wanted| *wanted == key)
            });
            let known = |name: &&String| wanted.contains_key(name.as_str());
            let hits = record.functions.keys().filter(known).count();
            if fits && hits > 0 {
                usable.push((hits, stem.to_string_lossy().into_owned(), record));
            }
        }
        // Sorted, so that the order does not depend on the file system.
        usable.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let mut chosen = Chosen::default();
        for (_, id, record) in usable {
            let is_free = |name: &String| !chosen.functions.contains(name);
            if record.functions.keys().all(is_free)
                && let Some(object) = self.take(&id, &record, to)
            {
                chosen.objects.push(object);
                chosen.functions.extend(record.functions.into_keys());
            }
        }
        chosen
    }

    /// The object that was compiled from this text, copied to `to`.
    pub fn find(&self, text: &str, to: &Path) -> Option<PathBuf> {
        let id = digest(&[text.as_bytes()]);
        let record = fs::read(self.record(&id)).ok()?;
        self.take(&id, &serde_json::from_slice(&record).ok()?, to)
    }

    fn object(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.o"))
    }

    fn record(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    /// Copies an object to `to` if its hash is the recorded one; otherwise the object is removed.
    fn take(&self, id: &str, record: &Record, to: &Path) -> Option<PathBuf> {
        let (kept, copy) = (self.object(id), to.join(format!("{id}.o")));
        fs::hard_link(&kept, &copy)
            .or_else(|_| fs::copy(&kept, &copy).map(drop))
            .ok()?;
        let is_whole = fs::read(&copy).is_ok_and(|bytes| digest_of(&bytes) == record.sha256);
        if !is_whole {
            tracing::warn!(object = %kept.display(), "a damaged object was removed");
            for path in [&copy, &kept, &self.record(id)] {
                // An object that cannot be removed is found damaged again next time.
                let _ = fs::remove_file(path);
            }
            return None;
        }
        if let Ok(file) = fs::File::open(&copy) {
            // If this fails, the object merely counts as older.
            let _ = file.set_modified(SystemTime::now());
        }
        Some(copy)
    }

    /// Caches an object that was compiled from `text`. If that fails, the object is compiled again
    /// next time.
    pub fn keep(
        &self,
        text: &str,
        functions: &BTreeMap<String, String>,
        object: &Path,
    ) -> Result<(), TargetError> {
        fs::create_dir_all(&self.folder).map_err(TargetError::file(&self.folder))?;
        let id = digest(&[text.as_bytes()]);
        let bytes = fs::read(object).map_err(TargetError::file(object))?;
        let record = Record {
            sha256: digest_of(&bytes),
            functions: functions.clone(),
        };
        let record = serde_json::to_vec(&record).unwrap_or_default();
        // The record is written last, so that a record never names a missing object.
        for (path, bytes) in [(self.object(&id), &bytes), (self.record(&id), &record)] {
            let made = tempfile::Builder::new()
                .prefix(".object-")
                .tempfile_in(&self.folder)
                .map_err(TargetError::file(&self.folder))?;
            fs::write(made.path(), bytes).map_err(TargetError::file(made.path()))?;
            made.persist(&path)
                .map_err(|why| TargetError::file(&path)(why.error))?;
        }
        Ok(())
    }

    /// Removes the oldest objects if the folder exceeds its maximal size.
    pub fn clear(&self) {
        self.clear_to(MOST, LEFT);
    }

    fn clear_to(&self, most: u64, left: u64) {
        let mut all = Vec::new();
        for folder in fs::read_dir(&self.all).into_iter().flatten().flatten() {
            let files = fs::read_dir(folder.path()).into_iter().flatten().flatten();
            all.extend(files.filter_map(|entry| {
                let about = entry.metadata().ok()?;
                Some((about.modified().ok()?, about.len(), entry.path()))
            }));
        }
        let mut size: u64 = all.iter().map(|(_, length, _)| length).sum();
        if size <= most {
            return;
        }
        all.sort();
        for (_, length, path) in all {
            if size <= left {
                break;
            }
            // An object without its record is never used, and a record without its object is
            // ignored.
            if fs::remove_file(&path).is_ok() {
                size -= length;
            }
        }
    }
}

fn digest_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions(all: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = |(name, key): &(&str, &str)| ((*name).to_owned(), (*key).to_owned());
        all.iter().map(owned).collect()
    }

    struct Place {
        folder: tempfile::TempDir,
        objects: Objects,
    }

    impl Place {
        fn new() -> Place {
            let folder = tempfile::tempdir().expect("a folder");
            let objects = Objects::new(&folder.path().join("kept"), &[b"-O1"]);
            Place { folder, objects }
        }

        fn keep(&self, text: &str, all: &[(&str, &str)]) {
            let object = self.folder.path().join("made.o");
            fs::write(&object, text.repeat(10)).expect("written");
            self.objects
                .keep(text, &functions(all), &object)
                .expect("kept");
        }

        fn chosen(&self, wanted: &[(&str, &str)]) -> Vec<String> {
            let to = tempfile::tempdir().expect("a folder");
            let wanted = wanted.iter().copied().collect();
            let mut all: Vec<String> = self
                .objects
                .choose(&wanted, to.path())
                .functions
                .into_iter()
                .collect();
            all.sort();
            all
        }
    }

    #[test]
    fn an_object_serves_a_program_that_lacks_some_of_its_functions() {
        let place = Place::new();
        place.keep("one", &[("f", "1"), ("g", "1")]);
        assert_eq!(place.chosen(&[("f", "1"), ("h", "1")]), ["f", "g"]);
        assert!(place.chosen(&[("f", "1"), ("g", "2")]).is_empty());
        assert!(place.chosen(&[("h", "1")]).is_empty());
    }

    #[test]
    fn no_function_comes_twice() {
        let place = Place::new();
        place.keep("one", &[("f", "1"), ("g", "1")]);
        place.keep("two", &[("g", "1"), ("h", "1"), ("i", "1")]);
        let wanted = [("f", "1"), ("g", "1"), ("h", "1"), ("i", "1")];
        assert_eq!(place.chosen(&wanted), ["g", "h", "i"]);
    }

    #[test]
    fn what_is_damaged_is_made_again() {
        let place = Place::new();
        place.keep("one", &[("f", "1")]);
        let id = digest(&[b"one"]);
        fs::write(place.objects.object(&id), "half").expect("written");
        assert!(place.chosen(&[("f", "1")]).is_empty());
        assert!(!place.objects.record(&id).exists());
        place.keep("one", &[("f", "1")]);
        assert_eq!(place.chosen(&[("f", "1")]), ["f"]);
        fs::write(place.objects.record(&id), "{").expect("written");
        assert!(place.chosen(&[("f", "1")]).is_empty());
    }

    #[test]
    fn the_oldest_go_when_there_is_too_much() {
        let place = Place::new();
        place.keep("old", &[("f", "1")]);
        let id = digest(&[b"old"]);
        for path in [place.objects.object(&id), place.objects.record(&id)] {
            let file = fs::File::options().append(true).open(path).expect("there");
            file.set_modified(SystemTime::UNIX_EPOCH).expect("set");
        }
        place.keep("new", &[("g", "1")]);
        place.objects.clear_to(1 << 20, 0);
        assert_eq!(place.chosen(&[("f", "1"), ("g", "1")]), ["f", "g"]);
        place.objects.clear_to(200, 199);
        assert_eq!(place.chosen(&[("f", "1"), ("g", "1")]), ["g"]);
    }
}
