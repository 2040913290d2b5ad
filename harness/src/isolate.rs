//! One process per run.
//!
//! C code that has gone wrong takes its process with it, so every run has its own. The process gets
//! the mock environment as a file, a limit on time, output and (where no sanitizer reserves
//! terabytes of address space) memory, and no core dump. Its report comes back through descriptor
//! 0: the program's stdin is mocked, so nothing else wants it, and a file cannot block. stdout and
//! stderr are files for the same reason: no threads, no pipe that fills up.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Most that a run may print, in bytes.
const OUTPUT: u64 = 64 << 20;
/// Most address space that a run without sanitizers may have.
const MEMORY: u64 = 2 << 30;
/// The stack of a run, in bytes: as much as fits below where the kernel puts the rest.
const STACK: u64 = 120 << 20;

/// What came back from a process.
pub(crate) struct Ended {
    /// How; `None`: it was killed because its time was up.
    pub status: Option<ExitStatus>,
    /// What the runtime reported.
    pub report: String,
    /// What it printed besides: sanitizer reports.
    pub stderr: String,
}

impl Ended {
    /// The signal that ended it.
    pub fn signal(&self) -> Option<i32> {
        self.status.and_then(|status| status.signal())
    }
}

/// Runs the executable once.
pub(crate) fn run(
    runner: &Path,
    mock: &[u8],
    limit: Duration,
    sanitized: bool,
    mut answer: Option<&mut dyn FnMut(&str) -> String>,
) -> io::Result<Ended> {
    let mut environment = tempfile::NamedTempFile::new()?;
    environment.write_all(mock)?;
    environment.flush()?;
    let (mut report, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);

    let mut command = Command::new(runner);
    command
        .env("CEGAR_MOCK", environment.path())
        .env("CEGAR_REPORT_FD", "0")
        // Fresh memory holds 0xAA, as it does for the engine that found the input.
        .env(
            "ASAN_OPTIONS",
            "exitcode=86:abort_on_error=0:detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=1:\
             max_malloc_fill_size=1073741824:malloc_fill_byte=170:symbolize=1:color=never",
        )
        .env("UBSAN_OPTIONS", "print_stacktrace=0:halt_on_error=1:exitcode=86:color=never")
        .stdin(Stdio::from(report.try_clone()?))
        .stdout(Stdio::null())
        .stderr(Stdio::from(stderr.try_clone()?));
    // Closures answer over a pair of sockets; the child's end gets through exec by number.
    let (mut ours, theirs) = match &answer {
        Some(_) => {
            let (ours, theirs) = UnixStream::pair()?;
            command.env("CEGAR_ANSWER_FD", theirs.as_raw_fd().to_string());
            (Some(Conversation::new(ours)?), Some(theirs))
        }
        None => (None, None),
    };
    let inherited = theirs.as_ref().map(AsRawFd::as_raw_fd);
    // SAFETY: between fork and exec only setrlimit and fcntl are called, which are
    // async-signal-safe and touch no memory of ours.
    unsafe {
        command.pre_exec(move || {
            if let Some(fd) = inherited
                && libc::fcntl(fd, libc::F_SETFD, 0) < 0
            {
                return Err(io::Error::last_os_error());
            }
            limit_to(libc::RLIMIT_CORE, 0)?;
            deepen_stack()?;
            limit_to(libc::RLIMIT_FSIZE, OUTPUT)?;
            if sanitized {
                Ok(())
            } else {
                limit_to(libc::RLIMIT_AS, MEMORY)
            }
        });
    }
    let mut child = command.spawn()?;
    drop(theirs);
    let deadline = Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            break None;
        }
        match (&mut ours, &mut answer) {
            (Some(conversation), Some(answer)) => {
                if conversation.listen(pause, *answer)? {
                    pause = Duration::from_millis(1);
                    continue;
                }
            }
            _ => std::thread::sleep(pause),
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    Ok(Ended {
        status,
        report: text(&mut report)?,
        stderr: text(&mut stderr)?,
    })
}

/// Questions of the child, line by line.
struct Conversation {
    stream: UnixStream,
    heard: Vec<u8>,
}

impl Conversation {
    fn new(stream: UnixStream) -> io::Result<Self> {
        Ok(Conversation {
            stream,
            heard: Vec::new(),
        })
    }

    /// Waits for so long; true if something was said. Every whole line is answered.
    fn listen(
        &mut self,
        wait: Duration,
        answer: &mut dyn FnMut(&str) -> String,
    ) -> io::Result<bool> {
        self.stream.set_read_timeout(Some(wait))?;
        let mut room = [0; 512];
        match self.stream.read(&mut room) {
            // The child has closed its end: it is about to end.
            Ok(0) => {
                std::thread::sleep(wait);
                Ok(false)
            }
            Ok(n) => {
                self.heard.extend_from_slice(&room[..n]);
                while let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = self.heard.drain(..=end).collect();
                    let reply = answer(String::from_utf8_lossy(&line).trim_end());
                    // A child that has died meanwhile is found dead by the caller.
                    let _ = self.stream.write_all(reply.as_bytes());
                }
                Ok(true)
            }
            Err(why)
                if matches!(
                    why.kind(),
                    io::ErrorKind::WouldBlock
                        | io::ErrorKind::TimedOut
                        | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(false)
            }
            // Likewise.
            Err(why) if why.kind() == io::ErrorKind::ConnectionReset => {
                std::thread::sleep(wait);
                Ok(false)
            }
            Err(why) => Err(why),
        }
    }
}

/// The run that found this may have had more of a stack than there usually is.
fn deepen_stack() -> io::Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid rlimit, and is written.
    if unsafe { libc::getrlimit(libc::RLIMIT_STACK, &mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    if limit.rlim_cur < STACK {
        limit.rlim_cur = STACK.min(limit.rlim_max);
        // SAFETY: `limit` is a valid rlimit for the duration of the call.
        if unsafe { libc::setrlimit(libc::RLIMIT_STACK, &limit) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

fn limit_to(resource: libc::__rlimit_resource_t, value: u64) -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: value,
        rlim_max: value,
    };
    // SAFETY: `limit` is a valid rlimit for the duration of the call.
    match unsafe { libc::setrlimit(resource, &limit) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
