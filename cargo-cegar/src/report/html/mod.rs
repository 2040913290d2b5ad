//! A page that shows a campaign: self-contained, without scripts, for the artifacts of a build.
//!
//! The page is made at the end from the contents of the scratch folders, as `explain` and
//! `coverage` read them, so it agrees with them and can be made again later. It opens with the
//! findings, followed by a summary by file and function; everything else is folded below what it
//! belongs to. Its size is bounded ([`budget`]). The reporter only records how counts grow.
//! Everything from outside (C source, names, messages) goes through `escape`, and a content
//! security policy blocks whatever might be missed.

mod budget;
mod escape;
mod files;
mod findings;
mod growth;
mod harnesses;
mod page;
mod shown;
mod source;
mod tally;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::bindings::Binding;
use crate::coverage::Coverage;
use crate::error::Error;
use crate::event::{Event, Reporter};
use crate::explain::{Explained, StoredCampaign};
use crate::store;
use crate::verdict::{GoalKind, GoalStatus};
pub use growth::Sample;

/// The part of the page about one harness.
pub struct Chapter {
    /// Its name.
    pub harness: String,
    /// The data that its campaign left.
    pub left: StoredCampaign,
    /// The coverage of lines.
    pub coverage: Coverage,
    /// The growth of its counts.
    pub growth: Vec<Sample>,
    /// The tests for its findings, from name to text.
    pub tests: BTreeMap<String, String>,
    /// What the proofs of checks rest on, by the number of the check, as far as time allowed.
    pub proofs: BTreeMap<u32, Explained>,
}

/// The time for explaining proofs of each harness, on a page that was requested.
pub const PROOFS: Duration = Duration::from_secs(10);
/// The file beside the goals that stores the growth.
const GROWTH: &str = "growth.json";

impl Chapter {
    /// Reads the data that a campaign left in `scratch`. Tests are taken from the first of
    /// `packages` that contains them.
    pub fn read(harness: &str, scratch: &Path, packages: &[&Path]) -> Result<Chapter, Error> {
        let left = StoredCampaign::read(scratch)?;
        let growth = std::fs::read(scratch.join(GROWTH)).unwrap_or_default();
        let mut tests = BTreeMap::new();
        for package in packages {
            let file = crate::emit::package::test_file(package, harness);
            let text = std::fs::read_to_string(file).unwrap_or_default();
            for (_, finding) in &left.kept.findings {
                if let Some(test) = crate::emit::package::function(&text, &finding.name) {
                    tests
                        .entry(finding.name.clone())
                        .or_insert_with(|| test.to_owned());
                }
            }
        }
        Ok(Chapter {
            harness: harness.to_owned(),
            coverage: Coverage::of(&left),
            left,
            growth: serde_json::from_slice(&growth).unwrap_or_default(),
            tests,
            proofs: BTreeMap::new(),
        })
    }

    /// Determines what the proofs of checks rest on, for about the given time: each takes some
    /// questions to the solver.
    pub fn explain(&mut self, time: Duration) {
        let until = Instant::now() + time;
        for goal in &self.left.kept.goals {
            if Instant::now() >= until {
                return;
            }
            if goal.kind == GoalKind::Check
                && matches!(goal.status, GoalStatus::Proved { .. })
                && let Ok(told) = self.left.explain_goal(goal)
            {
                self.proofs.insert(goal.id, told);
            }
        }
    }
}

/// Why there is no chapter for a harness. The text is the same for all harnesses that have not run.
pub fn why_missing(scratch: &Path, why: &Error) -> String {
    match scratch.join("goals.json").exists() {
        true => why.to_string(),
        false => "no campaign of it has come to its end".to_owned(),
    }
}

/// The number of harnesses that are named if several share a text.
const NAMED: usize = 4;
/// The upper bound of the page's size in bytes.
pub const PAGE: usize = budget::PAGE;

