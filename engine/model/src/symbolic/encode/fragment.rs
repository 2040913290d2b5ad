//! What encoding a fragment comes to, and how much it may cost.

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
    /// The check; none where an intrinsic was called without one.
    pub check: Option<CheckId>,
    /// What would be violated.
    pub kind: CheckKind,
    /// In which context.
    pub ctx: CtxId,
    /// In which block.
    pub block: BlockId,
    /// Where.
    pub pos: Pos,
    /// When it is reached.
    pub guard: Guard,
    /// When it is violated, given that it is reached.
    pub violated: Term,
    /// Assumptions of the fragment that were made before.
    pub prefix: usize,
    /// Whether the engine cannot tell where a pointer points: the violation is then only its
    /// ignorance.
    pub vague: bool,
}

impl Obligation {
    /// That it is reached and violated.
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
    /// When.
    pub guard: Guard,
    /// Assumptions made before.
    pub prefix: usize,
}

/// A way to a cut point.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Where to.
    pub to: Cut,
    /// When, and with which state.
    pub reached: Reached,
    /// Assumptions made before.
    pub prefix: usize,
}

/// A place that cannot be passed.
#[derive(Clone, Debug)]
pub struct Hole {
    /// What is not modelled.
    pub what: String,
    /// In which context.
    pub ctx: CtxId,
    /// In which block.
    pub block: BlockId,
    /// Where.
    pub pos: Pos,
    /// When.
    pub guard: Guard,
    /// Assumptions made before.
    pub prefix: usize,
}

/// A call of a function that is encoded alone.
#[derive(Clone, Debug)]
pub struct Called {
    /// The function.
    pub function: FuncId,
    /// The transition to its beginning, by number.
    pub transition: usize,
    /// When it is called.
    pub guard: Guard,
    /// The arguments, fitted to the parameters' widths.
    pub params: Vec<Term>,
    /// The results: unknowns.
    pub results: Vec<Term>,
    /// One bit, assumed behind the call: arguments and results satisfy the facts at the function's
    /// end.
    pub related: Term,
    /// How many assumptions were made before the call.
    pub prefix: usize,
    /// How many inputs were read before the call.
    pub inputs: usize,
}

/// Something that the tape decides, in the order in which it is read.
#[derive(Clone, Debug)]
pub enum Input {
    /// Bytes that are taken, lowest first.
    Bytes(Term),
    /// How many are left.
    Remaining(Term),
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Fragment {
    /// Where it starts; none: where the program does.
    pub start: Option<Cut>,
    /// The checks.
    pub obligations: Vec<Obligation>,
    /// The blocks of the user's functions.
    pub entered: Vec<Entered>,
    /// The ways out.
    pub transitions: Vec<Transition>,
    /// Where it could not go on.
    pub holes: Vec<Hole>,
    /// Where it is narrower than the world.
    pub narrowings: Vec<Narrowing>,
    /// What is known to hold on every path that went on. `obligation_of` says which are held
    /// checks.
    pub assumptions: Vec<Term>,
    /// For each assumption, the obligation that it follows from; none for the program's own
    /// assumptions.
    pub obligation_of: Vec<Option<usize>>,
    /// Calls of functions that are encoded alone, in order.
    pub calls: Vec<Called>,
    /// What the tape decides, and when.
    pub inputs: Vec<(Guard, Input)>,
    /// For each call of an external function that may write what it can reach: whether it does more
    /// than the body in its place, and the function. No tape makes it so.
    pub deviations: Vec<(Term, FuncId)>,
    /// Cut points that are passed: the loops that begin there are walked turn by turn where the
    /// fragment enters them.
    pub walked: BTreeSet<Cut>,
    /// How often something was replaced by an unknown that the machine computes exactly.
    pub approximations: u32,
    /// Operations executed.
    pub operations: u64,
}

impl Fragment {
    /// That no external function does more than the body in its place: what holds of all executions
    /// that a tape describes.
    pub fn faithful(&self, pool: &mut Pool) -> Vec<Term> {
        let deviations = self.deviations.iter();
        deviations.map(|&(bit, _)| pool.not(bit)).collect()
    }
}

/// Why encoding stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exceeded {
    /// Too many operations or contexts.
    Size,
    /// The deadline.
    Time,
}

/// How much one fragment may cost.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Operations of one fragment. Default: 300,000.
    pub operations: u64,
    /// Contexts in all. Default: 20,000.
    pub contexts: usize,
    /// Calls of one function that may be in progress at once. Default: 12.
    pub recursion: u32,
    /// Bytes of a block move that are moved one by one. Default: 4,096.
    pub moved: u64,
    /// When to give up.
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
