//! Inputs and dictionaries in the crate's own folders, for other fuzzers or for its tests.
//!
//! They are reported but not used, because it is unknown which harness they fit.

use std::path::{Path, PathBuf};

/// How many levels of subfolders of the crate are searched.
const DEPTH: usize = 4;
/// The maximum number of paths that are listed.
const SHOWN: usize = 4;
/// Words in the names of folders that contain inputs.
const WORDS: [&str; 6] = [
    "corpus",
    "corpora",
    "seeds",
    "samples",
    "testdata",
    "test_data",
];
/// Extensions of files that are not inputs of a C library.
const SOURCES: [&str; 14] = [
    "c", "h", "cc", "cpp", "hpp", "rs", "toml", "md", "cmake", "am", "in", "sh", "py", "dict",
];

/// The note that lists what was found; `None` if nothing was.
pub(super) fn offer(root: &Path) -> Option<String> {
    let mut found = Found::default();
    found.folder(root, DEPTH);
    let shown = |option: &str, paths: &[PathBuf]| -> Option<String> {
        if paths.is_empty() {
            return None;
        }
        let names = paths.iter().take(SHOWN);
        let names = names.map(|path| format!("{option} {}", path.display()));
        let mut text = names.collect::<Vec<_>>().join(" ");
        if paths.len() > SHOWN {
            text += &format!(" ({} more)", paths.len() - SHOWN);
        }
        Some(text)
    };
    let parts = [
        shown("--seeds", &found.seeds),
        shown("--dict", &found.dictionaries),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| {
        format!(
            "the crate has inputs; for a harness that they fit: {}",
            parts.join(" ")
        )
    })
}

#[derive(Default)]
struct Found {
    seeds: Vec<PathBuf>,
    dictionaries: Vec<PathBuf>,
}

impl Found {
    /// Searches a folder. One that cannot be read is skipped.
    fn folder(&mut self, folder: &Path, depth: usize) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = name.to_lowercase().replace('-', "_");
            if path.is_dir() {
                let is_other =
                    name.starts_with('.') || name == "target" || name.starts_with("cegar");
                if WORDS.iter().any(|word| name.contains(word)) && has_inputs(&path) {
                    self.seeds.push(path);
                } else if depth > 0 && !is_other {
                    self.folder(&path, depth - 1);
                }
            } else if name.ends_with("_seed_corpus.zip") {
                self.seeds.push(path);
            } else if name.ends_with(".dict") {
                self.dictionaries.push(path);
            }
        }
    }
}

/// Whether a folder has a subfolder or a file that is not source code.
fn has_inputs(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let is_source = SOURCES.iter().any(|source| extension == *source);
        path.is_dir() || (path.is_file() && !is_source)
    })
}
