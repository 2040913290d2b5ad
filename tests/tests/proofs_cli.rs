//! Proofs on the command line: the verdict and its exit code, a certificate that is checked again,
//! and the rejection of damaged certificates.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use cegar_model::program::ir::Block;
use cegar_model::program::{Check, CheckKind, FunctionKind, Program};
use cegar_tests::{Ended, Project, Running, Tool, exit};
use nix::sys::signal::Signal;
use serde_json::Value;

/// Runs `check` on a program with JSON output and without tests.
fn check(project: &Project, program: &str, more: &[&str]) -> Ended {
    let words = ["check", program, "--message-format", "json", "--no-emit"];
    Tool::new(project.path(), words.iter().chain(more)).run()
}

fn check_proof(project: &Project, more: &[&str]) -> Ended {
    let words = ["check-proof", "proof/certificate.json"];
    Tool::new(project.path(), words.iter().chain(more)).run()
}

/// The ring buffer's certificate and bitcode. Only assertions are checked, so the program's invalid
/// access does not matter.
fn ring() -> &'static (String, Vec<u8>) {
    static RING: OnceLock<(String, Vec<u8>)> = OnceLock::new();
    RING.get_or_init(|| {
        let project = Project::program("balance.c");
        // The limits are counts, not times: a slow machine writes the same certificate.
        let words = ["--engine-only", "--runs", "1"];
        let words = [
            &words[..],
            &["--property", "assertion", "--certificate", "proof"],
        ]
        .concat();
        let run = check(&project, "balance.c", &words);
        run.expect(exit::CLEAN);
        assert_eq!(run.finished()["verdict"], "proved", "{run}");
        let bitcode = fs::read(project.at("proof/program.bc"));
        let bitcode = bitcode.unwrap_or_else(|error| panic!("no bitcode: {error}\n{run}"));
        (project.read("proof/certificate.json"), bitcode)
    })
}

/// A folder with the ring buffer's certificate after `damage`.
fn damaged(damage: impl FnOnce(&mut Value)) -> Project {
    let (text, bitcode) = ring();
    let mut certificate: Value =
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    damage(&mut certificate);
    let project = Project::empty();
    project.write("proof/certificate.json", &certificate.to_string());
    write(&project.at("proof/program.bc"), bitcode);
    project
}

fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap_or_else(|error| panic!("cannot write {path:?}: {error}"));
}

fn cuts(certificate: &mut Value) -> &mut Vec<Value> {
    let cuts = certificate["cuts"].as_array_mut();
    cuts.unwrap_or_else(|| panic!("no cut points"))
}

/// A claim without a condition.
fn claim(number: usize) -> Value {
    serde_json::json!({ "id": number })
}

/// Removes the first, or the last, `count` facts from a certificate.
fn take_out(certificate: &mut Value, mut count: usize, from_the_end: bool) {
    let mut all: Vec<&mut Vec<Value>> = cuts(certificate)
        .iter_mut()
        .filter_map(|cut| cut["facts"].as_array_mut())
        .collect();
    if from_the_end {
        all.reverse();
    }
    for facts in all {
        let here = count.min(facts.len());
        match from_the_end {
            true => facts.truncate(facts.len() - here),
            false => drop(facts.drain(..here)),
        }
        count -= here;
    }
}

/// The number of the check for the read of `marks` in the ring buffer's program, and its line.
fn read_of_marks(bitcode: &Path) -> (usize, usize) {
    let lines = cegar_tests::program("balance.c");
    let line = lines.lines().position(|line| line.contains("marks[sum]"));
    let line = line.unwrap_or_else(|| panic!("no `marks[sum]` in {lines}")) + 1;
    let program = Program::load(bitcode).unwrap_or_else(|error| panic!("{error}"));
    let is_it = |check: &Check| check.kind == CheckKind::Read && check.pos.line as usize == line;
    let number = program.checks.iter().position(is_it);
    let number = number.unwrap_or_else(|| panic!("nothing is read in line {line}"));
    (number, line)
}

/// Asserts that `check-proof` rejects the certificate in both output formats, with these words in
/// the text output.
fn is_rejected(project: &Project, words: &[&str]) {
    let run = check_proof(project, &[]);
    run.expect(exit::REJECTED);
    for word in words {
        assert!(run.stdout.contains(word), "no word of `{word}`\n{run}");
    }
    let run = check_proof(project, &["--message-format", "json"]);
    run.expect(exit::REJECTED);
    assert_eq!(run.messages()[0]["accepted"], false, "{run}");
}

