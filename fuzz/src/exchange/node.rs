//! The two processes that speak LLMP: the hub, which others join, and a member, which has joined a
//! hub.
//!
//! Both have a broker, since LLMP connects machines through brokers. A hub forwards each message
//! that it receives once, and keeps all of them for machines that join later. A member has one
//! program: it sends its parent's tapes to the hub, and passes other machines' tapes for that
//! program to the parent.

use std::collections::HashSet;
use std::io::{BufRead, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SyncSender, TryRecvError, channel, sync_channel,
};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use libafl_bolts::llmp::{
    Flags, Listener, LlmpBroker, LlmpBrokerInner, LlmpHook, LlmpMsgHookResult, LlmpSender,
    LlmpSharedMap, Tag,
};
use libafl_bolts::shmem::ShMemProvider;
use libafl_bolts::tuples::tuple_list;
use libafl_bolts::{ClientId, Error};

use super::gate;
use super::message::{Find, Program, TAG, digest};
use super::pages::{Page, Pages};
use super::protocol::{Config, Event, Tape};

/// How often an idle broker polls for messages.
const TICK: Duration = Duration::from_millis(20);
/// The number of messages that may wait for a parent that does not read; further ones are dropped.
const WAITING: usize = 4096;
/// The number of bytes of messages that a hub keeps. After that it forwards nothing more.
const KEPT: usize = 512 << 20;
/// How long a member runs on after the end of its input, to send the last messages.
const LINGER: Duration = Duration::from_millis(500);
/// The size of a member's first page in bytes.
const PAGE: usize = 1 << 20;

/// The entry point of the process. `config` is the JSON text of a [`Config`].
pub fn exchange_main(config: &str) -> ExitCode {
    // Ctrl-C is for the parent. When it ends, standard input ends, and with it this process.
    // SAFETY: no handler is installed; the signal is only ignored.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
    let (out, writer) = speak();
    let why = match serde_json::from_str(config) {
        Ok(Config::Hub { listen }) => hub(listen, &out),
        Ok(Config::Member { join, program }) => member(&join, program, &out),
        Err(why) => Err(why.to_string()),
    };
    let mut code = ExitCode::SUCCESS;
    if let Err(why) = why {
        let _ = out.send(Some(Event::Ended { why }));
        code = ExitCode::FAILURE;
    }
    let _ = out.send(None);
    let _ = writer.join();
    code
}

/// Writes events on a separate thread, so that the broker never waits for a reader.
fn speak() -> (SyncSender<Option<Event>>, JoinHandle<()>) {
    let (sender, events) = sync_channel::<Option<Event>>(WAITING);
    let writer = std::thread::spawn(move || {
        let mut out = std::io::stdout().lock();
        while let Ok(Some(event)) = events.recv() {
            let line = serde_json::to_vec(&event).map(|mut line| {
                line.push(b'\n');
                line
            });
            if line.is_ok_and(|line| out.write_all(&line).is_err()) {
                std::process::exit(1);
            }
        }
    });
    (sender, writer)
}

/// Reads tapes on a separate thread. When standard input ends, the exchange ends.
fn listen() -> Receiver<Vec<u8>> {
    let (sender, tapes) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().split(b'\n').map_while(Result::ok) {
            if let Ok(Tape { tape }) = serde_json::from_slice(&line)
                && sender.send(tape).is_err()
            {
                break;
            }
        }
    });
    tapes
}

/// Forwards messages that were not seen before.
#[derive(Default)]
struct PassOn {
    seen: HashSet<u128>,
    kept: usize,
}

impl LlmpHook<Page, Pages> for PassOn {
    fn on_new_message(
        &mut self,
        _: &mut LlmpBrokerInner<Page, Pages>,
        _: ClientId,
        tag: &mut Tag,
        _: &mut Flags,
        message: &mut [u8],
        _: &mut Vec<(Tag, Flags, Vec<u8>)>,
    ) -> Result<LlmpMsgHookResult, Error> {
        let room = self.kept + message.len() <= KEPT;
        if *tag != TAG || !room || !self.seen.insert(digest(message)) {
            return Ok(LlmpMsgHookResult::Handled);
        }
        self.kept += message.len();
        Ok(LlmpMsgHookResult::ForwardToClients)
    }
}

fn llmp(why: Error) -> String {
    format!("LLMP: {why}")
}

/// A port that only this machine can reach, for LLMP's own end points.
fn inside() -> Result<(TcpListener, SocketAddr), String> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let both = bound.and_then(|inner| inner.local_addr().map(|address| (inner, address)));
    both.map_err(|why| why.to_string())
}

