//! `cargo xtask test`: everything that can be checked here, and a sum at the end.
//!
//! A step that fails does not keep the later ones from running: one run tells all. The last line on standard output is
//! for machines: the counts, summed over all test binaries.

use std::process::Command;

use crate::error::Error;
use crate::{Places, Result, examples, run, setup, trusted};

/// Tests that passed, failed, and were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Counts {
    /// Adds up cargo's lines `test result: ok. 3 passed; 0 failed; 1 ignored; ...`.
    pub(crate) fn of(output: &str) -> Self {
        let mut sum = Self::default();
        for line in output.lines() {
            let Some((_, counts)) = line
                .trim()
                .strip_prefix("test result: ")
                .and_then(|rest| rest.split_once(". "))
            else {
                continue;
            };
            for count in counts.split("; ") {
                let Some((number, what)) = count.split_once(' ') else {
                    continue;
                };
                let number = number.parse().unwrap_or(0);
                match what {
                    "passed" => sum.passed += number,
                    "failed" => sum.failed += number,
                    "ignored" => sum.skipped += number,
                    _ => {}
                }
            }
        }
        sum
    }

    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// Runs every check and every test.
pub(crate) fn test(places: &Places) -> Result<()> {
    setup::setup(places)?;
    let mut failures = Vec::new();
    let mut counts = Counts::default();
    let cargo = || {
        let mut command = Command::new("cargo");
        command.current_dir(&places.root);
        command
    };

    for (command, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if run::asks(cargo().args([command, "--version"])).is_none() {
            run::succeeds(Command::new("rustup").args(["component", "add", component]))?;
        }
    }
    for words in [
        &["fmt", "--all", "--check"][..],
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "--deny",
            "warnings",
        ],
    ] {
        if let Err(error) = run::succeeds(cargo().args(words)) {
            failures.push(error.to_string());
        }
    }

    if let Err(error) = trusted::trusted(places) {
        failures.push(error.to_string());
    }

    let mut documents = cargo();
    documents
        .args(["doc", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "--deny warnings");
    if let Err(error) = run::succeeds(&mut documents) {
        failures.push(error.to_string());
    }

    let mut tests = vec![("the workspace".to_owned(), {
        let mut command = cargo();
        command.args(["test", "--workspace", "--no-fail-fast"]);
        command
    })];
    for example in examples::all(places)? {
        let name = example
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        // The package with the generated tests is a workspace of its own.
        for manifest in ["Cargo.toml", "cegar/Cargo.toml"] {
            // One that shows how the package comes about has none yet.
            if !example.join(manifest).is_file() {
                continue;
            }
            let mut command = Command::new("cargo");
            command
                .args(["test", "--workspace", "--no-fail-fast"])
                .args(["--manifest-path", manifest])
                .current_dir(&example)
                // One folder for all of them: they build the same cc and bindgen.
                .env("CARGO_TARGET_DIR", places.target.join("examples"));
            tests.push((format!("example {name}, {manifest}"), command));
        }
    }
    for (name, mut command) in tests {
        run::status("Testing", &name);
        let (status, output) = run::shows(&mut command)?;
        counts.add(Counts::of(&output));
        if let Err(error) = run::success(&command, status) {
            failures.push(format!("{name}: {error}"));
        }
    }

    let Counts {
        passed,
        failed,
        skipped,
    } = counts;
    for failure in &failures {
        run::failed(failure);
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    if failures.is_empty() {
        Ok(())
    } else {
        Err(Error::Steps(failures.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_summed_over_binaries() {
        let output = "\
running 3 tests
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s

test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.01s
not a test result: ok. 9 passed
";
        let expected = Counts {
            passed: 5,
            failed: 4,
            skipped: 1,
        };
        assert_eq!(Counts::of(output), expected);
    }
}
