//! Many programs as one.
//!
//! Linking with the stub library costs more than compiling a small program, so many of them share a file: the entry refers to
//! all, and each is then looked at from its own start.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use cegar_model::program::{Program, Property};
use cegar_tests::Project;
use cegar_tests::generate::grammar::PRELUDE;

pub use crate::files::from_files;

/// The suffix of the names of program number `i` of a file.
pub fn suffix(i: usize) -> String {
    format!("_{i}")
}

/// Many programs in one; the text of number `i` is written with [`suffix`] `i`.
pub fn together(texts: &[String], properties: &[Property]) -> Result<Program, String> {
    let mut all = PRELUDE.to_owned();
    for (i, text) in texts.iter().enumerate() {
        all.push_str(text);
        let _ = writeln!(all, "\n/* {i} */");
    }
    all.push_str("int all(void) { switch (__VERIFIER_nondet_int()) {\n");
    for i in 0..texts.len() {
        let _ = writeln!(all, "case {i}: entry{}(); break;", suffix(i));
    }
    all.push_str("} return 0; }\n");
    let folder = Project::empty();
    folder.write("programs.c", &all);
    from_files(&[folder.at("programs.c")], &[], Some("all"), properties)
}

/// Starts in program number `i` from now on.
pub fn start_in(program: &mut Program, i: usize) {
    let name = format!("entry{}", suffix(i));
    program.entry = program
        .function_named(&name)
        .unwrap_or_else(|| panic!("{name} is part of the program"));
}

/// Every C file of a folder of this crate.
pub fn folder(name: &str) -> Vec<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let entries = std::fs::read_dir(&path).unwrap_or_else(|why| panic!("{name}: {why}"));
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    files.sort();
    files
}
