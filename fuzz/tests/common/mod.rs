//! Small programs for the tests: compiles C text to a module like those that the fuzzer gets.

#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::process::Command;

use cegar_fuzz::native::{Kind, Runner, Target, TargetBuilder};
use cegar_llvm::Module;

/// Declarations of what the programs of the tests may call.
const PRELUDE: &str = r#"
#include <stddef.h>
#include <stdint.h>
void crunner_choose(const char *channel, void *into, size_t n);
size_t crunner_remaining(const char *channel);
void crunner_assume(int);
_Noreturn void crunner_stop(int);
_Noreturn void crunner_violation(int, const char *, const char *, unsigned);
void crunner_output(int, const void *, size_t);
void *crunner_malloc(size_t);
void crunner_free(void *);
static int next(void)
{
    unsigned char c;
    if (crunner_remaining("stdin") == 0)
        return -1;
    crunner_choose("stdin", &c, 1);
    return c;
}
#line 1 "program.c"
"#;

/// A program in its own folder.
pub struct Program {
    pub folder: tempfile::TempDir,
}

impl Program {
    /// Compiles `source` (which defines `cegar_entry`) and marks functions with their `kinds`.
    pub fn new(source: &str, flags: &[&str], kinds: &[(&str, &str)]) -> Program {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let c = folder.path().join("program.c");
        let bitcode = folder.path().join("program.bc");
        fs::write(&c, format!("{PRELUDE}{source}")).expect("source written");
        let status = Command::new("clang-19")
            .args([
                "-O0",
                "-Xclang",
                "-disable-O0-optnone",
                "-fno-finite-loops",
                "-g",
                "-w",
            ])
            .args(["-fno-discard-value-names", "-fPIC", "-emit-llvm", "-c"])
            // The recorded path of a program does not depend on the test's folder.
            .arg(format!(
                "-fdebug-prefix-map={}=/program",
                folder.path().display()
            ))
            .args(flags)
            .arg(&c)
            .arg("-o")
            .arg(&bitcode)
            .status()
            .expect("clang-19 is installed");
        assert!(status.success(), "the test program compiles");
        let module = Module::read(&bitcode).expect("bitcode");
        for (function, kind) in kinds {
            let function = module.function(function).expect("the function is there");
            function.set_string_attribute(cegar_stubs::KIND, kind);
        }
        fs::write(&bitcode, module.bitcode()).expect("bitcode written");
        Program { folder }
    }

    /// Assembles LLVM's own text, for what C cannot express.
    pub fn assembled(text: &str) -> Program {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let source = folder.path().join("program.ll");
        fs::write(&source, text).expect("source written");
        let status = Command::new("clang-19")
            .args(["-O0", "-w", "-emit-llvm", "-c"])
            .arg(&source)
            .arg("-o")
            .arg(folder.path().join("program.bc"))
            .status()
            .expect("clang-19 is installed");
        assert!(status.success(), "the test program assembles");
        Program { folder }
    }

    pub fn builder(&self) -> TargetBuilder {
        TargetBuilder::new(
            self.folder.path().join("program.bc"),
            self.folder.path().join("out"),
        )
    }

    pub fn build(&self, kind: Kind) -> Target {
        self.builder().build(kind).unwrap_or_else(|e| panic!("{e}"))
    }

    pub fn runner(&self, kind: Kind) -> Runner {
        Runner::new(&self.build(kind))
    }

    /// The function and the name of each block, in the order of block numbers.
    pub fn blocks(&self) -> Vec<(String, String)> {
        let module = Module::read(&self.folder.path().join("program.bc")).expect("bitcode");
        let mut all = Vec::new();
        for function in module.functions() {
            for block in function.blocks() {
                all.push((function.name(), block.name()));
            }
        }
        all
    }
}
