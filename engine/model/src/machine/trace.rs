//! Records the path: the conditions that made the run go the way it went.

use super::outcome::{Event, PathEvent};
use super::step::Run;
use crate::program::ir::{BlockId, CheckId, Operand, Pred, Width};
use crate::term::Term;

impl<const TRACK: bool> Run<'_, TRACK> {
    pub(super) fn record(&mut self, event: Event) {
        if self.path.len() >= self.limits.path {
            return;
        }
        let consumed = self
            .position
            .min(self.tape.len().saturating_add(self.limits.extend));
        self.path.push(PathEvent {
            event,
            consumed,
            step: self.steps,
            pos: self.pos,
            trace_at: self.trace.len(),
        });
    }

    /// Records a branch on one bit.
    #[inline]
    pub(super) fn branched(&mut self, cond: Operand, value: bool, taken: BlockId, other: BlockId) {
        let shade = self.shade(cond);
        if shade.undefined {
            self.undefined_decision();
        }
        if let Some(term) = shade.term
            && taken != other
            && let Some(cond) = self.make(|pool| if value { term } else { pool.not(term) })
        {
            self.record(Event::Branch {
                from: self.block,
                taken,
                other,
                cond,
            });
        }
    }

    /// Records that a check held: `violated` is false here.
    pub(super) fn held(&mut self, check: Option<CheckId>, violated: Option<Term>) {
        if let Some(violated) = violated {
            self.record(Event::Check { check, violated });
        }
    }

    /// Continues with the operand's concrete value, and records that.
    pub(super) fn concretise(&mut self, operand: Operand, width: Width) -> u128 {
        let value = self.get(operand, width);
        if TRACK {
            let shade = self.shade(operand);
            if shade.undefined {
                self.undefined_decision();
            }
            if let Some(term) = shade.term {
                self.fixed(term, width, value);
            }
        }
        value
    }

    /// Records that a term has to keep its value.
    pub(super) fn fixed(&mut self, term: Term, width: Width, value: u128) {
        let cond = self.make(|pool| {
            let value = pool.constant(width, value);
            pool.cmp(Pred::Eq, term, value)
        });
        if let Some(cond) = cond {
            self.concretisations += 1;
            self.record(Event::Concretised { cond });
        }
    }

    /// Notes the first decision that depended on uninitialised data.
    #[cold]
    pub(super) fn undefined_decision(&mut self) {
        self.undefined_read.get_or_insert(self.pos);
    }
}
