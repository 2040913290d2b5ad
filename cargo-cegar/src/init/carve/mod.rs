//! Carves harnesses from the crate's own tests.
//!
//! A header declares functions, but not the order in which they must be called, nor the permitted
//! values of a mode. The crate's tests show both. So they are run with the library's functions
//! recorded ([`record`]), the recorded calls are reduced to shapes of use ([`learn`]), and each
//! shape becomes a harness in which the data come from the tape ([`text`]).
//!
//! Related work: carving unit tests out of system runs (Kampmann and Zeller, "Carving parameterized
//! unit tests", 2019) keeps the calls and turns their data into parameters. UTopia (Jeong and
//! others, 2023) uses the unit tests as they are, because only they contain the order and the
//! conditions under which an API is meant to be called. FuzzGen (Ispoglou and others, 2020) merges
//! the uses of several consumers into one graph, which admits orders that no consumer uses.
//! APICraft (Zhang and others, 2021) links results to arguments in recorded traces of binaries.
//! Hopper (Chen and others, 2023) learns from runs which constraints hold within and between calls
//! (lengths, ranges, files) before it blames the library. This module adopts the following: shapes
//! are kept apart, and merged only if they differ in how often a call is repeated; dataflow is by
//! value; and the harness's first comment lists every learnt constraint, so that a maintainer can
//! remove it.

mod learn;
mod record;
mod text;
mod trace;
mod wrappers;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::api::{Api, Declared};
use super::ctype::Kind;
use crate::compile::Compiler;
use crate::error::Error;
use crate::project::Project;

use learn::{Facts, Use};
use trace::Run;

/// The facts about the library that carving needs.
pub(super) struct Library<'a> {
    pub project: &'a Project,
    pub compiler: &'a Compiler,
    pub api: &'a Api,
    /// The functions that the library's files define; `None` if that is unknown.
    pub defined: Option<&'a std::collections::BTreeSet<String>>,
    pub include: &'a str,
    pub flags: &'a [String],
}

/// A harness, and the inputs that reproduce the recorded uses.
#[derive(Clone, Debug)]
pub(super) struct Carved {
    pub name: String,
    pub text: String,
    /// The functions in order, to be shown to users.
    pub what: String,
    pub seeds: Vec<Vec<u8>>,
}

/// The result of carving.
#[derive(Debug, Default)]
pub(super) struct Result {
    pub harnesses: Vec<Carved>,
    pub notes: Vec<String>,
    /// Data that functions read, by function: seeds for harnesses that drive this function only.
    pub data: Vec<(String, Vec<u8>)>,
}

/// The maximum number of inputs for one harness.
const SEEDS: usize = 64;

/// Records the tests and carves at most `most` harnesses.
pub(super) fn carve(
    library: &Library<'_>,
    most: usize,
    stop: &AtomicBool,
) -> std::result::Result<Result, Error> {
    let api = library.api;
    let is_there = |function: &&Declared| {
        !function.inline
            && library
                .defined
                .is_none_or(|defined| defined.contains(&function.name))
    };
    let functions: Vec<&Declared> = api.functions.iter().filter(is_there).collect();
    let recorded = record::record(
        library.project,
        library.compiler,
        api,
        &functions,
        (library.include, library.flags),
        stop,
    )?;
    let mut result = Result::default();
    let calls: usize = recorded.runs.iter().map(|run| run.calls.len()).sum();
    result.notes.push(format!(
        "{} tests and examples were run; {calls} calls of the library were recorded",
        recorded.ran
    ));
    result.notes.extend(recorded.left_out);
    let mut facts = Facts::new(api, &recorded.runs);
    let mut uses = Vec::new();
    for run in &recorded.runs {
        match facts.use_of(run) {
            Ok(one) if !one.items.is_empty() => uses.push(one),
            Ok(_) => {}
            Err(why) => result
                .notes
                .push(format!("{}: no harness, {why}", run.name)),
        }
    }
    facts.settle(&mut uses);
    harnesses(&facts, &uses, library.include, most, &mut result);
    result.data = data(&facts, &recorded.runs);
    Ok(result)
}

