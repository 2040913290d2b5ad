//! A process that is measured from outside: its time, its peak of memory, and an end if it takes
//! too long.
//!
//! The peak is what the kernel notes of a process that was waited for, which is of this one alone
//! (that of all children, as `getrusage` has it, never falls again between one library and the
//! next).

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cegar_benches::Result;

/// How often it is looked whether a process has ended.
const TICK: Duration = Duration::from_millis(20);

/// What became of a process.
pub struct Ended {
    /// What it wrote.
    pub stdout: String,
    /// What it wrote beside that.
    pub stderr: String,
    /// From its start to its end.
    pub wall: f64,
    /// Processor time of it and of what it waited for.
    pub processor: f64,
    /// The most memory that it, or a process that it waited for, had at a time, in megabytes.
    pub peak: f64,
    /// Whether it took too long.
    pub is_late: bool,
}

/// Runs a command, with what it writes in a folder. It is killed after `limit`.
pub fn run(mut command: Command, folder: &Path, limit: Duration) -> Result<Ended> {
    let (out, err) = (folder.join("stdout"), folder.join("stderr"));
    let begin = Instant::now();
    let child = command
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .spawn()?;
    let pid = libc::pid_t::try_from(child.id())?;
    let mut is_late = false;
    let usage = loop {
        if let Some(usage) = ended(pid)? {
            break usage;
        }
        if !is_late && begin.elapsed() > limit {
            is_late = true;
            // SAFETY: the child was not waited for, so that the number is still its own.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        std::thread::sleep(TICK);
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let read = |path: &Path| -> io::Result<String> {
        Ok(String::from_utf8_lossy(&std::fs::read(path)?).into_owned())
    };
    Ok(Ended {
        stdout: read(&out)?,
        stderr: read(&err)?,
        wall: begin.elapsed().as_secs_f64(),
        processor: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        peak: usage.ru_maxrss as f64 / 1024.0,
        is_late,
    })
}

/// What a process cost, if it has ended.
fn ended(pid: libc::pid_t) -> io::Result<Option<libc::rusage>> {
    // SAFETY: the structure is plain numbers, filled by the call.
    let (waited, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let mut status = 0;
        let waited = libc::wait4(pid, &raw mut status, libc::WNOHANG, &raw mut usage);
        (waited, usage)
    };
    match waited {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        _ => Ok(Some(usage)),
    }
}
