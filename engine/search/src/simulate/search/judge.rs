//! Which violations are told.
//!
//! One for each place and call stack, since all that the search wants of a check is one input. But
//! what is told has yet to be confirmed natively, and whether that succeeds depends on the tape: so
//! other tapes with the same violation are kept until then.

use super::*;
use cegar_model::program::{CallSite, Pos};

impl Search<'_> {
    /// Reports a wanted violation once per check and place; true if it was new.
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

    /// What was told of a violation was not confirmed. What another tape does there may be: one
    /// that was executed since, if there is one; else the next one is told of, a few times.
    pub fn doubt(&mut self, violation: &Violation) -> Option<Witness> {
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

    /// What was told of a violation was confirmed: no other tape is needed.
    pub fn settle(&mut self, violation: &Violation) {
        self.witnesses.remove(&place(violation));
    }

    /// A violation was reported from elsewhere: the search does not report it.
    pub fn know(&mut self, violation: &Violation) {
        self.violated.extend(violation.check);
        self.reported.insert(place(violation));
    }

    /// Whether such a violation was told of.
    pub fn is_told(&self, violation: &Violation) -> bool {
        self.reported.contains(&place(violation))
    }

    /// Whether such a violation was not confirmed before.
    pub fn is_doubted(&self, violation: &Violation) -> bool {
        self.doubted.contains_key(&place(violation))
    }
}

/// Where and how a violation happens: what two tapes have in common that show the same one.
pub(super) type Place = (CheckKind, Pos, Vec<CallSite>);

/// The place of a violation.
pub(super) fn place(violation: &Violation) -> Place {
    (violation.kind, violation.pos, violation.stack.clone())
}
