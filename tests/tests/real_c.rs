//! Published C libraries as their own `-sys` crates build them: captured from the build script,
//! then fuzzed and searched for two minutes each through a harness of about ten lines.
//!
//! Ignored by default, since the tests download the crates and take a quarter of an hour:
//!
//! ```text
//! cargo test -p cegar-tests --test real_c -- --ignored --test-threads 1
//! ```
//!
//! `CEGAR_REAL_TIME` replaces the two minutes. The harnesses declare the one function that they
//! call, as a binding would, instead of including a header: the test is about capturing the
//! library, not about finding its headers.

use std::env;
use std::time::Duration;

use cegar_tests::{Ended, Project, Tool, cargo_test, exit};

/// The beginning of every harness.
const PROLOGUE: &str = "#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n\n";

/// The manifest of a package that depends on a crate.
fn manifest(dependency: &str) -> String {
    format!(
        "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [workspace]\n\n\
         [dependencies]\n{dependency}\n"
    )
}

/// An empty package that depends on a crate.
fn user(dependency: &str) -> Project {
    let project = Project::empty();
    project.write("Cargo.toml", &manifest(dependency));
    project.write("src/lib.rs", "//! Empty.\n");
    project
}

/// Runs the tool with these arguments on the dependency.
fn on(project: &Project, package: &str, words: &[&str]) -> Ended {
    let words = words.iter().copied().chain(["-p", package]);
    let limit = Duration::from_secs(900);
    Tool::new(project.path(), words).limit(limit).run()
}

fn time() -> String {
    env::var("CEGAR_REAL_TIME").unwrap_or_else(|_| "120s".to_owned())
}

fn campaign_agrees_with_machine(dependency: &str, name: &str, harness: &str) {
    let project = user(dependency);
    let package = dependency.split_whitespace().next().unwrap_or_default();
    let time = time();
    let tool = |words: &[&str]| on(&project, package, words);

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

    // The search relies on the corpus: the machine must see the same executions as native code.
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
    campaign_agrees_with_machine(
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
    campaign_agrees_with_machine(
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
    campaign_agrees_with_machine(
        "libz-sys = { version = \"1\", default-features = false, features = [\"libc\", \"static\"] \
         }",
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
    campaign_agrees_with_machine(
        "utf8proc-sys = \"0.1\"",
        "normalise",
        // Option 1 means that the text is NUL-terminated, which this text is not.
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
    campaign_agrees_with_machine(
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

/// A published vulnerability, in a vulnerable and in a fixed release.
struct Published<'a> {
    package: &'a str,
    /// The requirement in the manifest, with `VERSION` for the version.
    dependency: &'a str,
    vulnerable: &'a str,
    fixed: &'a str,
    harness: (&'a str, &'a str),
    /// The place: a suffix of the file's name, the lines of the statement, and the function.
    place: (&'a str, std::ops::RangeInclusive<u64>, &'a str),
}

impl Published<'_> {
    fn line(&self, version: &str) -> String {
        let rest = self.dependency.replace("VERSION", &format!("={version}"));
        format!("{} = {rest}", self.package)
    }

    /// Finds the vulnerability as a user of the crate would, and asserts that the test fails until
    /// the fixed release is used.
    fn rediscover(&self) {
        let project = user(&self.line(self.vulnerable));
        let (name, harness) = self.harness;
        let tool = |words: &[&str]| on(&project, self.package, words);
        tool(&["init", "--name", name]).expect(exit::CLEAN);
        let folder = format!("cegar-{}", self.package);
        project.write(&format!("{folder}/harnesses/{name}.c"), harness);

        let time = time();
        let run = tool(&["run", name, "--max-time", &time, "--message-format", "json"]);
        run.expect(exit::VIOLATION);
        let messages = run.messages();
        for message in &messages {
            assert_ne!(message["reason"], "worker-died", "{message}\n{run}");
        }
        let (file, lines, function) = &self.place;
        let found = messages
            .iter()
            .filter(|message| message["reason"] == "found")
            .find(|found| {
                let place = &found["place"];
                place["file"].as_str().is_some_and(|f| f.ends_with(file))
                    && place["line"].as_u64().is_some_and(|l| lines.contains(&l))
                    && place["function"] == *function
            })
            .unwrap_or_else(|| panic!("not found\n{run}"));
        let test = found["name"].as_str().unwrap_or_default();

        let failing = cargo_test(&project.at(&folder), &[test]);
        assert!(
            failing.code != Some(0) && failing.stdout.contains(&format!("test {test} ... FAILED")),
            "the test was to fail\n{failing}"
        );
        project.write("Cargo.toml", &manifest(&self.line(self.fixed)));
        tool(&["build"]).expect(exit::CLEAN);
        let passing = cargo_test(&project.at(&folder), &[test]);
        assert!(
            passing.code == Some(0) && passing.stdout.contains(&format!("test {test} ... ok")),
            "the test was to pass with {}\n{passing}",
            self.fixed
        );
        eprintln!("{} {}: {found}", self.package, self.vulnerable);
    }
}

#[test]
#[ignore = "downloads libz-sys 1.1.8 and 1.1.9; two minutes"]
fn cve_2022_37434_in_zlib() {
    Published {
        package: "libz-sys",
        dependency: "{ version = \"VERSION\", default-features = false, features = [\"libc\", \
            \"static\"] }",
        vulnerable: "1.1.8",
        fixed: "1.1.9",
        harness: ("gunzip", GUNZIP),
        place: ("src/zlib/inflate.c", 764..=766, "inflate"),
    }
    .rediscover();
}

/// The harness of a program that unpacks a file as it arrives and reads the header's fields.
const GUNZIP: &str = "#include <stdint.h>

#include \"zlib.h\"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char extra[64], name[64], comment[64], out[256];
    gz_header header = {.extra = extra, .extra_max = sizeof extra, .name = name, .name_max = sizeof name,
                        .comment = comment, .comm_max = sizeof comment};
    z_stream stream = {0};
    int result = Z_OK;

    if (inflateInit2(&stream, 15 + 32) != Z_OK)
        return 0;
    inflateGetHeader(&stream, &header);
    while (result == Z_OK && size > 0) {
        /* A piece: its length, then so many bytes. */
        uInt piece = *data % 128;
        data++, size--;
        if (piece > size)
            piece = size;
        stream.next_in = (Bytef *)data;
        stream.avail_in = piece;
        data += piece, size -= piece;
        do {
            stream.next_out = out;
            stream.avail_out = sizeof out;
            result = inflate(&stream, Z_NO_FLUSH);
        } while (result == Z_OK && stream.avail_out == 0);
        if (result == Z_BUF_ERROR)
            result = Z_OK; /* It wants more. */
    }
    inflateEnd(&stream);
    return 0;
}
";
