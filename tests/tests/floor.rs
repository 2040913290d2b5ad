//! Whole programs that abstract interpretation settles, tested through the command line.

use cegar_tests::{Ended, Project, Tool, exit};

/// A campaign of the engine alone that checks memory accesses.
fn campaign(file: &str, words: &[&str]) -> Ended {
    let project = Project::program(file);
    let fixed = [
        "check",
        file,
        "--engine-only",
        "--no-emit",
        "--property",
        "memory",
    ];
    let words = fixed.iter().chain(words);
    Tool::new(project.path(), words.copied()).run()
}

/// A cursor moves in step with the count of remaining bytes; no comparison bounds the cursor
/// itself.
#[test]
fn a_cursor_and_what_is_left() {
    campaign("cursor.c", &[])
        .expect(exit::CLEAN)
        .expect_message(", proved;");
    campaign("cursor.c", &["-D", "MORE=1"]).expect(exit::VIOLATION);
}

/// A pointer that may be NULL, plus an index, still leads into its block only; a write through NULL
/// is a fault.
#[test]
fn null_and_an_index_lead_nowhere() {
    campaign("late_block.c", &["-D", "START=1"]).expect(exit::VIOLATION);
    let words = ["--no-floor", "-D", "START=1"];
    campaign("late_block.c", &words).expect(exit::VIOLATION);
}

/// A pointer moves by steps that are bounded by the distance to an end.
#[test]
fn steps_bounded_by_distances() {
    campaign("pieces.c", &[])
        .expect(exit::CLEAN)
        .expect_message(", proved;");
    let more = ["check", "pieces.c", "--no-emit", "-D", "MORE=1"];
    let project = Project::program("pieces.c");
    Tool::new(project.path(), more)
        .run()
        .expect(exit::VIOLATION);
}

/// Results, sums, tables, requests for memory and recursion: correct programs are proved, and
/// slightly wrong variants are not.
#[test]
fn right_and_wrong_by_a_little() {
    for case in 1..=18 {
        let case = format!("CASE={case}");
        campaign("apart.c", &["-D", &case])
            .expect(exit::CLEAN)
            .expect_message(", proved;");
        // Natively, the memory before a variable is another variable, so a native run does not show
        // the fault.
        let wrong = match &*case {
            "CASE=16" => exit::INCOMPLETE,
            _ => exit::VIOLATION,
        };
        let run = campaign("apart.c", &["-D", &case, "-D", "MORE=1"]);
        let proved = run.expect(wrong).stderr.contains(", proved;");
        assert!(!proved, "{case}\n{run}");
    }
}

/// Values that are computed twice, joined and split again, or moved in step: correct programs are
/// proved, and slightly wrong variants are not.
#[test]
fn computed_twice_and_in_step() {
    for case in 1..=12 {
        let case = format!("CASE={case}");
        let run = campaign("twice.c", &["-D", &case, "--max-time", "30s"]);
        run.expect(exit::CLEAN).expect_message(", proved;");
        let run = campaign("twice.c", &["-D", &case, "-D", "MORE=1"]);
        let proved = run.stderr.contains(", proved;");
        assert!(!proved, "{case}\n{run}");
    }
}

/// Blocks of a request that is executed repeatedly: the last block is written and released as a
/// single block, even through a pointer in the caller's registers.
#[test]
fn last_blocks_and_older_ones() {
    for case in 1..=12 {
        let case = format!("CASE={case}");
        let run = campaign("recent.c", &["-D", &case, "--max-time", "30s"]);
        run.expect(exit::CLEAN);
        if matches!(&case[5..], "1" | "2" | "3" | "4" | "8") {
            run.expect_message(", proved;");
        }
        campaign("recent.c", &["-D", &case, "-D", "MORE=1"]).expect(exit::VIOLATION);
    }
}
