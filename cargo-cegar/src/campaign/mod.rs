//! The campaign: alternates the fuzzer and the engine on one program until every goal is settled or time is up.
//!
//! [`mod@prepare`] makes a program of a harness, [`budget`] says how long each part may take, [`native`] builds what runs natively, [`alternate`] lets the two sides
//! feed each other, [`findings`] decides what counts, [`tests`] writes what stays, [`replay()`] runs it again.

pub mod agreement;
pub mod alternate;
mod blame;
pub mod budget;
mod commands;
mod committed;
pub mod corpus;
mod expectations;
pub mod findings;
pub mod goals;
mod linking;
pub mod native;
mod natively;
pub mod pool;
pub mod prepare;
pub mod proofs;
pub mod reach;
mod refused;
mod replay;
pub mod tests;
mod unowned;
pub mod vacuous;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use cegar_checker::Assumption;
use cegar_fuzz::native::TargetBuilder;
use cegar_model::deadline::{self, Deadline};
use cegar_model::machine::Limits;
use cegar_search::simulate::search::{Config, Search};
use cegar_search::strategy::Coverage;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::error::Error;
use crate::event::{Event, Expectations, Level, Reporter, Summary, TestRef, Unexecuted};
use crate::findings::{Memory, Place};
use crate::options::{Harness, Settings};
use crate::store;
use crate::verdict::{End, GoalTable, Stats, Vacuous, Verdict};
use alternate::Alternation;
use alternate::peers::Peers;
use budget::Budget;
pub use commands::{check, run};
use findings::Judge;
use native::Native;
use prepare::{Bitcode, Prepared};
use reach::Reach;
pub use replay::replay;
use tests::Tests;

/// What a campaign on one program came to.
struct Result1 {
    goals: GoalTable,
    stats: Stats,
    tests: Vec<TestRef>,
    interrupted: bool,
    /// Every check is proved, and nothing can go wrong elsewhere.
    complete: bool,
    assumptions: Vec<Assumption>,
    unexecuted: Option<Unexecuted>,
    vacuous: Option<Vacuous>,
    findings: u64,
    expectations: Expectations,
}

/// Where things go, and how long it may take.
struct Folders<'a> {
    scratch: &'a Path,
    /// What all programs of the package have in common.
    common: &'a Path,
    root: &'a Path,
    corpus: Option<PathBuf>,
    /// Inputs that are read beside those of the corpus; nothing is written there.
    seeds: Option<PathBuf>,
    certificate: Option<&'a Path>,
    /// Where findings are remembered; none where a program is looked at once.
    findings: Option<Place>,
    /// Where tests go; none where none are written.
    tests: Option<tests::Where<'a>>,
}

