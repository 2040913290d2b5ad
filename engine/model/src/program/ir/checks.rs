//! Checks, and constructs that are not modelled.
//!
//! Everything that a verdict is about has a number here, because "check 7" has to mean the same in
//! the search, the prover, reports and certificates, from one run to the next and for every process
//! that loads the program.

use super::{CheckKind, FuncId, Loc, Pos};

/// An instruction that can go wrong, and how.
#[derive(Clone, Debug)]
pub struct Check {
    /// What it guards against.
    pub kind: CheckKind,
    /// The instruction: a load, a store, a call of a failing function, an `ubsantrap`.
    pub loc: Loc,
    /// Source position.
    pub pos: Pos,
    /// The function that contains it.
    pub function: FuncId,
    /// For reports: the assertion's text, or the accessed variable or field where known, else
    /// empty.
    pub expression: String,
    /// Whether it is an access to a named variable at a constant offset within its bounds: there is
    /// nothing to prove, and reports do not count it.
    pub trivial: bool,
}

/// A construct that is not modelled.
#[derive(Clone, Debug)]
pub struct Unmodelled {
    /// Its name: `inline assembly`, `setjmp`, `pthread_create`, ...
    pub what: String,
    /// Its position.
    pub pos: Pos,
    /// The function that contains it.
    pub function: FuncId,
}
