//! `cargo xtask test`: runs all checks that are possible here, and prints a summary. `quick` runs
//! the part for every commit, and `nightly` what `test` leaves out.
//!
//! If a step fails, the later ones are run nevertheless, so that one run reports everything. The
//! last line on standard output is for machines: the counts, summed over all test binaries.

use std::process::Command;

use crate::counts::Counts;
use crate::error::Error;
use crate::{Places, Result, c_format, examples, map, run, setup, trusted};

/// The failures so far, and the counts of tests.
#[derive(Default)]
struct Steps {
    failures: Vec<String>,
    counts: Counts,
}

impl Steps {
    /// Runs a step. If it fails, the next steps are run nevertheless.
    fn run(&mut self, mut command: Command) {
        self.keep(run::succeeds(&mut command));
    }

    fn keep(&mut self, outcome: Result<()>) {
        if let Err(error) = outcome {
            self.failures.push(error.to_string());
        }
    }

    /// Runs tests and adds their results.
    fn tests(&mut self, name: &str, mut command: Command) -> Result<()> {
        run::status("Testing", name);
        let (status, output) = run::shows(&mut command)?;
        self.counts.add(Counts::of(&output));
        if let Err(error) = run::success(&command, status) {
            self.failures.push(format!("{name}: {error}"));
        }
        Ok(())
    }

    /// Prints the summary.
    fn end(self) -> Result<()> {
        let Counts {
            passed,
            failed,
            skipped,
        } = self.counts;
        for failure in &self.failures {
            run::failed(failure);
        }
        println!("{passed} passed, {failed} failed, {skipped} skipped");
        match self.failures.len() {
            0 => Ok(()),
            failures => Err(Error::Steps(failures)),
        }
    }
}

/// The command `cargo WORDS` in the checkout.
fn cargo(places: &Places, words: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(&places.root).args(words);
    command
}

/// Checks format, lints, and what no lint checks: cycles between modules, long files.
fn style(places: &Places, steps: &mut Steps) -> Result<()> {
    for (command, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if run::asks(&mut cargo(places, &[command, "--version"])).is_none() {
            run::succeeds(Command::new("rustup").args(["component", "add", component]))?;
        }
    }
    steps.run(cargo(places, &["fmt", "--all", "--check"]));
    steps.keep(c_format::check(places));
    let lints = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "--deny",
        "warnings",
    ];
    steps.run(cargo(places, &lints));
    steps.keep(map::check(places));
    Ok(())
}

/// Runs every check and every test.
pub(crate) fn test(places: &Places) -> Result<()> {
    setup::setup(places)?;
    let mut steps = Steps::default();
    style(places, &mut steps)?;
    steps.keep(trusted::trusted(places));
    let mut documents = cargo(places, &["doc", "--workspace", "--no-deps"]);
    documents.env("RUSTDOCFLAGS", "--deny warnings");
    steps.run(documents);
    let all = cargo(places, &["test", "--workspace", "--no-fail-fast"]);
    steps.tests("the workspace", all)?;
    for example in examples::all(places)? {
        let name = example
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        // The package with the generated tests is a separate workspace.
        for manifest in ["Cargo.toml", "cegar/Cargo.toml"] {
            // An example that shows how the package is created does not have one yet.
            if !example.join(manifest).is_file() {
                continue;
            }
            let mut command = Command::new("cargo");
            command
                .args(["test", "--workspace", "--no-fail-fast"])
                .args(["--manifest-path", manifest])
                .current_dir(&example)
                // They share one folder, since they build the same cc and bindgen.
                .env("CARGO_TARGET_DIR", places.target.join("examples"));
            steps.tests(&format!("example {name}, {manifest}"), command)?;
        }
    }
    steps.end()
}

/// The end-to-end tests of `quick`: one for each feature that a user sees first.
const QUICK: &[&str] = &[
    "overflow_after_so_many_characters",
    "behind_a_checksum",
    "use_after_free",
    "double_free",
    "null_dereference",
    "division_by_zero",
    "signed_overflow",
    "bound_of_an_array_inside_a_struct",
    "an_external_function_answers_anything",
    "nothing_is_found_in_corrected_programs",
];

/// Runs format, lints, unit tests and ten end-to-end programs: the checks before each commit.
pub(crate) fn quick(places: &Places) -> Result<()> {
    setup::setup(places)?;
    let mut steps = Steps::default();
    style(places, &mut steps)?;
    let units = cargo(places, &["test", "--workspace", "--lib", "--no-fail-fast"]);
    steps.tests("the unit tests", units)?;
    // The whole workspace is selected, so that nothing is built twice with different features.
    let mut programs = cargo(
        places,
        &["test", "--workspace", "--test", "check", "--", "--exact"],
    );
    programs.args(QUICK);
    steps.tests("ten programs", programs)?;
    steps.end()
}

/// The test binaries, besides the unit tests, that by default use only some of their programs or
/// less time, and with `CEGAR_TESTS=all` use everything.
const SHORTENED: &[&str] = &[
    "agree",
    "drivers",
    "environment",
    "forged",
    "loops",
    "proofs",
];

/// Runs the tests that are left out by default, since they download crates or take minutes each.
pub(crate) fn nightly(places: &Places) -> Result<()> {
    setup::setup(places)?;
    let mut steps = Steps::default();
    let ignored = cargo(
        places,
        &[
            "test",
            "--workspace",
            "--release",
            "--no-fail-fast",
            "--",
            "--ignored",
        ],
    );
    steps.tests("what is ignored by default", ignored)?;
    let mut whole = cargo(
        places,
        &["test", "--workspace", "--release", "--no-fail-fast"],
    );
    whole.arg("--lib");
    for name in SHORTENED {
        whole.args(["--test", name]);
    }
    whole.env("CEGAR_TESTS", "all");
    steps.tests("what is shortened by default", whole)?;
    steps.end()
}
