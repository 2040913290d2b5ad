//! Harnesses that `init` writes, from the signatures in a header and from a project's fuzz targets.
//! Each is usable as it is: it compiles, runs, and reports nothing for a correct library.

mod beside;
mod bounds;
mod callers;
mod containers;
mod declared;
mod headers;
mod stated;

use std::fs;

use cegar_tests::{Ended, Project, exit, program, tool};

/// A crate around `signatures/kv.c`, whose build script calls the compiler as the `cc` crate does.
fn library() -> Project {
    let project = Project::empty();
    project.write(
        "Cargo.toml",
        "[package]\nname = \"kv-sys\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    project.write(
        "src/lib.rs",
        "//! Empty: the C code is what matters here.\n",
    );
    project.write("c/include/kv.h", &program("signatures/kv.h"));
    project.write("c/kv.c", &program("signatures/kv.c"));
    project.write("c/internal.h", "int kv_hidden(int);\n");
    project.write(
        "build.rs",
        "use std::{env, process::Command};\n\
         fn main() {\n    \
             let cc = env::var(\"CC\").unwrap_or(\"cc\".into());\n    \
             let object = env::var(\"OUT_DIR\").unwrap() + \"/kv.o\";\n    \
             let words = [\"-Ic/include\", \"-c\", \"c/kv.c\", \"-o\", &object];\n    \
             assert!(Command::new(cc).args(words).status().unwrap().success());\n\
         }\n",
    );
    project
}

/// A run of one harness that ends at its first violation, or after this time.
fn until_violation(project: &Project, harness: &str, time: &str) -> Ended {
    let run = ["run", harness, "--max-time", time, "--until-violation"];
    tool(project, &[&run[..], &["--no-emit"]].concat())
}

/// The text of a harness after its includes.
fn body(project: &Project, function: &str) -> String {
    let text = project.read(&format!("cegar/harnesses/{function}.c"));
    let (_, body) = text
        .split_once("#include \"kv.h\"\n\n")
        .unwrap_or_else(|| panic!("no include of the header in\n{text}"));
    body.to_owned()
}

