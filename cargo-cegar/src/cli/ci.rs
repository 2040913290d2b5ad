//! `cargo cegar ci`: runs the campaigns of all harnesses within a budget, on an unattended machine.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::args::{CiArgs, GlobalArgs};
use super::check::max_time;
use super::coverage::coverage_of;
use super::run::{Unattended, open, unattended_options};
use super::{note, outputs, reporter, team, tell_unconfirmed};
use crate::bindings::Binding;
use crate::campaign::pool;
use crate::ci::baseline::{Baseline, Entry};
use crate::ci::{self, Report, Rules, Sorter};
use crate::error::Error;
use crate::event::{Event, Fan, Level, Reporter as _};
use crate::exit::ExitCode;
use crate::project::Project;
use crate::report::{HtmlReporter, JunitReporter, SarifReporter};
use crate::{coverage, lock, store};

/// The default budget of a build.
const DEFAULT_TIME: Duration = Duration::from_secs(600);
/// The default limit of a harness under `--runs`, where no clock ends a campaign.
const HANG: Duration = Duration::from_secs(1800);

/// The name of the lock for a folder of artifacts, and a description of the folder.
fn artifacts_lock(folder: &std::path::Path) -> (String, String) {
    let name = store::entry_name(folder.as_os_str().as_encoded_bytes());
    (
        format!("ci-{name}"),
        format!("the artifacts `{}`", folder.display()),
    )
}

/// The folder for new results.
fn artifacts_folder(args: &CiArgs, project: &Project) -> Result<PathBuf, Error> {
    match &args.artifacts {
        Some(folder) => std::path::absolute(folder).map_err(|why| Error::io("find", folder, why)),
        None => Ok(project.scratch().join("ci")),
    }
}

/// Rejects several reports in the same file.
fn distinct(args: &CiArgs) -> Result<(), Error> {
    outputs::distinct(&[
        ("--sarif", &args.budget.sarif),
        ("--junit", &args.budget.junit),
        ("--json", &args.json),
        ("--lcov", &args.lcov),
        ("--html", &args.html),
        ("--summary", &args.summary),
    ])
}

/// Runs the command.
pub(super) fn ci(
    global_args: &GlobalArgs,
    args: &CiArgs,
    stop: &AtomicBool,
) -> Result<ExitCode, Error> {
    let (project, config) = open(global_args)?;
    distinct(args)?;
    let (baseline_file, mut baseline) = baseline(args, &project)?;
    let artifacts = artifacts_folder(args, &project)?;
    store::writable_dir(&project.scratch())?;
    let mut fan = reporter(global_args, args.budget.stats, &project.root);
    let (name, what) = artifacts_lock(&artifacts);
    // The budget includes the time to wait for other processes that use the folders.
    let limit = max_time(&args.budget, &config.run)?.unwrap_or(DEFAULT_TIME);
    let until = Some(Instant::now() + limit);
    let waits = lock::Waits { stop, until };
    lock::hold(&project.scratch(), &name, &what, &mut fan, waits)?;
    ci::prepare(&artifacts)?;

    reports(&mut fan, args, &project);
    let exchange = team::open(&args.team, &args.budget, &config.run, &mut fan)?;
    let unattended = Unattended {
        artifacts: (!args.emit).then_some(&*artifacts),
        until,
    };
    let mut options = unattended_options(
        &project,
        &config,
        &args.harnesses,
        &args.budget,
        unattended,
        &mut fan,
        stop,
    )?;
    exchange.apply(&args.team, &mut options);
    if options.settings.max_time.is_none() && options.settings.runs.is_none() {
        options.settings.max_time = Some(DEFAULT_TIME);
    }
    fan.add(HtmlReporter::new(
        &project.name,
        &options.scratch,
        vec![artifacts.clone(), project.cegar.clone()],
        options.harnesses.iter().map(|h| h.name.clone()).collect(),
        args.html.clone(),
    ));

    let inputs = Some(artifacts.join("inputs"));
    let mut bindings = super::bindings::found(&project, &config, &options, &mut fan, stop)?;
    tell_bindings(&mut bindings, &baseline, &mut fan);
    let mut sorter = Sorter::new(&mut fan, &baseline, inputs);
    let counted = options.settings.runs.is_some() && options.settings.max_time.is_none();
    let cap = args.max_time_per_harness.or(counted.then_some(HANG));
    let started = Instant::now();
    let (outcomes, unowned) = pool::each(&options, cap, &mut sorter, stop)?;
    let (found, lost, hangs) = (sorter.found, sorter.lost, sorter.hangs);
    let preconditions = sorter.preconditions;
    let mut summary = pool::sum(&outcomes, started.elapsed(), stop);
    unowned.add_to(&mut summary);
    summary.findings = found.iter().filter(|sorted| !sorted.again).count() as u64;
    fan.event(&Event::Finished(summary.clone()));

    let rules = Rules {
        fail_on_known: args.fail_on_known,
        require_proof: options.settings.require_proof,
    };
    let mut report = Report::new(&outcomes, &found, &summary, rules);
    report.add_bindings(bindings, rules);
    report.hangs = hangs;
    report.add_preconditions(preconditions);
    if args.update_baseline {
        accept(&report, &mut baseline);
        report.accept_findings(&outcomes, &summary, rules);
        baseline.write(&baseline_file)?;
    }
    tell(&mut fan, args, &report, &baseline_file, &artifacts);
    let written = fan.finish();
    outputs(args, &options.scratch, &options.harnesses, &report)?;
    if let Err(why) = written
        && why.kind() != std::io::ErrorKind::BrokenPipe
    {
        return Err(Error::io("write", "the report", why));
    }
    if let Some(lost) = lost {
        return Err(lost);
    }
    Ok(exit_code(&report))
}

