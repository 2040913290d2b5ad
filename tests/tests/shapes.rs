//! Parameters of which a header says little: rows of numbers, points, handles behind a `void *`,
//! rooms that nobody counts. What `init` writes for them accuses nobody falsely, and the faults
//! that are there are found.

use std::time::Duration;

use cegar_tests::{Project, Tool, exit, program, tool};

/// The harnesses in which a run finds a fault of the library.
fn found(project: &Project) -> Vec<String> {
    let words = ["run", "--runs", "3000", "--jobs", "2"];
    let words = words.into_iter().chain(["--message-format", "json"]);
    // A dozen harnesses, and each has the prover's time besides.
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

/// Shapes of parameters of which the header says little, in a library with three faults:
/// `graph_read` takes four bytes of its input for a place in it, `graph_fit` is wrong by one, and
/// `graph_copy` does not look how much room there is.
#[test]
fn shapes_that_a_header_does_not_tell() {
    let project = Project::wrapping(
        "graph",
        &program("shapes/graph.h"),
        &program("shapes/graph.c"),
    );
    tool(&project, &["init", "--most", "99", "--try", "1s"])
        .expect(exit::CLEAN)
        .says("`graph_undo_safe` is for data from outside, and it is not: graph_undo");
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

/// A harness that was not filled in proves its one check, and says that this is nothing.
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
        .says("this harness calls no function of the C sources; nothing of them was tested");
}
