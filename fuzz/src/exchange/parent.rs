//! The parent's side of the exchange: a command has a hub if others are to join it, and each
//! campaign has a member if it is to join one.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::gate;
use super::message::{LONGEST, Program};
use super::protocol::{Config, Event, Tape};

/// How often a hub that has ended is restarted, and how long after its end.
const AGAIN: u32 = 5;
const PAUSE: Duration = Duration::from_secs(1);
/// The time limit for a hub to start listening.
const PATIENCE: Duration = Duration::from_secs(20);
/// The time limit for a member to end.
const FAREWELL: Duration = Duration::from_secs(2);
/// The number of other machines' tapes that may wait to be polled.
const WAITING: usize = 4096;

/// Why the exchange cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The process could not be started.
    #[error("cannot start {executable}: {source}")]
    Start {
        /// The executable.
        executable: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {why}")]
    Listen {
        /// The address.
        address: String,
        /// Why.
        why: String,
    },
    /// There is no hub at the address, or another program listens there.
    #[error("cannot join {address}: {why}")]
    Join {
        /// The address.
        address: String,
        /// Why.
        why: String,
    },
}

/// Checks whether there is a hub at `HOST:PORT`.
pub fn probe(address: &str) -> Result<(), ExchangeError> {
    let join = |why: std::io::Error| ExchangeError::Join {
        address: address.to_owned(),
        why: match why.kind() {
            std::io::ErrorKind::UnexpectedEof => "it hung up without a word".to_owned(),
            std::io::ErrorKind::WouldBlock => "it says nothing".to_owned(),
            _ => why.to_string(),
        },
    };
    gate::greeting(address).map(drop).map_err(join)
}

fn start(executable: &Path, config: &Config) -> Result<(Child, ChildStdout), ExchangeError> {
    let failed = |source| ExchangeError::Start {
        executable: executable.to_owned(),
        source,
    };
    let config = serde_json::to_string(config).map_err(|why| failed(why.into()))?;
    let mut child = std::process::Command::new(executable)
        .arg("__exchange")
        .arg(config)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let out = child
        .stdout
        .take()
        .ok_or_else(|| failed(std::io::ErrorKind::BrokenPipe.into()))?;
    Ok((child, out))
}

fn events(out: ChildStdout) -> impl Iterator<Item = Event> {
    let lines = BufReader::new(out).split(b'\n').map_while(Result::ok);
    // A process that was killed may leave an incomplete line.
    lines.filter_map(|line| serde_json::from_slice(&line).ok())
}

/// A hub that others can join while this value lives. If its process ends, it is restarted a few
/// times; members reconnect by themselves.
#[derive(Debug)]
pub struct Hub {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    keeper: Option<JoinHandle<()>>,
}

