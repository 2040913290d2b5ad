//! The engine's share of a processor that the fuzzer wants, too.
//!
//! Where there are cores for both the engine takes no time from the fuzzer. On one core it does,
//! and on a large program it may bring less than the fuzzer would in that time. So both are
//! measured: blocks that either side was the first to enter, for each second of the processor,
//! where the past counts less the longer ago it is. The engine that brings less than the fuzzer
//! rests after each slice for the longer the less it brings, but never so long that it is not tried
//! any more: a fuzzer that is stuck brings nothing either, and then the engine works on.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// After so much of the processor's time of both sides what they brought counts half.
const HALF: f64 = 20.0;
/// Blocks and seconds that each side is taken to have brought and spent at first, so that neither
/// is judged by a second.
const BLOCKS: f64 = 2.0;
const SECONDS: f64 = 4.0;
/// The least share of the time that the engine would have otherwise.
const LEAST: f64 = 1.0 / 16.0;
/// The longest rest.
const LONGEST: Duration = Duration::from_secs(4);
/// A slice that got so much of the processor had no competition.
const ALONE: f64 = 0.7;

/// What a side brought, and for how much of the processor's time.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    blocks: f64,
    seconds: f64,
}

impl Side {
    /// Blocks per second.
    fn rate(self) -> f64 {
        (self.blocks + BLOCKS) / (self.seconds + SECONDS)
    }

    fn fade(&mut self, factor: f64) {
        self.blocks *= factor;
        self.seconds *= factor;
    }
}

/// A slice of the engine's work that has begun.
pub struct Slice {
    begun: Instant,
    spent: Duration,
}

impl Slice {
    /// Begins one.
    pub fn begin() -> Slice {
        Slice {
            begun: Instant::now(),
            spent: spent(),
        }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Share {
    engine: Side,
    fuzzer: Side,
    /// When the last slice ended; the fuzzer has worked since.
    ended: Option<Instant>,
    /// Until when the engine rests.
    rests: Option<Instant>,
}

impl Share {
    pub fn new() -> Share {
        Share {
            engine: Side::default(),
            fuzzer: Side::default(),
            ended: None,
            rests: None,
        }
    }

    /// The fuzzer was the first to enter so many blocks.
    pub fn fuzzer_entered(&mut self, blocks: usize) {
        self.fuzzer.blocks += blocks as f64;
    }

    /// The engine was the first to enter so many blocks.
    pub fn engine_entered(&mut self, blocks: usize) {
        self.engine.blocks += blocks as f64;
    }

    /// Whether the engine rests.
    pub fn rests(&self) -> bool {
        self.rests.is_some_and(|until| Instant::now() < until)
    }

    /// Ends a slice.
    pub fn end(&mut self, slice: &Slice) {
        let now = Instant::now();
        let wall = now - slice.begun;
        let spent = spent().saturating_sub(slice.spent);
        // What the engine did not get of the slice the fuzzer had, and all the time since the last
        // one.
        let since = self.ended.map_or(Duration::ZERO, |ended| {
            slice.begun.saturating_duration_since(ended)
        });
        self.ended = Some(now);
        self.account(spent, wall.saturating_sub(spent) + since);
        let until = self.rests.map_or(now, |until| until.max(now));
        self.rests = Some((until + self.rest(spent, wall)).min(now + LONGEST));
    }

    /// Adds to what both sides spent.
    fn account(&mut self, engine: Duration, fuzzer: Duration) {
        let seconds = (engine + fuzzer).as_secs_f64();
        let factor = 0.5f64.powf(seconds / HALF);
        self.engine.fade(factor);
        self.fuzzer.fade(factor);
        self.engine.seconds += engine.as_secs_f64();
        self.fuzzer.seconds += fuzzer.as_secs_f64();
    }

    /// How long the engine rests after a slice that took `wall`, of which it had the processor for
    /// `spent`.
    fn rest(&self, spent: Duration, wall: Duration) -> Duration {
        if spent.as_secs_f64() > ALONE * wall.as_secs_f64() {
            return Duration::ZERO;
        }
        let share = (self.engine.rate() / self.fuzzer.rate()).clamp(LEAST, 1.0);
        wall.mul_f64(1.0 / share - 1.0).min(LONGEST)
    }
}

/// The calling thread's processor time.
fn spent() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// The rest after a second of which the engine had a tenth.
    fn rest(share: &Share) -> Duration {
        share.rest(SECOND / 10, SECOND)
    }

    #[test]
    fn the_engine_that_brings_less_rests() {
        let mut share = Share::new();
        assert_eq!(rest(&share), Duration::ZERO);
        share.fuzzer_entered(40);
        share.engine_entered(1);
        share.account(SECOND, SECOND * 9);
        assert!(rest(&share) > SECOND * 2, "{share:?}");
        assert!(rest(&share) < LONGEST, "{share:?}");
        // Alone, it takes nothing from the fuzzer.
        assert_eq!(share.rest(SECOND, SECOND), Duration::ZERO);
        share.fuzzer_entered(5000);
        assert_eq!(rest(&share), LONGEST);
    }

    #[test]
    fn the_engine_works_on_where_the_fuzzer_is_stuck() {
        let mut share = Share::new();
        share.fuzzer_entered(500);
        for _ in 0..200 {
            share.account(SECOND / 10, SECOND * 9 / 10);
        }
        assert_eq!(rest(&share), Duration::ZERO);
        // And goes on where it brings as much.
        share.fuzzer_entered(3);
        share.engine_entered(3);
        share.account(SECOND / 10, SECOND);
        assert_eq!(rest(&share), Duration::ZERO);
    }
}
