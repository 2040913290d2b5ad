//! The gate: the end points of connections to other machines.
//!
//! LLMP's own end points trust what they read. They allocate a length of four gigabytes, a
//! truncated message ends the thread, a message that never arrives blocks all later ones, and a
//! time-out in the middle of a message loses the position in the stream. LLMP therefore talks only
//! to this process, and the gate talks to the network. The gate speaks the same protocol on both
//! sides and forwards only frames that it has read completely. It also notices when a connection
//! has ended, which LLMP does not report.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::message::{self, FRAME, HELLO};

/// The time limit for making a connection, and for each message of the handshake.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a machine may accept no bytes before the connection is closed.
const STUCK: Duration = Duration::from_secs(60);
/// The TCP keep-alive settings: seconds without data before the first probe, seconds between
/// probes, the number of probes that may stay unanswered, and milliseconds after which TCP gives up
/// on unacknowledged data.
const KEEPALIVE: [(libc::c_int, libc::c_int); 4] = [
    (libc::TCP_KEEPIDLE, 10),
    (libc::TCP_KEEPINTVL, 5),
    (libc::TCP_KEEPCNT, 3),
    (libc::TCP_USER_TIMEOUT, 30_000),
];
/// The maximal number of bytes per second that are read from one machine, since LLMP gives up if
/// its broker is three pages behind.
const RATE: u64 = 4 << 20;
/// The interval of empty messages to LLMP. Its thread for a connection waits three seconds for a
/// message from the other machine before it looks for one to send; an empty message ends that wait.
const NUDGE: Duration = Duration::from_millis(100);
/// The maximal number of connected machines.
const VISITORS: usize = 64;

/// Reads one frame: a length of four bytes, big-endian, and that number of bytes.
fn read_frame(from: &mut TcpStream, longest: usize) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > longest {
        return Err(io::Error::other("it does not speak LLMP"));
    }
    let mut frame = vec![0; length];
    from.read_exact(&mut frame)?;
    Ok(frame)
}

/// Writes a frame in one piece, so that a reader does not wait for its rest.
fn write_frame(to: &mut TcpStream, frame: &[u8]) -> io::Result<()> {
    let length = u32::try_from(frame.len()).map_err(io::Error::other)?;
    to.write_all(&[&length.to_be_bytes(), frame].concat())
}

/// Reads a frame of the handshake, which has to satisfy `expected`.
fn handshake(from: &mut TcpStream, expected: fn(&[u8]) -> bool) -> io::Result<Vec<u8>> {
    let frame = read_frame(from, HELLO)?;
    match expected(&frame) {
        true => Ok(frame),
        false => Err(io::Error::other("it does not speak LLMP")),
    }
}

fn patient(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))
}

/// Connects to `HOST:PORT`.
pub(super) fn connect(address: &str) -> io::Result<TcpStream> {
    let mut why = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                patient(&stream)?;
                return Ok(stream);
            }
            Err(e) => why = e,
        }
    }
    Err(why)
}

/// Connects and reads the broker's first message.
pub(super) fn greeting(address: &str) -> io::Result<Vec<u8>> {
    handshake(&mut connect(address)?, message::is_hello)
}

