//! The fuzzer: a separate process, so that the campaign continues whatever a target does to it.
//!
//! The parent ([`Worker`]) starts its own executable with `__worker` and a configuration, and
//! [`worker_main`] runs there. LibAFL provides the framework: corpus, fuzzer, stages, tokens.
//! Executor, feedback, scheduler and mutations are this crate's own, for the reasons given in their
//! modules.

mod colour;
mod comparisons;
mod corpus;
mod executor;
mod faults;
mod fuzzing;
mod havoc;
mod mutate;
mod pace;
mod parent;
mod protocol;
mod pump;
mod recorder;
mod restore;
mod segments;
mod target;
mod transforms;
mod watch;

use std::fs::File;
use std::io::{BufRead, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};

use libafl::corpus::InMemoryCorpus;
use libafl::inputs::BytesInput;
use libafl::state::StdState;
use libafl_bolts::rands::StdRand;

use crate::sandbox::{Sandbox, SandboxedProcess};
pub use corpus::{save_tape, tape_name};
pub use parent::{Worker, WorkerError};
pub use protocol::{Command, Failure, WorkerConfig, WorkerEvent};
use recorder::Recorder;

/// LibAFL's state with the types of this fuzzer.
type State = StdState<InMemoryCorpus<BytesInput>, BytesInput, StdRand, InMemoryCorpus<BytesInput>>;

/// The destination of events: the process's original standard output.
struct Out(File);

impl Out {
    /// Sends an event to the parent. If the parent is gone, the worker exits.
    fn tell(&mut self, event: &WorkerEvent) {
        let line = serde_json::to_vec(event).map(|mut line| {
            line.push(b'\n');
            line
        });
        if line.is_ok_and(|line| self.0.write_all(&line).is_err()) {
            std::process::exit(1);
        }
    }
}

/// Reserves standard output for events and redirects the target's to the null device, so that
/// direct output of the target does not mix with events.
fn take_output() -> std::io::Result<Out> {
    // SAFETY: plain descriptor calls; the returned value owns the duplicate.
    unsafe {
        let kept = libc::dup(1);
        if kept < 0 {
            return Err(std::io::Error::last_os_error());
        }
        let kept = OwnedFd::from_raw_fd(kept);
        let null = File::options().write(true).open("/dev/null")?;
        if libc::dup2(null.as_raw_fd(), 1) < 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(Out(File::from(kept)))
    }
}

/// Reads commands on a separate thread. The end of standard input means that the parent is gone.
fn listen() -> std::io::Result<Receiver<Command>> {
    let (sender, commands) = channel();
    std::thread::Builder::new()
        .name("commands".to_owned())
        .spawn(move || {
            faults::block_signals();
            for line in std::io::stdin().lock().split(b'\n') {
                let Ok(line) = line else { break };
                if let Ok(command) = serde_json::from_slice(&line)
                    && sender.send(command).is_err()
                {
                    return;
                }
            }
            std::process::exit(0);
        })?;
    Ok(commands)
}

/// The entry point of the worker process. `config` is the file that [`Worker::spawn`] wrote.
pub fn worker_main(config: &Path) -> ExitCode {
    let mut out = match take_output() {
        Ok(out) => out,
        Err(e) => {
            eprintln!("worker: {e}");
            return ExitCode::FAILURE;
        }
    };
    let reason = match prepare(config, &mut out) {
        Ok((config, recorder, commands)) => {
            match fuzzing::run(&config, recorder, &commands, &mut out) {
                Ok(reason) => {
                    out.tell(&WorkerEvent::Stopped { reason });
                    return ExitCode::SUCCESS;
                }
                Err(e) => e.to_string(),
            }
        }
        Err(e) => e,
    };
    out.tell(&WorkerEvent::Stopped { reason });
    ExitCode::FAILURE
}

type Prepared = (WorkerConfig, Option<Recorder>, Receiver<Command>);

fn prepare(config: &Path, out: &mut Out) -> Result<Prepared, String> {
    let shown = config.display();
    let text = std::fs::read(config).map_err(|e| format!("{shown}: {e}"))?;
    let config: WorkerConfig =
        serde_json::from_slice(&text).map_err(|e| format!("{shown}: {e}"))?;
    // Opened first, since the sandbox forbids opening it for writing.
    let recorder = config.recorder.as_deref().map(Recorder::open).transpose();
    let recorder = recorder.map_err(|e| format!("cannot share memory with the parent: {e}"))?;
    // The sandbox is entered before another thread is started, since a thread inherits the sandbox
    // of the thread that starts it.
    let writable: Vec<&Path> = config.queue.iter().map(PathBuf::as_path).collect();
    for folder in &writable {
        // Landlock can only allow existing folders. If this fails, saving a tape reports the error.
        let _ = std::fs::create_dir_all(folder);
    }
    let kept = out.0.as_raw_fd().unsigned_abs();
    let missing = Sandbox::new(SandboxedProcess::Worker { kept }, &writable).enter();
    if !missing.is_empty() {
        out.tell(&WorkerEvent::Unguarded { missing });
    }
    let commands = listen().map_err(|e| e.to_string())?;
    Ok((config, recorder, commands))
}
