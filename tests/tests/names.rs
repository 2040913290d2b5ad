//! Messages about C code use the names of the code: no name that a compiler invented, and no number
//! that C does not mean.
//!
//! The tested property: in every printed expression, each identifier occurs in the source, and
//! negative indices are printed as negative numbers.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cegar_tests::{Project, Tool, exit, program};
use serde_json::Value;

/// Words of the reports themselves: kinds of checks, and notations of facts for which C has no
/// operator.
const WORDS: &[&str] = &[
    "unreachable",
    "missing",
    "return",
    "shift",
    "trap",
    "abort",
    "alive",
    "size",
    "object",
    "end",
    "offset",
    "bits",
    "join",
    "overflow",
    "of",
    "unsigned",
    "u",
    "input",
    "NULL",
    "free",
];

/// The words of a text, except numbers, texts between `<` and `>` or in quotes, and `@LINE`.
fn identifiers(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skip = |close: char| {
            let inner = &rest[first.len_utf8()..];
            inner.find(close).map(|at| &inner[at + close.len_utf8()..])
        };
        if first == '<' && rest[1..].starts_with(|c: char| c.is_ascii_alphabetic()) {
            // `<value of line 7>`
            if let Some(after) = skip('>') {
                rest = after;
                continue;
            }
        }
        if (first == '"' || first == '\'') && skip(first).is_some() {
            rest = skip(first).unwrap_or_default();
            continue;
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let length = match rest.find(|c| !is_word(c)) {
            Some(0) => first.len_utf8(),
            Some(end) => end,
            None => rest.len(),
        };
        let word = &rest[..length];
        if is_word(first) && !first.is_ascii_digit() {
            words.push(word.to_owned());
        }
        rest = &rest[length..];
    }
    words
}

/// Adds an error for each word that the source does not contain, and for each number that only a
/// compiler writes.
fn check(expression: &str, source: &BTreeSet<String>, errors: &mut Vec<String>) {
    for word in identifiers(expression) {
        if !source.contains(&word) && !WORDS.contains(&word.as_str()) {
            errors.push(format!("`{word}` in `{expression}`"));
        }
    }
    let numbers = expression.split(|c: char| !c.is_ascii_digit());
    if numbers
        .filter_map(|n| n.parse::<u128>().ok())
        .any(|n| n > 1 << 63)
    {
        errors.push(format!("a number in `{expression}`"));
    }
    for ugly in ["...]", "!DI", ".addr"] {
        if expression.contains(ugly) {
            errors.push(format!("`{ugly}` in `{expression}`"));
        }
    }
    // A remainder is written with blanks around its sign; a register of LLVM is not.
    let mut behind = expression.split('%').skip(1);
    if behind.any(|text| text.starts_with(|c: char| c.is_ascii_alphanumeric())) {
        errors.push(format!("a register in `{expression}`"));
    }
}

/// All expressions in a campaign's results for a program, and in the explanations of proved goals.
fn expressions(project: &Project, name: &str, budget: &str, explained: usize) -> Vec<String> {
    let words = format!(
        "check {name} --engine-only {budget} --no-emit --property all --certificate left \
         --message-format json"
    );
    let run = Tool::new(project.path(), words.split(' ')).run();
    assert!(
        [exit::CLEAN, exit::VIOLATION, exit::INCOMPLETE].contains(&run.code.unwrap_or(-1)),
        "{run}"
    );
    let kept: Value = serde_json::from_str(&project.read("left/goals.json"))
        .unwrap_or_else(|error| panic!("{error}"));
    let mut told = BTreeSet::new();
    let mut proved = Vec::new();
    for goal in kept["goals"].as_array().into_iter().flatten() {
        told.extend(goal["expression"].as_str().map(str::to_owned));
        if goal["status"].to_string().contains("proved") {
            proved.push(goal["id"].as_u64().unwrap_or_default());
        }
    }
    for finding in kept["findings"].as_array().into_iter().flatten() {
        let message = finding[1]["message"].as_str().unwrap_or_default();
        // In ``write of 4 bytes at offset 8 of `x` (...)`` the quoted parts are C.
        told.extend(message.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    for goal in proved.into_iter().take(explained) {
        let goal = goal.to_string();
        let words = [
            "explain",
            &goal,
            "--from",
            "left",
            "--message-format",
            "json",
        ];
        let run = Tool::new(project.path(), words).run();
        for message in run.messages() {
            for invariant in message["loops"].as_array().into_iter().flatten() {
                let facts = invariant["facts"].as_array().into_iter().flatten();
                told.extend(facts.filter_map(|fact| fact.as_str().map(str::to_owned)));
            }
        }
    }
    told.into_iter().collect()
}

fn words_of(source: &str) -> BTreeSet<String> {
    let parts = source.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
    parts.map(str::to_owned).collect()
}

#[test]
fn every_name_is_in_the_source() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut errors = Vec::new();
    let mut count = 0;
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{error}"));
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // The functions of <immintrin.h>, and their names, are in the compiler's headers.
        if !name.ends_with(".c") || ["names.c", "simd.c"].contains(&&*name) {
            continue;
        }
        let project = Project::program(&name);
        let source = words_of(&program(&name));
        for expression in expressions(&project, &name, "--max-time 3s", 1) {
            count += 1;
            check(&expression, &source, &mut errors);
        }
    }
    assert!(count > 100, "{count} expressions");
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn names_that_look_like_a_compilers() {
    let project = Project::program("names.c");
    let source = words_of(&program("names.c"));
    let told = expressions(&project, "names.c", "--max-time 5s", 0);
    let mut errors = Vec::new();
    for expression in &told {
        check(expression, &source, &mut errors);
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    for expected in [
        "list->keys[i]",
        "x[i - 1]",
        "p[-1]",
        "p1[-2]",
        "v->u.low",
        "v->p113->keys1",
        "op->inner.second",
        "op->outer->first",
        "op->outer[1].second",
        "v->p113->keys2[-1]",
        "op->next->next->keys3",
        "grid[i][j]",
        "data[i1]",
        "data[last - 1]",
    ] {
        assert!(
            told.iter().any(|told| told == expected),
            "no `{expected}` in\n{}",
            told.join("\n")
        );
    }
}

/// The facts of a proof use the names of the source, even if several variables of the same name are
/// alive.
#[test]
fn facts_are_about_the_sources_variables() {
    let c = "#include <assert.h>\nstruct pair3 { int keys; int keys1; };\nint main(void)\n{\n    \
        struct pair3 s = {0, 0}, *p113 = &s;\n    int i1 = 0;\n    for (int i = 0; i < 8; i++) { \
        int i1 = 2; p113->keys1 += i1; }\n    for (int i = 0; i < 6; i++) i1--;\n    \
        assert(s.keys1 == 16);\n    assert(i1 == -6);\n    return 0;\n}\n";
    let project = Project::empty();
    project.write("facts.c", c);
    let told = expressions(&project, "facts.c", "--runs 1", 99);
    let mut errors = Vec::new();
    for expression in &told {
        check(expression, &words_of(c), &mut errors);
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    assert!(told.iter().any(|fact| fact == "s.keys1 == 16"), "{told:?}");
}
