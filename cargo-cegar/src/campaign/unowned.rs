//! Runs tests and reports records that belong to no harness.
//!
//! A package may contain the user's own test files, and records of a harness that was renamed or
//! removed. No campaign replays them, so the command does: cargo runs the tests, and a record
//! without a harness is reported as not run. Tests of behaviour are left to `cargo test`, since a
//! difference that they find is not a violation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use cargo_metadata::MetadataCommand;
use cegar_model::program::CheckKind;

use super::budget::Budget;
use super::committed::{self, Ended, TestFile};
use super::expectations;
use crate::emit::{self, behaviour};
use crate::error::Error;
use crate::event::{Event, Expectations, Reporter, Summary};
use crate::findings::{Identity, Memory, Place as Records, Standing};
use crate::list;
use crate::options::RunOptions;
use crate::verdict::{Finding, Place, rule_id};

/// The counts of failing tests and of tests and records that were not run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unowned {
    failing: u64,
    not_run: u64,
}

impl Unowned {
    /// Counts and reports the stored records of a harness whose campaign did not run them.
    pub fn remember(
        &mut self,
        options: &RunOptions,
        harness: &str,
        why: &str,
        reporter: &mut dyn Reporter,
    ) -> Result<(), Error> {
        self.not_run += expectations::remember(options, harness, why, reporter)?;
        Ok(())
    }

    /// Adds the counts to the summary of the harnesses.
    pub fn add_to(self, summary: &mut Summary) {
        summary.not_replayed += self.not_run;
        summary.goals.checks.violated += self.failing;
        if self.failing > 0 {
            summary.verdict = crate::verdict::Verdict::Violated;
        }
    }
}

/// Runs the tests that belong to no harness, and reports the records that belong to none. Does
/// nothing if the command is restricted to some harnesses.
pub fn replay(
    options: &RunOptions,
    budget: Budget,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Unowned, Error> {
    let mut sum = Unowned::default();
    if !options.is_all {
        return Ok(sum);
    }
    let owned: BTreeSet<&str> = options.harnesses.iter().map(|h| h.name.as_str()).collect();
    let targets = targets(&options.package);
    // The other half is left for the harnesses.
    let until = budget.share(2).end();
    for stem in stems(&options.package, &owned, targets.keys())? {
        let mut told = Expectations {
            harness: stem.clone(),
            ..Expectations::default()
        };
        let scratch = options.scratch.join(&stem);
        let place = Records::new(&stem, &options.package, None, &scratch);
        let (memory, _) = Memory::read(place)?;
        let usual = || emit::package::test_file(&options.package, &stem);
        let file = targets.get(&stem).cloned().unwrap_or_else(usual);
        let known = list::tests_of(&file);
        let untested = memory
            .records()
            .filter(|record| !known.contains(&record.name));
        told.not_run = untested
            .map(|record| (record.name.clone(), format!("there is no harness `{stem}`")))
            .collect();
        if targets.contains_key(&stem) {
            let target = options.scratch.parent().unwrap_or(&options.scratch);
            let tests = TestFile {
                package: &options.package,
                stem: &stem,
                target,
                captured: options.captured.as_deref(),
                ends: (until, stop),
            };
            match committed::run(&tests, None) {
                Err(why) => told.not_run.extend(committed::not_run(&stem, known, &why)),
                Ok(ended) => {
                    for (test, ended) in ended {
                        match ended {
                            Ended::Passed | Ended::Ignored => told.pass.push(test),
                            Ended::NotRun(why) => told.not_run.push((test, why)),
                            Ended::Failed { message, at } => {
                                let of = (stem.as_str(), test.as_str());
                                let found = finding(options, &file, of, &message, at.as_ref());
                                reporter.event(&Event::Found(found));
                                told.still_fail.push(test);
                            }
                        }
                    }
                }
            }
        }
        sum.failing += told.still_fail.len() as u64;
        sum.not_run += told.not_run.len() as u64;
        if told.total() > 0 {
            reporter.event(&Event::Expectations(told));
        }
    }
    Ok(sum)
}

/// The package's test targets and their files according to cargo. If the manifest cannot be read,
/// the files of `tests/`; cargo then reports why it does not run them.
fn targets(package: &Path) -> BTreeMap<String, PathBuf> {
    let mut command = MetadataCommand::new();
    command.manifest_path(package.join("Cargo.toml")).no_deps();
    let Ok(metadata) = command.exec() else {
        let files = std::fs::read_dir(package.join("tests"))
            .into_iter()
            .flatten();
        let named = files.flatten().filter_map(|entry| {
            let path = entry.path();
            let is_test = path.extension().is_some_and(|extension| extension == "rs");
            let stem = path.file_stem()?.to_str()?.to_owned();
            is_test.then_some((stem, path))
        });
        return named.collect();
    };
    let folder = package.canonicalize().ok();
    let own = metadata.packages.into_iter().filter(|known| {
        let known = known.manifest_path.parent();
        folder.is_some() && known.and_then(|known| known.canonicalize().ok()) == folder
    });
    own.flat_map(|package| package.targets)
        .filter(|target| target.is_test())
        .map(|target| (target.name, target.src_path.into_std_path_buf()))
        .collect()
}

/// The names of test targets and record folders that belong to no harness.
fn stems<'a>(
    package: &Path,
    owned: &BTreeSet<&str>,
    targets: impl Iterator<Item = &'a String>,
) -> Result<BTreeSet<String>, Error> {
    let mut stems: BTreeSet<String> = targets.cloned().collect();
    let folder = package.join("findings");
    match std::fs::read_dir(&folder) {
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => {}
        Err(why) => return Err(Error::io("read", &folder, why)),
        Ok(entries) => {
            for entry in entries {
                let path = entry.map_err(|why| Error::io("read", &folder, why))?.path();
                if let (true, Some(name)) = (path.is_dir(), path.file_name()) {
                    stems.insert(name.to_string_lossy().into_owned());
                }
            }
        }
    }
    let of_behaviour: BTreeSet<String> = owned.iter().map(|name| behaviour::stem(name)).collect();
    stems.retain(|stem| {
        !owned.contains(stem.as_str()) && !of_behaviour.contains(stem) && !stem.starts_with('.')
    });
    Ok(stems)
}

fn finding(
    options: &RunOptions,
    file: &Path,
    (stem, test): (&str, &str),
    message: &str,
    at: Option<&(String, u32)>,
) -> Finding {
    let relative = |path: &Path| {
        path.strip_prefix(&options.root)
            .unwrap_or(path)
            .display()
            .to_string()
    };
    let (file, line) = match at {
        Some((file, line)) => (relative(Path::new(file)), *line),
        None => (relative(file), 0),
    };
    Finding {
        harness: stem.to_owned(),
        name: test.to_owned(),
        kind: CheckKind::Fail,
        message: format!("the test `{test}` fails: {message}"),
        identity: Identity {
            file: file.clone(),
            function: test.to_owned(),
            rule: rule_id(CheckKind::Fail).to_owned(),
            ..Identity::default()
        },
        place: Place {
            file,
            line,
            column: 0,
            function: test.to_owned(),
        },
        stack: Vec::new(),
        input: Vec::new(),
        found_by: "a committed test".to_owned(),
        standing: Standing::StillFails,
        blame: None,
    }
}
