//! The protocol between a worker and its parent: one line of JSON per message, over the worker's
//! standard streams.
//!
//! Bytes are encoded as base64, since a tape may contain any bytes. If the worker exits without
//! [`WorkerEvent::Stopped`], the parent makes [`WorkerEvent::Died`] of that.

use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::encoding::bytes64;

/// The configuration of a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerConfig {
    /// The target with counters.
    pub so: PathBuf,
    /// The target with comparison logging; without it, no comparisons are logged.
    pub cmp_so: Option<PathBuf>,
    /// Files and folders with tapes to start from. Missing ones are ignored.
    pub corpus: Vec<PathBuf>,
    /// Tapes that must not be run, since a worker died of them.
    #[serde(default)]
    pub avoid: Vec<Vec<u8>>,
    /// The file that keeps the tape being run for the parent, which chooses the file.
    #[serde(default)]
    pub recorder: Option<PathBuf>,
    /// The folder for new inputs, each named by a prefix of its SHA-256; usually one of `corpus`.
    pub queue: Option<PathBuf>,
    /// Seed of all random decisions.
    pub seed: u64,
    /// Number of blocks of the target, to check that it is the right one.
    pub blocks: u32,
    /// The processor time limit of one run, in milliseconds.
    pub exec_timeout_ms: u32,
    /// The limit on live heap bytes that ends a run; 0 for the contract's 256 MiB.
    pub memory_limit: u64,
    /// The length of the longest tape in bytes.
    pub max_len: usize,
    /// Stop after this many runs.
    pub runs: Option<u64>,
    /// Stop at this time. The parent may be too busy to send a command: on a machine with one core
    /// it waits for this process.
    #[serde(default)]
    pub until: Option<SystemTime>,
    /// Tokens for the mutators.
    pub tokens: Vec<Vec<u8>>,
}

impl WorkerConfig {
    /// The default limits for a target: 1 s, 256 MiB, 64 KiB of tape, no limit on runs.
    pub fn new(so: impl Into<PathBuf>, blocks: u32) -> Self {
        WorkerConfig {
            so: so.into(),
            cmp_so: None,
            corpus: Vec::new(),
            avoid: Vec::new(),
            recorder: None,
            queue: None,
            seed: 0,
            blocks,
            exec_timeout_ms: 1000,
            memory_limit: 0,
            max_len: 1 << 16,
            runs: None,
            until: None,
            tokens: Vec::new(),
        }
    }
}

/// A command from the parent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// Adds this tape to the corpus whether or not it covers anything new.
    AddSeed {
        /// The tape.
        #[serde(with = "bytes64")]
        tape: Vec<u8>,
    },
    /// Runs this tape, and adds it to the corpus if it covers anything new.
    Offer {
        /// The tape.
        #[serde(with = "bytes64")]
        tape: Vec<u8>,
    },
    /// Gives the mutators a token.
    AddToken {
        /// The token.
        #[serde(with = "bytes64")]
        bytes: Vec<u8>,
    },
    /// From now on, logs comparisons with this target.
    Compare {
        /// The target with comparison logging.
        so: PathBuf,
    },
    /// Pauses fuzzing.
    Pause,
    /// Resumes fuzzing.
    Resume,
    /// Ends the worker.
    Stop,
}

/// How a native run failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Failure {
    /// A check of the program failed.
    Violated {
        /// The kind of violation in the contract: 0 assertion, 1 abort, 2 reach_error, 3 fail, 4
        /// heap, 5 trap.
        what: u32,
        /// The site's number among the target's sites, if known.
        site: Option<u32>,
        /// The text.
        text: String,
        /// Source file.
        file: String,
        /// Source line.
        line: u32,
    },
    /// A signal ended the run.
    Crashed {
        /// Its number.
        signal: i32,
        /// The instruction's address, relative to where the target was loaded.
        pc: u64,
    },
    /// The run exceeded the memory limit.
    OutOfMemory,
}

/// An event that a worker reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum WorkerEvent {
    /// The target is loaded and the corpus was read.
    Started {
        /// The number of tapes that were read.
        seeds: usize,
    },
    /// The kernel lacks some restriction of the sandbox.
    Unguarded {
        /// The missing restrictions.
        missing: Vec<String>,
    },
    /// An input that raised coverage: a new block, or a higher count of an old one.
    NewInput {
        /// The tape.
        #[serde(with = "bytes64")]
        tape: Vec<u8>,
        /// Blocks that no input entered before.
        blocks: Vec<u32>,
        /// The number of runs so far.
        execs: u64,
    },
    /// One of the many inputs that covered nothing new and did not fail. Reported a few times per
    /// second.
    Sample {
        /// The tape.
        #[serde(with = "bytes64")]
        tape: Vec<u8>,
    },
    /// A failing input: the first of its kind, or one much shorter than those reported before.
    Crash {
        /// The tape.
        #[serde(with = "bytes64")]
        tape: Vec<u8>,
        /// How it failed.
        failure: Failure,
        /// All blocks that the run entered.
        blocks: Vec<u32>,
    },
    /// An input that exceeded the time limit (only the first few are reported).
    Timeout {
        /// The tape.
        #[serde(with = "bytes64")]
        tape: Vec<u8>,
    },
    /// Two runs of an input differ. Reported once for each set of blocks.
    NonDeterministic {
        /// The tape.
        #[serde(with = "bytes64")]
        tape: Vec<u8>,
        /// Blocks that were entered a different number of times.
        blocks: Vec<u32>,
    },
    /// A file of the corpus was not used.
    Skipped {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Statistics, twice a second.
    Stats {
        /// The number of runs so far.
        executions: u64,
        /// The number of inputs in the corpus.
        corpus: usize,
        /// The number of blocks covered.
        blocks: usize,
        /// Runs per second since the last statistics.
        per_second: f64,
    },
    /// The last event: the worker stops.
    Stopped {
        /// The reason: `stop`, `time`, `budget`, or what went wrong.
        reason: String,
    },
    /// The process ended without [`WorkerEvent::Stopped`]. Created by the parent.
    Died {
        /// The signal that killed it.
        signal: Option<i32>,
        /// Its exit status.
        status: Option<i32>,
        /// The tape of the last run, which it may have died of.
        tape: Option<Vec<u8>>,
        /// The number of runs that were started.
        runs: u64,
        /// Whether the target crashed in one of them, and may have written anywhere.
        crashed: bool,
    },
}
