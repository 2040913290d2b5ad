//! Runs several harnesses, each in a process of its own.
//!
//! Unlike a thread, a process can be killed from outside: if the solver of a harness does not
//! return, its memory runs out or its bitcode makes LLVM exit, only that harness is lost, and time
//! limits are kept. What a campaign found until then has been reported and is on disk. The child is
//! this executable with `__campaign FILE`; the file contains its [`RunOptions`], and the child
//! reports its [`Event`]s as JSON lines. Closing its standard input asks it to stop; after a second
//! limit, a little later, it is killed. The C code is compiled here before the clock starts, so the
//! child finds it compiled.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::commands::{NO_TURN, begin, compile};
use super::turns;
use super::unowned::{self, Unowned};
use crate::error::Error;
use crate::event::{
    Distinct, Event, INTERRUPTED, JsonReporter, Level, Reporter, Summary, Unexecuted,
};
use crate::exit::ExitCode;
use crate::options::{Harness, RunOptions};
use crate::signals;
use crate::verdict::Verdict;

/// How often limits are checked.
const TICK: Duration = Duration::from_millis(100);
/// The time after its limit in which a campaign may end by itself: it abandons work in progress
/// after [`LATE`](super::budget::LATE) and then has to write its results.
const GRACE: Duration = Duration::from_millis(2_000);
/// The time from asking a campaign to stop to killing it, when the time is up. A responsive
/// campaign ends within five seconds of its limit. On a busy machine it may take longer to write
/// its results, and killing it would lose all of them.
const LAST: Duration = Duration::from_secs(8);
/// [`GRACE`] and [`LAST`] for campaigns with `--runs`: no clock ends such a campaign, so the limits
/// only apply to one that hangs, and a native build must be waited for.
const COUNTED: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(5));
/// The time from asking a campaign to stop to killing it, when the user interrupts.
const ASKED: Duration = Duration::from_secs(5);

/// The outcome of one harness.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The harness.
    pub harness: String,
    /// The summary of its campaign, or `None` if the campaign did not end by itself.
    pub summary: Option<Summary>,
    /// Why there is no result, and the corresponding exit code.
    pub failed: Option<(String, ExitCode)>,
    /// Why the harness was never executed, if it was not.
    pub unexecuted: Option<String>,
    /// The duration of the campaign.
    pub took: Duration,
}

impl Outcome {
    /// The outcome of a harness that was not started.
    fn none(harness: &Harness, failed: Option<(String, ExitCode)>) -> Outcome {
        Outcome {
            harness: harness.name.clone(),
            summary: None,
            failed,
            unexecuted: None,
            took: Duration::ZERO,
        }
    }
}

