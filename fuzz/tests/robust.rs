//! What a campaign survives: workers that are killed again and again, and targets that damage their
//! process in every possible way.

mod common;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use cegar_fuzz::native::Kind;
use cegar_fuzz::worker::{
    Command, Failure, Worker, WorkerConfig, WorkerEvent, save_tape, tape_name,
};
use common::Program;

const EXECUTABLE: &str = env!("CARGO_BIN_EXE_cegar-fuzz-worker");
const KILLS: u64 = 100;
const PATIENCE: Duration = Duration::from_secs(120);

/// A worker that logs comparisons and writes its corpus to this folder.
fn worker(program: &Program, queue: &Path) -> Worker {
    worker_with(program, queue, |_| {})
}

/// As [`worker`], with a changed configuration.
fn worker_with(program: &Program, queue: &Path, change: fn(&mut WorkerConfig)) -> Worker {
    let target = program.build(Kind::Fast);
    let mut config = WorkerConfig::new(target.path, target.blocks);
    config.cmp_so = Some(program.build(Kind::Comparisons).path);
    config.queue = Some(queue.to_owned());
    config.exec_timeout_ms = 50;
    config.memory_limit = 8 << 20;
    change(&mut config);
    Worker::spawn(Path::new(EXECUTABLE), config).expect("the worker starts")
}

/// Checks that every reported tape is there, and that the content of every file matches its name.
fn intact(queue: &Path, told: &BTreeSet<Vec<u8>>) {
    for tape in told {
        let kept = std::fs::read(queue.join(tape_name(tape)));
        assert_eq!(kept.ok().as_ref(), Some(tape), "told, and not kept");
    }
    for entry in std::fs::read_dir(queue).expect("the queue").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // A file that was being written when its writer was killed has a temporary name.
        if !name.starts_with('.') {
            let tape = std::fs::read(entry.path()).expect("read");
            assert_eq!(tape_name(&tape), name);
        }
    }
}

/// A worker must stop without a command, since its parent may be waiting for the only processor.
#[test]
fn a_worker_stops_by_itself_when_its_time_is_up() {
    let program = Program::new("void cegar_entry(void) { next(); }", &[], &[]);
    let target = program.build(Kind::Fast);
    let mut config = WorkerConfig::new(target.path, target.blocks);
    config.until = SystemTime::now().checked_add(Duration::from_millis(300));
    let mut worker = Worker::spawn(Path::new(EXECUTABLE), config).expect("the worker starts");
    let deadline = Instant::now() + PATIENCE;
    let mut last = None;
    while !worker.has_ended() && Instant::now() < deadline {
        last = worker.poll(Duration::from_millis(100)).pop().or(last);
    }
    let reason = "time".to_owned();
    assert_eq!(last, Some(WorkerEvent::Stopped { reason }));
}

#[test]
fn a_hundred_kills_lose_nothing() {
    // Each byte that fits enters another block, so that something new is found all the time.
    let program = Program::new(
        "void cegar_entry(void) { unsigned n = 0; int c;
           while ((c = next()) >= 0) { if (c != (int)(n * 37 % 251)) return; n++; } }",
        &[],
        &[],
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    let queue = folder.path().join("queue");
    let mut worker = worker(&program, &queue);
    let (mut told, mut started, mut chance) = (BTreeSet::new(), 0u64, 1u64);
    let mut take = |events: Vec<WorkerEvent>, started: &mut u64| {
        for event in events {
            match event {
                WorkerEvent::NewInput { tape, .. } => drop(told.insert(tape)),
                WorkerEvent::Started { .. } => *started += 1,
                WorkerEvent::Skipped { path, reason } => panic!("{}: {reason}", path.display()),
                _ => {}
            }
        }
    };
    for kill in 0..KILLS {
        chance = chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        // Every other worker is killed while it starts, the others while they fuzz.
        let deadline = Instant::now() + PATIENCE;
        let before = started;
        while kill % 2 == 1 && started == before {
            assert!(Instant::now() < deadline, "it does not start");
            take(worker.poll(Duration::from_millis(5)), &mut started);
        }
        let until = Instant::now() + Duration::from_millis(chance >> 58);
        while Instant::now() < until {
            take(worker.poll(Duration::from_millis(1)), &mut started);
        }
        // SAFETY: the process is a child of this one that was not reaped yet.
        unsafe { libc::kill(worker.id() as i32, libc::SIGKILL) };
        let deadline = Instant::now() + PATIENCE;
        while !worker.has_ended() {
            assert!(Instant::now() < deadline, "its end is not seen");
            take(worker.poll(Duration::from_millis(50)), &mut started);
        }
        worker.respawn(None).expect("starts again");
    }
    let deadline = Instant::now() + PATIENCE;
    let mut running = false;
    while !running {
        assert!(Instant::now() < deadline, "the last one does not run");
        let events = worker.poll(Duration::from_millis(50));
        running = events
            .iter()
            .any(|e| matches!(e, WorkerEvent::Stats { executions, .. } if *executions > 0));
        take(events, &mut started);
    }
    drop(worker);
    assert!(
        started >= KILLS / 2,
        "{started} came so far that they fuzzed"
    );
    assert!(told.len() > 3, "{} inputs", told.len());
    intact(&queue, &told);
}

