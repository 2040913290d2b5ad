//! What closed forms bring: loop programs with them and without, side by side, and sizes from ten to ten million.
//!
//!     cargo build --release -p cargo-cegar
//!     cargo bench -p cegar-benches --bench loops -- [seconds]
//!
//! The programs are those of the tests, as they are and corrected.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use cegar_benches::{numbers, tool};
use serde_json::Value;

/// The programs, from the repository's root.
const PROGRAMS: &str = "tests/programs/loops";
/// One of them in sizes: how often it is taken around until it fails.
const SIZED: &str = "in_step";
const SIZES: [u64; 6] = [10, 100, 1_000, 10_000, 100_000, 10_000_000];

/// A verdict, and what it took.
struct Seen {
    verdict: String,
    seconds: f64,
    calls: u64,
}

fn check(tool: &Path, source: &Path, limit: u64, more: &[&str]) -> Result<Seen, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let start = Instant::now();
    let output = Command::new(tool)
        .args(["cegar", "check", "--no-emit", "--message-format", "json"])
        .args(["--property", "assertion", "--property", "memory"])
        .args(["--max-time", &format!("{limit}s")])
        .args(more)
        .arg(source)
        .current_dir(folder.path())
        .output()?;
    let seconds = start.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find(|event| event["reason"] == "finished")
        .ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    Ok(Seen {
        verdict: last["verdict"].as_str().unwrap_or("none").to_owned(),
        seconds,
        calls: last
            .pointer("/stats/solver_calls")
            .and_then(Value::as_u64)
            .unwrap_or(0),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let limit = numbers().first().copied().unwrap_or(20);
    let tool = tool()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut programs: Vec<PathBuf> = fs::read_dir(root.join(PROGRAMS))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    programs.sort();
    let off = "--no-loop-acceleration";
    println!(
        "{:22}  {:>22}  {:>22}",
        "program", "with closed forms", "turn by turn"
    );
    for source in &programs {
        for (variant, define) in [("", "-DBUG"), (" fixed", "-DFIXED")] {
            let with = check(&tool, source, limit, &["--cflag", define])?;
            let without = check(&tool, source, limit, &["--cflag", define, off])?;
            let name = source.file_stem().unwrap_or_default().to_string_lossy();
            let cell =
                |seen: &Seen| format!("{} {:.1} s ({})", seen.verdict, seen.seconds, seen.calls);
            println!(
                "{:22}  {:>22}  {:>22}",
                format!("{name}{variant}"),
                cell(&with),
                cell(&without)
            );
        }
    }
    println!();
    println!("{:>10}  verdict   seconds  solver calls", "N");
    let source = root.join(PROGRAMS).join(format!("{SIZED}.c"));
    for n in SIZES {
        let seen = check(&tool, &source, limit.max(60), &["-D", &format!("N={n}")])?;
        println!(
            "{n:>10}  {:8}  {:7.2}  {:12}",
            seen.verdict, seen.seconds, seen.calls
        );
    }
    Ok(())
}
