//! `cargo cegar check` on small programs: the verdict, the place, and a test that fails until the
//! program is corrected.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cegar_tests::{Ended, Project, Tool, cargo_test, exit};
use serde_json::Value;

/// A time that is sufficient on a slow and busy machine: a check ends as soon as a violation is
/// found.
const LONG: &str = "300s";
/// The time after which a run fails the test.
const LIMIT: Duration = Duration::from_secs(500);

/// Runs the check for at most the given time.
fn check(project: &Project, program: &str, property: &str, time: &str, more: &[&str]) -> Ended {
    let mut words = vec!["check", program, "--property", property];
    words.extend(["--max-time", time]);
    words.extend(["--message-format", "json", "--emit-dir", "found"]);
    words.extend(more);
    Tool::new(project.path(), words).limit(LIMIT).run()
}

/// The numbers, from 1, of the lines that the program marks as faulty.
fn marked(text: &str) -> Vec<usize> {
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| line.contains("/* here */"))
        .map(|(at, _)| at + 1)
        .collect()
}

/// The Rust files below a folder, except those in `target`.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != "target" {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// Checks all that is promised for a faulty program: the verdict `violated`, and a test that names
/// the faulty line, fails, and passes after the correction.
fn is_violated(program: &str, property: &str) {
    let project = Project::program(program);
    let places: Vec<String> = marked(&project.read(program))
        .iter()
        .map(|line| format!("{program}:{line}"))
        .collect();

    let run = check(&project, program, property, LONG, &[]);
    run.expect(exit::VIOLATION);
    let finished = run.finished();
    assert_eq!(finished["verdict"], "violated", "{run}");
    let tests = finished["tests"].as_array().map_or(0, Vec::len);
    assert!(tests > 0, "no test was written\n{run}");

    let package = project.at("found");
    let texts: Vec<String> = rust_files(&package.join("tests"))
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .collect();
    let names_a_place = |text: &&String| places.iter().any(|place| text.contains(place));
    assert!(
        texts
            .iter()
            .filter(names_a_place)
            .any(|text| text.contains("#[test]")),
        "no test speaks of {places:?}: {texts:#?}\n{run}"
    );

    let failing = cargo_test(&package, &[]);
    assert!(
        failing.code != Some(0) && failing.stdout.contains("test result: FAILED"),
        "the test was to fail\n{failing}"
    );
    project.define_fixed(program);
    let passing = cargo_test(&package, &[]);
    assert!(
        passing.code == Some(0)
            && passing.stdout.contains("test result: ok. ")
            && !passing.stdout.contains("FAILED"),
        "the test was to pass on the corrected program\n{passing}"
    );
}

#[test]
fn overflow_after_so_many_characters() {
    is_violated("stdin_overflow.c", "memory");
}

#[test]
fn overflow_by_a_long_environment_variable() {
    is_violated("env_overflow.c", "memory");
}

#[test]
fn one_pair_of_numbers_in_all() {
    is_violated("needle.c", "assertion");
}

#[test]
fn behind_a_checksum() {
    is_violated("sealed.c", "memory");
}

/// There are conditions on every other field too, so that a solver does not find the whole header
/// in one query.
#[test]
fn behind_a_checksum_among_other_conditions() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/tabfile");
    let include = format!("--cflag=-I{}", example.join("c").display());
    let harness = example.join("cegar/harnesses/tabfile.c");
    let source = example.join("c/tabfile.c").display().to_string();
    let project = Project::empty();
    let more = [&source, &include, "--engine-only"];
    let run = check(
        &project,
        &harness.display().to_string(),
        "memory",
        LONG,
        &more,
    );
    run.expect(exit::VIOLATION);
    assert_eq!(run.finished()["verdict"], "violated", "{run}");
}

#[test]
fn use_after_free() {
    is_violated("use_after_free.c", "memory");
}

/// Without help, AddressSanitizer treats a block of zero bytes as one of one byte.
#[test]
fn one_byte_of_none() {
    is_violated("nothing_allocated.c", "memory");
}

