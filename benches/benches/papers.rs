//! The papers' tables with our columns beside the printed ones: the same algorithms on one program,
//! with one solver, on one machine.
//!
//!     cargo build --release -p cargo-cegar
//!     cargo bench -p cegar-benches --bench papers -- [seconds [table]]
//!
//! Table 1 is CRunner's table 1, 2 is SatAbs's figure 10, 3 is Synergy's table 1; without a number
//! all tables are printed. A cell shows the iterations of the strategy's loop, the number of solver
//! queries and the wall-clock time of the whole check. `*` marks a check that was not settled in
//! time, with its iterations so far; `!` marks a wrong verdict. The papers' programs are read from
//! the benchmark collection if it is beside the repository; otherwise our own programs of the same
//! kinds replace them.

use std::path::{Path, PathBuf};

use cegar_benches::check::{Check, name, programs};
use cegar_benches::{Result, numbers, tool};
use cegar_search::strategy::Strategy;

/// The folder of the benchmark collection, relative to the package.
const COLLECTION: &str = "../../shared/benchmarks";

/// The minimum fraction of the time limit that a strategy uses if it does not give up early.
const USED: f64 = 0.65;

/// One program of a table, with its compiler flags and the expected verdict.
struct Case {
    source: PathBuf,
    flags: Vec<String>,
    expected: Option<&'static str>,
}

impl Case {
    fn new(source: &Path, flags: &[&str], expected: Option<&'static str>) -> Case {
        Case {
            source: source.to_owned(),
            flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
            expected,
        }
    }
}

/// The settings that all tables share.
struct Bench {
    tool: PathBuf,
    limit: u64,
    here: PathBuf,
}

impl Bench {
    /// The path of a program of the collection, or of our own replacement if the collection is
    /// missing; the flag says whether it is our own.
    fn program(&self, collection: &str, own: &str) -> (PathBuf, bool) {
        let theirs = self.here.join(COLLECTION).join(collection);
        match theirs.is_file() {
            true => (theirs, false),
            false => (self.here.join("programs").join(own), true),
        }
    }

    fn cell(&self, strategy: Strategy, case: &Case, more: &[&str]) -> Result<String> {
        let mut arguments = vec!["--strategy", strategy.name(), "--max-len", "1048576"];
        for flag in &case.flags {
            arguments.extend(["--cflag", flag]);
        }
        arguments.extend(more);
        let end = Check::of(&self.tool, &case.source, self.limit, &arguments)?;
        let turns = end.count("prover/iterations");
        // The search's own queries are counted apart; only `auto` has any.
        let calls = end
            .count("prover/solver_calls")
            .max(end.count("solver_calls"));
        let verdict = end.verdict();
        if verdict == "open" {
            // Part of the time is reserved for settling and checking. A strategy that ends before
            // the rest is used up has given up.
            let early = match end.wall < USED * self.limit as f64 {
                true => format!("open, {:.1} s", end.wall),
                false => "*".to_owned(),
            };
            return Ok(format!("{early} ({turns} / {calls})"));
        }
        let wrong = match case.expected {
            Some(expected) if expected != verdict => format!(" ! {verdict}"),
            _ => String::new(),
        };
        Ok(format!("{turns} / {calls} / {:.1} s{wrong}", end.wall))
    }

    fn row(&self, first: &str, printed: &[&str], cells: &[Result<String>]) {
        let mut row = format!("| {first} |");
        for cell in printed {
            row.push_str(&format!(" {cell} |"));
        }
        for cell in cells {
            match cell {
                Ok(cell) => row.push_str(&format!(" {cell} |")),
                Err(why) => row.push_str(&format!(" failed: {} |", first_line(&why.to_string()))),
            }
        }
        println!("{row}");
    }

