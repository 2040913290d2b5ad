//! The messages between machines and their frames.
//!
//! LLMP carries bytes, and each message has a tag that says what they are. Here there is one kind
//! of message: a tape that entered new code, with the program that it is for. LLMP asserts that
//! messages are well-formed and trusts their lengths. Everything that arrives from outside is
//! therefore decoded here first, within bounds, and encoded again before LLMP sees it.

use libafl_bolts::llmp::{Tag, TcpRequest, TcpResponse};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The length of the longest tape that is sent, in bytes.
pub const LONGEST: usize = 1 << 20;
/// The length of the longest name of a harness, in bytes.
const NAME: usize = 256;
/// The length of the longest frame in bytes, without its length field.
pub(super) const FRAME: usize = LONGEST + 1024;
/// The length of the longest frame of the handshake in bytes.
pub(super) const HELLO: usize = 1024;

/// The tag of a [`Find`]. A later format of it needs another tag, which this version then ignores.
pub(super) const TAG: Tag = Tag(0x0CE6_A001);

/// The tag of an empty message.
const NOTHING: Tag = Tag(TAG.0 - 1);

/// The tag by which LLMP recognises that a client leaves (`LLMP_TAG_EXITING`, which is private).
const LEAVING: Tag = Tag(0x013C_5171);

/// Identifies the program that a tape is for. Machines with another build of it ignore the tape.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Program {
    /// The harness's name.
    pub harness: String,
    /// A hash of the program that does not depend on the location of its files.
    pub digest: [u8; 32],
}

/// A tape that entered new code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Find {
    pub program: Program,
    pub tape: Vec<u8>,
}

impl Find {
    /// Encodes the find as bytes; `None` if it is too long to be sent.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let fits = self.tape.len() <= LONGEST && self.program.harness.len() <= NAME;
        fits.then(|| postcard::to_allocvec(self).ok())?
    }

    /// Decodes a find that any machine may have written.
    pub fn decode(bytes: &[u8]) -> Option<Find> {
        let (find, rest) = postcard::take_from_bytes::<Find>(bytes).ok()?;
        let fits = find.tape.len() <= LONGEST && find.program.harness.len() <= NAME;
        (rest.is_empty() && fits).then_some(find)
    }
}

/// A short hash of a message, by which repeated messages are recognised.
pub(super) fn digest(bytes: &[u8]) -> u128 {
    let hash = Sha256::digest(bytes);
    hash.iter()
        .take(16)
        .fold(0, |all, &byte| all << 8 | u128::from(byte))
}

/// LLMP's `TcpRemoteNewMessage`, whose fields are private.
#[derive(Serialize, Deserialize)]
struct Forwarded {
    client: u32,
    tag: u32,
    flags: u32,
    payload: Vec<u8>,
}

/// The frame for LLMP of a message from another machine; `None` if the message is not a [`Find`].
pub(super) fn forwarded(frame: &[u8]) -> Option<Vec<u8>> {
    let (message, rest) = postcard::take_from_bytes::<Forwarded>(frame).ok()?;
    if !rest.is_empty() || message.tag != TAG.0 {
        return None;
    }
    let payload = Find::decode(&message.payload)?.encode()?;
    postcard::to_allocvec(&Forwarded {
        client: 0,
        tag: TAG.0,
        flags: 0,
        payload,
    })
    .ok()
}

/// The frame of an empty message, which is not forwarded.
pub(super) fn nothing() -> Vec<u8> {
    empty(NOTHING)
}

/// The frame after which LLMP's broker forgets a connection and frees its page.
pub(super) fn leaving() -> Vec<u8> {
    empty(LEAVING)
}

fn empty(tag: Tag) -> Vec<u8> {
    let message = Forwarded {
        client: 0,
        tag: tag.0,
        flags: 0,
        payload: Vec::new(),
    };
    // Only a lack of memory could make this fail.
    postcard::to_allocvec(&message).unwrap_or_default()
}

/// Whether a frame is the first message of an LLMP broker.
pub(super) fn is_hello(frame: &[u8]) -> bool {
    matches!(
        postcard::from_bytes(frame),
        Ok(TcpResponse::BrokerConnectHello { .. })
    )
}

