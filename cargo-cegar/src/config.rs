//! Configuration files: `cegar.toml` in the `cegar/` package, and `[package.metadata.cegar]` in the
//! crate's own `Cargo.toml`. The command line takes precedence over the environment (`CEGAR_*`),
//! the environment over `cegar.toml`, and `cegar.toml` over `Cargo.toml`.
//!
//! An unknown key is an error, since ignoring a misspelt `max_len` would cost a night of fuzzing.
//! Errors show the line, and suggest the most similar key.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use cegar_harness::build::local;
use cegar_harness::rules::Rules;
use cegar_model::assumption::Faults;
use cegar_search::strategy::Strategy;
use miette::{Diagnostic, NamedSource, SourceSpan};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::store::{self, FileError};

/// The contents of a configuration file. Everything is optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The library's C code.
    #[serde(default)]
    pub c: CConfig,
    /// The limits and the settings of a run.
    #[serde(default)]
    pub run: RunConfig,
    /// Settings for the crate's declarations.
    #[serde(default)]
    pub bindings: BindingsConfig,
    /// The harnesses, by name.
    #[serde(default)]
    pub harness: BTreeMap<String, HarnessConfig>,
    /// Rules for undefined functions, by name.
    #[serde(default)]
    pub external: BTreeMap<String, Rules>,
}

/// `[c]`: the library's C code. Paths are relative to the `cegar/` package.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CConfig {
    /// C files. Default none.
    pub sources: Option<Vec<String>>,
    /// `captured`: the C files that the crate's own build compiles, as listed in `captured.json`,
    /// in addition to `sources`. Default: captured if there are no `sources`.
    pub sources_from: Option<SourcesFrom>,
    /// Include folders, in addition to the captured ones. Default none.
    pub includes: Option<Vec<String>>,
    /// Defines, `["NAME", "N=10"]` or `{ NAME = true, N = 10 }`, in addition to the captured ones.
    /// Default none.
    pub defines: Option<Defines>,
    /// More compiler flags. Default none.
    pub flags: Option<Vec<String>>,
    /// Libraries that the generated tests are linked with. Default none.
    pub link: Option<Vec<String>>,
    /// Arguments of cargo for capturing the build, as `["--features", "small"]` or `["--release"]`.
    /// Default none.
    pub cargo_args: Option<Vec<String>>,
    /// Captured C files to leave out: patterns for the end of their path, as `tests/*.c` or
    /// `**/contrib/**`. Default none.
    pub exclude: Option<Vec<String>>,
    /// The clang 19 to use unless `CEGAR_CLANG` is set. Default: `clang-19` or `clang`.
    pub compiler: Option<String>,
}

/// `[bindings]`: the crate's `extern` declarations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BindingsConfig {
    /// Whether `run` and `ci` compare them with the library. Default true.
    pub check: Option<bool>,
}

/// `[run]`: the limits and the settings of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Stop after this long, as `60s` or `10m`. Default: when every goal is settled.
    pub max_time: Option<String>,
    /// Stop after this number of executions. Default: by the clock.
    pub runs: Option<u64>,
    /// Seed of every random choice. Default 0.
    pub seed: Option<u64>,
    /// The strategy: `auto`, or the name of a published one. Default `auto`.
    pub strategy: Option<Strategy>,
    /// Whether proofs begin with abstract interpretation of the whole program. Default yes.
    pub floor: Option<bool>,
    /// The faults of the environment that are considered: `none`, `io`, `alloc` or `all`. Default
    /// `io`.
    pub faults: Option<Faults>,
    /// Identifiers of assumptions to lift. Default: those that `faults` lifts.
    #[serde(rename = "no-assume", alias = "no_assume")]
    pub no_assume: Option<Vec<String>>,
    /// Identifiers of assumptions to keep although they would be lifted. Default none.
    pub assume: Option<Vec<String>>,
}

