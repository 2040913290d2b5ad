//! The time budget of a command, and how it is divided.
//!
//! `--max-time` begins once the C code is compiled, and everything after that counts: linking and
//! reading the program, native builds, replay, fuzzing, search, proof, confirmation. This is the
//! only place where the end of that time is defined; each part asks when its own share ends.
//!
//! Each harness gets an equal part of the time that is left when its turn comes. So time that one
//! harness does not use benefits those after it, and a harness that takes too long costs each of
//! them a little. Harnesses with small programs come first (`campaign/turns.rs`). The time of a
//! harness is divided as follows:
//!
//! - fuzzing and search get all of it except, while a prover is working, a last tenth (at most
//!   [`ENDING`]), in which the prover finishes its question and has its certificate checked;
//! - the prover searches for [`PROVING`] of the time that is left when it is started, and its
//!   checker gets the rest;
//! - work in progress when the time is up gets [`LATE`] to hand over its results, and is abandoned
//!   after that.

use std::time::{Duration, Instant};

/// The longest time reserved for the ending.
const ENDING: Duration = Duration::from_secs(5);
/// The ending is the time of the harness divided by this.
const PART: u32 = 10;
/// The prover's fraction of the time that is left. The rest is for the checker, since unchecked
/// proofs do not count.
const PROVING: f64 = 0.8;
/// The extra time for work that is in progress when the time is up.
pub const LATE: Duration = Duration::from_secs(1);

/// The extra time to wait for what the confirmation of a finding and its test need to be built.
const CONFIRMING: Duration = Duration::from_secs(2);

/// A period of time with a beginning and, if it is limited, an end.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    begin: Instant,
    time: Option<Duration>,
}

impl Budget {
    /// A budget that begins now; `None` means no limit.
    pub fn new(time: Option<Duration>) -> Budget {
        Budget::since(Instant::now(), time)
    }

    /// A budget that began earlier.
    pub fn since(begin: Instant, time: Option<Duration>) -> Budget {
        Budget { begin, time }
    }

    /// When the budget began.
    pub fn begin(&self) -> Instant {
        self.begin
    }

    /// When the time is up.
    pub fn end(&self) -> Option<Instant> {
        // A limit beyond the range of the clock is treated as no limit.
        self.begin.checked_add(self.time?)
    }

    /// The time that is left.
    pub fn left(&self) -> Option<Duration> {
        let end = self.end()?;
        Some(end.saturating_duration_since(Instant::now()))
    }

    /// Whether no time is left.
    pub fn is_over(&self) -> bool {
        self.left() == Some(Duration::ZERO)
    }

    /// One of `parts` equal parts of the time that is left, beginning now.
    pub fn share(&self, parts: usize) -> Budget {
        let parts = u32::try_from(parts.max(1)).unwrap_or(u32::MAX);
        Budget::new(self.left().map(|left| left / parts))
    }

    /// When fuzzing and search end. `proving` says whether a prover is working.
    pub fn search_ends(&self, proving: bool) -> Option<Instant> {
        let end = self.end()?;
        let ending = match proving {
            true => ENDING.min(self.time? / PART),
            false => Duration::ZERO,
        };
        Some(end.checked_sub(ending).unwrap_or(end))
    }

    /// When a prover that begins now must end its search, so that its checker gets the rest.
    pub fn proving_ends(&self) -> Option<Instant> {
        let left = self.left()?;
        Instant::now().checked_add(left.mul_f64(PROVING))
    }

    /// Until when to wait for a finding's confirmation.
    pub fn confirming_ends(&self) -> Option<Instant> {
        self.end()?.checked_add(CONFIRMING)
    }

    /// Until when to wait for work in progress once everything else has ended.
    pub fn patience_ends(&self) -> Option<Instant> {
        let end = self.end()?;
        Some(end.max(Instant::now()) + LATE)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Whether `at` is about `time` after `begin`; the clock goes on while a test runs.
    fn about(at: Instant, begin: Instant, time: Duration) -> bool {
        let from_begin = at.saturating_duration_since(begin);
        from_begin + SECOND > time && from_begin < time + SECOND * 30
    }

    #[test]
    fn without_a_limit_nothing_ends() {
        let budget = Budget::new(None);
        assert!(!budget.is_over() && budget.end().is_none());
        assert!(budget.search_ends(true).is_none() && budget.proving_ends().is_none());
        assert!(budget.share(3).end().is_none() && budget.patience_ends().is_none());
        assert!(Budget::new(Some(Duration::MAX)).end().is_none());
    }

    #[test]
    fn harnesses_share_what_is_left() {
        let whole = Budget::new(Some(SECOND * 3000));
        let first = whole.share(3);
        assert!(about(first.end().unwrap(), whole.begin(), SECOND * 1000));
        // The first harness ended at once; then a budget that began long ago.
        assert!(about(
            whole.share(1).end().unwrap(),
            whole.begin(),
            SECOND * 3000
        ));
        let old = Budget::since(
            whole.begin().checked_sub(SECOND * 30).unwrap(),
            Some(SECOND * 20),
        );
        assert!(old.is_over());
        assert_eq!(old.share(2).left(), Some(Duration::ZERO));
        assert_eq!(old.share(0).left(), Some(Duration::ZERO));
    }

    #[test]
    fn the_ending_is_a_tenth_and_short() {
        let ending = |time: Duration, proving: bool| {
            let budget = Budget::new(Some(time));
            budget.end().unwrap() - budget.search_ends(proving).unwrap()
        };
        assert_eq!(ending(SECOND * 20, true), SECOND * 2);
        assert_eq!(ending(SECOND * 600, true), ENDING);
        assert_eq!(ending(SECOND * 600, false), Duration::ZERO);
        assert_eq!(ending(Duration::ZERO, true), Duration::ZERO);
    }

    #[test]
    fn the_checker_has_what_the_prover_leaves() {
        let budget = Budget::new(Some(SECOND * 1000));
        assert!(about(
            budget.proving_ends().unwrap(),
            budget.begin(),
            SECOND * 800
        ));
        let over = Budget::new(Some(Duration::ZERO));
        assert!(over.proving_ends().unwrap() <= Instant::now());
        assert!(over.patience_ends().unwrap() > over.end().unwrap());
    }
}
