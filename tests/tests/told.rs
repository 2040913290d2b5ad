//! What commands and reports tell about harnesses that were not executed, and about files that have
//! changed since.

use std::fs;
use std::time::{Duration, Instant};

use cegar_tests::{Ended, Project, Tool, children, exit};
use nix::sys::signal::Signal;
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(120);

fn tool(project: &Project, words: &str) -> Ended {
    started(project, words).run()
}

fn started(project: &Project, words: &str) -> Tool {
    Tool::new(project.path(), words.split(' ')).limit(LIMIT)
}

fn json(project: &Project, file: &str) -> Value {
    serde_json::from_str(&project.read(file)).unwrap_or_else(|why| panic!("{file}: {why}"))
}

/// A package with two harnesses for `demo`.
fn package_with_two_harnesses(code: &str) -> Project {
    let project = Project::package(code);
    let harness = project.read("cegar/harnesses/demo.c");
    project.write("cegar/harnesses/later.c", &harness);
    let config = project.read("cegar/cegar.toml");
    project.write("cegar/cegar.toml", &format!("{config}[harness.later]\n"));
    project
}

const LONG: &str = "int demo(const unsigned char *data, size_t size)\n{\n    \
    return size && data[0] == 'x';\n}\n";

/// A cancelled build does not report a successful analysis, and its reports name the harnesses that
/// it did not reach.
#[test]
fn an_interrupted_build_names_what_it_did_not_reach() {
    let project = package_with_two_harnesses(LONG);
    let words = "ci --runs 1000000000000 --fuzz-only --sarif a.sarif --junit a.xml --json a.json \
        --summary a.md";
    let mut running = started(&project, words).start();
    let id = running.id();
    let fuzzing = || {
        let campaign = children(id, "__campaign").pop()?;
        (!children(campaign, "__worker").is_empty()).then_some(())
    };
    running
        .until(fuzzing)
        .unwrap_or_else(|| panic!("no campaign"));
    running.signal(Signal::SIGINT);
    running.wait().expect(exit::INTERRUPTED);

    let sarif = json(&project, "a.sarif");
    let invocation = &sarif["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false, "{sarif}");
    assert!(
        invocation.to_string().contains("later: never executed"),
        "{sarif}"
    );
    let report = json(&project, "a.json");
    assert_eq!(report["interrupted"], true);
    assert_eq!(
        report["harnesses"].as_array().map(Vec::len),
        Some(2),
        "{report}"
    );
    let xml = project.read("a.xml");
    assert!(xml.contains("<testsuite name=\"later\""), "{xml}");
    let page = project.read("a.md");
    assert!(page.contains("cargo cegar: interrupted"), "{page}");
    assert!(page.contains("| later |"), "{page}");
}

/// A build keeps its budget even if another campaign uses the same harness.
#[test]
fn a_build_does_not_wait_longer_than_its_budget() {
    let project = package_with_two_harnesses(LONG);
    let mut first = started(&project, "run demo --runs 1000000000000 --fuzz-only").start();
    let id = first.id();
    let fuzzing = || (!children(id, "__worker").is_empty()).then_some(());
    first
        .until(fuzzing)
        .unwrap_or_else(|| panic!("no campaign"));
    let begin = Instant::now();
    let second = tool(&project, "ci demo --max-time 2s");
    second
        .expect(exit::INCOMPLETE)
        .expect_message("still works on harness `demo`");
    assert!(begin.elapsed() < Duration::from_secs(30), "{second}");
    first.signal(Signal::SIGINT);
    first.wait();
}

/// A hang, to which no check belongs, is in the reports nevertheless, and its input is among the
/// artifacts.
#[test]
fn a_run_that_does_not_end_is_in_the_reports() {
    let project = Project::package(
        "int demo(const unsigned char *data, size_t size)\n{\n    size_t at = 0;\n    \
         while (at < size) at += data[at];\n    return (int)at;\n}\n",
    );
    let words = "ci --max-time 20s --sarif a.sarif --junit a.xml --json a.json --summary a.md \
        --artifacts kept";
    let ended = tool(&project, words);
    ended.expect_message("takes longer than 1s");
    for file in ["a.sarif", "a.xml", "a.json", "a.md"] {
        let text = project.read(file);
        assert!(
            text.contains("hang") || text.contains("takes longer"),
            "{file}: {text}"
        );
    }
    let hang = json(&project, "a.json")["hangs"][0]["input"].clone();
    let input = hang.as_str().unwrap_or_default();
    assert!(input.contains("kept/inputs/demo/hang-"), "{input}");
    assert!(
        fs::read(input).is_ok_and(|tape| !tape.is_empty()),
        "{input}"
    );
}

/// Commands that report on an earlier campaign warn if the C code has changed since.
#[test]
fn answers_about_files_that_have_changed_say_so() {
    let project = Project::package(LONG);
    tool(&project, "run --max-time 20s").expect(exit::CLEAN);
    let changed = "c/demo.c has changed since the last campaign";
    for words in ["list", "coverage", "explain c/demo.c:4"] {
        let ended = tool(&project, words);
        let text = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!text.contains("has changed"), "{words}: {text}");
    }
    let code = project.read("c/demo.c");
    project.write("c/demo.c", &format!("/* more */\n{code}"));
    for words in ["list", "coverage", "explain c/demo.c:4"] {
        let ended = tool(&project, words);
        let text = format!("{}{}", ended.stdout, ended.stderr);
        assert!(text.contains(changed), "{words}: {text}");
    }
}

