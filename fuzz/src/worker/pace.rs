//! Limits the time that each input gets.
//!
//! With raw counts, the corpus contains inputs with more loop iterations than all others, and some
//! of them run a thousand times as long as the rest. If every input got the same number of mutants,
//! one such input in twenty would take 19/20 of the time. Each input therefore has an account: each
//! visit pays in what a typical visit costs, and its runs are charged to the account. An input that
//! overdraws its account waits until later visits have paid. Every input then gets the same time
//! instead of the same number of runs.
//!
//! If runs are counted instead of seconds, the same seed must make the same choices, so no clock is
//! read.

use std::time::{Duration, Instant};

/// The typical time of a run moves towards each visit's mean by this fraction of itself. It
/// converges to the median.
const STEP: f64 = 1.0 / 32.0;
/// An account holds the payments of at most this many visits.
const SAVED: f64 = 2.0;

/// The accounts of all inputs.
pub(super) struct Pace {
    /// Whether the clock is read.
    timed: bool,
    /// The typical time of a run in seconds; 0 until a run was seen.
    usual: f64,
    /// The number of seconds that each input may use, by its number.
    accounts: Vec<f64>,
}

/// One visit to an input.
pub(super) struct Visit {
    id: usize,
    begin: Option<Instant>,
    allowance: f64,
    runs: usize,
}

impl Pace {
    pub fn new(timed: bool) -> Self {
        Pace {
            timed,
            usual: 0.0,
            accounts: Vec::new(),
        }
    }

    /// Starts a visit to the input with this number, which pays in the time of `runs` typical runs.
    pub fn begin(&mut self, id: usize, runs: usize) -> Visit {
        if !self.timed {
            return Visit {
                id,
                begin: None,
                allowance: f64::INFINITY,
                runs: 0,
            };
        }
        if self.accounts.len() <= id {
            self.accounts.resize(id + 1, 0.0);
        }
        let pay = self.usual * runs as f64;
        let account = &mut self.accounts[id];
        *account = (*account + pay).min(SAVED * pay);
        // Before the first run, no typical time is known.
        let allowance = match self.usual > 0.0 {
            true => *account,
            false => f64::INFINITY,
        };
        Visit {
            id,
            begin: Some(Instant::now()),
            allowance,
            runs: 0,
        }
    }

    /// Ends a visit: charges its time, and updates the typical time.
    pub fn end(&mut self, visit: &Visit) {
        if let Some(begin) = visit.begin {
            self.charge(visit.id, visit.runs, begin.elapsed());
        }
    }

    fn charge(&mut self, id: usize, runs: usize, spent: Duration) {
        if runs == 0 {
            return;
        }
        let spent = spent.as_secs_f64();
        let mean = spent / runs as f64;
        self.usual = match self.usual {
            0.0 => mean,
            usual if mean > usual => usual * (1.0 + STEP),
            usual => usual * (1.0 - STEP),
        };
        if let Some(account) = self.accounts.get_mut(id) {
            *account -= spent;
        }
    }
}

impl Visit {
    /// Whether the account covers another run; if so, the run is counted. To save time, the clock
    /// is read for the first 8 runs and then for every eighth.
    pub fn affords(&mut self) -> bool {
        let look = self.runs < 8 || self.runs.is_multiple_of(8);
        if look
            && (self.allowance <= 0.0
                || self
                    .begin
                    .is_some_and(|begin| begin.elapsed().as_secs_f64() > self.allowance))
        {
            return false;
        }
        self.runs += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_get_the_same_time_and_not_the_same_number_of_runs() {
        let mut pace = Pace::new(true);
        // For each input: the microseconds of a run, and the number of its runs.
        let mut inputs = [(10, 0), (10, 0), (10, 0), (5000, 0)];
        for _ in 0..2000 {
            for (id, (micros, runs)) in inputs.iter_mut().enumerate() {
                let visit = pace.begin(id, 100);
                let spent = visit.allowance.min(1.0) / (*micros as f64 / 1e6);
                let count = (spent.ceil().max(0.0) as usize).min(100);
                let time = Duration::from_micros(*micros * count as u64);
                pace.charge(id, count, time);
                *runs += count as u64;
            }
        }
        let times = inputs.map(|(micros, runs)| (micros * runs) as f64);
        assert!(
            times[3] > 0.5 * times[0] && times[3] < 2.0 * times[0],
            "{times:?}"
        );
    }

    #[test]
    fn without_a_clock_every_run_is_paid_for() {
        let mut pace = Pace::new(false);
        let mut visit = pace.begin(3, 1);
        assert!((0..1000).all(|_| visit.affords()));
        pace.end(&visit);
    }
}
