//! Vacuous proofs: most of the proved checks cannot be reached from the harness.
//!
//! A harness that passes an empty picture has a thousand checks proved and has tested nothing. Such
//! a proof is called *vacuous*, and the branch that blocks the way is reported. It is chosen among
//! the branches that executions reached and that are proved to go one way only: the first one (in
//! breadth-first order from the program's start, through calls) behind which lie at least half as
//! many of the unreachable checks as behind any other. Its condition shows what the harness must
//! change.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

use cegar_model::program::{BlockId, Callee, CheckId, Op, Pos, Program};

use super::findings::plain;
use super::reach::{Backwards, Reach, callees};
use crate::verdict::{Blocked, Place};

/// The largest number of block visits in the search for the branch. For a program with more blocks
/// behind its branches, the best branch found until then is reported.
const VISITS: usize = 4_000_000;
/// The number of lines and characters of a condition that are quoted.
const LINES: usize = 4;
const CHARACTERS: usize = 100;

/// The data about a program's blocks.
pub struct Known<'a> {
    /// The program.
    pub program: &'a Program,
    /// The blocks that some execution entered.
    pub covered: Vec<bool>,
    /// The blocks that are proved not to be entered by any input of the harness.
    pub dead: Vec<bool>,
    /// The folder to which reported paths are relative.
    pub root: &'a Path,
}

/// An edge or call from a block that is not proved dead to a dead block.
#[derive(Clone, Copy)]
struct Way {
    from: BlockId,
    to: BlockId,
    /// The position of the call, or `None` for a branch.
    call: Option<Pos>,
}

