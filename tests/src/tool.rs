//! Runs `cargo-cegar`, and the tests that it writes.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// The program under test: `CEGAR_BIN` if it is set, otherwise the program in the folder of the
/// test executable's profile, which is built if it is missing. (`cargo test --workspace` builds it;
/// a run of this package alone does not rebuild it after a change.)
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(path) = env::var_os("CEGAR_BIN") {
            return path.into();
        }
        let folder = profile_folder();
        let path = folder.join("cargo-cegar");
        if !path.is_file() {
            let mut build = Command::new("cargo");
            build
                .args([
                    "build",
                    "--quiet",
                    "--package",
                    "cargo-cegar",
                    "--target-dir",
                ])
                .arg(folder.parent().unwrap_or(&folder))
                .current_dir(env!("CARGO_MANIFEST_DIR"));
            if folder.file_name() == Some(OsStr::new("release")) {
                build.arg("--release");
            }
            let built = build
                .status()
                .unwrap_or_else(|error| panic!("cannot start cargo: {error}"));
            assert!(built.success(), "cargo-cegar does not build");
        }
        path
    })
}

/// `target/debug`, from `target/debug/deps/check-0123456789abcdef`.
fn profile_folder() -> PathBuf {
    let executable =
        env::current_exe().unwrap_or_else(|error| panic!("where is this test? {error}"));
    let folder = executable
        .ancestors()
        .find(|folder| folder.file_name() == Some(OsStr::new("deps")))
        .and_then(Path::parent)
        .unwrap_or_else(|| panic!("{} is in no folder `deps`", executable.display()));
    folder.to_path_buf()
}

/// One call of the program.
pub struct Tool {
    command: Command,
    limit: Duration,
}

impl Tool {
    /// `cargo-cegar cegar WORDS...` in `folder`, as cargo would start it.
    pub fn new<S: AsRef<OsStr>>(folder: &Path, words: impl IntoIterator<Item = S>) -> Self {
        let mut command = Command::new(binary());
        command
            .arg("cegar")
            .args(words)
            .current_dir(folder)
            .env("NO_COLOR", "1")
            // The dependencies of generated packages have been downloaded for the workspace, and
            // the registry's changing answers must not affect a test.
            .env("CARGO_NET_OFFLINE", "true")
            .env_remove("CARGO_TARGET_DIR")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self {
            command,
            limit: Duration::from_secs(180),
        }
    }

    /// Sets a variable of its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Removes a variable from its environment.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Sets the time limit. A longer run fails the test.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Starts it.
    pub fn start(mut self) -> Running {
        let mut child = self
            .command
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", binary().display()));
        Running {
            words: format!("{:?}", self.command),
            out: Drain::of(child.stdout.take()),
            err: Drain::of(child.stderr.take()),
            child,
            began: Instant::now(),
            limit: self.limit,
        }
    }

    /// Runs it to its end.
    pub fn run(self) -> Ended {
        self.start().wait()
    }
}

/// A pipe that is read to its end in the background, so that the program never waits for its
/// reader.
struct Drain {
    read: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Drain {
    fn of(pipe: Option<impl Read + Send + 'static>) -> Self {
        let read = Arc::new(Mutex::new(Vec::new()));
        let bytes = Arc::clone(&read);
        let reader = thread::spawn(move || {
            let Some(mut pipe) = pipe else { return };
            let mut piece = [0; 4096];
            // A read error ends the output; the bytes before it are kept.
            while let Ok(length @ 1..) = pipe.read(&mut piece) {
                lock(&bytes).extend_from_slice(&piece[..length]);
            }
        });
        Drain { read, reader }
    }

    /// The whole output, once the program has closed its end.
    fn whole(self) -> String {
        // If the reader panicked, the bytes that it read remain.
        let _ = self.reader.join();
        String::from_utf8_lossy(&lock(&self.read)).into_owned()
    }
}

/// Locks the bytes, even if the reader panicked.
fn lock(bytes: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    bytes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A run that has not ended.
pub struct Running {
    words: String,
    child: Child,
    out: Drain,
    err: Drain,
    began: Instant,
    limit: Duration,
}

impl Running {
    /// Its process.
    pub fn id(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap_or(i32::MAX)
    }

    /// Sends a signal to this process alone, not to its children.
    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.id()), signal)
            .unwrap_or_else(|error| panic!("cannot signal: {error}"));
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until `wanted` accepts a message of `--message-format json`. Returns whether it
    /// accepted one.
    pub fn until_told(&mut self, wanted: impl Fn(&Value) -> bool) -> bool {
        let out = Arc::clone(&self.out.read);
        self.until(|| {
            let told = String::from_utf8_lossy(&lock(&out)).into_owned();
            // The last line may still be incomplete.
            let mut messages = told
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok());
            messages.any(|message| wanted(&message)).then_some(())
        })
        .is_some()
    }

    /// Polls `what` until it returns a value, while the program runs and the limit is not reached.
    pub fn until<T>(&mut self, mut what: impl FnMut() -> Option<T>) -> Option<T> {
        while self.is_running() && self.began.elapsed() < self.limit {
            if let Some(found) = what() {
                return Some(found);
            }
            thread::sleep(Duration::from_millis(50));
        }
        what()
    }

    /// Waits for the end of the run. The test fails if it exceeds the limit.
    pub fn wait(mut self) -> Ended {
        let mut in_time = true;
        while self.is_running() {
            if self.began.elapsed() > self.limit {
                in_time = false;
                // An error means that the process has just ended by itself.
                let _ = self.child.kill();
            }
            thread::sleep(Duration::from_millis(20));
        }
        let code = self.child.wait().ok().and_then(|status| status.code());
        let ended = Ended {
            words: self.words,
            code,
            took: self.began.elapsed(),
            stdout: self.out.whole(),
            stderr: self.err.whole(),
        };
        assert!(in_time, "no end within {:?}\n{ended}", self.limit);
        ended
    }
}

