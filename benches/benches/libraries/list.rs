//! The list of libraries, and how their sources are found.
//!
//! Cargo downloads the crates into its own cache. Their C files are listed here, so that no code of
//! a crate is built or run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cegar_benches::Result;
use serde_json::Value;

/// A library, its sources and its harness.
pub struct Library {
    /// The library's name in the table.
    pub name: &'static str,
    /// The crate's name, its requirement under `[dependencies]`, and the folder of its C files.
    pub package: (&'static str, &'static str, &'static str),
    /// The C files, relative to that folder.
    pub files: &'static [&'static str],
    /// Macros that the crate's build defines.
    pub defines: &'static [&'static str],
    /// The folder of the headers, relative to the C files.
    pub include: &'static str,
    /// The text of the harness.
    pub harness: &'static str,
}

pub const LIBRARIES: &[Library] = &[
    Library {
        name: "lz4",
        package: ("lz4-sys", "\"=1.11.1\"", "liblz4/lib"),
        files: &["lz4.c"],
        defines: &[],
        include: ".",
        harness: include_str!("../../programs/libraries/lz4.c"),
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
        harness: include_str!("../../programs/libraries/bzip2.c"),
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
        harness: include_str!("../../programs/libraries/zlib.c"),
    },
    Library {
        name: "lzf",
        package: ("lzf-sys", "\"=0.1.1\"", "source"),
        files: &["lzf_d.c"],
        defines: &[],
        include: ".",
        harness: include_str!("../../programs/libraries/lzf.c"),
    },
    Library {
        name: "picohttpparser",
        package: ("picohttpparser-sys", "\"=1.0.0\"", "deps/picohttpparser"),
        files: &["picohttpparser.c"],
        defines: &[],
        include: ".",
        harness: include_str!("../../programs/libraries/picohttpparser.c"),
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
        harness: include_str!("../../programs/libraries/miniz.c"),
    },
    Library {
        name: "utf8proc",
        package: ("utf8proc-sys", "\"=0.1.2\"", "utf8proc"),
        files: &["utf8proc.c"],
        defines: &["UTF8PROC_EXPORTS"],
        include: ".",
        harness: include_str!("../../programs/libraries/utf8proc.c"),
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
        harness: include_str!("../../programs/coverage/expat.c"),
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
        harness: include_str!("../../programs/coverage/brotli.c"),
    },
    Library {
        name: "lzfse",
        package: ("lzfse-sys", "\"=2.0.0\"", "lzfse/src"),
        files: &[
            "lzfse_decode.c",
            "lzfse_decode_base.c",
            "lzfse_fse.c",
            "lzvn_decode_base.c",
        ],
        defines: &[],
        include: ".",
        harness: include_str!("../../programs/libraries/lzfse.c"),
    },
    Library {
        name: "hoedown",
        package: ("hoedown", "\"=6.0.0\"", "libhoedown/src"),
        files: &[
            "autolink.c",
            "buffer.c",
            "document.c",
            "escape.c",
            "html.c",
            "html_blocks.c",
            "stack.c",
        ],
        defines: &[],
        include: ".",
        harness: include_str!("../../programs/libraries/hoedown.c"),
    },
    Library {
        name: "minimp3",
        package: ("minimp3-sys", "\"=0.3.2\"", "."),
        files: &["minimp3.c"],
        defines: &["MINIMP3_IMPLEMENTATION", "MINIMP3_NO_SIMD"],
        include: "minimp3",
        harness: include_str!("../../programs/libraries/minimp3.c"),
    },
    Library {
        name: "argon2",
        package: ("argon2-sys", "\"=0.1.0\"", "argon2/src"),
        files: &[
            "argon2.c",
            "blake2/blake2b.c",
            "core.c",
            "encoding.c",
            "ref.c",
            "thread.c",
        ],
        defines: &["ARGON2_NO_THREADS"],
        include: "../include",
        harness: include_str!("../../programs/libraries/argon2.c"),
    },
];

/// Returns the folder with the C files of a library's crate. Writes a package to `folder` that
/// depends on the crate, so that cargo downloads it.
pub fn fetched(library: &Library, folder: &Path) -> Result<PathBuf> {
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
