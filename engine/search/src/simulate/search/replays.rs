//! Replays answers around loops, with growing numbers of repetitions.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::FxHasher;

use super::queue::{Work, class};
use super::{News, Origin, Search};
use crate::simulate::pump;

impl Search<'_> {
    /// Executes a tape with a stretch repeated. Returns a hash of the blocks entered and whether
    /// the run consumed all repetitions.
    fn repeat(
        &mut self,
        tape: &[u8],
        stretch: &pump::Stretch,
        times: usize,
        news: &mut Vec<News>,
    ) -> Option<(u64, bool)> {
        let longer = pump::pumped(tape, stretch, times, self.config.max_len)?;
        self.stats.replays += 1;
        let carried = stretch.start + (longer.len() - tape.len());
        let counts = self.execute(longer, Origin::Replay, &[], news)?;
        let entered: Vec<bool> = counts.iter().map(|&count| count > 0).collect();
        let mut hasher = FxHasher::default();
        entered.hash(&mut hasher);
        Some((hasher.finish(), self.last_consumed >= carried))
    }

    pub(super) fn replay(
        &mut self,
        tape: &Rc<[u8]>,
        stretch: &pump::Stretch,
        (rung, before): (usize, Option<u64>),
        news: &mut Vec<News>,
    ) {
        let times = pump::LADDER[rung];
        let Some((did, carried)) = self.repeat(tape, stretch, times, news) else {
            return;
        };
        if let Some(like) = before.filter(|&before| before != did) {
            let work = Work::Between {
                tape: tape.clone(),
                stretch: stretch.clone(),
                low: pump::LADDER[rung - 1],
                high: times,
                like,
            };
            self.push(class::REPLAY, rung as u64, work);
        }
        if carried && rung + 1 < pump::LADDER.len() {
            let work = Work::Replay {
                tape: tape.clone(),
                stretch: stretch.clone(),
                rung: rung + 1,
                before: Some(did),
            };
            self.push(class::REPLAY, (rung as u64 + 1) << 32, work);
        }
    }

    /// Bisects for the boundary between two behaviours, since a bound that is checked wrongly is
    /// usually off by a few.
    pub(super) fn between(
        &mut self,
        tape: &Rc<[u8]>,
        stretch: &pump::Stretch,
        (mut low, mut high, like): (usize, usize, u64),
        news: &mut Vec<News>,
    ) {
        while low + 1 < high && news.is_empty() {
            let middle = low + (high - low) / 2;
            match self.repeat(tape, stretch, middle, news) {
                Some((did, _)) if did == like => low = middle,
                Some(_) => high = middle,
                None => return,
            }
        }
    }
}
