//! Findings of earlier runs are expected to be fixed: bugs that return, that remain, that hide
//! behind others, and findings that a killed run must not lose.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use cegar_tests::{Ended, Project, Tool, exit, shared_target, test_name};
use nix::sys::signal::Signal;
use serde_json::Value;

/// Two bugs: `copy` copies one byte too many unless `COPY_MENDED` is defined, and `demo` writes
/// past its block unless `DEMO_MENDED` is.
const TWO: &str = "\
#include <stdlib.h>
#include <string.h>

static int copy(char *to, const unsigned char *from, size_t n)
{
#ifdef COPY_MENDED
    if (n > 8) n = 8;
#else
    if (n > 9) n = 9;
#endif
    memcpy(to, from, n);
    return (int)n;
}

int demo(const unsigned char *data, size_t size)
{
    char *small = malloc(8);
    int used = 0;
    if (!small)
        return 0;
    if (size > 2 && data[0] == 'g' && data[1] == 'o')
        used = copy(small, data, size);
#ifndef DEMO_MENDED
    if (size > 3 && data[0] == 'x' && data[3] == 'y')
        small[size] = 1;
#endif
    free(small);
    return used;
}
";

fn run(project: &Project, words: &str) -> Ended {
    let words = ["run"].into_iter().chain(words.split_whitespace());
    Tool::new(project.path(), words).run()
}

/// A campaign that is too short to find anything new: it reports only what is known.
fn glance(project: &Project, command: &str) -> Ended {
    let words = "--fuzz-only --runs 1 --message-format json";
    let words = [command].into_iter().chain(words.split(' '));
    Tool::new(project.path(), words)
        .without("GITHUB_STEP_SUMMARY")
        .run()
}

/// The reported findings, each with its standing.
fn told(ended: &Ended) -> Vec<(String, String)> {
    let messages = ended.messages();
    let found = messages.iter().filter(|m| m["reason"] == "found");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    found
        .map(|m| (text(&m["name"]), text(&m["standing"])))
        .collect()
}

fn define(project: &Project, words: &[&str]) {
    let defines: String = words
        .iter()
        .map(|word| format!("#define {word} 1\n"))
        .collect();
    project.write("c/demo.c", &format!("{defines}#include \"demo.h\"\n{TWO}"));
}

#[test]
fn a_bug_that_is_put_back_fails_the_build() {
    let project = Project::package(TWO);
    let ended = run(&project, "--max-time 60s");
    ended.expect(exit::VIOLATION);
    let tests = project.read("cegar/tests/demo.rs");
    let copy = test_name(&tests, "copy_invalid_write");
    let demo = test_name(&tests, "demo_invalid_write");

    // The code is unchanged, so the report is the same, whatever the search finds.
    let again = glance(&project, "run");
    again.expect(exit::VIOLATION);
    let still = |name: &str| (name.to_owned(), "still-fails".to_owned());
    assert_eq!(told(&again), [still(&copy), still(&demo)], "{again}");
    assert_eq!(again.finished()["findings"], 2);
    assert_eq!(again.finished()["goals"]["checks"]["violated"], 2);
    assert_eq!(project.read("cegar/tests/demo.rs"), tests);

    // Without time to run anything, a test that failed in its last run is no finding, since the
    // code may have been fixed, but it does not count as passing either.
    for words in ["--max-time 0s", "--max-time 0s --jobs 2"] {
        let ended = run(&project, &format!("{words} --message-format json"));
        ended.expect(exit::INCOMPLETE);
        let why = "; it failed when it was run last";
        assert!(ended.stdout.contains(why), "{ended}");
        assert_eq!(told(&ended), [], "{ended}");
        assert_eq!(ended.finished()["not_replayed"], 2, "{ended}");
    }

    // Both bugs are fixed, then one at a time is put back, on a machine that has only the committed
    // files.
    define(&project, &["COPY_MENDED", "DEMO_MENDED"]);
    let mended = glance(&project, "run");
    mended.expect(exit::CLEAN);
    assert_eq!(told(&mended), []);
    for (mended, back) in [("DEMO_MENDED", &copy), ("COPY_MENDED", &demo)] {
        fs::remove_dir_all(project.at("target/cegar")).unwrap_or_else(|why| panic!("{why}"));
        define(&project, &[mended]);
        for command in ["ci", "run"] {
            let ended = glance(&project, command);
            ended.expect(exit::VIOLATION);
            let expected = [(back.clone(), "fails-again".to_owned())];
            assert_eq!(told(&ended), expected, "{ended}");
        }
        let reports = "ci --fuzz-only --runs 1 --json a.json --sarif a.sarif --junit a.xml";
        Tool::new(project.path(), reports.split(' '))
            .without("GITHUB_STEP_SUMMARY")
            .run()
            .expect(exit::VIOLATION)
            .expect_message("1 regression, 0 new, 0 known");
        let read =
            |file: &str| serde_json::from_str::<Value>(&project.read(file)).unwrap_or_default();
        assert_eq!(read("a.json")["regressions"], 1);
        assert_eq!(read("a.json")["findings"][0]["class"], "regression");
        let result = &read("a.sarif")["runs"][0]["results"][0];
        assert_eq!(result["baselineState"], "new");
        assert_eq!(result["properties"]["standing"], "fails-again");
        let junit = project.read("a.xml");
        assert!(
            junit.contains("failures=\"1\"") && junit.contains("it fails again"),
            "{junit}"
        );
        let list = Tool::new(project.path(), ["list"]).run();
        assert!(
            list.stdout.contains(&format!("{back}  fails again")),
            "{list}"
        );
        assert!(list.stdout.contains("  passes"), "{list}");
        let explain = Tool::new(project.path(), ["explain", back]).run();
        explain.expect(exit::CLEAN);
        assert!(explain.stdout.contains("violated"), "{explain}");
        let mended = list.stdout.lines().find(|line| line.ends_with("  passes"));
        let mended = mended.and_then(|line| line.split_whitespace().next());
        let explain = Tool::new(project.path(), ["explain", mended.unwrap_or_default()]).run();
        explain.expect(exit::CLEAN);
        assert!(explain.stdout.contains("its test passes now"), "{explain}");
    }
}

