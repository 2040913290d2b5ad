//! The assumptions of a verdict: they are named where the verdict rests on them, lifted by an
//! option, and contradicted by a test where they are wrong.

use std::time::Duration;

use cegar_tests::{Ended, Project, Tool, cargo_test, exit};
use serde_json::Value;

/// The time after which a run fails the test.
const LIMIT: Duration = Duration::from_secs(500);

/// A program that does not check the result of `malloc`.
const UNASKED: &str = "#include <stdlib.h>\nint main(void) {\n    char *p = malloc(10);\n    *p = \
    1;\n    free(p);\n    return 0;\n}\n";

/// Checks the program `a.c`.
fn check(project: &Project, more: &[&str]) -> Ended {
    check_for(project, "300s", more)
}

/// Checks the program `a.c` for the given time.
fn check_for(project: &Project, time: &str, more: &[&str]) -> Ended {
    let mut words = vec!["check", "a.c", "--max-time", time];
    words.extend(["--message-format", "json", "--emit-dir", "found"]);
    words.extend(more);
    Tool::new(project.path(), words).limit(LIMIT).run()
}

fn project(text: &str) -> Project {
    let project = Project::empty();
    project.write("a.c", text);
    project
}

/// The assumption with this identifier, if a verdict rests on it.
fn assumed(finished: &Value, id: &str) -> Option<Value> {
    let all = finished["assumptions"].as_array()?;
    all.iter()
        .find(|assumption| assumption["id"] == id)
        .cloned()
}

#[test]
fn an_allocation_that_succeeds_is_assumed_and_one_that_fails_is_a_test() {
    let project = project(UNASKED);
    let run = check(&project, &["--certificate", "proof", "--sarif", "a.sarif"]);
    run.expect(exit::CLEAN);
    let finished = run.finished();
    assert_eq!(finished["verdict"], "proved", "{run}");
    let alloc = assumed(&finished, "alloc").unwrap_or_else(|| panic!("{run}"));
    assert_eq!(alloc["says"], "allocations succeed");
    assert_eq!(alloc["lift"], "--faults alloc");
    assert_eq!(alloc["places"], serde_json::json!(["a.c:3"]));
    let sarif: Value = serde_json::from_str(&project.read("a.sarif")).expect("JSON");
    let told = &sarif["runs"][0]["properties"]["assumptions"];
    assert!(
        told.as_array().is_some_and(|all| all.contains(&alloc)),
        "{sarif}"
    );
    let words = ["check-proof", "proof/certificate.json"];
    let checked = Tool::new(project.path(), words).run();
    checked.expect(exit::CLEAN);
    let sentence = "assuming allocations succeed; lift it with --faults alloc";
    assert!(checked.stdout.contains(sentence), "{checked}");

    let run = check(&project, &["--faults", "alloc"]);
    run.expect(exit::VIOLATION);
    assert_eq!(assumed(&run.finished(), "alloc"), None, "{run}");
    let test = project.read("found/tests/a.rs");
    assert!(test.contains(".malloc_fails(1)"), "{test}");
    let failing = cargo_test(&project.at("found"), &[]);
    assert!(failing.stdout.contains("test result: FAILED"), "{failing}");
}

#[test]
fn what_no_reachable_code_meets_is_not_assumed() {
    let project = project(
        "#include <assert.h>\n#include <crunner.h>\n#include <stdlib.h>\nint main(void) {\n    int \
         n = crunner_get_byte() & 7;\nif (n > 7) {\n        char *p = malloc(10);\n        *p = \
         1;\n    }\n    assert(n < 8);\n    return 0;\n}\n",
    );
    let run = check(&project, &[]);
    run.expect(exit::CLEAN);
    let finished = run.finished();
    assert_eq!(finished["verdict"], "proved", "{run}");
    assert!(assumed(&finished, "threads").is_some(), "{run}");
    assert_eq!(assumed(&finished, "alloc"), None, "{run}");
}

/// Allocation failures with every allocator that the program calls or whose address it takes, and
/// with the `errno` that they set.
#[test]
fn who_asks_is_right_whatever_fails() {
    let project = project(
        "#include <assert.h>\n#include <errno.h>\n#include <stdlib.h>\n#include <string.h>\n\
         static struct { void *(*get)(size_t); void (*put)(void *); } heap = {malloc, free};\n\
         int main(void) {\n    char *p = heap.get(4);\n    if (!p) return 1;\n    p[3] = 1;\n\
         errno = 0;\n    char *q = realloc(p, 8);\n    if (!q) {\n        assert(errno == \
         ENOMEM);\n        p[3] = 2;\nfree(p);\n        return 1;\n    }\n    q[7] = 1;\n    \
         heap.put(q);\nchar *c = calloc(3, 2);\n    if (!c) return 1;\n    assert(c[5] == 0);\n    \
         free(c);\nchar *s = strdup(\"ab\");\n    if (!s) return 1;\n    s[2] = 1;\n    \
         free(s);\n    return 0;\n}\n",
    );
    let run = check(&project, &["--faults", "all"]);
    run.expect(exit::CLEAN);
    let finished = run.finished();
    assert_eq!(finished["goals"]["checks"]["open"], 0, "{run}");
    assert_eq!(assumed(&finished, "alloc"), None, "{run}");
}

