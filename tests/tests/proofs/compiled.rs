//! Compiles C to a [`Program`] as the tool does.
//!
//! Linking with the stub library takes longer than compiling a small program. So many programs
//! share one file: its entry function refers to all of them, and each is then analysed from its own
//! entry.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cargo_cegar::campaign::prepare::prepare;
use cargo_cegar::compile::{Compiler, Unit};
use cargo_cegar::options::{Harness, Settings};
use cargo_cegar::report::{Event, Reporter};
use cegar_model::program::{Program, Property};
use cegar_tests::Project;
use cegar_tests::generate::grammar::PRELUDE;

/// A reporter that ignores all events.
struct Silent;

impl Reporter for Silent {
    fn event(&mut self, _: &Event) {}
}

/// Compiles files to a program that starts in `entry` or in `main`.
pub fn from_files(
    files: &[PathBuf],
    flags: &[String],
    entry: Option<&str>,
    properties: &[Property],
) -> Result<Program, String> {
    let folder = Project::empty();
    let headers =
        cargo_cegar::plan::stub_headers(folder.path()).map_err(|why| format!("headers: {why}"))?;
    let mut all = vec![format!("-I{}", headers.display()), "-w".to_owned()];
    all.extend_from_slice(flags);
    let unit = |source: &PathBuf| Unit {
        source: source.clone(),
        directory: folder.path().to_owned(),
        flags: all.clone(),
    };
    let mut harness = Harness::new("program", files.iter().map(unit).collect());
    harness.properties = properties.to_vec();
    harness.entry = entry.map(str::to_owned);
    harness.argv = 2;
    let settings = Settings::new(Compiler::find().map_err(|why| why.to_string())?);
    let stop = AtomicBool::new(false);
    let prepared = prepare(&harness, &settings, folder.path(), &mut Silent, &stop)
        .map_err(|why| format!("{why}"))?;
    Arc::try_unwrap(prepared.program).map_err(|_| "somebody else has the program".to_owned())
}

/// The suffix of the global names of program number `i` in a file.
pub fn suffix(i: usize) -> String {
    format!("_{i}")
}

/// Compiles many programs as one; the text of number `i` uses [`suffix`] `i`.
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

/// Makes program number `i` the entry.
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
