//! The native builds of one program, which run in parallel to the search.
//!
//! Compiling the runner takes longer than most searches, so it happens on a separate thread from
//! the beginning; a caller waits only for the product that it needs. Products are built in the
//! order in which they are needed: the runner with AddressSanitizer confirms findings, the fast
//! target feeds the fuzzer, the target with the comparison log improves the fuzzer's mutations, and
//! the plain runner judges what AddressSanitizer would change (memory limits, addresses). For a
//! large program, each product takes tens of seconds; then the fuzzer's target comes first and is
//! optimised less, since there is nothing to confirm before the fuzzer runs. Short campaigns do not
//! need the plain runner: it is built on demand, or after some seconds.
//!
//! No wait outlasts the campaign: waiting ends with Ctrl-C and when the time is up, and compilers
//! are killed when their products are no longer needed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cegar_fuzz::native::{
    Kind, Outcome, Progress, Run, RunOptions, Runner, Target, TargetBuilder, TargetError,
};
use cegar_model::program::CheckKind;
use cegar_model::program::load::sanitizer;

use super::prepare::timed;
use crate::error::Error;

/// The processor time that a run of a sweep may take, in milliseconds. The fuzzer's own run of the
/// input took far less.
pub(super) const SWEEP: u32 = 250;

/// How often a waiting thread checks whether to continue waiting.
const GLANCE: Duration = Duration::from_millis(50);
/// The extra time of a run, so that the last run gets some although the time is up.
const LAST_RUN: Duration = Duration::from_secs(1);
/// How long the end of a campaign waits for compilers to be killed.
const KILLING: Duration = Duration::from_millis(500);

/// How long after the other products the plain runner is built without being requested.
const UNASKED: Duration = Duration::from_secs(3);

type Slot = Option<Result<Target, Arc<TargetError>>>;

#[derive(Default)]
struct Slots {
    built: [Slot; 4],
    /// Whether some thread waits for the plain runner.
    plain_wanted: bool,
}

#[derive(Default)]
struct Shared {
    slots: Mutex<Slots>,
    /// Notified when a product was built, the plain runner is requested, or the builds end.
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the plain runner is requested or the builds are cancelled, for at most
    /// [`UNASKED`].
    fn until_plain_is_due(&self, cancel: &AtomicBool) {
        let idle = |slots: &mut Slots| !slots.plain_wanted && !cancel.load(Ordering::Relaxed);
        let waited = self.changed.wait_timeout_while(self.lock(), UNASKED, idle);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

/// The products of one program, some of them still being built.
pub struct Native<'s> {
    shared: Arc<Shared>,
    timeout_ms: u32,
    folder: PathBuf,
    /// Set by Ctrl-C.
    stop: &'s AtomicBool,
    /// The end of the campaign's time.
    until: Option<Instant>,
    /// Set to end the builds.
    cancel: Arc<AtomicBool>,
    progress: Arc<Progress>,
    builder: Option<JoinHandle<()>>,
}

/// The number of blocks from which a program counts as large.
pub const LARGE: usize = 4000;
/// The number of blocks from which the engine's threads give way to the fuzzer.
pub const MANY: usize = 1000;

const ORDER: [Kind; 4] = [
    Kind::RunnerAsan,
    Kind::Fast,
    Kind::Comparisons,
    Kind::Runner,
];

fn slot(kind: Kind) -> usize {
    ORDER.iter().position(|&k| k == kind).unwrap_or(0)
}

/// What determines the products and the order in which they are built.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Whether the fuzzer's two targets are needed at all.
    pub fuzzed: bool,
    /// Whether the program is large: each product takes tens of seconds, and is optimised less.
    pub large: bool,
    /// Whether inputs of earlier findings wait for the runner with AddressSanitizer.
    pub expected: bool,
}

