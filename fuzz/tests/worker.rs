//! The worker process: what it finds, survives and reports.

mod common;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use cegar_fuzz::native::Kind;
use cegar_fuzz::worker::{Command, Failure, Worker, WorkerConfig, WorkerEvent, save_tape};
use common::Program;

const EXECUTABLE: &str = env!("CARGO_BIN_EXE_cegar-fuzz-worker");

/// A configuration for the program, optionally with comparison logging.
fn config(program: &Program, comparisons: bool) -> WorkerConfig {
    let target = program.build(Kind::Fast);
    let mut config = WorkerConfig::new(target.path, target.blocks);
    if comparisons {
        config.cmp_so = Some(program.build(Kind::Comparisons).path);
    }
    config.seed = 1;
    config
}

fn spawn(config: WorkerConfig) -> Worker {
    Worker::spawn(Path::new(EXECUTABLE), config).expect("the worker starts")
}

/// Collects events until one satisfies `last`, or for at most a minute.
fn until(worker: &mut Worker, last: impl Fn(&WorkerEvent) -> bool) -> Vec<WorkerEvent> {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut all = Vec::new();
    while Instant::now() < deadline {
        let events = worker.poll(Duration::from_millis(200));
        let found = events.iter().any(&last);
        all.extend(events);
        if found {
            return all;
        }
    }
    panic!(
        "not seen in a minute; the last events: {:?}",
        &all[all.len().saturating_sub(3)..]
    );
}

fn crash(events: &[WorkerEvent]) -> (&[u8], &Failure) {
    events
        .iter()
        .find_map(|e| match e {
            WorkerEvent::Crash { tape, failure, .. } => Some((tape.as_slice(), failure)),
            _ => None,
        })
        .expect("a crash")
}

fn is_crash(event: &WorkerEvent) -> bool {
    matches!(event, WorkerEvent::Crash { .. })
}

/// Runs the program, and checks that no run crashes.
fn finds_nothing(program: &Program) {
    let mut configuration = config(program, false);
    configuration.runs = Some(5000);
    let mut worker = spawn(configuration);
    let events = until(&mut worker, |e| matches!(e, WorkerEvent::Stopped { .. }));
    assert!(!events.iter().any(is_crash), "{events:?}");
}

