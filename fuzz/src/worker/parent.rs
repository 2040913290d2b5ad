//! The parent's side of a worker.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::protocol::{Command, WorkerConfig, WorkerEvent};
use super::recorder::Recorder;

/// Why a worker could not be started or did not receive a command.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The process could not be started.
    #[error("cannot start the worker {executable}: {source}")]
    Start {
        /// The executable.
        executable: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The configuration could not be written.
    #[error("cannot write the worker's configuration: {0}")]
    Config(std::io::Error),
    /// The worker no longer receives commands; [`Worker::poll`] reports how it ended.
    #[error("the worker is gone: {0}")]
    Gone(std::io::Error),
}

/// A running worker process. Dropping it kills it.
#[derive(Debug)]
pub struct Worker {
    executable: PathBuf,
    config: WorkerConfig,
    child: Child,
    stdin: Option<ChildStdin>,
    events: Receiver<WorkerEvent>,
    stopped: bool,
    ended: bool,
    failed: Arc<AtomicBool>,
    /// The number of runs of a worker that died.
    runs: u64,
    recorder: tempfile::NamedTempFile,
    _config_file: tempfile::NamedTempFile,
}

impl Worker {
    /// Starts `executable __worker <config>`, which has to call
    /// [`worker_main`](super::worker_main).
    pub fn spawn(executable: &Path, mut config: WorkerConfig) -> Result<Worker, WorkerError> {
        let recorder = tempfile::NamedTempFile::new().map_err(WorkerError::Config)?;
        Recorder::prepare(recorder.as_file(), config.max_len).map_err(WorkerError::Config)?;
        config.recorder = Some(recorder.path().to_owned());
        let mut file = tempfile::NamedTempFile::new().map_err(WorkerError::Config)?;
        serde_json::to_writer(&mut file, &config).map_err(|e| WorkerError::Config(e.into()))?;
        file.flush().map_err(WorkerError::Config)?;
        let start = |source| WorkerError::Start {
            executable: executable.to_owned(),
            source,
        };
        let mut child = std::process::Command::new(executable)
            .arg("__worker")
            .arg(file.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(start)?;
        let stdin = child.stdin.take();
        let (sender, events) = channel();
        let failed = Arc::new(AtomicBool::new(false));
        let fails = Arc::clone(&failed);
        if let Some(stdout) = child.stdout.take() {
            std::thread::Builder::new()
                .name("worker events".to_owned())
                .spawn(move || {
                    for line in BufReader::new(stdout).split(b'\n') {
                        let Ok(line) = line else { break };
                        // A worker that was killed may leave an incomplete line.
                        let Ok(event) = serde_json::from_slice(&line) else {
                            continue;
                        };
                        let is_failure = matches!(event, WorkerEvent::Crash { .. });
                        if sender.send(event).is_err() {
                            break;
                        }
                        fails.fetch_or(is_failure, Ordering::Relaxed);
                    }
                    fails.store(true, Ordering::Relaxed);
                })
                .map_err(start)?;
        }
        let executable = executable.to_owned();
        Ok(Worker {
            executable,
            config,
            child,
            stdin,
            events,
            stopped: false,
            ended: false,
            failed,
            runs: 0,
            recorder,
            _config_file: file,
        })
    }

    /// The worker's process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The configuration that it was started with.
    pub fn config(&self) -> &WorkerConfig {
        &self.config
    }

    /// Set while a failure waits to be polled: an input that the target failed on, or the end of
    /// the process.
    pub fn failed(&self) -> &Arc<AtomicBool> {
        &self.failed
    }

    /// Whether the process has ended.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Waits for events. Returns as soon as there are some, or nothing after `timeout`.
    pub fn poll(&mut self, timeout: Duration) -> Vec<WorkerEvent> {
        let mut found = Vec::new();
        self.failed.store(false, Ordering::Relaxed);
        if self.ended {
            return found;
        }
        let deadline = Instant::now() + timeout;
        let mut wait = timeout;
        loop {
            match self.events.recv_timeout(wait) {
                Ok(event) => {
                    self.stopped |= matches!(event, WorkerEvent::Stopped { .. });
                    found.push(event);
                    // The remaining events are collected without waiting.
                    wait = Duration::ZERO;
                }
                Err(RecvTimeoutError::Timeout) => return found,
                Err(RecvTimeoutError::Disconnected) => {
                    self.ended = true;
                    self.stdin = None;
                    // Its standard output is closed, so it has ended or is about to end.
                    let patience = deadline.max(Instant::now() + Duration::from_secs(2));
                    let mut status = None;
                    while status.is_none() && Instant::now() < patience {
                        status = self.child.try_wait().ok().flatten();
                        std::thread::sleep(Duration::from_millis(2));
                    }
                    if !self.stopped {
                        let record = Recorder::read(self.recorder.path());
                        self.runs = record.runs;
                        found.push(WorkerEvent::Died {
                            signal: status.and_then(|s| s.signal()),
                            status: status.and_then(|s| s.code()),
                            tape: record.tape,
                            runs: record.runs,
                            crashed: record.crashed,
                        });
                    }
                    return found;
                }
            }
        }
    }

    /// Sends a command to the worker.
    pub fn send(&mut self, command: &Command) -> Result<(), WorkerError> {
        let gone = || WorkerError::Gone(std::io::ErrorKind::BrokenPipe.into());
        let stdin = self.stdin.as_mut().ok_or_else(gone)?;
        let mut line = serde_json::to_vec(command).map_err(|e| WorkerError::Gone(e.into()))?;
        line.push(b'\n');
        stdin
            .write_all(&line)
            .and_then(|()| stdin.flush())
            .map_err(WorkerError::Gone)
    }

    /// Makes the worker log comparisons with this target, which was not available when it started.
    /// Also applies after a restart.
    pub fn compare(&mut self, so: &Path) -> Result<(), WorkerError> {
        self.config.cmp_so = Some(so.to_owned());
        self.send(&Command::Compare { so: so.to_owned() })
    }

    /// Restarts the worker with the same configuration, from the tapes in its queue folder, for the
    /// remaining runs. Its seed is changed, since it would otherwise come to the same end. `avoid`
    /// is a tape that the last worker died of and that must not be run again.
    pub fn respawn(&mut self, avoid: Option<Vec<u8>>) -> Result<(), WorkerError> {
        let mut config = self.config.clone();
        config.seed = config.seed.wrapping_add(1);
        config.avoid.extend(avoid);
        config.runs = config.runs.map(|runs| runs.saturating_sub(self.runs));
        if let Some(queue) = &config.queue
            && !config.corpus.contains(queue)
        {
            config.corpus.push(queue.clone());
        }
        let executable = self.executable.clone();
        *self = Worker::spawn(&executable, config)?;
        Ok(())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Errors are ignored, since the process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
