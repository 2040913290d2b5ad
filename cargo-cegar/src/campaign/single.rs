//! The campaign on one program: prepares everything, runs the alternation, and stores and reports
//! its results.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use cegar_checker::{Assumption, Certificate};
use cegar_fuzz::native::TargetBuilder;
use cegar_model::deadline::{self, Deadline};
use cegar_model::machine::Limits;
use cegar_model::program::Property;
use cegar_model::program::sources::Sources;
use cegar_search::simulate::search::{Config, Search};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::alternate::Alternation;
use super::alternate::confirming::Confirming;
use super::alternate::fuzzing::Fuzzing;
use super::alternate::inputs::Inputs;
use super::alternate::peers::Peers;
use super::alternate::proving::Proving;
use super::alternate::reporting::Reporting;
use super::alternate::searching::Searching;
use super::alternate::subject::Subject;
use super::budget::Budget;
use super::findings::Judge;
use super::native::{self, Native};
use super::prepare::{self, Bitcode, Prepared};
use super::reach::Reach;
use super::tests::{self, Tests};
use super::{goals, library, natively, proofs};
use crate::error::Error;
use crate::event::{Event, Expectations, Level, Reporter, Summary};
use crate::findings::{Memory, Place};
use crate::given;
use crate::options::{Harness, Settings};
use crate::store;
use crate::verdict::{End, Stats, Verdict};

/// The folders of a campaign.
pub(super) struct Folders<'a> {
    pub scratch: &'a Path,
    /// The folder shared by all programs of the package.
    pub common: &'a Path,
    pub root: &'a Path,
    pub corpus: Option<PathBuf>,
    /// Inputs that are read in addition to the corpus; nothing is written there.
    pub seeds: Option<PathBuf>,
    pub certificate: Option<&'a Path>,
    /// Where findings are stored; `None` if a program is checked once.
    pub findings: Option<Place>,
    /// Where tests are written; `None` if none are written.
    pub tests: Option<tests::Where<'a>>,
}

/// One campaign and its limits.
pub(super) struct Single<'a> {
    pub harness: &'a Harness,
    pub settings: &'a Settings,
    pub budget: Budget,
    pub folders: Folders<'a>,
    /// Set by Ctrl-C.
    pub stop: &'a AtomicBool,
}

impl<'a> Single<'a> {
    /// Runs the campaign on a program, from its bitcode to the summary.
    pub fn run(&self, bitcode: Bitcode, reporter: &mut dyn Reporter) -> Result<Summary, Error> {
        let folders = &self.folders;
        store::writable_dir(&folders.scratch.join("queue"))?;
        if let Some(corpus) = &folders.corpus {
            store::writable_dir(corpus)?;
        }
        earlier(folders.scratch, reporter);
        let limited = self.limited();
        let place = (folders.scratch, limited);
        let (harness, settings) = (self.harness, self.settings);
        let prepared = prepare::link(bitcode, harness, settings, place, reporter, self.stop)?;
        let memory = match &folders.findings {
            Some(place) => Some(remembered(place, reporter)?),
            None => None,
        };
        let expected = memory
            .iter()
            .any(|memory| memory.records().next().is_some());
        let native = start_native(
            &prepared,
            harness,
            settings,
            (folders.scratch, folders.common),
            (settings.fuzzes(), expected),
            (self.stop, limited.confirming_ends()),
        );
        let mut alternation = self.alternation(&prepared, &native, memory, reporter)?;
        let counted = settings.runs.is_some();
        let deadline = Deadline::at(self.budget.end().filter(|_| !counted));
        let (expectations, end) = deadline::within(deadline, || {
            let expectations = alternation.replay_expected()?;
            let end = alternation
                .run()
                .and_then(|end| alternation.execute_after_proof(end));
            Ok::<_, Error>((expectations, end))
        })?;
        native.end();
        alternation.finish();
        self.conclude(&mut alternation, &prepared, end?, &expectations)
    }

    /// The budget, or an unlimited one if steps are counted.
    fn limited(&self) -> Budget {
        match self.settings.runs {
            Some(_) => Budget::new(None),
            None => self.budget,
        }
    }

