//! Comparison of the crate's declarations with the library: each kind of mismatch is found, and
//! correct declarations are not reported.

use cegar_tests::{Ended, Project, exit, tool};

/// A crate with this C file, header and Rust code. No build script: `cegar.toml` lists the file.
fn crate_with(header: &str, c: &str, rust: &str) -> Project {
    let project = Project::empty();
    project.write(
        "Cargo.toml",
        "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [features]\nextra = []\n",
    );
    project.write("src/lib.rs", rust);
    project.write("c/demo.h", header);
    project.write("c/demo.c", &format!("#include \"demo.h\"\n{c}"));
    project.write(
        "cegar/cegar.toml",
        "[c]\nsources = [\"../c/demo.c\"]\nincludes = [\"../c\"]\n",
    );
    project
}

fn bindings(project: &Project, words: &[&str]) -> Ended {
    tool(project, &[&["bindings"], words].concat())
}

const HEADER: &str = "\
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
enum mode { MODE_OFF, MODE_SLOW = 4, MODE_FAST };
struct point { int x; int y; double weight; };
struct stream { const unsigned char *next; size_t left; void (*log)(void *, int); char name[16]; };
union word { uint32_t whole; uint8_t bytes[4]; };
typedef struct codec codec;
";

const BODY: &str = "\
struct codec { int unused; };
int add(int a, int b) { return a + b; }
size_t fill(unsigned char *into, size_t size) { for (size_t i = 0; i < size; i++) into[i] = 1; return size; }
size_t look(char *text) { size_t n = 0; while (text[n]) n++; return n; }
void place(struct point *p) { p->x = 1; }
struct point moved(struct point p) { p.x++; return p; }
int run(struct stream *s) { return s->left > 0; }
int measure(long *out) { *out = 1; return 0; }
double half(float f) { return f / 2; }
int set_mode(enum mode m) { return (int)m; }
codec *open_codec(void) { return 0; }
int sum(int count, ...) { return count; }
void on_event(int (*event)(void *, long), void *data) { event(data, 1); }
bool is_ready(uint8_t c) { return c; }
uint64_t mask(uint32_t m) { return m; }
uint32_t take(union word w) { return w.whole; }
";

/// A correct declaration can be written in many ways. A missing `const` in C is not reported.
#[test]
fn what_fits_is_not_accused() {
    let project = crate_with(
        HEADER,
        BODY,
        r#"
use std::ffi::{c_char, c_int, c_long, c_void};
use std::os::raw as c;
type Size = usize;
pub mod types {
    use super::*;
    #[repr(C)] #[derive(Clone, Copy)] pub struct Point { pub x: c_int, pub y: c_int, pub weight: f64 }
    #[repr(C)] pub struct Stream {
        pub next: *const u8, pub left: super::Size,
        pub log: Option<unsafe extern "C" fn(*mut c_void, c_int)>, pub name: [c_char; 16],
    }
    #[repr(u32)] pub enum Mode { Off, Slow = 4, Fast }
    #[repr(C)] pub union Word { pub whole: u32, pub bytes: [u8; 4] }
    pub enum Codec {}
    #[repr(transparent)] pub struct Mask(pub u32);
}
use types::*;
pub const MODE_FAST: u32 = 5;
unsafe extern "C" {
    pub fn add(a: c_int, b: i32) -> c::c_int;
    pub fn fill(into: *mut c_void, size: Size) -> usize;
    // C forgot the const and only reads.
    pub fn look(text: *const c_char) -> usize;
    pub fn place(p: &mut Point);
    pub fn moved(p: Point) -> Point;
    pub fn run(s: *mut Stream);
    pub fn measure(out: *mut c_long) -> c_int;
    pub fn half(f: f32) -> f64;
    pub fn set_mode(m: Mode) -> c_int;
    #[link_name = "open_codec"] pub fn make() -> *mut Codec;
    pub fn sum(count: c_int, ...) -> c_int;
    pub fn on_event(event: Option<unsafe extern "C" fn(*mut c_void, c_long) -> c_int>, data: usize);
    pub fn is_ready(c: u8) -> bool;
    pub fn mask(m: Mask) -> u64;
    pub fn take(w: Word) -> u32;
    #[cfg(windows)] pub fn add(a: i64) -> i64;
    #[cfg(feature = "extra")] pub fn mask(m: f64);
    pub fn strlen(text: *const c_char) -> usize;
}
"#,
    );
    let ended = bindings(&project, &["-v"]);
    ended
        .expect(exit::CLEAN)
        .expect_message("all fit")
        .expect_message("15 of 16 declared functions");
    assert!(!ended.stderr.contains("Left out"), "{}", ended.stderr);
}

