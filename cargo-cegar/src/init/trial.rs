//! Tries each harness before it is offered.
//!
//! Facts that a header does not document show within seconds: the first run of a harness that
//! passes NULL where the library requires an object faults, and the engine blames the harness. So
//! the harness is written again with what was learnt, and tried again, until a trial teaches
//! nothing new. A harness that cannot be repaired, or that misses most of its function, is not
//! offered.

mod kept;
mod listener;
mod rewrite;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::api::Api;
use super::drive::{self, Adjust, Success};
use super::signatures::{Chosen, Library};
use super::table::cut_short;
use super::{InitOptions, Initialised, Known};
use crate::campaign;
use crate::compile::Unit;
use crate::contracts::{Contracts, Precondition, State};
use crate::coverage::{Count, Coverage};
use crate::error::Error;
use crate::event::{Event, Level, Reporter};
use crate::explain::StoredCampaign;
use crate::options::{Harness, RunOptions, Settings};
use crate::plan;
use crate::store;
use crate::verdict::Finding;
use kept::Kept;
use listener::Listener;
use rewrite::{hopeless, is_absurd};

/// A trial that reached nothing is repeated with this multiple of the time.
const PATIENCE: u32 = 6;
/// The maximum number of times that one harness is written.
const ROUNDS: usize = 12;
/// The percentage of a function's lines that a harness must reach.
const ENOUGH: u64 = 20;
/// Functions with fewer lines than this are exempt from the percentage.
const FEW_LINES: u64 = 8;

/// The result of trying a harness.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The harness in its last version, which is offered.
    pub harness: drive::Harness,
    /// The preconditions that it keeps.
    pub learnt: Vec<Precondition>,
    /// The number of lines of the driven function that were reached, and the number of its lines.
    pub lines: Option<(u64, u64)>,
    /// The number of faults that the harness is not to blame for.
    pub findings: u64,
    /// The inputs that show these faults. The first campaign starts with them.
    pub tapes: Vec<Vec<u8>>,
    /// Why the harness is not offered, if so.
    pub left_out: Option<String>,
    /// Whether it is not offered only because it reaches few lines of the function.
    pub is_shallow: bool,
    /// Whether the time budget ended before the trial taught nothing new.
    pub cut_short: bool,
}

/// The inputs of a trial.
pub(super) struct Trial<'t> {
    pub known: &'t Known<'t>,
    pub library: &'t Library<'t>,
    pub api: (&'t Api, &'t std::collections::BTreeSet<String>),
    /// For each function, the macros with which its harness is compiled.
    pub defines: &'t std::collections::BTreeMap<String, Vec<String>>,
    /// The time of one run.
    pub time: Duration,
    /// The deadline after which no further run starts.
    pub until: Instant,
    /// The preconditions that users rejected, by harness.
    pub rejected: &'t Contracts,
}

/// The result of one run.
struct Ran {
    preconditions: Vec<Finding>,
    findings: u64,
    /// Whether a fault occurred while the container was filled.
    while_filling: bool,
    /// Whether a fault depends on data from outside. Checking an object's state cannot prevent such
    /// a fault.
    of_data: bool,
    tapes: Vec<Vec<u8>>,
    /// The fault in which the library dereferenced a NULL of its own.
    null_fault: Option<String>,
    lines: Option<(u64, u64)>,
}

