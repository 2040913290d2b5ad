//! Explains why a goal is open: what was tried last, and which option may help.

use cegar_model::program::Property;
use serde::Serialize;

use super::StoredCampaign;
use crate::verdict::End;
use crate::verdict::{Goal, Lack};

/// The explanation of an open goal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Open {
    /// The reason.
    pub why: String,
    /// The attempts, most recent last.
    pub tried: Vec<String>,
    /// For a check that the floor could not prove, what the floor knows and what it would need.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lack: Option<Lack>,
    /// Options and changes that may help.
    pub knobs: Vec<String>,
}

pub fn open(left: &StoredCampaign, goal: &Goal, why: &str) -> Open {
    Open {
        why: why.to_owned(),
        tried: tried(left),
        lack: goal.lack.clone(),
        knobs: knobs(left, goal, why),
    }
}

fn tried(left: &StoredCampaign) -> Vec<String> {
    let stats = &left.kept.stats;
    let mut all = Vec::new();
    if stats.machine_runs > 0 {
        all.push(format!(
            "the search: {} executions of the machine, {} questions to the solver",
            stats.machine_runs,
            stats.solver_calls.saturating_sub(stats.prover.solver_calls)
        ));
    }
    if stats.executions > 0 {
        all.push(format!("natively: {} executions", stats.executions));
    }
    let prover = &stats.prover;
    if prover.iterations > 0 {
        all.push(format!(
            "the prover: {} rounds of guesses, {} guesses, {} of them hold, {} questions ({} \
             without an answer)",
            prover.iterations, prover.guesses, prover.facts, prover.solver_calls, prover.unknown
        ));
    }
    all.push(
        match left.kept.end {
            End::Found => {
                "then it ended: a violation was found, and one was all that was asked for"
            }
            End::Settled => "then it ended: everything else was settled",
            End::Budget => "then it ended: the time or the runs were used up",
            End::Stalled => "then it ended: neither side brought anything new",
            End::Interrupted => "then it was interrupted",
        }
        .to_owned(),
    );
    all
}

/// The advice for each reason, selected by phrases that `campaign::goals` and the prover use.
const ADVICE: [(&str, &str); 10] = [
    ("time was up", "give it longer: --max-time"),
    (
        "ended at the first violation",
        "correct what was found, or use `cargo cegar run`, which goes on after a violation",
    ),
    ("--fuzz-only", "leave out --fuzz-only"),
    ("interrupted", "let it run to its end"),
    (
        "no invariant was found",
        "state what holds around the loop as an assert: what is proved of one check helps with the \
         next",
    ),
    (
        "gave no answer in time",
        "the formula is too hard: smaller types or arrays (-D), or fewer multiplications by \
         unknowns",
    ),
    (
        "not known where the pointer points",
        "give the pointer its object in the harness, instead of one from a mock or an integer",
    ),
    (
        "behind ",
        "what is named is not modelled: leave it out with a macro (-D), or define a function that \
         stands for it",
    ),
    (
        "too large to be explored",
        "start further in: a harness or --entry for the function itself",
    ),
    (
        "its input was not kept",
        "run again: the input is written with the finding",
    ),
];

fn knobs(left: &StoredCampaign, goal: &Goal, why: &str) -> Vec<String> {
    let fitting = ADVICE.iter().filter(|(words, _)| why.contains(words));
    let mut all: Vec<String> = fitting.map(|(_, advice)| (*advice).to_owned()).collect();
    if why.contains("no execution came here") {
        all.push(format!(
            "put an input that comes near {} into the corpus ({}/corpus/{}); one that is longer \
             than `max_len` in cegar.toml (4096 if it does not say) is left out",
            goal.place.show(),
            left.package(),
            goal.harness
        ));
    }
    let depends = left
        .kept
        .assumptions
        .iter()
        .any(|a| a.id.starts_with("unasked-"));
    if depends && !left.asked(Property::Memory) {
        all.push("ask for more at a time: --property all".to_owned());
    }
    all.extend(goal.lack.iter().flat_map(|lack| lack.helps.clone()));
    if all.is_empty() {
        all.push("give it longer: --max-time".to_owned());
    }
    all
}
