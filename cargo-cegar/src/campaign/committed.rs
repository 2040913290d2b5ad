//! Tests that must be run by cargo.
//!
//! A generated test is a record with a name: its input is run natively, without compiling any Rust.
//! A test that a user has written or changed states its expectations in Rust, so cargo builds and
//! runs it as far as the time allows.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cegar_harness::NOT_BUILT;
use cegar_harness::build::CAPTURED;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// How often the state of the process is polled.
const TICK: Duration = Duration::from_millis(50);
/// The number of lines of compiler output that are repeated.
const WORDS: usize = 20;

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It passed.
    Passed,
    /// It failed, with this message.
    Failed {
        /// The first line of its message.
        message: String,
        /// `FILE:LINE` in the C code, if the test reported it.
        at: Option<(String, u32)>,
    },
    /// It has the attribute `ignore`.
    Ignored,
    /// It was not run to its end, for this reason.
    NotRun(String),
}

/// Names tests that were not run, all with the same reason: the known tests of a file, or the file
/// itself if none is known.
pub fn not_run(stem: &str, mut known: Vec<String>, why: &str) -> Vec<(String, String)> {
    if known.is_empty() {
        known.push(format!("tests/{stem}.rs"));
    }
    let with_reason = |name| (name, why.to_owned());
    known.into_iter().map(with_reason).collect()
}

/// Runs the tests of one file of a package: those with the given names, or all tests. The tests are
/// those that the standard test harness lists. How they ended is taken from the harness's final
/// summary, since a test's own output may contain anything. If the summary is missing or
/// inconsistent, because a test ended the process, each test is run in a process of its own. `Err`
/// says why no test was run.
pub fn run(
    file: &TestFile<'_>,
    only: Option<&[String]>,
) -> Result<BTreeMap<String, Ended>, String> {
    let lock = file.package.join("Cargo.lock");
    let had_lock = lock.exists();
    let ended = file.run(only);
    if !had_lock {
        // The file did not exist, or cargo has just created it: the package is left unchanged.
        let _ = std::fs::remove_file(&lock);
    }
    ended
}

/// A file of tests, with where it is run and until when.
pub struct TestFile<'a> {
    /// The package.
    pub package: &'a Path,
    /// The file's name without its extension.
    pub stem: &'a str,
    /// The target folder of cargo.
    pub target: &'a Path,
    /// The list of the library's files, if the package's own list belongs to another build.
    pub captured: Option<&'a Path>,
    /// When the run must end: at this time, or when the flag is set.
    pub ends: (Option<Instant>, &'a AtomicBool),
}

/// The output of a call of cargo.
struct Said {
    is_success: bool,
    out: String,
    err: String,
}

/// Variables that change what the standard test harness prints, or how it runs tests.
const VARIABLES: [&str; 5] = [
    "RUST_TEST_NOCAPTURE",
    "RUST_TEST_SHUFFLE",
    "RUST_TEST_SHUFFLE_SEED",
    "RUST_TEST_THREADS",
    "RUST_TEST_TIME_UNIT",
];

