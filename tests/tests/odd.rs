//! Large and odd crates: symbols defined twice, files to leave out, harnesses that do not compile,
//! C compiled as C++, builds that fail. None of these stops the rest of a crate, and the messages
//! tell how to correct the cause.

use cegar_tests::{Ended, Project, Tool, cargo_test, exit};

fn tool(project: &Project, words: &str) -> Ended {
    Tool::new(project.path(), words.split(' ')).run()
}

const ENGINE: &str = "--engine-only --runs 1 --no-emit";

#[test]
fn a_symbol_defined_twice_is_the_archives_first() {
    let project = Project::package(
        "int helper(void) { return 1; }\nint demo(const unsigned char *data, size_t size)\n{\n    \
         return size > 3 && data[0] == helper();\n}\n",
    );
    // The variant would be violated, but no linker selects it.
    project.write(
        "c/variant.c",
        "int helper(void) { return *(volatile int *)0; }\nint variant(void) { return helper(); }\n",
    );
    let config = project
        .read("cegar/cegar.toml")
        .replace("\"../c/demo.c\"", "\"../c/demo.c\", \"../c/variant.c\"");
    project.write("cegar/cegar.toml", &config);
    let run = tool(&project, &format!("run {ENGINE}"));
    run.expect(exit::CLEAN)
        .expect_message("variant.c")
        .expect_message("defines `helper`, too, and the linker takes that");
    // If the variant is needed for another function, it stays, but the first definition is used
    // nevertheless.
    project.write(
        "c/demo.c",
        "#include \"demo.h\"\nint variant(void);\nint helper(void) { return 1; }\n\
         int demo(const unsigned char *data, size_t size)\n{\n    return size > 3 && data[0] == \
         variant();\n}\n",
    );
    let run = tool(&project, &format!("run {ENGINE}"));
    run.expect(exit::CLEAN)
        .expect_message("variant.c defines `helper`, too; what");
}

#[test]
fn two_files_of_ones_own_are_an_error() {
    let project = Project::empty();
    project.write(
        "a.c",
        "int f(void) { return 1; }\nint main(void) { return f(); }\n",
    );
    project.write("b.c", "int f(void) { return 2; }\n");
    tool(&project, &format!("check a.c b.c {ENGINE}"))
        .expect(exit::BUILD_FAILED)
        .expect_message("`f` is defined in both")
        .expect_message("b.c");
}

#[test]
fn what_goes_into_no_archive_is_no_part_of_the_library() {
    let project = Project::built_by(
        "cd \"$OUT_DIR\"; S=\"$CARGO_MANIFEST_DIR/c\"\n\
         for f in second first part; do \"$CC\" -c \"$S/$f.c\" -o $f.o; done\n\
         ar cr libodd.a first.o second.o\n\"$CC\" -shared -o part.so part.o second.o || \
         true\n\"$CC\" first.o part.o -o program || true\n",
        &[
            (
                "c/first.c",
                "int helper(void) { return 1; }\nint odd(int x) { return helper() / x; }\n",
            ),
            ("c/second.c", "int other(void) { return 2; }\n"),
            (
                "c/part.c",
                "int helper(void);\nint unused(void) { return helper(); }\n",
            ),
        ],
    );
    // `part.o` becomes part of a shared library here, so its source stays.
    tool(&project, "build --no-compile").expect(exit::CLEAN);
    let captured = project.read("cegar/captured.json");
    let at = |name: &str| {
        captured
            .find(name)
            .unwrap_or_else(|| panic!("no {name} in {captured}"))
    };
    assert!(at("first.c") < at("second.c"), "{captured}");
    assert!(captured.contains("part.c"), "{captured}");
    let script = project
        .read("build.rs")
        .replace("-shared -o part.so part.o", "-shared -o part.so");
    project.write("build.rs", &script);
    tool(&project, "build --no-compile")
        .expect(exit::CLEAN)
        .expect_message("part.c")
        .expect_message("part of a program, and of no library");
    assert!(!project.read("cegar/captured.json").contains("part.c"));
}