#[test]
fn pumping_turns_a_loop_ten_thousand_times() {
    let program = Program::new(
        "void cegar_entry(void) { int n = 0, c;
           while ((c = next()) >= 0 && c != 'q') if (c == 'a') n++;
           if (n > 10000) crunner_violation(2, \"over\", \"p.c\", 3); }",
        &[],
        &[],
    );
    let mut worker = spawn(config(&program, true));
    let events = until(&mut worker, is_crash);
    let (tape, failure) = crash(&events);
    assert!(tape.iter().filter(|c| **c == b'a').count() > 10_000);
    assert!(matches!(failure, Failure::Violated { what: 2, text, line: 3, .. } if text == "over"));
}

#[test]
fn failing_calls_of_one_library_function_are_told_apart() {
    let program = Program::new(
        "void *memcpy(void *, const void *, unsigned long);
         static char to[16], from[16];
         void cegar_entry(void) { int c = next(); unsigned long n = (unsigned long)next() << 40;
           if (c == 'a') memcpy(to, from, n); else if (c == 'b') memcpy(from, to, n); }",
        &[],
        &[],
    );
    let seeds = tempfile::tempdir().expect("a temporary folder");
    for tape in [b"aa", b"bb"] {
        save_tape(seeds.path(), tape).expect("saved");
    }
    let mut config = config(&program, false);
    config.corpus = vec![seeds.path().to_owned()];
    config.runs = Some(1000);
    let mut worker = spawn(config);
    let events = until(&mut worker, |e| matches!(e, WorkerEvent::Stopped { .. }));
    let places: BTreeSet<u64> = events
        .iter()
        .filter_map(|event| match event {
            WorkerEvent::Crash {
                failure: Failure::Crashed { pc, .. },
                ..
            } => Some(*pc),
            _ => None,
        })
        .collect();
    assert_eq!(places.len(), 2, "{events:?}");
}

#[test]
fn a_magic_number_and_a_magic_word_come_from_the_comparison_log() {
    let program = Program::new(
        "int strcmp(const char *, const char *);
         void cegar_entry(void) { unsigned x; char w[9] = {0};
           crunner_choose(\"int\", &x, 4); crunner_choose(\"word\", w, 8);
           if (x == 0xdeadbeef && !strcmp(w, \"open up\")) *(volatile int *)16 = 1; }",
        &[],
        &[],
    );
    let mut worker = spawn(config(&program, true));
    let events = until(&mut worker, is_crash);
    let (tape, failure) = crash(&events);
    assert_eq!(&tape[..11], b"\xef\xbe\xad\xdeopen up");
    assert!(matches!(failure, Failure::Crashed { signal: 11, .. }));
}

#[test]
fn operands_that_were_computed_from_the_input_are_solved() {
    // A field that was byte-swapped, widened and shifted by a constant; decimal digits; a mask over
    // a field.
    let program = Program::new(
        "void cegar_entry(void) { unsigned char b[14] = {0};
           crunner_choose(\"bytes\", b, 13);
           unsigned long field = (b[0] << 8 | b[1]) + 7777ul;
           unsigned masked = (b[2] | b[3] << 8 | b[4] << 16 | (unsigned)b[5] << 24) ^ 0x5eed1234u;
           long number = 0;
           for (int i = 6; b[i] >= '0' && b[i] <= '9'; i++) number = number * 10 + b[i] - '0';
           if (field == 0xbeef && masked == 0xcafe4321u && number == 271828)
             crunner_violation(2, \"solved\", \"p.c\", 1); }",
        &[],
        &[],
    );
    let seeds = tempfile::tempdir().expect("a temporary folder");
    save_tape(seeds.path(), b"abcdef123456;").expect("saved");
    let mut config = config(&program, true);
    config.corpus = vec![seeds.path().to_owned()];
    // Without the logs, at least forty bits would have to be guessed.
    config.runs = Some(200_000);
    let mut worker = spawn(config);
    let events = until(&mut worker, |e| {
        is_crash(e) || matches!(e, WorkerEvent::Stopped { .. })
    });
    assert!(matches!(crash(&events).1, Failure::Violated { text, .. } if text == "solved"));
}

#[test]
fn middle_blocks_are_fresh_in_each_run_and_after_being_freed() {
    let program = Program::new(
        "enum { SIZE = 40000 };
         static void check(unsigned char *p) {
           for (int i = 0; i < SIZE; i++) if (p[i] != 0xAA) crunner_violation(2, \"stale\", \"p.c\", 1); }
         void cegar_entry(void) { int c = next();
           unsigned char *p = crunner_malloc(SIZE), *q;
           check(p);
           p[0] = 1;
           if (c > 0) p[c * 150] = 1;
           if (c > 250) for (int i = 0; i < SIZE; i++) p[i] = 7;
           if (c & 1) crunner_free(p);
           q = crunner_malloc(SIZE);
           check(q);
           q[c * 31 & 32767] = 1; }",
        &[],
        &[],
    );
    finds_nothing(&program);
}

const TROUBLE: &str =
    "static int deep(volatile int *p) { volatile int a[1000]; a[0] = *p; return deep(a) + a[0]; }
     void cegar_entry(void) { int c = next(); volatile int z = 0;
       if (c == 1) for (;;) z++;
       if (c == 2) for (;;) *(char *)crunner_malloc(1 << 20) = 1;
       if (c == 3) deep(&z);
       if (c == 4) *(volatile int *)8 = 1;
     }";

#[test]
fn hangs_crashes_and_greed_are_survived() {
    let program = Program::new(TROUBLE, &[], &[]);
    let mut config = config(&program, false);
    config.exec_timeout_ms = 100;
    config.memory_limit = 8 << 20;
    let mut worker = spawn(config);
    for tape in [[1u8], [2], [3], [4]] {
        worker
            .send(&Command::AddSeed {
                tape: tape.to_vec(),
            })
            .expect("sent");
    }
    let mut seen = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(30);
    let stack_and_null = |seen: &[WorkerEvent]| {
        let failures = seen.iter().filter(|e| is_crash(e)).count();
        failures >= 3
            && seen
                .iter()
                .any(|e| matches!(e, WorkerEvent::Timeout { tape } if tape[0] == 1))
    };
    while !stack_and_null(&seen) && Instant::now() < deadline {
        seen.extend(worker.poll(Duration::from_millis(100)));
    }
    assert!(stack_and_null(&seen), "{seen:?}");
    assert!(seen.iter().any(|e| matches!(
        e,
        WorkerEvent::Crash {
            failure: Failure::OutOfMemory,
            ..
        }
    )));
    worker.send(&Command::Stop).expect("still there");
    let events = until(&mut worker, |e| matches!(e, WorkerEvent::Stopped { .. }));
    assert_eq!(
        events.last(),
        Some(&WorkerEvent::Stopped {
            reason: "stop".to_owned()
        })
    );
}

#[test]
fn globals_are_reset_and_a_program_that_does_not_repeat_is_told() {
    let resets = Program::new(
        "static int runs; static int table[100] = {1};
         void cegar_entry(void) { table[0]++; if (runs++ > 0 || table[0] != 2) crunner_stop(9); next(); }",
        &[],
        &[],
    );
    let mut configuration = config(&resets, false);
    configuration.runs = Some(20_000);
    let mut worker = spawn(configuration);
    let events = until(&mut worker, |e| matches!(e, WorkerEvent::Stopped { .. }));
    let covered: usize = events
        .iter()
        .map(|e| {
            if let WorkerEvent::NewInput { blocks, .. } = e {
                blocks.len()
            } else {
                0
            }
        })
        .sum();
    assert!(covered > 0);
    assert!(
        !events
            .iter()
            .any(|e| matches!(e, WorkerEvent::NonDeterministic { .. }))
    );
    let stop = resets
        .blocks()
        .iter()
        .position(|(f, b)| f == "cegar_entry" && b == "if.then")
        .expect("the block") as u32;
    assert!(
        !events
            .iter()
            .any(|e| matches!(e, WorkerEvent::NewInput { blocks, .. } if blocks.contains(&stop)))
    );

    let shaky = Program::new(
        "int rand(void); void cegar_entry(void) { if (rand() & 1) next(); else if (rand() & 1) \
         next(); }",
        &[],
        &[],
    );
    let mut worker = spawn(config(&shaky, false));
    until(
        &mut worker,
        |e| matches!(e, WorkerEvent::NonDeterministic { blocks, .. } if !blocks.is_empty()),
    );
}

#[test]
fn large_blocks_are_fresh_in_each_run_and_after_being_freed() {
    // Pages that every run writes and pages that few runs write, in blocks that are freed and in
    // blocks that are not.
    let program = Program::new(
        "void *crunner_calloc(size_t, size_t);
         enum { PAGE = 4096, PAGES = 64, SIZE = 1 << 20 };
         static unsigned char *take(int fill) {
           unsigned char *p = fill ? crunner_malloc(SIZE) : crunner_calloc(1, SIZE);
           for (int i = 0; i < PAGES; i++)
             if (p[i * PAGE] != fill || p[i * PAGE + 100] != fill) crunner_violation(2, \"stale\", \"p.c\", 1);
           return p; }
         static void use(int fill, int c) {
           unsigned char *p = take(fill), *q;
           p[0] = p[7 * PAGE + 100] = p[(c & 63) * PAGE] = 1;
           if (c & 1) crunner_free(p);
           q = take(fill);
           q[9 * PAGE] = q[(c >> 2 & 63) * PAGE + 100] = 1; }
         void cegar_entry(void) { int c = next(); use(0xAA, c); use(0, c); }",
        &[],
        &[],
    );
    finds_nothing(&program);
}

#[test]
fn one_seed_one_budget_one_result() {
    let program = Program::new(
        "void cegar_entry(void) { int c, n = 0; while ((c = next()) >= 0)
           switch (c) { case '(': n++; break; case ')': n--; break; case 'x': if (n == 3) crunner_stop(1); } }",
        &[],
        &[],
    );
    let result = || {
        let mut config = config(&program, true);
        config.runs = Some(15_000);
        let mut worker = spawn(config);
        until(&mut worker, |e| matches!(e, WorkerEvent::Stopped { .. }))
            .into_iter()
            .filter(|e| !matches!(e, WorkerEvent::Stats { .. }))
            .collect::<Vec<_>>()
    };
    let (first, second) = (result(), result());
    assert!(first.len() > 10);
    assert_eq!(first, second);
}

#[test]
fn a_killed_worker_is_told_and_starts_again_from_its_queue() {
    let program = Program::new(
        "void cegar_entry(void) { while (next() == 'a') {} }",
        &[],
        &[],
    );
    let queue = program.folder.path().join("queue");
    let mut config = config(&program, true);
    config.queue = Some(queue.clone());
    let mut worker = spawn(config);
    until(
        &mut worker,
        |e| matches!(e, WorkerEvent::NewInput { blocks, .. } if blocks.is_empty()),
    );
    let id = worker.id().to_string();
    let status = std::process::Command::new("kill")
        .args(["-KILL", &id])
        .status()
        .expect("kill runs");
    assert!(status.success());
    until(&mut worker, |e| {
        matches!(
            e,
            WorkerEvent::Died {
                signal: Some(9),
                ..
            }
        )
    });
    assert!(worker.has_ended());
    save_tape(&queue, b"damage me").expect("saved");
    let damaged = queue.join(cegar_fuzz::worker::tape_name(b"damage me"));
    std::fs::write(&damaged, b"done").expect("damaged");
    worker.respawn(None).expect("starts again");
    let events = until(
        &mut worker,
        |e| matches!(e, WorkerEvent::Started { seeds } if *seeds > 1),
    );
    assert!(
        events
            .iter()
            .any(|e| matches!(e, WorkerEvent::Skipped { path, .. } if *path == damaged))
    );
}

#[test]
fn the_tape_that_a_worker_died_of_is_told_and_can_be_avoided() {
    // The loop overwrites the whole stack, so that no handler can return to anything.
    let program = Program::new(
        "void cegar_entry(void) { volatile char here[8]; volatile char *at = here;
           if (next() == 'x') for (;;) *at++ = 7; }",
        &[],
        &[],
    );
    let queue = program.folder.path().join("queue");
    save_tape(&queue, b"x").expect("saved");
    let mut config = config(&program, true);
    config.corpus = vec![queue];
    let mut worker = spawn(config);
    let events = until(&mut worker, |e| matches!(e, WorkerEvent::Died { .. }));
    let Some(WorkerEvent::Died {
        signal: Some(11),
        tape: Some(tape),
        runs: 1,
        ..
    }) = events.last()
    else {
        panic!("{events:?}");
    };
    assert_eq!(tape, b"x");
    // The tape in the corpus is avoided now, but mutants lead to the same tape.
    worker.respawn(Some(tape.clone())).expect("starts again");
    let events = until(&mut worker, |e| matches!(e, WorkerEvent::Died { .. }));
    let Some(WorkerEvent::Died {
        tape: Some(tape),
        runs,
        ..
    }) = events.last()
    else {
        panic!("{events:?}");
    };
    assert!(tape[0] == b'x' && *runs > 1, "{tape:?} after {runs}");
}

#[test]
fn a_log_of_comparisons_can_come_later() {
    let program = Program::new(
        "void cegar_entry(void) { unsigned long x; crunner_choose(\"long\", &x, 8);
           if (x == 0x0123456789abcdef) *(volatile int *)16 = 1; }",
        &[],
        &[],
    );
    let mut worker = spawn(config(&program, false));
    until(&mut worker, |e| matches!(e, WorkerEvent::NewInput { .. }));
    let target = program.build(Kind::Comparisons);
    worker.compare(&target.path).expect("told");
    let events = until(&mut worker, is_crash);
    assert_eq!(
        crash(&events).0[..8],
        0x0123_4567_89ab_cdef_u64.to_le_bytes()
    );
}

#[test]
fn a_target_that_does_not_load_or_is_another_one_is_a_reason() {
    let program = Program::new("void cegar_entry(void) {}", &[], &[]);
    let mut config = config(&program, false);
    config.blocks += 1;
    let mut worker = spawn(config.clone());
    let reason = |events: &[WorkerEvent]| match events.last() {
        Some(WorkerEvent::Stopped { reason }) => reason.clone(),
        other => panic!("{other:?}"),
    };
    let stopped = |e: &WorkerEvent| matches!(e, WorkerEvent::Stopped { .. });
    assert!(reason(&until(&mut worker, stopped)).contains("blocks"));
    config.so = "/no/such/target.so".into();
    let mut worker = spawn(config);
    assert!(reason(&until(&mut worker, stopped)).contains("/no/such/target.so"));
}

#[test]
fn of_what_is_offered_only_news_is_kept() {
    let key = b"elsewhere".iter().fold(0u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    let source = format!(
        "void cegar_entry(void) {{ unsigned long hash = 0;
           for (int i = 0; i < 9; i++) hash = (hash ^ (unsigned char)next()) * 0x100000001b3;
           volatile int found = 0; if (hash == {key:#x}) found = 1; }}"
    );
    let program = Program::new(&source, &[], &[]);
    let mut config = config(&program, false);
    config.max_len = 64;
    let mut worker = spawn(config);
    worker.send(&Command::Pause).expect("sent");
    // The first tape may raise a count; the next two add nothing new or are too long.
    let old = [&b"something"[..], b"otherwise", &[7; 65]];
    for tape in old.into_iter().chain([&b"elsewhere"[..]; 2]) {
        let tape = tape.to_vec();
        worker.send(&Command::Offer { tape }).expect("sent");
    }
    let is_it = |event: &WorkerEvent| matches!(event, WorkerEvent::NewInput { tape, blocks, .. } if tape == b"elsewhere" && !blocks.is_empty());
    let mut events = until(&mut worker, is_it);
    worker.send(&Command::Stop).expect("sent");
    events.extend(until(&mut worker, |event| {
        matches!(event, WorkerEvent::Stopped { .. })
    }));
    assert_eq!(events.iter().filter(|event| is_it(event)).count(), 1);
    let kept = events.iter().any(
        |event| matches!(event, WorkerEvent::NewInput { tape, .. } if old[1..].contains(&&tape[..])),
    );
    assert!(!kept, "{events:?}");
}
