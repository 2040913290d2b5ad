//! Runs tapes in a runner and parses its reports.

use std::io::Write;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize};

use super::symbolise::{Frame, Symboliser};
use super::{Site, Target, TargetError};
use crate::sandbox::{Sandbox, SandboxedProcess};

/// An executable that runs tapes: `runner` or `runner-asan`.
#[derive(Clone, Debug)]
pub struct Runner {
    executable: PathBuf,
    sites: Vec<Site>,
    symboliser: Symboliser,
}

/// The maximal number of events of a run that are kept. A loop that reads the same value for ever
/// has billions of them, which one short line describes.
const EVENTS: usize = 1 << 20;

/// What a run records, and its time limit.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// The processor time limit of one tape, in milliseconds.
    pub timeout_ms: u32,
    /// Record the choices, by channel.
    pub events: bool,
    /// Record the transcript.
    pub output: bool,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            timeout_ms: 10_000,
            events: false,
            output: false,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The entry function returned.
    Returned,
    /// The program ended itself with a status.
    Exited(i32),
    /// An assumption did not hold.
    Rejected,
    /// A check failed.
    Violated(Violated),
    /// A signal ended the run.
    Crashed(Crashed),
    /// AddressSanitizer reported an error.
    Asan(Asan),
    /// The time limit was exceeded.
    Timeout,
    /// The memory limit was exceeded.
    OutOfMemory,
    /// The tape could not be read, or no process could be created.
    Unreadable,
}

/// A failed check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violated {
    /// `assertion`, `abort`, `reach_error`, `fail`, `heap` or `trap`.
    pub kind: String,
    /// The assertion's text.
    pub what: String,
    /// The source file as the program reported it; for a trap, from debug information.
    pub file: String,
    /// Source line.
    pub line: u32,
    /// LLVM's number of the trap; -1 if there is none.
    #[serde(default = "no_trap")]
    pub trap: i32,
    /// The place in the module, if known.
    #[serde(default)]
    pub site: Option<Site>,
}

fn no_trap() -> i32 {
    -1
}

/// A signal that ended a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crashed {
    /// Its number.
    pub signal: i32,
    /// The address accessed.
    pub address: u64,
    /// The instruction.
    pub pc: u64,
}

/// A report of AddressSanitizer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asan {
    /// The kind of error: `heap-buffer-overflow` and so on.
    pub kind: String,
    /// `read` or `write`.
    pub access: String,
    /// Bytes accessed.
    pub size: u64,
    /// The address accessed.
    pub address: u64,
    /// The report, without symbols.
    pub text: String,
}

/// Bytes that were read from one channel, or written to one stream.
pub type Event = (String, Vec<u8>);

/// The run of one tape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Run {
    /// The tape's file.
    pub tape: PathBuf,
    /// How it ended.
    pub outcome: Outcome,
    /// The blocks that were entered, and how often (at most 255).
    pub blocks: Vec<(u32, u8)>,
    /// The number of bytes of the tape that were read.
    pub consumed: u64,
    /// Whether more bytes were asked for than the tape holds.
    pub exhausted: bool,
    /// The number of heap bytes that were never freed.
    pub heap_live: u64,
    /// The choices in order, if recorded: the channel and its bytes.
    pub events: Vec<Event>,
    /// The transcript, if recorded: the stream's number and its bytes.
    pub output: Vec<(i32, Vec<u8>)>,
    /// The call stack of the failure, innermost frame first.
    pub stack: Vec<Frame>,
}

/// A line that the runner printed.
#[derive(Deserialize)]
struct Line {
    tape: String,
    outcome: String,
    #[serde(default)]
    status: i32,
    #[serde(default)]
    consumed: u64,
    #[serde(default)]
    exhausted: bool,
    #[serde(default)]
    heap_live: u64,
    violated: Option<LineViolated>,
    crashed: Option<Crashed>,
    asan: Option<Asan>,
    #[serde(default)]
    stack: Vec<u64>,
    #[serde(default)]
    blocks: Vec<(u32, u8)>,
    #[serde(default)]
    events: Vec<(String, Bytes, usize)>,
    #[serde(default)]
    output: Vec<(i32, Bytes)>,
}

#[derive(Deserialize)]
struct LineViolated {
    check: Option<u32>,
    #[serde(flatten)]
    rest: Violated,
}

struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        STANDARD
            .decode(text)
            .map(Bytes)
            .map_err(serde::de::Error::custom)
    }
}

impl Runner {
    /// A runner for the executable that was built as `target`.
    pub fn new(target: &Target) -> Self {
        Runner {
            executable: target.path.clone(),
            sites: target.sites.clone(),
            symboliser: Symboliser::find(),
        }
    }

    /// The path of the executable.
    pub fn executable(&self) -> &Path {
        &self.executable
    }