impl<'s> Native<'s> {
    /// Starts building. No wait for a product continues past `until`, or after `stop` is set.
    pub fn start(
        mut builder: TargetBuilder,
        wanted: Wanted,
        timeout_ms: u32,
        (stop, until): (&'s AtomicBool, Option<Instant>),
    ) -> Native<'s> {
        let mut order = ORDER;
        let folder = builder.out.clone();
        let Wanted {
            fuzzed,
            large,
            expected,
        } = wanted;
        if large && !expected {
            order.swap(0, 1);
        }
        if large {
            builder.opt = "-O1".to_owned();
        }
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        let (cancel, progress) = (builder.stop.clone(), builder.progress.clone());
        let builder = std::thread::spawn(move || {
            for kind in order {
                if !fuzzed && matches!(kind, Kind::Fast | Kind::Comparisons) {
                    continue;
                }
                if kind == Kind::Runner {
                    theirs.until_plain_is_due(&builder.stop);
                }
                let built = timed(kind.file_name(), || builder.build(kind)).map_err(Arc::new);
                theirs.lock().built[slot(kind)] = Some(built);
                theirs.changed.notify_all();
            }
        });
        Native {
            shared,
            timeout_ms,
            folder,
            stop,
            until,
            cancel,
            progress,
            builder: Some(builder),
        }
    }

    /// Stops the compilers: unfinished products are no longer needed.
    pub fn end(&self) {
        self.cancel.store(true, Ordering::Relaxed);
        // The lock ensures that a builder that is about to wait sees the flag.
        let slots = self.shared.lock();
        self.shared.changed.notify_all();
        drop(slots);
    }

    /// The number of compiled parts of the program and the number of all parts, as far as known.
    pub fn progress(&self) -> (u32, u32) {
        self.progress.get()
    }

    /// The product, if it is built already.
    pub fn ready(&self, kind: Kind) -> Option<Result<Target, Error>> {
        let built = self.shared.lock().built[slot(kind)].clone()?;
        Some(built.map_err(|why| failed(&why, &self.folder)))
    }

    /// Returns the product, waiting for it if necessary. Waiting ends with Ctrl-C
    /// ([`Error::Interrupted`]) or when the time is up ([`Error::NotInTime`]).
    pub fn wait(&self, kind: Kind) -> Result<Target, Error> {
        let mut slots = self.shared.lock();
        if kind == Kind::Runner && !slots.plain_wanted {
            slots.plain_wanted = true;
            self.shared.changed.notify_all();
        }
        loop {
            if let Some(built) = slots.built[slot(kind)].clone() {
                return built.map_err(|why| failed(&why, &self.folder));
            }
            if self.stop.load(Ordering::Relaxed) {
                drop(slots);
                self.end();
                return Err(Error::Interrupted);
            }
            let now = Instant::now();
            let left = self.until.map(|until| until.saturating_duration_since(now));
            if left == Some(Duration::ZERO) {
                return Err(Error::NotInTime {
                    what: kind.file_name(),
                });
            }
            let pause = left.map_or(GLANCE, |left| left.min(GLANCE));
            let (woken, _) = self
                .shared
                .changed
                .wait_timeout(slots, pause)
                .unwrap_or_else(PoisonError::into_inner);
            slots = woken;
        }
    }

    /// Runs one tape in a separate process, under AddressSanitizer, and records its choices.
    pub fn confirm(&self, tape: &[u8]) -> Result<Run, Error> {
        self.one(Kind::RunnerAsan, tape, self.options())
    }

    /// Runs one tape in a separate process, without a sanitizer.
    pub fn plain(&self, tape: &[u8]) -> Result<Run, Error> {
        self.one(Kind::Runner, tape, self.options())
    }

    /// Whether the run of a tape, without a sanitizer, takes more processor time than `time`.
    pub fn takes_longer(&self, tape: &[u8], time: Duration) -> Result<bool, Error> {
        let time = u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
        let options = RunOptions {
            events: false,
            output: false,
            timeout_ms: time.min(self.run_timeout()),
        };
        let run = self.one(Kind::Runner, tape, options)?;
        Ok(run.outcome == Outcome::Timeout)
    }

    fn one(&self, kind: Kind, tape: &[u8], options: RunOptions) -> Result<Run, Error> {
        let target = self.wait(kind)?;
        Runner::new(&target)
            .run_bytes(tape, options)
            .map_err(|why| not_run(why, &self.folder))
    }

