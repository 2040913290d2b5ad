//! Finds the header that the crate binds among several headers.
//!
//! A library may have a hundred headers, none of which is named after the crate: `lfs.h` of
//! `littlefs2-sys`, `jpeglib.h` of `mozjpeg-sys`. But the crate's Rust code declares the functions
//! that its users call, written by hand or by bindgen, and the header that declares most of these
//! functions is the best starting point.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::project::Project;

/// Rust files of this many bytes or more are not read.
const MOST_BYTES: u64 = 16 << 20;
/// How many levels of subfolders of the crate are searched for Rust files.
const DEPTH: usize = 4;
/// Fewer functions in common than this may be a coincidence.
const ENOUGH: usize = 2;

/// The names of the functions that the crate's Rust code declares.
fn functions(project: &Project) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    // Bindings may be stored in the crate outside of `src`.
    rust(&project.root, DEPTH + 1, &mut files);
    // The output of bindgen from the last capture's build.
    let builds = project.scratch().join("capture/target/debug/build");
    let prefix = format!("{}-", project.name);
    for entry in std::fs::read_dir(builds).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            rust(&entry.path().join("out"), 1, &mut files);
        }
    }
    // The pattern is a constant that a test covers.
    let Ok(declaration) = Regex::new(r"\bfn\s+([A-Za-z_]\w*)\s*\(") else {
        return BTreeSet::new();
    };
    let mut names = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        if text.contains("extern") {
            let all = declaration.captures_iter(&text);
            names.extend(all.map(|found| found[1].to_owned()));
        }
    }
    names
}

fn rust(folder: &Path, depth: usize, into: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            let name = entry.file_name();
            let is_own = name != "target" && !name.to_string_lossy().starts_with('.');
            if depth > 1 && is_own {
                rust(&path, depth - 1, into);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && entry.metadata().is_ok_and(|data| data.len() < MOST_BYTES)
        {
            into.insert(path);
        }
    }
}

/// The candidates whose text contains the function's name followed by a parenthesis.
pub fn declaring(candidates: &[PathBuf], function: &str) -> Vec<PathBuf> {
    let Ok(named) = Regex::new(&format!(r"\b{}\s*\(", regex::escape(function))) else {
        return Vec::new();
    };
    let declares = |header: &&PathBuf| {
        let text = std::fs::read(header).unwrap_or_default();
        named.is_match(&String::from_utf8_lossy(&text))
    };
    candidates.iter().filter(declares).cloned().collect()
}

/// The functions that the crate's Rust code declares, for counting them in headers.
pub struct Bound {
    /// Their names.
    pub names: BTreeSet<String>,
    declaration: Option<Regex>,
}

impl Bound {
    /// Reads the crate's Rust code.
    pub fn of(project: &Project) -> Bound {
        Bound {
            names: functions(project),
            declaration: Regex::new(r"\b([A-Za-z_]\w*)\s*\(").ok(),
        }
    }

    /// The functions among these that a header declares.
    pub fn declared(&self, header: &Path) -> BTreeSet<String> {
        let text = std::fs::read(header).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let all = self
            .declaration
            .iter()
            .flat_map(|one| one.captures_iter(&text));
        all.filter_map(|found| Some(found.get(1)?.as_str().to_owned()))
            .filter(|name| self.names.contains(name))
            .collect()
    }

    /// Whether a header that is named after the library is meant for users to include. A library
    /// may have such a header with only its version (`htscodecs.h`), while other headers declare
    /// the functions that the crate binds.
    pub fn is_for_users(&self, header: &Path, others: &[PathBuf]) -> bool {
        let has_enough = |header: &Path| self.declared(header).len() >= ENOUGH;
        has_enough(header)
            || includes_one(header, others)
            || !others.iter().any(|other| has_enough(other))
    }

    /// The candidate that declares most of the crate's functions. `None` if the counts do not
    /// decide: a single function may be a coincidence if another header declares one, too.
    pub fn best(&self, candidates: &[PathBuf]) -> Option<PathBuf> {
        let counted = candidates
            .iter()
            .map(|header| (self.declared(header).len(), header.clone()));
        let mut all: Vec<(usize, PathBuf)> = counted.collect();
        // The sort is stable, so equal counts keep the order of the candidates.
        all.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let next = all.get(1).map_or(0, |(count, _)| *count);
        let (most, best) = all.first()?;
        (*most >= ENOUGH || *most > next).then(|| best.clone())
    }
}

/// Whether a header includes one of the others.
fn includes_one(header: &Path, others: &[PathBuf]) -> bool {
    let text = std::fs::read(header).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let directives = text
        .lines()
        .filter(|line| line.trim_start().starts_with('#'));
    let mut included = directives.filter_map(|line| Some(line.split_once("include")?.1));
    let others = others.iter().filter(|other| *other != header);
    let names: Vec<_> = others
        .filter_map(|other| Some(other.file_name()?.to_string_lossy()))
        .collect();
    included.any(|what| names.iter().any(|name| what.contains(&**name)))
}
