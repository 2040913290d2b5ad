//! The options of a campaign, as plain data.
//!
//! No type of the command line is used below this level: a campaign can be started by a test, by
//! another program or by a subcommand. The documentation of each field states its default.

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

/// The sides of the alternation that run.
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

/// Settings that apply to every harness of a campaign.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// Stop after this time; `None`: when every goal is settled. Default 60 s for `check`, none for
    /// `run`.
    pub max_time: Option<Duration>,
    /// Stop after this number of native executions instead of by the clock, which is reproducible.
    /// Default none.
    pub runs: Option<u64>,
    /// Seed of every random choice. Default 0.
    pub seed: u64,
    /// The number of fuzzing processes for a program; one under `runs`. Default 1.
    pub workers: usize,
    /// `HOST:PORT` of a hub, through which inputs are exchanged with other machines; unused under
    /// `runs`. Default none.
    #[serde(default)]
    pub join: Option<String>,
    /// Whether a campaign ends at its first violation. Default: `check` yes, `run` no.
    #[serde(default)]
    pub first_only: bool,
    /// The sides that run. Default both.
    pub sides: Sides,
    /// The strategy. All except `auto` run alone, without fuzzing and without another search.
    /// Default `auto`.
    #[serde(default)]
    pub strategy: Strategy,
    /// Whether the engine follows loops by their closed forms. Default yes.
    pub loops: bool,
    /// Whether proofs begin with abstract interpretation of the whole program. Default yes.
    pub floor: bool,
    /// Identifiers of the lifted assumptions ([`cegar_model::assumption`]). Default: that input and
    /// output do not fail.
    #[serde(default)]
    pub lifted: BTreeSet<String>,
    /// Whether open goals make the command fail. Default no.
    pub require_proof: bool,
    /// Whether to print the statistics of every part at the end. Default no.
    pub stats: bool,
    /// Whether to keep the scratch folder (bitcode, targets, corpus). Default: `check` removes it,
    /// `run` keeps it.
    pub keep: bool,
    /// The compiler; see [`Compiler::find`].
    pub compiler: Compiler,
}

impl Settings {
    /// The default settings, without a time limit.
    pub fn new(compiler: Compiler) -> Settings {
        Settings {
            max_time: None,
            runs: None,
            seed: 0,
            workers: 1,
            join: None,
            first_only: false,
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
    /// The C files of the program, each with its flags: first the harness, then the library.
    pub units: Vec<Unit>,
    /// The indices of the library's files: a linker takes only those of them that the others need.
    #[serde(default)]
    pub library: Range<usize>,
    /// The entry function, if it is neither `main` nor `LLVMFuzzerTestOneInput`.
    pub entry: Option<String>,
    /// The function for which `init` wrote the harness: the values that it chooses itself are
    /// guesses. Default none.
    #[serde(default)]
    pub drives: Option<String>,
    /// Rejected conditions, which do not excuse a fault. Default none.
    #[serde(default)]
    pub rejected: Vec<String>,
    /// The preconditions of `contracts.toml` that it satisfies: proofs assume them of all callers.
    /// Default none.
    #[serde(default)]
    pub preconditions: Vec<Assumption>,
    /// The properties to check. Default: assertion (with abort) and memory.
    pub properties: Vec<Property>,
    /// The longest tape that the fuzzer may try, in bytes. Default 4096.
    pub max_len: usize,
    /// The largest number of arguments of `main` besides its name, each of which is chosen. Default
    /// 0; 3 for `check`.
    pub argv: usize,
    /// A run that takes longer counts as a hang. Default 1 s.
    pub timeout: Duration,
    /// The user's rules for undefined functions. Default none.
    pub rules: BTreeMap<String, Rules>,
    /// Words for the fuzzer from dictionaries. Default none.
    #[serde(default)]
    pub words: Vec<Vec<u8>>,
    /// Folders and zip archives with initial inputs. Default none.
    #[serde(default)]
    pub seeds: Vec<PathBuf>,
}

impl Harness {
    /// A harness with all defaults.
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

    /// Returns the harness, unless its settings in `cegar.toml` leave nothing to do or exceed a
    /// limit.
    ///
    /// # Errors
    /// The error names the key and its limit.
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

/// The options of `cargo cegar check`: one program, without a project.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// The program.
    pub harness: Harness,
    /// The limits and the settings.
    pub settings: Settings,
    /// Scratch folder of this check (exists, writable).
    pub scratch: PathBuf,
    /// Folders for the generated test package. The first that contains no tests of another program
    /// is used (with `--emit-dir`, that folder; otherwise `cegar-tests` and others). Default none,
    /// as with `--no-emit`.
    pub emit_dirs: Vec<PathBuf>,
    /// The folder for the certificate and its bitcode (`--certificate`). Default none.
    pub certificate: Option<PathBuf>,
}

/// The options of `cargo cegar run`: the harnesses of a crate's `cegar/` package.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunOptions {
    /// The selected harnesses, at least one.
    pub harnesses: Vec<Harness>,
    /// The limits and the settings.
    pub settings: Settings,
    /// The scratch folder `target/cegar`; that of a harness is `scratch/<name>`.
    pub scratch: PathBuf,
    /// The `cegar/` package: tests go to `tests/`, corpora to `corpus/<harness>/`.
    pub package: PathBuf,
    /// The folder to which reported paths are relative (the crate's root).
    pub root: PathBuf,
    /// Whether no tests are written (`--no-emit`).
    pub no_emit: bool,
    /// The folder for new tests and inputs in place of the package, which is then only read (`ci`).
    /// Default: the package.
    pub artifacts: Option<PathBuf>,
    /// The list of the library's files from which tests are built, if the package's own list
    /// belongs to another build (`ci`). Default: the package's own list.
    #[serde(default)]
    pub captured: Option<PathBuf>,
    /// Whether these are all harnesses of the package, so that tests and records that belong to
    /// none of them are replayed, too.
    #[serde(default)]
    pub is_all: bool,
    /// The number of processes that may work at a time (`--jobs`). Default 1.
    pub jobs: usize,
    /// Whether another process has compiled the C code, so that the time limit already applies.
    /// Default no.
    #[serde(default)]
    pub is_compiled: bool,
}

impl RunOptions {
    /// The folder for inputs of a harness that are worth keeping.
    pub fn corpus(&self, harness: &str) -> PathBuf {
        let folder = self.artifacts.as_ref().unwrap_or(&self.package);
        folder.join("corpus").join(harness)
    }

    /// The folders for the records of a harness's findings.
    pub fn findings(&self, harness: &str) -> Place {
        let emitted = match (&self.artifacts, self.no_emit) {
            (_, true) => None,
            (Some(folder), false) => Some(folder.as_path()),
            (None, false) => Some(self.package.as_path()),
        };
        Place::new(harness, &self.package, emitted, &self.scratch.join(harness))
    }

    /// The folder of inputs that are read in addition to the corpus, and not changed.
    pub fn seeds(&self, harness: &str) -> Option<PathBuf> {
        let committed = self.package.join("corpus").join(harness);
        self.artifacts.is_some().then_some(committed)
    }
}

/// The options of `cargo cegar replay`: runs recorded inputs of one harness natively and reports
/// how each ended.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// The harness and all other options, as for a run.
    pub run: RunOptions,
    /// The files of the tapes to replay.
    pub inputs: Vec<PathBuf>,
}

/// Parses a duration such as `60s`, `10m` or `1h30m`; a plain number means seconds.
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

/// Parses a duration that `cegar.toml` sets for a key.
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