/// A native run does not show the first violation that is found, but it shows another one at the
/// same place.
#[test]
fn another_write_at_the_same_place() {
    is_violated("far.c", "memory");
}

#[test]
fn use_out_of_scope() {
    is_violated("out_of_scope.c", "memory");
}

#[test]
fn double_free() {
    is_violated("double_free.c", "memory");
}

#[test]
fn null_dereference() {
    is_violated("null_deref.c", "memory");
}

#[test]
fn a_floating_point_value_that_does_not_fit() {
    is_violated("float_conversion.c", "overflow");
}

#[test]
fn division_by_zero() {
    is_violated("division.c", "overflow");
}

#[test]
fn signed_overflow() {
    is_violated("signed_overflow.c", "overflow");
}

#[test]
fn bound_of_an_array_inside_a_struct() {
    is_violated("struct_bound.c", "memory");
}

#[test]
fn assertion_in_a_callback() {
    is_violated("callback.c", "assertion");
}

#[test]
fn a_protocol_out_of_order() {
    is_violated("protocol.c", "assertion");
}

#[test]
fn abort_is_no_violation_where_only_unreach_is_asked() {
    is_violated("unreach.c", "unreach");
}

#[test]
fn an_external_function_answers_anything() {
    is_violated("external.c", "memory");
}

#[test]
fn an_external_function_hands_out_an_object() {
    is_violated("external_object.c", "all");
}

/// Violations of properties that were not requested are not reported.
#[test]
fn only_what_was_asked_for() {
    let project = Project::program("struct_bound.c");
    let run = check(&project, "struct_bound.c", "assertion", "5s", &[]);
    assert_ne!(run.finished()["verdict"], "violated", "{run}");
    run.expect(exit::CLEAN);
}

/// In correct programs nothing is found, and checks that are not proved are reported as open.
#[test]
fn nothing_is_found_in_corrected_programs() {
    for (program, property) in [
        ("struct_bound.c", "memory"),
        ("protocol.c", "assertion"),
        ("double_free.c", "memory"),
    ] {
        let project = Project::program(program);
        let run = check(
            &project,
            program,
            property,
            "5s",
            &["-D", "FIXED", "--require-proof"],
        );
        let finished = run.finished();
        match finished["verdict"].as_str() {
            Some("proved") => run.expect(exit::CLEAN),
            Some("open") => run.expect(exit::OPEN_GOALS),
            other => panic!("{program}: {other:?}\n{run}"),
        };
        assert_eq!(finished["tests"], Value::Array(Vec::new()), "{run}");
        assert!(
            !project.at("found").exists(),
            "a package without tests\n{run}"
        );
    }
}

/// Runs with the same seed and the same number of executions have the same results.
#[test]
fn a_run_can_be_repeated() {
    let project = Project::program("protocol.c");
    let words = ["-D", "FIXED", "--runs", "2000", "--seed", "7"];
    let [first, second] =
        [(); 2].map(|()| check(&project, "protocol.c", "assertion", "60s", &words));
    let (one, two) = (first.finished(), second.finished());
    assert_eq!(one["goals"], two["goals"], "{first}\n{second}");
    for number in ["executions", "solver_calls", "refinements"] {
        assert_eq!(
            one["stats"][number], two["stats"][number],
            "{number}\n{first}\n{second}"
        );
    }
}

/// A library function that accesses too small a buffer is reported at its call: two calls are two
/// findings.
#[test]
fn violations_in_library_functions_are_told_at_their_calls() {
    let project = Project::empty();
    project.write(
        "calls.c",
        "#include <stdio.h>\n#include <unistd.h>\n\nint main(void)\n{\n    char name[4] = \
         \"abc\";\n    int n = getchar();\n\n    if (n > 0 && n < 9)\n        write(1, name, \
         n);\n    return 0;\n}\n",
    );
    let words = [
        "check",
        "calls.c",
        "--property",
        "memory",
        "--max-time",
        "30s",
    ];
    Tool::new(project.path(), words)
        .run()
        .expect(exit::VIOLATION)
        .expect_message("calls.c:10:9 invalid read of")
        .expect_message("of `name` (4 bytes, stack), in `write`")
        .expect_message("test `main_invalid_read_");
}