/// Each kind of mismatch, with both places, in the terminal output, as JSON, SARIF and JUnit.
#[test]
fn each_kind_of_mismatch_is_found() {
    let project = crate_with(
        HEADER,
        BODY,
        r#"
use std::ffi::{c_char, c_int, c_void};
#[repr(C)] pub struct Point { pub x: c_int, pub weight: f64, pub y: c_int }
#[repr(C)] pub struct Stream { pub next: *const u8, pub left: u32, pub log: usize, pub name: [c_char; 16] }
#[repr(C)] pub union Word { pub whole: u64 }
pub enum Mode { Off, Slow, Fast }
pub const MODE_SLOW: u32 = 3;
unsafe extern "C" {
    pub fn add(a: c_int) -> c_int;
    pub fn fill(into: *const u8, size: u32) -> usize;
    pub fn place(p: *mut Point) -> c_int;
    pub fn run(s: *mut Stream) -> c_int;
    pub fn measure(out: *mut c_int) -> c_int;
    pub fn half(f: f64) -> f64;
    pub fn set_mode(m: Mode) -> c_int;
    pub fn open_codec() -> c_int;
    pub fn sum(count: c_int, first: c_int) -> c_int;
    pub fn on_event(event: Option<unsafe extern "C" fn(*mut c_void) -> c_int>, data: *mut c_void);
    pub fn mask(m: i32) -> u64;
    pub fn take(w: Word) -> u32;
}
"#,
    );
    let ended = bindings(&project, &["--sarif", "b.sarif", "--junit", "b.xml"]);
    ended
        .expect(exit::VIOLATION)
        .expect_message(
            "binding_mismatch  src/lib.rs:9 add: it has 1 parameter in Rust, and 2 in C \
            (c/demo.c:3",
        )
        .expect_message("fill: parameter 1 is `*const` in Rust, and C writes through it in line 4")
        .expect_message(
            "fill: parameter 2 is an unsigned number of 4 bytes in Rust, and an unsigned number \
            of 8 bytes in C",
        )
        .expect_message(
            "place: the result is a signed number of 4 bytes in Rust, and there is none in C",
        )
        .expect_message("`Point.y` is at byte 16 in Rust, and at byte 4 in C (c/demo.h:5)")
        .expect_message("`Stream.left` has 4 bytes in Rust, and 8 in C")
        .expect_message(
            "measure: parameter 1 is a pointer to a signed number of 4 bytes in Rust, and to a \
            signed number of 8 bytes in C",
        )
        .expect_message("half: parameter 1 is a floating-point number of 8 bytes")
        .expect_message("set_mode: parameter 1 is `Mode`, an enumeration of 1 byte in Rust")
        .expect_message(
            "open_codec: the result is a signed number of 4 bytes in Rust, and a pointer in C",
        )
        .expect_message("sum: it takes any number of arguments in C, and not in Rust")
        .expect_message("on_event: parameter 1 is a function whose declarations differ")
        .expect_message(
            "mask: parameter 1 is a signed number of 4 bytes in Rust, and an unsigned number of \
            4 bytes in C",
        )
        .expect_message("`Word` has 8 bytes in Rust, and 4 bytes in C")
        .expect_message("`MODE_SLOW` is 3 in Rust, and 4 in C");
    let sarif: serde_json::Value = serde_json::from_str(&project.read("b.sarif")).expect("JSON");
    let first = &sarif["runs"][0]["results"][0];
    assert_eq!(first["ruleId"], "binding_mismatch");
    assert_eq!(
        first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
        "src/lib.rs"
    );
    assert_eq!(
        first["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"],
        "c/demo.h"
    );
    assert!(project.read("b.xml").contains("type=\"binding_mismatch\""));
    let json = bindings(&project, &["--message-format", "json"]);
    let messages = json.messages();
    let told = messages
        .iter()
        .filter(|one| one["reason"] == "binding-mismatch")
        .count();
    assert_eq!(
        told,
        messages
            .last()
            .map_or(0, |last| last["mismatches"].as_array().map_or(0, Vec::len))
    );
    assert!(told >= 15, "{told}");
}

