//! Harnesses that are derived from the calls in a crate's own tests.

use std::fs;
use std::path::Path;

use cegar_tests::{Project, exit, tool};

/// A crate with one C file, a hand-written build script, and these tests.
fn crate_with(header: &str, c: &str, rust: &str, tests: &str) -> Project {
    let project = Project::empty();
    project.write(
        "Cargo.toml",
        "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\nlinks = \"demo\"\n\n\
         [workspace]\n",
    );
    project.write("c/demo.h", header);
    project.write("c/demo.c", &format!("#include \"demo.h\"\n{c}"));
    project.write("src/lib.rs", rust);
    project.write("tests/uses.rs", tests);
    project.write(
        "build.rs",
        "use std::{env, process::Command};\nfn main() {\n    let out = \
         env::var(\"OUT_DIR\").unwrap();\n    let run = |program: &str, words: &[&str]| \
         assert!(Command::new(program).args(words).status().unwrap().success());\n    let object = \
         format!(\"{out}/demo.o\");\n    run(&env::var(\"CC\").unwrap_or(\"cc\".into()), &[\"-g\", \
         \"-Ic\", \"-c\", \"c/demo.c\", \"-o\", &object]);\n    run(\"ar\", &[\"crs\", \
         &format!(\"{out}/libdemo.a\"), &object]);\n    \
         println!(\"cargo:rustc-link-search=native={out}\\ncargo:rustc-link-lib=static=demo\");\n\
         }\n",
    );
    project
}

/// The example's bug needs the calls open, configure, and feed with several pieces; only its tests
/// show that order.
#[test]
fn the_order_of_calls_is_learnt_from_the_tests() {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/frames");
    let project = Project::empty();
    for file in [
        "Cargo.toml",
        "build.rs",
        "src/lib.rs",
        "c/frames.c",
        "c/frames.h",
        "tests/stream.rs",
    ] {
        let text =
            fs::read_to_string(from.join(file)).unwrap_or_else(|why| panic!("{file}: {why}"));
        project.write(file, &text);
    }
    tool(project.path(), &["init"]).expect(exit::CLEAN);
    tool(project.path(), &["run", "--runs", "20000", "--fuzz-only"]).expect(exit::CLEAN);

    let init = tool(project.path(), &["init", "--from-tests"]);
    init.expect(exit::CLEAN)
        .expect_message("frames_open, frames_configure, frames_feed, frames_finish, frames_close")
        .expect_message("recorded inputs for uses_");
    let harness = project.read("cegar/harnesses/uses_a_backslash_takes_the_meaning_from_a_mark.c");
    for text in [
        "frames_configure: `limit` is 4 to 16",
        "frames_open: the tests go on only if its result is > 0",
        "for (int turns = (int)crunner_size(1, 4); turns > 0; turns--) {",
        "crunner_get_bytes(piece, piece_size);",
        "frames_close(frames_object);",
    ] {
        assert!(harness.contains(text), "no `{text}` in\n{harness}");
    }
    let run = tool(
        project.path(),
        &[
            "run",
            "uses_a_backslash_takes_the_meaning_from_a_mark",
            "--runs",
            "600000",
            "--fuzz-only",
        ],
    );
    run.expect(exit::VIOLATION)
        .expect_message("frames.c:62")
        .expect_message("index past an array's bound");
}

const HEADER: &str = "\
#include <stddef.h>
typedef struct box box;
box *box_new(int kind);
int box_put(box *b, const unsigned char *data, size_t size);
int box_key(box *b, const unsigned char *key, size_t key_len);
void box_each(box *b, int (*f)(int));
void box_free(box *b);
";

const BODY: &str = "\
#include <stdlib.h>
struct box { int kind; size_t used; };
box *box_new(int kind) { box *b = calloc(1, sizeof *b); if (b) b->kind = kind; return b; }
int box_put(box *b, const unsigned char *data, size_t size) { (void)data; b->used += size; return (int)b->used; }
int box_key(box *b, const unsigned char *key, size_t key_len) { (void)key; return key_len == 16 && b ? 0 : -1; }
void box_each(box *b, int (*f)(int)) { f(b->kind); box_put(b, 0, 0); }
void box_free(box *b) { free(b); }
";

const RUST: &str = "
pub enum Box_ {}
unsafe extern \"C\" {
    pub fn box_new(kind: i32) -> *mut Box_;
    pub fn box_put(b: *mut Box_, data: *const u8, size: usize) -> i32;
    pub fn box_key(b: *mut Box_, key: *const u8, key_len: usize) -> i32;
    pub fn box_each(b: *mut Box_, f: Option<extern \"C\" fn(i32) -> i32>);
    pub fn box_free(b: *mut Box_);
}
";

