//! How many checks of published libraries the prover settles: one harness for each, memory errors, no fuzzer.
//!
//!     cargo build --release -p cargo-cegar
//!     cargo bench -p cegar-benches --bench libraries -- [seconds] [library ...]
//!
//! The crates are downloaded by cargo into its own cache. Their C files are named here, so that nothing of a crate is built or run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use cegar_benches::{Result, numbers, tool};
use serde_json::Value;

/// A library and what is checked of it.
struct Library {
    /// What the table calls it.
    name: &'static str,
    /// The crate, what stands for it under `[dependencies]`, and where its C files lie.
    package: (&'static str, &'static str, &'static str),
    /// The C files.
    files: &'static [&'static str],
    /// Definitions that the crate's build gives.
    defines: &'static [&'static str],
    /// Where headers lie, relative to the C files.
    include: &'static str,
    /// The harness.
    harness: &'static str,
}

const LIBRARIES: &[Library] = &[
    Library {
        name: "lz4",
        package: ("lz4-sys", "\"=1.11.1\"", "liblz4/lib"),
        files: &["lz4.c"],
        defines: &[],
        include: ".",
        harness: include_str!("../programs/libraries/lz4.c"),
    },
    Library {
        name: "bzip2",
        package: ("bzip2-sys", "\"=0.1.13\"", "bzip2-1.0.8"),
        files: &[
            "blocksort.c",
            "bzlib.c",
            "compress.c",
            "crctable.c",
            "decompress.c",
            "huffman.c",
            "randtable.c",
        ],
        defines: &["BZ_NO_STDIO", "_FILE_OFFSET_BITS=64"],
        include: ".",
        harness: include_str!("../programs/libraries/bzip2.c"),
    },
    Library {
        name: "zlib",
        package: (
            "libz-sys",
            "{ version = \"=1.1.31\", default-features = false, features = [\"libc\"] }",
            "src/zlib",
        ),
        files: &[
            "adler32.c",
            "crc32.c",
            "inffast.c",
            "inflate.c",
            "inftrees.c",
            "uncompr.c",
            "zutil.c",
        ],
        defines: &["STDC", "_LARGEFILE64_SOURCE", "_POSIX_SOURCE"],
        include: ".",
        harness: include_str!("../programs/libraries/zlib.c"),
    },
    Library {
        name: "lzf",
        package: ("lzf-sys", "\"=0.1.1\"", "source"),
        files: &["lzf_d.c"],
        defines: &[],
        include: ".",
        harness: include_str!("../programs/libraries/lzf.c"),
    },
    Library {
        name: "picohttpparser",
        package: ("picohttpparser-sys", "\"=1.0.0\"", "deps/picohttpparser"),
        files: &["picohttpparser.c"],
        defines: &[],
        include: ".",
        harness: include_str!("../programs/libraries/picohttpparser.c"),
    },
    Library {
        name: "miniz",
        package: ("miniz-sys", "\"=0.1.12\"", "."),
        files: &["miniz.c"],
        defines: &[
            "MINIZ_NO_STDIO",
            "MINIZ_NO_ARCHIVE_APIS",
            "MINIZ_NO_ARCHIVE_WRITING_APIS",
            "MINIZ_NO_TIME",
            "MINIZ_NO_ZLIB_COMPATIBLE_NAMES",
        ],
        include: ".",
        harness: include_str!("../programs/libraries/miniz.c"),
    },
    Library {
        name: "utf8proc",
        package: ("utf8proc-sys", "\"=0.1.2\"", "utf8proc"),
        files: &["utf8proc.c"],
        defines: &["UTF8PROC_EXPORTS"],
        include: ".",
        harness: include_str!("../programs/libraries/utf8proc.c"),
    },
    Library {
        name: "expat",
        package: ("expat-sys", "\"=2.1.6\"", "expat/lib"),
        files: &["xmlparse.c", "xmlrole.c", "xmltok.c"],
        defines: &[
            "HAVE_MEMMOVE",
            "XML_NS",
            "XML_DTD",
            "XML_CONTEXT_BYTES=1024",
            "BYTEORDER=1234",
        ],
        include: ".",
        harness: include_str!("../programs/coverage/expat.c"),
    },
    Library {
        name: "brotli",
        package: ("brotli-sys", "\"=0.3.2\"", "brotli"),
        files: &[
            "common/dictionary.c",
            "dec/bit_reader.c",
            "dec/decode.c",
            "dec/huffman.c",
            "dec/state.c",
        ],
        defines: &[],
        include: "include",
        harness: include_str!("../programs/coverage/brotli.c"),
    },
];