impl Known<'_> {
    /// Finds what blocks the way to most of these checks.
    pub fn blocked(&self, unreachable: &[u32]) -> Option<Blocked> {
        let mut weight = vec![0u64; self.program.blocks.len()];
        for &check in unreachable {
            let block = self.program.checks.get(check as usize)?.loc.block;
            weight[block.index()] += 1;
        }
        let mut visits = 0;
        let mut ways = Vec::new();
        // Branches that were not executed say less about the harness, so they are used only if
        // there are no others.
        for executed in [true, false] {
            for from in self.in_order() {
                if self.covered[from.index()] != executed || visits > VISITS {
                    continue;
                }
                for way in self.ways(from) {
                    let behind = self.behind(way.to, &weight, &mut visits);
                    if behind > 0 {
                        ways.push((way, behind));
                    }
                }
            }
            if !ways.is_empty() {
                break;
            }
        }
        let most = ways.iter().map(|(_, behind)| *behind).max()?;
        let first = ways.into_iter().find(|(_, behind)| behind * 2 >= most);
        first.map(|(way, behind)| self.tell(way, behind))
    }

    /// Finds the branch nearest to one check that blocks the way to it.
    pub fn blocked_one(&self, check: u32, reach: &Reach, backwards: &Backwards) -> Option<Blocked> {
        let mut work: VecDeque<BlockId> = reach.deciding(CheckId(check)).iter().copied().collect();
        let mut seen: BTreeSet<BlockId> = work.iter().copied().collect();
        while let Some(at) = work.pop_front() {
            for before in backwards.before(self.program, at) {
                if !self.dead[before.index()] {
                    let ways = self.ways(before);
                    let way = ways.into_iter().find(|way| way.to == at)?;
                    return Some(self.tell(way, 1));
                }
                if seen.insert(before) {
                    work.push_back(before);
                }
            }
        }
        None
    }

    /// The blocks that are not proved dead, in breadth-first order.
    fn in_order(&self) -> Vec<BlockId> {
        let mut seen = vec![false; self.program.blocks.len()];
        let mut order: Vec<BlockId> = Vec::new();
        let mut found = |block: BlockId, order: &mut Vec<BlockId>| {
            if !self.dead[block.index()] && !std::mem::replace(&mut seen[block.index()], true) {
                order.push(block);
            }
        };
        let entry = self.program.function(self.program.entry);
        if entry.is_defined() {
            found(BlockId(entry.blocks.start), &mut order);
        }
        let mut at = 0;
        while let Some(&block) = order.get(at) {
            at += 1;
            for next in self.after(block) {
                found(next, &mut order);
            }
        }
        // Blocks that are reached only by calls through pointers.
        for (number, covered) in self.covered.iter().enumerate() {
            if *covered {
                found(BlockId(number as u32), &mut order);
            }
        }
        order
    }

    /// The successors of a block: the functions that it calls come first.
    fn after(&self, block: BlockId) -> Vec<BlockId> {
        let first = |id| BlockId(self.program.function(id).blocks.start);
        let called = callees(self.program, block).map(first);
        let edges = self.program.block(block).end.edges();
        called
            .chain(edges.into_iter().map(|edge| edge.to))
            .collect()
    }

    /// The edges and calls of a block that are proved never to be taken.
    fn ways(&self, from: BlockId) -> Vec<Way> {
        let block = self.program.block(from);
        let mut ways = Vec::new();
        let edges = block.end.edges();
        if edges.len() > 1 {
            let dead = edges.iter().filter(|edge| self.dead[edge.to.index()]);
            ways.extend(dead.map(|edge| Way {
                from,
                to: edge.to,
                call: None,
            }));
        }
        for inst in &block.ops {
            let Op::Call(call) = &inst.op else { continue };
            let Callee::Direct(callee) = call.callee else {
                continue;
            };
            let callee = self.program.function(callee);
            if callee.is_defined() && self.dead[callee.blocks.start as usize] {
                ways.push(Way {
                    from,
                    to: BlockId(callee.blocks.start),
                    call: Some(inst.pos),
                });
            }
        }
        ways
    }

    /// The weight of the dead blocks that are reachable from a dead block.
    fn behind(&self, block: BlockId, weight: &[u64], visits: &mut usize) -> u64 {
        let mut seen = BTreeSet::from([block]);
        let mut work = vec![block];
        let mut sum = 0;
        while let Some(at) = work.pop() {
            *visits += 1;
            sum += weight[at.index()];
            for next in self.after(at) {
                if self.dead[next.index()] && seen.insert(next) {
                    work.push(next);
                }
            }
        }
        sum
    }

    fn tell(&self, way: Way, behind: u64) -> Blocked {
        let block = self.program.block(way.from);
        let pos = way.call.unwrap_or(block.end_pos);
        let function = &self.program.function(block.function).name;
        let place = self.place(pos, function);
        let (never, part) = match way.call {
            Some(_) => (None, false),
            None => never(&block.name, &self.program.block(way.to).name),
        };
        let to = match way.call {
            Some(_) => 0,
            None => self.line_of(way.to),
        };
        Blocked {
            condition: quote(&self.root.join(&place.file), place.line, place.column),
            place,
            never,
            part,
            call: way.call.is_some(),
            to,
            behind,
        }
    }

    fn place(&self, pos: Pos, function: &str) -> Place {
        let file = self.program.files.get(pos.file as usize);
        let file = file.filter(|_| pos.line > 0).map(|file| {
            let below = Path::new(file).strip_prefix(self.root);
            below.map_or_else(|_| file.clone(), |path| path.display().to_string())
        });
        Place {
            file: file.unwrap_or_default(),
            line: pos.line,
            column: pos.column,
            function: plain(function),
        }
    }

    /// The first line of a block, or of the block that it jumps to: blocks that LLVM inserts on an
    /// edge have no position.
    fn line_of(&self, block: BlockId) -> u32 {
        let mut at = block;
        for _ in 0..LINES {
            let here = self.program.block(at);
            if here.pos.line > 0 {
                return here.pos.line;
            }
            match here.end.edges().as_slice() {
                [only] => at = only.to,
                _ => break,
            }
        }
        0
    }
}

