//! Workspaces in a bad state: read-only, removed during a run, used by two commands at a time, with
//! pipes, link cycles and broken files in them, in folders with odd names, on a machine without a
//! home folder or a place for temporary files. In each case the command reports a clear error with
//! its exit code, or simply works, and no existing file is lost.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use cegar_tests::{BUSY, Ended, Project, Tool, binary, cargo_test, exit};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

/// A function that reads one byte past the end of its input if the input begins with `g`.
const FAULTY: &str = "\
int demo(const unsigned char *data, size_t size)
{
    if (size > 1 && data[0] == 'g')
        return data[size];
    return 0;
}
";

fn must<T>(done: io::Result<T>, what: &str) -> T {
    done.unwrap_or_else(|error| panic!("{what}: {error}"))
}

fn tool(project: &Project, words: &[&str]) -> Tool {
    Tool::new(project.path(), words)
}

/// A short run that is limited by a number of executions, not by time.
fn run(project: &Project) -> Ended {
    tool(project, &["run", "--runs", "100"]).run()
}

/// All files below a folder with their contents, except those in `target`.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in must(fs::read_dir(&folder), "a folder").flatten() {
            let path = entry.path();
            if entry.file_name() == "target" {
                continue;
            }
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if path.is_file() {
                let bytes = must(fs::read(&path), "a file");
                all.push((path.display().to_string(), bytes));
            }
        }
    }
    all.sort();
    all
}

#[test]
fn pipes_and_loops_in_a_corpus_are_named_and_passed_over() {
    let project = Project::package(FAULTY);
    project.write("cegar/corpus/demo/seed", "go");
    let at = |name: &str| project.at(&format!("cegar/corpus/demo/{name}"));
    must(
        mkfifo(&at("pipe"), Mode::S_IRUSR).map_err(io::Error::from),
        "a pipe",
    );
    must(symlink("circle", at("circle")), "a link");
    must(symlink(".", at("here")), "a link");
    let ended = run(&project);
    ended
        .expect(exit::VIOLATION)
        .expect_message("pipe")
        .expect_message("circle");
    tool(&project, &["replay", "demo"])
        .run()
        .expect(exit::VIOLATION);
    assert!(at("seed").is_file());
}

/// The error is reported before the search starts, since tests for later findings could not be
/// recorded.
#[test]
fn a_broken_record_of_tests_is_named_at_once() {
    let project = Project::package(FAULTY);
    project.write("cegar/.emitted.json", "{ \"tests\": [");
    let before = contents(project.path());
    run(&project)
        .expect(exit::USAGE)
        .expect_message(".emitted.json")
        .expect_message("delete it");
    let kept: Vec<_> = contents(project.path());
    assert!(before.iter().all(|file| kept.contains(file)));
}

#[test]
fn a_broken_baseline_and_a_newer_one_are_named() {
    let project = Project::package(FAULTY);
    for text in [
        "{",
        "[]",
        "{\"format\": 4000000, \"findings\": [], \"more\": 1}",
    ] {
        project.write("cegar/baseline.json", text);
        let ended = tool(&project, &["ci", "--runs", "100"]).run();
        ended.expect(exit::USAGE).expect_message("baseline.json");
        assert_eq!(project.read("cegar/baseline.json"), text);
    }
}

#[test]
fn broken_files_in_the_scratch_folder_are_written_anew() {
    let project = Project::package(FAULTY);
    run(&project).expect(exit::VIOLATION);
    let folder = project.at("target/cegar/demo");
    for entry in must(fs::read_dir(&folder), "the scratch folder").flatten() {
        if entry.path().extension() == Some(OsStr::new("json")) {
            must(fs::write(entry.path(), "{ \"x\": ["), "a broken file");
        }
    }
    for words in [&["list"][..], &["coverage"], &["explain", "c/demo.c:5"]] {
        let ended = tool(&project, words).run();
        let code = ended.code.unwrap_or(-1);
        // The command may ignore the broken file or name it, but must not crash.
        assert!(
            code != exit::INTERNAL && code != 101 && code >= 0,
            "{ended}"
        );
    }
    let test = project.read("cegar/tests/demo.rs");
    run(&project).expect(exit::VIOLATION);
    assert_eq!(project.read("cegar/tests/demo.rs"), test);
}

/// The user has to correct tests that do not compile. The search still runs, and tests for its
/// findings are added.
#[test]
fn tests_that_do_not_compile_do_not_stop_a_run() {
    let project = Project::package(FAULTY);
    let broken = "use cegar_harness::*;\n\nfn broken( {\n";
    project.write("cegar/tests/demo.rs", broken);
    project.write("cegar/tests/other.rs", "}\n");
    run(&project).expect(exit::VIOLATION);
    let after = project.read("cegar/tests/demo.rs");
    assert!(
        after.starts_with(broken) && after.contains("#[test]"),
        "{after}"
    );
    assert_eq!(project.read("cegar/tests/other.rs"), "}\n");
}

