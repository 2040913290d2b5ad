//! Unattended builds: which results fail them, which files they leave, and how long they may take.

use std::fs;
use std::path::Path;
use std::time::Duration;

use cegar_tests::{Ended, Project, Tool, children, exit, test_name};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// Two functions with a harness each: `demo` reads past the end of its input, `other` has a branch
/// that is never taken.
fn package_with_two_harnesses() -> Project {
    let project = Project::package(
        "\
static int never(unsigned char c)
{
    if (c > 200 && c < 100)
        return 3; /* </pre><script>alert(1)</script> */
    return c == 'x';
}

int demo(const unsigned char *data, size_t size)
{
    if (size >= 2 && data[0] == 'g' && data[1] == 'o')
        return data[size];
    return 0;
}

int other(const unsigned char *data, size_t size)
{
    return size ? never(data[0]) : 0;
}
",
    );
    let header = project.read("c/demo.h") + "int other(const unsigned char *data, size_t size);\n";
    project.write("c/demo.h", &header);
    let harness = project.read("cegar/harnesses/demo.c");
    let harness = harness.replace("demo(data", "other(data");
    project.write("cegar/harnesses/other.c", &harness);
    let config = project.read("cegar/cegar.toml");
    project.write("cegar/cegar.toml", &format!("{config}[harness.other]\n"));
    project
}

fn ci(project: &Project, words: &[&str]) -> Ended {
    let fixed = ["ci", "--runs", "500"];
    let words = fixed.iter().chain(words);
    Tool::new(project.path(), words)
        .without("GITHUB_STEP_SUMMARY")
        .run()
}

fn json(project: &Project, file: &str) -> Value {
    serde_json::from_str(&project.read(file)).unwrap_or_else(|why| panic!("{file}: {why}"))
}

/// All files of the source tree with their contents.
fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                all.extend(tree(&path));
            }
        } else {
            all.push((
                path.display().to_string(),
                fs::read(&path).unwrap_or_default(),
            ));
        }
    }
    all.sort();
    all
}