    /// CRunner's table 1: a buffer overflow after n bytes of input, and the program without it.
    fn crunner(&self) {
        println!("CRunner, table 1: turns / solver calls / seconds\n");
        head(
            &["n", "printed: CRunner", "printed: conventional"],
            &["crunner", "slam", "satabs", "auto"],
        );
        let (source, own) = self.program("crunner/overflow_after_n.c", "overflow_after.c");
        let printed = [
            (10, "1.5 s", "41.4 s"),
            (50, "1.5 s", "700 s"),
            (100, "1.5 s", "*"),
            (1_000, "1.5 s", "*"),
            (10_000, "1.5 s", "*"),
            (100_000, "1.5 s", "*"),
        ];
        let strategies = [
            Strategy::Crunner,
            Strategy::Slam,
            Strategy::Satabs,
            Strategy::Auto,
        ];
        let property = ["--property", "assertion"];
        for (n, theirs, conventional) in printed {
            let size = format!("-DN={n}");
            let faulty = if own { "-DFAULTY" } else { "-DBUG" };
            let case = Case::new(&source, &[&size, faulty], Some("violated"));
            let cells = strategies.map(|s| self.cell(s, &case, &property));
            self.row(&n.to_string(), &[theirs, conventional], &cells);
        }
        for n in [100, 100_000] {
            let size = format!("-DN={n}");
            let case = Case::new(&source, &[&size, "-DFIXED"], Some("proved"));
            let cells = strategies.map(|s| self.cell(s, &case, &property));
            self.row(&format!("no bug, {n}"), &["1.5 s", "0.01 s"], &cells);
        }
    }

    /// SatAbs's figure 10: a buffer of `MAX_LEN` bytes for a path that is too short.
    fn satabs(&self) {
        println!("\nSatAbs, figure 10: turns / solver calls / seconds\n");
        head(
            &[
                "MAX_LEN",
                "printed: SatAbs with loops",
                "SatAbs without",
                "SLAM",
                "BLAST",
            ],
            &["satabs", "satabs without loops", "slam", "auto"],
        );
        let (source, own) = self.program("satabs/rcfile.c", "home_path.c");
        let printed = [
            (25, "25.0 s", "57.7 s", "44.0 s", "161.1 s"),
            (50, "28.0 s", "182.9 s", "294.9 s", "1477.4 s"),
            (75, "32.8 s", "402.9 s", "993.6 s", "-"),
            (100, "34.1 s", "765.0 s", "2446.0 s", "-"),
            (150, "50.3 s", "2241.9 s", "9130.2 s", "-"),
            (200, "55.8 s", "5402.9 s", "23803.5 s", "-"),
            (300, "97.6 s", "18702.4 s", "-", "-"),
            (512, "254.5 s", "-", "-", "-"),
        ];
        let property = ["--property", "memory"];
        let turn_by_turn = ["--property", "memory", "--no-loop-acceleration"];
        for (length, loops, without, slam, blast) in printed {
            let size = format!("-DMAX_LEN={length}");
            let faulty = if own { "-DFAULTY" } else { "-DBUG" };
            let case = Case::new(&source, &[&size, faulty], Some("violated"));
            let cells = [
                self.cell(Strategy::Satabs, &case, &property),
                self.cell(Strategy::Satabs, &case, &turn_by_turn),
                self.cell(Strategy::Slam, &case, &property),
                self.cell(Strategy::Auto, &case, &property),
            ];
            let printed = [loops, without, slam, blast];
            self.row(&length.to_string(), &printed, &cells);
        }
    }