/// Only one length is faulty, and it reaches no new block. It is found because every length is
/// tried.
#[test]
fn a_buffer_that_is_one_byte_too_small_is_found() {
    let project = Project::empty();
    project.write(
        "small.c",
        "#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n\n\
         int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)\n{\n    unsigned char *block \
         = malloc(32);\n\n    if (block && size <= 33)\n        memcpy(block, data, size);\n    \
         free(block);\n    return 0;\n}\n",
    );
    let words = [
        "check",
        "small.c",
        "--property",
        "memory",
        "--max-time",
        "60s",
    ];
    Tool::new(project.path(), words)
        .run()
        .expect(exit::VIOLATION)
        .expect_message(
            "small.c:10:9 invalid write of 33 bytes at offset 0 of a block (32 bytes, heap",
        );
}

/// Calls through a declaration or a pointer whose type differs from the definition's: the missing
/// bits may have any value.
#[test]
fn a_call_that_does_not_fit_its_function() {
    let project = Project::empty();
    project.write(
        "misfit.c",
        "#include <assert.h>\n\nextern unsigned char __VERIFIER_nondet_uchar(void);\n\
         static int less(int a) { return a - 9; }\n\
         static void wide(long a) { assert((int)a != 7); }\n\nint main(void)\n{\n    unsigned char \
         n = __VERIFIER_nondet_uchar();\n    long (*result)(long) = (long (*)(long))less;\n    \
         void (*argument)(int) = (void (*)(int))wide;\n\n    assert((int)result(n) >= -9);\n    \
         argument(n);\n    return 0;\n}\n",
    );
    let words = ["check", "misfit.c", "--max-time", "20s"];
    Tool::new(project.path(), words)
        .run()
        .expect(exit::VIOLATION)
        .expect_message("(int)a != 7");
}

/// A call inside the C library does not call the program's function of the same name.
#[test]
fn the_library_does_not_call_the_programs_functions() {
    let project = Project::empty();
    project.write(
        "own.c",
        "#include <assert.h>\n#include <stdio.h>\n\nstatic int calls;\n\
         unsigned long strlen(const char *s)\n{\n    calls++;\n    return !s;\n}\n\n\
         int main(void)\n{\n    puts(\"hello\");\n    assert(calls == 0);\n    return 0;\n}\n",
    );
    let words = ["check", "own.c", "--max-time", "30s"];
    Tool::new(project.path(), words)
        .run()
        .expect(exit::CLEAN)
        .expect_message("proved");
}

/// glibc frees the text of an unknown error number when the next one is requested. The engine's
/// stub library does not model that. The native run shows the violation, and no proof of that
/// program counts.
#[test]
fn a_native_run_that_contradicts_the_engine_withdraws_its_proofs() {
    let project = Project::empty();
    let text = "\
#include <string.h>
int main(void)
{
    char *first = strerror(999);
    char before = first[0];
    char *second = strerror(998);
    return first[0] != before || !second;
}
";
    project.write("freed.c", text);
    let run = check(&project, "freed.c", "all", LONG, &[]);
    run.expect(exit::VIOLATION);
    let checks = &run.finished()["goals"]["checks"];
    assert_eq!(checks["proved"], 0, "{run}");
    assert_eq!(checks["violated"], 1, "{run}");
    assert!(
        run.to_string().contains("what was proved is withdrawn"),
        "{run}"
    );
}

