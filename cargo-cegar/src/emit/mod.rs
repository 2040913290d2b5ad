//! Writes findings as Rust tests.
//!
//! A finding is lost unless it is kept as a test. The test must read as if a person had written it,
//! because a person will fix the C code with it: inputs show their structure (`repeat(b'a', 513)`),
//! values are numbers rather than bytes, and the comment states the fault and its place. SeaHorn's
//! executable counterexamples (section 3) link a trace as C code; here the choices of the run,
//! grouped by channel, become calls of `cegar_harness::Mock`.
//!
//! Files of the user are preserved: a file is extended but never rewritten, and a test whose text
//! was changed is left alone ([`Emitted::EditedByUser`]).

pub mod behaviour;
mod decode;
mod faults;
mod layout;
mod literal;
mod objects;
pub mod package;
mod source;
mod spans;
pub mod standalone;
mod typed;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cegar_harness::build::MockedFunction;
use cegar_harness::{Mock, Run};

pub use package::{Dependency, Emitted, add_test, for_everyone, only_here};
pub use source::test_source;
pub use spans::spans;
pub use standalone::Identity;

/// The data from which a test is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The harness.
    pub harness: String,
    /// The test's name, from [`crate::findings::Identity::name`].
    pub test: String,
    /// The fault: "write past the end of `name` (16 bytes) by 1 byte".
    pub what: String,
    /// The C file, with a path that the user recognises.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The method that found it: "partial simulation", "fuzzing".
    pub found_by: String,
    /// Further sentences for the test's comment; may be empty.
    pub explanation: String,
    /// The choices of the run in order: channel and bytes.
    pub events: Vec<(String, Vec<u8>)>,
    /// The facts about the undefined functions.
    pub mocked: Vec<MockedFunction>,
}

impl Finding {
    /// The choices grouped by channel, in the order of each channel's first use.
    pub fn queues(&self) -> Vec<(&str, Vec<&[u8]>)> {
        let mut at = BTreeMap::new();
        let mut queues: Vec<(&str, Vec<&[u8]>)> = Vec::new();
        for (channel, bytes) in &self.events {
            let i = *at.entry(channel.as_str()).or_insert_with(|| {
                queues.push((channel, Vec::new()));
                queues.len() - 1
            });
            queues[i].1.push(bytes);
        }
        queues
    }

    /// Runs the finding on an executable harness. A test may be written only if this run fails.
    pub fn replay(&self, runner: &Path) -> Run {
        let mock = Mock::at(runner);
        self.queues()
            .into_iter()
            .fold(mock, |mock, (channel, events)| {
                mock.choices(channel, events.concat())
            })
            .run()
    }
}

/// Why a test could not be written.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// A file cannot be read or written.
    #[error("{path}: {why}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        why: std::io::Error,
    },
    /// The record of what was written cannot be understood.
    #[error("{path}: {why}", path = path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        why: serde_json::Error,
    },
    /// The folder holds the tests of another program.
    #[error(
        "{folder} holds the tests of another program; name another folder with --emit-dir",
        folder = folder.display()
    )]
    OtherProgram {
        /// The folder.
        folder: PathBuf,
    },
}

/// The words of a text in lower case, joined by underscores.
fn slug(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    words.join("_")
}

#[cfg(test)]
mod tests;
