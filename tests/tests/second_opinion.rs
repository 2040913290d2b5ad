//! Certificates that another solver accepts as well: `check-proof --solver` and `--smt2`.
//!
//! The queries are written without Z3's help, so that what both solvers accept relies on neither
//! alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use cegar_tests::{Ended, Project, Tool, exit};
use serde_json::Value;

/// Programs that are proved, each with another kind of terms: counters, indexed arrays, a table of
/// constants, wide products, floats.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "counter.c",
        "extern void reach_error(void);\n\
         extern unsigned char __VERIFIER_nondet_uchar(void);\n\
         int main(void) {\n\
             unsigned n = __VERIFIER_nondet_uchar(), i = 0, sum = 0;\n\
             while (i < n) { sum += 2; i++; }\n\
             if (sum != 2 * n) reach_error();\n\
             return 0;\n\
         }\n",
    ),
    (
        "buffer.c",
        "extern void reach_error(void);\n\
         extern unsigned char __VERIFIER_nondet_uchar(void);\n\
         int main(void) {\n\
             unsigned char buffer[16];\n\
             unsigned n = __VERIFIER_nondet_uchar() % 17;\n\
             for (unsigned i = 0; i < n; i++) buffer[i] = (unsigned char)i;\n\
             unsigned at = __VERIFIER_nondet_uchar() & 15;\n\
             buffer[at] = 3;\n\
             if (buffer[at] != 3) reach_error();\n\
             return 0;\n\
         }\n",
    ),
    (
        "table.c",
        "extern void reach_error(void);\n\
         extern unsigned char __VERIFIER_nondet_uchar(void);\n\
         static const unsigned short table[8] = { 1, 300, 2, 500, 3, 700, 4, 900 };\n\
         int main(void) {\n\
             unsigned i = __VERIFIER_nondet_uchar() & 7;\n\
             if (table[i] > 900 || table[i] == 0) reach_error();\n\
             return 0;\n\
         }\n",
    ),
    (
        "product.c",
        "extern void reach_error(void);\n\
         extern unsigned char __VERIFIER_nondet_uchar(void);\n\
         int main(void) {\n\
             int a = __VERIFIER_nondet_uchar(), b = __VERIFIER_nondet_uchar();\n\
             if (a * b > 65025) reach_error();\n\
             if (b != 0 && a / b > a) reach_error();\n\
             return 0;\n\
         }\n",
    ),
    (
        "float.c",
        "extern void reach_error(void);\n\
         extern unsigned char __VERIFIER_nondet_uchar(void);\n\
         int main(void) {\n\
             float x = (float)__VERIFIER_nondet_uchar();\n\
             if (x + 1.0f < 1.0f || (int)x > 255) reach_error();\n\
             return 0;\n\
         }\n",
    ),
];

/// Whether cvc5 is installed; prints a note if it is not.
fn has_cvc5() -> bool {
    let found = Command::new("cvc5").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: cvc5 is not installed (`cargo xtask setup` installs it)");
    }
    found
}