#[test]
fn proved_with_a_certificate_that_is_accepted() {
    let project = damaged(|_| ());
    let run = check_proof(&project, &[]);
    run.expect(exit::CLEAN);
    assert!(run.stdout.starts_with("accepted: "), "{run}");
    let run = check_proof(&project, &["--message-format", "json"]);
    run.expect(exit::CLEAN);
    let said = &run.messages()[0];
    assert_eq!(said["accepted"], true, "{run}");
    assert!(said["user_checks"].as_u64() > Some(0), "{run}");
    assert!(said["questions"].as_u64() > Some(0), "{run}");
}

#[test]
fn a_fact_that_is_strengthened() {
    let project = damaged(|certificate| {
        for cut in cuts(certificate) {
            cut["facts"] = Value::from(vec!["#1:0"]);
        }
    });
    is_rejected(&project, &["the edge from", "does not preserve `#1:0`"]);
}

#[test]
fn facts_that_are_removed() {
    let project = damaged(|certificate| {
        for cut in cuts(certificate) {
            cut["facts"] = Value::Array(Vec::new());
        }
    });
    is_rejected(&project, &["does not follow", "balance.c:"]);
}

#[test]
fn cut_points_that_are_removed() {
    let project = damaged(|certificate| cuts(certificate).clear());
    is_rejected(
        &project,
        &["nothing is stated of the loop at", "balance.c:"],
    );
}

/// Facts may be redundant, so that a certificate with fewer facts can still be a proof. Each
/// reduced certificate is either accepted or rejected with a place; without any facts it is
/// rejected.
#[test]
fn facts_that_are_removed_by_and_by() {
    let mut count = 0;
    damaged(|certificate| {
        let facts = cuts(certificate).iter().map(|cut| &cut["facts"]);
        count = facts.filter_map(Value::as_array).map(Vec::len).sum();
    });
    assert!(count > 0, "a proof without facts");
    for from_the_end in [false, true] {
        let mut removed = 1;
        loop {
            let project = damaged(|certificate| take_out(certificate, removed, from_the_end));
            let run = check_proof(&project, &[]);
            if run.code == Some(exit::REJECTED) {
                assert!(run.stdout.contains("balance.c:"), "no place\n{run}");
            } else {
                run.expect(exit::CLEAN);
                assert!(removed < count, "no fact is needed\n{run}");
            }
            if removed >= count {
                break;
            }
            removed = count.min(2 * removed);
        }
    }
}

#[test]
fn a_check_that_does_not_hold() {
    let project = damaged(|_| ());
    let (number, line) = read_of_marks(&project.at("proof/program.bc"));
    let project = damaged(|certificate| {
        let checks = certificate["checks"].as_array_mut();
        checks.into_iter().for_each(|c| c.push(claim(number)));
    });
    is_rejected(&project, &["does not follow", &format!("balance.c:{line}")]);
}

#[test]
fn a_check_and_a_block_that_do_not_exist() {
    for (what, word) in [("checks", "check 4000000"), ("blocks", "block 4000000")] {
        let project = damaged(|certificate| {
            let goals = certificate[what].as_array_mut();
            goals.into_iter().for_each(|g| g.push(claim(4_000_000)));
        });
        is_rejected(&project, &[word]);
    }
}

/// A claim that entered blocks are unreachable is rejected.
#[test]
fn a_block_that_is_entered() {
    let project = damaged(|_| ());
    let program = Program::load(&project.at("proof/program.bc"));
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    let is_user = |block: &&Block| program.function(block.function).kind == FunctionKind::User;
    let count = program.blocks.iter().take_while(is_user).count();
    assert!(count > 3, "the user's blocks are not the first");
    let project = damaged(|certificate| {
        certificate["blocks"] = (0..count).map(claim).collect();
    });
    is_rejected(&project, &["block", "may be entered"]);
}

/// Claims about the library's blocks are rejected: nobody needs them, so the checker does not check
/// them.
#[test]
fn a_block_of_the_library() {
    let project = damaged(|_| ());
    let program = Program::load(&project.at("proof/program.bc"));
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    let is_stub = |block: &Block| program.function(block.function).kind == FunctionKind::Stub;
    let number = program.blocks.iter().position(is_stub);
    let number = number.unwrap_or_else(|| panic!("no library"));
    let project = damaged(|certificate| certificate["blocks"] = [claim(number)].into());
    is_rejected(&project, &[&format!("block {number} is not the user's")]);
}