/// Adds the findings to the baseline.
fn accept(report: &Report, baseline: &mut Baseline) {
    let found = report
        .findings
        .iter()
        .map(|sorted| Entry::of(&sorted.finding));
    let bindings = report.bindings.iter().map(Entry::of_binding);
    baseline.update(&found.chain(bindings).collect::<Vec<_>>());
}

/// Reports the declarations that do not match the library, and which of them are known.
fn tell_bindings(bindings: &mut [Binding], baseline: &Baseline, fan: &mut Fan) {
    for binding in bindings {
        binding.known = baseline.has(&binding.identity);
        fan.event(&Event::BindingMismatch(binding.clone()));
    }
}

/// The command's exit code, given the number in its report.
fn exit_code(report: &Report) -> ExitCode {
    let mut codes = ExitCode::TABLE.iter().map(|(code, _)| *code);
    let code = codes.find(|code| code.code() == report.exit_code);
    code.unwrap_or(ExitCode::Internal)
}

/// The path of the baseline file and its contents.
fn baseline(args: &CiArgs, project: &Project) -> Result<(PathBuf, Baseline), Error> {
    let baseline_file = match &args.baseline {
        Some(path) => path.clone(),
        None => project.cegar.join("baseline.json"),
    };
    let baseline = Baseline::read(&baseline_file, args.update_baseline)?;
    if let (Some(path), false) = (&args.baseline, args.update_baseline)
        && !path.is_file()
    {
        return Err(Error::nothing(
            format!("there is no baseline `{}`", path.display()),
            "write it with --update-baseline, or leave --baseline out",
        ));
    }
    Ok((baseline_file, baseline))
}

/// Adds the requested reports.
fn reports(fan: &mut Fan, args: &CiArgs, project: &Project) {
    if let Some(path) = &args.budget.sarif {
        let (root, repository) = (project.root.clone(), crate::init::ci::repository(project));
        fan.add(SarifReporter::sorted(path.clone(), root, &repository));
    }
    if let Some(path) = &args.budget.junit {
        fan.add(JunitReporter::new(path.clone()));
    }
}

/// The advice for conditions that are not listed.
const UNLISTED: &str = "harnesses break conditions that cegar/contracts.toml does not have: either \
    callers have to keep them (write them into the harness and the list, as `cargo cegar init` \
    does), or the library is at fault";

fn tell(fan: &mut Fan, args: &CiArgs, report: &Report, baseline: &Path, artifacts: &Path) {
    if args.budget.require_proof {
        tell_unconfirmed(fan);
    }
    if args.update_baseline {
        let text = format!("wrote {}", baseline.display());
        note(fan, Level::Info, text);
    }
    if !report.preconditions.is_empty() {
        note(fan, Level::Warning, UNLISTED);
    }
    if report.counts.all() > 0 {
        let what = match args.emit {
            true => "inputs are",
            false => "tests and inputs are",
        };
        let text = format!(
            "{}; {} in {}",
            report.counts.words(),
            what,
            artifacts.display()
        );
        note(fan, Level::Info, text);
    }
}

/// Writes the requested files.
fn outputs(
    args: &CiArgs,
    scratch: &Path,
    harnesses: &[crate::options::Harness],
    report: &Report,
) -> Result<(), Error> {
    if let Some(path) = &args.json {
        let mut text = serde_json::to_vec_pretty(report)
            .map_err(|why| Error::engine("writing the report", why))?;
        text.push(b'\n');
        store::write(path, &text)?;
    }
    if let Some(path) = &args.lcov {
        let folders: Vec<PathBuf> = harnesses.iter().map(|h| scratch.join(&h.name)).collect();
        let found = coverage_of(&folders);
        store::write(path, coverage::lcov(&found.all.complete()).as_bytes())?;
    }
    let Some(path) = &args.summary else {
        return Ok(());
    };
    // Other steps of the build may have written to the file.
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|why| Error::io("write", path, why))?;
    file.write_all(ci::markdown(report).as_bytes())
        .map_err(|why| Error::io("write", path, why))
}
