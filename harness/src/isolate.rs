//! Runs each test case in its own process.
//!
//! C code that goes wrong can take its process down, so every run has its own. The process gets the
//! mock environment as a file and has limits on time, output and memory (except where a sanitizer
//! reserves terabytes of address space), and it dumps no core. It writes its report to descriptor
//! 0, which is free because the program's stdin is mocked. Report, stdout and stderr are files
//! rather than pipes: a file cannot block and needs no thread to drain it.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The maximal output of a run, in bytes.
const OUTPUT: u64 = 64 << 20;
/// The maximal address space of a run without sanitizers, in bytes.
const MEMORY: u64 = 2 << 30;
/// The stack size of a run, in bytes: as much as fits below the kernel's other mappings.
const STACK: u64 = 120 << 20;

/// The result of a process.
pub(crate) struct Ended {
    /// How it ended; `None` if it was killed at the deadline.
    pub status: Option<ExitStatus>,
    /// What the runtime reported.
    pub report: String,
    /// Its other output: sanitizer reports.
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
        // Fresh memory contains 0xAA, as in the engine that found the input.
        .env(
            "ASAN_OPTIONS",
            "exitcode=86:abort_on_error=0:detect_leaks=0:allocator_may_return_null=1:\
             detect_stack_use_after_return=1:\
             max_malloc_fill_size=1073741824:malloc_fill_byte=170:symbolize=1:color=never",
        )
        .env(
            "UBSAN_OPTIONS",
            "print_stacktrace=0:halt_on_error=1:exitcode=86:color=never",
        )
        .stdin(Stdio::from(report.try_clone()?))
        .stdout(Stdio::null())
        .stderr(Stdio::from(stderr.try_clone()?));
    // Closures answer through a pair of sockets. The child's end stays open across exec, and an
    // environment variable tells the child its number.
    let (mut ours, theirs) = match &answer {
        Some(_) => {
            let (ours, theirs) = UnixStream::pair()?;
            command.env("CEGAR_ANSWER_FD", theirs.as_raw_fd().to_string());
            (Some(Conversation::new(ours)?), Some(theirs))
        }
        None => (None, None),
    };
    let inherited = theirs.as_ref().map(AsRawFd::as_raw_fd);
    // SAFETY: between fork and exec, only setrlimit, getrlimit and fcntl are called, which are
    // async-signal-safe and access no memory of the parent.
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

/// Reads the child's requests line by line and answers them.
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

    /// Waits for at most `wait`, and answers every complete line. Returns whether something was
    /// received.
    fn listen(
        &mut self,
        wait: Duration,
        answer: &mut dyn FnMut(&str) -> String,
    ) -> io::Result<bool> {
        self.stream.set_read_timeout(Some(wait))?;
        let mut room = [0; 512];
        match self.stream.read(&mut room) {
            // The child has closed its end and is about to exit.
            Ok(0) => {
                std::thread::sleep(wait);
                Ok(false)
            }
            Ok(n) => {
                self.heard.extend_from_slice(&room[..n]);
                while let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = self.heard.drain(..=end).collect();
                    let reply = answer(String::from_utf8_lossy(&line).trim_end());
                    // If the child has died meanwhile, the caller notices.
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
            // The child has died; see above.
            Err(why) if why.kind() == io::ErrorKind::ConnectionReset => {
                std::thread::sleep(wait);
                Ok(false)
            }
            Err(why) => Err(why),
        }
    }
}

/// Raises the stack limit, since the run that found this input may have had a larger stack than the
/// default.
fn deepen_stack() -> io::Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid rlimit for the call to write to.
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
