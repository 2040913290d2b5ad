//! The baseline file, which lists known findings.
//!
//! A build that fails because of an old finding would be disabled, and a build that accepts a bug
//! because its test was once committed is worse than none. So the only reason for a finding to be
//! known is that it was put into `cegar/baseline.json`. An entry accepts only the fault at this
//! place of this function, with these surrounding lines and this caller
//! ([`Identity::is_accepted_by`]), so that it does not hide a second fault. The harness does not
//! matter.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::findings::Identity;
use crate::store;
use crate::verdict::Finding;

/// The version of the file format that this program writes and reads.
const FORMAT: u32 = 2;

/// The contents of the file, `cegar/baseline.json` by default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// [`FORMAT`].
    pub format: u32,
    /// Findings that do not fail a build.
    pub findings: Vec<Entry>,
}

impl Default for Baseline {
    fn default() -> Self {
        Baseline {
            format: FORMAT,
            findings: Vec::new(),
        }
    }
}

/// One known finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The identity of the fault.
    pub identity: Identity,
    /// The line of the fault, for information; it is not compared.
    pub line: u32,
    /// What goes wrong, for information; it is not compared.
    pub message: String,
}

impl Entry {
    /// The entry of a finding.
    pub fn of(finding: &Finding) -> Entry {
        Entry {
            identity: finding.identity.clone(),
            line: finding.place.line,
            message: finding.message.clone(),
        }
    }
}

impl Entry {
    /// The entry for a mismatching declaration.
    pub fn of_binding(binding: &crate::bindings::Binding) -> Entry {
        Entry {
            identity: binding.identity.clone(),
            line: binding.mismatch.rust.line,
            message: binding.sentence(),
        }
    }
}

impl Baseline {
    /// Reads the file; a missing file counts as empty. With `anew`, a file in an older format
    /// counts as empty, too, since it is about to be written in the current format.
    pub fn read(path: &Path, anew: bool) -> Result<Baseline, Error> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Baseline::default());
            }
            Err(why) => return Err(Error::io("read", path, why)),
        };
        let wrong = |why: String, help: &str| {
            Error::usage(format!("`{}` is no baseline: {why}", path.display()), help)
        };
        let damaged = "restore it from version control, or delete it: `cargo cegar ci \
            --update-baseline` writes a new one";
        let value: serde_json::Value =
            serde_json::from_slice(&bytes).map_err(|why| wrong(why.to_string(), damaged))?;
        match value["format"].as_u64() {
            Some(format) if format == u64::from(FORMAT) => {
                serde_json::from_value(value).map_err(|why| wrong(why.to_string(), damaged))
            }
            Some(format) if format < u64::from(FORMAT) && anew => Ok(Baseline::default()),
            Some(format) if format < u64::from(FORMAT) => Err(wrong(
                format!(
                    "it has format {format}, which does not tell two faults of one function apart; \
                     this version reads {FORMAT}"
                ),
                "`cargo cegar ci --update-baseline` writes it anew",
            )),
            Some(format) => Err(wrong(
                format!("it has format {format}, and this version reads {FORMAT}"),
                "a newer cargo-cegar wrote it: install that version here",
            )),
            None => Err(wrong("it does not say its format".to_owned(), damaged)),
        }
    }

    /// Whether the baseline lists this fault.
    pub fn has(&self, identity: &Identity) -> bool {
        self.findings
            .iter()
            .any(|known| identity.is_accepted_by(&known.identity))
    }

    /// Adds findings that are not listed, and updates the line numbers of listed ones.
    pub fn update(&mut self, seen: &[Entry]) {
        for entry in seen {
            let is_it = |known: &&mut Entry| entry.identity.is_accepted_by(&known.identity);
            match self.findings.iter_mut().find(is_it) {
                Some(known) => *known = entry.clone(),
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
        Ok(store::write(path, &text)?)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::event::samples;

    #[test]
    fn what_was_accepted_is_known_and_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let finding = samples::finding("header.c");
        let path = dir.path().join("baseline.json");
        let mut baseline = Baseline::read(&path, false).unwrap();
        baseline.update(&[Entry::of(&finding)]);
        let mut moved = Entry::of(&finding);
        moved.line = 40;
        baseline.update(&[moved]);
        baseline.write(&path).unwrap();
        let baseline = Baseline::read(&path, false).unwrap();
        assert_eq!(baseline.findings.len(), 1);
        assert_eq!(baseline.findings[0].line, 40);
        assert!(baseline.has(&finding.identity));
        let mut second = finding.identity;
        second.occurrence = 1;
        assert!(!baseline.has(&second));
    }

    #[test]
    fn what_is_no_baseline_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("baseline.json");
        for text in [
            "",
            "[]",
            r#"{"format":9,"findings":[]}"#,
            r#"{"format":1,"findings":[]}"#,
            r#"{"format":2,"findings":[{}]}"#,
            "{\"format\":1",
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Baseline::read(&path, false).unwrap_err();
            assert_eq!(error.exit_code(), crate::exit::ExitCode::Usage, "{text}");
        }
        std::fs::write(&path, r#"{"format":1,"findings":[]}"#).unwrap();
        assert_eq!(Baseline::read(&path, true).unwrap(), Baseline::default());
        std::fs::write(&path, r#"{"format":9,"findings":[]}"#).unwrap();
        assert!(Baseline::read(&path, true).is_err());
    }
}