/// A folder for each program with its certificate. All tests of this file share the folders.
fn proved() -> &'static [(&'static str, Project)] {
    static PROVED: OnceLock<Vec<(&'static str, Project)>> = OnceLock::new();
    PROVED.get_or_init(|| {
        let prove = |&(name, text): &(&'static str, &str)| {
            let project = Project::empty();
            project.write(name, text);
            let words = ["check", name, "--no-emit", "--engine-only", "--runs", "1"];
            let more = ["--property", "assertion", "--certificate", "proof"];
            let run = Tool::new(project.path(), words.iter().chain(&more)).run();
            run.expect(exit::CLEAN);
            assert!(project.at("proof/certificate.json").is_file(), "{run}");
            (name, project)
        };
        PROGRAMS.iter().map(prove).collect()
    })
}

fn check_proof(project: &Path, more: &[&str]) -> Ended {
    let words = ["check-proof", "proof/certificate.json"];
    let words = words.iter().chain(more);
    Tool::new(project, words).run()
}

/// A copy of a folder with its certificate after `damage`.
fn damaged(project: &Project, damage: impl FnOnce(&mut Value)) -> Project {
    let mut certificate: Value = serde_json::from_str(&project.read("proof/certificate.json"))
        .unwrap_or_else(|error| panic!("{error}"));
    damage(&mut certificate);
    let copy = Project::empty();
    copy.write("proof/certificate.json", &certificate.to_string());
    fs::copy(project.at("proof/program.bc"), copy.at("proof/program.bc"))
        .unwrap_or_else(|error| panic!("{error}"));
    copy
}

/// The queries in a folder, in order.
fn questions(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap_or_else(|error| panic!("{error}")).path())
        .filter(|path| path.extension().is_some_and(|end| end == "smt2"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn cvc5_accepts_what_z3_accepts() {
    if !has_cvc5() {
        return;
    }
    for (name, project) in proved() {
        let both = [&[][..], &["--solver", "cvc5"]].map(|solver| {
            let words = [solver, &["--message-format", "json"]].concat();
            let run = check_proof(project.path(), &words);
            run.expect(exit::CLEAN);
            run.messages()[0].clone()
        });
        assert_eq!(both[0]["accepted"], true, "{name}");
        assert_eq!(both[0], both[1], "{name}");
    }
}

#[test]
fn each_question_is_a_file_that_cvc5_refutes() {
    for (name, project) in proved() {
        let run = check_proof(
            project.path(),
            &["--smt2", "questions", "--message-format", "json"],
        );
        run.expect(exit::CLEAN);
        let files = questions(&project.at("questions"));
        assert_eq!(run.messages()[0]["questions"], files.len(), "{name}");
        let list = project.read("questions/manifest.tsv");
        assert_eq!(list.lines().count(), files.len() + 1, "{list}");
        assert!(
            list.lines().skip(1).all(|line| line.contains("\tunsat\t")),
            "{list}"
        );
        for file in &files {
            let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{error}"));
            assert!(text.starts_with("; "), "no word about it: {text}");
            assert!(text.contains("(set-info :status unsat)"), "{text}");
        }
        if !has_cvc5() {
            continue;
        }
        for file in &files {
            let ended = Command::new("cvc5").arg("--fp-exp").arg(file).output();
            let ended = ended.unwrap_or_else(|error| panic!("{error}"));
            let said = String::from_utf8_lossy(&ended.stdout);
            assert_eq!(said.trim(), "unsat", "{name}: {}", file.display());
        }
    }
}

/// The folder is used a second time: afterwards it contains only the queries of this certificate,
/// and the user's own files.
#[test]
fn a_folder_holds_the_questions_of_one_certificate() {
    let (_, project) = &proved()[0];
    let copy = damaged(project, |_| ());
    copy.write("questions/9999-old.smt2", "(check-sat)\n");
    copy.write("questions/notes.txt", "mine\n");
    check_proof(copy.path(), &["--smt2", "questions"]).expect(exit::CLEAN);
    assert!(!copy.at("questions/9999-old.smt2").exists());
    assert_eq!(copy.read("questions/notes.txt"), "mine\n");
}

#[test]
fn cvc5_refutes_what_is_damaged() {
    if !has_cvc5() {
        return;
    }
    let (_, project) = &proved()[0];
    let weaker = damaged(project, |certificate| {
        certificate["cuts"] = Value::Array(Vec::new())
    });
    let run = check_proof(weaker.path(), &["--solver", "cvc5"]);
    run.expect(exit::REJECTED);
    assert!(run.stdout.starts_with("rejected: "), "{run}");
}

#[test]
fn a_solver_that_is_not_there() {
    let (_, project) = &proved()[0];
    let run = check_proof(project.path(), &["--solver", "no-such-solver"]);
    run.expect(exit::TOOL_MISSING)
        .expect_message("there is no solver `no-such-solver`")
        .expect_message("apt-get install cvc5");
}

/// A solver that gives no answer, or an error beside its answer, does not accept a proof.
#[test]
fn a_solver_that_is_none() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_, project) = &proved()[0];
    let copy = damaged(project, |_| ());
    for (script, says) in [
        ("#!/bin/sh\nexit 3\n", "ended without an answer"),
        (
            "#!/bin/sh\necho '(error \"no such option\")'\necho unsat\n",
            "said what is no answer",
        ),
    ] {
        copy.write("liar", script);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(copy.at("liar"), mode).unwrap_or_else(|error| panic!("{error}"));
        let run = check_proof(copy.path(), &["--solver", "./liar"]);
        run.expect(exit::INTERNAL).expect_message(says);
        assert!(!run.stdout.contains("accepted"), "{run}");
    }
    copy.write("liar", "#!/bin/sh\necho unknown\n");
    let run = check_proof(copy.path(), &["--solver", "./liar"]);
    run.expect(exit::REJECTED);
    assert!(run.stdout.contains("the solver gave no answer"), "{run}");
}