/// Returns the page. `missing` are the harnesses without a result, and why.
pub fn page(title: &str, chapters: &[Chapter], missing: &[(String, String)]) -> String {
    page::page(title, chapters, missing, &[])
}

/// Records the growth of counts, and writes the page at the end.
pub struct HtmlReporter {
    title: String,
    scratch: PathBuf,
    packages: Vec<PathBuf>,
    harnesses: Vec<String>,
    /// The requested path of the page.
    to: Option<PathBuf>,
    started: BTreeMap<String, Instant>,
    growth: BTreeMap<String, Vec<Sample>>,
    /// Declarations that do not match the library.
    bindings: Vec<Binding>,
}

impl HtmlReporter {
    /// Creates a reporter for a campaign on `harnesses`. The page is written to the folder
    /// `scratch` as `report.html`, and to `to`. Tests are in one of `packages`.
    pub fn new(
        title: &str,
        scratch: &Path,
        packages: Vec<PathBuf>,
        harnesses: Vec<String>,
        to: Option<PathBuf>,
    ) -> HtmlReporter {
        HtmlReporter {
            title: title.to_owned(),
            scratch: scratch.to_owned(),
            packages,
            harnesses,
            to,
            started: BTreeMap::new(),
            growth: BTreeMap::new(),
            bindings: Vec::new(),
        }
    }

    fn grew(&mut self, harness: &str, covered: Option<u64>, open: Option<u64>) {
        let started = self.started.entry(harness.to_owned());
        let seconds = started.or_insert_with(Instant::now).elapsed().as_secs_f64();
        let samples = self.growth.entry(harness.to_owned()).or_default();
        // Repeated samples are merged, since a stalled long campaign reports the same counts for
        // hours.
        let mut same = samples
            .iter()
            .rev()
            .filter(|s| s.covered.is_some() == covered.is_some());
        if let (Some(last), Some(before)) = (same.next().copied(), same.next())
            && (last.covered, last.open) == (covered, open)
            && (before.covered, before.open) == (covered, open)
            && let Some(last) = samples.iter_mut().rev().find(|s| **s == last)
        {
            last.seconds = seconds;
            return;
        }
        samples.push(Sample {
            seconds,
            covered,
            open,
        });
    }

    fn write(&self) -> Result<(), Error> {
        let packages: Vec<&Path> = self.packages.iter().map(PathBuf::as_path).collect();
        let (mut chapters, mut missing) = (Vec::new(), Vec::new());
        for harness in &self.harnesses {
            let scratch = self.scratch.join(harness);
            if let Some(samples) = self.growth.get(harness)
                && let Ok(text) = serde_json::to_vec(samples)
            {
                store::write(&scratch.join(GROWTH), &text)?;
            }
            match Chapter::read(harness, &scratch, &packages) {
                Ok(mut chapter) => {
                    if self.to.is_some() {
                        chapter.explain(PROOFS);
                    }
                    chapters.push(chapter);
                }
                Err(why) => missing.push((harness.clone(), why_missing(&scratch, &why))),
            }
        }
        let text = page::page(&self.title, &chapters, &missing, &self.bindings);
        store::write(&self.scratch.join("report.html"), text.as_bytes())?;
        if let Some(path) = &self.to {
            store::write(path, text.as_bytes())?;
        }
        Ok(())
    }
}

impl Reporter for HtmlReporter {
    fn event(&mut self, event: &Event) {
        match event {
            Event::BindingMismatch(binding) => self.bindings.push(binding.clone()),
            Event::Compiled { what, .. } => {
                let now = Instant::now();
                self.started.entry(what.clone()).or_insert(now);
            }
            Event::FuzzProgress {
                harness,
                edges_covered,
                ..
            } => self.grew(&harness.clone(), Some(*edges_covered), None),
            Event::EngineProgress { harness, open, .. } => {
                self.grew(&harness.clone(), None, Some(*open));
            }
            _ => {}
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.write()
            .map_err(|why| io::Error::other(why.to_string()))
    }
}