#[test]
fn files_where_folders_belong() {
    for (path, command) in [
        ("cegar/corpus/demo", "run"),
        ("cegar/tests", "run"),
        ("target/cegar/demo", "run"),
        ("target", "run"),
        ("cegar", "init"),
    ] {
        let project = Project::package(FAULTY);
        if path == "cegar" {
            must(fs::remove_dir_all(project.at("cegar")), "removing");
        }
        project.write(path, "mine\n");
        let ended = tool(&project, &[command]).run();
        ended
            .expect(exit::IO)
            .expect_message(path)
            .expect_message("move it away");
        assert_eq!(project.read(path), "mine\n");
    }
}

/// Runs the command in a mount namespace in which the project is read-only; `None` if this machine
/// does not allow that.
fn read_only(project: &Project, words: &[&str]) -> Option<Ended> {
    let script = "mount --bind \"$1\" \"$1\" && mount -o remount,ro,bind \"$1\" && cd \"$1\" || \
        exit 77; shift; exec \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "--map-root-user", "sh", "-c", script, "sh"])
        .arg(project.path())
        .arg(binary())
        .arg("cegar")
        .args(words)
        .env("NO_COLOR", "1")
        .env_remove("CARGO_TARGET_DIR")
        .stdin(Stdio::null());
    let output = command.output().ok()?;
    let ended = Ended::of(&command, output);
    if ended.code == Some(77) || ended.stderr.contains("unshare failed") {
        eprintln!("nothing can be mounted here: not tested\n{ended}");
        return None;
    }
    Some(ended)
}

#[test]
fn a_read_only_workspace() {
    let project = Project::package(FAULTY);
    let elsewhere = Project::empty();
    let before = contents(project.path());
    let target = elsewhere.path().display().to_string();
    for words in [&["run", "--runs", "100"][..], &["init"], &["build"]] {
        let Some(ended) = read_only(&project, words) else {
            return;
        };
        ended
            .expect(exit::IO)
            .expect_message("Read-only")
            .expect_message("--target-dir");
    }
    let words = ["run", "--runs", "100", "--target-dir", &target];
    if let Some(ended) = read_only(&project, &words) {
        ended
            .expect(exit::IO)
            .expect_message("cargo cegar ci --target-dir");
    }
    // The findings of `ci` go to the other folder.
    let words = ["ci", "--runs", "100", "--target-dir", &target];
    if let Some(ended) = read_only(&project, &words) {
        ended.expect(exit::VIOLATION);
        // A target folder that workspaces may share has one folder for each package.
        let entries = fs::read_dir(elsewhere.path()).unwrap_or_else(|why| panic!("{why}"));
        let mut folders = entries.flatten().map(|entry| entry.path());
        let is_written = folders.any(|folder| folder.join("ci/tests/demo.rs").is_file());
        assert!(is_written, "{ended}");
    }
    assert_eq!(contents(project.path()), before);
}

/// If a folder is removed during a campaign, the campaign reports it; the next campaign continues
/// with the remaining files.
#[test]
fn folders_removed_in_mid_run() {
    for removed in ["cegar", "target/cegar"] {
        let project = Project::package(BUSY);
        let queue = project.at("target/cegar/demo/queue");
        let package = project.at("cegar");
        let saved = project.at("saved");
        let mut running = tool(&project, &["run", "--max-time", "120s", "--fuzz-only"]).start();
        let begun = running.until(|| {
            let entries = fs::read_dir(&queue).ok()?;
            (entries.count() > 3).then_some(())
        });
        assert!(begun.is_some(), "{}", running.wait());
        must(
            Command::new("cp")
                .arg("-r")
                .arg(&package)
                .arg(&saved)
                .status(),
            "a copy",
        );
        // Removal fails if the campaign adds a file at the same time.
        for _ in 0..20 {
            if fs::remove_dir_all(project.at(removed)).is_ok() {
                break;
            }
        }
        let ended = running.wait();
        ended
            .expect(exit::IO)
            .expect_message(removed)
            .expect_message("Run the command again");

        if !package.exists() {
            must(fs::rename(&saved, &package), "the copy back");
        }
        tool(&project, &["run", "--max-time", "15s", "--fuzz-only"])
            .run()
            .expect(exit::CLEAN);
    }
}

