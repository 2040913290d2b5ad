//! What a campaign is asked to do, as plain data.
//!
//! No command-line type reaches below this line: the campaign can be driven by a test, by another
//! program or by the subcommand alike. Every field says its default.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use cegar_checker::Assumption;
use cegar_harness::rules::Rules;
use cegar_model::assumption::{self, Faults};
use cegar_model::program::Property;
use cegar_search::strategy::Strategy;
use serde::{Deserialize, Serialize};

use crate::compile::{Compiler, Unit};
use crate::error::Error;
use crate::findings::Place;
use crate::store::LONGEST;

/// Which sides of the alternation run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Sides {
    /// Both, in turn. The default.
    #[default]
    Both,
    /// The engine alone (`--engine-only`).
    Engine,
    /// The fuzzer alone (`--fuzz-only`).
    Fuzz,
}

impl Sides {
    /// Whether the engine runs.
    pub fn engine(self) -> bool {
        self != Sides::Fuzz
    }

    /// Whether the fuzzer runs.
    pub fn fuzz(self) -> bool {
        self != Sides::Engine
    }
}

/// What holds for every harness of a campaign.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// Stop after this long; `None`: when every goal is settled. Default 60 s for `check`, none for
    /// `run`.
    pub max_time: Option<Duration>,
    /// Stop after so many native executions instead of by the clock: reproducible. Default none.
    pub runs: Option<u64>,
    /// Seed of every random choice. Default 0.
    pub seed: u64,
    /// Fuzzing processes for a program; one under `runs`. Default 1.
    pub workers: usize,
    /// `HOST:PORT` of a hub, over which inputs are exchanged with other machines; nothing under
    /// `runs`. Default none.
    #[serde(default)]
    pub join: Option<String>,
    /// Which sides run. Default both.
    pub sides: Sides,
    /// The strategy. Any but `auto` works alone: no fuzzing, and no search but its own. Default
    /// `auto`.
    #[serde(default)]
    pub strategy: Strategy,
    /// Whether the engine follows loops by their closed forms. Default yes.
    pub loops: bool,
    /// Whether proofs begin with abstract interpretation of the whole program. Default yes.
    pub floor: bool,
    /// Assumptions that are lifted, by identifier ([`cegar_model::assumption`]). Default: that
    /// input and output do not fail.
    #[serde(default)]
    pub lifted: BTreeSet<String>,
    /// Open goals make the command fail. Default no.
    pub require_proof: bool,
    /// Print the statistics of every part at the end. Default no.
    pub stats: bool,
    /// Keep the scratch folder (bitcode, targets, corpus). Default: `check` removes its own, `run`
    /// keeps.
    pub keep: bool,
    /// The compiler; see [`Compiler::find`].
    pub compiler: Compiler,
}

impl Settings {
    /// All defaults, and no limit of time.
    pub fn new(compiler: Compiler) -> Settings {
        Settings {
            max_time: None,
            runs: None,
            seed: 0,
            workers: 1,
            join: None,
            sides: Sides::Both,
            strategy: Strategy::Auto,
            loops: true,
            floor: true,
            lifted: assumption::lifted(Faults::default(), &[], &[]).unwrap_or_default(),
            require_proof: false,
            stats: false,
            keep: false,
            compiler,
        }
    }

    /// Whether the fuzzer runs.
    pub fn fuzzes(&self) -> bool {
        self.sides.fuzz() && self.strategy == Strategy::Auto
    }
}

/// One harness: a program with an entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Harness {
    /// Its name; also the name of its scratch folder and its corpus.
    pub name: String,
    /// The C files of the program, each with its flags: harness first, then the library's.
    pub units: Vec<Unit>,
    /// Which of these files are the library's: of them a linker takes only what the others need.
    #[serde(default)]
    pub library: Range<usize>,
    /// The function to start in, where it is neither `main` nor `LLVMFuzzerTestOneInput`.
    pub entry: Option<String>,
    /// The function that it was written for by `init`: what it passes of its own accord is a guess.
    /// Default none.
    #[serde(default)]
    pub drives: Option<String>,
    /// Conditions that are no excuse for a fault, since they were rejected. Default none.
    #[serde(default)]
    pub rejected: Vec<String>,
    /// What it keeps of `contracts.toml`: proofs assume it of all callers. Default nothing.
    #[serde(default)]
    pub preconditions: Vec<Assumption>,
    /// What is checked. Default: assertion (with abort) and memory.
    pub properties: Vec<Property>,
    /// Longest tape that the fuzzer may try, in bytes. Default 4096.
    pub max_len: usize,
    /// How many arguments `main` may get beside its name, each chosen. Default 0; `check` allows 3.
    pub argv: usize,
    /// A run that takes longer counts as a hang. Default 1 s.
    pub timeout: Duration,
    /// What the user knows of undefined functions. Default nothing.
    pub rules: BTreeMap<String, Rules>,
    /// Words for the fuzzer, from dictionaries. Default none.
    #[serde(default)]
    pub words: Vec<Vec<u8>>,
    /// Folders and zip archives of inputs to begin with. Default none.
    #[serde(default)]
    pub seeds: Vec<PathBuf>,
}

impl Harness {
    /// A harness with every default.
    pub fn new(name: impl Into<String>, units: Vec<Unit>) -> Self {
        Harness {
            name: name.into(),
            units,
            library: 0..0,
            entry: None,
            drives: None,
            rejected: Vec::new(),
            preconditions: Vec::new(),
            properties: vec![Property::Assertion, Property::Abort, Property::Memory],
            max_len: 4096,
            argv: 0,
            timeout: Duration::from_secs(1),
            rules: BTreeMap::new(),
            words: Vec::new(),
            seeds: Vec::new(),
        }
    }

