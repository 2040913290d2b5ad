//! The steps of a command: compiles all programs, starts the clock, and runs each program in turn.
//!
//! A harness that cannot be built does not prevent the others from running: it is reported, and
//! determines the exit code unless there is a violation.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::budget::Budget;
use super::prepare::{self, Bitcode};
use super::single::{Folders, Single};
use super::{tests, turns, unowned};
use crate::error::Error;
use crate::event::{Distinct, Event, INTERRUPTED, Level, Reporter, Summary, Unexecuted};
use crate::exit::ExitCode;
use crate::options::{CheckOptions, Harness, RunOptions, Settings};
use crate::verdict::Verdict;

/// A callback that receives the verdict before the end of the command is reported.
pub type WithVerdict<'a> = &'a mut dyn FnMut(Verdict, &mut dyn Reporter) -> Result<(), Error>;

/// Checks one program (`cargo cegar check`) and stops at the first violation. The last reported
/// event is [`crate::event::Event::Finished`].
pub fn check(
    options: &CheckOptions,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
    then: WithVerdict<'_>,
) -> Result<Verdict, Error> {
    let root = std::env::current_dir().map_err(|why| Error::io("read", ".", why))?;
    let folders = Folders {
        scratch: &options.scratch,
        common: &options.scratch,
        root: &root,
        corpus: None,
        seeds: None,
        certificate: options.certificate.as_deref(),
        findings: None,
        tests: match &*options.emit_dirs {
            [] => None,
            folders => Some(tests::Where::Standalone(folders)),
        },
    };
    let started = Instant::now();
    let (harness, settings) = (&options.harness, &options.settings);
    let bitcode = prepare::bitcode(harness, settings, &options.scratch, reporter, stop)?;
    let budget = begin(settings, started, reporter);
    let single = Single {
        harness,
        settings,
        budget,
        folders,
        stop,
    };
    let result = single.run(bitcode, reporter);
    let mut summary = match result {
        Err(why @ Error::NotInTime { .. }) => {
            let mut nothing = Summary::merged(Vec::new());
            nothing.harnesses = 1;
            nothing.unexecuted.push(Unexecuted {
                harness: harness.name.clone(),
                why: why.to_string(),
            });
            nothing
        }
        result => result?,
    };
    summary.stats.seconds = started.elapsed().as_secs_f64();
    let verdict = summary.verdict;
    let done = then(verdict, reporter);
    reporter.event(&Event::Finished(summary));
    done.map(|()| verdict)
}

/// Starts the command's budget, and reports it if compiling took long.
pub(super) fn begin(settings: &Settings, started: Instant, reporter: &mut dyn Reporter) -> Budget {
    let took = started.elapsed();
    if let Some(limit) = settings.max_time
        && settings.runs.is_none()
        && took >= LONG
    {
        reporter.event(&Event::Note {
            level: Level::Info,
            message: format!(
                "the C code is compiled, in {:.0}s; the limit of {} begins now",
                took.as_secs_f64(),
                humantime::format_duration(limit)
            ),
        });
    }
    Budget::new(settings.max_time)
}

/// The compile time from which the start of the budget is reported.
const LONG: Duration = Duration::from_secs(5);