/// Whether a frame accepts another broker.
pub(super) fn is_accepted(frame: &[u8]) -> bool {
    matches!(
        postcard::from_bytes(frame),
        Ok(TcpResponse::RemoteBrokerAccepted { .. })
    )
}

/// Whether a frame is a request that another machine may make: to connect as a broker. (A client
/// would share memory, which strangers must not.)
pub(super) fn is_request(frame: &[u8]) -> bool {
    matches!(
        postcard::from_bytes(frame),
        Ok(TcpRequest::RemoteBrokerHello { .. })
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use libafl_bolts::llmp::BrokerId;

    fn find(tape: Vec<u8>) -> Find {
        Find {
            program: Program {
                harness: "demo".to_owned(),
                digest: [7; 32],
            },
            tape,
        }
    }

    fn frame(tag: u32, payload: Vec<u8>) -> Vec<u8> {
        let message = Forwarded {
            client: 3,
            tag,
            flags: 1,
            payload,
        };
        postcard::to_allocvec(&message).expect("a frame")
    }

    #[test]
    fn a_find_comes_back_as_it_was() {
        for tape in [vec![], vec![0, 255, 7], vec![1; LONGEST]] {
            let bytes = find(tape.clone()).encode().expect("short enough");
            assert_eq!(Find::decode(&bytes), Some(find(tape)));
        }
        assert_eq!(find(vec![1; LONGEST + 1]).encode(), None);
    }

    #[test]
    fn damaged_finds_are_nothing() {
        let bytes = find(vec![1, 2, 3]).encode().expect("short enough");
        for length in 0..bytes.len() {
            assert_eq!(Find::decode(&bytes[..length]), None, "{length}");
        }
        assert_eq!(Find::decode(&[bytes.clone(), vec![0]].concat()), None);
        // A length of 2^63 in place of the tape's length.
        let mut long = bytes[..bytes.len() - 4].to_vec();
        long.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
        assert_eq!(Find::decode(&long), None);
    }

    #[test]
    fn only_finds_are_passed_on() {
        let payload = find(vec![1, 2, 3]).encode().expect("short enough");
        let passed = forwarded(&frame(TAG.0, payload.clone())).expect("a find");
        assert_eq!(passed, {
            let message = Forwarded {
                client: 0,
                tag: TAG.0,
                flags: 0,
                payload: payload.clone(),
            };
            postcard::to_allocvec(&message).expect("a frame")
        });
        // The tags by which LLMP ends clients and brokers.
        for tag in [0x0C11_E472, 0x013C_5171, 0x7005_1041, 0x00AF_1E0F1] {
            assert_eq!(forwarded(&frame(tag, payload.clone())), None);
        }
        assert_eq!(forwarded(&frame(TAG.0, vec![1, 2, 3])), None);
        assert_eq!(forwarded(b"GET / HTTP/1.1"), None);
    }

    #[test]
    fn llmp_reads_the_frame_as_its_own() {
        use libafl_bolts::llmp::TcpRemoteNewMessage;
        let payload = find(vec![1, 2, 3]).encode().expect("short enough");
        let passed = forwarded(&frame(TAG.0, payload)).expect("a find");
        let theirs = TcpRemoteNewMessage::try_from(&passed).expect("LLMP's form");
        assert_eq!(postcard::to_allocvec(&theirs).expect("a frame"), passed);
    }

    #[test]
    fn the_handshake_is_known() {
        let request = TcpRequest::RemoteBrokerHello {
            hostname: "other".to_owned(),
        };
        let quit = TcpRequest::ClientQuit {
            client_id: libafl_bolts::ClientId(1),
        };
        let accepted = TcpResponse::RemoteBrokerAccepted {
            broker_id: BrokerId(1),
        };
        let bytes = |it: Result<Vec<u8>, postcard::Error>| it.expect("a frame");
        assert!(is_request(&bytes(postcard::to_allocvec(&request))));
        assert!(!is_request(&bytes(postcard::to_allocvec(&quit))));
        assert!(is_accepted(&bytes(postcard::to_allocvec(&accepted))));
        assert!(!is_hello(&bytes(postcard::to_allocvec(&accepted))));
        assert!(!is_hello(b"SSH-2.0-OpenSSH_9.2p1"));
    }
}