#[test]
fn the_bitcode_of_another_program() {
    let project = damaged(|_| ());
    let mut other = ring().1.clone();
    other.push(0);
    write(&project.at("proof/program.bc"), &other);
    is_rejected(&project, &["other bitcode"]);
}

#[test]
fn bitcode_that_is_none() {
    let project = damaged(|certificate| {
        // The digest of empty input.
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        certificate["bitcode"] = digest.into();
    });
    write(&project.at("proof/program.bc"), b"");
    let run = check_proof(&project, &[]);
    run.expect(exit::USAGE)
        .expect_message("program.bc` is no bitcode");
}

#[test]
fn a_formula_that_cannot_be_read() {
    for formula in [
        "(ule |r:5|",
        "#32:5",
        "(frobnicate #1:1)",
        "",
        "(= #8:1 #16:1)",
    ] {
        let project = damaged(|certificate| {
            for cut in cuts(certificate) {
                cut["facts"] = Value::from(vec![formula]);
            }
        });
        is_rejected(&project, &["cut point", "cannot be used", formula]);
    }
}

#[test]
fn another_format() {
    let project = damaged(|certificate| certificate["format"] = 99.into());
    is_rejected(&project, &["format 99"]);
}

#[test]
fn files_that_are_cut_off_or_missing() {
    let project = damaged(|_| ());
    let text = project.read("proof/certificate.json");
    project.write("proof/certificate.json", &text[..text.len() / 2]);
    let run = check_proof(&project, &[]);
    run.expect(exit::USAGE).expect_message("is no certificate");
    fs::remove_file(project.at("proof/certificate.json"))
        .unwrap_or_else(|error| panic!("cannot remove: {error}"));
    check_proof(&project, &[])
        .expect(exit::NOTHING_SELECTED)
        .expect_message("there is no file `proof/certificate.json`");
    let project = damaged(|_| ());
    fs::remove_file(project.at("proof/program.bc"))
        .unwrap_or_else(|error| panic!("cannot remove: {error}"));
    check_proof(&project, &[])
        .expect(exit::NOTHING_SELECTED)
        .expect_message("program.bc");
}

#[test]
fn proof_is_required() {
    let project = Project::program("balance.c");
    let words = ["-D", "FIXED", "--require-proof", "--max-time", "150s"];
    let run = check(&project, "balance.c", &words);
    run.expect(exit::CLEAN);
    let finished = run.finished();
    assert_eq!(finished["verdict"], "proved", "{run}");
    assert_eq!(finished["goals"]["checks"]["open"], 0, "{run}");
    assert!(!finished["assumptions"].as_array().is_none_or(Vec::is_empty));
    let prover = &finished["stats"]["prover"];
    for count in ["iterations", "facts", "guesses", "solver_calls"] {
        assert!(prover[count].as_u64() > Some(0), "{count}\n{run}");
    }
    for phase in ["explore", "forest", "guess", "houdini", "settle", "check"] {
        assert!(prover[phase].as_f64() >= Some(0.0), "{phase}\n{run}");
    }
    assert!(
        finished["stats"]["solver_calls"].as_u64() >= prover["solver_calls"].as_u64(),
        "{run}"
    );

    let project = Project::program("mixing.c");
    let words = ["--require-proof", "--max-time", "10s"];
    let run = check(&project, "mixing.c", &words);
    run.expect(exit::OPEN_GOALS);
    assert_eq!(run.finished()["verdict"], "open", "{run}");
    let open: Vec<Value> = run
        .messages()
        .into_iter()
        .filter(|message| message["reason"] == "goal" && message["status"] == "open")
        .collect();
    assert!(!open.is_empty(), "{run}");
    for goal in open {
        let why = goal["why"].as_str().unwrap_or_default();
        assert!(why.contains("no execution"), "{goal}\n{run}");
    }
}

#[test]
fn who_only_fuzzes_proves_nothing() {
    let project = Project::program("balance.c");
    let words = [
        "-D",
        "FIXED",
        "--fuzz-only",
        "--max-time",
        "6s",
        "--certificate",
        "proof",
    ];
    let run = check(&project, "balance.c", &words);
    run.expect(exit::CLEAN);
    let finished = run.finished();
    assert_eq!(finished["verdict"], "open", "{run}");
    assert_eq!(finished["goals"]["checks"]["proved"], 0, "{run}");
    assert_eq!(finished["stats"]["prover"]["iterations"], 0, "{run}");
    assert!(!project.at("proof/certificate.json").exists(), "{run}");
    assert!(
        run.stdout.contains("--fuzz-only attempts no proof"),
        "{run}"
    );
}