/// A build with all kinds of reports, followed by builds that show how its finding is treated.
#[test]
fn what_is_new_fails_a_build_and_what_is_known_does_not() {
    let project = package_with_two_harnesses();
    let reports = project.at("reports");
    fs::create_dir(&reports).unwrap_or_else(|why| panic!("{why}"));
    let before = tree(project.path());
    let ended = ci(
        &project,
        &[
            "--jobs",
            "2",
            "--sarif",
            "reports/a.sarif",
            "--junit",
            "reports/a.xml",
            "--json",
            "reports/a.json",
            "--lcov",
            "reports/a.info",
            "--html",
            "reports/a.html",
            "--summary",
            "reports/a.md",
        ],
    );
    ended
        .expect(exit::VIOLATION)
        .expect_message("1 new, 0 known");

    // The source tree is unchanged; new files are in a folder beside it that has the structure of
    // the package.
    let after: Vec<_> = tree(project.path())
        .into_iter()
        .filter(|(path, _)| !path.contains("/reports/"))
        .collect();
    assert_eq!(before, after, "{ended}");
    let test = test_name(
        &project.read("target/cegar/ci/tests/demo.rs"),
        "demo_invalid_read",
    );
    let input = project.at(&format!("target/cegar/ci/inputs/demo/{test}"));
    assert!(input.is_file());
    let record = project.at(&format!("target/cegar/ci/findings/demo/{test}.json"));
    assert!(record.is_file());
    let replay = ["replay", "demo", &input.display().to_string()];
    Tool::new(project.path(), replay)
        .run()
        .expect(exit::VIOLATION);

    // The reports.
    let report = json(&project, "reports/a.json");
    assert_eq!(report["new"], 1, "{ended}");
    assert_eq!(report["harnesses"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["harnesses"][1]["verdict"], "proved", "{report}");
    let sarif = json(&project, "reports/a.sarif");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["baselineState"], "new");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "c/demo.c");
    assert!(project.read("reports/a.xml").contains("failures=\"1\""));
    let summary = project.read("reports/a.md");
    assert!(summary.contains("1 new violation") && summary.contains("| other | proved |"));
    let lcov = project.read("reports/a.info");
    let lcov = lcov.split("end_of_record").next().unwrap_or_default();
    assert!(lcov.contains("SF:c/demo.c\n") && lcov.contains("DA:12,1\n"));
    // The line is proved unreachable, so it does not count as a line to be covered.
    assert!(!lcov.contains("DA:5,"), "{lcov}");
    let page = project.read("reports/a.html");
    assert_eq!(page, project.read("target/cegar/report.html"));
    assert!(page.contains(&test) && page.contains("unreachable"));
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));

    // The line coverage as a table.
    let table = Tool::new(project.path(), ["coverage"]).run();
    table.expect(exit::CLEAN);
    insta::assert_snapshot!(table.stdout, @r"
    lines of                  lines  covered         unreachable   open
    c/demo.c                      9        8 100.0%            1      0
      never                       4        3 100.0%            1      0
      demo                        4        4 100.0%            0      0
      other                       1        1 100.0%            0      0
    cegar/harnesses/demo.c        2        2 100.0%            0      0
      LLVMFuzzerTestOneInput      2        2 100.0%            0      0
    cegar/harnesses/other.c       2        2 100.0%            0      0
      LLVMFuzzerTestOneInput      2        2 100.0%            0      0
    all                          13       12 100.0%            1      0
    ");

    // An accepted finding does not fail a build, not even after its line has moved, unless
    // `--fail-on-known` is given.
    ci(&project, &["--update-baseline"]).expect(exit::CLEAN);
    let moved = format!("/* new */\n{}", project.read("c/demo.c"));
    project.write("c/demo.c", &moved);
    let ended = ci(&project, &["--sarif", "reports/b.sarif", "demo"]);
    ended.expect(exit::CLEAN).expect_message("0 new, 1 known");
    let sarif = json(&project, "reports/b.sarif");
    assert_eq!(sarif["runs"][0]["results"][0]["baselineState"], "unchanged");
    ci(&project, &["--fail-on-known", "demo"]).expect(exit::VIOLATION);
}

/// The files that a build leaves can be committed. Committing them does not accept the finding,
/// neither before nor after the fault is corrected.
#[test]
fn a_committed_test_is_expected_to_pass() {
    let project = package_with_two_harnesses();
    ci(&project, &["demo"]).expect(exit::VIOLATION);
    let test = test_name(
        &project.read("target/cegar/ci/tests/demo.rs"),
        "demo_invalid_read",
    );
    let record = format!("findings/demo/{test}.json");
    for name in ["tests/demo.rs", ".emitted.json", &record] {
        let text = project.read(&format!("target/cegar/ci/{name}"));
        project.write(&format!("cegar/{name}"), &text);
    }
    // The state that another machine sees.
    fs::remove_dir_all(project.at("target")).unwrap_or_else(|why| panic!("{why}"));
    let ended = ci(&project, &["demo", "--summary", "a.md"]);
    ended
        .expect(exit::VIOLATION)
        .expect_message("Still fails")
        .expect_message("0 new, 1 failing as before, 0 known");
    assert!(project.read("a.md").contains("### Failing as before"));
    // An accepted finding does not fail a build, not even after its line has moved.
    ci(&project, &["demo", "--update-baseline"]).expect(exit::CLEAN);
    let moved = format!("/* new */\n{}", project.read("c/demo.c"));
    project.write("c/demo.c", &moved);
    let ended = ci(&project, &["demo"]);
    ended.expect(exit::CLEAN).expect_message("0 new, 1 known");
    fs::remove_file(project.at("cegar/baseline.json")).unwrap_or_else(|why| panic!("{why}"));
    ci(&project, &["demo"]).expect(exit::VIOLATION);
}

