//! What a run leaves behind.
//!
//! An [`Execution`] is what every other room looks at: the fuzzer's corpus is replayed into these,
//! partial simulation (CRunner section 3.4) takes a prefix of one's [`PathEvent`]s and asks for
//! another end, and a report is written from its [`Violation`]. So it holds facts only; what to ask
//! next is for others to say.

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
    /// More steps than [`super::Limits::steps`].
    StepLimit,
    /// More live bytes than [`super::Limits::live_bytes`].
    OutOfMemory,
    /// Met [`crate::program::ir::Program::unmodelled`] number n; `u32::MAX` for what has no number
    /// (a call of a function that nobody provides).
    Unmodelled(u32),
    /// More nested calls than [`super::Limits::call_depth`].
    StackOverflow,
}

/// A violated check and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The check; `None` inside an intrinsic that was called without one.
    pub check: Option<CheckId>,
    /// What was violated.
    pub kind: CheckKind,
    /// The faulting instruction.
    pub pos: Pos,
    /// The calls that lead there, outermost first.
    pub stack: Vec<CallSite>,
    /// For people: `write of 1 byte at offset 16 of `name` (16 bytes, stack)`.
    pub detail: String,
    /// The channel whose number was used as an address that leads to no object. Only symbolic runs
    /// know.
    pub address_from: Option<Arc<str>>,
}

/// Bytes of the tape taken by one `crunner_choose`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// For whom.
    pub channel: Arc<str>,
    /// Position on the tape of the first byte, which may be past its end.
    pub at: usize,
    /// How many bytes.
    pub len: usize,
    /// A hash of the call stack, the same in every run.
    pub site: u64,
    /// How many path events came before.
    pub path_at: usize,
}

/// The end of a call of the user's code to a function that is not the user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The call.
    pub site: CallSite,
    /// What was called.
    pub function: FuncId,
    /// What it returned and the width, if that is one scalar.
    pub value: Option<(u128, Width)>,
    /// How many choices had been made by then.
    pub choices: usize,
}

/// The tape ended before the program stopped asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// How many choices had been made before the one that found the tape empty.
    pub choice: usize,
    /// How many path events came before.
    pub path_at: usize,
    /// How many steps.
    pub step: u64,
}

/// A point where the run depended on the symbolic bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathEvent {
    /// What.
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
        /// Where this run went.
        taken: BlockId,
        /// Where it would go else.
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
    /// `crunner_assume`. `cond` is true here; where the run was rejected it is "the argument is 0".
    Assume {
        /// True here.
        cond: Term,
    },
    /// The machine went on with the concrete value only.
    Concretised {
        /// The value is what it was.
        cond: Term,
    },
}

impl Event {
    /// The event's condition, its value on this path being `true`, or `false` for checks.
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
    /// Times that each block was entered, saturating, by [`BlockId`].
    pub counts: Vec<u8>,
    /// Bytes of the tape that were used.
    pub consumed: usize,
    /// Every `crunner_choose`.
    pub choices: Vec<Choice>,
    /// The first time that the tape was found empty.
    pub exhausted: Option<Exhausted>,
    /// Where the run depended on symbolic bytes, in order. Empty for concrete runs.
    pub path: Vec<PathEvent>,
    /// Blocks in the order they were entered, up to [`super::Limits::trace`]. Empty for concrete
    /// runs.
    pub trace: Vec<BlockId>,
    /// What the environment answered the user's code, in order, up to [`super::Limits::trace`].
    /// Empty for concrete runs.
    pub answers: Vec<Answer>,
    /// Operations executed.
    pub steps: u64,
    /// What was written, in order, neighbours of one stream joined.
    pub output: Vec<(i32, Vec<u8>)>,
    /// The functions on the stack when the run ended, outermost first, and the call that entered
    /// each.
    pub stack_at_end: Vec<(FuncId, Option<CallSite>)>,
    /// The first load of a byte that was never written. Reading such bytes is legal; see the next
    /// field.
    pub undefined_load: Option<Pos>,
    /// The first branch, address or length that depended on uninitialised data. Only
    /// [`super::Machine::run_tracked`] and [`super::Machine::run_symbolic`] follow it.
    pub undefined_read: Option<Pos>,
    /// How often a symbolic value was replaced by its concrete one.
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
