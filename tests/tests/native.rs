//! Native targets of a large library: compiled in parts, once for all harnesses, and compilation
//! stops when its result is no longer wanted.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use cegar_tests::{Project, Tool, exit};
use nix::sys::signal::Signal;

/// The number of the library's functions, large enough that it is compiled in parts.
const FUNCTIONS: usize = 330;

/// A library of many functions, each of which calls the previous one. Its assertion is not decided
/// within the seconds that compilation takes: a run that has proved every check when it is
/// interrupted ends like any other proof.
fn library() -> String {
    let mut text = "#include <assert.h>\n".to_owned();
    for number in 0..FUNCTIONS {
        let next = match number {
            0 => "n".to_owned(),
            _ => format!("step_{}(n / 2)", number - 1),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "static int step_{number}(int n)\n{{\n    static int calls;\n    calls++;\n    \
             if (n < {number}) return n;\n    if (n % 7 == 3) return calls;\n    \
             while (n > 1000) n -= {number} + 1;\n    return {next};\n}}"
        );
    }
    let _ = writeln!(
        text,
        "int demo(const unsigned char *data, size_t size)\n{{\n    unsigned hash = 1;\n    for \
         (size_t i = 0; i < size; i++) {{\n        step_{}(data[i] * 4000);\n        hash = (hash \
         ^ data[i]) * 16777619u;\n    }}\n    assert(hash * hash != 2020202025u);\n    return 0;\n\
         }}",
        FUNCTIONS - 1
    );
    text
}

fn project() -> Project {
    let project = Project::package(&library());
    let harness = project.read("cegar/harnesses/demo.c");
    project.write(
        "cegar/harnesses/other.c",
        &harness.replace("demo(data, size);", "if (size > 2) demo(data + 1, 1);"),
    );
    let text = project.read("cegar/cegar.toml");
    project.write(
        "cegar/cegar.toml",
        &format!("{text}\n[harness.other]\nfile = \"harnesses/other.c\"\n"),
    );
    project.write("input", "abcdef");
    project
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .collect()
}

/// The number of objects that contain a function.
fn objects_with(project: &Project, function: &str) -> usize {
    let records = files(&project.at("target/cegar/objects")).into_iter();
    records
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .filter(|path| fs::read_to_string(path).is_ok_and(|text| text.contains(function)))
        .count()
}

#[test]
fn a_library_is_compiled_once_for_all_its_harnesses() {
    let project = project();
    let replay = |harness: &str| {
        Tool::new(project.path(), ["replay", harness, "input"])
            .run()
            .expect(exit::CLEAN);
    };
    replay("demo");
    // One object for each of the two runners.
    assert_eq!(objects_with(&project, "\"step_17.cegar."), 2);
    replay("other");
    assert_eq!(objects_with(&project, "\"step_17.cegar."), 2);
    assert_eq!(objects_with(&project, "\"LLVMFuzzerTestOneInput.cegar."), 4);
}

#[test]
fn an_interruption_ends_the_compilers() {
    let project = project();
    let native = project.at("target/cegar/demo/native");
    let run = ["run", "demo", "--max-time", "170s"];
    let mut running = Tool::new(project.path(), run).start();
    let parts = || {
        let all = files(&native).into_iter();
        all.filter(|path| path.extension().is_some_and(|extension| extension == "ll"))
            .count()
    };
    let building = running.until(|| (parts() > 0).then_some(()));
    running.signal(Signal::SIGINT);
    let ended = running.wait();
    ended.expect(exit::INTERRUPTED);
    assert!(building.is_some(), "nothing was compiled in parts\n{ended}");
    assert_eq!(parts(), 0, "the folder of the build is gone");
}