impl Hub {
    /// Starts `executable __exchange <config>`, which has to call
    /// [`exchange_main`](super::exchange_main). `address` is `HOST:PORT`; port 0 stands for any
    /// free port.
    pub fn start(executable: &Path, address: &str) -> Result<Hub, ExchangeError> {
        let failed = |why: String| ExchangeError::Listen {
            address: address.to_owned(),
            why,
        };
        let mut listen = address
            .to_socket_addrs()
            .map_err(|why| failed(why.to_string()))?;
        let listen = listen.next();
        let listen = listen.ok_or_else(|| failed("the name has no address".to_owned()))?;
        let (mut child, out) = start(executable, &Config::Hub { listen })?;
        let stdin = Arc::new(Mutex::new(child.stdin.take()));
        let over = Arc::new(AtomicBool::new(false));
        let (told, first) = channel();
        let keeper = {
            let (executable, stdin, over) = (executable.to_owned(), stdin.clone(), over.clone());
            let mut running = Some((child, out));
            move || {
                let mut port = None;
                for _ in 0..=AGAIN {
                    let Some((mut child, out)) = running.take() else {
                        break;
                    };
                    for event in events(out) {
                        if let Event::Listening { address } = &event {
                            port = Some(*address);
                        }
                        // Only the first event is received.
                        let _ = told.send(event);
                    }
                    let _ = child.wait();
                    let Some(listen) = port else { break };
                    if over.load(Ordering::SeqCst) {
                        break;
                    }
                    std::thread::sleep(PAUSE);
                    let mut held = stdin.lock().unwrap_or_else(PoisonError::into_inner);
                    // Checked under the lock, which the thread that stops the hub also takes.
                    if over.load(Ordering::SeqCst) {
                        break;
                    }
                    if let Ok((mut child, out)) = start(&executable, &Config::Hub { listen }) {
                        *held = child.stdin.take();
                        running = Some((child, out));
                    }
                }
            }
        };
        let keeper = std::thread::Builder::new()
            .name("hub".to_owned())
            .spawn(keeper)
            .map_err(|why| failed(why.to_string()))?;
        let mut hub = Hub {
            address: listen,
            over,
            stdin,
            keeper: Some(keeper),
        };
        match first.recv_timeout(PATIENCE) {
            Ok(Event::Listening { address }) => hub.address = address,
            Ok(Event::Ended { why }) => return Err(failed(why)),
            Ok(_) | Err(_) => return Err(failed("its process does not answer".to_owned())),
        }
        Ok(hub)
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address under which this machine can join it.
    pub fn here(&self) -> SocketAddr {
        let mut here = self.address;
        if here.ip().is_unspecified() {
            here.set_ip(match here {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        here
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // The process ends when its input ends.
        drop(
            self.stdin
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}

/// An event that a member reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberEvent {
    /// It has joined.
    Joined,
    /// Another machine found a tape that entered code that was new there.
    Tape(Vec<u8>),
    /// Another machine has another build of the program; its tapes are ignored.
    OtherBuild,
    /// The member has left the exchange or could not join it. No further event follows.
    Lost {
        /// Why.
        why: String,
    },
}

/// A program's member of a hub. Dropping it ends its process, which first sends its remaining
/// tapes.
#[derive(Debug)]
pub struct Member {
    child: Child,
    stdin: Option<ChildStdin>,
    events: Receiver<MemberEvent>,
    lost: bool,
}

impl Member {
    /// Starts `executable __exchange <config>`. `join` is the `HOST:PORT` of a hub. An event
    /// reports whether it could join.
    pub fn start(
        executable: &Path,
        join: &str,
        program: &Program,
    ) -> Result<Member, ExchangeError> {
        let config = Config::Member {
            join: join.to_owned(),
            program: program.clone(),
        };
        let (mut child, out) = start(executable, &config)?;
        let stdin = child.stdin.take();
        let (sender, heard) = sync_channel(WAITING);
        std::thread::Builder::new()
            .name("member".to_owned())
            .spawn(move || {
                for event in events(out) {
                    let event = match event {
                        Event::Joined => MemberEvent::Joined,
                        Event::Tape(Tape { tape }) => MemberEvent::Tape(tape),
                        Event::OtherBuild => MemberEvent::OtherBuild,
                        Event::Ended { why } => MemberEvent::Lost { why },
                        Event::Listening { .. } => continue,
                    };
                    if sender.send(event).is_err() {
                        break;
                    }
                }
            })
            .map_err(|source| ExchangeError::Start {
                executable: executable.to_owned(),
                source,
            })?;
        Ok(Member {
            child,
            stdin,
            events: heard,
            lost: false,
        })
    }

    /// The events since the last call.
    pub fn poll(&mut self) -> Vec<MemberEvent> {
        let mut heard = Vec::new();
        while !self.lost {
            let event = match self.events.try_recv() {
                Ok(event) => event,
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => MemberEvent::Lost {
                    why: "its process has ended".to_owned(),
                },
            };
            self.lost = matches!(event, MemberEvent::Lost { .. });
            heard.push(event);
        }
        heard
    }

    /// Sends a tape to the other machines; false if it cannot be sent.
    pub fn send(&mut self, tape: &[u8]) -> bool {
        let Some(stdin) = &mut self.stdin else {
            return false;
        };
        if tape.len() > LONGEST {
            return false;
        }
        let tape = Tape {
            tape: tape.to_vec(),
        };
        let Ok(mut line) = serde_json::to_vec(&tape) else {
            return false;
        };
        line.push(b'\n');
        let sent = stdin.write_all(&line).and_then(|()| stdin.flush());
        if sent.is_err() {
            self.stdin = None;
        }
        sent.is_ok()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // The process ends when its input ends.
        self.stdin = None;
        let until = Instant::now() + FAREWELL;
        while Instant::now() < until && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(FAREWELL / 100);
        }
        // Errors are ignored, since the process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