#[test]
fn a_second_run_of_a_harness_waits_and_one_of_another_does_not() {
    let project = Project::package(BUSY);
    project.write(
        "cegar/harnesses/other.c",
        "#include \"demo.h\"\n\nint main(void)\n{\n    return demo((const unsigned char *)\"\", \
         0);\n}\n",
    );
    let config = project.read("cegar/cegar.toml");
    project.write(
        "cegar/cegar.toml",
        &format!("{config}\n[harness.other]\nfile = \"harnesses/other.c\"\n"),
    );
    let words = ["run", "demo", "--fuzz-only", "--max-time", "100s"];
    let mut first = tool(&project, &words).start();
    let lock = project.at("target/cegar/.locks/demo");
    let holds = || {
        fs::read_to_string(&lock)
            .ok()
            .filter(|text| !text.is_empty())
    };
    let holder = first.until(holds).unwrap_or_default();
    assert_eq!(holder, first.id().to_string());

    tool(
        &project,
        &["run", "other", "--fuzz-only", "--max-time", "2s"],
    )
    .run()
    .expect(exit::CLEAN);
    assert!(first.is_running(), "{}", first.wait());

    let second = tool(
        &project,
        &["run", "demo", "--fuzz-only", "--max-time", "2s"],
    )
    .start();
    // Ctrl-C ends a waiting command.
    let third = tool(
        &project,
        &["run", "demo", "--fuzz-only", "--max-time", "2s"],
    )
    .start();
    std::thread::sleep(std::time::Duration::from_secs(3));
    third.signal(nix::sys::signal::Signal::SIGINT);
    third
        .wait()
        .expect(exit::INTERRUPTED)
        .expect_message(&format!(
            "waiting for another cargo cegar (process {holder})"
        ));
    first.signal(nix::sys::signal::Signal::SIGKILL);
    first.wait();
    second
        .wait()
        .expect(exit::CLEAN)
        .expect_message("waiting for another");
}

#[test]
fn nowhere_to_put_temporary_files() {
    let project = Project::package(FAULTY);
    for words in [
        &["run", "--runs", "10"][..],
        &["check", "c/demo.c", "--entry", "demo"],
    ] {
        let ended = tool(&project, words).env("TMPDIR", "/no/such/folder").run();
        ended
            .expect(exit::IO)
            .expect_message("/no/such/folder")
            .expect_message("TMPDIR");
    }
}

#[test]
fn no_home_and_an_odd_locale() {
    let project = Project::package(FAULTY);
    let ended = tool(&project, &["run", "--runs", "100"])
        .without("HOME")
        .env("LC_ALL", "tr_TR.UTF-8")
        .run();
    ended.expect(exit::VIOLATION);
}

/// The path contains characters that are special in shells, make, C strings, printf formats and
/// URLs.
#[test]
fn a_path_with_spaces_quotes_and_signs() {
    let project = Project::package(FAULTY);
    let odd = project.at("it's 100%s #1 \"quoted\" $HOME (x)");
    must(fs::create_dir(&odd), "a folder");
    for name in ["Cargo.toml", "src", "c", "cegar"] {
        must(fs::rename(project.at(name), odd.join(name)), "a move");
    }
    let ended = Tool::new(&odd, ["run", "--runs", "100"]).run();
    ended.expect(exit::VIOLATION);
    let test = cargo_test(&odd.join("cegar"), &[]);
    assert!(test.stdout.contains("1 failed"), "{test}");
    let source = must(fs::read_to_string(odd.join("c/demo.c")), "the source");
    let fixed = source.replace("data[size]", "data[size - 1]");
    must(fs::write(odd.join("c/demo.c"), fixed), "the source");
    let test = cargo_test(&odd.join("cegar"), &[]);
    assert!(test.stdout.contains("1 passed"), "{test}");
}

/// Cargo refuses such a folder; its message is passed on.
#[test]
fn a_path_that_is_no_utf8() {
    let project = Project::package(FAULTY);
    let odd = project.path().join(OsStr::from_bytes(b"caf\xe9"));
    must(fs::create_dir(&odd), "a folder");
    for name in ["Cargo.toml", "src", "c", "cegar"] {
        must(fs::rename(project.at(name), odd.join(name)), "a move");
    }
    let ended = Tool::new(&odd, ["run", "--runs", "100"]).run();
    ended.expect(102).expect_message("UTF-8");
}

#[test]
fn a_reader_that_goes_away_and_a_disk_without_room() {
    let project = Project::package(FAULTY);
    let script = |script: &str| {
        let mut command = Command::new("bash");
        command
            .args(["-o", "pipefail", "-c", script, "sh"])
            .arg(binary())
            .current_dir(project.path())
            .env("NO_COLOR", "1")
            .env_remove("CARGO_TARGET_DIR");
        let output = must(command.output(), "bash");
        Ended::of(&command, output)
    };
    let run = "\"$1\" cegar run --runs 100 --message-format json";
    script(&format!("{run} 2>&1 | head -1")).expect(exit::VIOLATION);
    script(&format!("{run} >&-")).expect(exit::VIOLATION);
    script(&format!("{run} 2>&-")).expect(exit::VIOLATION);
    assert!(project.at("cegar/tests/demo.rs").is_file());
    script("\"$1\" cegar list | head -0").expect(exit::CLEAN);
    script("\"$1\" cegar list > /dev/full").expect(exit::IO);
}

#[test]
fn a_target_folder_elsewhere() {
    let project = Project::package(FAULTY);
    tool(&project, &["run", "--runs", "100"])
        .env("CARGO_TARGET_DIR", "by_variable")
        .run()
        .expect(exit::VIOLATION);
    assert!(project.at("by_variable/cegar/report.html").is_file());
    project.write(".cargo/config.toml", "[build]\ntarget-dir = \"by file\"\n");
    run(&project).expect(exit::VIOLATION);
    assert!(project.at("by file/cegar/report.html").is_file());
    assert!(!project.at("target").exists());
}
