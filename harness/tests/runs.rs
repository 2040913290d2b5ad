//! Harnesses built by hand with each compiler on the machine, and run.

#![allow(clippy::unwrap_used, missing_docs)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cegar_harness::build::{Build, Built, MockedFunction};
use cegar_harness::channel::Shape;
use cegar_harness::{Mock, Outcome, Then, repeat};

/// The compilers that are installed.
fn compilers() -> Vec<&'static str> {
    let works = |name: &&str| {
        Command::new(name)
            .arg("--version")
            .output()
            .is_ok_and(|out| out.status.success())
    };
    let mut found: Vec<&str> = ["gcc"].into_iter().filter(works).collect();
    found.extend(["clang", "clang-19"].into_iter().find(works));
    assert!(!found.is_empty(), "no C compiler is installed");
    found
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn build(&self, compiler: &str, build: Build) -> Built {
        let build = build
            .root(self.path())
            .out_dir(self.path().join(compiler))
            .compiler(compiler);
        build.try_compile().unwrap().remove(0)
    }
}

const OVERFLOW: &str = r#"
#include <stdio.h>
#include <string.h>
#ifdef FIXED
#define ROOM 513
#else
#define ROOM 512
#endif
static void keep(const char *line) {
    char *name = __builtin_alloca(ROOM);
    strcpy(name, line);
    printf("kept %zu\n", strlen(name));
}
int main(void) {
    char line[513];
    int c, n = 0;
    while (n < 512 && (c = getchar()) != EOF && c != '\n') line[n++] = c;
    line[n] = 0;
    keep(line);
    return n == 3 ? 7 : 0;
}
"#;

#[test]
fn one_byte_too_far_is_seen_and_the_fixed_code_passes() {
    for compiler in compilers() {
        let folder = Folder::new();
        folder.file("line.c", OVERFLOW);
        let built = folder.build(compiler, Build::new().harness("line").file("line.c"));
        println!("{compiler}: {:?}", built.sanitizers);
        assert!(built.inputs.contains(&folder.path().join("line.c")));

        Mock::at(&built.runner).stdin("abc").run().expect_exit(7);
        let run = Mock::at(&built.runner).stdin("abc\nxyz").run();
        assert_eq!(run.transcript(), "kept 3\n");
        assert_eq!(run.unread(), ["stdin"]);
        let run = Mock::at(&built.runner).stdin(repeat(b'a', 513)).run();
        println!("{}", run.story());
        if built.sanitizers.iter().any(|s| s == "address") {
            run.expect_violation("buffer-overflow: WRITE of size 513");
            let place = run.outcome().place().unwrap();
            assert!(place.file.ends_with("line.c"), "{place}");
            assert_eq!((place.line, place.function.as_deref()), (11, Some("keep")));
        }

        let fixed = folder.build(
            compiler,
            Build::new().harness("fixed").file("line.c").define("FIXED"),
        );
        Mock::at(&fixed.runner)
            .stdin(repeat(b'a', 513))
            .run()
            .expect_safe();
    }
}

const WORLD: &str = r#"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "crunner.h"
struct config { unsigned short length; unsigned short flags; };
int device_open(const char *name);
unsigned short device_port(void);
struct config *device_config(int device);
long added_later(int x);
int world(void) {
    char text[8];
    const char *home = getenv("HOME");
    FILE *in = fopen("rc", "r");
    struct config *config = device_config(device_open("a"));
    if (!config) return 1;
    if (!home || strcmp(home, "/root")) return 2;
    if (device_port() != 65000) return 3;
    if (!in || !fgets(text, sizeof text, in) || strcmp(text, "x=1\n")) return 4;
    if (added_later(3) != -5) return 5;
    crunner_assume(crunner_get_bool());
    assert(config->length != 17);
    return 0;
}
"#;

fn world() -> Build {
    let mocked = |name: &str, returns| MockedFunction {
        name: name.into(),
        returns,
        channel: None,
        raw_allowed: false,
    };
    Build::new()
        .harness("world")
        .file("world.c")
        .mock(mocked(
            "device_open",
            Shape::Int {
                size: 4,
                signed: true,
            },
        ))
        .mock(mocked(
            "device_port",
            Shape::Int {
                size: 2,
                signed: false,
            },
        ))
        .mock(mocked("device_config", Shape::Pointer { size: 4 }))
}

