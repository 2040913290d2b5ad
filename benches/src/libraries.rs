//! Libraries that crates bundle, for benchmarks: the files to compile, and a harness with a small
//! valid input.
//!
//! Every tool gets the same program: `cargo cegar` captures the crate's own build, and the other
//! tools compile the files that are listed here with the flags of that build.

/// A library and its harness.
pub struct Library {
    /// The crate that bundles it.
    pub package: &'static str,
    /// Its requirement under `[dependencies]`.
    pub dependency: &'static str,
    /// Environment variables for the crate's build script.
    pub environment: &'static [(&'static str, &'static str)],
    /// The C files that the harness needs, relative to the crate.
    pub files: &'static [&'static str],
    /// Include folders, relative to the crate.
    pub includes: &'static [&'static str],
    /// Further flags.
    pub flags: &'static [&'static str],
    /// The text of a file with `LLVMFuzzerTestOneInput`.
    pub harness: &'static str,
    /// A small input that the library accepts.
    pub seed: &'static [u8],
    /// Files that the crate's build generates: name and text.
    pub written: &'static [(&'static str, &'static str)],
}

/// The configuration header that `onig_sys` generates on 64-bit machines.
const ONIG_CONFIG: &str = "\
#define HAVE_PROTOTYPES 1
#define STDC_HEADERS 1
#define HAVE_STRING_H 1
#define HAVE_STDARG_H 1
#define HAVE_STDLIB_H 1
#define HAVE_LIMITS_H 1
#define HAVE_INTTYPES_H 1
#define SIZEOF_INT 4
#define SIZEOF_SHORT 2
#define SIZEOF_LONG 8
#define SIZEOF_VOIDP 8
#define SIZEOF_LONG_LONG 8
";

