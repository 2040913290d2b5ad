//! `cargo cegar check --witness FILE`: the witness has the published format and is true.
//!
//! `witness/schema.rs` describes the format as types that accept no other fields than the schema's.
//! The values in a violation's witness are fed to the program compiled by gcc, and must lead to the
//! fault. The invariants in a proof's witness are inserted into the source as assertions, which
//! must hold natively, must be proved again, and must not be refuted by another tool, if it is
//! installed.

#[path = "witness/annotate.rs"]
mod annotate;
#[path = "witness/native.rs"]
mod native;
#[path = "witness/schema.rs"]
mod schema;

use std::time::Duration;

use cegar_tests::{Ended, Project, Tool, exit};
use schema::{Entry, InvariantKind, WaypointKind};

const LIMIT: Duration = Duration::from_secs(500);

fn source(name: &str) -> String {
    let path = format!("{}/programs/witness/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{path}: {why}"))
}

fn check(project: &Project, file: &str, property: &str, more: &[&str]) -> Ended {
    let mut words = vec!["check", file, "--property", property, "--no-emit"];
    words.extend(["--max-time", "300s", "--message-format", "json"]);
    words.extend(more);
    Tool::new(project.path(), words).limit(LIMIT).run()
}

/// The only entry of the witness.
fn witness(project: &Project, file: &str, specification: &str) -> Entry {
    let text = project.read("witness.yml");
    let entries = schema::read(&text);
    let [entry] = <[Entry; 1]>::try_from(entries).unwrap_or_else(|_| panic!("not one: {text}"));
    let metadata = entry.metadata();
    metadata.check(file, project.read(file).as_bytes());
    assert_eq!(metadata.task.specification, specification, "{text}");
    entry
}

const UNREACHED: &str = "CHECK( init(main()), LTL(G ! call(reach_error())) )";

/// Asserts that a violation is found, and that the values in the witness lead to the fault
/// natively.
fn leads_to_the_fault(name: &str, property: &str, specification: &str, answers: usize) {
    let project = Project::empty();
    let text = source(name);
    project.write(name, &text);
    let run = check(&project, name, property, &["--witness", "witness.yml"]);
    run.expect(exit::VIOLATION);
    let Entry::ViolationSequence(sequence) = witness(&project, name, specification) else {
        panic!("not a way to a violation\n{run}");
    };
    let mut values = Vec::new();
    let mut target = None;
    for waypoint in sequence.waypoints() {
        let location = &waypoint.location;
        assert_eq!(location.file_name, name);
        let line = text
            .lines()
            .nth(location.line as usize - 1)
            .unwrap_or_default();
        let rest = location
            .column
            .and_then(|column| line.get(column as usize - 1..));
        let rest = rest.unwrap_or_else(|| panic!("no such place: {location:?}"));
        match waypoint.kind {
            WaypointKind::FunctionReturn => {
                assert!(rest.starts_with(')'), "{location:?}: {rest}");
                values.push(waypoint.returned());
            }
            WaypointKind::Target => {
                assert!(target.is_none() && rest.contains("/* here */"), "{rest}");
                // The target is at the beginning of a statement.
                assert!(rest.starts_with(line.trim_start()), "{rest}");
                target = Some(location.line);
            }
            other => panic!("{other:?} is not written"),
        }
    }
    let target = target.unwrap_or_else(|| panic!("no target\n{run}"));
    assert_eq!(values.len(), answers, "{values:?}");
    native::reaches(&project, name, &text, &values, target);
    // With one value less, the fault is not reached.
    native::misses(&project, name, &text, &values[..answers - 1]);
}

#[test]
fn answers_lead_to_an_error_function() {
    leads_to_the_fault("answers.c", "assertion", UNREACHED, 5);
}

#[test]
fn answers_in_nested_loops_lead_to_an_error_function() {
    leads_to_the_fault("nested_search.c", "assertion,memory", UNREACHED, 4);
}

