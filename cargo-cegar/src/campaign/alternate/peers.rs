//! What other machines find, and what they are told.
//!
//! A campaign that takes part in an exchange has a member of the hub beside it, a process
//! (`cegar_fuzz::exchange`). The campaign hands it each tape with which a worker entered code for
//! the first time on this machine. A tape that the member receives is offered to the workers; a
//! worker that finds something new in it reports it as any input of its own. A received tape is
//! never sent, and one that brings nothing new here is dropped. Without a fuzzer, the machine
//! executes what is received, and the tapes with which it covers something are sent.
//!
//! The campaign does not depend on the exchange: a lost connection is reported once, and tried
//! again now and then.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use cegar_fuzz::exchange::{Member, MemberEvent, Program};
use cegar_model::program as ir;
use sha2::{Digest as _, Sha256};

use super::Alternation;
use crate::event::Level;

/// How long after a loss the hub is tried again; twice as long each time, up to the second.
const AGAIN: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(60)];
/// Tapes of others that may wait for the fuzzer's target to be built.
const WAITING: usize = 4096;

/// SHA-256.
type Hash = [u8; 32];

/// See the module.
pub struct Peers {
    address: String,
    program: Program,
    member: Option<Member>,
    joined: bool,
    /// Whether the loss has been told.
    told: bool,
    /// When the hub is tried, and how long after that again.
    next: Instant,
    pause: Duration,
    /// Blocks that some input of this machine or another is known to enter.
    known: Vec<bool>,
    /// Hashes of the tapes that were sent, and of those that were received.
    sent: HashSet<Hash>,
    received: HashSet<Hash>,
    /// What was found here, for a hub that knows nothing of it.
    found: Vec<Vec<u8>>,
    /// What was heard before there was a fuzzer.
    waiting: Vec<Vec<u8>>,
}

impl Peers {
    /// Joins the hub at `address` when it is first asked, for this harness's program.
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

    /// Joins, if it is time; else what the member has told.
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

    /// Tells the others of a tape that was found here: now, and a hub that does not know it later.
    fn tell(&mut self, tape: Vec<u8>) {
        self.send(&tape);
        self.found.push(tape);
    }

    fn send(&mut self, tape: &[u8]) -> bool {
        self.joined && self.member.as_mut().is_some_and(|member| member.send(tape))
    }

    /// Notes a tape that was found here; true if it is one to be sent.
    fn is_own(&mut self, tape: &[u8], blocks: &[u32]) -> bool {
        let mut enters = false;
        for &block in blocks {
            if let Some(known) = self.known.get_mut(block as usize) {
                enters |= !std::mem::replace(known, true);
            }
        }
        enters && self.is_first(tape)
    }

    /// Notes a tape that is to be sent; false if the others have it.
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
    /// Hears the other machines out.
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
        // A hub that was started anew does not know it; any other hub drops what it knows.
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

    /// Sends a tape that entered these blocks, if one of them is news to the other machines. True
    /// if the tape is from there.
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

    /// Sends a tape with which the search covered something, where no fuzzer says what it enters.
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

/// A hash of what a program does, by block: the same wherever its files lie, another for another
/// build.
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
        // A hash takes everything.
        let _ = text.write_fmt(what);
    };
    say(format_args!("{}\n", env!("CARGO_PKG_VERSION")));
    for function in &program.functions {
        let (name, blocks) = (&function.name, &function.blocks);
        say(format_args!("{name:?} {:?} {blocks:?}\n", function.kind));
    }
    // Not the globals: the names of files are among them.
    for block in &program.blocks {
        for inst in &block.ops {
            say(format_args!("{:?}\n", inst.op));
        }
        say(format_args!("{:?}\n", block.end));
    }
    text.0.finalize().into()
}
