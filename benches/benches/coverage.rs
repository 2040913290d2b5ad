//! Branch coverage compared with libFuzzer and AFL++, on libraries that crates bundle.
//!
//!     cargo bench -p cegar-benches --bench coverage -- [seconds [rounds [core]]] [library ...]
//!
//! All tools get the same `LLVMFuzzerTestOneInput`, one small valid file to start from, inputs of
//! at most 4096 bytes, and the same processor core. This process pins itself and its children to
//! one core, so that equal seconds are equal processor time however many processes a tool has.
//! `cargo cegar` runs with default options and, in a column of its own, with `--fuzz-only`. One
//! program with clang's source-based coverage then executes the corpus of each tool; only the
//! library's branches count. No time includes compilation. Rounds differ in the seed of the random
//! choices.
//!
//! libFuzzer comes with `clang-19`. AFL++ is Debian's `afl++`; its columns are empty if it is not
//! installed. AFL++ runs in persistent mode and with its log of comparisons, as its manual advises.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use cegar_benches::libraries::{LIBRARIES, Library};
use cegar_benches::prepared::{MAX_LEN, PreparedLibrary, afl, remove, run};
use cegar_benches::{Result, children_time, median, numbers, pin};

const TOOLS: [&str; 4] = ["cargo cegar", "--fuzz-only", "libFuzzer", "AFL++"];

/// The fuzzing run of one tool, and the measurement of its coverage.
trait Campaign {
    /// Runs one tool (an index into `TOOLS`). Returns the folder with its corpus.
    fn fuzz(&self, which: usize, seconds: u64, round: u64) -> Result<PathBuf>;

    /// Executes all files of a folder. Returns how many of the library's branches were entered, and
    /// how many there are.
    fn branches(&self, folder: &Path) -> Result<(u64, u64)>;

    /// Executes these files and writes coverage profiles to a folder.
    fn replay(&self, files: &[PathBuf], profiles: &Path) -> Result<()>;
}

