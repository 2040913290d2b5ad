//! Prepares libraries for each fuzzer: `cargo cegar`'s harness package, the executables of
//! libFuzzer and AFL++, and one that reports which branches a corpus enters.
//!
//! Compilation is not measured: it happens before, in the same way for every benchmark that
//! compares fuzzers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_cegar::exit::ExitCode as Exit;

use crate::libraries::Library;
use crate::{Result, tool};

/// The maximum input length, in bytes.
pub const MAX_LEN: &str = "4096";

/// A library that is prepared for all fuzzers.
pub struct PreparedLibrary<'a> {
    /// The library.
    pub library: &'a Library,
    /// The folder of the crate that depends on the library; all other files are here as well.
    pub folder: PathBuf,
    /// The folder of the library's crate.
    sources: PathBuf,
}

/// Runs a command and returns its standard output; if it fails, the error contains its standard
/// error.
pub fn run(command: &mut Command) -> Result<Vec<u8>> {
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
pub fn remove(path: &Path) -> Result<()> {
    if path.is_dir() {
        fs::remove_dir_all(path)?;
    } else if path.exists() {
        fs::remove_file(path)?;
    }
    Ok(())
}

impl<'a> PreparedLibrary<'a> {
    /// Prepares a library in a folder of its own. `compared` says whether coverage is compared,
    /// which needs more executables than libFuzzer's alone.
    pub fn new(library: &'a Library, folder: &Path, compared: bool) -> Result<Self> {
        let folder = folder.join(library.package);
        remove(&folder)?;
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("src/lib.rs"), "//! Empty.\n")?;
        fs::write(
            folder.join("Cargo.toml"),
            format!(
                "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
                 [workspace]\n\n[dependencies]\n{} = {}\n",
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
        bench.build(compared)?;
        Ok(bench)
    }

    /// A path in the library's folder.
    pub fn at(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// The harness package that `cargo cegar init` writes.
    fn package(&self) -> PathBuf {
        self.at(&format!("cegar-{}", self.library.package))
    }

    /// The folder in which `cargo cegar` keeps inputs.
    pub fn corpus(&self) -> PathBuf {
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

    fn build(&self, compared: bool) -> Result<()> {
        fs::write(self.at("harness.c"), self.library.harness)?;
        for (name, text) in self.library.written {
            fs::write(self.at(name), text)?;
        }
        fs::write(
            self.at("replay.c"),
            include_str!("../programs/coverage/replay.c"),
        )?;
        run(&mut self.cegar(&["init", "--name", "fuzz"])?)?;
        fs::write(
            self.package().join("harnesses/fuzz.c"),
            self.library.harness,
        )?;
        // Adds the folders of headers that the library finds beside its files.
        let settings = self.package().join("cegar.toml");
        let text = fs::read_to_string(&settings)?;
        let includes: Vec<PathBuf> = (self.library.includes.iter())
            .map(|path| self.sources.join(path))
            .collect();
        let text = text.replacen("[c]\n", &format!("[c]\nincludes = {includes:?}\n"), 1);
        fs::write(settings, text)?;
        run(&mut self.cegar(&["build"])?)?;
        // Compiles everything now, so that no compilation falls into the first round.
        self.plant(&self.corpus())?;
        // On a busy machine compilation may exceed that time; then it gets more.
        if self.run_cegar("30", 0, &[]).is_err() {
            self.run_cegar("120", 0, &[])?;
        }

        let fuzzer = ["-O2", "-g", "-fsanitize=fuzzer"];
        let coverage = [
            "-O1",
            "-g",
            "-fprofile-instr-generate",
            "-fcoverage-mapping",
            "replay.c",
        ];
        self.compile("clang-19", &fuzzer, "libfuzzer", &[])?;
        if !compared {
            return Ok(());
        }
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
            .args(["-lm", "-o", to])
            .envs(env.iter().copied())
            .env("AFL_QUIET", "1")
            .current_dir(&self.folder))?;
        Ok(())
    }

    /// Empties a folder and writes the first input to it.
    pub fn plant(&self, folder: &Path) -> Result<()> {
        remove(folder)?;
        fs::create_dir_all(folder)?;
        fs::write(folder.join("first"), self.library.seed)?;
        Ok(())
    }

    /// The folder below `target` with the results of a campaign.
    pub fn results(&self) -> PathBuf {
        self.at(&format!("target/cegar-{}/fuzz", self.library.package))
    }

    /// The program's bitcode, which a campaign leaves behind.
    pub fn program(&self) -> PathBuf {
        self.results().join("program.bc")
    }

    /// Runs a campaign of `cargo cegar`, with further options.
    pub fn run_cegar(&self, seconds: &str, round: u64, further: &[&str]) -> Result<()> {
        let status = self
            .cegar(&["run", "fuzz", "--no-emit", "--seed", &round.to_string()])?
            .args(["--max-time", &format!("{seconds}s")])
            .args(further)
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
}

/// Whether AFL++ is installed.
pub fn afl() -> bool {
    Command::new("afl-fuzz").arg("-h").output().is_ok()
}
