//! What can go wrong, and what cannot be modelled.
//!
//! Everything that a verdict is about has a number here, because search, prover, reports and
//! certificates have to mean the same thing by "check 7", from one run to the next and on both
//! readers of a program.

use super::{CheckKind, FuncId, Loc, Pos};

/// Something that can go wrong at one place.
#[derive(Clone, Debug)]
pub struct Check {
    /// What.
    pub kind: CheckKind,
    /// The instruction: a load, a store, a call of a failing function, an `ubsantrap`.
    pub loc: Loc,
    /// Source position.
    pub pos: Pos,
    /// The function it stands in.
    pub function: FuncId,
    /// For people: the assertion's text, the accessed variable or field where known, else empty.
    pub expression: String,
    /// An access to a named variable at a constant offset within its bounds: nothing to prove, and
    /// not counted in reports.
    pub trivial: bool,
}

/// A construct that is not modelled.
#[derive(Clone, Debug)]
pub struct Unmodelled {
    /// Its name: `inline assembly`, `setjmp`, `pthread_create`, ...
    pub what: String,
    /// Where.
    pub pos: Pos,
    /// In which function.
    pub function: FuncId,
}
