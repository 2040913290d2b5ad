//! Which lines of C were executed, which are unreachable, and which are open.
//!
//! A campaign knows the state of each block, and a block's instructions know their lines. This
//! provides two things that a coverage tool without proofs cannot: lines that are proved
//! unreachable do not count as untested, and are left out of what lcov counts; and the remaining
//! lines are a list of work. A block that was entered counts as completely executed, even if a call
//! in it did not return.
//!
//! The coverage of one harness counts only code that it can reach: functions that it cannot call
//! are not part of its program. The coverage of all harnesses also counts the functions that none
//! of them reaches ([`Coverage::complete`]), as open.

mod lcov;
mod text;

use std::collections::BTreeMap;
use std::path::Path;

use cegar_model::program::{self as ir, BlockId, CheckKind, FunctionKind, Pos, Program};
use serde::Serialize;

use crate::campaign::findings::plain;
use crate::explain::StoredCampaign;
use crate::verdict::{GoalKind, GoalStatus};

pub use lcov::lcov;
pub use text::{ranges, table};

/// The state of a line. If two harnesses differ about a line, the later variant in this list
/// counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Proved that no input executes it.
    Unreachable,
    /// Not executed, and nothing is proved.
    Open,
    /// Some of its code was executed, and some is open.
    Partial,
    /// Executed.
    Covered,
}

/// The state of a branch, that is, one outcome of a condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// Whether the condition was executed.
    pub reached: bool,
    /// Whether an execution took this branch.
    pub taken: bool,
    /// Whether it is proved that no input takes this branch.
    pub dead: bool,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The line of its definition.
    pub line: u32,
    /// The state of its first block.
    pub state: State,
    /// The last line with code.
    pub end: u32,
    /// Whether it is part of a harness's program.
    pub is_linked: bool,
}

/// A file of C source.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// The lines with code.
    pub lines: BTreeMap<u32, State>,
    /// The functions, by name.
    pub functions: BTreeMap<String, Function>,
    /// The conditions by line, column and occurrence, with the branches of each.
    pub branches: BTreeMap<(u32, u32, u32), Vec<Way>>,
}

/// The coverage of one harness, or of several together.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// By path, relative to the crate if it is below it.
    pub files: BTreeMap<String, File>,
    /// The functions that a harness does not reach, by file and name: the line of the definition,
    /// and the lines with code.
    unreached: BTreeMap<(String, String), (u32, Vec<u32>)>,
}

/// The number of lines in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// All lines with code.
    pub lines: u64,
    /// Executed, at least in part.
    pub covered: u64,
    /// Proved unreachable.
    pub unreachable: u64,
    /// Neither executed nor proved unreachable.
    pub open: u64,
}

impl Count {
    /// Counts lines.
    pub fn of<'a>(states: impl IntoIterator<Item = &'a State>) -> Count {
        let mut count = Count::default();
        for state in states {
            count.lines += 1;
            match state {
                State::Unreachable => count.unreachable += 1,
                State::Open => count.open += 1,
                State::Partial | State::Covered => count.covered += 1,
            }
        }
        count
    }

    /// The percentage of covered lines among those not proved unreachable; `None` if there are
    /// none.
    pub fn percent(&self) -> Option<f64> {
        match self.lines - self.unreachable {
            0 => None,
            lines => Some(100.0 * self.covered as f64 / lines as f64),
        }
    }
}

/// The states of the blocks of a line.
#[derive(Clone, Copy, Default)]
struct Seen {
    covered: bool,
    open: bool,
}

impl Seen {
    fn state(self) -> State {
        match (self.covered, self.open) {
            (true, true) => State::Partial,
            (true, false) => State::Covered,
            (false, true) => State::Open,
            (false, false) => State::Unreachable,
        }
    }
}

/// The state of each block; `None` for blocks without a goal.
fn states(left: &StoredCampaign) -> Vec<Option<State>> {
    let mut blocks = vec![None; left.program().blocks.len()];
    for goal in &left.kept.goals {
        if goal.kind == GoalKind::Edge
            && let Some(slot) = blocks.get_mut(goal.id as usize)
        {
            *slot = Some(match goal.status {
                GoalStatus::Covered => State::Covered,
                GoalStatus::Unreachable => State::Unreachable,
                _ => State::Open,
            });
        }
    }
    blocks
}

