//! The time of a command, and how it is divided.
//!
//! `--max-time` begins when the C code is compiled, and all that follows counts: linking and
//! reading the program, native builds, replay, fuzzing, search, proof, confirmation. The end of
//! that time stands here and nowhere else; a part that works under it asks when its own part ends.
//!
//! Of a command's time each harness gets an equal part of what is left when its turn comes, so that
//! what one does not use is there for those after it, and what one takes too long costs them all a
//! little. Of a harness's time
//!
//! - fuzzing and search get all, but for an ending of a tenth, at most [`ENDING`], while a prover
//!   is at work: it has a question to end and a certificate to have checked;
//! - the prover searches for [`PROVING`] of what is left when it is started, and its checker has
//!   the rest;
//! - what is under way when the time is up gets [`LATE`] to hand over what it has, and is abandoned
//!   then.

use std::time::{Duration, Instant};

/// The longest ending.
const ENDING: Duration = Duration::from_secs(5);
/// An ending is this part of the time.
const PART: u32 = 10;
/// The prover's part of the time that is left; the rest is for the checker: what it did not check
/// does not count.
const PROVING: f64 = 0.8;
/// What is under way when the time is up may take so much longer.
pub const LATE: Duration = Duration::from_secs(1);

/// What a finding's confirmation and its test need to be built may be waited for so much longer
/// than the time.
const CONFIRMING: Duration = Duration::from_secs(2);

/// A piece of time that began somewhere and ends, if there is a limit.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    begin: Instant,
    time: Option<Duration>,
}

impl Budget {
    /// So much time from now on; none: no limit.
    pub fn new(time: Option<Duration>) -> Budget {
        Budget::since(Instant::now(), time)
    }

    /// So much time that began earlier.
    pub fn since(begin: Instant, time: Option<Duration>) -> Budget {
        Budget { begin, time }
    }

    /// When it began.
    pub fn begin(&self) -> Instant {
        self.begin
    }

    /// When the time is up.
    pub fn end(&self) -> Option<Instant> {
        // A limit of a thousand years is none.
        self.begin.checked_add(self.time?)
    }

    /// What is left.
    pub fn left(&self) -> Option<Duration> {
        let end = self.end()?;
        Some(end.saturating_duration_since(Instant::now()))
    }

    /// Whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.left() == Some(Duration::ZERO)
    }

    /// One of so many equal parts of what is left, from now on.
    pub fn share(&self, parts: usize) -> Budget {
        let parts = u32::try_from(parts.max(1)).unwrap_or(u32::MAX);
        Budget::new(self.left().map(|left| left / parts))
    }

    /// When fuzzing and search end; `proving`: a prover is at work.
    pub fn search_ends(&self, proving: bool) -> Option<Instant> {
        let end = self.end()?;
        let ending = match proving {
            true => ENDING.min(self.time? / PART),
            false => Duration::ZERO,
        };
        Some(end.checked_sub(ending).unwrap_or(end))
    }

    /// When a prover that begins now has to end its search, for its checker to have the rest.
    pub fn proving_ends(&self) -> Option<Instant> {
        let left = self.left()?;
        Instant::now().checked_add(left.mul_f64(PROVING))
    }

    /// How long a finding's confirmation is waited for.
    pub fn confirming_ends(&self) -> Option<Instant> {
        self.end()?.checked_add(CONFIRMING)
    }

    /// How long what is under way is waited for when everything else has ended.
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

    /// About `time` from now on: the clock goes on while a test runs.
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
        // As if the first had ended at once, and the whole had begun long ago.
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
