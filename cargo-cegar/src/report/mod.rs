//! The reporters: what each reader of a campaign's events needs, a format per file.
//!
//! Events and what they consist of are in `event` and `verdict`; those that a user of this library
//! needs beside a reporter are given on from here.

pub mod html;
mod junit;
mod sarif;
mod terminal;

pub use crate::event::{
    Distinct, Event, Expectations, Fan, JsonReporter, Level, Recorder, Reporter, Summary, TestRef,
    Unexecuted,
};
pub use crate::verdict::{Finding, Goal, GoalKind, GoalStatus, Place, property_name, rule_id};
pub use html::HtmlReporter;
pub use junit::JunitReporter;
pub use sarif::SarifReporter;
pub use terminal::TerminalReporter;

/// The harnesses that an event says have no result, and why: their campaign failed, or nothing of
/// them was executed.
fn without_result(event: &Event) -> Vec<(String, String)> {
    match event {
        Event::Failed { harness, why } => vec![(harness.clone(), why.clone())],
        Event::Finished(summary) => {
            let unexecuted = summary.unexecuted.iter();
            unexecuted
                .map(|one| (one.harness.clone(), format!("never executed: {}", one.why)))
                .collect()
        }
        _ => Vec::new(),
    }
}
