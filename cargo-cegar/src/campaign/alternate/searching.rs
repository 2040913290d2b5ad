//! The search's part in the alternation: the engine's machine, the questions to the solver, and the
//! inputs that the machine has not executed yet.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use cegar_model::deadline::{self, Alarm};
use cegar_search::simulate::search::{News, Search};

use super::backlog::Backlog;
use super::share::{CpuShare, Slice};
use super::subject::Subject;

/// See the module.
pub struct Searching<'p> {
    pub search: Search<'p>,
    pub backlog: Backlog,
    /// When either side last found something new.
    pub last_news: Instant,
    pub share: CpuShare,
}

impl<'p> Searching<'p> {
    pub fn new(search: Search<'p>, started: Instant) -> Self {
        Searching {
            search,
            backlog: Backlog::default(),
            last_news: started,
            share: CpuShare::new(),
        }
    }

    /// Does a slice of the engine's work. With `shares`, the slice is accounted in the engine's
    /// share of a processor that the fuzzer needs too.
    pub fn measured<T>(&mut self, shares: bool, work: impl FnOnce(&mut Self) -> T) -> T {
        let slice = shares.then(Slice::begin);
        let done = work(self);
        if let Some(slice) = slice {
            self.share.end(&slice);
        }
        done
    }

    /// Lets the search ask its next questions, each of which `alarm` interrupts. Returns false if
    /// none is left.
    pub fn ask(
        &mut self,
        until: Instant,
        alarm: Alarm,
        stop: &AtomicBool,
        news: &mut Vec<News>,
    ) -> bool {
        let before = self.search.covered().to_vec();
        let search = &mut self.search;
        let slice = || search.slice(until, None, stop, news);
        let is_left = deadline::interruptible(alarm, slice);
        let backlog = &self.backlog;
        let entered = (before.iter().zip(self.search.covered()).enumerate())
            .filter(|(block, (before, now))| **now && !**before && !backlog.enters(*block as u32));
        self.share.engine_entered(entered.count());
        is_left
    }

    /// Lets the machine execute waiting inputs until there is news for the other parts. Returns
    /// false if none was waiting.
    pub fn catch_up(
        &mut self,
        until: Instant,
        subject: &Subject<'_>,
        news: &mut Vec<News>,
    ) -> bool {
        let mut looked = false;
        while news.is_empty() && Instant::now() < until && !subject.is_stopped() {
            let Some(waiting) = self.backlog.pop() else {
                break;
            };
            looked = true;
            self.search.glance(&waiting.tape, waiting.origin, news);
            self.search.note_covered(waiting.blocks);
        }
        looked
    }

    /// The number of these blocks that neither an executed nor a waiting input enters.
    pub fn new_among(&self, blocks: &[u32]) -> usize {
        let covered = self.search.covered();
        let is_new = |&block: &u32| {
            !covered.get(block as usize).unwrap_or(&true) && !self.backlog.enters(block)
        };
        blocks.iter().filter(|block| is_new(block)).count()
    }
}
