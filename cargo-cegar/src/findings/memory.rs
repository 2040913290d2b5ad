//! The storage of the records of findings.
//!
//! There are two folders. The one in the package (`cegar/findings/HARNESS/NAME.json`) is committed
//! with the tests, and is what a fresh checkout knows. The one in the scratch folder
//! (`target/cegar/HARNESS/findings/NAME.json`) is written at the moment of the finding, before it
//! is reported, even if no test can be written: so a kill loses nothing, and a finding without a
//! test is not forgotten. A record in both folders counts once, and it has been seen to pass if
//! either folder says so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Identity, Record};
use crate::error::Error;

/// The folders of the records of one harness.
#[derive(Clone, Debug)]
pub struct Place {
    /// The folder in the package, under version control. It is read.
    pub committed: PathBuf,
    /// The folder for records that are to be committed with their tests; `None` if no tests are
    /// written.
    pub emitted: Option<PathBuf>,
    /// The folder in the scratch folder, for this machine only.
    pub own: PathBuf,
}

impl Place {
    /// The folders of a harness: in the package that is read, in the folder of the same structure
    /// to which tests are written, and in the harness's scratch folder.
    pub fn new(harness: &str, package: &Path, emitted: Option<&Path>, scratch: &Path) -> Place {
        let of = |folder: &Path| folder.join("findings").join(harness);
        Place {
            committed: of(package),
            emitted: emitted.map(of),
            own: scratch.join("findings"),
        }
    }
}

/// The records of one harness.
#[derive(Debug)]
pub struct Memory {
    place: Place,
    records: BTreeMap<String, Record>,
}

impl Memory {
    /// Reads the records. A damaged record is an error if it is committed, since its test would not
    /// be run. A damaged record of this machine is skipped, and its error is in the second result.
    pub fn read(place: Place) -> Result<(Memory, Vec<Error>), Error> {
        let mut records: BTreeMap<String, Record> = BTreeMap::new();
        for path in files(&place.committed)? {
            let record = Record::read(&path)?;
            records.insert(record.name.clone(), record);
        }
        let (mut damaged, mut others) = (Vec::new(), Vec::new());
        for path in files(&place.own)? {
            let mut own = match Record::read(&path) {
                Ok(own) => own,
                Err(why) => {
                    damaged.push(why);
                    continue;
                }
            };
            match records.get_mut(&own.name) {
                Some(known) if known.input() != own.input() => others.push(own),
                Some(known) => {
                    own.seen_passing |= known.seen_passing;
                    *known = own;
                }
                None => drop(records.insert(own.name.clone(), own)),
            }
        }
        let mut memory = Memory { place, records };
        // Another machine committed another input for this fault: both are kept.
        for mut other in others {
            let input = other.input();
            if memory.records().any(|known| known.input() == input) {
                continue;
            }
            other.name = memory.free_name(&other.name);
            memory.keep(other)?;
        }
        Ok((memory, damaged))
    }

    /// The records, sorted by name.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.values()
    }

    /// A name for a new record: `name`, with a number appended if it is taken.
    pub fn free_name(&self, name: &str) -> String {
        let taken = |name: &String| self.records.contains_key(name);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        // There are more numbers than records, so a name is always found.
        names.find(|name| !taken(name)).unwrap_or_default()
    }

    /// The record of this fault whose input fails, if there is one.
    pub fn failing(&self, identity: &Identity) -> Option<&Record> {
        let mut records = self.records.values();
        records.find(|record| record.failing && record.identity.is(identity))
    }

    /// Stores a record on this machine.
    pub fn keep(&mut self, record: Record) -> Result<(), Error> {
        record.write(&self.place.own.join(file_name(&record.name)))?;
        self.records.insert(record.name.clone(), record);
        Ok(())
    }

    /// Stores a record in the folder that is committed with its test.
    pub fn commit(&self, name: &str) -> Result<(), Error> {
        match (&self.place.emitted, self.records.get(name)) {
            (Some(folder), Some(record)) => record.write(&folder.join(file_name(name))),
            _ => Ok(()),
        }
    }

    /// Whether the record is committed.
    pub fn is_committed(&self, name: &str) -> bool {
        self.place.committed.join(file_name(name)).is_file()
    }

    /// Records how the input of a record ended: with a fault, or without one. If the record is
    /// committed and tests are written to the package, the committed record is updated, too.
    pub fn note(&mut self, name: &str, fault: Option<&Identity>) -> Result<(), Error> {
        let Some(record) = self.records.get(name) else {
            return Ok(());
        };
        let mut now = record.clone();
        now.failing = fault.is_some();
        now.seen_passing |= fault.is_none();
        // The code has changed there, but the input still fails.
        if let Some(fault) = fault.filter(|fault| !fault.is(&now.identity)) {
            now.identity = fault.clone();
        }
        self.keep(now)?;
        if self.place.emitted.as_ref() == Some(&self.place.committed) && self.is_committed(name) {
            self.commit(name)?;
        }
        Ok(())
    }
}

