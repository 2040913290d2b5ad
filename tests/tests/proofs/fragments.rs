//! The fragments against the machine.
//!
//! A wrong proof is seen only where something is proved. Here the terms themselves are compared with what the machine does, on
//! random programs and random tapes, whatever could be proved of them.

use cegar_engine::abstraction::encode::Budget;
use cegar_engine::abstraction::graph::Graph;
use cegar_engine::abstraction::world::Grain;
use cegar_engine::machine::Limits;
use cegar_tests::generate::{Form, Generated};
use proptest::prelude::RngExt;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::follow::{Compared, follow};
use super::{ASSERTION_AND_MEMORY, EVERYTHING, FILE, Grammar, Kind, compiled, runner};

/// Tapes of one program.
const TAPES: usize = 12;

/// Values that a grammar's program asks for are small; some are not.
fn tapes(runner: &mut TestRunner) -> Vec<Vec<u8>> {
    let rng = runner.rng();
    (0..TAPES)
        .map(|n| {
            let len = rng.random_range(0..40);
            let most = if n % 4 == 3 { 255 } else { 3 };
            (0..len).map(|_| rng.random_range(0..=most)).collect()
        })
        .collect()
}

fn add(total: &mut Compared, one: Compared) {
    total.transitions += one.transitions;
    total.values += one.values;
    total.open += one.open;
    total.ends += one.ends;
    total.violations += one.violations;
}

/// Holds so many files of programs against the machine.
pub fn compare(files: usize, seed: u64) -> (Vec<String>, Compared) {
    let (mut told, mut total) = (Vec::new(), Compared::default());
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
        for i in 0..texts.len() {
            compiled::start_in(&mut program, i);
            let grain = if i % 3 == 2 {
                Grain::Blocks
            } else {
                Grain::Loops
            };
            let Ok(mut graph) = Graph::explore(&program, grain, Budget::default()) else {
                continue;
            };
            for tape in tapes(&mut runner) {
                let limits = Limits {
                    steps: 20_000,
                    call_depth: 200,
                    ..Limits::default()
                };
                let (differs, compared) = follow(&mut graph, &program, &tape, limits);
                add(&mut total, compared);
                if let Some(what) = differs.first() {
                    let text = programs[i].render("", Form::Observing);
                    told.push(format!(
                        "seed {seed}, file {file}, program {i}, {grain:?}, tape {tape:?}: {what}\n{text}"
                    ));
                    break;
                }
            }
        }
    }
    (told, total)
}
