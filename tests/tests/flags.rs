//! The crate's own build determines its C program: the layout of its types, the macros of each
//! file, the headers that are included first. A harness that is compiled with other flags tests
//! another program.

use cegar_tests::{Ended, Project, Tool, cargo_test, exit};

fn tool(project: &Project, words: &str) -> Ended {
    Tool::new(project.path(), words.split(' ')).run()
}

const HEADER: &str = "#include <stddef.h>\n\
    #ifndef SLOTS\n#define SLOTS 8\n#endif\n\
    enum tone { LOW, HIGH };\n\
    struct note { enum tone tone; unsigned char slots[SLOTS]; };\n\
    void note_fill(struct note *note, const unsigned char *data, size_t size);\n\
    void tune_fill(struct note *note, const unsigned char *data, size_t size);\n";

/// A function that writes one byte past the structure's end.
fn past_the_end(name: &str) -> String {
    format!(
        "#include \"note.h\"\n\
         void {name}(struct note *note, const unsigned char *data, size_t size)\n{{\n    unsigned \
         char *end = (unsigned char *)(note + 1);\n    for (size_t i = 0; i < size && i < sizeof \
         note->slots; i++) note->slots[i] = data[i];\n    if (size > 2 && data[2] == '#') *end = \
         0;\n}}\n"
    )
}

#[test]
fn a_harness_has_the_librarys_layout() {
    let project = Project::before_init(
        "cd \"$CARGO_MANIFEST_DIR\"\n\"$CC\" -fshort-enums -fpack-struct=1 -Ic -include first.h -c \
         c/note.c -o \"$OUT_DIR/note.o\"\n",
        &[
            ("c/note.h", HEADER),
            ("c/first.h", "#define FIRST 1\n"),
            (
                "c/note.c",
                &format!(
                    "#if FIRST != 1\n#error first.h was left out\n#endif\n\
                     {}_Static_assert(sizeof(struct note) == 9, \"packed\");\n",
                    past_the_end("note_fill")
                ),
            ),
        ],
    );
    tool(&project, "init --no-try --function note_fill").expect(exit::CLEAN);
    tool(&project, "run --engine-only --max-time 60s")
        .expect(exit::VIOLATION)
        .expect_message("offset 9 of `note` (9 bytes");
    // Another compiler builds the test; it also searches the include folders for `first.h`.
    cargo_test(&project.at("cegar"), &[])
        .expect(101)
        .expect_message("test failed, to rerun pass `--test note_fill`");
}

#[test]
fn a_harness_has_the_macros_of_its_functions_file() {
    let project = Project::before_init(
        "cd \"$CARGO_MANIFEST_DIR\"\n\
         \"$CC\" -Ic -DSLOTS=8 -c c/note.c -o \"$OUT_DIR/note.o\"\n\
         \"$CC\" -Ic -D SLOTS=3 -c c/tune.c -o \"$OUT_DIR/tune.o\"\n",
        &[
            ("c/note.h", HEADER),
            ("c/note.c", &past_the_end("note_fill")),
            (
                "c/tune.c",
                &past_the_end("tune_fill").replace("*end = 0", "end[-1] = 0"),
            ),
        ],
    );
    tool(&project, "init --no-try").expect(exit::CLEAN);
    let config = project.read("cegar/cegar.toml");
    assert!(
        config.contains("defines = [\"SLOTS=8\"]") && config.contains("defines = [\"SLOTS=3\"]"),
        "{config}"
    );
    tool(&project, "run --engine-only --max-time 60s")
        .expect(exit::VIOLATION)
        .expect_message("of `note` (12 bytes")
        .expect_message("1 violated, 7 proved, 0 open");
}