#[test]
fn a_harness_that_does_not_build_keeps_no_other_from_running() {
    let project = package_with_two_harnesses();
    project.write("cegar/harnesses/other.c", "int main(void) { return x; }\n");
    let ended = ci(
        &project,
        &["--json", "a.json", "--fail-on-known", "--update-baseline"],
    );
    // The finding of the other harness determines the exit code.
    ended
        .expect(exit::VIOLATION)
        .expect_message("undeclared identifier");
    let report = json(&project, "a.json");
    assert!(report["harnesses"][1]["failed"].is_string(), "{report}");
    let ended = ci(&project, &[]);
    ended.expect(exit::BUILD_FAILED);
}

/// A number of executions that would take days is cut off by the time limit of one harness.
#[test]
fn a_limit_is_a_limit() {
    let project = package_with_two_harnesses();
    let words = ["ci", "--runs", "1000000000000", "--fuzz-only"];
    let words = words
        .iter()
        .chain(&["--max-time-per-harness", "1s", "--json", "a.json", "other"]);
    let ended = Tool::new(project.path(), words)
        .limit(Duration::from_secs(120))
        .run();
    ended.expect(exit::CLEAN).expect_message("past its limit");
    // The results so far are reported nevertheless.
    let report = json(&project, "a.json");
    let covered = &report["harnesses"][0]["goals"]["edges"]["covered"];
    assert!(covered.as_u64() > Some(3), "{report}");
}

/// A build that only a time limit or a signal ends.
fn endless(project: &Project, words: &[&str]) -> Tool {
    let fixed = ["ci", "--runs", "1000000000000", "--fuzz-only", "other"];
    Tool::new(project.path(), fixed.iter().chain(words)).limit(Duration::from_secs(120))
}

/// Whether a process exists and is not a zombie.
fn lives(process: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().unwrap_or_default();
    !state.is_empty() && !state.starts_with(['Z', 'X'])
}

/// A campaign that does not react is killed; its harness has no result.
#[test]
fn what_does_not_stop_is_stopped() {
    let project = package_with_two_harnesses();
    let words = ["--max-time-per-harness", "1s", "--junit", "a.xml"];
    let mut running = endless(&project, &words).start();
    let id = running.id();
    let fuzzing = || {
        children(id, "__campaign")
            .pop()
            .filter(|it| !children(*it, "__worker").is_empty())
    };
    let campaign = running
        .until(fuzzing)
        .unwrap_or_else(|| panic!("no campaign"));
    kill(Pid::from_raw(campaign), Signal::SIGSTOP).unwrap_or_else(|why| panic!("{why}"));
    let workers = children(campaign, "__worker");
    let ended = running.wait();
    ended
        .expect(exit::INTERNAL)
        .expect_message("ended by force");
    assert!(project.read("a.xml").contains("ended by force"));
    // None of its processes is left.
    for process in workers.iter().chain([&campaign]) {
        assert!(!lives(*process), "{process}");
    }
}

#[test]
fn ctrl_c_ends_all_of_it() {
    let project = package_with_two_harnesses();
    let mut running = endless(&project, &["--json", "a.json"]).start();
    let id = running.id();
    let fuzzing = || {
        children(id, "__campaign")
            .pop()
            .filter(|it| !children(*it, "__worker").is_empty())
    };
    let campaign = running
        .until(fuzzing)
        .unwrap_or_else(|| panic!("no campaign"));
    running.signal(Signal::SIGINT);
    let ended = running.wait();
    ended.expect(exit::INTERRUPTED);
    assert!(!lives(campaign));
    assert_eq!(json(&project, "a.json")["exit_code"], exit::INTERRUPTED);
}