/// All kinds of parameters, found in the header with the library's name. Functions that cannot be
/// called are listed with the reason. All harnesses run together without a finding, since the
/// library is correct.
#[test]
fn a_header_becomes_harnesses() {
    let project = library();
    let init = tool(&project, &["init", "--no-try", "--most", "99"]);
    init.expect(exit::CLEAN)
        .expect_message("header c/include/kv.h")
        .expect_message("no harness, it takes any number of arguments: kv_format")
        .expect_message("`FILE *` belongs to the platform: kv_save")
        .expect_message("nothing in the header makes a `struct kv_nobody`: kv_ask")
        .expect_message("this build does not compile it: kv_nowhere")
        .expect_message("it takes no arguments: kv_version")
        .expect_message("it gives back memory that others make: kv_free_memory");

    let texts = [
        (
            "kv_check",
            "int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)\n{\n    \
             kv_check((const kv_byte *)data, size);\n    return 0;\n}\n",
        ),
        (
            "kv_unquote",
            "int main(void)\n{\n    \
             size_t dest_size = crunner_size(0, 1024);\n    \
             char *dest = malloc(dest_size);\n    \
             size_t destLen = (size_t)dest_size;\n    \
             size_t size;\n    \
             uint8_t *data = crunner_get_rest(&size);\n\n    \
             kv_unquote(dest, &destLen, (const char *)data, size);\n\n    \
             free(dest);\n    free(data);\n    return 0;\n}\n",
        ),
        (
            "kv_number",
            "int main(void)\n{\n    \
             const char *text = crunner_new_string();\n    int value = 0;\n\n    \
             kv_number(text, &value);\n    return 0;\n}\n",
        ),
    ];
    for (function, text) in texts {
        assert_eq!(body(&project, function), text);
    }
    let parts: [(&str, &[&str]); 10] = [
        ("kv_copy", &["kv_copy(data, dst, size, dst_size);"]),
        (
            "kv_skip",
            &[
                "crunner_assume((size_t)offset <= size);",
                "kv_skip((const kv_byte *)data, size, offset);",
            ],
        ),
        (
            "kv_put",
            &[
                "static const int every_kv_style[] = {KV_PLAIN, KV_QUOTED, KV_HEX};",
                "kv_t *kv = kv_new(&limits);\n    if (!kv)\n        return 0;",
                "const char *key = crunner_new_string();",
                "kv_free(kv);",
            ],
        ),
        (
            "kv_each",
            &[
                "static int on_visit(void *p1, const char *p2, int p3)\n",
                "    return crunner_range(0, 7) > 0 ? 0 : crunner_get_int();\n",
                "kv_parse(kv, (const char *)data, size);\n\n    kv_each(kv, on_visit, NULL);",
            ],
        ),
        (
            "kv_stream_step",
            &[
                "struct kv_stream stream = {0};\n    kv_stream_init(&stream);",
                "stream.next_in = (const kv_byte *)data;\n    stream.avail_in = (unsigned \
                 int)size;",
                "kv_stream_step(&stream, flush);",
                "kv_stream_end(&stream);",
            ],
        ),
        (
            "kv_pool_fill",
            &[
                "if (p4 == 0) {\n        free(p2);\n        return NULL;\n    }\n    return \
                 realloc(p2, p4);\n",
                "struct kv_pool *pool = kv_pool_new(on_take, NULL);",
                "kv_pool_free(pool);",
            ],
        ),
        (
            "kv_knock",
            &[
                "kv_door door = 0;\n    kv_open_door(kind, &door);\n    if (!door)\n        return \
                 0;",
                "kv_knock(door, times);\n\n    kv_close_door(&door);",
            ],
        ),
        (
            "kv_at",
            &[
                "const char *pathname = crunner_new_string();",
                "kv_at(pathname, entry_index);",
            ],
        ),
        (
            "kv_sound",
            &[
                "short wave[8192] = {0};",
                "kv_sound((const unsigned char *)data, (int)size, wave);",
            ],
        ),
        (
            "kv_mix",
            &[
                "uint8_t key[16];",
                "unsigned int rounds = crunner_size(0, 64);",
            ],
        ),
    ];
    for (function, parts) in parts {
        let text = body(&project, function);
        for part in parts {
            assert!(text.contains(part), "no\n{part}\nin\n{text}");
        }
    }

    let run = tool(
        &project,
        &[
            "run",
            "--fuzz-only",
            "--runs",
            "300",
            "--no-emit",
            "--message-format",
            "json",
        ],
    );
    run.expect(exit::CLEAN);
    let messages = run.messages();
    let ran = messages
        .iter()
        .filter(|m| m["reason"] == "compiled")
        .count();
    let written = fs::read_dir(project.at("cegar/harnesses")).expect("it was written");
    assert!(ran >= 11 && ran == written.count(), "{ran}\n{run}");

    // The existing harnesses belong to the user now; `init` adds one more.
    project.write(
        "cegar/harnesses/kv_check.c",
        "int main(void) { return 0; }\n",
    );
    let again = tool(
        &project,
        &[
            "init",
            "--no-try",
            "--function",
            "kv_ch*",
            "--name",
            "other",
        ],
    );
    again.expect(exit::CLEAN);
    let config = project.read("cegar/cegar.toml");
    assert!(
        config.contains("[harness.other]\nfile = \"harnesses/other.c\"")
            && config.contains("[harness.kv_mix]"),
        "{config}"
    );
    assert!(
        project
            .read("cegar/harnesses/kv_check.c")
            .contains("return 0")
    );
}