/// No file depends on line numbers: code that moves adds no test and no record.
#[test]
fn a_moved_line_adds_nothing() {
    let project = Project::package(TWO);
    run(&project, "--max-time 60s").expect(exit::VIOLATION);
    let records = || {
        let entries = fs::read_dir(project.at("cegar/findings/demo"))
            .into_iter()
            .flatten()
            .flatten();
        entries
            .map(|entry| entry.file_name())
            .collect::<BTreeSet<_>>()
    };
    let (tests, before) = (project.read("cegar/tests/demo.rs"), records());
    assert_eq!(before.len(), 2);
    let moved = project
        .read("c/demo.c")
        .replace("    int used", "\n\n\n        int  used");
    project.write("c/demo.c", &format!("/* moved */\n\n{moved}"));
    let ended = run(&project, "--max-time 60s");
    ended.expect(exit::VIOLATION).expect_message("2 still fail");
    assert_eq!(project.read("cegar/tests/demo.rs"), tests);
    assert_eq!(records(), before);
}

/// A test that passes only because the harness no longer reaches the fault shows nothing.
#[test]
fn an_input_that_does_not_come_to_the_fault_is_told() {
    let project = Project::package(TWO);
    run(&project, "--max-time 60s").expect(exit::VIOLATION);
    let harness = project.read("cegar/harnesses/demo.c");
    let rarely = harness.replace("demo(data", "if (size > 1000)\n        demo(data");
    project.write("cegar/harnesses/demo.c", &rarely);
    run(&project, "--fuzz-only --runs 1")
        .expect_message("does not come to `copy` any more")
        .expect_message("does not come to `demo` any more");
    // It is reported only once: an input that passed before may stop anywhere.
    let ended = glance(&project, "run");
    assert!(!ended.stdout.contains("does not come to"), "{ended}");
}

