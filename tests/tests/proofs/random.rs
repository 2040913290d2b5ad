//! Files of random programs and tapes for them, on which fragments and floors are compared with the
//! machine.

use cegar_model::program::Program;
use cegar_tests::generate::{Form, Generated};
use proptest::prelude::RngExt;
use proptest::test_runner::TestRunner;

use super::{
    ASSERTION_AND_MEMORY, EVERYTHING, FILE, Grammar, ProgramSource as _, compiled, runner,
};

/// The number of tapes for one program.
const TAPES: usize = 12;

/// Tapes for a program of the grammar. Most of their bytes are small, since the programs read small
/// values.
pub fn tapes(runner: &mut TestRunner) -> Vec<Vec<u8>> {
    let rng = runner.rng();
    (0..TAPES)
        .map(|n| {
            let len = rng.random_range(0..40);
            let most = if n % 4 == 3 { 255 } else { 3 };
            (0..len).map(|_| rng.random_range(0..=most)).collect()
        })
        .collect()
}

/// Calls `look` for each program of `files` files, with the program's number in its file. Returns
/// the differences that it reports, with the programs' texts.
pub fn each(
    files: usize,
    seed: u64,
    mut look: impl FnMut(&Program, usize, &mut TestRunner) -> Option<String>,
) -> Vec<String> {
    let mut told = Vec::new();
    for file in 0..files {
        let mut runner = runner(seed.wrapping_add((file as u64) << 32));
        let trees = Grammar.trees(&mut runner, FILE);
        let programs: Vec<Generated> = trees.iter().map(|tree| tree.current()).collect();
        let properties = if file % 2 == 1 {
            EVERYTHING
        } else {
            ASSERTION_AND_MEMORY
        };
        let texts: Vec<String> = programs
            .iter()
            .enumerate()
            .map(|(i, program)| program.render(&compiled::suffix(i), Form::Observing))
            .collect();
        let mut program =
            compiled::together(&texts, properties).unwrap_or_else(|why| panic!("{why}"));
        for (i, generated) in programs.iter().enumerate() {
            compiled::start_in(&mut program, i);
            if let Some(what) = look(&program, i, &mut runner) {
                let text = generated.render("", Form::Observing);
                told.push(format!(
                    "seed {seed}, file {file}, program {i}: {what}\n{text}"
                ));
            }
        }
    }
    told
}
