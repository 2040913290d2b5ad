//! Writes a harness that repeats a recorded use with chosen data, and the inputs that reproduce the
//! recorded uses.
//!
//! The text and the input are produced by the same traversal of the use, so that they always match:
//! each choice that is written is put on the tape with its recorded value at the same time. If a
//! choice does not admit the recorded value, the use yields no input.

mod choices;

use std::collections::{BTreeMap, BTreeSet};

use super::super::api::{Declared, Parameter};
use super::super::ctype::Kind;
use super::learn::{Facts, Flow, Item, Step, Use};
use super::trace::Call;
use crate::lists::few;

/// The maximum number of repetitions.
const TURNS: usize = 8;

/// Words in the names of functions that release an object.
const CLOSERS: &[&str] = &[
    "close", "free", "destroy", "delete", "end", "release", "fini", "dispose", "cleanup", "unref",
    "drop",
];

/// The harness of a use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub text: String,
    /// The input that reproduces the recorded use, if there is one.
    pub tape: Option<Vec<u8>>,
    /// The learnt constraints, for the first comment.
    pub learnt: BTreeSet<String>,
}

/// Writes the harness of a use; `names` are the tests with this use.
pub(super) fn harness(facts: &Facts<'_>, one: &Use, names: &[&str], include: &str) -> Option<Text> {
    let mut writer = Writer::new(facts, one);
    for (number, item) in one.items.iter().enumerate() {
        writer.item(item, number)?;
    }
    Some(writer.finish(names, include))
}

struct Writer<'a> {
    facts: &'a Facts<'a>,
    /// The index of the item from which on objects are only released.
    closing: usize,
    items: &'a [Item],
    lines: Vec<String>,
    names: BTreeSet<String>,
    /// The variables that hold the results of steps.
    results: BTreeMap<usize, String>,
    wrote: BTreeMap<(usize, usize), String>,
    storages: BTreeMap<usize, String>,
    /// The steps whose results are used later.
    used: BTreeSet<usize>,
    used_wrote: BTreeSet<(usize, usize)>,
    cleanup: Vec<String>,
    learnt: BTreeSet<String>,
    tape: Option<Vec<u8>>,
    /// Whether only the tape is extended, because the text of this loop was already written.
    mute: bool,
    in_loop: bool,
    jumps: bool,
    step: usize,
}

