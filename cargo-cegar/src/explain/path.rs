//! The path to a violation: the source lines that were entered in order, and the values that were
//! chosen there.
//!
//! The engine's machine runs the input again and records the blocks that it enters. Replaying their
//! operations shows which line was executed in which call, and which choice belongs to it. An
//! execution may repeat loops thousands of times, so repetitions are shown once.

use std::path::Path as File;

use cegar_model::machine::{Limits, Machine, Outcome};
use cegar_model::program::{
    BlockId, Callee, CheckId, FuncId, FunctionKind, Intrinsic, Op, Pos, Program, Terminator,
};
use serde::Serialize;

use crate::campaign::findings::{events, plain};
use crate::sources::Digests;

/// The path of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Path {
    /// The steps in order.
    pub steps: Vec<Step>,
    /// All values that were chosen, by channel.
    pub values: Vec<(String, String)>,
    /// How the execution ended, if not with the violation.
    pub ended: Option<String>,
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// A line was entered.
    Line {
        /// The file, relative to the package or the current folder.
        file: String,
        /// The line.
        line: u32,
        /// The function.
        function: String,
        /// Its text; empty if the file cannot be read or has changed.
        text: String,
        /// The values chosen there: channel and value.
        chosen: Vec<(String, String)>,
    },
    /// The lines before this step were entered again.
    Again {
        /// The number of lines.
        lines: usize,
        /// The number of repetitions; 0 if the lines were left out instead of repeated.
        times: usize,
        /// The values chosen in them.
        chosen: Vec<(String, String)>,
    },
}

/// The maximum number of characters of a line that are shown.
const WIDTH: usize = 300;
/// The maximum number of lines in a repeated loop body.
const BODY: usize = 60;
/// The number of steps after which a path is abbreviated.
const TOLD: usize = 400;

/// Runs the input again and describes its path. The text of a file is omitted if the file has
/// changed since the campaign.
pub fn path(program: &Program, (root, known): (&File, &Digests), tape: &[u8]) -> Path {
    let machine = Machine::new(program, Limits::default());
    let run = machine.run_tracked(tape);
    let chosen = events(tape, &run);
    let check = run.violation().and_then(|violation| violation.check);
    let mut walk = Walk {
        program,
        chosen: &chosen,
        next: 0,
        lines: Vec::new(),
    };
    walk.along(&run.trace, check);
    let steps = compress(&walk.lines, &Source::new(program, root, known));
    let mut channels: Vec<(String, Vec<&[u8]>)> = Vec::new();
    for (channel, bytes) in &chosen {
        match channels.iter_mut().find(|(known, _)| known == channel) {
            Some((_, all)) => all.push(bytes),
            None => channels.push((channel.clone(), vec![bytes])),
        }
    }
    let values = channels.into_iter().map(|(channel, all)| {
        let value = values(&channel, &all);
        (channel, value)
    });
    Path {
        steps,
        values: values.collect(),
        ended: match run.outcome {
            Outcome::Violated(_) => None,
            other => Some(format!("{other:?}")),
        },
    }
}

/// A line in one call, with the choices made there.
#[derive(Clone, PartialEq, Eq)]
struct Line {
    pos: Pos,
    function: FuncId,
    chosen: Vec<(String, Vec<u8>)>,
}

impl Line {
    fn is_like(&self, other: &Line) -> bool {
        (self.pos.file, self.pos.line, self.function)
            == (other.pos.file, other.pos.line, other.function)
    }
}

struct Walk<'a> {
    program: &'a Program,
    chosen: &'a [(String, Vec<u8>)],
    /// The index of the first choice that is not assigned to a line yet.
    next: usize,
    lines: Vec<Line>,
}

impl Walk<'_> {
    /// Follows the blocks of a trace, call by call, up to the violated check.
    fn along(&mut self, trace: &[BlockId], violated: Option<CheckId>) {
        let program = self.program;
        let mut rest = trace.iter().copied();
        let mut open: Vec<(BlockId, usize)> =
            rest.next().map(|block| (block, 0)).into_iter().collect();
        let mut ahead = rest.next();
        while let Some((id, op)) = open.last_mut() {
            let block = program.block(*id);
            if let Some(inst) = block.ops.get(*op) {
                *op += 1;
                self.enter(inst.pos, block.function);
                let call = match &inst.op {
                    Op::Call(call) => call,
                    _ => continue,
                };
                if self.is_choice(&call.callee) {
                    self.choose();
                }
                // The trace ends with this block, so the violated call is the last one.
                if ahead.is_none() && call.check.is_some() && call.check == violated {
                    return;
                }
                if let Some(next) = ahead.filter(|&next| enters(program, &call.callee, next)) {
                    open.push((next, 0));
                    ahead = rest.next();
                }
                continue;
            }
            self.enter(block.end_pos, block.function);
            if matches!(block.end, Terminator::Return { .. }) {
                open.pop();
                continue;
            }
            let Some(next) = ahead else {
                return;
            };
            if let Some(last) = open.last_mut() {
                *last = (next, 0);
            }
            ahead = rest.next();
        }
    }

    fn enter(&mut self, pos: Pos, function: FuncId) {
        if pos.line == 0 || self.program.function(function).kind != FunctionKind::User {
            return;
        }
        let line = Line {
            pos,
            function,
            chosen: Vec::new(),
        };
        if !self.lines.last().is_some_and(|last| last.is_like(&line)) {
            self.lines.push(line);
        }
    }

    fn is_choice(&self, callee: &Callee) -> bool {
        match callee {
            Callee::Direct(id) => {
                self.program.function(*id).kind == FunctionKind::Intrinsic(Intrinsic::Choose)
            }
            Callee::Indirect(_) => false,
        }
    }

    fn choose(&mut self) {
        let chosen = self.chosen.get(self.next).cloned();
        self.next += 1;
        if let (Some(line), Some(chosen)) = (self.lines.last_mut(), chosen) {
            line.chosen.push(chosen);
        }
    }
}

