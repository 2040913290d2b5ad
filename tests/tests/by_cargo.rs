//! Committed tests that a person wrote: whatever their layout, they are found through cargo's list,
//! and no test that fails under `cargo test` is reported as passing.

use std::fs;
use std::path::Path;

use cegar_tests::{Ended, Project, Tool, cargo_test, exit, shared_target};

/// A function with a bug on inputs that start with `A`; `DEMO_MENDED` removes it.
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

/// Tests in every layout. Tests with `wrong` in their name fail, and print the output of passing
/// tests.
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

/// A package whose builds share the common dependencies of all generated packages.
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
    // Variables that a developer may have set.
    Tool::new(project.path(), words)
        .env("RUST_TEST_NOCAPTURE", "1")
        .env("RUST_TEST_THREADS", "1")
        .run()
}

/// The names of the tests that are reported as failing.
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
    // After the correction, all tests pass.
    let mended = TESTS.replace("    panic!(\"on purpose\");\n", "");
    project.write(
        "cegar/tests/demo.rs",
        &mended.replace("#[should_panic]\n", ""),
    );
    fs::remove_dir_all(project.at("cegar/tests/folder")).unwrap_or_else(|why| panic!("{why}"));
    run(&project).expect(exit::CLEAN);
}

/// A test that is appended to a person's file compiles and does not change the other tests.
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
        .expect_message("Wrote cegar/tests/demo.rs");
    let ended = cargo_test(&project.at("cegar"), &[]);
    let said = ended.to_string();
    assert!(said.contains("test mine ... ok"), "{ended}");
    assert!(said.contains("1 passed; 1 failed"), "{ended}");
}