/// Two simultaneous runs have the same results although each slows the other: no limit is a time.
#[test]
fn a_proof_can_be_repeated() {
    let project = Project::program("balance.c");
    let running = ["one", "two"].map(|folder| {
        let words = "check balance.c -D FIXED --runs 500 --seed 3 --message-format json --no-emit \
            --certificate";
        Tool::new(project.path(), words.split(' ').chain([folder])).start()
    });
    let [first, second] = running.map(Running::wait);
    let [one, two] = ["one", "two"].map(|folder| format!("{folder}/certificate.json"));
    assert_eq!(project.read(&one), project.read(&two), "{first}\n{second}");
    let (one, two) = (first.finished(), second.finished());
    assert_eq!(one["verdict"], "proved", "{first}");
    assert_eq!(one["goals"], two["goals"], "{first}\n{second}");
    for number in ["executions", "solver_calls", "refinements"] {
        let (one, two) = (&one["stats"][number], &two["stats"][number]);
        assert_eq!(one, two, "{number}\n{first}\n{second}");
    }
    for number in ["iterations", "guesses", "facts", "solver_calls"] {
        let (one, two) = (&one["stats"]["prover"], &two["stats"]["prover"]);
        assert_eq!(one[number], two[number], "{number}\n{first}\n{second}");
    }
}

/// A run that writes its certificate to the same folder starts from the facts of the previous one.
#[test]
fn what_was_proved_is_taken_up_again() {
    let project = Project::program("balance.c");
    let words = ["-D", "FIXED", "--certificate", "proof"];
    let first = check(&project, "balance.c", &words);
    assert_eq!(first.finished()["verdict"], "proved", "{first}");
    let levels = |run: &Ended| run.finished()["stats"]["prover"]["iterations"].as_u64();
    assert!(levels(&first) > Some(0), "{first}");
    let second = check(&project, "balance.c", &words);
    assert_eq!(second.finished()["verdict"], "proved", "{second}");
    assert_eq!(levels(&second), Some(0), "{second}");
}

/// Ctrl-C at several moments while the prover works: the run ends soon, reports the interruption,
/// and keeps what was covered.
#[test]
fn an_interruption_stops_the_prover() {
    for wait in [500, 1500, 3000] {
        let project = Project::program("mixing.c");
        let scratch = project.at("scratch");
        let words = [
            "check",
            "mixing.c",
            "--property",
            "all",
            "--max-time",
            "170s",
            "--no-emit",
            "--keep",
            "--message-format",
            "json",
            "--target-dir",
            "scratch",
        ];
        let mut running = Tool::new(project.path(), words).start();
        // The queue gets its first input when something is covered.
        let is_at_work = || is_filled(&scratch).then_some(());
        assert!(running.until(is_at_work).is_some(), "nothing covered");
        std::thread::sleep(Duration::from_millis(wait));
        assert!(running.is_running(), "it ended by itself");
        running.signal(Signal::SIGINT);
        let asked = Instant::now();
        let run = running.wait();
        run.expect(exit::INTERRUPTED);
        assert!(asked.elapsed() < Duration::from_secs(60), "slow\n{run}");
        let finished = run.finished();
        assert_eq!(finished["interrupted"], true, "{run}");
        assert!(
            finished["goals"]["edges"]["covered"].as_u64() > Some(0),
            "{run}"
        );
        for file in ["state.json", "goals.json"] {
            assert!(has(&scratch, file), "no {file}\n{run}");
        }
    }
}

/// Whether the folder or one of its subfolders contains such a file.
fn has(folder: &Path, name: &str) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        let path = entry.path();
        entry.file_name() == name || (path.is_dir() && has(&path, name))
    })
}

/// Whether one of the checks' folders `queue` contains a file.
fn is_filled(scratch: &Path) -> bool {
    let checks = fs::read_dir(scratch.join("cegar")).into_iter().flatten();
    checks.flatten().any(|check| {
        let mut queue = fs::read_dir(check.path().join("queue"))
            .into_iter()
            .flatten();
        queue.next().is_some()
    })
}
