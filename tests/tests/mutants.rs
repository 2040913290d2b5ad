//! Published libraries, each with one bound off by one: a check that a native execution violates
//! must not have been proved. The unchanged code contains hundreds of provable checks beside the
//! one that the mutant breaks, so that an unsound floor or prover shows here.
//!
//! The engine alone and the fuzzer alone check the same mutant, so that neither learns from the
//! other. A mutant that the fuzzer does not break in its time shows nothing; each library states
//! how many mutants have to be broken.
//!
//! Ignored by default, since the tests download the crates and take minutes:
//!
//! ```text
//! cargo test -p cegar-tests --test mutants -- --ignored --test-threads 1
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cegar_tests::{Ended, Project, Tool};
use serde_json::Value;

/// The text before each harness.
const PROLOGUE: &str = "#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n\n";

/// A library and its mutants.
struct Library {
    /// The crate's name, its version, and the folder of its C files.
    package: (&'static str, &'static str, &'static str),
    files: &'static [&'static str],
    defines: &'static [&'static str],
    harness: &'static str,
    /// The time for each of the two campaigns.
    time: &'static str,
    mutants: &'static [Mutant],
    /// The minimum number of mutants that native executions break.
    broken: usize,
}

/// A change of a file: a piece of its text and the replacement.
struct Mutant {
    file: &'static str,
    from: &'static str,
    to: &'static str,
}

const fn mutant(file: &'static str, from: &'static str, to: &'static str) -> Mutant {
    Mutant { file, from, to }
}

/// The folder with the C files of a library, as unpacked by cargo.
fn fetched(library: &Library, project: &Project) -> PathBuf {
    let (package, version, within) = library.package;
    project.write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\n{package} = {{ version = \"={version}\" }}\n"
        ),
    );
    project.write("src/lib.rs", "//! Empty.\n");
    let mut cargo = Command::new("cargo");
    cargo
        .args(["metadata", "--format-version", "1"])
        .current_dir(project.path());
    let output = cargo
        .output()
        .unwrap_or_else(|why| panic!("{cargo:?}: {why}"));
    let told = Ended::of(&cargo, output);
    told.expect(0);
    let metadata: Value = serde_json::from_str(&told.stdout).expect("metadata is JSON");
    let packages = metadata["packages"].as_array();
    let manifest = packages
        .and_then(|all| all.iter().find(|one| one["name"] == package))
        .and_then(|one| one["manifest_path"].as_str())
        .unwrap_or_else(|| panic!("{package} is not among the packages"));
    let root = Path::new(manifest).parent().unwrap_or(Path::new("/"));
    root.join(within)
}

/// Copies the C files and headers of a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap_or_else(|why| panic!("{}: {why}", to.display()));
    for entry in fs::read_dir(from).unwrap_or_else(|why| panic!("{}: {why}", from.display())) {
        let path = entry.expect("a folder can be read").path();
        let is_c = path.extension().is_some_and(|end| end == "c" || end == "h");
        if let (true, Some(name)) = (is_c, path.file_name()) {
            fs::copy(&path, to.join(name))
                .unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        }
    }
}

/// The checks of a campaign: the place and kind of each, and its status.
fn checks(library: &Library, folder: &Path, only: &str) -> Vec<(String, String)> {
    let words = ["check", "--no-emit", "--property", "memory", only];
    let certificate = format!("certificate{only}");
    let rest = ["--max-time", library.time, "--certificate", &certificate];
    let defines = library.defines.iter().flat_map(|name| ["-D", *name]);
    let words = words
        .into_iter()
        .chain(rest)
        .chain(["-I", "."])
        .chain(defines)
        .chain(["harness.c"])
        .chain(library.files.iter().copied());
    let ended = Tool::new(folder, words)
        .limit(Duration::from_secs(600))
        .run();
    let path = folder.join(&certificate).join("goals.json");
    let text = fs::read_to_string(&path).unwrap_or_else(|why| panic!("{why}\n{ended}"));
    let goals: Value = serde_json::from_str(&text).expect("goals are JSON");
    let all = goals["goals"].as_array().into_iter().flatten();
    all.filter(|goal| goal["kind"] == "check")
        .map(|goal| {
            let place = &goal["place"];
            let at = format!(
                "{}:{}:{} {} {}",
                place["file"], place["line"], place["column"], goal["check"], goal["id"]
            );
            (at, goal["status"].as_str().unwrap_or_default().to_owned())
        })
        .collect()
}

/// Whether a native execution breaks the mutant. Asserts that no check that it violates was proved.
fn is_broken(library: &Library, folder: &Path, mutant: &Mutant) -> bool {
    let proved = checks(library, folder, "--engine-only");
    let native = checks(library, folder, "--fuzz-only");
    let violated: Vec<&String> = native
        .iter()
        .filter(|(_, status)| status == "violated")
        .map(|(at, _)| at)
        .collect();
    let count = |words: &[&str]| {
        let is_one = |(_, status): &&(String, String)| words.contains(&status.as_str());
        proved.iter().filter(is_one).count()
    };
    eprintln!(
        "{} with {:?}: {} proved, {} open; natively violated: {violated:?}",
        library.package.0,
        mutant.to,
        count(&["proved", "unreachable"]),
        count(&["open"]),
    );
    for (at, status) in &proved {
        let is_proved = status == "proved" || status == "unreachable";
        assert!(
            !(is_proved && violated.contains(&at)),
            "{at} is {status} with {:?}, and an execution breaks it",
            mutant.to
        );
    }
    !violated.is_empty()
}

