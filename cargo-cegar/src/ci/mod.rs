//! A campaign in continuous integration (CI).
//!
//! Nobody watches the run, the machine is rented by the minute, and the source tree is deleted
//! afterwards. So the budget is enforced ([`crate::campaign::pool`]), known findings do not fail
//! the build ([`baseline`]), and new results are written to a folder with the structure of the
//! package, which can be stored as the build's artifact and copied over `cegar/` by a user.

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

/// Passes events on, distinguishes known findings from new ones, and stores the inputs of both.
pub struct Sorter<'a> {
    inner: &'a mut dyn Reporter,
    baseline: &'a Baseline,
    inputs: Option<PathBuf>,
    /// The findings in order, including further inputs of a finding.
    pub found: Vec<Sorted>,
    /// Runs that exceeded their time limit.
    pub hangs: Vec<Hang>,
    /// Faults that a harness caused by violating a precondition which is not listed.
    pub preconditions: Vec<Finding>,
    /// The error for the first input that could not be stored.
    pub lost: Option<Error>,
}

impl<'a> Sorter<'a> {
    /// Creates a sorter for this baseline. Inputs are stored in the folder `inputs`.
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

    /// Stores an input of a harness under this name and returns its path, or `None` if inputs are
    /// not stored.
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

    /// Stores the input of a run that exceeded its time limit beside those of findings.
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
        // A path to the fault that the baseline does not list is a finding, even if the fault was
        // reported for a listed path.
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

/// The class of a finding for a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Its input passed in an earlier campaign.
    Regression,
    /// Neither a record nor the baseline contains it.
    New,
    /// It is committed, its input never passed, and the baseline does not list it.
    Failing,
    /// The baseline lists it.
    Known,
}

impl Class {
    /// All classes, worst first.
    pub const ALL: [Class; 4] = [Class::Regression, Class::New, Class::Failing, Class::Known];

    /// The word for a number of findings of this class.
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

/// The number of findings of each class. A finding that several inputs or harnesses show counts
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

    /// The number of findings of a class.
    pub fn get(&self, class: Class) -> usize {
        match class {
            Class::Regression => self.regressions,
            Class::New => self.new,
            Class::Failing => self.failing,
            Class::Known => self.known,
        }
    }

    /// The number of findings that fail a build that accepts known ones.
    pub fn bad(&self) -> usize {
        self.new + self.regressions + self.failing
    }

    /// The number of all findings.
    pub fn all(&self) -> usize {
        self.bad() + self.known
    }

    /// Describes the counts, as in `1 regression, 2 new, 0 known`. New and known findings are
    /// always mentioned, others if there are any.
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

/// The result of a build; also the format of the file of `--json`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The verdict on all harnesses.
    pub verdict: Verdict,
    /// The goals of all harnesses.
    pub goals: GoalTable,
    /// The statistics of all harnesses.
    pub stats: Stats,
    /// The number of findings of each class.
    #[serde(flatten)]
    pub counts: Counts,
    /// The number of committed tests and inputs of earlier findings that were not run completely.
    pub not_replayed: u64,
    /// The number of violations that the engine sees and that no native run confirmed.
    #[serde(default)]
    pub not_shown: u64,
    /// The number of failing inputs that were not examined, of harnesses without another input that
    /// showed a fault.
    #[serde(default)]
    pub late: u64,
    /// The results of each harness.
    pub harnesses: Vec<Line>,
    /// Declarations of the crate that do not match the library.
    pub bindings: Vec<crate::bindings::Binding>,
    /// The findings, once for each input that showed them.
    pub findings: Vec<Sorted>,
    /// Runs that exceeded their time limit. Termination is not a checked property.
    pub hangs: Vec<Hang>,
    /// Faults that harnesses caused by violating preconditions which `contracts.toml` does not
    /// list. They are not findings, but the build does not pass with them.
    pub preconditions: Vec<Finding>,
    /// Whether the command was interrupted before it was complete.
    pub interrupted: bool,
    /// The assumptions on which all proofs rest.
    pub assumptions: Vec<cegar_checker::Assumption>,
    /// The exit code of the command.
    pub exit_code: u8,
}

