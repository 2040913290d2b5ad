//! Loops as the source has them: where each begins, and which of C's variables are where at its
//! head.
//!
//! What is proved of a loop is about registers and objects. To repeat it in C, one has to know that
//! `i` means just this register just there: a variable has many registers in turn, and many
//! variables are called `i`.

use super::{BlockId, GlobalId, Pos, Reg, Width};

/// The block in which a turn of a loop begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopHead {
    /// The block.
    pub block: BlockId,
    /// Where the loop statement begins.
    pub pos: Pos,
    /// The variables of integer type that can be named there, inner scopes first; none twice.
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

/// Where a variable's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// It is always this, at this place.
    Constant(u64),
    /// In a register.
    Register(Reg),
    /// In the object whose address the operation with this result makes.
    Local(Reg),
    /// In a global.
    Global(GlobalId),
}
