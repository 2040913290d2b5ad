//! The commands that work on a corpus: `emit --behaviour`, `cmin`, `tmin`, and `stats`.

use std::sync::atomic::AtomicBool;

use serde::Serialize;

use super::args::{BudgetArgs, CminArgs, EmitArgs, GlobalArgs, MessageFormat, StatsArgs, TminArgs};
use super::print;
use super::run::{open, run_options};
use super::{note, reporter};
use crate::campaign::corpus;
use crate::error::Error;
use crate::event::{Fan, Level, Reporter as _};
use crate::exit::ExitCode;
use crate::options::RunOptions;
use crate::verdict::Stats;
use crate::{list, plan, store};

/// Loads the package and its harnesses for a command that runs no search.
fn prepared(
    global_args: &GlobalArgs,
    selected: &[String],
    stop: &AtomicBool,
) -> Result<(RunOptions, Fan), Error> {
    let (project, config) = open(global_args)?;
    let mut fan = reporter(global_args, false, &project.root);
    let budget = BudgetArgs::default();
    let options = run_options(&project, &config, selected, &budget, &mut fan, stop)?;
    Ok((options, fan))
}

fn json(reason: &str, what: &impl Serialize) -> Result<String, Error> {
    let mut line = serde_json::to_value(what)
        .map_err(|why| Error::io("write", "standard output", why.into()))?;
    line["reason"] = reason.into();
    Ok(format!("{line}\n"))
}

fn finish(mut fan: Fan, text: &str) -> Result<ExitCode, Error> {
    fan.finish()
        .map_err(|why| Error::io("write", "the report", why))?;
    print(text)
}

/// `cargo cegar emit --behaviour`
pub(super) fn emit(
    global_args: &GlobalArgs,
    args: &EmitArgs,
    stop: &AtomicBool,
) -> Result<ExitCode, Error> {
    let (options, mut fan) = prepared(global_args, &args.harnesses, stop)?;
    let mut text = String::new();
    let mut inputs = 0;
    for harness in &options.harnesses {
        let done = corpus::behaviours(&options, harness, &mut fan, stop)?;
        inputs += done.inputs;
        if global_args.message_format == MessageFormat::Json {
            text += &json("behaviour", &done)?;
            continue;
        }
        let message = format!(
            "{}: {} of {} inputs do all; {} tests written, {} there already, {} of them with \
             another behaviour",
            done.harness,
            done.written.len() + done.kept.len(),
            done.inputs,
            done.written.len(),
            done.kept.len(),
            done.changed.len(),
        );
        note(&mut fan, Level::Info, message);
        for name in &done.left_out {
            let message = format!("{name} is left out: two runs of it differ, or it goes wrong");
            note(&mut fan, Level::Warning, message);
        }
    }
    if inputs == 0 {
        return Err(Error::nothing(
            "there is no input in the corpus",
            "`cargo cegar run` finds some",
        ));
    }
    finish(fan, &text)
}

/// `cargo cegar cmin`
pub(super) fn cmin(
    global_args: &GlobalArgs,
    args: &CminArgs,
    stop: &AtomicBool,
) -> Result<ExitCode, Error> {
    let (options, mut fan) = prepared(global_args, &args.harnesses, stop)?;
    let mut text = String::new();
    for harness in &options.harnesses {
        let done = corpus::cmin(&options, harness, args.dry_run, &mut fan, stop)?;
        if global_args.message_format == MessageFormat::Json {
            text += &json("cmin", &done)?;
            continue;
        }
        let verb = if args.dry_run {
            "would be removed"
        } else {
            "removed"
        };
        let message = format!(
            "{}: {} of {} inputs cover the same; {} files {verb}, {} inputs that go wrong stay",
            done.harness,
            done.kept,
            done.before,
            done.removed.len(),
            done.failing.len(),
        );
        note(&mut fan, Level::Info, message);
    }
    finish(fan, &text)
}