/// Runs the harnesses of a package in turn (`cargo cegar run`). The last reported event is
/// [`crate::event::Event::Finished`].
pub fn run(
    options: &RunOptions,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Verdict, Error> {
    let started = Instant::now();
    let settings = &options.settings;
    let mut results = Vec::new();
    let several = options.harnesses.len() > 1;
    let compiled = compile(options, reporter, stop)?;
    let mut failed = None;
    let budget = match options.is_compiled {
        true => Budget::since(started, settings.max_time),
        false => begin(settings, started, reporter),
    };
    let mut unexecuted = Vec::new();
    let mut waiting = compiled.ready.len();
    let mut distinct = Distinct::new(reporter);
    let mut unowned = unowned::replay(options, budget, &mut distinct, stop)?;
    for (harness, why) in compiled.failed {
        unowned.remember(
            options,
            &harness.name,
            "its harness was not built",
            &mut distinct,
        )?;
        failed.get_or_insert(why);
    }
    for (harness, bitcode) in turns::in_order(compiled.ready, &options.scratch) {
        let missed = |why: &str| Unexecuted {
            harness: harness.name.clone(),
            why: why.to_owned(),
        };
        if several && stop.load(Ordering::Relaxed) {
            unexecuted.push(missed(INTERRUPTED));
            continue;
        }
        if several && settings.runs.is_none() && budget.is_over() {
            unowned.remember(options, &harness.name, NO_TURN, &mut distinct)?;
            unexecuted.push(missed(NO_TURN));
            continue;
        }
        let share = budget.share(waiting);
        waiting -= 1;
        let result = turn(options, harness, (bitcode, share), &mut distinct, stop);
        match result {
            Ok(result) => results.push(result),
            Err(Error::Interrupted) if several => unexecuted.push(missed(INTERRUPTED)),
            Err(why @ Error::NotInTime { .. }) => {
                let why = why.to_string();
                unowned.remember(options, &harness.name, &why, &mut distinct)?;
                unexecuted.push(missed(&why));
            }
            Err(why) if several && is_its_own(&why) => {
                unowned.remember(options, &harness.name, "its campaign failed", &mut distinct)?;
                distinct.event(&Event::Failed {
                    harness: harness.name.clone(),
                    why: why.to_string(),
                });
                failed.get_or_insert(why);
            }
            Err(why) => return Err(why),
        }
    }
    let is_whole = results.len() == options.harnesses.len();
    let mut summary = Summary::merged(results);
    unowned.add_to(&mut summary);
    summary.findings = distinct.count();
    summary.harnesses = options.harnesses.len() as u64;
    // A harness that failed, had no turn or was not reached before Ctrl-C keeps the verdict open.
    if !is_whole {
        summary.open();
    }
    summary.unexecuted.extend(unexecuted);
    summary.interrupted |= stop.load(Ordering::Relaxed);
    summary.stats.seconds = started.elapsed().as_secs_f64();
    let verdict = summary.verdict;
    reporter.event(&Event::Finished(summary));
    match failed {
        // The violation takes precedence; the failures were already reported.
        Some(failed) if verdict != Verdict::Violated => Err(Error::Campaign {
            message: "not every harness was built".to_owned(),
            exit: failed.exit_code(),
        }),
        _ => Ok(verdict),
    }
}

/// Runs the campaign on one harness of a package, within its share of the time.
fn turn(
    options: &RunOptions,
    harness: &Harness,
    (bitcode, budget): (Bitcode, Budget),
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Summary, Error> {
    let scratch = options.scratch.join(&harness.name);
    let place = match &options.artifacts {
        Some(folder) => tests::Where::Beside {
            package: &options.package,
            folder,
            captured: options.captured.as_deref(),
        },
        None => tests::Where::Package(&options.package),
    };
    let folders = Folders {
        scratch: &scratch,
        common: &options.scratch,
        root: &options.root,
        corpus: Some(options.corpus(&harness.name)),
        seeds: options.seeds(&harness.name),
        certificate: None,
        findings: Some(options.findings(&harness.name)),
        tests: (!options.no_emit).then_some(place),
    };
    let single = Single {
        harness,
        settings: &options.settings,
        budget,
        folders,
        stop,
    };
    single.run(bitcode, reporter)
}

/// The harnesses of a command, after compiling.
pub(super) struct CompiledHarnesses<'a> {
    /// The harnesses that compiled.
    pub ready: Vec<(&'a Harness, Bitcode)>,
    /// The harnesses that did not compile, and why; the reasons were reported.
    pub failed: Vec<(&'a Harness, Error)>,
}

/// Compiles the C code of all harnesses before the clock starts. A harness that does not compile is
/// reported, and the others are still checked. If there is only one harness, its error is returned.
pub(super) fn compile<'a>(
    options: &'a RunOptions,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<CompiledHarnesses<'a>, Error> {
    let mut compiled = CompiledHarnesses {
        ready: Vec::new(),
        failed: Vec::new(),
    };
    let mut told = BTreeSet::new();
    for harness in &options.harnesses {
        let scratch = options.scratch.join(&harness.name);
        match prepare::bitcode(harness, &options.settings, &scratch, reporter, stop) {
            Ok(bitcode) => compiled.ready.push((harness, bitcode)),
            Err(why) if options.harnesses.len() > 1 && is_its_own(&why) => {
                let text = why.to_string();
                // A mistake in the library affects every harness, and is reported once.
                let short = match told.insert(text.clone()) {
                    true => text,
                    false => "for the reason that was told before".to_owned(),
                };
                reporter.event(&Event::Failed {
                    harness: harness.name.clone(),
                    why: short,
                });
                compiled.failed.push((harness, why));
            }
            Err(why) => return Err(why),
        }
    }
    Ok(compiled)
}

/// Whether an error concerns one harness only, so that the others can still work.
fn is_its_own(why: &Error) -> bool {
    matches!(
        why.exit_code(),
        ExitCode::BuildFailed | ExitCode::NothingSelected | ExitCode::Usage | ExitCode::Internal
    )
}

/// Why a harness that did not get its turn was not executed.
pub(super) const NO_TURN: &str = "the time was up before its turn; give it more with --max-time";