/// What is done to the process, selected by the byte after a `#`. The program also has a bug to
/// find.
const MISCHIEF: &str = r#"
static long raw(long n, long a, long b, long c)
{
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return r;
}
static int deep(volatile int *p) { volatile int a[1000]; a[0] = *p; return deep(a) + a[0]; }
static unsigned char table[1 << 16];
void cegar_entry(void)
{
    volatile int z = 0;
    if (next() == '#') switch (next()) {
    case 'l': for (int i = 0; i < 64; i++) *(char *)crunner_malloc(1 << 16) = 1; break;
    case 'm': for (;;) *(char *)crunner_malloc(1 << 20) = 1;
    case 'f': if (raw(57, 0, 0, 0) == 0) raw(231, 0, 0, 0); break;
    case 's': deep(&z); break;
    case 'c': for (int i = 0; i < 1024; i++) raw(3, i, 0, 0); break;
    case 'o': for (;;) z++;
    case 'x': raw(231, 0, 0, 0); break;
    case 'w': for (int i = 0; i < (int)sizeof table; i += 64) table[i] = 7; break;
    case 'y':
        for (int i = 0; i < (int)sizeof table; i++)
            if (table[i]) crunner_violation(2, "stale", "m.c", 1);
        if (next() == 'e' && next() == 's' && next() == '!') crunner_violation(2, "found", "m.c", 2);
    }
}
"#;

#[test]
fn a_campaign_goes_on_whatever_its_target_does() {
    let program = Program::new(MISCHIEF, &[], &[]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let queue = folder.path().join("queue");
    // A long input that repeats `#yes` has thousands of places for the last character. A process
    // lives for a fraction of a second here, and would not try them all.
    let mut worker = worker_with(&program, &queue, |config| config.max_len = 64);
    let (mut told, mut deaths, mut timeouts) = (BTreeSet::new(), 0, 0);
    let mut failures = BTreeSet::new();
    let deadline = Instant::now() + PATIENCE;
    let seen = |failures: &BTreeSet<String>, what: &str| failures.contains(what);
    let mut fresh = true;
    while !(deaths > 0
        && timeouts > 0
        && ["found", "memory", "signal 11"]
            .iter()
            .all(|what| seen(&failures, what)))
    {
        assert!(
            Instant::now() < deadline,
            "{deaths} deaths, {timeouts} timeouts, {failures:?}"
        );
        for deed in b"lmfswcyox".iter().filter(|_| fresh) {
            let _ = worker.send(&Command::AddSeed {
                tape: vec![b'#', *deed, b'1'],
            });
        }
        fresh = false;
        for event in worker.poll(Duration::from_millis(50)) {
            match event {
                WorkerEvent::NewInput { tape, .. } => drop(told.insert(tape)),
                WorkerEvent::Timeout { .. } => timeouts += 1,
                WorkerEvent::Crash { failure, .. } => drop(failures.insert(match failure {
                    Failure::Violated { text, .. } => text,
                    Failure::Crashed { signal, .. } => format!("signal {signal}"),
                    Failure::OutOfMemory => "memory".to_owned(),
                })),
                WorkerEvent::Died { tape, .. } => {
                    deaths += 1;
                    worker.respawn(tape).expect("starts again");
                }
                _ => {}
            }
        }
    }
    assert!(!failures.contains("stale"), "{failures:?}");
    drop(worker);
    save_tape(&queue, b"one more").expect("the folder can be written");
    intact(&queue, &told);
}
