//! The result of encoding, and its budget.

use std::collections::BTreeSet;
use std::time::Instant;

use crate::program::ir::{BlockId, CheckId, CheckKind, FuncId, Pos};
use crate::symbolic::encode::narrow::Narrowing;
use crate::symbolic::state::{Guard, Reached};
use crate::symbolic::world::{CtxId, Cut};
use crate::term::{Pool, Term};

/// A check on some paths of a fragment.
#[derive(Clone, Debug)]
pub struct Obligation {
    /// The check. `None` if an intrinsic was called without a check.
    pub check: Option<CheckId>,
    /// The kind of the violation.
    pub kind: CheckKind,
    /// The context of the check.
    pub ctx: CtxId,
    /// The block of the check.
    pub block: BlockId,
    /// The position of the check in the source code.
    pub pos: Pos,
    /// The condition under which the check is reached.
    pub guard: Guard,
    /// The condition under which the check is violated, given that it is reached.
    pub violated: Term,
    /// The number of assumptions of the fragment that precede the check.
    pub assumptions_before: usize,
    /// Whether the encoder cannot tell where a pointer points. The violation is then only a
    /// consequence of the approximation.
    pub vague: bool,
}

impl Obligation {
    /// The conditions that the check is reached and violated.
    pub fn goal(&self) -> Vec<Term> {
        self.guard
            .0
            .iter()
            .copied()
            .chain([self.violated])
            .collect()
    }
}

/// A block that is entered.
#[derive(Clone, Debug)]
pub struct Entered {
    /// The block.
    pub block: BlockId,
    /// The condition under which the block is entered.
    pub guard: Guard,
    /// The number of assumptions that precede the entry.
    pub assumptions_before: usize,
}

/// A path from the start of the fragment to a cut point.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The cut point.
    pub to: Cut,
    /// The state at the cut point, with the condition under which it is reached.
    pub reached: Reached,
    /// The number of assumptions that precede the transition.
    pub assumptions_before: usize,
}

/// A place from which execution cannot continue.
#[derive(Clone, Debug)]
pub struct Hole {
    /// What is not modelled.
    pub what: String,
    /// The context of the hole.
    pub ctx: CtxId,
    /// The block of the hole.
    pub block: BlockId,
    /// The position of the hole in the source code.
    pub pos: Pos,
    /// The condition under which the hole is reached.
    pub guard: Guard,
    /// The number of assumptions that precede the hole.
    pub assumptions_before: usize,
}

/// A call of a function that is encoded alone.
#[derive(Clone, Debug)]
pub struct Called {
    /// The function.
    pub function: FuncId,
    /// The index of the transition to its beginning.
    pub transition: usize,
    /// The condition under which it is called.
    pub guard: Guard,
    /// The arguments, converted to the parameters' widths.
    pub params: Vec<Term>,
    /// The results, which are unknowns.
    pub results: Vec<Term>,
    /// One bit: arguments and results satisfy the facts at the function's end. The bit is assumed
    /// behind the call.
    pub related: Term,
    /// The number of assumptions that precede the call.
    pub assumptions_before: usize,
    /// The number of inputs that are read before the call.
    pub inputs: usize,
}

/// A value that is read from the tape.
#[derive(Clone, Debug)]
pub enum Input {
    /// Bytes of the tape, the lowest first.
    Bytes(Term),
    /// The number of bytes that are left on the tape.
    Remaining(Term),
}

/// The result of encoding a fragment; see the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Fragment {
    /// The cut point where it starts. `None` for the start of the program.
    pub start: Option<Cut>,
    /// The checks.
    pub obligations: Vec<Obligation>,
    /// The entries of blocks of the user's functions.
    pub entered: Vec<Entered>,
    /// The transitions to the next cut points.
    pub transitions: Vec<Transition>,
    /// The places from which it could not continue.
    pub holes: Vec<Hole>,
    /// The places where the model is narrower than the world.
    pub narrowings: Vec<Narrowing>,
    /// Facts that hold on every path that went on. `obligation_of` tells which of them follow from
    /// checks that held.
    pub assumptions: Vec<Term>,
    /// For each assumption, the index of the obligation whose check implies it. `None` for other
    /// assumptions, such as the program's own.
    pub obligation_of: Vec<Option<usize>>,
    /// Calls of functions that are encoded alone, in order.
    pub calls: Vec<Called>,
    /// The inputs in the order in which they are read, with the conditions under which they are
    /// read.
    pub inputs: Vec<(Guard, Input)>,
    /// For each call of an external function that may write objects of the program: a bit that says
    /// whether the function does more than the body in its place, and the function. No tape sets
    /// the bit.
    pub deviations: Vec<(Term, FuncId)>,
    /// Heads of loops that were unrolled where the fragment enters them, so that they are no cut
    /// points on these paths.
    pub unrolled: BTreeSet<Cut>,
    /// The number of values that were replaced by unknowns although the machine computes them
    /// exactly.
    pub approximations: u32,
    /// The number of operations executed.
    pub operations: u64,
}

impl Fragment {
    /// The assumptions that no external function does more than the body in its place. They hold
    /// for all executions that a tape describes.
    pub fn faithful(&self, pool: &mut Pool) -> Vec<Term> {
        let deviations = self.deviations.iter();
        deviations.map(|&(bit, _)| pool.not(bit)).collect()
    }
}

/// Why encoding was given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exceeded {
    /// Too many operations or contexts.
    Size,
    /// The deadline has passed.
    Time,
}

/// The budget of one fragment.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Operations of one fragment. Default: 300,000.
    pub operations: u64,
    /// Contexts in total. Default: 20,000.
    pub contexts: usize,
    /// Calls of one function that may be in progress at once. Default: 12.
    pub recursion: u32,
    /// Bytes of a block move that are moved one by one. Default: 4,096.
    pub moved: u64,
    /// The time at which encoding is given up.
    pub deadline: Option<Instant>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            operations: 300_000,
            contexts: 20_000,
            recursion: 12,
            moved: 4_096,
            deadline: None,
        }
    }
}
