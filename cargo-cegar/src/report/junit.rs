//! JUnit XML, which every CI system shows: a suite per harness, a case per finding or check that is known by name.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{fs, io};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Event, Finding, Goal, GoalKind, GoalStatus, Reporter, rule_id};

/// Collects events and writes a JUnit file at the end.
pub struct JunitReporter {
    path: PathBuf,
    findings: Vec<Finding>,
    goals: BTreeMap<String, Vec<Goal>>,
}

impl JunitReporter {
    /// A reporter that writes `path` when it is finished.
    pub fn new(path: PathBuf) -> Self {
        JunitReporter {
            path,
            findings: Vec::new(),
            goals: BTreeMap::new(),
        }
    }

    fn report(&self) -> Report {
        let mut report = Report::new("cargo cegar");
        let mut suites: BTreeMap<&str, TestSuite> = BTreeMap::new();
        let mut violated = Vec::new();
        for finding in &self.findings {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type(rule_id(finding.kind)).set_message(format!(
                "{} {}",
                finding.place.show(),
                finding.message
            ));
            let mut case = TestCase::new(finding.name.clone(), status);
            case.set_classname(finding.place.file.clone());
            violated.push((&finding.harness, &finding.place));
            suites
                .entry(&finding.harness)
                .or_insert_with(|| TestSuite::new(finding.harness.clone()))
                .add_test_case(case);
        }
        for (harness, goals) in &self.goals {
            let suite = suites
                .entry(harness)
                .or_insert_with(|| TestSuite::new(harness.clone()));
            for goal in goals {
                let (place, expression) = (&goal.place, &goal.expression);
                let status = match &goal.status {
                    GoalStatus::Proved => TestCaseStatus::success(),
                    GoalStatus::Open { why } => {
                        let mut skipped = TestCaseStatus::skipped();
                        skipped.set_message(why.clone());
                        skipped
                    }
                    _ => continue,
                };
                if violated.contains(&(harness, place)) {
                    continue;
                }
                let mut case = TestCase::new(format!("{} {expression}", place.show()), status);
                case.set_classname(place.file.clone());
                suite.add_test_case(case);
            }
        }
        report.add_test_suites(suites.into_values());
        report
    }
}

impl Reporter for JunitReporter {
    fn event(&mut self, event: &Event) {
        match event {
            Event::Found(finding) => self.findings.push(finding.clone()),
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
    use super::super::samples;
    use super::*;

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