/// `cargo cegar tmin`
pub(super) fn tmin(
    global_args: &GlobalArgs,
    args: &TminArgs,
    stop: &AtomicBool,
) -> Result<ExitCode, Error> {
    let selected = std::slice::from_ref(&args.harness);
    let (options, mut fan) = prepared(global_args, selected, stop)?;
    // The argument is a path, or the name of an entry of the harness's corpus.
    let entry = options
        .package
        .join("corpus")
        .join(&args.harness)
        .join(&args.input);
    let input = match args.input.exists() {
        false if entry.exists() => &entry,
        _ => &args.input,
    };
    let tape = match std::fs::read(input) {
        Ok(tape) => tape,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::nothing(
                format!("there is no input `{}`", args.input.display()),
                "name a file of the corpus, or of `inputs` among a build's artifacts",
            ));
        }
        Err(why) => return Err(Error::io("read", input, why)),
    };
    let done = corpus::tmin(&options, &options.harnesses[0], &tape, &mut fan, stop)?;
    let output = args.output.clone().unwrap_or_else(|| {
        let mut name = args.input.clone().into_os_string();
        name.push(".min");
        name.into()
    });
    store::write(&output, &done.tape)?;
    if global_args.message_format == MessageFormat::Json {
        return finish(fan, &json("tmin", &done)?);
    }
    let message = format!(
        "{} bytes of {}; it {}; in {}",
        done.after,
        done.before,
        done.outcome,
        output.display()
    );
    note(&mut fan, Level::Info, message);
    finish(fan, "")
}

/// `cargo cegar stats`
pub(super) fn stats(global_args: &GlobalArgs, args: &StatsArgs) -> Result<ExitCode, Error> {
    let (project, config) = open(global_args)?;
    plan::check_selection(&project, &config, &args.harnesses)?;
    let mut rows = Vec::new();
    for listed in list::list(&project, &config)? {
        if !args.harnesses.is_empty() && !args.harnesses.contains(&listed.name) {
            continue;
        }
        let folder = project.scratch().join(&listed.name);
        if let Some(stats) = kept_stats(&folder.join("state.json")) {
            let queue = std::fs::read_dir(folder.join("queue")).map_or(0, Iterator::count);
            rows.push((listed, stats, queue));
        }
    }
    if rows.is_empty() {
        return Err(Error::nothing(
            "no campaign has come to its end yet",
            "`cargo cegar run` comes first",
        ));
    }
    let mut text = String::new();
    if global_args.message_format == MessageFormat::Json {
        for (listed, stats, queue) in &rows {
            let line = serde_json::json!({
                "harness": listed.name, "corpus": listed.corpus, "queue": queue,
                "goals": listed.goals, "stats": stats,
            });
            text += &json("stats", &line)?;
        }
        return print(&text);
    }
    let width = rows
        .iter()
        .map(|(l, _, _)| l.name.len())
        .max()
        .unwrap_or(0)
        .max(7);
    text += &format!(
        "{:width$}  executions   per second  machine runs  solver calls  engine seeds  corpus   \
         queue  proving  seconds\n",
        "harness"
    );
    for (listed, s, queue) in &rows {
        text += &format!(
            "{:width$}  {:10}  {:11.0}  {:12}  {:12}  {:12}  {:6}  {queue:6}  {:6.1}s  {:6.1}s\n",
            listed.name,
            s.executions,
            s.executions as f64 / s.seconds.max(0.001),
            s.machine_runs,
            s.solver_calls,
            s.engine_seeds,
            listed.corpus,
            s.proving,
            s.seconds,
        );
    }
    print(&text)
}

/// The statistics that a campaign stored.
fn kept_stats(state: &std::path::Path) -> Option<Stats> {
    let text = std::fs::read(state).ok()?;
    let state: serde_json::Value = serde_json::from_slice(&text).ok()?;
    serde_json::from_value(state.get("stats")?.clone()).ok()
}
