//! What a worker and its parent say to each other: JSON, a line each way, over the worker's
//! standard streams.
//!
//! Bytes are base64, because a tape is anything. The worker's exit without [`WorkerEvent::Stopped`]
//! is itself a message: the parent makes [`WorkerEvent::Died`] of it.

use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::encoding::bytes64;

/// What a worker is to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerConfig {
    /// The target with counters.
    pub so: PathBuf,
    /// The target with comparison logging; without it, no comparison is looked at.
    pub cmp_so: Option<PathBuf>,
    /// Files and folders of tapes to start from. Missing ones are no error.
    pub corpus: Vec<PathBuf>,
    /// Tapes that are not to be run, since a worker died of them.
    #[serde(default)]
    pub avoid: Vec<Vec<u8>>,
    /// Where the tape that is being run is kept for the parent; the parent chooses the file.
    #[serde(default)]
    pub recorder: Option<PathBuf>,
    /// Where new inputs are written, each under a prefix of its SHA-256; usually one of `corpus`.
    pub queue: Option<PathBuf>,
    /// Seed of all random decisions.
    pub seed: u64,
    /// Number of blocks of the target, to see that it is the right one.
    pub blocks: u32,
    /// Processor time that one run may take, in milliseconds.
    pub exec_timeout_ms: u32,
    /// Live heap bytes that end a run; 0 for the contract's 256 MiB.
    pub memory_limit: u64,
    /// Longest tape.
    pub max_len: usize,
    /// Stop after this many runs.
    pub runs: Option<u64>,
    /// Stop at this time. The parent may be too busy to say so: on one core it is waiting for this
    /// process.
    #[serde(default)]
    pub until: Option<SystemTime>,
    /// Tokens for the mutators.
    pub tokens: Vec<Vec<u8>>,
}

impl WorkerConfig {
    /// The usual limits for a target: 1 s, 256 MiB, 64 KiB of tape, no end.
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

/// What the parent asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// Take this tape into the corpus whether or not it covers anything new.
    AddSeed {
        /// The tape.
        #[serde(with = "bytes64")]
        tape: Vec<u8>,
    },
    /// Run this tape, and take it into the corpus if it covers anything new.
    Offer {
        /// The tape.
        #[serde(with = "bytes64")]
        tape: Vec<u8>,
    },
    /// Give the mutators a token.
    AddToken {
        /// The token.
        #[serde(with = "bytes64")]
        bytes: Vec<u8>,
    },
    /// From now on, log comparisons with this target.
    Compare {
        /// The target with comparison logging.
        so: PathBuf,
    },
    /// Stand still.
    Pause,
    /// Go on.
    Resume,
    /// End.
    Stop,
}

/// How a run failed, natively.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Failure {
    /// A check of the program failed.
    Violated {
        /// Number of the contract: 0 assertion, 1 abort, 2 reach_error, 3 fail, 4 heap, 5 trap.
        what: u32,
        /// The site's number among the target's sites, where known.
        site: Option<u32>,
        /// The text.
        text: String,
        /// Source file.
        file: String,
        /// Source line.
        line: u32,
    },
    /// A signal.
    Crashed {
        /// Its number.
        signal: i32,
        /// The instruction, relative to where the target was loaded.
        pc: u64,
    },
    /// Too much memory.
    OutOfMemory,
}

/// What a worker tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum WorkerEvent {
    /// The target is loaded and the corpus read.
    Started {
        /// Tapes read.
        seeds: usize,
    },
    /// The kernel cannot keep the target from all that it should be kept from.
    Unguarded {
        /// What it may do.
        missing: Vec<String>,
    },
    /// An input that raised coverage: a new block, or a higher count of an old one.
    NewInput {
        /// The tape.
        #[serde(with = "bytes64")]
        tape: Vec<u8>,
        /// Blocks that no input entered before.
        blocks: Vec<u32>,
        /// Runs so far.
        execs: u64,
    },
    /// An input that covered nothing new and did not fail, one of many: a few in each second.
    Sample {
        /// The tape.
        #[serde(with = "bytes64")]
        tape: Vec<u8>,
    },
    /// A failing input: the first of its kind, or one much shorter than those before.
    Crash {
        /// The tape.
        #[serde(with = "bytes64")]
        tape: Vec<u8>,
        /// How it failed.
        failure: Failure,
        /// All blocks that the run entered.
        blocks: Vec<u32>,
    },
    /// An input that ran into the time limit (the first few).
    Timeout {
        /// The tape.
        #[serde(with = "bytes64")]
        tape: Vec<u8>,
    },
    /// Two runs of one input differ. Once for each set of blocks.
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
    /// Twice a second.
    Stats {
        /// Runs so far.
        executions: u64,
        /// Inputs in the corpus.
        corpus: usize,
        /// Blocks covered.
        blocks: usize,
        /// Runs per second, lately.
        per_second: f64,
    },
    /// The last word: `stop`, `budget`, or what went wrong.
    Stopped {
        /// Why.
        reason: String,
    },
    /// The process is gone without a last word. Made by the parent.
    Died {
        /// The signal that killed it.
        signal: Option<i32>,
        /// Its exit status.
        status: Option<i32>,
        /// The tape that it ran last, which it may have died of.
        tape: Option<Vec<u8>>,
        /// Runs that it had begun.
        runs: u64,
        /// Whether the target had crashed in one of them, and may have written anywhere.
        crashed: bool,
    },
}