/// Derives from clang's names of the two blocks which value the condition never has, and whether it
/// is part of a larger condition.
fn never(from: &str, to: &str) -> (Option<bool>, bool) {
    let to = to.strip_suffix("_crit_edge").map_or(to, |both| {
        both.strip_prefix(from)
            .unwrap_or(both)
            .trim_start_matches('.')
    });
    let to = to.trim_end_matches(|c: char| c.is_ascii_digit());
    let to = to
        .trim_end_matches(".preheader")
        .trim_end_matches(".loopexit");
    match to.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "if.then" | "cond.true" | "while.body" | "for.body" | "do.body" => (Some(true), false),
        "if.else" | "if.end" | "cond.false" | "while.end" | "for.end" | "do.end" => {
            (Some(false), false)
        }
        "land.rhs" | "land.lhs.true" => (Some(true), true),
        "lor.rhs" | "lor.lhs.false" => (Some(false), true),
        _ => (None, false),
    }
}

/// The condition on a line, with its continuation on the following lines.
fn quote(file: &Path, line: u32, column: u32) -> String {
    let Ok(bytes) = std::fs::read(file) else {
        return String::new();
    };
    let lines = bytes.split(|byte| *byte == b'\n');
    let mut lines = lines.skip((line as usize).saturating_sub(1)).take(LINES);
    let mut text = String::new();
    if let Some(first) = lines.next().filter(|_| line > 0) {
        // A line of a generated file may be a megabyte.
        let start = match first.len() > 4 * CHARACTERS {
            true => (column as usize)
                .saturating_sub(CHARACTERS / 2)
                .min(first.len()),
            false => 0,
        };
        let end = first.len().min(start + 4 * CHARACTERS);
        text.push_str(&String::from_utf8_lossy(&first[start..end]));
    }
    let open = |text: &str| text.matches('(').count() > text.matches(')').count();
    while open(&text) && text.len() < CHARACTERS {
        let Some(next) = lines.next() else { break };
        text.push(' ');
        let end = next.len().min(2 * CHARACTERS);
        text.push_str(&String::from_utf8_lossy(&next[..end]));
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let text = text.trim_start_matches('}').trim_end_matches('{').trim();
    let text = &text[..condition_end(text)];
    match text.char_indices().nth(CHARACTERS) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text.to_owned(),
    }
}

/// The end of the condition of an `if` or a loop, which a statement may follow, or the end of the
/// text if it is something else.
fn condition_end(text: &str) -> usize {
    let words = ["if", "else if", "while", "for", "switch"];
    let begins = words.iter().any(|word| {
        let rest = text.strip_prefix(word);
        rest.is_some_and(|rest| rest.trim_start().starts_with('('))
    });
    let mut depth = 0u32;
    for (at, c) in text.char_indices().filter(|_| begins) {
        match c {
            '(' => depth += 1,
            ')' if depth <= 1 => return at + 1,
            ')' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn what_a_condition_never_is() {
        assert_eq!(never("entry", "if.then"), (Some(true), false));
        assert_eq!(never("entry", "if.end12"), (Some(false), false));
        assert_eq!(never("entry", "land.lhs.true"), (Some(true), true));
        assert_eq!(
            never("for.cond", "for.cond.for.end_crit_edge"),
            (Some(false), false)
        );
        assert_eq!(never("if.end3", "for.body.preheader"), (Some(true), false));
        assert_eq!(never("NodeBlock", "sw.bb"), (None, false));
    }

    #[test]
    fn conditions_are_quoted_whole_and_short() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.c");
        std::fs::write(
            &file,
            b"int f(void)\n{\r\n\t} else if (a == 1 &&\r\n\t           b == \xff2) {\r\n",
        )
        .unwrap();
        assert_eq!(quote(&file, 3, 9), "else if (a == 1 && b == \u{fffd}2)");
        assert_eq!(quote(&file, 99, 1), "");
        std::fs::write(&file, "if (f(a) < 0) return g(b);\n").unwrap();
        assert_eq!(quote(&file, 1, 5), "if (f(a) < 0)");
        assert_eq!(quote(&dir.path().join("gone.c"), 1, 1), "");
        std::fs::write(
            &file,
            format!("{}if (x){}", "a".repeat(500_000), "b".repeat(500_000)),
        )
        .unwrap();
        let quoted = quote(&file, 1, 500_001);
        assert!(quoted.contains("if (x)") && quoted.len() < 120, "{quoted}");
    }
}