    /// The folder of the given seeds, converted to tapes, if there are any.
    fn given(&self, reporter: &mut dyn Reporter) -> Result<Option<PathBuf>, Error> {
        let folder = self.folders.scratch.join("seeds");
        let done = given::unpack(self.harness, &folder)?;
        if done.long > 0 {
            reporter.event(&Event::Note {
                level: Level::Warning,
                message: format!(
                    "{} of {} seeds are longer than {} bytes (`max_len` of {}) and left out; the \
                     longest has {}",
                    done.long,
                    done.long + done.taken,
                    self.harness.max_len,
                    self.harness.name,
                    done.longest
                ),
            });
        }
        Ok((!self.harness.seeds.is_empty()).then_some(folder))
    }

    fn alternation<'p>(
        &'p self,
        prepared: &'p Prepared,
        native: &'p Native<'p>,
        memory: Option<Memory>,
        reporter: &'p mut dyn Reporter,
    ) -> Result<Alternation<'p, 'p>, Error> {
        let (harness, settings, folders) = (self.harness, self.settings, &self.folders);
        let program = &prepared.program;
        let started = self.budget.begin();
        let bitcode = std::fs::read(&prepared.bitcode)
            .map_err(|why| Error::io("read", &prepared.bitcode, why))?;
        let ends = (self.stop, self.limited().confirming_ends());
        let tests = folders.tests.map(|place| {
            Tests::new(place, harness, prepared, folders.scratch).until(ends, folders.common)
        });
        let given = self.given(reporter)?;
        let properties = &harness.properties;
        let join = settings.join.as_deref();
        Ok(Alternation {
            subject: Subject {
                harness,
                settings,
                program,
                externals: &prepared.externals,
                undefined: &prepared.normalised.external_data,
                unreached: &prepared.normalised.unreached,
                native,
                reach: Reach::of(program),
                digest: store::hex(&Sha256::digest(bitcode)),
                budget: self.budget,
                stop: self.stop,
            },
            inputs: Inputs {
                damaged: BTreeSet::new(),
                corpus: folders.corpus.clone(),
                seeds: folders.seeds.iter().cloned().chain(given).collect(),
                queue: folders.scratch.join("queue"),
            },
            searching: Searching::new(Search::new(program, self.search()), started),
            fuzzing: Fuzzing::new(started),
            proving: Proving::new(program, self.proved_before()),
            confirming: Confirming {
                judge: Judge::new(
                    &harness.name,
                    program,
                    properties,
                    folders.root,
                    tests,
                    memory,
                ),
                suspects: Vec::new(),
                not_shown: BTreeSet::new(),
                late: 0,
            },
            peers: join.map(|hub| Peers::new(hub, &harness.name, program)),
            reporting: Reporting::new(reporter, started),
            stats: Stats {
                strategy: settings.strategy,
                ..Stats::default()
            },
        })
    }

    /// The configuration of the search.
    fn search(&self) -> Config {
        let mut config = Config {
            properties: self.harness.properties.clone(),
            limits: limits(self.harness),
            until: self.budget.end(),
            ..Config::default()
        };
        if self.settings.runs.is_some() {
            config.query = config.query.counted();
        }
        config
    }

    /// The certificate of an earlier campaign.
    fn proved_before(&self) -> Option<Certificate> {
        let asked = self.folders.certificate.and_then(proofs::before);
        asked.or_else(|| proofs::before(self.folders.scratch))
    }

    /// Reports and stores the results of the alternation.
    fn conclude(
        &self,
        alternation: &mut Alternation<'_, '_>,
        prepared: &Prepared,
        end: End,
        expectations: &Expectations,
    ) -> Result<Summary, Error> {
        alternation.consistent();
        natively::assign_checks(alternation);
        let kept = goals::tell(alternation, end);
        goals::keep(&kept, self.folders.scratch)?;
        if let Some(folder) = self.folders.certificate {
            // For `explain`, which describes violations as well.
            proofs::beside(folder, &prepared.bitcode)?;
            goals::keep(&kept, folder)?;
        }
        self.keep_certificate(alternation, prepared, end)?;
        if self.settings.stats {
            tell_stats(alternation, self.settings.join.is_some());
        }
        // A proof about a harness that uses nothing of the library does not answer the question.
        let is_empty = (kept.vacuous.as_ref()).is_some_and(|vacuous| vacuous.calls_nothing);
        let (mut goals, stats) = (alternation.overview().table(), alternation.stats.clone());
        if let Some(proofs) = &alternation.proving.proofs {
            goals.checks.library_open =
                library::count(&prepared.program, &proofs.outcome.elsewhere);
        }
        let state = serde_json::json!({ "goals": goals, "stats": stats, "sources": kept.sources });
        if let Ok(state) = serde_json::to_vec_pretty(&state) {
            store::write(&self.folders.scratch.join("state.json"), &state)?;
        }
        let verdict = if goals.checks.violated > 0 {
            Verdict::Violated
        } else if alternation.proving.is_complete() && !is_empty {
            Verdict::Proved
        } else {
            Verdict::Open
        };
        let is_told = goals.checks.open > 0 || is_empty || !kept.elsewhere.is_empty();
        if verdict == Verdict::Open && !is_told && self.settings.sides.engine() {
            let text = "no check of your code is open, but not all is proved that they rest on: \
                what the stub library does for the code, or that no fault comes first which the \
                properties do not cover; --property all names such faults, and a longer --max-time \
                may have room for it";
            alternation.reporting.note(Level::Info, text.to_owned());
        }
        Ok(Summary {
            verdict,
            goals,
            stats,
            tests: std::mem::take(&mut alternation.confirming.judge.written),
            interrupted: end == End::Interrupted,
            assumptions: assumptions(alternation),
            harnesses: 1,
            unexecuted: alternation.unexecuted(end).into_iter().collect(),
            vacuous: kept.vacuous.into_iter().collect(),
            findings: alternation.confirming.judge.count(),
            not_replayed: expectations.not_run.len() as u64,
            not_shown: alternation.confirming.not_shown.len() as u64,
            late: alternation.confirming.late_alone(),
        })
    }

    /// Writes the certificate into the scratch folder and the requested folder.
    fn keep_certificate(
        &self,
        alternation: &mut Alternation<'_, '_>,
        prepared: &Prepared,
        end: End,
    ) -> Result<(), Error> {
        let Some(proofs) = &alternation.proving.proofs else {
            if let Some(folder) = self.folders.certificate {
                let why = goals::no_proof(alternation, end);
                let message = format!("no certificate in {}: {why}", folder.display());
                alternation.reporting.note(Level::Warning, message);
            }
            return Ok(());
        };
        let certificate = &proofs.outcome.certificate;
        proofs::write(certificate, self.folders.scratch, &prepared.bitcode)?;
        if let Some(folder) = self.folders.certificate {
            let event = Event::CertificateWritten {
                file: proofs::write(certificate, folder, &prepared.bitcode)?,
                checks: certificate.checks.len() as u64,
                blocks: certificate.blocks.len() as u64,
            };
            alternation.reporting.event(&event);
        }
        Ok(())
    }
}

