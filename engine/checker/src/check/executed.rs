//! Claims that follow from one execution.
//!
//! A program that asks for no input has one execution, and what it came by is all that there is:
//! each check held wherever it was come to, and what was not entered never is. The machine says
//! whether its run stands for all of them ([`cegar_model::machine::exact`]). Since nothing went
//! wrong on the way, no claim has a condition.

use cegar_model::deadline;
use cegar_model::machine::exact::Exact;
use cegar_model::machine::{Limits, Machine};
use cegar_model::program::ir::Program;
use cegar_model::program::stack::beyond_the_model;

use super::{Checked, ground};
use crate::assumptions::{Met, Open};
use crate::certificate::Certificate;
use crate::rejected::Rejected;

/// Operations of the run; a deadline ends it before.
const STEPS: u64 = 4_000_000_000;

/// A certificate that claims what one execution shows.
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
    ground::stated(program, certificate, &open, &met)?;
    Ok(Checked {
        assumptions: certificate.assumptions.clone(),
        ..Checked::default()
    })
}

fn rests_on(certificate: &Certificate, run: &Exact) -> (Open, Met) {
    let open = Open::beside(&certificate.properties, []);
    (open, run.narrowings.clone())
}
