//! The results of Frama-C's Eva for the same harness: a widely used abstract interpreter of whole
//! programs that needs no solver.
//!
//! Eva analyses the same files with the same definitions. Its alarms do not correspond to our
//! checks one to one: one access may have several alarms, and checks that Eva proves are not
//! counted at all. So the columns are shown side by side but must not be subtracted.

use std::fs;
use std::process::Command;
use std::time::Duration;

use cegar_benches::Result;

use super::list::{Library, fetched};
use super::process::run;

/// The C file that calls a harness.
const WORLD: &str = include_str!("../../programs/libraries/eva/world.c");

/// The header that is included before each file.
const BUILTINS: &str = include_str!("../../programs/libraries/eva/builtins.h");

/// The number of alarms of each kind.
#[derive(Default)]
pub struct Alarms {
    /// Invalid accesses, including violated preconditions of the C library's memory functions.
    access: usize,
    /// Indices past an array's bound.
    index: usize,
    /// Comparisons of pointers.
    comparison: usize,
    /// Reads of uninitialised memory.
    initialization: usize,
    /// Alarms that are not memory errors: overflow, conversion, shifts.
    other: usize,
}

/// Whether Frama-C is installed.
pub fn is_installed() -> bool {
    let version = Command::new("frama-c").arg("-version").output();
    version.is_ok_and(|output| output.status.success())
}

/// The columns of a table.
pub const HEAD: &str = "| library | accesses | index bounds | pointer comparisons | initialization \
    | other | seconds (of the processor) | peak MB |";

/// A row of the table.
pub fn row(library: &Library, precision: u64, limit: u64) -> Result<String> {
    let folder = tempfile::tempdir()?;
    let sources = fetched(library, folder.path())?;
    let (world, harness) = (
        folder.path().join("world.c"),
        folder.path().join("harness.c"),
    );
    fs::write(&world, WORLD)?;
    fs::write(folder.path().join("builtins.h"), BUILTINS)?;
    fs::write(&harness, library.harness)?;
    let defines = library.defines.iter();
    let flags: String = defines.map(|define| format!("-D{define} ")).collect();
    let include = sources.join(library.include);
    let mut command = Command::new("frama-c");
    command
        .args(["-machdep", "x86_64", "-eva", "-eva-precision"])
        .arg(precision.to_string())
        .arg(format!(
            "-cpp-extra-args={flags}-I{} -include {}",
            include.display(),
            folder.path().join("builtins.h").display()
        ))
        .args([&world, &harness])
        .args(library.files.iter().map(|file| sources.join(file)))
        .args(["-then", "-report-csv"])
        .arg(folder.path().join("alarms.csv"))
        .current_dir(folder.path());
    let ended = run(command, folder.path(), Duration::from_secs(limit))?;
    let name = library.name;
    let cost = format!(
        "{:.0} ({:.0}) | {:.0}",
        ended.wall, ended.processor, ended.peak
    );
    let table = fs::read_to_string(folder.path().join("alarms.csv"));
    let alarms = match (table, ended.is_late) {
        (Ok(table), false) => counted(&table),
        (_, true) => so_far(&ended.stdout),
        (Err(_), false) => {
            let errors = ended.stdout.lines().chain(ended.stderr.lines());
            let mut errors =
                errors.filter(|line| line.contains("User Error") || line.contains("fatal error"));
            let why = errors.next().unwrap_or("no table of alarms");
            return Ok(format!("| {name} | {why} | | | | | {cost} |"));
        }
    };
    let late = if ended.is_late { " (not done)" } else { "" };
    Ok(format!(
        "| {name} | {}{late} | {} | {} | {} | {} | {cost} |",
        alarms.access, alarms.index, alarms.comparison, alarms.initialization, alarms.other
    ))
}

/// Counts the alarms in a table that Frama-C wrote. The columns are separated by tabs; the fifth is
/// the kind, the sixth the status.
fn counted(table: &str) -> Alarms {
    let mut alarms = Alarms::default();
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [_, file, _, _, kind, status, ..] = columns[..] else {
            continue;
        };
        // `world.c` calls the harness and is not part of the library.
        if !(status == "Unknown" || status.contains("nvalid")) || file == "world.c" {
            continue;
        }
        match kind {
            "mem_access" | "freeable" | "function_pointer" => alarms.access += 1,
            "index_bound" | "index_in_address" => alarms.index += 1,
            "ptr_comparison" | "differing_blocks" => alarms.comparison += 1,
            "initialization" | "dangling_pointer" => alarms.initialization += 1,
            kind if kind.starts_with("precondition of") => alarms.access += 1,
            // Specifications of Frama-C's C library, which Eva assumes and cannot prove.
            kind if kind.ends_with("clause") || kind.ends_with("condition") => {}
            _ => alarms.other += 1,
        }
    }
    alarms
}

/// Counts the alarms that Eva printed before it was killed.
fn so_far(told: &str) -> Alarms {
    let mut alarms = Alarms::default();
    let lines: Vec<&str> = told.lines().collect();
    for (i, line) in lines.iter().enumerate() {
        if !line.starts_with("[eva:alarm]") || line.contains("world.c") {
            continue;
        }
        let next = lines.get(i + 1).copied().unwrap_or_default();
        let said = format!("{line} {next}");
        let has = |words: &str| said.contains(words);
        let count = if has("out of bounds index") {
            &mut alarms.index
        } else if has("out of bounds") || has("precondition") || has("function pointer") {
            &mut alarms.access
        } else if has("pointer comparison") || has("pointer subtraction") {
            &mut alarms.comparison
        } else if has("uninitialized") || has("dangling") || has("escaping") {
            &mut alarms.initialization
        } else {
            &mut alarms.other
        };
        *count += 1;
    }
    alarms
}