    /// Synergy's table 1: twenty programs.
    fn synergy(&self) {
        println!("\nSynergy, table 1: turns / solver calls / seconds; printed: turns / seconds\n");
        head(
            &["program", "printed: Synergy", "SLAM", "Lee-Yannakakis"],
            &[
                "synergy",
                "slam",
                "lee-yannakakis",
                "crunner",
                "satabs",
                "auto",
            ],
        );
        let theirs = programs(&self.here.join(COLLECTION).join("synergy"));
        let all = match theirs.is_empty() {
            true => programs(&self.here.join("programs")),
            false => theirs.clone(),
        };
        for source in all {
            let name = name(&source);
            let number = name.get(1..3).and_then(|n| n.parse::<usize>().ok());
            let Some(number) = number.filter(|n| name.starts_with('t') && *n <= PRINTED.len())
            else {
                continue;
            };
            let (synergy, slam, lee, faulty) = PRINTED[number - 1];
            // None of our own programs has a fault.
            let expected = match faulty && !theirs.is_empty() {
                true => "violated",
                false => "proved",
            };
            let case = Case::new(&source, &[], Some(expected));
            let strategies = [
                Strategy::Synergy,
                Strategy::Slam,
                Strategy::LeeYannakakis,
                Strategy::Crunner,
                Strategy::Satabs,
                Strategy::Auto,
            ];
            let cells = strategies.map(|s| self.cell(s, &case, &["--property", "assertion"]));
            self.row(
                &format!("{name} ({expected})"),
                &[synergy, slam, lee],
                &cells,
            );
        }
    }
}

/// Synergy's table 1 as printed, by test: Synergy, SLAM, Lee-Yannakakis, and whether the error is
/// reachable in the collection's program.
const PRINTED: [(&str, &str, &str, bool); 20] = [
    ("9 / 3.92 s", "4 / 1.70 s", "*", false),
    ("6 / 7.88 s", "4 / 1.55 s", "*", false),
    ("5 / 2.19 s", "13 / 8.03 s", "*", true),
    ("2 / 2.67 s", "12 / 3.52 s", "22 / 8.08 s", false),
    ("2 / 1.28 s", "1 / 0.90 s", "*", false),
    ("1 / 1.45 s", "1 / 1.27 s", "1 / 1.75 s", true),
    ("6 / 2.11 s", "4 / 1.11 s", "6 / 2.06 s", true),
    ("2 / 1.28 s", "2 / 1.19 s", "*", false),
    ("3 / 1.39 s", "1 / 1.19 s", "3 / 1.42 s", true),
    ("3 / 1.52 s", "1 / 1.25 s", "3 / 1.52 s", false),
    ("2 / 1.30 s", "13 / 5.03 s", "*", false),
    ("7 / 2.30 s", "13 / 10.25 s", "*", false),
    ("12 / 3.17 s", "2 / 1.31 s", "12 / 3.18 s", false),
    ("1 / 1.06 s", "12 / 3.45 s", "*", true),
    ("3 / 5.98 s", "*", "3 / 5.65 s", false),
    ("3 / 9.20 s", "*", "*", false),
    ("2 / 2.28 s", "*", "*", false),
    ("24 / 13.41 s", "*", "*", false),
    ("24 / 10.84 s", "*", "*", false),
    ("22 / 9.42 s", "*", "*", false),
];

fn head(printed: &[&str], ours: &[&str]) {
    let mut names: Vec<&str> = printed.to_vec();
    names.extend(ours);
    println!("| {} |", names.join(" | "));
    println!("|{}", "---|".repeat(names.len()));
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or("?").trim().to_owned()
}

fn main() -> Result<()> {
    let numbers = numbers();
    let bench = Bench {
        tool: tool()?,
        limit: numbers.first().copied().unwrap_or(60),
        here: PathBuf::from(env!("CARGO_MANIFEST_DIR")),
    };
    // The first check compiles the stub library and is not counted.
    let warm = bench.here.join("programs/t05_count_down.c");
    Check::of(&bench.tool, &warm, 30, &[])?;
    let wanted = numbers.get(1).copied();
    if wanted.is_none_or(|table| table == 1) {
        bench.crunner();
    }
    if wanted.is_none_or(|table| table == 2) {
        bench.satabs();
    }
    if wanted.is_none_or(|table| table == 3) {
        bench.synergy();
    }
    Ok(())
}