/// `[harness.NAME]`: one program and its entry point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HarnessConfig {
    /// The C file, relative to the `cegar/` package. Default `harnesses/NAME.c`.
    pub file: Option<String>,
    /// The function to start in. Default: `LLVMFuzzerTestOneInput` or `main`, whichever the file
    /// defines.
    pub entry: Option<String>,
    /// `assertion`, `unreach`, `memory`, `overflow` or `all`, or a list of them. Default
    /// `["assertion", "memory"]`.
    pub property: Option<Properties>,
    /// Longest input that the fuzzer tries, in bytes. Default 4096.
    pub max_len: Option<usize>,
    /// The largest number of arguments of the program (chosen like any other input), or a list of
    /// their names. Default 0.
    pub argv: Option<Argv>,
    /// Macros for compiling the harness in addition to those of `[c]`: if the library's files have
    /// different ones, those of the file that the harness drives. Default none.
    pub defines: Option<Defines>,
    /// A header for which the tests get bindings. Default none.
    pub bindings: Option<String>,
    /// The time limit of a run; a longer run is a hang. Default `1s`.
    pub timeout: Option<String>,
    /// The function for which `init` wrote the harness. The choices of such a harness are guesses,
    /// so a fault may be its own.
    pub drives: Option<String>,
    /// Dictionaries for the fuzzer, in the format of libFuzzer and AFL++. Default none.
    pub dict: Option<Paths>,
    /// Initial inputs: folders, or zip archives of inputs. Default none.
    pub seeds: Option<Paths>,
}

/// One path or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a path, or a list of paths")]
pub enum Paths {
    /// `dict = "json.dict"`
    One(String),
    /// `seeds = ["corpus.zip", "../samples"]`
    Several(Vec<String>),
}

impl Paths {
    /// The paths as a list.
    pub fn list(&self) -> &[String] {
        match self {
            Paths::One(path) => std::slice::from_ref(path),
            Paths::Several(paths) => paths,
        }
    }
}

/// The source of the list of C files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourcesFrom {
    /// From `captured.json`.
    Captured,
}

/// Macros as a list or as a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a list, or a table")]
pub enum Defines {
    /// `["N=10", "FAST"]`
    List(Vec<String>),
    /// `{ N = 10, FAST = true }`
    Table(BTreeMap<String, toml::Value>),
}

impl Defines {
    /// The macros as `NAME` or `NAME=value`; a macro with the value `false` is left out.
    pub fn list(&self) -> Vec<String> {
        match self {
            Defines::List(list) => list.clone(),
            Defines::Table(table) => table
                .iter()
                .filter_map(|(name, value)| match value {
                    toml::Value::Boolean(false) => None,
                    toml::Value::Boolean(true) => Some(name.clone()),
                    toml::Value::String(text) => Some(format!("{name}={text}")),
                    other => Some(format!("{name}={other}")),
                })
                .collect(),
        }
    }
}

/// A number of arguments, or their names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number, or a list of names")]
pub enum Argv {
    /// `argv = 2`
    Count(usize),
    /// `argv = ["input", "output"]`
    Names(Vec<String>),
}

impl Argv {
    /// The number of arguments.
    pub fn count(&self) -> usize {
        match self {
            Argv::Count(count) => *count,
            Argv::Names(names) => names.len(),
        }
    }
}

/// One property or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected assertion, unreach, memory, overflow or all"
)]
pub enum Properties {
    /// `property = "memory"`
    One(PropertyName),
    /// `property = ["memory", "overflow"]`
    Several(Vec<PropertyName>),
}

/// The words for properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum PropertyName {
    /// assert, abort, __builtin_trap, reach_error, crunner_fail
    Assertion,
    /// assert, reach_error, crunner_fail; abort merely ends the run
    Unreach,
    /// Invalid reads, writes, frees and calls, and what `assertion` has
    Memory,
    /// Signed overflow, division by zero, bad shifts, floating-point values that do not fit, and
    /// what `assertion` has
    Overflow,
    /// All of them
    All,
}

