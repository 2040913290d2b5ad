//! The state of the goals: which are covered, proved and violated, from all parts together.
//!
//! A goal behind an open check is proved only for the executions in which that check holds. A
//! report names the first of these checks and counts the rest: a library has hundreds of them
//! before its last line.

use std::cell::RefCell;
use std::collections::HashMap;

use cegar_checker::Condition;
use cegar_model::program::{Check, Program};
use cegar_search::simulate::search::Search;

use super::proving::Proving;
use super::subject::Subject;
use crate::campaign::findings::{Judge, readable};
use crate::verdict::{CheckTable, EdgeTable, GoalStatus, GoalTable, rule_id};

/// The number of checks of a condition that are named; the rest are counted.
const NAMED: usize = 12;

/// A view of the parts that contribute to the state of the goals.
pub struct Overview<'s, 'a, 'p> {
    pub subject: &'s Subject<'a>,
    pub search: &'s Search<'p>,
    pub judge: &'s Judge<'a>,
    pub proving: &'s Proving,
    /// Checks in words, by number.
    pub names: RefCell<HashMap<u32, String>>,
}

impl Overview<'_, '_, '_> {
    /// The program.
    pub fn program(&self) -> &Program {
        self.subject.program
    }

    /// Whether a check is in the user's code, not trivial, and of a kind that the user asked about.
    pub fn is_goal(&self, check: &Check) -> bool {
        self.subject.is_users(check.function) && self.search.wanted(check.kind) && !check.trivial
    }

    /// The counts of the goals: the checks in the user's code that were asked about, and its blocks
    /// (critical edges are split, so covering a block covers an edge).
    pub fn table(&self) -> GoalTable {
        let mut checks = CheckTable::default();
        for (number, check) in self.program().checks.iter().enumerate() {
            if self.is_goal(check) {
                self.count(&mut checks, number);
            }
        }
        // A finding in a function outside the user's code (for example a string function) counts as
        // well.
        checks.violated = checks.violated.max(self.judge.count());
        let mut edges = EdgeTable::default();
        let covered = self.search.covered();
        for (number, (block, &covered)) in self.program().blocks.iter().zip(covered).enumerate() {
            if self.subject.is_users(block.function) {
                if covered {
                    edges.covered += 1;
                } else if self.is_dead_for_certain(number) {
                    edges.unreachable += 1;
                } else {
                    edges.open += 1;
                }
            }
        }
        GoalTable { checks, edges }
    }

    /// Counts a check by its status.
    fn count(&self, table: &mut CheckTable, number: usize) {
        let counted = if self.judge.violated(number as u32) {
            &mut table.violated
        } else if !self.holds(number) {
            &mut table.open
        } else {
            let (status, condition) = self.status(number);
            match status {
                GoalStatus::Unreachable => &mut table.unreachable,
                GoalStatus::Proved { reached, .. } if is_conditional(condition) => {
                    table.proved_if_not_reached += u64::from(!reached);
                    &mut table.proved_if
                }
                GoalStatus::Proved { reached: false, .. } => &mut table.proved_not_reached,
                _ => &mut table.proved,
            }
        };
        *counted += 1;
    }

    /// Whether this check is proved.
    pub fn holds(&self, check: usize) -> bool {
        self.proving.holds(check)
    }

    /// Whether this block is proved unreachable.
    pub fn is_dead(&self, block: usize) -> bool {
        self.proving.is_dead(block)
    }

    /// Whether this block is proved unreachable without conditions.
    fn is_dead_for_certain(&self, block: usize) -> bool {
        let proofs = self.proving.proofs.as_ref();
        let condition = proofs.and_then(|proofs| proofs.block_given(block));
        self.is_dead(block) && !is_conditional(condition)
    }

    /// The status of a check that is proved.
    pub fn proved(&self, number: usize) -> GoalStatus {
        let (mut status, condition) = self.status(number);
        if let GoalStatus::Proved { given, .. } = &mut status {
            *given = self.words(condition);
        }
        status
    }

    /// The status of a check that is proved, without its conditions in words, and its conditions.
    /// Words take as long as everything else, and most callers only count.
    fn status(&self, number: usize) -> (GoalStatus, Option<&Condition>) {
        let covered = self.search.covered();
        let proofs = self.proving.proofs.as_ref();
        let is_certain = |block| self.is_dead_for_certain(block);
        let status = self.subject.reach.proved(number, covered, is_certain);
        (status, proofs.and_then(|proofs| proofs.check_given(number)))
    }

    /// The conditions under which a block is proved unreachable, in words.
    pub fn dead_given(&self, block: usize) -> Vec<String> {
        let proofs = self.proving.proofs.as_ref();
        self.words(proofs.and_then(|proofs| proofs.block_given(block)))
    }

    /// A check by its place and kind. The conditions of thousands of goals name few checks.
    fn named(&self, id: u32) -> Option<String> {
        if let Some(text) = self.names.borrow().get(&id) {
            return Some(text.clone());
        }
        let check = self.program().checks.get(id as usize)?;
        let place = self.program().show(check.pos);
        let place = readable(self.program(), self.judge.root(), &place);
        let text = format!("{place} ({})", rule_id(check.kind));
        self.names.borrow_mut().insert(id, text.clone());
        Some(text)
    }

    fn words(&self, condition: Option<&Condition>) -> Vec<String> {
        let Some(condition) = condition else {
            return Vec::new();
        };
        let named = condition.checks.iter().take(NAMED);
        let mut all: Vec<String> = named.filter_map(|&id| self.named(id)).collect();
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

/// Whether a proof rests on other checks or on library functions.
fn is_conditional(condition: Option<&Condition>) -> bool {
    condition.is_some_and(|condition| !condition.checks.is_empty() || condition.elsewhere)
}
