//! The number of checks of published libraries that the prover settles: one harness per library,
//! memory errors, no fuzzer. With `--eva` a second table shows the alarms of Frama-C's Eva for the
//! same harnesses, if it is installed; `--eva-only` prints only that table.
//!
//!     cargo build --release -p cargo-cegar
//!     cargo bench -p cegar-benches --bench libraries -- [seconds] [library ...] [--curve] \
//!         [--eva[=PRECISION] | --eva-only[=PRECISION]]
//!
//! With `--curve` each library is checked four times, for 10, 20, 40 and 80 seconds, and the table
//! shows what is proved after each time.

mod eva;
mod list;
mod ours;
mod process;

use cegar_benches::{Result, numbers, tool};

use self::list::{LIBRARIES, Library};
use self::ours::Checked;

/// The times in seconds at which the curve is measured.
const CURVE: [u64; 4] = [10, 20, 40, 80];
/// The time in seconds that Eva gets for one library.
const EVA: u64 = 150;

/// The precision of Eva that an option requests, if the option is given. Without a number it is 1.
fn precision(words: &[String], option: &str) -> Option<u64> {
    let given = words.iter().find_map(|word| word.strip_prefix(option));
    match given?.strip_prefix('=') {
        Some(number) => number.parse().ok(),
        None => given.filter(|rest| rest.is_empty()).map(|_| 1),
    }
}

/// The Markdown line below the header of a table.
fn rule(head: &str) -> String {
    let columns = head.matches('|').count().saturating_sub(1);
    format!("|{}", "---|".repeat(columns))
}

fn begin(head: &str) {
    println!("{head}\n{}", rule(head));
}

fn prove(libraries: &[&Library], seconds: u64) -> Result<()> {
    let tool = tool()?;
    begin(ours::HEAD);
    for library in libraries {
        match Checked::of(&tool, library, seconds) {
            Ok(checked) => println!("{}", checked.row(library.name)),
            Err(why) => println!("| {} | {why} |", library.name),
        }
    }
    Ok(())
}

/// Prints the number of checks that are proved, and proved if others hold, after each time of the
/// curve.
fn curve(libraries: &[&Library]) -> Result<()> {
    let tool = tool()?;
    let columns: String = CURVE.iter().map(|s| format!(" {s} s |")).collect();
    begin(&format!("| library |{columns}"));
    for library in libraries {
        let mut row = format!("| {} |", library.name);
        for seconds in CURVE {
            row += &match Checked::of(&tool, library, seconds) {
                Ok(checked) => format!(" {} + {} |", checked.proved(), checked.proved_if()),
                Err(why) => format!(" {why} |"),
            };
        }
        println!("{row}");
    }
    Ok(())
}

fn main() -> Result<()> {
    let seconds = numbers().first().copied().unwrap_or(120);
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_named = |library: &&Library| words.iter().any(|word| word == library.name);
    let all = !LIBRARIES.iter().any(|library| is_named(&library));
    let libraries = LIBRARIES.iter().filter(|library| all || is_named(library));
    let libraries: Vec<&Library> = libraries.collect();
    let alone = precision(&words, "--eva-only");
    if words.iter().any(|word| word == "--curve") {
        curve(&libraries)?;
    } else if alone.is_none() {
        prove(&libraries, seconds)?;
    }
    let Some(precision) = alone.or_else(|| precision(&words, "--eva")) else {
        return Ok(());
    };
    if !eva::is_installed() {
        println!("frama-c is not installed");
        return Ok(());
    }
    println!();
    begin(eva::HEAD);
    for library in &libraries {
        println!("{}", eva::row(library, precision, EVA)?);
    }
    Ok(())
}
