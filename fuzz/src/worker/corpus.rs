//! The corpus on disk: one file per tape, named by a prefix of its SHA-256.
//!
//! A file appears under its name only when it is complete (written to a temporary file, synced,
//! renamed), so that a kill at any moment loses nothing that was reported. A file is damaged if its
//! name has the form of such a prefix but does not match its content; it is skipped. Files with
//! other names are the user's and are used as they are.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The number of hexadecimal digits of the SHA-256 in a name.
const DIGITS: usize = 16;

/// A tape's file name.
pub fn tape_name(tape: &[u8]) -> String {
    crate::hex(&Sha256::digest(tape)[..DIGITS / 2])
}

/// Writes a tape into a folder, completely or not at all. Returns its path.
pub fn save_tape(folder: &Path, tape: &[u8]) -> std::io::Result<PathBuf> {
    let path = folder.join(tape_name(tape));
    if path.exists() {
        return Ok(path);
    }
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(".tape-")
        .tempfile_in(folder)?;
    file.write_all(tape)?;
    file.as_file().sync_data()?;
    file.persist(&path).map_err(|e| e.error)?;
    Ok(path)
}

/// A file of the corpus that is not used, with the reason.
pub(super) struct Skipped {
    pub path: PathBuf,
    pub reason: String,
}

fn files(paths: &[PathBuf], skipped: &mut Vec<Skipped>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            match fs::read_dir(path) {
                Ok(entries) => {
                    found.extend(entries.flatten().map(|e| e.path()).filter(|p| p.is_file()))
                }
                Err(e) => skipped.push(Skipped {
                    path: path.clone(),
                    reason: e.to_string(),
                }),
            }
        } else if path.exists() {
            found.push(path.clone());
        }
    }
    // Names of temporary files from an interrupted write start with a dot.
    found.retain(|p| {
        p.file_name()
            .is_some_and(|n| !n.to_string_lossy().starts_with('.'))
    });
    found.sort();
    found.dedup();
    found
}

/// Reads all tapes of these files and folders, sorted by path.
pub(super) fn read(paths: &[PathBuf], longest: usize) -> (Vec<Vec<u8>>, Vec<Skipped>) {
    let mut skipped = Vec::new();
    let mut tapes = Vec::new();
    for path in files(paths, &mut skipped) {
        let name = path
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default();
        let named = name.len() == DIGITS && name.bytes().all(|b| b.is_ascii_hexdigit());
        match fs::read(&path) {
            Err(e) => skipped.push(Skipped {
                path,
                reason: e.to_string(),
            }),
            Ok(tape) if named && tape_name(&tape) != name => {
                skipped.push(Skipped {
                    path,
                    reason: "damaged: its content does not fit its name".to_owned(),
                });
            }
            Ok(tape) if tape.len() > longest => {
                let reason = format!(
                    "{} bytes long, above the limit of {longest} (`max_len`)",
                    tape.len()
                );
                skipped.push(Skipped { path, reason });
            }
            Ok(tape) => tapes.push(tape),
        }
    }
    (tapes, skipped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_tape_is_skipped_and_named() {
        let folder = tempfile::tempdir().expect("folder");
        let good = save_tape(folder.path(), b"good").expect("saved");
        let bad = save_tape(folder.path(), b"bad").expect("saved");
        fs::write(&bad, b"cut").expect("damaged");
        fs::write(folder.path().join("mine.bin"), b"mine").expect("written");
        let (tapes, skipped) = read(&[folder.path().to_owned()], 100);
        assert_eq!(tapes.len(), 2);
        assert!(good.exists() && tapes.contains(&b"mine".to_vec()));
        assert_eq!(skipped.len(), 1);
        assert_eq!(skipped[0].path, bad);
    }
}