    /// Runs each tape in its own process. The results have the order of the tapes.
    pub fn run(&self, tapes: &[PathBuf], options: RunOptions) -> Result<Vec<Run>, TargetError> {
        let mut command = Command::new(&self.executable);
        command.args(["--batch", "--timeout-ms", &options.timeout_ms.to_string()]);
        if options.events {
            command.arg("--events");
        }
        if options.output {
            command.arg("--output");
        }
        let shown = format!("{command:?}");
        let start = |source| TargetError::Start {
            command: shown.clone(),
            source,
        };
        let mut sandbox = Sandbox::new(SandboxedProcess::Runner, &[]);
        command
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        // SAFETY: between fork and exec only system calls are made; memory was allocated before.
        // Missing sandbox features are not reported here, since the workers, on the same kernel,
        // report them.
        unsafe {
            command.pre_exec(move || {
                std::mem::forget(sandbox.enter());
                Ok(())
            });
        }
        let mut child = command.spawn().map_err(start)?;
        let mut names = Vec::new();
        for tape in tapes {
            use std::os::unix::ffi::OsStrExt;
            names.extend_from_slice(tape.as_os_str().as_bytes());
            names.push(b'\n');
        }
        let mut stdin = child.stdin.take();
        // Written while the output is read, since either pipe may fill up first.
        let writer = std::thread::spawn(move || stdin.as_mut().map(|pipe| pipe.write_all(&names)));
        let result = child.wait_with_output().map_err(start)?;
        drop(writer.join());
        let mut runs = Vec::with_capacity(tapes.len());
        let mut damaged = None;
        for text in result
            .stdout
            .split(|&b| b == b'\n')
            .filter(|l| !l.is_empty())
        {
            // A thread of the program may end the process while another one reports; the next line
            // then reports what happened to the process.
            let line: Line = match serde_json::from_slice(text) {
                Ok(line) => line,
                Err(why) => {
                    damaged.get_or_insert_with(|| why.to_string());
                    continue;
                }
            };
            // Several threads of a process may fail and report; only the first report counts.
            let names = |tape: Option<&PathBuf>| {
                tape.is_some_and(|tape| tape.to_string_lossy() == line.tape)
            };
            let at = runs.len();
            if at > 0 && names(tapes.get(at - 1)) && !names(tapes.get(at)) {
                continue;
            }
            runs.push(self.read(line)?);
        }
        if runs.len() != tapes.len() {
            let damaged = damaged.map_or_else(String::new, |why| format!(": {why}"));
            let counted = format!("{} lines for {} tapes", runs.len(), tapes.len());
            return Err(self.unexpected(counted + &damaged));
        }
        for (run, tape) in runs.iter_mut().zip(tapes) {
            run.tape.clone_from(tape);
        }
        Ok(runs)
    }

    /// Runs one tape given as bytes.
    pub fn run_bytes(&self, tape: &[u8], options: RunOptions) -> Result<Run, TargetError> {
        let mut file =
            tempfile::NamedTempFile::new().map_err(TargetError::file(Path::new("tape")))?;
        file.write_all(tape)
            .map_err(TargetError::file(file.path()))?;
        let path = file.path().to_owned();
        let runs = self.run(&[path], options)?;
        runs.into_iter()
            .next()
            .ok_or_else(|| self.unexpected("no line".to_owned()))
    }

    fn unexpected(&self, message: String) -> TargetError {
        TargetError::Output {
            runner: self.executable.clone(),
            message,
        }
    }

    fn read(&self, line: Line) -> Result<Run, TargetError> {
        let missing = || self.unexpected(format!("`{}` without its details", line.outcome));
        let outcome = match line.outcome.as_str() {
            "returned" => Outcome::Returned,
            "exited" => Outcome::Exited(line.status),
            "rejected" => Outcome::Rejected,
            "timeout" => Outcome::Timeout,
            "out_of_memory" => Outcome::OutOfMemory,
            "unreadable" => Outcome::Unreadable,
            "crashed" => Outcome::Crashed(line.crashed.ok_or_else(missing)?),
            "asan" => Outcome::Asan(line.asan.ok_or_else(missing)?),
            "violated" => {
                let LineViolated {
                    check,
                    rest: mut violated,
                } = line.violated.ok_or_else(missing)?;
                violated.site = check.and_then(|n| self.sites.get(n as usize)).cloned();
                if let Some(site) = &violated.site
                    && violated.line == 0
                {
                    violated.file.clone_from(&site.file);
                    violated.line = site.line;
                }
                Outcome::Violated(violated)
            }
            other => return Err(self.unexpected(format!("outcome `{other}`"))),
        };
        Ok(Run {
            tape: PathBuf::from(line.tape),
            outcome,
            blocks: line.blocks,
            consumed: line.consumed,
            exhausted: line.exhausted,
            heap_live: line.heap_live,
            events: line
                .events
                .into_iter()
                .flat_map(|(channel, bytes, times)| std::iter::repeat_n((channel, bytes.0), times))
                .take(EVENTS)
                .collect(),
            output: line
                .output
                .into_iter()
                .map(|(stream, bytes)| (stream, bytes.0))
                .collect(),
            stack: self.symboliser.frames(&self.executable, &line.stack),
        })
    }
}
