//! The prover's answers against the truth.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cegar_model::program::ir::{BlockId, CheckId};
use cegar_model::program::{Program, Property};
use cegar_papers::prove;
use cegar_search::strategy::{Coverage, Options, Verdict};

use crate::truth::Truth;

/// What came out.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// What is claimed and false.
    pub wrong: Vec<String>,
    /// Checks of the program that no execution violated, trivial ones left out.
    pub safe: usize,
    /// Those of them that are proved.
    pub proved: usize,
    /// Seconds of proving.
    pub seconds: f64,
    /// Whether all that is asked is proved, beside what is violated.
    pub all: bool,
}

/// Proves, and compares. `of` says which functions, by name, belong to the program; `given` whether the prover is told which
/// blocks executions entered.
pub fn judge(
    program: &Program,
    truth: &Truth,
    properties: &[Property],
    time: Duration,
    given: bool,
    of: &dyn Fn(&str) -> bool,
) -> Judgement {
    let mut covered = vec![false; program.blocks.len()];
    if given {
        for &block in truth.entered.keys() {
            covered[block as usize] = true;
        }
    }
    let coverage = Coverage::new(covered.len(), 0);
    coverage.note(&covered);
    let options = Options {
        properties: properties.to_vec(),
        covered: Arc::new(coverage),
        all_blocks: given,
        time,
        ..Options::default()
    };
    let clock = std::time::Instant::now();
    let proof = prove(program, &options, &AtomicBool::new(false));
    let mut judgement = Judgement {
        seconds: clock.elapsed().as_secs_f64(),
        all: true,
        ..Judgement::default()
    };
    for (number, verdict) in proof.checks.iter().enumerate() {
        let Some(verdict) = verdict else { continue };
        let check = &program.checks[number];
        let proved = *verdict == Verdict::Proved;
        match truth.violated.get(&CheckId(number as u32)) {
            Some(tape) if proved => judgement.wrong.push(format!(
                "check {number} ({:?} at {}) is proved, and violated by {tape:02x?}",
                check.kind,
                program.show(check.pos)
            )),
            Some(_) => {}
            None if !check.trivial && of(&program.function(check.function).name) => {
                judgement.safe += 1;
                judgement.proved += usize::from(proved);
                judgement.all &= proved;
            }
            None => {}
        }
    }
    for (number, verdict) in proof.blocks.iter().enumerate() {
        let block = BlockId(number as u32);
        if let (Some(Verdict::Proved), Some(tape)) = (verdict, truth.entered.get(&block.0)) {
            let function = program.function(program.block(block).function);
            judgement.wrong.push(format!(
                "block {number} of {} is proved unreachable, and entered by {tape:02x?}",
                function.name
            ));
        }
    }
    if let (true, Some(tape)) = (proof.is_complete(), truth.elsewhere.first()) {
        judgement.wrong.push(format!(
            "all is said to be proved, and {tape:02x?} violates something without a check"
        ));
    }
    judgement
}
