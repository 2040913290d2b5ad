//! Instrumented programs count, stop and report as the contract requires.

mod common;

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use cegar_fuzz::native::{Kind, Outcome, RunOptions, Runner, TargetError};
use common::Program;

const LIMIT: RunOptions = RunOptions {
    timeout_ms: 500,
    events: true,
    output: true,
};

#[test]
fn counters_count_blocks_in_module_order() {
    let program = Program::new(
        "size_t strlen(const char *s) { size_t n = 0; while (s[n]) n++; return n; }
         void cegar_entry(void) { int c; while ((c = next()) >= 0) crunner_output(1, \"x\", strlen(\"ab\")); }",
        &[],
        &[("strlen", "engine-only"), ("cegar_entry", "user"), ("next", "user")],
    );
    let run = program
        .runner(Kind::Runner)
        .run_bytes(b"abcd", LIMIT)
        .expect("runs");
    assert_eq!(run.outcome, Outcome::Returned);
    assert_eq!(run.consumed, 4);
    assert!(run.exhausted);
    assert_eq!(run.events.len(), 4);
    assert_eq!(run.events[1], ("stdin".to_owned(), b"b".to_vec()));
    assert_eq!(run.output, vec![(1, b"x\0".to_vec()); 4]);
    let blocks = program.blocks();
    let count = |function: &str, block: &str| {
        let number = blocks
            .iter()
            .position(|(f, b)| f == function && b == block)
            .expect("the block");
        run.blocks
            .iter()
            .find(|(n, _)| *n as usize == number)
            .map_or(0, |(_, c)| *c)
    };
    assert_eq!(count("cegar_entry", "entry"), 1);
    assert_eq!(count("cegar_entry", "while.cond"), 5);
    assert_eq!(count("cegar_entry", "while.body"), 4);
    assert_eq!(count("next", "entry"), 5);
    assert_eq!(count("strlen", "entry"), 0, "the platform's own runs");
    assert_eq!(blocks.len(), program.build(Kind::Fast).blocks as usize);
}

#[test]
fn counters_stop_at_255() {
    let program = Program::new(
        "void cegar_entry(void) { while (next() >= 0) {} }",
        &[],
        &[],
    );
    let run = program
        .runner(Kind::Runner)
        .run_bytes(&[1; 1000], LIMIT)
        .expect("runs");
    assert_eq!(run.blocks.iter().map(|b| b.1).max(), Some(255));
}

#[test]
fn undefined_values_hold_the_pattern() {
    let program = Program::new(
        "void cegar_entry(void) { int x; unsigned char a[4]; crunner_output(1, &x, 4); crunner_output(1, a, 4);
           unsigned char *p = crunner_malloc(2); crunner_output(1, p, 2); }",
        &[],
        &[],
    );
    for kind in [Kind::Runner, Kind::RunnerAsan] {
        let run = program.runner(kind).run_bytes(b"", LIMIT).expect("runs");
        let bytes: Vec<u8> = run.output.iter().flat_map(|(_, b)| b.clone()).collect();
        assert_eq!(bytes, [0xAA; 10]);
    }
}

#[test]
fn a_trap_names_its_place() {
    let program = Program::new(
        "int f(int a) { return a + 2147483647; }
         void cegar_entry(void) { f(next()); }",
        &["-fsanitize=signed-integer-overflow", "-fsanitize-trap=all"],
        &[],
    );
    let runner = program.runner(Kind::Runner);
    let run = runner.run_bytes(b"a", LIMIT).expect("runs");
    let Outcome::Violated(violated) = run.outcome else {
        panic!("{:?}", run.outcome)
    };
    let site = violated.site.expect("the site is known");
    assert_eq!(
        (
            violated.kind.as_str(),
            violated.line,
            site.function.as_str()
        ),
        ("trap", 1, "f")
    );
    assert_eq!(program.blocks()[site.block as usize].0, "f");
    let stack: Vec<&str> = run.stack.iter().map(|f| f.function.as_str()).collect();
    assert_eq!(stack.first(), Some(&"f"), "{stack:?}");
    let run = runner.run_bytes(b"\0", LIMIT).expect("runs");
    assert_eq!(run.outcome, Outcome::Returned);
}

#[test]
fn every_end_is_told_apart() {
    let program = Program::new(
        "void reach_error(void) { crunner_violation(2, \"reach_error\", \"e.c\", 7); }
         static int deep(volatile int *p) { volatile int a[1000]; a[0] = *p; return deep(a) + a[0]; }
         void cegar_entry(void) {
           switch (next()) {
           case 'x': crunner_stop(3);
           case 'r': crunner_assume(0); break;
           case 'e': reach_error(); break;
           case 'n': *(volatile int *)0 = 1; break;
           case 'd': { volatile int z = 0; z = 1 / z; break; }
           case 'l': for (;;) {} break;
           case 'm': for (;;) *(char *)crunner_malloc(1 << 20) = 1; break;
           case 's': { volatile int z = 0; deep(&z); }
           } }",
        &[],
        &[("reach_error", "stub")],
    );
    let runner = program.runner(Kind::Runner);
    let folder = program.folder.path();
    let letters = ["x", "r", "e", "n", "d", "l", "m", "s", "?"];
    let tapes: Vec<_> = letters.iter().map(|l| folder.join(l)).collect();
    for (tape, letter) in tapes.iter().zip(letters) {
        std::fs::write(tape, letter).expect("tape written");
    }
    let runs = runner.run(&tapes, LIMIT).expect("runs");
    let signal = |i: usize| match &runs[i].outcome {
        Outcome::Crashed(crashed) => crashed.signal,
        other => panic!("{}: {other:?}", letters[i]),
    };
    assert_eq!(runs[0].outcome, Outcome::Exited(3));
    assert_eq!(runs[1].outcome, Outcome::Rejected);
    let Outcome::Violated(violated) = &runs[2].outcome else {
        panic!("{:?}", runs[2].outcome)
    };
    assert_eq!(
        (
            violated.kind.as_str(),
            violated.file.as_str(),
            violated.line
        ),
        ("reach_error", "e.c", 7)
    );
    assert_eq!(
        violated.site.as_ref().map(|s| s.function.as_str()),
        Some("cegar_entry")
    );
    assert_eq!(signal(3), 11);
    assert_eq!(
        runs[3].stack.first().map(|f| f.line),
        Some(8),
        "{:?}",
        runs[3].stack
    );
    assert_eq!(signal(4), 8);
    assert_eq!(runs[5].outcome, Outcome::Timeout);
    assert!(!runs[5].blocks.is_empty());
    assert_eq!(runs[6].outcome, Outcome::OutOfMemory);
    assert_eq!(signal(7), 11);
    assert_eq!(runs[8].outcome, Outcome::Returned);
}

#[test]
fn address_sanitizer_reports_with_a_stack() {
    let program = Program::new(
        "static void put(char *p, int i) { p[i] = 1; }
         void cegar_entry(void) { char *p = crunner_malloc(8); char q[8]; int c = next();
           if (c == 'u') { crunner_free(p); put(p, 0); }
           else if (c == 's') put(q, 8 + (c == 0)); else put(p, c); }",
        &[],
        &[],
    );
    let runner = program.runner(Kind::RunnerAsan);
    for (tape, kind) in [
        (&b"\x08"[..], "heap-buffer-overflow"),
        (b"u", "heap-use-after-free"),
        (b"s", "stack-buffer-overflow"),
    ] {
        let run = runner.run_bytes(tape, LIMIT).expect("runs");
        let Outcome::Asan(report) = &run.outcome else {
            panic!("{:?}", run.outcome)
        };
        assert_eq!(
            (report.kind.as_str(), report.access.as_str(), report.size),
            (kind, "write", 1)
        );
        assert_eq!(
            run.stack.first().map(|f| (f.function.as_str(), f.line)),
            Some(("put", 1)),
            "{:?}",
            run.stack
        );
    }
    assert_eq!(
        runner.run_bytes(b"\x07", LIMIT).expect("runs").outcome,
        Outcome::Returned
    );
}

#[test]
fn tokens_are_the_constants_compared_with() {
    let program = Program::new(
        "int strcmp(const char *, const char *);
         void cegar_entry(void) { char b[8] = {0}; crunner_choose(\"stdin\", b, 7); int x; crunner_choose(\"int\", &x, 4);
           if (!strcmp(b, \"magic\") && x == 0x12345678) crunner_stop(1); }",
        &[],
        &[],
    );
    let tokens = program.build(Kind::Fast).tokens;
    assert!(tokens.contains(&b"magic".to_vec()));
    assert!(tokens.contains(&vec![0x78, 0x56, 0x34, 0x12]));
}

#[test]
fn a_failing_tool_is_named_with_its_words() {
    let program = Program::new("void cegar_entry(void) {}", &[], &[]);
    let mut builder = program.builder();
    builder.opt = "-Onope".to_owned();
    let Err(TargetError::Failed {
        command, stderr, ..
    }) = builder.build(Kind::Fast)
    else {
        panic!("must fail")
    };
    assert!(
        command.contains("clang-19") && stderr.contains("-Onope"),
        "{command}\n{stderr}"
    );
    builder.clang = "no-such-clang".into();
    assert!(matches!(
        builder.build(Kind::Fast),
        Err(TargetError::Start { .. })
    ));
    std::fs::write(&builder.bitcode, "not bitcode").expect("written");
    assert!(matches!(
        builder.build(Kind::Fast),
        Err(TargetError::Bitcode { .. })
    ));
}

#[test]
fn undefined_parts_of_constants_hold_the_pattern() {
    let program = Program::assembled(
        "target triple = \"x86_64-pc-linux-gnu\"
         declare void @crunner_output(i32, ptr, i64)
         define void @cegar_entry() {
           %at = alloca { i16, [2 x i8], i32 }
           store { i16, [2 x i8], i32 } { i16 258, [2 x i8] [i8 undef, i8 5], i32 poison }, ptr %at
           call void @crunner_output(i32 1, ptr %at, i64 8)
           store <4 x i16> <i16 1, i16 undef, i16 3, i16 4>, ptr %at
           call void @crunner_output(i32 1, ptr %at, i64 8)
           ret void
         }",
    );
    let run = program
        .runner(Kind::Runner)
        .run_bytes(b"", LIMIT)
        .expect("runs");
    let bytes: Vec<u8> = run.output.iter().flat_map(|(_, b)| b.clone()).collect();
    assert_eq!(
        bytes,
        [
            2, 1, 0xAA, 5, 0xAA, 0xAA, 0xAA, 0xAA, 1, 0, 0xAA, 0xAA, 3, 0, 4, 0
        ]
    );
}

#[test]
fn the_program_has_a_heap_of_its_own() {
    // The runner's own heap would not fill blocks, and a double free would end the runner.
    let program = Program::new(
        "void *malloc(size_t); void *realloc(void *, size_t); void free(void *);
         int posix_memalign(void **, size_t, size_t); size_t malloc_usable_size(void *);
         void cegar_entry(void) {
           void *(*get)(size_t) = malloc; char *p = get(5); crunner_output(1, p, 5); free(p); void *q = 0;
           if (posix_memalign(&q, 64, 3) == 0 && malloc_usable_size(q) == 3) crunner_output(1, q, 3);
           if (next() == 'x') { free(q); free(q); } }",
        &[],
        &[],
    );
    let symbols = std::process::Command::new("nm")
        .arg(program.build(Kind::Fast).path)
        .output()
        .expect("nm");
    assert!(String::from_utf8_lossy(&symbols.stdout).contains("crunner_posix_memalign"));
    let runner = program.runner(Kind::Runner);
    let run = runner.run_bytes(b"", LIMIT).expect("runs");
    assert_eq!(run.outcome, Outcome::Returned);
    let bytes: Vec<u8> = run.output.iter().flat_map(|(_, b)| b.clone()).collect();
    assert_eq!(bytes, [0xAA; 8]);
    let run = runner.run_bytes(b"x", LIMIT).expect("runs");
    match run.outcome {
        Outcome::Violated(violated) => assert_eq!(violated.kind, "heap"),
        other => panic!("{other:?}"),
    }
}

/// With a cache, a product is built again only if its inputs or its content changed.
#[test]
fn what_is_there_already_is_not_made_again() {
    let program = Program::new("void cegar_entry(void) { next(); }", &[], &[]);
    let cache = tempfile::tempdir().expect("a temporary folder");
    let mut builder = program.builder();
    builder.cache = Some(cache.path().to_owned());
    let mut made = |opt: &str| {
        builder.opt = opt.to_owned();
        let target = builder.build(Kind::Fast).unwrap_or_else(|e| panic!("{e}"));
        assert!(target.blocks > 0);
        let inode = std::fs::metadata(&target.path).expect("the product").ino();
        (inode, target.path)
    };
    let (first, path) = made("-O2");
    assert_eq!(made("-O2").0, first);
    let (other, _) = made("-O1");
    assert_ne!(other, first);
    assert_eq!(made("-O1").0, other);

    let mut bytes = std::fs::read(&path).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).expect("written");
    assert_ne!(made("-O1").0, other, "a damaged product");
    std::fs::remove_file(&path).expect("removed");
    let folder = path.parent().expect("a folder").join(".build-left");
    std::fs::create_dir(&folder).expect("made");
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(7200);
    let times = std::fs::FileTimes::new().set_modified(long_ago);
    let file = std::fs::File::open(&folder).expect("a folder opens");
    file.set_times(times).expect("it may be dated");
    made("-O1");
    assert!(!folder.exists(), "left by a build that was killed");
}

/// What dividing a program has to handle: static variables of functions and files, weak functions,
/// aliases, tables of functions, strings and labels, thread-local variables, mutual recursion.
const ODD: &str = r#"
static int count;
static _Thread_local int own = 3;
__attribute__((weak)) int feeble(int n) { return n + own++; }
int other(int n) __attribute__((alias("feeble")));
static inline int inlined(int n) { return n * 2; }
static __attribute__((always_inline)) int always(int n) { return n / (n - 7); }
static int calls(void) { static int n; return ++n; }
static int more(void) { static int n = 10; return ++n; }
static int down(int n);
static int up(int n) { return n > 20 ? n : down(n + 2); }
static int down(int n) { return up(n - 1); }
static int (*const table[])(int) = {feeble, other, up};
static const char *const words[] = {"alpha", "beta", "alpha"};
struct pair { struct { short a[3]; } in; long b; };
static struct pair pairs[2] = {{{{1, 2, 3}}, 4}, {{{5, 6, 7}}, 8}};
static int step(int n) { return n; }
static int walk(int n)
{
    void *labels[] = {&&first, &&second};
    goto *labels[n & 1];
first:
    return step(1);
second:
    return 2;
}
void cegar_entry(void)
{
    int c, sum = 0;
    while ((c = next()) != -1) {
        sum += table[c % 3](c % 8) + calls() + more() + inlined(c) + walk(c);
        sum += words[c % 3][c % 4] + pairs[c & 1].in.a[c % 3] + (int)pairs[c & 1].b;
        count += sum;
        if (c == 'v')
            crunner_violation(3, "v", "program.c", 1);
        if (c == 'd')
            always(sum - sum + 7);
        if (c == 'n')
            *(volatile int *)0 = 1;
        if (c == 'w')
            ((volatile short *)pairs)[sizeof pairs / 2 + count - count] = 1;
    }
    crunner_output(1, &count, sizeof count);
}
"#;

#[test]
fn a_program_in_parts_runs_as_the_whole_does() {
    let flags = ["-fsanitize=integer-divide-by-zero", "-fsanitize-trap=all"];
    let program = Program::new(ODD, &flags, &[]);
    let folder = tempfile::tempdir().expect("a folder");
    // Only AddressSanitizer detects the write past `pairs` of the last tape.
    let tapes: Vec<PathBuf> = ["", "abcdefg", "xyv", "hello d", "mmn", "w"]
        .iter()
        .map(|tape| {
            let path = folder.path().join(format!("tape-{tape}"));
            std::fs::write(&path, tape).expect("written");
            path
        })
        .collect();
    let options = RunOptions {
        output: true,
        ..RunOptions::default()
    };
    for (kind, tapes) in [
        (Kind::Runner, &tapes[..tapes.len() - 1]),
        (Kind::RunnerAsan, &tapes),
    ] {
        let seen = |divided: usize| {
            let mut builder = program.builder();
            builder.divided = divided;
            let target = builder.build(kind).unwrap_or_else(|why| panic!("{why}"));
            assert_eq!(builder.progress.get().0 > 1, divided == 0);
            let runs = Runner::new(&target).run(tapes, options);
            let mut runs = runs.unwrap_or_else(|why| panic!("{why}"));
            for run in &mut runs {
                // Addresses and the folder of the runtime's source differ between builds.
                for frame in &mut run.stack {
                    frame.address = 0;
                    if frame.file.ends_with("runner.c") {
                        frame.file.clear();
                    }
                }
                match &mut run.outcome {
                    Outcome::Crashed(crashed) => crashed.pc = 0,
                    Outcome::Asan(asan) => (asan.address, asan.text) = (0, String::new()),
                    _ => {}
                }
            }
            (target.sites, runs)
        };
        let (parts, whole) = (seen(0), seen(usize::MAX));
        assert_eq!(parts, whole, "{kind:?}");
        let last = &parts.1[tapes.len() - 1].outcome;
        let is_found = matches!(last, Outcome::Asan(_));
        assert_eq!(is_found, kind == Kind::RunnerAsan, "{last:?}");
    }
}

#[test]
fn objects_are_compiled_once_for_all_programs_and_damaged_ones_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let build = |source: &str| {
        let program = Program::new(source, &[], &[]);
        let mut builder = program.builder();
        builder.divided = 0;
        builder.cache = Some(folder.path().join("cache"));
        builder.objects = Some(folder.path().join("objects"));
        let target = builder.build(Kind::Runner);
        let runner = Runner::new(&target.unwrap_or_else(|why| panic!("{why}")));
        let run = runner.run_bytes(b"abc", RunOptions::default());
        assert_eq!(
            run.unwrap_or_else(|why| panic!("{why}")).outcome,
            Outcome::Returned
        );
        builder.progress.get().0
    };
    let first = build(ODD);
    assert!(first >= 2, "the functions and the data");
    // The new function, the entry with its moved lines, and the data with the counters.
    let longer = ODD.replace(
        "void cegar_entry",
        "int unused(int n) { return n; }\nvoid cegar_entry",
    );
    assert_eq!(build(&longer), 3);
    assert_eq!(build(ODD), 0);
    // Objects serve a program that lacks some of their functions. The entry and data are compiled.
    let (start, end) = (ODD.find("static int step"), ODD.find("void cegar_entry"));
    let gone = &ODD[start.expect("a start")..end.expect("an end")];
    let lines = "\n".repeat(gone.matches('\n').count());
    let shorter = ODD
        .replace(gone, &lines)
        .replace(" + walk(c)", "          ");
    assert_eq!(build(&shorter), 2);
    for entry in walk(&folder.path().join("objects")) {
        if entry.extension().is_some_and(|extension| extension == "o") {
            std::fs::write(entry, "damaged").expect("written");
        }
    }
    assert_eq!(build(ODD), first);
    assert_eq!(build(ODD), 0);
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => walk(&path),
            false => vec![path],
        })
        .collect()
}
