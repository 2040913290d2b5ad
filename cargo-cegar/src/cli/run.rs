//! `run` and `replay`: campaigns on the harnesses of a crate, and the common first steps of all
//! commands on a crate.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::args::{BudgetArgs, GlobalArgs, ReplayArgs, RunArgs};
use super::check::{extra_reports, settings};
use super::{conclude, note, reporter, team};
use crate::compile::Compiler;
use crate::config::Config;
use crate::emit::EmitError;
use crate::error::Error;
use crate::event::{Event, Fan, Level, Reporter};
use crate::exit::ExitCode;
use crate::given::Given;
use crate::lock::Waits;
use crate::options::{Harness, ReplayOptions, RunOptions};
use crate::plan::SourceList;
use crate::project::Project;
use crate::report::HtmlReporter;
use crate::{campaign, capture, contracts, lock, plan, store};

/// Loads a package and its configuration.
pub(super) fn open(global_args: &GlobalArgs) -> Result<(Project, Config), Error> {
    let mut project = Project::load(
        global_args.manifest_path.as_deref(),
        global_args.package.as_deref(),
        global_args.target_dir.as_deref(),
    )?;
    let config = Config::load(&project.manifest, &project.cegar.join("cegar.toml"))?;
    project.cargo_args = config.c.cargo_args.clone().unwrap_or_default();
    Ok((project, config))
}

pub(super) fn compiler(config: &Config) -> Result<Compiler, Error> {
    let environment = std::env::var_os("CEGAR_CLANG").map(PathBuf::from);
    let file = config.c.compiler.clone().map(PathBuf::from);
    Ok(Compiler::find_with(environment.or(file))?)
}

/// `cargo cegar run`
pub(super) fn run(
    global_args: &GlobalArgs,
    args: &RunArgs,
    stop: &AtomicBool,
) -> Result<ExitCode, Error> {
    let (project, config) = open(global_args)?;
    let mut fan = reporter(global_args, args.budget.stats, &project.root);
    extra_reports(&mut fan, &args.budget, &project.root)?;
    let exchange = team::open(&args.team, &args.budget, &config.run, &mut fan)?;
    let mut options = run_options(
        &project,
        &config,
        &args.harnesses,
        &args.budget,
        &mut fan,
        stop,
    )?;
    exchange.apply(&args.team, &mut options);
    options.settings.first_only = args.until_violation;
    fan.add(HtmlReporter::new(
        &project.name,
        &options.scratch,
        vec![project.cegar.clone()],
        options.harnesses.iter().map(|h| h.name.clone()).collect(),
        args.html.clone(),
    ));
    for binding in super::bindings::found(&project, &config, &options, &mut fan, stop)? {
        fan.event(&Event::BindingMismatch(binding));
    }
    let outcome = match options.jobs {
        1 => campaign::run(&options, &mut fan, stop),
        _ => campaign::pool::run(&options, &mut fan, stop),
    };
    conclude(outcome, fan, options.settings.require_proof, stop)
}

/// Options for runs that nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unattended<'a> {
    /// The folder for new results. By default, results are written to the package.
    pub artifacts: Option<&'a Path>,
    /// How long to wait for other commands that use the harnesses. By default, until they end.
    pub until: Option<Instant>,
}

/// Computes the options of an interactive campaign on the harnesses of a crate, and locks the
/// harnesses.
pub(super) fn run_options(
    project: &Project,
    config: &Config,
    selected: &[String],
    budget: &BudgetArgs,
    fan: &mut Fan,
    stop: &AtomicBool,
) -> Result<RunOptions, Error> {
    let attended = Unattended::default();
    unattended_options(project, config, selected, budget, attended, fan, stop)
}

/// As [`run_options`], for a run that nobody watches.
pub(super) fn unattended_options(
    project: &Project,
    config: &Config,
    selected: &[String],
    budget: &BudgetArgs,
    unattended: Unattended<'_>,
    fan: &mut Fan,
    stop: &AtomicBool,
) -> Result<RunOptions, Error> {
    plan::check_selection(project, config, selected)?;
    let given = Given::read(&budget.dict, &budget.seeds)?;
    if selected.is_empty()
        && let Some(text) = plan::left_out(project, config)?
    {
        note(fan, Level::Warning, text);
    }
    if let Some(text) = plan::misplaced(project) {
        note(fan, Level::Warning, text);
    }
    let settings = settings(budget, &config.run, compiler(config)?)?;
    let scratch = project.scratch();
    store::writable_dir(&scratch)?;
    let artifacts = unattended.artifacts;
    let wanted = artifacts.map_or(SourceList::Current, SourceList::CurrentIn);
    let library = plan::library(project, config, wanted, fan, stop)?;
    let build = project.clone();
    fan.find_elsewhere = Some(Box::new(move || capture::elsewhere(&build)));
    let stubs = plan::stub_headers(&scratch)?;
    let settled = plan::settle_contracts(project, config, artifacts)?;
    tell_settled(&settled, artifacts.is_some(), fan);
    let mut harnesses = plan::harnesses(project, config, selected, &library, &stubs)?;
    for harness in &mut harnesses {
        given.give(harness);
    }
    if artifacts.is_some() {
        plan::use_settled(&mut harnesses, &settled);
    }
    for text in plan::preconditions(&harnesses) {
        note(fan, Level::Info, text);
    }
    store::temporary_files()?;
    if artifacts.is_none() {
        package_folders(project, &harnesses, budget.no_emit)?;
    }
    readable_record(&project.cegar)?;
    // All commands lock in the same order, so that they cannot deadlock.
    let mut names: Vec<&str> = harnesses.iter().map(|h| h.name.as_str()).collect();
    names.sort_unstable();
    for name in names {
        let waits = Waits {
            stop,
            until: unattended.until,
        };
        lock::hold(&scratch, name, &format!("harness `{name}`"), fan, waits)?;
    }
    fan.event(&Event::Compiling {
        what: format!("{} C sources", project.name),
        files: library.units.len(),
        from: library.from,
    });
    Ok(RunOptions {
        harnesses,
        settings,
        scratch,
        package: project.cegar.clone(),
        root: project.root.clone(),
        no_emit: budget.no_emit,
        artifacts: artifacts.map(Path::to_owned),
        captured: library.captured,
        is_all: selected.is_empty(),
        jobs: 1,
        is_compiled: false,
    })
}