/// Declarations that are not understood are counted, but not reported as mismatches; `-v` names
/// them.
#[test]
fn what_is_not_understood_is_left_out() {
    let project = crate_with(
        "#include <stddef.h>\nstruct big { long double d; };\n",
        "int one(struct big *b) { return b != 0; }\nint two(long double d) { return d > 0; }\n\
         int three(int x) { return x; }\n",
        r#"
macro_rules! declared { ($name:ident) => { unsafe extern "C" { pub fn $name(x: f64) -> i32; } }; }
declared!(three);
#[repr(C)] pub struct Big { pub d: libc::Something }
unsafe extern "C" {
    pub fn one(b: *mut Big) -> i32;
    pub fn two(d: [u8; 16]) -> i32;
    #[cfg(only_the_build_script_knows)] pub fn three(x: u8) -> i32;
}
"#,
    );
    bindings(&project, &["-v"])
        .expect(exit::CLEAN)
        .expect_message("all fit")
        .expect_message("a condition that is not known")
        .expect_message("the type `Something` of another crate")
        .expect_message("the C type `long double`");
}

/// `run` and `ci` compare declarations too; the baseline accepts mismatches, and `cegar.toml`
/// switches the comparison off.
#[test]
fn a_mismatch_fails_a_build_until_it_is_accepted() {
    let project = Project::package(
        "int demo(const unsigned char *data, size_t size) { return size > 0 && data[0] > 4; }\n",
    );
    project.write(
        "src/lib.rs",
        "unsafe extern \"C\" { pub fn demo(data: *const u8, size: u32) -> i32; }\n",
    );
    let run = |words: &[&str]| tool(&project, words);
    run(&["run", "--runs", "200", "--html", "page.html"])
        .expect(exit::VIOLATION)
        .expect_message("Found binding_mismatch  src/lib.rs:1 demo: parameter 2");
    assert!(
        project
            .read("page.html")
            .contains("Declarations that do not fit the library")
    );
    run(&["ci", "--runs", "200", "--update-baseline"]).expect(exit::CLEAN);
    assert!(
        project
            .read("cegar/baseline.json")
            .contains("binding_mismatch")
    );
    run(&["ci", "--runs", "200"])
        .expect(exit::CLEAN)
        .expect_message("Known binding_mismatch");
    let settings = project.read("cegar/cegar.toml");
    project.write(
        "cegar/cegar.toml",
        &format!("{settings}\n[bindings]\ncheck = false\n"),
    );
    let off = run(&["run", "--runs", "200"]);
    off.expect(exit::CLEAN);
    assert!(!off.stderr.contains("binding"), "{}", off.stderr);
}

/// A structure may have a different length in each C file. The length in Rust has to be one of
/// them.
#[test]
fn a_structure_may_have_several_lengths() {
    let project = crate_with(
        "#ifndef UNITS\n#define UNITS 4\n#endif\n\
         struct number { int digits; unsigned short units[UNITS]; };\n",
        "int digits(const struct number *n) { return n->digits; }\n",
        "#[repr(C)] pub struct Number { pub digits: i32, pub units: [u16; 12] }\n\
         unsafe extern \"C\" { pub fn digits(n: *const Number) -> i32; pub fn last(n: *const \
         Number) -> i32; }\n",
    );
    project.write(
        "c/wide.c",
        "#define UNITS 12\n#include \"demo.h\"\n\
         int last(const struct number *n) { return n->units[11]; }\n",
    );
    let sources = |all: &str| {
        let text = format!("[c]\nsources = [{all}]\nincludes = [\"../c\"]\n");
        project.write("cegar/cegar.toml", &text);
    };
    sources("\"../c/demo.c\", \"../c/wide.c\"");
    bindings(&project, &[]).expect(exit::CLEAN);
    sources("\"../c/demo.c\"");
    bindings(&project, &[]).expect(exit::VIOLATION);
}