/// The libraries of `--bench coverage` and `--bench executions`.
pub const LIBRARIES: &[Library] = &[
    Library {
        package: "bzip2-sys",
        dependency: "{ version = \"=0.1.13\", features = [\"static\"] }",
        environment: &[],
        files: &[
            "bzip2-1.0.8/blocksort.c",
            "bzip2-1.0.8/bzlib.c",
            "bzip2-1.0.8/compress.c",
            "bzip2-1.0.8/crctable.c",
            "bzip2-1.0.8/decompress.c",
            "bzip2-1.0.8/huffman.c",
            "bzip2-1.0.8/randtable.c",
        ],
        includes: &["bzip2-1.0.8"],
        flags: &["-D_FILE_OFFSET_BITS=64"],
        harness: include_str!("../programs/coverage/bzip2.c"),
        seed: &[
            66, 90, 104, 57, 49, 65, 89, 38, 83, 89, 4, 8, 13, 142, 0, 0, 1, 145, 0, 64, 0, 2, 68,
            160, 0, 33, 32, 6, 104, 53, 28, 166, 14, 46, 228, 138, 112, 161, 32, 8, 16, 27, 28,
        ],
        written: &[],
    },
    Library {
        package: "lz4-sys",
        dependency: "\"=1.11.1\"",
        environment: &[],
        files: &[
            "liblz4/lib/lz4.c",
            "liblz4/lib/lz4frame.c",
            "liblz4/lib/lz4hc.c",
            "liblz4/lib/xxhash.c",
        ],
        includes: &["liblz4/lib"],
        flags: &["-DXXH_NAMESPACE=LZ4_"],
        harness: include_str!("../programs/coverage/lz4.c"),
        seed: b"\x04\x22\x4d\x18\x60\x40\x82\x05\x00\x00\x80hello\x00\x00\x00\x00",
        written: &[],
    },
    Library {
        package: "libz-sys",
        dependency: "{ version = \"=1.1.31\", default-features = false, features = [\"libc\", \
            \"static\"] }",
        environment: &[],
        files: &[
            "src/zlib/adler32.c",
            "src/zlib/crc32.c",
            "src/zlib/inffast.c",
            "src/zlib/inflate.c",
            "src/zlib/inftrees.c",
            "src/zlib/zutil.c",
        ],
        includes: &["src/zlib"],
        flags: &["-DSTDC", "-D_LARGEFILE64_SOURCE", "-D_POSIX_SOURCE"],
        harness: include_str!("../programs/coverage/zlib.c"),
        seed: &[
            120, 156, 203, 72, 205, 201, 201, 87, 200, 0, 145, 0, 25, 145, 4, 73,
        ],
        written: &[],
    },
    Library {
        package: "expat-sys",
        dependency: "\"=2.1.6\"",
        // Its build script would use the system's library if pkg-config knows one.
        environment: &[("PKG_CONFIG", "/bin/false")],
        files: &[
            "expat/lib/xmlparse.c",
            "expat/lib/xmlrole.c",
            "expat/lib/xmltok.c",
        ],
        includes: &["expat/lib"],
        flags: &[
            "-DHAVE_MEMMOVE",
            "-DXML_NS",
            "-DXML_DTD",
            "-DXML_CONTEXT_BYTES=1024",
            "-DBYTEORDER=1234",
        ],
        harness: include_str!("../programs/coverage/expat.c"),
        seed: b"<a b=\"c\">d</a>",
        written: &[],
    },
    Library {
        package: "brotli-sys",
        dependency: "\"=0.3.2\"",
        environment: &[],
        files: &[
            "brotli/common/dictionary.c",
            "brotli/dec/bit_reader.c",
            "brotli/dec/decode.c",
            "brotli/dec/huffman.c",
            "brotli/dec/state.c",
        ],
        includes: &["brotli/include"],
        flags: &[],
        harness: include_str!("../programs/coverage/brotli.c"),
        seed: b"\x0b\x02\x80hello\x03",
        written: &[],
    },
    Library {
        package: "stb_image",
        dependency: "\"=0.2.4\"",
        environment: &[],
        files: &["src/stb_image.c"],
        includes: &["src"],
        flags: &[],
        harness: include_str!("../programs/coverage/stb_image.c"),
        // Two by two pixels, 24 bits each.
        seed: b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\0\0\0\x02\0\0\0\x01\0\x18\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\0\0\0\xff\0\0\0\0\0\xff\xff\xff\xff\0\0",
        written: &[],
    },
    Library {
        package: "yyjson-sys",
        dependency: "\"=0.1.0\"",
        environment: &[],
        files: &["yyjson/src/yyjson.c"],
        includes: &["yyjson/src"],
        flags: &["-DYYJSON_DISABLE_UTILS=1"],
        harness: include_str!("../programs/coverage/yyjson.c"),
        seed: b" {\"a\": [1, -2.5e3, true, null, \"b\\u00e9\"]}",
        written: &[],
    },
    Library {
        package: "hoedown",
        dependency: "\"=6.0.0\"",
        environment: &[],
        files: &[
            "libhoedown/src/autolink.c",
            "libhoedown/src/buffer.c",
            "libhoedown/src/document.c",
            "libhoedown/src/escape.c",
            "libhoedown/src/html.c",
            "libhoedown/src/html_blocks.c",
            "libhoedown/src/stack.c",
        ],
        includes: &["libhoedown/src"],
        flags: &[],
        harness: include_str!("../programs/libraries/hoedown.c"),
        seed: b"# a\n\n* b *c*\n",
        written: &[],
    },
    Library {
        package: "onig_sys",
        dependency: "{ version = \"=69.9.3\", default-features = false }",
        environment: &[("RUSTONIG_SYSTEM_LIBONIG", "0"), ("RUSTONIG_STATIC_LIBONIG", "1")],
        files: &[
            "oniguruma/src/ascii.c",
            "oniguruma/src/regcomp.c",
            "oniguruma/src/regenc.c",
            "oniguruma/src/regerror.c",
            "oniguruma/src/regexec.c",
            "oniguruma/src/regext.c",
            "oniguruma/src/regparse.c",
            "oniguruma/src/regsyntax.c",
            "oniguruma/src/regtrav.c",
            "oniguruma/src/regversion.c",
            "oniguruma/src/st.c",
            "oniguruma/src/unicode.c",
            "oniguruma/src/unicode_fold1_key.c",
            "oniguruma/src/unicode_fold2_key.c",
            "oniguruma/src/unicode_fold3_key.c",
            "oniguruma/src/unicode_unfold_key.c",
            "oniguruma/src/utf8.c",
            "oniguruma/src/onig_init.c",
        ],
        includes: &["oniguruma/src"],
        flags: &[
            "-I.",
            "-DHAVE_UNISTD_H=1",
            "-DHAVE_SYS_TYPES_H=1",
            "-DHAVE_SYS_TIME_H=1",
            "-DHAVE_ALLOCA_H=1",
        ],
        harness: include_str!("../programs/coverage/onig.c"),
        seed: b"\x06a(b|c)+abcbc",
        written: &[("config.h", ONIG_CONFIG)],
    },
    Library {
        package: "minimp3-sys",
        dependency: "\"=0.3.2\"",
        environment: &[],
        files: &["minimp3.c"],
        includes: &["minimp3"],
        flags: &["-DMINIMP3_IMPLEMENTATION"],
        harness: include_str!("../programs/libraries/minimp3.c"),
        seed: b"\xff\xfb\x10\xc4\0\0\0\0",
        written: &[],
    },
];