/// Accepts other machines and connects them to the LLMP listener at `inside`, whose greeting is
/// `hello`.
pub(super) fn incoming(listener: TcpListener, inside: SocketAddr, hello: Vec<u8>) {
    let hello: Arc<[u8]> = hello.into();
    let visitors = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // There may be no free descriptors until a machine leaves.
            std::thread::sleep(PATIENCE / 5);
            continue;
        };
        if visitors.load(Ordering::Relaxed) >= VISITORS {
            continue;
        }
        visitors.fetch_add(1, Ordering::Relaxed);
        let (hello, count) = (Arc::clone(&hello), Arc::clone(&visitors));
        let started = std::thread::Builder::new()
            .name("visitor".to_owned())
            .spawn(move || {
                // The error is dropped: a rejected machine gets no reason, and other machines are
                // not affected.
                let _ = visitor(stream, inside, &hello);
                count.fetch_sub(1, Ordering::Relaxed);
            });
        if started.is_err() {
            visitors.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn visitor(mut outer: TcpStream, inside: SocketAddr, hello: &[u8]) -> io::Result<()> {
    patient(&outer)?;
    write_frame(&mut outer, hello)?;
    let request = handshake(&mut outer, message::is_request)?;
    // LLMP's listener handles one connection at a time, so it gets a handshake that was already
    // read.
    let mut inner = TcpStream::connect_timeout(&inside, PATIENCE)?;
    patient(&inner)?;
    handshake(&mut inner, message::is_hello)?;
    write_frame(&mut inner, &request)?;
    bridge(outer, inner)
}

/// Forwards LLMP's connection to `listener`, the first one that it accepts, to another machine.
/// Returns when that connection ends.
pub(super) fn outgoing(mut outer: TcpStream, listener: &TcpListener) -> io::Result<()> {
    let (mut inner, _) = listener.accept()?;
    patient(&inner)?;
    let hello = handshake(&mut outer, message::is_hello)?;
    write_frame(&mut inner, &hello)?;
    let request = handshake(&mut inner, message::is_request)?;
    write_frame(&mut outer, &request)?;
    let accepted = handshake(&mut outer, message::is_accepted)?;
    write_frame(&mut inner, &accepted)?;
    bridge(outer, inner)
}

/// Forwards messages in both directions until one side ends.
fn bridge(mut outer: TcpStream, inner: TcpStream) -> io::Result<()> {
    for stream in [&outer, &inner] {
        stream.set_read_timeout(None)?;
        stream.set_write_timeout(Some(STUCK))?;
    }
    keep_alive(&outer)?;
    let (from, to) = (inner.try_clone()?, outer.try_clone()?);
    let out = std::thread::Builder::new()
        .name("out".to_owned())
        .spawn(move || drain(from, to))?;
    let inner = Mutex::new(inner);
    let over = AtomicBool::new(false);
    let ended = std::thread::scope(|threads| {
        threads.spawn(|| nudge(&inner, &over));
        let ended = carry(&mut outer, &inner);
        over.store(true, Ordering::Relaxed);
        ended
    });
    let _ = give(&inner, &message::leaving());
    // They may be closed already, so errors are ignored.
    let _ = outer.shutdown(Shutdown::Both);
    let inner = inner.into_inner().unwrap_or_else(PoisonError::into_inner);
    let _ = inner.shutdown(Shutdown::Write);
    let _ = out.join();
    ended
}

/// Forwards what LLMP sends. LLMP's thread first sends everything that it has, and notices only
/// then that the connection has ended. Its data is therefore read to the end even if nobody
/// receives it.
fn drain(mut inner: TcpStream, mut outer: TcpStream) {
    let sent = io::copy(&mut inner, &mut outer);
    let _ = outer.shutdown(Shutdown::Both);
    if sent.is_err() && inner.set_read_timeout(Some(STUCK)).is_ok() {
        let _ = io::copy(&mut inner, &mut io::sink());
    }
}

fn give(inner: &Mutex<TcpStream>, frame: &[u8]) -> io::Result<()> {
    let mut inner = inner.lock().unwrap_or_else(PoisonError::into_inner);
    write_frame(&mut inner, frame)
}

fn nudge(inner: &Mutex<TcpStream>, over: &AtomicBool) {
    let frame = message::nothing();
    while !over.load(Ordering::Relaxed) && give(inner, &frame).is_ok() {
        std::thread::sleep(NUDGE);
    }
}

fn carry(outer: &mut TcpStream, inner: &Mutex<TcpStream>) -> io::Result<()> {
    loop {
        let frame = read_frame(outer, FRAME)?;
        let Some(frame) = message::forwarded(&frame) else {
            return Err(io::Error::other("it sends what is no input"));
        };
        give(inner, &frame)?;
        let length = frame.len() as u64;
        std::thread::sleep(Duration::from_nanos(length * 1_000_000_000 / RATE));
    }
}

/// Makes TCP detect that a machine has disappeared without closing its connection.
fn keep_alive(stream: &TcpStream) -> io::Result<()> {
    set(stream, libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1)?;
    for (option, value) in KEEPALIVE {
        set(stream, libc::IPPROTO_TCP, option, value)?;
    }
    Ok(())
}

fn set(
    stream: &TcpStream,
    level: libc::c_int,
    option: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the descriptor is open, and `value` is an int of the length that is passed.
    let result = unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
