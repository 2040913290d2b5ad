//! Results about outdated code: flags and headers that have changed since, or another package's
//! results. None of them may count, least of all proofs.

use std::fs;

use cegar_tests::{Ended, Project, Tool, cargo_test, exit};

/// A function that indexes a table with a byte.
const TABLE: &str =
    "#include \"cap.h\"\nint table[CAP];\nint odd(int x) { return table[x & 255]++; }\n";
const HARNESS: &str =
    "#include <stdio.h>\nint odd(int);\nint main(void)\n{\n    return odd(getchar());\n}\n";

fn tool(project: &Project, words: &str) -> Ended {
    Tool::new(project.path(), words.split(' ')).run()
}

fn run(project: &Project) -> Ended {
    tool(project, "run --max-time 20s")
}

/// A crate whose build script compiles the table with this command.
fn table(script: &str, files: &[(&str, &str)]) -> Project {
    let mut all = vec![("c/odd.c", TABLE)];
    all.extend(files);
    let project = Project::built_by(script, &all);
    project.write("cegar/harnesses/odd.c", HARNESS);
    // The harness package has tests and is a workspace of its own.
    let tested = Project::package("");
    for path in ["cegar/Cargo.toml", "cegar/build.rs"] {
        project.write(path, &tested.read(path));
    }
    let manifest = project.read("Cargo.toml");
    project.write(
        "Cargo.toml",
        &manifest.replace("members = [\"cegar\"]\n", ""),
    );
    project
}

const SCRIPT: &str = "cd \"$OUT_DIR\"; \"$CC\" -DN=256 -I\"$CARGO_MANIFEST_DIR/c\" -c \
    \"$CARGO_MANIFEST_DIR/c/odd.c\"";

#[test]
fn the_build_is_asked_each_time_what_it_compiles() {
    let project = table(SCRIPT, &[("c/cap.h", "#define CAP N\n")]);
    let narrow = |n: &str| {
        let script = project.read("build.rs");
        let at = script.find("-DN=").unwrap_or_else(|| panic!("{script}"));
        let now = format!("{}-DN={n}{}", &script[..at], &script[at + 7..]);
        project.write("build.rs", &now);
    };
    run(&project).expect(exit::CLEAN).expect_message("proved");
    let before = project.read("cegar/captured.json");
    // Nothing has changed, so nothing is captured again.
    let again = run(&project);
    again.expect(exit::CLEAN).expect_message("proved");
    assert!(!again.stderr.contains("Building"), "{again}");

    // The package's tests alone are built from the committed list, with a warning if it may be
    // outdated.
    let old = "../build.rs has changed since captured.json was written";
    assert!(!cargo_test(&project.at("cegar"), &[]).stderr.contains(old));
    narrow("100");
    cargo_test(&project.at("cegar"), &[]).expect_message(old);
    // `ci` leaves the source tree unchanged.
    tool(&project, "ci --max-time 20s")
        .expect(exit::VIOLATION)
        .expect_message("no longer compiles");
    assert_eq!(project.read("cegar/captured.json"), before);
    let artifacts = project.read("target/cegar/ci/captured.json");
    assert!(artifacts.contains("-DN=100"), "{artifacts}");
    run(&project)
        .expect(exit::VIOLATION)
        .expect_message("it was captured again");
    let now = project.read("cegar/captured.json");
    assert!(now.contains("-DN=100"), "{now}");
    let tests = cargo_test(&project.at("cegar"), &[]);
    assert_eq!(tests.code, Some(101), "{tests}");
    assert!(!tests.stderr.contains(old), "{tests}");
    // A changed script that compiles the same files with the same flags changes nothing.
    let script = project.read("build.rs");
    project.write("build.rs", &format!("// Said once more.\n{script}"));
    run(&project).expect(exit::VIOLATION);
    assert!(!cargo_test(&project.at("cegar"), &[]).stderr.contains(old));

    narrow("256");
    run(&project).expect(exit::CLEAN);
    let tests = cargo_test(&project.at("cegar"), &[]);
    tests.expect(0);
}