    /// The harness, unless what `cegar.toml` says of it leaves nothing to do, or asks for too much.
    ///
    /// # Errors
    /// Names the key and its limit.
    pub fn possible(self) -> Result<Self, Error> {
        let of = |key: &str| format!("`{key}` of the harness `{}` in cegar.toml", self.name);
        if self.properties.is_empty() {
            let message = format!("{} names none", of("property"));
            return Err(Error::nothing(message, "leave it out for the default"));
        }
        if self.max_len as u64 > LONGEST {
            let message = format!("{} is {} bytes", of("max_len"), self.max_len);
            let help = format!("inputs have {LONGEST} bytes at most");
            return Err(Error::nothing(message, help));
        }
        Ok(self)
    }
}

/// What `cargo cegar check` is asked: one program, no project.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// The program.
    pub harness: Harness,
    /// How long, how, with what.
    pub settings: Settings,
    /// Scratch folder of this check (exists, writable).
    pub scratch: PathBuf,
    /// Folders for the generated test package, of which the first is taken that holds no other
    /// program's tests (`--emit-dir`: that folder; else `cegar-tests` and others). Default none, as
    /// under `--no-emit`.
    pub emit_dirs: Vec<PathBuf>,
    /// Where the certificate and the bitcode that it is about go (`--certificate`). Default:
    /// nowhere.
    pub certificate: Option<PathBuf>,
}

/// What `cargo cegar run` is asked: the harnesses of a crate's `cegar/` package.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunOptions {
    /// The harnesses that were selected, at least one.
    pub harnesses: Vec<Harness>,
    /// How long, how, with what.
    pub settings: Settings,
    /// Scratch: `target/cegar`; a harness's own is `scratch/<name>`.
    pub scratch: PathBuf,
    /// The `cegar/` package: tests go to `tests/`, corpora to `corpus/<harness>/`.
    pub package: PathBuf,
    /// The folder that reported paths are relative to (the crate's root).
    pub root: PathBuf,
    /// No tests are written (`--no-emit`).
    pub no_emit: bool,
    /// Where new tests and inputs go instead of the package, which is then only read (`ci`).
    /// Default: the package.
    pub artifacts: Option<PathBuf>,
    /// The list of the library's files that tests are built from instead of the package's own,
    /// which is of another build (`ci`). Default: the package's own.
    #[serde(default)]
    pub captured: Option<PathBuf>,
    /// These are all harnesses of the package, so that what belongs to none of them is looked at,
    /// too.
    #[serde(default)]
    pub is_all: bool,
    /// How many processes may work at a time (`--jobs`). Default 1.
    pub jobs: usize,
    /// Whether the C code has been compiled by another process, so that the clock runs already.
    /// Default no.
    #[serde(default)]
    pub is_compiled: bool,
}

impl RunOptions {
    /// Where inputs of a harness that are worth keeping go.
    pub fn corpus(&self, harness: &str) -> PathBuf {
        let folder = self.artifacts.as_ref().unwrap_or(&self.package);
        folder.join("corpus").join(harness)
    }

    /// Where the findings of a harness are remembered.
    pub fn findings(&self, harness: &str) -> Place {
        let emitted = match (&self.artifacts, self.no_emit) {
            (_, true) => None,
            (Some(folder), false) => Some(folder.as_path()),
            (None, false) => Some(self.package.as_path()),
        };
        Place::new(harness, &self.package, emitted, &self.scratch.join(harness))
    }

    /// Inputs that are read beside the corpus, and left as they are.
    pub fn seeds(&self, harness: &str) -> Option<PathBuf> {
        let committed = self.package.join("corpus").join(harness);
        self.artifacts.is_some().then_some(committed)
    }
}

/// What `cargo cegar replay` is asked: run recorded inputs of one harness natively and say how each
/// ended.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// The harness, and all the rest, as for a run.
    pub run: RunOptions,
    /// The tapes to replay: files, or all of a folder's.
    pub inputs: Vec<PathBuf>,
}

/// Reads a duration as people write it: `60s`, `10m`, `1h30m`; a bare number is seconds.
pub fn duration(text: &str) -> Result<Duration, Error> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Ok(Duration::from_secs(seconds));
    }
    humantime::parse_duration(text).map_err(|why| {
        Error::usage(
            format!("`{text}` is not a duration: {why}"),
            "write it as 60s, 10m or 1h30m",
        )
    })
}

/// A duration that `cegar.toml` gives for a key.
///
/// # Errors
/// As [`duration`], with the key.
pub fn configured_duration(key: &str, text: &str) -> Result<Duration, Error> {
    duration(text).map_err(|why| {
        Error::usage(
            format!("{key} in cegar.toml: {why}"),
            "write it as 60s, 10m or 1h30m",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_as_people_write_them() {
        assert_eq!(duration("60").ok(), Some(Duration::from_secs(60)));
        assert_eq!(duration("10m").ok(), Some(Duration::from_secs(600)));
        assert_eq!(duration("1h30m").ok(), Some(Duration::from_secs(5400)));
        assert!(duration("soon").is_err());
        let why = configured_duration("`timeout`", "soon").map_err(|why| why.to_string());
        assert!(why.is_err_and(|why| why.starts_with("`timeout` in cegar.toml: `soon` is not")));
    }
}
