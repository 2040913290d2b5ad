//! Parameters about which a header says little: arrays of numbers, points, handles of type `void
//! *`, buffers without a size. The harnesses that `init` writes for them report no false faults,
//! and find the real ones.

use std::time::Duration;

use cegar_tests::{Project, Tool, exit, program, tool};

/// The harnesses with which a run finds a fault of the library.
fn found(project: &Project) -> Vec<String> {
    let words = ["run", "--runs", "1500", "--jobs", "2"];
    let words = words.into_iter().chain(["--message-format", "json"]);
    // There are a dozen harnesses, and each also gets the prover's time.
    let limit = Duration::from_secs(600);
    let run = Tool::new(project.path(), words).limit(limit).run();
    let messages = run.messages().into_iter();
    let mut names: Vec<String> = messages
        .filter(|message| message["reason"] == "found")
        .map(|message| message["harness"].as_str().unwrap_or_default().to_owned())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// A library with such parameters and three faults: `graph_read` uses four bytes of its input as an
/// offset in it, `graph_fit` is off by one, and `graph_copy` does not check the size of its buffer.
#[test]
fn shapes_that_a_header_does_not_tell() {
    let project = Project::wrapping(
        "graph",
        &program("shapes/graph.h"),
        &program("shapes/graph.c"),
    );
    tool(&project, &["init", "--most", "99", "--try", "1s"])
        .expect(exit::CLEAN)
        .expect_message("`graph_undo_safe` is for data from outside, and it is not: graph_undo");
    let text = |name: &str| project.read(&format!("cegar/harnesses/{name}.c"));
    let harnesses = [
        ("graph_check", "stored[16]; /* as declared */"),
        ("graph_form", "graph_profile_new("),
        ("graph_map_size", "graph_map_new(NULL, NULL)"),
        ("graph_sum", "crunner_get_bytes(points, sizeof points)"),
        ("graph_at", "index[i] = (int)((size_t)index[i] % size);"),
    ];
    for (name, part) in harnesses {
        assert!(text(name).contains(part), "{part}\n{}", text(name));
    }
    assert_eq!(found(&project), ["graph_copy", "graph_fit", "graph_read"]);
}

/// A template that was not filled in proves its only check, and the tool reports that nothing was
/// tested.
#[test]
fn a_harness_without_a_call_tests_nothing() {
    let project = Project::wrapping(
        "empty",
        "int empty_print(const char *format, ...);\n",
        "#include \"empty.h\"\nint empty_print(const char *format, ...) { return format[0]; }\n",
    );
    tool(&project, &["init"]).expect(exit::CLEAN);
    tool(&project, &["run", "--runs", "100"])
        .expect(exit::INCOMPLETE)
        .expect_message(
            "this harness calls no function of the C sources; nothing of them was tested",
        );
}
