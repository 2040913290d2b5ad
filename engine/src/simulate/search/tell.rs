//! What is told of a tape when it is a finding.
//!
//! People read it, so it is made as short as it goes, and legible where the program reads text.

use super::*;

/// Says of a tape and the choices that a run took from it which bytes mean something together.
pub type Spans<'a> = dyn Fn(&[u8], &[Choice]) -> Vec<Span> + 'a;

impl Search<'_> {
    /// The shortest tape found that shows the same violation at the same place. `spans` says of a run's choices what they
    /// mean.
    pub fn minimise(&mut self, tape: &[u8], violation: &Violation, spans: &Spans<'_>) -> Vec<u8> {
        let run = self.machine.run(tape);
        let text = text_positions(&run.choices);
        let machine = &mut self.machine;
        let stats = &mut self.stats;
        let mut judge = |candidate: &[u8]| {
            let run = machine.run(candidate);
            stats.executions += 1;
            let same = matches!(&run.outcome, Outcome::Violated(v)
                if v.kind == violation.kind && v.pos == violation.pos && v.stack == violation.stack);
            Judged {
                same,
                consumed: run.consumed,
                steps: run.steps,
            }
        };
        let short = minimise(tape, Budget::default(), &mut judge, |at| {
            match text.binary_search_by(|range| {
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
            }
        });
        let run = machine.run(&short);
        // The last number is a whole one even where the tape ends within it.
        let cut = run
            .choices
            .iter()
            .find(|choice| choice.at < short.len() && short.len() < choice.at + choice.len);
        let mut whole = short.clone();
        whole.resize(cut.map_or(short.len(), |choice| choice.at + choice.len), 0);
        let judged = judge(&whole);
        if !judged.same || judged.consumed < whole.len() {
            return short;
        }
        let spans = spans(&whole, &run.choices);
        let simple = simplify(&whole, &spans, Budget::default(), &mut judge);
        without_zeros(simple, short.len(), &mut judge)
    }

    /// Runs a tape concretely, for reports. An invalid access is looked at once more, symbolically, for where its address
    /// came from.
    pub fn observe(&mut self, tape: &[u8]) -> Execution {
        self.stats.executions += 1;
        let mut run = self.machine.run(tape);
        if let Outcome::Violated(violation) = &mut run.outcome
            && matches!(violation.kind, CheckKind::Read | CheckKind::Write)
        {
            self.stats.executions += 1;
            let mut pool = Pool::new();
            let again = self.machine.run_symbolic(tape, &mut pool, 0..tape.len());
            if let Some(same) = again.violation().filter(|v| v.pos == violation.pos)
                && same.address_from.is_some()
            {
                violation.clone_from(same);
            }
        }
        run
    }
}

/// The positions of a tape that were read as text.
fn text_positions(choices: &[Choice]) -> Vec<std::ops::Range<usize>> {
    choices
        .iter()
        .filter(|choice| {
            let name = choice.channel.as_ref();
            ["stdin", "data", "bytes", "string"].contains(&name)
                || ["env:", "argv:", "file:"]
                    .iter()
                    .any(|p| name.starts_with(p))
        })
        .map(|choice| choice.at..choice.at + choice.len)
        .collect()
}

/// Zeros at a tape's end are there anyway: those beyond `keep` bytes are left out.
fn without_zeros(
    mut tape: Vec<u8>,
    keep: usize,
    judge: &mut dyn FnMut(&[u8]) -> Judged,
) -> Vec<u8> {
    let used = tape.iter().rposition(|&byte| byte != 0);
    let used = used.map_or(0, |last| last + 1).max(keep);
    if used < tape.len() && judge(&tape[..used]).same {
        tape.truncate(used);
    }
    tape
}
