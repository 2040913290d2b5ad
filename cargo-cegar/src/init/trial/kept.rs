//! Which of the tried harnesses are written.
//!
//! One that reaches little of its function says little, so that another one is written in its
//! place. Where there is no other, it is what there is to begin with: a few seconds of trial do not
//! show what a campaign reaches.

use super::super::Initialised;
use super::super::drive;
use super::super::table::Row;
use super::Tried;

/// With so many per cent a harness is offered even where it breaks a condition.
const MOSTLY: u64 = 60;

/// The harnesses that are written, and the ones that are written if there are no others.
#[derive(Default)]
pub(super) struct Kept {
    pub harnesses: Vec<(String, drive::Harness)>,
    spare: Vec<(usize, Tried)>,
}

impl Kept {
    /// Takes over what a trial came to.
    pub(super) fn take(&mut self, function: &str, mut tried: Tried, done: &mut Initialised) {
        if tried.is_of_use()
            && let Some(why) = tried.left_out.take()
        {
            done.notes.push(format!("{function}: {why}"));
        }
        let row = done.tried.len();
        done.tried.push(Row {
            function: function.to_owned(),
            lines: tried.lines,
            preconditions: tried.learnt.len(),
            findings: tried.findings,
            left_out: tried.left_out.clone(),
            cut_short: tried.cut_short,
        });
        match &tried.left_out {
            None => self.keep(function, tried, done),
            Some(_) if tried.is_shallow => self.spare.push((row, tried)),
            Some(why) => done.skipped.push((function.to_owned(), why.clone())),
        }
    }

    fn keep(&mut self, function: &str, tried: Tried, done: &mut Initialised) {
        done.learnt.extend(tried.learnt);
        done.shown.push((function.to_owned(), tried.tapes));
        self.harnesses.push((function.to_owned(), tried.harness));
    }

    /// The harnesses that are written.
    pub(super) fn finish(mut self, done: &mut Initialised) -> Vec<(String, drive::Harness)> {
        let is_all = self.harnesses.is_empty();
        for (row, mut tried) in std::mem::take(&mut self.spare) {
            let function = done.tried[row].function.clone();
            let why = tried.left_out.take().unwrap_or_default();
            match is_all {
                true => {
                    done.tried[row].left_out = None;
                    done.notes.push(format!(
                        "{function}: {why}; it is written, as there is no other"
                    ));
                    self.keep(&function, tried, done);
                }
                false => done.skipped.push((function, why)),
            }
        }
        self.harnesses
    }
}

impl Tried {
    /// Whether a harness shows enough to be offered although it breaks a condition that nothing
    /// here keeps. A fault that is its own is told as such in every run. Other faults of such a
    /// harness may be consequences of the condition that it breaks.
    fn is_of_use(&self) -> bool {
        let most = self
            .lines
            .is_some_and(|(reached, all)| reached * 100 >= all * MOSTLY);
        most && self.findings == 0
    }
}
