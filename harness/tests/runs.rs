//! Harnesses that are built by hand with each installed compiler, and run.

#![allow(clippy::unwrap_used, missing_docs)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cegar_harness::build::{Build, Built, MockedFunction};
use cegar_harness::channel::Shape;
use cegar_harness::external::{Holds, Member, ObjectType, Pointee, Signature};
use cegar_harness::{Mock, Outcome, Then, object, repeat, zeroed};

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
    let mocked = MockedFunction::returning;
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
        folder.file(
            "lib.c",
            "#include <stdio.h>\nint getline(char *b) { return b[0]; }\n\
            int main(void) { return 9; }\n",
        );
        folder.file(
            "h.c",
            "int getline(char *b);\n\
            void h(void) { char b[1] = {5}; if (getline(b) != 5) __builtin_trap(); }\n",
        );
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
fn of_two_definitions_the_archives_first_is_used() {
    let folder = Folder::new();
    folder.file("h.c", "int f(void);\nint main(void) { return f(); }\n");
    folder.file("first.c", "int f(void) { return 3; }\n");
    folder.file(
        "second.c",
        "int f(void) { return 4; }\nint g(void) { return f(); }\n",
    );
    folder.file(
        "both.c",
        "int f(void);\nint g(void);\nint main(void) { return f() * 10 + g(); }\n",
    );
    for compiler in compilers() {
        for (file, status, note) in [("h.c", 3, "is left out"), ("both.c", 33, "is used")] {
            let build = Build::new()
                .harness(file.trim_end_matches(".c"))
                .file(file)
                .sources(["first.c", "second.c"]);
            let built = folder.build(compiler, build);
            assert!(
                built.notes.len() == 1 && built.notes[0].contains(note),
                "{:?}",
                built.notes
            );
            Mock::at(&built.runner).run().expect_exit(status);
        }
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
        build("broken.c").contains("broken.c failed:") && build("broken.c").contains("error:"),
        "{}",
        build("broken.c")
    );
    // Build scripts run in a folder of the user's, where no files must be left behind.
    for stray in ["a-broken.d", "broken.d"] {
        assert!(!Path::new(stray).exists(), "{stray}");
    }
}

#[test]
fn long_inputs_read_well() {
    assert_eq!(b"GET ".then(repeat(b'a', 2)), b"GET aa");
}

const BUS: &str = r#"
#include <assert.h>
struct port { unsigned char number; struct port *next; };
unsigned bus_read(unsigned address);
void bus_write(unsigned address, unsigned value);
struct port *bus_ports(void);
int bus_length(unsigned *length);
int main(void) {
    struct port *port = bus_ports();
    unsigned length = 0;
    bus_write(4, 9);
    if (bus_read(4) != 9) return 1;
    if (!port || !port->next || port->next->number != 2) return 2;
    if (bus_length(&length) < 0) return 3;
    assert(length < 100);
    return 0;
}
"#;

/// The functions of `BUS`, described as the tool describes them.
fn bus() -> Vec<MockedFunction> {
    let uint = || Holds::Int {
        size: 4,
        signed: false,
    };
    let to = |name: &str| {
        Holds::Pointer(Pointee {
            to: Some(name.to_owned()),
            many: false,
            constant: false,
        })
    };
    let member = |name: &str, offset, holds| Member {
        name: name.to_owned(),
        offset,
        holds,
    };
    let object = |name: &str, size, members| ObjectType {
        name: name.to_owned(),
        size,
        members,
        opaque: false,
    };
    let byte = Holds::Int {
        size: 1,
        signed: false,
    };
    let port = object(
        "port",
        16,
        vec![member("number", 0, byte), member("next", 8, to("port"))],
    );
    let number = object("unsigned_int", 4, vec![member("", 0, uint())]);
    let shape = |size, signed| Shape::Int { size, signed };
    let function = |name: &str, shape, returns, params, types| MockedFunction {
        signature: Some(Signature {
            returns,
            params,
            varargs: false,
            rows: Vec::new(),
        }),
        types,
        ..MockedFunction::returning(name, shape)
    };
    let int = Holds::Int {
        size: 4,
        signed: true,
    };
    vec![
        function(
            "bus_read",
            shape(4, false),
            Some(uint()),
            vec![uint()],
            vec![],
        ),
        function("bus_write", Shape::Void, None, vec![uint(), uint()], vec![]),
        function(
            "bus_ports",
            Shape::Pointer { size: 16 },
            Some(to("port")),
            vec![],
            vec![port],
        ),
        function(
            "bus_length",
            shape(4, true),
            Some(int),
            vec![to("unsigned_int")],
            vec![number],
        ),
    ]
}

cegar_harness::c_structs! {
    struct port { number: u8, next: *mut port }
}

#[test]
fn closures_objects_and_parameters() {
    for compiler in compilers() {
        let folder = Folder::new();
        folder.file("bus.c", BUS);
        let build = Build::new().harness("bus").file("bus.c");
        let built = folder.build(compiler, bus().into_iter().fold(build, Build::mock));
        let cell = std::rc::Rc::new(std::cell::Cell::new(0u32));
        let (written, read) = (cell.clone(), cell);
        let mock = Mock::at(&built.runner)
            .when("bus_write", move |_address: u32, value: u32| {
                written.set(value)
            })
            .when("bus_read", move |address: u32| read.get() + address - 4);
        mock.clone().run().expect_exit(2);
        let mock = mock.returns_object(
            "bus_ports",
            port {
                number: 1,
                next: object(port {
                    number: 2,
                    ..zeroed()
                }),
            },
        );
        mock.clone().run().expect_exit(0);
        mock.clone()
            .returns("bus_length", [-1])
            .run()
            .expect_exit(3);
        let run = mock.writes("bus_length", 1, 200u32).run();
        run.expect_violation("length < 100");
    }
}
