//! The truth about a program, from executions; complete if the program has few inputs.

use std::collections::{BTreeMap, VecDeque};

use cegar_model::machine::{Execution, Limits, Machine, Outcome};
use cegar_model::program::Program;
use cegar_model::program::ir::CheckId;
use cegar_tests::generate::{Generated, Seen};

/// The limits of the exploration.
#[derive(Clone, Copy)]
pub struct Effort {
    /// The length, in units, of the longest tape that is tried systematically.
    pub units: usize,
    /// The maximum number of runs.
    pub runs: usize,
    /// The maximum number of operations in all runs.
    pub steps: u64,
    /// The maximum number of operations of one run.
    pub longest: u64,
}

/// The observations of all executions.
#[derive(Default)]
pub struct Truth {
    /// The violated checks, each with a tape.
    pub violated: BTreeMap<CheckId, Vec<u8>>,
    /// Tapes with a violation that belongs to no check.
    pub elsewhere: Vec<Vec<u8>>,
    /// For each block, a tape that enters it.
    pub entered: BTreeMap<u32, Vec<u8>>,
    /// The values of observed expressions.
    pub seen: Seen,
    /// Whether all tapes over the alphabet were run to an end.
    pub complete: bool,
}

impl Truth {
    /// Runs all short tapes over an alphabet, breadth first, as long as the program reads beyond
    /// the tape's end, and then random longer ones.
    pub fn explore(program: &Program, alphabet: &[Vec<u8>], effort: Effort) -> Truth {
        let limits = Limits {
            steps: effort.longest,
            call_depth: 200,
            ..Limits::default()
        };
        let machine = Machine::new(program, limits);
        let mut truth = Truth {
            complete: true,
            ..Truth::default()
        };
        let (mut runs, mut steps) = (0, 0);
        let mut queue = VecDeque::from([Vec::new()]);
        while let Some(tape) = queue.pop_front() {
            if runs >= effort.runs || steps >= effort.steps {
                truth.complete = false;
                break;
            }
            let run = machine.run(&tape);
            runs += 1;
            steps += run.steps;
            truth.add(&tape, &run);
            let units = tape.len() / alphabet.first().map_or(1, Vec::len);
            if run.exhausted.is_none() {
                continue;
            }
            if units >= effort.units {
                truth.complete = false;
                continue;
            }
            for unit in alphabet {
                let mut longer = tape.clone();
                longer.extend(unit);
                queue.push_back(longer);
            }
        }
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = |below: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 11) as usize % below
        };
        let more = if truth.complete { 0 } else { 200 };
        for _ in 0..more {
            if steps >= effort.steps + effort.steps / 2 {
                break;
            }
            let tape: Vec<u8> = (0..next(24) + 1)
                .flat_map(|_| alphabet[next(alphabet.len())].clone())
                .collect();
            let run = machine.run(&tape);
            steps += run.steps;
            truth.add(&tape, &run);
        }
        truth
    }

    /// Adds the observations of one run.
    pub fn add(&mut self, tape: &[u8], run: &Execution) {
        for (block, count) in run.counts.iter().enumerate() {
            if *count > 0 {
                self.entered
                    .entry(block as u32)
                    .or_insert_with(|| tape.to_vec());
            }
        }
        match &run.outcome {
            Outcome::Violated(violation) => match violation.check {
                Some(check) => {
                    self.violated.entry(check).or_insert_with(|| tape.to_vec());
                }
                None => self.elsewhere.push(tape.to_vec()),
            },
            Outcome::StepLimit => self.complete = false,
            _ => {}
        }
        let word = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().unwrap_or_default());
        for pair in run.written(Generated::OBSERVED).chunks_exact(16) {
            let (number, value) = (word(&pair[..8]) as u32, word(&pair[8..]));
            let values = self.seen.entry(number).or_default();
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
}
