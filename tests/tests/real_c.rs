//! C libraries that others wrote, as their own `-sys` crates build them: captured from the build script, fuzzed and
//! searched for two minutes each through a harness of about ten lines.
//!
//! Ignored by default, since it downloads the crates and takes a quarter of an hour:
//!
//! ```text
//! cargo test -p cegar-tests --test real_c -- --ignored --test-threads 1
//! ```
//!
//! `CEGAR_REAL_TIME` changes the two minutes. The harnesses declare the one function they call, as a binding would,
//! rather than include a header: what is tested is the capture of the library, not the search for its headers.

use std::env;
use std::time::Duration;

use cegar_tests::{Project, Tool, exit};

/// What every harness begins with.
const PROLOGUE: &str = "#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n\n";

fn hold(dependency: &str, name: &str, harness: &str) {
    let project = Project::empty();
    project.write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [workspace]\n\n\
             [dependencies]\n{dependency}\n"
        ),
    );
    project.write("src/lib.rs", "//! Empty.\n");
    let package = dependency.split_whitespace().next().unwrap_or_default();
    let time = env::var("CEGAR_REAL_TIME").unwrap_or_else(|_| "120s".to_owned());
    let limit = Duration::from_secs(600);
    let tool = |words: &[&str]| {
        let words = words.iter().copied().chain(["-p", package]);
        Tool::new(project.path(), words).limit(limit).run()
    };

    tool(&["init", "--name", name]).expect(exit::CLEAN);
    let folder = format!("cegar-{package}");
    project.write(
        &format!("{folder}/harnesses/{name}.c"),
        &format!("{PROLOGUE}{harness}"),
    );

    let built = tool(&["build"]);
    built.expect(exit::CLEAN);
    assert!(
        project.at(&format!("{folder}/captured.json")).is_file(),
        "nothing was captured\n{built}"
    );

    let run = tool(&["run", name, "--max-time", &time, "--message-format", "json"]);
    let finished = run.finished();
    assert!(
        matches!(run.code, Some(exit::CLEAN | exit::VIOLATION)),
        "{run}"
    );
    assert!(
        finished["stats"]["executions"].as_u64() > Some(10_000),
        "{run}"
    );
    assert!(
        finished["goals"]["edges"]["covered"].as_u64() > Some(20),
        "{run}"
    );
    for message in run.messages() {
        assert_ne!(message["reason"], "non-deterministic", "{message}\n{run}");
        assert_ne!(message["reason"], "worker-died", "{message}\n{run}");
    }

    // The corpus is what the search rests on: the machine must see what happens natively.
    let replayed = tool(&["replay", name, "--message-format", "json"]);
    assert!(
        matches!(replayed.code, Some(exit::CLEAN | exit::VIOLATION)),
        "{replayed}"
    );
    let messages = replayed.messages();
    for message in &messages {
        if message["reason"] == "replayed" {
            assert!(message["disagreement"].is_null(), "{message}");
        }
    }
    let agreement = messages
        .iter()
        .find(|message| message["reason"] == "agreement")
        .unwrap_or_else(|| panic!("no word of agreement\n{replayed}"));
    assert_eq!(agreement["agreed"], agreement["inputs"], "{agreement}");
    assert!(agreement["inputs"].as_u64() > Some(1), "{agreement}");
    eprintln!("{name} of {package}: {finished} {agreement}");
}

#[test]
#[ignore = "downloads bzip2-sys; two minutes"]
fn bzip2() {
    hold(
        "bzip2-sys = { version = \"0.1\", features = [\"static\"] }",
        "decompress",
        "int BZ2_bzBuffToBuffDecompress(char *to, unsigned *size, char *from, unsigned length, int small, int verbosity);
void bz_internal_error(int code)
{
    exit(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char to[4096];
    unsigned length = sizeof to;
    BZ2_bzBuffToBuffDecompress(to, &length, (char *)data, (unsigned)size, 0, 0);
    return 0;
}
",
    );
}

#[test]
#[ignore = "downloads lz4-sys; two minutes"]
fn lz4() {
    hold(
        "lz4-sys = \"1\"",
        "decompress",
        "int LZ4_decompress_safe(const char *from, char *to, int size, int capacity);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char to[4096];
    LZ4_decompress_safe((const char *)data, to, (int)size, sizeof to);
    return 0;
}
",
    );
}

#[test]
#[ignore = "downloads libz-sys; two minutes"]
fn zlib() {
    hold(
        "libz-sys = { version = \"1\", default-features = false, features = [\"libc\", \"static\"] }",
        "decompress",
        "int uncompress(unsigned char *to, unsigned long *length, const unsigned char *from, unsigned long size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char to[4096];
    unsigned long length = sizeof to;
    uncompress(to, &length, data, size);
    return 0;
}
",
    );
}

#[test]
#[ignore = "downloads utf8proc-sys; two minutes"]
fn utf8proc() {
    hold(
        "utf8proc-sys = \"0.1\"",
        "normalise",
        // Option 1 says that the text ends with NUL, and this text does not.
        "ptrdiff_t utf8proc_map(const uint8_t *from, ptrdiff_t size, uint8_t **to, int options);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *to = NULL;
    if (size > 0 && utf8proc_map(data + 1, (ptrdiff_t)size - 1, &to, data[0] & ~1) >= 0)
        free(to);
    return 0;
}
",
    );
}

#[test]
#[ignore = "downloads picohttpparser-sys; two minutes"]
fn picohttpparser() {
    hold(
        "picohttpparser-sys = \"1\"",
        "request",
        "struct phr_header {
    const char *name;
    size_t name_len;
    const char *value;
    size_t value_len;
};
int phr_parse_request(const char *buf, size_t len, const char **method, size_t *method_len, const char **path,
                      size_t *path_len, int *minor_version, struct phr_header *headers, size_t *num_headers,
                      size_t last_len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *method, *path;
    size_t method_len, path_len, count = 16;
    struct phr_header headers[16];
    int minor;
    phr_parse_request((const char *)data, size, &method, &method_len, &path, &path_len, &minor, headers, &count, 0);
    return 0;
}
",
    );
}