#[test]
fn headers_that_the_build_writes_are_copied_and_renewed() {
    let script = "cd \"$OUT_DIR\"; echo \"#define CAP $(cat \"$CARGO_MANIFEST_DIR/size\")\" > \
        cap.h; mkdir -p api; echo \"int odd(int);\" > api/odd.h; \"$CC\" -I. -c \
        \"$CARGO_MANIFEST_DIR/c/odd.c\"";
    let project = table(script, &[("size", "256\n")]);
    // Only the harness includes `api/odd.h`.
    let harness = HARNESS.replace("int odd(int);", "#include <api/odd.h>");
    project.write("cegar/harnesses/odd.c", &harness);
    run(&project).expect(exit::CLEAN).expect_message("proved");
    let captured = project.read("cegar/captured.json");
    assert!(!captured.contains("target"), "{captured}");
    let copy = "cegar/captured/odd-sys/cap.h";
    assert_eq!(project.read(copy), "#define CAP 256\n");
    let own = "use cegar_harness::Mock;\n#[test]\n\
        fn high() { Mock::new(\"odd\").stdin(b\"\\xc8\").run().expect_safe(); }\n";
    project.write("cegar/tests/own.rs", own);
    // Half of the time is for cargo, which builds the test's dependencies.
    tool(&project, "ci --max-time 240s")
        .expect(exit::CLEAN)
        .expect_message("1 of 1 known input pass");

    project.write("size", "100\n");
    // `ci` judges the current code, with the existing tests and with new ones.
    let ci = tool(&project, "ci --max-time 240s");
    ci.expect(exit::VIOLATION)
        .expect_message("the test `high` fails");
    assert_eq!(project.read(copy), "#define CAP 256\n");
    let written = project.read("target/cegar/ci/tests/odd.rs");
    assert!(written.contains("fn odd_"), "{written}\n{ci}");
    run(&project).expect(exit::VIOLATION);
    assert_eq!(project.read(copy), "#define CAP 100\n");
    // The committed files are sufficient on another machine.
    fs::remove_dir_all(project.at("target")).unwrap_or_else(|why| panic!("{why}"));
    let tests = cargo_test(&project.at("cegar"), &[]);
    assert_eq!(tests.code, Some(101), "{tests}");
    assert!(tests.stdout.contains("odd_"), "{tests}");
    tool(&project, "ci --max-time 20s").expect(exit::VIOLATION);
}

#[test]
fn a_header_that_appears_before_another_counts() {
    let script = SCRIPT.replace(
        "-I\"$CARGO_MANIFEST_DIR/c\"",
        "-I\"$CARGO_MANIFEST_DIR/own\" -I\"$CARGO_MANIFEST_DIR/c\"",
    );
    let project = table(&script, &[("c/cap.h", "#define CAP 256\n")]);
    // With angle brackets, the file's own folder is not searched.
    project.write("c/odd.c", &TABLE.replace("\"cap.h\"", "<cap.h>"));
    run(&project).expect(exit::CLEAN).expect_message("proved");
    project.write("own/cap.h", "#define CAP 100\n");
    run(&project).expect(exit::VIOLATION);
    let tests = cargo_test(&project.at("cegar"), &[]);
    assert_eq!(tests.code, Some(101), "{tests}");
    fs::remove_file(project.at("own/cap.h")).unwrap_or_else(|why| panic!("{why}"));
    run(&project).expect(exit::CLEAN);
}

