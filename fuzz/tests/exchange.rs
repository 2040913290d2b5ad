//! Tapes pass from one campaign to another, and strangers that connect cannot disturb that.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use cegar_fuzz::exchange::{ExchangeError, Hub, LONGEST, Member, MemberEvent, Program, probe};
use libafl_bolts::ClientId;
use libafl_bolts::llmp::{TcpRequest, TcpResponse, recv_tcp_msg, send_tcp_msg};
use libafl_bolts::shmem::ShMemDescription;

/// Long enough for a loaded machine; a test that passes does not wait this long.
const LIMIT: Duration = Duration::from_secs(60);

fn executable() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_cegar-fuzz-worker"))
}

fn hub() -> Hub {
    Hub::start(executable(), "127.0.0.1:0").unwrap_or_else(|why| panic!("{why}"))
}

fn program(harness: &str, digest: u8) -> Program {
    Program {
        harness: harness.to_owned(),
        digest: [digest; 32],
    }
}

/// Starts a member and waits until it has joined.
fn member(hub: &Hub, program: &Program) -> Member {
    let (member, first) = late(hub, program, 0);
    assert!(first.is_empty());
    member
}

/// Starts a member and waits until it has joined and reported `count` further events.
fn late(hub: &Hub, program: &Program, count: usize) -> (Member, Vec<MemberEvent>) {
    let mut member = Member::start(executable(), &hub.here().to_string(), program)
        .unwrap_or_else(|why| panic!("{why}"));
    let mut heard = hear(&mut member, count + 1);
    assert_eq!(heard.remove(0), MemberEvent::Joined);
    (member, heard)
}

/// The next `count` events of a member.
fn hear(member: &mut Member, count: usize) -> Vec<MemberEvent> {
    let until = Instant::now() + LIMIT;
    let mut heard = Vec::new();
    while heard.len() < count {
        assert!(Instant::now() < until, "no more than {}", heard.len());
        heard.extend(member.poll());
        std::thread::sleep(Duration::from_millis(10));
    }
    heard
}

fn tape(bytes: &[u8]) -> MemberEvent {
    MemberEvent::Tape(bytes.to_vec())
}

#[test]
fn tapes_come_to_all_others_of_the_same_program_once() {
    let hub = hub();
    let demo = program("demo", 1);
    let mut first = member(&hub, &demo);
    let mut second = member(&hub, &demo);
    let mut other_build = member(&hub, &program("demo", 2));
    let mut other = member(&hub, &program("other", 1));
    assert!(first.send(b"one"));
    assert_eq!(hear(&mut second, 1), [tape(b"one")]);
    // The same tape from another member: all members have it already.
    assert!(second.send(b"one"));
    assert!(second.send(&[7; LONGEST]));
    assert!(!second.send(&[7; LONGEST + 1]));
    assert_eq!(hear(&mut first, 1), [tape(&[7; LONGEST])]);
    // A member that joins later gets all tapes.
    let (mut third, heard) = late(&hub, &demo, 2);
    assert_eq!(heard, [tape(b"one"), tape(&[7; LONGEST])]);
    assert_eq!(hear(&mut other_build, 1), [MemberEvent::OtherBuild]);
    assert!(third.send(b""));
    assert_eq!(hear(&mut first, 1), [tape(b"")]);
    assert_eq!(hear(&mut second, 1), [tape(b"")]);
    // A member that leaves has sent all its tapes.
    assert!(third.send(b"last") && third.poll().is_empty());
    drop(third);
    assert_eq!(hear(&mut first, 1), [tape(b"last")]);
    assert!(other.poll().is_empty() && other_build.poll().is_empty());
}

#[test]
fn many_tapes_at_once_are_too_many_for_nobody() {
    let hub = hub();
    let demo = program("demo", 1);
    let mut first = member(&hub, &demo);
    let mut second = member(&hub, &demo);
    let all: Vec<Vec<u8>> = (0..2000u32)
        .map(|number| number.to_le_bytes().repeat(1000))
        .collect();
    for one in &all {
        assert!(first.send(one));
    }
    let expected: Vec<MemberEvent> = all.into_iter().map(MemberEvent::Tape).collect();
    assert!(hear(&mut second, expected.len()) == expected);
    assert!(late(&hub, &demo, expected.len()).1 == expected);
}

/// Connects like LLMP, up to the point where a broker would be accepted.
fn stranger(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap_or_else(|why| panic!("{why}"));
    let hello = recv_tcp_msg(&mut stream).unwrap_or_else(|why| panic!("{why}"));
    assert!(matches!(
        TcpResponse::try_from(hello),
        Ok(TcpResponse::BrokerConnectHello { .. })
    ));
    stream
}

/// Connects like LLMP, and asks to be accepted as a broker.
fn broker(address: SocketAddr) -> TcpStream {
    let mut stream = stranger(address);
    let hello = TcpRequest::RemoteBrokerHello {
        hostname: "stranger".to_owned(),
    };
    send_tcp_msg(&mut stream, &hello).unwrap_or_else(|why| panic!("{why}"));
    stream
}

