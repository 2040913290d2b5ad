//! The machine: executes the Program on a tape.
//!
//! Concretely it is a plain interpreter of the flattened representation, fast enough for loops of a
//! hundred thousand iterations. On request it keeps a *shadow*: a term for every register and byte
//! that depends on selected bytes of the tape. The shadow never decides anything; it only records,
//! at each branch, check and address, the condition under which another tape would have gone the
//! same way (the must-analysis of Synergy section 3.2, the partial simulation of CRunner section
//! 3.4). Both modes share one source, which is monomorphised, so that concrete runs have no
//! overhead.

mod access;
mod block;
mod calls;
mod contents;
pub mod crossing;
pub mod exact;
mod frame;
mod heap;
mod intrinsics;
mod memory;
mod ops;
mod outcome;
mod processor;
mod rare;
mod report;
mod shadow;
mod sizes;
mod step;
mod trace;
mod varargs;
mod watch;

#[cfg(any(test, feature = "generators"))]
#[allow(missing_docs)]
pub mod samples;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::time::Instant;

pub use outcome::{Answer, Choice, Event, Execution, Exhausted, Outcome, PathEvent, Violation};

use crate::program::ir::Program;
use crate::term::Pool;
pub use watch::{Seen, View};

use crossing::Crossing;
use memory::Memory;
use step::Run;

/// The limits of a run, and of its symbolic part.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Operations before the run ends with [`Outcome::StepLimit`]. Default: 200 million.
    pub steps: u64,
    /// The time at which a run ends with [`Outcome::StepLimit`], even if it has steps left.
    /// Default: no such time.
    pub until: Option<Instant>,
    /// Nested calls before [`Outcome::StackOverflow`]. Default: 10,000.
    pub call_depth: usize,
    /// Live bytes before [`Outcome::OutOfMemory`]. Default: 256 MiB, as natively.
    pub live_bytes: u64,
    /// Loads at a symbolic address stay symbolic in objects of up to this many bytes.
    /// Default: 4096.
    pub symbolic_load: usize,
    /// Stores at a symbolic address stay symbolic in objects of up to this many bytes.
    /// Default: 256.
    pub symbolic_store: usize,
    /// The number of bytes past the tape's end that are inputs of value 0 in symbolic runs.
    /// Default: 0.
    pub extend: usize,
    /// The number of path events that are recorded; later ones are executed but not recorded.
    /// Default: 200,000.
    pub path: usize,
    /// The number of blocks of the trace that are recorded. Default: 4 million.
    pub trace: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            steps: 200_000_000,
            until: None,
            call_depth: 10_000,
            live_bytes: 256 << 20,
            symbolic_load: 4096,
            symbolic_store: 256,
            extend: 0,
            path: 200_000,
            trace: 4_000_000,
        }
    }
}

/// The number of bytes past the tape's end that are inputs in [`Machine::run_crossing`].
const BEHIND: usize = 4096;

/// A Program, ready to run. Runs are independent of each other.
#[derive(Debug)]
pub struct Machine<'p> {
    program: &'p Program,
    limits: Limits,
    /// The memory at the start; runs share it until they write.
    start: Memory,
}

impl<'p> Machine<'p> {
    /// A machine for this Program.
    pub fn new(program: &'p Program, limits: Limits) -> Machine<'p> {
        Machine {
            program,
            limits,
            start: Memory::new(program),
        }
    }

    /// The Program it runs.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Changes the limits of later runs.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// A copy of this machine, limited to at most `steps` steps.
    pub fn limited(&self, steps: u64) -> Machine<'p> {
        let limits = Limits {
            steps: self.limits.steps.min(steps),
            ..self.limits.clone()
        };
        Machine {
            program: self.program,
            limits,
            start: self.start.clone(),
        }
    }

    /// Runs concretely.
    pub fn run(&self, tape: &[u8]) -> Execution {
        Run::<false>::new(
            self.program,
            &self.limits,
            self.start.clone(),
            tape,
            None,
            0..0,
        )
        .finish()
    }

    /// Runs concretely and tracks uninitialised data: fills [`Execution::undefined_read`].
    pub fn run_tracked(&self, tape: &[u8]) -> Execution {
        self.run_symbolic(tape, &mut Pool::new(), 0..0)
    }

    /// Runs concretely, and shows the state to `watch` whenever a block is entered.
    pub fn run_watched(&self, tape: &[u8], watch: &mut dyn FnMut(&View<'_>)) -> Execution {
        let mut pool = Pool::new();
        let start = self.start.clone();
        let mut run = Run::<true>::new(
            self.program,
            &self.limits,
            start,
            tape,
            Some(&mut pool),
            0..0,
        );
        run.watch = Some(watch);
        run.finish()
    }

    /// Runs with the whole tape symbolic, and notes what the harness passes to the library: see
    /// [`crossing`].
    pub fn run_crossing(
        &self,
        tape: &[u8],
        pool: &mut Pool,
        harness: &crossing::Harness,
    ) -> (Execution, crossing::Noted) {
        let start = self.start.clone();
        // Bytes that the harness takes from behind the tape's end are its choice as well.
        let limits = Limits {
            extend: self.limits.extend.max(BEHIND),
            ..self.limits.clone()
        };
        let mut run = Run::<true>::new(
            self.program,
            &limits,
            start,
            tape,
            Some(pool),
            0..tape.len(),
        );
        run.crossing = Some(Crossing::new(harness));
        run.finish_noting()
    }

    /// Runs with the tape's bytes in `symbolic` as inputs of `pool`, to which the terms in the
    /// result belong.
    pub fn run_symbolic(&self, tape: &[u8], pool: &mut Pool, symbolic: Range<usize>) -> Execution {
        let start = self.start.clone();
        Run::<true>::new(
            self.program,
            &self.limits,
            start,
            tape,
            Some(pool),
            symbolic,
        )
        .finish()
    }
}