#[test]
fn packages_of_a_workspace_keep_their_results_apart() {
    let project = Project::empty();
    let members = "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"3\"\n";
    project.write("Cargo.toml", members);
    for (name, cap) in [("one", "256"), ("two", "100")] {
        let inner = table(SCRIPT, &[]);
        for path in [
            "build.rs",
            "src/lib.rs",
            "c/odd.c",
            "cegar/harnesses/odd.c",
            "cegar/Cargo.toml",
            "cegar/build.rs",
            "cegar/cegar.toml",
            "cegar/src/lib.rs",
        ] {
            project.write(&format!("{name}/{path}"), &inner.read(path));
        }
        let manifest = inner.read("Cargo.toml").replace("odd-sys", name);
        let manifest = manifest.replace("\n[workspace]\n", "");
        project.write(&format!("{name}/Cargo.toml"), &manifest);
        project.write(&format!("{name}/c/cap.h"), &format!("#define CAP {cap}\n"));
    }
    tool(&project, "run -p one --max-time 20s")
        .expect(exit::CLEAN)
        .expect_message("proved");
    let listed = tool(&project, "list -p two");
    listed.expect(exit::CLEAN);
    assert!(!listed.stdout.contains("proved"), "{listed}");
    tool(&project, "run -p two --max-time 20s").expect(exit::VIOLATION);
    tool(&project, "run -p one --max-time 20s").expect(exit::CLEAN);
    assert!(project.at("target/cegar-one/odd/goals.json").is_file());
    assert!(project.at("target/cegar-two/odd/goals.json").is_file());
    // A target folder that several workspaces share.
    let shared = project.at("shared").display().to_string();
    for name in ["one", "two"] {
        let words = ["run", "-p", name, "--runs", "100", "--target-dir", &shared];
        Tool::new(project.path(), words).run();
    }
    let folders = fs::read_dir(&shared).unwrap_or_else(|why| panic!("{why}"));
    assert!(folders.count() >= 2);
}

/// Every check is proved, but under assumptions that a known input breaks.
#[test]
fn known_inputs_run_natively_before_a_verdict() {
    let project = Project::package(
        "static int deep(const unsigned char *data, size_t n)\n{\n    volatile char \
         pad[4096];\n    pad[n & 4095] = 1;\n    return n == 0 ? pad[0] : deep(data, data[0] == \
         'R' ? n : n - 1) + pad[n & 1];\n}\nint demo(const unsigned char *data, size_t size)\n\
         {\n    return size ? deep(data, size) : 0;\n}\n",
    );
    tool(&project, "run --max-time 30s")
        .expect(exit::VIOLATION)
        .expect_message("dies of signal 11");
}

#[test]
fn a_run_that_does_not_end_is_told_and_kept() {
    let project = Project::package(
        "int demo(const unsigned char *data, size_t size)\n{\n    size_t at = 0;\n    \
         while (at < size) at += data[at];\n    return (int)at;\n}\n",
    );
    let ended = tool(&project, "run --max-time 20s");
    ended.expect_message("takes longer than 1s");
    let kept = fs::read_dir(project.at("target/cegar/demo/hangs"));
    assert_eq!(kept.unwrap_or_else(|why| panic!("{why}")).count(), 1);
}

#[test]
fn cargo_is_told_which_features_and_profile() {
    let script = SCRIPT.replace(
        "-DN=256",
        "-DN=\"$(test \"$PROFILE\" = release && echo 100 || echo 256)\"",
    );
    let project = table(&script, &[("c/cap.h", "#define CAP N\n")]);
    run(&project).expect(exit::CLEAN).expect_message("proved");
    let config = project.read("cegar/cegar.toml");
    let args = "[c]\ncargo_args = [\"--release\"]\n";
    project.write("cegar/cegar.toml", &config.replace("[c]\n", args));
    run(&project)
        .expect(exit::VIOLATION)
        .expect_message("captured from build.rs with --release");
}

/// Some libraries compile the same file once for each character width.
#[test]
fn a_file_that_is_compiled_twice_is_two() {
    let each = |n: &str| {
        format!(
            "\"$CC\" -DN={n} -I\"$CARGO_MANIFEST_DIR/c\" -c \"$CARGO_MANIFEST_DIR/c/odd.c\" -o \
             odd{n}.o"
        )
    };
    let script = format!("cd \"$OUT_DIR\"; {}; {}", each("256"), each("100"));
    let project = table(&script, &[]);
    project.write(
        "c/odd.c",
        "#define JOIN(a, b) a##b\n#define NAME(n) JOIN(odd, n)\n\
         int NAME(N)(int x) { static int table[N]; return table[x & 255]++; }\n",
    );
    let both = HARNESS
        .replace("int odd(int);", "int odd256(int);\nint odd100(int);")
        .replace("odd(getchar())", "odd256(getchar()) + odd100(getchar())");
    project.write("cegar/harnesses/odd.c", &both);
    let ended = run(&project);
    ended
        .expect(exit::VIOLATION)
        .expect_message("Compiling odd-sys C sources (2 files");
    assert!(!ended.stderr.contains("Mocking"), "{ended}");
    let tests = cargo_test(&project.at("cegar"), &[]);
    assert_eq!(tests.code, Some(101), "{tests}");
}

