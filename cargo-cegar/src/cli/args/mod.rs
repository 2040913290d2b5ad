//! The command line as parsed by `clap`. These types are not used outside of this folder.

mod crates;
mod files;

use std::path::PathBuf;
use std::time::Duration;

use cegar_model::assumption::Faults;
use cegar_search::strategy::Strategy;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

pub use crates::*;
pub use files::*;

/// A fuzzer and a model checker for the C code in your crate, feeding each other
#[derive(Debug, Parser)]
#[command(
    name = "cargo-cegar",
    bin_name = "cargo cegar",
    version,
    propagate_version = true,
    after_long_help = "Exit codes:\n  0    no violation found\n  1    internal error\n  4    \
        nothing selected: no source, or no harness of that name\n  5    goals are open, or \
        preconditions not confirmed, and --require-proof was given\n  6    check-proof did not \
        accept the certificate\n  7    a harness or test was not run, only the engine sees a \
        fault, a condition is in no list\n  96   usage: the command line or a configuration file \
        is wrong\n  100  a check of the C code is violated, or a declaration does not fit\n  101  \
        the C code or its build script does not build\n  102  cargo metadata failed\n  103  a \
        needed tool is missing (clang 19, a debugger, a solver)\n  104  a file or directory cannot \
        be read or written\n  105  --listen or --join: no such address, or nobody there\n  130  \
        interrupted; what had been found is kept"
)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
    /// What every command takes
    #[command(flatten)]
    pub global_args: GlobalArgs,
}

