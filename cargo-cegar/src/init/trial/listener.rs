//! Collects the events of a trial's run.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::event::{Event, Reporter};
use crate::findings::BlamedOn;
use crate::verdict::Finding;

/// Collects the results of a run, and stops the run when a precondition was found or the user stops
/// the command.
pub(super) struct Listener<'l> {
    pub(super) user: &'l AtomicBool,
    pub(super) done: &'l AtomicBool,
    pub(super) fillers: &'l [String],
    pub(super) while_filling: bool,
    pub(super) preconditions: Vec<Finding>,
    pub(super) findings: u64,
    pub(super) of_data: bool,
    pub(super) tapes: Vec<Vec<u8>>,
    pub(super) null_fault: Option<String>,
}

impl Reporter for Listener<'_> {
    fn event(&mut self, event: &Event) {
        match event {
            Event::Precondition(finding) => self.preconditions.push(finding.clone()),
            Event::Found(finding) => {
                let blame = finding.blame.as_ref().map(|blame| blame.from);
                if blame != Some(BlamedOn::Harness) {
                    self.findings += 1;
                    let calls = finding.stack.iter().chain([&finding.place]);
                    self.while_filling |= calls
                        .map(|place| &place.function)
                        .any(|name| self.fillers.contains(name));
                    self.of_data |= blame == Some(BlamedOn::Input);
                    self.tapes.push(finding.input.clone());
                }
                if finding.message.contains(" NULL") && blame != Some(BlamedOn::Harness) {
                    let place = finding.place.show();
                    self.null_fault = Some(format!("{place}: {}", finding.message));
                }
            }
            _ => {}
        }
        if !self.preconditions.is_empty() || self.user.load(Ordering::Relaxed) {
            self.done.store(true, Ordering::Relaxed);
        }
    }
}
