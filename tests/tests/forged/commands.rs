//! Forged certificates on the command line: `check-proof`, and a campaign that starts from somebody
//! else's certificate.

use cegar_checker::{Certificate, Claim};
use cegar_tests::{Ended, Project, Tool, exit};

use crate::programs;

/// The campaign's options. The floor is off, because these tests forge the facts, which the checker
/// does not need where the floor suffices.
const WORDS: &str = "check case.c --property assertion --engine-only --no-floor --runs 1 --no-emit \
    --certificate left";

/// A folder with a faulty program, and in `left` the certificate of the corrected one.
fn corrected(text: &str) -> Project {
    let project = Project::empty();
    project.write("case.c", text);
    let words = WORDS.split(' ').chain(["-D", "FIXED"]);
    Tool::new(project.path(), words).run().expect(exit::CLEAN);
    project
}

fn read(project: &Project) -> Certificate {
    let text = project.read("left/certificate.json");
    serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}"))
}

fn write(project: &Project, certificate: &Certificate) {
    let text = serde_json::to_string(certificate).unwrap_or_else(|why| panic!("{why}"));
    project.write("left/certificate.json", &text);
}

fn check_proof(project: &Project) -> Ended {
    Tool::new(project.path(), ["check-proof", "left/certificate.json"]).run()
}

/// Adds what would prove the bug: its claim, and facts that name the loop's next input.
fn forge(certificate: &mut Certificate, program: &cegar_model::program::Program) {
    for id in 0..program.checks.len() as u32 {
        if certificate.check(id).is_none() {
            certificate.checks.push(Claim { id, given: None });
        }
    }
    for cut in &mut certificate.cuts {
        for n in 1..=4 {
            for reg in 0..6 {
                let unknown = format!("|?{}:{}.{n}|:32", cut.context, cut.block);
                let own = format!("|r{}:{reg}|:32", cut.context);
                cut.facts.push(format!("(= {own} {unknown})"));
            }
        }
    }
}

fn program(project: &Project) -> cegar_model::program::Program {
    let program = cegar_model::program::Program::load(&project.at("left/program.bc"));
    program.unwrap_or_else(|why| panic!("{why}"))
}

#[test]
fn check_proof_rejects_what_is_forged() {
    let project = corrected(programs::HASH);
    check_proof(&project).expect(exit::CLEAN);
    let honest = read(&project);
    let program = program(&project);
    let mut forged = honest.clone();
    forge(&mut forged, &program);
    write(&project, &forged);
    check_proof(&project).expect(exit::REJECTED);
    let mut forged = honest.clone();
    for cut in &mut forged.cuts {
        cut.facts = vec!["#1:0".to_owned()];
    }
    write(&project, &forged);
    check_proof(&project).expect(exit::REJECTED);
    let mut forged = honest.clone();
    forged.assumptions.clear();
    write(&project, &forged);
    check_proof(&project).expect(exit::REJECTED);
    // An unknown field may have a meaning in another version.
    let mut tree = serde_json::to_value(&honest).unwrap_or_else(|why| panic!("{why}"));
    tree["cuts"][0]["unless"] = "it rains".into();
    project.write("left/certificate.json", &tree.to_string());
    check_proof(&project)
        .expect(exit::USAGE)
        .expect_message("is no certificate");
    write(&project, &honest);
    check_proof(&project).expect(exit::CLEAN);
}

/// Facts of an earlier run are candidates: those that cannot be proved are dropped, and no claim is
/// adopted.
#[test]
fn a_campaign_does_not_believe_what_it_finds() {
    let project = corrected(programs::HASH);
    let program = program(&project);
    let mut forged = read(&project);
    forge(&mut forged, &program);
    for cut in &mut forged.cuts {
        cut.facts.push("#1:0".to_owned());
    }
    write(&project, &forged);
    let more = ["--require-proof", "--message-format", "json"];
    let run = Tool::new(project.path(), WORDS.split(' ').chain(more)).run();
    assert!(
        matches!(run.code, Some(exit::OPEN_GOALS | exit::VIOLATION)),
        "{run}"
    );
    assert_ne!(run.finished()["verdict"], "proved", "{run}");
    let is_proved = |message: &serde_json::Value| {
        message["reason"] == "goal" && message["status"] == "proved" && message["line"] == 11
    };
    assert!(!run.messages().iter().any(is_proved), "{run}");
}