impl PropertyName {
    /// The properties that the names stand for, always with assertions, which are written to be
    /// checked, and with calls of abort unless `unreach` is given without `assertion` and `all`.
    pub fn expand(names: &[PropertyName]) -> Vec<cegar_model::program::Property> {
        use cegar_model::program::Property::{Abort, Assertion, Memory, Overflow};
        let mut properties = vec![Assertion];
        let asks = |name| names.contains(&name);
        if !asks(PropertyName::Unreach) || asks(PropertyName::Assertion) || asks(PropertyName::All)
        {
            properties.push(Abort);
        }
        for name in names {
            properties.extend_from_slice(match name {
                PropertyName::Assertion | PropertyName::Unreach => &[],
                PropertyName::Memory => &[Memory],
                PropertyName::Overflow => &[Overflow],
                PropertyName::All => &[Memory, Overflow],
            });
        }
        properties.sort_unstable();
        properties.dedup();
        properties
    }
}

impl Properties {
    /// The names as a list.
    pub fn names(&self) -> &[PropertyName] {
        match self {
            Properties::One(name) => std::slice::from_ref(name),
            Properties::Several(names) => names,
        }
    }
}

/// A configuration file that cannot be understood.
#[derive(Debug, Error, Diagnostic)]
#[error("{message}")]
#[diagnostic(code(cegar::config))]
pub struct ConfigError {
    message: String,
    #[source_code]
    source_code: NamedSource<String>,
    #[label("here")]
    span: Option<SourceSpan>,
    #[help]
    help: Option<String>,
}

/// The reasons why a configuration cannot be loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It cannot be understood.
    #[error(transparent)]
    Content(#[from] Box<ConfigError>),
}

/// `[package.metadata.cegar]`, and nothing else of a manifest.
#[derive(Deserialize)]
struct Manifest {
    package: Option<ManifestPackage>,
}

#[derive(Deserialize)]
struct ManifestPackage {
    metadata: Option<ManifestMetadata>,
}

#[derive(Deserialize)]
struct ManifestMetadata {
    cegar: Option<Config>,
}

impl Config {
    /// Reads `cegar.toml`, if there is one, whose values take precedence over those of `manifest`.
    pub fn load(manifest: &Path, cegar_toml: &Path) -> Result<Self, LoadError> {
        let text = store::read_text(manifest)?;
        let read: Manifest = parse(manifest, text)?;
        let under = read
            .package
            .and_then(|p| p.metadata)
            .and_then(|m| m.cegar)
            .unwrap_or_default();
        if !cegar_toml.exists() {
            return Ok(under);
        }
        let package = cegar_toml.parent().unwrap_or(cegar_toml);
        let text = local(&store::read_text(cegar_toml)?, package);
        let over: Config = parse(cegar_toml, text)?;
        Ok(over.over(under))
    }

    /// Reads one file.
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        Ok(parse(path, store::read_text(path)?)?)
    }

    /// Merges two configurations. The values of `self` take precedence over those of `under`.
    fn over(self, under: Config) -> Config {
        let mut harness = under.harness;
        for (name, mine) in self.harness {
            let theirs = harness.remove(&name).unwrap_or_default();
            harness.insert(name, mine.over(theirs));
        }
        let mut external = under.external;
        external.extend(self.external);
        Config {
            c: CConfig {
                sources: self.c.sources.or(under.c.sources),
                includes: self.c.includes.or(under.c.includes),
                defines: self.c.defines.or(under.c.defines),
                flags: self.c.flags.or(under.c.flags),
                sources_from: self.c.sources_from.or(under.c.sources_from),
                link: self.c.link.or(under.c.link),
                cargo_args: self.c.cargo_args.or(under.c.cargo_args),
                exclude: self.c.exclude.or(under.c.exclude),
                compiler: self.c.compiler.or(under.c.compiler),
            },
            run: RunConfig {
                max_time: self.run.max_time.or(under.run.max_time),
                runs: self.run.runs.or(under.run.runs),
                seed: self.run.seed.or(under.run.seed),
                strategy: self.run.strategy.or(under.run.strategy),
                floor: self.run.floor.or(under.run.floor),
                faults: self.run.faults.or(under.run.faults),
                no_assume: self.run.no_assume.or(under.run.no_assume),
                assume: self.run.assume.or(under.run.assume),
            },
            bindings: BindingsConfig {
                check: self.bindings.check.or(under.bindings.check),
            },
            harness,
            external,
        }
    }
}

