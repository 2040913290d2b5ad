//! Determines which lines of which files are on the page.
//!
//! Complete sources would make up most of a page. So executed functions are shown, and the places
//! of findings; for a file without executed lines, there is only a sentence. Files with findings
//! come first. When the budget runs out, less of a file is shown: only the uncovered lines of
//! executed functions, then only the places of findings, then nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Chapter;
use super::budget::PageBudgets;
use super::escape::escape;
use super::source::{Marks, Text, excerpt};
use super::tally::Tally;
use crate::coverage::{Count, File, State};
use crate::verdict::Place;

/// The number of lines around a line with code, and around a finding.
const NEAR: u32 = 1;
const AROUND: u32 = 3;

/// A file's part of the page.
pub(super) struct Source {
    number: usize,
    /// The excerpt; empty if no line is shown.
    pub text: String,
    /// Describes what is shown, or why nothing is.
    pub what: String,
    anchors: BTreeSet<u32>,
}

/// The parts of all files that are shown.
pub(super) struct Shown {
    files: BTreeMap<String, Source>,
}

/// How much of a file is shown.
#[derive(Clone, Copy)]
enum Extent {
    /// Executed functions.
    Executed,
    /// The uncovered lines of executed functions.
    NotCovered,
    /// The places of findings.
    Findings,
}

impl Shown {
    /// Selects the lines of all files.
    pub fn of(chapters: &[Chapter], tally: &Tally<'_>, budgets: &mut PageBudgets) -> Shown {
        let mut hits: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for chapter in chapters {
            for (_, finding) in &chapter.left.kept.findings {
                let lines = hits.entry(&finding.place.file).or_default();
                lines.insert(finding.place.line);
            }
        }
        let mut order: Vec<(&String, &File)> = tally.coverage.files.iter().collect();
        order.sort_by_key(|(path, file)| {
            let hit = hits.contains_key(path.as_str());
            (
                !hit,
                std::cmp::Reverse(Count::of(file.lines.values()).covered),
            )
        });
        let none = BTreeSet::new();
        let mut files = BTreeMap::new();
        for (number, (path, file)) in order.into_iter().enumerate() {
            let hit = hits.get(path.as_str()).unwrap_or(&none);
            let root = chapters
                .iter()
                .find(|c| c.coverage.files.contains_key(path));
            let root = root.map_or(Path::new(""), |c| c.left.kept.root.as_path());
            let goals = tally.files.get(path);
            let checks = goals
                .into_iter()
                .flat_map(|f| f.values())
                .flat_map(|f| f.checks.keys());
            let checks = checks
                .filter(|key| key.elsewhere.is_none())
                .map(|key| key.line);
            let functions = file.functions.values().map(|f| f.line);
            let linked = checks.chain(functions).collect();
            let source = source(path, file, (root, number), (hit, &linked), budgets);
            files.insert(path.clone(), source);
        }
        Shown { files }
    }

    /// A place, with a link to its line if that is on the page.
    pub fn link(&self, place: &Place) -> String {
        let shown = format!("<code>{}</code>", escape(&place.show()));
        match self.anchor(&place.file, place.line) {
            Some(anchor) => format!("<a href=#{anchor}>{shown}</a>"),
            None => shown,
        }
    }

    /// The anchor of a line, if it has one.
    pub fn anchor(&self, file: &str, line: u32) -> Option<String> {
        let source = self.files.get(file)?;
        let has = source.anchors.contains(&line);
        has.then(|| format!("s{}-{line}", source.number))
    }

    /// The part of a file that is shown.
    pub fn source(&self, file: &str) -> Option<&Source> {
        self.files.get(file)
    }
}

fn source(
    path: &str,
    file: &File,
    (root, number): (&Path, usize),
    (hit, linked): (&BTreeSet<u32>, &BTreeSet<u32>),
    budgets: &mut PageBudgets,
) -> Source {
    let nothing = |what: String| Source {
        number,
        text: String::new(),
        what,
        anchors: BTreeSet::new(),
    };
    let executed = |state: &State| matches!(state, State::Covered | State::Partial);
    if hit.is_empty() && !file.lines.values().any(executed) {
        budgets.left_out("sources of which no line was executed", 1);
        return nothing("The source is left out: no line of it was executed.".to_owned());
    }
    let text = match Text::read(root, path) {
        Ok(text) => text,
        Err(why) => return nothing(format!("The source cannot be read: {}.", escape(&why))),
    };
    let state = |line: u32| file.lines.get(&line).copied();
    let marks = Marks {
        state: &state,
        linked,
        hit,
    };
    for extent in [Extent::Executed, Extent::NotCovered, Extent::Findings] {
        let wanted = wanted(file, hit, extent);
        let shown = excerpt(&text, &wanted, number, &marks);
        if wanted.is_empty() || !budgets.sources.takes(&shown) {
            continue;
        }
        let what = match extent {
            Extent::Executed => "functions that were executed",
            Extent::NotCovered => "of functions that were executed, what is not covered",
            Extent::Findings => "what findings are about",
        };
        if !matches!(extent, Extent::Executed) {
            budgets.left_out("sources of which less is shown than was executed", 1);
        }
        let lines = wanted.len().min(text.count());
        let anchors = wanted
            .iter()
            .filter(|l| linked.contains(l) || hit.contains(l));
        return Source {
            number,
            text: shown,
            what: format!("Source: {lines} of {} lines, {what}", text.count()),
            anchors: anchors.copied().collect(),
        };
    }
    budgets.left_out("sources for which the page has no room", 1);
    nothing("The source is left out: the page has no more room.".to_owned())
}

fn wanted(file: &File, hit: &BTreeSet<u32>, extent: Extent) -> BTreeSet<u32> {
    let around = |line: u32, by: u32| line.saturating_sub(by).max(1)..=line.saturating_add(by);
    let mut wanted: BTreeSet<u32> = hit
        .iter()
        .filter(|line| **line > 0)
        .flat_map(|line| around(*line, AROUND))
        .collect();
    if let Extent::Findings = extent {
        return wanted;
    }
    for function in file.functions.values() {
        let lines: Vec<(u32, State)> = file.within(function).collect();
        let executed = |state: &State| matches!(state, State::Covered | State::Partial);
        if !lines.iter().any(|(_, state)| executed(state)) {
            continue;
        }
        wanted.insert(function.line.max(1));
        for (line, state) in lines {
            if matches!(extent, Extent::Executed) || state != State::Covered {
                wanted.extend(around(line, NEAR));
            }
        }
    }
    wanted
}