/// Whether a call continues in this block.
fn enters(program: &Program, callee: &Callee, block: BlockId) -> bool {
    let function = program.block(block).function;
    let is_first = program.function(function).blocks.start == block.0;
    match callee {
        Callee::Direct(id) => *id == function && is_first,
        Callee::Indirect(_) => is_first,
    }
}

/// The lines of the source files.
struct Source<'a> {
    program: &'a Program,
    root: &'a File,
    texts: Vec<Vec<String>>,
}

impl<'a> Source<'a> {
    fn new(program: &'a Program, root: &'a File, known: &Digests) -> Source<'a> {
        let text = |file: &String| {
            let file = root.join(file);
            // C source may be invalid UTF-8, and a line of generated code may be very long.
            let text = match known.is_changed(&file) {
                true => Vec::new(),
                false => std::fs::read(&file).unwrap_or_default(),
            };
            let text = String::from_utf8_lossy(&text);
            let line = |line: &str| match line.trim().char_indices().nth(WIDTH) {
                Some((end, _)) => format!("{}...", &line.trim()[..end]),
                None => line.trim().to_owned(),
            };
            text.lines().map(line).collect()
        };
        Source {
            program,
            root,
            texts: program.files.iter().map(text).collect(),
        }
    }

    fn step(&self, line: &Line) -> Step {
        let at = line.pos.file as usize;
        let file = self.program.files.get(at).cloned().unwrap_or_default();
        let file = File::new(&file)
            .strip_prefix(self.root)
            .map_or(file.clone(), |file| file.display().to_string());
        let text = self
            .texts
            .get(at)
            .and_then(|text| text.get(line.pos.line as usize - 1));
        let mut chosen = told(std::slice::from_ref(line));
        if let Some(value) = text.and_then(|text| in_range(text, &line.chosen)) {
            let ranges = chosen.iter_mut().filter(|(channel, _)| channel == RANGE);
            ranges.for_each(|(_, told)| told.clone_from(&value));
        }
        Step::Line {
            file,
            line: line.pos.line,
            function: plain(&self.program.function(line.function).name),
            text: text.cloned().unwrap_or_default(),
            chosen,
        }
    }
}

/// Merges repeated lines.
fn compress(lines: &[Line], source: &Source<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = 0;
    while at < lines.len() && steps.len() < TOLD {
        let repeated = (1..=BODY).find_map(|body| {
            let times = turns(&lines[at..], body);
            (times > 2).then_some((body, times))
        });
        let Some((body, times)) = repeated else {
            steps.push(source.step(&lines[at]));
            at += 1;
            continue;
        };
        let end = at + body * times;
        steps.extend(lines[at..at + body].iter().map(|line| source.step(line)));
        steps.push(Step::Again {
            lines: body,
            times: times - 1,
            chosen: told(&lines[at + body..end]),
        });
        at = end;
    }
    if at < lines.len() {
        // The end of a path matters most, so its last lines are shown.
        let last = lines.len().saturating_sub(TOLD / 4).max(at);
        steps.push(Step::Again {
            lines: last - at,
            times: 0,
            chosen: told(&lines[at..last]),
        });
        steps.extend(lines[last..].iter().map(|line| source.step(line)));
    }
    steps
}

/// The number of consecutive repetitions of the first `body` lines.
fn turns(lines: &[Line], body: usize) -> usize {
    let Some(first) = lines.get(..body) else {
        return 0;
    };
    let same =
        |turn: &&[Line]| turn.len() == body && turn.iter().zip(first).all(|(a, b)| a.is_like(b));
    lines.chunks(body).take_while(same).count()
}

