//! Operations on a corpus: tests of behaviour, minimising the corpus, shortening inputs.

use std::fs;
use std::path::Path;

use cegar_tests::{Project, Tool, cargo_test, exit};

/// A function that prints, calls a function without a definition, and reads past the end of its
/// input if the input begins with `!!`.
const CODE: &str = "\
#include <stdio.h>
int port_write(int port, unsigned char value);

int demo(const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size && i < 4; i++) {
        if (data[i] == 'p')
            printf(\"p at %d\\n\", (int)i);
        else if (data[i] == 'w')
            port_write(-1, data[i]);
    }
    if (size >= 2 && data[0] == '!' && data[1] == '!')
        return data[size];
    return 0;
}
";

fn project() -> Project {
    let project = Project::package(CODE);
    project.write("cegar/corpus/demo/mine", "ppwx");
    for useless in ["xxxx", "yyyy", "x", "pppp", "p", "wwww"] {
        project.write(&format!("cegar/corpus/demo/{}", name(useless)), useless);
    }
    project
}

/// The name of an input's file in a corpus.
fn name(text: &str) -> String {
    cargo_cegar::store::entry_name(text.as_bytes())
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The generated tests pass, and fail with a diff after the behaviour of the C code has changed.
#[test]
fn behaviour_is_kept() {
    let project = project();
    let emit = || Tool::new(project.path(), ["emit", "--behaviour"]).run();
    emit().expect(exit::CLEAN).expect_message("tests written");
    let text = project.read("cegar/tests/demo_behaviour.rs");
    assert!(
        text.contains("fn input_") && text.contains(".data(b\"ppwx\")"),
        "{text}"
    );
    let snapshots = names(&project.at("cegar/snapshots"));
    assert_eq!(text.matches("#[test]").count(), snapshots.len());
    let mut all: Vec<String> = snapshots
        .iter()
        .map(|name| project.read(&format!("cegar/snapshots/{name}")))
        .collect();
    all.retain(|text| text.contains("stdout"));
    all.sort_by_key(|text| std::cmp::Reverse(text.len()));
    insta::assert_snapshot!(all.concat(), @r#"
    ---
    source: tests/demo_behaviour.rs
    ---
    stdout: "p at 0\n"
    stdout: "p at 1\n"
    port_write(-1, 119)
    exited with status 0
    ---
    source: tests/demo_behaviour.rs
    ---
    stdout: "p at 0\n"
    exited with status 0
    "#);
    assert!(project.read("cegar/Cargo.toml").contains("insta = "));

    // A second call writes nothing.
    let before =
        fs::metadata(project.at("cegar/tests/demo_behaviour.rs")).and_then(|m| m.modified());
    emit().expect(exit::CLEAN).expect_message("0 tests written");
    let after =
        fs::metadata(project.at("cegar/tests/demo_behaviour.rs")).and_then(|m| m.modified());
    assert_eq!(before.ok(), after.ok());

    let passing = cargo_test(&project.at("cegar"), &[]);
    passing.expect(0);
    let changed = project.read("c/demo.c").replace("p at %d", "P at %d");
    project.write("c/demo.c", &changed);
    let failing = cargo_test(&project.at("cegar"), &[]);
    failing.expect(101);
    let said = format!("{}{}", failing.stdout, failing.stderr);
    assert!(
        said.contains("-stdout: \"p at 0\\n\"") && said.contains("+stdout: \"P at 0\\n\""),
        "{said}"
    );
    // The tool does not accept the change on its own.
    emit()
        .expect(exit::CLEAN)
        .expect_message("does something else now");
}

#[test]
fn the_least_corpus_covers_the_same() {
    let project = project();
    let corpus = project.at("cegar/corpus/demo");
    project.write("cegar/corpus/demo/crash", "!!");
    let before = names(&corpus);
    let dry = Tool::new(project.path(), ["cmin", "--dry-run"]).run();
    dry.expect(exit::CLEAN).expect_message("would be removed");
    assert_eq!(names(&corpus), before);
    let done = Tool::new(project.path(), ["cmin"]).run();
    done.expect(exit::CLEAN)
        .expect_message("1 inputs that go wrong stay");
    let after = names(&corpus);
    // Files with names that the user chose stay, and so do inputs that cause a fault.
    assert!(after.contains(&"mine".to_owned()) && after.contains(&"crash".to_owned()));
    assert!(!after.contains(&name("yyyy")) || !after.contains(&name("xxxx")));
    assert!(after.len() < before.len(), "{after:?}");
    Tool::new(project.path(), ["cmin"])
        .run()
        .expect(exit::CLEAN)
        .expect_message("0 files removed");
}

#[test]
fn an_input_is_shortened_and_ends_as_before() {
    let project = project();
    project.write("crash", "!!aslkdjalksjdlaksjdlaksjdlkajsd");
    let words = ["tmin", "demo", "crash", "--output", "short"];
    Tool::new(project.path(), words).run().expect(exit::CLEAN);
    assert_eq!(project.read("short"), "!!");
    // The shortened form of an input without a fault enters the same blocks.
    project.write("fine", "qqqqpqqqqwqqq");
    Tool::new(project.path(), ["tmin", "demo", "fine"])
        .run()
        .expect(exit::CLEAN);
    let shorter = project.read("fine.min");
    assert!(shorter.len() <= 4, "{shorter}");
    Tool::new(project.path(), ["tmin", "demo", "gone"])
        .run()
        .expect(exit::NOTHING_SELECTED)
        .expect_message("gone");
}

#[test]
fn statistics_of_the_last_campaign() {
    let project = project();
    let stats = || Tool::new(project.path(), ["stats"]).run();
    stats().expect(exit::NOTHING_SELECTED);
    let words = ["run", "--runs", "300", "--no-emit", "--fuzz-only"];
    Tool::new(project.path(), words).run();
    let shown = stats();
    shown.expect(exit::CLEAN);
    assert!(shown.stdout.contains("machine runs") && shown.stdout.contains("\ndemo "));
}
