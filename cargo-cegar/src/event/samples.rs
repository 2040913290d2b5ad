//! Sample data for the unit tests of reporters.

use cegar_model::program::CheckKind;

use super::{Summary, TestRef};
use crate::findings::{Identity, Standing};
use crate::verdict::{Finding, GoalTable, Place, Stats, Verdict};

/// A finding at line 3 of `file`.
pub fn finding(file: &str) -> Finding {
    Finding {
        harness: "parse_header".into(),
        name: "write_past_end_header_c_3".into(),
        kind: CheckKind::Write,
        message: "write past the end of `name` (16 bytes) by 1 byte".into(),
        place: Place {
            file: file.into(),
            line: 3,
            column: 5,
            function: "parse".into(),
        },
        stack: vec![],
        input: b"aaaa".to_vec(),
        found_by: "partial simulation".into(),
        identity: Identity {
            file: file.into(),
            function: "parse".into(),
            rule: "invalid-write".into(),
            text: "name[i]=c;".into(),
            ..Identity::default()
        },
        standing: Standing::New,
        blame: None,
    }
}

/// A summary with one entry of each kind.
pub fn summary() -> Summary {
    let mut goals = GoalTable::default();
    goals.checks.violated = 1;
    goals.checks.proved = 66;
    goals.checks.open = 3;
    goals.edges.covered = 119;
    Summary {
        verdict: Verdict::Violated,
        goals,
        stats: Stats {
            solver_calls: 7,
            executions: 1200,
            seconds: 1.5,
            ..Stats::default()
        },
        tests: vec![TestRef {
            file: "cegar/tests/parse_header.rs".into(),
            name: "t".into(),
        }],
        interrupted: false,
        assumptions: vec![],
        harnesses: 1,
        unexecuted: vec![],
        vacuous: vec![],
        findings: 1,
        not_replayed: 0,
        not_shown: 0,
        late: 0,
    }
}
