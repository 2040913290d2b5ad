//! The protocol between an exchange process and its parent: one line of JSON per message, as for
//! workers.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::message::Program;
use crate::encoding::bytes64;

/// The role of a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(super) enum Config {
    /// A hub, which others join.
    Hub {
        /// The address to listen on; port 0 for any free port.
        listen: SocketAddr,
    },
    /// A member, which joins a hub for one program.
    Member {
        /// `HOST:PORT` of a hub.
        join: String,
        /// The program.
        program: Program,
    },
}

/// A tape that is to be sent, or was received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tape {
    #[serde(with = "bytes64")]
    pub tape: Vec<u8>,
}

/// An event that the process reports.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Event {
    /// The hub can be joined.
    Listening {
        /// The address that it listens on.
        address: SocketAddr,
    },
    /// The member has joined.
    Joined,
    /// Another machine found this tape for the same program.
    Tape(Tape),
    /// Another machine has another build of the program. Reported once.
    OtherBuild,
    /// The last event: the process ends.
    Ended {
        /// Why.
        why: String,
    },
}
