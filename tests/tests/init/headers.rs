//! Which header `init` selects, and how a harness includes it.

use cegar_tests::{Project, exit, tool};

/// The text of a harness.
fn harness(project: &Project, function: &str) -> String {
    project.read(&format!("cegar/harnesses/{function}.c"))
}

/// A crate with this name, with `c/a.c` and the declarations of its Rust code.
fn crate_of(name: &str, binds: &str, files: &[(&str, &str)], flags: &str) -> Project {
    let script =
        format!("cd \"$CARGO_MANIFEST_DIR\"\n\"$CC\" {flags} -c c/a.c -o \"$OUT_DIR/a.o\"\n");
    let project = Project::before_init(&script, files);
    let manifest = project.read("Cargo.toml").replace("odd-sys", name);
    project.write("Cargo.toml", &manifest);
    let bindings = format!("//! Bindings.\nunsafe extern \"C\" {{\n{binds}}}\n");
    project.write("src/lib.rs", &bindings);
    project
}

/// `bits.h` of `bits-sys` declares only the version; the functions that the crate binds are in
/// another header.
#[test]
fn a_header_with_the_version_alone_is_not_the_librarys() {
    let binds = "    pub fn bits_version() -> *const u8;\n    pub fn pack(data: *const u8, size: \
        usize) -> i32;\n    pub fn unpack(data: *const u8, size: usize) -> i32;\n";
    let files = [
        ("c/bits.h", "const char *bits_version(void);\n"),
        (
            "c/packing.h",
            "#include <stddef.h>\nint pack(const unsigned char *data, size_t size);\n\
             int unpack(const unsigned char *data, size_t size);\n",
        ),
        (
            "c/a.c",
            "#include \"bits.h\"\n#include \"packing.h\"\n\
             const char *bits_version(void) { return \"1\"; }\n\
             int pack(const unsigned char *data, size_t size) { return size ? data[0] : 0; }\n\
             int unpack(const unsigned char *data, size_t size) { return size ? data[size - 1] : \
             0; }\n",
        ),
    ];
    let project = crate_of("bits-sys", binds, &files, "");
    let words = [
        "init",
        "--no-try",
        "--function",
        "pack",
        "--function",
        "unpack",
    ];
    tool(&project, &words).expect(exit::CLEAN);
    for name in ["pack", "unpack"] {
        let call = format!("{name}((const unsigned char *)data, size);");
        assert!(
            harness(&project, name).contains(&call),
            "{}",
            harness(&project, name)
        );
    }
}

/// Two include folders contain an `api.h` each: a harness includes the header for which it was
/// written. The build renames the functions to names with a prefix that usually marks internal
/// functions.
#[test]
fn the_header_is_included_by_a_name_of_its_own() {
    let binds = "    pub fn __own_sum(data: *const u8, size: usize) -> i32;\n";
    let api = "#include <stddef.h>\nint sum(const unsigned char *data, size_t size);\n";
    let files = [
        ("c/first/api.h", "int other(int);\n"),
        ("c/second/api.h", api),
        (
            "c/a.c",
            "#include \"second/api.h\"\n\
             int sum(const unsigned char *data, size_t size) { int all = 0; while (size) all += \
             data[--size]; return all; }\n",
        ),
    ];
    let flags = "-Dsum=__own_sum -Ic/first -Ic/second";
    let project = crate_of("sums-sys", binds, &files, flags);
    let words = ["init", "--no-try", "--header", "c/second/api.h"];
    tool(&project, &words).expect(exit::CLEAN);
    let written = harness(&project, "__own_sum");
    assert!(
        written.contains("__own_sum((const unsigned char *)data, size);"),
        "{written}"
    );
    // It links, so it was compiled with the right header.
    tool(&project, &["run", "--runs", "10", "--max-time", "10s"]).expect(exit::CLEAN);
}

/// The template must compile, so it leaves out a header that does not compile on its own.
#[test]
fn the_template_compiles() {
    let files = [
        ("c/raster.h", "void raster_draw(image *of);\n"),
        (
            "c/a.c",
            "typedef struct { int wide; } image;\n#include \"raster.h\"\n\
             void raster_draw(image *of) { of->wide++; }\n",
        ),
    ];
    let binds = "    pub fn raster_draw(of: *mut u8);\n";
    let project = crate_of("raster-sys", binds, &files, "");
    tool(&project, &["init", "--no-try"]).expect(exit::CLEAN);
    tool(&project, &["run", "--runs", "10", "--max-time", "10s"]).expect(exit::INCOMPLETE);
}