fn one(
    harness: &Harness,
    settings: &Settings,
    (bitcode, budget): (Bitcode, Budget),
    folders: &Folders<'_>,
    first_only: bool,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Result1, Error> {
    let started = budget.begin();
    let queue = folders.scratch.join("queue");
    store::writable_dir(&queue)?;
    if let Some(corpus) = &folders.corpus {
        store::writable_dir(corpus)?;
    }
    earlier(folders.scratch, reporter);
    let limited = match settings.runs {
        Some(_) => Budget::new(None),
        None => budget,
    };
    let place = (folders.scratch, limited);
    let prepared = prepare::link(bitcode, harness, settings, place, reporter, stop)?;
    let memory = match &folders.findings {
        Some(place) => Some(remembered(place, reporter)?),
        None => None,
    };
    let expected = memory
        .iter()
        .any(|memory| memory.records().next().is_some());
    let ends = (stop, limited.confirming_ends());
    let native = start_native(
        &prepared,
        harness,
        settings,
        (folders.scratch, folders.common),
        (settings.fuzzes(), expected),
        ends,
    );
    let tests = folders
        .tests
        .map(|place| Tests::new(place, harness, settings, &prepared, folders.scratch));
    let tests = tests.map(|tests| tests.until(ends, folders.common));
    let bitcode = std::fs::read(&prepared.bitcode)
        .map_err(|why| Error::io("read", &prepared.bitcode, why))?;
    let mut config = Config {
        properties: harness.properties.clone(),
        limits: limits(harness),
        until: budget.end(),
        ..Config::default()
    };
    if settings.runs.is_some() {
        config.query = config.query.counted();
    }
    let mut alternation = Alternation {
        harness,
        settings,
        program: &prepared.program,
        externals: &prepared.externals,
        native: &native,
        search: Search::new(&prepared.program, config),
        judge: Judge::new(
            &harness.name,
            &prepared.program,
            &harness.properties,
            folders.root,
            tests,
            memory,
        ),
        corpus: folders.corpus.clone(),
        seeds: folders.seeds.clone(),
        queue,
        first_only,
        reporter,
        stop,
        stats: Stats {
            strategy: settings.strategy,
            ..Stats::default()
        },
        budget,
        crew: Default::default(),
        backlog: Default::default(),
        peers: settings
            .join
            .as_deref()
            .map(|hub| Peers::new(hub, &harness.name, &prepared.program)),
        postponed: None,
        last_swept: started,
        swept: Default::default(),
        compares: false,
        last_news: started,
        last_told: started,
        told_building: (0, 0),
        suspects: Vec::new(),
        unconfirmed: Default::default(),
        deaths: 0,
        fatal: 0,
        shared: Arc::clone(&prepared.program),
        reach: Reach::of(&prepared.program),
        digest: store::hex(&Sha256::digest(bitcode)),
        coverage: Arc::new(Coverage::new(
            prepared.program.blocks.len(),
            prepared.program.checks.len(),
        )),
        prover: None,
        before: folders
            .certificate
            .and_then(proofs::before)
            .or_else(|| proofs::before(folders.scratch)),
        proofs: None,
    };
    let deadline = Deadline::at(budget.end().filter(|_| settings.runs.is_none()));
    let ran = deadline::within(deadline, || {
        let expectations = alternation.replay_expected()?;
        let end = alternation.run().and_then(|end| alternation.look(end));
        Ok::<_, Error>((expectations, end))
    });
    let (expectations, end) = ran?;
    native.end();
    alternation.finish();
    let end = end?;
    alternation.consistent();
    natively::assign_checks(&mut alternation);
    let goals = alternation.goals();
    let kept = goals::tell(&mut alternation, end);
    goals::keep(&kept, folders.scratch)?;
    if let Some(folder) = folders.certificate {
        // For `explain`, which has something to say of violations too.
        proofs::beside(folder, &prepared.bitcode)?;
        goals::keep(&kept, folder)?;
    }
    let stats = alternation.stats.clone();
    let complete = alternation.is_proved();
    let unexecuted = alternation.unexecuted(end);
    let assumptions = assumptions(&alternation);
    let findings = alternation.judge.count();
    if let Some(proofs) = &alternation.proofs {
        let certificate = &proofs.outcome.certificate;
        proofs::write(certificate, folders.scratch, &prepared.bitcode)?;
        if let Some(folder) = folders.certificate {
            let event = Event::CertificateWritten {
                file: proofs::write(certificate, folder, &prepared.bitcode)?,
                checks: certificate.checks.len() as u64,
                blocks: certificate.blocks.len() as u64,
            };
            alternation.reporter.event(&event);
        }
    } else if let Some(folder) = folders.certificate {
        alternation.reporter.event(&Event::Note {
            level: Level::Warning,
            message: format!(
                "no certificate in {}: {}",
                folder.display(),
                goals::no_proof(&alternation, end)
            ),
        });
    }
    let written = std::mem::take(&mut alternation.judge.written);
    if settings.stats {
        let search = alternation.search.stats();
        let solver = alternation.search.solver_stats();
        alternation.reporter.event(&Event::Note {
            level: Level::Info,
            message: format!("search {}", json(&search)),
        });
        alternation.reporter.event(&Event::Note {
            level: Level::Info,
            message: format!(
                "inputs that only native code has run: {}",
                alternation.backlog.count()
            ),
        });
        alternation.reporter.event(&Event::Note {
            level: Level::Info,
            message: format!("solver {}", json(&solver)),
        });
        if settings.join.is_some() {
            alternation.reporter.event(&Event::Note {
                level: Level::Info,
                message: format!(
                    "other machines: {} inputs sent, {} received, {} of them entered new code here",
                    stats.peers_sent, stats.peers_received, stats.peers_used
                ),
            });
        }
        if let Some(proofs) = alternation.proofs.take() {
            alternation.reporter.event(&Event::Note {
                level: Level::Info,
                message: format!("prover {}", json(&proofs.outcome.stats)),
            });
            if let Ok(checked) = &proofs.checked {
                alternation.reporter.event(&Event::Note {
                    level: Level::Info,
                    message: format!(
                        "checker: {} transitions, {} questions",
                        checked.transitions, checked.questions
                    ),
                });
            }
        }
    }
    if let Ok(state) =
        serde_json::to_vec_pretty(&serde_json::json!({ "goals": goals, "stats": stats }))
    {
        store::write(&folders.scratch.join("state.json"), &state)?;
    }
    Ok(Result1 {
        goals,
        stats,
        tests: written,
        interrupted: end == End::Interrupted,
        complete,
        assumptions,
        unexecuted,
        vacuous: kept.vacuous,
        findings,
        expectations,
    })
}

/// What earlier campaigns found. A record of this machine that is damaged is named, and left where it is.
fn remembered(place: &Place, reporter: &mut dyn Reporter) -> Result<Memory, Error> {
    let (memory, damaged) = Memory::read(place.clone())?;
    for why in damaged {
        reporter.event(&Event::Note {
            level: Level::Warning,
            message: why.to_string(),
        });
    }
    Ok(memory)
}

/// Looks at what an earlier campaign left. Its inputs are in the queue; of `state.json` all that matters here is
/// whether a kill or a full disk has damaged it, which is said and then mended by the end of this campaign.
fn earlier(scratch: &Path, reporter: &mut dyn Reporter) {
    let path = scratch.join("state.json");
    let damaged = std::fs::read(&path)
        .is_ok_and(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).is_err());
    if damaged {
        reporter.event(&Event::Note {
            level: Level::Warning,
            message: format!("{} is damaged; it is written anew", path.display()),
        });
    }
}

