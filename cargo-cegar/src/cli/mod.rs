//! Reads the command line, converts it to plain options, calls the module that does the work, and
//! turns the outcome into an exit code. This layer is thin, since a test can only call it by
//! starting a process.

mod args;
mod asking;
mod bindings;
mod build;
mod check;
mod ci;
mod corpus;
mod coverage;
mod debug;
mod explain;
mod init;
mod init_ci;
mod list;
mod outputs;
mod proof;
mod run;
mod svcomp;
mod team;

use std::ffi::OsString;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser as _;
use clap::error::ErrorKind;

use crate::error::Error;
use crate::event::{Event, Fan, JsonReporter, Level, Reporter};
use crate::exit::ExitCode;
use crate::report::TerminalReporter;
use crate::signals;
use crate::verdict::Verdict;

use args::{Cli, Color, Command, GlobalArgs, MessageFormat};

/// Runs the command given by `args`, whose first element is the program's name.
pub fn main(args: impl Iterator<Item = OsString>) -> ExitCode {
    let mut args: Vec<OsString> = args.collect();
    // `cargo cegar x` calls `cargo-cegar cegar x`.
    if args.get(1).is_some_and(|word| word == "cegar") {
        args.remove(1);
    }
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(why) => {
            let asked = matches!(
                why.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            );
            let _ = why.print();
            return if asked {
                ExitCode::Clean
            } else {
                ExitCode::Usage
            };
        }
    };
    log(&cli.global_args);
    match command(&cli) {
        Ok(code) => code,
        Err(error) => {
            let code = error.exit_code();
            show(&cli.global_args, error);
            code
        }
    }
}

/// Runs the campaign of one harness for a parent that reads JSON lines.
pub fn campaign(options: &std::path::Path) -> ExitCode {
    let global_args = GlobalArgs {
        message_format: MessageFormat::Json,
        ..GlobalArgs::default()
    };
    log(&global_args);
    match crate::campaign::pool::child(options) {
        Ok(_) => ExitCode::Clean,
        Err(error) => {
            let code = error.exit_code();
            show(&global_args, error);
            code
        }
    }
}

fn command(cli: &Cli) -> Result<ExitCode, Error> {
    let global_args = &cli.global_args;
    let stop = signals::install();
    match &cli.command {
        Command::Check(args) => check::check(global_args, args, &stop),
        Command::Run(args) => run::run(global_args, args, &stop),
        Command::Ci(args) => ci::ci(global_args, args, &stop),
        Command::Bindings(args) => bindings::bindings(global_args, args, &stop),
        Command::Coverage(args) => coverage::coverage(global_args, args),
        Command::Emit(args) => corpus::emit(global_args, args, &stop),
        Command::Cmin(args) => corpus::cmin(global_args, args, &stop),
        Command::Tmin(args) => corpus::tmin(global_args, args, &stop),
        Command::Stats(args) => corpus::stats(global_args, args),
        Command::Replay(args) => run::replay(global_args, args, &stop),
        Command::Init(args) => init::init(global_args, args, &stop),
        Command::Build(args) => build::build(global_args, args, &stop),
        Command::Debug(args) => debug::debug(global_args, args),
        Command::CheckProof(args) => proof::check_proof(global_args, args),
        Command::Explain(args) => explain::explain(global_args, args),
        Command::List(_) => list::list(global_args),
    }
}

/// The reporter that the command line asks for. Relative paths are relative to `root`.
fn reporter(global_args: &GlobalArgs, stats: bool, root: &std::path::Path) -> Fan {
    let mut fan = Fan::default();
    match global_args.message_format {
        MessageFormat::Json => fan.add(JsonReporter::new(std::io::stdout())),
        MessageFormat::Human => fan.add(TerminalReporter::stderr(
            verbosity(global_args),
            stats,
            color(global_args),
            root.to_owned(),
        )),
    }
    fan
}

fn note(reporter: &mut dyn Reporter, level: Level, message: impl Into<String>) {
    reporter.event(&Event::Note {
        level,
        message: message.into(),
    });
}

/// The exit code for a verdict.
fn exit_code(verdict: Verdict, require_proof: bool, fan: &Fan) -> ExitCode {
    match verdict {
        Verdict::Violated => ExitCode::Violation,
        _ if fan.mismatched => ExitCode::Violation,
        _ if fan.incomplete && !fan.interrupted => ExitCode::Incomplete,
        Verdict::Proved if require_proof && (fan.unconfirmed || fan.guessed) => ExitCode::OpenGoals,
        Verdict::Proved => ExitCode::Clean,
        Verdict::Open if fan.interrupted => ExitCode::Interrupted,
        Verdict::Open if require_proof => ExitCode::OpenGoals,
        Verdict::Open => ExitCode::Clean,
    }
}

