//! `--max-time` is a promise: for every program the command ends soon after the time, reports its
//! results so far, and names the harnesses that it did not execute.
//!
//! The bounds are generous, since the machine may be busy: the tests detect runs of minutes where
//! seconds were requested.

use std::fmt::Write as _;
use std::time::Duration;

use cegar_tests::{Ended, Project, Tool, exit};

/// The seconds that a busy machine may need beyond the limit: for the compiler, which does not
/// count, and for everything else.
const PATIENCE: u64 = 30;

/// Checks a program for the given number of seconds, and asserts that the run does not take much
/// longer.
fn ends_in_time(c: &str, seconds: u64, words: &[&str]) -> Ended {
    let project = Project::empty();
    project.write("program.c", c);
    let limit = format!("{seconds}s");
    let fixed = ["check", "program.c", "--no-emit", "--max-time", &limit];
    let ended = Tool::new(project.path(), fixed.iter().chain(words)).run();
    assert!(
        ended.took < Duration::from_secs(seconds + PATIENCE),
        "{:?}\n{ended}",
        ended.took
    );
    ended
}

/// Proofs of sorting need invariants about sequences, which the tool does not find in a few
/// seconds.
const MERGE_SORT: &str = r#"
#include <assert.h>
#include <stdlib.h>
struct node { int value; struct node *next; };
int __VERIFIER_nondet_int(void);
static struct node *split(struct node *head)
{
    struct node *slow = head, *fast = head->next;
    while (fast && fast->next) { slow = slow->next; fast = fast->next->next; }
    struct node *second = slow->next;
    slow->next = NULL;
    return second;
}
static struct node *merge(struct node *a, struct node *b)
{
    struct node head = {0, NULL}, *tail = &head;
    while (a && b) {
        if (a->value <= b->value) { tail->next = a; a = a->next; }
        else { tail->next = b; b = b->next; }
        tail = tail->next;
    }
    tail->next = a ? a : b;
    return head.next;
}
static struct node *sort(struct node *head)
{
    if (!head || !head->next)
        return head;
    struct node *second = split(head);
    return merge(sort(head), sort(second));
}
int main(void)
{
    int n = __VERIFIER_nondet_int(), count = 0;
    if (n < 0 || n > 1000)
        return 0;
    struct node *list = NULL;
    for (int i = 0; i < n; i++) {
        struct node *node = malloc(sizeof *node);
        if (!node)
            return 0;
        node->value = __VERIFIER_nondet_int();
        node->next = list;
        list = node;
    }
    for (struct node *at = list = sort(list); at; at = at->next, count++)
        if (at->next)
            assert(at->value <= at->next->value);
    assert(count == n);
    return 0;
}
"#;

#[test]
fn a_merge_sort_over_lists() {
    let ended = ends_in_time(MERGE_SORT, 8, &["--message-format", "json"]);
    ended.expect(exit::CLEAN);
    // The goals that were settled in time are reported.
    let goals = &ended.finished()["goals"];
    assert!(goals["edges"]["covered"].as_u64() > Some(20), "{ended}");
}

/// Every run of the engine's machine starts with fresh globals, and every symbolic run with fresh
/// shadows of their bytes; both must be cheap for large arrays.
#[test]
fn a_static_array_of_half_a_gigabyte() {
    let program = r#"
#include <assert.h>
#include <stddef.h>
static unsigned char table[512u << 20];
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    size_t top = 0;
    for (size_t i = 0; i + 4 <= size; i += 4) {
        size_t at = data[i] | data[i + 1] << 8 | data[i + 2] << 16 | (size_t)data[i + 3] << 24;
        table[at % sizeof table] = (unsigned char)i;
        top = at;
    }
    assert(top != 0x12345678 || table[top % sizeof table] != 8);
    return 0;
}
"#;
    let ended = ends_in_time(program, 8, &["--engine-only"]);
    assert_ne!(ended.code, Some(exit::INTERNAL), "{ended}");
}

/// Solvers do not decide products of 64-bit numbers in reasonable time.
#[test]
fn products_that_no_solver_answers() {
    let program = r#"
#include <assert.h>
unsigned long __VERIFIER_nondet_ulong(void);
int main(void)
{
    unsigned long a = __VERIFIER_nondet_ulong(), b = __VERIFIER_nondet_ulong(), c = __VERIFIER_nondet_ulong();
    assert(a < 2 || b < 2 || a * a * b + b * b * c + a * c * c * c != 0x123456789abcdefUL);
    return 0;
}
"#;
    let ended = ends_in_time(program, 3, &["--engine-only"]);
    assert_ne!(ended.code, Some(exit::INTERNAL), "{ended}");
}