#[test]
fn a_copy_of_a_string_may_fail() {
    let project = project(
        "#include <stdlib.h>\n#include <string.h>\nint main(void) {\n    char *s = \
         strdup(\"ab\");\n    s[0] = 1;\n    free(s);\n    return 0;\n}\n",
    );
    check(&project, &["--no-assume", "alloc"]).expect(exit::VIOLATION);
    let test = project.read("found/tests/a.rs");
    assert!(test.contains(".malloc_fails(1)"), "{test}");
}

/// The assumption `alloc` concerns small requests only.
#[test]
fn a_large_request_may_be_refused_and_may_be_granted() {
    let refused = project(
        "#include <stdlib.h>\nint main(void) {\n    char *p = malloc(100u << 20);\n    *p = \
         1;\n    return 0;\n}\n",
    );
    check(&refused, &["--faults", "none"]).expect(exit::VIOLATION);
    let granted = project(
        "#include <assert.h>\n#include <stdlib.h>\nint main(void) {\n    assert(!malloc(100u << \
         20));\n    return 0;\n}\n",
    );
    check(&granted, &["--faults", "none"]).expect(exit::VIOLATION);
    let test = granted.read("found/tests/a.rs");
    assert!(test.contains(".large_malloc_succeeds(1)"), "{test}");
    let failing = cargo_test(&granted.at("found"), &[]);
    assert!(failing.stdout.contains("test result: FAILED"), "{failing}");
}

#[test]
fn no_size_is_too_large_because_it_was_granted() {
    let project = project(
        "#include <assert.h>\n#include <crunner.h>\n#include <stdlib.h>\nint main(void) {\n    \
         size_t n = crunner_get_size();\nchar *p = malloc(n);\n    if (p) assert(n <= \
         1000000000);\n    free(p);\n    return 0;\n}\n",
    );
    let run = check_for(&project, "20s", &[]);
    assert_ne!(run.finished()["verdict"], "proved", "{run}");
}

/// A tail call is a loop for the prover, but a stack frame for the user's compiler. So proofs about
/// recursive functions, tail calls included, and about functions with large variables rest on the
/// assumption `stack`. A few nested calls with small variables fit on every stack.
#[test]
fn a_deep_stack_is_assumed_where_there_may_be_one() {
    let last = "unsigned down(unsigned n) { return n ? down(n - 1) : 0; }\n\
        int main(void) { return down(getchar() & 0xff); }\n";
    let middle = "int down(int n) { return n ? 1 + 2 * down(n - 1) : 0; }\n\
        int main(void) { return down(5); }\n";
    let large = "static int first(void) { char all[3000000]; all[7] = 1; return all[7]; }\n\
        int main(void) { return first(); }\n";
    let shallow = "static int first(void) { return 1; }\n\
        int main(void) { char all[70]; all[0] = 1; return first() + all[0]; }\n";
    for (text, deep) in [
        (last, true),
        (middle, true),
        (large, true),
        (shallow, false),
    ] {
        let project = project(&format!("#include <stdio.h>\n{text}"));
        let run = check_for(&project, "60s", &["--engine-only", "--property", "memory"]);
        let finished = run.finished();
        assert_ne!(finished["verdict"], "violated", "{run}");
        if finished["verdict"] == "proved" {
            assert_eq!(assumed(&finished, "stack").is_some(), deep, "{run}");
        } else {
            assert!(!text.contains("first"), "{run}");
        }
    }
}

#[test]
fn an_unknown_assumption_is_answered_with_the_known_ones() {
    let project = project(UNASKED);
    let unknown = check(&project, &["--no-assume", "aloc"]);
    unknown.expect(exit::USAGE);
    unknown
        .expect_message("there is no assumption `aloc`")
        .expect_message("did you mean `alloc`?");
    let fixed = check(&project, &["--no-assume", "threads"]);
    fixed.expect(exit::USAGE);
    fixed.expect_message("the assumption `threads` cannot be lifted");
}

/// Where allocators differ, a proof states which behaviour it assumes.
#[test]
fn what_allocators_differ_in_is_assumed() {
    for (id, expression) in [
        ("usable-size", "malloc_usable_size(malloc(5)) == 5"),
        ("odd-alignment", "aligned_alloc(24, 48) == NULL"),
    ] {
        let text = format!(
            "#include <assert.h>\n#include <malloc.h>\n#include <stdlib.h>\nint main(void)\n\
             {{\n    assert({expression});\n    return 0;\n}}\n"
        );
        let project = project(&text);
        let run = check(&project, &["--property", "assertion"]);
        run.expect(exit::CLEAN);
        let finished = run.finished();
        assert!(assumed(&finished, id).is_some(), "{run}");
        let words = ["--property", "assertion", "--no-assume", id];
        let lifted = check_for(&project, "5s", &words);
        assert_eq!(lifted.finished()["verdict"], "open", "{lifted}");
    }
}

/// If overflow is checked, all arithmetic without a check is unsigned, so wrapping is no
/// assumption.
#[test]
fn unsigned_arithmetic_needs_no_assumption() {
    let text = "#include <assert.h>\n#include <stdio.h>\nint main(void)\n{\n    unsigned c = \
        (unsigned)getchar() & 3;\n    assert(0u - c != 5);\n    return 0;\n}\n";
    let project = project(text);
    let all = check(&project, &["--property", "all"]);
    assert_eq!(all.finished()["verdict"], "proved", "{all}");
    assert!(assumed(&all.finished(), "wrapping").is_none(), "{all}");
    let one = check(&project, &["--property", "assertion"]);
    assert!(assumed(&one.finished(), "wrapping").is_some(), "{one}");
}
