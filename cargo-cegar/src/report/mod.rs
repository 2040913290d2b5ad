//! The reporters: one file per output format.
//!
//! Events and their parts are in `event` and `verdict`; those that users of this library need for a
//! reporter are re-exported here.

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

/// The harnesses that have no result according to an event, and why: their campaign failed, or they
/// were never executed.
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
