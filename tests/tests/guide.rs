//! The guide is correct: its commands and options exist, and its links lead somewhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cegar_tests::{Project, Tool};

fn guide() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide/src")
}

/// The chapters, by file name.
fn chapters() -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(guide()).into_iter().flatten().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        all.insert(entry.file_name().to_string_lossy().into_owned(), text);
    }
    all
}

#[test]
fn commands_and_options_exist() {
    let folder = Project::empty();
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let mut texts = chapters();
    texts.insert(
        "README of the project".to_owned(),
        fs::read_to_string(readme).unwrap_or_default(),
    );
    let mut helps: BTreeMap<String, String> = BTreeMap::new();
    let mut seen = 0;
    for (chapter, text) in &texts {
        for line in text.lines() {
            let Some((_, words)) = line.split_once("$ cargo cegar ") else {
                continue;
            };
            let words = words.split(['#', '|', ';', '&']).next().unwrap_or_default();
            let mut words = words.split_whitespace();
            let command = words.next().unwrap_or_default();
            let help = helps.entry(command.to_owned()).or_insert_with(|| {
                let ended = Tool::new(folder.path(), [command, "--help"]).run();
                ended.expect(0);
                ended.stdout.clone()
            });
            for option in words.filter(|word| word.starts_with("--")) {
                seen += 1;
                let option = option.split('=').next().unwrap_or_default();
                let known = help
                    .split(|c: char| !(c.is_alphanumeric() || c == '-'))
                    .any(|word| word == option);
                assert!(known, "{chapter}: {line}\n{help}");
            }
        }
    }
    assert!(helps.len() > 8 && seen > 15, "{} {seen}", helps.len());
}

#[test]
fn every_chapter_is_in_the_book_and_every_link_leads_somewhere() {
    let all = chapters();
    let summary = &all["SUMMARY.md"];
    for (name, text) in &all {
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("({name})")),
            "{name}"
        );
        for piece in text.split("](").skip(1) {
            let link = piece.split([')', '#']).next().unwrap_or_default();
            assert!(
                link.is_empty() || link.starts_with("https://") || all.contains_key(link),
                "{name}: {link}"
            );
        }
    }
}

/// The guide lists all exit codes of the program.
#[test]
fn the_exit_codes_are_complete() {
    let text = &chapters()["reference.md"];
    for (code, meaning) in cargo_cegar::ExitCode::TABLE {
        let row = format!("\n| {} | ", code.code());
        assert!(text.contains(&row), "{}: {meaning}", code.code());
    }
}
