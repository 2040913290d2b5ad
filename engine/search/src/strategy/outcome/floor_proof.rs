//! What the floor alone settles, which is the outcome for programs that are too large to be
//! explored.

use std::sync::Arc;

use cegar_checker::assumptions::{self, derive};
use cegar_model::program::ir::{CheckId, Loc, Program, Property};

use super::settle::{Sheet, unasked_of};
use super::{Claims, Elsewhere, Outcome, Verdicts};
use crate::analysis::Floor;
use crate::strategy::options::{Options, Stats};

/// What follows from the floor alone.
#[derive(Debug)]
pub struct FloorProof {
    /// The floor.
    pub floor: Arc<Floor>,
    pub(super) verdicts: Verdicts,
    pub(super) claims: Claims,
}

impl FloorProof {
    /// What follows from a floor alone. `why` is the reason why the other goals are open.
    pub fn of(program: &Program, options: &Options, floor: &Arc<Floor>, why: &str) -> FloorProof {
        let floor_result = &floor.result;
        let is_open = |id: CheckId| !floor_result.holds(id);
        let mut sheet = Sheet::default();
        let checks = sheet.checks(
            (program, options),
            |id, loc| {
                let holds = floor_result.holds(id);
                let condition = holds.then(|| floor_result.condition(program, loc, &is_open));
                (None, condition)
            },
            |id| floor_result.lost(id).unwrap_or(why).to_owned(),
        );
        let blocks = sheet.blocks(
            (program, options),
            |id| {
                let at = Loc { block: id, inst: 0 };
                let dead = floor_result.is_dead(id);
                let condition = dead.then(|| floor_result.condition(program, at, &is_open));
                (None, condition)
            },
            |id| floor_result.lost_block(id).unwrap_or(why).to_owned(),
        );
        let unsettled = unasked_of(program, options, floor_result, &is_open);
        let open = assumptions::Open::beside(&options.properties, unsettled);
        let verdicts = Verdicts {
            checks,
            blocks,
            elsewhere: Elsewhere::above((program, options), floor_result, why),
            assumed: derive(program, &open, &floor_result.narrowings),
        };
        FloorProof {
            floor: Arc::clone(floor),
            verdicts,
            claims: sheet.claims,
        }
    }

    pub(super) fn outcome(
        self,
        (bitcode, properties): (&str, &[Property]),
        stats: Stats,
    ) -> Outcome {
        let floor = Some(&*self.floor);
        let mut outcome = self
            .verdicts
            .outcome((bitcode, properties), None, floor, stats);
        outcome.certificate.checks = self.claims.checks;
        outcome.certificate.blocks = self.claims.blocks;
        outcome.certificate.conditions = self.claims.conditions;
        outcome
    }

    /// The intermediate outcome, reported while the search goes on.
    pub fn so_far(self, options: &Options, stats: Stats) -> Outcome {
        self.outcome(("", &options.properties), stats)
    }
}
