//! The effect of closed forms: loop programs with and without them, side by side, and one program
//! at sizes from ten to ten million.
//!
//!     cargo build --release -p cargo-cegar
//!     cargo bench -p cegar-benches --bench loops -- [seconds]
//!
//! The programs are the tests' programs, both faulty and corrected.

use std::path::Path;

use cegar_benches::check::{Check, name, programs};
use cegar_benches::{Result, numbers, tool};

/// The folder of the programs, relative to the repository's root.
const PROGRAMS: &str = "tests/programs/loops";
/// The program that is checked at several sizes: the number of the loop's iterations until the
/// failure.
const SIZED: &str = "in_step";
const SIZES: [u64; 6] = [10, 100, 1_000, 10_000, 100_000, 10_000_000];

/// The options of every check: the properties that the programs are about.
const ASKED: [&str; 4] = ["--property", "assertion", "--property", "memory"];

fn main() -> Result<()> {
    let limit = numbers().first().copied().unwrap_or(20);
    let tool = tool()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = root.join(PROGRAMS);
    let check = |source: &Path, limit: u64, more: &[&str]| {
        Check::of(&tool, source, limit, &[&ASKED[..], more].concat())
    };
    let calls = |check: &Check| check.count("solver_calls");
    let off = "--no-loop-acceleration";
    println!(
        "{:22}  {:>22}  {:>22}",
        "program", "with closed forms", "turn by turn"
    );
    for source in &programs(&folder) {
        for (variant, define) in [("", "-DBUG"), (" fixed", "-DFIXED")] {
            let with = check(source, limit, &["--cflag", define])?;
            let without = check(source, limit, &["--cflag", define, off])?;
            let name = name(source);
            let cell =
                |seen: &Check| format!("{} {:.1} s ({})", seen.verdict(), seen.wall, calls(seen));
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
    let source = folder.join(format!("{SIZED}.c"));
    for n in SIZES {
        let seen = check(&source, limit.max(60), &["-D", &format!("N={n}")])?;
        println!(
            "{n:>10}  {:8}  {:7.2}  {:12}",
            seen.verdict(),
            seen.wall,
            calls(&seen)
        );
    }
    Ok(())
}
