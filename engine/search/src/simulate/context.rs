//! What surrounds a branch in a long execution, so that the odd turn of a loop is tried before its
//! thousand equals.
//!
//! A loop of 1,022 equal turns and a last one that leaves offers 1,023 places to depart from. They
//! are not equally promising: bounds are wrong at boundaries. Two occurrences of a branch count as
//! the same context when the next few blocks after them are the same; one representative of each
//! context is asked first.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use cegar_model::program::BlockId;

/// Blocks looked at behind the branch.
const AHEAD: usize = 48;

/// A hash of the blocks that follow position `at` of the trace.
pub fn after(trace: &[BlockId], at: usize) -> u64 {
    let mut hasher = FxHasher::default();
    let from = at.min(trace.len());
    let to = (from + AHEAD).min(trace.len());
    trace[from..to].hash(&mut hasher);
    hasher.finish()
}
