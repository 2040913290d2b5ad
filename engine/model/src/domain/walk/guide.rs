//! Who says from which states a walk goes on, and why a walk ends before its end.

use crate::domain::space::{CtxId, Names};
use crate::domain::state::{State, Widths};
use crate::program::ir::{BlockId, FuncId};

/// Why a walk ends before its end.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Stop {
    /// The deadline passed.
    #[error("the time was up")]
    Late,
    /// More blocks than anybody has the patience for.
    #[error("there are too many ways through the program's calls")]
    Large,
    /// A function that calls itself has to be shared.
    #[error("`{0}` calls itself and is not said to be shared")]
    Recursion(String),
    /// The guide does not accept a state.
    #[error("{0}")]
    Refused(String),
}

/// What a guide has to know of states.
#[derive(Clone, Copy)]
pub struct Measure<'a, 'p> {
    /// The objects' names.
    pub names: &'a Names<'p>,
    /// The widths of the registers.
    pub widths: &'a Widths,
    /// Which of the pointers that trail behind others in a loop are NULL: two bits for each. States
    /// of a loop's head are kept apart by it.
    pub null: u8,
    /// How many bits a number that shrinks in a loop has at most, where there is one. States of the
    /// loop's head are kept apart by it.
    pub length: Option<u8>,
}

/// Which of several states that are kept at one place.
pub type Part = usize;

/// Decides from which states a walk goes on.
pub trait Guide {
    /// A state arrives where edges lead back, along one of these or from elsewhere. Whether the
    /// walk has to go on from there once more, and which of the states that are kept there has
    /// taken it in.
    fn arrive(
        &mut self,
        place: (CtxId, BlockId),
        back: bool,
        state: State,
        by: Measure<'_, '_>,
    ) -> Result<(bool, Part), Stop>;
    /// The states from which the walk goes on there, of those that took in what arrived in this
    /// walk of the function: each with whether the walk has gone on from it before. Of these the
    /// ones that have grown since are enough.
    fn start(&mut self, place: (CtxId, BlockId), parts: &[(Part, bool)]) -> Vec<State>;
    /// A shared function is called. Whether it has to be walked now.
    fn enter(&mut self, function: FuncId, state: State, by: Measure<'_, '_>) -> Result<bool, Stop>;
    /// The state from which it is walked.
    fn entry(&mut self, function: FuncId) -> Option<State>;
    /// A walk of a shared function has come to its end, or never does. Whether it has to be walked
    /// again.
    fn leave(
        &mut self,
        function: FuncId,
        state: Option<State>,
        by: Measure<'_, '_>,
    ) -> Result<bool, Stop>;
    /// What a shared function comes back with; registers are its results.
    fn exit(&mut self, function: FuncId) -> Option<State>;
    /// A block is entered with a state: for tests that compare it with executions.
    fn enters(&mut self, _place: (CtxId, BlockId), _state: &State) {}
}
