//! The native builds of one program, made beside the search.
//!
//! Compiling the runner takes longer than most searches, so it happens on a thread of its own from
//! the first moment; a caller waits only for the product that it needs. The order is the order of
//! need: the runner with AddressSanitizer confirms findings, the fast target feeds the fuzzer, the
//! comparison log makes it cleverer, the plain runner judges what AddressSanitizer would change
//! (memory limits, addresses). For a large program, each of which takes tens of seconds, the fuzzer
//! comes first and is optimised less: there will be nothing to confirm before. Of the plain runner
//! short campaigns have no need: it is built when it is asked for, or after some seconds.
//!
//! No wait outlasts the campaign: it ends with Ctrl-C and with the time, and compilers are
//! killed when their products are no longer needed.

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

/// Processor time that a run of a sweep may take, in milliseconds: the fuzzer's own took far less.
pub(super) const SWEEP: u32 = 250;

/// How often who waits looks whether that still makes sense.
const GLANCE: Duration = Duration::from_millis(50);
/// What the last run gets although the time is up.
const LAST_RUN: Duration = Duration::from_secs(1);
/// How long the end of a campaign waits for compilers to be killed.
const KILLING: Duration = Duration::from_millis(500);

/// How long after the other products the plain runner is built although nobody has asked for it.
const UNASKED: Duration = Duration::from_secs(3);

type Slot = Option<Result<Target, Arc<TargetError>>>;

#[derive(Default)]
struct Slots {
    built: [Slot; 4],
    /// Somebody waits for the plain runner.
    plain_wanted: bool,
}

#[derive(Default)]
struct Shared {
    slots: Mutex<Slots>,
    /// A product was built, the plain runner is asked for, or the builds end.
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until somebody asks for the plain runner or the builds are to end, for [`UNASKED`] at
    /// the most.
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
    /// When the campaign's time is up.
    until: Option<Instant>,
    /// Ends the builds.
    cancel: Arc<AtomicBool>,
    progress: Arc<Progress>,
    builder: Option<JoinHandle<()>>,
}

/// Blocks from which on a program is large.
pub const LARGE: usize = 4000;
/// Blocks from which on the engine's threads give way to the fuzzer.
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

/// What decides which product is built when.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// The fuzzer's two targets are wanted at all.
    pub fuzzed: bool,
    /// The program is large: a product takes tens of seconds, and is optimised less.
    pub large: bool,
    /// Inputs of earlier findings wait for the runner with AddressSanitizer.
    pub expected: bool,
}

impl<'s> Native<'s> {
    /// Starts building. No wait for a product outlasts `until`, or `stop`.
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

    /// Stops the compilers: products that are not finished are no longer needed.
    pub fn end(&self) {
        self.cancel.store(true, Ordering::Relaxed);
        // With the lock, so that a builder that is about to wait sees it.
        let slots = self.shared.lock();
        self.shared.changed.notify_all();
        drop(slots);
    }

    /// How many parts of the program are compiled, and of how many, as far as that is known.
    pub fn progress(&self) -> (u32, u32) {
        self.progress.get()
    }

    /// The product if it is there already.
    pub fn ready(&self, kind: Kind) -> Option<Result<Target, Error>> {
        let built = self.shared.lock().built[slot(kind)].clone()?;
        Some(built.map_err(|why| failed(&why, &self.folder)))
    }

    /// The product, waiting for it if need be: until Ctrl-C ([`Error::Interrupted`]), or until the
    /// time is up ([`Error::NotInTime`]).
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

    /// Runs one tape in a process of its own, under AddressSanitizer, and records its choices.
    pub fn confirm(&self, tape: &[u8]) -> Result<Run, Error> {
        self.one(Kind::RunnerAsan, tape, self.options())
    }

    /// Runs one tape in a process of its own, without a sanitizer.
    pub fn plain(&self, tape: &[u8]) -> Result<Run, Error> {
        self.one(Kind::Runner, tape, self.options())
    }

    /// Whether one tape's run, without a sanitizer, takes longer than so much processor time.
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

    /// Runs tapes under AddressSanitizer, each in a process of its own, only to see how they end.
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

    /// Runs tapes under AddressSanitizer, each in a process of its own, as [`Native::confirm`] does
    /// one.
    pub fn replay(&self, tapes: &[Vec<u8>]) -> Result<Vec<Run>, Error> {
        self.in_files(tapes, self.options())
    }

    /// Runs recorded tapes, each in a process of its own, in order.
    pub fn batch(&self, kind: Kind, tapes: &[PathBuf]) -> Result<Vec<Run>, Error> {
        Runner::new(&self.wait(kind)?)
            .run(tapes, self.options())
            .map_err(|why| not_run(why, &self.folder))
    }

    /// Processor time that one run may take, in milliseconds: when the time is nearly up, little
    /// more than is left.
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
    /// Ends the builds. A pass of LLVM over the whole program cannot be interrupted; it is left to
    /// end by itself.
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

/// The folder of the products was removed in mid-run.
fn gone(folder: &Path) -> Error {
    Error::io("write to", folder, std::io::ErrorKind::NotFound.into())
}

/// Why a product did not run: a missing file was removed by another process.
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

/// A full disk is told as one, also by the words of the compiler and the linker, which write most
/// of it.
fn failed(why: &TargetError, folder: &Path) -> Error {
    let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
    match why {
        // The compiler says in its own words that its folder was removed.
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

/// Whether a native outcome is a fault at all, and of which property.
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

/// What an inserted check guards against, by clang's number of it.
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
        // Where the folder was removed, whatever went wrong is about that.
        let removed = folder.path().join("removed");
        let why = failed(&linker("unable to rename temporary"), &removed);
        assert_eq!(why.exit_code(), ExitCode::Io);
    }

    const WANTED: Wanted = Wanted {
        fuzzed: true,
        large: false,
        expected: false,
    };

    /// A build that takes as long as it is let: its compiler sleeps.
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
