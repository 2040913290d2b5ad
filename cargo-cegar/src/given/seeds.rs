//! Raw inputs of other fuzzers: a folder, or an archive as in OSS-Fuzz, which has one for each
//! target (`NAME_seed_corpus.zip`).
//!
//! An input of `LLVMFuzzerTestOneInput` is a tape without changes. Any other program asks for more
//! than the file: a harness that `init` wrote asks for numbers before the data, and a stream
//! encodes a byte 0xFF as two bytes. How much a program asks for first is unknown before it runs,
//! so all usual possibilities are offered, and the fuzzer keeps those that enter something new.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::options::Harness;
use crate::store;

/// The maximum depth of folders below the given one.
const DEPTH: usize = 8;
/// The numbers of bytes that a harness may ask for before its data.
const ASKED: [usize; 4] = [1, 2, 4, 8];
/// The largest number of files that are read from an archive, since an archive may claim any
/// number.
const FILES: usize = 100_000;

/// The result of unpacking seeds.
#[derive(Clone, Debug, Default)]
pub struct Unpacked {
    /// The number of files that were taken.
    pub taken: usize,
    /// The number of files longer than `max_len`.
    pub long: usize,
    /// The length of the longest of these.
    pub longest: u64,
}

fn is_archive(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("zip"))
}

/// Returns an error if these cannot be seeds.
pub(super) fn check(path: &Path) -> Result<(), Error> {
    if path.is_dir() {
        return Ok(());
    }
    if !path.exists() {
        return Err(Error::nothing(
            format!("there are no seeds `{}`", path.display()),
            "name a folder of inputs, or a zip archive of them",
        ));
    }
    if !is_archive(path) {
        return Err(Error::usage(
            format!("`{}` is neither a folder nor a zip archive", path.display()),
            "name a folder of inputs, or a zip archive of them",
        ));
    }
    archive(path).map(drop)
}

fn archive(path: &Path) -> Result<zip::ZipArchive<File>, Error> {
    let file = File::open(path).map_err(|why| Error::io("read", path, why))?;
    zip::ZipArchive::new(file).map_err(|why| broken(path, &why.to_string()))
}

fn broken(path: &Path, why: &str) -> Error {
    Error::usage(
        format!(
            "`{}` is not a zip archive that can be read: {why}",
            path.display()
        ),
        "archives that are stored or deflated are read; unpack any other one into a folder",
    )
}

/// Converts a harness's seeds to tapes in the folder `into`, which contains nothing else
/// afterwards.
pub fn unpack(harness: &Harness, into: &Path) -> Result<Unpacked, Error> {
    if into.exists() {
        std::fs::remove_dir_all(into).map_err(|why| Error::io("remove", into, why))?;
    }
    let mut done = Unpacked::default();
    if harness.seeds.is_empty() {
        return Ok(done);
    }
    store::writable_dir(into)?;
    let unpacking = Unpacking {
        into,
        max_len: harness.max_len,
        is_data: takes_data(harness),
    };
    for path in &harness.seeds {
        if path.is_dir() {
            unpacking.folder(path, DEPTH, &mut done)?;
        } else {
            unpacking.archive(path, &mut done)?;
        }
    }
    Ok(done)
}

/// Whether a file is the whole input of the program.
fn takes_data(harness: &Harness) -> bool {
    let own = (0..).zip(&harness.units);
    own.filter(|(number, _)| !harness.library.contains(number))
        .filter_map(|(_, unit)| std::fs::read(unit.directory.join(&unit.source)).ok())
        .any(|text| String::from_utf8_lossy(&text).contains("LLVMFuzzerTestOneInput"))
}

struct Unpacking<'a> {
    into: &'a Path,
    max_len: usize,
    is_data: bool,
}

impl Unpacking<'_> {
    fn folder(&self, folder: &Path, depth: usize, done: &mut Unpacked) -> Result<(), Error> {
        let entries = std::fs::read_dir(folder).map_err(|why| Error::io("read", folder, why))?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() && depth > 0 {
                self.folder(&path, depth - 1, done)?;
            }
            // Only regular files are read: reading a pipe would wait for its writer.
            if path.is_file() {
                let file = File::open(&path).map_err(|why| Error::io("read", &path, why))?;
                let size = file.metadata().map_or(0, |about| about.len());
                self.file(file, size, done)
                    .map_err(|why| Error::io("read", &path, why))??;
            }
        }
        Ok(())
    }

    fn archive(&self, path: &Path, done: &mut Unpacked) -> Result<(), Error> {
        let mut archive = archive(path)?;
        for number in 0..archive.len().min(FILES) {
            let file = archive
                .by_index(number)
                .map_err(|why| broken(path, &why.to_string()))?;
            if file.is_file() {
                let size = file.size();
                self.file(file, size, done)
                    .map_err(|why| broken(path, &why.to_string()))??;
            }
        }
        Ok(())
    }

    /// Adds one file, which claims to be `size` bytes long.
    fn file(
        &self,
        file: impl Read,
        size: u64,
        done: &mut Unpacked,
    ) -> std::io::Result<Result<(), Error>> {
        let mut bytes = Vec::new();
        file.take(self.max_len as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > self.max_len {
            done.long += 1;
            done.longest = done.longest.max(size);
            return Ok(Ok(()));
        }
        done.taken += 1;
        for tape in self.tapes(bytes) {
            if tape.len() <= self.max_len
                && let Err(why) = store::add_entry(self.into, &tape)
            {
                return Ok(Err(why.into()));
            }
        }
        Ok(Ok(()))
    }

    /// The tapes that a file may correspond to.
    fn tapes(&self, bytes: Vec<u8>) -> Vec<Vec<u8>> {
        if self.is_data {
            return vec![bytes];
        }
        let streamed = bytes.iter().flat_map(|&byte| {
            let escape = (byte == 0xff).then_some(1);
            std::iter::once(byte).chain(escape)
        });
        let mut tapes = vec![streamed.collect()];
        for length in ASKED {
            // Numbers before the data are mostly capacities, so large ones are chosen.
            let mut tape = vec![0xff; length];
            tape.extend_from_slice(&bytes);
            tapes.push(tape);
        }
        tapes.push(bytes);
        tapes
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn harness(seeds: &Path) -> Harness {
        let mut harness = Harness::new("demo", Vec::new());
        harness.max_len = 8;
        harness.seeds = vec![seeds.to_owned()];
        harness
    }

    #[test]
    fn an_archive_is_unpacked_and_long_files_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("demo_seed_corpus.zip");
        let mut writer = zip::ZipWriter::new(File::create(&path).unwrap());
        let plain = zip::write::SimpleFileOptions::default();
        for (name, bytes) in [("a/one", &b"one"[..]), ("two", b"longer than eight")] {
            writer.start_file(name, plain).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap();
        check(&path).unwrap();
        let into = folder.path().join("tapes");
        let done = unpack(&harness(&path), &into).unwrap();
        assert_eq!((done.taken, done.long, done.longest), (1, 1, 17));
        let (tapes, _) = store::read_corpus(&into).unwrap();
        assert!(tapes.contains(&b"one".to_vec()), "{tapes:?}");
        assert!(tapes.contains(&b"\xff\xffone".to_vec()), "{tapes:?}");
    }

    #[test]
    fn what_is_no_archive_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("broken.zip");
        std::fs::write(&path, "PK").unwrap();
        let error = check(&path).unwrap_err().to_string();
        assert!(error.contains("broken.zip"), "{error}");
        assert!(check(&folder.path().join("none")).is_err());
    }
}
