//! What proofs cost: Synergy's kinds of programs, and how proofs and violations grow with the
//! program.
//!
//!     cargo build --release -p cargo-cegar
//!     cargo bench -p cegar-benches --bench prover -- [seconds]
//!
//! The paper's numbers of iterations stand beside ours where a program's name begins as one of its
//! tests does. An iteration is not the same thing in both: there it splits one region by one edge,
//! here it is one level of guesses for all cut points at a time. Programs of the benchmark
//! collection, where it lies beside the repository, are proved as well.

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

/// Where more programs may be.
const MORE: &str = "../shared/benchmarks/synergy";

fn check(tool: &Path, source: &Path, more: &[&str], limit: u64) -> Result<Check> {
    let asked = ["--property", "assertion", "--max-len", "262144"];
    Check::of(tool, source, limit, &[&asked, more].concat())
}

/// The programs after Synergy's.
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

/// One program at several sizes, as it is and with its fault.
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