    /// Runs tapes under AddressSanitizer, each in a separate process, recording only how they end.
    pub fn sweep(&self, tapes: &[Vec<u8>]) -> Result<Vec<Run>, Error> {
        let options = RunOptions {
            events: false,
            output: false,
            timeout_ms: SWEEP,
        };
        self.in_files(tapes, options)
    }

    fn in_files(&self, tapes: &[Vec<u8>], options: RunOptions) -> Result<Vec<Run>, Error> {
        let target = self.wait(Kind::RunnerAsan)?;
        let fail = |why| Error::io("write", std::env::temp_dir(), why);
        let folder = tempfile::tempdir().map_err(fail)?;
        let mut paths = Vec::new();
        for (number, tape) in tapes.iter().enumerate() {
            let path = folder.path().join(number.to_string());
            std::fs::write(&path, tape).map_err(|why| Error::io("write", &path, why))?;
            paths.push(path);
        }
        Runner::new(&target)
            .run(&paths, options)
            .map_err(|why| not_run(why, &self.folder))
    }

    /// Runs several tapes as [`Native::confirm`] runs one.
    pub fn replay(&self, tapes: &[Vec<u8>]) -> Result<Vec<Run>, Error> {
        self.in_files(tapes, self.options())
    }

    /// Runs tapes stored in files, each in a separate process, in order.
    pub fn batch(&self, kind: Kind, tapes: &[PathBuf]) -> Result<Vec<Run>, Error> {
        Runner::new(&self.wait(kind)?)
            .run(tapes, self.options())
            .map_err(|why| not_run(why, &self.folder))
    }

    /// The processor time that one run may take, in milliseconds. When the time is nearly up, it is
    /// the time that is left plus [`LAST_RUN`].
    fn run_timeout(&self) -> u32 {
        let now = Instant::now();
        let left = self
            .until
            .map(|until| until.saturating_duration_since(now) + LAST_RUN);
        let left = left.and_then(|left| u32::try_from(left.as_millis()).ok());
        left.map_or(self.timeout_ms, |left| left.min(self.timeout_ms))
    }

    /// What a run records.
    pub fn options(&self) -> RunOptions {
        RunOptions {
            timeout_ms: self.run_timeout(),
            events: true,
            output: true,
        }
    }
}

impl Drop for Native<'_> {
    /// Ends the builds. LLVM's passes over the whole program cannot be interrupted, so that thread
    /// is left to end by itself.
    fn drop(&mut self) {
        self.end();
        let begin = Instant::now();
        if let Some(builder) = self.builder.take() {
            while !builder.is_finished() && begin.elapsed() < KILLING {
                std::thread::sleep(GLANCE / 10);
            }
        }
    }
}

/// The error for a folder of products that was removed during a run.
fn gone(folder: &Path) -> Error {
    Error::io("write to", folder, std::io::ErrorKind::NotFound.into())
}

/// The error for a product that did not run: if a file is missing, another process removed it.
fn not_run(why: TargetError, folder: &Path) -> Error {
    if !folder.is_dir() {
        return gone(folder);
    }
    match why {
        TargetError::Start { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            gone(folder)
        }
        why => Error::engine("the native run", why),
    }
}

/// The error for a failed build. A full disk is recognised also from the messages of the compiler
/// and the linker, which write most of the data.
fn failed(why: &TargetError, folder: &Path) -> Error {
    let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
    match why {
        // The folder was removed, which the compiler reports in its own words.
        TargetError::Failed { .. } | TargetError::File { .. } if !folder.is_dir() => gone(folder),
        TargetError::Interrupted => Error::Interrupted,
        TargetError::File { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            gone(folder)
        }
        TargetError::File { path, source } if source.kind() == std::io::ErrorKind::StorageFull => {
            Error::io("write", path, full())
        }
        TargetError::Failed { stderr, .. } if stderr.contains("No space left on device") => {
            Error::io("write to", folder, full())
        }
        _ => Error::engine("building the native target", why.to_string()),
    }
}