/// Reports what `--stats` prints.
fn tell_stats(alternation: &mut Alternation<'_, '_>, exchanges: bool) {
    let searching = &alternation.searching;
    let mut lines = vec![
        format!("search {}", json(&searching.search.stats())),
        format!(
            "inputs that only native code has run: {}",
            searching.backlog.count()
        ),
        format!("solver {}", json(&searching.search.solver_stats())),
    ];
    if exchanges {
        let stats = &alternation.stats;
        lines.push(format!(
            "other machines: {} inputs sent, {} received, {} of them entered new code here",
            stats.peers_sent, stats.peers_received, stats.peers_used
        ));
    }
    if let Some(proofs) = &alternation.proving.proofs {
        lines.push(format!("prover {}", json(&proofs.outcome.stats)));
        if let Ok(checked) = &proofs.checked {
            lines.push(format!(
                "checker: {} transitions, {} questions",
                checked.transitions, checked.questions
            ));
        }
    }
    for line in lines {
        alternation.reporting.note(Level::Info, line);
    }
}

/// The findings of earlier campaigns. A damaged record of this machine is reported and left in
/// place.
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

/// Checks the files of an earlier campaign. Its inputs are in the queue. Of `state.json`, it only
/// matters whether a kill or a full disk has damaged it; this is reported, and the end of this
/// campaign replaces the file.
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

