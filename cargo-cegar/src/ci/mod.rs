//! A campaign in continuous integration.
//!
//! No person is watching, the machine is rented by the minute, and the source tree is thrown away
//! afterwards. So there is a budget that holds ([`crate::campaign::pool`]), what is accepted does
//! not fail the build ([`baseline`]), and what is new goes to a folder of the package's own shape,
//! to be kept as the build's artifact and copied over `cegar/` by the person who looks at it.

mod artifacts;
pub mod baseline;
mod summary;

use std::path::PathBuf;

use serde::Serialize;

use crate::campaign::pool::Outcome;
use crate::error::Error;
use crate::event::{Event, Hang, Reporter, Summary};
use crate::exit::ExitCode;
use crate::findings::{Identity, Standing};
use crate::store;
use crate::verdict::Finding;
use crate::verdict::Vacuous;
use crate::verdict::{GoalTable, Stats, Verdict};
pub use artifacts::prepare;
use baseline::Baseline;
pub use summary::markdown;

/// Passes events on, tells known findings from new ones, and keeps the inputs of both.
pub struct Sorter<'a> {
    inner: &'a mut dyn Reporter,
    baseline: &'a Baseline,
    inputs: Option<PathBuf>,
    /// What was found, in order; also the further inputs of a finding.
    pub found: Vec<Sorted>,
    /// Runs that did not end.
    pub hangs: Vec<Hang>,
    /// Faults that a harness caused by breaking a condition which no list has.
    pub preconditions: Vec<Finding>,
    /// The first input that could not be kept, and why.
    pub lost: Option<Error>,
}

impl<'a> Sorter<'a> {
    /// A sorter by this baseline. Inputs go to `inputs`.
    pub fn new(
        inner: &'a mut dyn Reporter,
        baseline: &'a Baseline,
        inputs: Option<PathBuf>,
    ) -> Sorter<'a> {
        Sorter {
            inner,
            baseline,
            inputs,
            found: Vec::new(),
            hangs: Vec::new(),
            preconditions: Vec::new(),
            lost: None,
        }
    }

    /// Keeps an input of a harness under this name, and says where; nowhere if none are kept.
    fn keep(&self, harness: &str, name: &str, tape: &[u8]) -> Result<Option<PathBuf>, Error> {
        let Some(inputs) = &self.inputs else {
            return Ok(None);
        };
        let folder = inputs.join(harness);
        store::writable_dir(&folder)?;
        let file = folder.join(name);
        store::write(&file, tape)?;
        Ok(Some(file))
    }

    fn keep_finding(&mut self, finding: &Finding) {
        if let Err(why) = self.keep(&finding.harness, &finding.name, &finding.input) {
            self.lost.get_or_insert(why);
        }
    }

    /// Keeps the input of a run that does not end beside those of findings.
    fn keep_hang(&self, hang: &Hang) -> Result<Option<PathBuf>, Error> {
        let Some(file) = &hang.input else {
            return Ok(None);
        };
        let tape = std::fs::read(file).map_err(|why| Error::io("read", file, why))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        self.keep(&hang.harness, &format!("hang-{name}"), &tape)
    }

    fn hang(&mut self, hang: &Hang) {
        let mut hang = hang.clone();
        match self.keep_hang(&hang) {
            Ok(kept) => hang.input = kept.or(hang.input),
            Err(why) => drop(self.lost.get_or_insert(why)),
        }
        self.inner.event(&Event::Hang(hang.clone()));
        self.hangs.push(hang);
    }

    fn precondition(&mut self, finding: &Finding) {
        self.keep_finding(finding);
        self.inner.event(&Event::Precondition(finding.clone()));
        self.preconditions.push(finding.clone());
    }

    fn finding(&mut self, finding: &Finding) {
        self.keep_finding(finding);
        let class = match (self.baseline.has(&finding.identity), finding.standing) {
            (true, _) => Class::Known,
            (false, Standing::New) => Class::New,
            (false, Standing::StillFails) => Class::Failing,
            (false, Standing::FailsAgain) => Class::Regression,
        };
        let told = self
            .found
            .iter()
            .find(|told| told.finding.identity.is(&finding.identity));
        let again = told.is_some();
        // A path to the fault that the baseline does not list is a finding, although its place was
        // reported.
        let as_loud = told.is_none_or(|told| told.class == Class::Known && class != Class::Known);
        self.inner.event(&match class {
            _ if !as_loud => Event::FoundAgain(finding.clone()),
            Class::Known => Event::Known(finding.clone()),
            _ => Event::Found(finding.clone()),
        });
        self.found.push(Sorted {
            finding: finding.clone(),
            class,
            again,
        });
    }
}

