//! `cargo xtask test`: everything that can be checked here, and a sum at the end. `quick` is the
//! part of it for every commit, `nightly` is what it leaves out.
//!
//! A step that fails does not keep the later ones from running: one run tells all. The last line on
//! standard output is for machines: the counts, summed over all test binaries.

use std::process::Command;

use crate::counts::Counts;
use crate::error::Error;
use crate::{Places, Result, examples, map, run, setup, trusted};

/// What went wrong so far, and what was counted.
#[derive(Default)]
struct Steps {
    failures: Vec<String>,
    counts: Counts,
}

impl Steps {
    /// One step: its failure does not keep the next ones from running.
    fn run(&mut self, mut command: Command) {
        self.keep(run::succeeds(&mut command));
    }

    fn keep(&mut self, outcome: Result<()>) {
        if let Err(error) = outcome {
            self.failures.push(error.to_string());
        }
    }

    /// A run of tests, whose results are added up.
    fn tests(&mut self, name: &str, mut command: Command) -> Result<()> {
        run::status("Testing", name);
        let (status, output) = run::shows(&mut command)?;
        self.counts.add(Counts::of(&output));
        if let Err(error) = run::success(&command, status) {
            self.failures.push(format!("{name}: {error}"));
        }
        Ok(())
    }

    /// Tells the sum.
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

/// `cargo WORDS` in the checkout.
fn cargo(places: &Places, words: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(&places.root).args(words);
    command
}

/// Format, lints, and what no lint knows: circles between modules, long files.
fn style(places: &Places, steps: &mut Steps) -> Result<()> {
    for (command, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if run::asks(&mut cargo(places, &[command, "--version"])).is_none() {
            run::succeeds(Command::new("rustup").args(["component", "add", component]))?;
        }
    }
    steps.run(cargo(places, &["fmt", "--all", "--check"]));
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
            steps.tests(&format!("example {name}, {manifest}"), command)?;
        }
    }
    steps.end()
}

/// The end-to-end tests of `quick`: one for each thing that a user sees first.
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

/// Format, lints, unit tests and ten programs from end to end: what to run before each commit.
pub(crate) fn quick(places: &Places) -> Result<()> {
    setup::setup(places)?;
    let mut steps = Steps::default();
    style(places, &mut steps)?;
    let units = cargo(places, &["test", "--workspace", "--lib", "--no-fail-fast"]);
    steps.tests("the unit tests", units)?;
    // The whole workspace is selected, so that nothing is built a second time with other features.
    let mut programs = cargo(
        places,
        &["test", "--workspace", "--test", "check", "--", "--exact"],
    );
    programs.args(QUICK);
    steps.tests("ten programs", programs)?;
    steps.end()
}

/// The test binaries, beside the unit tests, that look at a part of their programs by default, or
/// for less time, and at all of them with `CEGAR_TESTS=all`.
const SHORTENED: &[&str] = &[
    "agree",
    "drivers",
    "environment",
    "forged",
    "loops",
    "proofs",
];

/// The tests that are left out by default: they download crates, or take minutes each.
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
