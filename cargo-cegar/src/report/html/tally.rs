//! The combined results of several harnesses, by file and function.
//!
//! A function of the library is in the programs of many harnesses. The page shows each check once:
//! it is violated if any harness violates it, otherwise open if it is open for any harness,
//! otherwise proved. If the harnesses disagree, the result of each is listed.

use std::collections::BTreeMap;

use super::Chapter;
use super::NAMED;
use crate::coverage::Coverage;
use crate::lists::few;
use crate::verdict::{Goal, GoalKind, GoalStatus, rule_id};

/// The state of a check. If several harnesses have it, the first of their states in this list
/// counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckState {
    /// An input violates it.
    Violated,
    /// It is not settled.
    Open,
    /// Proved, and executions reach it.
    Proved,
    /// Proved if other checks hold, which are not proved themselves.
    ProvedIf,
    /// Proved, and no execution has reached it.
    NotReached,
    /// Proved that no execution reaches it.
    Unreachable,
}

impl CheckState {
    /// All states.
    pub const ALL: [CheckState; 6] = [
        CheckState::Violated,
        CheckState::Open,
        CheckState::Proved,
        CheckState::ProvedIf,
        CheckState::NotReached,
        CheckState::Unreachable,
    ];

    /// The state for a goal's status.
    pub fn of(status: &GoalStatus) -> CheckState {
        match status {
            GoalStatus::Violated => CheckState::Violated,
            GoalStatus::Proved { given, .. } if !given.is_empty() => CheckState::ProvedIf,
            GoalStatus::Proved { reached: true, .. } => CheckState::Proved,
            GoalStatus::Proved { reached: false, .. } => CheckState::NotReached,
            GoalStatus::Unreachable => CheckState::Unreachable,
            GoalStatus::Open { .. } | GoalStatus::Covered => CheckState::Open,
        }
    }

    /// The word for users.
    pub fn text(self) -> &'static str {
        match self {
            CheckState::Violated => "violated",
            CheckState::Open => "open",
            CheckState::Proved => "proved",
            CheckState::ProvedIf => "proved if others hold",
            CheckState::NotReached => "proved but not reached",
            CheckState::Unreachable => "unreachable",
        }
    }

    /// Its class in the style sheet.
    pub fn class(self) -> &'static str {
        match self {
            CheckState::Violated => "v",
            CheckState::Open => "o",
            CheckState::Proved => "p",
            CheckState::ProvedIf => "i",
            CheckState::NotReached => "n",
            CheckState::Unreachable => "u",
        }
    }
}

/// The state of an edge. If several harnesses have it, the last of their states in this list
/// counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edge {
    /// Proved that no input takes it.
    Unreachable,
    /// It is not settled.
    Open,
    /// An execution took it.
    Covered,
}

/// The number of goals in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Checks, by [`CheckState`].
    pub checks: [u64; CheckState::ALL.len()],
    /// Branch edges, by [`Edge`].
    pub edges: [u64; 3],
}

impl Counts {
    /// The number of checks in this state.
    pub fn of(&self, state: CheckState) -> u64 {
        self.checks[state as usize]
    }

    /// The number of edges in this state.
    pub fn edges(&self, edge: Edge) -> u64 {
        self.edges[edge as usize]
    }

    /// The number of all checks.
    pub fn total(&self) -> u64 {
        self.checks.iter().sum()
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Counts) {
        let checks = self.checks.iter_mut().zip(other.checks);
        let edges = self.edges.iter_mut().zip(other.edges);
        checks
            .chain(edges)
            .for_each(|(mine, theirs)| *mine += theirs);
    }
}

/// Identifies a check by its place and kind, in the same way for every harness.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Its line; 0 if unknown.
    pub line: u32,
    column: u32,
    /// The file, if it is not the function's.
    pub elsewhere: Option<String>,
    /// The rule.
    pub kind: &'static str,
    /// The checked expression, for users.
    pub expression: String,
    /// Distinguishes checks that are otherwise alike.
    number: u32,
}

/// A check with its goals in all harnesses.
#[derive(Clone, Debug)]
pub struct Seen<'a> {
    /// The chapter and the goal of each harness that contains it.
    pub from: Vec<(usize, &'a Goal)>,
}

