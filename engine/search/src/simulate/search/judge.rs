//! Decides which violations are reported.
//!
//! One violation is reported for each place and call stack, since one input per check is enough.
//! But the violation has yet to be confirmed natively, and whether that succeeds depends on the
//! tape. Therefore other tapes with the same violation are kept until it is confirmed.

use super::*;
use cegar_model::program::{CallSite, Pos};

impl Search<'_> {
    /// Reports a wanted violation once per place. Returns true if it was new.
    pub(super) fn judge(
        &mut self,
        tape: &[u8],
        run: &Execution,
        origin: Origin,
        news: &mut Vec<News>,
    ) -> bool {
        match &run.outcome {
            Outcome::Violated(violation) if self.wanted(violation.kind) => {
                if let Some(check) = violation.check {
                    self.violated.insert(check);
                }
                let place = place(violation);
                if self.reported.insert(place.clone()) {
                    self.witnesses.entry(place).or_default();
                    let mut tape = tape.to_vec();
                    tape.truncate(run.consumed);
                    news.push(News::Violation {
                        tape,
                        violation: violation.clone(),
                        origin,
                    });
                    return true;
                }
                if let Some(others) = self.witnesses.get_mut(&place)
                    && others.len() < DOUBTS as usize
                    && run.consumed <= self.config.max_recorded
                {
                    let tape = tape[..run.consumed.min(tape.len())].to_vec();
                    others.push_back((tape, violation.clone(), origin));
                }
                false
            }
            Outcome::Unmodelled(_) => {
                self.stats.unmodelled += 1;
                false
            }
            _ => false,
        }
    }

    /// Called when a reported violation was not confirmed natively. Returns another tape that was
    /// executed since and shows the violation at the same place, if there is one. Otherwise, the
    /// next such tape will be reported, unless the place was doubted `DOUBTS` times.
    pub fn reject_confirmation(&mut self, violation: &Violation) -> Option<Witness> {
        let place = place(violation);
        let times = self.doubted.entry(place.clone()).or_default();
        *times += 1;
        if *times >= DOUBTS {
            self.witnesses.remove(&place);
            return None;
        }
        let other = self.witnesses.get_mut(&place).and_then(VecDeque::pop_front);
        if other.is_none() {
            self.reported.remove(&place);
            if let Some(check) = violation.check {
                self.violated.remove(&check);
            }
        }
        other
    }

    /// Called when a reported violation was confirmed: other tapes are no longer needed.
    pub fn confirm(&mut self, violation: &Violation) {
        self.witnesses.remove(&place(violation));
    }

    /// Called when a violation was reported from elsewhere: the search does not report it again.
    pub fn note_reported(&mut self, violation: &Violation) {
        self.violated.extend(violation.check);
        self.reported.insert(place(violation));
    }

    /// Whether a violation at this place was reported.
    pub fn is_told(&self, violation: &Violation) -> bool {
        self.reported.contains(&place(violation))
    }

    /// Whether the confirmation of a violation at this place failed before.
    pub fn is_doubted(&self, violation: &Violation) -> bool {
        self.doubted.contains_key(&place(violation))
    }
}

/// Where and how a violation happens. Two tapes show the same violation if their places are equal.
pub(super) type Place = (CheckKind, Pos, Vec<CallSite>);

/// The place of a violation.
pub(super) fn place(violation: &Violation) -> Place {
    (violation.kind, violation.pos, violation.stack.clone())
}