#[test]
fn a_build_in_the_folder_of_the_sources_is_captured_again() {
    let script = "cd \"$CARGO_MANIFEST_DIR/c\"; make -s CC=\"$CC\" libodd.a";
    let makefile = "libodd.a: odd.o part.o\n\tar rcs $@ $^\n";
    let project = Project::built_by(
        script,
        &[
            ("c/Makefile", makefile),
            (
                "c/odd.c",
                "int part(int);\nint odd(int x) { return part(x); }\n",
            ),
            ("c/part.c", "int part(int x) { return x; }\n"),
        ],
    );
    let captured = |expected: &str| {
        tool(&project, "build --no-compile").expect(exit::CLEAN);
        let captured = project.read("cegar/captured.json");
        assert!(captured.contains("odd.c"), "{expected}: {captured}");
        assert!(captured.contains("part.c"), "{expected}: {captured}");
        let forgotten = std::fs::remove_file(project.at("cegar/captured.json"));
        forgotten.unwrap_or_else(|why| panic!("{expected}: {why}"));
    };
    captured("from nothing");
    assert!(project.at("c/odd.o").is_file());
    captured("everything is up to date");
    // The time is 60 seconds ahead, since the file system may store whole seconds only.
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    let source = std::fs::File::options()
        .append(true)
        .open(project.at("c/part.c"));
    let touched = source.and_then(|file| file.set_modified(later));
    touched.unwrap_or_else(|why| panic!("{why}"));
    captured("one file is not up to date");
}

#[test]
fn exclude_takes_patterns_and_warns_of_those_that_match_nothing() {
    let project = Project::built_by(
        "cd \"$OUT_DIR\"; for f in odd extra/one extra/two; do \"$CC\" -c \
         \"$CARGO_MANIFEST_DIR/c/$f.c\"; done",
        &[
            ("c/odd.c", "int odd(int x) { return x; }\n"),
            (
                "c/extra/one.c",
                "int one(void) { return no_such_thing_1(); }\n",
            ),
            (
                "c/extra/two.c",
                "int two(void) { return no_such_thing_2(); }\n",
            ),
        ],
    );
    let config = project.read("cegar/cegar.toml");
    let with = |patterns: &str| {
        let text = config.replace("[c]\n", &format!("[c]\nexclude = [{patterns}]\n"));
        project.write("cegar/cegar.toml", &text);
    };
    with("\"extra/*.c\", \"misspelt/*\"");
    let run = tool(&project, "build --no-compile -v");
    run.expect(exit::CLEAN)
        .expect_message("`misspelt/*` under [c] exclude matches none of the 3 files")
        .expect_message("(1 file,");
    with("\"a**b\"");
    tool(&project, "build --no-compile")
        .expect(exit::USAGE)
        .expect_message("`a**b` under [c] exclude");
}

#[test]
fn a_harness_that_does_not_compile_stops_no_other() {
    let project = Project::package(
        "int demo(const unsigned char *data, size_t size)\n{\n    int all[4] = {0};\n    \
         return size > 2 && data[0] == 'b' && data[1] == 'u' ? all[data[2]] : 0;\n}\n",
    );
    let config = project.read("cegar/cegar.toml");
    project.write(
        "cegar/cegar.toml",
        &format!("{config}\n[harness.broken]\n\n[harness.calm]\n"),
    );
    project.write(
        "cegar/harnesses/broken.c",
        "int main(void) { return nonsense; }\n",
    );
    project.write("cegar/harnesses/calm.c", "int main(void) { return 0; }\n");
    let run = tool(&project, "run --engine-only --runs 1 broken calm");
    run.expect(exit::BUILD_FAILED)
        .expect_message("nonsense")
        .expect_message("checks:");
    let run = tool(&project, "run --engine-only --runs 1");
    run.expect(exit::VIOLATION)
        .expect_message("nonsense")
        .expect_message("Wrote");
    let ci = tool(&project, "ci --engine-only --runs 1");
    ci.expect_message("nonsense").expect_message("calm");
    assert_ne!(ci.code, Some(exit::CLEAN), "{ci}");
    // The same holds for the test package: the tests of the broken harness report the reason, the
    // others run.
    project.write(
        "cegar/tests/broken.rs",
        "#[test]\nfn of_broken() {\n    cegar_harness::Mock::new(\"broken\").run().expect_safe();\n\
         }\n#[test]\nfn of_calm() {\n    cegar_harness::Mock::new(\"calm\").run().expect_safe();\n\
         }\n",
    );
    let tests = cargo_test(
        &project.at("cegar"),
        &["--no-fail-fast", "--test", "broken"],
    );
    let all = format!("{}{}", tests.stdout, tests.stderr);
    assert!(all.contains("test of_calm ... ok"), "{all}");
    assert!(all.contains("harness `broken` was not built"), "{all}");
    assert!(all.contains("nonsense"), "{all}");
}

