//! Programs in the style of small drivers: locks, reference counts, probe and remove, callbacks,
//! lists and structures that functions without a definition return. In each program a violation is
//! found at the marked line. For every second program its generated test fails under gcc or clang
//! in turn (with `CEGAR_TESTS=all`: for all programs under both). In the corrected program
//! (`-DFIXED`) nothing is found.

use std::fs;

use cegar_tests::{Project, Tool, cargo_test_with, exit, thorough};

/// A program, the property that is checked, and whether its corrected variant is proved (otherwise
/// it is open, never violated).
struct Driver {
    name: &'static str,
    property: &'static str,
    proved: bool,
}

const fn proved(name: &'static str, property: &'static str) -> Driver {
    Driver {
        name,
        property,
        proved: true,
    }
}

const fn open(name: &'static str, property: &'static str) -> Driver {
    Driver {
        name,
        property,
        proved: false,
    }
}

const LOCKS_AND_LIFETIMES: &[Driver] = &[
    proved("lock_error_path", "assertion"),
    proved("refcount", "assertion"),
    proved("same_object", "assertion"),
    proved("probe_remove", "memory"),
    proved("use_after_remove", "memory"),
    proved("power_sequence", "assertion"),
];

const OBJECTS: &[Driver] = &[
    proved("config_table", "memory"),
    proved("descriptor_chain", "memory"),
    proved("list_remove", "memory"),
    open("list_walk", "memory"),
    proved("name_copy", "memory"),
    proved("window", "assertion"),
    proved("ops_table", "memory"),
    proved("reader_context", "memory"),
    proved("limits_context", "memory"),
    proved("optional_state", "memory"),
];

const PARAMETERS: &[Driver] = &[
    proved("out_parameter", "memory"),
    proved("out_pointer", "memory"),
    proved("out_structure", "memory"),
    proved("own_structure", "assertion"),
    proved("callback_context", "assertion"),
    proved("callback_value", "memory"),
    proved("by_value", "overflow"),
];

const VALUES: &[Driver] = &[
    proved("ioctl_dispatch", "overflow"),
    proved("timeout_loop", "memory"),
    proved("state_machine", "assertion"),
    proved("registers", "memory"),
    proved("varargs_log", "overflow"),
];

/// Checks each program. The generated tests run only for some of them, since cargo takes most of
/// the time.
fn are_settled(drivers: &[Driver]) {
    for (number, driver) in drivers.iter().enumerate() {
        let file = format!("{}.c", driver.name);
        let path = format!("drivers/{file}");
        let project = Project::program(&path);
        let check = |more: &[&str]| {
            let mut words = vec!["check", &path, "--property", driver.property];
            words.extend(["--message-format", "json"]);
            words.extend(more);
            Tool::new(project.path(), words).run()
        };

        let run = check(&["--max-time", "60s", "--emit-dir", "found"]);
        run.expect(exit::VIOLATION);
        let test = fs::read_to_string(project.at(&format!("found/tests/{}.rs", driver.name)));
        let test = test.unwrap_or_else(|why| panic!("{path}: no test: {why}\n{run}"));
        let text = project.read(&path);
        let line = text.lines().position(|line| line.contains("/* here */"));
        let place = format!("{file}:{}", line.map_or(0, |line| line + 1));
        assert!(
            test.contains(&place),
            "{path}: no test speaks of {place}\n{test}"
        );
        // Cargo takes longer than everything else.
        let compilers: &[&str] = match (thorough(), number % 4) {
            (true, _) => &["gcc", "clang-19"],
            (false, 0) => &["gcc"],
            (false, 2) => &["clang-19"],
            (false, _) => &[],
        };
        for compiler in compilers {
            let failing = cargo_test_with(&project.at("found"), compiler);
            assert!(
                failing.stdout.contains("test result: FAILED"),
                "{path}: the test was to fail with {compiler}\n{test}\n{failing}"
            );
        }

        // Proofs take seconds; an open program stays open however long it runs.
        let time = if driver.proved { "60s" } else { "2s" };
        let run = check(&[
            "--max-time",
            time,
            "-D",
            "FIXED",
            "--no-emit",
            "--engine-only",
        ]);
        let verdict = run.finished()["verdict"].as_str().map(str::to_owned);
        let wanted = if driver.proved { "proved" } else { "open" };
        assert!(
            verdict.as_deref() == Some(wanted) || verdict.as_deref() == Some("proved"),
            "{path}: {verdict:?}, not {wanted}\n{run}"
        );
    }
}

