//! Programs that read no input: they have one execution, so that no abstraction is needed.

use std::time::{Duration, Instant};

use cegar_checker::assumptions::{Open, derive};
use cegar_checker::{Certificate, Claim};
use cegar_model::machine::{Limits, Machine};
use cegar_model::program::ir::{FunctionKind, Program, Property};

use super::options::{Options, Seed, Stats, Verdict};
use super::outcome::Proof;
use crate::simulate::search::Origin;

/// The share of the time for the run, which may not terminate: invariants are tried after it.
const PART: f64 = 0.05;
/// The minimum time for the run.
const LEAST: Duration = Duration::from_secs(1);
/// The step limit if steps are counted instead of time.
const COUNTED: u64 = 50_000_000;
/// The step limit if time limits the run.
const STEPS: u64 = 4_000_000_000;

/// The claims that follow from the only execution of a program.
#[derive(Clone, Debug)]
pub struct Executed {
    checks: Vec<Claim>,
    blocks: Vec<Claim>,
}

impl Executed {
    /// The certificate; its checker executes the program again.
    pub fn certificate(&self, bitcode: &str, properties: &[Property]) -> Certificate {
        Certificate {
            checks: self.checks.clone(),
            blocks: self.blocks.clone(),
            executed: true,
            ..Certificate::empty(bitcode, properties)
        }
    }
}

/// Executes a program without input; `None` if it may have other executions.
pub fn executed<'p>(program: &'p Program, options: &Options) -> Option<Proof<'p>> {
    let (steps, until) = match options.counted {
        true => (COUNTED, None),
        false => (
            STEPS,
            Some(Instant::now() + options.time.mul_f64(PART).max(LEAST)),
        ),
    };
    let limits = Limits {
        until,
        ..Limits::default()
    };
    let run = Machine::new(program, limits).run_exact(steps);
    if let Some(why) = run.refusal() {
        let place = run.execution.undefined_read;
        let place = place.map(|pos| program.show(pos));
        let steps = run.execution.steps;
        tracing::debug!(why, place, steps, "more than one execution");
        return None;
    }
    let entered = |block: u32| run.execution.counts.get(block as usize) != Some(&0);
    let claim = |id| Claim { id, given: None };
    let checks = (0..program.checks.len() as u32).map(claim);
    let wanted = |property: Property| options.properties.contains(&property);
    let is_user = |function| program.function(function).kind == FunctionKind::User;
    let dead = (0u32..).zip(&program.blocks);
    let dead: Vec<u32> = dead
        .filter(|(id, block)| !entered(*id) && is_user(block.function))
        .map(|(id, _)| id)
        .collect();
    let verdicts = program.checks.iter().map(|check| {
        let wanted = wanted(check.kind.property());
        wanted.then_some(Verdict::Proved)
    });
    let mut blocks = vec![None; program.blocks.len()];
    for &block in &dead {
        blocks[block as usize] = Some(Verdict::Proved);
    }
    let open = Open::beside(&options.properties, []);
    let proof = Proof {
        checks: verdicts.collect(),
        blocks,
        elsewhere: Vec::new(),
        assumed: derive(program, &open, &run.narrowings),
        stats: Stats {
            executions: 1,
            ..Stats::default()
        },
        evidence: None,
        floor_proof: None,
        executed: Some(Executed {
            checks: checks.collect(),
            blocks: dead.into_iter().map(claim).collect(),
        }),
    };
    // The next execution would cover the same blocks.
    if let Some(seeds) = &options.seeds {
        let seed = Seed {
            tape: Vec::new(),
            origin: Origin::Given,
            run: Some(Box::new(run.execution)),
        };
        // The receiver may be gone.
        let _ = seeds.send(seed);
    }
    Some(proof)
}