impl HarnessConfig {
    fn over(self, under: HarnessConfig) -> HarnessConfig {
        HarnessConfig {
            file: self.file.or(under.file),
            entry: self.entry.or(under.entry),
            property: self.property.or(under.property),
            max_len: self.max_len.or(under.max_len),
            argv: self.argv.or(under.argv),
            defines: self.defines.or(under.defines),
            bindings: self.bindings.or(under.bindings),
            timeout: self.timeout.or(under.timeout),
            drives: self.drives.or(under.drives),
            dict: self.dict.or(under.dict),
            seeds: self.seeds.or(under.seeds),
        }
    }
}

fn parse<T: for<'a> Deserialize<'a>>(path: &Path, text: String) -> Result<T, Box<ConfigError>> {
    toml::from_str(&text).map_err(|why| {
        let span = why.span().map(|span: Range<usize>| SourceSpan::from(span));
        let name = path.display().to_string();
        Box::new(ConfigError {
            message: format!("`{name}` is not a valid configuration: {}", why.message()),
            source_code: NamedSource::new(name, text).with_language("TOML"),
            span,
            help: hint(why.message()),
        })
    })
}

/// A hint for "unknown field `x`, expected one of `a`, `b`": the most similar name.
fn hint(message: &str) -> Option<String> {
    let mut words = message.split('`').skip(1).step_by(2);
    if !message.starts_with("unknown field") && !message.starts_with("unknown variant") {
        return None;
    }
    let wrong = words.next()?;
    let known: Vec<&str> = words.collect();
    match nearest(wrong, known.iter().copied()) {
        Some(right) => Some(format!("did you mean `{right}`?")),
        None if known.is_empty() => None,
        None => Some(format!("there are: {}", known.join(", "))),
    }
}

/// The most similar candidate, if its edit distance is at most about a third of the length.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= 1 + candidate.len().max(word.len()) / 3)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// The edit distance, ignoring case and the difference between `-` and `_`.
fn distance(a: &str, b: &str) -> usize {
    let chars = |text: &str| -> Vec<char> {
        text.chars()
            .map(|c| {
                if c == '-' {
                    '_'
                } else {
                    c.to_ascii_lowercase()
                }
            })
            .collect()
    };
    let (a, b) = (chars(a), chars(b));
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let change = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, Box<ConfigError>> {
        parse(Path::new("cegar.toml"), text.to_owned())
    }

    #[test]
    fn a_whole_file() {
        let config = read(
            "[c]\nsources = ['a.c']\ndefines = ['N=1']\n[run]\nmax_time = '1m'\n\
             [harness.one]\nproperty = 'all'\nmax_len = 10\n[harness.two]\nproperty = ['memory']\n",
        )
        .unwrap();
        assert_eq!(config.harness.len(), 2);
        assert_eq!(config.harness["one"].max_len, Some(10));
    }

    #[test]
    fn an_unknown_key_names_the_nearest() {
        let error = read("[harness.x]\nmax-length = 3\n").unwrap_err();
        assert_eq!(error.help.as_deref(), Some("did you mean `max_len`?"));
        assert!(error.span.is_some());
    }

    #[test]
    fn the_nearer_file_wins_key_by_key() {
        let over = read("[run]\nseed = 1\n[harness.x]\nmax_len = 3\n").unwrap();
        let under = read("[run]\nseed = 2\nruns = 9\n[harness.x]\nentry = 'f'\n").unwrap();
        let both = over.over(under);
        assert_eq!((both.run.seed, both.run.runs), (Some(1), Some(9)));
        assert_eq!(both.harness["x"].max_len, Some(3));
        assert_eq!(both.harness["x"].entry.as_deref(), Some("f"));
    }
}