#[test]
fn no_time_at_all() {
    let ended = ends_in_time("int main(void) { return 0; }\n", 0, &[]);
    assert!(
        matches!(ended.code, Some(exit::CLEAN | exit::INCOMPLETE)),
        "{ended}"
    );
}

/// A package with two more harnesses: one never returns, the other is a long program.
fn package_with_three_harnesses() -> Project {
    let project = Project::package(
        "int demo(const unsigned char *data, size_t size) { return size > 2 && data[0] == 'x'; }\n",
    );
    let mut config = project.read("cegar/cegar.toml");
    for name in ["endless", "long"] {
        write!(
            config,
            "\n[harness.{name}]\nfile = \"harnesses/{name}.c\"\n"
        )
        .unwrap_or_else(|why| panic!("{why}"));
    }
    project.write("cegar/cegar.toml", &config);
    let entry = "int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)";
    project.write(
        "cegar/harnesses/endless.c",
        &format!(
            "#include \"demo.h\"\n{entry}\n{{\n    demo(data, size);\n    for (volatile int i \
            = 0;; i++) {{ }}\n}}\n"
        ),
    );
    let mut long = "#include \"demo.h\"\n".to_owned();
    for number in 0..200 {
        writeln!(
            long,
            "static unsigned step{number}(unsigned x) {{ return x % 7 == {} ? x * 31 + {number} : \
             x ^ {number}; }}",
            number % 7
        )
        .unwrap_or_else(|why| panic!("{why}"));
    }
    let calls: String = (0..200).map(|n| format!("    x = step{n}(x);\n")).collect();
    long += &format!(
        "{entry}\n{{\n    unsigned x = (unsigned)size;\n\
         {calls}    return demo(data, size) && x == 5 ? 0 : 0;\n}}\n"
    );
    project.write("cegar/harnesses/long.c", &long);
    project
}

#[test]
fn every_harness_has_its_share() {
    let project = package_with_three_harnesses();
    let words = ["run", "--max-time", "30s", "--message-format", "json"];
    let ended = Tool::new(project.path(), words).run();
    ended.expect(exit::CLEAN);
    assert!(
        ended.took < Duration::from_secs(30 + PATIENCE),
        "{:?}\n{ended}",
        ended.took
    );
    let finished = ended.finished();
    assert_eq!(finished["harnesses"], 3, "{ended}");
    assert_eq!(
        finished["unexecuted"].as_array().map(Vec::len),
        Some(0),
        "{ended}"
    );
}

#[test]
fn what_was_never_executed_is_told() {
    let project = package_with_three_harnesses();
    for command in ["run", "ci"] {
        let words = [command, "--max-time", "0s"];
        let ended = Tool::new(project.path(), words).run();
        ended.expect(exit::INCOMPLETE).expect_message(
            "3 of 3 harnesses never executed: demo, endless, long: the time was up",
        );
    }
    let words = [
        "ci",
        "--max-time",
        "0s",
        "--json",
        "a.json",
        "--junit",
        "a.xml",
    ];
    Tool::new(project.path(), words)
        .run()
        .expect(exit::INCOMPLETE);
    let report = project.read("a.json");
    assert!(
        report.contains("\"unexecuted\": \"the time was up"),
        "{report}"
    );
    assert!(project.read("a.xml").contains("never executed"));
}

/// The error is reported, the other harnesses run, and the exit code reports the failure.
#[test]
fn a_harness_that_does_not_compile_keeps_no_other_from_running() {
    let project = package_with_three_harnesses();
    project.write(
        "cegar/harnesses/endless.c",
        "int main(void) { return x; }\n",
    );
    let words = ["run", "--max-time", "20s", "--message-format", "json"];
    let ended = Tool::new(project.path(), words).run();
    ended.expect(exit::BUILD_FAILED);
    let told = ended.messages();
    let failed = |m: &&serde_json::Value| m["reason"] == "failed" && m["harness"] == "endless";
    assert_eq!(told.iter().filter(failed).count(), 1, "{ended}");
    let finished = told.iter().find(|m| m["reason"] == "finished");
    let finished = finished.unwrap_or_else(|| panic!("no end\n{ended}"));
    assert_eq!(finished["verdict"], "open", "{ended}");
    assert!(
        finished["stats"]["executions"].as_u64() > Some(0),
        "{ended}"
    );
}