/// What every "proved" of this program rests on, with places as reports name them.
fn assumptions(alternation: &Alternation<'_, '_>) -> Vec<Assumption> {
    let Some(proofs) = &alternation.proofs else {
        return Vec::new();
    };
    let root = alternation.judge.root();
    let mut all: Vec<Assumption> = proofs.outcome.assumed.clone();
    for assumption in &mut all {
        let mut places = Vec::new();
        for place in &assumption.places {
            let place = short(place, root);
            if !places.contains(&place) {
                places.push(place);
            }
        }
        // By line, where that is a number.
        places.sort_by_key(|place| match place.rsplit_once(':') {
            Some((file, line)) => (file.to_owned(), line.parse().unwrap_or(0)),
            None => (place.clone(), 0u32),
        });
        assumption.places = places;
    }
    let externals = crate::externals::assumed(&alternation.externals.functions);
    all.extend(externals.into_iter().map(Assumption::external));
    all
}

/// A place without its column, and without the folder that all of them are in.
fn short(place: &str, root: &Path) -> String {
    let line = match place.rsplit_once(':') {
        Some((line, column)) if column.bytes().all(|b| b.is_ascii_digit()) => line,
        _ => place,
    };
    let file = Path::new(line).strip_prefix(root);
    file.map_or_else(|_| line.to_owned(), |file| file.display().to_string())
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Starts the native builds of a program in its scratch folder; `common` is the folder of all programs of its package.
fn start_native<'s>(
    prepared: &Prepared,
    harness: &Harness,
    settings: &Settings,
    (scratch, common): (&Path, &Path),
    (fuzzed, expected): (bool, bool),
    ends: (&'s AtomicBool, Option<Instant>),
) -> Native<'s> {
    let mut builder = TargetBuilder::new(&prepared.bitcode, scratch.join("native"));
    builder.clang.clone_from(&settings.compiler.path);
    builder.cache = Some(prepared.cache.join("native"));
    builder.objects = Some(common.join("objects"));
    // As cargo tells build scripts: several campaigns may share the machine.
    let told = std::env::var("NUM_JOBS").ok();
    if let Some(jobs) = told.and_then(|jobs| jobs.parse().ok()) {
        builder.jobs = jobs;
    }
    let confirm = harness.timeout.max(Duration::from_secs(10));
    Native::start(
        builder,
        native::Wanted {
            fuzzed,
            large: fuzzed && prepared.program.blocks.len() >= native::LARGE,
            expected,
        },
        u32::try_from(confirm.as_millis()).unwrap_or(u32::MAX),
        ends,
    )
}