/// Runs the harnesses, [`RunOptions::jobs`] at a time. The last reported event is
/// [`Event::Finished`].
pub fn run(
    options: &RunOptions,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Verdict, Error> {
    let started = Instant::now();
    let mut distinct = Distinct::new(reporter);
    let (outcomes, unowned) = each(options, None, &mut distinct, stop)?;
    let failed = outcomes.iter().find_map(|outcome| outcome.failed.clone());
    let mut summary = sum(&outcomes, started.elapsed(), stop);
    unowned.add_to(&mut summary);
    summary.findings = distinct.count();
    let verdict = summary.verdict;
    reporter.event(&Event::Finished(summary));
    match failed {
        // The violation takes precedence; the failures were already reported.
        Some((why, code)) if verdict != Verdict::Violated => Err(Error::Campaign {
            message: why,
            exit: code,
        }),
        _ => Ok(verdict),
    }
}

/// Merges the outcomes of several harnesses, which took `took` together.
pub fn sum(outcomes: &[Outcome], took: Duration, stop: &AtomicBool) -> Summary {
    let summaries = outcomes
        .iter()
        .filter_map(|outcome| outcome.summary.clone());
    let mut summary = Summary::merged(summaries.collect());
    if outcomes.iter().any(|outcome| outcome.summary.is_none()) {
        summary.open();
    }
    summary.harnesses = outcomes.len() as u64;
    summary.unexecuted = outcomes
        .iter()
        .filter_map(|outcome| {
            Some(Unexecuted {
                harness: outcome.harness.clone(),
                why: outcome.unexecuted.clone()?,
            })
        })
        .collect();
    summary.interrupted = stop.load(Ordering::Relaxed);
    summary.stats.seconds = took.as_secs_f64();
    summary
}

/// A campaign in a process of its own.
struct Running {
    harness: String,
    child: Child,
    stdin: Option<ChildStdin>,
    started: Instant,
    /// When it is asked to stop, and when it is killed.
    limits: Option<(Instant, Instant)>,
    cut: bool,
    summary: Option<Summary>,
    error: Option<(String, ExitCode)>,
    _file: tempfile::NamedTempFile,
}

/// A message from a child's reader: a line, or the end of the output.
type Line = (usize, Option<Vec<u8>>);

/// Runs the harnesses. Returns the outcome of each, in the order of the harnesses, and the results
/// of the tests that belong to no harness. `cap` limits a single harness in addition to its share
/// of `max_time`. With `--runs`, where no clock ends a campaign, both limits only end a campaign
/// that hangs.
pub fn each(
    options: &RunOptions,
    cap: Option<Duration>,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<(Vec<Outcome>, Unowned), Error> {
    let started = Instant::now();
    let compiled = compile(options, reporter, stop)?;
    let budget = begin(&options.settings, started, reporter);
    let mut unowned = unowned::replay(options, budget, reporter, stop)?;
    let jobs = options.jobs.clamp(1, options.harnesses.len().max(1));
    let mut waiting = Vec::new();
    let mut running: Vec<Option<Running>> = options.harnesses.iter().map(|_| None).collect();
    let mut outcomes: Vec<Option<Outcome>> = options.harnesses.iter().map(|_| None).collect();
    for (number, harness) in options.harnesses.iter().enumerate() {
        let is_this = |other: &Harness| other.name == harness.name;
        match compiled.failed.iter().find(|(other, _)| is_this(other)) {
            Some((_, why)) => {
                let failed = Some((why.to_string(), why.exit_code()));
                outcomes[number] = Some(Outcome::none(harness, failed));
            }
            None => waiting.push((harness, number)),
        }
    }
    let waiting = turns::in_order(waiting, &options.scratch).into_iter();
    let mut waiting: VecDeque<usize> = waiting.map(|(_, number)| number).collect();
    let (sender, lines): (Sender<Line>, Receiver<Line>) = channel();
    let mut stopping = None;
    loop {
        let busy = running.iter().flatten().count();
        if stop.load(Ordering::Relaxed) && stopping.is_none() {
            stopping = Some(Instant::now() + ASKED);
            waiting.clear();
            running
                .iter_mut()
                .flatten()
                .for_each(|one| one.stdin = None);
        }
        if busy < jobs
            && let Some(number) = waiting.pop_front()
        {
            if budget.is_over() && options.settings.runs.is_none() {
                let mut outcome = Outcome::none(&options.harnesses[number], None);
                outcome.unexecuted = Some(NO_TURN.to_owned());
                outcomes[number] = Some(outcome);
                continue;
            }
            let share = budget.share((waiting.len() + 1).div_ceil(jobs)).left();
            let share = share.into_iter().chain(cap).min();
            running[number] = Some(start(options, number, share, sender.clone())?);
            continue;
        }
        if busy == 0 {
            break;
        }
        match lines.recv_timeout(TICK) {
            Ok((number, Some(line))) => {
                if let Some(one) = &mut running[number] {
                    hear(one, &line, reporter);
                }
            }
            Ok((number, None)) => {
                if let Some(one) = running[number].take() {
                    outcomes[number] = Some(end(one, stop, reporter));
                }
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        end_late(&mut running, stopping);
    }
    // Only an interrupted command leaves harnesses without an outcome.
    let of = |(outcome, harness): (Option<Outcome>, &Harness)| {
        let mut outcome = outcome.unwrap_or_else(|| Outcome::none(harness, None));
        if outcome.summary.is_none() && outcome.failed.is_none() {
            outcome
                .unexecuted
                .get_or_insert_with(|| INTERRUPTED.to_owned());
        }
        outcome
    };
    let outcomes = outcomes.into_iter().zip(&options.harnesses).map(of);
    let outcomes: Vec<Outcome> = outcomes.collect();
    for outcome in outcomes.iter().filter(|outcome| outcome.summary.is_none()) {
        let why = "its campaign has no result";
        unowned.remember(options, &outcome.harness, why, reporter)?;
    }
    Ok((outcomes, unowned))
}

/// Asks campaigns whose time is up to stop, and kills those whose second limit has passed. When the
/// command is `stopping`, all campaigns were asked already.
fn end_late(running: &mut [Option<Running>], stopping: Option<Instant>) {
    let now = Instant::now();
    for one in running.iter_mut().flatten() {
        let (ask, insist) = match (one.limits, stopping) {
            (_, Some(at)) => (now, at),
            (Some(limits), None) => limits,
            (None, None) => continue,
        };
        if now >= ask && one.stdin.take().is_some() {
            one.cut = stopping.is_none();
        }
        if now >= insist {
            one.cut = true;
            // The process may just have ended.
            let _ = killpg(group(&one.child), Signal::SIGKILL);
        }
    }
}

fn group(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX))
}

fn start(
    options: &RunOptions,
    number: usize,
    share: Option<Duration>,
    lines: Sender<Line>,
) -> Result<Running, Error> {
    let mut own = options.clone();
    own.is_all = false;
    own.harnesses = vec![options.harnesses[number].clone()];
    own.jobs = 1;
    own.is_compiled = true;
    // With more jobs than harnesses, several workers fuzz the same harness.
    own.settings.workers = (options.jobs / options.harnesses.len().max(1)).max(1);
    own.settings.max_time = share;
    let failed = |why| Error::io("write to", &options.scratch, why);
    let mut file = tempfile::Builder::new()
        .prefix(".campaign-")
        .tempfile_in(&options.scratch)
        .map_err(failed)?;
    serde_json::to_writer(&mut file, &own).map_err(|why| failed(why.into()))?;
    file.flush().map_err(failed)?;
    let me = std::env::current_exe().map_err(|why| Error::io("find", "cargo-cegar", why))?;
    // Its own process group, so that its fuzzer and its compilers can be ended with it.
    let mut child = Command::new(&me)
        .arg("__campaign")
        .arg(file.path())
        // The processors are divided among the campaigns for their compilers.
        .env("NUM_JOBS", compilers(options.jobs).to_string())
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|why| Error::io("start", &me, why))?;
    if let Some(out) = child.stdout.take() {
        std::thread::spawn(move || {
            for line in BufReader::new(out).split(b'\n').map_while(Result::ok) {
                if lines.send((number, Some(line))).is_err() {
                    return;
                }
            }
            // The receiver is gone once the command is over.
            let _ = lines.send((number, None));
        });
    }
    let started = Instant::now();
    Ok(Running {
        harness: own.harnesses[0].name.clone(),
        stdin: child.stdin.take(),
        child,
        started,
        limits: share.map(|share| {
            let (grace, last) = match own.settings.runs {
                Some(_) => COUNTED,
                None => (GRACE, LAST),
            };
            let ask = started + share + grace;
            (ask, ask + last)
        }),
        cut: false,
        summary: None,
        error: None,
        _file: file,
    })
}

/// The number of compilers that each of `campaigns` campaigns may run at a time.
fn compilers(campaigns: usize) -> usize {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    (all / campaigns.max(1)).max(1)
}

/// Passes on the events of a child. Its final summary or error is stored instead.
fn hear(one: &mut Running, line: &[u8], reporter: &mut dyn Reporter) {
    match serde_json::from_slice::<Event>(line) {
        Ok(Event::Finished(summary)) => one.summary = Some(summary),
        // These were reported before the clock started.
        Ok(Event::Compiling { .. } | Event::Compiled { .. } | Event::CompileProgress { .. }) => {}
        Ok(event) => reporter.event(&event),
        Err(_) => {
            // An error, or an incomplete line of a child that was killed.
            let Ok(value) = serde_json::from_slice::<serde_json::Value>(line) else {
                return;
            };
            if value["reason"] == "error" {
                let code = value["exit_code"].as_u64().unwrap_or(1);
                let mut known = ExitCode::TABLE.iter().map(|(known, _)| *known);
                one.error = Some((
                    value["message"].as_str().unwrap_or_default().to_owned(),
                    known
                        .find(|known| u64::from(known.code()) == code)
                        .unwrap_or(ExitCode::Internal),
                ));
            }
        }
    }
}

fn end(mut one: Running, stop: &AtomicBool, reporter: &mut dyn Reporter) -> Outcome {
    let status = one.child.wait().ok();
    // Processes that the child started may outlive it.
    let _ = killpg(group(&one.child), Signal::SIGKILL);
    let took = one.started.elapsed();
    let failed = match (&one.summary, one.error) {
        (None, Some(error)) => Some(error),
        (None, None) if one.cut => {
            let why = match stop.load(Ordering::Relaxed) {
                true => "when it did not stop",
                false => "past its limit",
            };
            Some((
                format!("ended by force after {}s, {why}", took.as_secs()),
                ExitCode::Internal,
            ))
        }
        (None, None) if stop.load(Ordering::Relaxed) => None,
        (None, None) => Some((died(status), ExitCode::Internal)),
        (Some(_), _) => None,
    };
    if one.cut && one.summary.is_some() {
        reporter.event(&Event::Note {
            level: Level::Warning,
            message: format!(
                "{}: asked to stop after {}s, past its limit",
                one.harness,
                took.as_secs()
            ),
        });
    }
    if let Some((why, _)) = &failed {
        reporter.event(&Event::Failed {
            harness: one.harness.clone(),
            why: why.clone(),
        });
    }
    let unexecuted = (one.summary.iter())
        .flat_map(|summary| &summary.unexecuted)
        .map(|one| one.why.clone())
        .next();
    Outcome {
        harness: one.harness,
        summary: one.summary,
        failed,
        unexecuted,
        took,
    }
}

fn died(status: Option<ExitStatus>) -> String {
    match status {
        Some(status) => format!("its process ended without a result ({status})"),
        None => "its process ended without a result".to_owned(),
    }
}

/// The body of a child (`cargo-cegar __campaign FILE`).
pub fn child(file: &Path) -> Result<Verdict, Error> {
    let text = std::fs::read(file).map_err(|why| Error::io("read", file, why))?;
    let options: RunOptions = serde_json::from_slice(&text)
        .map_err(|why| Error::engine("reading a campaign's options", why))?;
    let stop = signals::install();
    let asked = Arc::clone(&stop);
    std::thread::spawn(move || {
        // The parent writes nothing; the end of the input is the signal to stop.
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        asked.store(true, Ordering::Relaxed);
    });
    let mut reporter = JsonReporter::new(std::io::stdout());
    let verdict = super::run(&options, &mut reporter, &stop);
    reporter
        .finish()
        .map_err(|why| Error::io("write", "the events", why))?;
    verdict
}