/// The arguments that every command takes, as Cargo names them.
#[derive(Debug, Default, Args)]
pub struct GlobalArgs {
    /// Path to the crate's Cargo.toml
    #[arg(long, global = true, value_name = "PATH", help_heading = "Package")]
    pub manifest_path: Option<PathBuf>,
    /// The package whose C code is checked; may be a dependency
    #[arg(
        short,
        long,
        global = true,
        value_name = "NAME",
        help_heading = "Package"
    )]
    pub package: Option<String>,
    /// Folder for scratch files, in place of cargo's target folder
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help_heading = "Package",
        env = "CARGO_TARGET_DIR",
        hide_env_values = true
    )]
    pub target_dir: Option<PathBuf>,
    /// Colours
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        env = "CARGO_TERM_COLOR",
        default_value = "auto",
        hide_env_values = true,
        help_heading = "Display"
    )]
    pub color: Color,
    /// Form of the report: for a person (stderr), or for a program (JSON lines on stdout)
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        value_enum,
        env = "CEGAR_MESSAGE_FORMAT",
        default_value = "human",
        hide_env_values = true,
        help_heading = "Display"
    )]
    pub message_format: MessageFormat,
    /// Print more; twice: log what each part of the tool does
    #[arg(short, long, global = true, action = ArgAction::Count, help_heading = "Display")]
    pub verbose: u8,
    /// Print findings only
    #[arg(short, long, global = true, action = ArgAction::Count, help_heading = "Display")]
    pub quiet: u8,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The form of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// Status lines on stderr
    #[default]
    Human,
    /// One JSON object per line on stdout, each with a `reason`; the last is `finished`
    Json,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check C files: violated (with an input and a test), proved, or open
    ///
    /// No project is needed: the files are one program, with `main` or `LLVMFuzzerTestOneInput` or
    /// the function given by --entry. What it reads (stdin, arguments, environment,
    /// `__VERIFIER_nondet_*`, `crunner_get_*`, external functions) is chosen by the search.
    #[command(after_long_help = "Examples:\n  \
        cargo cegar check parse.c -D N=10 -I include\n  \
        cargo cegar check driver.c --entry step --property memory --max-time 5m\n  \
        cargo cegar check a.c b.c --message-format json --no-emit")]
    Check(Box<CheckArgs>),
    /// Alternate fuzzing and proving over the crate's harnesses until every goal is settled
    ///
    /// Harnesses come from the `cegar/` package that `cargo cegar init` writes. Tests for what is
    /// found go to `cegar/tests/`, inputs worth keeping to `cegar/corpus/`. A run that is stopped
    /// goes on where it was.
    #[command(
        after_long_help = "Examples:\n  cargo cegar run\n  cargo cegar run parse_header \
        --max-time 10m\n  cargo cegar run --require-proof --sarif out.sarif --junit out.xml\n  \
        cargo cegar run --runs 100000 --seed 7        the same result each time\n  cargo cegar run \
        --listen 192.168.1.7:4242     the first of several machines; the others --join it"
    )]
    Run(RunArgs),
    /// Run all harnesses within a budget, for continuous integration: only new findings fail the
    /// build
    ///
    /// Each harness gets its share of --max-time in a process of its own, which is killed if it
    /// does not end in time. A finding is known, and fails nothing, if `cegar/baseline.json` lists
    /// it. The source tree is left as it is: new tests, inputs and corpus entries go to the folder
    /// of --artifacts, which can be copied over `cegar/`. `target/cegar/report.html` shows all
    /// results; cache `target/cegar`, and the next build goes on from there.
    #[command(
        after_long_help = "Examples:\n  cargo cegar ci --max-time 10m --sarif cegar.sarif \
        --junit cegar.xml\n  cargo cegar ci --runs 100000 --jobs 4         the same result each \
        time\n  cargo cegar ci --update-baseline              what is found now fails no later \
        build\n\n\
        It ends with 100 if there is a new finding, else with the code of the first harness that \
        has no result, with 5 if --require-proof was given and goals are open or preconditions not \
        confirmed, and with 0."
    )]
    Ci(Box<CiArgs>),
    /// Show which lines the last campaigns executed, which are proved unreachable, and which are
    /// open
    ///
    /// Reads what `run` and `ci` left behind. Where harnesses differ about a line, the best
    /// status counts. A function that no harness can call is in no program, and is not counted.
    #[command(after_long_help = "Examples:\n  \
        cargo cegar coverage\n  \
        cargo cegar coverage parse_header --html coverage.html\n  \
        cargo cegar coverage --lcov lcov.info && genhtml lcov.info")]
    Coverage(CoverageArgs),
    /// Write the `cegar/` package: configuration, harnesses, a place for tests
    ///
    /// Harnesses are written from the library's header: buffers with their lengths, strings,
    /// objects that the header's own functions make and give back, callbacks. Without --header the
    /// header is looked for; without --function the most promising functions are taken. A
    /// function without a harness is named with the reason. Files that exist are not overwritten.
    #[command(after_long_help = "Examples:\n  \
        cargo cegar init\n  \
        cargo cegar init -p bzip2-sys --function 'BZ2_bzBuffTo*'\n  \
        cargo cegar init --header src/header.h --function parse_header\n  \
        cargo cegar init --from-fuzz fuzz           C targets and their corpora\n  \
        cargo cegar init --name decompress          a harness to be filled in\n  \
        cargo cegar init --ci github                the workflow for a package that is set up")]
    Init(InitArgs),
    /// Capture the crate's C build, compile it to bitcode, and say what was done
    ///
    /// The crate's own build script runs with a recording compiler in front of the real one, so
    /// defines, include paths and the list of files are the ones that cargo build uses. The record
    /// goes to `cegar/captured.json`; `run` renews it when the build compiles something else.
    #[command(after_long_help = "Examples:\n  \
        cargo cegar build\n  \
        cargo cegar build -p libz-sys\n  \
        cargo cegar build --no-compile         only list what would be compiled")]
    Build(BuildArgs),
    /// Compare the crate's `extern` declarations with the library: types, number of parameters,
    /// structures, constants
    ///
    /// The declarations are read from the crate's Rust files, the definitions from the C files that
    /// its build compiles. A mismatch that is reported is certain; a declaration that is not
    /// understood is left out and counted (-v lists it). `run` and `ci` do the same at their
    /// beginning; `check = false` under [bindings] in cegar.toml switches that off.
    #[command(after_long_help = "Examples:\n  \
        cargo cegar bindings\n  \
        cargo cegar bindings -p libz-sys -v\n  \
        cargo cegar bindings --sarif bindings.sarif")]
    Bindings(BindingsArgs),
    /// Write tests of what the C code does: the fewest inputs of the corpus that enter all blocks
    /// that were entered
    ///
    /// Each becomes a `#[test]` in `cegar/tests/HARNESS_behaviour.rs` with an insta snapshot in
    /// `cegar/snapshots/`: what the code printed, which external functions it called with what, how
    /// it ended. A change of the C code that changes that makes the test fail with a diff. They
    /// need cargo and a C compiler, as all generated tests do.
    #[command(after_long_help = "Examples:\n  \
        cargo cegar emit --behaviour\n  \
        cargo cegar emit --behaviour parse_header && cargo test --manifest-path cegar/Cargo.toml")]
    Emit(EmitArgs),
    /// Keep the smallest corpus: inputs that cover nothing beyond the other inputs are removed
    ///
    /// Two inputs cover the same if they enter the same blocks about as often. Inputs that violate
    /// a check, and files that you named yourself, stay.
    #[command(after_long_help = "Examples:\n  \
        cargo cegar cmin\n  \
        cargo cegar cmin parse_header --dry-run")]
    Cmin(CminArgs),
    /// Shorten one input, keeping how it ends
    ///
    /// An input that violates a check still violates that check; any other input still enters the
    /// same blocks.
    #[command(after_long_help = "Examples:\n  \
        cargo cegar tmin parse_header crash-1f2e\n  \
        cargo cegar tmin parse_header crash-1f2e --output shorter")]
    Tmin(TminArgs),
    /// Show what the last campaigns did: executions, questions to the solver, seeds, time
    #[command(
        after_long_help = "Examples:\n  cargo cegar stats\n  cargo cegar stats --message-format \
            json"
    )]
    Stats(StatsArgs),
    /// Run recorded inputs of a harness natively and say how each ended
    #[command(after_long_help = "Examples:\n  \
        cargo cegar replay parse_header cegar/corpus/parse_header\n  \
        cargo cegar replay parse_header crash-1f2e")]
    Replay(ReplayArgs),
    /// Start a debugger on the run of a generated test, stopped at the fault
    ///
    /// The test is run once to learn its mock environment; then the same executable runs in gdb or
    /// lldb.
    #[command(after_long_help = "Examples:\n  \
        cargo cegar debug next_char_array_bound_c33a55\n  \
        cargo cegar debug probe_invalid_read_5d0a31 --manifest-path cegar-tests/Cargo.toml")]
    Debug(DebugArgs),
    /// Check a certificate: do its proofs hold?
    ///
    /// The bitcode is read and explored anew, and every step of the proof is asked of a fresh
    /// solver; no code of the search that found the proof takes part. Prints the first step
    /// that fails, and exits with 6 then.
    #[command(
        after_long_help = "Examples:\n  cargo cegar check parse.c --certificate proof && \
        cargo cegar check-proof proof/certificate.json\n  cargo cegar check-proof \
        target/cegar/parse_header/certificate.json\n  cargo cegar check-proof \
        proof/certificate.json --solver cvc5\n  cargo cegar check-proof proof/certificate.json \
        --smt2 questions; bitwuzla questions/0001-*.smt2"
    )]
    CheckProof(CheckProofArgs),
    /// Say why a goal stands as it does: the way to a violation, what a proof rests on, why
    /// something is open
    ///
    /// Reads what `run` and `check --certificate DIR` left behind and searches nothing. Of a
    /// violation it shows the lines that an execution enters and the values that it chooses there;
    /// of a proof the invariants around the loops, and no more of them than this goal needs; of
    /// an open goal what was tried, and which option may help.
    #[command(
        after_long_help = "Examples:\n  cargo cegar explain parse.c:88\n  cargo cegar \
        explain parse_array_bound_8c1e02\n  cargo cegar check parse.c --certificate proof; cargo \
        cegar explain parse.c:88 --from proof"
    )]
    Explain(ExplainArgs),
    /// List the harnesses, where each starts, its tests and how its goals stood last
    #[command(
        after_long_help = "Examples:\n  cargo cegar list\n  cargo cegar list --message-format json"
    )]
    List(ListArgs),
}