impl<'a> Writer<'a> {
    fn new(facts: &'a Facts<'a>, one: &'a Use) -> Writer<'a> {
        let mut writer = Writer {
            facts,
            closing: closing(&one.items),
            items: &one.items,
            lines: Vec::new(),
            names: [
                "data", "size", "main", "turns", "done", "errno", "stdin", "stdout", "int", "char",
                "unix",
            ]
            .into_iter()
            .map(str::to_owned)
            .chain(
                facts
                    .api
                    .functions
                    .iter()
                    .map(|function| function.name.clone()),
            )
            .collect(),
            results: BTreeMap::new(),
            wrote: BTreeMap::new(),
            storages: BTreeMap::new(),
            used: BTreeSet::new(),
            used_wrote: BTreeSet::new(),
            cleanup: Vec::new(),
            learnt: BTreeSet::new(),
            tape: Some(Vec::new()),
            mute: false,
            in_loop: false,
            jumps: false,
            step: 0,
        };
        for flow in one
            .items
            .iter()
            .flat_map(|item| &item.steps)
            .flat_map(|step| &step.flows)
        {
            match flow {
                Flow::Result(step) => drop(writer.used.insert(*step)),
                Flow::Wrote(step, param) => drop(writer.used_wrote.insert((*step, *param))),
                _ => {}
            }
        }
        writer
    }

    fn line(&mut self, text: String) {
        if !self.mute {
            let indent = if self.in_loop { "    " } else { "" };
            self.lines.push(format!("{indent}{text}"));
        }
    }

    fn name(&mut self, wanted: &str) -> String {
        let wanted = wanted.trim_matches('_');
        let wanted = if wanted.is_empty() { "value" } else { wanted };
        if self.mute {
            return wanted.to_owned();
        }
        let mut name = wanted.to_owned();
        let mut number = 2;
        while !self.names.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }

    fn item(&mut self, item: &Item, number: usize) -> Option<()> {
        let first = self.step;
        if number == self.closing && number > 0 {
            self.line("done:".to_owned());
        }
        if !item.repeated {
            self.steps(item, item.turns.first()?, number)?;
            return Some(());
        }
        let names: Vec<String> = item
            .steps
            .iter()
            .map(|step| step.function.clone())
            .collect();
        let (least, most) = self.facts.turns.get(&names).copied().unwrap_or((1, 1));
        let most = most.clamp(4, TURNS);
        let least = least.min(most);
        self.choose(item.turns.len() as i64, least as i64, most as i64);
        self.line(format!(
            "for (int turns = (int)crunner_size({least}, {most}); turns > 0; turns--) {{"
        ));
        self.in_loop = true;
        for (turn, calls) in item.turns.iter().enumerate() {
            self.mute = turn > 0;
            self.step = first;
            self.steps(item, calls, number)?;
        }
        self.mute = false;
        self.in_loop = false;
        self.line("}".to_owned());
        Some(())
    }

    fn steps(&mut self, item: &Item, calls: &[Call], number: usize) -> Option<()> {
        for (step, call) in item.steps.iter().zip(calls) {
            self.call(step, call, number)?;
            self.step += 1;
        }
        Some(())
    }

    fn call(&mut self, step: &Step, call: &Call, number: usize) -> Option<()> {
        let function = self.facts.function(&step.function)?;
        let lengths = self.facts.lengths.get(step.function.as_str())?.clone();
        let mut args: Vec<Option<String>> = vec![None; function.params.len()];
        for (i, param) in function.params.iter().enumerate() {
            if lengths.contains(&Some(i)) {
                continue;
            }
            let (text, length) =
                self.argument(function, i, param, &step.flows[i], call, lengths[i])?;
            args[i] = Some(text);
            if let (Some(l), Some(length)) = (lengths[i], length) {
                args[l] = Some(length);
            }
        }
        let args: Option<Vec<String>> = args.into_iter().collect();
        let text = format!("{}({})", function.name, args?.join(", "));
        self.result(function, step, text, number);
        Some(())
    }

    /// An argument, and its length if it has one.
    fn argument(
        &mut self,
        function: &Declared,
        i: usize,
        param: &Parameter,
        flow: &Flow,
        call: &Call,
        length: Option<usize>,
    ) -> Option<(String, Option<String>)> {
        let value = call.args.get(i)?;
        let nothing = || length.map(|_| "0".to_owned());
        let text = match flow {
            Flow::Result(step) => self.results.get(step)?.clone(),
            Flow::Wrote(step, at) => self.wrote.get(&(*step, *at))?.clone(),
            Flow::Null => {
                return Some((
                    "NULL".to_owned(),
                    self.length_alone(function, length, call).or_else(nothing),
                ));
            }
            Flow::Storage(number) => format!("&{}", self.storage(*number, param)),
            Flow::Own => match (self.facts.api.pointee(&param.ty), length) {
                (None, _) => self.number(function, i, param, value)?,
                (Some(to), Some(length)) => {
                    let (text, length) = self.sized(function, (i, param), &to, length, call)?;
                    return Some((text, Some(length)));
                }
                (Some(to), None) => self.pointer(function, (i, param), &to, value)?,
            },
        };
        let length = match length {
            Some(_) => Some(self.length_alone(function, length, call)?),
            None => None,
        };
        Some((text, length))
    }

    /// The length of memory that is not chosen.
    fn length_alone(
        &mut self,
        function: &Declared,
        length: Option<usize>,
        call: &Call,
    ) -> Option<String> {
        let l = length?;
        let param = function.params.get(l)?;
        match self.facts.api.pointee(&param.ty) {
            Some(to) => {
                let name = self.name(&param.name);
                self.line(format!("{} {name} = 0;", to.words));
                Some(format!("&{name}"))
            }
            None => self.number(function, l, param, call.args.get(l)?),
        }
    }

    /// The call, and the check of its result without which the use does not continue.
    fn result(&mut self, function: &Declared, step: &Step, call: String, number: usize) {
        let kind = self.facts.api.resolve(&function.returns).kind;
        let is_used = self.used.contains(&self.step);
        let words = function.returns.words.clone();
        let went_on = self.facts.went_on.get(&function.name);
        let condition = went_on.and_then(|numbers| went_on_if(numbers, &kind));
        let condition = condition.filter(|_| number < self.closing);
        match (&kind, is_used, &condition) {
            (Kind::Void, _, _) | (_, false, None) => self.line(format!("{call};")),
            _ => {
                let wanted = match (is_used, self.results.get(&self.step)) {
                    (_, Some(name)) => name.clone(),
                    (true, None) => object_name(&function.name),
                    (false, None) => "result".to_owned(),
                };
                let name = self.name(&wanted);
                let stars = if words.ends_with('*') { "" } else { " " };
                self.line(format!("{words}{stars}{name} = {call};"));
                self.results
                    .entry(self.step)
                    .or_insert_with(|| name.clone());
                if matches!(kind, Kind::Pointer(_)) {
                    self.learn(format!(
                        "{}: the tests go on only with an object",
                        function.name
                    ));
                    self.line(format!("crunner_assume({name} != NULL);"));
                } else if let Some(condition) = condition {
                    self.learn(format!(
                        "{}: the tests go on only if its result is {condition}",
                        function.name
                    ));
                    self.stop_unless(&format!("{name} {condition}"), number);
                }
            }
        }
        for i in 0..step.flows.len() {
            let key = (self.step, i);
            if self.used_wrote.contains(&key)
                && let Some(name) = self.wrote.get(&key).cloned()
            {
                self.line(format!("crunner_assume({name} != NULL);"));
            }
        }
    }

    /// Jumps to the code that releases the objects, provided that all of them exist by now.
    fn stop_unless(&mut self, condition: &str, number: usize) {
        let closers = self.items.get(self.closing..).unwrap_or_default();
        let flows = closers
            .iter()
            .flat_map(|item| &item.steps)
            .flat_map(|step| &step.flows);
        let step = self.step;
        let is_there = |flow: &Flow| match flow {
            Flow::Result(made) | Flow::Wrote(made, _) => *made < step,
            Flow::Own => false,
            _ => true,
        };
        let can = number < self.closing && !closers.is_empty() && flows.clone().all(is_there);
        // C permits no jump over the declaration of a variable-length array, but the harness
        // declares none.
        let action = if can { "goto done" } else { "return 0" };
        self.jumps |= can && !self.mute;
        self.line(format!("if (!({condition})) {action};"));
    }

    fn learn(&mut self, text: String) {
        if !self.mute {
            self.learnt.insert(text);
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        if let Some(tape) = &mut self.tape {
            tape.extend_from_slice(bytes);
        }
    }

    /// Puts the bytes on the tape from which `crunner_range` reads a value.
    fn choose(&mut self, value: i64, low: i64, high: i64) {
        if value < low || value > high {
            self.tape = None;
            return;
        }
        if high <= low {
            return;
        }
        let span = high.wrapping_sub(low) as u64;
        let mut bytes = 1;
        while bytes < 8 && span >> (8 * bytes) > 0 {
            bytes += 1;
        }
        let offset = value.wrapping_sub(low) as u64;
        self.put(&offset.to_le_bytes()[..bytes]);
    }

    fn finish(self, names: &[&str], include: &str) -> Text {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let mut text = format!(
            "/* Carved from what the crate's tests do: {}.\n *\n * The order of the calls is \
             theirs; the data are chosen.",
            few(&names, 3)
        );
        if !self.learnt.is_empty() {
            text += " What was learnt from them and is\n * assumed here; change it where the \
                library promises more:\n";
            for line in &self.learnt {
                text += &format!(" *   {line}\n");
            }
            text += " */\n";
        } else {
            text += " */\n";
        }
        text += "#include <stddef.h>\n#include <stdint.h>\n#include <stdbool.h>\n\
            #include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n";
        text += &format!("#include <crunner.h>\n#include \"{include}\"\n\nint main(void)\n{{\n");
        for line in &self.lines {
            // Omits the label if nothing jumps to it.
            match line.as_str() {
                "done:" if self.jumps => text += "done:\n",
                "done:" => {}
                line => text += &format!("    {line}\n"),
            }
        }
        if !self.jumps {
            for line in &self.cleanup {
                text += &format!("    {line}\n");
            }
        }
        text += "    return 0;\n}\n";
        Text {
            text,
            tape: self.tape.filter(|tape| !tape.is_empty()),
            learnt: self.learnt,
        }
    }
}

/// The index of the item from which on objects are only released.
fn closing(items: &[Item]) -> usize {
    let gives_back = |item: &Item| {
        item.steps.iter().all(|step| {
            let lower = step.function.to_lowercase();
            let named = CLOSERS.iter().any(|word| lower.contains(word));
            let no_data = step.flows.iter().all(|flow| !matches!(flow, Flow::Own));
            named && no_data
        })
    };
    let trailing = items
        .iter()
        .rev()
        .take_while(|item| gives_back(item))
        .count();
    items.len() - trailing
}

/// The C condition that all results satisfy after which a use continued, without its left operand.
fn went_on_if(numbers: &super::learn::Numbers, kind: &Kind) -> Option<String> {
    let (low, high) = (*numbers.seen.first()?, *numbers.seen.last()?);
    match kind {
        Kind::Int { .. } | Kind::Enum(_) | Kind::Bool if low == 0 && high == 0 => {
            Some("== 0".to_owned())
        }
        Kind::Bool if low == 1 => Some("!= 0".to_owned()),
        Kind::Int { signed: true, .. } if low > 0 => Some("> 0".to_owned()),
        Kind::Int { signed: true, .. } if low >= 0 => Some(">= 0".to_owned()),
        _ => None,
    }
}

fn or<'n>(name: &'n str, other: &'n str) -> &'n str {
    if name.is_empty() { other } else { name }
}

/// A variable name for the result of a function.
fn object_name(function: &str) -> String {
    let first = function
        .split('_')
        .next()
        .unwrap_or(function)
        .to_lowercase();
    if first.len() > 1 && first != function {
        format!("{first}_object")
    } else {
        "object".to_owned()
    }
}