#[test]
fn locks_and_lifetimes() {
    are_settled(LOCKS_AND_LIFETIMES);
}

#[test]
fn objects_from_outside() {
    are_settled(OBJECTS);
}

#[test]
fn what_parameters_point_to() {
    are_settled(PARAMETERS);
}

#[test]
fn values_from_outside() {
    are_settled(VALUES);
}

/// The user's rules for a device hold for the search and for the proof; without them the device may
/// return anything. Functions whose source file was left out are no error: they are mocked and
/// named. A rule for a misspelt function is reported with the nearest name.
#[test]
fn rules_hold_for_search_and_proof() {
    let project = Project::program("drivers/ruled_status.c");
    project.write(
        "rules.toml",
        "[external.status_read]\nreturns = \"0..=7 | -errno\"\n\n[external.slot_find]\n\
         returns = \"not null\"\n",
    );
    let check = |more: &[&str]| {
        let mut words = vec!["check", "drivers/ruled_status.c", "--property", "memory"];
        words.extend(["--no-emit", "--max-time", "60s", "--message-format", "json"]);
        words.extend(more);
        Tool::new(project.path(), words).run()
    };
    let run = check(&[]);
    run.expect(exit::VIOLATION);
    assert!(
        run.stdout.contains("status_read") && run.stdout.contains("slot_find"),
        "the functions that are mocked are named\n{run}"
    );
    let run = check(&["--rules", "rules.toml"]);
    assert_eq!(run.finished()["verdict"], "proved", "{run}");
    project.write(
        "rules.toml",
        "[external.status_read]\nreturns = \"small\"\n",
    );
    let run = check(&["--rules", "rules.toml"]);
    run.expect(exit::USAGE);
    assert!(run.stderr.contains("`small` is no rule"), "{run}");
    project.write("rules.toml", "[external.status_reed]\nreturns = \"0\"\n");
    let run = check(&["--rules", "rules.toml"]);
    run.expect(exit::VIOLATION);
    assert!(run.stdout.contains("did you mean `status_read`?"), "{run}");
}

/// The program dereferences a number that an external function returned. The finding names the
/// function and the rule that makes its result an address. With that rule the fault behind it is
/// found, described by the program's structure or as bytes, and the corrected program is proved.
#[test]
fn numbers_may_be_addresses() {
    let path = "drivers/register_base.c";
    let project = Project::program(path);
    let check = |more: &[&str]| {
        let mut words = vec!["check", path, "--property", "memory", "--max-time", "60s"];
        words.extend(more);
        Tool::new(project.path(), words).run()
    };

    let run = check(&["--emit-dir", "plain"]);
    run.expect(exit::VIOLATION)
        .expect_message("an address made from the number that `device_base` gave")
        .expect_message("`address_of = 64` (bytes)");
    let test = project.read("plain/tests/register_base.rs");
    let followed = project.read(path);
    let line = followed.lines().position(|l| l.contains("/* followed */"));
    let place = format!("register_base.c:{}", line.map_or(0, |line| line + 1));
    assert!(test.contains(&place), "{test}");
    let failing = cargo_test_with(&project.at("plain"), "gcc");
    assert!(failing.stdout.contains("test result: FAILED"), "{failing}");

    for (rule, told) in [
        ("\"registers\"", "registers {"),
        ("16", ".returns_bytes(\"device_base\", b\"\\x04\\0\\0\\0"),
    ] {
        project.write(
            "rules.toml",
            &format!("[external.device_base]\naddress_of = {rule}\n"),
        );
        let run = check(&["--rules", "rules.toml", "--emit-dir", "ruled"]);
        run.expect(exit::VIOLATION);
        let test = project.read("ruled/tests/register_base.rs");
        assert!(
            test.contains("array_bound") && test.contains(told),
            "{test}"
        );
        let failing = cargo_test_with(&project.at("ruled"), "gcc");
        assert!(failing.stdout.contains("test result: FAILED"), "{failing}");
        std::fs::remove_dir_all(project.at("ruled")).expect("it was written");
        let words = ["--rules", "rules.toml", "-D", "FIXED", "--no-emit"];
        let run = check(&[&words[..], &["--message-format", "json"]].concat());
        assert_eq!(run.finished()["verdict"], "proved", "{run}");
    }

    project.write(
        "rules.toml",
        "[external.device_base]\naddress_of = \"gadget\"\n",
    );
    check(&["--rules", "rules.toml", "--no-emit"]).expect_message("no structure `gadget` is known");
}
