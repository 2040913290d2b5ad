//! Prepares the tape of a violation for the report.
//!
//! People read it, so it is made as short as possible, and readable where the program reads text.

use super::*;
use crate::simulate::blame::{self, Blame};
use cegar_model::machine::crossing::Harness;

/// Returns which bytes of a tape form one value, given the choices that a run took from the tape.
pub type Spans<'a> = dyn Fn(&[u8], &[Choice]) -> Vec<Span> + 'a;

/// The longest tape, in bytes, for which blame is computed. It is computed once per fault, and the
/// tape of a harness may fill a megabyte of memory.
const MOST_BLAMED: usize = 2 << 20;

impl Search<'_> {
    /// Returns the shortest tape found that shows the same violation at the same place, and its
    /// run. `spans` gives the meaning of a run's choices.
    pub fn minimise(
        &mut self,
        tape: &[u8],
        violation: &Violation,
        origin: Origin,
        spans: &Spans<'_>,
    ) -> (Vec<u8>, Execution) {
        let steps = self.steps_for(tape, origin);
        self.within(steps, |search| {
            search.shorten(tape, violation, origin, spans)
        })
    }

    fn shorten(
        &mut self,
        tape: &[u8],
        violation: &Violation,
        origin: Origin,
        spans: &Spans<'_>,
    ) -> (Vec<u8>, Execution) {
        let first = match self.last_reported.take() {
            Some((known, run)) if known == tape => run,
            _ => self.machine.run(tape),
        };
        let text = text_positions(&first.choices);
        let mut bytes = tape.iter().enumerate();
        let is_plain = bytes.all(|(at, &byte)| byte == plain_at(&text, at));
        let budget = match origin {
            Origin::Loop => for_turns(first.steps, is_plain),
            _ => Budget::default(),
        };
        let mut runs = Runs {
            machine: &mut self.machine,
            stats: &mut self.stats,
            wanted: place(violation),
            best: (tape.to_vec(), first),
        };
        let short = minimise(
            tape,
            budget,
            |candidate| runs.judge(candidate),
            |at| plain_at(&text, at),
        );
        let run = runs.of(&short);
        // A tape that ends within a number is extended to the end of that number.
        let cut = run
            .choices
            .iter()
            .find(|choice| choice.at < short.len() && short.len() < choice.at + choice.len);
        let mut whole = short.clone();
        whole.resize(cut.map_or(short.len(), |choice| choice.at + choice.len), 0);
        let spans = spans(&whole, &run.choices);
        let judged = runs.judge(&whole);
        let best = if !judged.same || judged.consumed < whole.len() {
            short
        } else {
            let simple = simplify(&whole, &spans, budget, |candidate| runs.judge(candidate));
            without_zeros(simple, short.len(), &mut |candidate| runs.judge(candidate))
        };
        runs.of(&best);
        let (tape, run) = runs.best;
        let run = self.with_address(&tape, run);
        (tape, run)
    }

    /// Runs a tape concretely, for reports. If it ends in an invalid access, a symbolic run
    /// determines where the address came from.
    pub fn observe(&mut self, tape: &[u8]) -> Execution {
        self.stats.executions += 1;
        let run = self.machine.run(tape);
        self.with_address(tape, run)
    }

    /// Decides whose choice the fault on a tape is; see [`super::super::blame`].
    pub fn blame(&mut self, tape: &[u8], harness: &Harness) -> Option<Blame> {
        if tape.len() > MOST_BLAMED {
            return None;
        }
        self.stats.executions += 2;
        let run = self.machine.run(tape);
        blame::blame(&self.machine, tape, run.violation()?, harness)
    }

    /// Adds to the run of a tape that ends in an invalid access where the address came from.
    fn with_address(&mut self, tape: &[u8], mut run: Execution) -> Execution {
        if let Outcome::Violated(violation) = &mut run.outcome
            && matches!(violation.kind, CheckKind::Read | CheckKind::Write)
            && tape.len() <= self.config.max_recorded
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

/// The budget for shortening a tape that was solved for the iterations of loops, and whose run
/// takes `steps`. The number of iterations is minimal already, so the tape is only made readable;
/// if its run is long, that takes one run.
fn for_turns(steps: u64, is_plain: bool) -> Budget {
    let most = Budget::default();
    let steps = match is_plain && steps > LEGIBLE_STEPS {
        true => 0,
        false => most.steps.min(steps.max(LEGIBLE_STEPS)),
    };
    Budget { steps, ..most }
}

/// Runs candidates. Keeps the last run that showed the violation, so that no long tape runs twice.
struct Runs<'m, 'p> {
    machine: &'m mut Machine<'p>,
    stats: &'m mut SearchStats,
    wanted: Place,
    best: (Vec<u8>, Execution),
}

impl Runs<'_, '_> {
    fn run(&mut self, tape: &[u8]) -> Execution {
        self.stats.executions += 1;
        self.machine.run(tape)
    }

    fn shows(&self, run: &Execution) -> bool {
        run.violation().map(place).as_ref() == Some(&self.wanted)
    }

    fn judge(&mut self, candidate: &[u8]) -> Judged {
        if candidate == self.best.0 {
            return Judged {
                same: self.shows(&self.best.1),
                consumed: self.best.1.consumed,
                steps: 0,
            };
        }
        let run = self.run(candidate);
        let judged = Judged {
            same: self.shows(&run),
            consumed: run.consumed,
            steps: run.steps,
        };
        if judged.same {
            // Bytes after the last consumed one make no difference.
            let used = judged.consumed.min(candidate.len());
            self.best = (candidate[..used].to_vec(), run);
        }
        judged
    }

    /// The run of a tape, which becomes the kept one.
    fn of(&mut self, tape: &[u8]) -> &Execution {
        if tape != self.best.0 {
            self.best = (tape.to_vec(), self.run(tape));
        }
        &self.best.1
    }
}

/// Removes the zeros at a tape's end beyond `keep` bytes if the tape is still accepted: bytes past
/// the end read as zeros anyway.
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
