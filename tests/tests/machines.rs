//! Several machines: campaigns on copies of a crate, in separate folders, that share only an
//! address.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use cegar_tests::{Ended, Project, Running, Tool, children, exit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The inputs in the corpora of the two machines, which no fuzzer guesses.
const FIRST: &[u8] = b"what one has";
const SECOND: &[u8] = b"another has.";

/// A hash that the solver does not invert.
fn mix(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        let hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        hash ^ hash >> 29
    })
}

/// A crate with a function that has a branch for each of the two inputs.
fn copy(more: &str) -> Project {
    let project = Project::package(&format!(
        "\
#include <assert.h>

int demo(const unsigned char *data, size_t size)
{{
    unsigned long hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++) {{
        hash = (hash ^ data[i]) * 0x100000001b3;
        hash ^= hash >> 29;
    }}
    assert(size < 1000000);
    if (size != 12)
        return 0;
    if (hash == {:#x})
        return 1;
    if (hash == {:#x})
        return 2;
    {more}
    return 3;
}}
",
        mix(FIRST),
        mix(SECOND)
    ));
    let corpus = project.at("cegar/corpus/demo");
    fs::create_dir_all(&corpus).unwrap_or_else(|why| panic!("{why}"));
    project
}

fn give(project: &Project, input: &[u8]) {
    let path = project.at("cegar/corpus/demo/mine");
    fs::write(path, input).unwrap_or_else(|why| panic!("{why}"));
}

/// Whether an input is in a corpus.
fn has(project: &Project, input: &[u8]) -> Option<()> {
    let entries = fs::read_dir(project.at("cegar/corpus/demo")).into_iter();
    entries
        .flatten()
        .flatten()
        .any(|entry| fs::read(entry.path()).is_ok_and(|bytes| bytes == input))
        .then_some(())
}

/// A port on which no program listens.
fn port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|why| panic!("{why}"));
    let address = listener.local_addr().unwrap_or_else(|why| panic!("{why}"));
    address.port()
}

fn start(project: &Project, words: &str) -> Running {
    let words = format!("run --stats --max-time 170s {words}");
    Tool::new(project.path(), words.split(' ')).start()
}

/// Starts the first campaign and waits until others can join it.
fn listening(project: &Project, side: &str, port: u16) -> Running {
    let mut one = start(project, &format!("{side} --listen {port}"));
    let id = one.id();
    let listens = || (!children(id, "\"role\":\"member\"").is_empty()).then_some(());
    one.until(listens).unwrap_or_else(|| panic!("no member"));
    one
}

/// The number of inputs received from other machines, as `--stats` reports it.
fn received(ended: &Ended) -> u32 {
    let count = ended.stderr.lines().find_map(|line| {
        let (_, rest) = line.split_once("inputs sent, ")?;
        rest.split(' ').next()?.parse().ok()
    });
    count.unwrap_or_else(|| panic!("{ended}"))
}

#[test]
fn what_one_has_the_others_get() {
    let (first, second, other) = (copy(""), copy(""), copy("if (size > 7) return 4;"));
    give(&first, FIRST);
    give(&second, SECOND);
    let port = port();

    let mut one = listening(&first, "--fuzz-only", port);
    // A campaign with another build receives inputs, but adopts none.
    let mut stranger = start(&other, &format!("--fuzz-only --join 127.0.0.1:{port}"));
    let id = stranger.id();
    let fuzzes = || (!children(id, "__worker").is_empty()).then_some(());
    stranger
        .until(fuzzes)
        .unwrap_or_else(|| panic!("no worker"));
    // A campaign in a process of its own, with two workers.
    let mut two = start(&second, &format!("--fuzz-only --join {port} --jobs 2"));
    assert!(two.until(|| has(&second, FIRST)).is_some());
    assert!(one.until(|| has(&first, SECOND)).is_some());
    assert!(has(&other, FIRST).is_none() && has(&other, SECOND).is_none());
    assert_eq!(children(two.id(), "__worker").len(), 2);

    // A lost connection is restored.
    let member = children(two.id(), "__exchange");
    kill(Pid::from_raw(member[0]), Signal::SIGKILL).unwrap_or_else(|why| panic!("{why}"));
    let id = two.id();
    let again = || {
        children(id, "__exchange")
            .into_iter()
            .find(|it| !member.contains(it))
    };
    assert!(two.until(again).is_some());

    let left: Vec<i32> = [one.id(), two.id(), stranger.id()]
        .into_iter()
        .flat_map(|id| children(id, "__exchange"))
        .collect();
    assert_eq!(left.len(), 4);
    for running in [&one, &two, &stranger] {
        running.signal(Signal::SIGINT);
    }
    let (one, two, stranger) = (one.wait(), two.wait(), stranger.wait());
    one.expect(exit::INTERRUPTED)
        .expect_message(&format!("other machines join with --join 127.0.0.1:{port}"));
    assert!(!one.stderr.contains("passwords"), "{one}");
    two.expect(exit::INTERRUPTED)
        .expect_message("no exchange with other machines by 127.0.0.1")
        .expect_message("its process has ended; the campaign goes on");
    for ended in [&one, &two] {
        assert!(received(ended) > 0, "{ended}");
    }
    stranger
        .expect(exit::INTERRUPTED)
        .expect_message("another machine has another build of `demo`");
    for id in left {
        assert!(!Path::new(&format!("/proc/{id}")).exists(), "{id} is left");
    }
}

/// Without a fuzzer, the engine itself exchanges inputs.
#[test]
fn an_engine_alone_takes_part() {
    let (first, second) = (copy(""), copy(""));
    give(&first, FIRST);
    let port = port();
    let one = listening(&first, "--engine-only", port);
    let mut two = start(&second, &format!("--engine-only --join {port}"));
    assert!(two.until(|| has(&second, FIRST)).is_some());
    for running in [&one, &two] {
        running.signal(Signal::SIGINT);
    }
    one.wait().expect(exit::INTERRUPTED);
    let two = two.wait();
    two.expect(exit::INTERRUPTED);
    assert!(received(&two) > 0, "{two}");
}

#[test]
fn what_cannot_be_is_told_before_anything_is_compiled() {
    let project = copy("");
    let run = |words: &str| {
        Tool::new(project.path(), words.split(' '))
            .limit(Duration::from_secs(60))
            .run()
    };
    for words in [
        "run --listen here",
        "ci --join ::1",
        "run --join 1.2.3.4:99999",
    ] {
        run(words)
            .expect(exit::USAGE)
            .expect_message("an address and a port");
    }
    run("run --listen 4242 --join 4242").expect(exit::USAGE);
    run("run --listen 4242 --runs 10")
        .expect(exit::USAGE)
        .expect_message("with --runs nothing is exchanged");
    run("ci --join 4242 --strategy dart")
        .expect(exit::USAGE)
        .expect_message("works alone");
    Tool::new(project.path(), ["ci", "--runs", "10"])
        .env("CEGAR_JOIN", "4242")
        .run()
        .expect(exit::USAGE)
        .expect_message("CEGAR_JOIN");

    let taken = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|why| panic!("{why}"));
    let port = taken.local_addr().map_or(0, |address| address.port());
    run(&format!("run --listen {port}"))
        .expect(exit::NETWORK)
        .expect_message("in use")
        .expect_message("a port that no other program listens on");
    run("run --listen 203.0.113.1:4242")
        .expect(exit::NETWORK)
        .expect_message("an address of this machine");
    run("run --join no-such-host.invalid:4242").expect(exit::NETWORK);
    // Another server listens on the port.
    let door = std::thread::spawn(move || {
        let (mut stream, _) = taken.accept().unwrap_or_else(|why| panic!("{why}"));
        stream.write_all(b"220 mail.example\r\n")
    });
    run(&format!("ci --join {port}"))
        .expect(exit::NETWORK)
        .expect_message("it does not speak LLMP");
    assert!(door.join().is_ok());
    // Nothing listens on the port.
    let ended = run(&format!("run --join {port}"));
    ended
        .expect(exit::NETWORK)
        .expect_message("Connection refused")
        .expect_message("--listen ADDRESS:PORT");
    assert!(!ended.stderr.contains("Compiling"), "{ended}");
    assert!(!project.at("target/cegar/demo").exists());
}