impl TestFile<'_> {
    fn run(&self, only: Option<&[String]>) -> Result<BTreeMap<String, Ended>, String> {
        let listed = self.cargo(&["--list", "--format", "terse"])?;
        if !listed.is_success {
            return Err(errors(&listed.err));
        }
        let ignored = self.cargo(&["--list", "--ignored", "--format", "terse"])?;
        let ignored = names(&ignored.out);
        let mut tests = names(&listed.out);
        tests.retain(|test| only.is_none_or(|only| only.contains(test)));
        let (run, skipped): (Vec<String>, Vec<String>) =
            tests.into_iter().partition(|test| !ignored.contains(test));
        let mut ended: BTreeMap<String, Ended> = skipped
            .into_iter()
            .map(|test| (test, Ended::Ignored))
            .collect();
        let unknown = only
            .into_iter()
            .flatten()
            .filter(|test| !run.contains(test));
        for test in unknown {
            let why = || Ended::NotRun("cargo does not know it".to_owned());
            ended.entry(test.clone()).or_insert_with(why);
        }
        if run.is_empty() && only.is_some() {
            return Ok(ended);
        }
        let mut args = Vec::new();
        if only.is_some() {
            args.push("--exact");
            args.extend(run.iter().map(String::as_str));
        }
        let said = self.cargo(&args)?;
        match understood(&said, &run) {
            Some(told) => ended.extend(told),
            // A test target without the standard harness.
            None if run.is_empty() => {
                ended.insert(self.stem.to_owned(), by_status(&said));
            }
            None => ended.extend(self.one_by_one(&run)),
        }
        Ok(ended)
    }

    /// Runs each test in a process of its own, as far as the time allows.
    fn one_by_one(&self, tests: &[String]) -> BTreeMap<String, Ended> {
        let alone = |test: &String| match self.cargo(&["--exact", test]) {
            Err(why) => Ended::NotRun(why),
            Ok(said) => {
                let told = understood(&said, std::slice::from_ref(test));
                let told = told.and_then(|mut told| told.remove(test));
                told.unwrap_or_else(|| Ended::Failed {
                    message: death(&said.err),
                    at: None,
                })
            }
        };
        tests
            .iter()
            .map(|test| (test.clone(), alone(test)))
            .collect()
    }

    /// Calls `cargo test` with these arguments for the tests. Returns `Err` if cargo cannot be run
    /// or the time is up.
    fn cargo(&self, args: &[&str]) -> Result<Said, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command
            .arg("test")
            .arg("--manifest-path")
            .arg(self.package.join("Cargo.toml"))
            .arg("--target-dir")
            .arg(self.target)
            .args(["--test", self.stem, "--no-fail-fast", "--color", "never"])
            .arg("--")
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Its own process group, so that all processes that it starts can be ended with it.
            .process_group(0);
        for variable in VARIABLES {
            command.env_remove(variable);
        }
        if let Some(list) = self.captured {
            command.env(CAPTURED, list);
        }
        let mut child = command
            .spawn()
            .map_err(|why| format!("cargo cannot be started: {why}"))?;
        let (out, err) = (drain(child.stdout.take()), drain(child.stderr.take()));
        let (until, stop) = self.ends;
        let over =
            || stop.load(Ordering::Relaxed) || until.is_some_and(|until| Instant::now() >= until);
        let ended = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if over() => break None,
                Ok(None) => std::thread::sleep(TICK),
                Err(why) => return Err(format!("cargo cannot be waited for: {why}")),
            }
        };
        if ended.is_none() {
            let group = Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX));
            // The process may just have ended.
            let _ = killpg(group, Signal::SIGKILL);
            let _ = child.wait();
        }
        let (out, err) = (
            out.join().unwrap_or_default(),
            err.join().unwrap_or_default(),
        );
        let status = ended.ok_or_else(|| "the time was up".to_owned())?;
        Ok(Said {
            is_success: status.success(),
            out,
            err,
        })
    }
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is all that is available.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The names of the listed tests.
fn names(out: &str) -> Vec<String> {
    let tests = out.lines().filter_map(|line| line.strip_suffix(": test"));
    tests.map(str::to_owned).collect()
}

/// How each of these tests ended, according to the final summary of the standard test harness: the
/// names of the failed tests and the counts. `None` if the summary is not consistent with itself,
/// with the list of tests, or with the exit status.
fn understood(said: &Said, tests: &[String]) -> Option<BTreeMap<String, Ended>> {
    let lines: Vec<&str> = said.out.lines().collect();
    let at = lines
        .iter()
        .rposition(|line| line.starts_with("test result: "))?;
    let count = |word: &str| -> Option<usize> {
        let before = lines[at].split_once(&format!(" {word}"))?.0;
        before.rsplit(' ').next()?.parse().ok()
    };
    let (passed, failed) = (count("passed")?, count("failed")?);
    let mut failing: Vec<&str> = lines[..at]
        .iter()
        .rev()
        .skip_while(|line| line.is_empty())
        .map_while(|line| line.strip_prefix("    "))
        .collect();
    if failed == 0 {
        failing.clear();
    }
    let is_known = |name: &&str| tests.iter().any(|test| test == name);
    let agrees = failing.len() == failed
        && failing.iter().all(is_known)
        && passed + failed == tests.len()
        && (failed == 0) == said.is_success;
    agrees.then(|| {
        let ended = |test: &String| match failing.contains(&test.as_str()) {
            true => said_by(&said.out, test),
            false => Ended::Passed,
        };
        tests
            .iter()
            .map(|test| (test.clone(), ended(test)))
            .collect()
    })
}

/// How a test target without the standard harness ended: it counts as one test.
fn by_status(said: &Said) -> Ended {
    match said.is_success {
        true => Ended::Passed,
        false => Ended::Failed {
            message: death(&said.err),
            at: None,
        },
    }
}

