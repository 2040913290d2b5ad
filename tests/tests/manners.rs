//! Bad input, missing tools, and interruptions: each has a message that names the cause and an exit
//! code of its own, and nothing is lost.

use std::fs;
use std::io;
use std::path::Path;

use cegar_tests::{BUSY, Ended, Project, Tool, children, exit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A function that reads one byte past the end of its input if the input begins with `go`.
const READS_PAST_THE_END: &str = "\
int demo(const unsigned char *data, size_t size)
{
    if (size >= 2 && data[0] == 'g' && data[1] == 'o')
        return data[size];
    return 0;
}
";

fn run(project: &Project, words: &[&str]) -> Tool {
    Tool::new(project.path(), ["run"].iter().chain(words))
}

/// A campaign that is limited by a number of executions, so that a slow machine has the same
/// results.
fn counted(project: &Project) -> Ended {
    run(project, &["--runs", "500"]).run()
}

/// The names of the files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn must<T>(done: io::Result<T>, what: &str) -> T {
    done.unwrap_or_else(|error| panic!("{what}: {error}"))
}

#[test]
fn without_clang_it_says_how_to_get_it() {
    let project = Project::program("struct_bound.c");
    let ended = Tool::new(project.path(), ["check", "struct_bound.c"])
        .env("PATH", "")
        .without("CEGAR_CLANG")
        .run();
    ended
        .expect(exit::TOOL_MISSING)
        .expect_message("clang-19")
        .expect_message("install");
}

#[test]
fn a_compiler_that_was_named_is_not_replaced_by_another() {
    let project = Project::program("struct_bound.c");
    let ended = Tool::new(project.path(), ["check", "struct_bound.c"])
        .env("CEGAR_CLANG", "/no/such/clang")
        .run();
    ended
        .expect(exit::TOOL_MISSING)
        .expect_message("/no/such/clang");
}

#[test]
fn c_that_does_not_compile_is_shown_as_clang_shows_it() {
    let project = Project::empty();
    project.write("broken.c", "int main(void)\n{\n    return missing;\n}\n");
    let ended = Tool::new(project.path(), ["check", "broken.c"]).run();
    ended
        .expect(exit::BUILD_FAILED)
        .expect_message("broken.c:3:12")
        .expect_message("undeclared identifier 'missing'");
}

/// clang compiles the program for the check, but the crate's compiler compiles the test, and may
/// reject it.
#[test]
fn a_test_that_does_not_compile_is_shown_as_its_compiler_shows_it() {
    let project = Project::empty();
    project.write(
        "picky.c",
        "#include <assert.h>\n#include <stdio.h>\n#ifndef __clang__\n\
         #error this is for clang alone\n#endif\nint main(void)\n{\n    assert(getchar() != \
         'x');\n    return 0;\n}\n",
    );
    let words = ["check", "picky.c", "--engine-only", "--runs", "1"];
    let ended = Tool::new(project.path(), words).env("CC", "gcc").run();
    ended
        .expect(exit::VIOLATION)
        .expect_message("no test was written")
        .expect_message("picky.c:4:2: error: #error this is for clang alone");
}

#[test]
fn a_file_that_is_not_there() {
    let project = Project::empty();
    let ended = Tool::new(project.path(), ["check", "absent.c"]).run();
    assert!(
        matches!(
            ended.code,
            Some(exit::NOTHING_SELECTED | exit::USAGE | exit::IO)
        ),
        "{ended}"
    );
    ended.expect_message("absent.c");
}

#[test]
fn an_option_that_does_not_exist() {
    let project = Project::program("struct_bound.c");
    let ended = Tool::new(
        project.path(),
        ["check", "struct_bound.c", "--max-tmie", "1s"],
    )
    .run();
    ended.expect(exit::USAGE).expect_message("--max-time");
}

#[test]
fn a_duration_that_is_none() {
    let project = Project::program("struct_bound.c");
    let ended = Tool::new(
        project.path(),
        ["check", "struct_bound.c", "--max-time", "soon"],
    )
    .run();
    ended.expect(exit::USAGE).expect_message("soon");
}

#[test]
fn a_build_script_that_fails() {
    let project = Project::package(BUSY);
    project.write(
        "build.rs",
        "fn main() {\n    panic!(\"no library of that name\");\n}\n",
    );
    // Without a list of sources, the crate's own build determines them.
    project.write(
        "cegar/cegar.toml",
        "[harness.demo]\nfile = \"harnesses/demo.c\"\n",
    );
    let ended = Tool::new(project.path(), ["build"]).run();
    ended
        .expect(exit::BUILD_FAILED)
        .expect_message("no library of that name");
}

