//! Tests that only cargo can run.
//!
//! A generated test is a record with a name: its input is run natively, without a line of Rust
//! compiled. A test that a person has written or changed says in Rust what it expects, so cargo
//! builds and runs it, for as long as there is time.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// How often the process is looked at.
const TICK: Duration = Duration::from_millis(50);
/// Lines of the compiler's words that are repeated.
const WORDS: usize = 20;

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It passed.
    Passed,
    /// It failed, with these words.
    Failed {
        /// The first line of what it said.
        message: String,
        /// `FILE:LINE` in the C code, where it said so.
        at: Option<(String, u32)>,
    },
    /// It has the attribute `ignore`.
    Ignored,
}

/// Runs tests of one file of a package. `Err` says why they were not run.
pub fn run(
    package: &Path,
    stem: &str,
    tests: &[String],
    target: &Path,
    until: Option<Instant>,
    stop: &AtomicBool,
) -> Result<BTreeMap<String, Ended>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut child = Command::new(cargo)
        .arg("test")
        .arg("--manifest-path")
        .arg(package.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(target)
        .args([
            "--test",
            stem,
            "--no-fail-fast",
            "--color",
            "never",
            "--",
            "--exact",
        ])
        .args(tests)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A group of its own, so that what it starts ends with it.
        .process_group(0)
        .spawn()
        .map_err(|why| format!("cargo cannot be started: {why}"))?;
    let (out, err) = (drain(child.stdout.take()), drain(child.stderr.take()));
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
        // It may have ended just now.
        let _ = killpg(group, Signal::SIGKILL);
        let _ = child.wait();
    }
    let (out, err) = (
        out.join().unwrap_or_default(),
        err.join().unwrap_or_default(),
    );
    let told = read(&out);
    match ended {
        None => Err("the time was up".to_owned()),
        Some(status) if told.is_empty() && !status.success() => Err(errors(&err)),
        Some(_) => Ok(told),
    }
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is all that there is.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// What the standard test harness says of each test.
fn read(out: &str) -> BTreeMap<String, Ended> {
    let mut told = BTreeMap::new();
    for line in out.lines() {
        let Some((name, how)) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.split_once(" ... "))
        else {
            continue;
        };
        let ended = match how.split([' ', ',']).next() {
            Some("ok") => Ended::Passed,
            Some("ignored") => Ended::Ignored,
            _ => said(out, name),
        };
        told.insert(name.to_owned(), ended);
    }
    told
}

/// What a test said that failed.
fn said(out: &str, name: &str) -> Ended {
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
    Ended::Failed {
        message: first.map_or_else(|| "it fails".to_owned(), |line| line.trim().to_owned()),
        at,
    }
}

/// What the compiler had against the tests.
fn errors(err: &str) -> String {
    let from = err.find("error").unwrap_or(0);
    let lines: Vec<&str> = err[from..].lines().take(WORDS).collect();
    format!("cargo does not build the tests\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_each_test_are_its_own() {
        let out = "\
running 3 tests
test fine ... ok
test slow ... ignored, takes long
test wrong ... FAILED
test other ... FAILED

failures:

---- wrong stdout ----

thread 'wrong' (7) panicked at cegar/tests/demo.rs:13:10:
demo: index 64 out of bounds for type 'char [64]'
    at /a/c/demo.c:52 in get

  to debug: set

---- other stdout ----

thread 'other' (8) panicked at cegar/tests/demo.rs:20:5:
assertion failed: n > 3
";
        let told = read(out);
        assert_eq!(told.len(), 4);
        assert_eq!(told["fine"], Ended::Passed);
        assert_eq!(told["slow"], Ended::Ignored);
        let wrong = Ended::Failed {
            message: "demo: index 64 out of bounds for type 'char [64]'".to_owned(),
            at: Some(("/a/c/demo.c".to_owned(), 52)),
        };
        assert_eq!(told["wrong"], wrong);
        let other = Ended::Failed {
            message: "assertion failed: n > 3".to_owned(),
            at: None,
        };
        assert_eq!(told["other"], other);
    }

    #[test]
    fn the_compilers_words_are_repeated_from_the_first_error_on() {
        let err = "   Compiling x\nwarning: w\nerror[E0425]: no `y`\n --> t.rs:1\n";
        assert!(errors(err).ends_with("error[E0425]: no `y`\n --> t.rs:1"));
    }
}
