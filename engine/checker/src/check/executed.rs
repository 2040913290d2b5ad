//! Claims that follow from the only execution of a program.
//!
//! A program that asks for no input has only one execution. So each check holds if it held wherever
//! that execution reached it, and blocks that it did not enter are never entered. The machine
//! decides whether its run represents all runs ([`cegar_model::machine::exact`]). Since no check
//! was violated in the run, no claim has a condition.

use cegar_model::deadline;
use cegar_model::machine::exact::Exact;
use cegar_model::machine::{Limits, Machine};
use cegar_model::program::ir::Program;
use cegar_model::program::stack::beyond_the_model;

use super::{Checked, floor_claims};
use crate::assumptions::{Met, Open};
use crate::certificate::Certificate;
use crate::rejected::Rejected;

/// The number of operations of the run, at most. A deadline may end it earlier.
const STEPS: u64 = 4_000_000_000;

/// Checks a certificate whose claims follow from the only execution.
pub(super) fn accepted(program: &Program, certificate: &Certificate) -> Result<Checked, Rejected> {
    let run = Machine::new(program, Limits::default()).run_exact(STEPS);
    if let Some(why) = run.refusal() {
        return Err(match deadline::passed() {
            true => Rejected::Late,
            false => Rejected::Executed(why.to_owned()),
        });
    }
    if let Some(what) = beyond_the_model(program) {
        return Err(Rejected::Executed(what.to_owned()));
    }
    let claims = certificate.checks.iter().chain(&certificate.blocks);
    if claims.into_iter().any(|claim| claim.given.is_some()) {
        let why = "a claim that rests on an execution has a condition".to_owned();
        return Err(Rejected::Malformed(why));
    }
    let entered = |id: u32| run.execution.counts.get(id as usize) != Some(&0);
    if let Some(claim) = certificate.blocks.iter().find(|claim| entered(claim.id)) {
        return Err(Rejected::Executed(format!(
            "it enters block {}, which is claimed to be dead",
            claim.id
        )));
    }
    let (open, met) = rests_on(certificate, &run);
    floor_claims::stated(program, certificate, &open, &met)?;
    Ok(Checked {
        assumptions: certificate.assumptions.clone(),
        ..Checked::default()
    })
}

fn rests_on(certificate: &Certificate, run: &Exact) -> (Open, Met) {
    let open = Open::beside(&certificate.properties, []);
    (open, run.narrowings.clone())
}