/// Tests that abort, hang, fork, use threads or pass wild pointers end as usual. Their calls are
/// recorded, and what is left out is reported.
#[test]
fn hostile_tests_are_recorded_as_far_as_they_go() {
    let project = crate_with(
        HEADER,
        BODY,
        RUST,
        r#"
use demo::*;
extern "C" fn twice(x: i32) -> i32 { 2 * x }
#[test] fn orderly() { unsafe {
    let b = box_new(3);
    assert_eq!(box_key(b, [7u8; 16].as_ptr(), 16), 0);
    box_put(b, b"abc".as_ptr(), 3);
    box_put(b, b"defgh".as_ptr(), 5);
    box_free(b);
} }
#[test] fn aborts() { unsafe { let b = box_new(1); box_put(b, b"x".as_ptr(), 1); std::process::abort() } }
#[test] fn hangs() { unsafe { box_new(1); } loop { std::thread::sleep(std::time::Duration::from_secs(1)) } }
#[test] fn fails() { unsafe { box_free(box_new(2)); } panic!("on purpose") }
#[test] fn wild() { unsafe { let b = box_new(2); box_put(b, 8 as *const u8, 4000); box_put(b, usize::MAX as *const u8, usize::MAX); box_free(b); } }
#[test] fn calls_back() { unsafe { let b = box_new(2); box_each(b, Some(twice)); box_free(b); } }
#[test] fn threads() { let all: Vec<_> = (0..3).map(|i| std::thread::spawn(move || unsafe {
    let b = box_new(i); box_put(b, b"t".as_ptr(), 1); box_free(b); })).collect(); for t in all { t.join().unwrap() } }
unsafe extern "C" { fn fork() -> i32; fn waitpid(p: i32, s: *mut i32, o: i32) -> i32; fn _exit(c: i32) -> !; }
#[test] fn forks() { unsafe { let b = box_new(4); let p = fork(); if p == 0 { box_put(b, b"child".as_ptr(), 5); _exit(0) }
    waitpid(p, std::ptr::null_mut(), 0); box_free(b); } }
"#,
    );
    let init = tool(project.path(), &["init", "--from-tests"]);
    init.expect(exit::CLEAN)
        .expect_message("8 tests and examples were run")
        .expect_message(
            "uses aborts: it was ended by signal 6; what it called until then was recorded",
        )
        .expect_message("uses hangs: it did not end within 10 s")
        .expect_message("uses fails: it failed")
        .expect_message("uses threads: 3 threads call the library")
        .expect_message("calls_back: no harness, it hands `box_each` a function");
    let harness = project.read("cegar/harnesses/uses_orderly.c");
    assert!(harness.contains("box_free("), "{harness}");
    // The library would crash if it were called without an object; the harness has learnt to avoid
    // that.
    tool(project.path(), &["run", "--runs", "2000", "--fuzz-only"]).expect(exit::CLEAN);
}

/// If no test calls the library, `init` reports that there is nothing to derive.
#[test]
fn a_crate_without_uses_says_so() {
    let project = crate_with(HEADER, BODY, RUST, "#[test] fn nothing() {}\n");
    tool(project.path(), &["init", "--from-tests"])
        .expect(exit::CLEAN)
        .expect_message("no test calls the library");
    project.write("tests/uses.rs", "#[test] fn nothing( {}\n");
    tool(project.path(), &["init", "--from-tests"])
        .expect(exit::NOTHING_SELECTED)
        .expect_message("`cargo test --no-run` must work first");
}

/// The data that tests pass to a function become inputs of the harness that passes its input only
/// to that function.
#[test]
fn recorded_data_become_inputs() {
    let project = crate_with(
        "#include <stddef.h>\nint read_it(const unsigned char *data, size_t size);\n",
        "int read_it(const unsigned char *data, size_t size) { return size > 3 && data[0] == 'm'; \
         }\n",
        "unsafe extern \"C\" { pub fn read_it(data: *const u8, size: usize) -> i32; }\n",
        "#[test] fn reads() { unsafe { demo::read_it(b\"magic\".as_ptr(), 5); \
         demo::read_it(b\"more\".as_ptr(), 4); } }\n",
    );
    tool(project.path(), &["init"]).expect(exit::CLEAN);
    tool(project.path(), &["init", "--from-tests"])
        .expect(exit::CLEAN)
        .expect_message("recorded inputs for");
    let corpus = project.path().join("cegar/corpus/read_it");
    let inputs: Vec<Vec<u8>> = fs::read_dir(&corpus)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| fs::read(entry.path()).ok())
        .collect();
    assert!(
        inputs.contains(&b"magic".to_vec()) && inputs.contains(&b"more".to_vec()),
        "{inputs:?}"
    );
}
