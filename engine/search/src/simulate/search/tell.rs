//! What is told of a tape when it is a finding.
//!
//! People read it, so it is made as short as it goes, and legible where the program reads text.

use super::*;
use crate::simulate::blame::{self, Blame};
use cegar_model::machine::crossing::Harness;

/// Says of a tape and the choices that a run took from it which bytes mean something together.
pub type Spans<'a> = dyn Fn(&[u8], &[Choice]) -> Vec<Span> + 'a;

/// Bytes of the longest tape whose fault is blamed on the library or the harness. That happens once
/// for each fault, and a harness may have memory of a megabyte that the tape fills.
const MOST_BLAMED: usize = 2 << 20;

impl Search<'_> {
    /// The shortest tape found that shows the same violation at the same place, and its run.
    /// `spans` says of a run's choices what they mean.
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
        let first = match self.telling.take() {
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
        // The last number is a whole one even where the tape ends within it.
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

    /// Runs a tape concretely, for reports. An invalid access is looked at once more, symbolically,
    /// for where its address came from.
    pub fn observe(&mut self, tape: &[u8]) -> Execution {
        self.stats.executions += 1;
        let run = self.machine.run(tape);
        self.with_address(tape, run)
    }

    /// Whose choice the fault on a tape is; see [`super::super::blame`].
    pub fn blame(&mut self, tape: &[u8], harness: &Harness) -> Option<Blame> {
        if tape.len() > MOST_BLAMED {
            return None;
        }
        self.stats.executions += 2;
        let run = self.machine.run(tape);
        blame::blame(&self.machine, tape, run.violation()?, harness)
    }

    /// The run of a tape; where it ends in an invalid access, with where the address came from.
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

/// What shortening a tape may cost that leads loops around, and whose run takes so many steps. The
/// number of turns is the least already: what is left is to make the tape legible, and if it is
/// long, that takes one run.
fn for_turns(steps: u64, is_plain: bool) -> Budget {
    let most = Budget::default();
    let steps = match is_plain && steps > LEGIBLE_STEPS {
        true => 0,
        false => most.steps.min(steps.max(LEGIBLE_STEPS)),
    };
    Budget { steps, ..most }
}

/// Runs of candidates. The last one that showed the violation is kept, so that nothing long runs
/// twice.
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
            // What lies behind the last byte that was consumed makes no difference.
            let used = judged.consumed.min(candidate.len());
            self.best = (candidate[..used].to_vec(), run);
        }
        judged
    }

    /// The run of a tape, which becomes the one that is kept.
    fn of(&mut self, tape: &[u8]) -> &Execution {
        if tape != self.best.0 {
            self.best = (tape.to_vec(), self.run(tape));
        }
        &self.best.1
    }
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