/// The property that a native outcome violates, or `None` if the outcome is not a fault.
pub fn fault(outcome: &Outcome) -> Option<cegar_model::program::Property> {
    use cegar_model::program::Property;
    match outcome {
        Outcome::Violated(violated) => Some(match violated.kind.as_str() {
            "heap" => Property::Memory,
            "trap" => trap_kind(violated.trap).property(),
            "abort" => Property::Abort,
            _ => Property::Assertion,
        }),
        Outcome::Crashed(crashed) if crashed.signal == nix::libc::SIGFPE => {
            Some(Property::Overflow)
        }
        Outcome::Crashed(_) | Outcome::Asan(_) => Some(Property::Memory),
        Outcome::Returned
        | Outcome::Exited(_)
        | Outcome::Rejected
        | Outcome::Timeout
        | Outcome::OutOfMemory
        | Outcome::Unreadable => None,
    }
}

/// The kind of an inserted check, by clang's number of it.
pub fn trap_kind(trap: i32) -> CheckKind {
    sanitizer(u64::try_from(trap).unwrap_or(u64::MAX)).0
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;
    use crate::exit::ExitCode;

    #[test]
    fn a_full_disk_is_told_as_one() {
        let linker = |stderr: &str| TargetError::Failed {
            command: "clang".to_owned(),
            status: std::process::ExitStatus::from_raw(256),
            stderr: stderr.to_owned(),
        };
        let folder = tempfile::tempdir().unwrap();
        let code = |why: &TargetError| failed(why, folder.path()).exit_code();
        let full = linker("ld: final link failed: No space left on device");
        assert_eq!(code(&full), ExitCode::Io);
        assert_eq!(code(&linker("ld: cannot find -lm")), ExitCode::Internal);
        let file = TargetError::File {
            path: "native/program.bc".into(),
            source: std::io::ErrorKind::StorageFull.into(),
        };
        assert_eq!(code(&file), ExitCode::Io);
        // If the folder was removed, any failure is attributed to that.
        let removed = folder.path().join("removed");
        let why = failed(&linker("unable to rename temporary"), &removed);
        assert_eq!(why.exit_code(), ExitCode::Io);
    }

    const WANTED: Wanted = Wanted {
        fuzzed: true,
        large: false,
        expected: false,
    };

    /// A build that does not end by itself: its compiler sleeps.
    fn sleeping(folder: &Path) -> TargetBuilder {
        use std::os::unix::fs::PermissionsExt as _;
        let compiler = folder.join("clang");
        std::fs::write(&compiler, "#!/bin/sh\nsleep 600\n").unwrap();
        std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755)).unwrap();
        let bitcode = folder.join("program.bc");
        let made = std::process::Command::new("clang-19")
            .args(["-x", "c", "-emit-llvm", "-c", "/dev/null", "-o"])
            .arg(&bitcode)
            .status();
        assert!(made.unwrap().success());
        let mut builder = TargetBuilder::new(bitcode, folder.join("native"));
        builder.clang = compiler;
        builder
    }

    #[test]
    fn nobody_waits_for_a_build_when_the_time_is_up() {
        let folder = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(false);
        let until = Instant::now() + Duration::from_millis(300);
        let begin = Instant::now();
        let builder = sleeping(folder.path());
        let native = Native::start(builder, WANTED, 1000, (&stop, Some(until)));
        let why = native.confirm(b"tape").unwrap_err();
        assert!(matches!(why, Error::NotInTime { .. }), "{why}");
        drop(native);
        // The compiler would sleep for ten minutes.
        assert!(begin.elapsed() < Duration::from_secs(60));
        let left: Vec<_> = std::fs::read_dir(folder.path().join("native"))
            .unwrap()
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    fn a_wait_for_the_plain_runner_ends_with_the_builds() {
        let folder = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(false);
        let builder = sleeping(folder.path());
        let wanted = Wanted::default();
        let native = Native::start(builder, wanted, 1000, (&stop, None));
        native.end();
        let why = native.wait(Kind::Runner).unwrap_err();
        assert!(matches!(why, Error::Interrupted), "{why}");
    }

    #[test]
    fn an_interruption_ends_a_wait() {
        let folder = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(false);
        let builder = sleeping(folder.path());
        let native = Native::start(builder, WANTED, 1000, (&stop, None));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(200));
                stop.store(true, Ordering::Relaxed);
            });
            let why = native.wait(Kind::Fast).unwrap_err();
            assert!(matches!(why, Error::Interrupted), "{why}");
        });
    }
}