fn file_name(name: &str) -> String {
    format!("{name}.json")
}

/// The record files of a folder, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return Err(Error::io("read", folder, why)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|why| Error::io("read", folder, why))?.path();
        let hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden
            && path
                .extension()
                .is_some_and(|extension| extension == "json")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::record::tests::sample;
    use super::*;

    fn memory(root: &Path, emitted: Option<&Path>) -> Memory {
        let place = Place::new("h", &root.join("cegar"), emitted, &root.join("target/h"));
        let (memory, damaged) = Memory::read(place).unwrap();
        assert!(damaged.is_empty());
        memory
    }

    #[test]
    fn what_passed_once_is_remembered_on_both_sides() {
        let dir = tempfile::tempdir().unwrap();
        let package = dir.path().join("cegar");
        let mut one = memory(dir.path(), Some(&package));
        one.keep(sample("h", "a", b"x")).unwrap();
        one.commit("a").unwrap();
        one.note("a", None).unwrap();
        // Simulates a fresh checkout.
        std::fs::remove_dir_all(dir.path().join("target")).unwrap();
        let mut two = memory(dir.path(), None);
        let record = two.records().next().unwrap().clone();
        assert!(!record.failing && record.seen_passing);
        two.note("a", Some(&record.identity)).unwrap();
        // The package was only read, so its record is unchanged.
        let committed = Record::read(&package.join("findings/h/a.json")).unwrap();
        assert!(!committed.failing);
        let three = memory(dir.path(), None);
        let record = three.records().next().unwrap();
        assert!(record.failing && record.seen_passing);
        assert!(three.failing(&record.identity).is_some());
    }

    #[test]
    fn another_input_gets_another_name() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = memory(dir.path(), None);
        assert_eq!(memory.free_name("a"), "a");
        memory.keep(sample("h", "a", b"x")).unwrap();
        memory.keep(sample("h", "a_2", b"y")).unwrap();
        assert_eq!(memory.free_name("a"), "a_3");
    }

    #[test]
    fn an_input_that_somebody_else_committed_displaces_none() {
        let dir = tempfile::tempdir().unwrap();
        memory(dir.path(), None)
            .keep(sample("h", "a", b"mine"))
            .unwrap();
        let committed = dir.path().join("cegar/findings/h/a.json");
        sample("h", "a", b"theirs").write(&committed).unwrap();
        for _ in 0..2 {
            let memory = memory(dir.path(), None);
            let inputs: Vec<_> = memory
                .records()
                .map(|r| (r.name.clone(), r.input()))
                .collect();
            let (mine, theirs) = (b"mine".to_vec(), b"theirs".to_vec());
            assert_eq!(inputs, [("a".to_owned(), theirs), ("a_2".to_owned(), mine)]);
        }
    }

    #[test]
    fn a_damaged_record_of_this_machine_is_named_and_a_committed_one_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new("h", &dir.path().join("cegar"), None, &dir.path().join("t"));
        std::fs::create_dir_all(&place.own).unwrap();
        std::fs::write(place.own.join("a.json"), "{").unwrap();
        std::fs::write(place.own.join(".cegar-half"), "{").unwrap();
        let (memory, damaged) = Memory::read(place.clone()).unwrap();
        assert_eq!((memory.records().count(), damaged.len()), (0, 1));
        std::fs::create_dir_all(&place.committed).unwrap();
        std::fs::write(place.committed.join("a.json"), "{").unwrap();
        let error = Memory::read(place).unwrap_err();
        assert_eq!(error.exit_code(), crate::exit::ExitCode::Usage);
    }
}