/// Marks the blocks in which a check ends the run: an edge to such a block is not a branch that a
/// test should take.
fn failing(program: &Program) -> Vec<bool> {
    let mut failing = vec![false; program.blocks.len()];
    for check in &program.checks {
        let block = check.loc.block;
        let inline = matches!(
            check.kind,
            CheckKind::Read | CheckKind::Write | CheckKind::Free | CheckKind::Call
        );
        failing[block.index()] |= !inline && program.block(block).end.edges().is_empty();
    }
    failing
}

/// The states of the blocks of each line, by file and line.
type Lines = BTreeMap<(String, u32), Seen>;

/// The data that a campaign left, by block.
struct Reading<'l> {
    left: &'l StoredCampaign,
    blocks: Vec<Option<State>>,
    failing: Vec<bool>,
}

impl Reading<'_> {
    fn name(&self, pos: Pos) -> Option<String> {
        place(self.left.program(), &self.left.kept.root, pos)
    }

    fn state(&self, block: usize) -> Option<State> {
        self.blocks.get(block).copied().flatten()
    }

    /// Records a function with its lines and branches.
    fn function(&self, function: &ir::Function, lines: &mut Lines, coverage: &mut Coverage) {
        let program = self.left.program();
        let mut end = 0;
        for number in function.blocks.clone() {
            let block = program.block(BlockId(number));
            let Some(state) = self.blocks[number as usize] else {
                continue;
            };
            let places = block.ops.iter().map(|inst| inst.pos);
            for pos in places.chain([block.end_pos]) {
                let Some(file) = self.name(pos) else { continue };
                if pos.file == function.pos.file {
                    end = end.max(pos.line);
                }
                let seen = lines.entry((file, pos.line)).or_default();
                seen.covered |= state == State::Covered;
                seen.open |= state == State::Open;
            }
            self.branches(block, state, coverage);
        }
        let state = self.state(function.blocks.start as usize);
        if let (Some(file), Some(state)) = (self.name(function.pos), state) {
            let functions = &mut coverage.files.entry(file).or_default().functions;
            let line = function.pos.line;
            let known = Function {
                line,
                state,
                end,
                is_linked: true,
            };
            functions.insert(plain(&function.name), known);
        }
    }

    /// Records the branches of a block, if it has several.
    fn branches(&self, block: &ir::Block, state: State, coverage: &mut Coverage) {
        let edges = block.end.edges().into_iter();
        let ways = edges.filter(|edge| !self.failing[edge.to.index()]);
        let way = |edge: &ir::Edge| {
            let to = self.state(edge.to.index());
            Way {
                reached: state == State::Covered,
                taken: state == State::Covered && to == Some(State::Covered),
                dead: to == Some(State::Unreachable),
            }
        };
        let ways: Vec<Way> = ways.map(way).collect();
        if let (true, Some(file)) = (ways.len() > 1, self.name(block.end_pos)) {
            let branches = &mut coverage.files.entry(file).or_default().branches;
            let (line, column) = (block.end_pos.line, block.end_pos.column);
            let nth = branches.range((line, column, 0)..=(line, column, u32::MAX));
            let nth = nth.count() as u32;
            branches.insert((line, column, nth), ways);
        }
    }
}

impl Coverage {
    /// The coverage that a campaign left.
    pub fn of(left: &StoredCampaign) -> Coverage {
        let program = left.program();
        let reading = Reading {
            left,
            blocks: states(left),
            failing: failing(program),
        };
        let mut lines = BTreeMap::new();
        let mut coverage = Coverage::default();
        for function in &program.functions {
            if function.kind == FunctionKind::User && function.is_defined() {
                reading.function(function, &mut lines, &mut coverage);
            }
        }
        for ((file, line), seen) in lines {
            let file = coverage.files.entry(file).or_default();
            file.lines.insert(line, seen.state());
        }
        for function in &left.kept.unreached {
            let file = shown(&function.file, &left.kept.root).filter(|_| function.line > 0);
            let Some(file) = file else { continue };
            let lines = (function.line, function.lines.clone());
            let key = (file, plain(&function.name));
            coverage.unreached.insert(key, lines);
        }
        coverage
    }

