//! Wall-clock from `cargo cegar check` to its verdict, on a loop that writes past an array after N bytes.
//!
//!     cargo build --release -p cargo-cegar
//!     cargo bench -p cegar-benches --bench check -- [seconds]
//!
//! The first check of all compiles the stub library and is not counted. Programs of the benchmark collection, where it
//! lies beside the repository, are checked as well.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use cegar_benches::{numbers, tool};
use serde_json::Value;

/// Shaped like figure 3 of the CRunner paper: only an input of more than N bytes reaches the fault.
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

/// Where more programs may be.
const MORE: &str = "../shared/benchmarks";

/// Checks one program and prints its line.
fn check(
    tool: &Path,
    source: &Path,
    n: u64,
    limit: u64,
    shown: bool,
) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let start = Instant::now();
    let output = Command::new(tool)
        .args(["cegar", "check", "--message-format", "json"])
        .args(["-D", &format!("N={n}"), "--max-time", &format!("{limit}s")])
        .args(["--property", "assertion", "--max-len", "262144"])
        .arg(source)
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .output()?;
    let seconds = start.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find(|event| event.pointer("/stats/solver_calls").is_some())
        .ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let number = |name: &str| {
        last.pointer(&format!("/stats/{name}"))
            .and_then(Value::as_u64)
            .unwrap_or(0)
    };
    if shown {
        println!(
            "{:18} {n:7}  {:8}  {seconds:7.2}  {:12}  {:10}  {:12}",
            source.file_stem().unwrap_or_default().to_string_lossy(),
            last.pointer("/verdict")
                .and_then(Value::as_str)
                .unwrap_or("?"),
            number("solver_calls"),
            number("executions"),
            number("machine_runs"),
        );
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
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
    check(&tool, &own, 10, limit, false)?;
    println!(
        "program                  N  verdict   seconds  solver calls  executions  machine runs"
    );
    for program in &programs {
        for n in [10, 100, 1000, 10_000, 100_000] {
            check(&tool, program, n, limit, true)?;
        }
    }
    Ok(())
}
