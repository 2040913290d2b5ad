//! Runs a process and measures its time and its peak memory. It is killed if it takes too long.
//!
//! The peak is the one that `wait4` reports for this process alone. (The peak of all children,
//! which `getrusage` reports, would never decrease from one library to the next.)

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cegar_benches::Result;

/// The interval at which the end of a process is polled.
const TICK: Duration = Duration::from_millis(20);

/// The result of a process.
pub struct Ended {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// The seconds from its start to its end.
    pub wall: f64,
    /// The processor time, in seconds, of the process and of the children that it waited for.
    pub processor: f64,
    /// The peak memory of the process, or of a child that it waited for, in megabytes.
    pub peak: f64,
    /// Whether it exceeded the time limit.
    pub is_late: bool,
}

/// Runs a command; its output goes to files in `folder`. It is killed after `limit`.
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
            // SAFETY: the child was not waited for, so its process ID cannot have been reused.
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

/// The resource usage of a process, if it has ended.
fn ended(pid: libc::pid_t) -> io::Result<Option<libc::rusage>> {
    // SAFETY: the structure consists of plain numbers, and the call fills it.
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
