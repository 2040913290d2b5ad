//! Reports each bug as one finding, over all harnesses.
//!
//! Each campaign only knows its own reports. The events of all campaigns pass through here: if
//! another harness shows a fault that was already reported, its input is a further input of the
//! finding instead of a second finding.

use super::{Event, Reporter};
use crate::findings::Identity;

/// Passes events on; a finding that was already reported becomes [`Event::FoundAgain`].
pub struct Distinct<'a> {
    inner: &'a mut dyn Reporter,
    told: Vec<Identity>,
}

impl<'a> Distinct<'a> {
    /// Creates a reporter that passes events to `inner`.
    pub fn new(inner: &'a mut dyn Reporter) -> Distinct<'a> {
        Distinct {
            inner,
            told: Vec::new(),
        }
    }

    /// The number of different faults that were reported.
    pub fn count(&self) -> u64 {
        self.told.len() as u64
    }
}

impl Reporter for Distinct<'_> {
    fn event(&mut self, event: &Event) {
        let Event::Found(finding) = event else {
            return self.inner.event(event);
        };
        if self.told.iter().any(|told| told.is(&finding.identity)) {
            return self.inner.event(&Event::FoundAgain(finding.clone()));
        }
        self.told.push(finding.identity.clone());
        self.inner.event(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Recorder, samples};

    #[test]
    fn a_second_harness_adds_an_input() {
        let mut recorder = Recorder::default();
        let mut distinct = Distinct::new(&mut recorder);
        let mut finding = samples::finding("c/header.c");
        distinct.event(&Event::Found(finding.clone()));
        finding.harness = "other".to_owned();
        distinct.event(&Event::Found(finding.clone()));
        finding.identity.occurrence = 1;
        distinct.event(&Event::Found(finding));
        assert_eq!(distinct.count(), 2);
        let again = |event: &Event| matches!(event, Event::FoundAgain(_));
        let told: Vec<bool> = recorder.events.iter().map(again).collect();
        assert_eq!(told, [false, true, false]);
    }
}
