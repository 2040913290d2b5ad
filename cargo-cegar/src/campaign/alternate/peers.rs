//! The exchange of inputs with other machines.
//!
//! A campaign that takes part in an exchange starts a member of the hub as a process beside it
//! (`cegar_fuzz::exchange`). It gives the member each tape with which a worker entered code for the
//! first time on this machine. Tapes that the member receives are offered to the workers; a worker
//! for which a tape covers something new reports it like an input of its own. A received tape is
//! never sent on, and one that covers nothing new here is dropped. Without a fuzzer, the machine
//! executes the received tapes, and the tapes with which it covers something new are sent.
//!
//! The campaign does not depend on the exchange: a lost connection is reported once, and
//! reconnecting is tried at intervals.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use cegar_fuzz::exchange::{Member, MemberEvent, Program};
use cegar_model::program as ir;
use sha2::{Digest as _, Sha256};

use super::Alternation;
use crate::event::Level;

/// The first and the longest delay before reconnecting to the hub; the delay doubles after each
/// loss.
const AGAIN: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(60)];
/// The largest number of received tapes that wait for the fuzzer's target to be built.
const WAITING: usize = 4096;

/// SHA-256.
type Hash = [u8; 32];

/// See the module.
pub struct Peers {
    address: String,
    program: Program,
    member: Option<Member>,
    joined: bool,
    /// Whether the loss of the connection was reported.
    told: bool,
    /// When to connect next, and the delay after the next loss.
    next: Instant,
    pause: Duration,
    /// Blocks that an input of this or another machine is known to enter.
    known: Vec<bool>,
    /// Hashes of the tapes that were sent, and of those that were received.
    sent: HashSet<Hash>,
    received: HashSet<Hash>,
    /// Tapes found here, to be sent to a hub that does not know them.
    found: Vec<Vec<u8>>,
    /// Tapes received before the fuzzer was started.
    waiting: Vec<Vec<u8>>,
}

