//! From C files to a Program, as the tool does it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cargo_cegar::campaign::prepare::prepare;
use cargo_cegar::compile::{Compiler, Unit};
use cargo_cegar::options::{Harness, Settings};
use cargo_cegar::report::{Event, Reporter};
use cegar_model::program::{Program, Property};
use cegar_tests::Project;

/// Notes are not what these tests look at.
struct Silent;

impl Reporter for Silent {
    fn event(&mut self, _: &Event) {}
}

/// A program from files, started in `entry` or in `main`.
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