#[test]
fn c_compiled_as_cxx_is_taken_as_c_where_it_is_c() {
    let project = Project::built_by(
        "cd \"$OUT_DIR\"; for f in odd really; do \"$CXX\" -std=c++14 -c \
         \"$CARGO_MANIFEST_DIR/c/$f.c\"; done",
        &[
            (
                "c/odd.c",
                "#ifdef __cplusplus\nextern \"C\"\n#endif\nint odd(int x) { return x; }\n",
            ),
            (
                "c/really.c",
                "template <typename T> T same(T x) { return x; }\n\
                 int use(int x) { return same(x); }\n",
            ),
        ],
    );
    tool(&project, "build")
        .expect(exit::CLEAN)
        .expect_message(
            "odd.c is compiled as C++ by the build, and taken as the C that it is as well",
        )
        .expect_message("compiled as C++, and no C");
    tool(&project, &format!("run {ENGINE}")).expect(exit::CLEAN);
}

#[test]
fn a_crate_that_does_not_build_shows_its_own_error() {
    let project = Project::built_by(
        "\"$CC\" -c \"$CARGO_MANIFEST_DIR/c/odd.c\" -o \"$OUT_DIR/odd.o\"",
        &[(
            "c/odd.c",
            "int odd(int x) { return x; }\n#error this header is not for you\n",
        )],
    );
    tool(&project, "build")
        .expect(exit::BUILD_FAILED)
        .expect_message("this header is not for you");
    std::fs::remove_dir_all(project.at("cegar")).unwrap_or_else(|why| panic!("{why}"));
    let manifest = project
        .read("Cargo.toml")
        .replace("members = [\"cegar\"]\n", "");
    project.write("Cargo.toml", &manifest);
    tool(&project, "init").expect_message("this header is not for you");

    // The C code compiles, the Rust code does not: both are reported.
    let project = Project::built_by(
        "\"$CC\" -c \"$CARGO_MANIFEST_DIR/c/odd.c\" -o \"$OUT_DIR/odd.o\"",
        &[
            ("c/odd.c", "int odd(int x) { return x; }\n"),
            ("src/lib.rs", "fn wrong() -> u32 { \"no number\" }\n"),
        ],
    );
    tool(&project, "build")
        .expect(exit::CLEAN)
        .expect_message("does not build, only its C code was captured")
        .expect_message("mismatched types");
}

#[test]
fn init_says_what_it_waits_for() {
    let project = Project::built_by(
        "\"$CC\" -c \"$CARGO_MANIFEST_DIR/c/odd.c\" -o \"$OUT_DIR/odd.o\"",
        &[
            ("c/odd.c", "int odd(int x) { return x; }\n"),
            ("c/odd.h", "int odd(int x);\n"),
        ],
    );
    std::fs::remove_dir_all(project.at("cegar")).unwrap_or_else(|why| panic!("{why}"));
    let manifest = project
        .read("Cargo.toml")
        .replace("members = [\"cegar\"]\n", "");
    project.write("Cargo.toml", &manifest);
    tool(&project, "init --header c/odd.h")
        .expect(exit::CLEAN)
        .expect_message("Building odd-sys, to see which C files belong to it");
}

#[test]
fn an_output_parameter_makes_an_object() {
    let project = Project::built_by(
        "\"$CC\" -c \"$CARGO_MANIFEST_DIR/c/odd.c\" -o \"$OUT_DIR/odd.o\"",
        &[
            (
                "c/odd.h",
                "#include <stddef.h>\ntypedef struct odd odd_t;\nint odd_decoder(odd_t **out);\n\
                 int odd_eat(odd_t *o, const unsigned char *data, size_t size);\n\
                 void odd_free(odd_t *o);\n",
            ),
            (
                "c/odd.c",
                "#include <stdlib.h>\n#include \"odd.h\"\nstruct odd { int n; };\n\
                 int odd_decoder(odd_t **out) { *out = calloc(1, sizeof **out); return !*out; }\n\
                 int odd_eat(odd_t *o, const unsigned char *data, size_t size) { o->n += size ? \
                 data[0] : 0; return o->n; }\nvoid odd_free(odd_t *o) { free(o); }\n",
            ),
        ],
    );
    std::fs::remove_dir_all(project.at("cegar")).unwrap_or_else(|why| panic!("{why}"));
    let manifest = project
        .read("Cargo.toml")
        .replace("members = [\"cegar\"]\n", "");
    project.write("Cargo.toml", &manifest);
    tool(&project, "init --header c/odd.h --most 9").expect(exit::CLEAN);
    let text = project.read("cegar/harnesses/odd_eat.c");
    for part in ["odd_decoder(&", "if (!", "odd_eat(", "odd_free("] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
}