impl Peers {
    /// Prepares to exchange inputs of this harness's program with the hub at `address`. The
    /// connection is made on the first poll.
    pub fn new(address: &str, harness: &str, program: &ir::Program) -> Peers {
        Peers {
            address: address.to_owned(),
            program: Program {
                harness: harness.to_owned(),
                digest: identity(program),
            },
            member: None,
            joined: false,
            told: false,
            next: Instant::now(),
            pause: AGAIN[0],
            known: vec![false; program.blocks.len()],
            sent: HashSet::new(),
            received: HashSet::new(),
            found: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// Returns the member's events, or connects if there is no member and the delay has passed.
    fn hear(&mut self) -> Vec<MemberEvent> {
        if let Some(member) = &mut self.member {
            let heard = member.poll();
            if let Some(MemberEvent::Lost { .. }) = heard.last() {
                self.member = None;
                self.next = Instant::now() + self.pause;
                self.pause = AGAIN[1].min(self.pause * 2);
            }
            return heard;
        }
        if Instant::now() < self.next {
            return Vec::new();
        }
        let member = std::env::current_exe()
            .map_err(|why| why.to_string())
            .and_then(|me| {
                Member::start(&me, &self.address, &self.program).map_err(|why| why.to_string())
            });
        match member {
            Ok(member) => {
                self.member = Some(member);
                Vec::new()
            }
            Err(why) => {
                self.next = Instant::now() + AGAIN[1];
                vec![MemberEvent::Lost { why }]
            }
        }
    }

    /// Sends a tape that was found here, and keeps it to send it to a hub that does not know it.
    fn tell(&mut self, tape: Vec<u8>) {
        self.send(&tape);
        self.found.push(tape);
    }

    fn send(&mut self, tape: &[u8]) -> bool {
        self.joined && self.member.as_mut().is_some_and(|member| member.send(tape))
    }

    /// Records the blocks of a tape that was found here. Returns whether to send it.
    fn is_own(&mut self, tape: &[u8], blocks: &[u32]) -> bool {
        let mut enters = false;
        for &block in blocks {
            if let Some(known) = self.known.get_mut(block as usize) {
                enters |= !std::mem::replace(known, true);
            }
        }
        enters && self.is_first(tape)
    }

    /// Records a tape to be sent. Returns false if the other machines have it already.
    fn is_first(&mut self, tape: &[u8]) -> bool {
        let hash = Sha256::digest(tape).into();
        !self.received.contains(&hash) && self.sent.insert(hash)
    }

    fn has_received(&self, tape: &[u8]) -> bool {
        let hash: Hash = Sha256::digest(tape).into();
        self.received.contains(&hash)
    }
}

impl Alternation<'_, '_> {
    /// Handles the events of the exchange.
    pub(super) fn exchange(&mut self) {
        let Some(peers) = &mut self.peers else {
            return;
        };
        let heard = peers.hear();
        for event in heard {
            match event {
                MemberEvent::Joined => self.joined(),
                MemberEvent::Tape(tape) => self.heard(tape),
                MemberEvent::OtherBuild => self.reporting.note(
                    Level::Warning,
                    format!(
                        "another machine has another build of `{}`: its inputs are left out; have \
                         both compile the same sources with the same settings and the same version \
                         of cargo-cegar",
                        self.subject.harness.name
                    ),
                ),
                MemberEvent::Lost { why } => self.lost(&why),
            }
        }
        if !self.fuzzing.crew.is_empty()
            && let Some(peers) = &mut self.peers
        {
            for tape in peers.waiting.drain(..) {
                self.fuzzing.crew.offer(&tape);
            }
        }
    }

    fn joined(&mut self) {
        let Some(peers) = &mut self.peers else {
            return;
        };
        peers.joined = true;
        peers.pause = AGAIN[0];
        let again = std::mem::take(&mut peers.told);
        // A restarted hub does not know these tapes; any other hub drops those that it knows.
        for tape in std::mem::take(&mut peers.found) {
            peers.tell(tape);
        }
        let (level, again) = match again {
            true => (Level::Info, " again"),
            false => (Level::Detail, ""),
        };
        let message = format!("exchanging inputs{again} with others by {}", peers.address);
        self.reporting.note(level, message);
    }

    fn heard(&mut self, tape: Vec<u8>) {
        let Some(peers) = &mut self.peers else {
            return;
        };
        let hash = Sha256::digest(&tape).into();
        let fits = tape.len() <= self.subject.harness.max_len;
        if !fits || peers.sent.contains(&hash) || !peers.received.insert(hash) {
            return;
        }
        self.stats.peers_received += 1;
        if !self.subject.settings.fuzzes() {
            self.searching.backlog.push(tape, Vec::new());
        } else if !self.fuzzing.crew.is_empty() {
            self.fuzzing.crew.offer(&tape);
        } else if peers.waiting.len() < WAITING {
            peers.waiting.push(tape);
        }
    }

    fn lost(&mut self, why: &str) {
        let Some(peers) = &mut self.peers else {
            return;
        };
        peers.joined = false;
        if !std::mem::replace(&mut peers.told, true) {
            let message = format!(
                "no exchange with other machines by {}: {why}; the campaign goes on, and tries \
                 again",
                peers.address
            );
            self.reporting.note(Level::Warning, message);
        }
    }

    /// Sends a tape that entered these blocks if one of them is new to the other machines. Returns
    /// whether the tape came from another machine.
    pub(super) fn share(&mut self, tape: &[u8], blocks: &[u32]) -> bool {
        let Some(peers) = &mut self.peers else {
            return false;
        };
        let foreign = peers.has_received(tape);
        if peers.is_own(tape, blocks) {
            self.stats.peers_sent += 1;
            peers.tell(tape.to_vec());
        }
        foreign
    }

    /// Sends a tape with which the search covered something. Only used without a fuzzer, whose
    /// events would tell which blocks the tape enters.
    pub(super) fn share_seed(&mut self, tape: &[u8]) {
        if self.subject.settings.fuzzes() {
            return;
        }
        let Some(peers) = &mut self.peers else {
            return;
        };
        if peers.has_received(tape) {
            self.stats.peers_used += 1;
        } else if peers.is_first(tape) {
            self.stats.peers_sent += 1;
            peers.tell(tape.to_vec());
        }
    }
}

/// A hash of a program's behaviour, block by block. It does not depend on where the files are, but
/// differs between builds.
fn identity(program: &ir::Program) -> Hash {
    struct Text(Sha256);
    impl std::fmt::Write for Text {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.update(text);
            Ok(())
        }
    }
    let mut text = Text(Sha256::new());
    let mut say = |what: std::fmt::Arguments<'_>| {
        // Writing to a hash cannot fail.
        let _ = text.write_fmt(what);
    };
    say(format_args!("{}\n", env!("CARGO_PKG_VERSION")));
    for function in &program.functions {
        let (name, blocks) = (&function.name, &function.blocks);
        say(format_args!("{name:?} {:?} {blocks:?}\n", function.kind));
    }
    // Globals are left out, since they include file names.
    for block in &program.blocks {
        for inst in &block.ops {
            say(format_args!("{:?}\n", inst.op));
        }
        say(format_args!("{:?}\n", block.end));
    }
    text.0.finalize().into()
}