#[test]
fn macros_by_any_spelling_decide_what_is_compiled() {
    let project = Project::before_init(
        "cd \"$CARGO_MANIFEST_DIR\"\n\"$CC\" -O2 -fwrapv -Wp,-DWIDE,-DWIDTH=9 -Xpreprocessor \
         -DTHERE -Ic -x c -c c/odd.inc -o \"$OUT_DIR/odd.o\"\n",
        &[
            (
                "c/odd.h",
                "#include <stddef.h>\nint odd(const unsigned char *data, size_t size);\n",
            ),
            (
                "c/odd.inc",
                "#include \"odd.h\"\nint odd(const unsigned char *data, size_t size)\n{\n    int \
                 sum = 1;\n    for (size_t i = 0; i < size; i++) sum = sum * 31 + data[i];\n\
                 #if defined WIDE && defined THERE && defined __OPTIMIZE__\n    static int \
                 cells[WIDTH];\n    if (size > 1 && data[0] == 'w') sum += cells[data[1] % (WIDTH \
                 + 1)];\n#endif\n    return sum;\n}\n",
            ),
        ],
    );
    tool(&project, "init --no-try --function odd --header c/odd.h").expect(exit::CLEAN);
    let config = project.read("cegar/cegar.toml").replace(
        "[harness.odd]",
        "[harness.odd]\nproperty = [\"memory\", \"overflow\"]",
    );
    project.write("cegar/cegar.toml", &config);
    let run = tool(&project, "run --engine-only --max-time 60s");
    run.expect(exit::VIOLATION).expect_message("cells");
    // With -fwrapv, signed overflow is defined and not reported.
    let text = run.to_string();
    assert!(!text.contains("signed overflow"), "{text}");
}

#[test]
fn what_a_crates_compiler_takes_is_compiled() {
    let project = Project::before_init(
        "cd \"$CARGO_MANIFEST_DIR\"\n\"$CC\" -w -std=gnu89 -c c/old.c -o \"$OUT_DIR/old.o\" || \
         true\n",
        &[
            ("c/old.h", "int old(int n);\n"),
            (
                "c/old.c",
                "#include \"old.h\"\nint helped(n) int n; { char *at = n; return at != 0; }\n\
                 old(n) int n; { return later(n) + helped(n); }\nlater(n) { return n > 3; }\n",
            ),
        ],
    );
    tool(&project, "init --no-try --function old").expect(exit::CLEAN);
    tool(&project, "run --engine-only --max-time 60s").expect(exit::CLEAN);
    // Flags that change the types of the C library are refused.
    let script = project
        .read("build.rs")
        .replace("-std=gnu89", "-fshort-wchar");
    project.write("build.rs", &script);
    tool(&project, "run --engine-only --max-time 60s")
        .expect(exit::BUILD_FAILED)
        .expect_message("`-fshort-wchar`, which is not supported");
    // Flags that clang would ignore are refused as well.
    for flag in ["-funsigned-bitfields", "-fsingle-precision-constant"] {
        project.write("build.rs", &script.replace("-fshort-wchar", flag));
        tool(&project, "run --engine-only --max-time 60s")
            .expect(exit::BUILD_FAILED)
            .expect_message(&format!("`{flag}`, which is not supported"));
    }
}

/// If a mocked function is defined by C code of another crate in the build, that crate is named.
#[test]
fn a_library_of_another_crate_is_named() {
    let project = Project::before_init(
        "cd \"$CARGO_MANIFEST_DIR\"\n\"$CC\" -c c/top.c -o \"$OUT_DIR/top.o\"\n",
        &[
            ("c/top.h", "int top(int n);\n"),
            (
                "c/top.c",
                "#include \"top.h\"\nint base(int);\nint top(int n) { return base(n); }\n",
            ),
            (
                "base/Cargo.toml",
                "[package]\nname = \"base-sys\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
                 links = \"base\"\n",
            ),
            ("base/src/lib.rs", ""),
            ("base/base.c", "int base(int n) { return n; }\n"),
            (
                "base/build.rs",
                "use std::{env, process::Command};\nfn main() {\n    let out = \
                 env::var(\"OUT_DIR\").unwrap();\n    let cc = \
                 env::var(\"CC\").unwrap_or(\"cc\".into());\n    let object = out.clone() + \
                 \"/base.o\";\n    assert!(Command::new(cc).args([\"-c\", \"base.c\", \"-o\", \
                 &object]).status().unwrap().success());\n    \
                 assert!(Command::new(\"ar\").args([\"crs\", &(out + \"/libbase.a\"), \
                 &object]).status().unwrap().success());\n}\n",
            ),
        ],
    );
    let manifest = project.read("Cargo.toml");
    project.write(
        "Cargo.toml",
        &format!("{manifest}\n[dependencies]\nbase-sys = {{ path = \"base\" }}\n"),
    );
    tool(&project, "init --no-try --function top").expect(exit::CLEAN);
    tool(&project, "run --engine-only --runs 1 --no-emit")
        .expect(exit::CLEAN)
        .expect_message("`base-sys`, which this build compiles as well, has base");
}
