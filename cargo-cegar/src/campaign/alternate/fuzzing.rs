//! The fuzzer's part in the alternation: its processes, and which of them are worth another start.
//!
//! A process may die of what it executes: then it is started again, a few times.

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

/// How many processes may die for no reason that can be found.
const DEATHS: u32 = 5;
/// How many may die of the program's own faults, each of a tape that is not run again.
const FATAL: u32 = 1000;
/// Inputs that are swept at a time, and how long fewer may wait.
const SWEPT: usize = 16;
/// From one question that is broken off for a failure to the next.
const BETWEEN: Duration = Duration::from_secs(2);
const SWEEPING: Duration = Duration::from_secs(1);

/// See the module.
pub struct Fuzzing {
    pub crew: Crew,
    /// Whether the fuzzer logs comparisons yet.
    compares: bool,
    losses: Losses,
    pub sweeps: Sweeps,
    /// When a failure was last heard of.
    pub last_failure: Option<Instant>,
}

/// Processes that are gone.
#[derive(Default)]
struct Losses {
    /// For no reason that was found.
    unexplained: u32,
    /// Of the program's faults.
    fatal: u32,
    /// Whether none is left and none is started any more.
    given_up: bool,
}

/// Runs of the fuzzer's inputs under AddressSanitizer, in batches.
pub struct Sweeps {
    pub last: Instant,
    /// Where runs failed: one place is looked into once, since the machine's run and another native
    /// one cost more than the sweep.
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

    /// What a question of the search is broken off for: a failure of the fuzzer's target, but not
    /// soon after another one, since there may be hundreds.
    pub fn alarm(&self) -> Alarm {
        match self.last_failure {
            Some(last) if last.elapsed() < BETWEEN => Alarm::new(),
            _ => self.crew.failures(),
        }
    }

    /// Starts the fuzzer as soon as its target is built; the log of comparisons is handed on when
    /// it is there, too.
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
        // What several hand each other depends on who is first: under --runs, there is one.
        let count = match runs {
            Some(_) => 1,
            None => subject.settings.workers,
        };
        self.crew =
            Crew::start(&me, &config, count).map_err(|why| Error::engine("the fuzzer", why))?;
        // Not before: processes that this thread starts inherit its low priority.
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

    /// A process has died after so many runs; true if another was started in its place. If the
    /// program is to blame, `fatal` is the tape that the process died of, if it is known.
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
    /// How many inputs there is time to sweep, should each take as long as it may.
    pub fn size(&self, subject: &Subject<'_>) -> usize {
        let limited = subject.budget.left().filter(|_| !subject.is_counted());
        limited.map_or(SWEPT, |left| {
            SWEPT.min((left.as_millis() / u128::from(SWEEP)) as usize)
        })
    }

    /// Whether fewer inputs than a batch have waited long enough.
    pub fn is_due(&self) -> bool {
        self.last.elapsed() > SWEEPING
    }
}