/// The machine's limits for a harness: about as many steps as native code does in its time limit, within reason.
fn limits(harness: &Harness) -> Limits {
    Limits {
        steps: (harness.timeout.as_millis() as u64 * 200_000).clamp(20_000_000, 400_000_000),
        ..Limits::default()
    }
}

impl Result1 {
    fn summary(self) -> Summary {
        Summary {
            verdict: if self.goals.checks.violated > 0 {
                Verdict::Violated
            } else if self.complete {
                Verdict::Proved
            } else {
                Verdict::Open
            },
            goals: self.goals,
            stats: self.stats,
            tests: self.tests,
            interrupted: self.interrupted,
            assumptions: self.assumptions,
            harnesses: 1,
            unexecuted: self.unexecuted.into_iter().collect(),
            vacuous: self.vacuous.into_iter().collect(),
            findings: self.findings,
            not_replayed: self.expectations.not_run.len() as u64,
        }
    }
}

/// Adds up what several harnesses came to.
fn merge(parts: Vec<Summary>) -> Summary {
    let mut goals = GoalTable::default();
    let mut stats = Stats::default();
    let mut tests = Vec::new();
    let mut interrupted = false;
    let mut unexecuted = Vec::new();
    let harnesses = parts.iter().map(|part| part.harnesses).sum();
    let proved = !parts.is_empty() && parts.iter().all(|part| part.verdict == Verdict::Proved);
    let mut assumptions = Vec::new();
    let mut vacuous = Vec::new();
    let (mut findings, mut not_replayed) = (0, 0);
    for part in parts {
        assumptions.extend(part.assumptions);
        vacuous.extend(part.vacuous);
        findings += part.findings;
        not_replayed += part.not_replayed;
        stats.strategy = part.stats.strategy;
        stats += part.stats;
        goals += part.goals;
        tests.extend(part.tests);
        interrupted |= part.interrupted;
        unexecuted.extend(part.unexecuted);
    }
    Summary {
        verdict: if goals.checks.violated > 0 {
            Verdict::Violated
        } else if proved {
            Verdict::Proved
        } else {
            Verdict::Open
        },
        goals,
        stats,
        tests,
        interrupted,
        assumptions: Assumption::merged(assumptions),
        harnesses,
        unexecuted,
        vacuous,
        findings,
        not_replayed,
    }
}

/// The body of a process that exchanges inputs with other machines (`cargo-cegar __exchange CONFIG`).
pub fn exchange(config: &str) -> std::process::ExitCode {
    cegar_fuzz::exchange::exchange_main(config)
}

/// The body of a worker process (`cargo-cegar __worker CONFIG`).
pub fn worker(config: &Path) -> std::process::ExitCode {
    cegar_fuzz::worker::worker_main(config)
}
