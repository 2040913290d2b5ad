//! What abstract interpretation settles of whole programs, as a user sees it.

use cegar_tests::{Ended, Project, Tool, exit};

/// A campaign of the engine alone, for accesses to memory.
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

/// No comparison says where a cursor stops that moves in step with what is left.
#[test]
fn a_cursor_and_what_is_left() {
    campaign("cursor.c", &[])
        .expect(exit::CLEAN)
        .says(", proved;");
    campaign("cursor.c", &["-D", "MORE=1"]).expect(exit::VIOLATION);
}

/// A pointer that may be NULL still leads into its block only, with whatever index, and a write
/// through NULL is a fault.
#[test]
fn null_and_an_index_lead_nowhere() {
    campaign("late_block.c", &["-D", "START=1"]).expect(exit::VIOLATION);
    let words = ["--no-floor", "-D", "START=1"];
    campaign("late_block.c", &words).expect(exit::VIOLATION);
}

/// The distance to an end bounds a step, by which a pointer moves then.
#[test]
fn steps_bounded_by_distances() {
    campaign("pieces.c", &[])
        .expect(exit::CLEAN)
        .says(", proved;");
    let more = ["check", "pieces.c", "--no-emit", "-D", "MORE=1"];
    let project = Project::program("pieces.c");
    Tool::new(project.path(), more)
        .run()
        .expect(exit::VIOLATION);
}

/// Results, sums, tables, requests and recursion: what is right is proved, and what is wrong by a
/// little is not.
#[test]
fn right_and_wrong_by_a_little() {
    for case in 1..=18 {
        let case = format!("CASE={case}");
        campaign("apart.c", &["-D", &case])
            .expect(exit::CLEAN)
            .says(", proved;");
        // What lies before a variable is another one natively.
        let wrong = match &*case {
            "CASE=16" => exit::INCOMPLETE,
            _ => exit::VIOLATION,
        };
        let run = campaign("apart.c", &["-D", &case, "-D", "MORE=1"]);
        let proved = run.expect(wrong).stderr.contains(", proved;");
        assert!(!proved, "{case}\n{run}");
    }
}

/// What is computed twice, joined and taken apart again, or walked in step: what is right is
/// proved, and what is wrong by a little is not.
#[test]
fn computed_twice_and_in_step() {
    for case in 1..=12 {
        let case = format!("CASE={case}");
        let run = campaign("twice.c", &["-D", &case, "--max-time", "30s"]);
        run.expect(exit::CLEAN).says(", proved;");
        let run = campaign("twice.c", &["-D", &case, "-D", "MORE=1"]);
        let proved = run.stderr.contains(", proved;");
        assert!(!proved, "{case}\n{run}");
    }
}

/// Blocks of a request that is executed again: the last one is written and released as one block,
/// also from the caller's registers.
#[test]
fn last_blocks_and_older_ones() {
    for case in 1..=12 {
        let case = format!("CASE={case}");
        let run = campaign("recent.c", &["-D", &case, "--max-time", "30s"]);
        run.expect(exit::CLEAN);
        if matches!(&case[5..], "1" | "2" | "3" | "4" | "8") {
            run.says(", proved;");
        }
        campaign("recent.c", &["-D", &case, "-D", "MORE=1"]).expect(exit::VIOLATION);
    }
}
