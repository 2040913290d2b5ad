//! How a goal stands that is proved, and what that rests on.
//!
//! What lies behind a check that is open is proved for the executions in which that check holds. A report names the first of such checks and
//! counts the others: a library has hundreds of them before its last line.

use cegar_checker::Condition;

use super::Alternation;
use crate::campaign::findings::readable;
use crate::verdict::{GoalStatus, rule_id};

/// Checks of a condition that are named; the others are counted.
const NAMED: usize = 12;

impl Alternation<'_, '_> {
    /// How a check stands that is proved.
    pub fn proved(&self, number: usize) -> GoalStatus {
        let covered = self.search.covered();
        let is_certain = |block| self.is_dead(block) && self.dead_given(block).is_empty();
        let proofs = self.proofs.as_ref();
        let mut status = self.reach.proved(number, covered, is_certain);
        if let GoalStatus::Proved { given, .. } = &mut status {
            *given = self.words(proofs.and_then(|proofs| proofs.check_given(number)));
        }
        status
    }

    /// What it rests on that a block is proved unreachable, for people.
    pub fn dead_given(&self, block: usize) -> Vec<String> {
        let proofs = self.proofs.as_ref();
        self.words(proofs.and_then(|proofs| proofs.block_given(block)))
    }

    fn words(&self, condition: Option<&Condition>) -> Vec<String> {
        let Some(condition) = condition else {
            return Vec::new();
        };
        let named = condition.checks.iter().take(NAMED).filter_map(|&id| {
            let check = self.program.checks.get(id as usize)?;
            let place = self.program.show(check.pos);
            let place = readable(self.program, self.judge.root(), &place);
            Some(format!("{place} ({})", rule_id(check.kind)))
        });
        let mut all: Vec<String> = named.collect();
        match condition.checks.len().saturating_sub(NAMED) {
            0 => {}
            1 => all.push("1 more check".to_owned()),
            more => all.push(format!("{more} more checks")),
        }
        if condition.elsewhere {
            all.push("what library functions do".to_owned());
        }
        all
    }
}
