//! What is known already: the tests that were committed, and the baseline file.
//!
//! A build that fails because of last year's finding is switched off. So a finding counts as new only if no test of the package
//! is about it, and the baseline does not list it. Neither goes by line numbers, which any edit above moves, but by kind, file,
//! function and the text of the line; of a test that is in `.emitted.json`. (A test that is not there is known by its name.) The
//! harness does not matter: the same fault seen from a second harness is no news.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::report::{Finding, rule_id};
use crate::store;

/// The format that this version writes and reads.
const FORMAT: u32 = 1;

/// The file, `cegar/baseline.json` if no other is named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// 1, in this version.
    pub format: u32,
    /// What does not fail a build.
    pub findings: Vec<Entry>,
}

/// One known finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The file, relative to the crate.
    pub file: String,
    /// The function.
    pub function: String,
    /// The rule, as SARIF has it: `array-bound`.
    pub rule: String,
    /// The line's text without the white space around it; empty if it could not be read.
    pub text: String,
    /// The line it was seen in, for people; it is not compared.
    pub line: u32,
}

impl Entry {
    /// The entry of a finding in a crate at `root`.
    pub fn of(finding: &Finding, root: &Path) -> Entry {
        let place = &finding.place;
        let text = std::fs::read(root.join(&place.file)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let line = text.lines().nth((place.line as usize).wrapping_sub(1));
        Entry {
            file: place.file.clone(),
            function: place.function.clone(),
            rule: rule_id(finding.kind).to_owned(),
            text: line.unwrap_or_default().trim().to_owned(),
            line: place.line,
        }
    }

    /// Whether both are about the same fault: the line may have moved.
    pub fn is(&self, other: &Entry) -> bool {
        (&self.file, &self.function, &self.rule, &self.text)
            == (&other.file, &other.function, &other.rule, &other.text)
    }
}

impl Baseline {
    /// Reads the file; one that is not there is empty.
    pub fn read(path: &Path) -> Result<Baseline, Error> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Baseline {
                    format: FORMAT,
                    findings: Vec::new(),
                });
            }
            Err(why) => return Err(Error::io("read", path, why)),
        };
        let wrong = |why: String| {
            Error::usage(
                format!("`{}` is no baseline: {why}", path.display()),
                "`cargo cegar ci --update-baseline` writes one; delete this one first",
            )
        };
        let read: Baseline =
            serde_json::from_slice(&bytes).map_err(|why| wrong(why.to_string()))?;
        match read.format {
            FORMAT => Ok(read),
            other => Err(wrong(format!(
                "it has format {other}, and this version reads {FORMAT}"
            ))),
        }
    }

    /// Whether it lists this fault.
    pub fn has(&self, entry: &Entry) -> bool {
        self.findings.iter().any(|known| known.is(entry))
    }

    /// Adds what is not listed, and gives the lines that moved their new numbers.
    pub fn update(&mut self, seen: &[Entry]) {
        for entry in seen {
            match self.findings.iter_mut().find(|known| known.is(entry)) {
                Some(known) => known.line = entry.line,
                None => self.findings.push(entry.clone()),
            }
        }
        self.findings.sort();
    }

    /// Writes the file.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|why| Error::engine("writing the baseline", why))?;
        text.push(b'\n');
        store::write(path, &text)
    }
}

/// What the tests of a package are about.
#[derive(Clone, Debug, Default)]
pub struct Tests {
    names: BTreeSet<String>,
    places: Vec<Entry>,
}

impl Tests {
    /// Reads the package. A record that cannot be read leaves the names.
    pub fn of(package: &Path) -> Tests {
        let names = names(package);
        let remembered = crate::emit::package::remembered(package).unwrap_or_default();
        // A test that was deleted is not known any more.
        let there = |key: &str| {
            key.rsplit("::")
                .next()
                .is_some_and(|test| names.contains(test))
        };
        let places = remembered
            .into_iter()
            .filter(|(key, _)| there(key))
            .filter_map(|(_, place)| serde_json::from_value(place).ok())
            .collect();
        Tests { names, places }
    }

    /// Whether one of them is about this finding.
    pub fn know(&self, finding: &Finding, entry: &Entry) -> bool {
        self.names.contains(&finding.name) || self.places.iter().any(|known| known.is(entry))
    }
}

/// The names of the tests in a package, over all harnesses.
fn names(package: &Path) -> BTreeSet<String> {
    let files = std::fs::read_dir(package.join("tests"));
    let files = files.into_iter().flatten().flatten();
    files
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .flat_map(|path| crate::list::tests_of(&path))
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests_of_this {
    use super::*;
    use crate::report::samples;

    #[test]
    fn a_moved_line_is_known_and_a_changed_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("header.c");
        std::fs::write(&file, "a\nb\n  name[i] = c;\n").unwrap();
        let mut finding = samples::finding("header.c");
        let path = dir.path().join("baseline.json");
        let mut baseline = Baseline::read(&path).unwrap();
        baseline.update(&[Entry::of(&finding, dir.path())]);
        baseline.write(&path).unwrap();
        let baseline = Baseline::read(&path).unwrap();
        std::fs::write(&file, "new\na\nb\n    name[i] = c;\n").unwrap();
        finding.place.line = 4;
        assert!(baseline.has(&Entry::of(&finding, dir.path())));
        std::fs::write(&file, "new\na\nb\n    name[i + 1] = c;\n").unwrap();
        assert!(!baseline.has(&Entry::of(&finding, dir.path())));
    }

    #[test]
    fn what_is_no_baseline_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("baseline.json");
        for text in ["", "[]", r#"{"format":9,"findings":[]}"#, "{\"format\":1"] {
            std::fs::write(&path, text).unwrap();
            let error = Baseline::read(&path).unwrap_err();
            assert_eq!(error.exit_code(), crate::ExitCode::Usage, "{text}");
        }
    }
}
