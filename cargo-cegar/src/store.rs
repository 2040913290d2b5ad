//! Files that a kill at any moment must not lose or leave half written.
//!
//! A file is written beside its place under another name, synced, and renamed over it; then the directory is synced,
//! because a rename that only the page cache knows about is not a rename yet. A reader sees the old file or the new.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

pub use cegar_fuzz::hex;

use crate::error::Error;

/// Writes `bytes` to `path`, whole or not at all. The directory must exist.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let fail = |why| Error::io("write", path, why);
    let mut file = tempfile::Builder::new()
        .prefix(".cegar-")
        .tempfile_in(directory)
        .map_err(fail)?;
    file.write_all(bytes).map_err(fail)?;
    file.as_file().sync_all().map_err(fail)?;
    make_readable(file.as_file()).map_err(fail)?;
    file.persist(path).map_err(|why| fail(why.error))?;
    // Some file systems cannot sync a directory; the data itself is safe by then.
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
    Ok(())
}

/// Temporary files are private to their owner; what is committed to a repository should not be.
fn make_readable(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

/// Writes `bytes` to `path` unless there is a file already; says whether it wrote.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<bool, Error> {
    if path.exists() {
        return Ok(false);
    }
    write(path, bytes)?;
    Ok(true)
}

/// Creates a directory with its parents and makes sure that files can be written there, so that a campaign fails at
/// its start and not at its first finding.
pub fn writable_dir(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|why| Error::io("create", path, why))?;
    tempfile::Builder::new()
        .prefix(".cegar-")
        .tempfile_in(path)
        .map(drop)
        .map_err(|why| Error::io("write to", path, why))
}

/// Makes sure that a directory exists with files writable in it, or could be made, without making it: for a place
/// that is only used if there is something to put there.
pub fn could_write(path: &Path) -> Result<(), Error> {
    let there = path
        .ancestors()
        .find(|above| above.exists())
        .unwrap_or(Path::new("."));
    tempfile::Builder::new()
        .prefix(".cegar-")
        .tempfile_in(there)
        .map(drop)
        .map_err(|why| Error::io("write to", there, why))
}

/// Makes sure that there is a folder for temporary files, which native runs and tests need, and that bytes can be written there.
pub fn temporary_files() -> Result<(), Error> {
    let folder = std::env::temp_dir();
    let written = tempfile::tempfile_in(&folder).and_then(|mut file| file.write_all(&[0; 4096]));
    written.map_err(|source| Error::Io {
        action: "write to",
        path: folder,
        source,
        help: Some(
            "this is the folder for temporary files: set TMPDIR to one that is there, can be written to and has room"
                .to_owned(),
        ),
    })
}

/// Reads a text file.
pub fn read_text(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|why| Error::io("read", path, why))
}

/// The name of a corpus entry: the first 16 hex digits of its SHA-256, so that one content has one name. The fuzzer gives the
/// same.
pub fn entry_name(bytes: &[u8]) -> String {
    cegar_fuzz::worker::tape_name(bytes)
}

/// Adds an entry to a corpus folder under [`entry_name`]; says whether it is new.
pub fn add_entry(corpus: &Path, bytes: &[u8]) -> Result<bool, Error> {
    write_new(&corpus.join(entry_name(bytes)), bytes)
}

/// The entries of a corpus folder, sorted by name, and the files that are none: those that cannot be read, and those
/// whose name is a content hash that their content does not have. The latter are left where they are; the caller names
/// them. Files with other names are a user's own seeds.
pub fn read_corpus(corpus: &Path) -> Result<(Vec<Vec<u8>>, Vec<std::path::PathBuf>), Error> {
    if !corpus.exists() {
        return Ok((Vec::new(), Vec::new()));
    }
    let mut paths = Vec::new();
    for entry in fs::read_dir(corpus).map_err(|why| Error::io("read", corpus, why))? {
        paths.push(entry.map_err(|why| Error::io("read", corpus, why))?.path());
    }
    paths.sort();
    let (mut entries, mut corrupt) = (Vec::new(), Vec::new());
    for path in paths {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.starts_with('.') || path.is_dir() {
            continue;
        }
        // Reading a pipe would wait for its writer.
        if !path.is_file() {
            corrupt.push(path);
            continue;
        }
        let hashed = name.len() == 16 && name.bytes().all(|b| b.is_ascii_hexdigit());
        match fs::read(&path) {
            Ok(bytes) if !hashed || name == entry_name(&bytes) => entries.push(bytes),
            _ => corrupt.push(path),
        }
    }
    Ok((entries, corrupt))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_written_file_is_whole_and_replaces() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert!(!write_new(&path, b"three").unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_corrupt_entry_is_left_out_and_named() {
        let dir = tempfile::tempdir().unwrap();
        assert!(add_entry(dir.path(), b"good").unwrap());
        assert!(!add_entry(dir.path(), b"good").unwrap());
        fs::write(dir.path().join("my-seed"), b"seed").unwrap();
        fs::write(dir.path().join(entry_name(b"other")), b"damaged").unwrap();
        fs::create_dir(dir.path().join("folder")).unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("dangling")).unwrap();
        std::os::unix::fs::symlink("circle", dir.path().join("circle")).unwrap();
        let pipe = dir.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRUSR).unwrap();
        let (entries, corrupt) = read_corpus(dir.path()).unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!(corrupt.len(), 4);
    }

    #[test]
    fn a_file_where_a_directory_should_be_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, b"").unwrap();
        assert!(matches!(
            writable_dir(&path.join("sub")),
            Err(Error::Io { .. })
        ));
    }
}
