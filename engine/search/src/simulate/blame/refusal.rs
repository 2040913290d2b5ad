//! Allocations that the environment refuses because of their size.

use cegar_model::machine::crossing::{Harness, depends_on_data};
use cegar_model::machine::{Choice, Event};
use cegar_model::term::Term;

use super::{BlameAnalysis, Fault};

/// The stub that decides whether the environment refuses an allocation.
const REFUSES: &str = "crunner_refuses";
/// The channel of the answer to a large request.
const LARGE: &str = "malloc:large";

impl BlameAnalysis<'_> {
    /// If an allocation was refused because of its size and no later branch depends on anything
    /// else: the condition that decided that the request is large. The environment's answer is
    /// neither data nor a choice of the harness.
    pub(super) fn refused(&mut self) -> Option<Fault> {
        let decides = self.program.function_named(REFUSES)?;
        let answer = self
            .run
            .choices
            .iter()
            .rfind(|choice| &*choice.channel == LARGE);
        let is_granted = |choice: &Choice| self.tape.get(choice.at).is_some_and(|b| b & 1 == 1);
        if answer.is_some_and(is_granted) {
            return None;
        }
        let mut last = self.run.path.iter().rev();
        let last = last.find(|event| !self.is_refusal(event.event.condition().0))?;
        let is_within = match last.event {
            Event::Branch { from, .. } => self.program.block(from).function == decides,
            _ => false,
        };
        let condition = last.event.condition().0;
        is_within.then(|| Fault {
            condition: Some(condition),
            on: vec![condition],
        })
    }

    /// Whether a term depends on the environment's answer to a large request.
    pub(super) fn is_refusal(&self, term: Term) -> bool {
        let about = Harness {
            data: [std::sync::Arc::from(LARGE)].into(),
            ..Harness::default()
        };
        depends_on_data(self.pool, term, &self.run.choices, &about)
    }
}
