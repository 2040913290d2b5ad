//! Compares the prover's answers with the truth, and has the checker check its certificates.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cegar_checker::AskZ3;
use cegar_model::program::ir::{BlockId, CheckId};
use cegar_model::program::{Program, Property};
use cegar_model::solver;
use cegar_papers::prove;
use cegar_search::strategy::{Coverage, Options, Verdict};

use crate::truth::Truth;

/// The prover's time, measured in solver steps.
const TIME: Duration = Duration::from_millis(800);
/// The limit of one solver query of the checker, also measured in solver steps.
const QUESTION: Duration = Duration::from_secs(10);
/// The hash that certificates give for the bitcode.
const HASH: &str = "generated";

/// The result for a program.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// Claims that are false.
    pub wrong: Vec<String>,
    /// The number of non-trivial checks that no execution violated.
    pub safe: usize,
    /// How many of them are proved.
    pub proved: usize,
    /// How many of them are proved if others hold.
    pub conditional: usize,
    /// The number of blocks that are proved unreachable.
    pub blocks: usize,
    /// Whether all checks that no execution violated are proved, possibly if others hold.
    pub all: bool,
    /// Whether the program is correct by construction.
    pub correct: bool,
    /// The number of the checker's solver queries.
    pub questions: u64,
}

/// Runs the prover and compares its answers with the truth. `of` says which functions, by name,
/// belong to the program; `given` says whether the prover is told which blocks executions entered.
pub fn judge(
    program: &Program,
    truth: &Truth,
    properties: &[Property],
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
        counted: true,
        time: TIME,
        ..Options::default()
    };
    let proof = prove(program, &options, &AtomicBool::new(false));
    let mut judgement = Judgement {
        all: true,
        ..Judgement::default()
    };
    for (number, verdict) in proof.checks.iter().enumerate() {
        let Some(verdict) = verdict else { continue };
        let check = &program.checks[number];
        let proved = verdict.is_proved();
        // A run ends with its first violation, so a violated check is also wrong if it is proved if
        // others hold.
        match truth.violated.get(&CheckId(number as u32)) {
            Some(tape) if proved => judgement.wrong.push(format!(
                "check {number} ({:?} at {}) is proved, and violated by {tape:02x?}",
                check.kind,
                program.show(check.pos)
            )),
            Some(_) => {}
            None if !check.trivial && of(&program.function(check.function).name) => {
                judgement.safe += 1;
                judgement.proved += usize::from(*verdict == Verdict::Proved);
                judgement.conditional += usize::from(matches!(verdict, Verdict::ProvedIf(_)));
                judgement.all &= proved;
            }
            None => {}
        }
    }
    for (number, verdict) in proof.blocks.iter().enumerate() {
        let block = BlockId(number as u32);
        let proved = verdict.as_ref().is_some_and(Verdict::is_proved);
        let function = program.function(program.block(block).function);
        judgement.blocks += usize::from(proved && of(&function.name));
        if let (true, Some(tape)) = (proved, truth.entered.get(&block.0)) {
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
    let certificate = proof.outcome(HASH, properties).certificate;
    let limits = solver::Limits {
        time: Some(QUESTION),
        ..solver::Limits::default()
    };
    let limits = limits.counted();
    match cegar_checker::check(program, HASH, &certificate, limits, &mut AskZ3) {
        Ok(checked) => judgement.questions = checked.questions,
        Err(why) => judgement
            .wrong
            .push(format!("the certificate is rejected: {why}")),
    }
    judgement
}
