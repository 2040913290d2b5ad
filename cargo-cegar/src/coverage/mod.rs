//! Which lines of C were executed, which no input executes, and which are open.
//!
//! A campaign knows how each block of the program stands, and a block's instructions know their
//! lines. Two things follow that a coverage tool without proofs cannot have: a line that is proved
//! to be unreachable is not a hole in the tests, and is left out of what lcov counts; and what
//! remains is a list of work. A block that was entered counts as executed to its end, also where a
//! call in it did not return.
//!
//! Only what is within a harness's reach is counted: functions that it cannot call are not in its
//! program.

mod lcov;
mod text;

use std::collections::BTreeMap;
use std::path::Path;

use cegar_model::program::{self as ir, BlockId, CheckKind, FunctionKind, Pos, Program};
use serde::Serialize;

use crate::campaign::findings::plain;
use crate::explain::Left;
use crate::verdict::{GoalKind, GoalStatus};

pub use lcov::lcov;
pub use text::{ranges, table};

/// How a line stands. Of two harnesses' words about one line the later in this list counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// No input executes it: proved.
    Unreachable,
    /// It was not executed, and nothing is proved.
    Open,
    /// Some of its code was executed, and some is open.
    Partial,
    /// Executed.
    Covered,
}

/// How a branch stands, one way out of a condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// The condition was executed.
    pub reached: bool,
    /// It went this way.
    pub taken: bool,
    /// No input makes it go this way: proved.
    pub dead: bool,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The line of its definition.
    pub line: u32,
    /// How its first block stands.
    pub state: State,
    /// Its last line that has code.
    pub end: u32,
}

/// A file of C source.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// The lines that have code.
    pub lines: BTreeMap<u32, State>,
    /// The functions, by name.
    pub functions: BTreeMap<String, Function>,
    /// Conditions by line, column and occurrence; for each its ways out.
    pub branches: BTreeMap<(u32, u32, u32), Vec<Way>>,
}

/// The coverage of one harness, or of several together.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// By path, relative to the crate where it lies below it.
    pub files: BTreeMap<String, File>,
}

/// How many lines stand where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// All that have code.
    pub lines: u64,
    /// Executed, at least in part.
    pub covered: u64,
    /// Proved unreachable.
    pub unreachable: u64,
    /// Neither.
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

    /// The covered share of what can be executed, as far as is known; none where nothing can.
    pub fn percent(&self) -> Option<f64> {
        match self.lines - self.unreachable {
            0 => None,
            lines => Some(100.0 * self.covered as f64 / lines as f64),
        }
    }
}

/// What the blocks of a line say.
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

/// How each block stands; none for those that no goal is about.
fn states(left: &Left) -> Vec<Option<State>> {
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

/// The blocks in which a check ends the run: the way there is no branch that a test should take.
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

/// What a line's blocks are, by file and line.
type Lines = BTreeMap<(String, u32), Seen>;

/// What a campaign left, by block.
struct Reading<'l> {
    left: &'l Left,
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

    /// Notes the lines and branches of a function, and the function.
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
            let known = Function { line, state, end };
            functions.insert(plain(&function.name), known);
        }
    }

    /// Notes the ways out of a block, where there are several.
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
    pub fn of(left: &Left) -> Coverage {
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
        coverage
    }

    /// Takes in what another harness did: what one of them executed is executed.
    pub fn merge(&mut self, other: Coverage) {
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

    /// Over all files.
    pub fn count(&self) -> Count {
        Count::of(self.files.values().flat_map(|file| file.lines.values()))
    }
}

impl File {
    /// A function's lines.
    pub fn within(&self, function: &Function) -> impl Iterator<Item = (u32, State)> + '_ {
        let lines = function.line..=function.end.max(function.line);
        self.lines.range(lines).map(|(line, state)| (*line, *state))
    }
}

/// The file of a position, as it is told; none for what the system's headers hold.
fn place(program: &Program, root: &Path, pos: Pos) -> Option<String> {
    let file = program
        .files
        .get(pos.file as usize)
        .filter(|_| pos.line > 0)?;
    if file.starts_with("/usr/include/") || file.starts_with("/usr/lib/") {
        return None;
    }
    let below = Path::new(file).strip_prefix(root);
    Some(below.map_or_else(|_| file.clone(), |path| path.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