/// Whether the other side has closed the connection.
fn is_closed(mut stream: TcpStream) -> bool {
    let _ = stream.set_read_timeout(Some(LIMIT));
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => true,
        Err(why) => why.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn strangers_are_sent_away() {
    let hub = hub();
    let address = hub.address();
    let demo = program("demo", 1);
    let mut first = member(&hub, &demo);

    // A stranger that sends nothing and keeps the connection.
    let silent = stranger(address);
    // Other protocols, impossible lengths, an incomplete message.
    for words in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[255; 64], b"\0\0\0\x10abc"] {
        let mut stream = stranger(address);
        stream
            .write_all(words)
            .unwrap_or_else(|why| panic!("{why}"));
        let _ = stream.shutdown(std::net::Shutdown::Write);
        assert!(is_closed(stream));
    }
    // A client that wants to share memory, and one that ends other clients.
    let share = TcpRequest::LocalClientHello {
        shmem_description: ShMemDescription::from_string_and_size("1", 1 << 20),
    };
    let quit = TcpRequest::ClientQuit {
        client_id: ClientId(1),
    };
    for request in [share, quit] {
        let mut stream = stranger(address);
        send_tcp_msg(&mut stream, &request).unwrap_or_else(|why| panic!("{why}"));
        assert!(is_closed(stream));
    }
    // Brokers with invalid messages: one that ends clients, one that ends brokers, one that is not
    // a tape, one that is too long.
    for (tag, payload) in [
        (0x0C11_E472u32, vec![1, 0, 0, 0]),
        (0x013C_5171, vec![1]),
        (0x0CE6_A001, vec![1, 2, 3]),
        (0x0CE6_A001, vec![0; 2 * LONGEST]),
    ] {
        let mut stream = broker(address);
        let accepted = recv_tcp_msg(&mut stream).unwrap_or_else(|why| panic!("{why}"));
        assert!(matches!(
            TcpResponse::try_from(accepted),
            Ok(TcpResponse::RemoteBrokerAccepted { .. })
        ));
        // The gate may close the connection before everything is sent.
        let _ = send_tcp_msg(&mut stream, &(7u32, tag, 0u32, payload));
        assert!(is_closed(stream));
    }

    // Brokers that leave immediately.
    for _ in 0..50 {
        drop(broker(address));
    }

    let mut second = member(&hub, &demo);
    assert!(first.send(b"still here"));
    assert_eq!(hear(&mut second, 1), [tape(b"still here")]);
    assert!(first.poll().is_empty());
    drop(silent);
}

#[test]
fn a_hub_that_was_killed_can_be_joined_again() {
    let hub = hub();
    let demo = program("killed", 1);
    let mut first = member(&hub, &demo);
    let id = holder(hub.address().port());
    // SAFETY: the process is a child of this one.
    unsafe { libc::kill(id, libc::SIGKILL) };
    assert!(matches!(
        hear(&mut first, 1)[..],
        [MemberEvent::Lost { .. }]
    ));
    assert!(first.poll().is_empty());
    let until = Instant::now() + LIMIT;
    while probe(&hub.here().to_string()).is_err() {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut second = member(&hub, &demo);
    let mut third = member(&hub, &demo);
    assert!(second.send(b"again"));
    assert_eq!(hear(&mut third, 1), [tape(b"again")]);
    drop(hub);
    assert!(matches!(
        hear(&mut third, 1)[..],
        [MemberEvent::Lost { .. }]
    ));
}

/// The process that listens on a port.
fn holder(port: u16) -> i32 {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let local = format!(":{port:04X}");
    let socket = table.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let listens = words.get(1)?.ends_with(&local) && *words.get(3)? == "0A";
        listens.then(|| format!("socket:[{}]", words[9]))
    });
    let socket = socket.unwrap_or_else(|| panic!("nobody listens on {port}"));
    let holds = |id: &i32| {
        let files = std::fs::read_dir(format!("/proc/{id}/fd"));
        files.into_iter().flatten().flatten().any(|file| {
            std::fs::read_link(file.path()).is_ok_and(|link| link.to_string_lossy() == socket)
        })
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .find(holds)
        .unwrap_or_else(|| panic!("nobody holds {socket}"))
}

#[test]
fn what_cannot_be_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|why| panic!("{why}"));
    let address = taken.local_addr().unwrap_or_else(|why| panic!("{why}"));
    let why = Hub::start(executable(), &address.to_string()).expect_err("taken");
    assert!(matches!(why, ExchangeError::Listen { .. }));
    assert!(why.to_string().contains("in use"), "{why}");

    // A server that speaks another protocol.
    let door = std::thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = taken.accept().unwrap_or_else(|why| panic!("{why}"));
            let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2p1\r\n");
        }
    });
    let why = probe(&address.to_string()).expect_err("another language");
    assert!(why.to_string().contains("does not speak LLMP"), "{why}");
    let join = |address: &str| {
        let mut member = Member::start(executable(), address, &program("demo", 1))
            .unwrap_or_else(|why| panic!("{why}"));
        hear(&mut member, 1)
    };
    let heard = join(&address.to_string());
    assert!(
        matches!(&heard[..], [MemberEvent::Lost { why }] if why.contains("LLMP")),
        "{heard:?}"
    );
    assert!(door.join().is_ok());

    // No server at all.
    let why = probe(&address.to_string()).expect_err("nobody");
    assert!(matches!(why, ExchangeError::Join { .. }));
    assert!(why.to_string().contains("refused"), "{why}");
    assert!(matches!(
        &join(&address.to_string())[..],
        [MemberEvent::Lost { .. }]
    ));
}