/// Where cargo keeps a crate's sources.
fn fetched(library: &Library, folder: &Path) -> Result<PathBuf> {
    let (package, dependency, within) = library.package;
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), "//! Empty.\n")?;
    fs::write(
        folder.join("Cargo.toml"),
        format!(
            "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\n{package} = {dependency}\n"
        ),
    )?;
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1"])
        .current_dir(folder)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let manifest = metadata["packages"]
        .as_array()
        .and_then(|all| all.iter().find(|p| p["name"] == package))
        .and_then(|package| package["manifest_path"].as_str())
        .ok_or("cargo metadata does not name the library's crate")?;
    let root = Path::new(manifest).parent().unwrap_or(Path::new("/"));
    Ok(root.join(within))
}

fn check(tool: &Path, library: &Library, seconds: u64) -> Result<String> {
    let folder = tempfile::tempdir()?;
    let sources = fetched(library, folder.path())?;
    let harness = folder.path().join("harness.c");
    fs::write(&harness, library.harness)?;
    let begin = Instant::now();
    let output = Command::new(tool)
        .args(["cegar", "check", "--no-emit", "--message-format", "json"])
        .args(["--property", "memory", "--engine-only"])
        .args(["--max-time", &format!("{seconds}s")])
        .arg("-I")
        .arg(sources.join(library.include))
        .args(library.defines.iter().flat_map(|define| ["-D", *define]))
        .arg(&harness)
        .args(library.files.iter().map(|file| sources.join(file)))
        .current_dir(folder.path())
        .output()?;
    let wall = begin.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stdout);
    let all = text.lines();
    let messages: Vec<Value> = all.filter_map(|l| serde_json::from_str(l).ok()).collect();
    let finished = messages.iter().find(|m| m["reason"] == "finished");
    let finished = finished.ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let checks = |name: &str| finished["goals"]["checks"][name].as_u64().unwrap_or(0);
    let floor = |name: &str| &finished["stats"]["prover"][name];
    let refused = messages.iter().any(|message| {
        let said = message["message"].as_str().unwrap_or_default();
        said.starts_with("the checker did not accept")
    });
    let proved = checks("proved") + checks("proved_not_reached") + checks("unreachable");
    let sum = proved + checks("proved_if") + checks("open") + checks("violated");
    Ok(format!(
        "| {} | {sum} | {proved} | {} | {} | {} | {:.0} | {} in {:.1} s | {} |",
        library.name,
        checks("proved_if"),
        checks("open"),
        checks("violated"),
        wall,
        floor("floor_checks").as_u64().unwrap_or(0),
        floor("floor").as_f64().unwrap_or(0.0),
        if refused { "refused" } else { "accepted" },
    ))
}

fn main() -> Result<()> {
    let seconds = numbers().first().copied().unwrap_or(120);
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_named = |library: &&Library| words.iter().any(|word| word == library.name);
    let all = !LIBRARIES.iter().any(|library| is_named(&library));
    let tool = tool()?;
    println!(
        "| library | checks | proved | proved if | open | violated | seconds | floor | certificate |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for library in LIBRARIES.iter().filter(|library| all || is_named(library)) {
        println!("{}", check(&tool, library, seconds)?);
    }
    Ok(())
}
