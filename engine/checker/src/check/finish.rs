//! What can only be said when all fragments were seen.
//!
//! Conditions, places that are not modelled, claims that there was no time for, and what all of it rests on.

use cegar_model::program::ir::BlockId;

use super::Checker;
use crate::assumptions::{Assumption, Open, derive, is_known};
use crate::certificate::Condition;
use crate::rejected::Rejected;

impl Checker<'_, '_> {
    /// Rejects what the single fragments did not show to be wrong.
    pub(super) fn finish(&mut self) -> Result<(), Rejected> {
        if let Some(id) = self.claims.world.unguessed().next() {
            let key = &self.claims.world.object(id).key;
            let what = format!("object {key} has a size that is no guess");
            return Err(Rejected::Objects(what));
        }
        self.delay();
        self.hole()?;
        self.conditions()?;
        let asked = &self.certificate.properties;
        let mut open = Open::default();
        for unsettled in &self.open {
            let kind = unsettled
                .check
                .and_then(|id| self.program.checks.get(id as usize))
                .map(|check| check.kind.property());
            open.unasked
                .extend(kind.filter(|property| !asked.contains(property)));
        }
        let derived = derive(self.program, &open, &self.met);
        let stated = &self.certificate.assumptions;
        let is_missing = |a: &&Assumption| !stated.iter().any(|stated| stated.covers(a));
        if let Some(missing) = derived.iter().find(is_missing) {
            return Err(Rejected::Assumption(missing.says.clone()));
        }
        // More than that may be stated, but nothing that this version does not know.
        if let Some(unknown) = stated.iter().find(|a| !is_known(self.program, a)) {
            let what = format!("the assumption `{}` is unknown", unknown.says);
            return Err(Rejected::Malformed(what));
        }
        self.checked.assumptions.clone_from(stated);
        Ok(())
    }

    /// What lies behind a claimed check that there was no time for rests on it: there was no time for that, either.
    fn delay(&mut self) {
        for late in std::mem::take(&mut self.late) {
            for claim in &self.certificate.checks {
                if late.has(self.program.checks[claim.id as usize].loc) {
                    self.checked.late_checks.insert(claim.id);
                }
            }
            for claim in &self.certificate.blocks {
                if late.enters(BlockId(claim.id)) {
                    self.checked.late_blocks.insert(claim.id);
                }
            }
        }
    }

    /// Rejects a claim that lies behind something that is not modelled.
    fn hole(&self) -> Result<(), Rejected> {
        for (what, place, behind) in &self.holes {
            let checks = self.certificate.checks.iter().filter(|claim| {
                let check = &self.program.checks[claim.id as usize];
                !self.checked.late_checks.contains(&claim.id) && behind.has(check.loc)
            });
            let blocks = self.certificate.blocks.iter().filter(|claim| {
                !self.checked.late_blocks.contains(&claim.id) && behind.enters(BlockId(claim.id))
            });
            let checks = checks.map(|claim| format!("check {}", claim.id));
            let mut lost = checks.chain(blocks.map(|claim| format!("block {}", claim.id)));
            if let Some(goal) = lost.next() {
                return Err(Rejected::Hole {
                    what: what.clone(),
                    place: place.clone(),
                    goal,
                });
            }
        }
        Ok(())
    }

    /// Rejects a claim that keeps a condition back. A goal that is not reached in any fragment is judged by its place alone.
    fn conditions(&self) -> Result<(), Rejected> {
        let none = Condition::default();
        let claims = self.certificate.checks.iter().map(|claim| (true, claim));
        let blocks = self.certificate.blocks.iter().map(|claim| (false, claim));
        for (is_check, claim) in claims.chain(blocks) {
            let given = self.certificate.condition(claim).unwrap_or(&none);
            for unsettled in &self.open {
                let stated = match unsettled.check {
                    Some(id) => given.checks.contains(&id),
                    None => given.elsewhere,
                };
                let lies_behind = match is_check {
                    true => unsettled
                        .behind
                        .has(self.program.checks[claim.id as usize].loc),
                    false => unsettled.behind.enters(BlockId(claim.id)),
                };
                if !stated && lies_behind {
                    let what = if is_check { "check" } else { "block" };
                    return Err(Rejected::Condition {
                        goal: format!("{what} {}", claim.id),
                        place: unsettled.place.clone(),
                    });
                }
            }
        }
        Ok(())
    }
}