/// A finding and its class.
#[derive(Clone, Debug, Serialize)]
pub struct Sorted {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// Its class.
    pub class: Class,
    /// Whether this is a further input of an earlier finding in the list.
    pub again: bool,
}

/// One harness of a [`Report`].
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Its name.
    pub harness: String,
    /// The verdict; `None` if its campaign did not end by itself.
    pub verdict: Option<Verdict>,
    /// Its goals.
    pub goals: GoalTable,
    /// Its statistics.
    pub stats: Stats,
    /// The number of findings of each class.
    #[serde(flatten)]
    pub counts: Counts,
    /// Wall-clock time in seconds, including compiling.
    pub seconds: f64,
    /// Why there is no result.
    pub failed: Option<String>,
    /// Why the harness was never executed, if it was not.
    pub unexecuted: Option<String>,
    /// What blocks the way, if most of its checks are unreachable.
    pub vacuous: Option<Vacuous>,
}

/// Options that determine when a build fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// Whether known findings fail the build, too.
    pub fail_on_known: bool,
    /// Whether open goals fail the build.
    pub require_proof: bool,
}

impl Report {
    /// Computes the report from the outcomes of the harnesses and the sorted findings.
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
        // Faults to fix in C come first.
        let code = match bad {
            true => ExitCode::Violation,
            false => code_without_findings(outcomes, whole, rules),
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
    /// Adds faults of harnesses that violate unlisted preconditions. A user must decide whether the
    /// library may require these, so the build is not clean.
    pub fn add_preconditions(&mut self, preconditions: Vec<Finding>) {
        self.preconditions = preconditions;
        self.heed_preconditions();
    }

    fn heed_preconditions(&mut self) {
        if !self.preconditions.is_empty() && self.exit_code == ExitCode::Clean.code() {
            self.exit_code = ExitCode::Incomplete.code();
        }
    }

    /// Makes the exit code that of a build whose findings are all known. What the findings hid,
    /// such as a harness that failed, still fails the build.
    pub fn accept_findings(&mut self, outcomes: &[Outcome], whole: &Summary, rules: Rules) {
        if self.exit_code != ExitCode::Violation.code() || rules.fail_on_known {
            return;
        }
        self.exit_code = code_without_findings(outcomes, whole, rules).code();
        self.heed_preconditions();
    }

    /// Adds mismatching declarations. A new one fails the build.
    pub fn add_bindings(&mut self, bindings: Vec<crate::bindings::Binding>, rules: Rules) {
        let bad = bindings.iter().any(|one| !one.known || rules.fail_on_known);
        if bad {
            self.exit_code = ExitCode::Violation.code();
        }
        self.bindings = bindings;
    }
}

/// The exit code of a build without findings. In order of precedence: errors to fix in the build,
/// and work that is left.
fn code_without_findings(outcomes: &[Outcome], whole: &Summary, rules: Rules) -> ExitCode {
    let failure = outcomes.iter().find_map(|o| o.failed.as_ref());
    let settled = outcomes
        .iter()
        .all(|o| o.summary.as_ref().is_some_and(is_settled));
    match failure {
        Some((_, code)) => *code,
        None if whole.interrupted => ExitCode::Interrupted,
        None if whole.is_incomplete() => ExitCode::Incomplete,
        None if rules.require_proof && !settled => ExitCode::OpenGoals,
        None => ExitCode::Clean,
    }
}

/// Whether `--require-proof` is satisfied: every check is proved or its violation is known, and no
/// proof rests on an assumption that no user has confirmed.
fn is_settled(summary: &Summary) -> bool {
    if summary.rests_on_learnt() || summary.rests_on_guesses() {
        return false;
    }
    match summary.verdict {
        Verdict::Proved => true,
        Verdict::Violated => summary.goals.checks.open == 0,
        Verdict::Open => false,
    }
}
