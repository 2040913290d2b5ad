//! Loops that have to be taken many times: each program is violated after exactly so many turns,
//! and corrected (`-DFIXED`) it is proved.

use cegar_tests::{Ended, Project, Tool, exit, one_in, thorough};

/// What is proved is asked of the prover alone: beside a fuzzer that finds nothing more it has half
/// of a small machine.
const ALONE: &str = "--engine-only";

fn check(name: &str, more: &[&str]) -> Ended {
    check_in("loops", name, more)
}

fn check_in(folder: &str, name: &str, more: &[&str]) -> Ended {
    let path = format!("{folder}/{name}.c");
    let project = Project::program(&path);
    let mut words = vec!["check", &path, "--no-emit", "--message-format", "json"];
    if !more.contains(&"--property") {
        words.extend(["--property", "assertion", "--property", "memory"]);
    }
    words.extend(more);
    Tool::new(project.path(), words).run()
}

fn are_settled(names: &[&str]) {
    for name in some(names) {
        check(name, &["--max-time", "60s"]).expect(exit::VIOLATION);
        let run = check(name, &["--max-time", "120s", "-D", "FIXED", ALONE]);
        assert_eq!(run.finished()["verdict"], "proved", "{name}\n{run}");
    }
}

/// Programs of a class, wrong and corrected. `hard` ones may stay open when they are corrected.
fn class_is_settled(folder: &str, proved: &[&str], hard: &[&str], time: &str) {
    for name in some(proved).chain(hard) {
        let run = |time: &str, fixed: &[&str]| {
            let mut words = vec!["--property", "unreach", "--max-time", time];
            words.extend(fixed);
            check_in(folder, name, &words)
        };
        run("60s", &[]).expect(exit::VIOLATION);
        if proved.contains(name) {
            let run = run(time, &["-D", "FIXED", ALONE]);
            assert_eq!(run.finished()["verdict"], "proved", "{name}\n{run}");
        } else {
            let time = if thorough() { "15s" } else { "3s" };
            let run = run(time, &["-D", "FIXED"]);
            assert_ne!(run.finished()["verdict"], "violated", "{name}\n{run}");
        }
    }
}

#[test]
fn counters_in_step() {
    are_settled(&["in_step", "counts_down", "wraps", "drains", "retries"]);
}

#[test]
fn steps_and_strides() {
    are_settled(&["steps_over", "stride", "walks", "two_phases", "table"]);
}

#[test]
fn sums_and_powers() {
    are_settled(&["sum_reaches", "checksum", "cubes", "doubles"]);
}

#[test]
fn patterns_and_nests() {
    are_settled(&["every_seventh", "alternates", "nested", "ring"]);
}

/// Every third one of them, unless the tests are to be thorough: each takes seconds, and all of
/// them minutes.
fn some<'n>(names: &'n [&'n str]) -> impl Iterator<Item = &'n &'n str> {
    names.iter().step_by(one_in(3))
}

/// Programs of a folder are found to be wrong; corrected ones are proved, or at least not said to
/// be wrong.
fn are_told_apart(folder: &str, proved: &[&str], open: &[&str]) {
    let run = |name: &str, time: &str, fixed: &[&str]| {
        let mut words = vec!["--property", "memory", "--max-time", time];
        words.extend(fixed);
        check_in(folder, name, &words)
    };
    for name in some(proved) {
        run(name, "60s", &[]).expect(exit::VIOLATION);
        let fixed = run(name, "60s", &["-D", "FIXED", ALONE]);
        assert_eq!(fixed.finished()["verdict"], "proved", "{name}\n{fixed}");
    }
    for name in open {
        run(name, "60s", &[]).expect(exit::VIOLATION);
        let fixed = run(name, "3s", &["-D", "FIXED"]);
        assert_ne!(fixed.finished()["verdict"], "violated", "{name}\n{fixed}");
    }
}

/// What is bounded by nothing but the zero byte at a text's end.
#[test]
fn texts_up_to_their_ends() {
    let proved = [
        "digits",
        "joined",
        "mean",
        "overwritten",
        "pairs",
        "scanned",
        "shifted",
        "trim",
        "words",
    ];
    // Words by their addresses in an array are not followed.
    are_told_apart("texts", &proved, &["tokens"]);
}

/// Arrays that grow: what is in them, and how much room there is, is said by numbers beside them.
#[test]
fn arrays_that_grow() {
    let proved = [
        "buffer", "bytes", "kept", "pair", "points", "records", "stack", "two", "vector",
    ];
    // Arrays that are emptied are not followed.
    are_told_apart("growing", &proved, &["twice"]);
}

/// What most programs do: tables that are filled and looked up, labels, runs that are merged,
/// blocks that are doubled.
#[test]
fn everyday() {
    let proved = [
        "builder", "classes", "doubled", "halves", "labels", "merged", "records",
    ];
    are_told_apart("everyday", &proved, &[]);
}

/// What the library is given and keeps: buffers of streams, a name for the log.
#[test]
fn streams() {
    are_told_apart("streams", &["buffer", "logged"], &[]);
}

/// Rows and columns: indices that are products, of which each is known by another one.
#[test]
fn grids() {
    let proved = [
        "cut",
        "image",
        "product",
        "rows",
        "screen",
        "torus",
        "transposed",
    ];
    are_told_apart("grids", &proved, &[]);
}

/// Parts of locals that no store of the local's type writes, or that stay in memory where the rest
/// becomes registers.
#[test]
fn layout() {
    // Which of two members was written last is told by a third one.
    are_told_apart("layout", &["gap", "padding"], &["tagged"]);
}