impl Campaign for PreparedLibrary<'_> {
    fn fuzz(&self, which: usize, seconds: u64, round: u64) -> Result<PathBuf> {
        let (given, seconds) = (seconds, seconds.to_string());
        match which {
            0 | 1 => {
                self.plant(&self.corpus())?;
                // Removes what an earlier campaign learned, but not what it compiled.
                for entry in fs::read_dir(self.results())? {
                    let entry = entry?;
                    if entry.file_name() != "native" && entry.file_name() != "bitcode" {
                        remove(&entry.path())?;
                    }
                }
                let further: &[&str] = if which == 1 { &["--fuzz-only"] } else { &[] };
                self.run_cegar(&seconds, round, further)?;
                Ok(self.corpus())
            }
            2 => {
                self.plant(&self.at("corpus"))?;
                let max_len = format!("-max_len={MAX_LEN}");
                let end = Instant::now() + Duration::from_secs(given);
                // libFuzzer ends when the library fails. It is started again with its corpus until
                // the time is used up.
                for start in 0.. {
                    let left = end.saturating_duration_since(Instant::now()).as_secs();
                    if left == 0 {
                        break;
                    }
                    let time = format!("-max_total_time={left}");
                    let seed = format!("-seed={}", round + 1000 * start);
                    let status = Command::new("./libfuzzer")
                        .args([&time, &seed, &max_len])
                        .args(["-print_final_stats=1", "corpus"])
                        .current_dir(&self.folder)
                        .stderr(Stdio::null())
                        .status()?;
                    if status.code().is_none() {
                        return Err("libFuzzer was killed".into());
                    }
                }
                Ok(self.at("corpus"))
            }
            _ => {
                self.plant(&self.at("in"))?;
                let out = self.at("out");
                remove(&out)?;
                run(Command::new("afl-fuzz")
                    .args(["-i", "in", "-o", "out", "-c", "./afl-cmplog"])
                    .args(["-V", &seconds, "-s", &round.to_string(), "-G", MAX_LEN])
                    .args(["--", "./afl"])
                    .envs(
                        [
                            "AFL_SKIP_CPUFREQ",
                            "AFL_NO_AFFINITY",
                            "AFL_NO_UI",
                            "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES",
                        ]
                        .map(|name| (name, "1")),
                    )
                    .current_dir(&self.folder))?;
                Ok(out.join("default/queue"))
            }
        }
    }

    fn branches(&self, folder: &Path) -> Result<(u64, u64)> {
        let mut files: Vec<PathBuf> = fs::read_dir(folder)?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.is_file())
            .collect();
        files.sort();
        let profiles = self.at("profiles");
        remove(&profiles)?;
        fs::create_dir(&profiles)?;
        self.replay(&files, &profiles)?;
        let merged = self.at("merged.profdata");
        run(Command::new("llvm-profdata-19")
            .args(["merge", "-o"])
            .args([&merged, &profiles]))?;
        let summary = run(Command::new("llvm-cov-19")
            .args(["export", "-summary-only", "-ignore-filename-regex"])
            .arg(r"(harness|replay)\.c$")
            .arg(format!("-instr-profile={}", merged.display()))
            .arg(self.at("replay")))?;
        let summary: serde_json::Value = serde_json::from_slice(&summary)?;
        let branches = &summary["data"][0]["totals"]["branches"];
        match (branches["covered"].as_u64(), branches["count"].as_u64()) {
            (Some(covered), Some(count)) => Ok((covered, count)),
            _ => Err("llvm-cov export has no totals of branches".into()),
        }
    }

    /// An input that kills the process loses the coverage counters. Then each half of the files is
    /// executed alone.
    fn replay(&self, files: &[PathBuf], profiles: &Path) -> Result<()> {
        let mut list = String::new();
        for file in files {
            writeln!(list, "{}", file.display())?;
        }
        let mut child = Command::new("./replay")
            .current_dir(&self.folder)
            .env("LLVM_PROFILE_FILE", profiles.join("%p.profraw"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let written = child
            .stdin
            .take()
            .map(|mut to| to.write_all(list.as_bytes()));
        if child.wait()?.success() {
            return written.unwrap_or(Ok(())).map_err(Into::into);
        }
        if files.len() > 1 {
            let (one, other) = files.split_at(files.len() / 2);
            self.replay(one, profiles)?;
            self.replay(other, profiles)?;
        }
        Ok(())
    }
}

fn bench() -> Result<()> {
    let numbers = numbers();
    let seconds = numbers.first().copied().unwrap_or(120);
    let rounds = numbers.get(1).copied().unwrap_or(5);
    let core = numbers.get(2).copied().unwrap_or(0);
    pin(core as usize)?;
    // The folder is kept, so that the corpora can be inspected.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("coverage");
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_named = |library: &Library| words.iter().any(|word| word == library.package);
    let all = !LIBRARIES.iter().any(is_named);
    let mut prepared = Vec::new();
    for library in LIBRARIES {
        if !all && !is_named(library) {
            continue;
        }
        eprintln!("building {}", library.package);
        prepared.push(PreparedLibrary::new(library, &folder, true)?);
    }
    let count = if afl() { 4 } else { 3 };
    // The number of entered branches of each round, by library and tool.
    let mut found = vec![[const { Vec::new() }; 4]; prepared.len()];
    let mut totals = vec![0; prepared.len()];
    for round in 1..=rounds {
        for (at, bench) in prepared.iter().enumerate() {
            for which in 0..count {
                let before = children_time();
                let corpus = bench.fuzz(which, seconds, round)?;
                let spent = (children_time() - before).as_secs_f64();
                let (covered, total) = bench.branches(&corpus)?;
                found[at][which].push(covered as f64);
                totals[at] = total;
                eprintln!(
                    "{} round {round}, {}: {covered} of {total} branches, {spent:.0} s of the \
                     processor",
                    bench.library.package, TOOLS[which]
                );
            }
        }
    }
    println!("| library | branches | {} |", TOOLS.join(" | "));
    println!("|---|---|---|---|---|---|");
    for ((bench, cells), total) in prepared.iter().zip(found).zip(totals) {
        let cell = |rounds: Vec<f64>| {
            let least = rounds.iter().copied().fold(f64::INFINITY, f64::min);
            let most = rounds.iter().copied().fold(0.0, f64::max);
            if rounds.is_empty() {
                return String::new();
            }
            format!("{} ({least}-{most})", median(rounds))
        };
        let cells = cells.map(cell).join(" | ");
        println!("| {} | {total} | {cells} |", bench.library.package);
    }
    Ok(())
}

fn main() -> ExitCode {
    match bench() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
