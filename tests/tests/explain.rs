//! `cargo cegar explain`: the reasons for the state of a goal.

use std::sync::OnceLock;

use cegar_tests::{Ended, Project, Tool, exit};

/// A campaign that is not limited by time. It leaves its files in `left`.
fn campaign(project: &Project, words: &str) -> Ended {
    let fixed = "--engine-only --runs 1 --no-emit --certificate left";
    let words = ["check"].into_iter().chain(words.split(' '));
    Tool::new(project.path(), words.chain(fixed.split(' '))).run()
}

fn explain(project: &Project, words: &[&str]) -> Ended {
    let words = ["explain"].into_iter().chain(words.iter().copied());
    Tool::new(project.path(), words.chain(["--from", "left"])).run()
}

/// The explanation of a goal.
fn said(project: &Project, goal: &str) -> String {
    let run = explain(project, &[goal]);
    run.expect(exit::CLEAN);
    run.stdout.clone()
}

/// The ring buffer; both its assertions are proved.
fn ring() -> &'static Project {
    static RING: OnceLock<Project> = OnceLock::new();
    RING.get_or_init(|| {
        let project = Project::program("ring.c");
        campaign(&project, "ring.c --property assertion").expect(exit::CLEAN);
        project
    })
}

#[test]
fn a_violation_line_by_line() {
    let project = Project::program("stdin_overflow.c");
    campaign(&project, "stdin_overflow.c --faults none").expect(exit::VIOLATION);
    let by_place = said(&project, "stdin_overflow.c:17:19");
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"(main_array_bound)_\w+", "${1}_HASH");
    settings.bind(|| {
        insta::assert_snapshot!(by_place, @r#"
    stdin_overflow.c:17:19: violated: index past an array's bound
      test `main_array_bound_HASH`, found by partial simulation
      the way there:
        main in stdin_overflow.c
             6  char word[20];
            10  while ((c = getchar()) != EOF && c != ':')
                <- stdin: ":"
            12  while ((c = getchar()) != EOF && c != ' ') {
                <- stdin: "a"
            17  word[n++] = (char)c; /* here */
                (the last 2 lines 20 times more)
                <- stdin: "aaaaaaaaaaaaaaaaaaaa"
      the values that were chosen:
        stdin: ":aaaaaaaaaaaaaaaaaaaaa"
    "#)
    });
    let mut quoted = by_place.split('`');
    let name = quoted.find(|word| word.starts_with("main_array_bound_"));
    let by_name = said(&project, name.unwrap_or_default());
    assert!(by_place.starts_with(&by_name), "{by_name}");
}

#[test]
fn a_proof_by_what_it_needs() {
    let told = said(ring(), "ring.c:28");
    let mut settings = insta::Settings::clone_current();
    // The number of facts that the prover finds may change.
    settings.add_filter(r"proof's \d+ facts", "proof's N facts");
    settings.bind(|| {
        insta::assert_snapshot!(told, @r"
    ring.c:28:5: proved: assertion `held <= SIZE`
      it follows from what holds around these loops:
        ring.c:15:17 in main
            held < 9u
      1 of the proof's N facts, inductive by themselves
      it is assumed that
        - there is one thread
        - the C library and the operating system do what the stub library does
        - signed arithmetic that overflows wraps around, as with -fwrapv; lift it with --property overflow
        - every access to memory is valid: not asked, and not all of it is proved; lift it with --property memory
    ")
    });
}

/// The few facts that are needed are a proof of their own, if all other checks hold.
#[test]
fn a_proof_with_only_what_it_needs_is_accepted() {
    let project = ring();
    explain(project, &["ring.c:26", "--certificate", "small"]).expect(exit::CLEAN);
    let words = ["check-proof", "small/certificate.json"];
    let run = Tool::new(project.path(), words).run();
    run.expect(exit::CLEAN);
    let said = "accepted: 0 checks proved, 1 proved if others hold";
    assert!(run.stdout.starts_with(said), "{run}");
    let (small, large) = (
        project.read("small/certificate.json"),
        project.read("left/certificate.json"),
    );
    assert!(small.len() < large.len(), "{small}");
}

/// A check that the floor proves needs no facts at cut points: the floor's states are the whole
/// proof.
#[test]
fn what_the_floor_proves_follows_from_its_states() {
    let project = Project::program("late_block.c");
    campaign(&project, "late_block.c --property memory");
    let told = said(&project, "late_block.c:33");
    let from_the_floor =
        "it follows from the states of the whole program that the floor found without the solver";
    assert!(told.contains(from_the_floor), "{told}");
    explain(&project, &["late_block.c:35", "--certificate", "small"]).expect(exit::CLEAN);
    let words = ["check-proof", "small/certificate.json"];
    let run = Tool::new(project.path(), words).run();
    run.expect(exit::CLEAN);
    assert!(run.stdout.starts_with("accepted: "), "{run}");
}

#[test]
fn what_is_open_and_what_to_turn() {
    let project = Project::program("ring.c");
    let words = "check ring.c --fuzz-only --runs 1 --no-emit --certificate left";
    let run = Tool::new(project.path(), words.split(' ')).run();
    run.expect(exit::CLEAN);
    let told = said(&project, "ring.c:28");
    for word in [
        "open: assertion `held <= SIZE`",
        "--fuzz-only attempts no proof",
        "leave out --fuzz-only",
    ] {
        assert!(told.contains(word), "no word of {word}\n{told}");
    }
}

/// Every goal that a campaign lists can be explained, by its number and by its place.
#[test]
fn every_goal_has_a_story() {
    let project = ring();
    let goals = project.read("left/goals.json");
    let goals: serde_json::Value =
        serde_json::from_str(&goals).unwrap_or_else(|error| panic!("{error}: {goals}"));
    let mut asked = 0;
    for goal in goals["goals"].as_array().into_iter().flatten() {
        let name = match goal["kind"].as_str() {
            Some("check") => goal["id"].to_string(),
            _ if goal["place"]["line"] == 0 => continue,
            _ => format!("ring.c:{}", goal["place"]["line"]),
        };
        let run = explain(project, &[&name, "--message-format", "json"]);
        run.expect(exit::CLEAN);
        for message in run.messages() {
            assert_eq!(message["reason"], "explained", "{run}");
            assert!(message["verdict"].is_string(), "{run}");
        }
        asked += 1;
    }
    assert!(asked > 5, "{goals}");
}

/// In a package, `explain` needs no `--from`: `run` leaves its files where `explain` looks.
#[test]
fn what_a_package_left() {
    let project = Project::package(
        "int demo(const unsigned char *data, size_t size)\n{\n    if (size >= 2 && data[0] == 'g' \
         && data[1] == 'o')\n        return data[size];\n    return 0;\n}\n",
    );
    let words = "run --engine-only --runs 1";
    let run = Tool::new(project.path(), words.split(' ')).run();
    run.expect(exit::VIOLATION);
    let told = Tool::new(project.path(), ["explain", "demo.c:5"]).run();
    told.expect(exit::CLEAN);
    for word in [
        "c/demo.c:5",
        "violated: invalid read",
        "return data[size];",
        "data: \"go\"",
    ] {
        assert!(told.stdout.contains(word), "no word of {word}\n{told}");
    }
    Tool::new(
        project.path(),
        ["explain", "demo.c:5", "--harness", "other"],
    )
    .run()
    .expect(exit::NOTHING_SELECTED)
    .expect_message("nothing to explain");
    Tool::new(Project::empty().path(), ["explain", "demo.c:5"])
        .run()
        .expect(exit::NOTHING_SELECTED)
        .expect_message("--from DIR");
}

#[test]
fn what_does_not_exist() {
    let project = ring();
    explain(project, &["ring.c:999"])
        .expect(exit::NOTHING_SELECTED)
        .expect_message("there is no goal `ring.c:999`")
        .expect_message("near it there are goals in the lines 16, 17, 18, 22, 23, 26, 28, 32");
    let empty = Project::empty();
    explain(&empty, &["1"])
        .expect(exit::NOTHING_SELECTED)
        .expect_message("there is no file `left/goals.json`");
}

#[test]
fn what_is_damaged() {
    let project = Project::empty();
    let copy = |file: &str| {
        let (from, to) = (ring().at("left").join(file), project.at("left").join(file));
        std::fs::copy(&from, &to).unwrap_or_else(|error| panic!("{file}: {error}"));
    };
    project.write("left/goals.json", "{");
    explain(&project, &["1"])
        .expect(exit::USAGE)
        .expect_message("goals.json` cannot be used");
    copy("goals.json");
    project.write("left/program.bc", "");
    explain(&project, &["1"])
        .expect(exit::USAGE)
        .expect_message("`left/program.bc` is no bitcode of ours");
    copy("program.bc");
    project.write("left/certificate.json", "[]");
    explain(&project, &["1"])
        .expect(exit::USAGE)
        .expect_message("certificate.json` cannot be used");
}

/// The explanation of an open check tells what the floor knows, what is missing, and which
/// `crunner_assume` may help.
#[test]
fn what_an_open_check_lacks() {
    let project = Project::program("unknown.c");
    campaign(&project, "unknown.c --property memory");
    let lack = |goal: &str| {
        let all = said(&project, goal);
        let from = all.find("the floor knows only").unwrap_or(all.len());
        let to = all.find("  tried:").unwrap_or(all.len());
        (all[from..to].to_owned(), all)
    };
    let (index, all) = lack("unknown.c:17");
    insta::assert_snapshot!(index, @r#"
    the floor knows only:
        `i`: 0..50
        `from` leads to offset 0..200 in `table`, which has 40 bytes
      it needs:
        `i <= 9` where unknown.c:17:12 reads `from[i]`
    "#);
    assert!(
        all.contains(
            "a crunner_assume(...) about `crunner_range(0, 50)` behind unknown.c:22 may help"
        ),
        "{all}"
    );
    insta::assert_snapshot!(lack("unknown.c:33").0, @r#"
    the floor knows only:
        `null` may be NULL
      it needs:
        `null` that is not NULL where unknown.c:33:12 reads `*null`
    "#);
    insta::assert_snapshot!(lack("unknown.c:36").0, @r#"
    the floor knows only:
        the block from unknown.c:23:19 may have been released
      it needs:
        that the block from unknown.c:23:19 still exists where unknown.c:36:14 writes `freed[1]`
    "#);
}
