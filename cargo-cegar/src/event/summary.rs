//! The last event of a campaign and its parts.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::verdict::{GoalTable, Stats, Vacuous, Verdict};

/// The reason for something that was not done because of Ctrl-C.
pub const INTERRUPTED: &str = "the command was interrupted";

/// The assumptions that harnesses make about the arguments of their callers.
const GUESSED: [&str; 2] = ["sizes", "guesses"];

/// A run that exceeds its time limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hang {
    /// The harness.
    pub harness: String,
    /// The harness's `timeout`, in seconds.
    pub seconds: f64,
    /// The file of its input; `None` if the command does not keep inputs.
    pub input: Option<PathBuf>,
}

impl Hang {
    /// A description for users.
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

/// The data of the last event.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// The verdict.
    pub verdict: Verdict,
    /// The goals.
    pub goals: GoalTable,
    /// The statistics.
    pub stats: Stats,
    /// The tests for the violations, both new and existing ones.
    pub tests: Vec<TestRef>,
    /// Whether the command was stopped by Ctrl-C.
    pub interrupted: bool,
    /// The assumptions on which all proofs rest.
    pub assumptions: Vec<cegar_checker::Assumption>,
    /// The harnesses that cannot reach most of their checks.
    #[serde(default)]
    pub vacuous: Vec<Vacuous>,
    /// The number of faults that were found; a fault that several inputs or harnesses show counts
    /// once.
    #[serde(default)]
    pub findings: u64,
    /// The number of committed tests and inputs of earlier findings that were not run completely.
    #[serde(default)]
    pub not_replayed: u64,
    /// The number of violations that the engine sees and that no native run confirmed.
    #[serde(default)]
    pub not_shown: u64,
    /// The number of inputs on which the fuzzer's target failed and that were not examined, of
    /// harnesses without another input that showed a fault.
    #[serde(default)]
    pub late: u64,
    /// The number of harnesses.
    #[serde(default)]
    pub harnesses: u64,
    /// The harnesses that were never executed.
    #[serde(default)]
    pub unexecuted: Vec<Unexecuted>,
}

impl Summary {
    /// Merges the summaries of several harnesses.
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

    /// Makes the verdict open if it is "proved", because not everything was proved.
    pub fn open(&mut self) {
        if self.verdict == Verdict::Proved {
            self.verdict = Verdict::Open;
        }
    }

    /// Whether proofs rest on learnt preconditions that no user has confirmed.
    pub fn rests_on_learnt(&self) -> bool {
        let mut ids = self.assumptions.iter().map(|assumption| &assumption.id);
        ids.any(|id| id == cegar_checker::LEARNT)
    }

    /// Whether proofs rest on bounds or guesses of a harness, which need not hold for its callers.
    pub fn rests_on_guesses(&self) -> bool {
        let mut ids = self.assumptions.iter().map(|assumption| &*assumption.id);
        ids.any(|id| GUESSED.contains(&id))
    }

    /// Whether the campaign is incomplete: a harness was never executed or uses nothing of the
    /// library, a replay was not finished, no native run confirmed a violation that the engine
    /// sees, or there was no time for a failing input.
    pub fn is_incomplete(&self) -> bool {
        let calls_nothing = self.vacuous.iter().any(|vacuous| vacuous.calls_nothing);
        let left = self.not_replayed + self.not_shown + self.late;
        left > 0 || calls_nothing || !self.unexecuted.is_empty()
    }

    /// Says which harnesses were never executed, and why; `None` if all were.
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
    /// Why it was not executed.
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

/// The results of the committed tests and the inputs of earlier findings in this run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expectations {
    /// The harness, or the test file for tests that belong to no harness.
    pub harness: String,
    /// Inputs that pass.
    pub pass: Vec<String>,
    /// Inputs that fail, and that no campaign has seen pass.
    pub still_fail: Vec<String>,
    /// Inputs that fail, and that an earlier campaign saw pass.
    pub fail_again: Vec<String>,
    /// Inputs that were not run completely, and why.
    pub not_run: Vec<(String, String)>,
}

impl Expectations {
    /// The number of tests and inputs.
    pub fn total(&self) -> usize {
        self.pass.len() + self.still_fail.len() + self.fail_again.len() + self.not_run.len()
    }

    /// Whether this test or input fails.
    pub fn is_failing(&self, name: &str) -> bool {
        let mut failing = self.still_fail.iter().chain(&self.fail_again);
        failing.any(|failing| failing == name)
    }
}
