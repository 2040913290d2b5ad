//! The context of a branch in a long execution, used to try the one unusual iteration of a loop
//! before its thousand equal ones.
//!
//! A loop of 1,022 equal iterations and a last one that leaves it offers 1,023 places to depart
//! from. They are not equally promising, because bounds tend to be wrong at boundaries. Two
//! occurrences of a branch have the same context when the next few blocks after them are the same;
//! one representative of each context is asked first.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use cegar_model::program::BlockId;

/// The number of blocks after the branch that its context consists of.
const AHEAD: usize = 48;

/// A hash of the blocks that follow position `at` of the trace.
pub fn after(trace: &[BlockId], at: usize) -> u64 {
    let mut hasher = FxHasher::default();
    let from = at.min(trace.len());
    let to = (from + AHEAD).min(trace.len());
    trace[from..to].hash(&mut hasher);
    hasher.finish()
}