#[test]
fn programs_that_cannot_be_started_get_a_clear_word() {
    let project = Project::empty();
    project.write(
        "heap.c",
        "#include <stddef.h>\nstatic char all[64];\n\
         void *malloc(size_t n) { (void)n; return all; }\n\
         int main(void) { return malloc(3) != all; }\n",
    );
    tool(&project, &format!("check heap.c {ENGINE}"))
        .expect(exit::USAGE)
        .expect_message("heap.c defines `malloc` itself");
    project.write(
        "entry.c",
        "int work(const char *text, int n) { return text[n]; }\n",
    );
    tool(&project, &format!("check entry.c --entry work {ENGINE}"))
        .expect(exit::USAGE)
        .expect_message("`int work(const char *, int)`");
    project.write("long.c", "long main(void) { return 0; }\n");
    tool(&project, &format!("check long.c {ENGINE}"))
        .expect(exit::USAGE)
        .expect_message("`long main(void)`");
}

#[test]
fn what_only_native_code_saw_violated_is_not_open() {
    let project = Project::empty();
    project.write(
        "native.c",
        // After code that the machine does not model, only a signal is seen, which does not tell a
        // read from a write.
        "static char *volatile nowhere;\n\
         int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size)\n{\n    __asm__ \
         volatile(\"nop\");\n    char *room = nowhere;\n    if (size > 0)\n        room[data[0] & \
         1] = 1;\n    return 0;\n}\n",
    );
    let words = "check native.c --fuzz-only --runs 200 --no-emit --certificate left";
    tool(&project, words)
        .expect(exit::VIOLATION)
        .expect_message("1 violated");
    let kept: serde_json::Value = serde_json::from_str(&project.read("left/goals.json"))
        .unwrap_or_else(|error| panic!("{error}"));
    let goals = kept["goals"].as_array().cloned().unwrap_or_default();
    let here = goals
        .iter()
        .filter(|goal| goal["place"]["line"] == 7 && goal["check"] == "write");
    let statuses: Vec<String> = here.map(|goal| goal["status"].to_string()).collect();
    assert_eq!(statuses.len(), 1, "{goals:?}");
    assert!(statuses[0].contains("violated"), "{statuses:?}");
}

/// Claims that a run disproves are never proved, however seldom the run: the programs differ in
/// what an incomplete model would overlook.
#[test]
fn what_a_run_disproves_is_not_proved() {
    let project = Project::program("denied/ways.c");
    for case in 1..=13 {
        let property = match case {
            3 | 7 | 8 | 11 | 13 => "memory",
            12 => "overflow",
            _ => "assertion",
        };
        let words = format!(
            "check denied/ways.c -D CASE={case} --engine-only --no-emit --max-time 4s \
             --property {property}"
        );
        let run = tool(&project, &words);
        let last = run.stderr.lines().last().unwrap_or_default();
        let verdict = last.split(", ").nth(1).unwrap_or_default();
        let is_judged = ["open", "violated"]
            .iter()
            .any(|word| verdict.starts_with(word));
        assert!(is_judged, "case {case}: {run}");
    }
}

/// Claims that hold under an assumption name it, and are not made without it.
#[test]
fn a_narrowed_world_is_named() {
    let project = Project::program("denied/assumed.c");
    let rules = [
        "external-ends",
        "weak-symbols",
        "volatile-pointers",
        "inherited",
        "temporaries",
        "fast-math",
        "descriptors",
    ];
    for (case, rule) in (1..).zip(rules) {
        let words = format!(
            "check denied/assumed.c -D CASE={case} --engine-only --no-emit --max-time 10s --property \
             assertion --property memory --cflag -ffast-math"
        );
        let run = tool(&project, &words);
        run.expect_message(&format!("--no-assume {rule}"));
        run.expect_message(" proved");
        let lifted = tool(&project, &format!("{words} --no-assume {rule}"));
        let last = lifted.stderr.lines().last().unwrap_or_default();
        assert!(last.contains(" open;"), "{rule}: {lifted}");
    }
}
