//! Guides: from which states a walk continues, and why it stops early.

use crate::domain::space::{CtxId, Names};
use crate::domain::state::{State, Widths};
use crate::program::ir::{BlockId, FuncId};

/// Why a walk stops early.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Stop {
    /// The deadline passed.
    #[error("the time was up")]
    Late,
    /// The walk has visited more blocks than it may.
    #[error("there are too many ways through the program's calls")]
    Large,
    /// A function is recursive and not shared.
    #[error("`{0}` calls itself and is not said to be shared")]
    Recursion(String),
    /// The guide does not accept a state.
    #[error("{0}")]
    Refused(String),
}

/// What a guide needs in order to compare states.
#[derive(Clone, Copy)]
pub struct Measure<'a, 'p> {
    /// The objects' names.
    pub names: &'a Names<'p>,
    /// The widths of the registers.
    pub widths: &'a Widths,
    /// Which of the pointers that trail behind others in a loop are NULL: two bits for each. The
    /// states of a loop head are kept apart by it.
    pub null: u8,
    /// The length in bits of a number that shrinks in a loop, if there is one. The states of the
    /// loop head are kept apart by it.
    pub length: Option<u8>,
}

/// The index of a state among those that are kept at one place.
pub type Part = usize;

/// Decides from which states a walk continues.
pub trait Guide {
    /// Takes in a state that arrives at a loop head, along a back edge if `back`. Returns whether
    /// the walk has to continue from the head once more, and the index of the state there that has
    /// taken it in.
    fn arrive(
        &mut self,
        place: (CtxId, BlockId),
        back: bool,
        state: State,
        by: Measure<'_, '_>,
    ) -> Result<(bool, Part), Stop>;
    /// Returns the states from which the walk continues at a loop head. `parts` are the states that
    /// took in others during this walk of the function, each with whether the walk has continued
    /// from it before; of those that it has, only the ones that have grown since are needed.
    fn start(&mut self, place: (CtxId, BlockId), parts: &[(Part, bool)]) -> Vec<State>;
    /// Takes in the entry state of a call of a shared function. Returns whether to walk it now.
    fn enter(&mut self, function: FuncId, state: State, by: Measure<'_, '_>) -> Result<bool, Stop>;
    /// Returns the state from which a shared function is walked.
    fn entry(&mut self, function: FuncId) -> Option<State>;
    /// Takes in the exit state of a walk of a shared function; `None` if it never returns. Returns
    /// whether the function has to be walked again.
    fn leave(
        &mut self,
        function: FuncId,
        state: Option<State>,
        by: Measure<'_, '_>,
    ) -> Result<bool, Stop>;
    /// Returns the exit state of a shared function, in which the registers are its results.
    fn exit(&mut self, function: FuncId) -> Option<State>;
    /// Called whenever a block is entered: for tests that compare its state with executions.
    fn enters(&mut self, _place: (CtxId, BlockId), _state: &State) {}
}
