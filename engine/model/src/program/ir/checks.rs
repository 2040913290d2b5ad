//! What can go wrong, and what cannot be modelled.
//!
//! Everything that a verdict is about has a number here, because search, prover, reports and certificates have to mean the same
//! thing by "check 7", from one run to the next and on both readers of a program.

use serde::{Deserialize, Serialize};

use super::{FuncId, Loc, Pos};

/// The properties that a user can select.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Property {
    /// assert, reach_error, crunner_fail.
    Assertion,
    /// abort, and what the C library ends with abort. Where it is not asked, abort ends the run as exit does.
    Abort,
    /// Invalid reads, writes, frees and calls, and indices past an array's bound.
    Memory,
    /// Signed overflow, division by zero, bad shifts.
    Overflow,
}

/// What a check guards against.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum CheckKind {
    /// `assert(e)` failed.
    Assertion,
    /// `abort()`.
    Abort,
    /// `reach_error()`, `__VERIFIER_error()`.
    ReachError,
    /// `crunner_fail()`.
    Fail,
    /// Invalid read: NULL, freed, out of scope, out of bounds, not an object.
    Read,
    /// Invalid write.
    Write,
    /// `free` or `realloc` of what is not the start of a live heap object.
    Free,
    /// A call through a pointer that is not a function.
    Call,
    SignedOverflow,
    Shift,
    DivisionByZero,
    /// An index past the bound of an array type, even inside a larger object.
    ArrayBound,
    /// `__builtin_unreachable`, a missing return, and what else clang traps.
    Unreachable,
}

impl CheckKind {
    /// The property that the check belongs to.
    pub fn property(self) -> Property {
        match self {
            CheckKind::Assertion | CheckKind::ReachError | CheckKind::Fail => Property::Assertion,
            CheckKind::Abort => Property::Abort,
            CheckKind::Read
            | CheckKind::Write
            | CheckKind::Free
            | CheckKind::Call
            | CheckKind::ArrayBound => Property::Memory,
            CheckKind::SignedOverflow
            | CheckKind::Shift
            | CheckKind::DivisionByZero
            | CheckKind::Unreachable => Property::Overflow,
        }
    }

    /// Whether reaching the call that carries it is the violation: `abort()`, a failed assertion.
    pub fn is_reached(self) -> bool {
        match self {
            CheckKind::Assertion | CheckKind::Abort | CheckKind::ReachError | CheckKind::Fail => {
                true
            }
            CheckKind::Read
            | CheckKind::Write
            | CheckKind::Free
            | CheckKind::Call
            | CheckKind::SignedOverflow
            | CheckKind::Shift
            | CheckKind::DivisionByZero
            | CheckKind::ArrayBound
            | CheckKind::Unreachable => false,
        }
    }
}

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
    /// An access to a named variable at a constant offset within its bounds: nothing to prove, and not
    /// counted in reports.
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
