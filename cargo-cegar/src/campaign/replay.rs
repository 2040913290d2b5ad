//! Replaying recorded inputs (`cargo cegar replay`).
//!
//! Every input runs natively, under AddressSanitizer for the verdict and without it for the counts
//! (a sanitizer moves objects and changes what fits into memory), and in the engine's machine as
//! well. If machine and native execution disagree, one of them misinterprets C, and this is
//! reported. Since a corpus has hundreds of inputs, a runner gets them in batches; it still starts
//! a process for each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cegar_fuzz::native::Kind;
use cegar_model::machine::Machine;

use super::agreement::disagreement;
use super::findings;
use super::native::fault;
use super::prepare::prepare;
use super::single::{limits, start_native};
use crate::error::Error;
use crate::event::{Event, Reporter, Summary};
use crate::options::ReplayOptions;
use crate::verdict::{GoalTable, Stats, Verdict};

/// The number of inputs per call of a runner: large enough that starting it costs nothing, small
/// enough to react to Ctrl-C.
const BATCH: usize = 64;

/// Replays recorded inputs. The last reported event is [`Event::Finished`].
pub fn replay(
    options: &ReplayOptions,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Verdict, Error> {
    let mut goals = GoalTable::default();
    let mut stats = Stats::default();
    let started = Instant::now();
    for harness in &options.run.harnesses {
        let scratch = options.run.scratch.join(&harness.name);
        let settings = &options.run.settings;
        let prepared = prepare(harness, settings, &scratch, reporter, stop)?;
        let native = start_native(
            &prepared,
            harness,
            settings,
            (&scratch, &options.run.scratch),
            (false, false),
            (stop, None),
        );
        let machine = Machine::new(&prepared.program, limits(harness));
        let mut agreed = 0u64;
        for batch in options.inputs.chunks(BATCH) {
            let tapes = batch
                .iter()
                .map(|input| std::fs::read(input).map_err(|why| Error::io("read", input, why)))
                .collect::<Result<Vec<_>, _>>()?;
            let checked = native.batch(Kind::RunnerAsan, batch)?;
            let counted = native.batch(Kind::Runner, batch)?;
            let runs = checked.into_iter().zip(counted);
            for ((input, tape), (checked, counted)) in batch.iter().zip(&tapes).zip(runs) {
                if stop.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                let violation = fault(&checked.outcome).is_some();
                stats.executions += 1;
                stats.machine_runs += 1;
                goals.checks.violated += u64::from(violation);
                let native_run = if violation { &checked } else { &counted };
                let run = machine.run(tape);
                let disagreement =
                    disagreement(&prepared.program, tape, &run, native_run, native.options());
                agreed += u64::from(disagreement.is_none());
                reporter.event(&Event::Replayed {
                    input: input.clone(),
                    outcome: findings::told(&checked.outcome),
                    violation,
                    disagreement,
                });
            }
        }
        reporter.event(&Event::Agreement {
            harness: harness.name.clone(),
            agreed,
            inputs: options.inputs.len() as u64,
        });
    }
    stats.seconds = started.elapsed().as_secs_f64();
    let verdict = if goals.checks.violated > 0 {
        Verdict::Violated
    } else {
        Verdict::Open
    };
    reporter.event(&Event::Finished(Summary {
        verdict,
        goals,
        stats,
        tests: Vec::new(),
        interrupted: false,
        assumptions: Vec::new(),
        harnesses: options.run.harnesses.len() as u64,
        unexecuted: Vec::new(),
        vacuous: Vec::new(),
        findings: 0,
        not_replayed: 0,
        not_shown: 0,
        late: 0,
    }));
    Ok(verdict)
}
