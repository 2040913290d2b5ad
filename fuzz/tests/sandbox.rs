//! What malicious C code can do to the machine: the program below makes system calls directly, and
//! reports the result of each.

mod common;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use cegar_fuzz::native::{Kind, Outcome, RunOptions};
use cegar_fuzz::worker::{Failure, Worker, WorkerConfig, WorkerEvent, save_tape};
use common::Program;

const EXECUTABLE: &str = env!("CARGO_BIN_EXE_cegar-fuzz-worker");

/// One action for each first byte. `OUTSIDE` and `INSIDE` are files that do not exist yet, `MINE`
/// is one that exists.
const HOSTILE: &str = r#"
static long raw(long n, long a, long b, long c, long d)
{
    register long r10 __asm__("r10") = d;
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return r;
}
static void told(const char *refused, const char *done, long r)
{
    crunner_violation(2, r == -1 || r == -13 ? refused : done, "hostile.c", 1);
}
void cegar_entry(void)
{
    switch (next()) {
    case 'o': told("write refused", "written outside", raw(257, -100, (long)OUTSIDE, 0101, 0600)); break;
    case 'i': told("inside refused", "written inside", raw(257, -100, (long)INSIDE, 0101, 0600)); break;
    case 't': told("truncate refused", "truncated", raw(76, (long)MINE, 0, 0, 0)); break;
    case 'u': told("unlink refused", "unlinked", raw(87, (long)MINE, 0, 0, 0)); break;
    case 'c': told("chmod refused", "chmodded", raw(90, (long)MINE, 0777, 0, 0)); break;
    case 's': told("socket refused", "socket opened", raw(41, 2, 1, 0, 0)); break;
    case 'd': told("datagram refused", "datagram opened", raw(41, 2, 2, 0, 0)); break;
    case 'k': told("kill refused", "signal sent", raw(62, raw(110, 0, 0, 0, 0), 0, 0, 0)); break;
    case 'f': {
        long r = raw(57, 0, 0, 0, 0);
        if (r == 0)
            raw(231, 0, 0, 0, 0);
        told("fork refused", "forked", r);
        break;
    }
    case 'h': ((char *)crunner_malloc(8))[next()] = 1; break;
    case 'e': told("exec refused", "executed", raw(59, (long)"/bin/true", 0, 0, 0)); break;
    }
}
"#;

struct Place {
    program: Program,
    outside: tempfile::TempDir,
    queue: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = || tempfile::tempdir().expect("a temporary folder");
        let (outside, queue) = (folder(), folder());
        let define = |name: &str, path: &Path| format!("-D{name}=\"{}\"", path.display());
        let mine = outside.path().join("mine");
        std::fs::write(&mine, "mine").expect("written");
        let flags = [
            define("OUTSIDE", &outside.path().join("new")),
            define("INSIDE", &queue.path().join(".new")),
            define("MINE", &mine),
        ];
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let program = Program::new(HOSTILE, &flags, &[]);
        Place {
            program,
            outside,
            queue,
        }
    }

    /// Checks that nothing outside has changed.
    fn check(&self) {
        let names: Vec<_> = std::fs::read_dir(self.outside.path())
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        assert_eq!(names, ["mine"]);
        let mine = std::fs::read_to_string(self.outside.path().join("mine"));
        assert_eq!(mine.ok().as_deref(), Some("mine"));
    }
}

/// Whether this kernel has Landlock.
fn landlock() -> bool {
    const VERSION: usize = 1;
    // SAFETY: without attributes, the call only returns the version.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<u8>(),
            0usize,
            VERSION,
        )
    };
    version > 0
}

/// The tapes, what they cause, and whether Landlock is needed to prevent it.
const DEEDS: [(&[u8], &str, bool); 10] = [
    (b"o", "write refused", true),
    (b"i", "written inside", false),
    (b"t", "truncate refused", false),
    (b"u", "unlink refused", true),
    (b"c", "chmod refused", false),
    (b"s", "socket refused", false),
    (b"d", "datagram refused", false),
    (b"k", "kill refused", false),
    (b"f", "fork refused", false),
    (b"e", "exec refused", false),
];

#[test]
fn a_worker_writes_nowhere_else_and_talks_to_nobody() {
    let place = Place::new();
    let target = place.program.build(Kind::Fast);
    let mut config = WorkerConfig::new(target.path, target.blocks);
    let seeds = tempfile::tempdir().expect("a temporary folder");
    for (tape, ..) in DEEDS {
        save_tape(seeds.path(), tape).expect("saved");
    }
    config.corpus = vec![seeds.path().to_owned()];
    config.queue = Some(place.queue.path().to_owned());
    config.runs = Some(2000);
    let mut worker = Worker::spawn(Path::new(EXECUTABLE), config).expect("the worker starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    let (mut said, mut unguarded) = (BTreeSet::new(), Vec::new());
    while Instant::now() < deadline && !worker.has_ended() {
        for event in worker.poll(Duration::from_millis(100)) {
            match event {
                WorkerEvent::Crash {
                    failure: Failure::Violated { text, .. },
                    ..
                } => drop(said.insert(text)),
                WorkerEvent::Unguarded { missing } => unguarded = missing,
                WorkerEvent::Died { signal, status, .. } => panic!("died: {signal:?} {status:?}"),
                _ => {}
            }
        }
    }
    let without = |what: &str| unguarded.iter().any(|missing| missing.starts_with(what));
    for (_, deed, landlock) in DEEDS {
        let possible = match landlock {
            true => !without("writing files"),
            false => !without("system calls"),
        };
        assert!(
            !possible || said.contains(deed),
            "{deed}: {said:?} {unguarded:?}"
        );
    }
    if unguarded.is_empty() {
        place.check();
    }
}

#[test]
fn a_runner_writes_nowhere_and_talks_to_nobody() {
    let place = Place::new();
    for kind in [Kind::Runner, Kind::RunnerAsan] {
        let runner = place.program.runner(kind);
        for deed in [&b"s"[..], b"d", b"o", b"i", b"t", b"u", b"c", b"k"] {
            if !landlock() && [&b"o"[..], b"i", b"u"].contains(&deed) {
                continue;
            }
            let run = runner
                .run_bytes(deed, RunOptions::default())
                .unwrap_or_else(|why| panic!("{why}"));
            let Outcome::Violated(violated) = &run.outcome else {
                panic!("{:?}", run.outcome);
            };
            assert!(violated.what.ends_with("refused"), "{}", violated.what);
        }
        if landlock() {
            place.check();
        }
    }
    // AddressSanitizer's report gets through the sandbox.
    let runner = place.program.runner(Kind::RunnerAsan);
    let run = runner
        .run_bytes(b"h\x09", RunOptions::default())
        .unwrap_or_else(|why| panic!("{why}"));
    assert!(matches!(run.outcome, Outcome::Asan(_)), "{:?}", run.outcome);
}
