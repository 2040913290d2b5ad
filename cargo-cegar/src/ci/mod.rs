//! A campaign in continuous integration.
//!
//! Nobody is watching, the machine is rented by the minute, and the source tree is thrown away afterwards. So there is a
//! budget that holds ([`crate::campaign::pool`]), what is known does not fail the build ([`baseline`]), and what is new goes
//! to a folder of the package's own shape, to be kept as the build's artifact and copied over `cegar/` by whoever
//! looks at it.

mod artifacts;
pub mod baseline;
mod summary;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::campaign::pool::Outcome;
use crate::campaign::vacuous::Vacuous;
use crate::campaign::{GoalTable, Stats, Verdict};
use crate::error::Error;
use crate::exit::ExitCode;
use crate::report::{Event, Finding, Reporter, Summary};
use crate::store;
pub use artifacts::prepare;
use baseline::{Baseline, Entry, Tests};
pub use summary::markdown;

/// Passes events on, tells known findings from new ones, and keeps the inputs of both.
pub struct Sorter<'a> {
    inner: &'a mut dyn Reporter,
    baseline: &'a Baseline,
    tests: Tests,
    root: PathBuf,
    inputs: Option<PathBuf>,
    /// What was found, in order: its entry in a baseline, and whether it is new.
    pub found: Vec<(Finding, Entry, bool)>,
    /// The first input that could not be kept, and why.
    pub lost: Option<Error>,
}

impl<'a> Sorter<'a> {
    /// A sorter for the crate at `root` with its `cegar/` package. Inputs go to `inputs`.
    pub fn new(
        inner: &'a mut dyn Reporter,
        baseline: &'a Baseline,
        package: &Path,
        root: &Path,
        inputs: Option<PathBuf>,
    ) -> Sorter<'a> {
        Sorter {
            inner,
            baseline,
            tests: Tests::of(package),
            root: root.to_owned(),
            inputs,
            found: Vec::new(),
            lost: None,
        }
    }

    fn keep(&mut self, finding: &Finding) -> Result<(), Error> {
        let Some(inputs) = &self.inputs else {
            return Ok(());
        };
        let folder = inputs.join(&finding.harness);
        store::writable_dir(&folder)?;
        store::write(&folder.join(&finding.name), &finding.input)
    }
}

impl Reporter for Sorter<'_> {
    fn event(&mut self, event: &Event) {
        let Event::Found(finding) = event else {
            return self.inner.event(event);
        };
        let entry = Entry::of(finding, &self.root);
        let known = self.tests.know(finding, &entry) || self.baseline.has(&entry);
        if let Err(why) = self.keep(finding) {
            self.lost.get_or_insert(why);
        }
        self.inner.event(&match known {
            true => Event::Known(finding.clone()),
            false => Event::Found(finding.clone()),
        });
        self.found.push((finding.clone(), entry, !known));
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
    /// How many findings nobody knew.
    pub new: usize,
    /// How many were known.
    pub known: usize,
    /// Each harness.
    pub harnesses: Vec<Line>,
    /// Each finding, once for each harness that made it.
    pub findings: Vec<Sorted>,
    /// What every "proved" relies on.
    pub assumptions: Vec<String>,
    /// The number that the command ends with.
    pub exit_code: u8,
}

/// A finding, and whether it was known.
#[derive(Clone, Debug, Serialize)]
pub struct Sorted {
    /// It.
    #[serde(flatten)]
    pub finding: Finding,
    /// Whether nobody knew it.
    pub new: bool,
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
    /// New findings.
    pub new: usize,
    /// Known findings.
    pub known: usize,
    /// Wall clock, with compiling.
    pub seconds: f64,
    /// Why there is no result.
    pub failed: Option<String>,
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
    pub fn new(
        outcomes: &[Outcome],
        found: &[(Finding, Entry, bool)],
        whole: &Summary,
        rules: Rules,
    ) -> Report {
        let count = |harness: Option<&str>, new: bool| {
            let of = |f: &&(Finding, Entry, bool)| {
                f.2 == new && harness.is_none_or(|name| f.0.harness == name)
            };
            found.iter().filter(of).count()
        };
        let line = |outcome: &Outcome| {
            let name = Some(outcome.harness.as_str());
            let summary = outcome.summary.as_ref();
            Line {
                harness: outcome.harness.clone(),
                verdict: summary.map(|summary| summary.verdict),
                goals: summary.map(|s| s.goals.clone()).unwrap_or_default(),
                stats: summary.map(|s| s.stats.clone()).unwrap_or_default(),
                new: count(name, true),
                known: count(name, false),
                seconds: outcome.took.as_secs_f64(),
                failed: outcome.failed.as_ref().map(|(why, _)| why.clone()),
                vacuous: summary.and_then(|s| s.vacuous.first().cloned()),
            }
        };
        let sorted = |(finding, _, new): &(Finding, Entry, bool)| Sorted {
            finding: finding.clone(),
            new: *new,
        };
        let (new, known) = (count(None, true), count(None, false));
        let bad = new > 0 || (rules.fail_on_known && known > 0);
        let failure = outcomes.iter().find_map(|o| o.failed.as_ref());
        let settled = outcomes
            .iter()
            .all(|o| o.summary.as_ref().is_some_and(is_settled));
        // In this order: what has to be mended in C, what has to be mended in the build, and what is left to be done.
        let code = match failure {
            _ if bad => ExitCode::Violation,
            Some((_, code)) => *code,
            None if whole.interrupted => ExitCode::Interrupted,
            None if rules.require_proof && !settled => ExitCode::OpenGoals,
            None => ExitCode::Clean,
        };
        Report {
            verdict: whole.verdict,
            goals: whole.goals.clone(),
            stats: whole.stats.clone(),
            new,
            known,
            harnesses: outcomes.iter().map(line).collect(),
            findings: found.iter().map(sorted).collect(),
            assumptions: whole.assumptions.clone(),
            exit_code: code.code(),
        }
    }
}

/// Whether `--require-proof` has nothing to say: every check is proved, or its violation is known.
fn is_settled(summary: &Summary) -> bool {
    match summary.verdict {
        Verdict::Proved => true,
        Verdict::Violated => summary.goals.checks.open == 0,
        Verdict::Open => false,
    }
}