/// With more jobs than harnesses, several processes fuzz the same program.
#[test]
fn several_fuzz_one_harness() {
    let project = package_with_two_harnesses();
    let words = "run other --jobs 3 --fuzz-only --max-time 100s --message-format json";
    let mut running = Tool::new(project.path(), words.split(' ')).start();
    let id = running.id();
    let three = || {
        let campaign = children(id, "__campaign").pop()?;
        let workers = children(campaign, "__worker");
        (workers.len() == 3).then_some(workers)
    };
    let workers = running.until(three).unwrap_or_else(|| panic!("no three"));
    // A killed worker is restarted; the others continue.
    kill(Pid::from_raw(workers[1]), Signal::SIGKILL).unwrap_or_else(|why| panic!("{why}"));
    let again = || three().filter(|now| *now != workers);
    assert!(running.until(again).is_some());
    // On a slow machine nothing may have been executed yet.
    let covered = |message: &Value| message["edges_covered"].as_u64() > Some(3);
    assert!(running.until_told(covered));
    running.signal(Signal::SIGINT);
    let ended = running.wait();
    ended.expect(exit::INTERRUPTED);
    let told = ended.messages();
    assert!(
        told.iter()
            .any(|message| message["reason"] == "worker-died"),
        "{ended}"
    );
    assert!(ended.finished()["goals"]["edges"]["covered"].as_u64() > Some(3));
}

/// All accesses in a macro's body have the same line and column.
#[test]
fn another_fault_of_an_accepted_line_is_new() {
    let source = |first: u32, second: u32| {
        format!(
            "\
#define PUT(i, j) (a[i] = 1, b[j] = 2)

int demo(const unsigned char *data, size_t size)
{{
    static int a[4], b[4];
    unsigned i = size > 1 ? data[0] & {first} : 0;
    unsigned j = size > 1 ? data[1] & {second} : 0;

    if (size > 1)
        PUT(i, j);
    return a[0] + b[0];
}}
"
        )
    };
    let project = Project::package(&source(7, 3));
    ci(&project, &["--update-baseline"]).expect(exit::CLEAN);
    ci(&project, &[]).expect(exit::CLEAN);
    project.write(
        "c/demo.c",
        &format!("#include \"demo.h\"\n{}", source(3, 7)),
    );
    ci(&project, &[])
        .expect(exit::VIOLATION)
        .expect_message("1 new");
}

#[test]
fn bad_input_is_told() {
    let project = package_with_two_harnesses();
    ci(&project, &["--junit", "one", "--html", "./one"])
        .expect(exit::USAGE)
        .expect_message("--junit and --html both write `./one`");
    ci(&project, &["--baseline", "gone.json"])
        .expect(exit::NOTHING_SELECTED)
        .expect_message("gone.json");
    project.write("cegar/baseline.json", "{");
    ci(&project, &[])
        .expect(exit::USAGE)
        .expect_message("is no baseline");
    fs::remove_file(project.at("cegar/baseline.json")).unwrap_or_else(|why| panic!("{why}"));
    ci(&project, &["--artifacts", "c"])
        .expect(exit::USAGE)
        .expect_message("is not empty");
    ci(&project, &["--jobs", "0"])
        .expect(exit::USAGE)
        .expect_message("from 1 to 1024");
    Tool::new(project.path(), ["coverage"])
        .run()
        .expect(exit::NOTHING_SELECTED);
}

#[test]
fn several_harnesses_at_a_time_find_the_same() {
    let project = package_with_two_harnesses();
    let words = [
        "run",
        "--runs",
        "500",
        "--jobs",
        "2",
        "--message-format",
        "json",
    ];
    let ended = Tool::new(project.path(), words).run();
    ended.expect(exit::VIOLATION);
    let finished = ended.finished();
    assert_eq!(finished["goals"]["checks"]["violated"], 1);
    assert_eq!(finished["findings"], 1);
    test_name(&project.read("cegar/tests/demo.rs"), "demo_invalid_read");
}

