//! The workspace's tests, several test binaries at a time.
//!
//! cargo runs one test binary after the other. At the end of each there is often one long test
//! left, and the other processors have nothing to do. So each binary is a `cargo test` of its own
//! here, with one thread, and as many run as there are processors; the longest come first. The
//! output of a binary is shown in one piece when it ends.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::counts::Counts;
use crate::error::{Error, Result};
use crate::run;

/// The test binaries that take minutes, longest first. One that is missing here costs time, nothing
/// else.
const LONGEST: &[&str] = &[
    "environment",
    "proofs",
    "loops",
    "drivers",
    "agree",
    "forged",
    "regressions",
    "check",
    "shapes",
    "stale",
];

/// The words after `cargo test --workspace` for each run, in the order in which they are begun.
fn selections(binaries: &[String]) -> VecDeque<Vec<String>> {
    let rank = |name: &String| LONGEST.iter().position(|long| long == name);
    let mut names: Vec<&String> = binaries.iter().collect();
    names.sort_by_key(|name| (rank(name).unwrap_or(LONGEST.len()), *name));
    names.dedup();
    let mut all: VecDeque<Vec<String>> = names
        .into_iter()
        .map(|name| vec!["--test".to_owned(), name.clone()])
        .collect();
    let units = ["--lib", "--bins"].map(str::to_owned).to_vec();
    all.insert(LONGEST.len().min(all.len()), units);
    all.push_back(vec!["--doc".to_owned()]);
    all
}

/// The names in what cargo answers where the name of a test binary is missing.
fn listed(answer: &str) -> Vec<String> {
    let names = answer
        .lines()
        .skip_while(|line| !line.starts_with("Available test"));
    let names = names.skip(1).map_while(|line| line.strip_prefix("    "));
    names.map(|name| name.trim().to_owned()).collect()
}

/// Runs all tests of the workspace; `cargo` makes a command of cargo's. What was counted, and what
/// failed.
pub(crate) fn tests(cargo: &(dyn Fn(&[&str]) -> Command + Sync)) -> Result<(Counts, Vec<String>)> {
    run::succeeds(&mut cargo(&["test", "--workspace", "--no-run"]))?;
    let mut ask = cargo(&["test", "--workspace", "--test"]);
    let answer = finished(&mut ask)?;
    let names = listed(&String::from_utf8_lossy(&answer.stderr));
    if names.is_empty() {
        return Err(Error::Failed {
            command: run::shown(&ask),
            status: "it names no test binary".to_owned(),
        });
    }
    let waiting = Mutex::new(selections(&names));
    let results = Mutex::new((Counts::default(), Vec::new()));
    let next = || {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.pop_front()
    };
    let work = || {
        while let Some(selection) = next() {
            let words = ["test", "--workspace", "--no-fail-fast"].into_iter();
            let words = words.chain(selection.iter().map(String::as_str));
            let words: Vec<&str> = words.chain(["--", "--test-threads=1"]).collect();
            let mut command = cargo(&words);
            let outcome = finished(&mut command);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            let (counts, failures) = &mut *results;
            match outcome.and_then(|output| shown(&command, &output, counts)) {
                Ok(()) => {}
                Err(why) => failures.push(why.to_string()),
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(work);
        }
    });
    Ok(results.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn finished(command: &mut Command) -> Result<Output> {
    command.output().map_err(|source| Error::Start {
        command: run::shown(command),
        source,
    })
}

/// Shows what a run printed, and adds up what it counted.
fn shown(command: &Command, output: &Output, counts: &mut Counts) -> Result<()> {
    run::status("Ran", &run::shown(command));
    // Nothing is to be done about a closed output.
    let _ = io::stderr().lock().write_all(&output.stderr);
    let _ = io::stdout().lock().write_all(&output.stdout);
    counts.add(Counts::of(&String::from_utf8_lossy(&output.stdout)));
    run::success(command, output.status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_binary_is_run_once_and_the_longest_first() {
        let answer = "error: \"--test\" takes one argument.\nAvailable test targets:\n    \
                      addresses\n    proofs\n    outcomes\n    outcomes\n\n";
        let names = listed(answer);
        assert_eq!(names, ["addresses", "proofs", "outcomes", "outcomes"]);
        let all: Vec<String> = selections(&names).iter().map(|one| one.join(" ")).collect();
        assert_eq!(
            all,
            [
                "--test proofs",
                "--test addresses",
                "--test outcomes",
                "--lib --bins",
                "--doc"
            ]
        );
        assert!(listed("error: no such thing\n").is_empty());
    }
}