#[test]
fn an_answer_leads_past_an_array() {
    let specification = "CHECK( init(main()), LTL(G valid-deref) )";
    leads_to_the_fault("outside_array.c", "memory", specification, 1);
}

#[test]
fn answers_lead_to_an_overflow() {
    let specification = "CHECK( init(main()), LTL(G ! overflow) )";
    leads_to_the_fault("wrapping_sum.c", "overflow", specification, 2);
}

/// Asserts that the program is proved, and that each invariant of the witness holds: natively, for
/// the tool itself, and for another tool. The invariants must include `said`, each at a loop in
/// this line.
fn invariants_hold(name: &str, said: &[(u32, &str)]) {
    let project = Project::empty();
    let text = source(name);
    project.write(name, &text);
    let run = check(&project, name, "assertion", &["--witness", "witness.yml"]);
    run.expect(0);
    assert_eq!(run.finished()["verdict"], "proved", "{run}");
    let Entry::InvariantSet(set) = witness(&project, name, UNREACHED) else {
        panic!("not a set of invariants\n{run}");
    };
    let invariants = set.invariants();
    for (line, value) in said {
        let is_it = |one: &&schema::Invariant| one.location.line == *line && one.value == *value;
        assert!(
            invariants.iter().any(|one| is_it(&one)),
            "{line}: {value} is not among {invariants:#?}"
        );
    }
    for one in &invariants {
        let line = text.lines().nth(one.location.line as usize - 1);
        let column = one.location.column.unwrap_or(1) as usize - 1;
        let rest = line.and_then(|line| line.get(column..)).unwrap_or_default();
        let is_loop = rest.starts_with("while") || rest.starts_with("for");
        assert_eq!(is_loop, one.kind == InvariantKind::LoopInvariant, "{rest}");
    }
    let annotated = annotate::with_assertions(&text, &invariants);
    let file = format!("annotated_{name}");
    project.write(&file, &annotated);
    native::never_fails(&project, &file, &annotated);
    let again = check(&project, &file, "assertion", &["--require-proof"]);
    again.expect(0);
    assert_eq!(
        again.finished()["verdict"],
        "proved",
        "{again}\n{annotated}"
    );
    native::eva_refutes_nothing(&project, &file, &annotated, invariants.len());
}

#[test]
fn invariants_of_loops_of_all_kinds_hold() {
    invariants_hold(
        "loops.c",
        &[(12, "i <= (int)n"), (14, "j <= i"), (24, "turns < 5")],
    );
}

#[test]
fn an_invariant_of_a_function_holds_in_all_its_calls() {
    let both = "((n == 5 && step == 2) || (n == 7 && step == 3))";
    invariants_hold("contexts.c", &[(7, both)]);
}

#[test]
fn invariants_speak_of_variables_of_every_size() {
    invariants_hold("widths.c", &[(20, "low < 0")]);
}

#[test]
fn invariants_of_an_array_s_bounds_hold() {
    invariants_hold("fill.c", &[(9, "count < 17")]);
}

/// Facts that no C expression can state are counted.
#[test]
fn what_is_left_out_is_told() {
    let project = Project::empty();
    project.write("fill.c", &source("fill.c"));
    let run = check(
        &project,
        "fill.c",
        "assertion,memory",
        &["--witness", "witness.yml"],
    );
    run.expect(0);
    assert!(run.stdout.contains("left out"), "{run}");
}

#[test]
fn what_is_open_has_no_witness() {
    let project = Project::empty();
    project.write(
        "open.c",
        "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n\
         int main(void) { if (__VERIFIER_nondet_int() == 7) reach_error(); return 0; }\n",
    );
    let words = ["check", "open.c", "--no-emit", "--fuzz-only", "--runs", "1"];
    let run = Tool::new(
        project.path(),
        words.iter().chain(&["--witness", "witness.yml"]),
    )
    .limit(LIMIT)
    .run();
    run.expect(0);
    assert!(run.stderr.contains("no witness in"), "{run}");
    assert!(!project.at("witness.yml").exists(), "{run}");
}
