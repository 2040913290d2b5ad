//! The engine's share of a processor that the fuzzer needs too.
//!
//! With enough cores for both, the engine takes no time from the fuzzer. On a single core it does,
//! and on a large program it may cover less in that time than the fuzzer would. So both are
//! measured by the number of blocks that each was the first to enter, per second of processor time,
//! with past values decaying. If the engine's rate is lower than the fuzzer's, the engine rests
//! after each slice, longer the lower its rate is, but never so long that it stops being tried:
//! when the fuzzer is stuck, its rate falls too, and the engine continues.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// The half-life of the measurements, in seconds of both sides' processor time.
const HALF: f64 = 20.0;
/// The blocks and seconds with which each side starts, so that the first second does not decide.
const BLOCKS: f64 = 2.0;
const SECONDS: f64 = 4.0;
/// The smallest factor by which the engine's time is reduced.
const LEAST: f64 = 1.0 / 16.0;
/// The longest rest.
const LONGEST: Duration = Duration::from_secs(4);
/// A slice that got at least this fraction of the processor's time had no competition.
const ALONE: f64 = 0.7;

/// The blocks that a side entered first, and the processor time that it spent.
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

/// A slice of the engine's work that is in progress.
pub struct Slice {
    begun: Instant,
    spent: Duration,
}

impl Slice {
    /// Begins a slice.
    pub fn begin() -> Slice {
        Slice {
            begun: Instant::now(),
            spent: spent(),
        }
    }
}

/// See the module.
#[derive(Debug)]
pub struct CpuShare {
    engine: Side,
    fuzzer: Side,
    /// When the last slice ended. The fuzzer has had the processor since.
    ended: Option<Instant>,
    /// The end of the engine's rest.
    rests: Option<Instant>,
}

impl CpuShare {
    pub fn new() -> CpuShare {
        CpuShare {
            engine: Side::default(),
            fuzzer: Side::default(),
            ended: None,
            rests: None,
        }
    }

    /// Records that the fuzzer was the first to enter this number of blocks.
    pub fn fuzzer_entered(&mut self, blocks: usize) {
        self.fuzzer.blocks += blocks as f64;
    }

    /// Records that the engine was the first to enter this number of blocks.
    pub fn engine_entered(&mut self, blocks: usize) {
        self.engine.blocks += blocks as f64;
    }

    /// Whether the engine is resting.
    pub fn rests(&self) -> bool {
        self.rests.is_some_and(|until| Instant::now() < until)
    }

    /// Ends a slice and determines how long the engine rests.
    pub fn end(&mut self, slice: &Slice) {
        let now = Instant::now();
        let wall = now - slice.begun;
        let spent = spent().saturating_sub(slice.spent);
        // The fuzzer had the part of the slice that the engine did not get, and the time between
        // the slices.
        let since = self.ended.map_or(Duration::ZERO, |ended| {
            slice.begun.saturating_duration_since(ended)
        });
        self.ended = Some(now);
        self.account(spent, wall.saturating_sub(spent) + since);
        let until = self.rests.map_or(now, |until| until.max(now));
        self.rests = Some((until + self.rest(spent, wall)).min(now + LONGEST));
    }

    /// Adds the time that both sides spent.
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

    /// The rest after a slice of one second of which the engine had a tenth.
    fn rest(share: &CpuShare) -> Duration {
        share.rest(SECOND / 10, SECOND)
    }

    #[test]
    fn the_engine_that_brings_less_rests() {
        let mut share = CpuShare::new();
        assert_eq!(rest(&share), Duration::ZERO);
        share.fuzzer_entered(40);
        share.engine_entered(1);
        share.account(SECOND, SECOND * 9);
        assert!(rest(&share) > SECOND * 2, "{share:?}");
        assert!(rest(&share) < LONGEST, "{share:?}");
        // Alone on the processor, the engine takes nothing from the fuzzer.
        assert_eq!(share.rest(SECOND, SECOND), Duration::ZERO);
        share.fuzzer_entered(5000);
        assert_eq!(rest(&share), LONGEST);
    }

    #[test]
    fn the_engine_works_on_where_the_fuzzer_is_stuck() {
        let mut share = CpuShare::new();
        share.fuzzer_entered(500);
        for _ in 0..200 {
            share.account(SECOND / 10, SECOND * 9 / 10);
        }
        assert_eq!(rest(&share), Duration::ZERO);
        // The engine also continues if both rates are similar.
        share.fuzzer_entered(3);
        share.engine_entered(3);
        share.account(SECOND / 10, SECOND);
        assert_eq!(rest(&share), Duration::ZERO);
    }
}