    /// Merges the coverage of another harness: what one of them executed counts as executed.
    pub fn merge(&mut self, other: Coverage) {
        self.unreached.extend(other.unreached);
        for (path, theirs) in other.files {
            let mine = self.files.entry(path).or_default();
            for (line, state) in theirs.lines {
                let here = mine.lines.entry(line).or_insert(state);
                *here = state.max(*here);
            }
            for (name, function) in theirs.functions {
                let here = mine.functions.entry(name).or_insert(function.clone());
                here.state = here.state.max(function.state);
                here.end = here.end.max(function.end);
            }
            for (key, ways) in theirs.branches {
                let here = mine.branches.entry(key).or_insert_with(|| ways.clone());
                for (here, way) in here.iter_mut().zip(ways) {
                    here.reached |= way.reached;
                    here.taken |= way.taken;
                    here.dead &= way.dead;
                }
            }
        }
    }

    /// Adds the functions that none of the merged harnesses reaches, as open: nothing is known
    /// about them, and a percentage without them would look better than it is.
    pub fn complete(mut self) -> Coverage {
        for ((file, name), (line, lines)) in std::mem::take(&mut self.unreached) {
            let file = self.files.entry(file).or_default();
            if file.functions.contains_key(&name) {
                continue;
            }
            let known = Function {
                line,
                state: State::Open,
                end: lines.last().copied().unwrap_or(line),
                is_linked: false,
            };
            file.functions.insert(name, known);
            for line in lines {
                file.lines.entry(line).or_insert(State::Open);
            }
        }
        self
    }

    /// The counts over all files.
    pub fn count(&self) -> Count {
        Count::of(self.files.values().flat_map(|file| file.lines.values()))
    }
}

impl File {
    /// The lines of a function.
    pub fn within(&self, function: &Function) -> impl Iterator<Item = (u32, State)> + '_ {
        let lines = function.line..=function.end.max(function.line);
        self.lines.range(lines).map(|(line, state)| (*line, *state))
    }
}

/// The file of a position as shown in reports; `None` for files of the system's headers.
fn place(program: &Program, root: &Path, pos: Pos) -> Option<String> {
    let file = program
        .files
        .get(pos.file as usize)
        .filter(|_| pos.line > 0)?;
    shown(file, root)
}

/// A path as shown in reports; `None` for files of the system's headers.
fn shown(file: &str, root: &Path) -> Option<String> {
    if file.starts_with("/usr/include/") || file.starts_with("/usr/lib/") {
        return None;
    }
    let below = Path::new(file).strip_prefix(root);
    Some(below.map_or_else(|_| file.to_owned(), |path| path.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_no_harness_reaches_are_open() {
        let mut all = Coverage::default();
        for (name, lines) in [("put", vec![3, 4, 5]), ("take", vec![8, 9])] {
            let key = ("a.c".to_owned(), name.to_owned());
            all.unreached.insert(key, (lines[0], lines));
        }
        let mut other = Coverage::default();
        let file = other.files.entry("a.c".to_owned()).or_default();
        let put = Function {
            line: 3,
            state: State::Covered,
            end: 5,
            is_linked: true,
        };
        file.functions.insert("put".to_owned(), put);
        file.lines
            .extend([(4, State::Covered), (5, State::Unreachable)]);
        all.merge(other);
        let all = all.complete();
        let file = &all.files["a.c"];
        assert_eq!(file.lines[&5], State::Unreachable);
        assert_eq!(file.lines[&9], State::Open);
        assert!(file.functions["put"].is_linked && !file.functions["take"].is_linked);
    }

    #[test]
    fn what_one_harness_executes_is_executed() {
        let with = |state| {
            let mut coverage = Coverage::default();
            let file = coverage.files.entry("a.c".to_owned()).or_default();
            file.lines.insert(1, state);
            coverage
        };
        let mut all = with(State::Unreachable);
        all.merge(with(State::Open));
        assert_eq!(all.files["a.c"].lines[&1], State::Open);
        all.merge(with(State::Covered));
        all.merge(with(State::Partial));
        assert_eq!(all.files["a.c"].lines[&1], State::Covered);
    }
}