fn assert_no_mutant_proved(library: &Library) {
    let project = Project::empty();
    let sources = fetched(library, &project);
    let mut broken = 0;
    for (number, mutant) in library.mutants.iter().enumerate() {
        let folder = project.at(&format!("mutant-{number}"));
        copy(&sources, &folder);
        let path = folder.join(mutant.file);
        let text =
            fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        assert!(text.contains(mutant.from), "no {:?}", mutant.from);
        fs::write(&path, text.replacen(mutant.from, mutant.to, 1))
            .unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        fs::write(
            folder.join("harness.c"),
            format!("{PROLOGUE}{}", library.harness),
        )
        .unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
        broken += usize::from(is_broken(library, &folder, mutant));
    }
    assert!(
        broken >= library.broken,
        "executions broke {broken} mutants of {}, and {} were expected",
        library.package.0,
        library.broken
    );
}

#[test]
#[ignore = "downloads lzf-sys; three minutes"]
fn mutants_of_lzf() {
    assert_no_mutant_proved(
        const {
            &Library {
                package: ("lzf-sys", "0.1.1", "source"),
                files: &["lzf_d.c"],
                defines: &[],
                harness: "\
#include \"lzf.h\"
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char to[4096];
    if (size > 0)
        lzf_decompress(data, (unsigned)size, to, sizeof to);
    return 0;
}
",
                time: "15s",
                mutants: &[
                    mutant(
                        "lzf_d.c",
                        "if (op + ctrl > out_end)",
                        "if (op + ctrl > out_end + 1)",
                    ),
                    mutant(
                        "lzf_d.c",
                        "if (ip + ctrl > in_end)",
                        "if (ip + ctrl > in_end + 1)",
                    ),
                    mutant(
                        "lzf_d.c",
                        "if (op + len + 2 > out_end)",
                        "if (op + len + 1 > out_end)",
                    ),
                    mutant("lzf_d.c", "while (ip < in_end);", "while (ip <= in_end);"),
                ],
                broken: 3,
            }
        },
    );
}

#[test]
#[ignore = "downloads picohttpparser-sys; two minutes"]
fn mutants_of_picohttpparser() {
    assert_no_mutant_proved(
        const {
            &Library {
        package: ("picohttpparser-sys", "1.0.0", "deps/picohttpparser"),
        files: &["picohttpparser.c"],
        defines: &[],
        harness: "\
#include \"picohttpparser.h\"
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *method, *path;
    size_t method_len, path_len, count = 4;
    struct phr_header headers[4];
    int minor;
    phr_parse_request((const char *)data, size, &method, &method_len, &path, &path_len, &minor, headers, &count, 0);
    return 0;
}
",
        time: "20s",
        mutants: &[
            mutant("picohttpparser.c", "    if (buf == buf_end) \
                {", "    if (buf == buf_end + 1) {"),
            mutant("picohttpparser.c", "while (likely(buf_end - buf >= 8)) \
                {", "while (likely(buf_end - buf >= 7)) {"),
            mutant("picohttpparser.c", "if (*num_headers == \
                max_headers)", "if (*num_headers == max_headers + 1)"),
        ],
        broken: 1,
    }
        },
    );
}

#[test]
#[ignore = "downloads lz4-sys; three minutes"]
fn mutants_of_lz4() {
    assert_no_mutant_proved(
        const {
            &Library {
                package: ("lz4-sys", "1.11.1", "liblz4/lib"),
                files: &["lz4.c"],
                defines: &[],
                harness: "\
#include \"lz4.h\"
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char to[64];
    if (size > 1 << 20)
        return 0;
    LZ4_decompress_safe((const char *)data, to, (int)size, sizeof to);
    return 0;
}
",
                time: "30s",
                mutants: &[
                    mutant("lz4.c", "if (unlikely(srcSize==0)) { return -1; }", ""),
                    mutant(
                        "lz4.c",
                        "if ((ip+length != iend) || (cpy > oend)) {",
                        "if ((ip+length != iend) || (cpy > oend + 1)) {",
                    ),
                    mutant(
                        "lz4.c",
                        "if ((ip+length != iend) || (cpy > oend)) {",
                        "if ((ip+length != iend + 1) || (cpy > oend)) {",
                    ),
                ],
                broken: 2,
            }
        },
    );
}

#[test]
#[ignore = "downloads bzip2-sys; five minutes"]
fn mutants_of_bzip2() {
    assert_no_mutant_proved(
        const {
            &Library {
                package: ("bzip2-sys", "0.1.13+1.0.8", "bzip2-1.0.8"),
                files: &[
                    "blocksort.c",
                    "bzlib.c",
                    "compress.c",
                    "crctable.c",
                    "decompress.c",
                    "huffman.c",
                    "randtable.c",
                ],
                defines: &["BZ_NO_STDIO"],
                harness: "\
#include \"bzlib.h\"
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
                time: "40s",
                mutants: &[
                    mutant(
                        "decompress.c",
                        "if (groupNo >= nSelectors)",
                        "if (groupNo > nSelectors)",
                    ),
                    mutant(
                        "decompress.c",
                        "if (i < BZ_MAX_SELECTORS)",
                        "if (i <= BZ_MAX_SELECTORS)",
                    ),
                    mutant("decompress.c", "if (zn > 20 ", "if (zn > 21 "),
                    mutant(
                        "decompress.c",
                        "if (nGroups < 2 || nGroups > BZ_N_GROUPS)",
                        "if (nGroups < 2)",
                    ),
                ],
                broken: 1,
            }
        },
    );
}
