//! Lists the harnesses of a crate, with the entry of each, its tests, and the state of its goals
//! after the last run.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::config::Config;
use crate::error::Error;
use crate::findings::{Memory, Place, Record};
use crate::project::Project;
use crate::sources::Digests;
use crate::store;
use crate::verdict::GoalTable;

/// One harness, as `list` shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Its C file.
    pub file: PathBuf,
    /// Its entry; `None` if the file defines none of the known entries.
    pub entry: Option<String>,
    /// Names of the generated tests.
    pub tests: Vec<String>,
    /// The stored inputs of findings, and how each ended in its last run.
    pub findings: Vec<Remembered>,
    /// The number of entries in its corpus.
    pub corpus: usize,
    /// The counts of its goals after the last run, if it has run.
    pub goals: Option<GoalTable>,
    /// The source files that have changed since that run.
    pub changed: Vec<String>,
}

/// The input of a finding, as `list` shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Remembered {
    /// The name of the record and of its test.
    pub name: String,
    /// Whether it failed in its last run.
    pub failing: bool,
    /// Whether it passed in any run since it was found.
    pub seen_passing: bool,
}

impl Remembered {
    /// A word for users.
    pub fn words(&self) -> &'static str {
        match (self.failing, self.seen_passing) {
            (false, _) => "passes",
            (true, false) => "fails",
            (true, true) => "fails again",
        }
    }
}

/// The harnesses of a package: those of `cegar.toml`, or, if it names none, all C files of
/// `harnesses/`.
pub fn harnesses(project: &Project, config: &Config) -> Result<Vec<(String, PathBuf)>, Error> {
    let folder = project.cegar.join("harnesses");
    if !config.harness.is_empty() {
        let file = |name: &String| {
            let given = config
                .harness
                .get(name)
                .and_then(|harness| harness.file.as_ref());
            match given {
                Some(file) => project.cegar.join(file),
                None => folder.join(format!("{name}.c")),
            }
        };
        return Ok(config
            .harness
            .keys()
            .map(|name| (name.clone(), file(name)))
            .collect());
    }
    let named = |path: PathBuf| {
        let name = path.file_stem()?.to_string_lossy().into_owned();
        Some((name, path))
    };
    Ok(harness_files(&folder)?
        .into_iter()
        .filter_map(named)
        .collect())
}

/// The C files of `harnesses/` that do not belong to any harness listed in `cegar.toml`.
pub fn left_out(project: &Project, config: &Config) -> Result<Vec<PathBuf>, Error> {
    let known = harnesses(project, config)?;
    let mut files = harness_files(&project.cegar.join("harnesses"))?;
    files.retain(|file| {
        let canonical = |path: &Path| path.canonicalize().ok();
        !known
            .iter()
            .any(|(_, known)| known == file || canonical(known) == canonical(file))
    });
    Ok(files)
}

/// The C files of `harnesses/`, sorted.
fn harness_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|why| Error::io("read", folder, why))? {
        let path = entry.map_err(|why| Error::io("read", folder, why))?.path();
        if path.extension().is_some_and(|extension| extension == "c") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Collects what is known about each harness.
pub fn list(project: &Project, config: &Config) -> Result<Vec<Listed>, Error> {
    let mut listed = Vec::new();
    for (name, file) in harnesses(project, config)? {
        let given = config
            .harness
            .get(&name)
            .and_then(|harness| harness.entry.clone());
        let source = std::fs::read_to_string(&file).unwrap_or_default();
        let state = state_of(&project.scratch().join(&name));
        listed.push(Listed {
            entry: given.or_else(|| entry_of(&source, &name)),
            tests: tests_of(&project.cegar.join("tests").join(format!("{name}.rs"))),
            findings: findings_of(project, &name)?,
            corpus: store::read_corpus(&project.cegar.join("corpus").join(&name))?
                .0
                .len(),
            goals: state.get("goals").and_then(read),
            changed: (state.get("sources").and_then(read::<Digests>))
                .map_or(Vec::new(), |sources| sources.changed(&project.root)),
            file: file.strip_prefix(&project.root).unwrap_or(&file).to_owned(),
            name,
        });
    }
    Ok(listed)
}

fn findings_of(project: &Project, harness: &str) -> Result<Vec<Remembered>, Error> {
    let scratch = project.scratch().join(harness);
    let place = Place::new(harness, &project.cegar, None, &scratch);
    let (memory, _) = Memory::read(place)?;
    let shown = |record: &Record| Remembered {
        name: record.name.clone(),
        failing: record.failing,
        seen_passing: record.seen_passing,
    };
    Ok(memory.records().map(shown).collect())
}

/// The entry that a harness defines, among the known ones. This searches the text, which is
/// sufficient for display.
fn entry_of(source: &str, name: &str) -> Option<String> {
    let defines = |function: &str| {
        source.match_indices(function).any(|(at, _)| {
            let before = source[..at].chars().next_back();
            let after = source[at + function.len()..].trim_start();
            let whole = before.is_none_or(|c| !c.is_alphanumeric() && c != '_');
            let body = after.find(['{', ';']).map(|end| after.as_bytes()[end]);
            whole && after.starts_with('(') && body == Some(b'{')
        })
    };
    ["LLVMFuzzerTestOneInput", "main", name]
        .into_iter()
        .find(|function| defines(function))
        .map(str::to_owned)
}

/// The names of the test functions in a test file, as cargo names them. Tests that a macro
/// generates are not included. Empty if the file is not valid Rust.
pub fn tests_of(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut names = Vec::new();
    if let Ok(file) = syn::parse_file(&text) {
        tests_among(&file.items, "", &mut names);
    }
    names
}

fn tests_among(items: &[syn::Item], within: &str, names: &mut Vec<String>) {
    for item in items {
        match item {
            syn::Item::Fn(function) => {
                let is_test = |attribute: &syn::Attribute| {
                    let last = attribute.path().segments.last();
                    last.is_some_and(|last| last.ident == "test")
                };
                if function.attrs.iter().any(is_test) {
                    names.push(format!("{within}{}", function.sig.ident));
                }
            }
            syn::Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    tests_among(items, &format!("{within}{}::", module.ident), names);
                }
            }
            _ => {}
        }
    }
}

/// The state that a campaign stored, or null if it cannot be read.
fn state_of(scratch: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(scratch.join("state.json")).ok();
    let state = text.and_then(|text| serde_json::from_str(&text).ok());
    state.unwrap_or_default()
}

/// A part of the state, if it exists.
fn read<T: serde::de::DeserializeOwned>(value: &serde_json::Value) -> Option<T> {
    serde_json::from_value(value.clone()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_in_the_text() {
        let fuzz = "int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n)\n{ return 0; }";
        assert_eq!(
            entry_of(fuzz, "x").as_deref(),
            Some("LLVMFuzzerTestOneInput")
        );
        assert_eq!(
            entry_of("int domain(void) {}\nint main(void)\n{}", "x").as_deref(),
            Some("main")
        );
        assert_eq!(entry_of("void x(void);", "x"), None);
    }

    #[test]
    fn tests_are_found_however_they_are_laid_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("t.rs");
        let text = "#[test] fn one() {}\n#[test]\n#[should_panic]\npub fn two() {}\nfn none() {}\n\
                    mod inner { #[core::prelude::v1::test]\nfn three() {} }";
        std::fs::write(&file, text).expect("written");
        assert_eq!(tests_of(&file), ["one", "two", "inner::three"]);
    }
}