fn harnesses(facts: &Facts<'_>, uses: &[Use], include: &str, most: usize, result: &mut Result) {
    let mut groups: Vec<Vec<&Use>> = Vec::new();
    for one in uses {
        match groups.iter_mut().find(|group| group[0].key() == one.key()) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    // Shapes with the most calls come first, and replace shapes whose calls are a subsequence of
    // theirs.
    groups.sort_by_key(|group| std::cmp::Reverse(group[0].functions().len()));
    let mut chosen: Vec<Vec<&str>> = Vec::new();
    for group in groups {
        let functions = group[0].functions();
        if chosen.iter().any(|other| is_part(&functions, other)) || chosen.len() >= most {
            continue;
        }
        let mut names: Vec<&str> = group.iter().map(|one| one.name.as_str()).collect();
        names.dedup();
        let Some(first) = text::harness(facts, group[0], &names, include) else {
            let text = format!(
                "{}: no harness, an argument is of a type that is not chosen",
                group[0].name
            );
            result.notes.push(text);
            continue;
        };
        let mut seeds: Vec<Vec<u8>> = group
            .iter()
            .take(SEEDS)
            .filter_map(|one| text::harness(facts, one, &names, include)?.tape)
            .collect();
        seeds.sort();
        seeds.dedup();
        result.harnesses.push(Carved {
            name: name(group[0], &result.harnesses),
            text: first.text,
            what: functions.join(", "),
            seeds,
        });
        chosen.push(functions);
    }
}

/// A unique harness name, derived from the test's name.
fn name(one: &Use, others: &[Carved]) -> String {
    let last = one.name.rsplit("::").next().unwrap_or(&one.name);
    let plain: String = last
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let mut name = format!("uses_{plain}");
    while others.iter().any(|other| other.name == name) {
        name.push('_');
    }
    name
}

/// Whether the calls are a subsequence of the others.
fn is_part(calls: &[&str], others: &[&str]) -> bool {
    let mut others = others.iter();
    calls.iter().all(|call| others.any(|other| other == call))
}

/// The recorded data that functions read.
fn data(facts: &Facts<'_>, runs: &[Run]) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for call in runs.iter().flat_map(|run| &run.calls) {
        let Some(lengths) = facts.lengths.get(call.function.as_str()) else {
            continue;
        };
        let Some(function) = facts.function(&call.function) else {
            continue;
        };
        for (i, length) in lengths.iter().enumerate() {
            let (Some(l), Some(param)) = (length, function.params.get(i)) else {
                continue;
            };
            let constant = facts.api.pointee(&param.ty).is_some_and(|to| to.constant);
            let bytes = call
                .args
                .get(i)
                .map(trace::Value::bytes)
                .unwrap_or_default();
            let by_value = !matches!(
                facts.api.resolve(&function.params[*l].ty).kind,
                Kind::Pointer(_)
            );
            let wanted = call
                .args
                .get(*l)
                .map(trace::Value::bits)
                .unwrap_or_default();
            if let (true, true, Some(bytes)) = (constant, by_value, bytes.get(..wanted as usize))
                && !bytes.is_empty()
            {
                let one = (call.function.clone(), bytes.to_vec());
                if !all.contains(&one) && all.len() < SEEDS * 8 {
                    all.push(one);
                }
            }
        }
    }
    all
}

/// Whether a harness takes only the data of this function, so that recorded data can be used as its
/// inputs directly.
pub(super) fn takes_data_alone(harness: &Path, function: &str) -> bool {
    let Ok(text) = std::fs::read_to_string(harness) else {
        return false;
    };
    let calls = |word: &str| text.matches(&format!("{word}(")).count();
    let choices = text.matches("crunner_get_").count()
        + calls("crunner_range")
        + calls("crunner_size")
        + calls("crunner_new_string");
    let rests = calls("crunner_get_rest") + calls("crunner_get_elements");
    let whole =
        choices == 1 && rests == 1 || text.contains("LLVMFuzzerTestOneInput") && choices == 0;
    whole && calls(function) > 0
}
