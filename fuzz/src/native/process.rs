//! Runs compilers and linkers as processes that are killed when the campaign ends first.
//!
//! A campaign may end while a large program is being compiled. Each program that a build starts
//! leads its own process group, so that the compiler and its children are killed together, and the
//! kernel kills it if this process dies first.

use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::TargetError;

/// The polling interval for a running program: at first, and at most.
const GLANCE: Duration = Duration::from_millis(1);
const PATIENCE: Duration = Duration::from_millis(20);

/// Runs a command to its end, or until `stop` is set.
pub(super) fn execute(command: &[OsString], stop: &AtomicBool) -> Result<(), TargetError> {
    let shown = command
        .iter()
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ");
    tracing::debug!(command = %shown);
    let Some((program, arguments)) = command.split_first() else {
        return Ok(());
    };
    check(stop)?;
    let mut process = Command::new(program);
    process
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0);
    // SAFETY: between fork and exec there is one system call, which allocates no memory.
    unsafe {
        process.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
    let start = |source| TargetError::Start {
        command: shown.clone(),
        source,
    };
    let mut child = process.spawn().map_err(start)?;
    let mut errors = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(pipe) = &mut errors {
            // Output that cannot be read is not reported.
            let _ = pipe.read_to_end(&mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    });
    let ended = wait(&mut child, stop).map_err(start)?;
    let stderr = reader.join().unwrap_or_default();
    match ended {
        None => Err(TargetError::Interrupted),
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(TargetError::Failed {
            command: shown,
            status,
            stderr,
        }),
    }
}

/// Returns an error if the build has to stop.
pub(super) fn check(stop: &AtomicBool) -> Result<(), TargetError> {
    match stop.load(Ordering::Relaxed) {
        true => Err(TargetError::Interrupted),
        false => Ok(()),
    }
}

/// Waits for a process; None if it was killed because `stop` was set.
fn wait(child: &mut Child, stop: &AtomicBool) -> std::io::Result<Option<ExitStatus>> {
    let mut pause = GLANCE;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if stop.load(Ordering::Relaxed) {
            if let Ok(group) = i32::try_from(child.id()) {
                // SAFETY: this sends a signal to the group that the child leads; the child was not
                // reaped yet.
                unsafe { libc::killpg(group, libc::SIGKILL) };
            }
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(PATIENCE);
    }
}

/// The option that selects LLVM's linker beside clang. It takes half the time of the usual linker,
/// which for a small program dominates the time of building a target. `None` if it is not
/// installed.
pub(super) fn lld(clang: &Path) -> Option<OsString> {
    let found = which::which(clang).ok()?.canonicalize().ok()?;
    let lld = found.with_file_name("ld.lld");
    let mut option = OsString::from("--ld-path=");
    option.push(&lld);
    lld.is_file().then_some(option)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Instant;

    use super::*;

    fn words(text: &[&str]) -> Vec<OsString> {
        text.iter().map(OsString::from).collect()
    }

    #[test]
    fn a_program_that_nobody_waits_for_is_killed_with_what_it_started() {
        let stop = Arc::new(AtomicBool::new(false));
        let later = stop.clone();
        let setter = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            later.store(true, Ordering::Relaxed);
        });
        let begin = Instant::now();
        let ended = execute(&words(&["sh", "-c", "sleep 60 & sleep 60"]), &stop);
        assert!(matches!(ended, Err(TargetError::Interrupted)), "{ended:?}");
        assert!(begin.elapsed() < Duration::from_secs(20));
        setter.join().expect("the setter ends");
    }

    #[test]
    fn a_program_that_fails_is_told_with_its_words() {
        let stop = AtomicBool::new(false);
        let failed = execute(&words(&["sh", "-c", "echo no room >&2; exit 3"]), &stop);
        let Err(TargetError::Failed { stderr, status, .. }) = failed else {
            panic!("{failed:?}");
        };
        assert_eq!((stderr.as_str(), status.code()), ("no room\n", Some(3)));
    }
}
