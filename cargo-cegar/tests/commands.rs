//! Tests the subcommand from outside: its output, exit codes and files. Each test builds a small
//! cargo project in a temporary folder, without network access.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder for a test, in which commands are run.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let place = Place {
            dir: tempfile::tempdir().unwrap(),
        };
        for (file, text) in files {
            place.write(file, text);
        }
        place
    }

    fn path(&self, file: &str) -> PathBuf {
        // Cargo and clang show the real path; a temporary folder may be behind a link.
        self.dir.path().canonicalize().unwrap().join(file)
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("cargo-cegar"));
        command
            .current_dir(self.path(""))
            .args(args)
            .env("NO_COLOR", "1")
            .env("CARGO_NET_OFFLINE", "true");
        for variable in [
            "CARGO_TARGET_DIR",
            "CEGAR_CLANG",
            "CARGO",
            "CC",
            "CARGO_PKG_NAME",
        ] {
            command.env_remove(variable);
        }
        command
    }

    fn run(&self, args: &[&str]) -> Outcome {
        Outcome::of(self.command(args).output().unwrap())
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }
}

struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Outcome {
    fn of(output: Output) -> Self {
        Outcome {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    fn expect(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{}\n{}", self.stdout, self.stderr);
        for word in words {
            assert!(
                self.stderr.contains(word),
                "no `{word}` in:\n{}",
                self.stderr
            );
        }
    }
}

/// A crate whose build script calls the given compiler, as the `cc` crate does.
fn crate_files(build: &str) -> Vec<(&'static str, String)> {
    vec![
        (
            "Cargo.toml",
            "[package]\nname = \"small-sys\"\nversion = \"0.1.0\"\nedition = \"2024\"\n".into(),
        ),
        ("src/lib.rs", String::new()),
        (
            "c/small.h",
            "int small(const char *data, int size);\n".into(),
        ),
        (
            "c/small.c",
            "#include \"small.h\"\n#include \"made.h\"\nint outside(int);\n\
            int small(const char *data, int size) { return size > MADE ? outside(data[0]) : N; }\n"
                .into(),
        ),
        ("c/gen/made.h", "#define MADE 1\n".into()),
        ("c/more.cpp", "int f() { return 1; }\n".into()),
        ("build.rs", build.to_owned()),
    ]
}

const BUILD: &str = r#"
use std::{env, process::Command};
fn main() {
    let out = env::var("OUT_DIR").unwrap();
    let (cc, cxx) = (env::var("CC").unwrap_or("cc".into()), env::var("CXX").unwrap_or("c++".into()));
    // A probe, as configure scripts do.
    std::fs::write(format!("{out}/conftest.c"), "int x;").unwrap();
    let run = |cc: &str, args: &[&str]| assert!(Command::new(cc).args(args).status().unwrap().success());
    run(&cc, &["-c", &format!("{out}/conftest.c"), "-o", &format!("{out}/conftest.o")]);
    run(&cc, &["-O2", "-DN=3", "-Ic/gen", "-c", "c/small.c", "-o", &format!("{out}/small.o")]);
    run(&cxx, &["-c", "c/more.cpp", "-o", &format!("{out}/more.o")]);
}
"#;

fn small_crate(build: &str) -> Place {
    let files = crate_files(build);
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(file, text)| (*file, text.as_str()))
        .collect();
    Place::new(&files)
}

#[test]
fn usage_errors_are_96_and_help_is_0() {
    let place = Place::new(&[("a.c", "int main(void) { return 0; }\n")]);
    place
        .run(&["cegar", "chekc"])
        .expect(96, &["unrecognized subcommand", "check"]);
    place.run(&["check"]).expect(96, &["required"]);
    place
        .run(&["check", "a.c", "--max-time", "soon"])
        .expect(96, &["not a duration"]);
    place
        .run(&["check", "a.c", "--engine-only", "--fuzz-only"])
        .expect(96, &["cannot be used with"]);
    let help = place.run(&["cegar", "--help"]);
    help.expect(0, &[]);
    assert!(help.stdout.contains("Exit codes:") && help.stdout.contains("cargo cegar"));
    for command in ["check", "run", "init", "build", "replay", "list"] {
        let help = place.run(&[command, "--help"]);
        help.expect(0, &[]);
        assert!(help.stdout.contains("Examples:"), "{command}");
    }
}

#[test]
fn a_file_that_is_not_there_is_4() {
    Place::new(&[])
        .run(&["cegar", "check", "gone.c"])
        .expect(4, &["there is no file `gone.c`"]);
}

#[test]
fn without_a_package_it_is_102() {
    Place::new(&[])
        .run(&["cegar", "list"])
        .expect(102, &["cargo metadata failed"]);
}

#[test]
fn without_clang_it_is_103_and_says_how_to_install_it() {
    let place = Place::new(&[("a.c", "int main(void) { return 0; }\n")]);
    let mut command = place.command(&["cegar", "check", "a.c"]);
    let outcome = Outcome::of(command.env("PATH", "").output().unwrap());
    outcome.expect(
        103,
        &[
            "clang 19 was not found",
            "apt install clang-19",
            "CEGAR_CLANG",
        ],
    );
    let mut command = place.command(&["cegar", "check", "a.c", "--message-format", "json"]);
    let outcome = Outcome::of(command.env("CEGAR_CLANG", "/no/clang").output().unwrap());
    outcome.expect(103, &["/no/clang"]);
    let last: serde_json::Value =
        serde_json::from_str(outcome.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(
        (last["reason"].as_str(), last["exit_code"].as_u64()),
        (Some("error"), Some(103))
    );
}

#[test]
fn a_broken_configuration_shows_the_line_and_the_right_key() {
    let place = small_crate(BUILD);
    place.write("cegar/cegar.toml", "[harness.small]\nmax-length = 3\n");
    place
        .run(&["cegar", "list"])
        .expect(96, &["cegar.toml:2:1", "did you mean `max_len`?"]);
    place.write("cegar/cegar.toml", "[harness.small\n");
    place
        .run(&["cegar", "list"])
        .expect(96, &["cegar.toml:1:", "not a valid configuration"]);
    place.write("cegar/cegar.toml", "");
    place.write(
        "Cargo.toml",
        "[package]\nname = \"small-sys\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         [package.metadata.cegar.run]\nsede = 1\n",
    );
    place
        .run(&["cegar", "list"])
        .expect(96, &["Cargo.toml:6:1", "did you mean `seed`?"]);
}

#[test]
fn init_then_list_then_build() {
    let place = small_crate(BUILD);
    let init = [
        "cegar",
        "init",
        "--header",
        "c/small.h",
        "--function",
        "small",
    ];
    place.run(&init).expect(
        0,
        &["wrote cegar/harnesses/small.c", "a workspace of their own"],
    );
    assert!(
        place
            .text("cegar/harnesses/small.c")
            .contains("small((const char *)data, (int)size);")
    );
    assert!(!place.text("Cargo.toml").contains("[workspace]"));
    assert!(place.text("cegar/Cargo.toml").contains("\n[workspace]\n"));

    // No file is overwritten, since the harness belongs to the user now.
    place.write("cegar/harnesses/small.c", "int main(void) { return 1; }\n");
    place
        .run(&init)
        .expect(0, &["kept cegar/harnesses/small.c"]);
    assert!(place.text("cegar/harnesses/small.c").contains("return 1"));

    let list = place.run(&["cegar", "list"]);
    list.expect(0, &[]);
    assert_eq!(
        list.stdout,
        "small  cegar/harnesses/small.c  main  corpus 0\n"
    );
    place
        .run(&["cegar", "run", "smal"])
        .expect(4, &["there is no harness `smal`", "did you mean `small`?"]);

    // cegar-harness is not on a registry here, and the capture is only about small-sys.
    let manifest = place.text("cegar/Cargo.toml");
    place.write(
        "cegar/Cargo.toml",
        manifest.split("[build-dependencies]").next().unwrap(),
    );
    fs::remove_file(place.path("cegar/build.rs")).unwrap();
    place.run(&["cegar", "build", "-v"]).expect(
        0,
        &["Compiling small-sys C sources (1 file", "outside", "C++"],
    );
    let captured: serde_json::Value =
        serde_json::from_str(&place.text("cegar/captured.json")).unwrap();
    let expected = serde_json::json!([
        { "file": "c/small.c", "args": ["-D__OPTIMIZE__=1", "-U__NO_INLINE__", "-DN=3", "-Ic/gen"], "directory": ".." }
    ]);
    assert_eq!(captured, expected);
    // The build is captured again, which means that the build script ran again.
    place.run(&["cegar", "build"]).expect(0, &["(1 unchanged)"]);
}

/// Mistakes of a newcomer: an unlisted file, a misspelt name, a package from another machine.
#[test]
fn slips_are_answered_with_what_to_do() {
    let place = small_crate(BUILD);
    let init = ["init", "--header", "c/small.h", "--function", "small"];
    place.run(&init).expect(
        0,
        &[
            "before others build the package, change that one line",
            "then: cargo cegar run;",
        ],
    );
    place
        .run(&["run", "-p", "small"])
        .expect(96, &["did you mean `small-sys`?"]);

    place.write("cegar/harnesses/more.c", "int main(void) { return 0; }\n");
    place.run(&["run", "more"]).expect(
        4,
        &["harnesses/more.c is there", "add a line `[harness.more]`"],
    );

    place.run(&["init", "--ci", "github"]).expect(
        0,
        &[
            "wrote .github/workflows/cegar.yml",
            "the build there has no",
        ],
    );
    let manifest = place.text("cegar/Cargo.toml");
    let elsewhere = manifest.replace("path = \"", "path = \"/nowhere");
    place.write("cegar/Cargo.toml", &elsewhere);
    // Errors in the generated package concern only that package.
    place.run(&["list"]).expect(0, &[]);
}

#[test]
fn a_header_without_the_function_names_the_nearest() {
    let place = small_crate(BUILD);
    let init = ["init", "--header", "c/small.h", "--function", "smal"];
    place
        .run(&init)
        .expect(4, &["does not declare `smal`", "did you mean `small`?"]);
    assert!(!place.path("cegar").exists());
}

#[test]
fn a_build_script_that_fails_is_101() {
    let place = small_crate("fn main() { panic!(\"no such library\"); }\n");
    place
        .run(&["cegar", "build"])
        .expect(101, &["the build of `small-sys` failed", "no such library"]);
}

#[test]
fn a_build_that_compiles_no_c_is_4() {
    let place = small_crate("fn main() {}\n");
    place
        .run(&["cegar", "build"])
        .expect(4, &["compiled no C file", "vendored"]);
}

#[test]
fn c_that_does_not_compile_is_101_in_clangs_words() {
    let place = small_crate(BUILD);
    place.write("cegar/cegar.toml", "[c]\nsources = ['../c/bad.c']\n");
    place.write("c/bad.c", "int f(void)\n{\n    return 1\n}\n");
    place
        .run(&["cegar", "build"])
        .expect(101, &["bad.c:3:13: error: expected ';'", "clang rejected"]);
}

/// A build script that uses the `cc` crate itself, and calls `cmake` as the `cmake` crate does.
#[test]
fn the_cc_crate_and_cmake_are_captured() {
    let build = r#"
fn main() {
    cc::Build::new().file("c/small.c").include("c/gen").define("N", "4").compile("small");
    if std::env::var_os("WITH_CMAKE").is_some() {
        let out = std::env::var("OUT_DIR").unwrap() + "/cm";
        let tool = cc::Build::new().get_compiler();
        let run = |c: &mut std::process::Command| assert!(c.status().unwrap().success());
        let compiler = format!("-DCMAKE_C_COMPILER={}", tool.path().display());
        run(std::process::Command::new("cmake").args(["-S", "cm", "-B", &out]).arg(compiler));
        run(std::process::Command::new("cmake").args(["--build", &out]));
    }
}
"#;
    let place = small_crate(build);
    let manifest = place.text("Cargo.toml");
    place.write(
        "Cargo.toml",
        &format!("{manifest}[build-dependencies]\ncc = \"1\"\n"),
    );
    place.write(
        "cm/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.10)\nproject(cm C)\nadd_library(cm STATIC b.c)\n\
         target_compile_definitions(cm PRIVATE CM=1)\ntarget_include_directories(cm PRIVATE inc)\n",
    );
    place.write(
        "cm/b.c",
        "#include \"b.h\"\nint b(void) { return CM + B; }\n",
    );
    place.write("cm/inc/b.h", "#define B 2\n");
    place.write("cegar/cegar.toml", "");
    let mut command = place.command(&["cegar", "build"]);
    if which::which("cmake").is_ok() {
        command.env("WITH_CMAKE", "1");
    }
    let outcome = Outcome::of(command.output().unwrap());
    if outcome.stderr.contains("no matching package") || outcome.stderr.contains("offline") {
        eprintln!("skipped: the cc crate is not in the local registry");
        return;
    }
    outcome.expect(0, &["to bitcode"]);
    let captured: serde_json::Value =
        serde_json::from_str(&place.text("cegar/captured.json")).unwrap();
    let units = captured.as_array().unwrap();
    assert_eq!(units[0]["file"], "c/small.c");
    let args = |unit: &serde_json::Value| -> Vec<String> {
        serde_json::from_value(unit["args"].clone()).unwrap()
    };
    assert!(args(&units[0]).contains(&"-DN=4".to_owned()), "{captured}");
    if which::which("cmake").is_ok() {
        assert_eq!(units.len(), 2, "{captured}");
        assert_eq!(units[1]["file"], "cm/b.c");
        let args = args(&units[1]);
        assert!(
            args.contains(&"-DCM=1".to_owned()) && args.contains(&"-Icm/inc".to_owned()),
            "{args:?}"
        );
    }
}

/// Makefiles and hand-written build scripts call a compiler by name, regardless of `CC`.
#[test]
fn compilers_that_are_called_by_name_are_captured() {
    let build = r#"
fn main() {
    let out = std::env::var("OUT_DIR").unwrap();
    let run = |c: &mut std::process::Command| assert!(c.status().unwrap().success());
    let object = format!("{out}/small.o");
    run(std::process::Command::new("cc").args(["-c", "-DN=3", "-Ic/gen", "c/small.c", "-o", &object]));
    // What make does of `CC = gcc`.
    run(std::process::Command::new("sh").args(["-c", "cd c && gcc -DMADE=2 -c made.c -o $OUT_DIR/made.o"]));
    run(std::process::Command::new("sh").args(["-c", "g++ -c c/more.cpp -o $OUT_DIR/more.o"]));
}
"#;
    let place = small_crate(build);
    place.write("c/made.c", "int made(void) { return MADE; }\n");
    place.write("cegar/cegar.toml", "");
    place
        .run(&["cegar", "build"])
        .expect(0, &["Left out c/more.cpp: C++", "to bitcode"]);
    let captured: serde_json::Value =
        serde_json::from_str(&place.text("cegar/captured.json")).unwrap();
    let files: Vec<&str> = captured
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|unit| unit["file"].as_str())
        .collect();
    assert_eq!(files, ["c/small.c", "c/made.c"], "{captured}");
    assert_eq!(captured[1]["args"][0], "-DMADE=2", "{captured}");
}

#[test]
fn a_compiler_with_a_launcher_and_flags_is_called_and_captured() {
    let place = small_crate(BUILD);
    place.write("cegar/cegar.toml", "");
    let mut command = place.command(&["cegar", "build"]);
    command.env("CC", "gcc -DUSER=1");
    Outcome::of(command.output().unwrap()).expect(0, &["to bitcode"]);
    let captured = place.text("cegar/captured.json");
    assert!(captured.contains("-DUSER=1"), "{captured}");
}

/// The build script compiles nothing if the library is installed; the bundled sources are used.
#[test]
fn an_installed_library_does_not_hide_the_bundled_sources() {
    let build = r#"
fn main() {
    let installed = std::process::Command::new("pkg-config").args(["--exists", "small"]).status();
    if installed.is_ok_and(|status| status.success()) {
        return;
    }
    let object = std::env::var("OUT_DIR").unwrap() + "/small.o";
    let mut cc = std::process::Command::new("cc");
    assert!(cc.args(["-c", "-DN=3", "-Ic/gen", "c/small.c", "-o", &object]).status().unwrap().success());
}
"#;
    let place = small_crate(build);
    place.write("cegar/cegar.toml", "");
    place.write("tools/pkg-config", "#!/bin/sh\nexit 0\n");
    let tools = place.path("tools");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(tools.join("pkg-config"), executable).unwrap();
    let mut command = place.command(&["cegar", "build"]);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", tools.display()));
    Outcome::of(command.output().unwrap()).expect(
        0,
        &[
            "takes the library that is installed",
            "bundles",
            "to bitcode",
        ],
    );
    assert!(place.text("cegar/captured.json").contains("c/small.c"));
}

#[test]
fn a_scratch_folder_that_cannot_be_written_is_104() {
    let place = Place::new(&[("a.c", "int main(void) { return 0; }\n"), ("file", "")]);
    let outcome = place.run(&["check", "a.c", "--target-dir", "file"]);
    outcome.expect(104, &["cannot create"]);
    assert!(Path::new(&place.path("file")).is_file());
}