#[test]
fn the_world_answers_as_the_mock_says() {
    for compiler in compilers() {
        let folder = Folder::new();
        folder.file("world.c", WORLD);
        let built = folder.build(compiler, world());
        assert_eq!(built.guessed, ["added_later"]);
        let mock = Mock::at(&built.runner);
        mock.run().expect_exit(1);
        mock.clone()
            .returns_null("device_config")
            .run()
            .expect_exit(1);
        let mock = mock
            .returns("device_open", [3])
            .returns_bytes("device_config", [17, 0, 0, 0]);
        mock.run().expect_exit(2);
        let mock = mock.env("HOME", "/root");
        mock.run().expect_exit(3);
        let mock = mock.returns("device_port", [65000]);
        mock.run().expect_exit(4);
        let mock = mock.file("rc", "x=1\n");
        mock.run().expect_exit(5);
        let mock = mock.returns("added_later", [-5]);
        assert_eq!(*mock.run().outcome(), Outcome::Rejected);
        let run = mock.returns("bool", [true]).run();
        run.expect_violation("config->length != 17");
        assert_eq!(run.outcome().place().unwrap().line, 23, "{}", run.story());
    }
}

#[test]
fn hangs_crashes_and_arithmetic_are_told_apart() {
    let text = "
int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) {
    volatile int one = 1, *nothing = 0;
    if (size < 1) return 0;
    if (data[0] == 'h') while (one) {}
    if (data[0] == 'd') return one / (data[0] - 'd');
    if (data[0] == 'n') return *nothing;
    if (data[0] == 'o') return 2147483647 + one;
    return data[size] == 1;
}
";
    for compiler in compilers() {
        let folder = Folder::new();
        folder.file("f.c", text);
        for property in ["assertion", "all"] {
            let build = Build::new()
                .harness(property)
                .file("f.c")
                .property(property);
            let built = folder.build(compiler, build);
            let run = |data: &str| {
                Mock::at(&built.runner)
                    .data(data)
                    .timeout(Duration::from_millis(if data == "h" {
                        400
                    } else {
                        20_000
                    }))
                    .run()
            };
            run("").expect_safe();
            assert_eq!(
                *run("h").outcome(),
                Outcome::Timeout(Duration::from_millis(400))
            );
            let crash = run("n");
            assert_eq!(
                crash.outcome().place().map(|place| place.line),
                Some(7),
                "{compiler}: {}",
                crash.story()
            );
            if property == "assertion" {
                let Outcome::Signal {
                    signal: 8,
                    at: Some(place),
                } = run("d").outcome().clone()
                else {
                    panic!("{compiler}: {}", run("d").story());
                };
                assert_eq!(place.line, 6);
                run("o").expect_safe();
            } else if !built.sanitizers.is_empty() {
                run("d").expect_violation("division by zero");
                run("o").expect_violation("signed integer overflow");
                run("x").expect_violation("heap-buffer-overflow: READ of size 1");
            }
        }
    }
}

#[test]
fn the_library_s_own_main_and_names_do_not_get_in_the_way() {
    for compiler in compilers() {
        let folder = Folder::new();
        folder.file("lib.c", "#include <stdio.h>\nint getline(char *b) { return b[0]; }\nint main(void) { return 9; }\n");
        folder.file("h.c", "int getline(char *b);\nvoid h(void) { char b[1] = {5}; if (getline(b) != 5) __builtin_trap(); }\n");
        let build = Build::new()
            .harness("h")
            .file("h.c")
            .sources(["lib.c"])
            .define("getline=getline")
            .flag("-std=c99");
        let built = folder.build(compiler, build);
        Mock::at(&built.runner).run().expect_exit(0);
    }
}

#[test]
fn errors_say_what_to_do() {
    let folder = Folder::new();
    folder.file("none.c", "int f(void) { return 0; }\n");
    folder.file("broken.c", "int f(void) { return }\n");
    let build = |file: &str| {
        let build = Build::new()
            .harness("h")
            .file(file)
            .root(folder.path())
            .out_dir(folder.path().join("out"));
        build.try_compile().unwrap_err().to_string()
    };
    assert!(
        build("none.c").contains("harness `h` has no entry"),
        "{}",
        build("none.c")
    );
    assert!(
        build("broken.c").contains("does not compile"),
        "{}",
        build("broken.c")
    );
}

#[test]
fn long_inputs_read_well() {
    assert_eq!(b"GET ".then(repeat(b'a', 2)), b"GET aa");
}
