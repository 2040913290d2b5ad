//! Functions that the C code of a crate calls and that nothing in the crate defines: the user's
//! models in `models/`, a source file that was left out, and debugging the run of a test.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use cegar_tests::{Project, Tool, cargo_test, exit};

/// A package with a table that is indexed by a sensor's value. Its harness is a program instead of
/// the usual function of a buffer.
fn sensor_package() -> Project {
    let project = Project::package(
        "int sensor_read(int channel);\n\
         static int seen[8];\n\
         int demo(const unsigned char *data, size_t size)\n\
         {\n    \
             int level = sensor_read(size > 0 ? data[0] : 0);\n    \
             return seen[level]++;\n\
         }\n",
    );
    project.write(
        "cegar/harnesses/demo.c",
        "#include \"demo.h\"\n#include <crunner.h>\n\nint main(void)\n{\n    \
         unsigned char channel = crunner_get_byte();\n\n    return demo(&channel, 1) & 1;\n}\n",
    );
    project
}

fn run(project: &Project, more: &[&str]) -> cegar_tests::Ended {
    let mut words = vec!["run", "--max-time", "20s"];
    words.extend(more);
    Tool::new(project.path(), words).run()
}

/// Without a model the sensor may return anything. A model is part of the search, of the proof and
/// of the tests: with a model that respects the table's size the crate's code is correct; with a
/// model that is off by one a violation is found, and its test fails without this tool.
#[test]
fn models_stand_in_for_the_outside() {
    let project = sensor_package();
    let anything = run(&project, &["--no-emit", "--message-format", "json"]);
    anything.expect(exit::VIOLATION);
    let mocked = |ended: &cegar_tests::Ended| {
        ended
            .messages()
            .iter()
            .any(|m| m["reason"] == "mocked" && m["functions"][0] == "sensor_read")
    };
    assert!(mocked(&anything), "{anything}");

    let model = |last: i32| {
        format!(
            "/* The data sheet: eight levels. */\n#include <crunner.h>\n\n\
             int sensor_read(int channel)\n{{\n    crunner_assume(channel < 100);\n    return \
             (int)crunner_range(0, {last});\n}}\n"
        )
    };
    project.write("cegar/models/sensor.c", &model(7));
    let modelled = run(&project, &["--no-emit", "--message-format", "json"]);
    assert_eq!(modelled.finished()["verdict"], "proved", "{modelled}");
    assert!(!mocked(&modelled), "{modelled}");

    project.write("cegar/models/sensor.c", &model(9));
    run(&project, &[]).expect(exit::VIOLATION);
    let test = project.read("cegar/tests/demo.rs");
    assert!(test.contains(".choices(\"range\""), "{test}");
    let failing = cargo_test(&project.at("cegar"), &[]);
    assert!(failing.stdout.contains("test result: FAILED"), "{failing}");
    project.write("cegar/models/sensor.c", &model(7));
    let passing = cargo_test(&project.at("cegar"), &[]);
    passing.expect(exit::CLEAN);
}

/// A crate whose list of sources lacks one file builds and runs; the missing functions are named,
/// in messages and in the JSON output.
#[test]
fn a_file_that_was_left_out_is_named() {
    let project = Project::package(
        "int scale(int value);\nvoid note(const char *what);\n\
         static int table[4];\n\
         int demo(const unsigned char *data, size_t size)\n\
         {\n    \
             if (size < 2)\n        return 0;\n    \
             note(\"scaled\");\n    \
             return table[scale(data[0]) & 3] + data[1];\n\
         }\n",
    );
    project.write(
        "c/scale.c",
        "int scale(int value) { return value / 2; }\nvoid note(const char *what) { (void)what; }\n",
    );
    let built = Tool::new(project.path(), ["build"]).run();
    built
        .expect(exit::CLEAN)
        .expect_message("Mocking note, scale");
    let human = run(&project, &["--runs", "5000", "--no-emit"]);
    human.expect(exit::CLEAN).expect_message("Mocking");
    assert!(
        human.stderr.contains("scale") && human.stderr.contains("note"),
        "{human}"
    );
    let words = ["--runs", "5000", "--no-emit", "--message-format", "json"];
    let json = run(&project, &words);
    json.expect(exit::CLEAN);
    let messages = json.messages();
    let mocked = messages.iter().find(|m| m["reason"] == "mocked");
    let mut named: Vec<&str> = mocked
        .and_then(|m| m["functions"].as_array())
        .map(|all| all.iter().filter_map(|name| name.as_str()).collect())
        .unwrap_or_default();
    named.sort_unstable();
    assert_eq!(named, ["note", "scale"], "{json}");

    // With the file no function is missing.
    let config = project.read("cegar/cegar.toml");
    let whole = config.replace("\"../c/demo.c\"", "\"../c/demo.c\", \"../c/scale.c\"");
    project.write("cegar/cegar.toml", &whole);
    let json = run(&project, &words);
    let messages = json.messages();
    assert!(!messages.iter().any(|m| m["reason"] == "mocked"), "{json}");
}