impl Reporter for Sorter<'_> {
    fn event(&mut self, event: &Event) {
        match event {
            Event::Hang(hang) => self.hang(hang),
            Event::Precondition(finding) => self.precondition(finding),
            Event::Found(finding) | Event::FoundAgain(finding) => self.finding(finding),
            _ => self.inner.event(event),
        }
    }
}

/// What a finding is to a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// An earlier campaign saw its input pass.
    Regression,
    /// Neither a record nor the baseline has it.
    New,
    /// It is committed, was never seen to pass, and the baseline does not list it.
    Failing,
    /// The baseline lists it.
    Known,
}

impl Class {
    /// All of them, the worst first.
    pub const ALL: [Class; 4] = [Class::Regression, Class::New, Class::Failing, Class::Known];

    /// For people, after a number.
    pub fn words(self, number: usize) -> &'static str {
        match (self, number) {
            (Class::Regression, 1) => "regression",
            (Class::Regression, _) => "regressions",
            (Class::New, _) => "new",
            (Class::Failing, _) => "failing as before",
            (Class::Known, _) => "known",
        }
    }
}

/// How many findings there are of each class: one that several inputs or harnesses show counts
/// once, in its worst class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// See [`Class::New`].
    pub new: usize,
    /// See [`Class::Regression`].
    pub regressions: usize,
    /// See [`Class::Failing`].
    pub failing: usize,
    /// See [`Class::Known`].
    pub known: usize,
}

impl Counts {
    fn of<'f>(found: impl Iterator<Item = &'f Sorted>) -> Counts {
        let mut worst: Vec<(&Identity, Class)> = Vec::new();
        for sorted in found {
            let identity = &sorted.finding.identity;
            match worst.iter_mut().find(|(known, _)| known.is(identity)) {
                Some((_, class)) => *class = sorted.class.min(*class),
                None => worst.push((identity, sorted.class)),
            }
        }
        let count = |wanted: Class| worst.iter().filter(|(_, class)| *class == wanted).count();
        Counts {
            new: count(Class::New),
            regressions: count(Class::Regression),
            failing: count(Class::Failing),
            known: count(Class::Known),
        }
    }

    /// How many there are of a class.
    pub fn get(&self, class: Class) -> usize {
        match class {
            Class::Regression => self.regressions,
            Class::New => self.new,
            Class::Failing => self.failing,
            Class::Known => self.known,
        }
    }

    /// How many fail a build that accepts what is known.
    pub fn bad(&self) -> usize {
        self.new + self.regressions + self.failing
    }

    /// How many there are.
    pub fn all(&self) -> usize {
        self.bad() + self.known
    }

    /// `1 regression, 2 new, 0 known`: what there is, and always what is new and known.
    pub fn words(&self) -> String {
        let always = |class: &Class| matches!(class, Class::New | Class::Known);
        let said = Class::ALL
            .iter()
            .filter(|class| always(class) || self.get(**class) > 0);
        let said =
            said.map(|&class| format!("{} {}", self.get(class), class.words(self.get(class))));
        said.collect::<Vec<_>>().join(", ")
    }
}

/// What a build comes to; also the file of `--json`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// In one word.
    pub verdict: Verdict,
    /// Over all harnesses.
    pub goals: GoalTable,
    /// Over all harnesses.
    pub stats: Stats,
    /// How many findings of each class.
    #[serde(flatten)]
    pub counts: Counts,
    /// Committed tests and inputs of earlier findings that were not run to their end.
    pub not_replayed: u64,
    /// Violations that the engine sees and that no native run showed.
    #[serde(default)]
    pub not_shown: u64,
    /// Inputs that failed and were not looked into, where no other input of the harness showed a
    /// fault.
    #[serde(default)]
    pub late: u64,
    /// Each harness.
    pub harnesses: Vec<Line>,
    /// Declarations of the crate that are not those of the library.
    pub bindings: Vec<crate::bindings::Binding>,
    /// Each finding, once for each input that showed it.
    pub findings: Vec<Sorted>,
    /// Runs that did not end in their time, which is not checked.
    pub hangs: Vec<Hang>,
    /// Faults that harnesses caused by breaking conditions which `contracts.toml` does not have: no
    /// findings, and nothing that passes.
    pub preconditions: Vec<Finding>,
    /// Whether the command was interrupted before all was looked at.
    pub interrupted: bool,
    /// What every "proved" relies on.
    pub assumptions: Vec<cegar_checker::Assumption>,
    /// The number that the command ends with.
    pub exit_code: u8,
}