/// The same statement occurs twice in a function, and each occurrence is a fault: accepting one
/// does not accept the other.
#[test]
fn a_second_fault_does_not_hide_behind_the_first() {
    const SOURCE: &str = "\
int demo(const unsigned char *data, size_t size)
{
    int count = 0;
    if (size > 2 && data[0] == 'a')
        count += data[size];
    if (size > 2 && data[0] == 'b')
        /* GUARD */
        count += data[size];
    return count;
}
";
    let project = Project::package(&SOURCE.replace("/* GUARD */", "if (size < 2)"));
    let ci = |words: &str| {
        let words = format!("ci --max-time 20s {words}");
        Tool::new(project.path(), words.split_whitespace())
            .without("GITHUB_STEP_SUMMARY")
            .run()
    };
    ci("").expect(exit::VIOLATION).expect_message("1 new");
    ci("--update-baseline").expect(exit::CLEAN);
    ci("").expect(exit::CLEAN).expect_message("0 new, 1 known");
    project.write("c/demo.c", &format!("#include \"demo.h\"\n{SOURCE}"));
    let ended = ci("");
    ended
        .expect(exit::VIOLATION)
        .expect_message("1 new, 1 known");
    // The first fault is fixed, so the second becomes the first occurrence of the statement.
    let mended = SOURCE.replacen("count += data[size];", "count += data[size - 1];", 1);
    project.write("c/demo.c", &format!("#include \"demo.h\"\n{mended}"));
    fs::remove_dir_all(project.at("target")).unwrap_or_else(|why| panic!("{why}"));
    ci("")
        .expect(exit::VIOLATION)
        .expect_message("1 new, 0 known");
}

#[test]
fn one_fault_that_two_harnesses_show_is_one_finding() {
    let project = Project::package(
        "int demo(const unsigned char *data, size_t size)\n{\n    return size > 1 && data[0] == \
         'q' ? data[size] : 0;\n}\n",
    );
    let harness = project.read("cegar/harnesses/demo.c");
    project.write("cegar/harnesses/other.c", &harness);
    let config = project.read("cegar/cegar.toml");
    project.write("cegar/cegar.toml", &format!("{config}[harness.other]\n"));
    for words in ["", "--jobs 2"] {
        let ended = run(
            &project,
            &format!("--max-time 60s --message-format json {words}"),
        );
        ended.expect(exit::VIOLATION);
        assert_eq!(told(&ended).len(), 1, "{ended}");
        assert_eq!(ended.finished()["findings"], 1, "{ended}");
        let messages = ended.messages();
        let again = messages.iter().filter(|m| m["reason"] == "found-again");
        assert_eq!(again.count(), 1, "{ended}");
    }
    // There are two tests, one for each harness, with the same name.
    let of = |harness: &str| project.read(&format!("cegar/tests/{harness}.rs"));
    assert_eq!(
        test_name(&of("demo"), "demo_invalid_read"),
        test_name(&of("other"), "demo_invalid_read")
    );
    let ended = Tool::new(
        project.path(),
        ["ci", "--fuzz-only", "--runs", "1", "--sarif", "a.sarif"],
    )
    .without("GITHUB_STEP_SUMMARY")
    .run();
    ended
        .expect(exit::VIOLATION)
        .expect_message("0 new, 1 failing as before");
    let sarif: Value = serde_json::from_str(&project.read("a.sarif")).unwrap_or_default();
    let results = &sarif["runs"][0]["results"];
    assert_eq!(results.as_array().map(Vec::len), Some(1), "{sarif}");
    let harnesses = &results[0]["properties"]["harnesses"];
    assert_eq!(harnesses.as_array().map(Vec::len), Some(2), "{sarif}");
}

