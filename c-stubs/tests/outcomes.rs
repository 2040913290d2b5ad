//! Some choices lead to each outcome of each function, in a native run with a mock environment and
//! without narrowings.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod common;
#[path = "common/outcomes.rs"]
mod outcomes;

use std::path::Path;

use cegar_stubs::{Entry, Role};
use common::{build, compilers, run_mock};

#[test]
fn every_outcome_is_reached_natively() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outcomes");
    let mut wrong = Vec::new();
    let mut count = 0;
    for table in outcomes::tables(&folder) {
        let folder = tempfile::tempdir().unwrap();
        let entry = ("main", Entry::Main);
        let compiler = compilers()[0];
        let program = build(
            folder.path(),
            compiler,
            &table.source,
            entry,
            Role::RuntimeMock,
            &["-fno-builtin"],
        );
        for case in &table.cases {
            let which = [case.number];
            let mut queues: Vec<(&str, &[u8])> = vec![("byte", &which)];
            queues.extend(case.queues.iter().map(|(name, b)| (name.as_str(), &b[..])));
            let report = run_mock(&program, &queues).stdout;
            let report: serde_json::Value = serde_json::from_slice(&report).unwrap_or_default();
            let written: String = report["output"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|piece| piece[0] == 2)
                .filter_map(|piece| piece[1].as_str())
                .collect();
            let unread = &report["unread"];
            count += 1;
            if written != case.output || unread.as_object().is_none_or(|left| !left.is_empty()) {
                let Table { name, .. } = &table;
                wrong.push(format!(
                    "{name}: {}: {}: \"{written}\", not \"{}\"; unread {unread}, {}",
                    case.function, case.outcome, case.output, report["outcome"]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 300, "only {count} outcomes");
}
use outcomes::Table;
