//! Abstract interpretation: states of the whole program that hold in all executions, found without
//! a solver.
//!
//! The domain and the walk are in [`cegar_model::domain`]; the checker repeats the last walk. This
//! module makes states grow until they are large enough: it decides which functions are walked
//! separately for each call ([`plan`]), in which order the others are walked ([`order`]), how loops
//! terminate ([`grow`]), and what is written into the claim ([`mod@write`]). The candidates for the
//! prover are derived from it in [`crate::abstraction::floor_candidates`].

pub mod grow;
mod grown;
pub mod order;
pub mod plan;
mod thresholds;
pub mod write;

use std::sync::Arc;
use std::time::Instant;

use cegar_checker::floor::{FloorClaim, FloorResult};
use cegar_model::deadline::{self, Deadline};
use cegar_model::domain::walk::Stop;
use cegar_model::program::ir::{CheckId, FuncId, Program};
use cegar_model::program::outside::points::Points;
use rustc_hash::FxHashSet;

use self::grow::Growth;

/// A floor with its consequences.
#[derive(Debug)]
pub struct Floor {
    /// The states of the floor.
    pub claim: FloorClaim,
    /// Its consequences: the checks that hold and the blocks that are never entered.
    pub result: FloorResult,
    /// The time for all of it, in seconds.
    pub seconds: f64,
    /// The time for the floor without relations, in seconds, and the number of checks that it
    /// settles.
    pub first: (f64, u64),
}

/// Computes a floor of a program, walking at most `block_limit` blocks; `None` if these do not
/// suffice, or if the program cannot be walked.
///
/// States grow twice, first without relations between values, which takes a fraction of the time.
/// Thus a floor exists even if the deadline passes while relations are computed. The result is
/// walked once more after the deadline, as in the checker.
pub fn floor(program: &Program, block_limit: u64, growing: &Deadline) -> Option<Floor> {
    let began = Instant::now();
    let points = Arc::new(Points::of(program));
    let shared = plan::shared(program, &points);
    let mut best: Option<(FloorClaim, FloorResult)> = None;
    let mut first = (0.0, 0);
    for relations in [false, true] {
        let limits = (block_limit, relations);
        let grow = || grown(program, &points, shared.clone(), limits);
        let claims = match deadline::within(growing.clone(), grow) {
            Ok(claims) => claims,
            Err(why) => {
                tracing::debug!(%why, relations, "no floor");
                break;
            }
        };
        if let Some(found) = held(program, &points, claims) {
            let checks = |floor_result: &FloorResult| floor_result.open().count();
            let is_better = best
                .as_ref()
                .is_none_or(|(_, known)| checks(&found.1) <= checks(known));
            let seconds = began.elapsed().as_secs_f64();
            if !relations {
                first = (seconds, settled(program, &found.1));
            }
            tracing::debug!(relations, seconds, open = checks(&found.1), "a floor");
            for check in found.1.open() {
                let info = &program.checks[check.index()];
                tracing::trace!(relations, place = program.show(info.pos), kind = ?info.kind, "is \
                    open");
            }
            best = Some(found).filter(|_| is_better).or(best);
        }
    }
    let (claim, floor_result) = best?;
    Some(Floor {
        claim,
        result: floor_result,
        first,
        seconds: began.elapsed().as_secs_f64(),
    })
}

/// The number of checks that hold, except trivial ones.
fn settled(program: &Program, floor_result: &FloorResult) -> u64 {
    let checks = (0u32..).map(CheckId).zip(&program.checks);
    let held = checks.filter(|(id, check)| !check.trivial && floor_result.holds(*id));
    held.count() as u64
}

/// The claims of states that have grown: made smaller, and as they were before.
fn grown(
    program: &Program,
    points: &Arc<Points>,
    shared: FxHashSet<FuncId>,
    limits: (u64, bool),
) -> Result<Vec<FloorClaim>, Stop> {
    let mut growth = Growth::new(program, points, shared, limits).grown()?;
    let wide = growth.claim();
    match growth.descend().and_then(|()| growth.grow()) {
        Ok(()) => Ok(vec![growth.claim(), wide]),
        Err(why) => {
            tracing::debug!(%why, "the floor is not narrowed");
            Ok(vec![wide])
        }
    }
}

/// The first of these claims that holds.
fn held(
    program: &Program,
    points: &Arc<Points>,
    claims: Vec<FloorClaim>,
) -> Option<(FloorClaim, FloorResult)> {
    for claim in claims {
        match FloorResult::of(program, Arc::clone(points), &claim) {
            Ok(floor_result) => return Some((claim, floor_result)),
            Err(why) => tracing::debug!(%why, "a floor that does not hold"),
        }
    }
    None
}