/// The tests of two programs in one folder go to two packages. In a common package, the first
/// program's tests would be built from the second program's file.
#[test]
fn each_program_has_a_package_of_its_own() {
    let project = Project::two_programs();
    for name in ["one", "two", "one"] {
        let words = ["check", &format!("{name}.c"), "--max-time", "60s"];
        let run = Tool::new(project.path(), words).limit(LIMIT).run();
        run.expect(exit::VIOLATION);
    }
    for (folder, name) in [("cegar-tests", "one"), ("cegar-tests-two", "two")] {
        let captured = project.read(&format!("{folder}/captured.json"));
        assert!(captured.contains(&format!("/{name}.c\"")), "{captured}");
        let tests = rust_files(&project.at(&format!("{folder}/tests")));
        assert_eq!(tests.len(), 1, "{tests:?}");
    }
    // The same file with other options is another program.
    let words = ["check", "one.c", "-D", "N", "--max-time", "60s"];
    let run = Tool::new(project.path(), words).limit(LIMIT).run();
    run.expect(exit::VIOLATION);
    assert!(
        project
            .read("cegar-tests-one/captured.json")
            .contains("-DN")
    );
    let mixed = ["check", "two.c", "--emit-dir", "cegar-tests"];
    let refused = Tool::new(project.path(), mixed).run();
    refused
        .expect(exit::USAGE)
        .expect_message("another program");
    // If a later check requests another property, the package's executable checks that property
    // too.
    let words = [
        "check",
        "one.c",
        "--property",
        "overflow",
        "--max-time",
        "60s",
    ];
    let text = "#include <stdio.h>\nint main(void)\n{\n    int c = getchar();\n    return c > 8 ? \
        2147483600 + c : 0;\n}\n";
    project.write("one.c", text);
    let run = Tool::new(project.path(), words).limit(LIMIT).run();
    run.expect(exit::VIOLATION);
    let failing = cargo_test(&project.at("cegar-tests"), &[]);
    assert!(failing.stdout.contains("main_signed_overflow"), "{failing}");
    assert!(failing.stdout.contains("1 failed"), "{failing}");
}

/// The attribute `no_sanitize` exempts no function: its behaviour is as undefined as elsewhere.
#[test]
fn no_function_is_exempt() {
    let project = Project::empty();
    let text = "#include <stdio.h>\n\
        __attribute__((no_sanitize(\"undefined\"))) static int more(int x)\n{\n    return x + \
        2147483547 < x; /* here */\n}\nint main(void)\n{\n    int c = getchar();\n    return c < 0 \
        ? 0 : more(c);\n}\n";
    project.write("a.c", text);
    let run = check(&project, "a.c", "overflow", LONG, &[]);
    run.expect(exit::VIOLATION);
    let found = run.messages().into_iter();
    let lines: Vec<Value> = found
        .filter(|message| message["reason"] == "found")
        .map(|message| message["place"]["line"].clone())
        .collect();
    assert_eq!(lines, [marked(text)[0]], "{run}");
    let failing = cargo_test(&project.at("found"), &[]);
    assert!(failing.stdout.contains("1 failed"), "{failing}");
}

/// A program may use the word `no_sanitize` as a name of its own: it is compiled as the compiler
/// alone would.
#[test]
fn the_word_no_sanitize_is_free() {
    let used = "#include <stdio.h>\nstatic int no_sanitize(int x) { return x & 7; }\n\
        int main(void)\n{\n    int a[4] = {0};\n    return a[no_sanitize(getchar())];\n}\n";
    let asked = "#include <stdio.h>\n#ifndef no_sanitize\n#define MOST 8\n#else\n#define MOST 4\n\
        #endif\nint main(void)\n{\n    int a[4] = {0}, c = getchar();\n    return c >= 0 && c < \
        MOST ? a[c] : 0;\n}\n";
    for text in [used, asked] {
        let project = Project::empty();
        project.write("a.c", text);
        let run = check(&project, "a.c", "memory", LONG, &[]);
        run.expect(exit::VIOLATION);
    }
}

/// The behaviour of the program without a sanitizer counts.
#[test]
fn the_program_is_not_sanitized() {
    let asking = "#include <stdio.h>\nint main(void)\n{\n    int a[4] = {0}, c = getchar();\n\
        #if __has_feature(undefined_behavior_sanitizer)\n    return a[c & 3];\n#else\n    return \
        a[c & 7];\n#endif\n}\n";
    let project = Project::empty();
    project.write("a.c", asking);
    let run = check(&project, "a.c", "memory", LONG, &[]);
    run.expect(exit::VIOLATION);
}