impl Seen<'_> {
    /// Its combined state.
    pub fn state(&self) -> CheckState {
        let states = self
            .from
            .iter()
            .map(|(_, goal)| CheckState::of(&goal.status));
        states.min().unwrap_or(CheckState::Open)
    }

    /// The reason for its state, or the results of all harnesses if they disagree.
    pub fn why(&self, chapters: &[Chapter]) -> String {
        let mut said: BTreeMap<(CheckState, &str), Vec<&str>> = BTreeMap::new();
        for (chapter, goal) in &self.from {
            let why = match &goal.status {
                GoalStatus::Open { why } => why.as_str(),
                _ => "",
            };
            let harness = chapters[*chapter].harness.as_str();
            let harnesses = said.entry((CheckState::of(&goal.status), why)).or_default();
            if !harnesses.contains(&harness) {
                harnesses.push(harness);
            }
        }
        let agreed = said.len() == 1;
        let told = said.iter().map(|((state, why), harnesses)| match agreed {
            true => (*why).to_owned(),
            false => {
                let colon = if why.is_empty() { "" } else { ": " };
                format!(
                    "{} from {}{colon}{why}",
                    state.text(),
                    few(harnesses, NAMED)
                )
            }
        });
        told.collect::<Vec<_>>().join("; ")
    }
}

/// A function.
#[derive(Debug, Default)]
pub struct Function<'a> {
    /// The line of its definition; 0 if unknown.
    pub line: u32,
    /// Its checks.
    pub checks: BTreeMap<Key, Seen<'a>>,
    /// Its edges, by their order in the function, with the best state in any harness.
    edges: BTreeMap<u32, Edge>,
}

impl Function<'_> {
    /// The counts of its goals.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for seen in self.checks.values() {
            counts.checks[seen.state() as usize] += 1;
        }
        for edge in self.edges.values() {
            counts.edges[*edge as usize] += 1;
        }
        counts
    }

    /// Whether an execution entered it.
    pub fn is_entered(&self) -> bool {
        self.edges.values().any(|edge| *edge == Edge::Covered)
    }
}

/// The combined results of all harnesses.
#[derive(Debug, Default)]
pub struct Tally<'a> {
    /// By file and function.
    pub files: BTreeMap<String, BTreeMap<String, Function<'a>>>,
    /// The coverage of lines.
    pub coverage: Coverage,
}

impl<'a> Tally<'a> {
    /// Combines the results of these chapters.
    pub fn of(chapters: &'a [Chapter]) -> Tally<'a> {
        let mut tally = Tally::default();
        for chapter in chapters {
            tally.coverage.merge(chapter.coverage.clone());
        }
        tally.coverage = std::mem::take(&mut tally.coverage).complete();
        for (number, chapter) in chapters.iter().enumerate() {
            tally.take(number, chapter);
        }
        let Tally { files, coverage } = &mut tally;
        for (path, file) in &coverage.files {
            let functions = files.entry(path.clone()).or_default();
            for (name, known) in &file.functions {
                functions.entry(name.clone()).or_default().line = known.line;
            }
        }
        tally
    }

    fn take(&mut self, number: usize, chapter: &'a Chapter) {
        let mut homes: BTreeMap<&str, &str> = BTreeMap::new();
        for (path, file) in &chapter.coverage.files {
            homes.extend(
                file.functions
                    .keys()
                    .map(|name| (name.as_str(), path.as_str())),
            );
        }
        let mut alike: BTreeMap<(String, String, Key), u32> = BTreeMap::new();
        let mut order: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        for goal in &chapter.left.kept.goals {
            let place = &goal.place;
            let name = place.function.as_str();
            // Static functions of the same name are distinguished by their files.
            let home = match chapter.coverage.files.get(&place.file) {
                Some(file) if file.functions.contains_key(name) => place.file.as_str(),
                _ => homes.get(name).copied().unwrap_or(place.file.as_str()),
            };
            let file = self.files.entry(home.to_owned()).or_default();
            let function = file.entry(name.to_owned()).or_default();
            if goal.kind == GoalKind::Edge {
                let at = order.entry((home, name)).or_default();
                let stands = match goal.status {
                    GoalStatus::Covered => Edge::Covered,
                    GoalStatus::Unreachable => Edge::Unreachable,
                    _ => Edge::Open,
                };
                let best = function.edges.entry(*at).or_insert(stands);
                *best = stands.max(*best);
                *at += 1;
                continue;
            }
            let mut key = Key {
                line: place.line,
                column: place.column,
                elsewhere: (place.file != home).then(|| place.file.clone()),
                kind: goal.check.map_or("check", rule_id),
                expression: goal.expression.clone(),
                number: 0,
            };
            let counter = alike.entry((home.to_owned(), name.to_owned(), key.clone()));
            let counter = counter.or_default();
            key.number = *counter;
            *counter += 1;
            let seen = function
                .checks
                .entry(key)
                .or_insert(Seen { from: Vec::new() });
            seen.from.push((number, goal));
        }
    }

    /// The counts over all files.
    pub fn counts(&self) -> Counts {
        let mut all = Counts::default();
        for function in self.files.values().flat_map(|file| file.values()) {
            all.add(&function.counts());
        }
        all
    }
}
