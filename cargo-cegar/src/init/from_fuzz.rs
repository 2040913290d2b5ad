//! Takes over the fuzz targets and corpora of a project.
//!
//! A file with `LLVMFuzzerTestOneInput` is a harness already: `cegar.toml` names the file where it
//! is, so that there is no second copy. Its corpus needs no translation, because the input of such
//! a harness is the whole tape. The inputs are copied to `corpus/`, where campaigns look for them,
//! and each is named after its content.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::store;

/// How many levels of subfolders are searched below the named folder.
const DEPTH: usize = 4;
/// Files larger than this many bytes are not taken as inputs.
const LARGEST: u64 = 1 << 20;

/// A fuzz target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its name, derived from the file's name.
    pub name: String,
    /// The file.
    pub file: PathBuf,
}

/// The targets and corpora that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Targets in C.
    pub targets: Vec<Target>,
    /// Folders with inputs.
    pub corpora: Vec<PathBuf>,
    /// The files that cannot be taken over, each with the reason.
    pub left_out: Vec<(PathBuf, &'static str)>,
}

/// Examines one file, or searches a folder.
pub fn find(path: &Path) -> Result<Found, Error> {
    let mut found = Found::default();
    if path.is_file() {
        found.file(path)?;
    } else if path.is_dir() {
        found.folder(path, DEPTH)?;
    } else {
        return Err(Error::nothing(
            format!("there is no fuzz target `{}`", path.display()),
            "name a C file with LLVMFuzzerTestOneInput, or a folder with such files and their \
             corpora",
        ));
    }
    found.targets.sort_by(|a, b| a.file.cmp(&b.file));
    found.corpora.sort();
    Ok(found)
}

impl Found {
    fn folder(&mut self, folder: &Path, depth: usize) -> Result<(), Error> {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
            .map_err(|why| Error::io("read", folder, why))?
            .flatten()
            .map(|entry| entry.path())
            .collect();
        entries.sort();
        for path in entries {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .to_lowercase();
            if path.is_dir() {
                if ["corpus", "seed", "input"]
                    .iter()
                    .any(|word| name.contains(word))
                {
                    self.corpora.push(path);
                } else if depth > 0 && !matches!(name.as_str(), "target" | "artifacts" | ".git") {
                    self.folder(&path, depth - 1)?;
                }
            } else {
                self.file(&path)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<(), Error> {
        let extension = path
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        let why = match extension.as_str() {
            "c" => {
                let text = String::from_utf8_lossy(
                    &std::fs::read(path).map_err(|why| Error::io("read", path, why))?,
                )
                .into_owned();
                if text.contains("LLVMFuzzerTestOneInput") {
                    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                    let name: String = stem
                        .chars()
                        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
                        .collect();
                    let digit = name.starts_with(|c: char| c.is_ascii_digit());
                    self.targets.push(Target {
                        name: if digit { format!("fuzz_{name}") } else { name },
                        file: path.to_owned(),
                    });
                }
                return Ok(());
            }
            "cc" | "cpp" | "cxx" => "C++ is not read; write its few lines in C",
            "zip" if path.to_string_lossy().contains("corpus") => {
                "give it to `run` with --seeds, or name it in cegar.toml: seeds = \"...\""
            }
            "rs" if path
                .components()
                .any(|part| part.as_os_str() == "fuzz_targets") =>
            {
                "a target in Rust drives the crate and not the C code; its corpus may still serve"
            }
            _ => return Ok(()),
        };
        self.left_out.push((path.to_owned(), why));
        Ok(())
    }

    /// The inputs for a target: the files in folders that are named after it, or all files if it is
    /// the only target. A folder `corpus` may contain one subfolder for each target.
    pub fn inputs(&self, target: &Target) -> Result<Vec<PathBuf>, Error> {
        let mut inputs = Vec::new();
        for corpus in &self.corpora {
            let mut subfolders = Vec::new();
            let mut files = Vec::new();
            for entry in std::fs::read_dir(corpus).map_err(|why| Error::io("read", corpus, why))? {
                let path = entry.map_err(|why| Error::io("read", corpus, why))?.path();
                if path.is_dir() {
                    subfolders.push(path)
                } else if path.is_file() {
                    files.push(path)
                }
            }
            let alone = self.targets.len() == 1;
            if alone || is_for(corpus, target) {
                inputs.extend(files);
            }
            for folder in subfolders {
                if alone || is_for(&folder, target) || is_for(corpus, target) {
                    let entries = std::fs::read_dir(&folder)
                        .map_err(|why| Error::io("read", &folder, why))?;
                    inputs.extend(
                        entries
                            .flatten()
                            .map(|entry| entry.path())
                            .filter(|path| path.is_file()),
                    );
                }
            }
        }
        inputs.sort();
        Ok(inputs)
    }
}

/// Whether a folder is named after a target, such as `parse`, `parse_seed_corpus` or `corpus_parse`
/// for `fuzz_parse.c`.
fn is_for(folder: &Path, target: &Target) -> bool {
    let plain = |name: &str| -> String {
        ["seed_corpus", "corpus", "seeds", "inputs", "fuzzer", "fuzz"]
            .iter()
            .fold(name.to_lowercase().replace('-', "_"), |name, word| {
                name.replace(word, "")
            })
            .replace('_', "")
    };
    let folder = folder.file_name().unwrap_or_default().to_string_lossy();
    let (folder, target) = (plain(&folder), plain(&target.name));
    !folder.is_empty() && folder == target
}

/// Copies inputs into a corpus. Returns how many were new and how many were too large.
pub fn copy(inputs: &[PathBuf], corpus: &Path) -> Result<(usize, usize), Error> {
    let (mut new, mut large) = (0, 0);
    for path in inputs {
        let size = std::fs::metadata(path)
            .map_err(|why| Error::io("read", path, why))?
            .len();
        if size > LARGEST {
            large += 1;
            continue;
        }
        let bytes = std::fs::read(path).map_err(|why| Error::io("read", path, why))?;
        new += usize::from(store::add_entry(corpus, &bytes)?);
    }
    Ok((new, large))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corpora_are_found_by_name() {
        let target = Target {
            name: "fuzz_parse".to_owned(),
            file: PathBuf::new(),
        };
        for folder in [
            "parse",
            "fuzz_parse",
            "parse_seed_corpus",
            "corpus-parse",
            "parse_fuzzer",
        ] {
            assert!(is_for(Path::new(folder), &target), "{folder}");
        }
        for folder in ["corpus", "parser", "print"] {
            assert!(!is_for(Path::new(folder), &target), "{folder}");
        }
    }
}