#[test]
fn a_harness_that_does_not_exist() {
    let project = Project::package(BUSY);
    let ended = run(&project, &["dmeo"]).run();
    ended
        .expect(exit::NOTHING_SELECTED)
        .expect_message("dmeo")
        .expect_message("demo");
}

#[test]
fn a_configuration_that_is_not_toml() {
    let project = Project::package(BUSY);
    project.write("cegar/cegar.toml", "[c]\nsources = [\"../c/demo.c\"\n");
    let ended = run(&project, &[]).run();
    ended
        .expect(exit::USAGE)
        .expect_message("cegar.toml")
        .expect_message("sources");
}

#[test]
fn a_key_that_does_not_exist() {
    let project = Project::package(BUSY);
    let text = project
        .read("cegar/cegar.toml")
        .replace("includes", "inculdes");
    project.write("cegar/cegar.toml", &text);
    let ended = run(&project, &[]).run();
    ended
        .expect(exit::USAGE)
        .expect_message("cegar.toml")
        .expect_message("inculdes")
        .expect_message("includes");
}

#[test]
fn a_worker_that_is_killed_is_replaced() {
    let project = Project::package(BUSY);
    // Without the prover, which would settle everything and so end the campaign.
    let mut running = run(&project, &["--max-time", "170s", "--fuzz-only"]).start();
    let process = running.id();
    let worker = running.until(|| children(process, "__worker").first().copied());
    let Some(worker) = worker else {
        panic!("no worker was seen\n{}", running.wait());
    };
    // An error means that the worker has ended in the meantime.
    let _ = kill(Pid::from_raw(worker), Signal::SIGKILL);
    let next = running.until(|| {
        children(process, "__worker")
            .into_iter()
            .find(|&other| other != worker)
    });
    running.signal(Signal::SIGINT);
    let ended = running.wait();
    ended.expect(exit::INTERRUPTED).expect_message("worker");
    assert!(next.is_some(), "no other worker took its place\n{ended}");
}

#[test]
fn an_interruption_keeps_what_was_found() {
    let project = Project::package(BUSY);
    let queue = project.at("target/cegar/demo/queue");
    // Without the prover, which would settle everything, so that the signal would interrupt
    // nothing.
    let mut running = run(&project, &["--max-time", "170s", "--fuzz-only"]).start();
    let process = running.id();
    let filled = running.until(|| (names(&queue).len() > 3).then_some(()));
    let workers = children(process, "__worker");
    running.signal(Signal::SIGINT);
    let ended = running.wait();
    ended.expect(exit::INTERRUPTED);
    assert!(
        filled.is_some(),
        "nothing came into {}\n{ended}",
        queue.display()
    );
    for worker in workers {
        assert!(
            !Path::new(&format!("/proc/{worker}/exe")).exists(),
            "a worker outlived it\n{ended}"
        );
    }

    let before = names(&queue);
    let again = run(&project, &["--max-time", "5s"]).run();
    again.expect(exit::CLEAN);
    let after = names(&queue);
    assert!(
        before
            .iter()
            .all(|name| after.contains(name) || name.starts_with('.')),
        "entries were lost: {before:?}, then {after:?}\n{again}"
    );
}

/// A file is in the folder's place, which even root cannot write to.
#[test]
fn a_corpus_that_cannot_be_written() {
    let project = Project::package(BUSY);
    project.write("cegar/corpus", "a file\n");
    let ended = run(&project, &["--max-time", "5s"]).run();
    ended.expect(exit::IO).expect_message("corpus");
    assert_eq!(project.read("cegar/corpus"), "a file\n");
}

#[test]
fn a_scratch_folder_that_cannot_be_written() {
    let project = Project::package(BUSY);
    project.write("elsewhere", "a file\n");
    let ended = run(&project, &["--max-time", "5s", "--target-dir", "elsewhere"]).run();
    ended.expect(exit::IO).expect_message("elsewhere");
}

#[test]
fn corrupt_corpus_entries_are_named_and_passed_over() {
    let project = Project::package(READS_PAST_THE_END);
    project.write("cegar/corpus/demo/good", "go");
    project.write("cegar/corpus/demo/a_folder/inside", "x");
    must(
        std::os::unix::fs::symlink("nowhere", project.at("cegar/corpus/demo/dangling")),
        "a symbolic link",
    );
    project.write("cegar/corpus/demo/much_too_long", &"x".repeat(3 << 20));
    let ended = counted(&project);
    ended.expect(exit::VIOLATION).expect_message("dangling");
    assert!(project.at("cegar/corpus/demo/good").exists());
    assert!(project.at("cegar/corpus/demo/much_too_long").exists());
}