/// The values chosen in some lines, grouped by channel.
fn told(lines: &[Line]) -> Vec<(String, String)> {
    let mut groups: Vec<(String, Vec<&[u8]>)> = Vec::new();
    for (channel, bytes) in lines.iter().flat_map(|line| &line.chosen) {
        match groups.iter_mut().find(|(known, _)| known == channel) {
            Some((_, all)) => all.push(bytes),
            None => groups.push((channel.clone(), vec![bytes])),
        }
    }
    let tell = |(channel, all): (String, Vec<&[u8]>)| {
        let value = values(&channel, &all);
        (channel, value)
    };
    groups.into_iter().map(tell).collect()
}

/// The channel of choices from a range. Its bytes are the choice before it is brought into the
/// range.
const RANGE: &str = "range";

/// The value of the only choice in a line that calls `crunner_range` or `crunner_size` with literal
/// bounds.
fn in_range(text: &str, chosen: &[(String, Vec<u8>)]) -> Option<String> {
    let mut ranges = chosen.iter().filter(|(channel, _)| channel == RANGE);
    let (_, bytes) = ranges.next()?;
    let mut calls = ["crunner_range(", "crunner_size("]
        .iter()
        .flat_map(|name| text.split(name).skip(1));
    let (low, rest) = calls.next()?.split_once(',')?;
    if ranges.next().is_some() || calls.next().is_some() || bytes.len() > 8 {
        return None;
    }
    let (low, high): (i128, i128) = (
        low.trim().parse().ok()?,
        rest.split_once(')')?.0.trim().parse().ok()?,
    );
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let raw = i128::from(u64::from_le_bytes(wide));
    (low < high).then(|| (low + raw % (high - low + 1)).to_string())
}

/// Longer lists and texts of values are abbreviated in the middle.
const LONG: usize = 120;

/// Formats values: those of text channels as text, all others as numbers.
fn values(channel: &str, all: &[&[u8]]) -> String {
    let text = ["stdin", "data", "bytes", "string"].contains(&channel)
        || ["env:", "argv:", "file:"]
            .iter()
            .any(|prefix| channel.starts_with(prefix));
    if text {
        let bytes: Vec<u8> = all.concat();
        return shortened(&quoted(&bytes));
    }
    let number = |bytes: &&[u8]| match bytes.len() {
        1 | 2 | 4 | 8 => {
            let mut wide = [0; 8];
            wide[..bytes.len()].copy_from_slice(bytes);
            let unused = 64 - 8 * bytes.len() as u32;
            ((i64::from_le_bytes(wide) << unused) >> unused).to_string()
        }
        _ => quoted(bytes),
    };
    let all: Vec<String> = all.iter().map(number).collect();
    shortened(&all.join(", "))
}

fn quoted(bytes: &[u8]) -> String {
    let text: String = bytes
        .iter()
        .map(|byte| byte.escape_ascii().to_string())
        .collect();
    format!("\"{text}\"")
}

fn shortened(text: &str) -> String {
    if text.len() <= LONG {
        return text.to_owned();
    }
    let (first, last) = (&text[..LONG / 2], &text[text.len() - LONG / 4..]);
    format!("{first} ... {last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_shown_as_its_value() {
        let value = |text: &str, byte: u8| in_range(text, &[(RANGE.to_owned(), vec![byte])]);
        let size = "size_t n = crunner_size(0, 64);";
        assert_eq!(value(size, 86).as_deref(), Some("21"));
        assert_eq!(value("f(crunner_range(-1, 1));", 2).as_deref(), Some("1"));
        assert_eq!(value("crunner_range(0, n)", 2), None);
        assert_eq!(value("g(crunner_range(0, 1), crunner_size(0, 2))", 2), None);
    }

    fn line(line: u32, chosen: &[u8]) -> Line {
        Line {
            pos: Pos {
                file: 0,
                line,
                column: 1,
            },
            function: FuncId(0),
            chosen: chosen
                .iter()
                .map(|&byte| ("stdin".to_owned(), vec![byte]))
                .collect(),
        }
    }

    #[test]
    fn what_repeats_is_told_once() {
        let mut lines = vec![line(1, b"")];
        for byte in b'a'..=b'f' {
            lines.extend([line(2, &[byte]), line(3, b"")]);
        }
        lines.push(line(4, b"!"));
        assert_eq!(turns(&lines[1..], 2), 6);
        assert_eq!(turns(&lines, 2), 1);
        assert_eq!(turns(&lines[13..], 2), 0);
        assert_eq!(
            told(&lines),
            [("stdin".to_owned(), "\"abcdef!\"".to_owned())]
        );
    }

    #[test]
    fn values_are_texts_or_numbers() {
        assert_eq!(values("stdin", &[b"a", b"\n", b"\xff"]), r#""a\n\xff""#);
        assert_eq!(
            values("int", &[&7u32.to_le_bytes(), &(-5i32).to_le_bytes()]),
            "7, -5"
        );
        assert_eq!(values("int", &[&[1, 2, 3]]), r#""\x01\x02\x03""#);
        let long = vec![b'a'; 1000];
        let all: Vec<&[u8]> = long.chunks(1).collect();
        assert!(values("data", &all).len() < LONG);
    }
}
