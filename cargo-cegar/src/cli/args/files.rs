//! The arguments of the commands that work on files.

use std::path::PathBuf;

use clap::Args;

use super::BudgetArgs;
use crate::config::PropertyName;

/// `check`
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The C files of the program
    #[arg(required_unless_present = "svcomp", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Check what a task definition of SV-COMP asks, one property after the other, and say whether
    /// the answer is the expected one
    #[arg(long, value_name = "TASK", conflicts_with_all = ["files", "entry", "property"])]
    pub svcomp: Option<PathBuf>,
    /// Of the task's properties, only this one: `unreach-call` (repeatable)
    #[arg(long, value_name = "NAME", requires = "svcomp")]
    pub only: Vec<String>,
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub defines: Vec<String>,
    /// Add an include folder
    #[arg(short = 'I', value_name = "DIR")]
    pub includes: Vec<PathBuf>,
    /// Another flag for the compiler
    #[arg(long = "cflag", value_name = "FLAG", allow_hyphen_values = true)]
    pub flags: Vec<String>,
    /// The function to start in, of type void(void) or int(void)
    #[arg(long, value_name = "FUNCTION")]
    pub entry: Option<String>,
    /// What is checked [default: assertion and memory]
    #[arg(
        long,
        value_name = "PROPERTY",
        value_enum,
        value_delimiter = ',',
        env = "CEGAR_PROPERTY",
        hide_env_values = true
    )]
    pub property: Vec<PropertyName>,
    /// A file with [external.NAME] tables: rules for external functions
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// Longest input that the fuzzer tries, in bytes [default: 4096]
    #[arg(long, value_name = "BYTES")]
    pub max_len: Option<usize>,
    /// How long and how
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// Where the test goes [default: cegar-tests]
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "no_emit",
        env = "CEGAR_EMIT_DIR",
        hide_env_values = true
    )]
    pub emit_dir: Option<PathBuf>,
    /// Folder for the certificate of the proofs, with the bitcode that it is about; see
    /// `check-proof`
    #[arg(long, value_name = "DIR")]
    pub certificate: Option<PathBuf>,
    /// Where a witness of the verdict goes, in SV-COMP's format 2.0: the way to the violation, or
    /// the proof's loop invariants (which the solver alone has to find then: `--no-floor`)
    #[arg(long, value_name = "FILE")]
    pub witness: Option<PathBuf>,
    /// Keep the scratch folder and say where it is
    #[arg(long)]
    pub keep: bool,
}

/// `debug`
#[derive(Debug, Args)]
pub struct DebugArgs {
    /// The test, as `cargo test` names it
    #[arg(value_name = "TEST")]
    pub test: String,
    /// The debugger [default: gdb, else lldb]
    #[arg(long, env = "CEGAR_DEBUGGER", value_name = "PROGRAM")]
    pub debugger: Option<PathBuf>,
    /// Show where the test stops, and leave the debugger
    #[arg(long)]
    pub batch: bool,
}

/// `check-proof`
#[derive(Debug, Args)]
pub struct CheckProofArgs {
    /// The certificate: `certificate.json` of `check --certificate DIR`, or of a harness's folder
    /// in `target/cegar`
    #[arg(value_name = "CERTIFICATE")]
    pub certificate: PathBuf,
    /// The bitcode that it is about [default: program.bc beside it]
    #[arg(long, value_name = "FILE")]
    pub bitcode: Option<PathBuf>,
    /// Ask this solver instead of Z3's library: a name in PATH (cvc5, bitwuzla, z3) or a path
    #[arg(long, value_name = "NAME|PATH")]
    pub solver: Option<PathBuf>,
    /// Write each question there as an SMT-LIB file that has to be unsatisfiable, and their list,
    /// manifest.tsv
    #[arg(long, value_name = "DIR")]
    pub smt2: Option<PathBuf>,
}

/// `explain`
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// FILE:LINE, FILE:LINE:COLUMN, a test's name, or a check's number as `--message-format json`
    /// has it
    #[arg(value_name = "GOAL")]
    pub goal: String,
    /// Where `check --certificate DIR` or `check --keep` left the goals [default: the package's
    /// harnesses]
    #[arg(long, value_name = "DIR")]
    pub from: Option<PathBuf>,
    /// Only this harness
    #[arg(long, value_name = "NAME")]
    pub harness: Option<String>,
    /// Also write the proof of this goal alone, with the facts that it needs; see
    /// `check-proof`
    #[arg(long, value_name = "DIR")]
    pub certificate: Option<PathBuf>,
}
