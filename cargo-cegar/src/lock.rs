//! Ensures that only one command at a time works in each harness's folder.
//!
//! A campaign reads and writes the queue, the state and the certificate of its harness, and removes
//! native targets that it does not need. Two campaigns in one folder would destroy each other's
//! work. So a command locks each harness that it works on, and a second command waits, as cargo
//! does for its build folder; commands on different harnesses run in parallel. The lock is a kernel
//! lock (`flock`): it is released when the process ends, in whatever way, so there are no stale
//! lock files.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::event::{Event, Level, Reporter};
use crate::store;

/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// Locks `name` in the scratch folder until this process ends; otherwise as [`during`].
///
/// # Errors
/// As [`during`].
pub fn hold(
    scratch: &Path,
    name: &str,
    what: &str,
    reporter: &mut dyn Reporter,
    waits: Waits<'_>,
) -> Result<(), Error> {
    // The file stays open, and so the lock stays, until the process ends.
    std::mem::forget(during(scratch, name, what, reporter, waits)?);
    Ok(())
}

/// How long to wait for another process.
#[derive(Clone, Copy, Debug)]
pub struct Waits<'a> {
    /// Ends the wait when it is set.
    pub stop: &'a AtomicBool,
    /// The end of the wait; `None` to wait until the other process ends.
    pub until: Option<Instant>,
}

impl<'a> From<&'a AtomicBool> for Waits<'a> {
    fn from(stop: &'a AtomicBool) -> Waits<'a> {
        Waits { stop, until: None }
    }
}

/// A lock that is released on drop. It has no file if the file system does not support locks.
#[must_use]
pub struct Held {
    _file: Option<File>,
}

/// Locks `name` in the scratch folder until the result is dropped. If another process holds the
/// lock, waits and reports it. `what` describes what is locked.
///
/// # Errors
/// If the lock file cannot be created, or if the wait ends first.
pub fn during(
    scratch: &Path,
    name: &str,
    what: &str,
    reporter: &mut dyn Reporter,
    waits: Waits<'_>,
) -> Result<Held, Error> {
    let folder = scratch.join(".locks");
    store::writable_dir(&folder)?;
    let path = folder.join(name);
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|why| Error::io("open", &path, why))?;
    let mut told = false;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if waits.stop.load(Ordering::Relaxed) => {
                return Err(Error::Interrupted);
            }
            Err(TryLockError::WouldBlock)
                if waits.until.is_some_and(|until| Instant::now() >= until) =>
            {
                return Err(Error::Busy {
                    what: what.to_owned(),
                    holder: holder(&mut file),
                });
            }
            Err(TryLockError::WouldBlock) => {
                if !told {
                    let message = format!(
                        "waiting for another cargo cegar{} that works on {what} in {}",
                        holder(&mut file),
                        scratch.display()
                    );
                    let level = Level::Info;
                    reporter.event(&Event::Note { level, message });
                    told = true;
                }
                std::thread::sleep(PAUSE);
            }
            // Some file systems do not support locks. The command continues without one, as cargo
            // does.
            Err(TryLockError::Error(why)) => {
                tracing::warn!("{}: cannot lock: {why}", path.display());
                return Ok(Held { _file: None });
            }
        }
    }
    // The process number is only used in the message above.
    let _ = file.set_len(0);
    let _ = file.seek(SeekFrom::Start(0));
    let _ = write!(file, "{}", std::process::id());
    Ok(Held { _file: Some(file) })
}

/// The process that holds the lock, if it has written its number.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    // The text is read from the start each time.
    let _ = file.seek(SeekFrom::Start(0));
    match file.read_to_string(&mut text) {
        Ok(_) if !text.trim().is_empty() => format!(" (process {})", text.trim()),
        _ => String::new(),
    }
}
