//! The last event of a campaign, and what it consists of.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::verdict::{GoalTable, Stats, Vacuous, Verdict};

/// Why something was not done: Ctrl-C came first.
pub const INTERRUPTED: &str = "the command was interrupted";

/// A run that does not end in its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hang {
    /// The harness.
    pub harness: String,
    /// The harness's `timeout`, in seconds.
    pub seconds: f64,
    /// The file of its input; none where the command keeps none.
    pub input: Option<PathBuf>,
}

impl Hang {
    /// For people.
    pub fn words(&self) -> String {
        let input = match &self.input {
            Some(file) => format!("its input is {}", file.display()),
            None => "--keep keeps its input".to_owned(),
        };
        format!(
            "a run takes longer than {}s (`timeout`), which is not checked; {input}",
            self.seconds
        )
    }
}

/// The last event.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// In one word.
    pub verdict: Verdict,
    /// The goals.
    pub goals: GoalTable,
    /// The cost.
    pub stats: Stats,
    /// The tests that stand for the violations: written now, or there already.
    pub tests: Vec<TestRef>,
    /// Whether it was stopped by Ctrl-C.
    pub interrupted: bool,
    /// What every "proved" relies on.
    pub assumptions: Vec<cegar_checker::Assumption>,
    /// The harnesses from which most of their checks cannot be reached.
    #[serde(default)]
    pub vacuous: Vec<Vacuous>,
    /// How many faults were found: one that several inputs or harnesses show counts once.
    #[serde(default)]
    pub findings: u64,
    /// Committed tests and inputs of earlier findings that were not run to their end.
    #[serde(default)]
    pub not_replayed: u64,
    /// Violations that the engine sees and that no native run showed.
    #[serde(default)]
    pub not_shown: u64,
    /// Inputs that the fuzzer's target failed on and that were not looked into, where no other
    /// input showed a fault.
    #[serde(default)]
    pub late: u64,
    /// How many harnesses there were.
    #[serde(default)]
    pub harnesses: u64,
    /// The harnesses that were never executed.
    #[serde(default)]
    pub unexecuted: Vec<Unexecuted>,
}

impl Summary {
    /// What several harnesses came to together.
    pub fn merged(parts: Vec<Summary>) -> Summary {
        let mut goals = GoalTable::default();
        let mut stats = Stats::default();
        let mut tests = Vec::new();
        let mut interrupted = false;
        let mut unexecuted = Vec::new();
        let harnesses = parts.iter().map(|part| part.harnesses).sum();
        let proved = !parts.is_empty() && parts.iter().all(|part| part.verdict == Verdict::Proved);
        let mut assumptions = Vec::new();
        let mut vacuous = Vec::new();
        let (mut findings, mut not_replayed, mut not_shown, mut late) = (0, 0, 0, 0);
        for part in parts {
            assumptions.extend(part.assumptions);
            vacuous.extend(part.vacuous);
            findings += part.findings;
            not_replayed += part.not_replayed;
            not_shown += part.not_shown;
            late += part.late;
            stats.strategy = part.stats.strategy;
            stats += part.stats;
            goals += part.goals;
            tests.extend(part.tests);
            interrupted |= part.interrupted;
            unexecuted.extend(part.unexecuted);
        }
        Summary {
            verdict: if goals.checks.violated > 0 {
                Verdict::Violated
            } else if proved {
                Verdict::Proved
            } else {
                Verdict::Open
            },
            goals,
            stats,
            tests,
            interrupted,
            assumptions: cegar_checker::Assumption::merged(assumptions),
            harnesses,
            unexecuted,
            vacuous,
            findings,
            not_replayed,
            not_shown,
            late,
        }
    }

    /// What was proved is not all that was asked for.
    pub fn open(&mut self) {
        if self.verdict == Verdict::Proved {
            self.verdict = Verdict::Open;
        }
    }

    /// Whether proofs assume preconditions that were learnt and that nobody has confirmed.
    pub fn rests_on_learnt(&self) -> bool {
        let mut ids = self.assumptions.iter().map(|assumption| &assumption.id);
        ids.any(|id| id == cegar_checker::LEARNT)
    }

    /// Whether not all was looked at: a harness was never executed or calls nothing of the library,
    /// something that is to be replayed was not, no native run showed what the engine sees, or
    /// there was no time for an input that failed.
    pub fn is_incomplete(&self) -> bool {
        let calls_nothing = self.vacuous.iter().any(|vacuous| vacuous.calls_nothing);
        let left = self.not_replayed + self.not_shown + self.late;
        left > 0 || calls_nothing || !self.unexecuted.is_empty()
    }

    /// Says which harnesses were never executed, and why; nothing if all were.
    pub fn never_executed(&self) -> Option<String> {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for Unexecuted { harness, why } in &self.unexecuted {
            match reasons.iter_mut().find(|(known, _)| known == why) {
                Some((_, names)) => names.push(harness),
                None => reasons.push((why, vec![harness])),
            }
        }
        let (count, all) = (self.unexecuted.len() as u64, self.harnesses);
        let reasons: Vec<String> = reasons
            .into_iter()
            .map(|(why, names)| format!("{}: {why}", names.join(", ")))
            .collect();
        let noun = if all == 1 { "harness" } else { "harnesses" };
        let text = format!(
            "{count} of {all} {noun} never executed: {}",
            reasons.join("; ")
        );
        (count > 0).then_some(text)
    }
}

/// A harness that was never executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unexecuted {
    /// The harness.
    pub harness: String,
    /// Why not.
    pub why: String,
}

/// A generated test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRef {
    /// The file.
    pub file: PathBuf,
    /// The function.
    pub name: String,
}

/// How the committed tests and the inputs of earlier findings ended in this run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expectations {
    /// The harness; of tests that no harness owns, the test file.
    pub harness: String,
    /// Inputs that pass.
    pub pass: Vec<String>,
    /// Inputs that fail, and that no campaign has seen pass.
    pub still_fail: Vec<String>,
    /// Inputs that fail, and that an earlier campaign saw pass.
    pub fail_again: Vec<String>,
    /// Inputs that were not run to their end, and why.
    pub not_run: Vec<(String, String)>,
}

impl Expectations {
    /// How many there are.
    pub fn total(&self) -> usize {
        self.pass.len() + self.still_fail.len() + self.fail_again.len() + self.not_run.len()
    }

    /// Whether this one is known to fail.
    pub fn is_failing(&self, name: &str) -> bool {
        let mut failing = self.still_fail.iter().chain(&self.fail_again);
        failing.any(|failing| failing == name)
    }
}