/// A finding, and what it is to the build.
#[derive(Clone, Debug, Serialize)]
pub struct Sorted {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// What it is.
    pub class: Class,
    /// Whether this is a further input of a finding that stands above.
    pub again: bool,
}

/// One harness of a [`Report`].
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Its name.
    pub harness: String,
    /// In one word; none if its campaign did not end by itself.
    pub verdict: Option<Verdict>,
    /// Its goals.
    pub goals: GoalTable,
    /// What it cost.
    pub stats: Stats,
    /// How many findings of each class.
    #[serde(flatten)]
    pub counts: Counts,
    /// Wall clock, with compiling.
    pub seconds: f64,
    /// Why there is no result.
    pub failed: Option<String>,
    /// Why the harness was never executed, if it was not.
    pub unexecuted: Option<String>,
    /// What blocks the way, if most of its checks are unreachable.
    pub vacuous: Option<Vacuous>,
}

/// What makes a build fail.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// Known findings do as well.
    pub fail_on_known: bool,
    /// Open goals do.
    pub require_proof: bool,
}

impl Report {
    /// Sums up.
    pub fn new(outcomes: &[Outcome], found: &[Sorted], whole: &Summary, rules: Rules) -> Report {
        let line = |outcome: &Outcome| {
            let own = found
                .iter()
                .filter(|sorted| sorted.finding.harness == outcome.harness);
            let summary = outcome.summary.as_ref();
            Line {
                harness: outcome.harness.clone(),
                verdict: summary.map(|summary| summary.verdict),
                goals: summary.map(|s| s.goals.clone()).unwrap_or_default(),
                stats: summary.map(|s| s.stats.clone()).unwrap_or_default(),
                counts: Counts::of(own),
                seconds: outcome.took.as_secs_f64(),
                failed: outcome.failed.as_ref().map(|(why, _)| why.clone()),
                unexecuted: outcome.unexecuted.clone(),
                vacuous: summary.and_then(|s| s.vacuous.first().cloned()),
            }
        };
        let counts = Counts::of(found.iter());
        let bad = counts.bad() > 0 || (rules.fail_on_known && counts.known > 0);
        let failure = outcomes.iter().find_map(|o| o.failed.as_ref());
        let settled = outcomes
            .iter()
            .all(|o| o.summary.as_ref().is_some_and(is_settled));
        // In this order: what has to be mended in C, what has to be mended in the build, and what
        // is left to be done.
        let code = match failure {
            _ if bad => ExitCode::Violation,
            Some((_, code)) => *code,
            None if whole.interrupted => ExitCode::Interrupted,
            None if whole.is_incomplete() => ExitCode::Incomplete,
            None if rules.require_proof && !settled => ExitCode::OpenGoals,
            None => ExitCode::Clean,
        };
        Report {
            verdict: whole.verdict,
            goals: whole.goals.clone(),
            stats: whole.stats.clone(),
            counts,
            not_replayed: whole.not_replayed,
            not_shown: whole.not_shown,
            late: whole.late,
            harnesses: outcomes.iter().map(line).collect(),
            bindings: Vec::new(),
            findings: found.to_vec(),
            hangs: Vec::new(),
            preconditions: Vec::new(),
            interrupted: whole.interrupted,
            assumptions: whole.assumptions.clone(),
            exit_code: code.code(),
        }
    }
}

impl Report {
    /// Adds faults of harnesses that break conditions which no list has. Whether the library may
    /// want them is for a person to say, so the build is not clean.
    pub fn add_preconditions(&mut self, preconditions: Vec<Finding>) {
        if !preconditions.is_empty() && self.exit_code == ExitCode::Clean.code() {
            self.exit_code = ExitCode::Incomplete.code();
        }
        self.preconditions = preconditions;
    }

    /// Adds declarations that do not fit; a new one fails the build.
    pub fn add_bindings(&mut self, bindings: Vec<crate::bindings::Binding>, rules: Rules) {
        let bad = bindings.iter().any(|one| !one.known || rules.fail_on_known);
        if bad {
            self.exit_code = ExitCode::Violation.code();
        }
        self.bindings = bindings;
    }
}

/// Whether `--require-proof` has nothing to say: every check is proved, or its violation is known,
/// and no proof assumes what nobody has confirmed.
fn is_settled(summary: &Summary) -> bool {
    if summary.rests_on_learnt() {
        return false;
    }
    match summary.verdict {
        Verdict::Proved => true,
        Verdict::Violated => summary.goals.checks.open == 0,
        Verdict::Open => false,
    }
}