#[test]
fn a_corrupt_state_is_begun_anew() {
    let project = Project::package(BUSY);
    // Enough time for the native build, without which the harness is never executed.
    run(&project, &["--max-time", "15s"])
        .run()
        .expect(exit::CLEAN);
    project.write("target/cegar/demo/state.json", "{\"goals\": [1, 2");
    let queue = names(&project.at("target/cegar/demo/queue"));
    for name in queue.iter().take(2) {
        project.write(
            &format!("target/cegar/demo/queue/{name}"),
            "other bytes than its name says",
        );
    }
    let ended = run(&project, &["--max-time", "3s"]).run();
    ended.expect(exit::CLEAN).expect_message("state.json");
}

#[test]
fn a_program_that_loops_for_ever() {
    let project = Project::package(
        "int demo(const unsigned char *data, size_t size)\n{\n    volatile int on = 1;\n    \
         if (size > 0 && data[0] == 'L')\n        while (on)\n            ;\n    return 0;\n}\n",
    );
    let ended = run(&project, &["--max-time", "15s"]).run();
    ended.expect(exit::CLEAN);
}

#[test]
fn a_program_that_takes_all_memory() {
    let project = Project::package(
        "#include <stdlib.h>\n#include <string.h>\n\n\
         int demo(const unsigned char *data, size_t size)\n{\n    if (size == 0 || data[0] != \
         'M')\n        return 0;\n    for (;;) {\n        char *p = malloc(1 << 20);\n        if \
         (p == NULL)\n            return 1;\n        memset(p, 1, 1 << 20);\n    }\n}\n",
    );
    let ended = run(&project, &["--max-time", "15s"]).run();
    ended.expect(exit::CLEAN);
}

/// A test is written only once, and a test that was edited by hand is left alone.
#[test]
fn a_test_that_was_edited_is_left_alone() {
    let project = Project::package(READS_PAST_THE_END);
    let found = |ended: Ended| {
        ended.expect(exit::VIOLATION);
        ended
    };
    found(counted(&project));
    let written = project.read("cegar/tests/demo.rs");
    assert_eq!(written.matches("#[test]").count(), 1, "{written}");
    assert!(written.contains("c/demo.c:5"), "{written}");

    found(counted(&project));
    assert_eq!(
        project.read("cegar/tests/demo.rs"),
        written,
        "written twice"
    );

    let edited = written.replacen(
        "#[test]",
        "// Reported to the authors.\n#[test]\n#[ignore]",
        1,
    );
    let edited = format!("{edited}\nfn mine() {{}}\n");
    project.write("cegar/tests/demo.rs", &edited);
    found(counted(&project));
    assert_eq!(project.read("cegar/tests/demo.rs"), edited);
}

/// The types of mocked functions are kept in one file for all harnesses, and read again by the next
/// run.
#[test]
fn mocks_of_two_harnesses_are_kept_from_run_to_run() {
    let project = Project::package(
        "static int cells[4];\nint left(void);\nint right(void);\n\
         int demo(const unsigned char *data, size_t size)\n{\n    (void)data, (void)size;\n    \
         return cells[left() & 7];\n}\nint other(void)\n{\n    return cells[right() & 7];\n}\n",
    );
    for (name, call) in [("demo", "demo(0, 0)"), ("other", "other()")] {
        project.write(
            &format!("cegar/harnesses/{name}.c"),
            &format!(
                "#include \"demo.h\"\nint other(void);\n\nint main(void)\n{{\n    return \
                {call};\n}}\n"
            ),
        );
    }
    let config = project.read("cegar/cegar.toml");
    project.write(
        "cegar/cegar.toml",
        &format!("{config}\n[harness.other]\nfile = \"harnesses/other.c\"\n"),
    );
    for _ in 0..2 {
        let ended = counted(&project);
        ended.expect(exit::VIOLATION);
        let mocks = project.read("cegar/mocks.json");
        for (name, function) in [("demo", "left"), ("other", "right")] {
            let path = format!("cegar/tests/{name}.rs");
            assert!(project.at(&path).is_file(), "{ended}");
            let test = project.read(&path);
            assert!(test.contains(function), "{test}\n{ended}");
            assert!(mocks.contains(&format!("\"{function}\"")), "{mocks}");
            must(fs::remove_file(project.at(&path)), "removing a test");
        }
    }
}
