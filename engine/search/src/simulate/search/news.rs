//! The configuration of a search, and its results.

use std::time::Instant;

use cegar_model::machine::{Limits, Violation};
use cegar_model::program::Property;
use cegar_model::solver;
use serde::{Deserialize, Serialize};

use super::LONGEST;

/// The configuration of a search.
#[derive(Clone, Debug)]
pub struct Config {
    /// The properties whose checks are goals.
    pub properties: Vec<Property>,
    /// Longest tape, in bytes. Default [`LONGEST`].
    pub max_len: usize,
    /// Longest tape that is recorded symbolically, in bytes. Default 4096.
    pub max_recorded: usize,
    /// Limits of one execution.
    pub limits: Limits,
    /// Limits of one query to the solver. Default: 2 s.
    pub query: solver::Limits,
    /// When the search has to end. Default: never.
    pub until: Option<Instant>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            properties: vec![
                Property::Assertion,
                Property::Abort,
                Property::Memory,
                Property::Overflow,
            ],
            max_len: LONGEST,
            max_recorded: 4096,
            limits: Limits::default(),
            query: solver::Limits::default(),
            until: None,
        }
    }
}

/// Where a tape came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Given at the start, or by the user's corpus.
    Given,
    /// The fuzzer.
    Fuzzer,
    /// A departure from a path, found by the solver.
    Simulation,
    /// A goal of the abstraction, reached from a state of its forest.
    Frontier,
    /// The closed forms of the loops on a path to a goal.
    Loop,
    /// An answer replayed around a loop.
    Replay,
    /// A longer tape.
    Longer,
    /// A test that a published strategy asked for.
    Strategy,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Origin::Given => "an initial input",
            Origin::Fuzzer => "fuzzing",
            Origin::Simulation => "partial simulation",
            Origin::Frontier => "a frontier query",
            Origin::Loop => "the closed form of a loop",
            Origin::Replay => "replaying an answer around a loop",
            Origin::Longer => "a longer input",
            Origin::Strategy => "a test of the strategy",
        })
    }
}

/// A result of a slice of search.
#[derive(Clone, Debug)]
pub enum News {
    /// A tape that covers something new: a seed for the fuzzer.
    Seed {
        /// The tape.
        tape: Vec<u8>,
        /// How it was made.
        origin: Origin,
    },
    /// A tape on which the machine saw a wanted check fail. It becomes a finding only when a native
    /// run shows the violation.
    Violation {
        /// The tape.
        tape: Vec<u8>,
        /// What the machine saw.
        violation: Violation,
        /// How the tape was made.
        origin: Origin,
    },
}

impl News {
    /// Whether a check failed.
    pub fn is_violation(&self) -> bool {
        matches!(self, News::Violation { .. })
    }
}

/// Counters of a search.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct SearchStats {
    /// Executions by the machine.
    pub executions: u64,
    /// The executions among them that had a symbolic shadow.
    pub recorded: u64,
    /// Steps executed.
    pub steps: u64,
    /// Queries: departures tried.
    pub questions: u64,
    /// Queries with an answer.
    pub answered: u64,
    /// Queries that no input satisfies.
    pub dead: u64,
    /// Queries left open (solver limits, or only narrowed queries could be asked).
    pub open: u64,
    /// Answers whose execution did not go where it was predicted to go.
    pub diverged: u64,
    /// Tapes made by replaying an answer.
    pub replays: u64,
    /// Executions that met a construct which is not modelled.
    pub unmodelled: u64,
}
