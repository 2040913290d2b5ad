//! The cost of proofs: programs of Synergy's kinds, and how the time for proofs and violations
//! grows with the size of the program.
//!
//!     cargo build --release -p cargo-cegar
//!     cargo bench -p cegar-benches --bench prover -- [seconds]
//!
//! The paper's numbers of iterations are shown beside ours for programs whose name starts with the
//! name of one of its tests. An iteration is not the same in both: the paper's splits one region by
//! one edge, ours is one level of candidates for all cut points. Programs of the benchmark
//! collection are proved as well if it is beside the repository.

use std::fs;
use std::path::Path;

use cegar_benches::check::{Check, name, programs};
use cegar_benches::{Result, numbers, tool};

/// Iterations in table 1 of Gulavani, Henzinger, Kannan, Nori, Rajamani (2006).
const PAPER: [(&str, u32); 15] = [
    ("t01", 9),
    ("t02", 6),
    ("t03", 5),
    ("t04", 2),
    ("t05", 2),
    ("t08", 2),
    ("t11", 2),
    ("t12", 7),
    ("t13", 12),
    ("t15", 3),
    ("t16", 3),
    ("t17", 2),
    ("t18", 24),
    ("t19", 24),
    ("t20", 22),
];

/// The folder of the collection's programs, relative to the repository's root.
const MORE: &str = "../shared/benchmarks/synergy";

fn check(tool: &Path, source: &Path, more: &[&str], limit: u64) -> Result<Check> {
    let asked = ["--property", "assertion", "--max-len", "262144"];
    Check::of(tool, source, limit, &[&asked, more].concat())
}

/// Prints a table of the programs of Synergy's kinds in a folder.
fn table(tool: &Path, folder: &Path, limit: u64) -> Result<()> {
    println!(
        "| program | verdict | paper's iterations | iterations | facts | solver calls | proof s | \
         all s |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for program in programs(folder) {
        let name = name(&program);
        if !name.starts_with('t') {
            continue;
        }
        let paper = PAPER.iter().find(|(test, _)| name.starts_with(test));
        let paper = paper.map_or_else(String::new, |(_, count)| count.to_string());
        let end = check(tool, &program, &[], limit)?;
        println!(
            "| {name} | {} | {paper} | {} | {} | {} | {:.2} | {:.2} |",
            end.verdict(),
            end.count("prover/iterations"),
            end.count("prover/facts"),
            end.count("prover/solver_calls"),
            end.seconds("proving"),
            end.seconds("seconds"),
        );
    }
    Ok(())
}

/// Prints a table of one program at several sizes, with and without its fault.
fn growth(tool: &Path, program: &Path, sizes: &[u64], limit: u64) -> Result<()> {
    let name = name(program);
    println!(
        "| {name}, N | verdict | seconds | solver calls | with the fault | seconds | solver calls |"
    );
    println!("|---|---|---|---|---|---|---|");
    for n in sizes {
        let size = format!("-DN={n}");
        let fixed = check(tool, program, &[&size], limit)?;
        let faulty = check(tool, program, &[&size, "-DFAULTY"], limit)?;
        println!(
            "| {n} | {} | {:.2} | {} | {} | {:.2} | {} |",
            fixed.verdict(),
            fixed.seconds("seconds"),
            fixed.count("solver_calls"),
            faulty.verdict(),
            faulty.seconds("seconds"),
            faulty.count("solver_calls"),
        );
    }
    Ok(())
}

fn main() -> Result<()> {
    let limit = numbers().first().copied().unwrap_or(60);
    let tool = tool()?;
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = here.join("programs");
    // The first check compiles the stub library and is not counted.
    check(&tool, &own.join("t05_count_down.c"), &[], limit)?;
    table(&tool, &own, limit)?;
    println!();
    growth(&tool, &own.join("diamonds.c"), &[8, 16, 32, 64], limit)?;
    println!();
    let sizes = [10, 100, 1000, 10_000, 100_000];
    growth(&tool, &own.join("overflow_after.c"), &sizes, limit)?;
    if let Ok(more) = fs::canonicalize(here.join("..").join(MORE)) {
        println!();
        table(&tool, &more, limit)?;
    }
    Ok(())
}