fn hub(address: SocketAddr, out: &SyncSender<Option<Event>>) -> Result<(), String> {
    let outer = TcpListener::bind(address).map_err(|why| why.to_string())?;
    let address = outer.local_addr().map_err(|why| why.to_string())?;
    // Pages are kept, since a machine that joins later starts reading at the first page.
    let mut broker =
        LlmpBroker::with_keep_pages(Pages, tuple_list!(PassOn::default()), true).map_err(llmp)?;
    let (inner, inside) = inside()?;
    // A connection that ends immediately makes an assertion in LLMP's thread for it fail. Other
    // connections continue. The end of one of the two threads below would stop them all.
    let accepts = broker
        .inner_mut()
        .launch_listener(Listener::Tcp(inner))
        .map_err(llmp)?;
    let hello = gate::greeting(&inside.to_string()).map_err(|why| why.to_string())?;
    let admits = std::thread::spawn(move || gate::incoming(outer, inside, hello));
    let _ = out.send(Some(Event::Listening { address }));
    let silence = listen();
    loop {
        let busy = broker.broker_once().map_err(llmp)?;
        let wait = if busy { Duration::ZERO } else { TICK };
        // A hub gets no input, but its input ends when its parent ends.
        if let Err(RecvTimeoutError::Disconnected) = silence.recv_timeout(wait) {
            return Ok(());
        }
        if accepts.is_finished() || admits.is_finished() {
            return Err("nobody can join any more".to_owned());
        }
    }
}

/// Passes to the parent the tapes that other machines found for its program.
struct HandIn {
    own: ClientId,
    program: Program,
    out: SyncSender<Option<Event>>,
    strange: bool,
}

impl LlmpHook<Page, Pages> for HandIn {
    fn on_new_message(
        &mut self,
        _: &mut LlmpBrokerInner<Page, Pages>,
        client: ClientId,
        tag: &mut Tag,
        _: &mut Flags,
        message: &mut [u8],
        _: &mut Vec<(Tag, Flags, Vec<u8>)>,
    ) -> Result<LlmpMsgHookResult, Error> {
        if client == self.own {
            return Ok(LlmpMsgHookResult::ForwardToClients);
        }
        if *tag != TAG {
            return Ok(LlmpMsgHookResult::Handled);
        }
        if let Some(find) = Find::decode(message) {
            if find.program == self.program {
                // If there is no room, the parent is busy enough, so the tape is dropped.
                let _ = self
                    .out
                    .try_send(Some(Event::Tape(Tape { tape: find.tape })));
            } else if find.program.harness == self.program.harness && !self.strange {
                self.strange = self.out.try_send(Some(Event::OtherBuild)).is_ok();
            }
        }
        Ok(LlmpMsgHookResult::Handled)
    }
}

fn member(join: &str, program: Program, out: &SyncSender<Option<Event>>) -> Result<(), String> {
    let outer = gate::connect(join).map_err(|why| why.to_string())?;
    // The parent's own client is registered first. LLMP numbers clients from 0, which is also the
    // broker's own number, and a connection to another broker skips messages with its own number.
    let memory = Pages.new_shmem(PAGE).map_err(llmp)?;
    let other_end = Pages.clone_ref(&memory).map_err(llmp)?;
    let page = LlmpSharedMap::new(ClientId(0), memory);
    let hook = HandIn {
        own: ClientId(0),
        program: program.clone(),
        out: out.clone(),
        strange: false,
    };
    let mut broker = LlmpBroker::with_keep_pages(Pages, tuple_list!(hook), true).map_err(llmp)?;
    let own = broker.inner_mut().register_client(page);
    debug_assert_eq!(own, ClientId(0));
    let mut sender = LlmpSender::on_existing_shmem(Pages, other_end, None).map_err(llmp)?;

    let (inner, inside) = inside()?;
    let (ended, end) = channel();
    std::thread::spawn(move || {
        let why = match gate::outgoing(outer, &inner) {
            Ok(()) => "the connection is closed".to_owned(),
            Err(why) if why.kind() == std::io::ErrorKind::UnexpectedEof => {
                "the other side has closed the connection".to_owned()
            }
            Err(why) => why.to_string(),
        };
        // LLMP may be waiting for an answer that will not come.
        drop(inner);
        let _ = ended.send(why);
    });
    let connected = broker.inner_mut().connect_b2b(inside);
    if let Err(why) = connected {
        return Err(end.recv_timeout(TICK * 50).unwrap_or_else(|_| llmp(why)));
    }
    let _ = out.send(Some(Event::Joined));

    let tapes = listen();
    let mut last = None;
    while last.is_none_or(|last: Instant| last.elapsed() < LINGER) {
        let busy = broker.broker_once().map_err(llmp)?;
        let wait = if busy { Duration::ZERO } else { TICK };
        match tapes.recv_timeout(wait) {
            Ok(tape) => {
                let program = program.clone();
                if let Some(message) = (Find { program, tape }).encode() {
                    sender.send_buf(TAG, &message).map_err(llmp)?;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                last.get_or_insert_with(Instant::now);
                std::thread::sleep(wait);
            }
        }
        match end.try_recv() {
            Ok(why) => return Err(why),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return Err("the connection is gone".to_owned()),
        }
    }
    Ok(())
}
