//! Loops with many iterations: each program is violated after an exact number of iterations, and
//! its corrected variant (`-DFIXED`) is proved.

use cegar_tests::{Ended, Project, Tool, exit, one_in, thorough};

/// Proofs run without the fuzzer, which would take half of a small machine and find nothing.
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
    for name in sampled(names) {
        check(name, &["--max-time", "60s"]).expect(exit::VIOLATION);
        let run = check(name, &["--max-time", "120s", "-D", "FIXED", ALONE]);
        assert_eq!(run.finished()["verdict"], "proved", "{name}\n{run}");
    }
}

/// Checks the programs of a class: the faulty variants are violated and the corrected ones proved.
/// Corrected variants of `hard` programs may stay open.
fn class_is_settled(folder: &str, proved: &[&str], hard: &[&str], time: &str) {
    for name in sampled(proved).chain(hard) {
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

/// Every third name, or all if the tests are thorough: each program takes seconds, all of them
/// minutes.
fn sampled<'n>(names: &'n [&'n str]) -> impl Iterator<Item = &'n &'n str> {
    names.iter().step_by(one_in(5))
}

/// Checks the programs of a folder: the faulty variants are violated; the corrected variants of the
/// programs in `proved` are proved, those in `open` are at least not violated.
fn are_told_apart(folder: &str, proved: &[&str], open: &[&str]) {
    let run = |name: &str, time: &str, fixed: &[&str]| {
        let mut words = vec!["--property", "memory", "--max-time", time];
        words.extend(fixed);
        check_in(folder, name, &words)
    };
    for name in sampled(proved) {
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

/// Loops that only the terminating zero byte of a text bounds.
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
    // The floor does not track words whose addresses are in an array.
    are_told_apart("texts", &proved, &["tokens"]);
}

/// Growing arrays: numbers beside them hold their length and their capacity.
#[test]
fn arrays_that_grow() {
    let proved = [
        "buffer", "bytes", "kept", "pair", "points", "records", "stack", "two", "vector",
    ];
    // The floor does not track arrays that are emptied.
    are_told_apart("growing", &proved, &["twice"]);
}

/// Common tasks: tables that are filled and searched, labels, sequences that are merged, blocks
/// whose size is doubled.
#[test]
fn everyday() {
    let proved = [
        "builder", "classes", "doubled", "halves", "labels", "merged", "records", "rest",
    ];
    are_told_apart("everyday", &proved, &[]);
}

/// Memory that the library keeps after a call: buffers of streams, a name for the log.
#[test]
fn streams() {
    are_told_apart("streams", &["buffer", "logged"], &[]);
}

/// Rows and columns: indices that are products of two variables.
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

/// Parts of local variables that no store of the variable's type writes, or that stay in memory
/// while the rest becomes registers.
#[test]
fn layout() {
    // A third member tells which of two members was written last.
    are_told_apart("layout", &["gap", "padding"], &["tagged"]);
}

/// Numbers as digits and as groups of bits, and sizes that are rounded up.
#[test]
fn digits_and_rounded_sizes() {
    are_told_apart("digits", &["aligned", "digits", "groups"], &[]);
}

/// Arrays whose elements own blocks: tables of chains, arrays of texts, stacks.
#[test]
fn rows() {
    let proved = [
        "buckets", "lines", "menu", "pairs", "slots", "stack", "table", "words",
    ];
    are_told_apart("rows", &proved, &[]);
}

/// Lists that are built, changed and released: each node has one owner.
#[test]
fn lists() {
    let proved = [
        "names", "pop", "queue", "removed", "replaced", "shared", "sorted", "stack", "taken",
        "turned", "waiting", "ways",
    ];
    are_told_apart("lists", &proved, &[]);
}

/// A fault that the search does not reach must not be proved absent.
#[test]
fn locked() {
    let run = check_in("locked", "ways", &["--max-time", "8s", ALONE]);
    assert_ne!(run.finished()["verdict"], "proved", "{run}");
}

/// Terminating zero bytes that are overwritten, missing or skipped.
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
    for name in sampled(&names) {
        let words = ["--property", "memory", "--max-time", "60s"];
        check_in("overruns", name, &words).expect(exit::VIOLATION);
    }
}

#[test]
fn characters() {
    are_settled(&["white_space", "strings"]);
}

/// Without `--no-floor`, the floor would relate the level to the iterations even without loop
/// acceleration.
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

/// The result of a call is related to its argument.
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

/// Recursive functions that are not tail-recursive: their result is a relation of their parameters.
/// Corrected programs in `hard` may stay open, but are never violated.
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

/// Recursion for which a summary could claim too much: inputs, globals, pointers, calls that do not
/// return.
#[test]
fn recursion_that_is_wrong_by_a_little() {
    let project = Project::program("recursions.c");
    for case in (1..=20).step_by(one_in(5)) {
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

/// A number that is added as often as an input says: the sum is a product of two inputs.
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

/// Arrays that loops fill, copy and search. Corrected programs in `hard` may stay open, but are
/// never violated.
#[test]
fn every_element() {
    let proved = [
        "copy", "fill", "least", "numbered", "part", "sentinel", "compact", "front",
    ];
    let hard = ["turned", "two"];
    class_is_settled("arrays", &proved, &hard, "150s");
}

/// State machines that read events forever: each state implies a relation of the machine's numbers.
/// A stack contains what was pushed.
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