/// `--most` limits the number of harnesses; the most promising functions come first, and the number
/// of the others is reported.
#[test]
fn the_most_promising_functions_come_first() {
    let project = library();
    let init = tool(&project, &["init", "--no-try", "--most", "2"]);
    init.expect(exit::CLEAN)
        .expect_message("more could be driven; name them with --function, or raise --most");
    let mut written: Vec<String> = fs::read_dir(project.at("cegar/harnesses"))
        .expect("it was written")
        .map(|entry| {
            entry
                .expect("readable")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    written.sort();
    assert_eq!(written.len(), 2, "{written:?}");
    assert!(written.contains(&"kv_parse.c".to_owned()), "{written:?}");
    tool(&project, &["init", "--function", "kv_prase"])
        .expect(exit::NOTHING_SELECTED)
        .expect_message("did you mean `kv_parse`?");
    tool(&project, &["init", "--function", "kv_save"])
        .expect(exit::NOTHING_SELECTED)
        .expect_message("belongs to the platform");
}

/// A fuzz target stays in its place, and its corpus is copied; files that are not C are named.
#[test]
fn fuzz_targets_are_taken_over() {
    let project = library();
    project.write(
        "fuzz/fuzz_check.c",
        "#include \"kv.h\"\n#include \"limits_of_fuzzing.h\"\n\n\
         int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)\n{\n    if (size < \
         MOST)\n        kv_check(data, size);\n    return 0;\n}\n",
    );
    project.write("fuzz/limits_of_fuzzing.h", "#define MOST 100\n");
    project.write(
        "fuzz/fuzz_parse.c",
        "#include <none.h>\nint LLVMFuzzerTestOneInput(void);\n",
    );
    project.write(
        "fuzz/more.cc",
        "extern \"C\" int LLVMFuzzerTestOneInput();\n",
    );
    project.write("fuzz/corpus/fuzz_check/one", "{{}}");
    project.write("fuzz/corpus/fuzz_check/two", "}");
    project.write("fuzz/corpus/other/three", "x");
    let init = tool(&project, &["init", "--from-fuzz", "fuzz"]);
    init.expect(exit::CLEAN)
        .expect_message("took over")
        .expect_message("corpus of fuzz_check: 2 new inputs of 2")
        .expect_message("C++ is not read")
        .expect_message("it does not compile: 'none.h' file not found");
    let config = project.read("cegar/cegar.toml");
    assert!(
        config.contains("file = \"../fuzz/fuzz_check.c\""),
        "{config}"
    );
    let list = tool(&project, &["list"]);
    list.expect(exit::CLEAN);
    assert!(list.stdout.contains("corpus 2"), "{list}");
    let run = tool(
        &project,
        &["run", "--fuzz-only", "--runs", "300", "--no-emit"],
    );
    run.expect(exit::CLEAN);
    let replayed = tool(
        &project,
        &["replay", "fuzz_check", "fuzz/corpus/fuzz_check"],
    );
    replayed.expect(exit::CLEAN);

    tool(&project, &["init", "--from-fuzz", "c"])
        .expect(exit::NOTHING_SELECTED)
        .expect_message("no fuzz target can be taken over");
}

/// If no header has the crate's name, the header that declares the functions called by the crate's
/// Rust code is selected, and the other header is named.
#[test]
fn the_header_that_the_crate_binds_is_taken() {
    let project = library();
    let manifest = project.read("Cargo.toml").replace("kv-sys", "boxes-sys");
    project.write("Cargo.toml", &manifest);
    project.write(
        "c/include/accents.h",
        "int kv_accent(int);\nint kv_check(const unsigned char *text, unsigned long length);\n",
    );
    project.write(
        "src/lib.rs",
        "unsafe extern \"C\" {\n    pub fn kv_check(text: *const u8, length: usize) -> i32;\n    \
         pub fn kv_number(text: *const i8, value: *mut i32) -> i64;\n    pub fn kv_mix(key: *mut \
         u8, rounds: u32) -> i32;\n}\n",
    );
    tool(&project, &["init"])
        .expect(exit::CLEAN)
        .expect_message("header c/include/kv.h");
}

/// A second header changes the declarations of the library's header if it is included first. Users
/// include it later or not at all, so the harness must not include it first.
#[test]
fn a_header_beside_the_own_one_does_not_change_it() {
    let project = library();
    project.write(
        "c/include/kv_inline.h",
        "#define KV_INLINE\n#include \"kv.h\"\nstatic inline int kv_inlined(int n) { return n; }\n",
    );
    let header = project.read("c/include/kv.h");
    let header = format!("#ifdef KV_INLINE\n#define kv_check kv_check_inline\n#endif\n{header}");
    project.write("c/include/kv.h", &header);
    tool(&project, &["init", "--no-try", "--function", "kv_check"]).expect(exit::CLEAN);
    assert!(body(&project, "kv_check").contains("kv_check((const kv_byte *)data, size);"));
}

/// A library of one C file has no header. Its harnesses are derived from the declarations in the
/// crate's Rust code.
#[test]
fn a_library_of_one_file_needs_no_header() {
    let project = Project::empty();
    project.write(
        "Cargo.toml",
        "[package]\nname = \"dot-sys\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    project.write(
        "src/lib.rs",
        "//! Bindings.\nunsafe extern \"C\" {\n    pub fn dot_read(data: *const u8, len: i32, \
         grid: *mut core::ffi::c_void) -> i32;\n}\n",
    );
    project.write(
        "c/dot.c",
        "#ifndef DOT_H\n#define DOT_H\n#define DOT_ROOM 4\n#define DOTDEF extern\n\
         typedef unsigned char dot_byte;\n\
         typedef struct { int wide, high; dot_byte cells[DOT_ROOM]; } dot_grid;\n\
         DOTDEF int dot_read(const dot_byte *data, int len, dot_grid *grid);\n#endif\n\
         struct dot_inner { int unused; };\nstatic int within(int n) { return n < DOT_ROOM; }\n\
         int dot_read(const dot_byte *data, int len, dot_grid *grid)\n{\n    for (int i = 0; i < \
         len; i++)\n        if (within(i))\n            grid->cells[i] = data[i];\n    return \
         len;\n}\n",
    );
    project.write(
        "build.rs",
        "use std::{env, process::Command};\n\
         fn main() {\n    \
             let cc = env::var(\"CC\").unwrap_or(\"cc\".into());\n    \
             let object = env::var(\"OUT_DIR\").unwrap() + \"/dot.o\";\n    \
             let words = [\"-c\", \"c/dot.c\", \"-o\", &object];\n    \
             assert!(Command::new(cc).args(words).status().unwrap().success());\n\
         }\n",
    );
    tool(&project, &["init", "--no-try"])
        .expect(exit::CLEAN)
        .expect_message(
            "the library has no header: harnesses/dot.h declares what c/dot.c has for its users",
        );
    let header = project.read("cegar/harnesses/dot.h");
    assert!(
        header.contains("#define DOT_ROOM 4") && !header.contains("dot_inner"),
        "{header}"
    );
    let harness = project.read("cegar/harnesses/dot_read.c");
    assert!(
        harness.contains("dot_read((const dot_byte *)data, (int)size, &grid);"),
        "{harness}"
    );
    tool(&project, &["run", "--runs", "500"]).expect(exit::CLEAN);
}

/// An object of type `void *` is released once, and a callback that returns the amount of data also
/// sets the pointer to it.
#[test]
fn plain_objects_end_once_and_callbacks_hand_memory_over() {
    let project = library();
    project.write(
        "c/include/kv.h",
        "void *kv_state_init(int mode);\nvoid kv_state_destroy(void *state);\n\
         int kv_state_mode(void *state);\n\
         typedef long (*kv_reader)(void *user, float **to);\n\
         float kv_sum(kv_reader reader, void *user);\n",
    );
    project.write(
        "c/kv.c",
        "#include <stdlib.h>\n#include \"kv.h\"\n\
         void *kv_state_init(int mode) { int *state = malloc(sizeof *state); if (state) *state = \
         mode; return state; }\nvoid kv_state_destroy(void *state) { free(state); }\n\
         int kv_state_mode(void *state) { return *(int *)state; }\n\
         float kv_sum(kv_reader reader, void *user)\n{\n    float none, *at = &none, sum = 0;\n    \
         long n = reader(user, &at);\n    for (long i = 0; i < 2 * n; i++)\n        sum += \
         at[i];\n    return sum;\n}\n",
    );
    tool(&project, &["init", "--no-try"])
        .expect(exit::CLEAN)
        .expect_message("called in their harnesses: kv_state_destroy");
    assert!(body(&project, "kv_state_mode").contains("kv_state_destroy(state);"));
    assert!(body(&project, "kv_sum").contains("*p2 = memory;"));
    tool(&project, &["run", "--runs", "500"]).expect(exit::CLEAN);
}

/// The safe methods of a Rust wrapper may be called in any order. The fault appears only after a
/// certain sequence of calls.
#[test]
fn safe_methods_show_the_order_of_calls() {
    let project = Project::before_init(
        "cd \"$CARGO_MANIFEST_DIR\"\n\"$CC\" -Ic -c c/stack.c -o \"$OUT_DIR/stack.o\"\n",
        &[
            (
                "c/stack.h",
                "struct stack;\nstruct stack *stack_new(void);\n\
                 void stack_free(struct stack *stack);\n\
                 int stack_add(struct stack *stack, int value);\n\
                 int stack_drop(struct stack *stack);\nint stack_peek(const struct stack *stack);\n\
                 int stack_reset(struct stack *stack, int value);\n",
            ),
            (
                "c/stack.c",
                "#include <stdlib.h>\n#include \"stack.h\"\n\
                 struct stack { int values[4]; int depth; };\n\
                 struct stack *stack_new(void) { return calloc(1, sizeof(struct stack)); }\n\
                 void stack_free(struct stack *stack) { free(stack); }\n\
                 int stack_add(struct stack *stack, int value)\n{\n    if (stack->depth == 4) \
                 return -1;\n    stack->values[stack->depth++] = value;\n    return 0;\n}\n\
                 int stack_drop(struct stack *stack) { return --stack->depth; }\n\
                 int stack_peek(const struct stack *stack) { return stack->depth; }\n\
                 int stack_reset(struct stack *stack, int value) { return stack->values[value & \
                 7]; }\n",
            ),
            (
                "src/stack.rs",
                "use crate::ffi::*;\npub struct Stack { raw: *mut Raw }\nimpl Stack {\n    pub fn \
                 new() -> Stack { Stack { raw: unsafe { stack_new() } } }\n    pub fn add(&mut \
                 self, value: i32) -> bool { unsafe { stack_add(self.raw, value) == 0 } }\n    pub \
                 fn drop_last(&mut self) -> Option<i32> {\n        let left = unsafe { \
                 stack_drop(self.raw) };\n        (left >= 0).then_some(left)\n    }\n    pub fn \
                 depth(&self) -> i32 { unsafe { stack_peek(self.raw) } }\n    pub unsafe fn \
                 reset(&mut self, value: i32) { unsafe { stack_reset(self.raw, value); } }\n}\n\
                 impl Drop for Stack { fn drop(&mut self) { unsafe { stack_free(self.raw) } } }\n",
            ),
        ],
    );
    tool(&project, &["init", "--no-try"])
        .expect(exit::CLEAN)
        .expect_message("uses_stack.c: stack_add, stack_drop, stack_peek");
    let harness = project.read("cegar/harnesses/uses_stack.c");
    assert!(
        harness.contains("what callers do: src/stack.rs.") && !harness.contains("stack_reset"),
        "{harness}"
    );
    until_violation(&project, "uses_stack", "12s")
        .expect(exit::VIOLATION)
        .expect_message("stack.c:9");
}