/// A debugger gets the test's executable, its mock environment, and breakpoints. Any program may
/// serve as the debugger. If none is installed, the message names the package to install.
#[test]
fn a_test_is_debugged() {
    let project = sensor_package();
    run(&project, &[]).expect(exit::VIOLATION);
    let text = project.read("cegar/tests/demo.rs");
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("fn ")?.split_once('('))
        .map(|(name, _)| name.to_owned())
        .unwrap_or_else(|| panic!("no test in\n{text}"));
    let generated = cegar_tests::shared_target();
    let debug = |more: &[&str]| {
        let words = ["debug", &name].into_iter().chain(more.iter().copied());
        Tool::new(project.path(), words).env("CARGO_TARGET_DIR", &generated)
    };

    project.write(
        "recorder",
        "#!/bin/sh\necho \"arguments: $*\"\nhead -c 8 \"$CEGAR_MOCK\"\necho\nfor last; do :; done\n\
         CEGAR_MOCK=$CEGAR_MOCK \"$last\" 2>&1 | head -3\n",
    );
    let recorder = project.at("recorder");
    fs::set_permissions(&recorder, fs::Permissions::from_mode(0o755)).expect("it was written");
    let ended = debug(&["--batch"]).env("CEGAR_DEBUGGER", &recorder).run();
    ended.expect(exit::CLEAN);
    for wanted in [
        "-batch",
        "break crunner_violation",
        "break __asan::ReportGenericError",
        "CEGMOCK1",
        "demo.c:7",
    ] {
        assert!(ended.stdout.contains(wanted), "no `{wanted}`\n{ended}");
    }

    debug(&["--debugger", "no-such-debugger"])
        .run()
        .expect(exit::TOOL_MISSING)
        .expect_message("there is no debugger `no-such-debugger`");
    // There is no debugger in this `PATH`; cargo is not needed to find that out.
    let bare = debug(&[]).env("PATH", project.at("empty")).run();
    bare.expect(exit::TOOL_MISSING)
        .expect_message("apt install gdb");
    Tool::new(project.path(), ["debug", "no_such_test"])
        .env("CARGO_TARGET_DIR", &generated)
        .env("CEGAR_DEBUGGER", &recorder)
        .run()
        .expect(exit::NOTHING_SELECTED)
        .expect_message("no test of");
}

/// The sanitizer calls this function itself; only the program's calls are mocked, natively and in
/// the test.
#[test]
fn mocks_are_the_programs_own() {
    let project = Project::empty();
    project.write(
        "stack.c",
        "#include <assert.h>\n#include <stddef.h>\n\nstruct stack {\n    void *base;\n    int \
         flags;\n    size_t size;\n};\n\
         int sigaltstack(const struct stack *set, struct stack *old);\n\nint main(void)\n{\n    \
         struct stack old = {0};\n\n    assert(sigaltstack(NULL, &old) != 42);\n    return 0;\n}\n",
    );
    let check = Tool::new(project.path(), ["check", "stack.c", "--max-time", "30s"]).run();
    check
        .expect(exit::VIOLATION)
        .expect_message("Mocking sigaltstack")
        .expect_message("Wrote cegar-tests/tests/stack.rs  main_assertion_");
    let tests = cargo_test(&project.at("cegar-tests"), &[]);
    assert!(
        tests.code != Some(0) && tests.stdout.contains("test main_assertion_"),
        "{tests}"
    );
}

/// Checks a program for some seconds.
fn checked(source: &str) -> cegar_tests::Ended {
    let project = Project::empty();
    project.write("a.c", source);
    let words = ["check", "a.c", "--property", "memory", "--max-time", "8s"];
    let words = words.into_iter().chain(["--no-emit"]);
    Tool::new(project.path(), words).run()
}

/// Functions without a model are the platform's own in native runs: their results are real, a
/// stream's text can be freed, and a fault after them is found nevertheless.
#[test]
fn functions_without_a_model_are_the_platforms() {
    let stream = "#include <stdio.h>\n#include <stdlib.h>\n\
        int main(void) { char *text; size_t n; FILE *f = open_memstream(&text, &n); if (!f) return \
        1;\nfprintf(f, \"%d\", 7); fclose(f); char first = text[0]; free(text); return first; }\n";
    checked(stream)
        .expect(exit::CLEAN)
        .expect_message("`open_memstream` is not modelled");
    let number = |index: &str| {
        format!(
            "#include <math.h>\n#include <stdio.h>\n\
             int main(void) {{ int c = getchar(); if (c < 0) return 0; char t[256] = {{0}};\n\
             t[(int)(erf(c / 100.0) * {index})] = 1; return t[3]; }}\n"
        )
    };
    checked(&number("255"))
        .expect(exit::CLEAN)
        .expect_message("behind erf");
    checked(&number("300")).expect(exit::VIOLATION);
}

/// An unproved precondition of a library function is reported at its call, and counted.
#[test]
fn library_functions_are_told_by_their_calls() {
    let words = "#include <stdio.h>\n#include <string.h>\n\
        int main(void) { char line[64]; int all = 0;\n\
        while (fgets(line, sizeof line, stdin))\n\
        for (char *t = strtok(line, \" \"); t; t = strtok(NULL, \" \"))\n\
        all += t[0] != 0;\n\
        return all & 1; }\n";
    checked(words)
        .expect(exit::CLEAN)
        .expect_message("in `strtok`, called at a.c:5:")
        .expect_message("1 called function not proved");
    checked("int main(void) { return 0; }\n")
        .expect_message(", proved; there was nothing to check;");
}