/// Tests that a person wrote or changed are run by cargo; those that fail are findings.
#[test]
fn tests_by_hand_are_expected_to_pass() {
    let project = Project::package(TWO);
    define(&project, &["DEMO_MENDED"]);
    // The common dependencies of all generated packages are built once.
    fs::create_dir_all(project.at("target")).unwrap_or_else(|why| panic!("{why}"));
    let shared = shared_target().join("debug");
    fs::create_dir_all(&shared).unwrap_or_else(|why| panic!("{why}"));
    std::os::unix::fs::symlink(&shared, project.at("target/debug"))
        .unwrap_or_else(|why| panic!("{why}"));
    let test = |name: &str, data: &str| {
        format!(
            "#[test]\nfn {name}() {{\n    \
             Mock::new(\"demo\").data(b\"{data}\").run().expect_safe();\n}}\n\n"
        )
    };
    let tests = format!(
        "use cegar_harness::*;\n\n{}{}",
        test("short_copies_fit", "go"),
        test("nine_bytes_fit", "go3456789")
    );
    project.write("cegar/tests/demo.rs", &tests);
    let ended = glance(&project, "ci");
    ended.expect(exit::VIOLATION);
    let still = ("nine_bytes_fit".to_owned(), "still-fails".to_owned());
    assert_eq!(told(&ended), [still], "{ended}");
    let messages = ended.messages();
    let found = messages.iter().find(|m| m["reason"] == "found");
    let place = found.map(|m| m["place"].clone()).unwrap_or_default();
    assert_eq!(place["file"], "c/demo.c", "{ended}");
    // A test that does not compile is reported, and the run does not succeed.
    project.write(
        "cegar/tests/demo.rs",
        "#[test]\nfn broken() {\n    nothing();\n}\n",
    );
    let ended = Tool::new(project.path(), ["run", "--fuzz-only", "--runs", "1"]).run();
    ended
        .expect(exit::INCOMPLETE)
        .expect_message("cannot find function `nothing`");
    // After the fix, the run succeeds.
    define(&project, &["DEMO_MENDED", "COPY_MENDED"]);
    project.write("cegar/tests/demo.rs", &tests);
    glance(&project, "ci").expect(exit::CLEAN);

    // Tests that belong to no harness are run as well if all harnesses are run.
    project.write(
        "cegar/tests/extra.rs",
        "#[test]\nfn sums() {\n    assert_eq!(1, 2);\n}\n",
    );
    for command in ["ci", "run"] {
        let ended = glance(&project, command);
        ended.expect(exit::VIOLATION);
        assert_eq!(
            told(&ended),
            [("sums".to_owned(), "still-fails".to_owned())],
            "{ended}"
        );
    }
    let one = ["run", "demo", "--fuzz-only", "--runs", "1"];
    Tool::new(project.path(), one).run().expect(exit::CLEAN);
    // A finding whose harness was removed is not silently forgotten.
    fs::remove_file(project.at("cegar/tests/extra.rs")).unwrap_or_else(|why| panic!("{why}"));
    project.write("cegar/findings/gone/f_invalid_read_0a1b2c.json", RECORD);
    let ended = Tool::new(project.path(), ["run", "--fuzz-only", "--runs", "1"]).run();
    ended
        .expect(exit::INCOMPLETE)
        .expect_message("there is no harness `gone`");
}

/// The record of a finding of the harness `gone`.
const RECORD: &str = r#"{"format":1,"harness":"gone","name":"f_invalid_read_0a1b2c","identity":{"file":"c/a.c","function":"f",
"rule":"invalid-read","text":"a[i]=1;","column":0,"occurrence":0,"context":"00","caller":"g"},"kind":"read","message":"m","line":7,"column":2,
"found_by":"fuzzing","failing":true,"seen_passing":false,"choices":[{"channel":"stdin","bytes":"YQ=="}]}"#;

/// All files below a folder of the project.
fn files(project: &Project, folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(project.at(folder))
        .into_iter()
        .flatten()
        .flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| !name.starts_with('.')).collect()
}

/// A killed run loses neither the findings that it reported nor the inputs that it kept: the next
/// run has them.
#[test]
fn a_kill_at_any_moment_loses_nothing() {
    let project = Project::package(TWO);
    let (mut findings, mut corpus) = (BTreeSet::new(), BTreeSet::new());
    for turn in 0..10u64 {
        // Irregular moments, from the start of a run to some time after its last finding.
        let after = Duration::from_millis(150 + (turn * 7919) % 3600);
        let words = ["run", "--max-time", "60s", "--message-format", "json"];
        let running = Tool::new(project.path(), words).start();
        std::thread::sleep(after);
        running.signal(Signal::SIGKILL);
        let ended = running.wait();
        for line in ended.stdout.lines() {
            let Ok(message) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            if message["reason"] == "found" {
                findings.insert(message["name"].as_str().unwrap_or_default().to_owned());
            }
        }
        corpus.extend(files(&project, "cegar/corpus/demo"));
        corpus.extend(files(&project, "target/cegar/demo/queue"));
    }
    let last = glance(&project, "run");
    let known: BTreeSet<String> = told(&last).into_iter().map(|(name, _)| name).collect();
    assert!(findings.is_subset(&known), "{findings:?} {last}");
    let mut there = files(&project, "cegar/corpus/demo");
    there.extend(files(&project, "target/cegar/demo/queue"));
    assert!(corpus.is_subset(&there), "{corpus:?} {there:?}");
    // The next run completes what was interrupted.
    run(&project, "--max-time 60s").expect(exit::VIOLATION);
    let tests = project.read("cegar/tests/demo.rs");
    test_name(&tests, "copy_invalid_write");
    test_name(&tests, "demo_invalid_write");
}
