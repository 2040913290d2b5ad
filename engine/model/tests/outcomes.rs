//! Each outcome of each function of the library is reached by some tape, in the machine, where
//! nothing is narrowed. The tables are those of the stub library's own tests, which reach the same
//! natively.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may fail loudly"
)]

#[path = "../../../c-stubs/tests/common/outcomes.rs"]
mod outcomes;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

use cegar_model::assumption::{Asked, RULES};
use cegar_model::machine::{Execution, Limits, Machine};
use cegar_model::program::Program;
use cegar_model::program::normalise::{Entry, LinkRequest, clang_flags, normalise};
use cegar_stubs::Role;

fn clang(input: &Path, flags: &[&str]) -> PathBuf {
    let output = input.with_extension("bc");
    let done = Command::new("clang-19")
        .args(clang_flags(&[]))
        .args(flags)
        .arg("-w")
        .arg(input)
        .arg("-o")
        .arg(&output)
        .output()
        .expect("clang-19 is needed");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    output
}

/// All that can be lifted and still be modelled.
fn lifted() -> BTreeSet<String> {
    let rules = RULES.iter().filter(|rule| rule.asked == Asked::Code);
    rules
        .map(|rule| rule.id.to_owned())
        .filter(|id| {
            !matches!(
                &**id,
                "signals"
                    | "locale"
                    | "descriptors"
                    | "sorting"
                    | "arguments"
                    | "folder"
                    | "stdin"
                    | "inherited"
                    | "buffers"
            )
        })
        .collect()
}

/// Runs the machine with what the queues say, in the order in which it is asked for.
fn with_queues(machine: &Machine<'_>, queues: &[(String, Vec<u8>)]) -> Execution {
    let mut left: HashMap<&str, Vec<u8>> = HashMap::new();
    for (name, bytes) in queues {
        left.entry(name).or_default().extend(bytes);
    }
    let mut tape = Vec::new();
    loop {
        // More than is needed: an empty tape would be the end of every stream.
        let run = machine.run(&[&tape[..], &[1; 64]].concat());
        let Some(next) = run.choices.iter().find(|c| c.at + c.len > tape.len()) else {
            return run;
        };
        let name = next.channel.as_ref();
        let is_stream = name == "stdin" || (name.starts_with("file:") && left.contains_key(name));
        if is_stream && left.get(name).is_none_or(Vec::is_empty) {
            tape.extend([0xFF, 0]);
            continue;
        }
        let mut bytes = left.get_mut(name).map_or_else(Vec::new, |queue| {
            let n = next.len.min(queue.len());
            queue.drain(..n).collect()
        });
        bytes.resize(next.len, 0);
        tape.extend(bytes);
    }
}

#[test]
fn every_outcome_is_reached_in_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    let (mut stubs, mut pure) = (Vec::new(), Vec::new());
    for (role, path) in cegar_stubs::write_sources(folder.path()).unwrap() {
        match role {
            Role::Stub | Role::Entry(cegar_stubs::Entry::Main) => stubs.push(clang(&path, &[])),
            Role::EngineOnly => pure.push(clang(&path, &[])),
            _ => {}
        }
    }
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../c-stubs/tests/outcomes");
    let mut wrong = Vec::new();
    for table in outcomes::tables(&tables) {
        let source = folder.path().join(format!("{}.c", table.name));
        std::fs::write(&source, &table.source).unwrap();
        let user = vec![clang(&source, &["-fno-builtin"])];
        let mut request = LinkRequest::new(user, stubs.clone(), pure.clone(), Entry::Main);
        request.lifted = lifted();
        let program = source.with_extension("program.bc");
        normalise(&request, &program).unwrap();
        let program = Program::load(&program).unwrap();
        let machine = Machine::new(&program, Limits::default());
        for case in &table.cases {
            let mut queues = vec![("byte".to_owned(), vec![case.number])];
            queues.extend(case.queues.iter().cloned());
            let run = with_queues(&machine, &queues);
            let written = String::from_utf8_lossy(&run.written(2)).into_owned();
            if written != case.output {
                wrong.push(format!(
                    "{}: {}: {}: \"{written}\", not \"{}\"; {:?}",
                    table.name, case.function, case.outcome, case.output, run.outcome
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
