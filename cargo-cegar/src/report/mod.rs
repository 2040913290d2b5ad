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