/// Ends a campaign: writes the report files and determines the exit code.
fn conclude(
    outcome: Result<Verdict, Error>,
    mut fan: Fan,
    require_proof: bool,
    stop: &AtomicBool,
) -> Result<ExitCode, Error> {
    let written = fan.finish();
    let verdict = outcome?;
    if let Err(why) = written
        && why.kind() != std::io::ErrorKind::BrokenPipe
    {
        return Err(Error::io("write", "the report", why));
    }
    fan.interrupted |= stop.load(Ordering::Relaxed);
    if require_proof {
        tell_unconfirmed(&mut fan);
    }
    Ok(exit_code(verdict, require_proof, &fan))
}

/// Reports why proofs do not satisfy `--require-proof`.
fn tell_unconfirmed(fan: &mut Fan) {
    for (is_so, text) in [(fan.unconfirmed, UNCONFIRMED), (fan.guessed, GUESSED)] {
        if is_so {
            note(fan, Level::Warning, text);
        }
    }
}

/// Why a proof that rests on bounds or guesses does not satisfy `--require-proof`.
const GUESSED: &str = "--require-proof: a proof assumes bounds or guesses of a harness, which its \
    callers may not keep; where they do, write `crunner_range` instead of `crunner_size`, and \
    delete the line `crunner_guessed();`";

/// Why a proof does not satisfy `--require-proof`.
const UNCONFIRMED: &str = "--require-proof: a proof assumes preconditions that nobody has \
    confirmed; read cegar/contracts.toml, and set state = \"confirmed\", or delete them";

fn verbosity(global_args: &GlobalArgs) -> i8 {
    let (more, less) = (global_args.verbose.min(100), global_args.quiet.min(100));
    more as i8 - less as i8
}

fn color(global_args: &GlobalArgs) -> anstream::ColorChoice {
    match global_args.color {
        // anstream considers the terminal, NO_COLOR and CLICOLOR.
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    }
}

fn log(global_args: &GlobalArgs) {
    let default = match global_args.verbose {
        0 => "warn",
        1 => "warn,cargo_cegar=info",
        _ => "debug",
    };
    // The solver's bindings log every term that is created, so they are only logged if requested
    // explicitly.
    let quiet = |wanted: &str| format!("z3=warn,{wanted}");
    let filter = std::env::var("CEGAR_LOG")
        .ok()
        .and_then(|wanted| tracing_subscriber::EnvFilter::try_new(quiet(&wanted)).ok())
        .unwrap_or_else(|| tracing_subscriber::EnvFilter::new(quiet(default)));
    let colors = color(global_args) != anstream::ColorChoice::Never
        && std::io::IsTerminal::is_terminal(&std::io::stderr());
    // Only fails if a logger is installed already, as a test may have done.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colors)
        .without_time()
        .try_init();
}

/// Shows an error: for a person with its place and a hint, or for a program as a final JSON line.
fn show(global_args: &GlobalArgs, error: Error) {
    if global_args.message_format == MessageFormat::Json {
        let line = serde_json::json!({
            "reason": "error",
            "message": error.to_string(),
            "exit_code": error.exit_code().code(),
        });
        let _ = writeln!(std::io::stdout(), "{line}");
    }
    let mut stderr = anstream::AutoStream::new(std::io::stderr(), color(global_args));
    let theme = match stderr.current_choice() {
        anstream::ColorChoice::Never => miette::GraphicalTheme::unicode_nocolor(),
        _ => miette::GraphicalTheme::unicode(),
    };
    let mut text = String::new();
    let handler = miette::GraphicalReportHandler::new_themed(theme).with_links(false);
    if handler.render_report(&mut text, &error).is_err() {
        text = error.to_string();
    }
    let _ = writeln!(stderr, "error: {}", text.trim_start_matches('\n'));
}

/// Prints results to stdout. A closed pipe is not an error.
pub(super) fn print(text: &str) -> Result<ExitCode, Error> {
    use std::io::Write as _;
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(why) if why.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io("write", "standard output", why))
        }
        _ => Ok(ExitCode::Clean),
    }
}

/// Finishes the report of a command without a verdict.
fn finish(mut fan: Fan) -> Result<ExitCode, Error> {
    fan.finish()
        .map_err(|why| Error::io("write", "the report", why))?;
    Ok(ExitCode::Clean)
}
