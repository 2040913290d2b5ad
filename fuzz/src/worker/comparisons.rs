//! Comparison logging inside the fuzzer: run the input once in the logging target, then try what it compared.
//!
//! LibAFL's `I2SRandReplace` does the trying: it looks for one side of a logged comparison in the input and writes the
//! other there. This stage runs the second target, turns its log into LibAFL's metadata, and collects constants as
//! tokens, so that a magic word is also found where the input is copied or shifted before it is compared.

use std::cell::Cell;
use std::rc::Rc;

use libafl::Error;
use libafl::common::HasMetadata;
use libafl::inputs::HasMutatorBytes;
use libafl::mutators::Tokens;
use libafl::observers::cmp::{CmpValues, CmpValuesMetadata, CmplogBytes};
use libafl::stages::{Restartable, Stage};
use libafl::state::HasCurrentTestcase;

use super::State;
use super::target::{CompareEntry, MemoryEntry, Target};

/// Tokens kept at most; each makes every other one rarer.
const TOKENS: usize = 512;

/// The stage.
pub(super) struct CompareStage {
    target: Option<Target>,
    /// Runs of the logging target.
    runs: Rc<Cell<u64>>,
}

impl CompareStage {
    pub fn new(target: Option<Target>, runs: Rc<Cell<u64>>) -> Self {
        CompareStage { target, runs }
    }
}

fn integers(entry: &CompareEntry) -> Option<CmpValues> {
    // LibAFL wants to know whether the *first* side is constant.
    let [a, b] = entry.sides;
    let (a, b) = if entry.constants & 2 != 0 {
        (b, a)
    } else {
        (a, b)
    };
    let constant = entry.constants != 0;
    Some(match entry.bytes {
        1 => CmpValues::U8((a as u8, b as u8, constant)),
        2 => CmpValues::U16((a as u16, b as u16, constant)),
        4 => CmpValues::U32((a as u32, b as u32, constant)),
        8 => CmpValues::U64((a, b, constant)),
        _ => return None,
    })
}

fn memory(entry: &MemoryEntry) -> CmpValues {
    let side =
        |i: usize| CmplogBytes::from_buf_and_len(entry.sides[i], entry.lengths[i].min(32) as u8);
    CmpValues::Bytes((side(0), side(1)))
}

/// Constants of the log worth keeping as tokens.
fn tokens_of(compares: &[CompareEntry], memories: &[MemoryEntry]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for entry in compares
        .iter()
        .filter(|e| matches!(e.constants, 1 | 2) && matches!(e.bytes, 2 | 4 | 8))
    {
        let constant = entry.sides[usize::from(entry.constants == 2)];
        let unused = u64::MAX.checked_shl(8 * entry.bytes).unwrap_or(0);
        if constant > 255 && constant | unused != u64::MAX {
            let mut bytes = constant.to_le_bytes()[..entry.bytes as usize].to_vec();
            found.push(bytes.clone());
            bytes.reverse();
            found.push(bytes);
        }
    }
    for entry in memories {
        for (side, length) in entry.sides.iter().zip(entry.lengths) {
            let bytes = &side[..length.min(32) as usize];
            if bytes.len() > 1 {
                found.push(bytes.to_vec());
            }
        }
    }
    found
}

impl<E, EM, Z> Stage<E, EM, State, Z> for CompareStage {
    fn perform(
        &mut self,
        _: &mut Z,
        _: &mut E,
        state: &mut State,
        _: &mut EM,
    ) -> Result<(), Error> {
        let Some(target) = &mut self.target else {
            return Ok(());
        };
        let input = state.current_input_cloned()?;
        target.clear_log();
        target.run(input.mutator_bytes());
        self.runs.set(self.runs.get() + 1);
        let (compares, memories) = target.logged();
        let tokens = tokens_of(compares, memories);
        let list = compares
            .iter()
            .filter_map(integers)
            .chain(memories.iter().map(memory))
            .collect();
        state.metadata_map_mut().insert(CmpValuesMetadata { list });
        if let Some(known) = state.metadata_map_mut().get_mut::<Tokens>() {
            for token in &tokens {
                if known.len() >= TOKENS {
                    break;
                }
                known.add_token(token);
            }
        }
        Ok(())
    }
}

impl<S> Restartable<S> for CompareStage {
    fn should_restart(&mut self, _: &mut S) -> Result<bool, Error> {
        Ok(true)
    }

    fn clear_progress(&mut self, _: &mut S) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constant_comes_first() {
        let entry = CompareEntry {
            sides: [7, 0xdead_beef],
            bytes: 4,
            constants: 2,
        };
        assert!(matches!(
            integers(&entry),
            Some(CmpValues::U32((0xdead_beef, 7, true)))
        ));
        let tokens = tokens_of(&[entry], &[]);
        assert_eq!(tokens[1], [0xde, 0xad, 0xbe, 0xef]);
    }
}
