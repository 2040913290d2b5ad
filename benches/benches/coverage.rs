//! Branch coverage against libFuzzer and AFL++, on libraries that crates bundle.
//!
//!     cargo bench -p cegar-benches --bench coverage -- [seconds [rounds [core]]] [library ...]
//!
//! All three get the same `LLVMFuzzerTestOneInput`, one small valid file to start from, inputs of at most 4096 bytes, and the
//! same processor: this process pins itself and what it starts to one core, so that equal seconds are equal processor time
//! however many processes a tool has. What each leaves in its corpus is then executed by one and the same program with
//! clang's source-based coverage; what counts are the library's branches. Compiling is not part of the time of any.
//! Rounds differ in the seed of the random choices.
//!
//! libFuzzer comes with `clang-19`, AFL++ is Debian's `afl++`; without it its columns are empty. AFL++ runs in persistent mode
//! and with its log of comparisons, as its manual advises.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use cargo_cegar::exit::ExitCode as Exit;
use cegar_benches::libraries::{LIBRARIES, Library};
use cegar_benches::{Result, children_time, median, numbers, tool};

const MAX_LEN: &str = "4096";
const TOOLS: [&str; 3] = ["cargo cegar", "libFuzzer", "AFL++"];

/// A library that is ready for all three.
struct Bench<'a> {
    library: &'a Library,
    /// The crate that depends on it; everything else lies here as well.
    folder: PathBuf,
    /// Where the library's crate lies.
    sources: PathBuf,
}

/// Runs a command and hands on what it printed if it fails.
fn run(command: &mut Command) -> Result<Vec<u8>> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|why| format!("{:?}: {why}", command.get_program()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}\n{text}", output.status).into())
}

/// Removes a file or a folder, if there is one.
fn remove(path: &Path) -> Result<()> {
    if path.is_dir() {
        fs::remove_dir_all(path)?;
    } else if path.exists() {
        fs::remove_file(path)?;
    }
    Ok(())
}

impl<'a> Bench<'a> {
    fn new(library: &'a Library, folder: &Path) -> Result<Self> {
        let folder = folder.join(library.package);
        remove(&folder)?;
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("src/lib.rs"), "//! Empty.\n")?;
        fs::write(
            folder.join("Cargo.toml"),
            format!(
                "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
                 [dependencies]\n{} = {}\n",
                library.package, library.dependency
            ),
        )?;
        let metadata = run(Command::new("cargo")
            .args(["metadata", "--format-version", "1"])
            .current_dir(&folder))?;
        let metadata: serde_json::Value = serde_json::from_slice(&metadata)?;
        let manifest = metadata["packages"]
            .as_array()
            .and_then(|all| all.iter().find(|p| p["name"] == library.package))
            .and_then(|package| package["manifest_path"].as_str())
            .ok_or("cargo metadata does not name the library's crate")?;
        let sources = Path::new(manifest).parent().unwrap_or(Path::new("/"));
        let bench = Self {
            library,
            sources: sources.to_owned(),
            folder,
        };
        bench.build()?;
        Ok(bench)
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// The folder that `cargo cegar init` writes.
    fn package(&self) -> PathBuf {
        self.at(&format!("cegar-{}", self.library.package))
    }

    fn corpus(&self) -> PathBuf {
        self.package().join("corpus/fuzz")
    }

    fn cegar(&self, words: &[&str]) -> Result<Command> {
        let mut command = Command::new(tool()?);
        command
            .args(["cegar", words[0], "-p", self.library.package])
            .args(&words[1..])
            .envs(self.library.environment.iter().copied())
            .env("CARGO_TARGET_DIR", self.at("target"))
            .current_dir(&self.folder);
        Ok(command)
    }

    fn build(&self) -> Result<()> {
        fs::write(self.at("harness.c"), self.library.harness)?;
        fs::write(
            self.at("replay.c"),
            include_str!("../programs/coverage/replay.c"),
        )?;
        run(&mut self.cegar(&["init", "--name", "fuzz"])?)?;
        fs::write(
            self.package().join("harnesses/fuzz.c"),
            self.library.harness,
        )?;
        // Headers that the library finds beside its files.
        let settings = self.package().join("cegar.toml");
        let text = fs::read_to_string(&settings)?;
        let includes: Vec<PathBuf> = (self.library.includes.iter())
            .map(|path| self.sources.join(path))
            .collect();
        let text = text.replacen("[c]\n", &format!("[c]\nincludes = {includes:?}\n"), 1);
        fs::write(settings, text)?;
        run(&mut self.cegar(&["build"])?)?;
        // What is compiled is kept: none of it falls into the first round.
        self.plant(&self.corpus())?;
        self.run_cegar("10", 0)?;

        let fuzzer = ["-O2", "-g", "-fsanitize=fuzzer"];
        let coverage = [
            "-O1",
            "-g",
            "-fprofile-instr-generate",
            "-fcoverage-mapping",
            "replay.c",
        ];
        self.compile("clang-19", &fuzzer, "libfuzzer", &[])?;
        self.compile("clang-19", &coverage, "replay", &[])?;
        if afl() {
            self.compile("afl-clang-fast", &fuzzer, "afl", &[])?;
            self.compile(
                "afl-clang-fast",
                &fuzzer,
                "afl-cmplog",
                &[("AFL_LLVM_CMPLOG", "1")],
            )?;
        }
        Ok(())
    }

