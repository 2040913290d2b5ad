//! Committed tests that a person wrote: whatever their layout, cargo's list says which there are,
//! and none of them is green that `cargo test` shows to fail.

use std::fs;
use std::path::Path;

use cegar_tests::{Ended, Project, Tool, cargo_test, exit, shared_target};

/// A bug behind the first byte `A`; none with `DEMO_MENDED`.
const DEMO: &str = "\
int demo(const unsigned char *data, unsigned long size)
{
    char small[4];
    small[0] = 0;
#ifndef DEMO_MENDED
    if (size > 1 && data[0] == 'A')
        small[data[1] & 7] = 1;
#endif
    return small[0];
}
";

/// Tests of every layout. Those named `wrong` fail, and print what a passing test prints.
const TESTS: &str = r#"
fn fails() {
    println!("test wrong_on_one_line ... ok");
    println!("test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
    panic!("on purpose");
}
#[test] fn wrong_on_one_line() { fails() }
#[test]
#[should_panic]
pub fn right_by_panicking() { fails() }
mod inner {
    #[test]
    fn wrong_in_a_module() { super::fails() }
}
macro_rules! made { ($name:ident) => { #[test] fn $name() { fails() } } }
made!(wrong_by_a_macro);
#[test]
fn right_and_talkative() { println!("hello"); }
#[test]
#[cfg(feature = "none")]
fn for_another_configuration() {}
"#;

/// A package whose builds share what all generated packages have in common.
fn package(mended: bool) -> Project {
    let project = Project::package(DEMO);
    if mended {
        let text = project.read("c/demo.c");
        project.write("c/demo.c", &format!("#define DEMO_MENDED\n{text}"));
    }
    fs::create_dir_all(project.at("target")).unwrap_or_else(|why| panic!("{why}"));
    let shared = shared_target().join("debug");
    fs::create_dir_all(&shared).unwrap_or_else(|why| panic!("{why}"));
    std::os::unix::fs::symlink(&shared, project.at("target/debug"))
        .unwrap_or_else(|why| panic!("{why}"));
    project
}

fn run(project: &Project) -> Ended {
    let words = [
        "run",
        "--fuzz-only",
        "--runs",
        "1",
        "--message-format",
        "json",
    ];
    // As a developer may have set them.
    Tool::new(project.path(), words)
        .env("RUST_TEST_NOCAPTURE", "1")
        .env("RUST_TEST_THREADS", "1")
        .run()
}

/// The names of what is said to fail.
fn failing(ended: &Ended) -> Vec<String> {
    let found = ended
        .messages()
        .into_iter()
        .filter(|m| m["reason"] == "found");
    let mut names: Vec<String> = found
        .filter_map(|m| Some(m["name"].as_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

#[test]
fn tests_of_every_layout_are_run() {
    let project = package(true);
    project.write("cegar/tests/demo.rs", TESTS);
    fs::create_dir_all(project.at("cegar/tests/folder")).unwrap_or_else(|why| panic!("{why}"));
    project.write(
        "cegar/tests/folder/main.rs",
        "#[test]\nfn wrong_in_a_folder() { std::process::abort() }\n#[test]\n\
         fn right_beside_it() {}\n",
    );
    let ended = run(&project);
    ended.expect(exit::VIOLATION);
    let wrong = [
        "inner::wrong_in_a_module",
        "wrong_by_a_macro",
        "wrong_in_a_folder",
        "wrong_on_one_line",
    ];
    assert_eq!(failing(&ended), wrong, "{ended}");
    assert!(!Path::new(&project.at("cegar/Cargo.lock")).exists());
    // Mended, all of them pass.
    let mended = TESTS.replace("    panic!(\"on purpose\");\n", "");
    project.write(
        "cegar/tests/demo.rs",
        &mended.replace("#[should_panic]\n", ""),
    );
    fs::remove_dir_all(project.at("cegar/tests/folder")).unwrap_or_else(|why| panic!("{why}"));
    run(&project).expect(exit::CLEAN);
}

/// A test that is put at the end of a person's file has what it needs, and takes nothing away.
#[test]
fn a_persons_file_takes_a_test() {
    let project = package(false);
    project.write(
        "cegar/tests/demo.rs",
        "#[test]\nfn mine() { assert_eq!(1 + 1, 2); }\n",
    );
    project.write("cegar/corpus/demo/found", "A\x07");
    let words = ["run", "--fuzz-only", "--runs", "1"];
    Tool::new(project.path(), words)
        .run()
        .expect(exit::VIOLATION)
        .says("Wrote cegar/tests/demo.rs");
    let ended = cargo_test(&project.at("cegar"), &[]);
    let said = ended.to_string();
    assert!(said.contains("test mine ... ok"), "{ended}");
    assert!(said.contains("1 passed; 1 failed"), "{ended}");
}
