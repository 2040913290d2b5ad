//! SARIF 2.1.0, which code hosts show beside the lines of a change. Rule ids are stable
//! ([`super::rule_id`]), paths are relative, and each result has a fingerprint that does not depend
//! on the line number.

use std::path::{Path, PathBuf};
use std::{fs, io};

use cegar_checker::Assumption;
use serde_json::json;

use super::without_result;
use crate::bindings::Binding;
use crate::event::{Event, INTERRUPTED, Reporter};
use crate::verdict::{Finding, rule_id};

/// Collects findings and writes a SARIF file at the end.
pub struct SarifReporter {
    path: PathBuf,
    root: PathBuf,
    findings: Vec<Finding>,
    /// Harnesses without a complete result, and why.
    failed: Vec<(String, String)>,
    /// What is not a finding but must be examined: runs that exceed their time limit, and harnesses
    /// that violate preconditions.
    warnings: Vec<String>,
    bindings: Vec<Binding>,
    /// Findings of the baseline, if they are distinguished from new ones.
    known: Vec<Finding>,
    /// Further inputs of findings.
    further: Vec<Finding>,
    /// The assumptions on which all proofs rest.
    assumptions: Vec<Assumption>,
    sorted: bool,
    /// The folder to which code hosts relate paths: the crate's or one above it.
    repository: PathBuf,
}

impl SarifReporter {
    /// Creates a reporter that writes the file `path` when it is finished. File names are relative
    /// to `root`.
    pub fn new(path: PathBuf, root: PathBuf) -> Self {
        SarifReporter {
            path,
            findings: Vec::new(),
            failed: Vec::new(),
            warnings: Vec::new(),
            bindings: Vec::new(),
            known: Vec::new(),
            further: Vec::new(),
            assumptions: Vec::new(),
            sorted: false,
            repository: root.clone(),
            root,
        }
    }

    /// As [`SarifReporter::new`], but with the baseline state of each result and with file names
    /// relative to `repository`.
    pub fn sorted(path: PathBuf, root: PathBuf, repository: &Path) -> Self {
        let mut reporter = SarifReporter::new(path, root);
        reporter.sorted = true;
        if reporter.root.starts_with(repository) {
            reporter.repository = repository.to_owned();
        }
        reporter
    }

    fn log(&self) -> Result<serde_sarif::sarif::Sarif, serde_json::Error> {
        let all = || self.findings.iter().chain(&self.known);
        let mut rules: Vec<&str> = all().map(|f| rule_id(f.kind)).collect();
        rules.extend(self.bindings.iter().map(|binding| &*binding.kind));
        rules.sort_unstable();
        rules.dedup();
        let mut results: Vec<_> = all().map(|f| self.result(f)).collect();
        if self.sorted {
            for (number, result) in results.iter_mut().enumerate() {
                let new = number < self.findings.len();
                result["baselineState"] = if new { "new" } else { "unchanged" }.into();
            }
        }
        for binding in &self.bindings {
            let mut result = self.binding(binding);
            if self.sorted {
                result["baselineState"] = if binding.known { "unchanged" } else { "new" }.into();
            }
            results.push(result);
        }
        // The typed model ensures that the output conforms to the schema.
        serde_json::from_value(json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "cargo-cegar",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules.iter().map(|id| json!({ "id": id })).collect::<Vec<_>>(),
                }},
                "columnKind": "unicodeCodePoints",
                "invocations": [{
                    "executionSuccessful": self.failed.is_empty(),
                    "toolExecutionNotifications": self.notifications(),
                }],
                "results": results,
                "properties": { "assumptions": self.assumptions },
            }],
        }))
    }

    /// Notifications about campaigns without a result, and about faults that are not checked.
    fn notifications(&self) -> Vec<serde_json::Value> {
        let of = |level: &str, text: String| json!({ "level": level, "message": { "text": text } });
        let failed = self.failed.iter();
        let failed = failed.map(|(harness, why)| of("error", format!("{harness}: {why}")));
        let warnings = self.warnings.iter().map(|text| of("warning", text.clone()));
        failed.chain(warnings).collect()
    }

    /// A file's name relative to the repository, if it is inside.
    fn named(&self, file: &str) -> String {
        let file = self.root.join(file);
        uri(file.strip_prefix(&self.repository).unwrap_or(&file))
    }

    /// The result for a mismatching declaration: its location is in Rust, and the definition in C
    /// is related to it.
    fn binding(&self, binding: &Binding) -> serde_json::Value {
        let place = |line: &crate::bindings::Line| {
            let file = self.named(&line.file);
            json!({ "physicalLocation": {
                "artifactLocation": { "uri": file },
                "region": { "startLine": line.line.max(1) },
            }})
        };
        let mismatch = &binding.mismatch;
        let related = std::iter::once(&mismatch.c).chain(&mismatch.header);
        json!({
            "ruleId": binding.kind,
            "level": "error",
            "message": { "text": binding.sentence() },
            "locations": [place(&mismatch.rust)],
            "relatedLocations": related.map(place).collect::<Vec<_>>(),
            "partialFingerprints": { "cegarName/v2": binding.name },
            "properties": { "what": mismatch.what },
        })
    }

    fn result(&self, finding: &Finding) -> serde_json::Value {
        let file = self.named(&finding.place.file);
        json!({
            "ruleId": rule_id(finding.kind),
            "level": "error",
            "message": { "text": finding.message },
            "locations": [{ "physicalLocation": {
                "artifactLocation": { "uri": file },
                "region": {
                    "startLine": finding.place.line.max(1),
                    "startColumn": finding.place.column.max(1),
                },
            }}],
            // The name depends on the function, the kind and the line's text, but not on the line
            // number or the harness.
            "partialFingerprints": { "cegarName/v2": finding.identity.name() },
            "properties": {
                "test": finding.name,
                "standing": finding.standing,
                "harnesses": self.harnesses(finding),
            },
        })
    }
}

