//! External functions on several elements: arrays that they fill, and results that point into their
//! arguments.

use cegar_tests::{Ended, Project, Tool, cargo_test_with, exit};

const FILL: &str = "#include <assert.h>\nvoid fill(int *row, int count);\nint main(void)\n{\n    \
    int x[4] = {0};\n\n    fill(x, 4);\n    assert(x[3] == 0);\n    return 0;\n}\n";

const FIND: &str = "#include <assert.h>\nchar *find(const char *text, int c);\nint main(void)\n\
    {\n    char text[4] = \"abc\";\n    char *at = find(text, 'b');\n\n    if (at)\n        *at = \
    'x';\n    assert(text[1] == 'b');\n    return 0;\n}\n";

const SLOT: &str = "int *slot(int *row, int count, int key);\nint main(void)\n{\n    int row[3] = \
    {0};\n    int *at = slot(row, 3, 7);\n\n    if (at)\n        at[NEXT] = 1;\n    return 0;\n}\n";

fn check(project: &Project, file: &str, more: &[&str]) -> Ended {
    let mut words = vec!["check", file, "--max-time", "60s"];
    words.extend(more);
    Tool::new(project.path(), words).run()
}

fn verdict(ended: &Ended) -> String {
    ended.finished()["verdict"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// Asserts that the generated test contains this text and fails under gcc.
fn fails_saying(project: &Project, name: &str, said: &str) {
    let test = project.read(&format!("found/tests/{name}.rs"));
    assert!(test.contains(said), "no `{said}`\n{test}");
    let failing = cargo_test_with(&project.at("found"), "gcc");
    assert!(
        failing.stdout.contains("test result: FAILED"),
        "{test}\n{failing}"
    );
}

/// A parameter with the name of a count is the number of elements that are filled. A rule overrides
/// that, with the parameters' names.
#[test]
fn rows_are_filled() {
    let project = Project::empty();
    project.write("fill.c", FILL);
    let assertion = ["--property", "assertion"];
    let run = check(
        &project,
        "fill.c",
        &[&assertion[..], &["--emit-dir", "found"]].concat(),
    );
    run.expect(exit::VIOLATION);
    fails_saying(&project, "fill", ".writes(\"fill\", 1, [0i32, 0i32, 0i32, ");

    let json = [
        "--no-emit",
        "--message-format",
        "json",
        "--rules",
        "rules.toml",
    ];
    for (rule, expected) in [
        ("count elements of row", "violated"),
        ("8 bytes of row", "proved"),
        ("2 elements of p1", "proved"),
    ] {
        project.write(
            "rules.toml",
            &format!("[external.fill]\nwrites = \"{rule}\"\nkeeps = false\n"),
        );
        let run = check(&project, "fill.c", &[&assertion[..], &json].concat());
        assert_eq!(verdict(&run), expected, "{rule}\n{run}");
    }
    project.write(
        "rules.toml",
        "[external.fill]\nwrites = \"length elements of row\"\n",
    );
    let run = check(&project, "fill.c", &json);
    run.expect(exit::USAGE)
        .expect_message("`length elements of p1` is no rule");
}

/// A parameter with the name of an index is no count: nothing is written past a single variable.
#[test]
fn an_index_is_no_count() {
    let project = Project::empty();
    let text = "int get(int *value, int index);\nint main(void)\n{\n    int value = 0;\n\n    \
        get(&value, 5);\n    return value & 1;\n}\n";
    project.write("get.c", text);
    let run = check(
        &project,
        "get.c",
        &[
            "--property",
            "memory",
            "--no-emit",
            "--message-format",
            "json",
        ],
    );
    assert_eq!(verdict(&run), "proved", "{run}");
}

/// By a rule, the result points into an argument, a text or an array; the generated test names the
/// element.
#[test]
fn results_lead_into_what_was_handed_over() {
    let project = Project::empty();
    project.write("find.c", FIND);
    project.write(
        "rules.toml",
        "[external.find]\nreturns = \"into text\"\nwrites = false\nkeeps = false\n",
    );
    let rules = ["--rules", "rules.toml"];
    let words = ["--property", "assertion", "--emit-dir", "found"];
    let run = check(&project, "find.c", &[&words[..], &rules].concat());
    run.expect(exit::VIOLATION);
    fails_saying(&project, "find", ".returns_into(\"find\", 1)");

    project.write(
        "rules.toml",
        "[external.slot]\nreturns = \"into count elements of row\"\n",
    );
    let json = [
        "--property",
        "memory",
        "--no-emit",
        "--message-format",
        "json",
    ];
    for (next, expected) in [("0", "proved"), ("1", "violated")] {
        project.write("slot.c", &SLOT.replace("NEXT", next));
        let run = check(&project, "slot.c", &[&json[..], &rules].concat());
        assert_eq!(verdict(&run), expected, "at[{next}]\n{run}");
    }
}

/// A string from an external function is terminated, even if the program itself reads none of its
/// characters.
#[test]
fn strings_from_outside_end() {
    let project = Project::empty();
    project.write(
        "name.c",
        "#include <string.h>\nconst char *name(void);\nint main(void)\n{\n    const char *n = \
         name();\n    char copy[8];\n\n    if (n && strlen(n) < LEAST)\n        strcpy(copy, \
         n);\n    return 0;\n}\n",
    );
    let words = ["--no-emit", "--message-format", "json", "-D"];
    for (least, expected) in [("8", "proved"), ("9", "violated")] {
        let define = format!("LEAST={least}");
        let run = check(&project, "name.c", &[&words[..], &[&define]].concat());
        assert_eq!(verdict(&run), expected, "{run}");
    }
}
