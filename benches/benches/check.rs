//! Wall-clock time from the start of `cargo cegar check` to its verdict, on a loop that writes past
//! an array after N bytes.
//!
//!     cargo build --release -p cargo-cegar
//!     cargo bench -p cegar-benches --bench check -- [seconds]
//!
//! The very first check compiles the stub library and is not counted. Programs of the benchmark
//! collection are checked as well if it is beside the repository.

use std::fs;
use std::path::Path;

use cegar_benches::check::{Check, name};
use cegar_benches::{Result, numbers, tool};

/// A program like figure 3 of the CRunner paper: only an input of more than N bytes reaches the
/// fault.
const PROGRAM: &str = r#"
#include <assert.h>
#include <stdio.h>
int main(void) {
    static char line[N];
    int c, n = 0;
    while ((c = getchar()) != EOF && c != '\n') {
        assert(n < N);
        line[n++] = (char)c;
    }
    return n;
}
"#;

/// The folder of the benchmark collection, relative to the repository's root.
const MORE: &str = "../shared/benchmarks";

fn check(tool: &Path, source: &Path, n: u64, limit: u64) -> Result<Check> {
    let size = format!("N={n}");
    let asked = ["--property", "assertion", "--max-len", "262144"];
    Check::of(tool, source, limit, &[&["-D", &size], &asked[..]].concat())
}

fn main() -> Result<()> {
    let limit = numbers().first().copied().unwrap_or(60);
    let tool = tool()?;
    let folder = tempfile::tempdir()?;
    let own = folder.path().join("overflow.c");
    fs::write(&own, PROGRAM)?;
    let mut programs = vec![own.clone()];
    let more = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(MORE)
        .join("crunner/overflow_after_n.c");
    programs.extend(fs::canonicalize(more));
    check(&tool, &own, 10, limit)?;
    println!(
        "program                  N  verdict   seconds  solver calls  executions  machine runs"
    );
    for program in &programs {
        for n in [10, 100, 1000, 10_000, 100_000] {
            let end = check(&tool, program, n, limit)?;
            println!(
                "{:18} {n:7}  {:8}  {:7.2}  {:12}  {:10}  {:12}",
                name(program),
                end.verdict(),
                end.wall,
                end.count("solver_calls"),
                end.count("executions"),
                end.count("machine_runs"),
            );
        }
    }
    Ok(())
}
