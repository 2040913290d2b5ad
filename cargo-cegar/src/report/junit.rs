//! JUnit XML, which every CI system shows: a suite per harness, and a case per finding or named
//! check.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{fs, io};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::without_result;
use crate::bindings::Binding;
use crate::event::{Event, Expectations, Hang, Reporter};
use crate::findings::Standing;
use crate::verdict::{Finding, Goal, GoalKind, GoalStatus, rule_id};

/// Collects events and writes a JUnit file at the end.
pub struct JunitReporter {
    path: PathBuf,
    /// The findings. Those that do not count as failures have a reason.
    findings: Vec<(Finding, Option<&'static str>)>,
    bindings: Vec<Binding>,
    expectations: Vec<Expectations>,
    failed: Vec<(String, String)>,
    hangs: Vec<Hang>,
    goals: BTreeMap<String, Vec<Goal>>,
}

impl JunitReporter {
    /// Creates a reporter that writes the file `path` when it is finished.
    pub fn new(path: PathBuf) -> Self {
        JunitReporter {
            path,
            findings: Vec::new(),
            bindings: Vec::new(),
            expectations: Vec::new(),
            failed: Vec::new(),
            hangs: Vec::new(),
            goals: BTreeMap::new(),
        }
    }

    fn report(&self) -> Report {
        let mut report = Report::new("cargo cegar");
        let mut suites: BTreeMap<&str, TestSuite> = BTreeMap::new();
        for (finding, excuse) in &self.findings {
            let what = format!("{} {}", finding.place.show(), finding.message);
            let (mut status, what) = match (excuse, finding.standing) {
                (Some(excuse), _) => (TestCaseStatus::skipped(), format!("{excuse}: {what}")),
                (None, Standing::New) => (failure(), what),
                (None, standing) => (failure(), format!("it {}: {what}", standing.words())),
            };
            status.set_type(rule_id(finding.kind)).set_message(what);
            let mut case = TestCase::new(finding.name.clone(), status);
            case.set_classname(finding.place.file.clone());
            suite(&mut suites, &finding.harness).add_test_case(case);
        }
        for binding in &self.bindings {
            let (mut status, excuse) = match binding.known {
                true => (TestCaseStatus::skipped(), "the baseline lists it: "),
                false => (failure(), ""),
            };
            let place = binding.mismatch.rust.show();
            let message = format!("{excuse}{place} {}", binding.in_full());
            status.set_type(binding.kind.clone()).set_message(message);
            let mut case = TestCase::new(binding.name.clone(), status);
            case.set_classname(binding.mismatch.rust.file.clone());
            suite(&mut suites, "bindings").add_test_case(case);
        }
        for expected in &self.expectations {
            let suite = suite(&mut suites, &expected.harness);
            for name in &expected.pass {
                suite.add_test_case(TestCase::new(name.clone(), TestCaseStatus::success()));
            }
            for (name, why) in &expected.not_run {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
                status.set_message(format!("it was not run: {why}"));
                suite.add_test_case(TestCase::new(name.clone(), status));
            }
        }
        for (harness, why) in &self.failed {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_message(why.clone());
            suite(&mut suites, harness).add_test_case(TestCase::new("campaign", status));
        }
        for hang in &self.hangs {
            let mut status = TestCaseStatus::skipped();
            status.set_message(hang.words());
            suite(&mut suites, &hang.harness).add_test_case(TestCase::new("each run ends", status));
        }
        for (harness, goals) in &self.goals {
            let suite = suite(&mut suites, harness);
            suite.add_test_cases(goals.iter().filter_map(of_goal));
        }
        report.add_test_suites(suites.into_values());
        report
    }
}

/// The suite of a harness.
fn suite<'s, 'n>(suites: &'s mut BTreeMap<&'n str, TestSuite>, name: &'n str) -> &'s mut TestSuite {
    suites.entry(name).or_insert_with(|| TestSuite::new(name))
}

/// The test case of a check; `None` for a violated one, which is a finding.
fn of_goal(goal: &Goal) -> Option<TestCase> {
    let mut skipped = TestCaseStatus::skipped();
    let status = match &goal.status {
        GoalStatus::Proved { .. } => TestCaseStatus::success(),
        GoalStatus::Unreachable => {
            skipped.set_message("unreachable from this harness: nothing is tested");
            skipped
        }
        GoalStatus::Open { why } => {
            skipped.set_message(why.clone());
            skipped
        }
        _ => return None,
    };
    let name = format!("{} {}", goal.place.show(), goal.expression);
    let mut case = TestCase::new(name.trim_end(), status);
    case.set_classname(goal.place.file.clone());
    if let GoalStatus::Proved { given, .. } = &goal.status
        && !given.is_empty()
    {
        case.set_system_out(format!("proved if these hold: {}", given.join(", ")));
    }
    Some(case)
}

fn failure() -> TestCaseStatus {
    TestCaseStatus::non_success(NonSuccessKind::Failure)
}

impl Reporter for JunitReporter {
    fn event(&mut self, event: &Event) {
        self.failed.extend(without_result(event));
        match event {
            Event::Found(finding) => self.findings.push((finding.clone(), None)),
            Event::FoundAgain(finding) => {
                self.findings
                    .push((finding.clone(), Some("a further input of a finding")));
            }
            Event::Known(finding) => {
                self.findings
                    .push((finding.clone(), Some("the baseline lists it")));
            }
            Event::BindingMismatch(binding) => self.bindings.push(binding.clone()),
            Event::Hang(hang) => self.hangs.push(hang.clone()),
            Event::Expectations(expected) => self.expectations.push(expected.clone()),
            Event::Goal(goal) if goal.kind == GoalKind::Check => {
                let suite = self.goals.entry(goal.harness.clone()).or_default();
                suite.push(goal.clone());
            }
            _ => {}
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        let text = self.report().to_string().map_err(io::Error::other)?;
        fs::write(&self.path, text)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::event::samples;

    #[test]
    fn a_finding_is_a_failure() {
        let mut reporter = JunitReporter::new("unused".into());
        reporter.event(&Event::Found(samples::finding("src/header.c")));
        let text = reporter.report().to_string().unwrap();
        assert!(
            text.contains("failures=\"1\"") && text.contains("invalid-write"),
            "{text}"
        );
    }
}
