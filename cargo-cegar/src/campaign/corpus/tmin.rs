//! Shortens one input without changing how its run ends.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use cegar_fuzz::native::Run;
use cegar_model::machine::{Machine, Outcome};
use cegar_model::program::FunctionKind;
use cegar_search::simulate::minimise::{Budget, Judged, minimise};

use super::ready;
use crate::campaign::findings;
use crate::campaign::native::fault;
use crate::campaign::single::limits;
use crate::error::Error;
use crate::event::Reporter;
use crate::options::{Harness, RunOptions};

/// The result of `tmin`.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Shortened {
    /// The shorter input.
    #[serde(skip)]
    pub tape: Vec<u8>,
    /// Bytes before.
    pub before: usize,
    /// Bytes after.
    pub after: usize,
    /// How both runs end.
    pub outcome: String,
}

/// Shortens one input (`cargo cegar tmin`). The shorter input ends in the same way: at the same
/// check if it fails, and otherwise entering the same blocks of the user's code.
pub fn tmin(
    options: &RunOptions,
    harness: &Harness,
    tape: &[u8],
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Shortened, Error> {
    let ready = ready(options, harness, reporter, stop)?;
    let program = &ready.prepared.program;
    let machine = Machine::new(program, limits(harness));
    let seen = ready.native.confirm(tape)?;
    let first = machine.run(tape);
    // A fault that only a native run shows is judged natively, which takes a process for each
    // candidate.
    let native_only =
        fault(&seen.outcome).is_some() && !matches!(first.outcome, Outcome::Violated(_));
    let blocks = |trace: &[cegar_model::program::BlockId]| -> BTreeSet<u32> {
        let user = |b: &&cegar_model::program::BlockId| {
            program.function(program.block(**b).function).kind == FunctionKind::User
        };
        trace.iter().filter(user).map(|block| block.0).collect()
    };
    let entered = blocks(&first.trace);
    let same = |outcome: &Outcome, trace: &[cegar_model::program::BlockId]| match (
        outcome,
        &first.outcome,
    ) {
        (Outcome::Violated(now), Outcome::Violated(then)) => {
            (now.check, now.kind, now.pos) == (then.check, then.kind, then.pos)
        }
        (now, then) => {
            std::mem::discriminant(now) == std::mem::discriminant(then) && blocks(trace) == entered
        }
    };
    let mut failed = None;
    let budget = match native_only {
        true => Budget {
            tries: 400,
            ..Budget::default()
        },
        false => Budget::default(),
    };
    let text = |at: usize| tape.get(at).is_some_and(|byte| byte.is_ascii_graphic());
    let shorter = minimise(
        tape,
        budget,
        |candidate| {
            if stop.load(Ordering::Relaxed) {
                return REJECTED;
            }
            if native_only {
                return match ready.native.confirm(candidate) {
                    Ok(run) => Judged {
                        same: is_alike(&run, &seen),
                        consumed: run.consumed as usize,
                        steps: 1,
                    },
                    Err(why) => {
                        failed.get_or_insert(why);
                        REJECTED
                    }
                };
            }
            let run = machine.run(candidate);
            Judged {
                same: same(&run.outcome, &run.trace),
                consumed: candidate.len(),
                steps: run.steps,
            }
        },
        |at| if text(at) { b'a' } else { 0 },
    );
    if let Some(why) = failed {
        return Err(why);
    }
    // The native run decides in the end.
    let ended = ready.native.confirm(&shorter)?;
    let (before, shorter) = match fault(&ended.outcome) == fault(&seen.outcome) {
        true => (tape.len(), shorter),
        false => (tape.len(), tape.to_vec()),
    };
    Ok(Shortened {
        before,
        after: shorter.len(),
        outcome: findings::told(&seen.outcome),
        tape: shorter,
    })
}

/// The judgement of a candidate that must not be taken.
const REJECTED: Judged = Judged {
    same: false,
    consumed: 0,
    steps: u64::MAX,
};

/// Whether two native runs fail alike: with the same property, in the same line.
fn is_alike(a: &Run, b: &Run) -> bool {
    let place = |run: &Run| run.stack.first().map(|f| (f.file.clone(), f.line));
    fault(&a.outcome) == fault(&b.outcome) && place(a) == place(b)
}
