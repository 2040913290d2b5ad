//! The part of a check that needs the results of all fragments: conditions, holes, claims for which
//! there was no time, and the assumptions of all claims.

use cegar_model::program::ir::BlockId;

use super::Checker;
use super::floor_claims::{self, FloorClaims};
use crate::assumptions::Open;
use crate::certificate::Condition;
use crate::rejected::Rejected;

impl Checker<'_, '_> {
    /// Rejects claims that the single fragments did not show to be wrong.
    pub(super) fn finish(&mut self) -> Result<(), Rejected> {
        if let Some(id) = self.claims.world.unguessed().next() {
            let key = &self.claims.world.object(id).key;
            let what = format!("object {key} has a size that is no guess");
            return Err(Rejected::Objects(what));
        }
        self.delay();
        let floor_claims = self.floor_result.as_ref().map(|floor_result| {
            let late = (floor_result, &self.checked.late_checks);
            FloorClaims::of(self.program, self.certificate, &self.claimed, late)
        });
        let floor_claims = floor_claims.unwrap_or_default();
        let rescued = self.hole(&floor_claims)? | self.conditions(&floor_claims)?;
        let asked = &self.certificate.properties;
        let unsettled = self.open.iter().filter_map(|unsettled| {
            let check = self.program.checks.get(unsettled.check? as usize)?;
            Some(check.kind.property())
        });
        let mut open = Open::beside(asked, unsettled);
        // Claims that follow from the floor only rest on the rules that the walks met.
        if let Some(floor_result) = self.floor_result.as_ref().filter(|_| rescued) {
            for (id, places) in floor_claims::met(floor_result) {
                self.met.entry(id).or_default().extend(places);
            }
            let unasked =
                floor_claims::unasked(self.program, self.certificate, floor_result, &self.claimed);
            open.unasked.extend(unasked);
        }
        floor_claims::stated(self.program, self.certificate, &open, &self.met)?;
        self.checked
            .assumptions
            .clone_from(&self.certificate.assumptions);
        Ok(())
    }

    /// A claim behind a claimed check for which there was no time rests on that check, so it counts
    /// as late as well.
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

    /// Rejects a claim that lies behind a hole, unless it follows from the floor. Returns whether
    /// some claim is accepted only because of the floor.
    fn hole(&self, floor_claims: &FloorClaims) -> Result<bool, Rejected> {
        let mut rescued = false;
        for (what, place, continuation) in &self.holes {
            let checks = self.certificate.checks.iter().filter(|claim| {
                let check = &self.program.checks[claim.id as usize];
                !self.checked.late_checks.contains(&claim.id) && continuation.has(check.loc)
            });
            let blocks = self.certificate.blocks.iter().filter(|claim| {
                !self.checked.late_blocks.contains(&claim.id)
                    && continuation.enters(BlockId(claim.id))
            });
            let checks =
                checks.map(|claim| ("check", claim.id, floor_claims.checks.contains(&claim.id)));
            let blocks =
                blocks.map(|claim| ("block", claim.id, floor_claims.blocks.contains(&claim.id)));
            for (kind, id, follows) in checks.chain(blocks) {
                if !follows {
                    return Err(Rejected::Hole {
                        what: what.clone(),
                        place: place.clone(),
                        goal: format!("{kind} {id}"),
                    });
                }
                rescued = true;
            }
        }
        Ok(rescued)
    }

    /// Rejects a claim that omits a condition, unless it follows from the floor under the
    /// conditions that it states. Returns whether some claim is accepted only because of the floor.
    /// A goal that no fragment reaches is judged by its place alone.
    fn conditions(&self, floor_claims: &FloorClaims) -> Result<bool, Rejected> {
        let none = Condition::default();
        let mut rescued = false;
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
                        .continuation
                        .has(self.program.checks[claim.id as usize].loc),
                    false => unsettled.continuation.enters(BlockId(claim.id)),
                };
                if stated || !lies_behind {
                    continue;
                }
                let follows = match is_check {
                    true => floor_claims.checks.contains(&claim.id),
                    false => floor_claims.blocks.contains(&claim.id),
                };
                if !follows {
                    let what = if is_check { "check" } else { "block" };
                    return Err(Rejected::Condition {
                        goal: format!("{what} {}", claim.id),
                        place: unsettled.place.clone(),
                    });
                }
                rescued = true;
            }
        }
        Ok(rescued)
    }
}
