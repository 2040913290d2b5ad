//! The results of a run.
//!
//! All other parts of the tool work on [`Execution`]s: the fuzzer's corpus is replayed into them,
//! partial simulation (CRunner section 3.4) takes a prefix of the [`PathEvent`]s and solves for
//! another continuation, and a report is written from the [`Violation`]. So an execution contains
//! facts only; what to ask next is decided elsewhere.

use std::sync::Arc;

use crate::program::ir::{BlockId, CallSite, CheckId, CheckKind, FuncId, Pos, Width};
use crate::term::Term;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The entry function returned this (0 for void).
    Returned(i64),
    /// `crunner_stop`.
    Exited(i32),
    /// `crunner_assume(0)`.
    Rejected,
    /// A check was violated.
    Violated(Violation),
    /// More steps than [`super::Limits::steps`], or the time was over.
    StepLimit,
    /// More live bytes than [`super::Limits::live_bytes`], or an object of 2 GiB or more.
    OutOfMemory,
    /// Reached number n of [`crate::program::ir::Program::unmodelled`]; `u32::MAX` for constructs
    /// without a number (a call of a function that nobody provides).
    Unmodelled(u32),
    /// More nested calls than [`super::Limits::call_depth`].
    StackOverflow,
}

/// A violated check and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The check; `None` inside an intrinsic that was called without one.
    pub check: Option<CheckId>,
    /// What was violated.
    pub kind: CheckKind,
    /// The position of the faulting instruction.
    pub pos: Pos,
    /// The calls that lead there, outermost first.
    pub stack: Vec<CallSite>,
    /// For people: `write of 1 byte at offset 16 of `name` (16 bytes, stack)`.
    pub detail: String,
    /// The channel whose number was used as an address that leads to no object. Only known in
    /// symbolic runs.
    pub address_from: Option<Arc<str>>,
}

/// Bytes of the tape taken by one `crunner_choose`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The channel that they are for.
    pub channel: Arc<str>,
    /// The position of the first byte on the tape, which may be past its end.
    pub at: usize,
    /// The number of bytes.
    pub len: usize,
    /// A hash of the call stack, the same in every run.
    pub site: u64,
    /// The number of path events before it.
    pub path_at: usize,
}

/// The end of a call of the user's code to a function that is not the user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The call.
    pub site: CallSite,
    /// The callee.
    pub function: FuncId,
    /// The result and its width, if it is one scalar.
    pub value: Option<(u128, Width)>,
    /// The number of choices made by then.
    pub choices: usize,
}

/// The first request that found the tape empty or too short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// The number of choices made before the one that found the tape empty.
    pub choice: usize,
    /// The number of path events before it.
    pub path_at: usize,
    /// The number of steps before it.
    pub step: u64,
}

/// A point where the run depended on the symbolic bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathEvent {
    /// The kind of dependency, with its condition.
    pub event: Event,
    /// Bytes of the tape consumed so far.
    pub consumed: usize,
    /// Steps so far.
    pub step: u64,
    /// Source position.
    pub pos: Pos,
    /// Blocks entered so far: the next one is at this index of [`Execution::trace`].
    pub trace_at: usize,
}

/// See [`PathEvent`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A branch: `cond` is true on this path.
    Branch {
        /// The branching block.
        from: BlockId,
        /// The block that this run continued with.
        taken: BlockId,
        /// The block that it would continue with otherwise.
        other: BlockId,
        /// True here.
        cond: Term,
    },
    /// A check that held here. `violated` is false here; where it is true the check is violated.
    Check {
        /// The check, if it is numbered.
        check: Option<CheckId>,
        /// False here.
        violated: Term,
    },
    /// `crunner_assume`. `cond` is true here; if the run was rejected, `cond` says that the
    /// argument is 0.
    Assume {
        /// True here.
        cond: Term,
    },
    /// The machine continued with the concrete value only.
    Concretised {
        /// Says that the value is the same or, for the size of an object, that it is a possible
        /// size.
        cond: Term,
    },
}

impl Event {
    /// The event's condition, and its value on this path: `true`, or `false` for checks.
    pub fn condition(&self) -> (Term, bool) {
        match *self {
            Event::Branch { cond, .. } | Event::Assume { cond } | Event::Concretised { cond } => {
                (cond, true)
            }
            Event::Check { violated, .. } => (violated, false),
        }
    }
}

/// A run of the Program on one tape.
#[derive(Clone, Debug)]
pub struct Execution {
    /// How it ended.
    pub outcome: Outcome,
    /// The number of times that each block was entered, saturating, by [`BlockId`].
    pub counts: Vec<u8>,
    /// Bytes of the tape that were used.
    pub consumed: usize,
    /// Every `crunner_choose`.
    pub choices: Vec<Choice>,
    /// The first request that found the tape empty or too short.
    pub exhausted: Option<Exhausted>,
    /// The points where the run depended on symbolic bytes, in order. Empty for concrete runs.
    pub path: Vec<PathEvent>,
    /// Blocks in the order they were entered, up to [`super::Limits::trace`]. Empty for concrete
    /// runs.
    pub trace: Vec<BlockId>,
    /// The results that the environment returned to the user's code, in order, up to
    /// [`super::Limits::trace`]. Empty for concrete runs.
    pub answers: Vec<Answer>,
    /// Operations executed.
    pub steps: u64,
    /// The written bytes, in order. Neighbouring writes to one stream are joined.
    pub output: Vec<(i32, Vec<u8>)>,
    /// The functions on the stack when the run ended, outermost first, and the call that entered
    /// each.
    pub stack_at_end: Vec<(FuncId, Option<CallSite>)>,
    /// The first load of a byte that was never written. Reading such bytes is legal; see the next
    /// field.
    pub undefined_load: Option<Pos>,
    /// The first branch, address or length that depended on uninitialised data. Only runs with a
    /// shadow track it, which are all but [`super::Machine::run`].
    pub undefined_read: Option<Pos>,
    /// The number of times that a symbolic value was replaced by its concrete one.
    pub concretisations: u64,
}

impl Execution {
    /// All bytes written to one stream.
    pub fn written(&self, stream: i32) -> Vec<u8> {
        let chunks = self.output.iter().filter(|(s, _)| *s == stream);
        chunks
            .flat_map(|(_, bytes)| bytes.iter().copied())
            .collect()
    }

    /// The violation, if that is how it ended.
    pub fn violation(&self) -> Option<&Violation> {
        match &self.outcome {
            Outcome::Violated(violation) => Some(violation),
            _ => None,
        }
    }
}