/// The assumptions on which the proofs of this program rest, with places as reports show them.
pub(super) fn assumptions(alternation: &Alternation<'_, '_>) -> Vec<Assumption> {
    let Some(proofs) = &alternation.proving.proofs else {
        return Vec::new();
    };
    let root = alternation.confirming.judge.root();
    let mut all: Vec<Assumption> = proofs.outcome.assumed.clone();
    // With `overflow`, every signed operation has a check unless the user's own `-fwrapv` defines
    // it, so operations without a check are unsigned. A certificate does not show this.
    let asked = &alternation.subject.harness.properties;
    if asked.contains(&Property::Overflow) {
        all.retain(|assumption| assumption.id != "wrapping" && assumption.id != "conversions");
    }
    let mut sources = Sources::default();
    for assumption in &mut all {
        let mut places = Vec::new();
        for place in &assumption.places {
            let line = without_column(place);
            let bound = match assumption.id == "sizes" {
                true => bound(line, &mut sources),
                false => None,
            };
            let place = (short(line, root), bound);
            if !places.contains(&place) {
                places.push(place);
            }
        }
        // Sorted by line if it is a number.
        places.sort_by_key(|(place, _)| match place.rsplit_once(':') {
            Some((file, line)) => (file.to_owned(), line.parse().unwrap_or(0)),
            None => (place.clone(), 0u32),
        });
        let places = places.into_iter().map(|(place, bound)| match bound {
            Some(bound) => format!("{place} `{bound}`"),
            None => place,
        });
        assumption.places = places.collect();
    }
    let externals = crate::externals::assumed(&alternation.subject.externals.functions);
    all.extend(externals.into_iter().map(Assumption::external));
    all.extend(alternation.subject.harness.preconditions.iter().cloned());
    all
}

/// The choice of a size in a line of a harness, with its bounds: `n = crunner_size(0, 64)`.
fn bound(place: &str, sources: &mut Sources) -> Option<String> {
    let (file, line) = place.rsplit_once(':')?;
    let text = sources.line(file, line.parse().ok()?)?;
    let at = text.find("crunner_size(")?;
    let end = at + text[at..].find(')')? + 1;
    let before = text[..at].trim_end().strip_suffix('=').map(str::trim_end);
    let name = before.and_then(|before| before.rsplit([' ', '*', '(']).next());
    Some(match name {
        Some(name) => format!("{name} = {}", &text[at..end]),
        None => text[at..end].to_owned(),
    })
}

/// A place without its column.
fn without_column(place: &str) -> &str {
    match place.rsplit_once(':') {
        Some((line, column)) if column.bytes().all(|b| b.is_ascii_digit()) => line,
        _ => place,
    }
}

/// A place relative to `root`.
fn short(line: &str, root: &Path) -> String {
    let file = Path::new(line).strip_prefix(root);
    file.map_or_else(|_| line.to_owned(), |file| file.display().to_string())
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Starts the native builds of a program in its scratch folder. `common` is the folder shared by
/// all programs of the package.
pub(super) fn start_native<'s>(
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
    // Cargo sets this variable for build scripts, too: several campaigns may share the machine.
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

/// The machine's limits for a harness: about as many steps as native code executes in the harness's
/// time limit, within bounds.
pub(super) fn limits(harness: &Harness) -> Limits {
    Limits {
        steps: u64::try_from(harness.timeout.as_millis())
            .unwrap_or(u64::MAX)
            .saturating_mul(200_000)
            .clamp(20_000_000, 400_000_000),
        ..Limits::default()
    }
}