/// Reports the conditions that harnesses no longer assume.
fn tell_settled(settled: &[contracts::Settled], has_copies: bool, fan: &mut Fan) {
    for one in settled {
        let copies = match has_copies {
            true => format!("; the harness without it is {}", one.file.display()),
            false => String::new(),
        };
        for condition in &one.conditions {
            let text = format!(
                "{} no longer assumes `{condition}`: it is not in contracts.toml, and counts as \
                 rejected{copies}",
                one.harness
            );
            note(fan, Level::Info, text);
        }
    }
}

/// Checks that the package's folders to which a campaign writes are writable.
fn package_folders(project: &Project, harnesses: &[Harness], no_emit: bool) -> Result<(), Error> {
    for harness in harnesses {
        package_folder(&project.cegar.join("corpus").join(&harness.name))?;
    }
    if !no_emit {
        package_folder(&project.cegar.join("tests"))?;
        package_folder(&project.cegar.join("findings"))?;
    }
    Ok(())
}

/// Checks that a folder of the package is writable.
fn package_folder(path: &Path) -> Result<(), Error> {
    store::writable_dir(path).map_err(|why| {
        Error::Io(why.where_not_writable(
            "make it writable; or `cargo cegar ci --target-dir DIR`, which writes to DIR alone",
        ))
    })
}

/// Checks that the record of the written tests is readable, before a test is found that must be
/// added to it.
fn readable_record(package: &Path) -> Result<(), Error> {
    match crate::emit::package::readable_record(package) {
        Ok(_) => Ok(()),
        Err(EmitError::Io { path, why }) => Err(Error::io("read", path, why)),
        Err(why @ EmitError::OtherProgram { .. }) => Err(Error::usage(
            why.to_string(),
            "a folder has the tests of one program",
        )),
        Err(EmitError::Record { path, why }) => Err(Error::usage(
            format!(
                "`{}` is no record of the tests that were written: {why}",
                path.display()
            ),
            "take it from version control; or delete it: then every test that is there counts as \
             edited by hand",
        )),
    }
}

/// `cargo cegar replay`
pub(super) fn replay(
    global_args: &GlobalArgs,
    args: &ReplayArgs,
    stop: &AtomicBool,
) -> Result<ExitCode, Error> {
    let (project, config) = open(global_args)?;
    plan::check_selection(&project, &config, std::slice::from_ref(&args.harness))?;
    let inputs = inputs(&project, args)?;
    let mut fan = reporter(global_args, false, &project.root);
    let budget = BudgetArgs {
        no_emit: true,
        ..BudgetArgs::default()
    };
    let selected = std::slice::from_ref(&args.harness);
    let run = run_options(&project, &config, selected, &budget, &mut fan, stop)?;
    let outcome = campaign::replay(&ReplayOptions { run, inputs }, &mut fan, stop);
    conclude(outcome, fan, false, stop)
}

fn inputs(project: &Project, args: &ReplayArgs) -> Result<Vec<PathBuf>, Error> {
    let corpus = project.cegar.join("corpus").join(&args.harness);
    let given = if args.inputs.is_empty() {
        vec![corpus]
    } else {
        args.inputs.clone()
    };
    let mut inputs = Vec::new();
    for path in given {
        if path.is_dir() {
            let mut files = Vec::new();
            let entries = std::fs::read_dir(&path).map_err(|why| Error::io("read", &path, why))?;
            for entry in entries {
                let file = entry.map_err(|why| Error::io("read", &path, why))?.path();
                if file.is_file() {
                    files.push(file);
                }
            }
            files.sort();
            inputs.extend(files);
        } else if path.is_file() {
            inputs.push(path);
        } else if !args.inputs.is_empty() {
            return Err(Error::nothing(
                format!("there is no input `{}`", path.display()),
                "name a file, or a folder of them",
            ));
        }
    }
    if inputs.is_empty() {
        return Err(Error::nothing(
            format!("`{}` has no corpus yet", args.harness),
            "`cargo cegar run` makes one; or name the inputs",
        ));
    }
    Ok(inputs)
}