#[test]
fn files_for_builds() {
    let project = package_with_two_harnesses();
    let sub = ["init", "--ci", "github", "--ci", "clusterfuzzlite"];
    let ended = Tool::new(project.path(), sub).run();
    ended.expect(exit::CLEAN);
    let workflow = project.read(".github/workflows/cegar.yml");
    assert!(workflow.contains("cargo cegar ci --max-time"));
    let tests = "--manifest-path cegar/Cargo.toml\n";
    assert!(
        workflow.contains("cargo test --no-fail-fast --manifest-path") && workflow.contains(tests)
    );
    let left = workflow
        .split('@')
        .skip(1)
        .filter(|rest| !rest.starts_with('v'));
    assert_eq!(left.count(), 0, "{workflow}");
    let build = project.read(".clusterfuzzlite/build.sh");
    insta::with_settings!({filters => vec![(r"cegar-\w+", "NAME")]}, {
        insta::assert_snapshot!(build, @r#"
        #!/bin/bash -eu
        # Builds the harnesses of demo for ClusterFuzzLite. Written by `cargo cegar init --ci clusterfuzzlite` from what the
        # crate's own build compiles; yours from now on.

        source=$SRC/NAME
        work=$(mktemp -d)

        # demo
        (cd "$source"/cegar && $CC $CFLAGS -I"$source"/c -I"$source"/c -c "$source"/cegar/harnesses/demo.c -o "$work/demo-0.o")
        (cd "$source"/cegar && $CC $CFLAGS -I"$source"/c -c "$source"/c/demo.c -o "$work/demo-1.o")
        $CXX $CXXFLAGS "$work/demo-0.o" "$work/demo-1.o" -o "$OUT/demo" $LIB_FUZZING_ENGINE
        if [ -d "$source"/cegar/corpus/demo ]; then
            zip -q -j -r "$OUT/demo_seed_corpus.zip" "$source"/cegar/corpus/demo
        fi

        # other
        (cd "$source"/cegar && $CC $CFLAGS -I"$source"/c -I"$source"/c -c "$source"/cegar/harnesses/other.c -o "$work/other-0.o")
        (cd "$source"/cegar && $CC $CFLAGS -I"$source"/c -c "$source"/c/demo.c -o "$work/other-1.o")
        $CXX $CXXFLAGS "$work/other-0.o" "$work/other-1.o" -o "$OUT/other" $LIB_FUZZING_ENGINE
        if [ -d "$source"/cegar/corpus/other ]; then
            zip -q -j -r "$OUT/other_seed_corpus.zip" "$source"/cegar/corpus/other
        fi
        "#);
    });
    // The script runs, and its executables exist afterwards.
    let out = project.at("out");
    fs::create_dir(&out).unwrap_or_else(|why| panic!("{why}"));
    let name = project.path().file_name().unwrap_or_default();
    let source = project.path().parent().unwrap_or(project.path());
    assert!(build.contains(&name.to_string_lossy().into_owned()));
    let status = std::process::Command::new("bash")
        .args(["-eu", ".clusterfuzzlite/build.sh"])
        .current_dir(project.path())
        .envs([("SRC", source), ("OUT", &out)])
        .envs([
            ("CC", "clang-19"),
            ("CXX", "clang-19"),
            ("CFLAGS", "-fsanitize=fuzzer-no-link"),
            ("CXXFLAGS", "-fsanitize=fuzzer"),
            ("LIB_FUZZING_ENGINE", ""),
        ])
        .status();
    assert!(status.is_ok_and(|status| status.success()));
    assert!(out.join("demo").is_file() && out.join("other").is_file());
    // Existing files belong to the user and are kept.
    project.write(".github/workflows/cegar.yml", "mine\n");
    Tool::new(project.path(), sub)
        .run()
        .expect(exit::CLEAN)
        .expect_message("kept .github/workflows/cegar.yml");
    assert_eq!(project.read(".github/workflows/cegar.yml"), "mine\n");
}