    fn compile(
        &self,
        compiler: &str,
        flags: &[&str],
        to: &str,
        env: &[(&str, &str)],
    ) -> Result<()> {
        let include = |path: &&str| format!("-I{}", self.sources.join(path).display());
        run(Command::new(compiler)
            .args(flags)
            .arg("-w")
            .args(self.library.flags)
            .args(self.library.includes.iter().map(include))
            .arg("harness.c")
            .args(self.library.files.iter().map(|f| self.sources.join(f)))
            .args(["-o", to])
            .envs(env.iter().copied())
            .env("AFL_QUIET", "1")
            .current_dir(&self.folder))?;
        Ok(())
    }

    /// An empty folder with nothing but the first input.
    fn plant(&self, folder: &Path) -> Result<()> {
        remove(folder)?;
        fs::create_dir_all(folder)?;
        fs::write(folder.join("first"), self.library.seed)?;
        Ok(())
    }

    fn run_cegar(&self, seconds: &str, round: u64) -> Result<()> {
        let status = self
            .cegar(&["run", "fuzz", "--no-emit", "--seed", &round.to_string()])?
            .args(["--max-time", &format!("{seconds}s")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(self.at("cegar.log"))?)
            .status()?;
        let verdicts = [Exit::Clean, Exit::Violation].map(|exit| Some(exit as i32));
        if verdicts.contains(&status.code()) {
            return Ok(());
        }
        Err(fs::read_to_string(self.at("cegar.log"))?.into())
    }

    /// One tool's run; the folder with what it kept.
    fn fuzz(&self, which: usize, seconds: u64, round: u64) -> Result<PathBuf> {
        let seconds = seconds.to_string();
        match which {
            0 => {
                self.plant(&self.corpus())?;
                // What an earlier campaign knew, but not what it compiled.
                for entry in fs::read_dir(self.at("target/cegar/fuzz"))? {
                    let entry = entry?;
                    if entry.file_name() != "native" && entry.file_name() != "bitcode" {
                        remove(&entry.path())?;
                    }
                }
                self.run_cegar(&seconds, round)?;
                Ok(self.corpus())
            }
            1 => {
                self.plant(&self.at("corpus"))?;
                let time = format!("-max_total_time={seconds}");
                let seed = format!("-seed={round}");
                let max_len = format!("-max_len={MAX_LEN}");
                run(Command::new("./libfuzzer")
                    .args([&time, &seed, &max_len])
                    .args(["-print_final_stats=1", "corpus"])
                    .current_dir(&self.folder))?;
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

    /// Executes all files of a folder; the library's branches: entered, and how many there are.
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

    /// An input that ends the process takes the counters with it: then each half is tried alone.
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

fn afl() -> bool {
    Command::new("afl-fuzz").arg("-h").output().is_ok()
}

/// Keeps this process, and what it starts from here on, on one core.
fn pin(core: usize) -> Result<()> {
    // SAFETY: the set is plain bits, `CPU_SET` checks the number, and the call only reads them.
    let done = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set)
    };
    if done == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error().into())
    }
}

fn bench() -> Result<()> {
    let numbers = numbers();
    let seconds = numbers.first().copied().unwrap_or(120);
    let rounds = numbers.get(1).copied().unwrap_or(5);
    let core = numbers.get(2).copied().unwrap_or(0);
    pin(core as usize)?;
    // Stays, for who wants to look at what is in a corpus.
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
        prepared.push(Bench::new(library, &folder)?);
    }
    let count = if afl() { 3 } else { 2 };
    // By library and tool: branches of each round.
    let mut found = vec![[const { Vec::new() }; 3]; prepared.len()];
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
                    "{} round {round}, {}: {covered} of {total} branches, {spent:.0} s of the processor",
                    bench.library.package, TOOLS[which]
                );
            }
        }
    }
    println!("| library | branches | {} |", TOOLS.join(" | "));
    println!("|---|---|---|---|---|");
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
