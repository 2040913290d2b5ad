//! `--property unreach` and task definitions of SV-COMP: which questions are asked, how they are
//! answered, and which tasks are refused.

use std::time::Duration;

use cegar_tests::{Ended, Project, Tool, exit};

const LIMIT: Duration = Duration::from_secs(300);

/// A program in the collection's conventions: a condition is assumed by calling `abort` if it does
/// not hold.
const BOUNDED: &str = "\
extern int __VERIFIER_nondet_int(void);
extern void abort(void);
extern void reach_error(void);
int main(void)
{
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 100) abort();
    if (n * 2 > LIMIT) reach_error();
    return 0;
}
";

fn check(project: &Project, words: &[&str]) -> Ended {
    let mut all = vec!["check"];
    all.extend(words);
    all.extend(["--max-time", "60s", "--no-emit", "--message-format", "json"]);
    Tool::new(project.path(), all).limit(LIMIT).run()
}

/// Writes a task definition beside the program; `asks` contains properties and their expected
/// verdicts.
fn task(project: &Project, program: &str, model: &str, asks: &[(&str, bool)]) {
    let mut text = format!("format_version: '2.0'\ninput_files: '{program}'\nproperties:\n");
    for (property, expected) in asks {
        text += &format!(
            "  - property_file: ../properties/{property}.prp\n    expected_verdict: {expected}\n"
        );
    }
    text += &format!("options:\n  language: C\n  data_model: {model}\n");
    project.write("task.yml", &text);
}

/// The answers, in order: property, answer, points.
fn answers(ended: &Ended) -> Vec<(String, String, Option<i64>)> {
    let messages = ended.messages();
    let answered = messages.iter().filter(|m| m["reason"] == "answered");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    answered
        .map(|m| {
            (
                text(&m["property"]),
                text(&m["answer"]),
                m["points"].as_i64(),
            )
        })
        .collect()
}

fn answer(property: &str, answer: &str, points: i64) -> (String, String, Option<i64>) {
    (property.to_owned(), answer.to_owned(), Some(points))
}

#[test]
fn abort_ends_the_run_where_only_unreach_is_asked() {
    let project = Project::empty();
    project.write("p.c", BOUNDED);
    let asked = |property: &str, limit: &str| {
        let define = format!("LIMIT={limit}");
        check(&project, &["p.c", "-D", &define, "--property", property])
    };
    let proved = asked("unreach", "200");
    proved.expect(exit::CLEAN);
    assert_eq!(proved.finished()["verdict"], "proved", "{proved}");
    let violated = asked("unreach", "198");
    violated.expect(exit::VIOLATION);
    let aborts = asked("assertion", "200");
    aborts.expect(exit::VIOLATION);
    let both = asked("unreach,assertion", "200");
    both.expect(exit::VIOLATION);
}

#[test]
fn a_handler_of_abort_is_assumed_not_to_run() {
    let project = Project::empty();
    project.write(
        "p.c",
        "#include <signal.h>\n#include <stdlib.h>\nextern void reach_error(void);\n\
         static void handler(int number) { (void)number; reach_error(); }\n\
         int main(void) { signal(SIGABRT, handler); if (getenv(\"X\")) abort(); return 0; }\n",
    );
    let ended = check(&project, &["p.c", "--property", "unreach"]);
    let finished = ended.finished();
    let assumed = finished["assumptions"].to_string();
    assert!(
        finished["verdict"] != "proved" || assumed.contains("SIGABRT"),
        "{ended}"
    );
}

#[test]
fn a_task_is_answered_question_by_question() {
    let project = Project::empty();
    project.write("p.c", BOUNDED);
    let asks = [
        ("unreach-call", true),
        ("no-overflow", true),
        ("termination", true),
        ("valid-memsafety", true),
    ];
    task(&project, "p.c", "ILP32", &asks);
    let ended = check(&project, &["--svcomp", "task.yml", "-D", "LIMIT=200"]);
    ended.expect(exit::CLEAN);
    let wanted = [
        answer("unreach-call", "true", 2),
        answer("no-overflow", "true", 2),
        // The property includes memory leaks, for which there is no check.
        answer("valid-memsafety", "unknown", 0),
    ];
    assert_eq!(answers(&ended), wanted, "{ended}");
    let told = "termination: there is no check for this property";
    assert!(ended.stdout.contains(told), "{ended}");

    let words = ["--svcomp", "task.yml", "--only", "unreach-call"];
    let wrong = check(&project, &[&words[..], &["-D", "LIMIT=198"]].concat());
    wrong.expect(exit::VIOLATION);
    assert_eq!(answers(&wrong), [answer("unreach-call", "false", -16)]);
}

#[test]
fn what_is_no_overflow_does_not_answer_for_it() {
    let project = Project::empty();
    project.write(
        "p.c",
        "extern int __VERIFIER_nondet_int(void);\n\
         int main(void) { return 10 / __VERIFIER_nondet_int(); }\n",
    );
    task(&project, "p.c", "LP64", &[("no-overflow", true)]);
    let ended = check(&project, &["--svcomp", "task.yml"]);
    assert_eq!(
        answers(&ended),
        [answer("no-overflow", "unknown", 0)],
        "{ended}"
    );
}

#[test]
fn a_program_that_depends_on_32_bits_is_refused() {
    let project = Project::empty();
    project.write(
        "p.c",
        "extern long __VERIFIER_nondet_long(void);\n\
         int main(void) { return __VERIFIER_nondet_long() > 0; }\n",
    );
    task(&project, "p.c", "ILP32", &[("unreach-call", true)]);
    let ended = check(&project, &["--svcomp", "task.yml"]);
    ended.expect(exit::USAGE);
    ended.expect_message("the task's data model is ILP32");
    task(&project, "p.c", "LP64", &[("unreach-call", true)]);
    let ended = check(&project, &["--svcomp", "task.yml"]);
    assert_eq!(
        answers(&ended),
        [answer("unreach-call", "true", 2)],
        "{ended}"
    );
}

#[test]
fn tasks_that_cannot_be_read_or_ask_for_nothing_are_errors() {
    let project = Project::empty();
    let ended = check(&project, &["--svcomp", "task.yml"]);
    ended.expect(exit::IO);
    project.write("task.yml", "input_files: [\n");
    let ended = check(&project, &["--svcomp", "task.yml"]);
    ended.expect(exit::USAGE);
    ended.expect_message("is no task definition");
    project.write("p.c", BOUNDED);
    task(&project, "p.c", "LP64", &[("termination", true)]);
    let ended = check(&project, &["--svcomp", "task.yml"]);
    ended.expect(exit::NOTHING_SELECTED);
    let ended = check(&project, &["--svcomp", "task.yml", "--only", "terminatio"]);
    ended.expect(exit::USAGE);
    ended.expect_message("did you mean `termination`?");
}
