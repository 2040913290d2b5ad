//! Claims that follow from the floor.
//!
//! Such a claim needs no fragment: no walk meets a violation of the check, or no walk enters the
//! block. The claim rests on the checks before it that are not claimed, where *before* refers to
//! the calls that the walks met, and no hole may lie before it. A certificate whose claims all
//! follow from the floor is accepted without a question to the solver.

use std::collections::BTreeSet;

use cegar_model::program::ir::{BlockId, CheckId, Loc, Program, Property};
use rustc_hash::FxHashSet;

use super::{Checked, Claimed};
use crate::assumptions::{Assumption, Met, Open, derive, is_known};
use crate::certificate::{Certificate, Claim, Condition};
use crate::floor::FloorResult;
use crate::rejected::Rejected;

/// The numbers of claims.
#[derive(Default)]
pub(super) struct FloorClaims {
    pub checks: FxHashSet<u32>,
    pub blocks: FxHashSet<u32>,
}

impl FloorClaims {
    /// The claims that follow from the floor. `late` are the checks for which there was no time, so
    /// they count as open.
    pub fn of(
        program: &Program,
        certificate: &Certificate,
        claimed: &Claimed,
        (floor_result, late): (&FloorResult, &BTreeSet<u32>),
    ) -> FloorClaims {
        let is_open = |id: CheckId| !claimed.checks.contains_key(&id.0) || late.contains(&id.0);
        let rests = |claim: &Claim, at: Loc| {
            let none = Condition::default();
            let stated = certificate.condition(claim).unwrap_or(&none);
            let needed = floor_result.condition(program, at, &is_open);
            (stated.elsewhere || !needed.elsewhere)
                && needed.checks.iter().all(|id| stated.checks.contains(id))
        };
        let checks = certificate.checks.iter().filter(|claim| {
            let at = program.checks[claim.id as usize].loc;
            floor_result.holds(CheckId(claim.id)) && rests(claim, at)
        });
        let blocks = certificate.blocks.iter().filter(|claim| {
            let block = BlockId(claim.id);
            floor_result.is_dead(block) && rests(claim, Loc { block, inst: 0 })
        });
        FloorClaims {
            checks: checks.map(|claim| claim.id).collect(),
            blocks: blocks.map(|claim| claim.id).collect(),
        }
    }

    /// Whether all claims of the certificate follow from the floor.
    pub fn is_whole(&self, certificate: &Certificate) -> bool {
        self.checks.len() == certificate.checks.len()
            && self.blocks.len() == certificate.blocks.len()
    }
}

/// The places where the model is narrower than the world in the walks, by rule.
pub(super) fn met(floor_result: &FloorResult) -> Met {
    floor_result.narrowings.clone()
}

/// The properties that were not asked for and have open checks.
pub(super) fn unasked(
    program: &Program,
    certificate: &Certificate,
    floor_result: &FloorResult,
    claimed: &Claimed,
) -> BTreeSet<Property> {
    floor_result
        .open()
        .filter(|id| !claimed.checks.contains_key(&id.0))
        .filter_map(|id| program.checks.get(id.index()))
        .map(|check| check.kind.property())
        .filter(|property| !certificate.properties.contains(property))
        .collect()
}

/// Checks a certificate whose claims all follow from the floor.
pub(super) fn accepted(
    program: &Program,
    certificate: &Certificate,
    claimed: &Claimed,
    floor_result: &FloorResult,
) -> Result<Checked, Rejected> {
    let unsettled = unasked(program, certificate, floor_result, claimed);
    let open = Open::beside(&certificate.properties, unsettled);
    stated(program, certificate, &open, &met(floor_result))?;
    Ok(Checked {
        assumptions: certificate.assumptions.clone(),
        ..Checked::default()
    })
}

/// Checks that the certificate states all assumptions that its claims rest on, and none that this
/// version does not know.
pub(super) fn stated(
    program: &Program,
    certificate: &Certificate,
    open: &Open,
    met: &Met,
) -> Result<(), Rejected> {
    let derived = derive(program, open, met);
    let stated = &certificate.assumptions;
    let is_missing = |a: &&Assumption| !stated.iter().any(|stated| stated.covers(a));
    if let Some(missing) = derived.iter().find(is_missing) {
        return Err(Rejected::Assumption(missing.says.clone()));
    }
    if let Some(unknown) = stated.iter().find(|a| !is_known(program, a)) {
        let what = format!("the assumption `{}` is unknown", unknown.says);
        return Err(Rejected::Malformed(what));
    }
    Ok(())
}
