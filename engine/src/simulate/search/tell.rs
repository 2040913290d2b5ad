//! What is told of a tape when it is a finding.
//!
//! People read it, so it is made as short as it goes, and legible where the program reads text.

use super::*;

impl Search<'_> {
    /// The shortest tape found that shows the same violation at the same place.
    pub fn minimise(&mut self, tape: &[u8], violation: &Violation) -> Vec<u8> {
        let run = self.machine.run(tape);
        let text = text_positions(&run.choices);
        let machine = &mut self.machine;
        let stats = &mut self.stats;
        minimise(
            tape,
            Budget::default(),
            |candidate| {
                let run = machine.run(candidate);
                stats.executions += 1;
                let same = matches!(&run.outcome, Outcome::Violated(v)
                    if v.kind == violation.kind && v.pos == violation.pos && v.stack == violation.stack);
                Judged {
                    same,
                    consumed: run.consumed,
                    steps: run.steps,
                }
            },
            |at| match text.binary_search_by(|range| {
                if range.end <= at {
                    std::cmp::Ordering::Less
                } else if range.start > at {
                    std::cmp::Ordering::Greater
                } else {
                    std::cmp::Ordering::Equal
                }
            }) {
                Ok(_) => b'a',
                Err(_) => 0,
            },
        )
    }

    /// Runs a tape concretely, for reports.
    pub fn observe(&mut self, tape: &[u8]) -> Execution {
        self.stats.executions += 1;
        self.machine.run(tape)
    }
}

/// The positions of a tape that were read as text.
fn text_positions(choices: &[Choice]) -> Vec<std::ops::Range<usize>> {
    choices
        .iter()
        .filter(|choice| {
            let name = choice.channel.as_ref();
            name == "stdin"
                || name == "data"
                || ["env:", "argv:", "file:"]
                    .iter()
                    .any(|p| name.starts_with(p))
        })
        .map(|choice| choice.at..choice.at + choice.len)
        .collect()
}
