//! Dictionaries and seeds that were made for other fuzzers.

use cegar_tests::{Project, Tool, exit};

/// A function that aborts on an input that begins with a certain word, which no comparison reveals.
const CODE: &str = "\
void abort(void);
int demo(const unsigned char *data, size_t size)
{
    unsigned long hash = 5381;
    if (size < 8)
        return 0;
    for (int i = 0; i < 8; i++)
        hash = (hash * 33 ^ data[i]) % 4294967291u;
    if (hash * 2654435761u % 4294967291u == HASH)
        abort();
    return 0;
}
";

/// The hash of a word, as `CODE` computes it.
fn hash(word: &[u8; 8]) -> u64 {
    let hash = word.iter().fold(5381u64, |hash, byte| {
        (hash.wrapping_mul(33) ^ u64::from(*byte)) % 4_294_967_291
    });
    hash.wrapping_mul(2_654_435_761) % 4_294_967_291
}

fn project() -> Project {
    Project::package(&CODE.replace("HASH", &format!("{}u", hash(b"xyzzy!42"))))
}

fn run(project: &Project, more: &[&str]) -> cegar_tests::Ended {
    let words = ["run", "demo", "--fuzz-only", "--no-emit", "--runs", "20000"];
    Tool::new(project.path(), words.iter().chain(more)).run()
}

#[test]
fn a_word_of_a_dictionary_is_tried() {
    let project = project();
    project.write("words.dict", "# words\nmagic@1=\"xyzzy!\\x342\"\n");
    run(&project, &[]).expect(exit::CLEAN);
    run(&project, &["--dict", "words.dict@0"]).expect(exit::CLEAN);
    run(&project, &["--dict", "words.dict"]).expect(exit::VIOLATION);
}

#[test]
fn a_broken_line_of_a_dictionary_is_named() {
    let project = project();
    project.write("words.dict", "\"fine\"\n\nbad=\"\\xg0\"\n");
    let ended = run(&project, &["--dict", "words.dict"]);
    ended
        .expect(exit::USAGE)
        .expect_message("words.dict:3: two hexadecimal digits");
}

#[test]
fn seeds_are_taken_from_folders() {
    let project = project();
    project.write("samples/deep/one.bin", "xyzzy!42");
    project.write("samples/long.bin", &"x".repeat(5000));
    run(&project, &["--seeds", "samples"])
        .expect(exit::VIOLATION)
        .expect_message("1 of 2 seeds are longer than 4096 bytes");
    run(&project, &["--seeds", "nowhere"])
        .expect(exit::NOTHING_SELECTED)
        .expect_message("nowhere");
}

#[test]
fn seeds_of_a_harness_are_named_in_its_settings() {
    let project = project();
    project.write("samples/one.bin", "xyzzy!42");
    let text = project.read("cegar/cegar.toml");
    project.write(
        "cegar/cegar.toml",
        &text.replace("[harness.demo]", "[harness.demo]\nseeds = \"../samples\""),
    );
    run(&project, &[]).expect(exit::VIOLATION);
}

/// A harness of the kind that `init` writes reads a number before its data.
#[test]
fn a_seed_stands_behind_what_a_harness_asks_for_first() {
    let project = Project::empty();
    project.write(
        "program.c",
        &format!(
            "#include <stddef.h>\n#include <stdlib.h>\n#include <crunner.h>\n{}\nint main(void)\n\
             {{\n    size_t size;\n    long capacity = crunner_range(0, 1024);\n    unsigned char \
             *data = crunner_get_rest(&size);\n    if (capacity > 8)\n        demo(data, \
             size);\n    free(data);\n    return 0;\n}}\n",
            CODE.replace("HASH", &format!("{}u", hash(b"xyzzy!42")))
        ),
    );
    project.write("samples/one.bin", "xyzzy!42");
    let words = [
        "check",
        "program.c",
        "--fuzz-only",
        "--no-emit",
        "--runs",
        "5000",
    ];
    Tool::new(project.path(), words.iter().chain(&["--seeds", "samples"]))
        .run()
        .expect(exit::VIOLATION);
}

#[test]
fn init_names_what_the_crate_has() {
    let project = project();
    project.write("tests/corpus/one.bin", "one");
    project.write("fuzz/demo.dict", "\"one\"\n");
    Tool::new(project.path(), ["init", "--name", "other"])
        .run()
        .expect(exit::CLEAN)
        .expect_message("the crate has inputs")
        .expect_message("tests/corpus")
        .expect_message("demo.dict");
}