/// How long and how.
#[derive(Debug, Default, Args)]
pub struct BudgetArgs {
    /// Stop after this long: 60s, 10m, 1h30m
    #[arg(
        long,
        value_name = "TIME",
        env = "CEGAR_MAX_TIME",
        hide_env_values = true,
        value_parser = duration
    )]
    pub max_time: Option<Duration>,
    /// Stop after so many native executions instead of by the clock
    #[arg(long, value_name = "N", env = "CEGAR_RUNS", hide_env_values = true)]
    pub runs: Option<u64>,
    /// Seed of every random choice [default: 0]
    #[arg(long, value_name = "N", env = "CEGAR_SEED", hide_env_values = true)]
    pub seed: Option<u64>,
    /// The strategy: the tool's own, or one published algorithm alone [default: auto]
    #[arg(
        long,
        value_name = "NAME",
        env = "CEGAR_STRATEGY",
        hide_env_values = true,
        value_parser = strategies()
    )]
    pub strategy: Option<Strategy>,
    /// Only the engine, no fuzzing
    #[arg(long, conflicts_with = "fuzz_only")]
    pub engine_only: bool,
    /// Only fuzzing, no engine
    #[arg(long)]
    pub fuzz_only: bool,
    /// Follow loops turn by turn, not by their closed forms
    #[arg(long)]
    pub no_loop_acceleration: bool,
    /// Prove by the solver alone, without abstract interpretation of the whole program first
    #[arg(long)]
    pub no_floor: bool,
    /// What the environment may do wrong: nothing, short and failing input and output, failing
    /// allocations, or all [default: io]
    #[arg(
        long,
        value_name = "LEVEL",
        env = "CEGAR_FAULTS",
        hide_env_values = true,
        value_parser = faults()
    )]
    pub faults: Option<Faults>,
    /// Do not assume this rule (its identifier, or `all`): the model becomes wider, or goals stay
    /// open (repeatable)
    #[arg(long, value_name = "ID")]
    pub no_assume: Vec<String>,
    /// Assume this rule, although --no-assume or cegar.toml lifts it (repeatable)
    #[arg(long, value_name = "ID")]
    pub assume: Vec<String>,
    /// Exit with 5 if a goal stays open, or a proof assumes a precondition that nobody has
    /// confirmed
    #[arg(long)]
    pub require_proof: bool,
    /// Print what each part did
    #[arg(long)]
    pub stats: bool,
    /// Words for the fuzzer, in the format of libFuzzer and AFL++; FILE@2: those of levels up to 2
    /// (repeatable)
    #[arg(long, value_name = "FILE")]
    pub dict: Vec<PathBuf>,
    /// Inputs to begin with: a folder of them, or a zip archive (repeatable)
    #[arg(long, value_name = "DIR|ZIP")]
    pub seeds: Vec<PathBuf>,
    /// Write no tests
    #[arg(long)]
    pub no_emit: bool,
    /// Also write a SARIF 2.1.0 report
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Also write a JUnit report
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// The names of the strategies, each with its description.
fn strategies() -> impl clap::builder::TypedValueParser<Value = Strategy> {
    let names = Strategy::ALL
        .into_iter()
        .map(|strategy| PossibleValue::new(strategy.name()).help(strategy.about()));
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(|name| name.parse::<Strategy>())
}

/// The levels of `--faults`.
fn faults() -> impl clap::builder::TypedValueParser<Value = Faults> {
    let all = Faults::ALL.map(|level| (level.name(), level));
    PossibleValuesParser::new(all.map(|(name, _)| name)).map(move |name| {
        let found = all.into_iter().find(|(known, _)| *known == name);
        found.map_or(Faults::default(), |(_, level)| level)
    })
}

fn duration(text: &str) -> Result<Duration, String> {
    crate::options::duration(text).map_err(|why| why.to_string())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_lists_every_exit_code() {
        let help = Cli::command().render_long_help().to_string();
        for (code, meaning) in crate::exit::ExitCode::TABLE {
            assert!(help.contains(meaning), "{}: {meaning}", code.code());
        }
    }
}