/// A run that has ended.
pub struct Ended {
    words: String,
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// How long it took.
    pub took: Duration,
    /// Its standard output: results.
    pub stdout: String,
    /// Its standard error: messages.
    pub stderr: String,
}

impl Ended {
    /// A command that was not started by [`Tool`], and its output.
    pub fn of(command: &Command, output: std::process::Output) -> Self {
        Ended {
            words: format!("{command:?}"),
            code: output.status.code(),
            took: Duration::ZERO,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Fails the test and shows the whole run unless it ended with this code.
    #[track_caller]
    pub fn expect(&self, code: i32) -> &Self {
        assert_eq!(
            self.code,
            Some(code),
            "another exit code than {code}\n{self}"
        );
        self
    }

    /// Fails the test unless the messages contain this text.
    #[track_caller]
    pub fn expect_message(&self, text: &str) -> &Self {
        assert!(
            // miette wraps long lines: the comparison ignores line breaks and the bars that it
            // draws.
            squeezed(&self.stderr).contains(&squeezed(text)),
            "no word of `{text}`\n{self}"
        );
        self
    }

    /// The lines of `--message-format json`, in order.
    #[track_caller]
    pub fn messages(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| {
                let message: Value = serde_json::from_str(line)
                    .unwrap_or_else(|error| panic!("not a JSON line ({error}): {line}\n{self}"));
                assert!(
                    message["reason"].is_string(),
                    "a message without a reason: {line}\n{self}"
                );
                message
            })
            .collect()
    }

    /// The last message, which is the summary.
    #[track_caller]
    pub fn finished(&self) -> Value {
        let last = self
            .messages()
            .pop()
            .unwrap_or_else(|| panic!("no messages\n{self}"));
        assert_eq!(last["reason"], "finished", "{self}");
        for number in ["solver_calls", "refinements", "executions", "seconds"] {
            assert!(
                last["stats"][number].is_number(),
                "no number `{number}` among the statistics\n{self}"
            );
        }
        last
    }
}

fn squeezed(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c == '│')
        .filter(|word| !word.is_empty())
        .collect()
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            words,
            code,
            took,
            stdout,
            stderr,
        } = self;
        write!(
            f,
            "$ {words}\nended with {code:?} after {took:?}\n--- stdout\n{stdout}\n--- stderr\n\
             {stderr}\n---"
        )
    }
}

/// Runs `cargo cegar WORDS...` in a folder, to its end.
pub fn tool(folder: impl AsRef<Path>, words: &[&str]) -> Ended {
    Tool::new(folder.as_ref(), words).run()
}

/// Runs `cargo test` on a generated package. All generated packages share one target folder, so
/// that their common dependencies are built once.
pub fn cargo_test(package: &Path, words: &[&str]) -> Ended {
    run_cargo_test(package, |command| command.args(words))
}

/// Runs `cargo test` on a generated package with the given C compiler.
pub fn cargo_test_with(package: &Path, compiler: &str) -> Ended {
    run_cargo_test(package, |command| command.env("CC", compiler))
}

/// The target folder that generated packages share.
pub fn shared_target() -> PathBuf {
    profile_folder().join("generated")
}

fn run_cargo_test(package: &Path, more: impl Fn(&mut Command) -> &mut Command) -> Ended {
    let mut command = Command::new("cargo");
    more(command.arg("test"))
        .current_dir(package)
        .env("CARGO_TARGET_DIR", shared_target())
        .env("CEGAR_CACHE", shared_target().join("cache"))
        .env("CARGO_TERM_COLOR", "never")
        .env("CARGO_NET_OFFLINE", "true")
        // These settings are for the snapshots of this workspace, not for those of the generated
        // package.
        .env_remove("INSTA_UPDATE")
        .env_remove("INSTA_WORKSPACE_ROOT");
    let began = Instant::now();
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("cannot start cargo: {error}"));
    Ended {
        took: began.elapsed(),
        ..Ended::of(&command, output)
    }
}

/// The descendants of the process `id` whose command line contains `word`.
pub fn children(id: i32, word: &str) -> Vec<i32> {
    let parents: Vec<(i32, i32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|process| Some((process, parent(process)?)))
        .collect();
    let mut family = vec![id];
    let mut at = 0;
    while at < family.len() {
        let next = family[at];
        family.extend(
            parents
                .iter()
                .filter(|&&(_, parent)| parent == next)
                .map(|&(child, _)| child),
        );
        at += 1;
    }
    family
        .into_iter()
        .skip(1)
        .filter(|process| {
            fs::read(format!("/proc/{process}/cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(word))
        })
        .collect()
}

/// The parent of a process: the fourth field of `/proc/N/stat`. The second field is the command's
/// name in parentheses, which may contain any characters.
fn parent(process: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(1)?
        .parse()
        .ok()
}
