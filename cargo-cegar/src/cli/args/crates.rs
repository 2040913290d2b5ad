//! The arguments of the commands that work on a crate.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{BudgetArgs, duration};
use crate::cli::team::TeamArgs;

/// `run`
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The harnesses [default: all]
    #[arg(value_name = "HARNESS")]
    pub harnesses: Vec<String>,
    /// How long and how
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// Which sides work on it
    #[command(flatten)]
    pub team: TeamArgs,
    /// Stop a harness at its first violation
    #[arg(long)]
    pub until_violation: bool,
    /// Also write the page of the campaign here; target/cegar/report.html has it in any case
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// `ci`
#[derive(Debug, Args)]
pub struct CiArgs {
    /// The harnesses [default: all]
    #[arg(value_name = "HARNESS")]
    pub harnesses: Vec<String>,
    /// How long and how; without --max-time and --runs, ten minutes for all harnesses
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// Which sides work on it
    #[command(flatten)]
    pub team: TeamArgs,
    /// Most time for one harness, whatever its share of --max-time [default: 30m under --runs
    /// without --max-time, so that a harness that hangs ends]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub max_time_per_harness: Option<Duration>,
    /// List of the known findings, which fail no build [default: cegar/baseline.json, if there is
    /// one]
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Add the findings to the baseline
    #[arg(long)]
    pub update_baseline: bool,
    /// Known findings fail the build, too
    #[arg(long)]
    pub fail_on_known: bool,
    /// Write tests and corpus entries into the source tree, as `run` does
    #[arg(long, conflicts_with = "no_emit")]
    pub emit: bool,
    /// Where new tests, inputs and corpus entries go [default: target/cegar/ci]
    #[arg(long, value_name = "DIR")]
    pub artifacts: Option<PathBuf>,
    /// Also write all results as one JSON document
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Also write the lines covered, in lcov's format
    #[arg(long, value_name = "FILE")]
    pub lcov: Option<PathBuf>,
    /// Also write the page of the build here
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Append a summary in Markdown to this file
    #[arg(
        long,
        value_name = "FILE",
        env = "GITHUB_STEP_SUMMARY",
        hide_env_values = true
    )]
    pub summary: Option<PathBuf>,
}

/// `coverage`
#[derive(Debug, Args)]
pub struct CoverageArgs {
    /// The harnesses [default: all]
    #[arg(value_name = "HARNESS")]
    pub harnesses: Vec<String>,
    /// Also write a tracefile of lcov
    #[arg(long, value_name = "FILE")]
    pub lcov: Option<PathBuf>,
    /// Also write a page with the source
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// `init`
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The header that declares the functions [default: the one that is named like the library, or
    /// that declares most of the functions that the crate's Rust code binds]
    #[arg(long, value_name = "FILE")]
    pub header: Option<PathBuf>,
    /// The function that the harness calls, or several: 'parse_*'; may be given more than once
    /// [default: the most promising ones]
    #[arg(long, value_name = "NAME")]
    pub function: Vec<String>,
    /// At most so many harnesses
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub most: usize,
    /// Name of the harness, if only one is written [default: the function's, or the package's]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Also write the files for continuous integration; in a package that is there already, only
    /// those
    #[arg(long, value_name = "SYSTEM", value_enum)]
    pub ci: Vec<CiSystem>,
    /// How long each trial of a written harness takes; trials learn the preconditions that callers
    /// have to keep
    #[arg(
        long = "try",
        value_name = "TIME",
        default_value = "5s",
        conflicts_with = "no_try"
    )]
    pub try_for: String,
    /// How long all trials together may take; harnesses without a trial are written as they are,
    /// and named
    #[arg(
        long,
        value_name = "TIME",
        default_value = "5m",
        conflicts_with = "no_try"
    )]
    pub try_all: String,
    /// Try no harness: no precondition is learnt, and the lines that it reaches are not known
    #[arg(long)]
    pub no_try: bool,
    /// Take over fuzz targets (C files with LLVMFuzzerTestOneInput) and corpora: a file, or a
    /// folder with both
    #[arg(long, value_name = "PATH", conflicts_with_all = ["header", "function"])]
    pub from_fuzz: Option<PathBuf>,
    /// Run the crate's own tests and examples with the library's functions recorded; carve
    /// harnesses from the recorded calls, in their order, and put the recorded data into the
    /// corpora
    #[arg(long, conflicts_with_all = ["from_fuzz", "function", "name"])]
    pub from_tests: bool,
}

/// `bindings`
#[derive(Debug, Args)]
pub struct BindingsArgs {
    /// Also write the mismatches as SARIF 2.1.0
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Also write the mismatches as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// A system that runs builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CiSystem {
    /// GitHub Actions: a workflow that runs `cargo cegar ci`
    Github,
    /// ClusterFuzzLite, on GitHub Actions: for the harnesses that start in LLVMFuzzerTestOneInput
    Clusterfuzzlite,
}

/// `build`
#[derive(Debug, Args)]
pub struct BuildArgs {
    /// Only capture and list; compile nothing
    #[arg(long)]
    pub no_compile: bool,
}

/// `replay`
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The harness
    pub harness: String,
    /// Inputs: files or folders [default: the harness's corpus]
    pub inputs: Vec<PathBuf>,
}

/// `emit`
#[derive(Debug, Args)]
pub struct EmitArgs {
    /// The harnesses [default: all]
    #[arg(value_name = "HARNESS")]
    pub harnesses: Vec<String>,
    /// Tests of what the code does now (those of violations are written when they are found)
    #[arg(long, required = true)]
    pub behaviour: bool,
}

/// `cmin`
#[derive(Debug, Args)]
pub struct CminArgs {
    /// The harnesses [default: all]
    #[arg(value_name = "HARNESS")]
    pub harnesses: Vec<String>,
    /// Only say what would be removed
    #[arg(long)]
    pub dry_run: bool,
}

/// `tmin`
#[derive(Debug, Args)]
pub struct TminArgs {
    /// The harness
    pub harness: String,
    /// The input's file
    pub input: PathBuf,
    /// Where the shorter input goes [default: INPUT.min]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `stats`
#[derive(Debug, Args)]
pub struct StatsArgs {
    /// The harnesses [default: all]
    #[arg(value_name = "HARNESS")]
    pub harnesses: Vec<String>,
}

/// `list`
#[derive(Debug, Args)]
pub struct ListArgs {}
