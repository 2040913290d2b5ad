//! C programs that tests compile, to a Program and to native code.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::program::ir::Program;

pub const HEADER: &str = "
typedef unsigned long size_t;
typedef unsigned char u8;
void crunner_choose(const char *, void *, size_t);
size_t crunner_remaining(const char *);
void crunner_assume(int);
_Noreturn void crunner_stop(int);
void crunner_output(int, const void *, size_t);
_Noreturn void crunner_violation(int, const char *, const char *, unsigned);
void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);
static u8 byte(void) { u8 b; crunner_choose(\"byte\", &b, 1); return b; }
static int word(void) { int i; crunner_choose(\"int\", &i, 4); return i; }
static void show(unsigned long v) {
    char text[17];
    for (int i = 0; i < 16; i++) text[i] = \"0123456789abcdef\"[v >> (60 - 4 * i) & 15];
    text[16] = 10;
    crunner_output(1, text, 17);
}
#line 1
";

pub const NATIVE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned char tape[1 << 16];
static size_t size, at;
void crunner_choose(const char *c, void *into, size_t n) {
    for (size_t i = 0; i < n; i++, at++) ((unsigned char *)into)[i] = at < size ? tape[at] : 0;
}
size_t crunner_remaining(const char *c) { return at < size ? size - at : 0; }
void crunner_assume(int c) { if (!c) { fflush(stdout); _Exit(99); } }
void crunner_stop(int s) { fflush(stdout); _Exit(s); }
void crunner_output(int s, const void *b, size_t n) { fwrite(b, 1, n, stdout); }
void crunner_violation(int k, const char *w, const char *f, unsigned l) { fflush(stdout); _Exit(98); }
int cegar_entry(void);
int main(void) { size = fread(tape, 1, sizeof tape, stdin); return cegar_entry() & 63; }
"#;

pub fn tool(command: &mut Command) -> Output {
    let output = command.output().expect("the tool starts");
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {complaint}");
    output
}

/// A C program, loaded and (on request) linked natively.
pub struct Built {
    _folder: tempfile::TempDir,
    path: PathBuf,
    pub program: Program,
}

pub fn build(source: &str) -> Built {
    build_with(&format!("{HEADER}{source}"), &[])
}

pub fn build_with(source: &str, flags: &[&str]) -> Built {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().to_owned();
    std::fs::write(path.join("t.c"), source).expect("written");
    let mut clang = Command::new("clang-19");
    clang
        .current_dir(&path)
        .args(["-O0", "-Xclang", "-disable-O0-optnone", "-g", "-w"]);
    clang.args([
        "-Xclang",
        "-fsanitize-address-use-after-scope",
        "-fno-finite-loops",
    ]);
    clang.args([
        "-fno-builtin",
        "-fwrapv",
        "-fno-discard-value-names",
        "-emit-llvm",
    ]);
    tool(clang.args(flags).args(["-c", "t.c", "-o", "raw.bc"]));
    let passes = "function(sroa<preserve-cfg>,mem2reg,lower-switch,loop-simplify,break-crit-edges)";
    let mut opt = Command::new("/usr/lib/llvm-19/bin/opt");
    tool(
        opt.current_dir(&path)
            .args(["-passes", passes, "raw.bc", "-o", "t.bc"]),
    );
    let program = Program::load(&path.join("t.bc")).expect("the bitcode loads");
    Built {
        _folder: folder,
        path,
        program,
    }
}

impl Built {
    pub fn link(&self, flags: &[&str]) {
        std::fs::write(self.path.join("native.c"), NATIVE).expect("written");
        let mut clang = Command::new("clang-19");
        clang
            .current_dir(&self.path)
            .args(["-O1", "-w", "-fwrapv", "-fno-builtin"]);
        clang.args(["-ftrivial-auto-var-init=pattern"]);
        tool(
            clang
                .args(flags)
                .args(["t.c", "native.c", "-lm", "-o", "native"]),
        );
    }

    /// The native run's exit code and output.
    pub fn native(&self, tape: &[u8]) -> (Option<i32>, Vec<u8>) {
        let input = self.path.join("tape");
        std::fs::write(&input, tape).expect("written");
        let file = std::fs::File::open(&input).expect("opened");
        let program: &Path = &self.path.join("native");
        let output = Command::new(program).stdin(file).output().expect("it runs");
        (output.status.code(), output.stdout)
    }
}