impl Trial<'_> {
    /// Tries the chosen harnesses, and further ones in place of those that are left out.
    pub(super) fn all(
        &self,
        chosen: &Chosen,
        options: &InitOptions,
        done: &mut Initialised,
        reporter: &mut dyn Reporter,
    ) -> Result<Vec<(String, drive::Harness)>, Error> {
        let mut kept = Kept::default();
        let first = chosen.harnesses.iter().map(|one| (one, true));
        let all = first.chain(chosen.further.iter().map(|one| (one, false)));
        let most = options.most.max(chosen.harnesses.len());
        let mut turns = 0;
        for ((function, harness), compiled) in all {
            if kept.harnesses.len() >= most || turns >= 2 * most || self.is_stopped() {
                break;
            }
            if !compiled && self.library.compiles(function, &harness.text).is_some() {
                continue;
            }
            let path = self
                .known
                .project
                .cegar
                .join(format!("harnesses/{function}.c"));
            if path.exists() {
                // The file belongs to the user and stays unchanged.
                kept.harnesses.push((function.clone(), harness.clone()));
                continue;
            }
            turns += 1;
            reporter.event(&Event::Note {
                level: Level::Detail,
                message: format!("trying {function}"),
            });
            kept.take(function, self.of(function, harness.clone())?, done);
        }
        let kept = kept.finish(done);
        done.notes.extend(cut_short(&done.tried));
        Ok(kept)
    }

    /// Tries a harness until a trial teaches nothing new.
    pub(super) fn of(&self, name: &str, first: drive::Harness) -> Result<Tried, Error> {
        let function = first.drives.clone();
        let function = function.as_str();
        let mut tried = Tried {
            harness: first,
            learnt: Vec::new(),
            lines: None,
            findings: 0,
            tapes: Vec::new(),
            left_out: None,
            is_shallow: false,
            cut_short: false,
        };
        let mut adjust = Adjust::default();
        let (mut unopened, mut of_data) = (None, false);
        for round in 0.. {
            let Some(time) = self.at_most(self.time) else {
                tried.cut_short = true;
                break;
            };
            let mut ran = self.patiently(name, &tried.harness, time)?;
            (tried.lines, tried.findings) = (ran.lines, ran.findings);
            of_data = ran.of_data;
            tried.tapes = std::mem::take(&mut ran.tapes);
            if ran.preconditions.is_empty()
                && adjust.opened.is_none()
                && let Some(fault) = ran.null_fault.take()
            {
                if !self.open(name, &fault, &mut adjust, &mut tried)? {
                    unopened = Some(fault);
                }
                break;
            }
            let is_out = matches!(ran.lines, Some((0, _)));
            if is_out && self.without_check(name, &mut adjust, &mut tried) {
                continue;
            }
            if ran.while_filling && self.without_filling(name, &mut adjust, &mut tried) {
                continue;
            }
            let Some(finding) = ran.preconditions.first() else {
                break;
            };
            let before = adjust.clone();
            let learnt = self.learn(name, finding, &mut adjust, &tried.harness.text);
            let again = match learnt.is_empty() || before == adjust || round >= ROUNDS {
                true => Err(hopeless(finding)),
                false => self.otherwise(name, finding, &adjust, &tried),
            };
            match again {
                Ok(again) => {
                    tried.harness = again;
                    // A condition may have become part of a stronger one.
                    let is_gone = |one: &Precondition| {
                        let entry = (one.call.clone(), one.condition.clone());
                        before.assume.contains(&entry) && !adjust.assume.contains(&entry)
                    };
                    tried.learnt.retain(|one| !is_gone(one));
                    tried.learnt.extend(learnt);
                }
                Err(_) if self.without_filling(name, &mut adjust, &mut tried) => {}
                Err(why) => {
                    tried.left_out = Some(why);
                    break;
                }
            }
            if self.is_stopped() {
                break;
            }
        }
        self.judge(function, (of_data, unopened), &mut tried);
        Ok(tried)
    }

    /// Leaves out a harness that fails only in a state that callers check for, or that reaches few
    /// lines of the function. `of_data` is whether a fault depends on data from outside; `unopened`
    /// is a NULL dereference that suggests that an object had to be opened first.
    fn judge(
        &self,
        function: &str,
        (of_data, unopened): (bool, Option<String>),
        tried: &mut Tried,
    ) {
        let is_guarded = self.api.0.orders.is_guarded(function);
        if is_guarded && tried.findings > 0 && !of_data && tried.left_out.is_none() {
            tried.left_out = Some(
                "it fails where nothing looks at the state first, as its callers in Rust do"
                    .to_owned(),
            );
        }
        if let Some((reached, all)) = tried.lines
            && tried.left_out.is_none()
            && (tried.findings == 0 || unopened.is_some())
            && (reached == 0 || all >= FEW_LINES && reached * 100 < all * ENOUGH)
        {
            let why = match unopened {
                // Callers call another function first, but it is unknown which.
                Some(fault) => format!(": {fault}, as if something had to be called before it"),
                None => String::new(),
            };
            tried.left_out = Some(format!(
                "its harness reaches {reached} of {all} lines of it{why}"
            ));
            tried.is_shallow = reached > 0 && why.is_empty();
        }
    }

    /// The harness, written again with what was learnt from a fault. Fails if it did not change.
    fn otherwise(
        &self,
        name: &str,
        finding: &Finding,
        adjust: &Adjust,
        tried: &Tried,
    ) -> Result<drive::Harness, String> {
        match self.library.again(self.api, name, adjust) {
            Ok(again) if again.text != tried.harness.text => Ok(again),
            Ok(_) => Err(hopeless(finding)),
            Err(why) => Err(format!("{}: {why}", hopeless(finding))),
        }
    }

    /// Handles a NULL dereference of the library in a harness that uses an object which it has just
    /// created: tries whether opening the object first, as callers do, avoids it. Returns `false`
    /// if no way to open the object is known or the trials were inconclusive.
    fn open(
        &self,
        name: &str,
        fault: &str,
        adjust: &mut Adjust,
        tried: &mut Tried,
    ) -> Result<bool, Error> {
        let mut never = false;
        for success in [Success::Zero, Success::NotZero] {
            let opened = Adjust {
                opened: Some(success),
                ..adjust.clone()
            };
            let Ok(harness) = self.library.again(self.api, name, &opened) else {
                return Ok(false);
            };
            let Some(time) = self
                .at_most(self.time)
                .filter(|_| harness.text != tried.harness.text)
            else {
                return Ok(false);
            };
            let mut ran = self.patiently(name, &harness, time)?;
            if !ran.preconditions.is_empty() || ran.null_fault.is_some() {
                continue;
            }
            match ran.lines {
                Some((reached, _)) if reached > 0 => {}
                // On a busy machine the run may not have started, which shows nothing.
                reached => {
                    never |= reached.is_some();
                    continue;
                }
            }
            (tried.lines, tried.findings) = (ran.lines, ran.findings);
            tried.tapes = std::mem::take(&mut ran.tapes);
            tried.harness = harness;
            *adjust = opened;
            return Ok(true);
        }
        if never {
            (tried.lines, tried.findings) = (None, 0);
            tried.left_out = Some(format!(
                "callers open what it uses first, which never succeeds here (else {fault})"
            ));
        }
        Ok(never)
    }

    /// Applies the preconditions from one fault. Returns those that could be applied.
    fn learn(
        &self,
        name: &str,
        finding: &Finding,
        adjust: &mut Adjust,
        text: &str,
    ) -> Vec<Precondition> {
        let missing = finding.blame.iter().flat_map(|blame| &blame.missing);
        let missing = missing.filter(|one| !is_absurd(&one.condition, text));
        let mut learnt = Vec::new();
        for one in missing {
            if let Some(condition) = adjust.take(one) {
                learnt.push(Precondition {
                    harness: name.to_owned(),
                    call: one.call.clone(),
                    condition,
                    why: one.why.clone(),
                    learnt: finding.place.show(),
                    check: finding.message.clone(),
                    state: State::Learnt,
                });
            }
        }
        learnt
    }

    /// The given time, limited to the rest of the time budget. `None` if the budget is used up.
    fn at_most(&self, time: Duration) -> Option<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        (!left.is_zero()).then(|| time.min(left))
    }

    fn is_stopped(&self) -> bool {
        self.library.stop.load(Ordering::Relaxed)
    }

    /// Runs a harness, and a second time for longer if it may not have started on a busy machine.
    fn patiently(
        &self,
        name: &str,
        harness: &drive::Harness,
        time: Duration,
    ) -> Result<Ran, Error> {
        let ran = self.run(name, harness, time)?;
        let is_empty = ran.lines.is_none() && ran.preconditions.is_empty();
        match self.at_most(self.time * PATIENCE) {
            Some(time) if is_empty && !self.is_stopped() => self.run(name, harness, time),
            _ => Ok(ran),
        }
    }

    fn run(&self, name: &str, harness: &drive::Harness, time: Duration) -> Result<Ran, Error> {
        let function = harness.drives.as_str();
        let scratch = self.known.project.scratch().join("try");
        let package = scratch.join("package");
        let file = package.join("harnesses").join(format!("{name}.c"));
        for folder in [
            &package.join("harnesses"),
            &package.join("corpus").join(name),
        ] {
            store::writable_dir(folder)?;
        }
        // The corpus and results of an earlier version of the harness belong to other inputs.
        for old in [&scratch.join(name), &package.join("corpus").join(name)] {
            if old.exists() {
                std::fs::remove_dir_all(old).map_err(|why| Error::io("remove", old, why))?;
            }
        }
        store::write(&file, harness.text.as_bytes())?;
        let mut options = self.options(name, function, (&scratch, &package, file));
        options.settings.max_time = Some(time);
        let done = AtomicBool::new(false);
        let mut listener = Listener {
            user: self.library.stop,
            done: &done,
            fillers: &harness.fillers,
            while_filling: false,
            preconditions: Vec::new(),
            findings: 0,
            of_data: false,
            tapes: Vec::new(),
            null_fault: None,
        };
        match campaign::run(&options, &mut listener, &done) {
            Ok(_) => {}
            Err(Error::Interrupted) if !self.is_stopped() => {}
            Err(why) => return Err(why),
        }
        Ok(Ran {
            preconditions: listener.preconditions,
            findings: listener.findings,
            while_filling: listener.while_filling,
            of_data: listener.of_data,
            tapes: listener.tapes,
            null_fault: listener.null_fault,
            lines: lines(&scratch.join(name), function),
        })
    }

    fn options(
        &self,
        name: &str,
        function: &str,
        (scratch, package, file): (&Path, &Path, PathBuf),
    ) -> RunOptions {
        let known = self.known;
        let mut units = vec![Unit {
            source: file,
            directory: package.to_owned(),
            flags: self.library.flags.to_vec(),
        }];
        let defines = self.defines.get(function).into_iter().flatten();
        units[0]
            .flags
            .extend(defines.map(|define| format!("-D{define}")));
        let own = plan::own_flags(known.project, known.config);
        units.extend(known.units.iter().cloned().map(|mut unit| {
            unit.flags.push("-w".to_owned());
            unit.flags.extend(own.iter().cloned());
            unit
        }));
        let mut harness = Harness::new(name, units);
        harness.library = 1..1 + known.units.len();
        harness.drives = Some(function.to_owned());
        harness.rejected = self.rejected.rejected(name);
        harness.rules.clone_from(&known.config.external);
        let settings = Settings::new(self.library.compiler.clone());
        RunOptions {
            harnesses: vec![harness],
            settings,
            scratch: scratch.to_owned(),
            package: package.to_owned(),
            root: known.project.root.clone(),
            no_emit: true,
            artifacts: None,
            captured: None,
            is_all: false,
            jobs: 1,
            is_compiled: false,
        }
    }
}

/// The number of lines of a function that a run reached, and the number of its lines.
fn lines(scratch: &Path, function: &str) -> Option<(u64, u64)> {
    let left = StoredCampaign::read(scratch).ok()?;
    let coverage = Coverage::of(&left);
    let file = coverage
        .files
        .values()
        .find(|file| file.functions.contains_key(function))?;
    let found = file.functions.get(function)?;
    let states: Vec<_> = file.within(found).map(|(_, state)| state).collect();
    let count = Count::of(&states);
    Some((count.covered, count.lines))
}
