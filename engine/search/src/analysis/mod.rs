//! States of the whole program that hold of all executions, found without a solver.
//!
//! What states mean, and what a walk makes of them, is said in [`cegar_model::domain`]; the checker walks once more what is found here. This room makes
//! them grow until they are large enough: which functions are walked apart for each call ([`plan`]), how loops end
//! ([`grow`]), and what is written down ([`mod@write`]).

pub mod grow;
pub mod plan;
pub mod write;

use std::sync::Arc;
use std::time::Instant;

use cegar_checker::floor::{FloorClaim, Ground};
use cegar_model::program::ir::Program;
use cegar_model::program::outside::points::Points;

/// A floor with what follows from it.
#[derive(Debug)]
pub struct Floor {
    /// What is stated.
    pub claim: FloorClaim,
    /// What follows.
    pub ground: Ground,
    /// Seconds that it took.
    pub seconds: f64,
}

/// Finds a floor of a program, walking no more blocks than there is patience for. None if there is no time, or it cannot be walked.
pub fn floor(program: &Program, patience: u64) -> Option<Floor> {
    let began = Instant::now();
    let points = Arc::new(Points::of(program));
    let shared = plan::shared(program, &points);
    let told = |what: &str| {
        tracing::debug!(what, seconds = began.elapsed().as_secs_f64(), "the floor");
    };
    told("planned");
    let mut growth = match grow::Growth::new(program, &points, shared, patience).grown() {
        Ok(growth) => growth,
        Err(why) => {
            tracing::debug!(%why, "no floor");
            return None;
        }
    };
    told("grown");
    let wide = growth.claim();
    if let Err(why) = growth.narrow().and_then(|()| growth.grow()) {
        tracing::debug!(%why, "the floor is not narrowed");
        growth.stop();
    }
    let narrow = growth.claim();
    told("narrowed");
    for claim in [narrow, wide] {
        match Ground::of(program, Arc::clone(&points), &claim) {
            Ok(ground) => {
                told("walked");
                return Some(Floor {
                    claim,
                    ground,
                    seconds: began.elapsed().as_secs_f64(),
                });
            }
            Err(why) => tracing::debug!(%why, "a floor that does not hold"),
        }
    }
    None
}
