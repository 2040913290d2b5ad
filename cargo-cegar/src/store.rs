//! File operations that are safe against a kill at any moment: no file is lost or half written.
//!
//! A file is written beside its final path under another name, synced, and renamed. Then the
//! directory is synced, since a rename that exists only in the page cache may be lost. A reader
//! sees either the old file or the new one.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use thiserror::Error as ThisError;

pub use cegar_fuzz::hex;

/// A file or a directory that cannot be read or written.
#[derive(Debug, ThisError, Diagnostic)]
#[error("cannot {action} `{}`: {source}", path.display())]
#[diagnostic(code(cegar::io))]
pub struct FileError {
    /// `read`, `write`, `create`, ...
    action: &'static str,
    path: PathBuf,
    source: io::Error,
    #[help]
    help: Option<String>,
}

impl FileError {
    /// An error with advice if the cause is known.
    pub fn new(action: &'static str, path: impl AsRef<Path>, source: io::Error) -> Self {
        let help = match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Some(
                "make it writable, or choose another place with --target-dir (scratch) or \
                 --emit-dir (tests)".to_owned(),
            ),
            io::ErrorKind::StorageFull => Some("the disk is full; nothing written before is \
                lost".to_owned()),
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => Some(
                "something else stands where a folder is needed: move it away".to_owned(),
            ),
            io::ErrorKind::NotFound if action.starts_with("write") => Some(
                "the folder was there and is gone: was it removed in the meantime? Run the command \
                 again; what is left of the corpus and of `target/cegar` is taken up".to_owned(),
            ),
            _ => None,
        };
        Self {
            action,
            path: path.as_ref().to_owned(),
            source,
            help,
        }
    }

    /// Replaces the advice if the user lacks permission to write.
    pub fn where_not_writable(mut self, help: &str) -> Self {
        if matches!(
            self.source.kind(),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
        ) {
            self.help = Some(help.to_owned());
        }
        self
    }

    /// An error with this advice instead of the usual one.
    pub fn with_help(
        action: &'static str,
        path: impl AsRef<Path>,
        source: io::Error,
        help: impl Into<String>,
    ) -> Self {
        Self {
            action,
            path: path.as_ref().to_owned(),
            source,
            help: Some(help.into()),
        }
    }
}

/// Writes `bytes` to `path` atomically. The directory must exist. A symbolic link is followed;
/// anything but a regular file, such as a pipe or a device, is written to directly.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let fail = |why| FileError::new("write", path, why);
    let old = fs::metadata(path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        let mut there = File::options().write(true).open(path).map_err(fail)?;
        return there.write_all(bytes).map_err(fail);
    }
    let whole = match old {
        Some(_) => path.canonicalize().map_err(fail)?,
        None => path.to_owned(),
    };
    let directory = match whole.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".cegar-")
        .tempfile_in(directory)
        .map_err(fail)?;
    file.write_all(bytes).map_err(fail)?;
    file.as_file().sync_all().map_err(fail)?;
    match old {
        Some(old) => file.as_file().set_permissions(old.permissions()),
        None => make_readable(file.as_file()),
    }
    .map_err(fail)?;
    file.persist(&whole).map_err(|why| fail(why.error))?;
    // Some file systems cannot sync a directory; the data itself is safe by then.
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
    Ok(())
}

/// Makes a file readable for everybody: temporary files are private to their owner, but files in a
/// repository should not be.
fn make_readable(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

/// Writes `bytes` to `path` unless the file exists. Returns whether it was written.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<bool, FileError> {
    if path.exists() {
        return Ok(false);
    }
    write(path, bytes)?;
    Ok(true)
}

/// Creates a directory with its parents and checks that files can be written there, so that a
/// campaign fails at its start instead of at its first finding.
pub fn writable_dir(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(|why| FileError::new("create", path, why))?;
    tempfile::Builder::new()
        .prefix(".cegar-")
        .tempfile_in(path)
        .map(drop)
        .map_err(|why| FileError::new("write to", path, why))
}

/// Checks that files can be written in a directory, or that it could be created, without creating
/// it: for a directory that is only used if there is something to put there.
pub fn could_write(path: &Path) -> Result<(), FileError> {
    let there = path
        .ancestors()
        .find(|above| above.exists())
        .unwrap_or(Path::new("."));
    tempfile::Builder::new()
        .prefix(".cegar-")
        .tempfile_in(there)
        .map(drop)
        .map_err(|why| FileError::new("write to", there, why))
}

/// Checks that the folder for temporary files, which native runs and tests need, exists and is
/// writable.
pub fn temporary_files() -> Result<(), FileError> {
    let folder = std::env::temp_dir();
    let written = tempfile::tempfile_in(&folder).and_then(|mut file| file.write_all(&[0; 4096]));
    let help = "this is the folder for temporary files: set TMPDIR to one that is there, \
                can be written to and has room";
    written.map_err(|why| FileError::with_help("write to", &folder, why, help))
}

/// The user's cache folder for this tool, which may not exist. Its contents can be recreated.
pub fn cache() -> Option<std::path::PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(std::path::PathBuf::from);
    folder("CEGAR_CACHE").or_else(|| {
        folder("XDG_CACHE_HOME")
            .or_else(|| folder("HOME").map(|home| home.join(".cache")))
            .map(|cache| cache.join("cargo-cegar"))
    })
}

/// Reads a text file.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    fs::read_to_string(path).map_err(|why| FileError::new("read", path, why))
}

/// The name of a corpus entry: the first 16 hex digits of its SHA-256, so that equal contents have
/// equal names. The fuzzer uses the same names.
pub fn entry_name(bytes: &[u8]) -> String {
    cegar_fuzz::worker::tape_name(bytes)
}

/// Adds an entry to a corpus folder under [`entry_name`]. Returns whether it is new.
pub fn add_entry(corpus: &Path, bytes: &[u8]) -> Result<bool, FileError> {
    write_new(&corpus.join(entry_name(bytes)), bytes)
}

/// The largest number of bytes of an input.
pub const LONGEST: u64 = 1 << 26;

/// The entries of a corpus folder, sorted by name, and the files that are not valid entries:
/// unreadable files, files longer than an input may be, and files whose name is a content hash that
/// does not match their content. Invalid files are left in place; the caller reports them. Files
/// with other names are the user's own seeds.
pub fn read_corpus(corpus: &Path) -> Result<(Vec<Vec<u8>>, Vec<std::path::PathBuf>), FileError> {
    if !corpus.exists() {
        return Ok((Vec::new(), Vec::new()));
    }
    let mut paths = Vec::new();
    for entry in fs::read_dir(corpus).map_err(|why| FileError::new("read", corpus, why))? {
        paths.push(
            entry
                .map_err(|why| FileError::new("read", corpus, why))?
                .path(),
        );
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
        // No campaign writes such a file, and no run could read it.
        if fs::metadata(&path).is_ok_and(|file| file.len() > LONGEST) {
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
    fn what_is_no_regular_file_is_written_to_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink("real", &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let from = pipe.clone();
        let reads = std::thread::spawn(move || fs::read(from).unwrap());
        write(&pipe, b"text").unwrap();
        assert_eq!(reads.join().unwrap(), b"text");
        assert!(!pipe.is_file());
    }

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
        assert!(writable_dir(&path.join("sub")).is_err());
    }
}
