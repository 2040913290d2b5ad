//! The loops of the source: where each begins, and where the values of C's variables are at its
//! head.
//!
//! Facts about a loop are about registers and objects. Stating them in C requires knowing which
//! register `i` refers to at that place: a variable has many registers in turn, and many variables
//! may be called `i`.

use super::{BlockId, GlobalId, Pos, Reg, Width};

/// The block in which an iteration of a loop begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopHead {
    /// The block.
    pub block: BlockId,
    /// Where the loop statement begins.
    pub pos: Pos,
    /// The integer variables in scope there, inner scopes first, each name once.
    pub variables: Vec<Named>,
}

/// A variable in scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its name in C.
    pub name: String,
    /// Its size.
    pub bits: Width,
    /// Whether its type has a sign.
    pub signed: bool,
    /// Where its value is.
    pub holder: Holder,
}

/// The place of a variable's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The variable always has this value at this place.
    Constant(u64),
    /// In a register.
    Register(Reg),
    /// In the stack object whose address this register holds.
    Local(Reg),
    /// In a global.
    Global(GlobalId),
}