/// Numbers in digits and groups of bits, and sizes that are rounded up.
#[test]
fn digits_and_rounded_sizes() {
    are_told_apart("digits", &["aligned", "digits", "groups"], &[]);
}

/// Elements of arrays own blocks: tables of chains, arrays of texts, stacks.
#[test]
fn rows() {
    let proved = [
        "buckets", "lines", "menu", "pairs", "slots", "stack", "table", "words",
    ];
    are_told_apart("rows", &proved, &[]);
}

/// Lists are built, changed and released: each node has one owner.
#[test]
fn lists() {
    let proved = [
        "names", "pop", "queue", "removed", "replaced", "shared", "sorted", "stack", "taken",
        "turned", "waiting", "ways",
    ];
    are_told_apart("lists", &proved, &[]);
}

/// Faults that no search comes to are not proved away.
#[test]
fn locked() {
    let run = check_in("locked", "ways", &["--max-time", "8s", ALONE]);
    assert_ne!(run.finished()["verdict"], "proved", "{run}");
}

/// Ends that are written over, left out, or passed by.
#[test]
fn texts_past_their_ends() {
    let names = [
        "behind_token",
        "by_words",
        "carried",
        "cut",
        "deep",
        "either",
        "escaped",
        "filled",
        "marked",
        "moved",
        "neighbour",
        "no_space",
        "other_line",
        "renewed",
        "skipped",
        "stale",
        "two_ends",
        "wrapped",
    ];
    for name in some(&names) {
        let words = ["--property", "memory", "--max-time", "60s"];
        check_in("overruns", name, &words).expect(exit::VIOLATION);
    }
}

#[test]
fn characters() {
    are_settled(&["white_space", "strings"]);
}

/// The floor relates the level to the turns without acceleration.
#[test]
fn turn_by_turn_if_asked() {
    let words = "--max-time 3s -D FIXED --no-loop-acceleration --no-floor";
    let words: Vec<&str> = words.split(' ').collect();
    let without = check("drains", &words);
    assert_eq!(without.finished()["verdict"], "open", "{without}");
}

#[test]
fn calls_that_are_the_last_act_or_leave_globals_alone() {
    for name in ["transfers", "depth", "divisor", "parity", "unseen"] {
        check_in("recursive", name, &["--max-time", "60s"]).expect(exit::VIOLATION);
        let run = check_in("recursive", name, &["--max-time", "120s", "-D", "FIXED"]);
        assert_eq!(run.finished()["verdict"], "proved", "{name}\n{run}");
    }
}

/// What comes back from a call is related to what was passed.
#[test]
fn results_and_arguments_of_recursion() {
    check_in("recursive", "ninety_one", &["--max-time", "60s"]).expect(exit::VIOLATION);
    let run = check_in(
        "recursive",
        "ninety_one",
        &["--max-time", "120s", "-D", "FIXED"],
    );
    assert_eq!(run.finished()["verdict"], "proved", "{run}");
}

/// Functions that call themselves before their last act: what they return is a relation of what
/// they are given. What stands in the second list may stay open, and is never violated.
#[test]
fn relations_of_parameters_and_results() {
    let proved = [
        "ackermann",
        "addition",
        "divisor",
        "even_odd",
        "halves",
        "identity",
        "product",
        "sum",
    ];
    let hard = ["fibonacci", "ninety_one"];
    class_is_settled("relations", &proved, &hard, "120s");
}

/// Recursion of which a summary could say too much: inputs, globals, pointers, calls that do not
/// return.
#[test]
fn recursion_that_is_wrong_by_a_little() {
    let project = Project::program("recursions.c");
    for case in (1..=20).step_by(one_in(3)) {
        let case = format!("CASE={case}");
        let run = |time: &str, more: &str| {
            let about = [
                "check",
                "recursions.c",
                "--no-emit",
                "-D",
                &case,
                "-D",
                more,
            ];
            Tool::new(
                project.path(),
                about.into_iter().chain(["--max-time", time]),
            )
            .run()
        };
        run("4s", "MORE=0").expect(exit::CLEAN);
        run("30s", "MORE=1").expect(exit::VIOLATION);
    }
}

/// What is added as often as an input says is a product of two inputs.
#[test]
fn products() {
    for name in ["times", "area"] {
        let unreach = ["--property", "unreach", "--max-time", "60s"];
        check_in("products", name, &unreach).expect(exit::VIOLATION);
        let words = [&unreach[..], &["-D", "FIXED"]].concat();
        let run = check_in("products", name, &words);
        assert_eq!(run.finished()["verdict"], "proved", "{name}\n{run}");
    }
}

/// Arrays that loops fill, copy and look through. What stands in the second list may stay open, and
/// is never violated.
#[test]
fn every_element() {
    let proved = [
        "copy", "fill", "least", "numbered", "part", "sentinel", "compact", "front",
    ];
    let hard = ["turned", "two"];
    class_is_settled("arrays", &proved, &hard, "150s");
}

/// Machines that read events for ever: what holds in a state is a relation of their numbers, and
/// what a stack holds is what was put there.
#[test]
fn machines() {
    class_is_settled(
        "machines",
        &["alternating", "traffic", "elevator"],
        &[],
        "150s",
    );
    check_in("arrays", "operands", &["--max-time", "60s"]).expect(exit::VIOLATION);
    let run = check_in("arrays", "operands", &["--max-time", "60s", "-D", "FIXED"]);
    assert_eq!(run.finished()["verdict"], "proved", "{run}");
}
