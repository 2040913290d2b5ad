//! One page that tells a campaign: self-contained, without scripts, to be opened from a build's
//! artifacts.
//!
//! The page is made at the end from what lies in the scratch folders, as `explain` and `coverage`
//! read it, so it says what they say and can be made again later. It opens on the findings, then on
//! a summary by file and function; everything else is folded below what it belongs to, and its size
//! has a bound ([`room`]). The reporter only remembers how things grew. Everything that comes from
//! outside (C source, names, messages) goes through `escape`, and a content policy forbids what
//! should have slipped through.

mod escape;
mod files;
mod findings;
mod growth;
mod harnesses;
mod page;
mod room;
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
use crate::explain::{Explained, Left};
use crate::store;
use crate::verdict::{GoalKind, GoalStatus};
pub use growth::Sample;

/// What the page tells of one harness.
pub struct Chapter {
    /// Its name.
    pub harness: String,
    /// What its campaign left.
    pub left: Left,
    /// The lines.
    pub coverage: Coverage,
    /// How it grew.
    pub growth: Vec<Sample>,
    /// The tests that stand for its findings: name and text.
    pub tests: BTreeMap<String, String>,
    /// What proofs of checks rest on, by the check's number, as far as there was time to find out.
    pub proofs: BTreeMap<u32, Explained>,
}

/// What explaining proofs may take for each harness, on a page that was asked for.
pub const PROOFS: Duration = Duration::from_secs(10);
/// The file beside the goals that growth is kept in.
const GROWTH: &str = "growth.json";

impl Chapter {
    /// Reads what a campaign left in `scratch`; tests are looked for in the first of `packages`
    /// that has them.
    pub fn read(harness: &str, scratch: &Path, packages: &[&Path]) -> Result<Chapter, Error> {
        let left = Left::read(scratch)?;
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

    /// Finds out what the proofs of checks rest on, for about so long: each takes some questions to
    /// the solver.
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

/// Why there is no chapter of a harness, in words that are the same for all that have not run.
pub fn why_missing(scratch: &Path, why: &Error) -> String {
    match scratch.join("goals.json").exists() {
        true => why.to_string(),
        false => "no campaign of it has come to its end".to_owned(),
    }
}

/// Harnesses that are named where several say the same.
const NAMED: usize = 4;
/// The page has fewer bytes than this, whatever it is about.
pub const PAGE: usize = room::PAGE;

/// The page. `missing` are the harnesses without a result, and why.
pub fn page(title: &str, chapters: &[Chapter], missing: &[(String, String)]) -> String {
    page::page(title, chapters, missing, &[])
}

/// Remembers how things grow, and writes the page at the end.
pub struct HtmlReporter {
    title: String,
    scratch: PathBuf,
    packages: Vec<PathBuf>,
    harnesses: Vec<String>,
    /// Where the page is wanted.
    to: Option<PathBuf>,
    started: BTreeMap<String, Instant>,
    growth: BTreeMap<String, Vec<Sample>>,
    /// Declarations that do not fit the library.
    bindings: Vec<Binding>,
}

impl HtmlReporter {
    /// A reporter of the campaign on `harnesses` with its scratch folder; the page goes there as
    /// `report.html`, and to `to`. Tests are in one of `packages`.
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
        // A long campaign that stands still says the same for hours.
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
