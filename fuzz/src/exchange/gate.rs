//! The gate: where connections from and to other machines end.
//!
//! LLMP's own ends trust what they read: a length of four gigabytes is allocated, a message that is
//! cut off ends the thread, a message that does not begin keeps all later ones waiting, and a
//! time-out in the middle of a message loses the place. So LLMP talks to this process only, and the
//! gate to the network: it speaks the same protocol on both sides and lets through whole frames
//! that it has read. It also knows that a connection has ended, which LLMP does not tell.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::message::{self, FRAME, HELLO};

/// How long a connection may take to be made, and each word of the handshake.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a machine may take no bytes before it is given up.
const STUCK: Duration = Duration::from_secs(60);
/// Seconds without data after which TCP asks whether the other side is still there, seconds from
/// one such question to the next, and how many of them may stay without an answer; milliseconds
/// after which TCP gives up on data that is not acknowledged.
const KEEPALIVE: [(libc::c_int, libc::c_int); 4] = [
    (libc::TCP_KEEPIDLE, 10),
    (libc::TCP_KEEPINTVL, 5),
    (libc::TCP_KEEPCNT, 3),
    (libc::TCP_USER_TIMEOUT, 30_000),
];
/// Bytes per second that are taken from one machine: LLMP gives up where its broker is three pages
/// behind.
const RATE: u64 = 4 << 20;
/// LLMP's thread for a connection waits three seconds for a message from the other machine before
/// it looks whether there is one to be sent to it. So the thread gets an empty message this often.
const NUDGE: Duration = Duration::from_millis(100);
/// Machines at a time.
const VISITORS: usize = 64;

/// One frame: four bytes of length, big-endian, and so many bytes.
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

/// In one piece, so that a reader never waits for the rest of a frame.
fn write_frame(to: &mut TcpStream, frame: &[u8]) -> io::Result<()> {
    let length = u32::try_from(frame.len()).map_err(io::Error::other)?;
    to.write_all(&[&length.to_be_bytes(), frame].concat())
}

/// A frame of the handshake that has to be as `expected` says.
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

/// Connects and hears the broker's first word.
pub(super) fn greeting(address: &str) -> io::Result<Vec<u8>> {
    handshake(&mut connect(address)?, message::is_hello)
}

/// Lets other machines in, to the LLMP listener at `inside`, which greets with `hello`.
pub(super) fn incoming(listener: TcpListener, inside: SocketAddr, hello: Vec<u8>) {
    let hello: Arc<[u8]> = hello.into();
    let visitors = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Perhaps there are no descriptors; there are again when a machine leaves.
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
                // A machine that is refused learns nothing, and the others do not notice.
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
    // LLMP's listener hears one connection at a time: it gets the handshake that was read already.
    let mut inner = TcpStream::connect_timeout(&inside, PATIENCE)?;
    patient(&inner)?;
    handshake(&mut inner, message::is_hello)?;
    write_frame(&mut inner, &request)?;
    bridge(outer, inner)
}

/// Leads LLMP's connection to `listener`, the first one that it gets, on to another machine. Ends
/// with that connection.
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

/// Carries messages both ways until one side ends.
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
    // They may be closed already.
    let _ = outer.shutdown(Shutdown::Both);
    let inner = inner.into_inner().unwrap_or_else(PoisonError::into_inner);
    let _ = inner.shutdown(Shutdown::Write);
    let _ = out.join();
    ended
}

/// Carries what LLMP sends. LLMP's thread first sends all that it has, and then hears that it is
/// over: so it is read to its end, even if nothing reads it any more.
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

/// Makes TCP find out that a machine is gone which could not close its connection.
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
    // SAFETY: the descriptor is open, and the value is read as the int that it is.
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
