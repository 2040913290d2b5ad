//! What an exchange process and its parent say to each other: JSON, a line each way, as with the
//! workers.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::message::Program;
use crate::encoding::bytes64;

/// What a process is to be.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(super) enum Config {
    /// The process that others join.
    Hub {
        /// Where; port 0 for any that is free.
        listen: SocketAddr,
    },
    /// A process that joins a hub, for one program.
    Member {
        /// `HOST:PORT` of a hub.
        join: String,
        /// The program.
        program: Program,
    },
}

/// A tape that is to go out, or has come in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tape {
    #[serde(with = "bytes64")]
    pub tape: Vec<u8>,
}

/// What the process tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Event {
    /// The hub can be joined.
    Listening {
        /// Here.
        address: SocketAddr,
    },
    /// The member has joined.
    Joined,
    /// Another machine found this for the same program.
    Tape(Tape),
    /// Another machine has another build of the program. Told once.
    OtherBuild,
    /// The last event.
    Ended {
        /// Why.
        why: String,
    },
}