/// A function with a fault that depends on the third byte.
const FAULT: &str = "int demo(const unsigned char *data, size_t size)\n{\n    char room[4] = \
    {0};\n    if (size > 2 && data[2] == 'x') room[size] = 1;\n    return room[0];\n}\n";

#[test]
fn tests_run_only_what_was_built_now() {
    let project = Project::package(FAULT);
    run(&project).expect(exit::VIOLATION);
    let package = project.at("cegar");
    let faulty = project.read("c/demo.c");
    project.write("c/demo.c", &faulty.replace("room[size]", "room[0]"));
    cargo_test(&package, &[]).expect(0);
    // The harness is removed, its tests stay, and the fault returns.
    let config = project.read("cegar/cegar.toml");
    project.write(
        "cegar/cegar.toml",
        &config.replace("[harness.demo]", "[harness.other]"),
    );
    project.write("c/demo.c", &faulty);
    let tests = cargo_test(&package, &[]);
    assert_eq!(tests.code, Some(101), "{tests}");
}

#[test]
fn a_test_file_that_does_not_build_is_not_passed_over() {
    let project = Project::package(FAULT);
    run(&project).expect(exit::VIOLATION);
    let mended = project.read("c/demo.c").replace("room[size]", "room[0]");
    project.write("c/demo.c", &mended);
    run(&project).expect(exit::CLEAN);
    let file = "cegar/tests/demo.rs";
    let written = project.read(file);
    for more in ["\nfn (\n", "\nfn helper() -> u8 { \"no number\" }\n"] {
        project.write(file, &(written.clone() + more));
        run(&project).expect(exit::INCOMPLETE);
    }
    project.write(file, &written);
    run(&project).expect(exit::CLEAN);
}

/// The processor kills the program, whichever property is checked; the finding is kept for the next
/// run.
#[test]
fn a_division_by_zero_of_a_known_input_stays_a_violation() {
    let project = Project::package(
        "int demo(const unsigned char *data, size_t size)\n{\n    volatile int by = size ? data[0] \
         - 'x' : 1;\n    volatile int parts = 100 / by;\n    return parts;\n}\n",
    );
    project.write("cegar/corpus/demo/known", "x");
    run(&project)
        .expect(exit::VIOLATION)
        .expect_message("dies of signal 8");
    run(&project)
        .expect(exit::VIOLATION)
        .expect_message("Still fails");
}

/// A test concerns a function of the library. If that function is no longer defined, a mock of it
/// must not let the test pass.
#[test]
fn a_function_that_is_gone_is_no_mock() {
    let header = "int get(const unsigned char *data, unsigned long size);\n";
    let source = "#include \"get.h\"\nstatic const int row[4] = {0};\n\
        int get(const unsigned char *data, unsigned long size)\n{\n    \
        return size > 1 && data[0] == 'k' ? row[data[1] & 7] : 0;\n}\n";
    let project = Project::wrapping("get", header, source);
    tool(&project, "init --no-try").expect(exit::CLEAN);
    run(&project).expect(exit::VIOLATION);
    let failing = cargo_test(&project.at("cegar"), &[]);
    assert!(failing.stdout.contains("1 failed"), "{failing}");
    for path in ["c/get.h", "c/get.c"] {
        project.write(path, &project.read(path).replace(" get(", " fetch("));
    }
    let gone = cargo_test(&project.at("cegar"), &[]);
    assert_ne!(gone.code, Some(0), "{gone}");
    assert!(gone.stderr.contains("which nothing defines"), "{gone}");
}