/// A path as a relative reference of RFC 3986: reserved characters are escaped.
fn uri(path: &Path) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt as _;
    let mut text = String::new();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

impl SarifReporter {
    /// The harnesses that show a fault.
    fn harnesses<'a>(&'a self, finding: &'a Finding) -> Vec<&'a str> {
        let same = |other: &&Finding| other.identity.is(&finding.identity);
        let all = std::iter::once(finding).chain(self.further.iter().filter(same));
        let mut names: Vec<&str> = all.map(|finding| finding.harness.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl Reporter for SarifReporter {
    fn event(&mut self, event: &Event) {
        self.failed.extend(without_result(event));
        match event {
            Event::FoundAgain(finding) => self.further.push(finding.clone()),
            Event::Found(finding) => self.findings.push(finding.clone()),
            Event::Known(finding) => self.known.push(finding.clone()),
            Event::Precondition(finding) => self.warnings.push(format!(
                "{}: {}: {}: the harness breaks a condition that contracts.toml does not have",
                finding.harness,
                finding.place.show(),
                finding.message
            )),
            Event::Hang(hang) => self
                .warnings
                .push(format!("{}: {}", hang.harness, hang.words())),
            Event::BindingMismatch(binding) => self.bindings.push(binding.clone()),
            Event::Expectations(expected) => {
                let not_run = expected.not_run.iter();
                let of = |(name, why): &(String, String)| (name.clone(), format!("not run: {why}"));
                self.failed.extend(not_run.map(of));
            }
            Event::Finished(summary) => {
                if summary.interrupted {
                    let command = "cargo cegar".to_owned();
                    self.failed.push((command, INTERRUPTED.to_owned()));
                }
                self.assumptions.clone_from(&summary.assumptions);
            }
            _ => {}
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        fs::write(&self.path, serde_json::to_string_pretty(&self.log()?)?)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::event::samples;

    #[test]
    fn paths_are_relative_and_rules_are_listed() {
        let mut reporter = SarifReporter::new("unused".into(), "/crate".into());
        reporter.event(&Event::Found(samples::finding("/crate/src/header.c")));
        let log = serde_json::to_value(reporter.log().unwrap()).unwrap();
        let run = &log["runs"][0];
        assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "invalid-write");
        let location = &run["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(location["artifactLocation"]["uri"], "src/header.c");
        assert_eq!(location["region"]["startLine"], 3);
    }

    #[test]
    fn a_path_becomes_a_uri() {
        assert_eq!(uri(Path::new("c/de mo#1<&>.c")), "c/de%20mo%231%3C%26%3E.c");
    }

    #[test]
    fn what_did_not_run_is_no_clean_analysis() {
        let mut reporter = SarifReporter::new("unused".into(), "/crate".into());
        let success = |reporter: &SarifReporter| {
            let log = serde_json::to_value(reporter.log().unwrap()).unwrap();
            log["runs"][0]["invocations"][0]["executionSuccessful"].clone()
        };
        assert_eq!(success(&reporter), true);
        reporter.event(&Event::Failed {
            harness: "demo".to_owned(),
            why: "it does not compile".to_owned(),
        });
        assert_eq!(success(&reporter), false);
    }

    #[test]
    fn what_is_assumed_is_told() {
        let mut reporter = SarifReporter::new("unused".into(), "/crate".into());
        let mut summary = samples::summary();
        summary.assumptions = vec![Assumption::stated("the bus answers".to_owned())];
        reporter.event(&Event::Finished(summary));
        let log = serde_json::to_value(reporter.log().unwrap()).unwrap();
        let assumed = &log["runs"][0]["properties"]["assumptions"];
        assert_eq!(assumed[0]["says"], "the bus answers");
    }
}
