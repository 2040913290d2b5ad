//! Tests of the current behaviour of the C code.
//!
//! The corpus of a campaign enters every block that is known to be entered. The few inputs that
//! suffice for this are worth more than the campaign that found them: each becomes a test whose
//! snapshot contains what the program printed, called and returned, so that a change of the C code
//! that changes its behaviour shows in a diff. The tests are written to a file of their own,
//! `tests/HARNESS_behaviour.rs`, and the snapshots to `snapshots/` in insta's format. Both belong
//! to the user, like all tests, and an existing snapshot is not rewritten: changes are accepted
//! with insta.

use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, Table, value};

use super::package::{Emitted, add, write};
use super::{EmitError, Finding, decode, source};

/// The version of insta on which generated packages depend.
const INSTA: &str = "1.40";

/// Adds the test of one input; `finding` contains its name and choices.
///
/// # Errors
/// When a file cannot be read or written.
pub fn add_behaviour(folder: &Path, finding: &Finding) -> Result<Emitted, EmitError> {
    add(
        folder,
        &stem(&finding.harness),
        &heading(&finding.harness),
        &test(finding),
        finding,
    )
}

/// The name of the test file, without its extension.
pub fn stem(harness: &str) -> String {
    format!("{harness}_behaviour")
}

fn heading(harness: &str) -> String {
    format!(
        "//! What `{harness}` does: the fewest inputs that enter all of its code that `cargo \
         cegar` has seen entered.\n\
         //! `INSTA_UPDATE=always cargo test` accepts a change, as does cargo-insta.\n\n\
         use cegar_harness::*;\n\n/// Compares what a run did with `snapshots/NAME.snap`.\n\
         #[track_caller]\nfn same(name: &str, run: &Run) {{\n\x20   let mut settings = \
         insta::Settings::clone_current();\n\x20   \
         settings.set_snapshot_path(\"../snapshots\");\n\x20   \
         settings.set_prepend_module_to_snapshot(false);\n\x20   \
         settings.set_omit_expression(true);\n\x20   settings.bind(|| \
         insta::assert_snapshot!(name, run.behaviour()));\n}}\n"
    )
}

fn test(finding: &Finding) -> String {
    let mut lines = vec!["#[test]".to_owned(), format!("fn {}() {{", finding.test)];
    let mut calls = vec![format!("Mock::new({:?})", finding.harness)];
    calls.extend(decode::calls(finding));
    calls.push("run()".to_owned());
    lines.extend(source::statement("let run = ", &calls));
    lines.push(format!(
        "    same(\"{}_{}\", &run);",
        finding.harness, finding.test
    ));
    lines.push("}".to_owned());
    lines.join("\n")
}

/// The file of a test's snapshot.
pub fn snapshot(folder: &Path, harness: &str, test: &str) -> PathBuf {
    folder.join(format!("snapshots/{harness}_{test}.snap"))
}

/// The content of a snapshot file, if it exists.
pub fn kept(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let (_, content) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
    Some(content.trim_end_matches('\n').to_owned())
}

/// Writes a snapshot unless it exists. Returns whether it was written.
///
/// # Errors
/// When the file cannot be written.
pub fn add_snapshot(
    folder: &Path,
    harness: &str,
    test: &str,
    text: &str,
) -> Result<bool, EmitError> {
    let path = snapshot(folder, harness, test);
    if path.exists() {
        return Ok(false);
    }
    let source = format!("tests/{}.rs", stem(harness));
    write(&path, &format!("---\nsource: {source}\n---\n{text}\n"))?;
    Ok(true)
}

/// Makes insta a dependency of the package's tests unless it is one already. Returns whether the
/// manifest was changed.
///
/// # Errors
/// When the manifest cannot be read, understood or written.
pub fn add_insta(folder: &Path) -> Result<bool, EmitError> {
    let path = folder.join("Cargo.toml");
    let io = |why| EmitError::Io {
        path: path.clone(),
        why,
    };
    let text = std::fs::read_to_string(&path).map_err(io)?;
    let mut manifest: DocumentMut = text
        .parse()
        .map_err(|why: toml_edit::TomlError| io(std::io::Error::other(why.to_string())))?;
    let dependencies = manifest
        .entry("dev-dependencies")
        .or_insert_with(|| Item::Table(Table::new()));
    let Some(dependencies) = dependencies.as_table_like_mut() else {
        return Err(io(std::io::Error::other("`dev-dependencies` is no table")));
    };
    if dependencies.contains_key("insta") {
        return Ok(false);
    }
    dependencies.insert("insta", value(INSTA));
    write(&path, &manifest.to_string())?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_and_its_snapshot() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        std::fs::write(
            folder.path().join("Cargo.toml"),
            "[package]\nname = \"x\"\n\n# mine\n[dev-dependencies]\ncegar-harness = \"0.1\"\n",
        )?;
        assert!(add_insta(folder.path())?);
        assert!(!add_insta(folder.path())?);
        let manifest = std::fs::read_to_string(folder.path().join("Cargo.toml"))?;
        assert!(manifest.contains("# mine\n") && manifest.contains("insta = \"1.40\"\n"));
        let finding = Finding {
            harness: "demo".to_owned(),
            test: "input_1f2e".to_owned(),
            what: String::new(),
            file: String::new(),
            line: 0,
            found_by: String::new(),
            explanation: String::new(),
            events: vec![("data".to_owned(), b"go".to_vec())],
            mocked: Vec::new(),
        };
        assert_eq!(add_behaviour(folder.path(), &finding)?, Emitted::Written);
        assert_eq!(
            add_behaviour(folder.path(), &finding)?,
            Emitted::AlreadyThere
        );
        let text = std::fs::read_to_string(folder.path().join("tests/demo_behaviour.rs"))?;
        assert!(text.ends_with(
            "\n#[test]\nfn input_1f2e() {\n    let run = \
             Mock::new(\"demo\").data(b\"go\").run();\n    same(\"demo_input_1f2e\", &run);\n}\n"
        ));
        assert!(add_snapshot(
            folder.path(),
            "demo",
            "input_1f2e",
            "returned"
        )?);
        assert!(!add_snapshot(folder.path(), "demo", "input_1f2e", "else")?);
        let path = snapshot(folder.path(), "demo", "input_1f2e");
        assert_eq!(kept(&path).as_deref(), Some("returned"));
        Ok(())
    }
}
