//! The fuzzer's part in the alternation: its processes, and whether to restart them.
//!
//! A process may die of what it executes. It is then restarted, up to a limit.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use cegar_fuzz::native::{Kind, Target};
use cegar_fuzz::worker::WorkerConfig;
use cegar_model::deadline::Alarm;

use super::crew::Crew;
use super::inputs::Inputs;
use super::subject::Subject;
use crate::campaign::native::SWEEP;
use crate::campaign::proofs::give_way;
use crate::error::Error;

/// How many processes may die for an unknown reason.
const DEATHS: u32 = 5;
/// How many processes may die of faults of the program. The tape of each is not run again.
const FATAL: u32 = 1000;
/// The number of inputs in one batch for AddressSanitizer.
const SWEPT: usize = 16;
/// The minimum time between two questions that are interrupted because of a failure.
const BETWEEN: Duration = Duration::from_secs(2);
/// How long an incomplete batch may wait.
const SWEEPING: Duration = Duration::from_secs(1);

/// See the module.
pub struct Fuzzing {
    pub crew: Crew,
    /// Whether the fuzzer already logs comparisons.
    compares: bool,
    losses: Losses,
    pub sweeps: Sweeps,
    /// When a failure was last reported.
    pub last_failure: Option<Instant>,
}

/// Counts of processes that have died.
#[derive(Default)]
struct Losses {
    /// Processes that died for an unknown reason.
    unexplained: u32,
    /// Processes that died of faults of the program.
    fatal: u32,
    /// Whether no process is left and none will be started again.
    given_up: bool,
}

/// Runs of the fuzzer's inputs under AddressSanitizer, in batches.
pub struct Sweeps {
    pub last: Instant,
    /// The places where runs failed. Each place is examined once, since the machine's run and
    /// another native run cost more than the sweep.
    pub places: BTreeSet<String>,
}

impl Fuzzing {
    pub fn new(started: Instant) -> Self {
        Fuzzing {
            crew: Crew::default(),
            compares: false,
            losses: Losses::default(),
            last_failure: None,
            sweeps: Sweeps {
                last: started,
                places: BTreeSet::new(),
            },
        }
    }

    /// The flags that interrupt a question of the search: a failure of the fuzzer's target. Soon
    /// after a failure there are none, since hundreds may follow.
    pub fn alarm(&self) -> Alarm {
        match self.last_failure {
            Some(last) if last.elapsed() < BETWEEN => Alarm::new(),
            _ => self.crew.failures(),
        }
    }

    /// Starts the fuzzer once its target is built. Hands on the target that logs comparisons once
    /// that is built.
    pub fn start(
        &mut self,
        subject: &Subject<'_>,
        inputs: &Inputs,
        runs: Option<u64>,
    ) -> Result<(), Error> {
        if !self.crew.is_empty() {
            return self.hand_on_comparisons(subject);
        }
        let given_up = self.losses.given_up || self.losses.unexplained > DEATHS;
        if !subject.settings.fuzzes() || given_up {
            return Ok(());
        }
        let Some(target) = subject.native.ready(Kind::Fast) else {
            return Ok(());
        };
        let config = self.config(target?, subject, inputs, runs)?;
        let me = std::env::current_exe()
            .map_err(|why| Error::io("find", Path::new("cargo-cegar"), why))?;
        // What workers exchange depends on their timing, so there is only one worker with `--runs`.
        let count = match runs {
            Some(_) => 1,
            None => subject.settings.workers,
        };
        self.crew =
            Crew::start(&me, &config, count).map_err(|why| Error::engine("the fuzzer", why))?;
        // Only now: processes that this thread starts inherit its low priority.
        if subject.gives_way() {
            give_way();
        }
        Ok(())
    }

    fn hand_on_comparisons(&mut self, subject: &Subject<'_>) -> Result<(), Error> {
        if !self.compares
            && let Some(built) = subject.native.ready(Kind::Comparisons)
        {
            self.crew.compare(&built?.path);
            self.compares = true;
        }
        Ok(())
    }

    fn config(
        &mut self,
        target: Target,
        subject: &Subject<'_>,
        inputs: &Inputs,
        runs: Option<u64>,
    ) -> Result<WorkerConfig, Error> {
        let mut config = WorkerConfig::new(&target.path, target.blocks);
        if let Some(built) = subject.native.ready(Kind::Comparisons) {
            config.cmp_so = Some(built?.path);
            self.compares = true;
        }
        config.corpus = inputs.folders().collect();
        config.queue = Some(inputs.queue.clone());
        config.seed = subject.settings.seed;
        let timeout = subject.harness.timeout.as_millis();
        config.exec_timeout_ms = u32::try_from(timeout).unwrap_or(u32::MAX);
        config.max_len = subject.harness.max_len;
        config.runs = runs;
        let left = subject.budget.left().filter(|_| !subject.is_counted());
        config.until = left.and_then(|left| SystemTime::now().checked_add(left));
        config.tokens = target.tokens;
        config.tokens.extend(subject.harness.words.iter().cloned());
        Ok(config)
    }

    /// Handles the death of a process after `runs` runs. Returns whether it was restarted.
    /// `is_blamed` says whether the program's faults are the reason; then `fatal` is the tape that
    /// the process died of, if it is known.
    pub fn replace(
        &mut self,
        number: usize,
        runs: u64,
        is_blamed: bool,
        fatal: Option<Vec<u8>>,
    ) -> bool {
        let (count, limit) = match is_blamed {
            true => (&mut self.losses.fatal, FATAL),
            false => (&mut self.losses.unexplained, DEATHS),
        };
        *count += 1;
        let is_wanted = *count <= limit;
        let restarted = self.crew.again(number, is_wanted, runs, fatal);
        if !restarted && !self.crew.works() {
            self.crew = Crew::default();
            self.losses.given_up = true;
        }
        restarted
    }
}

impl Sweeps {
    /// The number of inputs that there is time to sweep if each takes as long as it is allowed to.
    pub fn size(&self, subject: &Subject<'_>) -> usize {
        let limited = subject.budget.left().filter(|_| !subject.is_counted());
        limited.map_or(SWEPT, |left| {
            SWEPT.min((left.as_millis() / u128::from(SWEEP)) as usize)
        })
    }

    /// Whether an incomplete batch has waited long enough.
    pub fn is_due(&self) -> bool {
        self.last.elapsed() > SWEEPING
    }
}