/// If a report cannot be written, the error is reported before the campaign.
#[test]
fn a_report_needs_its_folder() {
    let project = Project::package(LONG);
    for words in [
        "ci --sarif nowhere/a.sarif",
        "run --junit nowhere/a.xml",
        "ci --json nowhere/a.json",
    ] {
        tool(&project, words)
            .expect(exit::IO)
            .expect_message("nowhere/a.")
            .expect_message("make the folder");
    }
}

/// Two simultaneous checks in one folder: each writes its test to a package of its own.
#[test]
fn checks_beside_each_other_keep_their_tests() {
    let project = Project::two_programs();
    let start = |name: &str| started(&project, &format!("check {name}.c --max-time 60s")).start();
    let (one, two) = (start("one"), start("two"));
    one.wait().expect(exit::VIOLATION);
    two.wait().expect(exit::VIOLATION);
    let mut programs = Vec::new();
    for entry in fs::read_dir(project.path()).into_iter().flatten().flatten() {
        let captured = entry.path().join("captured.json");
        if let Ok(captured) = fs::read_to_string(captured) {
            let names = ["one", "two"];
            let of = |name: &&str| captured.contains(&format!("/{name}.c\""));
            programs.extend(names.into_iter().filter(of));
        }
    }
    programs.sort_unstable();
    assert_eq!(programs, ["one", "two"]);
}

/// Programs with arguments can be proved like programs with other inputs; unused arguments are no
/// input at all.
#[test]
fn programs_with_arguments_are_proved() {
    let project = Project::empty();
    project.write(
        "plain.c",
        "int main(int argc, char **argv)\n{\n    (void)argv;\n    return 0;\n}\n",
    );
    project.write(
        "options.c",
        "int main(int argc, char **argv)\n{\n    int n = 0;\n    for (int i = 1; i < argc; \
         i++)\n        n += argv[i][0] == '-';\n    return argc > 1 && argv[1][0] ? argv[1][1] : \
         n;\n}\n",
    );
    for name in ["plain", "options"] {
        let words =
            format!("check {name}.c --property memory --max-time 60s --message-format json");
        let ended = tool(&project, &words);
        ended.expect(exit::CLEAN);
        assert_eq!(ended.finished()["verdict"], "proved", "{ended}");
    }
}

/// Objects with a release function of their own are not heap blocks of the program.
#[test]
fn streams_and_folders_are_not_freed() {
    let project = Project::empty();
    for (name, open) in [
        ("stream", "fopen(\"a\", \"r\")"),
        ("folder", "opendir(\"a\")"),
    ] {
        project.write(
            &format!("{name}.c"),
            &format!(
                "#include <dirent.h>\n#include <stdio.h>\n#include <stdlib.h>\nint main(void)\n\
                 {{\n    void *it = {open};\n    free(it);\n    return 0;\n}}\n"
            ),
        );
        let words = format!("check {name}.c --property memory --max-time 60s");
        tool(&project, &words).expect(exit::VIOLATION);
    }
}

/// A strategy that ends before the runner is built still reports its findings.
#[test]
fn strategies_wait_for_the_runner() {
    let project = Project::empty();
    project.write(
        "a.c",
        "#include <assert.h>\nint main(void)\n{\n    assert(0);\n    return 0;\n}\n",
    );
    for strategy in ["dart", "synergy", "slam"] {
        let words = format!("check a.c --no-emit --max-time 30s --strategy {strategy}");
        tool(&project, &words).expect(exit::VIOLATION);
    }
}

/// A test whose harness was removed reports no fault, but is not silently skipped.
#[test]
fn a_test_without_its_harness_is_not_run() {
    let project = package_with_two_harnesses(LONG);
    let own = "#[test]\nfn mine() { cegar_harness::Mock::new(\"gone\").run().expect_safe(); }\n";
    project.write("cegar/tests/gone.rs", own);
    let ended = tool(&project, "ci --max-time 240s --runs 500");
    ended
        .expect(exit::INCOMPLETE)
        .expect_message("harness `gone` is not built");
}

/// A harness that violates a precondition which no list contains does not pass a build.
#[test]
fn a_condition_in_no_list_is_not_clean() {
    let header = "#include <stddef.h>\nint at(const unsigned char *d, unsigned n, unsigned k);\n";
    let source = |guard: &str| {
        format!(
            "#include \"pic.h\"\nint at(const unsigned char *d, unsigned n, unsigned k)\n{{\n    \
             {guard}\n    return d[k];\n}}\n"
        )
    };
    let project = Project::wrapping("pic", header, &source("if (k >= n) return -1;"));
    tool(&project, "init --try 2s").expect(exit::CLEAN);
    tool(&project, "ci --max-time 20s").expect(exit::CLEAN);
    // The guard is removed, which the harness did not violate before.
    project.write("c/pic.c", &source(""));
    let words = "ci --max-time 20s --json a.json --summary a.md --sarif a.sarif";
    let ended = tool(&project, words);
    assert_ne!(ended.code, Some(exit::CLEAN), "{ended}");
    for file in ["a.json", "a.md", "a.sarif"] {
        assert!(project.read(file).contains("pic.c"), "{file}");
    }
}