/// What cargo reported about a process that ended before its tests did.
fn death(err: &str) -> String {
    let of = err.split_once("process didn't exit successfully: ");
    let how = of.and_then(|(_, rest)| rest.lines().next()?.rsplit_once(" (")?.1.strip_suffix(')'));
    match how {
        Some(how) => format!("its process ended: {how}"),
        None => "its process ended before the test did".to_owned(),
    }
}

/// The result of a failed test, from its output.
fn said_by(out: &str, name: &str) -> Ended {
    let heading = format!("---- {name} stdout ----");
    let section = out.split_once(&heading).map_or("", |(_, rest)| rest);
    let section = section.split("\n---- ").next().unwrap_or_default();
    let mut lines = section
        .lines()
        .skip_while(|line| !line.contains(" panicked at "));
    lines.next();
    let lines: Vec<&str> = lines.collect();
    let place = lines.iter().find_map(|line| line.strip_prefix("    at "));
    let at = place.and_then(|place| {
        let place = place.split(" in ").next().unwrap_or(place);
        let (file, line) = place.rsplit_once(':')?;
        Some((file.to_owned(), line.parse().ok()?))
    });
    let first = lines.iter().find(|line| !line.trim().is_empty());
    if let Some(line) = first.filter(|line| line.contains(NOT_BUILT)) {
        return Ended::NotRun(line.trim().to_owned());
    }
    Ended::Failed {
        message: first.map_or_else(|| "it fails".to_owned(), |line| line.trim().to_owned()),
        at,
    }
}

/// The errors that the compiler reported for the tests.
fn errors(err: &str) -> String {
    let from = err.find("error").unwrap_or(0);
    let lines: Vec<&str> = err[from..].lines().take(WORDS).collect();
    format!("cargo does not build the tests\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUT: &str = "\
running 3 tests
test fine ... ok
test wrong ... FAILED
test inner::other - should panic ... FAILED

failures:

---- wrong stdout ----
test wrong ... ok

thread 'wrong' (7) panicked at cegar/tests/demo.rs:13:10:
demo: index 64 out of bounds for type 'char [64]'
    at /a/c/demo.c:52 in get

  to debug: set

---- inner::other stdout ----

thread 'other' (8) panicked at cegar/tests/demo.rs:20:5:
assertion failed: n > 3


failures:
    inner::other
    wrong

test result: FAILED. 1 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    fn told(out: &str, is_success: bool, tests: &[&str]) -> Option<BTreeMap<String, Ended>> {
        let said = Said {
            is_success,
            out: out.to_owned(),
            err: String::new(),
        };
        let tests: Vec<String> = tests.iter().map(|&test| test.to_owned()).collect();
        understood(&said, &tests)
    }

    #[test]
    fn the_words_of_each_test_are_its_own() {
        let told = told(OUT, false, &["fine", "inner::other", "wrong"]).expect("understood");
        assert_eq!(told.len(), 3);
        assert_eq!(told["fine"], Ended::Passed);
        let wrong = Ended::Failed {
            message: "demo: index 64 out of bounds for type 'char [64]'".to_owned(),
            at: Some(("/a/c/demo.c".to_owned(), 52)),
        };
        assert_eq!(told["wrong"], wrong);
        let other = Ended::Failed {
            message: "assertion failed: n > 3".to_owned(),
            at: None,
        };
        assert_eq!(told["inner::other"], other);
    }

    #[test]
    fn words_that_contradict_each_other_are_not_believed() {
        let tests = ["fine", "inner::other", "wrong"];
        assert_eq!(told(OUT, true, &tests), None);
        assert_eq!(told(OUT, false, &["fine", "wrong"]), None);
        assert_eq!(told("test fine ... ok\n", true, &["fine"]), None);
        let all = "test result: ok. 1 passed; 0 failed; 0 ignored";
        assert!(told(all, true, &["fine"]).is_some());
        assert_eq!(told(all, false, &["fine"]), None);
    }

    #[test]
    fn a_death_has_its_reason() {
        let err = "error: test failed\n\nCaused by:\n  process didn't exit successfully: `/a \
            (b)/demo --exact x` (signal: 11, SIGSEGV: invalid memory reference)\n";
        assert_eq!(
            death(err),
            "its process ended: signal: 11, SIGSEGV: invalid memory reference"
        );
    }

    #[test]
    fn the_compilers_words_are_repeated_from_the_first_error_on() {
        let err = "   Compiling x\nwarning: w\nerror[E0425]: no `y`\n --> t.rs:1\n";
        assert!(errors(err).ends_with("error[E0425]: no `y`\n --> t.rs:1"));
    }
}
